# SPDX-License-Identifier: GPL-2.0
"""Files whose maps look different."""

import os

from lib.shell import run

MIB = 1 << 20


def xfs_io(path, *commands):
    words = [word for command in commands for word in ("-c", command)]
    run("xfs_io", "-f", *words, path)


def plain(path):
    xfs_io(path, "pwrite -q 0 1m")


def empty(path):
    open(path, "wb").close()


def hole(path):
    empty(path)
    os.truncate(path, 10 * MIB)


def sparse(path):
    xfs_io(path, "pwrite -q 64k 4k", "pwrite -q 1m 8k", "truncate 5m")


def odd_size(path):
    xfs_io(path, "pwrite -q 0 5000")


def unwritten(path):
    xfs_io(path, "falloc 0 1m", "pwrite -q 256k 64k", "fsync")


def behind_the_end(path):
    xfs_io(path, "pwrite -q 0 8k", "falloc -k 0 2m")


def extent_size(path):
    xfs_io(path, "extsize 1m", "pwrite -q 0 4k")


def inline(path):
    """Nothing but attributes, in the inode."""
    empty(path)
    os.setxattr(path, "user.small", b"x" * 32)


def shared(path):
    xfs_io(path, "pwrite -q 0 1m", "fsync")
    run("cp", "--reflink=always", path, f"{path}.clone")
    xfs_io(f"{path}.clone", "pwrite -q 128k 64k")


def punched(path):
    xfs_io(path, "pwrite -q 0 4m", "fsync", *[f"fpunch {8 * i + 4}k 4k" for i in range(512)])


KINDS = [
    plain,
    empty,
    hole,
    sparse,
    odd_size,
    unwritten,
    behind_the_end,
    extent_size,
    inline,
    shared,
    punched,
]
