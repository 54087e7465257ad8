# SPDX-License-Identifier: GPL-2.0
"""A workload of SETs on a logged disk, and what every power cut must leave.

The XFS is mounted with wsync, so that each step of a swap is in the log at
once and a power cut can come between any two of them.
"""

import itertools
import os
import threading

from lib import births, ioctls, parents
from lib.fiemap import SHARED, extents
from lib.pattern import first_difference, pattern
from lib.wsctl import ok, wsctl
from lib.wsfs import Wsfs, strays
from lib.xfs import MIB, Xfs

AGCOUNT, AG_MIB = 4, 32
SIZE = 64 << 10
APPENDED = 10000
LENGTH = AGCOUNT * AG_MIB * MIB


class Workload:
    """Runs the SETs; knows from which mark on what has to be there."""

    def __init__(self, device, base, files):
        self.device = device
        self.xfs = Xfs(device.path, f"{base}/cut-lower")
        self.wsfs = Wsfs(self.xfs.path, f"{base}/cut")
        self.files = files
        self._fds = []

    def run(self):
        self.xfs.mkfs(AGCOUNT, AG_MIB)
        self.xfs.mount("wsync")
        self.wsfs.mount(4)
        os.mkdir(f"{self.wsfs.path}/d")
        streams = [self.wsfs.alloc() for _ in range(4)]
        try:
            self._prepare(streams)
            for i in range(self.files):
                self._one(i, streams)
        finally:
            for fd in self._fds:
                os.close(fd)
            for stream in streams:
                stream.close()
            self.wsfs.umount()
            self.xfs.umount()

    def _prepare(self, streams):
        pass

    def _one(self, i, streams):
        fd = os.open(f"{self.wsfs.path}/d/{i}", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o640)
        self._fds.append(fd)
        os.setxattr(fd, "user.who", b"%d" % i)
        os.fsync(fd)
        self.device.mark(f"created-{i}")
        ioctls.set_stream(fd, streams[i % 4].fd)
        self.device.mark(f"set-{i}")
        ioctls.set_stream(fd, streams[(i + 1) % 4].fd)
        os.fsync(fd)
        self.device.mark(f"set-again-{i}")
        os.write(fd, pattern(i, 0, SIZE))
        os.fsync(fd)
        self.device.mark(f"written-{i}")


class BirthWorkload(Workload):
    """Files that are born in the stream of their directory."""

    born_by = staticmethod(births.by_exclusive_open)

    def _prepare(self, streams):
        # not the directory's own AG: there XFS makes the file by itself
        here = os.stat(f"{self.xfs.path}/d").st_ino
        away = 0 if self.xfs.layout().ag_of_inode(here) else 1
        fd = os.open(f"{self.wsfs.path}/d", os.O_RDONLY)
        self._fds.append(fd)
        stream = next(s for s in streams if self.wsfs.ag_set(s.id) == {away})
        ioctls.set_dir(fd, ioctls.DIR_STREAM, stream.fd)

    def _is_placed(self, info):
        return info.homed

    def _one(self, i, streams):
        fd = self.born_by(f"{self.wsfs.path}/d", i, 0o640)
        self._fds.append(fd)
        assert self._is_placed(ioctls.FileInfo.of(fd))
        self.device.mark(f"born-{i}")
        os.setxattr(fd, "user.who", b"%d" % i)
        os.fsync(fd)
        self.device.mark(f"created-{i}")
        os.write(fd, pattern(i, 0, SIZE))
        os.fsync(fd)
        self.device.mark(f"written-{i}")


class UnnamedBirthWorkload(BirthWorkload):
    """The same, with a name only later: O_TMPFILE and linkat(2)."""

    born_by = staticmethod(births.by_tmpfile)


class MovedBirthWorkload(BirthWorkload):
    """XFS makes them, for they inherit a project, and they are moved then."""

    def _prepare(self, streams):
        super()._prepare(streams)
        parents.project(f"{self.wsfs.path}/d", self._fds[-1])


class SpreadBirthWorkload(BirthWorkload):
    """Files of a directory that take turns over the AGs."""

    def _prepare(self, streams):
        fd = os.open(f"{self.wsfs.path}/d", os.O_RDONLY)
        self._fds.append(fd)
        ioctls.set_dir(fd, ioctls.DIR_SPREAD)

    def _is_placed(self, info):
        return not info.has_stream


class AnchorWorkload(Workload):
    """SETs on files that have data, which is appended to in between."""

    def _one(self, i, streams):
        fd = os.open(f"{self.wsfs.path}/d/{i}", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o640)
        self._fds.append(fd)
        os.setxattr(fd, "user.who", b"%d" % i)
        os.write(fd, pattern(i, 0, SIZE))
        os.fsync(fd)
        self.device.mark(f"created-{i}")
        self.device.mark(f"written-{i}")
        for turn in range(3):
            ioctls.set_stream(fd, streams[(i + turn) % 4].fd)
            self.device.mark(f"set-{i}-{turn}")
            # not to the end of a block
            at = SIZE + turn * APPENDED
            os.pwrite(fd, pattern(i, at, APPENDED), at)
            os.fsync(fd)
            self.device.mark(f"appended-{i}-{turn}")


