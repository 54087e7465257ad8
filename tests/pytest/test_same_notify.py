# SPDX-License-Identifier: GPL-2.0
"""inotify and fanotify: the same events in the same order as on plain XFS."""

import fcntl
import mmap
import os
import threading

import pytest

from lib import ioctls, libc
from lib.child import Child
from lib.compare import attempt
from lib.notify import (
    FAN_ACCESS_PERM,
    FAN_CLASS_CONTENT,
    FAN_CLASS_PRE_CONTENT,
    FAN_DIRENT,
    FAN_EVENT_ON_CHILD,
    FAN_MARK_FILESYSTEM,
    FAN_MARK_MOUNT,
    FAN_ONDIR,
    FAN_OPEN_PERM,
    FAN_PRE_ACCESS,
    FAN_REPORT_DFID_NAME,
    FAN_REPORT_FID,
    FAN_SIMPLE,
    Dnotify,
    Fanotify,
    Inotify,
)


def changes(d):
    """Things to do in a directory, by name."""
    fds = {}

    def with_fd(function, flags=os.O_RDWR):
        def run():
            fd = os.open(f"{d}/f", flags)
            try:
                function(fd)
            finally:
                os.close(fd)

        return run

    def mapped(fd):
        with mmap.mmap(fd, 4096) as m:
            m[0] = 1

    def copy(fd):
        other = os.open(f"{d}/g", os.O_RDWR | os.O_CREAT)
        os.copy_file_range(fd, other, 3)
        os.close(other)

    def clone(fd):
        other = os.open(f"{d}/g", os.O_RDWR | os.O_CREAT)
        ioctls.clone(other, fd)
        os.close(other)

    def splice(fd):
        reader, writer = os.pipe()
        os.splice(fd, writer, 3)
        other = os.open(f"{d}/g", os.O_RDWR)
        os.splice(reader, other, 3)
        for each in (other, reader, writer):
            os.close(each)

    def tmpfile():
        fd = os.open(d, os.O_TMPFILE | os.O_RDWR)
        os.write(fd, b"x")
        libc.linkat_fd(fd, f"{d}/from-tmpfile")
        os.close(fd)

    def keep():
        fds["kept"] = os.open(f"{d}/h", os.O_RDWR | os.O_CREAT)

    def drop():
        os.close(fds.pop("kept"))

    return {
        "create": with_fd(lambda fd: None, os.O_RDWR | os.O_CREAT),
        "write": with_fd(lambda fd: os.write(fd, b"content")),
        "read": with_fd(lambda fd: os.read(fd, 10), os.O_RDONLY),
        "read nothing": with_fd(lambda fd: os.pread(fd, 10, 100), os.O_RDONLY),
        "truncate by fd": with_fd(lambda fd: os.ftruncate(fd, 5)),
        "truncate": lambda: os.truncate(f"{d}/f", 4096),
        "open truncating": with_fd(lambda fd: None, os.O_RDWR | os.O_TRUNC),
        "fallocate": with_fd(lambda fd: libc.fallocate(fd, 0, 0, 65536)),
        "punch": with_fd(lambda fd: libc.fallocate(fd, 3, 0, 4096)),
        "mmap": with_fd(mapped),
        "fsync": with_fd(os.fsync),
        "copy": with_fd(copy),
        "clone": with_fd(clone),
        "splice": with_fd(splice),
        "chmod": lambda: os.chmod(f"{d}/f", 0o600),
        "chown": lambda: os.chown(f"{d}/f", 1, 1),
        "utime": lambda: os.utime(f"{d}/f", (1, 1)),
        "setxattr": lambda: os.setxattr(f"{d}/f", "user.a", b"b"),
        "removexattr": lambda: os.removexattr(f"{d}/f", "user.a"),
        "flags": with_fd(lambda fd: ioctls.setflags(fd, ioctls.FS_NODUMP_FL)),
        "stat": lambda: os.stat(f"{d}/f"),
        "link": lambda: os.link(f"{d}/f", f"{d}/link"),
        "unlink one of two": lambda: os.unlink(f"{d}/link"),
        "mkdir": lambda: os.mkdir(f"{d}/sub"),
        "listdir": lambda: os.listdir(d),
        "symlink": lambda: os.symlink("f", f"{d}/symlink"),
        "mkfifo": lambda: os.mkfifo(f"{d}/fifo"),
        "tmpfile": tmpfile,
        "rename": lambda: os.rename(f"{d}/f", f"{d}/F"),
        "rename over": lambda: os.rename(f"{d}/g", f"{d}/F"),
        "rename into": lambda: os.rename(f"{d}/F", f"{d}/sub/F"),
        "rename back": lambda: os.rename(f"{d}/sub/F", f"{d}/f"),
        "exchange": lambda: libc.renameat2(f"{d}/f", f"{d}/symlink", libc.RENAME_EXCHANGE),
        "whiteout": lambda: libc.renameat2(f"{d}/fifo", f"{d}/fifo2", libc.RENAME_WHITEOUT),
        "fail": lambda: attempt(os.unlink, f"{d}/none"),
        "fail to replace": lambda: attempt(os.mkdir, f"{d}/sub"),
        "keep": keep,
        "unlink open": lambda: os.unlink(f"{d}/h"),
        "close it": drop,
        "rmdir": lambda: os.rmdir(f"{d}/sub"),
        "unlink": lambda: os.unlink(f"{d}/f"),
    }


