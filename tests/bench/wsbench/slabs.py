# SPDX-License-Identifier: GPL-2.0
"""Kernel memory by slab cache."""

import fcntl
import mmap
import os

_FIFREEZE = 0xC0045877
_FITHAW = 0xC0045878
_TRIES = 5


def parse(text):
    """/proc/slabinfo: name → (objects in use, bytes of its slabs)."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if line.startswith("#") or "slabdata" not in words:
            continue
        slabs = int(words[words.index("slabdata") + 2])
        found[words[0]] = (int(words[1]), slabs * int(words[5]) * mmap.PAGESIZE)
    return found


def read():
    """As parse() has it."""
    with open("/proc/slabinfo", encoding="ascii") as file:
        return parse(file.read())


def grown(before, after):
    """Bytes that all caches together, and each of them, have grown by."""
    each = {name: after[name][1] - before.get(name, (0, 0))[1] for name in after}
    return sum(each.values()), {name: size for name, size in each.items() if size}


def drop(what):
    """1: pages, 2: names and inodes, 3: both."""
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write(str(what))


def forget_inodes(xfs):
    """Nothing of the XFS mounted at @xfs stays in memory that needs not. XFS keeps
    inodes whose changes are in the log alone: freezing it writes them."""
    fd = os.open(xfs, os.O_RDONLY | os.O_DIRECTORY)
    try:
        left = None
        for _ in range(_TRIES):
            os.sync()
            fcntl.ioctl(fd, _FIFREEZE, 0)
            fcntl.ioctl(fd, _FITHAW, 0)
            drop(3)
            now = inodes(read())
            if left is not None and now >= left:
                break
            left = now
    finally:
        os.close(fd)


def inodes(slabs):
    """How many inodes XFS has in memory."""
    return slabs["xfs_inode"][0]
