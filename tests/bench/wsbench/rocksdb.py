# SPDX-License-Identifier: GPL-2.0
"""RocksDB as its users run it, by db_bench: the log apart from the tables, all
compactions done. How fast, and where each kind of file has come to lie."""

import contextlib
import json
import os
import re

from lib import ioctls
from lib.fiemap import UNWRITTEN, extents
from lib.hints import get_hint
from lib.shell import run
from lib.wsfs import Wsfs

from .errors import NotMeasured
from .meter import Meter
from .scale import MIB
from .targets import AGS, PLAIN, Target
from .workload import Filesystem, Workload, opened

STREAMS = AGS // 2  # wsfs's default
BY_HINT = "wsfs, hints"
WAL_STREAM = "wsfs, WAL dir"
VALUE = 1000  # bytes
LOG = "log (WAL)"  # a kind of files

_HINTS = ("not set", "none", "short", "medium", "long", "extreme")
_LINE = re.compile(r"^(\w+) +: +[\d.]+ micros/op (\d+) ops/sec [\d.]+ seconds (\d+) operations",
                   re.MULTILINE)


class Plain(Target):
    """The XFS itself. All of them work in a directory of it; the others mount wsfs over
    it for one run, since two mounts at once would have to agree on their options."""

    name = PLAIN

    @contextlib.contextmanager
    def ready(self):
        """Has directories db and wal, to be used as users do; the directory they are
        in, and where streams are told, or None."""
        self._make(self.directory)
        yield self.directory, None

    @staticmethod
    def steers(kind):
        """Are files of that kind to have streams?"""
        return False

    @staticmethod
    def _make(top):
        for part in ("db", "wal"):
            os.mkdir(os.path.join(top, part))
            # db_bench removes a database's directories first, if they are empty then;
            # and what was said of them would be gone.
            with open(os.path.join(top, part, "kept"), "xb"):
                pass

    @contextlib.contextmanager
    def _stacked(self, *options):
        wsfs = Wsfs(self.xfs.path, os.path.join(self.base, "rocksdb"))
        wsfs.mount(STREAMS, options)
        try:
            top = os.path.join(wsfs.path, os.path.relpath(self.directory, self.xfs.path))
            self._make(top)
            yield top, wsfs
        finally:
            wsfs.umount()


class ByHint(Plain):
    """wsfs -o hints: RocksDB's own life time hints choose the streams."""

    name = BY_HINT

    @staticmethod
    def steers(kind):
        return True

    def ready(self):
        return self._stacked("hints")


class WalStream(Plain):
    """wsfs, with a stream on the directory of the log, and nothing else."""

    name = WAL_STREAM

    @staticmethod
    def steers(kind):
        return kind == LOG

    @contextlib.contextmanager
    def ready(self):
        with self._stacked() as (top, wsfs):
            stream = self._apart(wsfs, os.path.join(top, "db"))
            try:
                with opened(os.path.join(top, "wal")) as fd:
                    ioctls.set_dir(fd, ioctls.DIR_STREAM, stream.fd)
                yield top, wsfs
            finally:
                stream.close()

    def _apart(self, wsfs, directory):
        """The stream that tables come to last: XFS puts them into the AG of their
        directory, and where that is busy into the next ones."""
        agno = self.xfs.layout().ag_of_inode(os.stat(directory).st_ino)
        *others, last = sorted((wsfs.alloc() for _ in range(STREAMS)), key=lambda stream: min(
            (it - agno) % AGS for it in wsfs.ag_set(stream.id)))
        for stream in others:
            stream.close()
        return last


WAYS = (Plain, ByHint, WalStream)


class RocksDb(Workload):
    """Keys written at random into a new database, and as many over them."""

    filesystem = Filesystem()

    def __init__(self, fill, overwrite, everything, **options):
        self.rows = (fill, overwrite, everything)
        self.options = options

    def measure(self, target, scale):
        with target.ready() as (top, wsfs):
            with Meter() as meter:
                said = run("db_bench", *self._words(top, scale), timeout=3600)
            speeds = told(said, scale.keys)
            places = place(target.xfs.layout(), wsfs, _files(top), target.steers)
        fill, overwrite, everything = self.rows
        extents_a_file = (sum(it["extents"] * it["files"] for it in places)
                          / sum(it["files"] for it in places))
        sample = meter.sample(2 * scale.keys, places=places, extents=extents_a_file)
        return {fill.name: {"value": speeds["fillrandom"]},
                overwrite.name: {"value": speeds["overwrite"]}, everything.name: sample}

    def _words(self, top, scale):
        """Small buffers and levels: as many files and levels as a large database has."""
        buffer = scale.keys * VALUE // 24
        options = {
            "benchmarks": "fillrandom,overwrite,waitforcompaction,flush",
            "db": os.path.join(top, "db"), "wal_dir": os.path.join(top, "wal"),
            "num": scale.keys, "value_size": VALUE, "seed": 1, "compression_type": "none",
            "write_buffer_size": buffer, "target_file_size_base": buffer,
            "max_bytes_for_level_base": 2 * buffer, "max_bytes_for_level_multiplier": 4,
            "max_background_jobs": 4,
            # Logs that are done with are moved to wal/archive, and can be looked at.
            "wal_size_limit_MB": 1 << 20,
            **self.options,
        }
        return [f"--{name}={value}" for name, value in options.items()]


