# SPDX-License-Identifier: GPL-2.0
"""Reading, writing, truncating, seeking, sharing, as on plain XFS."""

import mmap
import os
import resource
import signal

import pytest

from lib import ioctls, libc, statx
from lib.compare import attempt, status_of
from lib.pattern import pattern

RDWR = os.O_CREAT | os.O_RDWR


def content(fd):
    return os.pread(fd, os.fstat(fd).st_size + 1, 0)


@pytest.mark.quick
def test_read_write_at(same):
    def scenario(d):
        fd = os.open(f"{d}/f", RDWR)
        try:
            answers = [
                os.pwrite(fd, b"far away", 1 << 20),
                os.pread(fd, 20, (1 << 20) - 5),
                os.pread(fd, 20, 2 << 20),
                os.write(fd, b"start"),
                os.lseek(fd, 0, os.SEEK_CUR),
                os.writev(fd, [b"one", b"", b"three"]),
                os.readv(fd, [bytearray(3), bytearray(5)]),
                os.lseek(fd, 0, os.SEEK_END),
                attempt(os.lseek, fd, -1, os.SEEK_SET),
                attempt(os.pread, fd, 1, 2**63 - 1),
                attempt(os.pwrite, fd, b"x", 2**63 - 1),
            ]
            return answers, content(fd), status_of(fd)
        finally:
            os.close(fd)

    same(scenario)


def test_wrong_direction(same):
    def scenario(d):
        w = os.open(f"{d}/f", os.O_CREAT | os.O_WRONLY)
        r = os.open(f"{d}/f", os.O_RDONLY)
        os.write(w, b"content")
        try:
            return [
                attempt(os.read, w, 1),
                attempt(os.write, r, b"x"),
                attempt(os.ftruncate, r, 0),
                attempt(libc.fallocate, r, 0, 0, 1),
                attempt(os.copy_file_range, w, r, 1),
                attempt(os.sendfile, r, w, 0, 1),
                attempt(mmap.mmap, w, 1),
            ]
        finally:
            os.close(w)
            os.close(r)

    assert None not in same(scenario)


@pytest.mark.quick
def test_direct(same):
    """Aligned and not, over and past the end, mixed with buffered."""

    def scenario(d):
        fd = os.open(f"{d}/f", RDWR | os.O_DIRECT)
        buffered = os.open(f"{d}/f", os.O_RDWR)
        answers = []
        try:
            with mmap.mmap(-1, 1 << 16) as buffer:
                view = memoryview(buffer)
                view[:] = pattern(3, 0, len(buffer))
                for offset, length in (
                    (0, 4096), (4096, 512), (8192, 65536), (512, 512), (1, 512),
                    (0, 511), (100000, 4096), (1 << 20, 65536), (3584, 1024),
                ):  # fmt: skip
                    answers.append(attempt(os.pwrite, fd, view[:length], offset))
                    os.pwrite(buffered, b"buffered", offset + 100)
                    got = bytearray(length)
                    answers.append(os.preadv(buffered, [got], offset))
                    answers.append(bytes(got))
                    answers.append(attempt(os.preadv, fd, [view[:length]], offset))
                answers.append(attempt(os.preadv, fd, [view[1:513]], 0))
                view.release()
            return answers, content(buffered)
        finally:
            os.close(fd)
            os.close(buffered)

    assert "EINVAL" in same(scenario)[0]


RWF_ATOMIC = 0x40
SIZE = 256 << 10


@pytest.mark.parametrize(
    "flag",
    [1, 2, 4, 0x10, 0x20, RWF_ATOMIC, 0x80, 0x100],
    ids=["HIPRI", "DSYNC", "SYNC", "APPEND", "NOAPPEND", "ATOMIC", "DONTCACHE", "NOSIGNAL"],
)
def test_per_call_flags(same, flag):
    def scenario(d):
        fd = os.open(f"{d}/f", RDWR)
        try:
            os.write(fd, b"content" * 100)
            os.fsync(fd)
            os.pread(fd, 10, 0)
            answers = [
                attempt(os.preadv, fd, [bytearray(10)], 0, flag),
                attempt(os.pwritev, fd, [b"rewritten"], 5, flag),
                attempt(os.pwritev, fd, [b"x"], 0, 1 << 20),
            ]
            return answers, content(fd)
        finally:
            os.close(fd)

    answers, _ = same(scenario)
    assert answers[2] == "EOPNOTSUPP"


