# SPDX-License-Identifier: GPL-2.0
"""Random operations on two directories in lock step.

Every operation is drawn once and done on both sides; what it returns, or the
errno it fails with, has to be the same. The first side may have streams: SET,
CLEAR, ALLOC and closing of streams happen there in between, and must not be
noticed.
"""

import fcntl
import mmap
import os
import random
import stat
import threading

from lib import ioctls, libc
from lib.compare import attempt, status_of, xattrs_of
from lib.pattern import pattern

NAMES = [f"{d}{n}" for d in ("", "a/", "b/", "b/c/") for n in ("1", "2", "3", "4", "5")]
DIRECTORIES = ["a", "b", "b/c", "b/d"]
MOST_HANDLES = 12
MOST_BYTES = 1 << 20
BLOCK = 4096

_OPEN = [
    os.O_RDWR,
    os.O_RDONLY,
    os.O_RDWR | os.O_EXCL,
    os.O_WRONLY,
    os.O_RDWR | os.O_TRUNC,
    os.O_RDWR | os.O_CREAT,
    os.O_RDWR | os.O_CREAT | os.O_EXCL,
    os.O_RDWR | os.O_CREAT | os.O_TRUNC,
    os.O_RDWR | os.O_CREAT | os.O_APPEND,
    os.O_RDWR | os.O_CREAT | os.O_DIRECT,
    os.O_WRONLY | os.O_CREAT | os.O_DSYNC,
]
_FALLOCATE = [0, 1, 3, 0x08, 0x10, 0x11, 0x20, 0x40]


class Side:
    """One of the two directories, with its open files by number."""

    def __init__(self, root):
        self.root = root
        self.fds = {}

    def at(self, name):
        return os.path.join(self.root, name)

    # The operations, called through attempt().

    def open(self, number, name, flags, mode):
        self.fds[number] = os.open(self.at(name), flags | os.O_CLOEXEC, mode)
        return "opened"

    def tmpfile(self, number, directory):
        self.fds[number] = os.open(self.at(directory), os.O_TMPFILE | os.O_RDWR, 0o644)
        return "opened"

    def dup(self, number, new):
        self.fds[new] = os.dup(self.fds[number])

    def close(self, number):
        os.close(self.fds.pop(number))

    def write(self, number, data):
        return os.write(self.fds[number], data)

    def pwrite(self, number, data, offset):
        return os.pwrite(self.fds[number], data, offset)

    def pwrite_aligned(self, number, data, offset):
        with mmap.mmap(-1, len(data)) as buffer:
            buffer[:] = data
            return os.pwrite(self.fds[number], buffer, offset)

    def pread(self, number, length, offset):
        with mmap.mmap(-1, length) as buffer:
            got = os.preadv(self.fds[number], [buffer], offset)
            return buffer[:got]

    def seek(self, number, offset, whence):
        return os.lseek(self.fds[number], offset, whence)

    def map_write(self, number, data, offset):
        """Through a mapping of all of the file, as far as it reaches."""
        size = os.fstat(self.fds[number]).st_size
        if offset >= size:
            return "beyond"
        with mmap.mmap(self.fds[number], size) as mapping:
            end = min(size, offset + len(data))
            mapping[offset:end] = data[: end - offset]
            return end

    def map_read(self, number):
        size = os.fstat(self.fds[number]).st_size
        if not size:
            return b""
        with mmap.mmap(self.fds[number], size, prot=mmap.PROT_READ) as mapping:
            return mapping[:]

    def ftruncate(self, number, size):
        os.ftruncate(self.fds[number], size)

    def truncate(self, name, size):
        os.truncate(self.at(name), size)

    def fallocate(self, number, mode, offset, length):
        libc.fallocate(self.fds[number], mode, offset, length)

    def fsync(self, number):
        os.fsync(self.fds[number])

    def clone(self, dst, src):
        ioctls.clone(self.fds[dst], self.fds[src])

    def clone_range(self, dst, src, src_offset, length, dst_offset):
        ioctls.clone_range(
            self.fds[dst], self.fds[src], src_offset, length, dst_offset
        )

    def copy(self, dst, src, length, src_offset, dst_offset):
        return os.copy_file_range(
            self.fds[src], self.fds[dst], length, src_offset, dst_offset
        )

    def sendfile(self, dst, src, offset, length):
        return os.sendfile(self.fds[dst], self.fds[src], offset, length)

    def fchmod(self, number, mode):
        os.fchmod(self.fds[number], mode)

    def chown(self, name, uid, gid):
        os.chown(self.at(name), uid, gid)

    def utime(self, name, seconds):
        os.utime(self.at(name), (seconds, seconds + 1))
        return os.stat(self.at(name)).st_mtime_ns

    def setxattr(self, number, name, value):
        os.setxattr(self.fds[number], name, value)

    def removexattr(self, number, name):
        os.removexattr(self.fds[number], name)

    def fstat(self, number):
        return status_of(self.fds[number]), xattrs_of_fd(self.fds[number])

    def stat(self, name):
        return status_of(self.at(name)), xattrs_of(self.at(name))

    def same_file(self, number, name):
        return os.path.samestat(os.fstat(self.fds[number]), os.stat(self.at(name)))

    def rename(self, old, new, flags):
        libc.renameat2(self.at(old), self.at(new), flags)

    def link(self, old, new):
        os.link(self.at(old), self.at(new))

    def link_fd(self, number, new):
        libc.linkat_fd(self.fds[number], self.at(new))

    def unlink(self, name):
        os.unlink(self.at(name))

    def mkdir(self, name):
        os.mkdir(self.at(name))

    def rmdir(self, name):
        os.rmdir(self.at(name))

    def listdir(self, name):
        return sorted(n for n in os.listdir(self.at(name)) if n != ".wsfs")

    def close_all(self):
        for number in list(self.fds):
            self.close(number)


