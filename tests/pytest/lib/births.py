# SPDX-License-Identifier: GPL-2.0
"""Ways to make a file in a directory, and what it has then."""

import contextlib
import os
import stat

from lib import ioctls, libc
from lib.ioctls import FsXattr


def by_open(directory, name, mode):
    return os.open(f"{directory}/{name}", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, mode)


def by_exclusive_open(directory, name, mode):
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC
    return os.open(f"{directory}/{name}", flags, mode)


def by_mknod(directory, name, mode):
    os.mknod(f"{directory}/{name}", stat.S_IFREG | mode)
    return os.open(f"{directory}/{name}", os.O_RDWR | os.O_CLOEXEC)


def by_tmpfile(directory, name, mode):
    """O_TMPFILE and linkat(2)"""
    fd = os.open(directory, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, mode)
    try:
        libc.linkat_fd(fd, f"{directory}/{name}")
    except OSError:
        os.close(fd)
        raise
    return fd


WAYS = [by_open, by_exclusive_open, by_mknod, by_tmpfile]


def way_name(way):
    return way.__name__


def looks(path):
    """All that is to be seen of a new file but its times and its inode."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        status = os.fstat(fd)
        xattr = FsXattr.of(fd)
        return {
            "mode": oct(status.st_mode),
            "owner": (status.st_uid, status.st_gid),
            "links": status.st_nlink,
            "size": (status.st_size, status.st_blocks),
            "xattrs": {name: os.getxattr(fd, name) for name in os.listxattr(fd)},
            "xflags": hex(xattr.xflags & ~ioctls.XFLAG_HASATTR),
            "numbers": (xattr.extsize, xattr.cowextsize, xattr.projid),
            "flags": hex(ioctls.getflags(fd)),
        }
    finally:
        os.close(fd)


def fill(fd, size=256 << 10):
    os.write(fd, os.urandom(1024) * (size // 1024))
    os.fsync(fd)


def make(bed, way, where, name, mode=0o644):
    """A new file of a test bed, open."""
    return bed.adopt(way(bed.at(where), name, mode))


def make_only(way, where, name, mode):
    os.close(way(where, name, mode))


def directory(bed, name, stream=None):
    """A new directory whose files are born in @stream."""
    os.mkdir(bed.at(name))
    fd = bed.adopt(os.open(bed.at(name), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    if stream:
        ioctls.set_dir(fd, ioctls.DIR_STREAM, stream.fd)
    return fd


@contextlib.contextmanager
def acting_as(uid, groups, umask):
    old = os.umask(umask)
    os.setgroups(groups)
    os.setegid(uid)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(())
        os.umask(old)