def test_atomic_write(same):
    """Of each size and place: those that statx allows, and those it does not, to new
    blocks, written ones and shared ones."""

    def scenario(d):
        fd = os.open(f"{d}/f", RDWR | os.O_DIRECT)
        twin = os.open(f"{d}/twin", RDWR)
        answers = [statx.statx(fd)[f"atomic_write_unit_{name}"] for name in ("min", "max")]
        try:
            with mmap.mmap(-1, 1 << 17) as buffer:
                view = memoryview(buffer)
                for turn in range(3):
                    view[:] = pattern(turn, 0, len(buffer))
                    for length in (512, 4096, 8192, 12288, 65536, 1 << 17):
                        for offset in (0, 512, 4096, 8192, 65536, 1 << 17):
                            answers.append(
                                attempt(os.pwritev, fd, [view[:length]], offset, RWF_ATOMIC)
                            )
                    if turn == 1:
                        answers.append(attempt(ioctls.clone, twin, fd))
                view.release()
            os.fsync(fd)
            return answers, content(twin), open_content(f"{d}/f")
        finally:
            os.close(fd)
            os.close(twin)

    same(scenario)


def open_content(path):
    with open(path, "rb") as f:
        return f.read()


@pytest.mark.parametrize("direct", [0, os.O_DIRECT], ids=["buffered", "direct"])
def test_nowait(same, direct):
    """RWF_NOWAIT gives a result, the right one, or EAGAIN."""
    nowait = 8

    def scenario(d):
        fd = os.open(f"{d}/f", RDWR | direct)
        done, want = 0, pattern(0, 0, 4096)
        try:
            with mmap.mmap(-1, 4096) as buffer:
                buffer[:] = pattern(0, 0, 4096)
                os.pwrite(fd, buffer, 0)
                os.fsync(fd)
                for i in range(200):
                    buffer[:] = pattern(i, 0, 4096)
                    answer = attempt(os.pwritev, fd, [buffer], 0, nowait)
                    assert answer in (4096, "EAGAIN")
                    want = pattern(i, 0, 4096) if answer == 4096 else want
                    answer = attempt(os.preadv, fd, [buffer], 0, nowait)
                    assert answer in (4096, "EAGAIN")
                    done += answer == 4096
                    os.preadv(fd, [buffer], 0)
                    assert buffer[:] == want
                    if i % 10 == 0:
                        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            return done > 0
        finally:
            os.close(fd)

    assert same(scenario)


def test_append(same):
    def scenario(d):
        a = os.open(f"{d}/f", RDWR | os.O_APPEND)
        b = os.open(f"{d}/f", os.O_WRONLY | os.O_APPEND)
        try:
            for i in range(50):
                os.write((a, b)[i % 2], b"%d," % i)
            os.pwrite(a, b"at the end all the same", 0)
            os.ftruncate(a, 20)
            os.write(b, b"after")
            return content(a), os.lseek(b, 0, os.SEEK_CUR)
        finally:
            os.close(a)
            os.close(b)

    same(scenario)


def test_truncate(same):
    def scenario(d):
        fd = os.open(f"{d}/f", RDWR)
        try:
            os.write(fd, pattern(1, 0, 100000))
            answers = []
            for size in (99999, 4096, 4095, 8192, 0, 1, 1 << 40, 3):
                os.ftruncate(fd, size)
                answers.append(status_of(fd))
                answers.append(os.pread(fd, 9000, 0))
            answers.append(attempt(os.truncate, f"{d}/f", -1))
            answers.append(attempt(os.truncate, f"{d}/f", 2**63 - 1))
            answers.append(attempt(os.truncate, d, 0))
            answers.append(attempt(os.truncate, f"{d}/none", 0))
            return answers
        finally:
            os.close(fd)

    assert same(scenario)[-2:] == ["EISDIR", "ENOENT"]


