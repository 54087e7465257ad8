# SPDX-License-Identifier: GPL-2.0
"""Each allocation of each operation fails once: the error comes back as one, the
file is as it was or as it should be, nothing is left over, and the next try works."""

import ctypes
import os

import pytest

from lib import faults, ioctls, libc
from lib.compare import attempt
from lib.pattern import pattern

MOST = 2000  # allocations of one operation
BLOCK = 4096
DATA = pattern(7, 0, 5 * BLOCK + 100)
_mount = ctypes.CDLL(None, use_errno=True).mount


@pytest.fixture
def nth():
    if why := faults.missing():
        pytest.skip(why)
    faults.prepare()
    nth = faults.Nth()
    yield nth
    nth.close()


class Try:
    """One try of an operation on a file of its own, "f", that holds DATA or is empty."""

    def __init__(self, bed, stream, empty):
        self.bed, self.stream = bed, stream
        self.path = bed.at("f")
        self.want = b"" if empty else DATA
        self.fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o640)
        os.write(self.fd, self.want)
        os.setxattr(self.fd, "user.a", b"kept")
        self.made = []

    def check(self, bytes_too=True):
        """The file is there under its name, and is what it was."""
        assert os.path.samestat(os.fstat(self.fd), os.stat(self.path))
        assert os.fstat(self.fd).st_mode & 0o777 == 0o640
        assert os.getxattr(self.path, "user.a") == b"kept"
        if bytes_too:
            with open(self.path, "rb") as f:
                assert f.read() == self.want
            assert os.pread(self.fd, len(DATA) * 2, 0) == self.want

    def done(self):
        os.close(self.fd)
        for fd in self.made:
            os.close(fd)
        for name in os.listdir(self.bed.path):
            if name not in (".wsfs", "kept"):
                path = self.bed.at(name)
                (os.rmdir if os.path.isdir(path) else os.unlink)(path)


def new_name(it):
    return it.bed.at("new")


def op_set(it):
    ioctls.set_stream(it.fd, it.stream.fd)


def op_clear(it):
    ioctls.clear_stream(it.fd)


def op_alloc(it):
    it.made.append(ioctls.alloc(it.fd))


def op_append(it):
    done = os.pwrite(it.fd, DATA, len(it.want))
    it.want += DATA[:done]


def op_fsync(it):
    os.fsync(it.fd)


def op_read(it):
    assert it.want.startswith(os.pread(it.fd, 2 * BLOCK, 0))


def op_open(it):
    it.made.append(os.open(it.path, os.O_RDWR | os.O_CLOEXEC))


def op_create(it):
    it.made.append(os.open(new_name(it), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC))


def op_tmpfile(it):
    it.made.append(os.open(it.bed.path, os.O_RDWR | os.O_TMPFILE | os.O_CLOEXEC, 0o600))


def op_mkdir(it):
    os.mkdir(new_name(it))


def op_symlink(it):
    os.symlink("somewhere", new_name(it))


def op_link(it):
    os.link(it.path, new_name(it))


def op_rename(it):
    os.rename(it.path, new_name(it))
    os.rename(new_name(it), it.path)


def op_list(it):
    assert "f" in os.listdir(it.bed.path)


def op_setxattr(it):
    os.setxattr(it.fd, "user.b", b"b" * 3000)


def op_fallocate(it):
    libc.fallocate(it.fd, libc.FALLOC_KEEP_SIZE, 8 * BLOCK, 8 * BLOCK)


def op_truncate(it):
    os.ftruncate(it.fd, len(it.want) // 2)
    it.want = it.want[: len(it.want) // 2]


def op_info(it):
    ioctls.FileInfo.of(it.fd)


def op_fdinfo(it):
    it.stream.info()


OPERATIONS = {name[3:]: value for name, value in list(globals().items()) if name.startswith("op_")}


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
        it = Try(bed, stream, empty)
        if state == "set":
            op_set(it)
        with failing:
            answer = attempt(OPERATIONS[operation], it)
        answers.add(answer)
        it.check(bytes_too=operation != "truncate" or answer is None)
        # The next try works, whatever this one left.
        if operation in ("set", "clear", "append", "fsync", "fallocate"):
            OPERATIONS[operation](it)
            it.check()
        it.done()
        assert os.listdir(bed.path) in ([], [".wsfs"]), "left behind"

    count = every_allocation(nth, attempt_one)
    print(f"{operation}: {count} allocations, answers {answers}")
    assert answers <= {None, "ENOMEM"}, answers
    # Nothing of it counts as reserved.
    others = [bed.alloc() for _ in range(1)]
    assert len({other.id for other in others} | {stream.id}) == 2


def test_mounting(bed, nth):
    """Each allocation of a mount fails: nothing is mounted, or all is well."""
    bed.make(agcount=8, streams=2)
    bed.umount()
    bed.xfs.mount()
    answers = set()

    def mount():
        if _mount(os.fsencode(bed.xfs.path), os.fsencode(bed.wsfs.path), b"wsfs", 0, b"streams=2"):
            raise OSError(ctypes.get_errno(), "mount")

    def attempt_one(failing):
        with failing:
            answer = attempt(mount)
        answers.add(answer)
        assert os.path.ismount(bed.wsfs.path) == (answer is None)
        if answer is None:
            bed.wsfs.umount()

    count = every_allocation(nth, attempt_one)
    print(f"mount: {count} allocations, answers {answers}")
    assert count > 10
    assert answers == {None, "ENOMEM"}
    bed.wsfs.mount(2)
