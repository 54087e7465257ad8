# SPDX-License-Identifier: GPL-2.0
"""System calls that Python's os module does not have."""

import ctypes
import os
import struct

_libc = ctypes.CDLL(None, use_errno=True)

AT_FDCWD = -100
AT_EMPTY_PATH = 0x1000
AT_SYMLINK_NOFOLLOW = 0x100
AT_SYMLINK_FOLLOW = 0x400

RENAME_NOREPLACE = 1
RENAME_EXCHANGE = 2
RENAME_WHITEOUT = 4

MAP_SHARED = 0x01
MAP_SHARED_VALIDATE = 0x03
MAP_SYNC = 0x80000

FALLOC_KEEP_SIZE = 0x01
FALLOC_PUNCH_HOLE = 0x02
FALLOC_COLLAPSE_RANGE = 0x08
FALLOC_ZERO_RANGE = 0x10
FALLOC_INSERT_RANGE = 0x20
FALLOC_UNSHARE_RANGE = 0x40

_CACHESTAT, _FILE_GETATTR, _FILE_SETATTR = 451, 468, 469

_i64 = ctypes.c_longlong


def _check(result, path=None):
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), path)
    return result


def renameat2(old, new, flags):
    _check(
        _libc.renameat2(AT_FDCWD, os.fsencode(old), AT_FDCWD, os.fsencode(new), flags),
        old,
    )


def fallocate(fd, mode, offset, length):
    _check(_libc.fallocate(fd, mode, _i64(offset), _i64(length)))


def link_following(old, new):
    """linkat(2) with AT_SYMLINK_FOLLOW, which os.link never asks for"""
    _check(
        _libc.linkat(
            AT_FDCWD, os.fsencode(old), AT_FDCWD, os.fsencode(new), AT_SYMLINK_FOLLOW
        ),
        old,
    )


def linkat_fd(fd, path):
    """linkat(2) with AT_EMPTY_PATH"""
    _check(_libc.linkat(fd, b"", AT_FDCWD, os.fsencode(path), AT_EMPTY_PATH), path)


def getdents(fd, size=4096):
    """One getdents64 call: a list of (name, offset of the next entry, type)."""
    buf = ctypes.create_string_buffer(size)
    got = _check(_libc.getdents64(fd, buf, ctypes.c_size_t(size)))
    entries, at = [], 0
    while at < got:
        _, offset, length, kind = struct.unpack_from("=QqHB", buf, at)
        name = buf[at + 19 : at + length].split(b"\0")[0].decode()
        entries.append((name, offset, kind))
        at += length
    return entries


def read_dir(fd, size=4096):
    """All entries from the directory's position on."""
    entries = []
    while batch := getdents(fd, size):
        entries += batch
    return entries


_STATX_BASIC = 0x7FF
_STATX_BTIME = 0x800
_STATX_ALL = 0xFFF
_STATX_DIOALIGN = 0x2000


def statx(path, mask=_STATX_ALL | _STATX_DIOALIGN, flags=AT_SYMLINK_NOFOLLOW):
    """A dict of the fields of statx(2) that os.stat does not show."""
    buf = ctypes.create_string_buffer(256)
    _check(
        _libc.statx(AT_FDCWD, os.fsencode(path), flags, ctypes.c_uint(mask), buf), path
    )
    got, blksize, attributes = struct.unpack_from("=IIQ", buf, 0)
    attributes_mask = struct.unpack_from("=Q", buf, 56)[0]
    btime = struct.unpack_from("=qI", buf, 80)
    dio_mem, dio_offset = struct.unpack_from("=II", buf, 152)
    return {
        "mask": got,
        "blksize": blksize,
        "attributes": attributes,
        "attributes_mask": attributes_mask,
        "btime": btime,
        "dio_mem_align": dio_mem,
        "dio_offset_align": dio_offset,
    }


def mount(source, target, fstype, flags=0, data=""):
    _check(
        _libc.mount(
            os.fsencode(source),
            os.fsencode(target),
            os.fsencode(fstype),
            ctypes.c_ulong(flags),
            os.fsencode(data),
        ),
        source,
    )


def umount(target, flags=0):
    _check(_libc.umount2(os.fsencode(target), flags), target)


def sync_file_range(fd, offset, length, flags):
    _check(_libc.sync_file_range(fd, _i64(offset), _i64(length), ctypes.c_uint(flags)))


def syncfs(fd):
    _check(_libc.syncfs(fd))


def readahead(fd, offset, count):
    _check(_libc.readahead(fd, _i64(offset), ctypes.c_size_t(count)))


def cachestat(fd, offset=0, length=0):
    """cachestat(2): pages (cached, dirty, under writeback, evicted, evicted lately)"""
    place = ctypes.create_string_buffer(struct.pack("=QQ", offset, length))
    found = ctypes.create_string_buffer(40)
    _check(_libc.syscall(_CACHESTAT, fd, place, found, 0))
    return struct.unpack("=5Q", found)


def mincore(fd, size):
    """Which pages of a mapping of the file are in memory, a byte each."""
    address = map_file(fd, size, MAP_SHARED)
    pages = ctypes.create_string_buffer(-(-size // 4096))
    try:
        _check(_libc.mincore(ctypes.c_void_p(address), ctypes.c_size_t(size), pages))
    finally:
        unmap(address, size)
    return bytes(byte & 1 for byte in pages.raw)


def madvise(address, size, advice):
    _check(_libc.madvise(ctypes.c_void_p(address), ctypes.c_size_t(size), advice))


def msync(address, size, flags):
    _check(_libc.msync(ctypes.c_void_p(address), ctypes.c_size_t(size), flags))


# struct file_attr: xflags, extsize, nextents, projid, cowextsize
_FILE_ATTR = struct.Struct("=QIIII")


def file_getattr(path, flags=AT_SYMLINK_NOFOLLOW):
    """file_getattr(2), of Linux 6.17"""
    buf = ctypes.create_string_buffer(_FILE_ATTR.size)
    _check(
        _libc.syscall(_FILE_GETATTR, AT_FDCWD, os.fsencode(path), buf,
                      ctypes.c_size_t(_FILE_ATTR.size), flags), path
    )  # fmt: skip
    return _FILE_ATTR.unpack(buf.raw)


def file_setattr(path, attr, flags=AT_SYMLINK_NOFOLLOW):
    """file_setattr(2) with what file_getattr() gives"""
    buf = ctypes.create_string_buffer(_FILE_ATTR.pack(*attr), _FILE_ATTR.size)
    _check(
        _libc.syscall(_FILE_SETATTR, AT_FDCWD, os.fsencode(path), buf,
                      ctypes.c_size_t(_FILE_ATTR.size), flags), path
    )  # fmt: skip


def map_file(fd, size, flags):
    """mmap(2) to read and write, whatever the size of the file; the address"""
    _libc.mmap.restype = ctypes.c_void_p
    got = _libc.mmap(None, ctypes.c_size_t(size), 3, flags, fd, _i64(0))
    if got == ctypes.c_void_p(-1).value:
        _check(-1)
    return got


def unmap(address, size):
    _check(_libc.munmap(ctypes.c_void_p(address), ctypes.c_size_t(size)))
