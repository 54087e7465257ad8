# SPDX-License-Identifier: GPL-2.0
"""Files that SET cannot move, where there is no reflink or no room, and strays
that come home."""

import os

from lib.anchored import SETS, assert_not_shared, check, outside
from lib.fill import empty_again, fill_ag
from lib.pattern import pattern
from lib.swap import elsewhere

OLD = 64 << 10  # what a file has before SET
NEW = 256 << 10  # what it is given then


def four_streams(bed, **how):
    bed.make(agcount=16, streams=4, **how)
    return sorted((bed.alloc() for _ in range(4)), key=lambda stream: stream.id)


def test_without_reflink(bed):
    """The stream is noted, the miss counted, and what is written is right."""
    streams = four_streams(bed, mkfs=("-m", "reflink=0"))
    fd = bed.open("f")
    os.write(fd, pattern(1, 0, OLD))
    bed.set(fd, streams[2])
    info = bed.info(fd)
    assert info.has_stream and info.missed and not info.anchored
    os.write(fd, pattern(1, OLD, NEW))
    os.fsync(fd)
    check(bed, "f", pattern(1, 0, OLD + NEW))
    assert bed.wsfs.count(2, "missed") == 1
    assert bed.wsfs.count(2, "anchored") == 0


def test_full_set(bed):
    """No AG of the set has room: counted, and no byte is lost."""
    four_streams(bed)
    fd = bed.open("f")
    os.write(fd, pattern(1, 0, OLD))
    os.fsync(fd)
    stream = elsewhere(bed, fd)
    for agno in SETS[stream.id]:
        fill_ag(bed.xfs, agno)
    bed.set(fd, stream)
    assert bed.info(fd).missed
    os.write(fd, pattern(1, OLD, NEW))
    os.fsync(fd)
    check(bed, "f", pattern(1, 0, OLD + NEW))


def test_stray_comes_home(bed):
    """Where XFS went elsewhere, the next append goes home once there is room."""
    streams = four_streams(bed)
    fd = bed.open("f")
    bed.set(fd, streams[1])
    for agno in SETS[1]:
        fill_ag(bed.xfs, agno)
    os.write(fd, pattern(1, 0, OLD))
    os.fsync(fd)
    assert outside(bed, fd, 0, 1)
    assert bed.info(fd).missed
    empty_again(bed.xfs)
    os.write(fd, pattern(1, OLD, NEW))
    os.fsync(fd)
    assert not outside(bed, fd, OLD, 1)
    check(bed, "f", pattern(1, 0, OLD + NEW))
    assert_not_shared(bed, "f")
