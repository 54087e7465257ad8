# SPDX-License-Identifier: GPL-2.0
"""What a directory can give the files that are made in it."""

import itertools
import os

from lib import acl, ioctls
from lib.births import WAYS, acting_as, directory, looks, make_only
from lib.compare import attempt
from lib.ioctls import FsXattr

USER = 1000


def plain(path, fd):
    pass


def setgid(path, fd):
    os.chown(path, 0, 77)
    os.chmod(path, 0o2777)


def default_acl(path, fd):
    os.setxattr(path, acl.DEFAULT, acl.for_user(USER))


def trivial_acl(path, fd):
    """One that is nothing but a mode: it counts in place of the umask."""
    os.setxattr(path, acl.DEFAULT, acl.acl((1, 6), (4, 6), (0x20, 6)))


def change(fd, flags=0, **numbers):
    attr = FsXattr.of(fd)
    attr.xflags |= flags
    for name, value in numbers.items():
        setattr(attr, name, value)
    attr.apply(fd)


def project(path, fd):
    change(fd, ioctls.XFLAG_PROJINHERIT, projid=42)


def project_zero(path, fd):
    change(fd, ioctls.XFLAG_PROJINHERIT)


def extent_size(path, fd):
    change(fd, ioctls.XFLAG_EXTSZINHERIT, extsize=64 << 10)


def cow_extent_size(path, fd):
    change(fd, ioctls.XFLAG_COWEXTSIZE, cowextsize=128 << 10)


def flags(path, fd):
    ioctls.setflags(fd, ioctls.FS_NODUMP_FL | ioctls.FS_NOATIME_FL | ioctls.FS_SYNC_FL)
    change(fd, ioctls.XFLAG_NODEFRAG)


def append_only(path, fd):
    ioctls.setflags(fd, ioctls.FS_APPEND_FL)


def everything(path, fd):
    for shape in (setgid, default_acl, project, extent_size, cow_extent_size, flags):
        shape(path, fd)


def realtime(path, fd):
    change(fd, ioctls.XFLAG_RTINHERIT)


def realtime_extent_size(path, fd):
    realtime(path, fd)
    extent_size(path, fd)


def realtime_everything(path, fd):
    """All but a copy-on-write extent size, which XFS refuses where there is no reflink."""
    realtime(path, fd)
    for shape in (setgid, default_acl, project, extent_size, flags):
        shape(path, fd)


REALTIME_SHAPES = [realtime, realtime_extent_size, realtime_everything]

SHAPES = [
    plain, setgid, default_acl, trivial_acl, project, project_zero, extent_size,
    cow_extent_size, flags, append_only, everything,
]  # fmt: skip

CALLERS = [
    # (user, his other groups, umask, mode)
    (0, (), 0o022, 0o666),
    (0, (), 0, 0o6755),
    (USER, (), 0o077, 0o777),
    (USER, (77,), 0o002, 0o2775),
]


def twins(bed, shape, stream):
    """Directories "with" and "without" @stream, given @shape after that; their fds."""
    os.chmod(bed.path, 0o755)
    fds = [directory(bed, "with", stream), directory(bed, "without")]
    for name, fd in zip(("with", "without"), fds):
        os.chmod(bed.at(name), 0o777)
        shape(bed.at(name), fd)
    return fds


def compare_twins(bed, below=""):
    """Make a file in both, in each way, as each caller: what it looks like has to be
    the same, on the XFS too. @below names a directory in both. Returns the names."""
    names = []
    both = [f"with{below}", f"without{below}"]
    for way, (i, (uid, groups, umask, mode)) in itertools.product(WAYS, enumerate(CALLERS)):
        name = f"{way.__name__}-{i}"
        with acting_as(uid, groups, umask):
            got, want = (attempt(make_only, way, bed.at(d), name, mode) for d in both)
        assert got is want is None, name
        with_it, without = (looks(bed.at(f"{d}/{name}")) for d in both)
        assert with_it == without, name
        assert looks(bed.below(f"{both[0]}/{name}")) == without, name
        names.append(name)
    return names
