# SPDX-License-Identifier: GPL-2.0
"""name_to_handle_at(2) and open_by_handle_at(2)."""

import ctypes
import os
import struct
from dataclasses import dataclass

from lib.libc import AT_EMPTY_PATH, AT_FDCWD, _check, _libc

AT_HANDLE_FID = 0x200
AT_HANDLE_CONNECTABLE = 0x002
_MAX = 128


@dataclass(frozen=True)
class Handle:
    """struct file_handle"""

    type: int
    data: bytes


def of(path_or_fd, flags=0):
    """The handle of a file; a symbolic link is not followed."""
    if isinstance(path_or_fd, int):
        fd, path, flags = path_or_fd, b"", flags | AT_EMPTY_PATH
    else:
        fd, path = AT_FDCWD, os.fsencode(path_or_fd)
    buf = ctypes.create_string_buffer(struct.pack("=Ii", _MAX, 0), 8 + _MAX)
    mount_id = ctypes.c_int()
    _check(_libc.name_to_handle_at(fd, path, buf, ctypes.byref(mount_id), flags))
    size, kind = struct.unpack_from("=Ii", buf, 0)
    return Handle(kind, bytes(buf[8 : 8 + size]))


def open_handle(mount, handle, flags=os.O_RDONLY):
    """Open @handle on the filesystem that the path @mount is on."""
    fd = os.open(mount, os.O_RDONLY | os.O_CLOEXEC)
    buf = ctypes.create_string_buffer(
        struct.pack("=Ii", len(handle.data), handle.type) + handle.data
    )
    try:
        return _check(_libc.open_by_handle_at(fd, buf, flags | os.O_CLOEXEC))
    finally:
        os.close(fd)


def drop_caches():
    """Forget what is not in use."""
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w") as f:
        f.write("2")