MODES = {
    "allocate": 0,
    "keep": libc.FALLOC_KEEP_SIZE,
    "punch": libc.FALLOC_PUNCH_HOLE | libc.FALLOC_KEEP_SIZE,
    "punch-not-keeping": libc.FALLOC_PUNCH_HOLE,
    "zero": libc.FALLOC_ZERO_RANGE,
    "zero-keep": libc.FALLOC_ZERO_RANGE | libc.FALLOC_KEEP_SIZE,
    "collapse": libc.FALLOC_COLLAPSE_RANGE,
    "insert": libc.FALLOC_INSERT_RANGE,
    "unshare": libc.FALLOC_UNSHARE_RANGE,
    "collapse-keep": libc.FALLOC_COLLAPSE_RANGE | libc.FALLOC_KEEP_SIZE,
    "two modes": libc.FALLOC_INSERT_RANGE | libc.FALLOC_ZERO_RANGE,
    "unknown": 0x1000,
}
BLOCK = 4096
RANGES = [
    (0, BLOCK), (BLOCK, 2 * BLOCK), (BLOCK + 1, 2 * BLOCK), (3, 5), (BLOCK, BLOCK - 1),
    (6 * BLOCK, 4 * BLOCK), (20 * BLOCK, BLOCK), (0, 8 * BLOCK), (0, 0),
]  # fmt: skip


@pytest.mark.quick
@pytest.mark.parametrize("mode", MODES)
def test_fallocate(same, mode):
    def scenario(d):
        answers = []
        for i, (offset, length) in enumerate(RANGES):
            fd = os.open(f"{d}/{i}", RDWR)
            try:
                os.write(fd, pattern(i, 0, 8 * BLOCK))
                os.fsync(fd)
                answers.append(
                    (
                        attempt(libc.fallocate, fd, MODES[mode], offset, length),
                        status_of(fd),
                        content(fd),
                        holes(fd),
                    )
                )
            finally:
                os.close(fd)
        return answers

    answers = same(scenario)
    if mode in ("two modes", "unknown", "punch-not-keeping", "collapse-keep"):
        assert all(answer[0] is not None for answer in answers)
    else:
        assert any(answer[0] is None for answer in answers)


def holes(fd):
    """What SEEK_DATA and SEEK_HOLE say of the whole file, a list of ranges."""
    found, at, size = [], 0, os.fstat(fd).st_size
    while at < size:
        data = attempt(os.lseek, fd, at, os.SEEK_DATA)
        if data == "ENXIO":
            break
        at = os.lseek(fd, data, os.SEEK_HOLE)
        found.append((data, at))
    return found


def test_seek_hole_and_data(same):
    def scenario(d):
        fd = os.open(f"{d}/f", RDWR)
        try:
            for offset in (0, 1 << 20, 5 << 20):
                os.pwrite(fd, b"x" * 65536, offset)
            os.fsync(fd)
            os.ftruncate(fd, 8 << 20)
            libc.fallocate(fd, 3, 16384, 16384)
            libc.fallocate(fd, 1, 7 << 20, 65536)
            return [holes(fd)] + [
                attempt(os.lseek, fd, offset, whence)
                for offset in (0, 100, 70000, 6 << 20, 8 << 20, 9 << 20, -1)
                for whence in (os.SEEK_DATA, os.SEEK_HOLE)
            ]
        finally:
            os.close(fd)

    assert "ENXIO" in same(scenario)


