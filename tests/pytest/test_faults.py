# SPDX-License-Identifier: GPL-2.0
"""Each allocation of each operation fails once: the error comes back as one, the
file is as it was or as it should be, nothing is left over, and the next try works."""

import os

import pytest

from lib import faults, libc
from lib.compare import attempt
from lib.operations import OPERATIONS, SHORT_OF_MEMORY, Subject, answer_of

MOST = 3000  # allocations of one operation
AGAIN = ("set", "clear", "set_dir", "append", "append_direct", "fsync", "fallocate", "setxattr")

pytestmark = pytest.mark.long


@pytest.fixture
def nth():
    if why := faults.missing():
        pytest.skip(why)
    faults.prepare()
    nth = faults.Nth()
    yield nth
    nth.close()


def every_allocation(nth, attempt_one):
    """Calls attempt_one(context) with one more allocation allowed each time, until
    all of them are; returns how many there were."""
    for number in range(1, MOST):
        reached = []
        attempt_one(nth.fails(number, reached))
        if not reached[-1]:
            return number - 1
    raise AssertionError(f"more than {MOST} allocations?")


@pytest.mark.parametrize("empty", [True, False], ids=["empty", "data"])
@pytest.mark.parametrize("state", ["plain", "set"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_each_allocation_fails(bed, nth, operation, state, empty):
    bed.make(agcount=8, streams=2)
    stream = bed.alloc()
    answers = set()

    def attempt_one(failing):
        it = Subject(bed, stream, empty)
        if state == "set":
            OPERATIONS["set"](it)
        with failing:
            answer = answer_of(operation, it)
        answers.add(answer)
        # How far a truncation that has failed has come nobody promises.
        it.check(bytes_too=operation != "truncate" or answer is None)
        if operation in AGAIN:
            OPERATIONS[operation](it)
            it.check()
        it.done()
        assert os.listdir(bed.path) == [], "left behind"

    count = every_allocation(nth, attempt_one)
    print(f"{operation}: {count} allocations, answers {answers}")
    assert answers <= {None, "ENOMEM"} | SHORT_OF_MEMORY.get(operation, set())
    # Nothing of it counts as reserved, nor as a file of the stream.
    other = bed.alloc()
    assert {other.id, stream.id} == {0, 1}
    assert stream.info()["files"] == "0"


def test_mounting(bed, nth):
    """Each allocation of a mount fails: nothing is mounted, or all is well."""
    bed.make(agcount=8, streams=2)
    bed.wsfs.umount()
    answers = set()

    def attempt_one(failing):
        with failing:
            answer = attempt(libc.mount, bed.xfs.path, bed.wsfs.path, "wsfs", 0, "streams=2")
        answers.add(answer)
        assert os.path.ismount(bed.wsfs.path) == (answer is None)
        if answer is None:
            bed.wsfs.umount()

    count = every_allocation(nth, attempt_one)
    print(f"mount: {count} allocations, answers {answers}")
    assert count > 10
    assert answers == {None, "ENOMEM"}
    bed.wsfs.mount(2)
    assert bed.wsfs.geometry().streams == 2


def test_mounting_a_device(bed, nth):
    """The same where the XFS is mounted too; XFS tells of some as EIO or EINVAL."""
    bed.make(agcount=8, streams=2)
    bed.umount()
    answers = set()

    def attempt_one(failing):
        with failing:
            answer = attempt(libc.mount, bed.disk, bed.wsfs.path, "wsfs", 0, "streams=2")
        answers.add(answer)
        assert os.path.ismount(bed.wsfs.path) == (answer is None)
        if answer is None:
            bed.wsfs.umount()

    count = every_allocation(nth, attempt_one)
    print(f"mount: {count} allocations, answers {answers}")
    assert None in answers and "ENOMEM" in answers
    # Whatever failed, the device is free again.
    os.close(os.open(bed.disk, os.O_RDONLY | os.O_EXCL))
    bed.mount()
