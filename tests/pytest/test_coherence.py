# SPDX-License-Identifier: GPL-2.0
"""The XFS seen directly and through wsfs: one truth, at once."""

import errno
import mmap
import os
import threading
import time

import pytest

from lib import handles
from lib.pattern import pattern
from lib.swap import elsewhere

PAGE = mmap.PAGESIZE


@pytest.fixture
def made(bed):
    bed.make(agcount=4, ag_mib=80, streams=4)
    return bed


@pytest.fixture(params=["above", "below"])
def sides(request, made):
    """(bed, where one works, where the other looks), both ways round."""
    sides = (made.path, made.lower)
    return (made, *(sides if request.param == "above" else reversed(sides)))


@pytest.mark.quick
def test_written_here_read_there(sides):
    bed, here, there = sides
    with open(f"{here}/f", "wb") as f:
        f.write(pattern(1, 0, 100000))
    with open(f"{there}/f", "rb") as f:
        assert f.read() == pattern(1, 0, 100000)


@pytest.mark.quick
def test_open_on_both_sides(sides):
    bed, here, there = sides
    a = bed.adopt(os.open(f"{here}/f", os.O_CREAT | os.O_RDWR))
    b = bed.adopt(os.open(f"{there}/f", os.O_RDWR))
    for i in range(20):
        os.pwrite(a, b"%06d" % i, i * 1000)
        assert os.pread(b, 6, i * 1000) == b"%06d" % i
        os.pwrite(b, b"%06d" % (i + 500), i * 1000)
        assert os.pread(a, 6, i * 1000) == b"%06d" % (i + 500)
    assert os.fstat(a).st_size == os.fstat(b).st_size == 19006


def test_size_follows(sides):
    bed, here, there = sides
    a = bed.adopt(os.open(f"{here}/f", os.O_CREAT | os.O_RDWR))
    b = bed.adopt(os.open(f"{there}/f", os.O_RDWR))
    for size in (5000, 100, 0, 1 << 20):
        os.ftruncate(a, size)
        assert os.fstat(b).st_size == size
        assert os.lseek(b, 0, os.SEEK_END) == size
        assert os.stat(f"{there}/f").st_size == size
    os.lseek(b, 0, os.SEEK_SET)
    os.ftruncate(a, 10)
    assert os.read(b, 100) == bytes(10)
    appender = bed.adopt(os.open(f"{there}/f", os.O_WRONLY | os.O_APPEND))
    os.ftruncate(a, 20)
    os.write(appender, b"end")
    assert os.pread(a, 100, 0) == bytes(20) + b"end"


def test_mappings_on_both_sides(sides):
    bed, here, there = sides
    a = bed.adopt(os.open(f"{here}/f", os.O_CREAT | os.O_RDWR))
    os.ftruncate(a, 4 * PAGE)
    b = bed.adopt(os.open(f"{there}/f", os.O_RDWR))
    with mmap.mmap(a, 4 * PAGE) as m, mmap.mmap(b, 4 * PAGE) as n:
        m[0:4] = b"here"
        assert n[0:4] == b"here" == os.pread(b, 4, 0)
        n[PAGE : PAGE + 5] = b"there"
        assert m[PAGE : PAGE + 5] == b"there" == os.pread(a, 5, PAGE)


def test_direct_against_mapping(sides):
    bed, here, there = sides
    a = bed.adopt(os.open(f"{here}/f", os.O_CREAT | os.O_RDWR | os.O_DIRECT))
    b = bed.adopt(os.open(f"{there}/f", os.O_RDWR))
    os.ftruncate(b, 4 * PAGE)
    with mmap.mmap(b, 4 * PAGE) as m, mmap.mmap(-1, PAGE) as buffer:
        m[0:6] = b"mapped"
        os.preadv(a, [buffer], 0)
        assert buffer[0:6] == b"mapped"
        buffer[0:6] = b"direct"
        os.pwrite(a, buffer, 0)
        assert m[0:6] == b"direct"


def test_attributes_follow(sides):
    bed, here, there = sides
    fd = bed.adopt(os.open(f"{here}/f", os.O_CREAT | os.O_RDWR))
    other = bed.adopt(os.open(f"{there}/f", os.O_RDWR))
    os.fchmod(fd, 0o4711)
    os.fchown(fd, 12, 13)
    os.fchmod(fd, 0o2600)
    os.setxattr(fd, "user.a", b"b")
    os.utime(fd, (5, 6))
    for got in (os.fstat(other), os.stat(f"{there}/f")):
        assert got.st_mode == os.fstat(fd).st_mode
        assert (got.st_uid, got.st_gid) == (12, 13)
        assert (got.st_atime, got.st_mtime) == (5, 6)
    assert os.getxattr(f"{there}/f", "user.a") == b"b"


def test_permissions_changed_there_hold_here(sides):
    """What the other side takes away is taken away."""
    bed, here, there = sides
    with open(f"{here}/f", "w") as f:
        f.write("secret")
    os.chmod(f"{here}/f", 0o644)
    assert _as_user(f"{here}/f") == "read"
    os.chmod(f"{there}/f", 0o600)
    os.stat(f"{here}/f")
    assert _as_user(f"{here}/f") == "denied"


def _as_user(path):
    pid = os.fork()
    if pid == 0:
        try:
            os.setresuid(1000, 1000, 1000)
            os.open(path, os.O_RDONLY)
            os._exit(0)
        finally:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return "denied" if code else "read"


