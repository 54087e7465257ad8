# SPDX-License-Identifier: GPL-2.0
"""Leases, delegations and locks, as on plain XFS."""

import fcntl
import os
import signal
import struct
import time

import pytest

from lib.child import Child
from lib.compare import attempt

F_SETDELEG, F_GETDELEG = 1024 + 16, 1024 + 15
F_OFD_SETLK, F_OFD_GETLK = 37, 36


@pytest.fixture(autouse=True)
def impatient():
    """Who waits for a lease to be given back does so for a second."""
    path = "/proc/sys/fs/lease-break-time"
    with open(path) as f:
        old = f.read()
    with open(path, "w") as f:
        f.write("1")
    yield
    with open(path, "w") as f:
        f.write(old)


def lease(fd, kind):
    return attempt(fcntl.fcntl, fd, fcntl.F_SETLEASE, kind)


@pytest.mark.quick
@pytest.mark.parametrize("kind", ["F_RDLCK", "F_WRLCK", "F_UNLCK"])
def test_who_gets_a_lease(same, kind):
    """By how the file is open here, and elsewhere."""

    def scenario(d):
        answers = {}
        for mine in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR):
            for other in (None, os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_PATH):
                path = f"{d}/{mine}-{other}"
                with open(path, "w") as f:
                    f.write("content")
                fd = os.open(path, mine)
                second = None if other is None else os.open(path, other)
                answers[mine, other] = [
                    lease(fd, getattr(fcntl, kind)),
                    fcntl.fcntl(fd, fcntl.F_GETLEASE),
                    lease(fd, fcntl.F_UNLCK),
                ]
                for each in (fd, second):
                    if each is not None:
                        os.close(each)
        return answers

    same(scenario)


def test_lease_on_other_kinds(same):
    def scenario(d):
        os.mkdir(f"{d}/dir")
        os.mkfifo(f"{d}/fifo")
        answers = []
        for name, flags in (("dir", os.O_RDONLY), ("fifo", os.O_RDWR)):
            fd = os.open(f"{d}/{name}", flags)
            answers += [lease(fd, fcntl.F_RDLCK), lease(fd, fcntl.F_WRLCK)]
            os.close(fd)
        return answers

    same(scenario)


BREAKERS = {
    "open to read": lambda p: os.close(os.open(p, os.O_RDONLY | os.O_NONBLOCK)),
    "open to write": lambda p: os.close(os.open(p, os.O_WRONLY | os.O_NONBLOCK)),
    "open truncating": lambda p: os.close(os.open(p, os.O_WRONLY | os.O_TRUNC | os.O_NONBLOCK)),
    "stat": lambda p: os.stat(p) and None,
    "chmod": lambda p: os.chmod(p, 0o600),
}


@pytest.mark.parametrize("kind", ["F_RDLCK", "F_WRLCK"])
def test_what_breaks_a_lease(same, kind):
    """The holder is told by a signal, the other gets EAGAIN meanwhile."""

    def scenario(d):
        answers = {}
        told = []
        old = signal.signal(signal.SIGIO, lambda *_: told.append(1))
        try:
            for name, breaker in BREAKERS.items():
                path = f"{d}/{name}"
                with open(path, "w") as f:
                    f.write("content")
                fd = os.open(path, os.O_RDONLY)
                told.clear()
                took = lease(fd, getattr(fcntl, kind))
                with Child() as child:
                    outcome = child.call(do_break, name, path)
                time.sleep(0.05)
                answers[name] = [took, outcome, bool(told), fcntl.fcntl(fd, fcntl.F_GETLEASE)]
                lease(fd, fcntl.F_UNLCK)
                with Child() as child:
                    answers[name].append(child.call(do_break, name, path))
                os.close(fd)
        finally:
            signal.signal(signal.SIGIO, old)
        return answers

    answers = same(scenario)
    assert answers["open to write"][1] == "EAGAIN"


def do_break(_, name, path):
    return attempt(BREAKERS[name], path)