def told(said, keys):
    """Of what db_bench says: name of a benchmark → operations a second."""
    found = {name: int(speed) for name, speed, done in _LINE.findall(said) if int(done) == keys}
    if not {"fillrandom", "overwrite"} <= set(found):
        raise NotMeasured(f"db_bench has not written {keys} keys twice:\n{said}")
    return found


def tables(log):
    """Of RocksDB's LOG: number of a table → the level that it was written for."""
    levels, jobs = {}, {}
    for line in log.splitlines():
        event = line.partition("EVENT_LOG_v1 ")[2]
        event = json.loads(event) if event else {}
        if event.get("event") == "flush_started":
            levels[event["job"]] = 0
        elif event.get("event") == "compaction_finished":
            levels[event["job"]] = event["output_level"]
        elif event.get("event") == "table_file_creation":
            jobs[event["file_number"]] = event["job"]
    return {number: levels[job] for number, job in jobs.items() if job in levels}


def _files(top):
    """(kind, path) of each log and table that is there."""
    for directory, _, names in os.walk(os.path.join(top, "wal")):
        for name in names:
            if name.endswith(".log"):
                yield LOG, os.path.join(directory, name)
    db = os.path.join(top, "db")
    with open(os.path.join(db, "LOG"), encoding="utf-8", errors="replace") as log:
        levels = tables(log.read())
    for name in os.listdir(db):
        number, ending = os.path.splitext(name)
        if ending == ".sst":
            level = levels.get(int(number), "?")
            yield f"tables, L{level}", os.path.join(db, name)


def place(layout, wsfs, files, steers):
    """Where files with data lie, a dict for each kind, in the order of their names: "kind",
    "files", "bytes", "extents" a file, "hints" that they have, "ags": AG → bytes, "streams":
    id → AG set of those that they carry, "outside": bytes not in them. @files: (kind, path)
    of each; @wsfs: None where there are no streams.

    Each file of a kind that is steered, which @steers tells, has to carry a stream; and to
    lie in its AG set, but for 1 byte in 10 that may have strayed."""
    kinds = {}
    for kind, path in files:
        with opened(path) as fd:
            data = [extent for extent in extents(fd) if not extent.flags & UNWRITTEN]
            if data:  # there is one log that nothing has been written to yet
                _add(kinds.setdefault(kind, _nothing(kind)), layout, wsfs, fd, data)
    for kind, entry in kinds.items():
        if steers(kind) and entry["carrying"] < entry["files"]:
            raise NotMeasured(f"{kind}: of {entry['files']} files {entry['carrying']} carry a "
                              "stream")
        if entry["outside"] > 0.1 * entry["bytes"]:
            raise NotMeasured(f"{kind}: {entry['outside']} of {entry['bytes']} bytes are outside "
                              f"the AGs of their streams: {entry}")
        entry["extents"] /= entry["files"]
        entry["hints"] = sorted(entry["hints"], key=_HINTS.index)
    return [kinds[kind] for kind in sorted(kinds)]


def _nothing(kind):
    return {"kind": kind, "files": 0, "bytes": 0, "extents": 0, "hints": set(), "ags": {},
            "streams": {}, "carrying": 0, "outside": 0}


def _add(entry, layout, wsfs, fd, data):
    info = ioctls.FileInfo.of(fd) if wsfs else None
    home = None
    if info and info.has_stream:
        home = wsfs.ag_set(info.stream)
        entry["streams"][info.stream] = sorted(home)
        entry["carrying"] += 1
    entry["files"] += 1
    entry["hints"].add(_HINTS[get_hint(fd)])
    for extent in data:
        agno = layout.ag_of_byte(extent.physical)
        entry["extents"] += 1
        entry["bytes"] += extent.length
        entry["ags"][agno] = entry["ags"].get(agno, 0) + extent.length
        if home is not None and agno not in home:
            entry["outside"] += extent.length


def shared(places):
    """The AGs that have both the log and tables."""
    log, rest = set(), set()
    for it in places:
        (log if it["kind"] == LOG else rest).update(it["ags"])
    return sorted(log & rest)


def words(results):
    """Where files lie, in lines, of each row that tells it."""
    lines = []
    for row in results["rows"]:
        for column, entry in row["on"].items():
            if "places" in entry:
                lines += ["", f"{row['name']}, {column}: where its files lie", _HEADING]
                lines += [_told(it) for it in entry["places"]]
                both = shared(entry["places"])
                lines.append(f"    AGs with both: {' '.join(map(str, both)) or 'none'}")
    return lines[1:]


_HEADING = f"    {'':14}{'files':>6}{'MiB':>7}{'extents a file':>16}  {'hint':<10}{'AGs':<12}stream"


def _told(it):
    streams = ", ".join(f"{stream} ({min(agnos)}-{max(agnos)})"
                        for stream, agnos in sorted(it["streams"].items()))
    return (f"    {it['kind']:14}{it['files']:6}{it['bytes'] / MIB:7.0f}{it['extents']:16.1f}  "
            f"{'/'.join(it['hints']):<10}{' '.join(map(str, sorted(it['ags']))):<12}"
            f"{streams}").rstrip()