def xattrs_of_fd(fd):
    return {name: os.getxattr(fd, name) for name in sorted(os.listxattr(fd))}


class Streams:
    """SET, CLEAR, ALLOC and close, on the files of one side. Nobody compares
    what they do, except that they may fail in no unexpected way."""

    def __init__(self, bed, side, draw):
        self._bed, self._side, self._draw = bed, side, draw
        self._held = []
        self.sets = 0

    def meddle(self):
        draw = self._draw
        what = draw.choice(["alloc", "set", "set", "set", "set", "clear", "close"])
        if what == "alloc":
            if len(self._held) < 4:
                self._held.append(self._bed.wsfs.alloc())
        elif what == "close":
            if self._held:
                self._held.pop(draw.randrange(len(self._held))).close()
        elif self._side.fds:
            fd = self._side.fds[draw.choice(sorted(self._side.fds))]
            if what == "clear":
                answer = attempt(ioctls.clear_stream, fd)
            elif self._held:
                answer = attempt(ioctls.set_stream, fd, draw.choice(self._held).fd)
                self.sets += answer is None
            else:
                return
            expected = (None, "EBADF")
            if not stat.S_ISREG(os.fstat(fd).st_mode):  # a directory got the name
                expected = ("EBADF", "EINVAL")
            assert answer in expected, f"{what}: {answer}"

    def close_all(self):
        for stream in self._held:
            stream.close()
        self._held.clear()


class Meddler:
    """A thread that opens files by name and sets streams on them all the
    time. Whoever looks at a file twice may find that its inode has changed."""

    def __init__(self, bed, side, seed):
        self._bed, self._side = bed, side
        self._draw = random.Random(seed)
        self._stop = threading.Event()
        self._failure = None
        self.sets = 0
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def _work(self):
        streams = [self._bed.wsfs.alloc() for _ in range(4)]
        try:
            while not self._stop.is_set():
                self._set_one(self._draw.choice(streams))
        except BaseException as failure:  # handed over by stop()
            self._failure = failure
        finally:
            for stream in streams:
                stream.close()

    def _set_one(self, stream):
        name = self._side.at(self._draw.choice(NAMES))
        fd = attempt(os.open, name, os.O_WRONLY | os.O_CLOEXEC)
        if not isinstance(fd, int):
            return  # not there, or a directory
        try:
            ioctls.set_stream(fd, stream.fd)
            self.sets += 1
        finally:
            os.close(fd)

    def stop(self):
        self._stop.set()
        self._thread.join()
        if self._failure:
            raise self._failure


