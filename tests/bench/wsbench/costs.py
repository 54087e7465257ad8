# SPDX-License-Identifier: GPL-2.0
"""What steering costs: two ways of doing a thing, both on wsfs with streams.

Another cost is another subclass of Cost in plan.COSTS."""

import collections
import functools
import os

from lib import ioctls
from lib.fiemap import extents
from lib.relocating import in_ags
from lib.shell import run

from . import slabs
from .data import BLOCK, EMPTY, WRITTEN, milliseconds, write_through
from .errors import NotMeasured
from .fio import run_jobs
from .meter import Meter
from .names import names
from .scale import KIB, MIB
from .targets import AGS, STEERED
from .workload import Workload, opened

OLD = 64 * KIB  # what a file has before SET


class Cost(Workload):
    """`ways` are the two, the one to compare with first; way(name, target, scale)
    returns the sample of a round, in target.directory."""

    ways = ()

    def __init__(self, row):
        self.rows = (row,)

    def runs_on(self, target):
        return target.name == STEERED

    def columns(self, targets):
        return [(way, target, functools.partial(self._measure, way, target))
                for way in self.ways for target in targets if self.runs_on(target)]

    def _measure(self, way, target, scale):
        return {self.rows[0].name: self.way(way, target, scale)}

    def way(self, name, target, scale):
        """A round."""
        raise NotImplementedError


def elsewhere(target, fd):
    """A stream that the file is not at home in."""
    agno = ioctls.FileInfo.of(fd).inode_agno
    return next(s for s in target.streams if agno not in target.wsfs.ag_set(s.id))


class Anchor(Cost):
    """4 KiB at the end of a file that has data, and fsync; without SET, and after
    a SET that anchors it."""

    filesystem = EMPTY
    PLAIN = "plain append"
    ANCHORING = "SET and append"
    ways = (PLAIN, ANCHORING)

    def way(self, name, target, scale):
        with target.unsteered():
            paths = target.create(scale.anchor_files)
        fds = [os.open(path, os.O_RDWR | os.O_CLOEXEC) for path in paths]
        try:
            for fd in fds:
                os.pwrite(fd, bytes(OLD), 0)
            os.sync()
            streams = [elsewhere(target, fd) for fd in fds]
            block = b"\xa5" * BLOCK
            with Meter() as meter:
                for fd, stream in zip(fds, streams):
                    if name == self.ANCHORING:
                        ioctls.set_stream(fd, stream.fd)
                    os.pwrite(fd, block, OLD)
                    os.fsync(fd)
            if name == self.ANCHORING:
                self._check(target, zip(paths, fds, streams))
        finally:
            for fd in fds:
                os.close(fd)
        return meter.sample(scale.anchor_files)

    @staticmethod
    def _check(target, files):
        layout = target.xfs.layout()
        for path, fd, stream in files:
            info = ioctls.FileInfo.of(fd)
            agno = layout.ag_of_byte(extents(fd)[-1].physical)
            if not info.anchored or agno not in target.wsfs.ag_set(stream.id):
                raise NotMeasured(f"{path}: SET has not anchored it: {info}, its end is in AG "
                                  f"{agno}")


class Carrying(Cost):
    """Writes over what is there, in a file without a stream and in one with: there
    is nothing to do for the stream."""

    filesystem = WRITTEN
    WITHOUT = "no stream"
    WITH = "a stream"
    ways = (WITHOUT, WITH)

    def __init__(self, row, **options):
        super().__init__(row)
        self.options = options

    def way(self, name, target, scale):
        files = target.prepared
        path = files.written[0] if name == self.WITH else files.unsteered
        if target.info(path).has_stream != (name == self.WITH):
            raise NotMeasured(f"{path}: {target.info(path)}")
        return run_jobs([path], scale.file, rw="randwrite", bs=BLOCK, size=scale.file,
                        norandommap=1, time_based=1, runtime=milliseconds(scale.seconds),
                        **self.options)


class Births(Cost):
    """Empty files made in a new directory, and in one that says where they are made:
    in the AGs of its stream, or in all AGs in turn. No inode has to be replaced."""

    filesystem = EMPTY
    PLAIN = "plain directory"

    def __init__(self, row, how, way):
        super().__init__(row)
        self.how = how
        self.ways = (self.PLAIN, way)

    def way(self, name, target, scale):
        expected = self._place(target) if name != self.PLAIN else None
        sample = names(target.directory, "create", scale.births)
        self._check(target, scale.births, expected)
        return sample

    def _place(self, target):
        """Says it of the directory; returns the AGs that its files are to be in."""
        with opened(target.directory) as fd:
            if self.how != ioctls.DIR_STREAM:
                ioctls.set_dir(fd, self.how)
                return set(range(AGS))
            stream = elsewhere(target, fd)
            ioctls.set_dir(fd, self.how, stream.fd)
            return target.wsfs.ag_set(stream.id)

    @staticmethod
    def _check(target, count, expected):
        """Each of those AGs has its share. In a plain directory, where the cost of an
        AG is paid once: most are in one."""
        layout = target.xfs.layout()
        found = collections.Counter(layout.ag_of_inode(entry.inode())
                                    for entry in os.scandir(target.directory))
        if expected is None:
            right = max(found.values()) > 0.9 * count
        else:
            share = count / len(expected)
            right = (set(found) == expected
                     and all(abs(files - share) < max(2, 0.1 * share) for files in found.values()))
        if not right or sum(found.values()) != count:
            raise NotMeasured(f"{target.directory}: {count} files lie in other AGs than "
                              f"expected: {dict(sorted(found.items()))}")


class Relocation(Cost):
    """A file that is on the disk and not in the page cache is on the disk once more:
    in another file, or the same one in other AGs."""

    filesystem = EMPTY
    COPYING = "cp"
    RELOCATING = "wsctl relocate"
    ways = (COPYING, RELOCATING)

    def way(self, name, target, scale):
        with target.unsteered():
            path = target.create(1)[0]
        write_through(path, scale.sequential)
        with opened(path) as fd:
            stream = elsewhere(target, fd)
        slabs.drop(1)
        with Meter() as meter:
            if name == self.COPYING:
                run("cp", "--reflink=never", path, f"{path}.copy")
            else:
                run("wsctl", "relocate", "--stream", stream.id, path)
            os.sync()
        if name == self.COPYING:
            self._check_copy(f"{path}.copy", scale.sequential)
        else:
            self._check_home(target, path, target.wsfs.ag_set(stream.id))
        return meter.sample(scale.sequential / MIB)

    @staticmethod
    def _check_copy(path, size):
        now = os.stat(path)
        if now.st_size != size or now.st_blocks * 512 < size:
            raise NotMeasured(f"{path}: {now.st_size} bytes in {now.st_blocks} blocks of 512 "
                              f"bytes, not {size}")

    @staticmethod
    def _check_home(target, path, ag_set):
        left = in_ags(target, path) - ag_set
        if left:
            raise NotMeasured(f"{path}: relocated, and it has data in AGs {sorted(left)}, outside "
                              f"{sorted(ag_set)}")
