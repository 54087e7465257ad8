# SPDX-License-Identifier: GPL-2.0
"""wsfs's tracepoints, read while something runs."""

import os
import re

from lib.shell import status

_ROOT = "/sys/kernel/tracing"


def missing():
    """Why events cannot be seen, or None."""
    if not os.path.exists(f"{_ROOT}/events"):
        status("mount", "-t", "tracefs", "tracefs", _ROOT)
    if not os.path.exists(f"{_ROOT}/events/wsfs"):
        return "this kernel shows no events of wsfs"
    return None


def _write(name, text):
    with open(f"{_ROOT}/{name}", "w") as f:
        f.write(text)


class Events:
    """What @names have told between entering and leaving: `found` has a dict
    of words for each event."""

    def __init__(self, *names):
        self._names = names
        self.found = []

    def __enter__(self):
        _write("trace", "")
        for name in self._names:
            _write(f"events/wsfs/{name}/enable", "1")
        _write("tracing_on", "1")
        return self

    def __exit__(self, *_):
        for name in self._names:
            _write(f"events/wsfs/{name}/enable", "0")
        with open(f"{_ROOT}/trace") as f:
            for line in f:
                if match := re.search(r": (wsfs_\w+): (.*)", line):
                    self.found.append({"event": match[1], **_words(match[2])})

    def of(self, name):
        return [event for event in self.found if event["event"] == name]


def _words(text):
    """ "dev 0:5 ino 5 pos 6" → {"dev": "0:5", "ino": "5", "pos": "6"}"""
    words = text.split()
    return dict(zip(words[::2], words[1::2]))
