# SPDX-License-Identifier: GPL-2.0
"""What SET carries from the old empty file to the new one: everything but the
inode number."""

import fcntl
import os
import stat

import pytest

from lib import acl, ioctls
from lib.child import Child
from lib.ioctls import FsXattr
from lib.shell import run
from lib.swap import elsewhere, reserve_all, swapped

USER = 1000


@pytest.fixture
def one(room):
    """A bed whose 4 streams are reserved."""
    reserve_all(room)
    return room


@pytest.mark.parametrize(
    "mode", [0o644, 0o000, 0o777, 0o4755, 0o2755, 0o6711, 0o1777, 0o7777], ids=oct
)
def test_mode(one, mode):
    bed = one
    fd = bed.open("f")
    os.fchmod(fd, mode)
    swapped(bed, fd)
    for path in (bed.at("f"), bed.below("f")):
        assert stat.S_IMODE(os.stat(path).st_mode) == mode
    assert stat.S_IMODE(os.fstat(fd).st_mode) == mode


def test_umask_does_not_matter(one):
    bed = one
    fd = bed.open("f", mode=0o666)
    os.fchmod(fd, 0o666)
    old = os.umask(0o777)
    try:
        swapped(bed, fd)
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.fstat(fd).st_mode) == 0o666


@pytest.mark.parametrize("uid, gid", [(USER, 0), (0, USER), (USER, USER + 1)])
def test_owner(one, uid, gid):
    bed = one
    fd = bed.open("f")
    os.fchown(fd, uid, gid)
    swapped(bed, fd)
    for got in (os.fstat(fd), os.stat(bed.below("f"))):
        assert (got.st_uid, got.st_gid) == (uid, gid)


def test_owner_with_suid(one):
    """chown clears suid; SET must not, and must not give it to root."""
    bed = one
    fd = bed.open("f")
    os.fchown(fd, USER, USER)
    os.fchmod(fd, 0o6755)
    swapped(bed, fd)
    got = os.stat(bed.below("f"))
    assert (got.st_uid, got.st_gid, stat.S_IMODE(got.st_mode)) == (USER, USER, 0o6755)


def test_setgid_directory(one):
    """The new file's group is the old file's, not a directory's."""
    bed = one
    os.mkdir(bed.at("d"))
    os.chown(bed.at("d"), 0, USER)
    os.chmod(bed.at("d"), 0o2777)
    fd = bed.open("d/f")
    assert os.fstat(fd).st_gid == USER
    swapped(bed, fd, "d/f")
    assert os.fstat(fd).st_gid == USER
    os.fchown(fd, 5, 6)
    other = bed.open("d/g")
    os.fchown(other, 5, 6)
    swapped(bed, other, "d/g")
    assert os.fstat(other).st_gid == 6


def test_times(one):
    bed = one
    fd = bed.open("f")
    times = (1_000_000_001_123_456_789, 1_111_111_111_987_654_321)
    os.utime(fd, ns=times)
    swapped(bed, fd)
    for got in (os.fstat(fd), os.stat(bed.below("f"))):
        assert (got.st_atime_ns, got.st_mtime_ns) == times


def test_times_of_the_directory_and_others(one):
    """Nothing but the file is changed below the mount's root."""
    bed = one
    os.mkdir(bed.at("d"))
    fd = bed.open("d/f")
    neighbour = bed.open("d/g")
    before = os.fstat(neighbour)
    swapped(bed, fd, "d/f")
    assert os.fstat(neighbour) == before
    assert sorted(os.listdir(bed.at("d"))) == ["f", "g"]
    assert os.stat(bed.at("d")).st_nlink == 2


# These fit into the inode: others take a block, and SET promises to move only
# files that have none.
XATTRS = {
    "user.short": b"value",
    "user.empty": b"",
    "user.binary": bytes(range(32)),
    "trusted.t": b"trusted",
    "security.label": b"label",
}


def test_xattrs(one):
    bed = one
    fd = bed.open("f")
    for name, value in XATTRS.items():
        os.setxattr(fd, name, value)
    swapped(bed, fd)
    for path in (bed.at("f"), bed.below("f"), fd):
        got = {name: os.getxattr(path, name) for name in os.listxattr(path)}
        assert got == XATTRS