def test_reflink(same):
    def scenario(d):
        src, dst = os.open(f"{d}/src", RDWR), os.open(f"{d}/dst", RDWR)
        read_only = os.open(f"{d}/src", os.O_RDONLY)
        try:
            os.write(src, pattern(1, 0, 10 * BLOCK + 100))
            answers = [
                attempt(ioctls.clone, dst, src),
                content(dst),
                attempt(os.pwrite, dst, b"changed", 5000),
                content(src),
                attempt(ioctls.clone_range, dst, src, BLOCK, 2 * BLOCK, 20 * BLOCK),
                attempt(ioctls.clone_range, dst, src, 1, BLOCK, 0),
                attempt(ioctls.clone_range, dst, src, BLOCK, 5, 0),
                attempt(ioctls.clone_range, dst, src, 0, 100 * BLOCK, 0),
                attempt(ioctls.clone_range, src, src, 0, BLOCK, 12 * BLOCK),
                attempt(ioctls.clone_range, src, src, 0, 2 * BLOCK, BLOCK),
                attempt(ioctls.clone, read_only, src),
                content(src),
                content(dst),
                attempt(libc.fallocate, dst, libc.FALLOC_UNSHARE_RANGE, 0, 4 * BLOCK),
                content(dst),
                status_of(dst),
            ]
            return answers
        finally:
            for fd in (src, dst, read_only):
                os.close(fd)

    answers = same(scenario)
    assert answers[0] is None, "no reflink here"


def test_reflink_elsewhere(same):
    """Neither from another filesystem nor from a directory."""

    def scenario(d):
        dst = os.open(f"{d}/dst", RDWR)
        other, directory = os.open("/proc/self/status", os.O_RDONLY), os.open(d, os.O_RDONLY)
        try:
            return attempt(ioctls.clone, dst, other), attempt(ioctls.clone, dst, directory)
        finally:
            for fd in (dst, other, directory):
                os.close(fd)

    assert None not in same(scenario)


def test_dedupe(same):
    def scenario(d):
        a, b = os.open(f"{d}/a", RDWR), os.open(f"{d}/b", RDWR)
        try:
            os.write(a, pattern(1, 0, 8 * BLOCK))
            os.write(b, pattern(1, 0, 8 * BLOCK))
            os.pwrite(b, b"different", 5 * BLOCK)
            return [
                attempt(ioctls.dedupe_range, a, 0, 4 * BLOCK, b, 0),
                attempt(ioctls.dedupe_range, a, 4 * BLOCK, 4 * BLOCK, b, 4 * BLOCK),
                attempt(ioctls.dedupe_range, a, 1, BLOCK, b, 1),
                attempt(ioctls.dedupe_range, a, 0, BLOCK, a, 4 * BLOCK),
                content(a),
                content(b),
            ]
        finally:
            os.close(a)
            os.close(b)

    assert same(scenario)[:2] == [(4 * BLOCK, 0), (0, 1)]


def test_copy_file_range(same):
    def scenario(d):
        src, dst = os.open(f"{d}/src", RDWR), os.open(f"{d}/dst", RDWR)
        other = os.open("/bin/sh", os.O_RDONLY)
        try:
            os.write(src, pattern(1, 0, 5 * BLOCK + 77))
            answers = [
                attempt(os.copy_file_range, src, dst, 99999, 0, 0),
                content(dst),
                attempt(os.copy_file_range, src, dst, 1000, 3, 100),
                attempt(os.copy_file_range, src, dst, 1000, 99999, 0),
                attempt(os.copy_file_range, src, src, 100, 0, 50),
                attempt(os.copy_file_range, src, src, 100, 0, 5000),
                content(src),
                content(dst),
                attempt(os.copy_file_range, other, dst, 4096, 0, 0),
            ]
            return answers, status_of(dst)
        finally:
            for fd in (src, dst, other):
                os.close(fd)

    assert same(scenario)[0][0] == 5 * BLOCK + 77


