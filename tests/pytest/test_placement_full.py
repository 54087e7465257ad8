# SPDX-License-Identifier: GPL-2.0
"""An AG that is full: the data goes elsewhere, is safe, and it is told."""

import os

import pytest

from lib import agsets
from lib.fiemap import extents
from lib.fill import fill_ag
from lib.placement import assert_placed, outside, strayed
from lib.table import Table
from lib.writers import Direct, Way

AGCOUNT, STREAMS = 8, 4


def counted(bed, table, stream_id, sets):
    """Close the stream's files; every one that has data outside its set was
    counted, and nothing else was. Returns how many."""
    layout = bed.xfs.layout()
    targets = table.of(stream_id)
    strayed = [t for t in targets if outside(layout, t.fd, sets[stream_id])]
    for target in targets:
        os.fsync(target.fd)
    bed.close(*(t.fd for t in targets))
    assert bed.wsfs.count(stream_id, "missed") == len(strayed)
    return len(strayed)


@pytest.mark.parametrize("way", [Way, Direct], ids=lambda way: way.name)
def test_whole_set_is_full(bed, way):
    bed.make(agcount=AGCOUNT, streams=STREAMS)
    sets = agsets.ag_sets(STREAMS, AGCOUNT)
    streams = [bed.alloc() for _ in range(STREAMS)]
    full = streams[1].id
    for agno in sets[full]:
        fill_ag(bed.xfs, agno)
    table = Table(bed, way(), streams, 32)
    # One after the other: what finds no room competes for the AGs of the others.
    table.write({stream.id for stream in streams} - {full})
    table.write({full})
    table.assert_contents()
    layout = bed.xfs.layout()
    assert_placed(
        layout,
        [(t.path, t.fd, sets[t.stream]) for t in table.targets if t.stream != full],
    )
    for stream in streams:
        if stream.id != full:
            assert counted(bed, table, stream.id, sets) == 0
    assert counted(bed, table, full, sets) > 0


def test_one_ag_of_the_set_is_full(bed):
    """Half of the set has room: what does not fit is counted."""
    bed.make(agcount=AGCOUNT, streams=STREAMS)
    sets = agsets.ag_sets(STREAMS, AGCOUNT)
    streams = [bed.alloc() for _ in range(STREAMS)]
    fill_ag(bed.xfs, min(sets[2]))
    table = Table(bed, Way(), streams, 32)
    table.write()
    table.assert_contents()
    for stream in streams:
        strayed = counted(bed, table, stream.id, sets)
        assert strayed == 0 or stream.id == 2


def test_set_fills_up_while_writing(bed):
    """A file that outgrows its set keeps its bytes and is counted once."""
    bed.make(agcount=4, ag_mib=24, streams=4)
    stream = bed.alloc()
    allowed = bed.wsfs.ag_set(stream.id)
    for agno in allowed:
        fill_ag(bed.xfs, agno, leave=1 << 20)
    fd = bed.open("big")
    bed.set(fd, stream)
    data = os.urandom(1 << 20) * 4
    for offset in range(0, len(data), 256 << 10):  # little by little
        assert os.pwrite(fd, data[offset : offset + (256 << 10)], offset)
        os.fsync(fd)
    layout = bed.xfs.layout()
    first = layout.ag_of_byte(extents(fd)[0].physical)
    assert first in allowed, strayed(first, allowed)
    assert outside(layout, fd, allowed)
    assert os.pread(fd, len(data), 0) == data
    bed.close(fd)
    assert bed.wsfs.count(stream.id, "missed") == 1


def test_filesystem_is_full(bed):
    """ENOSPC comes from XFS as it is; what was written stays."""
    bed.make(agcount=4, ag_mib=24, streams=4)
    streams = [bed.alloc() for _ in range(4)]
    for agno in range(4):
        fill_ag(bed.xfs, agno)
    written = {}
    full = False
    for i in range(64):
        try:
            fd = bed.open(f"f{i}")
            bed.set(fd, streams[i % 4])
            written[fd] = os.pwrite(fd, b"%064d" % i * 1024, 0)
            os.fsync(fd)
        except OSError as error:
            assert error.errno == 28, error
            full = True
            break
    assert full or len(written) == 64
    for i, fd in enumerate(written):
        want = (b"%064d" % i * 1024)[: written[fd]]
        assert os.pread(fd, len(want), 0) == want
