# SPDX-License-Identifier: GPL-2.0
"""The workload of the placement tests: files of one directory over streams."""

import itertools
import os

from lib.placement import assert_balanced, assert_placed
from lib.writers import Target


class Table:
    """@files files in one directory, dealt to the @streams reserved streams,
    written in one @way."""

    def __init__(self, bed, way, streams, files, directory="table"):
        self.bed = bed
        self.way = way
        self.streams = streams
        os.mkdir(bed.at(directory))
        for fd in way.prepare(bed.at(directory)):
            bed.adopt(fd)
        self.targets = []
        for i in range(files):
            stream = streams[i % len(streams)]
            name = f"{directory}/{i:03}"
            fd = bed.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | way.flags)
            bed.set(fd, stream)
            self.targets.append(Target(bed.at(name), fd, i, stream.id))

    def waves(self):
        """The files, those of one AG one after the other: XFS does not wait for
        the lock of an AG in which somebody else allocates, but goes to the next
        (xfs_alloc_vextent_start_ag)."""
        layout = self.bed.xfs.layout()
        by_ag = {}
        for target in self.targets:
            by_ag.setdefault(layout.ag_of_inode(os.fstat(target.fd).st_ino), []).append(target)
        for wave in itertools.zip_longest(*by_ag.values()):
            yield [target for target in wave if target]

    def write(self, streams=None):
        """As many writers at once as there are AGs; of these streams alone."""
        for wave in self.waves():
            chosen = [t for t in wave if streams is None or t.stream in streams]
            if chosen:
                self.way.write_all(chosen)

    def write_at_once(self):
        """All files at once, whatever AG they are in."""
        self.way.write_all(self.targets)

    def of(self, stream_id):
        return [t for t in self.targets if t.stream == stream_id]

    def assert_home(self, sets):
        """Every extent is in its stream's set, the files are spread evenly
        over each set, the bytes are right. @sets: stream id → AGs."""
        layout = self.bed.xfs.layout()
        assert_placed(layout, [(t.path, t.fd, sets[t.stream]) for t in self.targets])
        for stream_id in {t.stream for t in self.targets}:
            fds = [t.fd for t in self.of(stream_id)]
            assert_balanced(layout, fds, sets[stream_id])
        self.assert_contents()

    def assert_contents(self):
        """As read through wsfs and from the XFS directly."""
        for target in self.targets:
            self.way.check(target)
            self.way.check(target, target.path.replace(self.bed.path, self.bed.lower, 1))

    def reopen(self):
        """After a remount."""
        for target in self.targets:
            target.fd = self.bed.adopt(os.open(target.path, os.O_RDWR | os.O_CLOEXEC))