@pytest.mark.quick
def test_inotify_on_a_directory(same):
    def scenario(d):
        answers = {}
        with Inotify() as inotify:
            inotify.watch(d, "top")
            for name, change in changes(d).items():
                change()
                answers[name] = inotify.events()
        return answers

    answers = same(scenario)
    assert ("top", "modify", "f", None) in answers["write"]


def test_inotify_on_each_object(same):
    """Watches on the file, the subdirectory and the directory itself."""

    def scenario(d):
        answers = {}
        with Inotify() as inotify:
            todo = changes(d)
            for name, change in todo.items():
                change()
                for path in ("f", "sub", "h", "g"):
                    if os.path.exists(f"{d}/{path}") and not os.path.islink(f"{d}/{path}"):
                        inotify.watch(f"{d}/{path}", path)
                answers[name] = inotify.events()
        return answers

    answers = same(scenario)
    assert any("delete-self" in what for events in answers.values() for _, what, *_ in events)


def test_inotify_ends_with_the_object(same):
    def scenario(d):
        os.mkdir(f"{d}/sub")
        with Inotify() as inotify:
            inotify.watch(f"{d}/sub", "sub")
            fd = os.open(f"{d}/sub", os.O_RDONLY)
            os.rmdir(f"{d}/sub")
            answers = [inotify.events()]
            os.close(fd)
            answers.append(inotify.events())
        return answers

    assert any("ignored" in what for events in same(scenario) for _, what, *_ in events)


def test_fanotify_with_names(same):
    """FAN_REPORT_DFID_NAME on the directory: handles and names."""

    def scenario(d):
        answers = {}
        with Fanotify(FAN_REPORT_DFID_NAME) as fanotify:
            mask = FAN_SIMPLE | FAN_DIRENT | FAN_ONDIR | FAN_EVENT_ON_CHILD
            fanotify.mark(d, mask)
            for name, change in changes(d).items():
                change()
                answers[name] = fanotify.events()
        return answers

    answers = same(scenario)
    assert answers["create"]


def test_fanotify_of_a_filesystem(same):
    """Everything on it, by handle: nothing of wsfs's own business shows."""

    def scenario(d):
        answers = {}
        with Fanotify(FAN_REPORT_FID) as fanotify:
            fanotify.mark(d, FAN_SIMPLE | FAN_DIRENT | FAN_ONDIR, FAN_MARK_FILESYSTEM)
            for name, change in changes(d).items():
                change()
                answers[name] = [mask for mask, _ in fanotify.events()]
        return answers

    same(scenario)


