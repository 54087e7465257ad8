# SPDX-License-Identifier: GPL-2.0
"""The extents of a file, as FIEMAP tells them."""

import fcntl
import struct
from dataclasses import dataclass

_HEADER = struct.Struct("=QQIIII")
_EXTENT = struct.Struct("=QQQQQIIII")
_FS_IOC_FIEMAP = 0xC020660B
_FLAG_SYNC = 1
_BATCH = 256

LAST = 0x001
UNKNOWN = 0x002
DELALLOC = 0x004
UNWRITTEN = 0x800
SHARED = 0x2000


@dataclass
class Extent:
    """A piece of a file, in bytes; physical is the place on the device."""

    logical: int
    physical: int
    length: int
    flags: int


def extents(fd):
    """All extents of the file, after its dirty pages were written."""
    found, start = [], 0
    while True:
        buf = bytearray(_HEADER.size + _BATCH * _EXTENT.size)
        _HEADER.pack_into(buf, 0, start, 2**63 - 1 - start, _FLAG_SYNC, 0, _BATCH, 0)
        fcntl.ioctl(fd, _FS_IOC_FIEMAP, buf)
        mapped = _HEADER.unpack_from(buf)[3]
        if not mapped:
            return found
        for i in range(mapped):
            fields = _EXTENT.unpack_from(buf, _HEADER.size + i * _EXTENT.size)
            logical, physical, length, flags = fields[0], fields[1], fields[2], fields[5]
            assert not flags & (DELALLOC | UNKNOWN), f"unplaced after sync: {fields}"
            found.append(Extent(logical, physical, length, flags))
        if found[-1].flags & LAST:
            return found
        start = found[-1].logical + found[-1].length
