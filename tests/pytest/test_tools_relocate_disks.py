# SPDX-License-Identifier: GPL-2.0
"""wsctl relocate on filesystems of its own: without reflink, and nearly full."""

from lib.anchored import check
from lib.fill import fill_ag
from lib.relocating import MIB, foreign_id, in_ags, make, physical, relocate
from lib.wsctl import wsctl

SIZE = 5 * MIB + 123


def test_without_reflink(bed):
    bed.make(mkfs=("-m", "reflink=0"), streams=4)
    path = bed.at("f")
    want = make(path, SIZE)
    before = physical(path)
    done = wsctl("relocate", "--stream", foreign_id(bed, path), path)
    assert done.status == 1 and b"no reflink" in done.err
    assert physical(path) == before
    check(bed, "f", want)


def test_full_ags(bed):
    bed.make(streams=4)
    path = bed.at("f")
    want = make(path, 8 * MIB)
    here = in_ags(bed, path)
    full = next(i for i in range(1, 16) if i not in here)
    fill_ag(bed.xfs, full, leave=3 * MIB)
    done = wsctl("relocate", "--json", "--ags", full, path)
    assert done.status == 1 and b"no room there" in done.err
    (entry,) = done.json["files"]
    assert 0 < entry["moved_bytes"] < 8 * MIB
    check(bed, "f", want)
    # The next AG of the set has room.
    other = next(i for i in range(1, 16) if i not in here | {full})
    relocate(path, "--ags", ",".join(map(str, sorted((full, other)))))
    assert in_ags(bed, path) <= {full, other}
    check(bed, "f", want)
