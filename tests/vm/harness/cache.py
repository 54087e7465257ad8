# SPDX-License-Identifier: GPL-2.0
"""Artifacts outside the checkout, each keyed by what it was made from.

An artifact is a directory. It is built under a temporary name and renamed when
it is complete, so an interrupted build leaves nothing that looks finished, and
a lock keeps two runs from building the same one twice.
"""

import contextlib
import fcntl
import hashlib
import os
import pathlib
import subprocess
import time

from .errors import HarnessError, say


def root():
    """The cache directory, created when missing."""
    path = os.environ.get("WSFS_CACHE")
    if not path:
        base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
        path = pathlib.Path(base) / "wsfs"
    path = pathlib.Path(path).resolve()
    path.mkdir(parents=True, exist_ok=True)
    return path


def digest(*parts):
    """A short hash of strings and of the contents of files (paths)."""
    total = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, pathlib.Path) else str(part).encode()
        total.update(b"%d:" % len(data))
        total.update(data)
    return total.hexdigest()[:12]


@contextlib.contextmanager
def lock(name, wait_for=None):
    """Hold the cache's lock of that name; say so when that means waiting."""
    path = root() / "locks" / name
    path.parent.mkdir(exist_ok=True)
    with open(path, "w", encoding="ascii") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if wait_for:
                say(f"waiting for another run that is {wait_for}")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def locked(name):
    """Whether another run holds the lock of that name, that is, makes that artifact."""
    path = root() / "locks" / name
    if not path.exists():
        return False
    with open(path, "w", encoding="ascii") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def artifact(name, key, what, build):
    """The directory of an artifact; build(dir, log) makes it when missing."""
    path = root() / f"{name}-{key}"
    if path.exists():
        return path
    with lock(name, wait_for=f"making {what}"):
        if path.exists():
            return path
        scratch = root() / f"{name}-{key}.tmp"
        remove(scratch)
        log = root() / f"{name}.log"
        say(f"making {what} (log: {log})")
        start = time.monotonic()
        build(scratch, log)
        scratch.rename(path)
        say(f"made {what} in {time.monotonic() - start:.0f} s")
    return path


def logged(command, log, what):
    """Run a command with its output in a log; show the log's end if it fails."""
    with open(log, "ab", buffering=0) as out:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out,
                              stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        tail = log.read_text(errors="replace").splitlines()[-25:]
        raise HarnessError(f"{what} failed (status {done.returncode}); the end of {log}:\n  " +
                           "\n  ".join(tail))


def remove(path):
    """Remove a directory tree that may not be there, but nothing mounted in it."""
    subprocess.run(["rm", "-rf", "--one-file-system", path], check=True)
