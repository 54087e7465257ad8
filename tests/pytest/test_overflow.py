# SPDX-License-Identifier: GPL-2.0
"""A stream whose AGs are full goes on in those of others, in the stated order."""

import os
import time

import pytest

from lib import agsets
from lib.fiemap import extents
from lib.fill import empty_again, fill_ag
from lib.pattern import pattern
from lib.placement import outside

AGCOUNT, STREAMS = 8, 4
SETS = agsets.ag_sets(STREAMS, AGCOUNT)
CHUNK = 64 << 10


@pytest.fixture
def used(bed):
    """Stream 3 is free; 1 was written to more than 2; the set of 0 is full."""
    bed.make(agcount=AGCOUNT, streams=STREAMS)
    streams = sorted((bed.alloc() for _ in range(STREAMS)), key=lambda stream: stream.id)
    for stream, size in ((streams[1], 8 * CHUNK), (streams[2], 2 * CHUNK)):
        fd = bed.open(f"use{stream.id}")
        bed.set(fd, stream)
        os.write(fd, bytes(size))
        bed.close(fd)
    streams[3].close()
    for agno in SETS[0]:
        fill_ag(bed.xfs, agno)
    bed.order = [3, 1, 2]
    return bed, streams[0]


def grown(bed, name, stream):
    """A new file of the stream, written little by little; its fd, open."""
    fd = bed.open(name)
    bed.set(fd, stream)
    for i in range(4):
        os.write(fd, pattern(7, i * CHUNK, CHUNK))
        os.fsync(fd)
    assert os.pread(fd, 9 * CHUNK, 0) == pattern(7, 0, 4 * CHUNK)
    return fd


def end_of(bed, fd):
    """The AG that holds the file's last block."""
    last = extents(fd)[-1]
    return bed.xfs.layout().ag_of_byte(last.physical + last.length - 1)


def test_order(used):
    bed, stream = used
    assert bed.wsfs.sysfs(f"stream/{stream.id}/overflow_order").split() == ["3", "1", "2"]
    for other in bed.order:
        fds = [grown(bed, f"f{other}-{i}", stream) for i in range(4)]
        ends = [end_of(bed, fd) for fd in fds]
        assert set(ends) == SETS[other], "they take turns over its AGs"
        for fd in fds:
            info = bed.info(fd)
            assert info.missed and info.home_agno == end_of(bed, fd)
        bed.close(*fds)
        for agno in SETS[other]:
            fill_ag(bed.xfs, agno)
    assert bed.wsfs.count(stream.id, "overflowed") == 12
    assert bed.wsfs.count(stream.id, "missed") == 12


def test_stays_where_it_went(used):
    """Further writes do not ask for another place again."""
    bed, stream = used
    fd = grown(bed, "f", stream)
    place = end_of(bed, fd)
    for i in range(4, 12):
        os.write(fd, pattern(7, i * CHUNK, CHUNK))
        os.fsync(fd)
    assert end_of(bed, fd) == place
    assert bed.wsfs.count(stream.id, "overflowed") == 1
    assert os.pread(fd, 99 * CHUNK, 0) == pattern(7, 0, 12 * CHUNK)


def test_room_again(used):
    """Once the set has room, new files are at home, after the time that a full
    AG is not asked."""
    bed, stream = used
    bed.close(grown(bed, "before", stream))
    empty_again(bed.xfs)
    time.sleep(6)
    fd = grown(bed, "after", stream)
    assert not outside(bed.xfs.layout(), fd, SETS[0])
    assert bed.wsfs.count(stream.id, "overflowed") == 1


def test_everything_is_full(used):
    """No room anywhere: the errors are XFS's, the bytes as well."""
    bed, stream = used
    fd = bed.open("f")
    for agno in set(range(AGCOUNT)) - SETS[0]:
        fill_ag(bed.xfs, agno)
    bed.set(fd, stream)
    data = pattern(7, 0, 4 * CHUNK)
    written = 0
    try:
        while written < len(data):
            written += os.write(fd, data[written:written + 4096])
            os.fsync(fd)
    except OSError as error:
        assert error.errno == 28
    assert os.pread(fd, len(data), 0)[:written] == data[:written]


@pytest.mark.parametrize("streams", [8, 16])
def test_shared_sets(bed, streams):
    """As many streams as AGs, and more: an AG of its own set is not asked twice."""
    bed.make(agcount=8, streams=streams)
    stream = bed.alloc()
    own = bed.wsfs.ag_set(stream.id)
    for agno in own:
        fill_ag(bed.xfs, agno)
    fd = grown(bed, "f", stream)
    assert end_of(bed, fd) not in own
    assert bed.wsfs.count(stream.id, "overflowed") == 1
