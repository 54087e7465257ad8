# SPDX-License-Identifier: GPL-2.0
"""wsctl and names, outputs, readers and mounts that mean no good."""

import os
import signal
import subprocess
import threading
import xml.etree.ElementTree

import pytest

from lib.shell import run
from lib.wsctl import document, make, ok, set_by, wsctl

NAMES = [
    b"new\nline", b"\xff\xfe", b" lead", b"-dash", "ümlaut".encode(), b"tab\t\x1b[31m",
    b"back\\slash", b"<&>\"'", b"x" * 255,
]  # fmt: skip


def named(directory):
    """Files of all these names, with data."""
    paths = [os.path.join(os.fsencode(directory), name) for name in NAMES]
    for path in paths:
        make(path, 1)
    return paths


def name_of(entry, key="path"):
    """The bytes of a name in JSON."""
    if f"{key}_bytes" in entry:
        return bytes.fromhex(entry[f"{key}_bytes"])
    return entry[key].encode()


def one_line_each(text, count):
    """As many lines, and nothing in them that a terminal takes for more than text."""
    lines = text.decode().splitlines()
    assert len(lines) == count, lines
    assert all(line.isprintable() for line in lines), lines


def test_names_of_any_kind(room):
    stream = room.alloc()
    paths = named(room.at("t"))
    listed = b"\0".join(paths)
    done = set_by(stream, "-v", "-0", "-T", "-", input=listed)
    assert done.status == 0, done
    one_line_each(done.out, len(paths))
    for words in (["get"], ["relocate", "-n", "-v", "-r"]):
        one_line_each(ok(*words, room.at("t")).out, len(paths))
    for words in (["get", "--json"], ["bmap", "--json"], ["relocate", "--json", "-n", "-r"],
                  ["clear", "--json", "-r"]):  # fmt: skip
        files = ok(*words, room.at("t")).json["files"]
        assert sorted(map(name_of, files)) == sorted(paths), words


def test_names_of_any_kind_in_reports(room):
    paths = named(room.at("t"))
    results, drawing = room.at("results.xml"), room.at("map.svg")
    done = wsctl("check", "-q", "--max-extents", 0, "--junit", results, room.at("t"))
    assert done.status == 1
    one_line_each(done.out, len(paths))
    suite = xml.etree.ElementTree.parse(results).getroot()[0]
    assert len(suite) == len(paths) and suite.get("failures") == str(len(paths))
    rows = ok("map", "--by-operand", "--json", *paths).json["filesystems"][0]["rows"]
    assert [name_of(row, "label") for row in rows] == paths
    done = ok("map", "--by-operand", "--svg", drawing, "--png", room.at("map.png"), *paths)
    assert all(line.isprintable() for line in done.out.decode().splitlines())
    xml.etree.ElementTree.parse(drawing)
    # And in what is said of those that are not there.
    for words in (["bmap"], ["get"], ["check"], ["map"], ["clear"], ["relocate"], ["info"]):
        done = wsctl(*words, os.path.join(os.fsencode(room.at("t")), b"not\n\xff"))
        assert done.status in (1, 2) and b"/t/not\\n\\377: " in done.err, done


def test_a_full_disk_for_the_output(room):
    stream = room.alloc()
    make(room.at("a"), 4096)
    os.mkdir(room.at("d"))
    path = [room.at("a")]
    for words in (
        ["--help"], ["--version"], ["bmap", "--help"],
        ["bmap", *path], ["bmap", "--json", *path], ["get", *path], ["get", "--json", *path],
        ["check", "--max-extents", "1", *path], ["check", "--json", "--max-extents", "1", *path],
        ["map", *path], ["map", "--json", *path],
        ["info", *path], ["info", "--ags", "--json", *path],
        ["streams", *path], ["streams", "--json", *path],
        ["streams", "--watch", "--interval", "0.01", *path],
        ["doctor", *path], ["doctor", "--json", *path],
        ["fio", "gen"], ["fio", "gen", "lsm"], ["fio", "gen", "--json", "lsm"],
        ["set", "--fd", stream.fd, "-v", *path], ["set", "--fd", stream.fd, "--json", *path],
        ["relocate", "-n", "-v", *path], ["relocate", "-n", "--json", *path],
        ["spread", "--json", room.at("d")], ["clear", "--json", *path],
    ):  # fmt: skip
        with open("/dev/full", "wb") as full:
            done = wsctl(*words, stdout=full, pass_fds=[stream.fd])
        assert done.status == 2 and b"could not be written" in done.err, (words, done)


def test_a_full_disk_for_a_file(room):
    make(room.at("a"), 4096)
    for words in (
        ["map", "--svg", "/dev/full", room.at("a")],
        ["map", "--png", "/dev/full", room.at("a")],
        ["check", "--max-extents", "1", "--junit", "/dev/full", room.at("a")],
        ["fio", "gen", "lsm", "-o", "/dev/full"],
    ):
        done = wsctl(*words)
        assert done.status in (1, 2) and b"/dev/full: " in done.err, (words, done)


@pytest.mark.parametrize("words", [["bmap"], ["bmap", "--json"], ["get"]], ids=" ".join)
def test_a_reader_that_goes_away(room, words):
    for i in range(2000):
        make(room.at(f"t/{i}"), 1)
    with subprocess.Popen(
        ["wsctl", *words, room.at("t")], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()
        assert process.wait(timeout=60) == -signal.SIGPIPE
        assert err == b""


def test_a_reader_of_a_watch_goes_away(room):
    with subprocess.Popen(
        ["wsctl", "streams", "--watch", "--interval", "0.01", room.path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == -signal.SIGPIPE


def test_files_that_vanish_during_a_scan(room):
    stop = threading.Event()
    stream = room.alloc()
    os.mkdir(room.at("t"))

    def churn(number):
        while not stop.is_set():
            for i in range(100):
                make(room.at(f"t/{number}/{i}"), 1)
            run("rm", "-rf", room.at(f"t/{number}"))

    threads = [threading.Thread(target=churn, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    try:
        for words in (["bmap", "--json"], ["get", "--json"], ["map", "--json"]) * 3:
            done = ok(*words, room.at("t"))
            assert done.err == b"" and done.json
        done = wsctl("check", "--json", "--max-extents", 1, room.at("t"))
        assert not [e for e in done.json["errors"] if e["errno"]], done
        for words in (["clear", "--json", "-r"], ["relocate", "--json", "-n", "-r"]):
            done = ok(*words, room.at("t"))
            assert done.err == b"" and done.json
        done = set_by(stream, "--json", "-r", room.at("t"))
        assert done.status == 0 and done.err == b"", done
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_mount_that_goes_away(room, base):
    other = f"{base}/gone"
    for i in range(3000):
        make(room.at(f"t/{i}"), 1)
    os.makedirs(other, exist_ok=True)
    run("mount", "--bind", room.path, other)
    process = subprocess.Popen(
        ["wsctl", "bmap", "--json", other],
        bufsize=0,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    begin = process.stdout.read(1)
    run("umount", "-l", other)
    out, err = process.communicate(timeout=600)
    # All was found, since the scan held on to it, or it said what it could not find.
    assert process.returncode in (0, 1), err
    assert process.returncode == 0 or err
    assert document(begin + out)["files"]
    assert wsctl("bmap", f"{other}/t/1").status == 1
    done = wsctl("info", "/nowhere")
    assert done.status == 1 and b"ENOENT" in done.err
