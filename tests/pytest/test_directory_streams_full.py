# SPDX-License-Identifier: GPL-2.0
"""Directories with a stream at the limit: quota, and a full filesystem."""

import errno
import os

import pytest

from lib.births import WAYS, acting_as, by_open, directory, make, make_only
from lib.shell import run

USER = 1000


def test_quota(bed):
    """Charged to the owner once, refused at his limit."""
    bed.make(agcount=16, streams=4, xfs_options="uquota,gquota")
    stream = [bed.alloc() for _ in range(4)][2]
    directory(bed, "d", stream)
    os.chmod(bed.at("d"), 0o777)
    os.chmod(bed.path, 0o755)
    run("xfs_quota", "-x", "-c", f"limit -u isoft=5 ihard=5 {USER}", bed.lower)
    with acting_as(USER, (), 0):
        for i, way in enumerate([*WAYS, by_open]):
            make_only(way, bed.at("d"), f"f{i}", 0o644)
        for i, way in enumerate(WAYS):
            with pytest.raises(OSError) as caught:
                make_only(way, bed.at("d"), f"g{i}", 0o644)
            assert caught.value.errno == errno.EDQUOT
    os.sync()
    for kind in "ug":
        report = run("xfs_quota", "-x", "-c", f"report -n -i -{kind}", bed.lower)
        rows = [line.split() for line in report.splitlines() if line.startswith(f"#{USER}")]
        assert int(rows[0][1]) == 5
    assert len(os.listdir(bed.at("d"))) == 5


def test_no_space(bed):
    """A full filesystem says so, and nothing is left behind."""
    bed.make(agcount=4, streams=2, ag_mib=32)
    stream = bed.alloc()
    directory(bed, "d", stream)
    made = 0
    fds = [make(bed, by_open, "d", "big")]
    with pytest.raises(OSError) as caught:
        while True:
            os.write(fds[0], bytes(1 << 20))
    assert caught.value.errno == errno.ENOSPC
    try:
        while made < 20_000:
            os.close(by_open(bed.at("d"), f"f{made}", 0o644))
            made += 1
    except OSError as failure:
        assert failure.errno == errno.ENOSPC
    names = [name for name in os.listdir(bed.at("d")) if name != "big"]
    assert len(names) == made
    assert sorted(names) == sorted(n for n in os.listdir(bed.below("d")) if n != "big")
