# SPDX-License-Identifier: GPL-2.0
"""-o hints: a file's write life time hint chooses one of the streams that are
set aside for hints, when the file is first given blocks."""

import errno
import mmap
import os

import pytest

from lib import births, ioctls, libc
from lib.anchored import BLOCK, check
from lib.births import by_open, directory, make
from lib.hints import EXTREME, LONG, MEDIUM, NONE, NOT_SET, SHORT, get_hint, set_hint
from lib.pattern import pattern
from lib.placement import assert_placed
from lib.shell import run, status
from lib.writers import Append, Direct, Splice, Target, Way

HINTS = [SHORT, MEDIUM, LONG, EXTREME]
SIZE = 256 << 10
KEEP_SIZE = 1


def mounted(bed, options="hints", streams=8, agcount=16):
    bed.make(agcount=agcount, streams=streams, options=options.split(","))
    return bed


def write(fd, size=SIZE, start=0):
    os.pwrite(fd, pattern(1, start, size), start)
    os.fsync(fd)


def assert_home(bed, fd, stream_id):
    info = bed.info(fd)
    assert info.by_hint and info.stream == stream_id and not info.missed
    assert_placed(bed.xfs.layout(), [("f", fd, bed.wsfs.ag_set(stream_id))])


@pytest.mark.parametrize("way", [Way, Direct, Append, Splice], ids=lambda way: way.name)
@pytest.mark.quick
def test_each_hint_its_stream(bed, way):
    """Streams 4 to 7 of 8, however the data is written; the hint stays."""
    mounted(bed)
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
    assert int(bed.wsfs.sysfs("hints_reset")) == 0


@pytest.mark.parametrize("mode", [0, KEEP_SIZE])
def test_preallocation(bed, mode):
    mounted(bed)
    fd = bed.open("f")
    set_hint(fd, MEDIUM)
    libc.fallocate(fd, mode, 0, SIZE)
    assert_home(bed, fd, 5)
    assert os.fstat(fd).st_size == (0 if mode else SIZE)
    write(fd)
    assert_home(bed, fd, 5)


@pytest.mark.parametrize("number, want", [(1, [3] * 4), (2, [2, 2, 3, 3]), (3, [1, 1, 2, 3]), (4, [0, 1, 2, 3])])
def test_fewer_streams_than_hints(bed, number, want):
    """Neighbours share; the shortest life has the first."""
    mounted(bed, f"hints={number}", streams=4)
    got = []
    for hint in HINTS:
        fd = bed.open(f"f{hint}")
        set_hint(fd, hint)
        write(fd, BLOCK)
        got.append(bed.info(fd).stream)
    assert got == want


def test_no_hint(bed):
    """Neither none set nor "none" is a life time."""
    mounted(bed)
    for hint in (NOT_SET, NONE):
        fd = bed.open(f"f{hint}")
        set_hint(fd, hint)
        write(fd)
        assert not bed.info(fd).has_stream


def test_without_the_option(bed):
    """A hint is a hint for XFS, and no more."""
    mounted(bed, "nospread")
    fd = bed.open("f")
    set_hint(fd, SHORT)
    write(fd)
    assert not bed.info(fd).has_stream
    below = bed.adopt(os.open(bed.below("f"), os.O_RDONLY))
    assert get_hint(fd) == get_hint(below) == SHORT


def test_the_hint_goes_down(bed):
    mounted(bed)
    fd = bed.open("f")
    set_hint(fd, LONG)
    write(fd)
    below = bed.adopt(os.open(bed.below("f"), os.O_RDONLY))
    assert get_hint(below) == LONG


def test_changed_and_taken_back(bed):
    """The file follows with what it is given next, as with SET."""
    mounted(bed)
    fd = bed.open("f")
    set_hint(fd, SHORT)
    write(fd)
    assert bed.info(fd).stream == 4
    set_hint(fd, EXTREME)
    write(fd, start=SIZE)
    info = bed.info(fd)
    assert info.stream == 7 and info.anchored
    layout, last = bed.xfs.layout(), bed.wsfs.ag_set(7)
    from lib.fiemap import extents

    late = [e for e in extents(fd) if e.logical >= SIZE]
    assert late and all(layout.ag_of_byte(e.physical) in last for e in late)
    set_hint(fd, NOT_SET)
    write(fd, start=2 * SIZE)
    assert not bed.info(fd).has_stream
    check(bed, "f", pattern(1, 0, 3 * SIZE))


