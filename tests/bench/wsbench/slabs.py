# SPDX-License-Identifier: GPL-2.0
"""Kernel memory by slab cache."""

import fcntl
import mmap
import os

from .errors import NotMeasured

_FIFREEZE = 0xC0045877
_FITHAW = 0xC0045878
_TRIES = 5


def parse(text):
    """/proc/slabinfo: name → bytes of its slabs."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if line.startswith("#") or "slabdata" not in words:
            continue
        slabs = int(words[words.index("slabdata") + 2])
        found[words[0]] = slabs * int(words[5]) * mmap.PAGESIZE
    return found


def read():
    """As parse() has it."""
    with open("/proc/slabinfo", encoding="ascii") as file:
        return parse(file.read())


def grown(before, after):
    """Bytes that all caches together have grown by."""
    return sum(after.values()) - sum(before.values())


def drop(what):
    """1: pages, 2: names and inodes, 3: both."""
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write(str(what))


def forget_inodes(xfs):
    """Nothing of the XFS mounted at @xfs stays in memory that needs not. XFS keeps
    inodes whose changes are in the log alone: freezing it writes them."""
    fd = os.open(xfs, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for _ in range(_TRIES):
            before = xfs_inodes()
            os.sync()
            fcntl.ioctl(fd, _FIFREEZE, 0)
            fcntl.ioctl(fd, _FITHAW, 0)
            drop(3)
            if xfs_inodes()["reclaims"] == before["reclaims"]:
                break
    finally:
        os.close(fd)


def parse_xfs_inodes(text):
    """/proc/fs/xfs/stat: how many inodes have been read into memory ("missed"), and
    how many freed ("reclaims"); modulo 2^32."""
    for line in text.splitlines():
        words = line.split()
        if words[0] == "ig":
            return {"missed": int(words[4]), "reclaims": int(words[6])}
    raise NotMeasured("/proc/fs/xfs/stat tells nothing of inodes")


def xfs_inodes():
    """As parse_xfs_inodes() has it."""
    with open("/proc/fs/xfs/stat", encoding="ascii") as file:
        return parse_xfs_inodes(file.read())
