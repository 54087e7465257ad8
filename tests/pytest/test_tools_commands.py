# SPDX-License-Identifier: GPL-2.0
"""wsctl get, set, clear, streams, info, check, map and libws's examples, on real mounts."""

import os
import subprocess
import sys
import xml.etree.ElementTree

from lib.shell import run
from lib.wsctl import make, ok, set_by, wsctl

MIB = 1 << 20


def ids(*words, **kwargs):
    """The ids that get tells, by path."""
    files = ok("get", "--json", *words, **kwargs).json["files"]
    return {f["path"]: f["stream"] and f["stream"]["id"] for f in files}


# get, set, clear


def test_set_and_get_files(room):
    stream = room.alloc()
    a, b = room.at("a"), room.at("b")
    make(a)
    make(b)
    assert set_by(stream, a).status == 0
    assert ids(a, b) == {a: stream.id, b: None}
    info = ok("get", a).out.decode()
    assert f"stream {stream.id}, home in AG" in info
    assert ids("--carrying", room.path) == {a: stream.id}
    ok("clear", a)
    assert ids(a) == {a: None}


def test_set_trees_patterns_and_lists(room):
    stream = room.alloc()
    names = [room.at(f"d/{i}/f{j}") for i in range(3) for j in range(3)]
    for name in names:
        make(name)
    # Without -r it is where new files of the directory are born.
    assert set_by(stream, room.at("d")).status == 0
    assert set(ids(room.path).values()) == {None}
    assert set_by(stream, "-r", room.at("d/0")).status == 0
    assert set_by(stream, "--glob", room.at("d/1/*[12]")).status == 0
    carried = {n for n, i in ids(room.path).items() if i is not None}
    assert carried == {*names[0:3], names[4], names[5]}
    listed = "".join(f"{n}\n" for n in names[6:8]).encode()
    assert set_by(stream, "--files-from", "-", input=listed).status == 0
    odd = os.fsencode(room.at("odd\n")) + b"\xff"
    make(odd)
    assert set_by(stream, "-0", "-T", "-", input=odd + b"\0" + names[8].encode()).status == 0
    assert ids("-T", "-", "-0", input=odd + b"\0").popitem()[1] == stream.id
    assert sum(i is not None for i in ids(room.path).values()) == 9
    # Lists of the wrong kind, and names that are not there.
    assert set_by(stream, "-T", "-", input=odd + b"\0").status == 1
    assert set_by(stream, "-T", "-", input=b"missing\n").status == 1
    ok("clear", "--recursive", room.path)
    assert set(ids(room.path).values()) == {None}


def test_files_by_descriptor(room):
    stream = room.alloc()
    fd = room.open("a")
    assert set_by(stream, "--file-fd", fd).status == 2 - 1  # not passed on
    done = wsctl("set", "--fd", stream.fd, "--file-fd", fd, pass_fds=[fd, stream.fd])
    assert done.status == 0, done
    files = ok("get", "--json", "--file-fd", fd, pass_fds=[fd]).json["files"]
    assert files[0]["stream"]["id"] == stream.id


def test_set_inside_run(room):
    make(room.at("a"))
    make(room.at("b"))
    ok(
        "run", "-n", 2, room.path, "--", "sh", "-ec",
        'wsctl set -s 0 "$1"; wsctl set -s 1 "$2"; '
        'wsctl get "$1" "$2" | grep -c "home in" | grep 2',
        "sh", room.at("a"), room.at("b"),
    )  # fmt: skip


def test_get_knows_nothing_on_plain_xfs(room):
    make(room.below("a"))
    done = wsctl("get", room.below("a"))
    assert done.status == 1 and b"only wsfs tells" in done.err


# streams, info


def test_streams_shows_holders(room):
    stream = room.alloc()
    child = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(60)", "a holder"], pass_fds=[stream.fd]
    )
    try:
        shown = ok("streams", "--json", room.path).json["mounts"][0]["streams"]
        (mine,) = [s for s in shown if s["id"] == stream.id]
        assert mine["ag_set"] == stream.info()["ag_set"]
        holders = {h["pid"]: h for h in mine["holders"]}
        assert set(holders) == {os.getpid(), child.pid}
        assert holders[child.pid]["fds"] == [stream.fd]
        assert holders[child.pid]["command"].endswith("a holder")
        assert str(child.pid).encode() in ok("streams").out
    finally:
        child.kill()
        child.wait()
    watched = ok("streams", "--watch", "--json", "--interval", "0.05", "--count", 3, room.path)
    assert len(watched.out.splitlines()) == 3
    assert len(ok("streams", "--json", "--all", room.path).json["mounts"][0]["streams"]) == 4


