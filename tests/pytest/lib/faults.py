# SPDX-License-Identifier: GPL-2.0
"""Allocations that fail on purpose (failslab, fail_page_alloc): the Nth of a thread,
or one in so many of a process and of what it starts."""

import contextlib
import os

_DEBUG = "/sys/kernel/debug"
# GFP_KERNEL fails too; memory of programs and page cache (highmem) does not: a
# page fault would be tried again, and the fault be used up.
_KINDS = {
    "failslab": {"ignore-gfp-wait": "N"},
    "fail_page_alloc": {"ignore-gfp-wait": "N", "ignore-gfp-highmem": "Y", "min-order": "0"},
}

# For sh -c, with a program and its arguments
MARKED_SHELL = 'echo 1 >/proc/self/make-it-fail; exec "$@"'

_mark = None  # the open make-it-fail of the thread of marked()


def missing():
    """Why nothing can be made to fail, or None."""
    if not os.path.exists("/proc/thread-self/fail-nth"):
        return "a kernel without CONFIG_FAULT_INJECTION (uml-kasan has it)"
    absent = [kind for kind in _KINDS if not os.path.isdir(f"{_DEBUG}/{kind}")]
    return f"no {absent} in {_DEBUG}" if absent else None


def _write(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(str(text))


def prepare():
    """Let GFP_KERNEL allocations fail too, and say nothing of it in the log."""
    for kind, settings in _KINDS.items():
        for name, value in {**settings, "verbose": "0", "probability": "0"}.items():
            _write(f"{_DEBUG}/{kind}/{name}", value)


class Nth:
    """Makes one allocation of the thread that made this fail."""

    def __init__(self):
        self._fd = os.open("/proc/thread-self/fail-nth", os.O_RDWR | os.O_CLOEXEC)

    @contextlib.contextmanager
    def fails(self, number, reached):
        """The allocation @number, from 1 on, fails in the body; appends to
        @reached whether there were as many."""
        os.write(self._fd, b"%d" % number)
        try:
            yield
        finally:
            left = os.pread(self._fd, 16, 0)
            os.write(self._fd, b"0")
            reached.append(int(left) == 0)

    def close(self):
        os.close(self._fd)


@contextlib.contextmanager
def at_random(one_in):
    """In the body one in @one_in allocations fails of each task that is marked, as
    MARKED_SHELL and marked() do it."""
    prepare()
    for kind in _KINDS:
        for name, value in {"task-filter": "Y", "times": -1, "interval": one_in,
                            "probability": 100}.items():  # fmt: skip
            _write(f"{_DEBUG}/{kind}/{name}", value)
    try:
        yield
    finally:
        prepare()


@contextlib.contextmanager
def marked():
    """This thread, and what it starts in the body; not the programs that lib.shell runs."""
    global _mark
    # Open all the time: opening may fail as well.
    _mark = os.open("/proc/thread-self/make-it-fail", os.O_WRONLY | os.O_CLOEXEC)
    os.write(_mark, b"1")
    try:
        yield
    finally:
        os.write(_mark, b"0")
        os.close(_mark)
        _mark = None


@contextlib.contextmanager
def spared():
    """In the body nothing of the thread of marked() fails."""
    if _mark is None:
        yield
        return
    os.write(_mark, b"0")
    try:
        yield
    finally:
        os.write(_mark, b"1")
