# SPDX-License-Identifier: GPL-2.0
"""A disk that fails: who is told, when, and how often, as on plain XFS."""

import mmap
import os

import pytest

from lib import libc
from lib.bed import Bed
from lib.compare import attempt
from lib.faultydisk import FaultyDisk, missing
from lib.fiemap import extents
from lib.notify import FAN_FS_ERROR, FAN_MARK_FILESYSTEM, FAN_REPORT_FID, Fanotify

SIZE = 1 << 20


@pytest.fixture(scope="module")
def faulty(disks, base, plain):
    """The two beds of conftest's `pair`, on disks that can be made to fail."""
    if why := missing():
        pytest.skip(why)
    found = [FaultyDisk(disk, f"wsfs-faulty-{i}") for i, disk in enumerate(disks[:2])]
    beds = (
        Bed(found[0].path, f"{base}/faulty", stacked=not plain),
        Bed(found[1].path, f"{base}/faulty-alone", stacked=False),
    )
    for bed in beds:
        bed.make(agcount=4, ag_mib=80)
    yield list(zip(beds, found))
    complaints = []
    for bed in beds:
        complaints += bed.finish()
    assert not complaints, "\n".join(complaints)
    for disk in found:
        disk.remove()


@pytest.fixture
def same(faulty):
    """Run a function on each: with a directory, and with what makes a file's
    blocks fail and work again."""

    def run(scenario):
        answers = []
        for bed, disk in reversed(faulty):
            directory = bed.at("d")
            os.mkdir(directory)

            def fail(fd, disk=disk):
                first = extents(fd)[0]
                disk.fail(first.physical, first.length)

            try:
                answers.append(scenario(directory, fail, disk.heal))
            finally:
                disk.heal()
            os.rename(directory, bed.at(f"done-{len(os.listdir(bed.path))}"))
        want, got = answers
        assert got == want, "wsfs differs from plain XFS"
        return got

    return run


def file_with_blocks(path):
    fd = os.open(path, os.O_CREAT | os.O_RDWR)
    os.write(fd, b"x" * SIZE)
    os.fsync(fd)
    return fd


@pytest.mark.quick
def test_fsync_tells_each_file_once(same):
    """Every open file of the inode, once; one opened afterwards too, if nobody
    was told before; another inode's never."""

    def scenario(d, fail, heal):
        first = file_with_blocks(f"{d}/f")
        second = os.open(f"{d}/f", os.O_RDWR)
        other = file_with_blocks(f"{d}/other")
        fail(first)
        os.pwrite(first, b"y" * 4096, 0)
        answers = [attempt(os.fsync, first), attempt(os.fsync, first)]
        heal()
        late = os.open(f"{d}/f", os.O_RDONLY)
        for fd in (second, second, late, other):
            answers.append(attempt(os.fsync, fd))
        for fd in (first, second, other, late):
            os.close(fd)
        return answers

    assert same(scenario) == ["EIO", None, "EIO", None, None, None]


def test_error_nobody_was_told_of(same):
    """Written back by sync: the next to open the file is told."""

    def scenario(d, fail, heal):
        fd = file_with_blocks(f"{d}/f")
        fail(fd)
        os.pwrite(fd, b"y" * 4096, 0)
        os.sync()
        heal()
        late = os.open(f"{d}/f", os.O_RDONLY)
        answers = [attempt(os.fsync, late), attempt(os.fsync, fd), attempt(os.fsync, late)]
        os.close(fd)
        os.close(late)
        return answers

    assert same(scenario)[0] == "EIO"


def test_syncfs_tells_each_file_once(same):
    """Whatever file of the filesystem it was called on."""

    def scenario(d, fail, heal):
        fd = file_with_blocks(f"{d}/f")
        watchers = [os.open(d, os.O_RDONLY) for _ in range(2)]
        watchers.append(file_with_blocks(f"{d}/other"))
        fail(fd)
        os.pwrite(fd, b"y" * 4096, 0)
        answers = [attempt(libc.syncfs, watchers[0])]
        heal()
        late = os.open(d, os.O_RDONLY)
        for each in (watchers[0], *watchers, late, late, fd, fd):
            answers.append(attempt(libc.syncfs, each))
        answers.append(attempt(os.fsync, fd))
        for each in (fd, late, *watchers):
            os.close(each)
        return answers

    assert "EIO" in same(scenario)


