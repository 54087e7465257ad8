# SPDX-License-Identifier: GPL-2.0
"""The disk fails within an operation: an error comes back as one, and after the next
mount what was synced is there, nothing is left in .wsfs, and XFS is whole."""

import os
import re

import pytest

from lib import kmsg
from lib.bed import Bed
from lib.compare import attempt
from lib.faultydisk import FaultyDisk, missing
from lib.fiemap import extents
from lib.libc import syncfs
from lib.operations import BLOCK, DATA, OPERATIONS, Subject, answer_of
from lib.pattern import first_difference, pattern

# What XFS says of a disk that fails; not that it finds itself corrupt.
EXPECTED = re.compile(r"I/O error|(?:Log|Metadata) I/O Error.*Shutting down", re.IGNORECASE)
KEPT = pattern(3, 0, 9 * BLOCK + 7)

pytestmark = pytest.mark.long


@pytest.fixture
def faulty(disks, base, plain, kernel_log):
    """A bed on a disk that can be made to fail, which is bed.faulty."""
    if plain:
        pytest.skip("--plain: no streams")
    if why := missing():
        pytest.skip(why)
    disk = FaultyDisk(disks[0], "wsfs-flakey")
    bed = Bed(disk.path, base)
    bed.faulty = disk
    bed.make(agcount=8, streams=2)
    yield bed
    disk.heal()
    complaints = bed.finish()
    disk.remove()
    unexpected = [line for line in kmsg.bad_lines(kernel_log.read()) if not EXPECTED.search(line)]
    assert not complaints + unexpected, "\n".join(complaints + unexpected)


def keep_some(bed, stream, top="kept"):
    """Files that nothing may happen to, synced: plain, homed and anchored."""
    for name in ("plain", "homed", "anchored"):
        fd = bed.open(f"{top}-{name}")
        if name == "homed":
            bed.set(fd, stream)
        os.write(fd, KEPT[:BLOCK])
        if name == "anchored":
            bed.set(fd, stream)
        os.write(fd, KEPT[BLOCK:])
        os.fsync(fd)
        bed.close(fd)


def check_kept(bed, top="kept"):
    for name in ("plain", "homed", "anchored"):
        with open(bed.at(f"{top}-{name}"), "rb") as f:
            difference = first_difference(f.read(), KEPT)
        assert not difference, f"{top}-{name}: {difference}"


@pytest.mark.parametrize("state", ["plain", "set"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_writes_fail(faulty, operation, state):
    """All of them, the log's too, from before the operation to after syncfs."""
    bed, stream = faulty, faulty.alloc()
    keep_some(bed, stream)
    it = Subject(bed, stream, empty=False)
    if state == "set":
        OPERATIONS["set"](it)
    os.fsync(it.fd)
    syncfs(it.fd)
    bed.faulty.fail_writes()
    answers = [answer_of(operation, it), attempt(os.fsync, it.fd), attempt(syncfs, it.fd)]
    bed.faulty.heal()
    print(operation, answers)
    assert set(answers) <= {None, "EIO"}
    # What is left is judged by what the disk has.
    for fd in it.made:
        os.close(fd)
    bed.remount()
    check_kept(bed)
    path = it.path if os.path.exists(it.path) else bed.at("f")
    with open(path, "rb") as f:
        got = f.read()
    size = len(DATA) // 2 if operation == "truncate" else len(DATA)
    assert not first_difference(got[:size], DATA[:size])
    assert not first_difference(got[len(DATA) :], it.want[len(DATA) : len(got)])
    # And wsfs goes on with it.
    fd = bed.open(os.path.basename(path), os.O_RDWR)
    bed.set(fd, bed.alloc())
    os.pwrite(fd, b"more", len(got))
    os.fsync(fd)
    assert os.pread(fd, 10, len(got)) == b"more"


@pytest.mark.parametrize("last", [BLOCK, 100], ids=["whole", "part"])
def test_anchor_cannot_read(faulty, last):
    """The block that an anchor is to replace cannot be read: the file stays as it
    was, what is appended is there, and the next try finds it healed."""
    bed, stream = faulty, faulty.alloc()
    want = pattern(5, 0, 8 * BLOCK + last)
    fd = bed.open("f")
    os.write(fd, want)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    place = extents(fd)[-1]
    bed.faulty.fail(place.physical + place.length - BLOCK, BLOCK)
    answer = attempt(bed.set, fd, stream)
    appended = attempt(os.pwrite, fd, b"appended", len(want))
    bed.faulty.heal()
    assert answer in (None, "EIO") and appended in (8, "EIO")
    if appended == 8:
        want += b"appended"
    assert attempt(os.fsync, fd) in (None, "EIO")
    bed.set(fd, stream)
    os.pwrite(fd, b"again", len(want))
    os.fsync(fd)
    want += b"again"
    for path in (bed.at("f"), bed.below("f")):
        with open(path, "rb") as f:
            assert not first_difference(f.read(), want)
    bed.remount()
    with open(bed.at("f"), "rb") as f:
        assert not first_difference(f.read(), want)


def test_mount_cannot_sweep(faulty):
    """Writes fail while wsfs is mounted over what a crash has left: it is mounted or
    says why not, and the next mount sweeps."""
    bed = faulty
    streams = [bed.alloc(), bed.alloc()]
    keep_some(bed, streams[0])
    keep_some(bed, streams[1], "others")
    bed.close_all()
    bed.wsfs.umount()
    directory = next(e.path for e in os.scandir(bed.below(".wsfs")) if e.is_dir())
    os.mknod(f"{directory}/17f", 0o100644)
    os.sync()
    bed.faulty.fail_writes()
    mounted = mount(bed)
    os.sync()
    bed.faulty.heal()
    if mounted:
        bed.wsfs.umount()
    bed.xfs.umount()
    bed.mount()
    assert not os.path.exists(f"{directory}/17f")
    check_kept(bed)
    check_kept(bed, "others")


def mount(bed):
    """Is it mounted?"""
    try:
        bed.wsfs.mount(2)
    except AssertionError as error:
        assert "Input/output error" in str(error), error
    return bed.wsfs.mounted
