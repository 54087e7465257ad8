# SPDX-License-Identifier: GPL-2.0
"""The kernel's log: what a test may not leave in it."""

import os
import re

BAD = re.compile(
    r"WARNING: |BUG: |kernel BUG|Oops|general protection|Call Trace|KASAN|UBSAN"
    r"|INFO: task .* blocked|INFO: rcu|possible (recursive|circular|irq)"
    r"|inconsistent lock state|suspicious RCU|bad unlock balance|held lock freed"
    r"|Internal error|Assertion failed|orruption|metadata I/O error|Shutting down"
    r"|Busy inodes|still has objects|Objects remaining|refcount_t|list_add|list_del"
    r"|unreferenced object|scheduling while atomic|sleeping function"
)


class Log:
    """Reads on from where it was last read."""

    def __init__(self):
        self._fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        os.lseek(self._fd, 0, os.SEEK_END)

    def read(self):
        """The messages since the last call."""
        lines = []
        while True:
            try:
                record = os.read(self._fd, 8192)
            except BlockingIOError:
                return lines
            except BrokenPipeError:  # overtaken by the ring buffer
                continue
            head, _, text = record.decode(errors="replace").partition(";")
            if int(head.split(",")[0]) >> 3 == 0:  # the kernel's own
                lines.append(text.split("\n")[0])

    def close(self):
        os.close(self._fd)


def bad_lines(lines):
    return [line for line in lines if BAD.search(line)]
