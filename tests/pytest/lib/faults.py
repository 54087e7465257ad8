# SPDX-License-Identifier: GPL-2.0
"""Allocations that fail on purpose: the Nth of a thread (failslab, page_alloc)."""

import contextlib
import os

_DEBUG = "/sys/kernel/debug"
_KINDS = {
    "failslab": {"ignore-gfp-wait": "N"},
    "fail_page_alloc": {"ignore-gfp-wait": "N", "ignore-gfp-highmem": "N", "min-order": "0"},
}


def missing():
    """Why nothing can be made to fail, or None."""
    if not os.path.exists("/proc/thread-self/fail-nth"):
        return "a kernel without fault injection"
    absent = [kind for kind in _KINDS if not os.path.isdir(f"{_DEBUG}/{kind}")]
    return f"no {absent}" if absent else None


def prepare():
    """Let GFP_KERNEL allocations fail too, and say nothing of it in the log."""
    for kind, settings in _KINDS.items():
        for name, value in {**settings, "verbose": "0"}.items():
            with open(f"{_DEBUG}/{kind}/{name}", "w", encoding="ascii") as f:
                f.write(value)


class Nth:
    """Makes one allocation of this thread fail."""

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
