# SPDX-License-Identifier: GPL-2.0
"""Files whose every block is an extent of its own, and what is written to them
directly."""

import mmap
import os

from lib import libc
from lib.fiemap import extents
from lib.pattern import first_difference, pattern

BLOCK = 4096
SECTOR = 512


def make(fd, blocks, tag=0):
    """@blocks blocks of pattern @tag in an empty file, no two of them next to
    each other on the disk; all written, none shared."""
    os.pwrite(fd, bytes(BLOCK) * (2 * blocks), 0)
    os.fsync(fd)
    for i in range(1, blocks):
        libc.fallocate(fd, libc.FALLOC_COLLAPSE_RANGE, i * BLOCK, BLOCK)
    os.ftruncate(fd, blocks * BLOCK)
    os.pwrite(fd, pattern(tag, 0, blocks * BLOCK), 0)
    os.fsync(fd)
    found = extents(fd)
    assert len(found) == blocks, f"{len(found)} extents of {blocks} blocks"


def buffer_of(data):
    """An aligned copy."""
    buffer = mmap.mmap(-1, len(data))
    buffer[:] = data
    return buffer


def shredded(bed, name, blocks=64, flags=os.O_RDWR | os.O_DIRECT):
    fd = bed.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL)
    make(fd, blocks)
    bed.close(fd)
    return bed.open(name, flags)


class Expected:
    """What the file has to hold, kept beside it."""

    def __init__(self, blocks):
        self.data = bytearray(pattern(0, 0, blocks * BLOCK))

    def put(self, tag, offset, length):
        data = pattern(tag, offset, length)
        self.data[offset : offset + length] = data
        return buffer_of(data)

    def check(self, bed, name):
        for path in (bed.at(name), bed.below(name)):
            with open(path, "rb") as f:
                difference = first_difference(f.read(), bytes(self.data))
            assert not difference, f"{path}: {difference}"
