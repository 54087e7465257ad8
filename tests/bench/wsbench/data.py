# SPDX-License-Identifier: GPL-2.0
"""Workloads on the data of files."""

import dataclasses
import mmap
import os
import statistics
import time

from . import slabs
from .errors import NotMeasured
from .fio import run_jobs
from .meter import Meter
from .scale import KIB, MIB
from .workload import Filesystem, Workload, extents_of

BLOCK = 4096


def milliseconds(seconds):
    """In fio's words."""
    return f"{round(seconds * 1000)}ms"


def write_through(path, size):
    """Written, and on the disk: no allocation and no conversion is left to do."""
    chunk = b"\xa5" * min(size, MIB)
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        for _ in range(size // len(chunk)):
            os.write(fd, chunk)
        os.fsync(fd)
    finally:
        os.close(fd)


def write_in_blocks(path, size):
    """The same, and no two blocks that follow each other in the file do so on the
    disk: first every other block, in one run, then those between them in another."""
    fd = os.open(path, os.O_WRONLY | os.O_DIRECT | os.O_CLOEXEC)
    try:
        with mmap.mmap(-1, BLOCK) as block:
            for first in (0, BLOCK):
                for at in range(first, size, 2 * BLOCK):
                    os.pwrite(fd, block, at)
        os.fsync(fd)
    finally:
        os.close(fd)
    count = extents_of(path)
    if count < 0.95 * size / BLOCK:
        raise NotMeasured(f"{path}: {count} extents of {size // BLOCK} blocks: too few ends "
                          "of extents to write over")


@dataclasses.dataclass
class Files:
    """What Written has made."""

    written: list
    crossing: str
    unsteered: str = None  # like written[0], but without a stream; on wsfs with streams


class Written(Filesystem):
    """Files that have their data already."""

    def prepare(self, target, scale):
        *written, crossing = target.create(5)
        target.check_steered((*written, crossing))
        for path in written:
            write_through(path, scale.file)
        write_in_blocks(crossing, scale.crossing)
        files = Files(written, crossing)
        # Put out of memory, a file would lose its stream.
        for path in (*written, crossing):
            target.hold(path)
        if hasattr(target, "unsteered"):
            files.unsteered = os.path.join(target.directory, "unsteered")
            os.close(os.open(files.unsteered, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
            write_through(files.unsteered, scale.file)
            target.hold(files.unsteered)
        return files


WRITTEN = Written()
EMPTY = Filesystem()
APPENDS = Filesystem()


class Random(Workload):
    """Direct I/O at random places of written files, for some seconds."""

    filesystem = WRITTEN

    def __init__(self, row, rw, jobs, files=1, block=BLOCK, engine="io_uring"):
        self.rows = (row,)
        self.jobs = jobs
        self.files = files
        self.apart = files > 1
        self.options = {"rw": rw, "bs": block, "direct": 1, "ioengine": engine, "iodepth": 32,
                        "norandommap": 1, "time_based": 1}

    def paths(self, target):
        """One for each job."""
        written = target.prepared.written
        return [written[n % self.files] for n in range(self.jobs)]

    def size(self, scale):
        """Of each file."""
        return scale.file

    def place(self, scale):
        """Where in it."""
        return {"size": scale.file}

    def measure(self, target, scale):
        sample = run_jobs(self.paths(target), self.size(scale), **self.options,
                          **self.place(scale), runtime=milliseconds(scale.seconds))
        return {self.rows[0].name: sample}


class Crossing(Random):
    """Each write goes from one extent over into the next. Direct writes begin at a
    multiple of 512 bytes, so the smallest that does is of 1 KiB."""

    def __init__(self, row, jobs):
        super().__init__(row, "randwrite", jobs, block=KIB, engine="libaio")

    def paths(self, target):
        return [target.prepared.crossing] * self.jobs

    def size(self, scale):
        return scale.crossing

    def place(self, scale):
        return {"offset": BLOCK - 512, "size": scale.crossing - BLOCK, "blockalign": BLOCK}


class SequentialWrite(Workload):
    """A new file, 1 MiB at a time through the page cache; fsync at its end."""

    filesystem = EMPTY

    def __init__(self, row):
        self.rows = (row,)

    def measure(self, target, scale):
        path = target.create(1)[0]
        target.check_steered([path])
        with Meter() as meter:
            write_through(path, scale.sequential)
        count = scale.sequential // MIB
        return {self.rows[0].name: meter.sample(count, extents=extents_of(path))}


class SequentialRead(Workload):
    """Files that are not in the page cache, 1 MiB at a time through it."""

    filesystem = WRITTEN
    apart = True

    def __init__(self, row):
        self.rows = (row,)

    def measure(self, target, scale):
        slabs.drop(1)
        buffer = bytearray(MIB)
        done = 0
        with Meter() as meter:
            for path in target.prepared.written:
                fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
                try:
                    while got := os.readv(fd, [buffer]):
                        done += got
                finally:
                    os.close(fd)
        if done != scale.file * len(target.prepared.written):
            raise NotMeasured(f"{target.directory}: {done} bytes read")
        return {self.rows[0].name: meter.sample(done // MIB)}


class SyncAppends(Workload):
    """512 bytes through the page cache at the end of a log, and fsync, for some
    seconds."""

    filesystem = EMPTY

    def __init__(self, row):
        self.rows = (row,)

    def measure(self, target, scale):
        path = target.create(1)[0]
        target.check_steered([path])
        record, count = b"\xa5" * 512, 0
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            with Meter() as meter:
                end = time.monotonic() + scale.seconds
                while time.monotonic() < end:
                    os.write(fd, record)
                    os.fsync(fd)
                    count += 1
        finally:
            os.close(fd)
        if os.stat(path).st_size != count * len(record):
            raise NotMeasured(f"{path}: {os.stat(path).st_size} bytes after {count} appends")
        return {self.rows[0].name: meter.sample(count)}


class Appends(Workload):
    """F7 of the design: a writer a file, all of them in one directory, each appends
    4 KiB at a time directly."""

    filesystem = APPENDS
    apart = True

    def __init__(self, row, files, streams):
        self.rows = (row,)
        self.files = files
        self.streams = streams

    def measure(self, target, scale):
        paths = target.create(self.files, self.streams)
        target.check_steered(paths)
        # file_append: without it fio unlinks an empty file and makes another one.
        sample = run_jobs(paths, scale.append, rw="write", bs=BLOCK, direct=1, ioengine="libaio",
                          iodepth=32, size=scale.append, file_append=1)
        sample["extents"] = statistics.mean(extents_of(path) for path in paths)
        return {self.rows[0].name: sample}
