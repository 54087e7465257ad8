# SPDX-License-Identifier: GPL-2.0
"""The ways of writing a file.

A way opens with `flags`, gets each file once before its first byte, then
writes it in chunks. All files are written concurrently, a chunk of each in
turn. `mkfs` is what the way needs of the filesystem.
"""

import mmap
import os
import random
import threading
from dataclasses import dataclass, field

from lib import fio, libc
from lib.pattern import first_difference, pattern

CHUNK = 32 << 10
CHUNKS = 8
SIZE = CHUNK * CHUNKS
THREADS = 4


@dataclass
class Target:
    """A file to be written."""

    path: str
    fd: int
    tag: int
    stream: int = 0
    start: int = 0  # where it is written from on
    kept: dict = field(default_factory=dict)


class Way:
    """Buffered, in order; the others change a part of it."""

    name = "buffered"
    flags = 0
    mkfs = ()
    order = range(CHUNKS)

    def prepare(self, directory):
        """Before anything: opens sources to copy from; returns their fds."""
        return []

    def begin(self, target):
        """Between SET and the first byte."""

    def chunk(self, target, data, offset):
        assert os.pwrite(target.fd, data, offset) == len(data)

    def end(self, target):
        """After the last byte."""

    def data(self, target, offset, length):
        """What is to be written there."""
        return pattern(target.tag, offset, length)

    def expected(self, target):
        """What is in the file in the end, from target.start on."""
        return self.data(target, target.start, SIZE)

    def write_all(self, targets):
        for target in targets:
            self.begin(target)
        failures = []

        def work(mine):
            try:
                for i in self.order:
                    for target in mine:
                        offset = target.start + i * CHUNK
                        self.chunk(target, self.data(target, offset, CHUNK), offset)
            except BaseException as failure:  # handed to the test's thread
                failures.append(failure)

        threads = [
            threading.Thread(target=work, args=(targets[i::THREADS],))
            for i in range(THREADS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        for target in targets:
            self.end(target)
            os.fsync(target.fd)

    def write_one_by_one(self, targets):
        """The same, one file after the other."""
        for target in targets:
            self.write_all([target])

    def check(self, target, path=None):
        with open(path or target.path, "rb") as f:
            f.seek(target.start)
            difference = first_difference(f.read(), self.expected(target))
        assert not difference, f"{target.path}: {difference}"


class Direct(Way):
    name = "direct"
    flags = os.O_DIRECT

    def chunk(self, target, data, offset):
        with mmap.mmap(-1, len(data)) as aligned:  # a page-aligned buffer
            aligned[:] = data
            assert os.pwrite(target.fd, aligned, offset) == len(data)


class DirectRandom(Direct):
    name = "direct-random"
    order = random.Random(1).sample(range(CHUNKS), CHUNKS)


class Append(Way):
    name = "append"
    flags = os.O_APPEND

    def chunk(self, target, data, offset):
        assert os.write(target.fd, data) == len(data)


class Mmap(Way):
    name = "mmap"

    def begin(self, target):
        os.ftruncate(target.fd, target.start + SIZE)
        target.kept["map"] = mmap.mmap(target.fd, target.start + SIZE)

    def chunk(self, target, data, offset):
        target.kept["map"][offset : offset + len(data)] = data

    def end(self, target):
        target.kept["map"].flush()
        target.kept.pop("map").close()


class Preallocated(Way):
    name = "fallocate"
    mode = 0

    def begin(self, target):
        libc.fallocate(target.fd, self.mode, target.start, SIZE)


class PreallocatedKeepSize(Preallocated):
    name = "fallocate-keep-size"
    mode = libc.FALLOC_KEEP_SIZE


class _Copying(Way):
    """From a file that has no stream."""

    source_offset = 0

    def prepare(self, directory):
        self.source = os.open(
            os.path.join(directory, "source"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        )
        os.pwrite(self.source, pattern(0, 0, SIZE), self.source_offset)
        return [self.source]

    def data(self, target, offset, length):
        return pattern(0, offset - target.start, length)

    def source_of(self, target, offset):
        return offset - target.start + self.source_offset


class CopyFileRange(_Copying):
    name = "copy_file_range"
    mkfs = ("-m", "reflink=0")

    def chunk(self, target, data, offset):
        at, left = offset, len(data)
        while left:
            done = os.copy_file_range(
                self.source, target.fd, left, self.source_of(target, at), at
            )
            assert done > 0
            at, left = at + done, left - done


class CopyFileRangeUnaligned(CopyFileRange):
    """What begins inside a block of the source cannot be shared."""

    name = "copy_file_range-unaligned"
    mkfs = ("-m", "reflink=1")
    source_offset = 1


class Sendfile(_Copying):
    name = "sendfile"

    def begin(self, target):
        os.lseek(target.fd, target.start, os.SEEK_SET)

    def chunk(self, target, data, offset):
        at, left = offset, len(data)
        while left:
            done = os.sendfile(target.fd, self.source, self.source_of(target, at), left)
            assert done > 0
            at, left = at + done, left - done


class Splice(Way):
    name = "splice"

    def chunk(self, target, data, offset):
        reader, writer = os.pipe()
        try:
            at = 0
            while at < len(data):
                put = os.write(writer, data[at : at + mmap.PAGESIZE])
                moved = 0
                while moved < put:
                    moved += os.splice(
                        reader, target.fd, put - moved, offset_dst=offset + at + moved
                    )
                at += put
        finally:
            os.close(reader)
            os.close(writer)


class _Fio(Way):
    """One fio job per stream, over all files of the stream."""

    engine = ""
    direct = 1

    def expected(self, target):
        return fio.fill(target.stream, SIZE)

    def write_all(self, targets):
        self._run_fio(targets, at_once=True)

    def write_one_by_one(self, targets):
        self._run_fio(targets, at_once=False)

    def _run_fio(self, targets, at_once):
        jobs = {}
        for target in targets:
            jobs.setdefault((target.stream, target.start), []).append(target.path)
        fio.append_files(jobs, SIZE, self.engine, self.direct, at_once)
        for target in targets:
            os.fsync(target.fd)


class Aio(_Fio):
    name = "aio"
    engine = "libaio"


class IoUring(_Fio):
    name = "io_uring"
    engine = "io_uring"


class IoUringBuffered(_Fio):
    name = "io_uring-buffered"
    engine = "io_uring"
    direct = 0


WAYS = [
    Way,
    Direct,
    DirectRandom,
    Append,
    Mmap,
    Preallocated,
    PreallocatedKeepSize,
    CopyFileRange,
    CopyFileRangeUnaligned,
    Sendfile,
    Splice,
    Aio,
    IoUring,
    IoUringBuffered,
]
