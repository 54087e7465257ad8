# SPDX-License-Identifier: GPL-2.0
"""Reading directories, also while they change and from remembered places."""

import os
import random
import threading

import pytest

from lib import libc
from lib.compare import attempt

COUNT = 5000


def populate(d, count):
    """@count names of three lengths, which XFS keeps in several forms."""
    names = [f"{i:05}" + "-" * (i % 3 * 40) for i in range(count)]
    fd = os.open(d, os.O_RDONLY)
    try:
        for name in names:
            os.mknod(name, 0o100644, dir_fd=fd)
    finally:
        os.close(fd)
    return names


@pytest.mark.quick
@pytest.mark.parametrize("count", [0, 1, 5, 50, 500])
def test_listing(same, count):
    """The same names of the same type, whatever the buffer's size."""

    def scenario(d):
        populate(d, count)
        answers = []
        for size in (300, 4096, 1 << 16):
            fd = os.open(d, os.O_RDONLY)
            try:
                entries = libc.read_dir(fd, size)
            finally:
                os.close(fd)
            assert len({name for name, _, _ in entries}) == len(entries)
            answers.append(sorted((name, kind) for name, _, kind in entries))
        return answers

    first = same(scenario)[0]
    assert len(first) == count + 2


def test_types_and_inode_numbers(same):
    def scenario(d):
        os.mkdir(f"{d}/dir")
        os.mkfifo(f"{d}/fifo")
        os.symlink("x", f"{d}/link")
        os.close(os.open(f"{d}/file", os.O_CREAT | os.O_RDWR))
        for entry in os.scandir(d):
            assert entry.inode() == entry.stat(follow_symlinks=False).st_ino
        with os.scandir(d) as entries:
            return sorted((e.name, e.is_dir(), e.is_symlink()) for e in entries)

    same(scenario)


def test_buffer_too_small(same):
    def scenario(d):
        os.mkdir(f"{d}/{'n' * 200}")
        fd = os.open(d, os.O_RDONLY)
        try:
            return attempt(libc.read_dir, fd, 64)
        finally:
            os.close(fd)

    assert same(scenario) == "EINVAL"


def test_seekdir_to_every_place(same):
    """From each remembered place the listing goes on as it did before."""

    def scenario(d):
        populate(d, 300)
        fd = os.open(d, os.O_RDONLY)
        try:
            entries = libc.read_dir(fd)
            names = [name for name, _, _ in entries]
            order = list(range(len(entries)))
            random.Random(7).shuffle(order)
            for i in order:
                os.lseek(fd, entries[i][1], os.SEEK_SET)
                after = [name for name, _, _ in libc.getdents(fd, 512)]
                assert after == names[i + 1 : i + 1 + len(after)]
                assert after or i == len(entries) - 1
            os.lseek(fd, 0, os.SEEK_SET)
            return [name for name, _, _ in libc.read_dir(fd)] == names
        finally:
            os.close(fd)

    assert same(scenario)


def test_rewind_sees_new_names(same):
    def scenario(d):
        populate(d, 10)
        fd = os.open(d, os.O_RDONLY)
        try:
            first = len(libc.read_dir(fd))
            os.mkdir(f"{d}/new")
            os.lseek(fd, 0, os.SEEK_SET)
            return first, len(libc.read_dir(fd))
        finally:
            os.close(fd)

    assert same(scenario) == (12, 13)


def test_bad_seeks(same):
    def scenario(d):
        fd = os.open(d, os.O_RDONLY)
        try:
            return (
                attempt(os.lseek, fd, -1, os.SEEK_SET),
                attempt(os.lseek, fd, 0, 99),
                attempt(os.read, fd, 1),
                attempt(os.write, fd, b"x"),
                attempt(os.ftruncate, fd, 0),
            )
        finally:
            os.close(fd)

    assert same(scenario)[0] == "EINVAL"


def read_while(d, change):
    """List @d over and over while @change runs in another thread; returns
    the listings."""
    listings, done = [], threading.Event()
    failures = []

    def work():
        try:
            change()
        except BaseException as failure:  # handed to the test's thread
            failures.append(failure)
        finally:
            done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set() or not listings:
        fd = os.open(d, os.O_RDONLY)
        try:
            listings.append([name for name, _, _ in libc.read_dir(fd, 1 << 15)])
        finally:
            os.close(fd)
    thread.join()
    if failures:
        raise failures[0]
    return listings


def test_5000_names_while_others_come_and_go(same):
    """What is there all the time is seen exactly once in each listing."""

    def scenario(d):
        names = set(populate(d, COUNT))

        def change():
            for i in range(300):
                os.mknod(f"{d}/extra-{i}", 0o100644)
                if i >= 10:
                    os.unlink(f"{d}/extra-{i - 10}")

        for listing in read_while(d, change):
            seen = [name for name in listing if name in names]
            assert len(seen) == len(set(seen)) == COUNT
            others = set(listing) - names - {".", ".."}
            assert all(name.startswith("extra-") for name in others)
        return len(os.listdir(d))

    assert same(scenario) == COUNT + 10


def test_names_removed_while_reading(same):
    """rm -r in small steps: read a batch, remove it, read on."""

    def scenario(d):
        populate(d, 1000)
        fd = os.open(d, os.O_RDONLY)
        removed = 0
        try:
            while batch := libc.getdents(fd, 1024):
                for name, _, _ in batch:
                    if name not in (".", ".."):
                        os.unlink(f"{d}/{name}")
                        removed += 1
        finally:
            os.close(fd)
        return removed, os.listdir(d)

    assert same(scenario) == (1000, [])


def test_two_readers(same):
    """Each open directory has its own place."""

    def scenario(d):
        populate(d, 200)
        a, b = os.open(d, os.O_RDONLY), os.open(d, os.O_RDONLY)
        try:
            seen_a, seen_b = [], []
            while True:
                more_a, more_b = libc.getdents(a, 400), libc.getdents(b, 900)
                seen_a += more_a
                seen_b += more_b
                if not more_a and not more_b:
                    return seen_a == seen_b, len(seen_a)
        finally:
            os.close(a)
            os.close(b)

    assert same(scenario) == (True, 202)
