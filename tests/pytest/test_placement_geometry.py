# SPDX-License-Identifier: GPL-2.0
"""Placement over other numbers of AGs and streams."""

import os

import pytest

from lib import agsets
from lib.compare import attempt
from lib.table import Table
from lib.writers import Aio, Append, Direct, Mmap, PreallocatedKeepSize, Way

SUBSET = [Way, Direct, Append, Mmap, PreallocatedKeepSize, Aio]


def place(bed, way, agcount, streams, sets, files=64):
    held = [bed.alloc() for _ in range(streams)]
    table = Table(bed, way, held, files)
    table.write()
    table.assert_home(sets)
    return table


@pytest.mark.parametrize("way", SUBSET, ids=lambda way: way.name)
@pytest.mark.parametrize("agcount", [4, 8, 33])
def test_four_streams(bed, agcount, way):
    bed.make(agcount=agcount, ag_mib=24, streams=4)
    place(bed, way(), agcount, 4, agsets.ag_sets(4, agcount))


@pytest.mark.parametrize("agcount", [4, 8, 16, 33])
def test_default_number_of_streams(bed, agcount):
    bed.make(agcount=agcount, ag_mib=24)
    streams = agsets.default_streams(agcount)
    geometry = bed.wsfs.geometry()
    assert geometry.streams == streams
    assert geometry.agcount == agcount
    assert geometry.agblocks == bed.xfs.layout().agblocks
    place(bed, Way(), agcount, streams, agsets.ag_sets(streams, agcount))


@pytest.mark.parametrize("way", [Way, Direct], ids=lambda way: way.name)
@pytest.mark.parametrize("agcount, streams", [(4, 6), (5, 16), (1, 3)])
def test_more_streams_than_ags(bed, agcount, streams, way):
    bed.make(agcount=agcount, ag_mib=80, streams=streams)
    place(bed, way(), agcount, streams, agsets.ag_sets(streams, agcount), files=48)


def test_one_stream_owns_everything(bed):
    bed.make(agcount=8, streams=1)
    place(bed, Way(), 8, 1, [set(range(8))], files=32)


def test_small_blocks(bed):
    """1 KiB blocks: other shifts in inode and block numbers."""
    bed.make(agcount=8, streams=4, mkfs=("-b", "size=1k"))
    place(bed, Way(), 8, 4, agsets.ag_sets(4, 8))


def test_big_inodes(bed):
    bed.make(agcount=8, streams=4, mkfs=("-i", "size=2048"))
    place(bed, Way(), 8, 4, agsets.ag_sets(4, 8))


def test_ag_size_not_a_power_of_two(bed):
    bed.make(agcount=12, ag_mib=27, streams=4)
    place(bed, Way(), 12, 4, agsets.ag_sets(4, 12))


def test_without_crc(bed):
    """A version 4 superblock cannot be checked: no streams, and it says so."""
    bed.xfs.mkfs(8, 32, "-m", "crc=0")
    try:
        bed.xfs.mount()
    except AssertionError as failure:
        pytest.skip(f"no version 4 here: {failure}")
    with pytest.raises(AssertionError, match="streams=4 needs XFS version 5"):
        bed.wsfs.mount(4)
    bed.wsfs.mount()
    assert bed.wsfs.geometry().streams == 0
    assert attempt(bed.alloc) == "EOPNOTSUPP"
    fd = bed.open("f")
    os.write(fd, b"data")
    with open(bed.below("f"), "rb") as f:
        assert f.read() == b"data"