def test_hint_on_a_file_with_data(bed):
    """What is there stays, what comes is steered."""
    mounted(bed)
    fd = bed.open("f")
    write(fd)
    set_hint(fd, MEDIUM)
    write(fd, start=SIZE)
    info = bed.info(fd)
    assert info.stream == 5 and info.by_hint and not info.homed
    check(bed, "f", pattern(1, 0, 2 * SIZE))


def test_mapped(bed):
    """Not at the mapping, but at the next write."""
    mounted(bed)
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


def test_nowait(bed):
    """EAGAIN once, until a write may wait."""
    mounted(bed)
    fd = bed.open("f", os.O_CREAT | os.O_RDWR | os.O_DIRECT)
    buffer = mmap.mmap(-1, BLOCK)
    os.pwritev(fd, [buffer], 0)
    set_hint(fd, SHORT)
    with pytest.raises(BlockingIOError):
        os.pwritev(fd, [buffer], 0, os.RWF_NOWAIT)
    os.pwritev(fd, [buffer], 0)
    assert bed.info(fd).stream == 4
    os.pwritev(fd, [buffer], 0, os.RWF_NOWAIT)


def test_explicit_streams_first(bed):
    """SET says EBUSY to a file with a hint; a hint on a file with a stream, set
    or given by its directory, is reset at the next write."""
    mounted(bed)
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
    assert int(bed.wsfs.sysfs("hints_reset")) == 2


def test_after_the_stream_is_released(bed):
    """A hint that came while there was a stream is gone; a new one counts."""
    mounted(bed)
    stream = bed.alloc()
    fd = bed.open("f")
    bed.set(fd, stream)
    stream.close()
    set_hint(fd, EXTREME)
    write(fd)
    assert_home(bed, fd, 7)


def test_spread_and_hints(bed):
    mounted(bed, "hints,spread=free")
    owned = set().union(*(bed.wsfs.ag_set(i) for i in range(4, 8)))
    fds = [make(bed, by_open, ".", f"f{i}") for i in range(8)]
    for fd in fds:
        assert bed.info(fd).inode_agno not in owned
    set_hint(fds[3], LONG)
    write(fds[3])
    assert_home(bed, fds[3], 6)


def test_what_is_left_for_others(bed):
    """GET_MAX and ALLOC know nothing of the streams set aside."""
    mounted(bed)
    with open("/proc/self/mounts") as f:
        assert any(line.split()[1] == bed.path and ",hints=4" in line for line in f)
    fd = bed.open("f")
    assert ioctls.get_max(fd) == 4
    assert sorted(bed.alloc().id for _ in range(4)) == [0, 1, 2, 3]
    with pytest.raises(OSError) as caught:
        bed.alloc()
    assert caught.value.errno == errno.ENOSPC
    assert bed.wsfs.geometry().streams == 8
    assert int(bed.wsfs.sysfs("reserved")) == 8
    assert int(bed.wsfs.sysfs("stream/7/reserved")) == 1


@pytest.mark.parametrize(
    "options",
    ["hints=0", "hints=5", "hints=x", "hints=", "hints=3,streams=2", "hints,streams=1",
     "hints,streams=0", "hints=2,numbered=3,streams=4", "numbered=0", "numbered=1025"],
)
def test_refused(bed, options):
    """Nothing is mounted, and it says why."""
    bed.make(agcount=4, streams=2)
    bed.wsfs.umount()
    code, output = status("mount", "-t", "wsfs", "-o", options, bed.lower, bed.wsfs.path)
    assert code
    assert "hints" in output or "numbered" in output, output


def test_mounts_agree(bed):
    mounted(bed, "hints=2", streams=4)
    other = f"{bed.wsfs.path}-other"
    os.mkdir(other)
    for options, fits in (("hints=3", False), ("numbered", False), ("hints", True), ("hints=2", True)):
        code, output = status("mount", "-t", "wsfs", "-o", options, bed.lower, other)
        assert (code == 0) == fits, output
        if fits:
            run("umount", other)
        code, output = status("mount", "-o", f"remount,{options}", bed.wsfs.path)
        assert (code == 0) == fits, output


def test_moved_while_others_have_it_open(bed):
    """Whoever opened the file before its first write sees what is written."""
    mounted(bed)
    fd = bed.open("f")
    reader = bed.open("f", os.O_RDONLY)
    set_hint(fd, LONG)
    write(fd)
    assert_home(bed, fd, 6)
    assert os.pread(reader, SIZE, 0) == pattern(1, 0, SIZE)
    second = bed.open("f")
    births.fill(second, BLOCK)
    assert os.pread(reader, BLOCK, 0) == os.pread(fd, BLOCK, 0)
