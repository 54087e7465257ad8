# SPDX-License-Identifier: GPL-2.0
"""rename(2) and renameat2(2) with each flag, as on plain XFS."""

import itertools
import os
import stat

import pytest

from lib import libc
from lib.compare import attempt, status_of, tree

FLAGS = {
    "none": 0,
    "noreplace": libc.RENAME_NOREPLACE,
    "exchange": libc.RENAME_EXCHANGE,
    "whiteout": libc.RENAME_WHITEOUT,
    "whiteout-noreplace": libc.RENAME_WHITEOUT | libc.RENAME_NOREPLACE,
    "whiteout-exchange": libc.RENAME_WHITEOUT | libc.RENAME_EXCHANGE,
    "noreplace-exchange": libc.RENAME_NOREPLACE | libc.RENAME_EXCHANGE,
    "unknown": 1 << 20,
}
KINDS = ["file", "other", "empty", "full", "symlink", "fifo", "linked", "missing"]


def prepare(d):
    os.mkdir(d)
    for name in ("file", "other"):
        with open(f"{d}/{name}", "w") as f:
            f.write(name)
    os.mkdir(f"{d}/empty")
    os.makedirs(f"{d}/full/inner")
    os.symlink("file", f"{d}/symlink")
    os.mkfifo(f"{d}/fifo")
    os.link(f"{d}/file", f"{d}/linked")


@pytest.mark.parametrize("flags", FLAGS)
def test_each_over_each(same, flags):
    valid = flags in ("none", "noreplace", "exchange", "whiteout")
    kinds = KINDS if valid else ["file", "empty", "missing"]

    def scenario(d):
        answers = {}
        for old, new in itertools.product(kinds, kinds + ["full/inner/below"]):
            inner = f"{d}/{old}-{new.replace('/', '-')}"
            prepare(inner)
            answers[old, new] = attempt(
                libc.renameat2, f"{inner}/{old}", f"{inner}/{new}", FLAGS[flags]
            )
        return answers, tree(d)

    answers, _ = same(scenario)
    if valid:
        assert None in answers.values()
    else:
        assert None not in answers.values() or flags == "whiteout-noreplace"


@pytest.mark.quick
def test_replace_open_file(same):
    """Both files go on working for those who have them open."""

    def scenario(d):
        old = os.open(f"{d}/old", os.O_CREAT | os.O_RDWR)
        new = os.open(f"{d}/new", os.O_CREAT | os.O_RDWR)
        try:
            os.write(old, b"old")
            os.write(new, b"new")
            os.rename(f"{d}/old", f"{d}/new")
            os.write(old, b"+")
            os.write(new, b"-")
            with open(f"{d}/new", "rb") as f:
                data = f.read()
            return data, os.pread(new, 9, 0), status_of(old), status_of(new)
        finally:
            os.close(old)
            os.close(new)

    data, hidden, _, _ = same(scenario)
    assert (data, hidden) == (b"old+", b"new-")


def test_across_directories(same):
    def scenario(d):
        os.makedirs(f"{d}/a/b/c")
        os.makedirs(f"{d}/x/y")
        with open(f"{d}/a/b/c/f", "w") as f:
            f.write("content")
        answers = [
            attempt(os.rename, f"{d}/a/b", f"{d}/a/b/c/d"),
            attempt(os.rename, f"{d}/a/b/c", f"{d}/a"),
            attempt(os.rename, f"{d}/a/b", f"{d}/x/y/z"),
            attempt(os.rename, f"{d}/x/y/z/c/f", f"{d}/f"),
            attempt(os.rename, f"{d}/f", f"{d}/x/"),
            attempt(os.rename, f"{d}/.", f"{d}/q"),
            attempt(os.rename, f"{d}/x/..", f"{d}/q"),
            attempt(libc.renameat2, f"{d}/x", f"{d}/f", libc.RENAME_EXCHANGE),
        ]
        return answers, tree(d)

    same(scenario)


def test_dotdot_follows(same):
    """.. of a moved directory is its new parent."""

    def scenario(d):
        os.makedirs(f"{d}/a/moved")
        os.mkdir(f"{d}/b")
        os.rename(f"{d}/a/moved", f"{d}/b/moved")
        return (
            os.path.samefile(f"{d}/b/moved/..", f"{d}/b"),
            os.stat(f"{d}/a").st_nlink,
            os.stat(f"{d}/b").st_nlink,
        )

    assert same(scenario) == (True, 2, 3)


def test_whiteout(same):
    def scenario(d):
        with open(f"{d}/old", "w") as f:
            f.write("content")
        libc.renameat2(f"{d}/old", f"{d}/new", libc.RENAME_WHITEOUT)
        left = os.lstat(f"{d}/old")
        return stat.S_ISCHR(left.st_mode), left.st_rdev, tree(d)

    is_device, rdev, _ = same(scenario)
    assert is_device and rdev == 0


def test_of_a_link_to_itself(same):
    """Renaming one link over another of the same file does nothing."""

    def scenario(d):
        with open(f"{d}/a", "w") as f:
            f.write("content")
        os.link(f"{d}/a", f"{d}/b")
        return attempt(os.rename, f"{d}/a", f"{d}/b"), tree(d)

    assert len(same(scenario)[1]) == 2


def test_to_another_filesystem(same):
    def scenario(d):
        with open(f"{d}/f", "w") as f:
            f.write("content")
        return (
            attempt(os.rename, f"{d}/f", "/dev/shm/f"),
            attempt(os.link, f"{d}/f", "/dev/shm/f"),
            attempt(os.rename, "/proc/self/status", f"{d}/g"),
        )

    assert same(scenario) == ("EXDEV", "EXDEV", "EXDEV")


def test_ctime_and_parents_mtime(same):
    """What XFS touches is touched, and nothing else."""

    def scenario(d):
        for name in ("from", "to"):
            os.mkdir(f"{d}/{name}")
        with open(f"{d}/from/f", "w") as f:
            f.write("content")
        paths = ["from", "to", "."]
        for path in paths + ["from/f"]:
            os.utime(f"{d}/{path}", (1, 1))
        os.rename(f"{d}/from/f", f"{d}/to/f")
        return [os.stat(f"{d}/{p}").st_mtime == 1 for p in paths + ["to/f"]]

    assert same(scenario) == [False, False, True, True]


def test_cwd_and_proc_follow(same):
    def scenario(d):
        os.makedirs(f"{d}/a/b")
        fd = os.open(f"{d}/a/b", os.O_RDONLY)
        try:
            os.rename(f"{d}/a", f"{d}/z")
            return os.readlink(f"/proc/self/fd/{fd}")[len(d) :]
        finally:
            os.close(fd)

    assert same(scenario) == "/z/b"
