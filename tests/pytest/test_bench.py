# SPDX-License-Identifier: GPL-2.0
"""tests/bench: its arithmetic, its goals and its report; that its rows can be
measured, whatever the numbers; and where RocksDB's files lie, which no slow machine
changes."""

import json
import os
import pathlib
import subprocess
import sys
from xml.etree import ElementTree

import pytest

BENCH = pathlib.Path(__file__).resolve().parent.parent / "bench"
sys.path.insert(0, str(BENCH))

from lib.agsets import ag_sets
from lib.fiemap import Extent
from wsbench import fio, meter, plan, report, rocksdb, run, scale, slabs, stats, svg
from wsbench.errors import NotMeasured
from wsbench.stats import Goal
from wsbench.workload import Row, Workload


def column(*rounds, **more):
    return {"value": sorted(rounds)[len(rounds) // 2], "rounds": list(rounds), **more}


# arithmetic


def test_summary_is_the_median_of_everything():
    samples = [{"value": v, "extents": e} for v, e in ((10, 3), (1000, 1), (20, 2))]
    assert stats.summary(samples) == {"value": 20, "extents": 2, "rounds": [10, 1000, 20]}


def test_of_what_is_no_number_the_last_is_told():
    samples = [{"value": v, "places": [v]} for v in (1, 3, 2)]
    assert stats.summary(samples) == {"value": 2, "places": [2], "rounds": [1, 3, 2]}


def test_ratios_are_to_the_first_column():
    columns = {"plain XFS": column(200), "wsfs": column(150), "overlayfs": column(300)}
    stats.add_ratios(columns)
    assert [entry["ratio"] for entry in columns.values()] == [1, 0.75, 1.5]


@pytest.mark.parametrize(
    "mine, theirs, met, noise",
    [
        ([100, 100, 100], [100, 100, 100], True, False),
        ([99, 99, 99], [100, 100, 100], False, False),  # always behind
        ([97, 99, 101], [99, 100, 101], True, True),  # behind, but not every time
        ([80, 90, 120], [85, 100, 110], False, False),  # the rounds overlap, too far behind
        ([101, 102, 103], [99, 100, 101], True, False),
    ],
)
def test_not_behind(mine, theirs, met, noise):
    verdict = Goal("a", "b", 1.0, 0.95).judge({"a": column(*mine), "b": column(*theirs)})
    assert (verdict["met"], verdict["noise"]) == (met, noise)


def test_a_plain_goal_knows_no_noise():
    columns = {"a": column(90, 94, 200), "b": column(90, 100, 200)}
    verdict = Goal("a", "b", 0.95).judge(columns)
    assert verdict["ratio"] == 0.94 and not verdict["met"]
    assert Goal("a", "b", 0.94).judge(columns)["met"]


def test_a_goal_whose_column_failed_is_missed_and_one_not_asked_for_is_none():
    goal = Goal("a", "b", 0.9)
    assert goal.judge({"a": column(1)}) is None
    verdict = goal.judge({"a": None, "b": column(1)})
    assert not verdict["met"] and "not measured" in stats.words(verdict)


def fio_report(*jobs):
    names = ("total_ios", "runtime")
    return {
        "jobs": [
            {
                "jobname": f"job{n}",
                "error": error,
                "read": dict(zip(names, read)),
                "write": dict(zip(names, write)),
            }
            for n, (error, read, write) in enumerate(jobs)
        ]
    }


def test_fio_jobs_add_up_over_the_longest():
    told = fio_report((0, (0, 0), (300, 1000)), (0, (100, 2000), (0, 0)))
    assert fio.total(told, 2) == (400, 2.0)


@pytest.mark.parametrize(
    "jobs", [[(5, (0, 0), (9, 9))], [(0, (0, 0), (0, 9))], [(0, (0, 0), (9, 0))], []]
)
def test_fio_jobs_that_did_nothing_are_not_measured(jobs):
    with pytest.raises(NotMeasured):
        fio.total(fio_report(*jobs), 1)


def test_a_job_for_each_file():
    text = fio.job_file(["/a", "/b"], {"rw": "write"})
    assert text.count("filename=") == 2 and "[job1]\nfilename=/b\n" in text
    assert "allow_file_create=0" in text and "rw=write" in text


def replaced(path):
    os.unlink(path)
    path.write_bytes(bytes(8192))


def extended(path):
    os.truncate(path, 16384)


def emptied(path):
    os.truncate(path, 0)
    os.truncate(path, 8192)


@pytest.mark.parametrize("misdeed", [replaced, extended, emptied], ids=lambda it: it.__name__)
def test_other_files_than_those_given_are_not_measured(misdeed, tmp_path, monkeypatch):
    path = tmp_path / "f"

    def run_fio(misdeed, *argv):
        misdeed(path)
        output = next(word for word in argv if word.startswith("--output=")).split("=", 1)[1]
        told = json.dumps(fio_report((0, (0, 0), (10, 1000))))
        pathlib.Path(output).write_text(f"fio: a word before\n{told}")

    def measure(misdeed):
        path.write_bytes(bytes(8192))
        monkeypatch.setattr(fio, "run", lambda *argv: run_fio(misdeed, *argv))
        return fio.run_jobs([str(path)], 8192, rw="write")

    assert measure(lambda path: None)["value"] == 10
    with pytest.raises(NotMeasured, match=str(path)):
        measure(misdeed)


SLABINFO = """slabinfo - version: 2.1
# name <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables
xfs_inode {0} {0} 1024 32 8 : tunables 0 0 0 : slabdata {1} {1} 0
dentry 420 420 192 21 1 : tunables 0 0 0 : slabdata 20 20 0
"""


def test_slabs_grow():
    before, after = (slabs.parse(SLABINFO.format(n * 32, n)) for n in (10, 110))
    assert before == {"xfs_inode": 10 * 8 * 4096, "dentry": 20 * 4096}
    assert slabs.grown(before, after) == 100 * 8 * 4096


def test_inodes_of_xfs():
    assert slabs.parse_xfs_inodes("trans 1 2 3\nig 10 11 12 13 14 15 16\nlog 1\n") == {
        "missed": 13,
        "reclaims": 15,
    }
    with pytest.raises(NotMeasured):
        slabs.parse_xfs_inodes("trans 1 2 3\n")


def test_samples_are_a_second():
    taken = meter.Meter()
    taken.seconds, taken.instructions = 2.0, 50000
    assert taken.sample(10, extents=3) == {"value": 5, "extents": 3, "instructions": 5000}
    assert taken.sample(10, seconds=1)["value"] == 10
    taken.instructions = None
    assert "instructions" not in taken.sample(10)


def test_counters_count_or_say_why_not():
    counted, why = meter.counters()
    assert (counted is None) != (why is None)
    if counted:
        first = counted.read()
        os.listdir("/proc")
        assert counted.read() > first


DB_BENCH = """DB path: [/x/db]
fillrandom   :      39.728 micros/op 24648 ops/sec 0.406 seconds 10000 operations;    9.8 MB/s
DB path: [/x/db]
overwrite    :      50.000 micros/op {} ops/sec 0.500 seconds {} operations;    7.8 MB/s
"""


def test_db_bench_tells_speeds():
    said = DB_BENCH.format(20000, 10000)
    assert rocksdb.told(said, 10000) == {"fillrandom": 24648, "overwrite": 20000}


@pytest.mark.parametrize("said", [DB_BENCH.format(20000, 9999), "put error: IO error"])
def test_keys_that_were_not_written_are_not_measured(said):
    with pytest.raises(NotMeasured):
        rocksdb.told(said, 10000)


ROCKSDB_LOG = """2026/01/01-00:00:00.1 7 Options.num_levels: 7
2026/01/01-00:00:00.2 7 EVENT_LOG_v1 {"job": 2, "event": "flush_started"}
2026/01/01-00:00:00.3 7 EVENT_LOG_v1 {"job": 2, "event": "table_file_creation", "file_number": 9}
2026/01/01-00:00:00.4 8 EVENT_LOG_v1 {"job": 5, "event": "compaction_started", "files_L0": [9]}
2026/01/01-00:00:00.5 8 EVENT_LOG_v1 {"job": 5, "event": "table_file_creation", "file_number": 16}
2026/01/01-00:00:00.6 8 (Original Log Time 2026/01/01-00:00:00.6) EVENT_LOG_v1 {"job": 5, \
"event": "compaction_finished", "output_level": 2}
2026/01/01-00:00:00.7 8 EVENT_LOG_v1 {"job": 6, "event": "table_file_creation", "file_number": 17}
"""


def test_levels_of_tables():
    assert rocksdb.tables(ROCKSDB_LOG) == {9: 0, 16: 2}  # 17: its compaction did not end


class Streamless:
    """An XFS whose AGs have 1 MiB, for rocksdb.place()."""

    @staticmethod
    def ag_of_byte(at):
        return at >> 20


def test_steered_files_have_to_carry_streams(tmp_path, monkeypatch):
    path = tmp_path / "1.log"
    path.write_bytes(bytes(4096))
    path.with_suffix(".empty").touch()
    files = [(rocksdb.LOG, path), (rocksdb.LOG, path.with_suffix(".empty"))]
    monkeypatch.setattr(rocksdb, "extents", lambda fd: [Extent(0, 3 << 20, 4096, 0)]
                        if os.fstat(fd).st_size else [])
    (entry,) = rocksdb.place(Streamless, None, files, lambda kind: False)
    assert (entry["kind"], entry["files"], entry["ags"]) == (rocksdb.LOG, 1, {3: 4096})
    with pytest.raises(NotMeasured, match="0 carry a stream"):
        rocksdb.place(Streamless, None, files, lambda kind: True)


def test_ags_with_log_and_tables():
    places = [{"kind": kind, "ags": dict.fromkeys(ags, 1)}
              for kind, ags in ((rocksdb.LOG, (1, 2)), ("tables, L0", (2, 3)), ("x", (1,)))]
    assert rocksdb.shared(places) == [1, 2] and rocksdb.shared(places[:2]) == [2]


# rounds


class Fake(Workload):
    """Takes no time."""

    rows = (Row("fake", "things/s", (Goal("one", "two", 1.0),)),)

    def __init__(self, fails=None):
        self.fails = fails
        self.order = []

    def columns(self, targets):
        return [(it.name, it, lambda scale, it=it: self.measure(it, scale)) for it in targets]

    def measure(self, target, scale):
        self.order.append(target.name)
        if target.name == self.fails:
            raise NotMeasured("no such luck")
        return {"fake": {"value": 7.0}}


class FakeTarget:
    unprepared = None

    def __init__(self, name):
        self.name = name

    def begin(self, name):
        pass

    def end(self):
        pass


def measured(fake, rounds=3):
    pair = [FakeTarget("one"), FakeTarget("two")]
    return run._measure(fake, pair, scale.QUICK, rounds)


def test_rounds_take_turns():
    fake = Fake()
    (row,) = measured(fake)
    assert fake.order == ["one", "two", "two", "one", "one", "two"]
    assert row["on"]["two"]["rounds"] == [7, 7, 7] and row["on"]["two"]["ratio"] == 1
    assert row["goals"][0]["met"] and not row["failed"]


def test_a_column_that_fails_spoils_no_other():
    fake = Fake(fails="two")
    (row,) = measured(fake)
    assert row["failed"] == {"two": "no such luck"} and fake.order.count("two") == 1
    assert row["on"]["one"]["value"] == 7 and not row["goals"][0]["met"]


# the plan


@pytest.mark.parametrize("suite", plan.SUITES.values(), ids=plan.SUITES)
def test_every_row_has_a_name_of_its_own_and_goals_of_known_columns(suite):
    workloads = (*suite.rows, *suite.costs)
    rows = [row for workload in workloads for row in workload.rows]
    assert len({row.name for row in rows}) == len(rows)
    known = {kind.name for kind in suite.kinds}
    for workload in workloads:
        columns = known | set(getattr(workload, "ways", ()))
        for row in workload.rows:
            assert all({goal.who, goal.of} <= columns for goal in row.goals)


# the report


def results():
    names = ["plain XFS", "wsfs", "overlayfs"]
    on = {
        "plain XFS": column(100, 90, 110, ratio=1.0, extents=30.0),
        "wsfs": column(150, 160, 140, ratio=1.5, extents=1.0),
    }
    goal = Goal("wsfs", "plain XFS", 0.95).judge(on)
    missed = Goal("wsfs", "overlayfs", 1.0).judge({**on, "overlayfs": None})
    row = {
        "name": "rows & <columns>",
        "unit": "IOPS",
        "more_is_better": True,
        "on": on,
        "failed": {"overlayfs": "it <broke>"},
        "goals": [goal, missed],
    }
    ways = {"no stream": column(50, ratio=1.0), "a stream": column(49, ratio=0.98)}
    cost = {**row, "name": "cost", "on": ways, "failed": {}, "goals": []}
    memory = {**row, "name": "memory", "more_is_better": False, "failed": {}, "goals": []}
    return {
        "kernel": "1.2 <3>",
        "cpus": 2,
        "disk": "/dev/null",
        "date": "2026-01-01",
        "ags": 16,
        "streams": 4,
        "rounds": 3,
        "seconds": 2,
        "took": 1.0,
        "quick": False,
        "not_countable": "no counters",
        "targets": names,
        "rows": [row, memory],
        "costs": [cost],
    }


def test_text():
    text = report.text(results())
    lines = text.splitlines()
    row = next(line for line in lines if line.startswith("rows"))
    assert row.split()[3:] == ["100", "IOPS", "1.50", "failed"]
    memory = next(line for line in lines if line.startswith("memory"))
    assert memory.split()[1:] == ["100", "IOPS", "150", "-"]  # bytes tell more than a ratio
    assert "not countable here (no counters)" in text
    assert "Goals: 1 of 2 met" in text
    assert sum("MISSED" in line for line in lines) == 1
    assert "rows & <columns>; overlayfs: it <broke>" in text
    assert any("no stream 50, a stream 49, ratio 0.98" in line for line in lines)
    assert "MEAN NOTHING" not in text
    assert "MEAN NOTHING" in report.text({**results(), "quick": True})


def test_text_tells_where_files_lie():
    told = results()
    told["rows"][0]["on"]["wsfs"]["places"] = [
        {"kind": rocksdb.LOG, "files": 3, "bytes": 2 << 20, "extents": 1.0, "hints": ["short"],
         "ags": {8: 1 << 20, 9: 1 << 20}, "streams": {4: [8, 9]}},
        {"kind": "tables, L0", "files": 1, "bytes": 1 << 20, "extents": 2.0,
         "hints": ["medium"], "ags": {10: 1 << 20}, "streams": {}},
    ]
    lines = report.text(told).splitlines()
    log = next(line for line in lines if line.strip().startswith(rocksdb.LOG))
    assert log.split()[2:] == ["3", "2", "1.0", "short", "8", "9", "4", "(8-9)"]
    assert "    AGs with both: none" in lines


def test_json(tmp_path):
    report.write_json(results(), tmp_path / "bench.json")
    assert json.loads((tmp_path / "bench.json").read_text()) == results()


def test_svg():
    root = ElementTree.fromstring(svg.draw(results()))
    space = "{http://www.w3.org/2000/svg}"
    bars = [bar for bar in root.iter(f"{space}rect") if bar.find(f"{space}title") is not None]
    assert [bar.find(f"{space}title").text for bar in bars] == ["wsfs", "a stream"]
    assert float(bars[0].get("width")) / float(bars[1].get("width")) == pytest.approx(
        1.5 / 0.98, rel=0.01
    )
    words = [text.text for text in root.iter(f"{space}text")]
    assert "rows & <columns>" in words and "1.50" in words and "memory" not in words


def test_svg_without_a_row():
    ElementTree.fromstring(svg.draw({**results(), "rows": [], "costs": []}))


# on a disk


def bench(disk, out, *more):
    argv = [BENCH / "bench", disk, "--quick", "--seconds", "0.1", "--results", out, *more]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((out / "bench.json").read_text())
    assert ElementTree.fromstring((out / "bench.svg").read_text()) is not None
    assert (out / "bench.txt").read_text() == done.stdout
    for row in found["rows"] + found["costs"]:
        assert not row["failed"], row
        # Caches of others shrink meanwhile: the memory of few inodes can be less than none.
        assert not row["more_is_better"] or all(it["value"] > 0 for it in row["on"].values()), row
    return found


def test_what_cannot_be_measured_is_a_failure(tmp_path):
    argv = [BENCH / "bench", tmp_path / "no-disk", "--quick", "--rows", "F7*"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "bench: mkfs.xfs" in done.stderr and "no-disk" in done.stderr


def test_streams_make_few_extents(disks, plain, tmp_path):
    """Of all numbers, the ones that no slow machine changes."""
    if plain:
        pytest.skip("--plain: no streams")
    found = bench(disks[0], tmp_path, "--rows", "F7*1 stream", "--on", "homed*", "--on", "*streams")
    (row,) = found["rows"]
    assert set(row["on"]) == {"plain XFS", "homed by hand", "wsfs, streams"}
    assert row["on"]["wsfs, streams"]["extents"] < row["on"]["plain XFS"]["extents"]


@pytest.mark.long
def test_every_row_can_be_measured(disks, plain, tmp_path):
    if plain:
        pytest.skip("--plain: no streams")
    found = bench(disks[0], tmp_path)
    assert len(found["rows"]) == sum(len(workload.rows) for workload in plan.ROWS)
    assert len(found["costs"]) == len(plan.COSTS)
    for row in found["rows"]:
        assert {"plain XFS", "wsfs", "wsfs, streams", "overlayfs"} <= set(row["on"])


# hints that RocksDB 9 sets, and the streams that they have of 8, 4 of which are for hints
BY_HINT = {rocksdb.LOG: ("short", 4), "tables, L0": ("medium", 5), "tables, L1": ("medium", 5),
           "tables, L2": ("long", 6), "tables, L3": ("extreme", 7)}


def inside(entry, agnos):
    """The part of the bytes that lies in these AGs; the rest may have strayed."""
    ags = entry["ags"].items()
    return sum(size for agno, size in ags if int(agno) in agnos) / entry["bytes"]


@pytest.mark.long
def test_rocksdb_log_and_tables_lie_apart(disks, plain, tmp_path):
    """db_bench as it is: by its own hints each kind of file has its AG set, and by a
    stream on the log's directory the log does. Tables direct, and buffered."""
    if plain:
        pytest.skip("--plain: no streams")
    found = bench(disks[0], tmp_path, "--suite", "rocksdb")
    sets = ag_sets(8, 16)
    rows = [row["on"] for row in found["rows"] if "places" in row["on"]["plain XFS"]]
    assert len(rows) == 2
    for row in rows:
        for column, steered in (("plain XFS", False), ("wsfs, hints", True)):
            places = row[column]["places"]
            # A level can be empty just then.
            assert rocksdb.LOG in {it["kind"] for it in places} and len(places) >= 3
            for entry in places:
                hint, stream = BY_HINT[entry["kind"]]
                assert entry["hints"] == [hint], entry
                assert [*entry["streams"]] == [str(stream)] * steered, entry
                assert not steered or inside(entry, sets[stream]) > 0.9, entry
        log, *tables = row["wsfs, WAL dir"]["places"]
        (own,) = map(set, log["streams"].values())
        assert log["kind"] == rocksdb.LOG and inside(log, own) > 0.9, log
        for entry in tables:
            assert not entry["streams"] and inside(entry, own) < 0.1, entry