def test_splice_and_sendfile(same):
    def scenario(d):
        src, dst = os.open(f"{d}/src", RDWR), os.open(f"{d}/dst", RDWR)
        reader, writer = os.pipe()
        try:
            os.write(src, pattern(1, 0, 50000))
            answers = [os.splice(src, writer, 3000, offset_src=10)]
            answers.append(os.splice(reader, dst, 3000, offset_dst=1234))
            answers.append(content(dst))
            answers.append(os.sendfile(dst, src, 20000, 10000))
            answers.append(os.sendfile(writer, src, 0, 5))
            answers.append(os.read(reader, 99))
            answers.append(content(dst))
            append = os.open(f"{d}/dst", os.O_WRONLY | os.O_APPEND)
            os.write(writer, b"spliced")
            answers.append(attempt(os.splice, reader, append, 7))
            os.close(append)
            return answers
        finally:
            for fd in (src, dst, reader, writer):
                os.close(fd)

    assert same(scenario)[-1] == "EINVAL"


def test_sync_calls(same):
    def scenario(d):
        fd = os.open(f"{d}/f", RDWR)
        directory = os.open(d, os.O_RDONLY)
        try:
            os.write(fd, b"x" * 100000)
            return [
                attempt(os.fsync, fd),
                attempt(os.fdatasync, fd),
                attempt(libc.sync_file_range, fd, 0, 4096, 7),
                attempt(libc.sync_file_range, fd, 0, 4096, 99),
                attempt(libc.syncfs, fd),
                attempt(os.fsync, directory),
                attempt(os.posix_fadvise, fd, 0, 0, os.POSIX_FADV_WILLNEED),
                attempt(os.posix_fadvise, fd, 0, 0, os.POSIX_FADV_DONTNEED),
                attempt(os.posix_fadvise, fd, 0, 0, 99),
                content(fd),
            ]
        finally:
            os.close(fd)
            os.close(directory)

    same(scenario)


def test_what_is_cached(same):
    """posix_fadvise(2) and readahead(2), as cachestat(2) and mincore(2) see it."""

    def scenario(d):
        fd = os.open(f"{d}/f", RDWR)
        answers = []

        def look(step):
            answers.append((step, libc.cachestat(fd)[0], libc.mincore(fd, SIZE)))

        try:
            os.write(fd, pattern(1, 0, SIZE))
            look("written")
            os.fsync(fd)
            look("synced")
            os.posix_fadvise(fd, 0, SIZE // 2, os.POSIX_FADV_DONTNEED)
            look("half of it not needed")
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            look("not needed")
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
            os.pread(fd, BLOCK, 10 * BLOCK)
            look("read at random")
            for advice in (os.POSIX_FADV_NOREUSE, os.POSIX_FADV_SEQUENTIAL, os.POSIX_FADV_NORMAL):
                answers.append(attempt(os.posix_fadvise, fd, 0, 0, advice))
            answers.append(attempt(libc.readahead, fd, 0, SIZE))
            answers.append(os.pread(fd, SIZE, 0) == pattern(1, 0, SIZE))
            look("read")
            return answers
        finally:
            os.close(fd)

    same(scenario)


def test_dirty_pages_reach_the_disk_by_sync(same):
    def scenario(d):
        fd = os.open(f"{d}/f", RDWR)
        try:
            os.write(fd, pattern(5, 0, 1 << 20))
            os.sync()
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            return os.fstat(fd).st_blocks >= 2048, content(fd) == pattern(5, 0, 1 << 20)
        finally:
            os.close(fd)

    assert same(scenario) == (True, True)


def test_file_size_limit(same):
    """RLIMIT_FSIZE: EFBIG, after what still fits."""
    def scenario(d):
        fd = os.open(f"{d}/f", RDWR)
        old = resource.getrlimit(resource.RLIMIT_FSIZE)
        handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (10000, old[1]))
            answers = [
                attempt(os.write, fd, b"x" * 9000),
                attempt(os.write, fd, b"x" * 9000),
                attempt(os.write, fd, b"x"),
                attempt(os.ftruncate, fd, 10001),
                attempt(libc.fallocate, fd, 0, 0, 10001),
                os.fstat(fd).st_size,
            ]
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, old)
            signal.signal(signal.SIGXFSZ, handler)
            os.close(fd)
        return answers

    assert same(scenario) == [9000, 1000, "EFBIG", "EFBIG", "EFBIG", 10000]
