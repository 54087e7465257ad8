# SPDX-License-Identifier: GPL-2.0
"""Files for wsctl relocate, and writers that know what has to be in them."""

import mmap
import os
import random
import threading

from lib.fiemap import SHARED, UNWRITTEN, extents
from lib.pattern import pattern
from lib.wsctl import wsctl

MIB = 1 << 20
BLOCK = 4096


def make(path, size, tag=1):
    """A file with data on the disk, closed; returns its bytes."""
    data = pattern(tag, 0, size)
    with open(path, "wb") as f:
        f.write(data)
        f.flush()
        os.fsync(f.fileno())
    return data


def in_ags(bed, path):
    """The AGs that data of the file lies in."""
    layout, size = bed.xfs.layout(), os.stat(path).st_size
    return {
        layout.ag_of_byte(at)
        for start, at, length, flags in physical(path)
        if start < size and not flags & UNWRITTEN
        for at in (at, at + length - 1)
    }


def shape(path):
    """What the file is made of: (offset, length, flags), joined where alike."""
    found = []
    fd = os.open(path, os.O_RDONLY)
    try:
        for extent in extents(fd):
            flags = extent.flags & (SHARED | UNWRITTEN)
            if found and sum(found[-1][:2]) == extent.logical and found[-1][2] == flags:
                found[-1][1] += extent.length
            else:
                found.append([extent.logical, extent.length, flags])
    finally:
        os.close(fd)
    return found


def physical(path):
    """Where the file lies, exactly."""
    fd = os.open(path, os.O_RDONLY)
    try:
        return [(e.logical, e.physical, e.length, e.flags) for e in extents(fd)]
    finally:
        os.close(fd)


def blocks(path):
    """The same, block by block, however XFS tells of them."""
    return {
        logical + i: at + i
        for logical, at, length, _ in physical(path)
        for i in range(0, length, BLOCK)
    }


def foreign_id(room, path):
    """The id of such a stream, without a reservation."""
    here = in_ags(room, path)
    return next(i for i in range(4) if not here & room.wsfs.ag_set(i))


def relocate(path, *words, status=0, **kwargs):
    """What it says of the one file."""
    done = wsctl("relocate", "--json", *words, path, **kwargs)
    assert done.status == status, done
    (entry,) = done.json["files"]
    return entry


class Writers:
    """Threads that write to a file, each to a part of its own, and its bytes as
    they have to be in the end: a random writer, one by mmap, one that truncates
    and appends."""

    PART = 2 * MIB

    def __init__(self, path, seed):
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        self.want = bytearray(pattern(1, 0, 3 * self.PART))
        os.pwrite(self._fd, self.want, 0)
        os.fsync(self._fd)
        self._end = len(self.want)
        self._random = [random.Random(seed * 10 + i) for i in range(3)]
        self._stop = threading.Event()
        self._failures = []
        self.writes = 0
        self._tail = bytearray(self.want[2 * self.PART :])
        self._threads = [
            threading.Thread(target=self._guard, args=(work, self._random[i]))
            for i, work in enumerate((self._pwrite, self._map, self._truncate))
        ]
        for thread in self._threads:
            thread.start()

    def _guard(self, work, rng):
        try:
            work(rng)
        except BaseException as failure:  # told by stop()
            self._failures.append(failure)

    def _piece(self, rng, start):
        at = start + rng.randrange(self.PART - 20000)
        length = rng.choice((1, 100, 512, BLOCK, 20000))
        if rng.random() < 0.5:
            at = at // BLOCK * BLOCK
        return at, rng.randbytes(length)

    def _pwrite(self, rng):
        while not self._stop.is_set():
            at, data = self._piece(rng, 0)
            assert os.pwrite(self._fd, data, at) == len(data)
            self.want[at : at + len(data)] = data
            self.writes += 1
            if rng.random() < 0.02:
                os.fdatasync(self._fd)

    def _map(self, rng):
        with mmap.mmap(self._fd, self.PART, offset=self.PART) as mapped:
            while not self._stop.is_set():
                at, data = self._piece(rng, self.PART)
                at -= self.PART
                mapped[at : at + len(data)] = data
                at += self.PART
                self.want[at : at + len(data)] = data
                self.writes += 1
                if rng.random() < 0.02:
                    mapped.flush()

    def _truncate(self, rng):
        """The last part; it alone changes the size."""
        tail = self._tail
        while not self._stop.is_set():
            size = rng.randrange(1, self.PART)
            os.ftruncate(self._fd, 2 * self.PART + size)
            if size < len(tail):
                del tail[size:]
            else:
                tail.extend(bytes(size - len(tail)))
            data = rng.randbytes(rng.randrange(1, 300000))
            os.pwrite(self._fd, data, 2 * self.PART + len(tail))
            tail.extend(data)
            self.writes += 1

    def stop(self):
        """The bytes that the file has to have."""
        self._stop.set()
        for thread in self._threads:
            thread.join()
        os.close(self._fd)
        assert not self._failures, self._failures
        return bytes(self.want[: 2 * self.PART]) + bytes(self._tail)
