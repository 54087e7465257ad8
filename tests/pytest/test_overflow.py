# SPDX-License-Identifier: GPL-2.0
"""A stream whose AGs are full goes on in those of others, in the stated order."""

import os
import time

import pytest

from lib import agsets
from lib.anchored import check
from lib.fiemap import extents
from lib.fill import empty_again, fill_ag
from lib.pattern import pattern
from lib.placement import outside
from lib.relocating import in_ags, relocate
from lib.wsctl import ok, wsctl

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


def test_told_by_wsctl(used):
    """The order before a file needs it, and how many did."""
    bed, stream = used

    def told():
        (mount,) = ok("streams", "--json", bed.path).json["mounts"]
        (row,) = [it for it in mount["streams"] if it["id"] == stream.id]
        return row["overflowed"], row["overflow_order"]

    assert told() == (0, bed.order)
    assert b"went on" not in ok("streams", bed.path).out
    bed.close(*(grown(bed, f"f{i}", stream) for i in range(3)))
    assert told() == (3, bed.order)
    assert b"3 files went on in other AGs; order of streams: 3 1 2" in ok("streams", bed.path).out
    # whoever writes more has to give way sooner
    fd = bed.open("more")
    bed.set(fd, next(s for s in bed.streams if s.fd >= 0 and s.id == 2))
    os.write(fd, bytes(16 * CHUNK))
    assert told() == (3, [3, 2, 1])


def test_relocated_later(used):
    """Once there is room wsctl relocate brings home what went on elsewhere, whether
    the file is open or not; the rest of the set stays as it is."""
    bed, stream = used
    names = [f"f{i}" for i in range(4)]
    fds = [grown(bed, name, stream) for name in names]
    bed.close(*fds[2:])
    for name in names:
        done = wsctl("relocate", bed.at(name))
        assert done.status == 1 and b"no room there" in done.err
    empty_again(bed.xfs)
    for name in names:
        entry = relocate(bed.at(name))
        assert entry["moved_bytes"] > 0 and entry["left_bytes"] == 0
        assert in_ags(bed, bed.at(name)) <= SETS[stream.id]
        check(bed, name, pattern(7, 0, 4 * CHUNK))
    assert all(relocate(bed.at(name))["moved_bytes"] == 0 for name in names)
    # and what is written then stays at home
    fd = bed.open(names[3])
    bed.set(fd, stream)
    for i in range(4, 8):
        os.pwrite(fd, pattern(7, i * CHUNK, CHUNK), i * CHUNK)
        os.fsync(fd)
    assert not outside(bed.xfs.layout(), fd, SETS[stream.id])


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
