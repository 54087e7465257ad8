# SPDX-License-Identifier: GPL-2.0
"""xfs_growfs while wsfs is mounted, and remounting."""

import time

import pytest

from lib import agsets
from lib.table import Table
from lib.writers import Direct, Way


def notice(bed, sets, seconds=10):
    """wsfs may take a moment to notice; sysfs and SET go by the same sets."""
    end = time.monotonic() + seconds
    while [bed.wsfs.ag_set(i) for i in range(len(sets))] != sets:
        assert time.monotonic() < end, "growfs was not noticed"
        time.sleep(0.2)


@pytest.mark.parametrize("way", [Way, Direct], ids=lambda way: way.name)
def test_growfs_without_streams_reserved(bed, way):
    """The sets are laid out anew."""
    bed.make(agcount=8, streams=4)
    bed.xfs.grow(16)
    assert bed.xfs.layout().agcount == 16
    streams = [bed.alloc() for _ in range(4)]
    sets = agsets.ag_sets(4, 16)
    notice(bed, sets)
    assert bed.wsfs.geometry().agcount == 16
    table = Table(bed, way(), streams, 64)
    table.write()
    table.assert_home(sets)


def test_growfs_again_and_again(bed):
    """Little by little comes to the same as at once."""
    bed.make(agcount=8, streams=3)
    bed.alloc()
    for new in (9, 10, 13):
        bed.xfs.grow(new)
        notice(bed, agsets.grown_ag_sets(3, 8, new))


@pytest.mark.parametrize("new", [9, 11, 16])
def test_growfs_with_streams_reserved(bed, new):
    """The new AGs are added to the sets; no AG changes its owner."""
    bed.make(agcount=8, streams=4)
    streams = [bed.alloc() for _ in range(4)]
    before = Table(bed, Way(), streams, 16, directory="before")
    before.write()
    bed.xfs.grow(new)
    sets = agsets.grown_ag_sets(4, 8, new)
    notice(bed, sets)
    after = Table(bed, Way(), streams, 64, directory="after")
    after.write()
    layout = bed.xfs.layout()
    for target in after.targets:
        info = bed.info(target.fd)
        assert info.homed and info.home_agno in sets[target.stream]
        assert layout.agcount == new
    after_sets = {i: sets[i] for i in range(4)}
    before.assert_home(agsets.ag_sets(4, 8))
    after.assert_home(after_sets)


def test_growfs_then_release(bed):
    """When the last stream is released the sets are laid out anew."""
    bed.make(agcount=8, streams=4)
    stream = bed.alloc()
    bed.xfs.grow(16)
    bed.close_all()
    assert stream.fd == -1
    streams = [bed.alloc() for _ in range(4)]
    sets = agsets.ag_sets(4, 16)
    notice(bed, sets)
    table = Table(bed, Way(), streams, 32)
    table.write()
    table.assert_home(sets)


@pytest.mark.quick
def test_remount(bed):
    """What was placed stays, what comes is placed by the same sets."""
    bed.make(agcount=16, streams=4)
    sets = agsets.ag_sets(4, 16)
    first = Table(bed, Way(), [bed.alloc() for _ in range(4)], 32, directory="first")
    first.write()
    bed.remount()
    first.reopen()
    first.assert_home(sets)
    for target in first.targets:
        assert not bed.info(target.fd).has_stream
    second = Table(bed, Direct(), [bed.alloc() for _ in range(4)], 32, directory="second")
    second.write()
    second.assert_home(sets)
    first.assert_home(sets)


def test_growfs_of_the_last_short_ag(bed):
    """The last AG of a filesystem may be short, and is filled up by growfs."""
    bed.make(agcount=8, streams=4, data="agsize=32m,size=240m")
    bed.xfs.grow(8)
    sets = agsets.ag_sets(4, 8)
    table = Table(bed, Way(), [bed.alloc() for _ in range(4)], 32)
    table.write()
    table.assert_home(sets)
