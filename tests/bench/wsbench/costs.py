# SPDX-License-Identifier: GPL-2.0
"""What steering costs: two ways of doing a thing, both on wsfs with streams.

Another cost is another subclass of Cost in plan.COSTS."""

import functools
import os

from lib import ioctls
from lib.fiemap import extents

from .data import BLOCK, EMPTY, WRITTEN, milliseconds
from .errors import NotMeasured
from .fio import run_jobs
from .meter import Meter
from .scale import KIB
from .targets import STEERED
from .workload import Workload

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
            streams = [self._elsewhere(target, fd) for fd in fds]
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
    def _elsewhere(target, fd):
        """A stream that the file is not at home in."""
        agno = ioctls.FileInfo.of(fd).inode_agno
        return next(s for s in target.streams if agno not in target.wsfs.ag_set(s.id))

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
