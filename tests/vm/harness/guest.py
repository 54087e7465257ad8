# SPDX-License-Identifier: GPL-2.0
"""Runs one command in one guest, and says how it went."""

import contextlib
import dataclasses
import os
import pathlib
import selectors
import shlex
import subprocess
import sys
import time

from . import build, cache, errors, host, qemu, report, sysroot, uml
from .errors import say

BOOTS = {"uml": uml, "qemu": qemu, "host": host}
POWER_OFF_TIME = 180
PANIC = b"Kernel panic - not syncing"
PANIC_TIME = 15


@dataclasses.dataclass
class Guest:
    """What the user asked for."""
    kernel: object
    command: list
    disks: list = dataclasses.field(default_factory=list)
    memory: str = ""
    cpus: int = 2
    limit: float = 600
    allowed: list = dataclasses.field(default_factory=list)
    parts: tuple = build.USUAL
    environment: dict = dataclasses.field(default_factory=dict)
    append: list = dataclasses.field(default_factory=list)      # kernel parameters
    emulator: list = dataclasses.field(default_factory=list)    # QEMU options
    binds: list = dataclasses.field(default_factory=list)       # as of sysroot.inside()
    results: pathlib.Path = None
    dmesg: pathlib.Path = None
    shell: bool = False

    init: str = "/wsfs/tests/vm/guest/init"
    number: int = dataclasses.field(default_factory=os.getpid)

    @property
    def input(self):
        """Where a UML console of this guest reads from."""
        return "fd:0" if self.shell else "null"


def run(guest):
    """Build what is stale, run the guest, and return the status to exit with."""
    kernel = guest.kernel
    guest.memory = guest.memory or kernel.memory
    guest.append = ["printk.time=1", "oops=panic", "panic=-1", *kernel.parameters,
                    *guest.append]
    if guest.shell:
        guest.append.append("wsfs.shell=1")
    parts = build.ensure(kernel, guest.parts)
    with _directory(guest) as path:
        for name in ("ctl", "disks"):
            (path / name).mkdir()
        results = guest.results or path / "results"
        results.mkdir(parents=True, exist_ok=True)
        build.snapshot(kernel, parts, path / "build")
        (path / "ctl/command").write_text(_command(guest))
        (path / "ctl/console").touch()

        command = sysroot.inside(
            ["bash", "-c", BOOTS[kernel.boots].script(kernel, guest)],
            [(sysroot.TOP, "/wsfs", "ro"), (path / "build", "/wsfs-build", "ro"),
             (path / "ctl", "/wsfs-ctl", "rw"), (path / "disks", "/wsfs-disks", "rw"),
             (results.resolve(), "/wsfs-results", "rw"), *guest.binds,
             *BOOTS[kernel.boots].binds(kernel)])
        if guest.shell:
            timed_out = False
            subprocess.run(command, check=False)
        else:
            timed_out = _watch(command, guest.limit, path / "ctl")
        return _judge(guest, path, timed_out)


@contextlib.contextmanager
def _directory(guest):
    """A directory of the run's own, which is gone when the run is over."""
    path = cache.root() / "runs" / str(guest.number)
    cache.remove(path)
    path.mkdir(parents=True)
    try:
        yield path
    finally:
        cache.remove(path)


def _command(guest):
    """The script that the guest runs."""
    environment = {
        "WSFS_KERNEL": guest.kernel.name,
        "WSFS_BUILD": "/wsfs-build",
        "WSFS_MODULE": "/wsfs-build/wsfs.ko",
        "WSFS_RESULTS": "/wsfs-results",
        "PATH": "/wsfs-build/tools/bin:/wsfs-build/tools/sbin:"
                "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/root", "USER": "root", "LC_ALL": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1",
        "TERM": os.environ.get("TERM", "dumb") if guest.shell else "dumb",
        **guest.environment,
    }
    lines = [f"export {name}={shlex.quote(value)}" for name, value in environment.items()]
    return "\n".join([*lines, "cd /wsfs", f"exec {shlex.join(guest.command)}", ""])


def _watch(command, limit, ctl):
    """Run the guest, copying its output to ours; return whether its time was up.

    UML of two CPUs hangs in a panic, so a guest that panics is ended.
    """
    deadline = time.monotonic() + limit
    reported = panicked = False
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process, \
            selectors.DefaultSelector() as selector, (ctl / "console").open("rb") as console:
        selector.register(process.stdout, selectors.EVENT_READ)
        try:
            while True:
                if selector.select(max(0, min(deadline - time.monotonic(), 1))):
                    data = os.read(process.stdout.fileno(), 65536)
                    if not data:
                        break
                    sys.stdout.buffer.write(data)
                    sys.stdout.buffer.flush()
                if not reported and (ctl / "status").exists():
                    # What is left is powering off, which takes no time of the command's.
                    reported = True
                    deadline = time.monotonic() + POWER_OFF_TIME
                if not panicked and _panics(console):
                    panicked = True
                    deadline = min(deadline, time.monotonic() + PANIC_TIME)
                if time.monotonic() >= deadline:
                    return not panicked
        finally:
            process.kill()
    return False


def _panics(console):
    """Does the console's log say so, from where it was last read?"""
    start = console.tell()
    if PANIC in console.read():
        return True
    # The words may have come in part.
    console.seek(max(start, console.tell() - len(PANIC)))
    return False


def _judge(guest, path, timed_out):
    """Say what went wrong, keep what is to be kept, and give the exit status."""
    console = (path / "ctl/console").read_text(errors="replace").replace("\r", "")
    leaks = path / "ctl/kmemleak"
    if leaks.exists():
        console += leaks.read_text(errors="replace")
    log = console.splitlines()
    if guest.dmesg:
        guest.dmesg.parent.mkdir(parents=True, exist_ok=True)
        guest.dmesg.write_text(console)

    found = report.find(log, guest.allowed)
    status = path / "ctl/status"
    name = guest.kernel.name
    if timed_out:
        what = (f"it did not power off within {POWER_OFF_TIME} s after the command"
                if status.exists() else
                f"the command was still running after the time limit of {guest.limit:g} s")
        say(f"{name}: STUCK: {what}; the guest was ended. The end of its dmesg:")
        _show(log[-40:])
        if found:
            _show_report(name, log, found)
        return errors.TIMED_OUT
    if found:
        _show_report(name, log, found)
        if status.exists():
            say(f"{name}: the command itself ended with status {status.read_text().strip()}")
        return errors.REPORTED
    if not status.exists():
        say(f"{name}: DIED: the guest ended before the command did. The end of its dmesg:")
        _show(log[-40:])
        return errors.DIED
    return int(status.read_text())


def _show_report(name, log, found):
    say(f"{name}: REPORT: the kernel complained {len(found)} times:")
    _show(report.excerpt(log, found))


def _show(lines):
    for line in lines:
        print(f"  {line}", file=sys.stderr)
    sys.stderr.flush()
