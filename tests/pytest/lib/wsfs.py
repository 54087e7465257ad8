# SPDX-License-Identifier: GPL-2.0
"""The module, a wsfs mount, what it tells in sysfs and what it may leave."""

import os

from lib import agsets
from lib.ioctls import Geometry, alloc
from lib.shell import run, status

PRIVATE = ".wsfs"


def loaded():
    with open("/proc/filesystems") as f:
        return any(line.split()[-1] == "wsfs" for line in f)


def load_module():
    """insmod WSFS_MODULE, else modprobe, unless it is there already."""
    if loaded():
        return
    module = os.environ.get("WSFS_MODULE")
    if module:
        status("modprobe", "xfs")
        run("insmod", module)
    else:
        run("modprobe", "wsfs")


def unload_module():
    run("rmmod", "wsfs")


def must_stay_loaded():
    """Why the module cannot go while tests run, or None. KASAN in UML does not
    clear the shadow of a module that goes, so whoever gets its addresses next is
    reported (global-out-of-bounds); it has no CONFIG_KASAN_VMALLOC."""
    with open("/proc/cpuinfo", encoding="ascii") as f:
        uml = "User Mode Linux" in f.read()
    kasan = os.path.exists("/sys/kernel/debug/kmemleak")  # one has both or none
    return "KASAN in UML keeps the shadow of a module" if uml and kasan else None


class Stream:
    """A reserved stream, held by an fd."""

    def __init__(self, fd):
        self.fd = fd

    def fileno(self):
        return self.fd

    def info(self):
        """fdinfo of the stream as a dict of strings."""
        with open(f"/proc/self/fdinfo/{self.fd}") as f:
            pairs = (line.split(":", 1) for line in f)
            return {key: value.strip() for key, value in pairs}

    @property
    def id(self):
        return int(self.info()["stream"])

    def close(self):
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


class Wsfs:
    """A wsfs mounted on @path over the directory @lower."""

    def __init__(self, lower, path):
        self.lower = lower
        self.path = path
        self.mounted = False

    def mount(self, streams=None, options=()):
        os.makedirs(self.path, exist_ok=True)
        words = list(options)
        if streams is not None:
            words.append(f"streams={streams}")
        opts = ["-o", ",".join(words)] if words else []
        run("mount", "-t", "wsfs", *opts, self.lower, self.path)
        self.mounted = True

    def umount(self):
        run("umount", self.path)
        self.mounted = False

    def geometry(self):
        fd = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            return Geometry.of(fd)
        finally:
            os.close(fd)

    def alloc(self):
        """Reserve a stream."""
        fd = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            return Stream(alloc(fd))
        finally:
            os.close(fd)

    def sysfs(self, name):
        """The text of a file below /sys/fs/wsfs/DEV/."""
        with open(f"/sys/fs/wsfs/{self.geometry().dev}/{name}") as f:
            return f.read().strip()

    def count(self, stream_id, name):
        return int(self.sysfs(f"stream/{stream_id}/{name}"))

    def ag_set(self, stream_id):
        return agsets.parse(self.sysfs(f"stream/{stream_id}/ag_set"))


def strays(lower):
    """Everything below LOWER/.wsfs that is not one of the AG directories."""
    top = os.path.join(lower, PRIVATE)
    found = []
    if not os.path.isdir(top):
        return found
    for entry in os.scandir(top):
        if not entry.is_dir(follow_symlinks=False):
            found.append(entry.path)
            continue
        found += [inner.path for inner in os.scandir(entry.path)]
    return found
