# SPDX-License-Identifier: GPL-2.0
"""Files that were open before SET follow the swap, whoever holds them."""

import mmap
import os
import socket

import pytest

from lib import agsets, libc
from lib.child import Child
from lib.placement import assert_placed
from lib.swap import elsewhere, reserve_all, swapped

SETS = agsets.ag_sets(4, 16)
DATA = b"after the swap\n" * 300


@pytest.fixture
def one(room):
    """A bed and one of its 4 streams."""
    return room, room.alloc()


def placed(bed, stream, *fds):
    layout = bed.xfs.layout()
    assert_placed(layout, [(f"fd {fd}", fd, SETS[stream.id]) for fd in fds])


def same_file(bed, name, *fds):
    """All of them are what the name leads to."""
    for fd in fds:
        assert os.path.sameopenfile(fd, fds[0])
        assert os.fstat(fd).st_ino == os.stat(bed.at(name)).st_ino
        assert os.fstat(fd).st_size == os.stat(bed.below(name)).st_size


@pytest.mark.quick
def test_reader_sees_what_is_written_after(one):
    bed, stream = one
    writer = bed.open("f")
    reader = bed.open("f", os.O_RDONLY)
    assert os.read(reader, 10) == b""
    bed.set(writer, stream)
    os.write(writer, DATA)
    assert os.read(reader, len(DATA)) == DATA
    os.fsync(writer)
    placed(bed, stream, writer, reader)
    same_file(bed, "f", writer, reader)


def test_direct_reader(one):
    bed, stream = one
    writer = bed.open("f")
    reader = bed.open("f", os.O_RDONLY | os.O_DIRECT)
    bed.set(writer, stream)
    os.write(writer, DATA)
    os.fsync(writer)
    with mmap.mmap(-1, 8192) as buffer:
        assert os.preadv(reader, [buffer], 0) == len(DATA)
        assert buffer[: len(DATA)] == DATA


def test_duplicate(one):
    bed, stream = one
    fd = bed.open("f")
    copy = bed.adopt(os.dup(fd))
    bed.set(fd, stream)
    os.write(copy, DATA)
    assert os.lseek(fd, 0, os.SEEK_CUR) == len(DATA)
    placed(bed, stream, fd, copy)


def test_set_through_the_duplicate(one):
    bed, stream = one
    fd = bed.open("f")
    copy = bed.adopt(os.dup(fd))
    bed.set(copy, stream)
    os.write(fd, DATA)
    placed(bed, stream, fd)
    same_file(bed, "f", fd, copy)


def test_two_writers(one):
    """Either may write first, whichever was used for SET."""
    bed, stream = one
    for i in range(2):
        fds = [bed.open(f"f{i}"), bed.open(f"f{i}")]
        bed.set(fds[0], stream)
        os.pwrite(fds[i], DATA, 0)
        os.pwrite(fds[1 - i], DATA, len(DATA))
        assert os.pread(fds[0], 3 * len(DATA), 0) == 2 * DATA
        placed(bed, stream, *fds)
        same_file(bed, f"f{i}", *fds)


def test_sixteen_openers(one):
    bed, stream = one
    fds = [bed.open("f") for _ in range(16)]
    bed.set(fds[7], stream)
    for i, fd in enumerate(fds):
        os.pwrite(fd, DATA, i * len(DATA))
    assert os.pread(fds[3], 17 * len(DATA), 0) == 16 * DATA
    placed(bed, stream, *fds)


