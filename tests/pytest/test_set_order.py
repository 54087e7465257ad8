# SPDX-License-Identifier: GPL-2.0
"""SET, SET again, CLEAR, reopen: in which order, and on files in which state."""

import mmap
import os
import threading

import pytest

from lib import agsets, ioctls, libc
from lib.pattern import pattern
from lib.placement import assert_balanced, assert_placed
from lib.writers import SIZE, Direct, Target

SETS = agsets.ag_sets(4, 16)


@pytest.fixture
def four(bed):
    """A bed of 16 AGs and its 4 streams, by id."""
    bed.make(agcount=16, streams=4)
    streams = [bed.alloc() for _ in range(4)]
    return bed, sorted(streams, key=lambda stream: stream.id)


def write(bed, fd, size=SIZE, tag=1):
    data = pattern(tag, 0, size)
    assert os.pwrite(fd, data, 0) == size
    os.fsync(fd)


def check(bed, name, size=SIZE, tag=1):
    for path in (bed.at(name), bed.below(name)):
        with open(path, "rb") as f:
            assert f.read() == pattern(tag, 0, size), path


def placed(bed, fd, stream_id):
    assert_placed(bed.xfs.layout(), [("file", fd, SETS[stream_id])])


def counts(bed, stream):
    return bed.wsfs.count(stream.id, "homed"), bed.wsfs.count(stream.id, "missed")


@pytest.mark.quick
def test_twice_with_different_streams(four):
    """The last SET on an empty file counts."""
    bed, streams = four
    fd = bed.open("f")
    bed.set(fd, streams[0])
    bed.set(fd, streams[2])
    assert bed.info(fd).stream == 2
    assert bed.wsfs.count(0, "files") == 0
    assert bed.wsfs.count(2, "files") == 1
    write(bed, fd)
    placed(bed, fd, 2)
    check(bed, "f")


def test_there_and_back(four):
    bed, streams = four
    fd = bed.open("f")
    for i in (0, 1, 2, 3, 0):
        bed.set(fd, streams[i])
    write(bed, fd)
    placed(bed, fd, 0)
    check(bed, "f")


def test_same_stream_again_changes_nothing(four):
    bed, streams = four
    fd = bed.open("f")
    bed.set(fd, streams[1])
    ino, info = os.fstat(fd).st_ino, bed.info(fd)
    for _ in range(10):
        bed.set(fd, streams[1])
    assert (os.fstat(fd).st_ino, bed.info(fd)) == (ino, info)
    assert counts(bed, streams[1]) == (1, 0)
    write(bed, fd)
    placed(bed, fd, 1)


def test_clear_before_the_first_write(four):
    bed, streams = four
    fd = bed.open("f")
    bed.set(fd, streams[1])
    ioctls.clear_stream(fd)
    assert not bed.info(fd).has_stream
    assert bed.wsfs.count(1, "files") == 0
    write(bed, fd)
    check(bed, "f")


def test_clear_then_set(four):
    bed, streams = four
    fd = bed.open("f")
    bed.set(fd, streams[1])
    ioctls.clear_stream(fd)
    bed.set(fd, streams[3])
    write(bed, fd)
    placed(bed, fd, 3)
    check(bed, "f")


def test_clear_after_writing_keeps_the_place(four):
    bed, streams = four
    fd = bed.open("f")
    bed.set(fd, streams[1])
    write(bed, fd)
    ioctls.clear_stream(fd)
    placed(bed, fd, 1)
    check(bed, "f")


def test_stream_closed_after_set(four):
    """The file keeps its place, and no longer carries the stream."""
    bed, streams = four
    fd = bed.open("f")
    bed.set(fd, streams[1])
    streams[1].close()
    assert not bed.info(fd).has_stream
    write(bed, fd)
    check(bed, "f")
    again = bed.alloc()  # the only free one
    assert again.id == 1
    assert not bed.info(fd).has_stream
    assert bed.wsfs.count(1, "files") == 0


