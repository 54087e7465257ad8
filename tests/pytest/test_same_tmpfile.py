# SPDX-License-Identifier: GPL-2.0
"""O_TMPFILE and linkat, as on plain XFS."""

import os

import pytest

from lib import libc
from lib.compare import attempt, status_of, tree, xattrs_of


def tmpfile(d, flags=os.O_RDWR, mode=0o640):
    return os.open(d, os.O_TMPFILE | flags | os.O_CLOEXEC, mode)


@pytest.mark.quick
def test_write_then_link(same):
    def scenario(d):
        fd = tmpfile(d)
        try:
            os.write(fd, b"without a name")
            before = status_of(fd), os.listdir(d)
            libc.linkat_fd(fd, f"{d}/a")
            os.write(fd, b", then with one")
            libc.link_following(f"/proc/self/fd/{fd}", f"{d}/b")
            return before, status_of(fd), tree(d)
        finally:
            os.close(fd)

    before, after, found = same(scenario)
    assert before[1] == [] and before[0]["nlink"] == 0
    assert after["nlink"] == 2
    assert found["a"][2] == b"without a name, then with one"


def test_never_linked(same):
    def scenario(d):
        for i in range(20):
            fd = tmpfile(d)
            os.write(fd, b"x" * 100000)
            os.close(fd)
        return os.listdir(d)

    assert same(scenario) == []


def test_exclusive_cannot_be_linked(same):
    def scenario(d):
        fd = tmpfile(d, os.O_RDWR | os.O_EXCL)
        try:
            answer = attempt(libc.linkat_fd, fd, f"{d}/a")
            via_proc = attempt(libc.link_following, f"/proc/self/fd/{fd}", f"{d}/a")
            return answer, via_proc, os.listdir(d)
        finally:
            os.close(fd)

    assert same(scenario)[2] == []


def test_where_it_cannot_be(same):
    def scenario(d):
        os.close(os.open(f"{d}/f", os.O_CREAT | os.O_RDWR))
        return (
            attempt(tmpfile, f"{d}/f"),
            attempt(tmpfile, f"{d}/none"),
            attempt(tmpfile, d, os.O_RDONLY),
        )

    assert same(scenario) == ("ENOTDIR", "ENOENT", "EINVAL")


def test_link_over_existing(same):
    def scenario(d):
        os.close(os.open(f"{d}/f", os.O_CREAT | os.O_RDWR))
        fd = tmpfile(d)
        try:
            return attempt(libc.linkat_fd, fd, f"{d}/f"), tree(d)
        finally:
            os.close(fd)

    assert same(scenario)[0] == "EEXIST"


def test_attributes_before_the_name(same):
    def scenario(d):
        fd = tmpfile(d)
        try:
            os.fchmod(fd, 0o2755)
            os.fchown(fd, 1000, 1001)
            os.setxattr(fd, "user.early", b"value")
            os.ftruncate(fd, 1 << 20)
            libc.linkat_fd(fd, f"{d}/a")
            return status_of(f"{d}/a"), xattrs_of(f"{d}/a")
        finally:
            os.close(fd)

    same(scenario)


def test_unlinked_file_cannot_come_back(same):
    """Only a file made by O_TMPFILE may go from no link to one."""

    def scenario(d):
        fd = os.open(f"{d}/f", os.O_CREAT | os.O_RDWR)
        try:
            os.unlink(f"{d}/f")
            return attempt(libc.linkat_fd, fd, f"{d}/g"), os.listdir(d)
        finally:
            os.close(fd)

    assert same(scenario) == ("ENOENT", [])
