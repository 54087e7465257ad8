# SPDX-License-Identifier: GPL-2.0
"""open(2): every flag, on what is there and what is not, as on plain XFS."""

import fcntl
import itertools
import os
import shutil
import subprocess

import pytest

from lib import ioctls
from lib.compare import attempt, status_of, tree

ACCESS = ["O_RDONLY", "O_WRONLY", "O_RDWR"]
EXTRA = [
    "O_APPEND", "O_TRUNC", "O_EXCL", "O_DIRECT", "O_DIRECTORY", "O_DSYNC",
    "O_NOATIME", "O_NOFOLLOW", "O_NONBLOCK", "O_PATH", "O_SYNC", "O_LARGEFILE",
]  # fmt: skip


def prepare(d):
    """One of each kind; returns their names."""
    with open(f"{d}/file", "wb") as f:
        f.write(b"some bytes")
    os.mkdir(f"{d}/directory")
    os.symlink("file", f"{d}/link")
    os.symlink("nowhere", f"{d}/dangling")
    os.symlink("loop", f"{d}/loop")
    os.mknod(f"{d}/fifo", 0o010644)
    os.link(f"{d}/file", f"{d}/second")
    return [
        "file", "directory", "link", "dangling", "loop", "fifo", "second",
        "missing", "missing/x", "file/x", "directory/x", "directory/", "file/",
        "n" * 255, "n" * 256,
    ]  # fmt: skip


def try_open(d, name, flags):
    """The outcome of an open and of a read and a write on it."""
    if name == "fifo":
        flags |= os.O_NONBLOCK
    fd = attempt(os.open, f"{d}/{name}", flags | os.O_CLOEXEC, 0o640)
    if not isinstance(fd, int):
        return fd
    try:
        answer = [fcntl.fcntl(fd, fcntl.F_GETFL), status_of(fd)]
        if name != "fifo":
            answer.append(attempt(os.read, fd, 4))
            answer.append(attempt(os.write, fd, b"w"))
            answer.append(attempt(os.lseek, fd, 0, os.SEEK_CUR))
        return answer
    finally:
        os.close(fd)


@pytest.mark.parametrize("access", ACCESS)
@pytest.mark.parametrize("create", [0, os.O_CREAT], ids=["", "O_CREAT"])
def test_flags(same, access, create):
    def scenario(d):
        answers = {}
        for extra in [""] + EXTRA:
            inner = f"{d}/{extra or 'none'}"
            os.mkdir(inner)
            names = prepare(inner)
            flags = getattr(os, access) | create | (getattr(os, extra) if extra else 0)
            for name in names:
                answers[extra, name] = try_open(inner, name, flags)
            answers[extra, "tree"] = tree(inner)
        return answers

    answers = same(scenario)
    assert any(isinstance(answer, list) for answer in answers.values())
    assert "ENOENT" in answers.values() or create


@pytest.mark.quick
def test_pairs_of_flags(same):
    """Two flags together, on an existing and on a new file."""

    def scenario(d):
        answers = {}
        for i, (a, b) in enumerate(itertools.combinations(EXTRA, 2)):
            with open(f"{d}/old-{i}", "wb") as f:
                f.write(b"some bytes")
            flags = getattr(os, a) | getattr(os, b) | os.O_RDWR
            answers[a, b, "old"] = try_open(d, f"old-{i}", flags)
            answers[a, b, "new"] = try_open(d, f"new-{i}", flags | os.O_CREAT)
        answers["tree"] = tree(d)
        return answers

    same(scenario)


def test_create_mode_and_umask(same):
    def scenario(d):
        answers = []
        for mask, mode in itertools.product((0, 0o022, 0o777), (0, 0o666, 0o7777)):
            old = os.umask(mask)
            try:
                path = f"{d}/{mask:o}-{mode:o}"
                fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, mode)
                os.write(fd, b"even if the mode does not allow it")
                os.close(fd)
            finally:
                os.umask(old)
            answers.append(status_of(path))
        return answers

    same(scenario)


def test_set_flags_later(same):
    """F_SETFL: O_APPEND, O_DIRECT, O_NOATIME on an open file."""

    def scenario(d):
        fd = os.open(f"{d}/f", os.O_RDWR | os.O_CREAT)
        answers = []
        try:
            for flag in (os.O_APPEND, os.O_DIRECT, os.O_NOATIME, os.O_NONBLOCK, 0):
                answers.append(attempt(fcntl.fcntl, fd, fcntl.F_SETFL, flag))
                answers.append(fcntl.fcntl(fd, fcntl.F_GETFL))
                answers.append(attempt(os.pwrite, fd, b"odd", 1))
                answers.append(os.fstat(fd).st_size)
        finally:
            os.close(fd)
        return answers

    answers = same(scenario)
    assert "EINVAL" in answers, "a direct write of three bytes was let through"


def test_truncate_on_open_by_flags(same):
    def scenario(d):
        sizes = []
        for access in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR):
            with open(f"{d}/f", "wb") as f:
                f.write(b"x" * 10000)
            os.close(os.open(f"{d}/f", access | os.O_TRUNC))
            sizes.append(os.path.getsize(f"{d}/f"))
        return sizes

    assert same(scenario) == [0, 0, 0]


def test_write_to_a_running_program(same):
    """ETXTBSY both ways."""
    def scenario(d):
        shutil.copy("/bin/sleep", f"{d}/sleep")
        os.chmod(f"{d}/sleep", 0o755)
        program = subprocess.Popen([f"{d}/sleep", "60"])
        try:
            busy = attempt(os.open, f"{d}/sleep", os.O_WRONLY)
            cut = attempt(os.truncate, f"{d}/sleep", 0)
        finally:
            program.kill()
            program.wait()
        fd = os.open(f"{d}/sleep", os.O_WRONLY)
        try:
            run = attempt(lambda: subprocess.run([f"{d}/sleep", "0"]).returncode)
        finally:
            os.close(fd)
        return busy, cut, run, subprocess.run([f"{d}/sleep", "0"]).returncode

    assert same(scenario) == ("ETXTBSY", "ETXTBSY", "ETXTBSY", 0)


@pytest.mark.parametrize("first, then", [(os.O_APPEND, 0), (0, os.O_APPEND)])
def test_set_flags_later_and_move_data(same, first, then):
    """O_APPEND as F_SETFL left it, for splice, sendfile, copies and clones."""

    def scenario(d):
        for name, content in (("f", b"f" * 8192), ("g", b"g" * 8192)):
            with open(f"{d}/{name}", "wb") as f:
                f.write(content)
        fd = os.open(f"{d}/f", os.O_RDWR | first)
        source = os.open(f"{d}/g", os.O_RDONLY)
        reader, writer = os.pipe()
        try:
            fcntl.fcntl(fd, fcntl.F_SETFL, then)
            os.write(writer, b"piped")
            answers = [attempt(os.splice, reader, fd, 5, offset_dst=100)]
            os.lseek(fd, 300, os.SEEK_SET)
            answers += [
                attempt(os.sendfile, fd, source, 0, 10),
                attempt(os.copy_file_range, source, fd, 10, 0, 700),
                attempt(ioctls.clone_range, fd, source, 0, 4096, 4096),
            ]
        finally:
            for each in (fd, source, reader, writer):
                os.close(each)
        with open(f"{d}/f", "rb") as f:
            return answers, f.read()

    same(scenario)
