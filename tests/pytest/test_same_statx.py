# SPDX-License-Identifier: GPL-2.0
"""statx(2): every field and every mask, as on plain XFS."""

import os

import pytest

from lib import ioctls, libc
from lib.statx import MASK_ALL, statx

# Of this file and this mount, or of this moment
OWN = ("ino", "dev_major", "dev_minor", "mnt_id", "atime", "btime", "ctime", "mtime")
BTIME, MNT_ID, MNT_ID_UNIQUE = 0x800, 0x1000, 0x4000


def comparable(got):
    return {name: value for name, value in got.items() if name not in OWN}


def make(d):
    """One of each kind, and what is special about files."""
    with open(f"{d}/empty", "wb"):
        pass
    with open(f"{d}/file", "wb") as f:
        f.write(b"x" * 100_000)
        os.fsync(f.fileno())
    with open(f"{d}/sparse", "wb") as f:
        f.truncate(1 << 30)
    with open(f"{d}/unwritten", "wb") as f:
        libc.fallocate(f.fileno(), 0, 0, 1 << 20)
        os.fsync(f.fileno())
    os.mkdir(f"{d}/dir")
    os.symlink("file", f"{d}/link")
    os.mkfifo(f"{d}/fifo")
    os.mknod(f"{d}/node", 0o020600, os.makedev(1, 3))
    for name, flag in (
        ("nodump", ioctls.FS_NODUMP_FL),
        ("append", ioctls.FS_APPEND_FL),
        ("immutable", ioctls.FS_IMMUTABLE_FL),
    ):
        fd = os.open(f"{d}/{name}", os.O_CREAT | os.O_RDWR)
        ioctls.setflags(fd, flag)
        os.close(fd)
    return sorted(os.listdir(d))


def unmake(d):
    for name in ("append", "immutable"):
        fd = os.open(f"{d}/{name}", os.O_RDONLY)
        ioctls.setflags(fd, 0)
        os.close(fd)


@pytest.mark.quick
def test_every_field(same):
    def scenario(d):
        try:
            return {name: comparable(statx(f"{d}/{name}")) for name in make(d)}
        finally:
            unmake(d)

    answers = same(scenario)
    assert answers["file"]["mask"] & BTIME
    assert answers["file"]["dio_offset_align"]
    assert answers["file"]["attributes_mask"]


def test_every_mask(same):
    """One bit at a time: what is filled, and with what."""

    def scenario(d):
        answers = {}
        try:
            for name in make(d):
                for bit in range(31):
                    got = comparable(statx(f"{d}/{name}", 1 << bit))
                    answers[name, bit] = got
                answers[name, "none"] = comparable(statx(f"{d}/{name}", 0))
        finally:
            unmake(d)
        return answers

    same(scenario)


def test_by_fd_and_by_path(same):
    """An open file, with O_PATH too, tells the same as its name."""

    def scenario(d):
        answers = []
        try:
            for name in make(d):
                path = f"{d}/{name}"
                by_name = statx(path)
                fd = os.open(path, os.O_PATH | os.O_NOFOLLOW)
                by_fd = statx(fd)
                os.close(fd)
                answers.append({n for n in by_name if by_name[n] != by_fd[n]})
                for sync in (0x2000, 0x4000):  # AT_STATX_FORCE_SYNC, DONT_SYNC
                    answers.append(comparable(statx(path, flags=0x100 | sync)))
        finally:
            unmake(d)
        return answers

    assert same(scenario)[0] == set()


def test_own_fields(apart):
    """Device and mount are those of the wsfs mount, the inode the XFS's."""
    fd = apart.open("f")
    os.write(fd, b"content")
    above, below = statx(apart.at("f")), statx(apart.below("f"))
    for name in ("ino", "atime", "btime", "ctime", "mtime"):
        assert above[name] == below[name], name
    with open("/proc/self/mountinfo") as f:
        mounts = {line.split()[4]: line.split() for line in f}
    mount = mounts[apart.wsfs.path]
    assert statx(apart.at("f"), MNT_ID)["mnt_id"] == int(mount[0])
    assert f"{above['dev_major']}:{above['dev_minor']}" == mount[2]
    unique = statx(apart.at("f"), MNT_ID_UNIQUE)
    if unique["mask"] & MNT_ID_UNIQUE:
        assert unique["mnt_id"] != statx(apart.below("f"), MNT_ID_UNIQUE)["mnt_id"]


def test_after_set(apart):
    """Alignment and atomic write limits are those of the file's new place."""
    fd = apart.open("f")
    apart.set(fd, apart.alloc())
    os.write(fd, b"content")
    above, below = statx(apart.at("f"), MASK_ALL), statx(apart.below("f"), MASK_ALL)
    for name in set(above) - {"dev_major", "dev_minor", "mnt_id"}:
        assert above[name] == below[name], name
