# SPDX-License-Identifier: GPL-2.0
"""A random mix of operations on wsfs, with streams set, changed, cleared and
closed in between, against the same on plain XFS: the same answers, then the
same bytes and attributes, also after a remount.

WSFS_SEED=N runs one seed; a failure tells its seed.
"""

import os

import pytest

from lib.bed import Bed
from lib.compare import tree
from lib.lockstep import LockStep, Meddler, Streams


@pytest.fixture
def beds(disks, base, plain, kernel_log):
    """wsfs and plain XFS; with --plain two plain ones."""
    first = Bed(disks[0], f"{base}/first", stacked=not plain)
    second = Bed(disks[1], f"{base}/second", stacked=False)
    for bed in (first, second):
        bed.make(agcount=16, streams=4)
    yield first, second
    complaints = first.finish() + second.finish()
    assert not complaints, "\n".join(complaints)


def visible(top):
    """tree() without what wsfs keeps for itself on the XFS."""
    return {name: about for name, about in tree(top).items() if name.split("/")[0] != ".wsfs"}


def compare(first, second):
    want = visible(second.path)
    for top in {first.path, first.lower}:
        got = visible(top)
        assert sorted(got) == sorted(want), top
        for name in want:
            assert got[name] == want[name], f"{top}/{name}"


def run(beds, seed, count):
    print(f"seed {seed}: WSFS_SEED={seed} runs it again")
    first, second = beds
    steps = LockStep(seed, first.path, second.path)
    streams = Streams(first, steps.sides[0], steps.meddling) if first.stacked else None
    try:
        steps.run(count, streams)
        steps.compare_open_files()
        compare(first, second)
    finally:
        steps.close_all()
        if streams:
            streams.close_all()
    compare(first, second)
    first.remount()
    second.remount()
    compare(first, second)
    if streams:
        assert streams.sets > count // 50, "hardly a stream was set"


def run_meanwhile(beds, seed, count):
    """A thread sets streams on files by name all the time."""
    print(f"seed {seed}: WSFS_SEED={seed} runs it again, as far as it can be")
    first, second = beds
    steps = LockStep(seed, first.path, second.path)
    steps.looks = [look for look in steps.looks if look != "same_file"]
    meddler = Meddler(first, steps.sides[0], seed) if first.stacked else None
    try:
        steps.run(count)
        if meddler:
            meddler.stop()
            assert meddler.sets > count // 20, "hardly a stream was set"
        steps.compare_open_files()
        compare(first, second)
    finally:
        if meddler:
            meddler.stop()
        steps.close_all()
    compare(first, second)
    first.remount()
    second.remount()
    compare(first, second)


def seeds(numbers):
    chosen = os.environ.get("WSFS_SEED")
    return [int(chosen)] if chosen else numbers


@pytest.mark.parametrize("seed", seeds([1, 2, 3]))
def test_random_mix(beds, seed):
    run(beds, seed, 1500)


@pytest.mark.quick
def test_random_mix_short(beds):
    run(beds, 4, 300)


@pytest.mark.parametrize("seed", seeds([11, 12]))
def test_streams_set_meanwhile(beds, seed):
    run_meanwhile(beds, seed, 1000)


@pytest.mark.long
@pytest.mark.parametrize("seed", seeds(range(200, 210)))
def test_streams_set_meanwhile_long(beds, seed):
    run_meanwhile(beds, seed, 6000)


@pytest.mark.long
@pytest.mark.parametrize("seed", seeds(range(100, 120)))
def test_random_mix_long(beds, seed):
    run(beds, seed, 6000)