@pytest.mark.quick
def test_example_run_twice(four):
    """Files that exist are truncated on open and SET again."""
    bed, streams = four
    for run in range(3):
        files = []
        for i in range(8):
            fd = bed.open(f"f{i}", os.O_CREAT | os.O_TRUNC | os.O_RDWR)
            stream = streams[(i + run) % 4]
            bed.set(fd, stream)
            write(bed, fd, tag=run * 8 + i)
            files.append((f"f{i}", fd, SETS[stream.id]))
        assert_placed(bed.xfs.layout(), files)
        for i in range(8):
            check(bed, f"f{i}", tag=run * 8 + i)
        bed.close(*(fd for _, fd, _ in files))


def test_truncated_while_open(four):
    """An open file that had data and is empty again."""
    bed, streams = four
    fd = bed.open("f")
    write(bed, fd)
    os.ftruncate(fd, 0)
    bed.set(fd, streams[3])
    info = bed.info(fd)
    assert info.has_stream and info.placed_somehow
    write(bed, fd, tag=2)
    check(bed, "f", tag=2)
    if info.homed:
        placed(bed, fd, 3)


def test_file_made_before_wsfs_was_mounted(bed):
    """Empty files that plain XFS made are placed like new ones."""
    bed.make(agcount=16, streams=4)
    bed.close_all()
    bed.wsfs.umount()
    for i in range(8):
        os.close(os.open(bed.below(f"f{i}"), os.O_CREAT | os.O_RDWR, 0o644))
    bed.wsfs.mount(4)
    stream = bed.alloc()
    fds = []
    for i in range(8):
        fd = bed.open(f"f{i}", os.O_RDWR)
        bed.set(fd, stream)
        write(bed, fd, tag=i)
        fds.append(fd)
    assert_placed(bed.xfs.layout(), [("f", fd, SETS[stream.id]) for fd in fds])
    assert_balanced(bed.xfs.layout(), fds, SETS[stream.id])
    for i in range(8):
        check(bed, f"f{i}", tag=i)


# Not swapped but anchored (test_anchor.py): the inode and the bytes stay.


def has_data(bed, fd):
    os.pwrite(fd, pattern(1, 0, 4096), 0)


def has_data_on_disk(bed, fd):
    has_data(bed, fd)
    os.fsync(fd)


def has_size_only(bed, fd):
    os.ftruncate(fd, 1 << 20)


def preallocated(bed, fd):
    libc.fallocate(fd, 0, 0, 1 << 20)


def preallocated_keep_size(bed, fd):
    libc.fallocate(fd, libc.FALLOC_KEEP_SIZE, 0, 1 << 20)


def two_links(bed, fd):
    os.link(bed.at("f"), bed.at("g"))


def mapped(bed, fd):
    mapping = mmap.mmap(fd, 4096)
    bed.on_finish(mapping.close)


def mapped_for_reading(bed, fd):
    mapping = mmap.mmap(fd, 4096, prot=mmap.PROT_READ)
    bed.on_finish(mapping.close)


STATES = [
    has_data,
    has_data_on_disk,
    has_size_only,
    preallocated,
    preallocated_keep_size,
    two_links,
    mapped,
    mapped_for_reading,
]


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_not_swapped(four, state):
    bed, streams = four
    fd = bed.open("f")
    # an empty file cannot be mapped by Python: give it a size for a moment
    if state in (mapped, mapped_for_reading):
        os.ftruncate(fd, 4096)
        state(bed, fd)
        os.ftruncate(fd, 0)
    else:
        state(bed, fd)
    before, ino = os.fstat(fd), os.stat(bed.below("f")).st_ino
    bed.set(fd, streams[2])
    after = os.fstat(fd)
    assert after == before
    assert os.stat(bed.below("f")).st_ino == ino, "the lower inode was changed"
    info = bed.info(fd)
    assert info.has_stream and info.stream == 2
    assert info.anchored and not info.homed and not info.missed
    assert counts(bed, streams[2]) == (0, 0)
    write(bed, fd, size=max(SIZE, before.st_size))
    check(bed, "f", size=max(SIZE, before.st_size))