class LockStep:
    """Operations drawn from @seed, the same with streams and without."""

    looks = ["pread", "map_read", "seek", "fstat", "stat", "same_file", "listdir"]

    def __init__(self, seed, first, second):
        self._draw = random.Random(seed)
        self.meddling = random.Random(seed + 1)  # for the streams' own draws
        self.sides = (Side(first), Side(second))
        self._next = 0
        self._log = []
        for name in DIRECTORIES[:3]:
            self._both("mkdir", name)

    def run(self, count, streams=None):
        for i in range(count):
            if streams and self.meddling.random() < 0.35:
                streams.meddle()
            self._step(i)

    def _both(self, operation, *args):
        """Do it on both sides; the answers have to agree."""
        answers = [attempt(getattr(side, operation), *args) for side in self.sides]
        self._log.append(f"{operation}{_short(args)} -> {_short(answers[1])}")
        if answers[0] != answers[1]:
            raise AssertionError(
                f"operation {len(self._log)}: {_short(answers[0])}, plain XFS: "
                f"{_short(answers[1])}; the last ones:\n" + "\n".join(self._log[-25:])
            )
        return answers[1]

    def _step(self, i):
        draw = self._draw
        numbers = sorted(self.sides[1].fds)
        if len(numbers) >= MOST_HANDLES:
            self._both("close", draw.choice(numbers))
            return
        if not numbers or draw.random() < 0.15:
            self._open()
            return
        draw.choice(
            [self._data] * 10
            + [self._space] * 4
            + [self._share] * 3
            + [self._attributes] * 3
            + [self._names] * 5
            + [self._look] * 4
        )(i, draw.choice(numbers), draw.choice(numbers))

    def _open(self):
        draw = self._draw
        self._next += 1
        if draw.random() < 0.1:
            self._both("tmpfile", self._next, draw.choice(["."] + DIRECTORIES))
        else:
            mode = draw.choice([0o644, 0o600, 0o755])
            self._both("open", self._next, draw.choice(NAMES), draw.choice(_OPEN), mode)

    def _offset(self):
        """Somewhere, often the start or at a block."""
        draw = self._draw
        offset = draw.choice([0, draw.randrange(8 * BLOCK), draw.randrange(MOST_BYTES)])
        return offset if draw.random() < 0.5 else offset // BLOCK * BLOCK

    def _length(self):
        draw = self._draw
        length = draw.choice([draw.randrange(1, 100), draw.randrange(1, 100000)])
        return length if draw.random() < 0.5 else -(-length // BLOCK) * BLOCK

    def _to_read(self, number, offset, length):
        """Aligned for O_DIRECT: XFS reads holes unaligned too, but an anchor at
        the end of a file may have filled one."""
        if fcntl.fcntl(self.sides[1].fds[number], fcntl.F_GETFL) & os.O_DIRECT:
            return offset // BLOCK * BLOCK, -(-length // BLOCK) * BLOCK
        return offset, length

    def _data(self, i, a, b):
        draw = self._draw
        data = pattern(i, 0, self._length())
        kind = draw.choice(["write", "pwrite", "pwrite", "aligned", "map", "sendfile"])
        if kind == "write":
            self._both("write", a, data)
        elif kind == "pwrite":
            self._both("pwrite", a, data, self._offset())
        elif kind == "aligned":
            length = -(-len(data) // BLOCK) * BLOCK
            offset = self._offset() // BLOCK * BLOCK
            self._both("pwrite_aligned", a, pattern(i, 0, length), offset)
        elif kind == "map":
            self._both("map_write", a, data, self._offset())
        elif a != b:
            self._both("sendfile", a, b, *self._to_read(b, self._offset(), len(data)))

    def _space(self, i, a, b):
        draw = self._draw
        if draw.random() < 0.4:
            size = draw.choice([0, 0, self._offset()])
            if draw.random() < 0.5:
                self._both("ftruncate", a, size)
            else:
                self._both("truncate", draw.choice(NAMES), size)
            return
        mode = draw.choice(_FALLOCATE)
        if os.fstat(self.sides[1].fds[a]).st_size > 4 * MOST_BYTES:
            mode = libc.FALLOC_COLLAPSE_RANGE
        self._both("fallocate", a, mode, self._offset(), self._length())

    def _share(self, i, a, b):
        draw = self._draw
        kind = draw.choice(["clone", "clone_range", "copy", "copy", "fsync", "dup"])
        if kind == "clone":
            self._both("clone", a, b)
        elif kind == "clone_range":
            self._both(
                "clone_range", a, b, self._offset(), self._length(), self._offset()
            )
        elif kind == "copy":
            offset, length = self._to_read(b, self._offset(), self._length())
            self._both("copy", a, b, length, offset, self._offset())
        elif kind == "fsync":
            self._both("fsync", a)
        else:
            self._next += 1
            self._both("dup", a, self._next)

    def _attributes(self, i, a, b):
        draw = self._draw
        kind = draw.choice(["chmod", "chown", "utime", "setxattr", "setxattr", "removexattr"])
        xattr = draw.choice(["user.a", "user.b", "trusted.c"])
        if kind == "chmod":
            self._both("fchmod", a, draw.choice([0o644, 0o4755, 0o2711, 0o1777, 0]))
        elif kind == "chown":
            self._both("chown", draw.choice(NAMES), draw.randrange(3), draw.randrange(3))
        elif kind == "utime":
            self._both("utime", draw.choice(NAMES), draw.randrange(2**31))
        elif kind == "setxattr":
            self._both("setxattr", a, xattr, pattern(i, 0, draw.choice([0, 9, 3000])))
        else:
            self._both("removexattr", a, xattr)

    def _names(self, i, a, b):
        draw = self._draw
        old, new = draw.choice(NAMES + DIRECTORIES), draw.choice(NAMES + DIRECTORIES)
        kind = draw.choice(
            ["rename", "rename", "link", "link_fd", "unlink", "mkdir", "rmdir", "close"]
        )
        if kind == "rename":
            self._both("rename", old, new, draw.choice([0, 0, 1, 2]))
        elif kind == "link":
            self._both("link", old, new)
        elif kind == "link_fd":
            self._both("link_fd", a, new)
        elif kind == "close":
            self._both("close", a)
        else:
            name = draw.choice(DIRECTORIES) if kind != "unlink" else draw.choice(NAMES)
            self._both(kind, name)

    def _look(self, i, a, b):
        draw = self._draw
        kind = draw.choice(self.looks)
        if kind == "pread":
            offset, length = self._to_read(a, self._offset(), self._length())
            self._both("pread", a, length, offset)
        elif kind == "seek":
            self._both("seek", a, self._offset(), draw.randrange(3))
        elif kind in ("map_read", "fstat"):
            self._both(kind, a)
        elif kind == "stat":
            self._both("stat", draw.choice(NAMES))
        elif kind == "same_file":
            self._both("same_file", a, draw.choice(NAMES))
        else:
            self._both("listdir", draw.choice(["."] + DIRECTORIES))

    def compare_open_files(self):
        for number in sorted(self.sides[1].fds):
            self._both("fstat", number)
            self._both("map_read", number)

    def close_all(self):
        for side in self.sides:
            side.close_all()


def _short(value):
    """Words for a log: long byte strings cut."""
    if isinstance(value, bytes):
        return f"<{len(value)} bytes {value[:12]!r}…>" if len(value) > 16 else repr(value)
    if isinstance(value, tuple):
        return "(" + ", ".join(_short(v) for v in value) + ")"
    if isinstance(value, list):
        return "[" + ", ".join(_short(v) for v in value) + "]"
    return repr(value)
