# SPDX-License-Identifier: GPL-2.0
"""Where the later part of a file lies, and whether it is whole and its own."""

import fcntl
import os
import struct

from lib import agsets
from lib.fiemap import SHARED, extents
from lib.pattern import first_difference
from lib.placement import strayed

SETS = agsets.ag_sets(4, 16)
BLOCK = 4096
FIBMAP = 1


def outside(bed, fd, start, stream_id):
    """Extents with bytes from @start on that are not in the stream's set, as words."""
    layout = bed.xfs.layout()
    return [
        f"byte {e.logical} {strayed(agno, SETS[stream_id])}"
        for e in extents(fd)
        if e.logical + e.length > start
        for agno in {
            layout.ag_of_byte(e.physical),
            layout.ag_of_byte(e.physical + e.length - 1),
        }
        - SETS[stream_id]
    ]


def assert_not_shared(bed, name):
    """No block is shared, and XFS does not think so either: to a file with the
    mark it does not tell block numbers."""
    fd = os.open(bed.below(name), os.O_RDONLY)
    try:
        assert not [e for e in extents(fd) if e.flags & SHARED]
        last = (os.fstat(fd).st_size - 1) // BLOCK
        got = fcntl.ioctl(fd, FIBMAP, struct.pack("=i", last))
        assert struct.unpack("=i", got)[0], "still marked as shared"
    finally:
        os.close(fd)


def check(bed, name, want):
    for path in (bed.at(name), bed.below(name)):
        with open(path, "rb") as f:
            difference = first_difference(f.read(), want)
        assert not difference, f"{path}: {difference}"