def test_missed_is_counted_once_per_file(bed):
    bed.make(agcount=16, streams=4, mkfs=("-m", "reflink=0"))
    streams = sorted((bed.alloc() for _ in range(4)), key=lambda stream: stream.id)
    fd = bed.open("f")
    write(bed, fd)
    bed.set(fd, streams[2])
    bed.set(fd, streams[2])
    write(bed, fd, size=2 * SIZE)
    bed.close(fd)
    assert counts(bed, streams[2]) == (0, 1)


def test_unlinked_file(four):
    """No name to put a new inode under: SET answers 0 and tells the truth."""
    bed, streams = four
    fd = bed.open("f")
    os.unlink(bed.at("f"))
    bed.set(fd, streams[2])
    info = bed.info(fd)
    assert info.has_stream and info.placed_somehow
    write(bed, fd)
    if info.homed:
        placed(bed, fd, 2)
    assert os.pread(fd, SIZE, 0) == pattern(1, 0, SIZE)
    assert os.fstat(fd).st_nlink == 0
    assert not os.path.exists(bed.at("f")) and not os.path.exists(bed.below("f"))


def test_tmpfile(four):
    """An O_TMPFILE file: SET, write, then a name."""
    bed, streams = four
    os.mkdir(bed.at("d"))
    fd = bed.adopt(os.open(bed.at("d"), os.O_TMPFILE | os.O_RDWR, 0o640))
    bed.set(fd, streams[1])
    info = bed.info(fd)
    assert info.has_stream and info.placed_somehow
    write(bed, fd)
    if info.homed:
        placed(bed, fd, 1)
    libc.linkat_fd(fd, bed.at("d/named"))
    check(bed, "d/named")
    assert os.listdir(bed.below("d")) == ["named"]


def test_many_threads(four):
    """Files made, SET, written and closed by many threads at once."""
    bed, streams = four
    os.mkdir(bed.at("d"))
    way, targets, failures = Direct(), [], []

    def work(thread):
        try:
            for i in range(thread, 64, 8):
                name = f"d/{i:02}"
                fd = bed.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_DIRECT)
                stream = streams[i % 4]
                bed.set(fd, stream)
                target = Target(bed.at(name), fd, i, stream.id)
                targets.append(target)
                for offset in range(0, SIZE, SIZE // 4):
                    way.chunk(target, way.data(target, offset, SIZE // 4), offset)
        except BaseException as failure:  # handed to the test's thread
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    layout = bed.xfs.layout()
    assert_placed(layout, [(t.path, t.fd, SETS[t.stream]) for t in targets])
    for stream_id in range(4):
        fds = [t.fd for t in targets if t.stream == stream_id]
        assert_balanced(layout, fds, SETS[stream_id])
    for target in targets:
        way.check(target)


def test_set_against_write(four):
    """SET races the first write: either may win, no byte is lost."""
    bed, streams = four
    for i in range(64):
        fd = bed.open(f"f{i}")
        gate = threading.Barrier(2)

        def write_first():
            gate.wait()
            os.pwrite(fd, pattern(i, 0, 4096), 0)

        writer = threading.Thread(target=write_first)
        writer.start()
        gate.wait()
        bed.set(fd, streams[i % 4])
        writer.join()
        info = bed.info(fd)
        assert info.placed_somehow
        check(bed, f"f{i}", size=4096, tag=i)
        if info.homed:
            placed(bed, fd, i % 4)


def test_set_against_set(four):
    """Two threads set different streams: one wins, and the file is in its set."""
    bed, streams = four
    for i in range(32):
        fd = bed.open(f"f{i}")
        gate = threading.Barrier(2)

        def set_stream(stream):
            gate.wait()
            bed.set(fd, stream)

        threads = [
            threading.Thread(target=set_stream, args=(streams[n],)) for n in (1, 2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        info = bed.info(fd)
        assert info.homed and info.stream in (1, 2)
        write(bed, fd, size=4096, tag=i)
        placed(bed, fd, info.stream)
        check(bed, f"f{i}", size=4096, tag=i)