@pytest.mark.parametrize("count, size", [(1, 65536), (1, 3000), (200, 60)])
def test_xattrs_that_take_blocks(one, count, size):
    """Moved or not, they are all there, and it is told which."""
    bed = one
    fd = bed.open("f")
    want = {f"user.number-{i:03}": b"%04d" % i * (size // 4) for i in range(count)}
    for name, value in want.items():
        os.setxattr(fd, name, value)
    before = os.stat(bed.below("f")).st_ino
    bed.set(fd, elsewhere(bed, fd))
    info = bed.info(fd)
    assert info.has_stream and info.placed_somehow
    assert info.homed == (os.stat(bed.below("f")).st_ino != before)
    for path in (fd, bed.below("f")):
        assert {name: os.getxattr(path, name) for name in os.listxattr(path)} == want


def test_file_capability(one):
    """security.capability, which a change of owner would remove."""
    bed = one
    fd = bed.open("f")
    os.fchown(fd, USER, USER)
    os.fchmod(fd, 0o755)
    run("setcap", "cap_net_raw+ep", bed.at("f"))
    before = os.getxattr(fd, "security.capability")
    swapped(bed, fd)
    assert os.getxattr(bed.below("f"), "security.capability") == before


def test_acl(one):
    bed = one
    fd = bed.open("f")
    want = acl.for_user(USER)
    os.setxattr(fd, acl.ACCESS, want)
    mode = os.fstat(fd).st_mode
    swapped(bed, fd)
    for path in (fd, bed.below("f")):
        assert os.getxattr(path, acl.ACCESS) == want
        assert os.stat(path).st_mode == mode


def test_acl_from_the_directory(one):
    """Inherited at create, and not once more, nor from elsewhere, at SET."""
    bed = one
    os.mkdir(bed.at("d"))
    os.setxattr(bed.at("d"), acl.DEFAULT, acl.for_user(USER))
    fd = bed.open("d/f", mode=0o666)
    before = os.getxattr(fd, acl.ACCESS)
    swapped(bed, fd, "d/f")
    assert os.getxattr(fd, acl.ACCESS) == before
    plain = bed.open("d/g")
    os.removexattr(plain, acl.ACCESS)
    mode = os.fstat(plain).st_mode
    swapped(bed, plain, "d/g")
    assert acl.ACCESS not in os.listxattr(plain)
    assert os.fstat(plain).st_mode == mode


def test_project_id(one):
    bed = one
    fd = bed.open("f")
    attr = FsXattr.of(fd)
    attr.projid = 4711
    attr.apply(fd)
    swapped(bed, fd)
    assert FsXattr.of(fd).projid == 4711
    lower = bed.adopt(os.open(bed.below("f"), os.O_RDONLY))
    assert FsXattr.of(lower).projid == 4711


def test_project_id_from_the_directory(one):
    bed = one
    os.mkdir(bed.at("d"))
    directory = bed.adopt(os.open(bed.at("d"), os.O_RDONLY))
    attr = FsXattr.of(directory)
    attr.projid = 99
    attr.xflags |= ioctls.XFLAG_PROJINHERIT
    attr.apply(directory)
    fd = bed.open("d/f")
    swapped(bed, fd, "d/f")
    assert FsXattr.of(fd).projid == 99


def test_extent_size_hints(one):
    bed = one
    fd = bed.open("f")
    attr = FsXattr.of(fd)
    attr.extsize, attr.cowextsize = 64 << 10, 128 << 10
    attr.xflags |= ioctls.XFLAG_EXTSIZE | ioctls.XFLAG_COWEXTSIZE
    attr.apply(fd)
    before = FsXattr.of(fd)
    swapped(bed, fd)
    assert FsXattr.of(fd) == before
    assert (before.extsize, before.cowextsize) == (64 << 10, 128 << 10)


@pytest.mark.parametrize(
    "flags",
    [
        ioctls.FS_NODUMP_FL,
        ioctls.FS_NOATIME_FL,
        ioctls.FS_SYNC_FL,
        ioctls.FS_NODUMP_FL | ioctls.FS_NOATIME_FL | ioctls.FS_SYNC_FL,
    ],
    ids=hex,
)
def test_file_flags(one, flags):
    bed = one
    fd = bed.open("f")
    ioctls.setflags(fd, flags)
    swapped(bed, fd)
    assert ioctls.getflags(fd) == flags
    lower = bed.adopt(os.open(bed.below("f"), os.O_RDONLY))
    assert ioctls.getflags(lower) == flags


def test_append_only(one):
    """SET may swap it or not; it stays append-only and keeps its bytes."""
    bed = one
    fd = bed.open("f", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    ioctls.setflags(fd, ioctls.FS_APPEND_FL)
    try:
        bed.set(fd, elsewhere(bed, fd))
        info = bed.info(fd)
        assert info.has_stream and info.placed_somehow
        assert ioctls.getflags(fd) == ioctls.FS_APPEND_FL
        with pytest.raises(PermissionError):
            os.open(bed.at("f"), os.O_RDWR)
        os.write(fd, b"appended")
        with open(bed.at("f"), "rb") as f:
            assert f.read() == b"appended"
    finally:
        ioctls.setflags(fd, 0)


def test_flags_and_everything_at_once(one):
    bed = one
    fd = bed.open("f")
    os.fchown(fd, USER, USER + 1)
    os.setxattr(fd, acl.ACCESS, acl.for_user(7))
    os.fchmod(fd, 0o6775)
    for name, value in XATTRS.items():
        os.setxattr(fd, name, value)
    attr = FsXattr.of(fd)
    attr.projid = 12
    attr.apply(fd)
    ioctls.setflags(fd, ioctls.FS_NODUMP_FL | ioctls.FS_NOATIME_FL)
    os.utime(fd, (11, 22))

    def everything():
        status = os.fstat(fd)
        return (
            status.st_mode, status.st_uid, status.st_gid, status.st_nlink,
            status.st_atime_ns, status.st_mtime_ns, status.st_size,
            {name: os.getxattr(fd, name) for name in os.listxattr(fd)},
            FsXattr.of(fd), ioctls.getflags(fd),
        )  # fmt: skip

    before = everything()
    swapped(bed, fd)
    assert everything() == before


def _lock(kept, path, kind):
    kept["fd"] = os.open(path, os.O_RDWR)
    getattr(fcntl, kind)(kept["fd"], fcntl.LOCK_EX | fcntl.LOCK_NB)


@pytest.mark.parametrize("kind", ["flock", "lockf"])
def test_locks(one, kind):
    """A lock taken before SET still keeps others out."""
    bed = one
    fd = bed.open("f")
    with Child() as holder, Child() as other:
        holder.call(_lock, bed.at("f"), kind)
        swapped(bed, fd)
        with pytest.raises(BlockingIOError):
            other.call(_lock, bed.at("f"), kind)
