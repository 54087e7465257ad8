# SPDX-License-Identifier: GPL-2.0
"""-o hints: a file's write life time hint chooses one of the streams that are
set aside for hints, when the file is first given blocks."""

import contextlib
import errno
import mmap
import os

import pytest

from lib import births, ioctls, libc
from lib.anchored import BLOCK, check
from lib.births import directory
from lib.fiemap import extents
from lib.hints import EXTREME, LONG, MEDIUM, NONE, NOT_SET, SHORT, get_hint, set_hint
from lib.pattern import pattern
from lib.placement import assert_placed, strayed
from lib.writers import Append, Direct, Splice, Target, Way

HINTS = [SHORT, MEDIUM, LONG, EXTREME]
SIZE = 256 << 10
BED = {"agcount": 16, "streams": 8, "options": ["hints"]}
KEEP_SIZE = 1


def resets(bed):
    return int(bed.wsfs.sysfs("hints_reset"))


def write(fd, size=SIZE, start=0):
    os.pwrite(fd, pattern(1, start, size), start)
    os.fsync(fd)


def assert_home(bed, fd, stream_id):
    info = bed.info(fd)
    assert info.by_hint and info.stream == stream_id and not info.missed
    assert_placed(bed.xfs.layout(), [("f", fd, bed.wsfs.ag_set(stream_id))])


