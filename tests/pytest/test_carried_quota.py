# SPDX-License-Identifier: GPL-2.0
"""Quota across the swap of SET."""

import os

from lib.ioctls import FsXattr
from lib.shell import run
from lib.swap import elsewhere, reserve_all, swapped

USER = 1000


def test_quota(bed):
    """The new inode is charged to the old one's owner, the old is not."""
    bed.make(agcount=16, streams=4, xfs_options="uquota,gquota,pquota")
    reserve_all(bed)

    def usage(kind):
        report = run("xfs_quota", "-x", "-c", f"report -n -i -{kind}", bed.lower)
        rows = [line.split() for line in report.splitlines() if line.startswith("#")]
        return {int(row[0][1:]): int(row[1]) for row in rows}

    fds = []
    for i in range(10):
        fd = bed.open(f"f{i}")
        os.fchown(fd, USER, USER + 1)
        attr = FsXattr.of(fd)
        attr.projid = 5
        attr.apply(fd)
        fds.append(fd)
    before = {kind: usage(kind) for kind in "ugp"}
    assert (before["u"][USER], before["g"][USER + 1], before["p"][5]) == (10, 10, 10)
    for i, fd in enumerate(fds):
        swapped(bed, fd, f"f{i}")
    bed.close(*fds)
    os.sync()
    after = {kind: usage(kind) for kind in "ugp"}
    assert (after["u"][USER], after["g"][USER + 1], after["p"][5]) == (10, 10, 10)


def test_quota_at_its_limit(bed):
    """No room for a second inode: SET is no reason to fail."""
    bed.make(agcount=16, streams=4, xfs_options="uquota")
    reserve_all(bed)
    fd = bed.open("f")
    os.fchown(fd, USER, USER)
    run("xfs_quota", "-x", "-c", f"limit -u isoft=1 ihard=1 {USER}", bed.lower)
    bed.set(fd, elsewhere(bed, fd))
    info = bed.info(fd)
    assert info.has_stream and info.placed_somehow
    os.write(fd, b"data")
    with open(bed.at("f"), "rb") as f:
        assert f.read() == b"data"
    assert os.fstat(fd).st_uid == USER
