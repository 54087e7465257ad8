# SPDX-License-Identifier: GPL-2.0
"""wsctl, as a user runs it."""

import contextlib
import functools
import itertools
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


def make(path, size=0):
    """A file, with the directory that it is in."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(b"x" * size)
        file.flush()
        os.fsync(file.fileno())


def set_by(stream, *words, **kwargs):
    """wsctl set with a stream of ours."""
    return wsctl("set", "--fd", stream.fd, *words, pass_fds=[stream.fd], **kwargs)


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


@contextlib.contextmanager
def streamed_rows(*argv):
    """rows(), one after the other; the command has to end well."""
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        yield (match.groups() for match in map(ROW.match, process.stdout) if match)
        process.stdout.read()
    assert process.returncode == 0, argv


def agree_on_many(path, on_wsfs):
    """agree() for more extents than there is memory for; returns how many."""
    count = 0
    with (
        streamed_rows("xfs_io", "-r", "-c", "bmap -vvp", path) as expected,
        streamed_rows("wsctl", "bmap", path) as below,
        streamed_rows("wsctl", "bmap", on_wsfs) as above,
    ):
        for each in itertools.zip_longest(expected, below, above):
            assert each[0] == each[1] == each[2], each
            count += 1
    return count


def agree(path, on_wsfs=None):
    """wsctl bmap shows what xfs_bmap shows, and that is returned."""
    expected = xfs_rows(path)
    assert rows(ok("bmap", path).out) == expected
    if on_wsfs:
        assert rows(ok("bmap", on_wsfs).out) == expected
    return expected
