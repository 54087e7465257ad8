# SPDX-License-Identifier: GPL-2.0
"""A test bed: XFS on a disk, and wsfs over it unless it is a plain one."""

import os

from lib import ioctls
from lib.shell import status
from lib.wsfs import Wsfs, strays
from lib.xfs import Xfs


class Bed:
    """Where a test works: `path`. `lower` is the XFS seen directly."""

    def __init__(self, disk, base, stacked=True):
        self.disk = disk
        self.stacked = stacked
        self.xfs = Xfs(disk, f"{base}/lower")
        self.wsfs = Wsfs(self.xfs.path, f"{base}/wsfs") if stacked else None
        self.lower = self.xfs.path
        self._top = self.path = self.wsfs.path if stacked else self.lower
        self._streams = None
        self._xfs_options = ""
        self._options = ()
        self._fds = set()
        self.streams = []  # reserved by alloc()
        self._undo = []

    def make(
        self, agcount=16, ag_mib=32, streams=None, mkfs=(), data=None, xfs_options="",
        options=(), rtdev=None,
    ):
        """mkfs and mount; @options are words for wsfs's -o."""
        self.xfs.mkfs(agcount, ag_mib, *mkfs, data=data, rtdev=rtdev)
        self._streams = streams
        self._xfs_options = xfs_options
        self._options = options
        self.mount()

    def mount(self):
        self.xfs.mount(self._xfs_options)
        if self.stacked:
            self.wsfs.mount(self._streams, self._options)

    def umount(self):
        """Unmount both; the test's files have to be closed before."""
        if self.stacked and self.wsfs.mounted:
            self.wsfs.umount()
        if self.xfs.mounted:
            self.xfs.umount()

    def remount(self):
        self.close_all()
        self.umount()
        self.mount()

    # files and streams: closed at the end of the test at the latest

    def at(self, name):
        return os.path.join(self.path, name)

    def below(self, name):
        """The same file, seen directly on the XFS."""
        return os.path.join(self.lower, name)

    def open(self, name, flags=os.O_RDWR | os.O_CREAT, mode=0o644):
        return self.adopt(os.open(self.at(name), flags | os.O_CLOEXEC, mode))

    def adopt(self, fd):
        self._fds.add(fd)
        return fd

    def close(self, *fds):
        for fd in fds:
            self._fds.remove(fd)
            os.close(fd)

    def alloc(self):
        stream = self.wsfs.alloc()
        self.streams.append(stream)
        return stream

    def set(self, fd, stream):
        ioctls.set_stream(fd, stream.fd)

    def info(self, fd):
        return ioctls.FileInfo.of(fd)

    def enter(self, name):
        """Work in a new directory of that name until leave(); of another name where
        the test is run again (lib/strays.py)."""
        while os.path.exists(os.path.join(self._top, name)):
            name += "+"
        self.path = os.path.join(self._top, name)
        self.lower = os.path.join(self.xfs.path, name)
        os.mkdir(self.path)

    def leave(self):
        """Close the test's files and streams; both stay mounted."""
        self._undo_all()
        self.close_all()
        self.path, self.lower = self._top, self.xfs.path

    def _undo_all(self):
        for undo in reversed(self._undo):
            undo()
        self._undo.clear()

    def on_finish(self, undo):
        """Call @undo when the test ends, before unmounting."""
        self._undo.append(undo)

    def close_all(self):
        for fd in self._fds:
            os.close(fd)
        self._fds.clear()
        for stream in self.streams:
            stream.close()
        self.streams.clear()

    def finish(self):
        """Unmount and look for what was left behind; a list of complaints."""
        complaints = []
        self._undo_all()
        self.close_all()
        if self.stacked and self.wsfs.mounted:
            complaints += self._leave(self.wsfs)
        if self.xfs.mounted:
            if left := strays(self.lower):
                complaints.append(f"left in .wsfs: {left}")
            complaints += self._leave(self.xfs)
            if report := self.xfs.check():
                complaints.append(f"xfs_repair -n:\n{report}")
        return complaints

    @staticmethod
    def _leave(fs):
        code, output = status("umount", fs.path)
        if code:
            status("umount", "-l", fs.path)
        fs.mounted = False
        return [output] if code else []
