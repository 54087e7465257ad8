# SPDX-License-Identifier: GPL-2.0
"""An XFS on a disk: make, mount, grow, check, find an inode's AG."""

import fcntl
import os
import struct
from dataclasses import dataclass

from lib.shell import run, status

MIB = 1 << 20

# mkfs.xfs makes small filesystems only for xfstests, which it knows by these.
_SMALL = {"TEST_DIR": "/", "TEST_DEV": "none", "QA_CHECK_FS": "1"}

_FSGEOM_V1 = struct.Struct("=8I4Q16sIIiIIII")
_XFS_IOC_FSGEOMETRY_V1 = 2 << 30 | 112 << 16 | ord("X") << 8 | 100


@dataclass
class Layout:
    """Numbers of a mounted XFS, from XFS itself."""

    blocksize: int
    agblocks: int
    agcount: int
    inodesize: int

    @classmethod
    def of(cls, path):
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            buf = bytearray(112)
            fcntl.ioctl(fd, _XFS_IOC_FSGEOMETRY_V1, buf)
        finally:
            os.close(fd)
        fields = _FSGEOM_V1.unpack_from(buf)
        return cls(fields[0], fields[2], fields[3], fields[6])

    def ag_of_byte(self, physical):
        """AG of a place on the device."""
        return physical // (self.agblocks * self.blocksize)

    def ag_of_inode(self, ino):
        per_block = (self.blocksize // self.inodesize).bit_length() - 1
        return ino >> ((self.agblocks - 1).bit_length() + per_block)


class Xfs:
    """An XFS on @device, to be mounted on @path."""

    def __init__(self, device, path):
        self.device = device
        self.path = path
        self.mounted = False
        self.agcount = None
        self.rtdev = None

    def mkfs(self, agcount, ag_mib, *options, data=None, rtdev=None):
        """@data replaces the words of mkfs.xfs -d; @rtdev is for a realtime volume."""
        self.agcount = agcount
        self.rtdev = rtdev
        if rtdev:
            options += ("-r", f"rtdev={rtdev},size=256m")
        # The log takes most of one AG: keep it small.
        run(
            "mkfs.xfs", "-f", "-K", "-q",
            "-d", data or f"agcount={agcount},size={agcount * ag_mib}m",
            "-l", "size=16m",
            *options,
            self.device,
            env=_SMALL,
        )  # fmt: skip

    def mount(self, options=""):
        os.makedirs(self.path, exist_ok=True)
        if self.rtdev:
            options = ",".join(filter(None, [options, f"rtdev={self.rtdev}"]))
        run("mount", "-t", "xfs", *(["-o", options] if options else []), self.device, self.path)
        self.mounted = True

    def umount(self):
        run("umount", self.path)
        self.mounted = False

    def grow(self, agcount, ag_mib=32):
        blocks = agcount * ag_mib * MIB // self.layout().blocksize
        run("xfs_growfs", "-D", blocks, self.path)

    def layout(self):
        return Layout.of(self.path)

    def check(self):
        """None, or what xfs_repair -n finds."""
        # With one AG there is no second superblock to compare with.
        words = ["-o", "force_geometry"] if self.agcount == 1 else []
        if self.rtdev:
            words += ["-r", self.rtdev]
        code, output = status("xfs_repair", "-n", "-P", *words, self.device)
        return output if code else None
