# SPDX-License-Identifier: GPL-2.0
"""Time, and the kernel's instructions, that something took."""

import ctypes
import functools
import os
import struct
import time

# struct perf_event_attr: the part that is used, and the size of its first version with
# everything in it that is.
_ATTR = struct.Struct("=IIQQQQQ")
_ATTR_SIZE = 112
_HARDWARE = 0
_INSTRUCTIONS = 1
_EXCLUDE_USER = 1 << 4
_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}


class NotCountable(Exception):
    """This machine does not count instructions, and why."""


class Counters:
    """Instructions retired in the kernel, of all tasks: also of those that finish
    what another one has begun. One counter on each CPU."""

    def __init__(self, kind=_HARDWARE, config=_INSTRUCTIONS):
        self._fds = []
        try:
            for cpu in sorted(os.sched_getaffinity(0)):
                self._fds.append(_open(kind, config, cpu))
            first = self.read()
            os.listdir("/proc")
            if self.read() == first:
                raise NotCountable("the counters stand still")
        except NotCountable:
            self.close()
            raise

    def read(self):
        """The sum over the CPUs."""
        return sum(struct.unpack("=Q", os.read(fd, 8))[0] for fd in self._fds)

    def close(self):
        """No more reads."""
        while self._fds:
            os.close(self._fds.pop())


def _open(kind, config, cpu):
    number = _PERF_EVENT_OPEN.get(os.uname().machine)
    if number is None:
        raise NotCountable(f"perf_event_open(2) on {os.uname().machine} is not known here")
    attr = ctypes.create_string_buffer(_ATTR_SIZE)
    _ATTR.pack_into(attr, 0, kind, _ATTR_SIZE, config, 0, 0, 0, _EXCLUDE_USER)
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(ctypes.c_long(number), attr, ctypes.c_int(-1), ctypes.c_int(cpu),
                      ctypes.c_int(-1), ctypes.c_ulong(0))
    if fd < 0:
        raise NotCountable(f"perf_event_open(2): {os.strerror(ctypes.get_errno())}")
    return fd


@functools.cache
def counters():
    """(those of this machine, None), or (None, why there are none)."""
    try:
        return Counters(), None
    except NotCountable as why:
        return None, str(why)


class Meter:
    """With it: `seconds`, and `instructions` or None."""

    seconds = 0.0
    instructions = None

    def __enter__(self):
        self._counters = counters()[0]
        self._first = self._counters.read() if self._counters else None
        self._start = time.monotonic()
        return self

    def __exit__(self, *_):
        self.seconds = time.monotonic() - self._start
        if self._counters:
            self.instructions = self._counters.read() - self._first

    def sample(self, operations, seconds=None, **more):
        """What a round tells: operations a second. @seconds: that they took by a
        closer clock than ours."""
        told = {"value": operations / (seconds or self.seconds), **more}
        if self.instructions is not None:
            told["instructions"] = self.instructions / operations
        return told
