# SPDX-License-Identifier: GPL-2.0
"""Direct writes of parts of blocks over extents: the answers of plain XFS,
whatever is on one side of the boundary."""

import ctypes
import errno
import mmap
import os

import pytest

from lib import libc, shred
from lib.compare import attempt
from lib.pattern import pattern
from lib.shred import BLOCK, buffer_of

SECTOR = 512
RWF_DSYNC, RWF_SYNC, RWF_NOWAIT, RWF_APPEND = 2, 4, 8, 16


def spoil_hole(fd):
    libc.fallocate(fd, libc.FALLOC_KEEP_SIZE | libc.FALLOC_PUNCH_HOLE, 8 * BLOCK, BLOCK)


def spoil_unwritten(fd):
    spoil_hole(fd)
    libc.fallocate(fd, libc.FALLOC_KEEP_SIZE, 8 * BLOCK, BLOCK)


def spoil_dirty(fd):
    os.pwrite(fd, b"dirty" * 100, 8 * BLOCK)


def spoil_cached(fd):
    os.pread(fd, 64 * BLOCK, 0)


@pytest.mark.parametrize(
    "spoil",
    [None, spoil_hole, spoil_unwritten, spoil_dirty, spoil_cached],
    ids=lambda spoil: spoil.__name__ if spoil else "written",
)
def test_same_answers(same, spoil):
    """Counts, positions and bytes, whatever is on one side of the boundary."""

    def scenario(directory):
        path = f"{directory}/f"
        with open(path, "wb+") as f:
            shred.make(f.fileno(), 16)
            if spoil:
                spoil(f.fileno())
        fd = os.open(path, os.O_RDWR | os.O_DIRECT)
        got = []
        for offset, length in [
            (8 * BLOCK - SECTOR, 2 * SECTOR),
            (9 * BLOCK - SECTOR, 2 * SECTOR),
            (7 * BLOCK + SECTOR, 2 * BLOCK),
            (16 * BLOCK - SECTOR, 2 * SECTOR),  # over the end of the file
            (15 * BLOCK - SECTOR, BLOCK + 2 * SECTOR),
            (8 * BLOCK - 100, 1024),  # not a sector's
        ]:
            os.lseek(fd, offset, os.SEEK_SET)
            data = buffer_of(pattern(offset % 97, offset, length))
            got.append(attempt(os.write, fd, data))
            got.append(os.lseek(fd, 0, os.SEEK_CUR))
        os.close(fd)
        with open(path, "rb") as f:
            return got, f.read()

    same(scenario)


@pytest.mark.parametrize("rwf", [0, RWF_DSYNC, RWF_SYNC, RWF_NOWAIT, RWF_APPEND])
def test_same_rwf_flags(same, rwf):
    """A vector of three over a boundary; NOWAIT answers EAGAIN there."""

    def scenario(directory):
        path = f"{directory}/f"
        with open(path, "wb+") as f:
            shred.make(f.fileno(), 16)
        fd = os.open(path, os.O_RDWR | os.O_DIRECT)
        parts = [buffer_of(pattern(5, i * 4096, SECTOR * (i + 1))) for i in range(3)]
        got = attempt(os.pwritev, fd, parts, 4 * BLOCK - 2 * SECTOR, rwf)
        size = os.fstat(fd).st_size
        os.close(fd)
        with open(path, "rb") as f:
            return got, size, f.read()

    got = same(scenario)[0]
    assert got == ("EAGAIN" if rwf == RWF_NOWAIT else 6 * SECTOR)


@pytest.mark.parametrize("good", [0, SECTOR, 2 * SECTOR])
def test_same_bad_buffer(same, good):
    """Memory that is not there, from the start, the boundary, or after it."""
    libc_write = ctypes.CDLL(None, use_errno=True).pwrite

    def scenario(directory):
        path = f"{directory}/f"
        with open(path, "wb+") as f:
            shred.make(f.fileno(), 16)
        fd = os.open(path, os.O_RDWR | os.O_DIRECT)
        area = mmap.mmap(-1, 2 * mmap.PAGESIZE)
        view = ctypes.c_char.from_buffer(area)
        start = ctypes.addressof(view) + mmap.PAGESIZE
        protect = ctypes.CDLL(None).mprotect
        protect(ctypes.c_void_p(start), ctypes.c_size_t(mmap.PAGESIZE), 0)
        got = libc_write(
            fd,
            ctypes.c_void_p(start - good),
            ctypes.c_size_t(4 * SECTOR),
            ctypes.c_longlong(4 * BLOCK - SECTOR),
        )
        error = errno.errorcode.get(ctypes.get_errno()) if got < 0 else None
        os.close(fd)
        return got, error

    assert same(scenario)[1] == "EFAULT"
