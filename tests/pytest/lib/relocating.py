# SPDX-License-Identifier: GPL-2.0
"""Files for wsctl relocate, and where they lie."""

import os

from lib.fiemap import SHARED, UNWRITTEN, extents
from lib.pattern import pattern
from lib.wsctl import wsctl

MIB = 1 << 20
BLOCK = 4096


def make(path, size, tag=1):
    """A file with data on the disk, closed; returns its bytes."""
    data = pattern(tag, 0, size)
    with open(path, "wb") as f:
        f.write(data)
        f.flush()
        os.fsync(f.fileno())
    return data


def in_ags(bed, path):
    """The AGs that data of the file lies in."""
    layout, size = bed.xfs.layout(), os.stat(path).st_size
    return {
        layout.ag_of_byte(at)
        for start, at, length, flags in physical(path)
        if start < size and not flags & UNWRITTEN
        for at in (at, at + length - 1)
    }


def shape(path):
    """What the file is made of: (offset, length, flags), joined where alike."""
    found = []
    fd = os.open(path, os.O_RDONLY)
    try:
        for extent in extents(fd):
            flags = extent.flags & (SHARED | UNWRITTEN)
            if found and sum(found[-1][:2]) == extent.logical and found[-1][2] == flags:
                found[-1][1] += extent.length
            else:
                found.append([extent.logical, extent.length, flags])
    finally:
        os.close(fd)
    return found


def physical(path):
    """Where the file lies, exactly."""
    fd = os.open(path, os.O_RDONLY)
    try:
        return [(e.logical, e.physical, e.length, e.flags) for e in extents(fd)]
    finally:
        os.close(fd)


def blocks(path):
    """The same, block by block, however XFS tells of them."""
    return {
        logical + i: at + i
        for logical, at, length, _ in physical(path)
        for i in range(0, length, BLOCK)
    }


def foreign_id(room, path):
    """The id of such a stream, without a reservation."""
    here = in_ags(room, path)
    return next(i for i in range(4) if not here & room.wsfs.ag_set(i))


def relocate(path, *words, status=0, **kwargs):
    """What it says of the one file."""
    done = wsctl("relocate", "--json", *words, path, **kwargs)
    assert done.status == status, done
    (entry,) = done.json["files"]
    return entry
