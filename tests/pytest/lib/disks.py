# SPDX-License-Identifier: GPL-2.0
"""Two blank disks: those of WSFS_DISKS, else loop devices over a tmpfs."""

import fcntl
import os
import struct
import tempfile

from lib.shell import run

_BLKGETSIZE64 = 0x80081272
_BLKZEROOUT = 0x127F


class Disks:
    """The paths of two disks."""

    def __init__(self):
        self._tmp = None
        self.paths = os.environ.get("WSFS_DISKS", "").split()
        if not self.paths:
            self._make_loops()
        if len(self.paths) < 2:
            raise RuntimeError("WSFS_DISKS has to name two blank disks")

    def _make_loops(self, size=1 << 30):
        self._tmp = tempfile.mkdtemp(prefix="wsfs-disks-")
        run("mount", "-t", "tmpfs", "-o", "size=3g", "tmpfs", self._tmp)
        for name in ("a", "b"):
            image = f"{self._tmp}/{name}"
            with open(image, "wb") as f:
                f.truncate(size)
            self.paths.append(run("losetup", "-f", "--show", image).strip())

    def close(self):
        if not self._tmp:
            return
        for path in self.paths:
            run("losetup", "-d", path)
        run("umount", self._tmp)
        os.rmdir(self._tmp)


def size_of(path):
    """Bytes of a block device."""
    fd = os.open(path, os.O_RDONLY)
    try:
        buf = fcntl.ioctl(fd, _BLKGETSIZE64, bytes(8))
        return struct.unpack("=Q", buf)[0]
    finally:
        os.close(fd)


def zero(path, length):
    """Make the first @length bytes of a block device zero."""
    fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.ioctl(fd, _BLKZEROOUT, struct.pack("=QQ", 0, length))
    finally:
        os.close(fd)