@pytest.mark.parametrize("way", [Way, Direct, Append, Splice], ids=lambda way: way.name)
@pytest.mark.quick
def test_each_hint_its_stream(room, way):
    """Streams 4 to 7 of 8, however the data is written; the hint stays."""
    bed = room
    before = resets(bed)
    way = way()
    for hint in HINTS:
        name = f"f{hint}"
        fd = bed.open(name, os.O_CREAT | os.O_RDWR | way.flags)
        set_hint(fd, hint)
        assert not bed.info(fd).has_stream, "before anything is allocated"
        target = Target(bed.at(name), fd, 1)
        for offset in range(0, SIZE, SIZE // 4):
            way.chunk(target, pattern(1, offset, SIZE // 4), offset)
        os.fsync(fd)
        assert_home(bed, fd, 4 + hint - SHORT)
        assert bed.info(fd).homed
        assert get_hint(fd) == hint
        check(bed, name, pattern(1, 0, SIZE))
    assert resets(bed) == before


@pytest.mark.parametrize("mode", [0, KEEP_SIZE])
def test_preallocation(room, mode):
    bed = room
    fd = bed.open("f")
    set_hint(fd, MEDIUM)
    libc.fallocate(fd, mode, 0, SIZE)
    assert_home(bed, fd, 5)
    assert os.fstat(fd).st_size == (0 if mode else SIZE)
    write(fd)
    assert_home(bed, fd, 5)


def test_no_hint(room):
    """Neither none set nor "none" is a life time."""
    bed = room
    for hint in (NOT_SET, NONE):
        fd = bed.open(f"f{hint}")
        set_hint(fd, hint)
        write(fd)
        assert not bed.info(fd).has_stream


def test_the_hint_goes_down(room):
    bed = room
    fd = bed.open("f")
    set_hint(fd, LONG)
    write(fd)
    below = bed.adopt(os.open(bed.below("f"), os.O_RDONLY))
    assert get_hint(below) == LONG


def test_changed_and_taken_back(room):
    """The file follows with what it is given next, as with SET."""
    bed = room
    fd = bed.open("f")
    set_hint(fd, SHORT)
    write(fd)
    assert bed.info(fd).stream == 4
    set_hint(fd, EXTREME)
    write(fd, start=SIZE)
    info = bed.info(fd)
    assert info.stream == 7 and info.anchored
    layout, last = bed.xfs.layout(), bed.wsfs.ag_set(7)
    late = [e for e in extents(fd) if e.logical >= SIZE]
    assert late
    for agno in (layout.ag_of_byte(e.physical) for e in late):
        assert agno in last, strayed(agno, last)
    set_hint(fd, NOT_SET)
    write(fd, start=2 * SIZE)
    assert not bed.info(fd).has_stream
    check(bed, "f", pattern(1, 0, 3 * SIZE))


def test_hint_on_a_file_with_data(room):
    """What is there stays, what comes is steered."""
    bed = room
    fd = bed.open("f")
    write(fd)
    set_hint(fd, MEDIUM)
    write(fd, start=SIZE)
    info = bed.info(fd)
    assert info.stream == 5 and info.by_hint and not info.homed
    check(bed, "f", pattern(1, 0, 2 * SIZE))


def test_mapped(room):
    """Not at the mapping, but at the next write."""
    bed = room
    fd = bed.open("f")
    set_hint(fd, MEDIUM)
    os.ftruncate(fd, BLOCK)
    with mmap.mmap(fd, BLOCK) as mapping:
        mapping[:4] = b"data"
        os.pwrite(fd, pattern(1, BLOCK, SIZE), BLOCK)
    os.fsync(fd)
    info = bed.info(fd)
    assert info.stream == 5 and info.placed_somehow
    assert os.pread(fd, 4, 0) == b"data"
    assert os.pread(fd, SIZE, BLOCK) == pattern(1, BLOCK, SIZE)


def test_nowait(room):
    """EAGAIN until a write may wait; then no more than for XFS, whose update of the
    times is no matter of NOWAIT."""
    bed = room
    fd = bed.open("f", os.O_CREAT | os.O_RDWR | os.O_DIRECT)
    buffer = mmap.mmap(-1, BLOCK)
    os.pwritev(fd, [buffer], 0)
    set_hint(fd, SHORT)
    with pytest.raises(BlockingIOError):
        os.pwritev(fd, [buffer], 0, os.RWF_NOWAIT)
    for _ in range(1000):
        os.pwritev(fd, [buffer], 0)
        assert bed.info(fd).stream == 4
        with contextlib.suppress(BlockingIOError):
            os.pwritev(fd, [buffer], 0, os.RWF_NOWAIT)
            return
    pytest.fail("RWF_NOWAIT never wrote")


def test_explicit_streams_first(room):
    """SET says EBUSY to a file with a hint; a hint on a file with a stream, set
    or given by its directory, is reset at the next write."""
    bed = room
    stream = bed.alloc()
    fd = bed.open("hint")
    set_hint(fd, SHORT)
    for _ in range(2):
        with pytest.raises(OSError) as caught:
            bed.set(fd, stream)
        assert caught.value.errno == errno.EBUSY
        write(fd)
    assert bed.info(fd).by_hint
    ioctls.clear_stream(fd)
    write(fd, start=SIZE)
    assert bed.info(fd).by_hint, "CLEAR is for streams that were set"
    set_hint(fd, NOT_SET)
    bed.set(fd, stream)
    assert bed.info(fd).stream == stream.id and not bed.info(fd).by_hint

    before = resets(bed)
    directory(bed, "d", stream)
    for path in ("set", "d/born"):
        fd = bed.open(path)
        if path == "set":
            bed.set(fd, stream)
        set_hint(fd, SHORT)
        write(fd)
        info = bed.info(fd)
        assert info.stream == stream.id and not info.by_hint
        assert get_hint(fd) == NOT_SET
    assert resets(bed) == before + 2


def test_after_the_stream_is_released(room):
    """A hint that came while there was a stream is gone; a new one counts."""
    bed = room
    stream = bed.alloc()
    fd = bed.open("f")
    bed.set(fd, stream)
    stream.close()
    set_hint(fd, EXTREME)
    write(fd)
    assert_home(bed, fd, 7)


def test_moved_while_others_have_it_open(room):
    """Whoever opened the file before its first write sees what is written."""
    bed = room
    fd = bed.open("f")
    reader = bed.open("f", os.O_RDONLY)
    set_hint(fd, LONG)
    write(fd)
    assert_home(bed, fd, 6)
    assert os.pread(reader, SIZE, 0) == pattern(1, 0, SIZE)
    second = bed.open("f")
    births.fill(second, BLOCK)
    assert os.pread(reader, BLOCK, 0) == os.pread(fd, BLOCK, 0)