def test_info_tells_free_space(room):
    before = ok("info", "--ags", "--json", room.path).json["mounts"][0]
    stat = os.statvfs(room.path)
    assert len(before["ags"]) == 16
    assert abs(before["inodes"] - (stat.f_files - stat.f_ffree)) <= 32  # wsfs's own
    assert sum(ag["free_bytes"] for ag in before["ags"]) == before["free_bytes"]
    # statfs leaves out what XFS keeps back: 5 % of the blocks at most.
    kept = before["free_bytes"] - stat.f_bfree * stat.f_frsize
    assert 0 <= kept < stat.f_blocks * stat.f_frsize // 20 + 8 * MIB
    assert all(ag["largest_free_bytes"] <= ag["free_bytes"] + MIB for ag in before["ags"])
    assert all(ag["largest_free_bytes"] > 0 for ag in before["ags"])
    make(room.at("large"), 8 * MIB)
    after = ok("info", "--json", room.path).json["mounts"][0]
    assert before["free_bytes"] - after["free_bytes"] >= 8 * MIB
    text = ok("info", "--ags", room.path).out.decode()
    assert "LARGEST" in text and "inodes in use" in text


# check, map


def spread_files(room, count, stream):
    for i in range(count):
        make(room.at(f"s/{i:03}"))
        assert set_by(stream, room.at(f"s/{i:03}")).status == 0
        with open(room.at(f"s/{i:03}"), "r+b") as file:
            file.write(b"x" * 65536)
            file.flush()
            os.fsync(file.fileno())


def test_check_spread_and_junit(room):
    stream = room.alloc()
    spread_files(room, 12, stream)
    results = room.at("results.xml")
    done = ok("check", "--spread", "--junit", results, room.at("s"))
    assert done.out.startswith(b"ok: 12 files")
    suite = xml.etree.ElementTree.parse(results).getroot()[0]
    assert suite.get("tests") == "13" and suite.get("failures") == "0"
    for i in range(0, 12, 4):
        os.unlink(room.at(f"s/{i:03}"))
    # Every fourth is gone, and with them a whole AG of the stream's four.
    done = wsctl("check", "--spread", room.at("s"))
    assert done.status == 1 and b"expected numbers that differ by at most 1" in done.out
    assert wsctl("check", "--spread=3", room.at("s")).status == 0
    assert wsctl("check", "--junit", "/dev/full", room.at("s")).status == 2


def test_check_isolated_trees(room):
    for _ in range(2):
        stream = room.alloc()
        for i in range(20):
            make(name := room.at(f"{stream.id}/{i}"))
            assert set_by(stream, name).status == 0
            with open(name, "r+b") as file:
                file.write(b"x" * 8192)
                file.flush()
                os.fsync(file.fileno())
    ok("check", "--isolated", room.path)
    a, b = (room.below(str(s.id)) for s in room.streams)
    ok("check", "--isolated", a, "--", b)
    make(room.at("alien"), 4096)
    groups = [room.below("alien"), a, b]
    done = wsctl("check", "--isolated", groups[0], "--", groups[1], "--", groups[2])
    assert done.status in (0, 1), done
    assert wsctl("check", "--isolated", a, "--", a).status == 1


def test_map_draws_streams(room):
    stream = room.alloc()
    spread_files(room, 8, stream)
    make(room.at("plain"), 4096)
    document = ok("map", "--json", room.path).json
    rows = {row["label"]: row for row in document["filesystems"][0]["rows"]}
    assert rows[f"stream {stream.id}"]["bytes"] == 8 * 65536
    assert rows[f"stream {stream.id}"]["stray_bytes"] == 0
    assert len(rows[f"stream {stream.id}"]["ags"]) == 4
    assert rows["no stream"]["files"] >= 1
    svg, png = room.at("m.svg"), room.at("m.png")
    text = ok("map", "--svg", svg, "--png", png, room.path).out.decode()
    assert f"stream {stream.id} |" in text
    assert xml.etree.ElementTree.parse(svg).getroot().tag.endswith("svg")
    with open(png, "rb") as file:
        assert file.read(8) == b"\x89PNG\r\n\x1a\n"
    assert "PNG image data" in run("file", png)
    by_operand = ok("map", "--by-operand", "--json", room.below("s"), room.below("plain")).json
    assert [r["files"] for r in by_operand["filesystems"][0]["rows"]] == [8, 1]


# libws


def test_the_examples_keep_their_files_apart(room):
    for example in ("libws-example-c", "libws-example-cxx"):
        os.mkdir(room.at(example))
        run(example, room.at(example))
        ok(
            "check", "--isolated",
            room.below(f"{example}/wal.log"), "--", room.below(f"{example}/table.sst"),
        )  # fmt: skip
    assert not [s for s in ok("streams", "--json", room.path).json["mounts"][0]["streams"]]
