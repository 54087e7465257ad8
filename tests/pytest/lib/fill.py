# SPDX-License-Identifier: GPL-2.0
"""Fill an AG by hand, on the XFS seen directly."""

import os

from lib import libc
from lib.placement import agnos
from lib.shell import run

_MIB = 1 << 20
_SMALLEST = 4096


def directory_in(xfs, agno):
    """A new directory in AG @agno: mkdir rotates over the AGs."""
    layout = xfs.layout()
    top = os.path.join(xfs.path, "fill")
    os.makedirs(top, exist_ok=True)
    for i in range(8 * layout.agcount):
        path = os.path.join(top, f"{agno}-{i}")
        os.mkdir(path)
        if layout.ag_of_inode(os.stat(path).st_ino) == agno:
            return path
        os.rmdir(path)
    raise AssertionError(f"no directory came to AG {agno}")


def fill_ag(xfs, agno, leave=0):
    """Preallocate all but about @leave bytes of AG @agno; returns the bytes."""
    layout = xfs.layout()
    path = os.path.join(directory_in(xfs, agno), "ballast")
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC)
    try:
        size, step = 0, 4 * _MIB
        while step >= _SMALLEST:
            try:
                libc.fallocate(fd, 0, size, step)
                inside = set(agnos(layout, fd)) == {agno}
            except OSError:
                inside = False
            if inside:
                size += step
            else:
                os.ftruncate(fd, size)
                step //= 2
        assert size, f"nothing fitted into AG {agno}"
        if leave:
            size -= leave
            os.ftruncate(fd, size)
        os.fsync(fd)
        return size
    finally:
        os.close(fd)


def empty_again(xfs):
    """Free what fill_ag() has taken."""
    for top, _, names in os.walk(os.path.join(xfs.path, "fill")):
        for name in names:
            os.unlink(os.path.join(top, name))
    # XFS frees what is unlinked later, when it likes; before it freezes at last.
    run("xfs_freeze", "-f", xfs.path)
    run("xfs_freeze", "-u", xfs.path)
