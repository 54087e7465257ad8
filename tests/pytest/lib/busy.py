# SPDX-License-Identifier: GPL-2.0
"""A file that is read, written, mapped and truncated all the time, by threads that
know what has to be in it."""

import itertools
import mmap
import os
import random
import threading

from lib.pattern import first_difference, pattern

BLOCK = 4096


class Busy:
    """Each thread has a part of the file to itself: one writes, one writes through a
    mapping, one truncates and appends, and all look again at what they wrote. The
    first part nobody writes, and three threads read: by calls, directly and through
    a mapping; they take turns between @path and @below, the file on the XFS. From
    the beginning until stop()."""

    PART = 2 << 20

    def __init__(self, path, seed, below=None):
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        self._paths = [path] + [below] * bool(below)
        self.want = bytearray(pattern(1, 0, 4 * self.PART))
        self._quiet = bytes(self.want[: self.PART])
        self._tail = self.want[3 * self.PART :]
        os.pwrite(self._fd, self.want, 0)
        os.fsync(self._fd)
        self._stop = threading.Event()
        self._failures = []
        self.writes = self.reads = 0
        works = (self._pwrite, self._map, self._truncate, self._read, self._read_directly,
                 self._read_mapped)  # fmt: skip
        self._threads = [
            threading.Thread(target=self._guard, args=(work, random.Random(seed * 10 + i)))
            for i, work in enumerate(works)
        ]
        for thread in self._threads:
            thread.start()

    def _guard(self, work, rng):
        try:
            work(rng)
        except BaseException as failure:  # told by stop()
            self._failures.append(failure)
            self._stop.set()

    def _turns(self):
        """Until it is to end, or somebody has failed."""
        return itertools.takewhile(lambda _: not self._stop.is_set(), itertools.count())

    # Those who write

    def _piece(self, rng, part):
        at = part * self.PART + rng.randrange(self.PART - 20000)
        length = rng.choice((1, 100, 512, BLOCK, 20000))
        if rng.random() < 0.5:
            at = at // BLOCK * BLOCK
        return at, rng.randbytes(length)

    def _look_again(self, got, at):
        difference = first_difference(bytes(got), bytes(self.want[at : at + len(got)]))
        assert not difference, f"of the writer's own, from {at} on: {difference}"

    def _pwrite(self, rng):
        for turn in self._turns():
            at, data = self._piece(rng, 1)
            assert os.pwrite(self._fd, data, at) == len(data)
            self.want[at : at + len(data)] = data
            self.writes += 1
            if turn % 50 == 0:
                os.fdatasync(self._fd)
            if turn % 20 == 0:
                self._look_again(os.pread(self._fd, self.PART, self.PART), self.PART)

    def _map(self, rng):
        start = 2 * self.PART
        with mmap.mmap(self._fd, self.PART, offset=start) as mapped:
            for turn in self._turns():
                at, data = self._piece(rng, 2)
                mapped[at - start : at - start + len(data)] = data
                self.want[at : at + len(data)] = data
                self.writes += 1
                if turn % 50 == 0:
                    mapped.flush()
                if turn % 20 == 0:
                    self._look_again(mapped[:], start)

    def _truncate(self, rng):
        """The last part; it alone changes the size."""
        tail, start = self._tail, 3 * self.PART
        for _ in self._turns():
            size = rng.randrange(1, self.PART)
            os.ftruncate(self._fd, start + size)
            if size < len(tail):
                del tail[size:]
            else:
                tail.extend(bytes(size - len(tail)))
            data = rng.randbytes(rng.randrange(1, 300000))
            os.pwrite(self._fd, data, start + len(tail))
            tail.extend(data)
            self.writes += 1
            assert os.fstat(self._fd).st_size == start + len(tail)
            got = os.pread(self._fd, 2 * self.PART, start)
            assert not (difference := first_difference(got, bytes(tail))), f"tail: {difference}"

    # Those who read what nobody writes

    def _open_in_turn(self, flags):
        for turn in self._turns():
            fd = os.open(self._paths[turn % len(self._paths)], os.O_RDONLY | flags | os.O_CLOEXEC)
            try:
                yield fd
            finally:
                os.close(fd)
            self.reads += 1

    def _is_quiet(self, got, how):
        difference = first_difference(bytes(got), self._quiet)
        assert not difference, f"what nobody writes, read {how}: {difference}"

    def _read(self, rng):
        for fd in self._open_in_turn(0):
            self._is_quiet(os.pread(fd, self.PART, 0), "by pread(2)")

    def _read_directly(self, rng):
        with mmap.mmap(-1, self.PART) as buffer:
            for fd in self._open_in_turn(os.O_DIRECT):
                assert os.preadv(fd, [buffer], 0) == self.PART
                self._is_quiet(buffer[:], "directly")

    def _read_mapped(self, rng):
        for fd in self._open_in_turn(0):
            with mmap.mmap(fd, self.PART, prot=mmap.PROT_READ) as mapped:
                self._is_quiet(mapped[:], "through a mapping")

    @property
    def failed(self):
        """Has somebody seen something wrong? stop() tells what."""
        return bool(self._failures)

    def stop(self):
        """The bytes that the file has to have."""
        self._stop.set()
        for thread in self._threads:
            thread.join()
        os.close(self._fd)
        if self._failures:
            raise self._failures[0]
        return bytes(self.want[: 3 * self.PART]) + bytes(self._tail)