def test_fanotify_of_a_mount(same):
    """By fd; what it opens is the file."""

    def scenario(d):
        answers = {}
        with Fanotify(0) as fanotify:
            fanotify.mark(d, FAN_SIMPLE, FAN_MARK_MOUNT)
            for name, change in changes(d).items():
                change()
                answers[name] = fanotify.events()
        return answers

    answers = same(scenario)
    assert any(about == "f" for _, about in answers["write"])


def test_dnotify(same):
    """Each of DN_*, by what is done to files of the directory."""
    masks = [fcntl.DN_ACCESS, fcntl.DN_MODIFY, fcntl.DN_CREATE, fcntl.DN_DELETE,
             fcntl.DN_RENAME, fcntl.DN_ATTRIB]  # fmt: skip

    def scenario(d):
        answers = []
        for mask in masks:
            os.mkdir(f"{d}/{mask}")
            with Dnotify(f"{d}/{mask}", mask) as dnotify:
                for name, change in changes(f"{d}/{mask}").items():
                    change()
                    answers.append((mask, name, dnotify.happened() > 0))
        return answers

    assert any(happened for *_, happened in same(scenario))


def use(_, path):
    """Opens and reads."""
    fd = os.open(path, os.O_RDONLY)
    try:
        return os.read(fd, 7)
    finally:
        os.close(fd)


@pytest.mark.parametrize(
    "kind, mask, asked_for",
    [
        (FAN_CLASS_CONTENT, FAN_OPEN_PERM | FAN_ACCESS_PERM, {"good": 2, "bad": 1}),
        (FAN_CLASS_PRE_CONTENT, FAN_PRE_ACCESS, {"good": 1, "bad": 1}),
    ],
    ids=["content", "pre-content"],
)
def test_fanotify_asks_for_leave(same, kind, mask, asked_for):
    """Permission events: who is refused gets EPERM, and the next one is asked again."""

    def scenario(d):
        for name in ("good", "bad"):
            with open(f"{d}/{name}", "w", encoding="ascii") as f:
                f.write("content")
        try:
            fanotify = Fanotify(kind)
        except OSError as error:
            return error.errno
        answers = []
        with Child() as child, fanotify:
            answer = attempt(fanotify.mark, d, mask | FAN_EVENT_ON_CHILD)
            if answer:
                return answer
            for name in ("good", "bad", "good"):
                asked = []
                thread = threading.Thread(
                    target=lambda n=name: asked.append(attempt(child.call, use, f"{d}/{n}"))
                )
                thread.start()
                answers += [fanotify.judge(lambda n: n == "good") for _ in range(asked_for[name])]
                thread.join()
                answers.append(asked)
        return answers

    answers = same(scenario)
    if not isinstance(answers, list):
        pytest.skip(f"a kernel without permission events: {answers}")
    assert [b"content"] in answers and ["EPERM"] in answers


def test_set_is_seen_as_nothing(apart):
    """SET on an empty file: who watches it or its directory sees no file
    come or go."""
    fd = apart.open("f")
    with Inotify() as inotify:
        inotify.watch(apart.path, "top")
        inotify.watch(apart.at("f"), "f")
        for _ in range(4):
            apart.set(fd, apart.alloc())
        names = {what for _, what, *_ in inotify.events()}
        assert not {w for w in names if "create" in w or "delete" in w or "from" in w}, names
        os.write(fd, b"content")
        assert {("top", "modify", "f", None), ("f", "modify", "", None)} <= set(inotify.events())


def test_changed_below(apart):
    """Who watches the XFS sees what is done through wsfs."""
    with Inotify() as inotify:
        inotify.watch(apart.lower, "below")
        with open(apart.at("f"), "w") as f:
            f.write("content")
        os.rename(apart.at("f"), apart.at("g"))
        os.unlink(apart.at("g"))
        words = " ".join(what for _, what, *_ in inotify.events())
    for word in ("create", "from", "to", "delete"):
        assert word in words
