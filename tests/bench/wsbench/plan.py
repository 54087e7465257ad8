# SPDX-License-Identifier: GPL-2.0
"""The rows of the table, in its order, and their goals."""

import dataclasses

from lib import ioctls

from . import rocksdb, targets
from .costs import Anchor, Births, Carrying, Relocation
from .data import Appends, Crossing, Random, SequentialRead, SequentialWrite, SyncAppends
from .names import Names, Set
from .stats import Goal
from .targets import HOMED, OVERLAY, PLAIN, STEERED, WSFS
from .workload import Row

BOTH = (WSFS, STEERED)

# Two columns that do the same differ by so much.
NOISE = 0.95


def beside_xfs(least):
    """Both ways to use wsfs reach @least of plain XFS, and neither is behind overlayfs."""
    return (*(Goal(who, PLAIN, least) for who in BOTH),
            *(Goal(who, OVERLAY, 1.0, NOISE) for who in BOTH))


def ahead(least):
    """The same, but ahead of overlayfs: the rounds' noise is no excuse."""
    return (*(Goal(who, PLAIN, least) for who in BOTH),
            *(Goal(who, OVERLAY, 1.0) for who in BOTH))


STEERING = (Goal(STEERED, HOMED, 0.97), Goal(WSFS, OVERLAY, 1.0, NOISE),
            Goal(STEERED, OVERLAY, 1.0, NOISE))

# SET has no like on overlayfs.
SETTING = (Goal(WSFS, OVERLAY, 1.0, NOISE),)

NO_DIFFERENCE = (Goal(Carrying.WITH, Carrying.WITHOUT, 0.98, 0.9),)

# "At most 1.5 times": a file is made without a name, then linked.
BORN_IN_STREAM, BORN_SPREAD = "one with a stream", "a spread one"


def at_most_half_as_long_again(way):
    """Files made in such a directory against those of a plain one."""
    return (Goal(way, Births.PLAIN, 0.67),)


def _jobs(count):
    return f"{count} job{'s' * (count > 1)}"


def _on_one_file(jobs, least):
    return beside_xfs(least) if jobs == 1 else ahead(least)


ROWS = (
    *(Random(Row(f"4 KiB direct random {rw}, {_jobs(jobs)} on {files} file{'s' * (files > 1)}",
                 "IOPS", beside_xfs(0.95) if files > 1 else _on_one_file(jobs, 0.95)),
             f"rand{rw}", jobs, files)
      for rw in ("write", "read") for jobs, files in ((1, 1), (4, 1), (4, 4))),
    *(Random(Row(f"512 B AIO random {rw}, {_jobs(jobs)}", "IOPS", _on_one_file(jobs, 0.95)),
             f"rand{rw}", jobs, block=512, engine="libaio")
      for rw in ("write", "read") for jobs in (1, 4)),
    *(Crossing(Row(f"1 KiB AIO write over extent ends, {_jobs(jobs)}", "IOPS",
                   _on_one_file(jobs, 0.95)), jobs)
      for jobs in (1, 4)),
    SequentialRead(Row("buffered 1 MiB sequential read", "MiB/s", beside_xfs(0.95))),
    SequentialWrite(Row("buffered 1 MiB sequential write", "MiB/s", beside_xfs(0.95))),
    SyncAppends(Row("512 B appends, each with fsync", "appends/s", beside_xfs(0.95))),
    Names(create=Row("create", "files/s", beside_xfs(0.8)),
          first=Row("stat, not in memory", "files/s", beside_xfs(0.8)),
          again=Row("stat, in memory", "files/s", beside_xfs(0.8)),
          readdir=Row("readdir", "names/s", beside_xfs(0.9)),
          unlink=Row("unlink", "files/s", beside_xfs(0.8)),
          memory=Row("memory of a cached inode", "bytes", more_is_better=False)),
    Set(Row("create, with SET where there are streams", "files/s", SETTING)),
    Appends(Row("F7: 4 KiB appends, 16 files, 4 streams", "IOPS", STEERING), files=16, streams=4),
    Appends(Row("F7: 4 KiB appends, 4 files, 1 stream", "IOPS", STEERING), files=4, streams=1),
)

COSTS = (
    Carrying(Row("stream set: 4 KiB direct random write", "IOPS", NO_DIFFERENCE),
             direct=1, ioengine="io_uring", iodepth=32),
    Carrying(Row("stream set: 4 KiB buffered random write", "IOPS", NO_DIFFERENCE),
             ioengine="psync", invalidate=0),
    Anchor(Row("anchoring: 4 KiB append with fsync", "files/s")),
    Births(Row("create in a directory with a stream", "files/s",
               at_most_half_as_long_again(BORN_IN_STREAM)), ioctls.DIR_STREAM, BORN_IN_STREAM),
    Births(Row("create in a spread directory", "files/s",
               at_most_half_as_long_again(BORN_SPREAD)), ioctls.DIR_SPREAD, BORN_SPREAD),
    Relocation(Row("relocation of a file", "MiB/s")),
)


def _database(mode, **options):
    """In the order in which db_bench does it; what is waited for at the end is all that
    has to be done for the keys that were written."""
    return rocksdb.RocksDb(
        *(Row(f"{mode}: {what}", "keys/s")
          for what in ("fillrandom", "overwrite", "both, and all compactions")), **options)


DATABASES = (
    _database("tables direct", use_direct_io_for_flush_and_compaction=1, use_direct_reads=1),
    _database("tables buffered"),
)


@dataclasses.dataclass(frozen=True)
class Suite:
    """What is measured by one run: rows on targets of these kinds, the first of which is
    what the others are compared with, and costs; `streams` of a wsfs."""

    rows: tuple
    costs: tuple
    kinds: tuple
    streams: int


SUITES = {
    "xfs": Suite(ROWS, COSTS, tuple(targets.TARGETS), targets.STREAMS),
    "rocksdb": Suite(DATABASES, (), rocksdb.WAYS, rocksdb.STREAMS),
}
