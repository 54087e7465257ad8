# SPDX-License-Identifier: GPL-2.0
"""Run a program and say what it said when it fails."""

import os
import subprocess

from lib import faults


class Failed(AssertionError):
    """A program ended with a status that was not expected."""


def run(*argv, env=None, ok=(0,), timeout=300):
    """Run @argv; returns its output, both streams together."""
    argv = [str(a) for a in argv]
    done = _run(argv, env={**os.environ, "LC_ALL": "C", **(env or {})}, timeout=timeout)
    if ok is not None and done.returncode not in ok:
        raise Failed(f"{' '.join(argv)}: status {done.returncode}\n{done.stdout}")
    return done.stdout


def status(*argv):
    """Run @argv; returns (status, output)."""
    done = _run([str(a) for a in argv])
    return done.returncode, done.stdout


def _run(argv, **options):
    with faults.spared():
        return subprocess.run(
            argv,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            check=False,
            **options,
        )
