# SPDX-License-Identifier: GPL-2.0
"""Files that SET cannot move: what they are given afterwards comes from their
stream's AGs, and nobody who reads or writes them notices."""

import mmap
import os
import resource
import signal
import struct
import threading
import time

import pytest

from lib import ioctls, libc
from lib.anchored import BLOCK, SETS, assert_not_shared, check, outside
from lib.child import forked
from lib.compare import attempt
from lib.fiemap import extents
from lib.pattern import first_difference, pattern
from lib.placement import strayed
from lib.swap import elsewhere
from lib.writers import Append, Direct, Splice, Target, Way

OLD = 64 << 10  # what a file has before SET
NEW = 256 << 10  # what it is given then
RWF_NOWAIT = 8


@pytest.fixture
def four(room):
    """A bed of 16 AGs and its 4 streams, by id."""
    return room, sorted((room.alloc() for _ in range(4)), key=lambda stream: stream.id)


def grow(way, path, fd, start, tag, size=NEW):
    """@size bytes more from @start on, in chunks."""
    target = Target(path, fd, tag)
    chunk = max(size // 8, BLOCK)
    for offset in range(start, start + size, chunk):
        way.chunk(target, pattern(tag, offset, chunk), offset)
    os.fsync(fd)


@pytest.mark.parametrize("way", [Way, Direct, Append, Splice], ids=lambda way: way.name)
@pytest.mark.parametrize("size", [BLOCK, OLD, OLD + 1234, 100])
@pytest.mark.quick
def test_file_with_data(four, way, size):
    """All blocks after the one that the old end is in are home."""
    bed, streams = four
    if way is Direct and size % 512:
        size = size // 512 * 512 or 512
    way = way()
    fd = bed.open("f")
    os.pwrite(fd, pattern(1, 0, size), 0)
    os.fsync(fd)
    stream = elsewhere(bed, fd)
    before, anchored = os.fstat(fd), bed.wsfs.count(stream.id, "anchored")
    bed.set(fd, stream)
    info = bed.info(fd)
    assert info.anchored and not info.homed and not info.missed
    assert info.home_agno in SETS[stream.id]
    after = os.fstat(fd)
    assert after == before and after.st_mtime_ns == before.st_mtime_ns
    assert after.st_ctime_ns == before.st_ctime_ns and after.st_blocks == before.st_blocks
    assert bed.wsfs.count(stream.id, "anchored") == anchored + 1
    bed.close(fd)

    # sub-block appends of direct writes are XFS's own business: begin at a block
    start = -(-size // BLOCK) * BLOCK if isinstance(way, Direct) else size
    fd = bed.open("f", os.O_RDWR | way.flags)
    grow(way, bed.at("f"), fd, start, 1)
    assert not outside(bed, fd, -(-size // BLOCK) * BLOCK, stream.id)
    want = pattern(1, 0, size)
    want += bytes(start - size) + pattern(1, start, NEW)
    check(bed, "f", want)
    assert_not_shared(bed, "f")


def has_data(bed, fd):
    os.pwrite(fd, pattern(1, 0, OLD), 0)


def two_links(bed, fd):
    os.link(bed.at("f"), bed.at("g"))


def mapped(bed, fd):
    os.ftruncate(fd, BLOCK)
    mapping = mmap.mmap(fd, BLOCK, prot=mmap.PROT_READ)
    bed.on_finish(mapping.close)
    os.ftruncate(fd, 0)


def written_and_empty(bed, fd):
    os.pwrite(fd, pattern(1, 0, OLD), 0)
    os.fsync(fd)
    os.ftruncate(fd, 0)


def sparse(bed, fd):
    os.ftruncate(fd, 1 << 20)


def reflinked(bed, fd):
    has_data(bed, fd)
    other = bed.open("other")
    ioctls.clone(other, fd)


def preallocated(bed, fd):
    libc.fallocate(fd, 0, 0, OLD)


@pytest.mark.parametrize(
    "state",
    [has_data, two_links, mapped, written_and_empty, sparse, reflinked, preallocated],
    ids=lambda state: state.__name__,
)
@pytest.mark.parametrize("way", [Way, Direct, Append], ids=lambda way: way.name)
def test_states(four, state, way):
    bed, streams = four
    way = way()
    fd = bed.open("f", os.O_RDWR | os.O_CREAT | way.flags)
    plain = bed.open("f", os.O_RDWR)
    state(bed, plain)
    size = os.fstat(fd).st_size
    old = os.pread(plain, size, 0)
    stream = elsewhere(bed, fd)
    bed.set(fd, stream)
    info = bed.info(fd)
    assert info.anchored and not info.homed
    grow(way, bed.at("f"), fd, size, 5)
    assert not outside(bed, fd, size, stream.id)
    check(bed, "f", old + pattern(5, size, NEW))
    assert not bed.info(fd).missed
    if state is not reflinked:
        assert_not_shared(bed, "f")


def test_dirty_file(four):
    """Data that was not on the disk yet at SET."""
    bed, streams = four
    fd = bed.open("f")
    os.write(fd, pattern(1, 0, OLD + 99))
    stream = elsewhere(bed, fd)
    bed.set(fd, stream)
    os.write(fd, pattern(1, OLD + 99, NEW))
    os.fsync(fd)
    assert not outside(bed, fd, OLD + BLOCK, stream.id)
    check(bed, "f", pattern(1, 0, OLD + 99 + NEW))
    assert_not_shared(bed, "f")


def test_streams_changed_mid_file(four):
    """Each part lies where the stream that it was written under lives."""
    bed, streams = four
    fd = bed.open("f")
    order = [2, 0, 3, 1, 3, 2, 1, 0]
    for i, number in enumerate(order):
        bed.set(fd, streams[number])
        os.write(fd, pattern(7, i * OLD, OLD))
        os.fsync(fd)
    layout = bed.xfs.layout()
    # the last block of a part is moved to the next one's AG
    for e in extents(fd):
        agno = layout.ag_of_byte(e.physical)
        for at in range(e.logical, e.logical + e.length, BLOCK):
            allowed = SETS[order[at // OLD]]
            if (at + BLOCK) % OLD == 0 and at + BLOCK < len(order) * OLD:
                allowed = SETS[order[at // OLD + 1]]
            assert agno in allowed, f"byte {at} {strayed(agno, allowed)}"
    check(bed, "f", pattern(7, 0, len(order) * OLD))
    assert_not_shared(bed, "f")


@pytest.mark.parametrize("to", [0, 100, OLD // 2, OLD - 1])
def test_truncated_after_set(four, to):
    """What held the end is cut off: the next end is held as well."""
    bed, streams = four
    fd = bed.open("f")
    os.write(fd, pattern(1, 0, OLD))
    os.fsync(fd)
    stream = elsewhere(bed, fd)
    bed.set(fd, stream)
    os.ftruncate(fd, to)
    os.pwrite(fd, pattern(1, to, NEW), to)
    os.fsync(fd)
    assert not outside(bed, fd, -(-to // BLOCK) * BLOCK, stream.id)
    check(bed, "f", pattern(1, 0, to + NEW))
    assert_not_shared(bed, "f")


@pytest.mark.parametrize("state", [has_data, two_links], ids=lambda state: state.__name__)
def test_written_through_a_mapping(four, state):
    """Truncated up, then written by page faults."""
    bed, streams = four
    fd = bed.open("f")
    state(bed, fd)
    size = os.fstat(fd).st_size
    old = os.pread(fd, size, 0)
    stream = elsewhere(bed, fd)
    bed.set(fd, stream)
    os.ftruncate(fd, size + NEW)
    with mmap.mmap(fd, size + NEW) as mapping:
        mapping[size:] = pattern(3, size, NEW)
        mapping.flush()
    os.fsync(fd)
    assert not outside(bed, fd, size, stream.id)
    check(bed, "f", old + pattern(3, size, NEW))


def test_nowait_gets_a_result_or_eagain(four):
    """Where the end has to be brought home first, a write that must not wait is
    told so; one that may does it."""
    bed, streams = four
    fd = bed.open("f")
    os.link(bed.at("f"), bed.at("g"))
    bed.set(fd, elsewhere(bed, fd))
    os.pwrite(fd, pattern(1, 0, OLD), 0)
    got = attempt(os.pwritev, fd, [pattern(1, OLD, BLOCK)], OLD, RWF_NOWAIT)
    assert got == "EAGAIN"
    assert os.pwrite(fd, pattern(1, OLD, BLOCK), OLD) == BLOCK
    os.fsync(fd)
    got = attempt(os.pwritev, fd, [pattern(1, OLD, BLOCK)], OLD, RWF_NOWAIT)
    assert got in ("EAGAIN", BLOCK)
    check(bed, "f", pattern(1, 0, OLD + BLOCK))


def test_space_past_the_end_is_given_back(four):
    """XFS allocates ahead of a buffered writer, and takes it back at close."""
    bed, streams = four
    fd = bed.open("f")
    os.write(fd, pattern(1, 0, OLD))
    os.fsync(fd)
    bed.set(fd, elsewhere(bed, fd))
    for i in range(16):
        os.write(fd, pattern(1, OLD + i * NEW, NEW))
        os.fsync(fd)
    size = os.fstat(fd).st_size
    bed.close(fd)
    assert os.stat(bed.at("f")).st_blocks * 512 < size + (64 << 10)
    check(bed, "f", pattern(1, 0, size))


def test_preallocation_of_the_user_stays(four):
    """Blocks past the end that somebody asked for."""
    bed, streams = four
    fd = bed.open("f")
    os.write(fd, pattern(1, 0, OLD))
    libc.fallocate(fd, libc.FALLOC_KEEP_SIZE, 0, 4 << 20)
    blocks = os.fstat(fd).st_blocks
    assert blocks >= 8192
    for stream in streams:
        bed.set(fd, stream)
    assert os.fstat(fd).st_blocks >= blocks
    bed.close(fd)
    fd = bed.open("f", os.O_RDWR)
    assert os.fstat(fd).st_blocks >= blocks
    # and when it is asked for after SET
    bed.set(fd, streams[0])
    libc.fallocate(fd, libc.FALLOC_KEEP_SIZE, 0, 8 << 20)
    bed.set(fd, streams[1])
    bed.close(fd)
    assert os.stat(bed.at("f")).st_blocks >= 16384


# Nobody notices


def run_threads(*works):
    failures = []

    def guarded(work):
        try:
            work()
        except BaseException as failure:  # handed to the test's thread
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@pytest.mark.parametrize("way", [Way, Direct], ids=lambda way: way.name)
@pytest.mark.quick
def test_set_while_read_and_written(four, way):
    """A writer appends, readers look at every byte that is there, and somebody
    changes the stream all the time."""
    bed, streams = four
    way = way()
    fd = bed.open("f", os.O_RDWR | os.O_CREAT | way.flags)
    setter = bed.open("f", os.O_WRONLY)
    target = Target(bed.at("f"), fd, 9)
    done = threading.Event()
    before = sum(bed.wsfs.count(i, "anchored") for i in range(4))
    sets = 0

    def write():
        try:
            for offset in range(0, 2 << 20, 16 << 10):
                # Else it is through before the first SET on a busy machine.
                patience = time.monotonic() + 10
                while sets < offset >> 18 and time.monotonic() < patience:
                    time.sleep(0.001)
                way.chunk(target, pattern(9, offset, 16 << 10), offset)
        finally:
            done.set()

    def read(path):
        with open(path, "rb", buffering=0) as f:
            while not done.is_set():
                size = os.fstat(f.fileno()).st_size
                start = max(0, size - (64 << 10))
                got = os.pread(f.fileno(), size - start, start)
                assert first_difference(got, pattern(9, start, len(got))) is None

    def change():
        nonlocal sets
        while not done.is_set():
            bed.set(setter, streams[sets % 4])
            sets += 1

    run_threads(write, change, lambda: read(bed.at("f")), lambda: read(bed.below("f")))
    anchored = sum(bed.wsfs.count(i, "anchored") for i in range(4)) - before
    print(f"{sets} SETs, anchored {anchored} times")
    os.fsync(fd)
    check(bed, "f", pattern(9, 0, 2 << 20))
    assert anchored > 0


def test_set_while_mapped_and_truncated(four):
    """A mapping is written, the file is truncated up and down behind that, and
    the stream changes."""
    bed, streams = four
    fd = bed.open("f")
    size = 64 << 10
    os.ftruncate(fd, size)
    ends = time.monotonic() + 4

    def write_mapping():
        with mmap.mmap(fd, size) as mapping:
            i = 0
            while time.monotonic() < ends:
                i += 1
                mapping[:] = pattern(i, 0, size)
                assert mapping[:] == pattern(i, 0, size), f"turn {i}"

    def change():
        i = 0
        while time.monotonic() < ends:
            i += 1
            bed.set(fd, streams[i % 4])

    def truncate():
        other = os.open(bed.at("f"), os.O_RDWR)
        try:
            i = 0
            while time.monotonic() < ends:
                i += 1
                os.ftruncate(other, size + (i % 7) * 1000)
                os.pwrite(other, b"end", size + 8000)
                got = os.pread(other, 3, size + 8000)
                assert got == b"end"
        finally:
            os.close(other)

    run_threads(write_mapping, change, truncate)
    os.fsync(fd)


def test_writers_of_the_lower_lose_nothing(four):
    """Somebody appends directly on the XFS below while the stream changes."""
    bed, streams = four
    fd = bed.open("f")
    os.write(fd, pattern(2, 0, OLD))
    done = threading.Event()

    def write():
        lower = os.open(bed.below("f"), os.O_WRONLY | os.O_APPEND)
        try:
            for offset in range(OLD, OLD + (2 << 20), 3000):
                assert os.write(lower, pattern(2, offset, 3000)) == 3000
        finally:
            os.close(lower)
            done.set()

    def change():
        i = 0
        while not done.is_set():
            i += 1
            bed.set(fd, streams[i % 4])

    run_threads(write, change)
    size = os.stat(bed.below("f")).st_size
    check(bed, "f", pattern(2, 0, size))


# What is not to come of it


def test_closed_by_exit(four):
    """A file that waits for its first data, closed by the exit of its writer: it
    goes on waiting, and the next writer brings it home."""
    bed, streams = four

    def write():
        fd = bed.open("f", os.O_RDWR | os.O_CREAT | os.O_DIRECT)
        two_links(bed, fd)
        bed.set(fd, elsewhere(bed, fd))
        Direct().chunk(Target(bed.at("f"), fd, 1), pattern(1, 0, BLOCK), 0)

    assert forked(write) == 0
    fd = bed.open("f", os.O_WRONLY)
    os.pwrite(fd, pattern(1, BLOCK, NEW), BLOCK)
    os.fsync(fd)
    info = bed.info(fd)
    assert info.anchored
    assert not outside(bed, fd, BLOCK, info.stream)
    check(bed, "f", pattern(1, 0, BLOCK + NEW))


def test_file_size_limit(four):
    """RLIMIT_FSIZE of who sets the stream or closes the file is for his writes."""
    bed, streams = four
    fd = bed.open("f")
    os.write(fd, pattern(1, 0, OLD))
    os.fsync(fd)

    def set_and_close():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (BLOCK, resource.RLIM_INFINITY))
        bed.set(fd, elsewhere(bed, fd))
        os.fsync(fd)
        bed.close(fd)

    assert forked(set_and_close) == 0
    check(bed, "f", pattern(1, 0, OLD))


def test_file_capabilities_stay(four):
    bed, streams = four
    fd = bed.open("f")
    os.write(fd, pattern(1, 0, OLD))
    os.fsync(fd)
    caps = struct.pack("<5I", 0x02000001, 1 << 10, 0, 0, 0)
    os.setxattr(fd, "security.capability", caps)
    os.fchmod(fd, 0o6755)
    bed.set(fd, elsewhere(bed, fd))
    assert bed.info(fd).anchored
    os.fsync(fd)
    bed.close(fd)
    assert os.getxattr(bed.below("f"), "security.capability") == caps
    assert os.stat(bed.below("f")).st_mode & 0o7777 == 0o6755
    # A write takes them away, and then the mark of sharing can go.
    fd = bed.open("f", os.O_WRONLY | os.O_APPEND)
    os.write(fd, pattern(1, OLD, NEW))
    os.fsync(fd)
    assert_not_shared(bed, "f")


def test_largest_file(four):
    """Offsets next to the last there is."""
    bed, streams = four
    fd = bed.open("f")
    os.write(fd, pattern(1, 0, OLD))
    os.fsync(fd)
    os.ftruncate(fd, 2**63 - 1)
    bed.set(fd, elsewhere(bed, fd))
    info = bed.info(fd)
    assert info.anchored != info.missed
    assert os.fstat(fd).st_size == 2**63 - 1
    assert os.pread(fd, OLD, 0) == pattern(1, 0, OLD)


def test_preallocation_while_others_close(four):
    """What closing gives back is not what somebody is just preallocating."""
    bed, streams = four
    more = 200 << 20  # in several AGs, so in several steps
    for i in range(16):
        fd = bed.open("f")
        os.write(fd, pattern(1, 0, OLD))
        os.fsync(fd)
        bed.set(fd, elsewhere(bed, fd))
        done = threading.Event()

        def preallocate():
            try:
                libc.fallocate(fd, libc.FALLOC_KEEP_SIZE, OLD, more)
                time.sleep(0.02)
            finally:
                done.set()

        def close():
            while not done.is_set():
                os.close(os.open(bed.at("f"), os.O_WRONLY))

        run_threads(preallocate, close)
        assert os.fstat(fd).st_blocks * 512 >= OLD + more, f"turn {i}"
        bed.close(fd)
        os.unlink(bed.at("f"))


def test_fsync_by_a_reader_changes_nothing(four):
    """Who may only read does not have blocks moved, nor does a read-only mount."""
    bed, streams = four
    fd = bed.open("f")
    os.link(bed.at("f"), bed.at("g"))  # armed, since it cannot be moved
    stream = elsewhere(bed, fd)
    bed.set(fd, stream)
    before = bed.wsfs.count(stream.id, "anchored")
    os.write(fd, pattern(1, 0, OLD))
    reader = bed.open("f", os.O_RDONLY)
    os.fsync(reader)
    assert bed.wsfs.count(stream.id, "anchored") == before
    os.fsync(fd)
    assert bed.wsfs.count(stream.id, "anchored") == before + 1
    check(bed, "f", pattern(1, 0, OLD))
