# SPDX-License-Identifier: GPL-2.0
"""Names: mkdir, mknod, symlink, link, unlink, rmdir, as on plain XFS."""

import os
import socket
import stat

import pytest

from lib import libc
from lib.compare import attempt, status_of, tree

KINDS = {
    "file": stat.S_IFREG | 0o644,
    "fifo": stat.S_IFIFO | 0o600,
    "socket": stat.S_IFSOCK | 0o755,
    "char": stat.S_IFCHR | 0o660,
    "block": stat.S_IFBLK | 0o660,
}


def make_each(d):
    """One of every kind of file; returns their paths."""
    for name, mode in KINDS.items():
        os.mknod(f"{d}/{name}", mode, os.makedev(1, 3))
    os.mkdir(f"{d}/directory")
    os.mkdir(f"{d}/full")
    os.mkdir(f"{d}/full/inner")
    os.symlink("file", f"{d}/symlink")
    os.symlink("nowhere", f"{d}/dangling")
    return [f"{d}/{name}" for name in sorted(os.listdir(d))]


@pytest.mark.quick
def test_make(same):
    def scenario(d):
        make_each(d)
        return tree(d)

    made = same(scenario)
    assert len(made) == 10


def test_make_over_existing(same):
    def scenario(d):
        answers = []
        for path in make_each(d) + [f"{d}/none/x", f"{d}/file/x", f"{d}/{'n' * 256}"]:
            answers.append(attempt(os.mkdir, path))
            answers.append(attempt(os.symlink, "target", path))
            answers.append(attempt(os.mknod, path, stat.S_IFREG | 0o600))
            answers.append(attempt(os.mknod, path, stat.S_IFIFO | 0o600))
            answers.append(attempt(os.link, f"{d}/file", path))
        return answers, tree(d)

    answers, _ = same(scenario)
    assert set(answers) >= {"EEXIST", "ENOENT", "ENOTDIR", "ENAMETOOLONG"}


def test_remove(same):
    def scenario(d):
        answers = []
        for path in make_each(d) + [f"{d}/none", f"{d}/file/x", f"{d}/.", f"{d}/full/.."]:
            answers.append((path[len(d) :], attempt(os.rmdir, path)))
            answers.append((path[len(d) :], attempt(os.unlink, path)))
        return answers, tree(d), os.stat(d).st_nlink

    same(scenario)


def test_link_each(same):
    def scenario(d):
        answers = []
        for path in make_each(d):
            answers.append(attempt(os.link, path, f"{path}-link"))
            answers.append(attempt(libc.link_following, path, f"{path}-follow"))
        return answers, tree(d)

    answers, _ = same(scenario)
    assert None in answers and "EPERM" in answers


@pytest.mark.quick
def test_hard_links(same):
    """Links are one file: written by one name, read by the other."""

    def scenario(d):
        with open(f"{d}/a", "wb") as f:
            f.write(b"first")
        os.mkdir(f"{d}/sub")
        os.link(f"{d}/a", f"{d}/sub/b")
        with open(f"{d}/sub/b", "ab") as f:
            f.write(b" second")
        one = os.path.samefile(f"{d}/a", f"{d}/sub/b")
        os.unlink(f"{d}/a")
        with open(f"{d}/sub/b", "rb") as f:
            return one, f.read(), tree(d)

    one, data, _ = same(scenario)
    assert one and data == b"first second"


def test_many_links(same):
    def scenario(d):
        os.mknod(f"{d}/f", stat.S_IFREG | 0o600)
        for i in range(300):
            os.link(f"{d}/f", f"{d}/l{i}")
        counts = [os.stat(f"{d}/l299").st_nlink]
        for i in range(0, 300, 2):
            os.unlink(f"{d}/l{i}")
        return counts + [os.stat(f"{d}/f").st_nlink]

    assert same(scenario) == [301, 151]


