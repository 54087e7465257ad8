# SPDX-License-Identifier: GPL-2.0
"""64 files in one directory, 4 streams, 16 AGs, each way of writing: every
extent in its stream's AG set, and each set's AGs used alike."""

import pytest

from lib import agsets
from lib.placement import agnos, outside
from lib.table import Table
from lib.writers import WAYS, Aio, Direct, IoUring, Way


def named(way):
    return way.name


def run(bed, way, agcount=16, streams=4, files=64):
    bed.make(agcount=agcount, streams=streams, mkfs=way.mkfs)
    table = Table(bed, way, [bed.alloc() for _ in range(streams)], files)
    table.write()
    table.assert_home(agsets.ag_sets(streams, agcount))
    return table


@pytest.mark.parametrize("way", [Way, Direct], ids=named)
@pytest.mark.quick
def test_core_ways(bed, way):
    run(bed, way())


@pytest.mark.parametrize("way", [w for w in WAYS if w not in (Way, Direct)], ids=named)
def test_ways(bed, way):
    run(bed, way())


@pytest.mark.parametrize("way", [Direct, Aio, IoUring], ids=named)
def test_many_writers_in_an_ag(bed, way):
    """XFS may stray where writers meet in an AG, since it does not wait for the
    AG's lock: no byte is wrong, and a file that ends elsewhere is counted once
    it is closed."""
    bed.make(streams=4)
    table = Table(bed, way(), [bed.alloc() for _ in range(4)], 64)
    table.write_at_once()
    table.assert_contents()
    layout = bed.xfs.layout()
    sets = agsets.ag_sets(4, 16)
    for stream_id in range(4):
        allowed = sets[stream_id]
        fds = [t.fd for t in table.of(stream_id)]
        strayed = sum(bool(outside(layout, fd, allowed)) for fd in fds)
        ended = sum(agnos(layout, fd)[-1] not in allowed for fd in fds)
        bed.close(*fds)
        assert ended <= bed.wsfs.count(stream_id, "missed") <= strayed


@pytest.mark.quick
def test_counters(bed):
    """sysfs and FILE_INFO agree with what was done."""
    way = Way()
    table = run(bed, way)
    for stream_id in range(4):
        assert bed.wsfs.ag_set(stream_id) == agsets.ag_sets(4, 16)[stream_id]
        assert bed.wsfs.count(stream_id, "reserved") == 1
        assert bed.wsfs.count(stream_id, "files") == 16
        assert bed.wsfs.count(stream_id, "homed") == 16
        assert bed.wsfs.count(stream_id, "missed") == 0
        written = sum(len(way.expected(t)) for t in table.of(stream_id))
        assert bed.wsfs.count(stream_id, "bytes") == written
    for target in table.targets:
        info = bed.info(target.fd)
        assert info.has_stream and info.homed and not info.missed
        assert info.stream == target.stream
        assert info.home_agno == info.inode_agno
        assert info.home_agno in agsets.ag_sets(4, 16)[target.stream]


def test_all_ways_at_once(bed):
    """The ways side by side in one directory do not disturb each other."""
    bed.make(streams=4)
    streams = [bed.alloc() for _ in range(4)]
    sets = agsets.ag_sets(4, 16)
    tables = [
        Table(bed, way(), streams, 8, directory=way.name)
        for way in WAYS
        if not way.mkfs
    ]
    for table in tables:
        table.write()
    for table in tables:
        table.assert_home(sets)