class RelocateWorkload(Workload):
    """Files with data, moved from AG to AG by wsctl relocate."""

    def _one(self, i, streams):
        path = f"{self.wsfs.path}/d/{i}"
        fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o640)
        try:
            os.setxattr(fd, "user.who", b"%d" % i)
            os.write(fd, pattern(i, 0, SIZE - APPENDED))
            os.fsync(fd)
            os.write(fd, pattern(i, SIZE - APPENDED, APPENDED))
            os.fsync(fd)
        finally:
            os.close(fd)
        self.device.mark(f"created-{i}")
        self.device.mark(f"written-{i}")
        here = self.xfs.layout().ag_of_inode(os.stat(path).st_ino)
        for turn in range(1, 3):
            ok("relocate", "--ags", (here + turn) % AGCOUNT, path)
            self.device.mark(f"relocated-{i}-{turn}")


class BusyWorkload(Workload):
    """A file that is appended to and given one stream after the other, while wsctl
    relocate moves it to and fro."""

    TURNS, RELOCATIONS = 8, 3

    def _one(self, i, streams):
        path = f"{self.wsfs.path}/d/{i}"
        fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o640)
        self._fds.append(fd)
        os.setxattr(fd, "user.who", b"%d" % i)
        os.write(fd, pattern(i, 0, SIZE))
        os.fsync(fd)
        self.device.mark(f"created-{i}")
        self.device.mark(f"written-{i}")
        stop, failures = threading.Event(), []

        def relocate():
            try:
                for turn in itertools.count():
                    if stop.is_set() and turn >= self.RELOCATIONS:
                        break
                    done = wsctl("relocate", "--ags", turn % AGCOUNT, path)
                    assert done.status in (0, 1), done
            except BaseException as failure:  # handed to the test's thread
                failures.append(failure)

        relocator = threading.Thread(target=relocate)
        relocator.start()
        try:
            for turn in range(self.TURNS):
                ioctls.set_stream(fd, streams[turn % 4].fd)
                at = SIZE + turn * APPENDED
                os.pwrite(fd, pattern(i, at, APPENDED), at)
                os.fsync(fd)
                self.device.mark(f"appended-{i}-{turn}")
        finally:
            stop.set()
            relocator.join()
        if failures:
            raise failures[0]
        self.device.mark(f"relocated-{i}")


def kept(i, passed):
    """Bytes of file @i that were on the disk for good."""
    turns = sum(text.startswith(f"appended-{i}-") for text in passed)
    return SIZE * (f"written-{i}" in passed) + turns * APPENDED


def check(disk, base, passed):
    """Mount what a power cut left on @disk; @passed are the marks before it.
    Returns complaints."""
    xfs = Xfs(disk, f"{base}/cut-lower")
    wsfs = Wsfs(xfs.path, f"{base}/cut")
    xfs.agcount = AGCOUNT
    complaints = []
    xfs.mount()
    try:
        wsfs.mount(4)
        try:
            complaints += _check_files(wsfs.path, passed)
            complaints += _relocate_again(xfs, wsfs.path)
        finally:
            wsfs.umount()
        if left := strays(xfs.path):
            complaints.append(f"left in .wsfs: {left}")
    finally:
        xfs.umount()
    if report := xfs.check():
        complaints.append(f"xfs_repair -n:\n{report}")
    return complaints


def _left_by_relocate(top):
    """wsctl relocate may have been about to remove one of its directories."""
    return [name for name in os.listdir(top) if name.startswith(".wsctl-relocate-")]


def _relocate_again(xfs, top):
    """What it has left is gone then."""
    if not _left_by_relocate(top):
        return []
    path = f"{top}/d/0"
    fd = os.open(path, os.O_RDONLY)
    try:
        here = xfs.layout().ag_of_byte(extents(fd)[0].physical)
    finally:
        os.close(fd)
    ok("relocate", "--ags", (here + 1) % AGCOUNT, path)
    return [f"{name}: not removed by the next wsctl relocate" for name in _left_by_relocate(top)]


def _check_files(top, passed):
    """Each file that was there is there, whole, and nothing else is."""
    complaints = []
    names = set(os.listdir(f"{top}/d")) if os.path.isdir(f"{top}/d") else set()
    extra = set(os.listdir(top)) - {"d", *_left_by_relocate(top)}
    if extra:
        complaints.append(f"stray names in the root: {extra}")
    for i in range(1000):
        if f"created-{i}" not in passed:
            break
        path = f"{top}/d/{i}"
        if str(i) not in names:
            complaints.append(f"{path}: gone")
            continue
        names.remove(str(i))
        complaints += _check_file(path, i, kept(i, passed))
    # one more may just have been made
    if names - {str(i)}:
        complaints.append(f"stray names: {names}")
    return complaints


def _check_file(path, i, size):
    got = os.stat(path)
    complaints = []
    if got.st_mode != 0o100640 or got.st_nlink != 1:
        complaints.append(f"{path}: mode {got.st_mode:o}, {got.st_nlink} links")
    if os.getxattr(path, "user.who") != b"%d" % i:
        complaints.append(f"{path}: another file's xattr")
    with open(path, "rb") as f:
        if [extent for extent in extents(f.fileno()) if extent.flags & SHARED]:
            complaints.append(f"{path}: shares a block")
        data = f.read()
    if difference := first_difference(data[:size], pattern(i, 0, size)):
        complaints.append(f"{path}: fsynced data: {difference}")
    if difference_of_prefix(data, i):
        complaints.append(f"{path}: bytes that were never written")
    return complaints


def difference_of_prefix(data, i):
    """Does @data hold anything but zeros and the bytes that file @i gets?"""
    want = pattern(i, 0, len(data))
    return any(a not in (0, b) for a, b in zip(data, want))
