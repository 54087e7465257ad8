# SPDX-License-Identifier: GPL-2.0
"""What is compared: five ways to a file, on one XFS."""

import contextlib
import os
import shutil

from lib import ioctls
from lib.agsets import ag_sets
from lib.shell import run
from lib.wsfs import Wsfs
from lib.xfs import Xfs

from .errors import NotMeasured

STREAMS = 4
AGS = 16

PLAIN = "plain XFS"
HOMED = "homed by hand"
WSFS = "wsfs"
STEERED = "wsfs, streams"
OVERLAY = "overlayfs"


class Target:
    """Plain XFS, and what the others have in common with it.

    `directory` is where a row works; `top` is where it is made."""

    name = PLAIN

    def __init__(self, base, xfs):
        self.base = base
        self.xfs = xfs
        self.top = xfs.path
        self.directory = None
        self.prepared = None
        self.unprepared = None  # why it could not be
        self._held = []

    def mount(self):
        """On a new XFS."""

    def umount(self):
        """After the last row on it."""

    def begin(self, name):
        """Work in a new directory."""
        self.directory = os.path.join(self.top, f"{self.name.replace(' ', '-')}-{name}")
        os.mkdir(self.directory)

    def end(self):
        """Nothing of it stays."""
        shutil.rmtree(self.directory)

    def hold(self, path):
        """Keep a file, and what the target knows of it, in memory until release()."""
        self._held.append(os.open(path, os.O_RDONLY | os.O_CLOEXEC))

    def release(self):
        """Close what is held."""
        while self._held:
            os.close(self._held.pop())

    def create(self, count, streams=STREAMS):
        """@count empty files to be written, spread over @streams; their paths."""
        paths = [os.path.join(self.place(n, streams), f"f.{n}") for n in range(count)]
        for n, path in enumerate(paths):
            fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
            self.steer(fd, n % streams)
            os.close(fd)
        return paths

    def place(self, number, streams):
        """The directory of a file."""
        return self.directory

    def steer(self, fd, slot):
        """What the target does for the placement of a file."""

    def check_steered(self, paths):
        """Has it been done? Raises NotMeasured."""


class Homed(Target):
    """Plain XFS, each file by hand in a directory of an AG of its own: what
    steering can reach."""

    name = HOMED

    def begin(self, name):
        super().begin(name)
        layout = self.xfs.layout()
        homes = {}
        # XFS puts new directories into the AGs in turn.
        for n in range(4 * AGS):
            path = os.path.join(self.directory, f"d{n}")
            os.mkdir(path)
            homes.setdefault(layout.ag_of_inode(os.stat(path).st_ino), path)
            if len(homes) == AGS:
                break
        else:
            raise NotMeasured(f"{self.directory}: XFS made {4 * AGS} directories in only "
                              f"{len(homes)} of {AGS} AGs")
        self._homes = homes

    def place(self, number, streams):
        # As wsfs does: the AGs of the file's stream in turn.
        agnos = sorted(ag_sets(STREAMS, AGS)[number % streams])
        return self._homes[agnos[number // streams % len(agnos)]]


class Stacked(Target):
    """wsfs, no stream set."""

    name = WSFS

    def mount(self):
        self.wsfs = Wsfs(self.xfs.path, os.path.join(self.base, self.name.replace(" ", "-")))
        self.wsfs.mount(STREAMS)
        self.top = self.wsfs.path

    def umount(self):
        self.wsfs.umount()


class Steered(Stacked):
    """wsfs, each file on its stream."""

    name = STEERED

    def mount(self):
        super().mount()
        self.streams = sorted((self.wsfs.alloc() for _ in range(STREAMS)), key=lambda it: it.id)

    def umount(self):
        for stream in self.streams:
            stream.close()
        super().umount()

    def steer(self, fd, slot):
        ioctls.set_stream(fd, self.streams[slot].fd)

    def check_steered(self, paths):
        for path in paths:
            info = self.info(path)
            if not info.has_stream or not info.homed:
                raise NotMeasured(f"{path}: SET has not moved it: {info}")

    @staticmethod
    def info(path):
        """What wsfs says of a file."""
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return ioctls.FileInfo.of(fd)
        finally:
            os.close(fd)

    @contextlib.contextmanager
    def unsteered(self):
        """Files made meanwhile get no stream."""
        self.steer = lambda fd, slot: None
        try:
            yield
        finally:
            del self.steer


class Overlay(Target):
    """overlayfs with XFS as its upper layer."""

    name = OVERLAY

    def mount(self):
        self.top = os.path.join(self.base, "overlay")
        parts = {part: os.path.join(self.xfs.path, f"overlay-{part}")
                 for part in ("lower", "upper", "work")}
        os.makedirs(self.top, exist_ok=True)
        for path in parts.values():
            os.mkdir(path)
        options = ",".join(f"{part}dir={path}" for part, path in parts.items())
        run("mount", "-t", "overlay", "-o", options, "overlay", self.top)

    def umount(self):
        run("umount", self.top)


TARGETS = [Target, Homed, Stacked, Steered, Overlay]


@contextlib.contextmanager
def mounted(disk, base, kinds):
    """A new XFS on @disk and the targets over it, until the end of the block."""
    run("mkfs.xfs", "-q", "-f", "-d", f"agcount={AGS}", disk)
    xfs = Xfs(disk, os.path.join(base, "xfs"))
    xfs.mount()
    up = []
    try:
        for kind in kinds:
            target = kind(base, xfs)
            target.mount()
            up.append(target)
        yield up
    finally:
        for target in reversed(up):
            target.release()
            target.umount()
        xfs.umount()