def test_truncate_waits_for_the_holder(same):
    """A lease that is given back lets the other go on."""

    def scenario(d):
        path = f"{d}/f"
        with open(path, "w") as f:
            f.write("content")
        fd = os.open(path, os.O_RDONLY)
        old = signal.signal(signal.SIGIO, lambda *_: lease(fd, fcntl.F_UNLCK))
        try:
            answers = [lease(fd, fcntl.F_WRLCK)]
            pid = os.fork()
            if pid == 0:
                os.truncate(path, 3)
                os._exit(0)
            answers.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        finally:
            signal.signal(signal.SIGIO, old)
        os.close(fd)
        return answers, os.path.getsize(path)

    assert same(scenario) == ([0, 0], 3)


def test_delegations(same):
    """F_SETDELEG on files and directories, where the kernel has it."""

    def scenario(d):
        os.mkdir(f"{d}/dir")
        with open(f"{d}/f", "w") as f:
            f.write("content")
        answers = []
        for name in ("f", "dir"):
            fd = os.open(f"{d}/{name}", os.O_RDONLY)
            for kind in (fcntl.F_RDLCK, fcntl.F_WRLCK, fcntl.F_UNLCK):
                arg = struct.pack("=IHHQ", 0, kind, 0, 0)
                answers.append(attempt(fcntl.fcntl, fd, F_SETDELEG, arg))
                answers.append(attempt(fcntl.fcntl, fd, F_GETDELEG, bytes(16)))
            os.close(fd)
        return answers

    same(scenario)


def other_locks(_, path):
    """What another process is told and can have."""
    fd = os.open(path, os.O_RDWR)
    answers = []
    for kind in (fcntl.F_RDLCK, fcntl.F_WRLCK):
        for start, length in ((0, 10), (10, 10), (20, 0)):
            ask = struct.pack("hhqqi", kind, 0, start, length, 0)
            told = struct.unpack("hhqqi", fcntl.fcntl(fd, fcntl.F_GETLK, ask))[:4]
            answers.append((told, attempt(fcntl.fcntl, fd, fcntl.F_SETLK, ask) and "ok"))
    for how in (fcntl.LOCK_SH, fcntl.LOCK_EX):
        answers.append(attempt(fcntl.flock, fd, how | fcntl.LOCK_NB))
    os.close(fd)
    return answers


def test_locks(same):
    """POSIX, open file description and flock, against another process."""

    def scenario(d):
        path = f"{d}/f"
        fd = os.open(path, os.O_CREAT | os.O_RDWR)
        answers = {}
        for kind in (fcntl.F_RDLCK, fcntl.F_WRLCK, fcntl.F_UNLCK):
            for command in (fcntl.F_SETLK, F_OFD_SETLK):
                fcntl.fcntl(fd, command, struct.pack("hhqqi", kind, 0, 5, 10, 0))
                with Child() as child:
                    answers[kind, command] = child.call(other_locks, path)
                fcntl.fcntl(fd, command, struct.pack("hhqqi", fcntl.F_UNLCK, 0, 0, 0, 0))
        for how in (fcntl.LOCK_SH, fcntl.LOCK_EX, fcntl.LOCK_UN):
            fcntl.flock(fd, how)
            with Child() as child:
                answers["flock", how] = child.call(other_locks, path)
        os.close(fd)
        return answers

    answers = same(scenario)
    assert "EAGAIN" in str(answers) or "EACCES" in str(answers)


def test_lock_survives_set(apart):
    """A lock taken before the file moves holds afterwards."""
    fd = apart.open("f")
    fcntl.flock(fd, fcntl.LOCK_EX)
    for _ in range(4):
        apart.set(fd, apart.alloc())
    os.write(fd, b"content")
    with Child() as child:
        answers = child.call(other_locks, apart.at("f"))
    assert answers[-2:] == ["EAGAIN", "EAGAIN"]


def test_lease_survives_set(apart):
    fd = apart.open("f")
    assert fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK) == 0
    for _ in range(4):
        apart.set(fd, apart.alloc())
    assert fcntl.fcntl(fd, fcntl.F_GETLEASE) == fcntl.F_WRLCK
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
