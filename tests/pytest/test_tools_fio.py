# SPDX-License-Identifier: GPL-2.0
"""wsctl fio: every generated job is really run, by fio alone and by wsctl."""

import contextlib
import glob
import json
import os
import signal
import subprocess
import xml.etree.ElementTree

import pytest

from lib import broker
from lib.shell import run
from lib.wsctl import ok, wsctl

# Small enough for a guest; every role still has more than one file.
SMALL = {
    "inter-stream": ["--filesize", "1m"],
    "intra-stream": ["--filesize", "1m"],
    "lsm": ["--filesize", "1m", "--files", "2", "--set", "wal.filesize=64k"],
    "kv-cache": ["--filesize", "256k", "--files", "8", "--bs", "64k"],
    "tenants": ["--filesize", "512k", "--files", "2", "--set", "log.filesize=64k",
                "--set", "objects.bs=256k"],
}


def generate(name, directory, *more):
    path = os.path.join(directory, f"{name}.fio")
    ok("fio", "gen", name, *SMALL[name], *more, "-o", path)
    return path


class Section:
    """A section of a job that was generated."""

    def __init__(self, name):
        self.name = name
        self.role = name.rpartition(".")[0]
        self.stream = None
        self.options = {}

    @property
    def files(self):
        if "filename" in self.options:
            return [self.options["filename"]]
        form = self.options["filename_format"]
        count = int(self.options["nrfiles"])
        return [form.replace("$filenum", str(n)) for n in range(count)]


def sections(path):
    found = []
    with open(path) as job:
        for line in map(str.strip, job):
            if line.startswith("["):
                found.append(Section(line.strip("[]")))
            elif line.startswith("; wsctl: stream="):
                found[-1].stream = int(line.partition("=")[2])
            elif line and not line.startswith(";"):
                key, _, value = line.partition("=")
                found[-1].options[key] = value
    return [section for section in found if section.name != "global"]


def clean(bed):
    """Nothing of a run is left."""
    assert broker.reserved(bed.path) == []
    assert os.listdir(bed.path) == []


def fio_runs():
    """A process of fio is alive."""
    for path in glob.glob("/proc/[0-9]*/comm"):
        with contextlib.suppress(OSError), open(path) as file:
            if file.read() == "fio\n":
                return True
    return False


def ags(text):
    """The AGs of a set as sysfs writes it."""
    found = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def test_every_scenario_is_tested():
    listed = ok("fio", "gen", "--json").json["scenarios"]
    assert sorted(entry["name"] for entry in listed) == sorted(SMALL)


@pytest.mark.parametrize("name", SMALL)
def test_fio_alone_runs_it(bed, tmp_path, name):
    bed.make(agcount=16)
    job = generate(name, tmp_path)
    output = tmp_path / "out.json"
    subprocess.run(["fio", "--output-format=json", f"--output={output}", job], cwd=bed.path,
                   check=True, stdin=subprocess.DEVNULL, timeout=300)
    text = output.read_text()
    result = json.loads(text[text.index("{"):])
    assert all(entry["error"] == 0 for entry in result["jobs"])
    written = sum(entry["write"]["io_bytes"] for entry in result["jobs"])
    assert written == sum(int(section.options["size"]) for section in sections(job))
    names = set()
    for section in sections(job):
        sizes = [os.stat(bed.at(file)).st_size for file in section.files]
        assert sum(sizes) == int(section.options["size"]), section.name
        assert min(sizes) > 0
        names |= set(section.files)
    # fio has made no others.
    assert set(os.listdir(bed.path)) == names


