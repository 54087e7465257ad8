# SPDX-License-Identifier: GPL-2.0
"""wsctl, as a user runs it."""

import functools
import json
import os
import re
import subprocess

from lib.schema import Schema

schema = functools.cache(Schema)


def document(text):
    """What --json wrote; it has to be what the schema says."""
    found = json.loads(text)
    errors = schema().errors(found)
    assert not errors, "\n".join(errors[:10])
    return found


class Done:
    """How it ended, and what it wrote (bytes)."""

    def __init__(self, completed):
        self.status = completed.returncode
        self.out = completed.stdout
        self.err = completed.stderr

    @property
    def json(self):
        return document(self.out)

    def __str__(self):
        return f"status {self.status}\n{self.out!r}\n{self.err!r}"


def wsctl(*argv, timeout=600, **kwargs):
    """Run it; kwargs go to subprocess.run()."""
    kwargs.setdefault("stdin", subprocess.DEVNULL if "input" not in kwargs else None)
    if "input" in kwargs:
        del kwargs["stdin"]
    kwargs.setdefault("stdout", subprocess.PIPE)
    return Done(
        subprocess.run(
            ["wsctl", *map(os.fspath, map(_text, argv))],
            stderr=subprocess.PIPE,
            timeout=timeout,
            check=False,
            **kwargs,
        )
    )


def _text(word):
    return word if isinstance(word, (str, bytes, os.PathLike)) else str(word)


def ok(*argv, **kwargs):
    """Run it; it has to end well."""
    done = wsctl(*argv, **kwargs)
    assert done.status == 0, done
    return done


ROW = re.compile(
    rb"^ *(\d+): \[(\d+)\.\.(\d+)\]: *(hole|(\d+)\.\.(\d+)) *(?:(\d+) +\((\d+)\.\.(\d+)\))? *(\d+)"
    rb"(?: +([01]+))?"
)


def rows(text):
    """The extents in the output of xfs_bmap -vvp and of wsctl bmap, as tuples."""
    found = []
    for line in text.splitlines():
        match = ROW.match(line)
        if match:
            found.append(match.groups())
    return found


def xfs_rows(path):
    """What xfs_bmap tells of @path."""
    done = subprocess.run(
        ["xfs_io", "-r", "-c", "bmap -vvp", path],
        stdout=subprocess.PIPE,
        check=True,
        timeout=300,
    )
    return rows(done.stdout)


def agree(path, on_wsfs=None):
    """wsctl bmap shows what xfs_bmap shows, and that is returned."""
    expected = xfs_rows(path)
    assert rows(ok("bmap", path).out) == expected
    if on_wsfs:
        assert rows(ok("bmap", on_wsfs).out) == expected
    return expected