def test_read_and_direct_write(same):
    def scenario(d, fail, heal):
        fd = file_with_blocks(f"{d}/f")
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        fail(fd)
        answers = [attempt(os.pread, fd, 4096, 0)]
        with mmap.mmap(-1, 4096) as page:
            direct = os.open(f"{d}/f", os.O_RDWR | os.O_DIRECT)
            answers.append(attempt(os.preadv, direct, [page], 0))
            answers.append(attempt(os.pwritev, direct, [page], 0))
            os.close(direct)
        heal()
        answers.append(len(os.pread(fd, 4096, 0)))
        answers.append(attempt(os.fsync, fd))
        os.close(fd)
        return answers

    assert same(scenario)[:3] == ["EIO", "EIO", "EIO"]


MS_ASYNC, MS_SYNC = 1, 4


def test_msync(same):
    """By a mapping of one of two files open."""

    def scenario(d, fail, heal):
        fd = file_with_blocks(f"{d}/f")
        other = os.open(f"{d}/f", os.O_RDWR)
        address = libc.map_file(fd, SIZE, libc.MAP_SHARED)
        fail(fd)
        os.pwrite(other, b"y" * 4096, 0)
        answers = [attempt(libc.msync, address, SIZE, flags) for flags in (MS_ASYNC, MS_SYNC)]
        heal()
        answers.append(attempt(libc.msync, address, SIZE, MS_SYNC))
        answers += [attempt(os.fsync, each) for each in (fd, other, other)]
        libc.unmap(address, SIZE)
        os.close(fd)
        os.close(other)
        return answers

    assert same(scenario)[:2] == [None, "EIO"]


def test_fanotify_is_told(same):
    """FAN_FS_ERROR: of the file, with the error."""

    def scenario(d, fail, heal):
        fd = file_with_blocks(f"{d}/f")
        with Fanotify(FAN_REPORT_FID) as fanotify:
            fanotify.mark(d, FAN_FS_ERROR, FAN_MARK_FILESYSTEM)
            fail(fd)
            os.pwrite(fd, b"y" * 4096, 0)
            answers = [attempt(os.fsync, fd)]
            heal()
            if not os.uname().release.startswith("6."):  # XFS has nothing to tell there
                fanotify.wait()
                answers.append(fanotify.events()[0])
        os.close(fd)
        return answers

    assert same(scenario)[0] == "EIO"


def test_sync_file_range(faulty):
    """It tells; fsync of the same file tells again on wsfs, which interface.md says."""
    for (bed, disk), again in zip(faulty, ("EIO" if faulty[0][0].stacked else None, None)):
        fd = file_with_blocks(bed.at("ranged"))
        first = extents(fd)[0]
        disk.fail(first.physical, first.length)
        os.pwrite(fd, b"y" * 4096, 0)
        answers = [attempt(libc.sync_file_range, fd, 0, 4096, 7)]
        disk.heal()
        answers += [attempt(os.fsync, fd), attempt(os.fsync, fd)]
        os.close(fd)
        assert answers == ["EIO", again, None], bed.path


def test_synchronous_write(same):
    def scenario(d, fail, heal):
        fd = file_with_blocks(f"{d}/f")
        other = os.open(f"{d}/f", os.O_RDONLY)
        synchronous = os.open(f"{d}/f", os.O_RDWR | os.O_SYNC)
        fail(fd)
        answers = [attempt(os.pwrite, synchronous, b"y" * 4096, 0)]
        heal()
        answers += [attempt(os.fsync, each) for each in (synchronous, fd, other)]
        for each in (fd, other, synchronous):
            os.close(each)
        return answers

    assert same(scenario)[0] == "EIO"