@pytest.mark.parametrize("name", SMALL)
def test_wsctl_compares(bed, tmp_path, name):
    bed.make(agcount=16, streams=4)
    job = generate(name, tmp_path)
    plots = tmp_path / "plots"
    result = ok("fio", "run", "--json", "--svg", plots, job, bed.path, timeout=600).json
    assert [site["name"] for site in result["sites"]] == ["plain XFS", "wsfs"]
    assert result["sites"][0]["dir"] == bed.lower
    for site in result["sites"]:
        assert {row["role"] for row in site["rows"]} - {"total"} == {
            section.role for section in sections(job)
        }
        for row in site["rows"]:
            assert row["iops"] > 0
            assert 0 < row["latency_us"]["p50"] <= row["latency_us"]["p99.9"]
            assert row["files"] > 0 and row["extents"] >= row["files"]
    last = result["sites"][1]["rows"][-1]
    assert last["files"] == sum(len(section.files) for section in sections(job))
    assert {entry["slot"] for entry in last["streams"]} == {
        section.stream for section in sections(job)
    }
    if name in ("inter-stream", "intra-stream"):
        # A file an AG: nothing strays.
        assert last["shared_ags"] == 0
        for entry in last["streams"]:
            assert ags(entry["used_ags"]) <= ags(entry["ag_set"])
    assert last["ratio"] > 0
    assert result["sites"][0]["rows"][-1]["ratio"] == 1
    for plot in ("iops.svg", "latency.svg", "extents.svg"):
        assert xml.etree.ElementTree.parse(plots / plot).getroot().tag.endswith("svg")
    clean(bed)


def test_the_streams_are_really_set(bed, tmp_path):
    """What check says of the files that are kept."""
    bed.make(agcount=16, streams=4)
    job = generate("inter-stream", tmp_path)
    done = ok("fio", "run", "--json", "--keep", job, bed.path)
    kept = glob.glob(bed.at("wsctl-fio.*"))
    said = done.err.decode().split("wsfs, round")[1]
    [steered] = [path for path in kept if path in said]
    groups = {}
    for section in sections(job):
        paths = [os.path.join(steered, file) for file in section.files]
        groups.setdefault(section.stream, []).extend(paths)
    assert len(groups) == 4
    last = done.json["sites"][1]["rows"][-1]
    for entry in last["streams"]:
        ok("check", "--within", entry["id"], *groups[entry["slot"]])
    words = []
    for paths in groups.values():
        words += ["--", *paths]
    ok("check", "--isolated", *words[1:])
    assert broker.reserved(bed.path) == []
    # Those of the run on plain XFS are together.
    [plain] = set(kept) - {steered}
    assert wsctl("check", "--isolated", *(
        word.replace(steered, plain) for word in words[1:])).status == 1


def test_a_job_written_by_hand(bed, tmp_path):
    """Two directories of one wsfs, names with blanks, and a file without a stream."""
    bed.make(agcount=16, streams=2)
    os.mkdir(bed.at("a b"))
    job = tmp_path / "my job.fio"
    job.write_text("[global]\nrw=write\nbs=4k\nsize=64k\ncreate_on_open=1\nfallocate=none\n"
                   "[log]\n; wsctl: stream=1\nfilename=a\\:log\n[rest]\nfilename=rest\n")
    result = ok("fio", "run", "--json", "-r", 2, job, bed.at("a b")).json
    assert result["rounds"] == 2 and result["job"] == "my job.fio"
    assert result["sites"][0]["dir"] == os.path.join(bed.lower, "a b")
    rows = {row["role"]: row for row in result["sites"][1]["rows"]}
    assert [entry["slot"] for entry in rows["log"]["streams"]] == [1]
    assert [entry["slot"] for entry in rows["rest"]["streams"]] == [None]
    text = ok("fio", "run", job, bed.at("a b")).out.decode()
    assert text.startswith("my job.fio, 1 round\n")
    assert len(text.splitlines()) == 2 + 2 * 3


def test_fio_may_not_replace_files(bed, tmp_path):
    bed.make(agcount=16, streams=2)
    job = tmp_path / "job.fio"
    job.write_text("[a]\n; wsctl: stream=0\nrw=write\nbs=4k\nsize=64k\nfilename=a\nunlink=1\n")
    done = wsctl("fio", "run", job, bed.path)
    assert done.status == 1 and b"create_on_open=1" in done.err
    clean(bed)