def test_names_made_and_removed_there(sides):
    bed, here, there = sides
    assert not os.path.exists(f"{here}/f")
    with open(f"{there}/f", "w") as f:
        f.write("content")
    with open(f"{here}/f") as f:
        assert f.read() == "content"
    os.mkdir(f"{there}/d")
    os.rename(f"{there}/f", f"{there}/d/g")
    assert not os.path.exists(f"{here}/f")
    with open(f"{here}/d/g") as f:
        assert f.read() == "content"
    assert sorted(n for n in os.listdir(here) if n != ".wsfs") == ["d"]
    os.unlink(f"{there}/d/g")
    os.rmdir(f"{there}/d")
    assert not os.path.exists(f"{here}/d")


def test_replaced_there_while_known_here(sides):
    """A name leads to what it names now."""
    bed, here, there = sides
    for i in range(3):
        with open(f"{there}/new", "w") as f:
            f.write(f"version {i}")
        os.rename(f"{there}/new", f"{there}/f")
        with open(f"{here}/f") as f:
            assert f.read() == f"version {i}"


@pytest.mark.quick
def test_lower_fd_opened_before_set(made):
    """The old inode is gone; who looks again from below finds the new one."""
    fd = made.open("f")
    stream = made.alloc()
    made.set(fd, stream)
    os.write(fd, b"content")
    with open(made.below("f"), "rb") as f:
        assert f.read() == b"content"
    assert os.stat(made.below("f")).st_nlink == 1


def test_lower_written_between_open_and_set(made):
    """Bytes that came from below are not thrown away by SET."""
    fd = made.open("f")
    with open(made.below("f"), "wb") as f:
        f.write(b"from below")
    made.set(fd, made.alloc())
    assert os.pread(fd, 99, 0) == b"from below"
    info = made.info(fd)
    assert info.anchored and not info.homed


def test_lower_renamed_between_open_and_set(made):
    """SET must not bring a name back or take another file's."""
    fd = made.open("f")
    os.rename(made.below("f"), made.below("g"))
    with open(made.below("f"), "wb") as f:
        f.write(b"another")
    made.set(fd, made.alloc())
    os.write(fd, b"content")
    with open(made.below("f"), "rb") as f:
        assert f.read() == b"another"
    assert sorted(n for n in os.listdir(made.lower) if n != ".wsfs") == ["f", "g"]
    assert os.pread(fd, 99, 0) == b"content"


def test_lower_linked_between_open_and_set(made):
    fd = made.open("f")
    os.link(made.below("f"), made.below("g"))
    made.set(fd, made.alloc())
    assert os.path.samefile(made.below("f"), made.below("g"))
    os.write(fd, b"content")
    with open(made.below("g"), "rb") as f:
        assert f.read() == b"content"


def test_lower_unlinked_between_open_and_set(made):
    fd = made.open("f")
    os.unlink(made.below("f"))
    made.set(fd, made.alloc())
    os.write(fd, b"content")
    assert os.pread(fd, 99, 0) == b"content"
    assert [n for n in os.listdir(made.lower) if n != ".wsfs"] == []


def lower_is(key, path):
    """What `changes` change, of the file at this path."""
    stat = os.stat(path)
    return {
        "mode": oct(stat.st_mode),
        "owner": (stat.st_uid, stat.st_gid),
        "mtime": stat.st_mtime_ns,
        "links": stat.st_nlink,
        "xattrs": sorted(os.listxattr(path)),
    }[key]


changes = {
    "mode": lambda path: os.chmod(path, 0o600),
    "owner": lambda path: os.chown(path, 1, 2),
    "mtime": lambda path: os.utime(path, ns=(10**18, 2 * 10**18)),
    "links": lambda path: os.link(path, path + "2"),
    "xattrs": lambda path: (os.setxattr(path, "user.new", b"1"), os.removexattr(path, "user.old")),
}


@pytest.mark.parametrize("key", changes)
def test_changed_there_while_set_moves_it(made, key):
    """SET carries over what a file is, also what it has just become."""
    for _ in range(4):
        made.alloc()
    for i in range(150):
        path = made.below(f"f{i}")
        fd = made.open(f"f{i}", mode=0o644)
        os.setxattr(path, "user.old", b"1")
        stream = elsewhere(made, fd)

        def change(path=path, delay=i * 5e-5):
            time.sleep(delay)
            changes[key](path)

        thread = threading.Thread(target=change)
        thread.start()
        made.set(fd, stream)
        thread.join()
        reference = made.below(f"r{i}")
        with open(reference, "wb"):
            os.chmod(reference, 0o644)
            os.setxattr(reference, "user.old", b"1")
        changes[key](reference)
        assert lower_is(key, path) == lower_is(key, reference), f"turn {i}"
        made.close(fd)


def test_written_by_handle_while_set_moves_it(made):
    """A handle needs no walk, and finds the file all the same."""
    for _ in range(4):
        made.alloc()
    for i in range(150):
        fd = made.open(f"f{i}")
        handle = handles.of(made.below(f"f{i}"))
        stream = elsewhere(made, fd)
        written = []

        def write(handle=handle, delay=i * 5e-5, written=written):
            time.sleep(delay)
            try:
                there = handles.open_handle(made.lower, handle, os.O_WRONLY)
            except OSError as error:
                # It was replaced, which nobody is told who has not opened it.
                assert error.errno in (errno.ETXTBSY, errno.ESTALE), error
                return
            written.append(os.write(there, b"data"))
            os.close(there)

        thread = threading.Thread(target=write)
        thread.start()
        made.set(fd, stream)
        thread.join()
        assert os.fstat(fd).st_size == sum(written), f"turn {i}"
        made.close(fd)
