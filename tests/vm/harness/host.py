# SPDX-License-Identifier: GPL-2.0
"""Runs a command on this machine's own kernel, with a guest's paths and tools."""

import os
import pathlib

from .errors import HarnessError


def binds(_kernel):
    """What the command needs besides the usual directories."""
    modules = pathlib.Path("/lib/modules") / os.uname().release
    return [("/dev", "/dev", "rw"), *([(modules, modules, "ro")] if modules.exists() else [])]


def script(_kernel, guest):
    """A shell script that does what the guest's init does."""
    if guest.shell:
        raise HarnessError("for a shell on this machine, just use the one you have")
    return f"exec bash /wsfs/tests/vm/guest/on-host {' '.join(map(str, guest.disks))}"