def test_symlinks(same):
    def scenario(d):
        answers = []
        for i, target in enumerate(["x", "a" * 59, "a" * 400, "a" * 1023, "a" * 1024, ""]):
            answers.append(attempt(os.symlink, target, f"{d}/s{i}"))
            answers.append(attempt(os.readlink, f"{d}/s{i}"))
            answers.append(attempt(lambda i=i: os.lstat(f"{d}/s{i}").st_size))
        os.mkdir(f"{d}/dir")
        os.symlink("dir", f"{d}/to-dir")
        with open(f"{d}/to-dir/f", "w") as f:
            f.write("through the link")
        os.symlink(f"{d}/to-dir/f", f"{d}/absolute")
        with open(f"{d}/absolute") as f:
            answers.append(f.read())
        answers.append(attempt(os.unlink, f"{d}/to-dir/"))
        answers.append(attempt(os.rmdir, f"{d}/to-dir"))
        return answers

    assert "through the link" in same(scenario)


def test_unlinked_while_open(same):
    def scenario(d):
        fd = os.open(f"{d}/f", os.O_CREAT | os.O_RDWR)
        try:
            os.write(fd, b"still here")
            os.unlink(f"{d}/f")
            os.write(fd, b" and more")
            return os.pread(fd, 99, 0), status_of(fd), os.listdir(d)
        finally:
            os.close(fd)

    data, status, names = same(scenario)
    assert (data, status["nlink"], names) == (b"still here and more", 0, [])


def test_removed_directory_while_open(same):
    def scenario(d):
        os.mkdir(f"{d}/gone")
        fd = os.open(f"{d}/gone", os.O_RDONLY)
        try:
            os.rmdir(f"{d}/gone")
            return (
                attempt(os.listdir, fd),
                attempt(os.mkdir, "x", dir_fd=fd),
                attempt(os.open, "x", os.O_CREAT | os.O_WRONLY, dir_fd=fd),
                os.fstat(fd).st_nlink,
            )
        finally:
            os.close(fd)

    assert same(scenario)[1] == "ENOENT"


def test_socket_file(same):
    """A bound socket can be connected to through its name."""

    def scenario(d):
        here = os.getcwd()
        os.chdir(d)  # sun_path is short
        try:
            with socket.socket(socket.AF_UNIX) as server:
                server.bind("s")
                server.listen()
                with socket.socket(socket.AF_UNIX) as client:
                    client.connect("s")
                    peer, _ = server.accept()
                    with peer:
                        client.sendall(b"hello")
                        return peer.recv(5), status_of("s")
        finally:
            os.chdir(here)

    assert same(scenario)[0] == b"hello"


def test_fifo(same):
    def scenario(d):
        os.mkfifo(f"{d}/f")
        reader = os.open(f"{d}/f", os.O_RDONLY | os.O_NONBLOCK)
        writer = os.open(f"{d}/f", os.O_WRONLY)
        try:
            os.write(writer, b"through the fifo")
            return os.read(reader, 99), status_of(f"{d}/f")
        finally:
            os.close(reader)
            os.close(writer)

    assert same(scenario)[0] == b"through the fifo"


def test_device_node(same):
    """/dev/null by another name."""

    def scenario(d):
        os.mknod(f"{d}/null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        with open(f"{d}/null", "r+b", buffering=0) as f:
            return f.write(b"swallowed"), f.read(), status_of(f"{d}/null")

    assert same(scenario)[:2] == (9, b"")


def test_names_of_every_byte(same):
    def scenario(d):
        for i in range(1, 256):
            if chr(i) not in "/.":
                os.mkdir(os.fsencode(d) + b"/" + bytes([i]))
        return sorted(os.listdir(os.fsencode(d)))

    assert len(same(scenario)) == 253


def test_directory_link_counts(same):
    def scenario(d):
        counts = [os.stat(d).st_nlink]
        for i in range(5):
            os.mkdir(f"{d}/{i}")
            counts.append(os.stat(d).st_nlink)
        os.rename(f"{d}/0", f"{d}/1/inside")
        counts += [os.stat(d).st_nlink, os.stat(f"{d}/1").st_nlink]
        os.rmdir(f"{d}/2")
        return counts + [os.stat(d).st_nlink]

    assert same(scenario) == [2, 3, 4, 5, 6, 7, 6, 3, 5]


def test_names_in_dot_wsfs_style(same):
    """Only the root's .wsfs is wsfs's own: elsewhere it is a name like others."""

    def scenario(d):
        os.mkdir(f"{d}/.wsfs")
        with open(f"{d}/.wsfs/f", "w") as f:
            f.write("mine")
        os.rename(f"{d}/.wsfs", f"{d}/.wsfs2")
        os.mkdir(f"{d}/.wsfs")
        return tree(d)

    assert len(same(scenario)) == 3