def test_append_fd(one):
    bed, stream = one
    appender = bed.open("f", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    setter = bed.open("f")
    bed.set(setter, stream)
    os.write(appender, DATA)
    os.write(setter, DATA)  # at offset 0: over what was appended
    os.write(appender, DATA)
    assert os.pread(setter, 3 * len(DATA), 0) == 2 * DATA
    placed(bed, stream, setter)


def test_each_operation_is_the_first(room):
    """The first thing done with the old fd after SET may be anything."""
    bed = room
    reserve_all(bed)
    first = {
        "fstat": lambda fd: os.fstat(fd).st_size == 4,
        "lseek": lambda fd: os.lseek(fd, 0, os.SEEK_END) == 4,
        "seek_data": lambda fd: os.lseek(fd, 0, os.SEEK_DATA) == 0,
        "read": lambda fd: os.read(fd, 9) == b"data",
        "pread": lambda fd: os.pread(fd, 9, 0) == b"data",
        "preadv": lambda fd: os.preadv(fd, [bytearray(9)], 0) == 4,
        "write": lambda fd: os.write(fd, b"atad") == 4,
        "ftruncate": lambda fd: os.ftruncate(fd, 2) is None,
        "fsync": lambda fd: os.fsync(fd) is None,
        "fdatasync": lambda fd: os.fdatasync(fd) is None,
        "fallocate": lambda fd: os.posix_fallocate(fd, 0, 4096) is None,
        "fchmod": lambda fd: os.fchmod(fd, 0o600) is None,
        "fchown": lambda fd: os.fchown(fd, 7, 7) is None,
        "utimes": lambda fd: os.utime(fd, (1, 1)) is None,
        "setxattr": lambda fd: os.setxattr(fd, "user.a", b"b") is None,
        "listxattr": lambda fd: os.listxattr(fd) == [],
        "fadvise": lambda fd: os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        is None,
        "sendfile": lambda fd: os.sendfile(out, fd, 0, 9) == 4,
        "copy": lambda fd: os.copy_file_range(fd, out, 9, 0, 0) == 4,
    }
    out = bed.open("out")
    for name, operation in first.items():
        setter, other = bed.open(name), bed.open(name)
        stream = elsewhere(bed, setter)
        swapped(bed, setter, name)
        os.pwrite(setter, b"data", 0)
        assert operation(other), name
        same_file(bed, name, setter, other)
        placed(bed, stream, setter)
        assert os.fstat(setter) == os.fstat(other) == os.stat(bed.at(name)), name


@pytest.mark.quick
def test_mmap_is_the_first_operation(room):
    """Through an fd that has not noticed the swap yet; again and again, for
    the mapping keeps count of its writable users."""
    bed = room
    reserve_all(bed)
    setter, other = bed.open("f"), bed.open("f")
    swapped(bed, setter)
    os.pwrite(setter, DATA, 0)
    for i in range(4):
        with mmap.mmap(other, len(DATA)) as m:
            assert m[:] == DATA
            m[0:1] = DATA[0:1]
    for name in (bed.at("f"), bed.below("f")):
        with open(name, "r+b") as f, mmap.mmap(f.fileno(), 0) as m:
            assert m[:] == DATA


def _open(kept, path, flags):
    kept["fd"] = os.open(path, flags)


def _read(kept, size):
    return os.pread(kept["fd"], size, 0)


def _write(kept, data):
    return os.pwrite(kept["fd"], data, 0)


def _send_fd(kept):
    socket.send_fds(kept["socket"], [b"x"], [kept["fd"]])


def _stat(kept):
    return tuple(os.fstat(kept["fd"]))


@pytest.mark.quick
def test_another_process_reads(one):
    bed, stream = one
    fd = bed.open("f")
    with Child() as child:
        child.call(_open, bed.at("f"), os.O_RDONLY)
        bed.set(fd, stream)
        os.write(fd, DATA)
        assert child.call(_read, 2 * len(DATA)) == DATA
        assert child.call(_stat) == tuple(os.fstat(fd))


def test_another_process_writes(one):
    """Opened before SET by a process that knows nothing of it."""
    bed, stream = one
    fd = bed.open("f")
    with Child() as child:
        child.call(_open, bed.at("f"), os.O_WRONLY)
        bed.set(fd, stream)
        child.call(_write, DATA)
        assert os.read(fd, 2 * len(DATA)) == DATA
        os.fsync(fd)
        placed(bed, stream, fd)


def test_set_by_another_process(one):
    """fork: the child has the file and the stream."""
    bed, stream = one
    fd = bed.open("f")
    pid = os.fork()
    if pid == 0:
        try:
            bed.set(fd, stream)
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    os.write(fd, DATA)
    placed(bed, stream, fd)
    assert bed.info(fd).stream == stream.id


def test_fd_over_a_socket(one):
    """In flight in a socket while SET happens."""
    bed, stream = one
    fd = bed.open("f")
    ours, theirs = socket.socketpair()
    with ours, theirs:
        socket.send_fds(ours, [b"x"], [fd])
        setter = bed.open("f")
        bed.close(fd)
        bed.set(setter, stream)
        _, fds, _, _ = socket.recv_fds(theirs, 1, 1)
    received = bed.adopt(fds[0])
    os.write(received, DATA)
    assert os.read(setter, 2 * len(DATA)) == DATA
    placed(bed, stream, received)
    same_file(bed, "f", received, setter)


def test_o_path(one):
    """An O_PATH fd leads to the file as it is now."""
    bed, stream = one
    fd = bed.open("f")
    handle = bed.open("f", os.O_PATH)
    bed.set(fd, stream)
    os.write(fd, DATA)
    assert os.fstat(handle) == os.fstat(fd)
    again = bed.adopt(os.open(f"/proc/self/fd/{handle}", os.O_RDWR))
    assert os.read(again, 2 * len(DATA)) == DATA
    placed(bed, stream, again)


def test_proc_link_shows_the_name(one):
    bed, stream = one
    fd = bed.open("f")
    bed.set(fd, stream)
    assert os.readlink(f"/proc/self/fd/{fd}") == bed.at("f")
    os.write(fd, DATA)
    assert os.readlink(f"/proc/self/fd/{fd}") == bed.at("f")


def test_renamed_before_set(one):
    bed, stream = one
    fd = bed.open("old")
    os.mkdir(bed.at("d"))
    os.rename(bed.at("old"), bed.at("d/new"))
    bed.set(fd, stream)
    assert bed.info(fd).homed
    os.write(fd, DATA)
    placed(bed, stream, fd)
    assert sorted(os.listdir(bed.path)) == ["d"]
    assert os.listdir(bed.at("d")) == os.listdir(bed.below("d")) == ["new"]
    same_file(bed, "d/new", fd)


def test_renamed_after_set(one):
    bed, stream = one
    fd = bed.open("old")
    bed.set(fd, stream)
    os.rename(bed.at("old"), bed.at("new"))
    os.write(fd, DATA)
    placed(bed, stream, fd)
    same_file(bed, "new", fd)
    with open(bed.below("new"), "rb") as f:
        assert f.read() == DATA


def test_replaced_by_rename_before_set(one):
    """The name is another file's by now: that one is not touched."""
    bed, stream = one
    fd = bed.open("f")
    with open(bed.at("other"), "wb") as f:
        f.write(b"other")
    os.rename(bed.at("other"), bed.at("f"))
    bed.set(fd, stream)
    os.write(fd, DATA)
    with open(bed.at("f"), "rb") as f:
        assert f.read() == b"other"
    assert os.pread(fd, 2 * len(DATA), 0) == DATA
    assert os.listdir(bed.path) == ["f"]


def test_unlinked_after_set(one):
    bed, stream = one
    fd, other = bed.open("f"), bed.open("f")
    bed.set(fd, stream)
    os.unlink(bed.at("f"))
    os.write(fd, DATA)
    assert os.read(other, 2 * len(DATA)) == DATA
    assert os.fstat(other).st_nlink == 0
    placed(bed, stream, fd, other)
    assert os.listdir(bed.lower) == []


def test_unlinked_and_made_again_before_set(one):
    bed, stream = one
    old = bed.open("f")
    os.unlink(bed.at("f"))
    new = bed.open("f", os.O_CREAT | os.O_EXCL | os.O_RDWR)
    bed.set(old, stream)
    os.write(old, b"old")
    os.write(new, b"new")
    with open(bed.at("f"), "rb") as f:
        assert f.read() == b"new"
    assert os.pread(old, 9, 0) == b"old"


def test_directory_moved(one):
    bed, stream = one
    os.makedirs(bed.at("a/b/c"))
    os.mkdir(bed.at("z"))
    fd = bed.open("a/b/c/f")
    os.rename(bed.at("a/b"), bed.at("z/moved"))
    bed.set(fd, stream)
    assert bed.info(fd).homed
    os.write(fd, DATA)
    placed(bed, stream, fd)
    same_file(bed, "z/moved/c/f", fd)
    assert os.listdir(bed.below("z/moved/c")) == ["f"]


def test_deep_directory(one):
    bed, stream = one
    deep = "/".join(f"level-{i}" for i in range(60))
    os.makedirs(bed.at(deep))
    fd = bed.open(f"{deep}/f")
    bed.set(fd, stream)
    assert bed.info(fd).homed
    os.write(fd, DATA)
    placed(bed, stream, fd)
    same_file(bed, f"{deep}/f", fd)


def test_directory_not_writable_by_the_caller(one):
    """The owner of a file may set its stream where it could not create it."""
    bed, stream = one
    os.mkdir(bed.at("d"), 0o755)
    fd = bed.open("d/f")
    os.fchown(fd, 1000, 1000)
    pid = os.fork()
    if pid == 0:
        try:
            os.setresuid(1000, 1000, 1000)
            bed.set(fd, stream)
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    info = bed.info(fd)
    assert info.homed
    assert os.fstat(fd).st_uid == 1000
    os.write(fd, DATA)
    placed(bed, stream, fd)


def test_long_name(one):
    bed, stream = one
    name = "n" * 255
    fd = bed.open(name)
    bed.set(fd, stream)
    assert bed.info(fd).homed
    os.write(fd, DATA)
    placed(bed, stream, fd)
    assert os.listdir(bed.path) == [name]


def test_memory_pressure(one):
    """Nothing is lost when caches are dropped between SET and write."""
    bed, stream = one
    fd, other = bed.open("f"), bed.open("f", os.O_RDONLY)
    bed.set(fd, stream)
    with open("/proc/sys/vm/drop_caches", "w") as f:
        f.write("3")
    os.write(fd, DATA)
    with open("/proc/sys/vm/drop_caches", "w") as f:
        f.write("3")
    assert os.read(other, 2 * len(DATA)) == DATA
    placed(bed, stream, fd, other)


def map_when_told(sock, flags, number):
    """Maps each file that comes, once flags[0] is its turn; tells in
    flags[10 + number] whether that worked."""
    while True:
        turn, fds, _, _ = socket.recv_fds(sock, 1, 1)
        if not turn:
            return
        flags[1 + number] = turn[0]
        while flags[0] != turn[0]:
            os.sched_yield()
        try:
            libc.unmap(libc.map_file(fds[0], 4096, libc.MAP_SHARED), 4096)
            flags[10 + number] = turn[0]
        except OSError:
            flags[10 + number] = 255
        os.close(fds[0])


def test_mapped_by_many_at_once(room):
    """Processes that share a descriptor map the file while SET moves it; so can
    everybody afterwards."""
    reserve_all(room)
    workers, moved = 5, 0
    flags = mmap.mmap(-1, mmap.PAGESIZE)
    socks, pids = [], []
    for number in range(workers):
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            try:
                for sock in (ours, *socks):
                    sock.close()
                map_when_told(theirs, flags, number)
            finally:
                os._exit(1)
        theirs.close()
        socks.append(ours)
        pids.append(pid)
    try:
        for turn in range(1, 121):
            fd = room.open(f"f{turn}")
            stream = elsewhere(room, fd)
            for sock in socks:
                socket.send_fds(sock, [bytes([turn])], [fd])
            while flags[1 : 1 + workers] != bytes([turn]) * workers:
                os.sched_yield()
            flags[0] = turn
            room.set(fd, stream)
            moved += room.info(fd).homed
            while 0 in (seen := flags[10 : 10 + workers]) or (
                set(seen) - {turn, 255}
            ):
                os.sched_yield()
            assert 255 not in seen, f"turn {turn}: {seen}"
            libc.unmap(libc.map_file(fd, 4096, libc.MAP_SHARED), 4096)
            room.close(fd)
    finally:
        for sock in socks:
            sock.close()
        for pid in pids:
            os.waitpid(pid, 0)
    assert moved
