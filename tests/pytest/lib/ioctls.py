# SPDX-License-Identifier: GPL-2.0
"""The ioctls of uapi/linux/*.h and the few of the VFS and XFS used here.

Written down from the headers' comments, not imported from them: the numbers
are part of what is tested.
"""

import fcntl
import struct
from dataclasses import dataclass


def _ioc(direction, kind, number, size):
    kind = ord(kind) if isinstance(kind, str) else kind
    return direction << 30 | size << 16 | kind << 8 | number


def _io(kind, number):
    return _ioc(0, kind, number, 0)


def _iow(kind, number, size):
    return _ioc(1, kind, number, size)


def _ior(kind, number, size):
    return _ioc(2, kind, number, size)


def _iowr(kind, number, size):
    return _ioc(3, kind, number, size)


WRITE_STREAM_GET_MAX = _ior(0x15, 3, 4)
WRITE_STREAM_ALLOC = _io(0x15, 4)
WRITE_STREAM_SET = _iow(0x15, 5, 8)
SET_CLEAR = 1

_GEOMETRY = struct.Struct("=6I32s8I")
_FILE_INFO = struct.Struct("=4I4I")
WSFS_GEOMETRY = _ior(0xD9, 1, _GEOMETRY.size)
WSFS_FILE_INFO = _ior(0xD9, 2, _FILE_INFO.size)
_DIR_PLACE = struct.Struct("=Ii2I")
WSFS_SET_DIR = _iow(0xD9, 3, _DIR_PLACE.size)
DIR_DEFAULT, DIR_STREAM, DIR_NEAR, DIR_SPREAD, DIR_SPREAD_FREE = range(5)
FILE_STREAM = 1 << 0
FILE_HOMED = 1 << 1
FILE_MISSED = 1 << 2
FILE_ANCHORED = 1 << 3
FILE_HINT = 1 << 4

FS_IOC_GETFLAGS = _ior("f", 1, 8)
FS_IOC_SETFLAGS = _iow("f", 2, 8)
FS_SYNC_FL = 0x8
FS_IMMUTABLE_FL = 0x10
FS_APPEND_FL = 0x20
FS_NODUMP_FL = 0x40
FS_NOATIME_FL = 0x80

_FSXATTR = struct.Struct("=5I8s")
FS_IOC_FSGETXATTR = _ior("X", 31, _FSXATTR.size)
FS_IOC_FSSETXATTR = _iow("X", 32, _FSXATTR.size)
XFLAG_REALTIME = 0x1
XFLAG_RTINHERIT = 0x100
XFLAG_EXTSIZE = 0x800
XFLAG_NODEFRAG = 0x2000
XFLAG_EXTSZINHERIT = 0x1000
XFLAG_PROJINHERIT = 0x200
XFLAG_FILESTREAM = 0x4000
XFLAG_COWEXTSIZE = 0x10000
XFLAG_HASATTR = 0x80000000

FICLONE = _iow(0x94, 9, 4)
FICLONERANGE = _iow(0x94, 13, 32)
FIDEDUPERANGE = _iowr(0x94, 54, 24)


def get_max(fd):
    buf = bytearray(4)
    fcntl.ioctl(fd, WRITE_STREAM_GET_MAX, buf)
    return struct.unpack("=I", buf)[0]


def alloc(fd):
    return fcntl.ioctl(fd, WRITE_STREAM_ALLOC)


def set_stream(fd, stream_fd, flags=0):
    fcntl.ioctl(fd, WRITE_STREAM_SET, struct.pack("=iI", stream_fd, flags))


def clear_stream(fd):
    set_stream(fd, -1, SET_CLEAR)


def set_dir(fd, how, stream_fd=-1, reserved=0):
    fcntl.ioctl(fd, WSFS_SET_DIR, _DIR_PLACE.pack(how, stream_fd, reserved, 0))


@dataclass
class Geometry:
    """struct wsfs_geometry"""

    blocksize: int
    agblocks: int
    agcount: int
    streams: int
    lower_major: int
    lower_minor: int
    dev: str

    @classmethod
    def of(cls, fd):
        buf = bytearray(_GEOMETRY.size)
        fcntl.ioctl(fd, WSFS_GEOMETRY, buf)
        *numbers, dev = _GEOMETRY.unpack(buf)[:7]
        assert not any(_GEOMETRY.unpack(buf)[7:]), "reserved fields are zero"
        return cls(*numbers, dev.split(b"\0")[0].decode())


@dataclass
class FileInfo:
    """struct wsfs_file_info"""

    flags: int
    stream: int
    home_agno: int
    inode_agno: int
    dir_how: int

    @classmethod
    def of(cls, fd):
        buf = bytearray(_FILE_INFO.size)
        fcntl.ioctl(fd, WSFS_FILE_INFO, buf)
        fields = _FILE_INFO.unpack(buf)
        assert not any(fields[5:]), "reserved fields are zero"
        return cls(*fields[:5])

    @property
    def has_stream(self):
        return bool(self.flags & FILE_STREAM)

    @property
    def homed(self):
        return bool(self.flags & FILE_HOMED)

    @property
    def missed(self):
        return bool(self.flags & FILE_MISSED)

    @property
    def anchored(self):
        return bool(self.flags & FILE_ANCHORED)

    @property
    def by_hint(self):
        return bool(self.flags & FILE_HINT)

    @property
    def placed_somehow(self):
        """Every file with a stream is one of the three."""
        return self.homed or self.missed or self.anchored


@dataclass
class FsXattr:
    """struct fsxattr"""

    xflags: int
    extsize: int
    nextents: int
    projid: int
    cowextsize: int

    @classmethod
    def of(cls, fd):
        buf = bytearray(_FSXATTR.size)
        fcntl.ioctl(fd, FS_IOC_FSGETXATTR, buf)
        return cls(*_FSXATTR.unpack(buf)[:5])

    def apply(self, fd):
        fields = (self.xflags, self.extsize, 0, self.projid, self.cowextsize)
        fcntl.ioctl(fd, FS_IOC_FSSETXATTR, _FSXATTR.pack(*fields, bytes(8)))


def getflags(fd):
    buf = bytearray(8)
    fcntl.ioctl(fd, FS_IOC_GETFLAGS, buf)
    return struct.unpack("=q", buf)[0] & 0xFFFFFFFF


def setflags(fd, flags):
    fcntl.ioctl(fd, FS_IOC_SETFLAGS, struct.pack("=q", flags))


def clone(dst, src):
    fcntl.ioctl(dst, FICLONE, src)


def clone_range(dst, src, src_offset, length, dst_offset):
    arg = struct.pack("=qQQQ", src, src_offset, length, dst_offset)
    fcntl.ioctl(dst, FICLONERANGE, arg)


def dedupe_range(src, src_offset, length, dst, dst_offset):
    """Returns (bytes deduped, status) of the one destination."""
    buf = bytearray(
        struct.pack("=QQHHI", src_offset, length, 1, 0, 0)
        + struct.pack("=qQQiI", dst, dst_offset, 0, 0, 0)
    )
    fcntl.ioctl(src, FIDEDUPERANGE, buf)
    _, _, deduped, result, _ = struct.unpack_from("=qQQiI", buf, 24)
    return deduped, result
