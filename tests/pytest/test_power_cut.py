# SPDX-License-Identifier: GPL-2.0
"""A power cut around the swap of SET, births, anchors and relocation: the old file or
the new one, never neither, no stray name, no shared block, no lost byte."""

import pytest

from lib import logwrites, powercut
from lib.disks import zero
from lib.logwrites import FLUSH, FUA, MARK, Log, LoggedDevice, Replay
from lib.xfs import Xfs


@pytest.fixture
def cut(disks, base, plain, kernel_log):
    """Runs the workload and then a check after each chosen log entry."""
    if plain:
        pytest.skip("--plain: no streams")
    if reason := logwrites.missing():
        pytest.skip(reason)

    def run(files, choose, workload=powercut.Workload):
        disk, log_disk = disks
        zero(disk, powercut.LENGTH)
        device = LoggedDevice(disk, log_disk)
        try:
            workload(device, base, files).run()
        finally:
            device.remove()
        log = Log(log_disk)
        try:
            return replay(log, disk, base, choose(log))
        finally:
            log.close()

    return run


def replay(log, disk, base, points):
    """Check after each number of entries in @points; returns how many."""
    state = Replay(log, disk, powercut.LENGTH)
    assert points
    print(f"{len(points)} power cuts, log of {len(log.entries)} entries")
    for count in points:
        print(f"after {count}", flush=True)
        state.advance(count)
        state.write_disk()
        passed = [e.text for e in log.entries[:count] if e.flags & MARK]
        complaints = powercut.check(disk, base, passed)
        assert not complaints, (
            f"after {count} of {len(log.entries)} log entries, "
            f"last mark {passed[-1]!r}:\n" + "\n".join(complaints)
        )
    return len(points)


def around_sets(log, first, last):
    """The entries from mark @first to mark @last after which something new
    is on the disk for good."""
    marks = log.marks()
    return [
        count
        for count in range(marks[first], marks[last] + 1)
        if log.entries[count - 1].flags & (FLUSH | FUA | MARK)
    ]


def test_at_some_flushes(cut):
    """One file; about ten of the places where the disk was told to keep what
    it has."""

    def choose(log):
        points = around_sets(log, "created-0", "written-0")
        return points[:: max(1, len(points) // 10)]

    assert cut(1, choose) >= 6


@pytest.mark.long
def test_at_every_flush(cut):
    checked = cut(3, lambda log: around_sets(log, "created-0", "written-2"))
    assert checked >= 18


@pytest.mark.long
def test_at_every_write(cut):
    """Six files; every single entry of the log."""

    def choose(log):
        marks = log.marks()
        return list(range(marks["created-0"], marks["written-5"] + 1))

    assert cut(6, choose) >= 24


BIRTHS = [
    powercut.BirthWorkload,
    powercut.UnnamedBirthWorkload,
    powercut.MovedBirthWorkload,
    powercut.SpreadBirthWorkload,
]


def named(workload):
    return workload.__name__


@pytest.mark.parametrize("workload", BIRTHS, ids=named)
def test_while_born(cut, workload):
    """The second file that is born where its directory says, and the third; at some
    flushes."""

    def choose(log):
        points = around_sets(log, "created-0", "born-2")
        return points[:: max(1, len(points) // 10)]

    assert cut(3, choose, workload) >= 4


@pytest.mark.long
@pytest.mark.parametrize("workload", BIRTHS, ids=named)
def test_while_born_at_every_write(cut, workload):
    def choose(log):
        marks = log.marks()
        return list(range(marks["created-0"], marks["written-3"] + 1))

    assert cut(4, choose, workload) >= 12


def test_while_anchored(cut):
    """A file with data: SET, append, SET, append; at some flushes."""

    def choose(log):
        points = around_sets(log, "created-0", "appended-0-2")
        return points[:: max(1, len(points) // 10)]

    assert cut(1, choose, powercut.AnchorWorkload) >= 6


@pytest.mark.long
def test_while_anchored_at_every_write(cut):
    def choose(log):
        marks = log.marks()
        return list(range(marks["created-0"], marks["appended-2-2"] + 1))

    assert cut(3, choose, powercut.AnchorWorkload) >= 24


def test_while_relocated(cut):
    """A file that wsctl relocate moves to another AG, and once more."""

    def choose(log):
        points = around_sets(log, "created-0", "relocated-0-2")
        return points[:: max(1, len(points) // 20)]

    assert cut(1, choose, powercut.RelocateWorkload) >= 10


@pytest.mark.long
def test_while_relocated_at_every_write(cut):
    def choose(log):
        marks = log.marks()
        return list(range(marks["created-0"], marks["relocated-1-2"] + 1))

    assert cut(2, choose, powercut.RelocateWorkload) >= 24


def test_while_busy(cut):
    """Appends, changes of the stream and relocation at once; at some flushes."""

    def choose(log):
        points = around_sets(log, "created-0", "relocated-0")
        return points[:: max(1, len(points) // 20)]

    assert cut(1, choose, powercut.BusyWorkload) >= 10


@pytest.mark.long
def test_while_busy_at_every_write(cut):
    def choose(log):
        marks = log.marks()
        return list(range(marks["created-0"], marks["relocated-0"] + 1))

    assert cut(1, choose, powercut.BusyWorkload) >= 100


def test_replay_reproduces_the_disk(disks, base, kernel_log):
    """The replayer itself: the whole log gives what the disk holds."""
    if reason := logwrites.missing():
        pytest.skip(reason)
    disk, log_disk = disks
    zero(disk, powercut.LENGTH)
    device = LoggedDevice(disk, log_disk)
    try:
        xfs = Xfs(device.path, f"{base}/cut-lower")
        xfs.mkfs(powercut.AGCOUNT, powercut.AG_MIB)
        xfs.mount()
        for i in range(20):
            with open(f"{xfs.path}/{i}", "wb") as f:
                f.write(b"%d" % i * 1000)
        xfs.umount()
    finally:
        device.remove()
    with open(disk, "rb") as f:
        want = f.read(powercut.LENGTH)
    log = Log(log_disk)
    try:
        state = Replay(log, disk, powercut.LENGTH)
        state.advance(len(log.entries))
        state.write_disk()
    finally:
        log.close()
    with open(disk, "rb") as f:
        assert f.read(powercut.LENGTH) == want