def test_plain_alone(bed, tmp_path):
    bed.make(agcount=16)
    job = generate("intra-stream", tmp_path)
    result = ok("fio", "run", "--json", job, bed.lower).json
    assert [site["name"] for site in result["sites"]] == ["plain XFS"]
    assert result["sites"][0]["rows"][-1]["ratio"] is None
    clean(bed)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_nothing_behind(bed, tmp_path, number):
    bed.make(agcount=16, streams=4)
    job = generate("inter-stream", tmp_path, "--set", "rate=64k")
    with subprocess.Popen(["wsctl", "fio", "run", job, bed.path],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        broker.wait_for(lambda: glob.glob(bed.below("wsctl-fio.*/writer.15")))
        process.send_signal(number)
        out, err = process.communicate(timeout=600)
    assert process.returncode == 128 + number, err
    assert out == b"" and b"interrupted" in err
    clean(bed)
    assert not fio_runs()


def test_an_interrupt_releases_the_streams(bed, tmp_path):
    bed.make(agcount=16, streams=4)
    job = generate("inter-stream", tmp_path, "--set", "rate=16k")
    quick = tmp_path / "fio"
    # On plain XFS it is over at once; on wsfs it takes a minute.
    quick.write_text("#!/bin/sh\n"
                     f"case $PWD in {bed.lower}/*) sed -i 's/^size=.*/size=4k/' \"$4\";; esac\n"
                     "exec fio \"$@\"\n")
    quick.chmod(0o755)
    with subprocess.Popen(["wsctl", "fio", "run", "--fio", quick, job, bed.path],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        broker.wait_for(lambda: len(broker.reserved(bed.path)) == 4, 120)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=600)
    assert process.returncode == 128 + signal.SIGINT, err
    clean(bed)


def test_a_killed_wsctl_takes_fio_along(bed, tmp_path):
    bed.make(agcount=16, streams=4)
    job = generate("intra-stream", tmp_path, "--set", "rate=16k")
    with subprocess.Popen(["wsctl", "fio", "run", job, bed.lower],
                          stdin=subprocess.DEVNULL) as process:
        broker.wait_for(lambda: any(os.stat(path).st_size for path in
                                    glob.glob(bed.below("wsctl-fio.*/writer.0"))))
        process.kill()
    broker.wait_for(lambda: not fio_runs())
    run("sh", "-c", f"rm -r {bed.lower}/wsctl-fio.*")


def test_no_fio(bed, tmp_path):
    bed.make(agcount=16, streams=4)
    job = generate("intra-stream", tmp_path)
    done = wsctl("fio", "run", job, bed.path, env={**os.environ, "PATH": os.path.dirname(
        run("sh", "-c", "command -v wsctl").strip())})
    assert done.status == 1
    assert b"fio: exec: No such file or directory (ENOENT)" in done.err
    assert b"apt-get install fio" in done.err
    clean(bed)


def test_too_few_streams(bed, tmp_path):
    bed.make(agcount=16, streams=2)
    done = wsctl("fio", "run", generate("inter-stream", tmp_path), bed.path)
    assert done.status == 1 and b"streams=4" in done.err
    bed.alloc()
    done = wsctl("fio", "run", generate("inter-stream", tmp_path, "--streams", "2"), bed.path)
    assert done.status == 1 and b"only 1 stream of 2" in done.err
    bed.close_all()
    clean(bed)


def test_too_large(bed, tmp_path):
    bed.make(agcount=16, streams=4)
    job = generate("inter-stream", tmp_path, "--set", "filesize=1g")
    done = wsctl("fio", "run", job, bed.path)
    assert done.status == 1 and b"--filesize" in done.err
    clean(bed)
