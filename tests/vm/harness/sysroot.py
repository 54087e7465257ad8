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


# Of the process: whether the small sysroot will do where the whole one is not there.
_small_will_do = False


def let_small_do():
    """From now on, a sysroot with which 7.3 boots and the demo runs is enough.

    It is there in half the time; it cannot run the tests or build kernels.
    """
    global _small_will_do  # pylint: disable=global-statement
    _small_will_do = True


def get():
    """The sysroot's directory, made when missing."""
    if os.geteuid() != 0:
        raise HarnessError("guests need root (mount, chroot); run the same command with sudo")
    small = _small_will_do and not (cache.root() / name()).exists()
    return cache.artifact(*_name(small), "the sysroot", lambda path, log: _create(path, log, small))


def name(small=False):
    """The sysroot's name in the cache."""
    return "-".join(_name(small))


def _name(small):
    scripts = ["create.sh", "customize.sh", "packages"]
    if not small:
        scripts.append("packages-tests")
    return ("sysroot-small" if small else "sysroot",
            cache.digest(*(VM / "sysroot" / script for script in scripts)))


def _create(path, log, small):
    log.write_bytes(b"")
    if not shutil.which("mmdebstrap"):
        cache.logged([VM / "host-packages.sh"], log, "installing mmdebstrap")
    command = [VM / "sysroot/create.sh", path, *(["small"] if small else [])]
    cache.logged(_contained(command), log, "making the sysroot")


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
