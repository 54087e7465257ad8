# SPDX-License-Identifier: GPL-2.0
"""Byte for byte: a file that is read, written, mapped and truncated all the time,
while its end is anchored, its stream changes and wsctl relocate moves its data."""

import os
import random
import threading

import pytest

from lib import ioctls
from lib.anchored import assert_not_shared, check
from lib.busy import Busy
from lib.relocating import MIB, in_ags, relocate
from lib.wsctl import wsctl

pytestmark = pytest.mark.usefixtures("true_mappings")

# Anchors and SETs that there have to be at least, for the test to say anything
ANCHORS, SETS = 8, 20


class Changes:
    """A thread that sets one stream after the other on an open file, and at times
    clears it, while the context lasts."""

    def __init__(self, fd, streams, seed):
        self._fd, self._streams = fd, streams
        self._draw = random.Random(seed)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._work)
        self.failure = None
        self.sets = 0

    def _work(self):
        try:
            while not self._end.is_set():
                if self._draw.random() < 0.1:
                    ioctls.clear_stream(self._fd)
                ioctls.set_stream(self._fd, self._draw.choice(self._streams).fd)
                self.sets += 1
                if self._draw.random() < 0.1:
                    os.fsync(self._fd)
        except BaseException as failure:  # raised by __exit__
            self.failure = failure

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()
        if self.failure:
            raise self.failure


def run(room, seed, relocations):
    """At least so many runs of wsctl relocate, to and fro."""
    streams = [room.alloc() for _ in range(4)]
    path, moved, ends = room.at("f"), 0, []

    def anchored():
        return sum(room.wsfs.count(stream.id, "anchored") for stream in streams) - before

    before = 0
    before = anchored()
    busy = Busy(path, seed, room.below("f"))
    try:
        fd = room.open("f", os.O_WRONLY)
        with Changes(fd, streams, seed) as changes:
            while not (busy.failed or changes.failure) and len(ends) < 10 * relocations and (
                len(ends) < relocations or moved < MIB
                or anchored() < ANCHORS or changes.sets < SETS
            ):  # fmt: skip
                done = wsctl("relocate", "--json", "--ags", ("0-3", "8-11")[len(ends) % 2], path)
                assert done.status in (0, 1), done
                moved += done.json["files"][0]["moved_bytes"]
                ends.append(done.status)
    finally:
        want = busy.stop()
    print(f"{busy.writes} writes, {busy.reads} reads, {changes.sets} SETs, {anchored()} anchors, "
          f"{len(ends)} relocations, {ends.count(1)} not in full, {moved >> 20} MiB moved")
    assert moved >= MIB and anchored() >= ANCHORS and changes.sets >= SETS
    assert busy.writes and busy.reads
    os.fsync(fd)
    check(room, "f", want)
    # Now that it is left alone: all of it moves, and no mark of that stays.
    room.close(fd)
    relocate(path, "--ags", "12-15")
    assert in_ags(room, path) <= {12, 13, 14, 15}
    check(room, "f", want)
    assert_not_shared(room, "f")


@pytest.mark.quick
def test_short(room):
    run(room, 1, 3)


@pytest.mark.parametrize("seed", [2, 3])
def test_everything_at_once(room, seed):
    run(room, seed, 20)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 20))
def test_everything_at_once_long(room, seed):
    run(room, seed, 100)
