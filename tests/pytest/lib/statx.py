# SPDX-License-Identifier: GPL-2.0
"""statx(2) with every field that the kernel has."""

import ctypes
import os
import struct

from lib.libc import AT_EMPTY_PATH, AT_FDCWD, AT_SYMLINK_NOFOLLOW

_libc = ctypes.CDLL(None, use_errno=True)

MASK_ALL = 0x7FFFFFFF
_FIELDS = {
    "blksize": (4, "I"),
    "attributes": (8, "Q"),
    "nlink": (16, "I"),
    "uid": (20, "I"),
    "gid": (24, "I"),
    "mode": (28, "H"),
    "ino": (32, "Q"),
    "size": (40, "Q"),
    "blocks": (48, "Q"),
    "attributes_mask": (56, "Q"),
    "atime": (64, "qI"),
    "btime": (80, "qI"),
    "ctime": (96, "qI"),
    "mtime": (112, "qI"),
    "rdev_major": (128, "I"),
    "rdev_minor": (132, "I"),
    "dev_major": (136, "I"),
    "dev_minor": (140, "I"),
    "mnt_id": (144, "Q"),
    "dio_mem_align": (152, "I"),
    "dio_offset_align": (156, "I"),
    "subvol": (160, "Q"),
    "atomic_write_unit_min": (168, "I"),
    "atomic_write_unit_max": (172, "I"),
    "atomic_write_segments_max": (176, "I"),
    "dio_read_offset_align": (180, "I"),
    "atomic_write_unit_max_opt": (184, "I"),
}


def statx(path_or_fd, mask=MASK_ALL, flags=AT_SYMLINK_NOFOLLOW):
    """All fields as a dict; `mask` is what the filesystem filled."""
    if isinstance(path_or_fd, int):
        fd, path, flags = path_or_fd, b"", flags | AT_EMPTY_PATH
    else:
        fd, path = AT_FDCWD, os.fsencode(path_or_fd)
    buf = ctypes.create_string_buffer(256)
    if _libc.statx(fd, path, flags, ctypes.c_uint(mask), buf):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    found = {"mask": struct.unpack_from("=I", buf, 0)[0]}
    for name, (offset, form) in _FIELDS.items():
        fields = struct.unpack_from("=" + form, buf, offset)
        found[name] = fields[0] if len(fields) == 1 else fields
    found["rest"] = bytes(buf[188:256])
    return found
