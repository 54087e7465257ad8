# SPDX-License-Identifier: GPL-2.0
"""File handles, as on plain XFS."""

import os

import pytest

from lib import handles, libc
from lib.compare import attempt, status_of
from lib.handles import AT_HANDLE_CONNECTABLE, AT_HANDLE_FID, Handle


def make(d):
    with open(f"{d}/file", "w") as f:
        f.write("content")
    os.link(f"{d}/file", f"{d}/second")
    os.makedirs(f"{d}/a/b/c")
    with open(f"{d}/a/b/c/deep", "w") as f:
        f.write("deep content")
    os.symlink("file", f"{d}/link")
    os.mkfifo(f"{d}/fifo")
    return ["file", "second", "a", "a/b/c", "a/b/c/deep", "link", "fifo"]


@pytest.mark.quick
def test_of_each_kind(same):
    """Made and opened again: cached, forgotten, gone."""

    def scenario(d):
        names = make(d)
        answers = []
        kept = {}
        for name in names:
            for flags in (0, AT_HANDLE_FID, AT_HANDLE_CONNECTABLE):
                handle = attempt(handles.of, f"{d}/{name}", flags)
                answers.append(
                    (handle.type, len(handle.data)) if isinstance(handle, Handle) else handle
                )
                if flags != AT_HANDLE_FID and isinstance(handle, Handle):
                    kept[name, flags] = handle
        for when in (lambda: None, handles.drop_caches):
            when()
            for (name, flags), handle in kept.items():
                fd = attempt(handles.open_handle, d, handle, os.O_PATH)
                answers.append((name, flags, status_of(fd) if fd_like(fd) else fd))
                if fd_like(fd):
                    assert os.fstat(fd).st_ino == os.lstat(f"{d}/{name}").st_ino
                    os.close(fd)
                answers.append(read_by(d, handle))
        handle = kept["file", 0]
        os.unlink(f"{d}/file")
        answers.append(read_by(d, handle))
        os.unlink(f"{d}/second")
        answers.append(read_by(d, handle))
        return answers

    answers = same(scenario)
    assert "ESTALE" in answers
    assert "content" in answers


def fd_like(answer):
    return isinstance(answer, int) and not isinstance(answer, bool)


def read_by(d, handle):
    """What is read by the handle; a directory's names."""
    fd = attempt(handles.open_handle, d, handle, os.O_RDONLY | os.O_NONBLOCK)
    if not fd_like(fd):
        return fd
    try:
        answer = attempt(os.read, fd, 100)
        if answer == "EISDIR":
            return sorted(os.listdir(fd))
        return answer.decode() if isinstance(answer, bytes) else answer
    finally:
        os.close(fd)


def test_all_that_a_file_opened_so_can_do(same):
    def scenario(d):
        make(d)
        handle = handles.of(f"{d}/a/b/c/deep")
        answers = []
        handles.drop_caches()
        fd = handles.open_handle(d, handle, os.O_RDWR)
        try:
            os.pwrite(fd, b"DEEP", 0)
            os.setxattr(fd, "user.a", b"b")
            os.fchmod(fd, 0o600)
            answers += [status_of(fd), os.listxattr(fd), os.fsync(fd)]
            os.close(os.open(f"/proc/self/fd/{fd}", os.O_RDONLY))
            answers.append(attempt(libc.linkat_fd, fd, f"{d}/linked"))
            with open(f"{d}/a/b/c/deep") as f:
                answers.append(f.read())
            answers.append(status_of(f"{d}/a/b/c/deep"))
            os.unlink(f"{d}/a/b/c/deep")
            answers.append(os.pread(fd, 100, 0))
        finally:
            os.close(fd)
        return answers

    same(scenario)


def test_directory_opened_so(same):
    """Names can be made and looked up in it, and it knows its parent."""

    def scenario(d):
        make(d)
        handle = handles.of(f"{d}/a/b")
        handles.drop_caches()
        fd = handles.open_handle(d, handle, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.mkdir("made", dir_fd=fd)
            answers = [sorted(os.listdir(fd)), os.path.isdir(f"{d}/a/b/made")]
            answers.append(sorted(os.listdir(f"/proc/self/fd/{fd}/..")))
            answers.append(os.readlink(f"/proc/self/fd/{fd}")[-4:])
            os.rename("made", "renamed", src_dir_fd=fd, dst_dir_fd=fd)
            os.rmdir(f"{d}/a/b/renamed")
            answers.append(sorted(os.listdir(fd)))
        finally:
            os.close(fd)
        return answers

    same(scenario)


def test_bad_handles(same):
    def scenario(d):
        make(d)
        good = handles.of(f"{d}/file")
        bad = [
            Handle(good.type, bytes(len(good.data))),
            Handle(good.type, b"\xff" * len(good.data)),
            Handle(good.type, good.data[:4]),
            Handle(good.type, good.data + b"\0" * 8),
            Handle(77, good.data),
            Handle(-1, good.data),
            Handle(good.type, good.data[:8] + b"\x12\x34\x56\x78"),
        ]
        return [read_by(d, handle) for handle in bad]

    answers = same(scenario)
    assert "ESTALE" in answers


def test_without_privilege(same):
    def scenario(d):
        make(d)
        os.chmod(d, 0o777)
        handle = handles.of(f"{d}/file")
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.setresuid(1000, 1000, 1000)
            os.write(writer, repr([attempt(handles.open_handle, d, handle)]).encode())
            os._exit(0)
        os.waitpid(pid, 0)
        answer = os.read(reader, 1000)
        os.close(reader)
        os.close(writer)
        return answer

    assert same(scenario) == b"['EPERM']"
