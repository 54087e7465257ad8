# SPDX-License-Identifier: GPL-2.0
"""The Debian tree in which everything is built and which all guests boot."""

import os
import pathlib
import shutil
import subprocess

from . import cache
from .errors import HarnessError

TOP = pathlib.Path(__file__).resolve().parents[3]
VM = TOP / "tests/vm"


def get():
    """The sysroot's directory, made when missing."""
    if os.geteuid() != 0:
        raise HarnessError("guests need root (mount, chroot); run the same command with sudo")
    scripts = [VM / "sysroot" / name for name in ("create.sh", "customize.sh", "packages")]
    return cache.artifact("sysroot", cache.digest(*scripts), "the sysroot", _create)


def _create(path, log):
    log.write_bytes(b"")
    if not shutil.which("mmdebstrap"):
        cache.logged([VM / "host-packages.sh"], log, "installing mmdebstrap")
    cache.logged(_contained([VM / "sysroot/create.sh", path]), log, "making the sysroot")


def _contained(command):
    """Run a command in namespaces of its own: it and its mounts end with us."""
    return ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--mount-proc",
            "--fork", "--kill-child", "--propagation", "private", *map(str, command)]


def inside(command, binds=()):
    """The command line that runs a command in the sysroot.

    binds: (source, target, "ro" or "rw") each. When the harness dies, so does
    the command, with all its children and mounts.
    """
    mounts = [f"{source}:{target}:{mode}" for source, target, mode in binds]
    return _contained([VM / "harness/enter.sh", get(), *mounts, "--", *command])


def run(command, binds=(), **kwargs):
    """Run a command in the sysroot."""
    kwargs.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(inside(command, binds), check=False, **kwargs)


def text(name):
    """The text of one of the sysroot's own notes (/usr/lib/wsfs)."""
    return (get() / "usr/lib/wsfs" / name).read_text().strip()
