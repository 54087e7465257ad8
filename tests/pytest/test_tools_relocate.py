# SPDX-License-Identifier: GPL-2.0
"""wsctl relocate: data comes home, and nobody who reads or writes it notices."""

import fcntl
import os
import signal
import struct
import subprocess
import time

import pytest

from lib import ioctls
from lib.anchored import FIBMAP, check
from lib.busy import Busy
from lib.fiemap import SHARED, UNWRITTEN
from lib.relocating import (
    BLOCK, MIB, blocks, foreign_id, in_ags, make, physical, relocate, shape,
)  # fmt: skip
from lib.shell import run
from lib.shapes import xfs_io
from lib.wsctl import ok, wsctl

SIZE = 5 * MIB + 123


def foreign(room, path):
    """A stream, reserved, in whose AGs nothing of the file lies."""
    here = in_ags(room, path)
    while True:
        stream = room.alloc()
        if not here & room.wsfs.ag_set(stream.id):
            return stream


def marked(path):
    """XFS's mark of a shared file: it tells no block numbers then."""
    fd = os.open(path, os.O_RDONLY)
    try:
        return struct.unpack("=i", fcntl.ioctl(fd, FIBMAP, struct.pack("=i", 0)))[0] == 0
    finally:
        os.close(fd)


def used(room):
    """Bytes in use, when all that is to be freed is."""
    run("sync")
    stat = os.statvfs(room.xfs.path)
    return (stat.f_blocks - stat.f_bfree) * stat.f_frsize


def settled(look, want, seconds=10):
    """@look() comes to be @want: XFS frees unlinked files a bit later."""
    end = time.monotonic() + seconds
    while (got := look()) != want and time.monotonic() < end:
        time.sleep(0.1)
    return got


def left_behind(room):
    return [name for name in os.listdir(room.xfs.path) if name.startswith(".wsctl")]


# Files that lie in the wrong AGs


def test_written_before_set(room):
    path = room.at("f")
    want = make(path, SIZE)
    stream = foreign(room, path)
    fd = room.open("f")
    room.set(fd, stream)
    room.close(fd)
    os.utime(path, ns=(10**18, 10**18 + 1))
    before, free = os.stat(path), used(room)
    entry = relocate(path)
    after = os.stat(path)
    assert entry["moved_bytes"] >= SIZE - BLOCK
    assert entry["left_bytes"] == 0 and entry["marked"] is False
    assert entry["stream"] == stream.id
    assert in_ags(room, path) <= room.wsfs.ag_set(stream.id)
    check(room, "f", want)
    for name in ("st_size", "st_mtime_ns", "st_atime_ns", "st_ino", "st_mode", "st_blocks"):
        assert getattr(after, name) == getattr(before, name), name
    assert not marked(room.below("f"))
    assert settled(lambda: used(room), free) == free
    assert not left_behind(room)
    assert relocate(path)["moved_bytes"] == 0
    assert len(physical(path)) <= 3


def test_stream_that_was_changed(room):
    path = room.at("f")
    fd = room.open("f")
    streams = [room.alloc() for _ in range(3)]
    want = b""
    for i, stream in enumerate(streams):
        room.set(fd, stream)
        data = os.urandom(MIB + 100 * i)
        os.write(fd, data)
        os.fsync(fd)
        want += data
    assert len(in_ags(room, path)) > 1
    relocate(path)  # open here all the while
    assert in_ags(room, path) <= room.wsfs.ag_set(streams[-1].id)
    check(room, "f", want)


def test_by_id_without_a_reservation(room):
    path = room.at("f")
    want = make(path, SIZE)
    for stream_id in (0, 3, 1, 2):
        entry = relocate(path, "--stream", stream_id)
        assert entry["ag_set"] == room.wsfs.sysfs(f"stream/{stream_id}/ag_set")
        assert in_ags(room, path) <= room.wsfs.ag_set(stream_id)
    check(room, "f", want)
    assert not marked(room.below("f"))


def test_on_the_xfs_below(room):
    path = room.below("f")
    want = make(path, SIZE)
    assert b"--ags" in wsctl("relocate", path).err
    for ags, agnos in (("3", {3}), ("12-13,15", {12, 13, 15})):
        relocate(path, "--ags", ags)
        assert in_ags(room, path) <= agnos
    check(room, "f", want)
    assert not marked(path)


def test_files_take_turns(room):
    """Without a home of their own, over the AGs of the set."""
    os.mkdir(room.at("d"))
    for i in range(8):
        make(room.at(f"d/{i}"), 64 << 10)
    ok("relocate", "-r", "--ags", "4-7", room.at("d"))
    firsts = [physical(room.at(f"d/{i}"))[0][1] for i in range(8)]
    layout = room.xfs.layout()
    assert sorted(map(layout.ag_of_byte, firsts)) == [4, 4, 5, 5, 6, 6, 7, 7]


def test_in_many_pieces(room):
    """Every second block, so that each is an extent of its own."""
    path = room.at("f")
    make(path, 4 * MIB)
    xfs_io(path, *[f"fpunch {8 * i + 4}k 4k" for i in range(512)])
    with open(path, "rb") as f:
        want = f.read()
    before = shape(path)
    entry = relocate(path, "--stream", foreign_id(room, path))
    assert entry["moved_bytes"] == 2 * MIB
    assert shape(path) == before and len(before) == 512
    check(room, "f", want)


def test_a_tree_takes_what_carries_a_stream(room):
    os.mkdir(room.at("d"))
    make(room.at("d/a"), 100000)
    make(room.at("d/b"), 100000)
    stream = foreign(room, room.at("d/a"))
    fd = room.open("d/a")
    room.set(fd, stream)
    room.close(fd)
    files = ok("relocate", "--json", "-r", room.at("d")).json["files"]
    assert [f["path"] for f in files] == [room.at("d/a")]
    assert in_ags(room, room.at("d/a")) <= room.wsfs.ag_set(stream.id)
    done = wsctl("relocate", room.at("d/b"))
    assert done.status == 1 and b"carries no stream" in done.err


# What stays as it is


def test_holes_and_preallocation_stay(room):
    path = room.at("f")
    xfs_io(path, "pwrite -q 64k 64k", "falloc 512k 512k", "pwrite -q 600k 64k",
           "pwrite -q 4m 10000", "truncate 6m", "falloc -k 6m 1m", "fsync")  # fmt: skip
    with open(path, "rb") as f:
        want = f.read()
    before = shape(path)
    entry = relocate(path, "--stream", foreign_id(room, path))
    assert shape(path) == before
    unwritten = sum(length for _, length, flags in before if flags & UNWRITTEN)
    assert entry["unwritten_bytes"] == unwritten > MIB
    check(room, "f", want)
    assert b"preallocated elsewhere stay" in ok(
        "relocate", "--stream", entry["stream"], path).out  # fmt: skip


def test_shared_blocks_stay_unless_asked(room):
    path, clone = room.at("f"), room.at("clone")
    want = make(path, 4 * MIB)
    run("cp", "--reflink=always", path, clone)
    xfs_io(path, "pwrite -q -S 7 1m 1m", "fsync")
    want = want[:MIB] + b"\x07" * MIB + want[2 * MIB :]
    stream_id = foreign_id(room, path)
    before, where, free = physical(clone), blocks(clone), used(room)
    done = wsctl("relocate", "--json", "--stream", stream_id, path)
    assert done.status == 1 and b"shared with other files" in done.err
    (entry,) = done.json["files"]
    assert entry["shared_bytes"] == 3 * MIB
    assert entry["left_bytes"] == 0
    assert physical(clone) == before
    assert settled(lambda: used(room), free) == free
    check(room, "f", want)
    relocate(path, "--stream", stream_id, "--shared")
    assert in_ags(room, path) <= room.wsfs.ag_set(stream_id)
    assert not [flags for _, _, flags in shape(path) if flags & SHARED]
    assert blocks(clone) == where
    check(room, "f", want)


def test_dry_run_changes_nothing(room):
    path = room.at("f")
    make(path, SIZE)
    stream_id = foreign_id(room, path)
    before, stat = physical(path), os.stat(path)
    entry = relocate(path, "--dry-run", "--stream", stream_id)
    assert entry["stray_bytes"] == SIZE and entry["moved_bytes"] == 0
    assert sum(r["length"] for r in entry["ranges"]) == SIZE
    text = ok("relocate", "-n", "--stream", stream_id, path).out.decode()
    assert f"to move from AG {entry['from']} to AG {entry['ag_set']}" in text
    assert physical(path) == before
    after = os.stat(path)
    assert (after.st_mtime_ns, after.st_ctime_ns) == (stat.st_mtime_ns, stat.st_ctime_ns)


def test_a_mark_stays_while_others_have_the_file_open(room):
    path = room.at("f")
    make(path, MIB)
    stream_id = foreign_id(room, path)
    fd = room.open("f", os.O_RDONLY)
    assert relocate(path, "--stream", stream_id)["marked"] is True
    room.close(fd)
    entry = relocate(path, "--stream", stream_id)
    assert entry["moved_bytes"] == 0 and entry["marked"] is False
    assert not marked(room.below("f"))


# What is refused


def test_immutable_append_only_and_swap_files(room):
    path = room.at("f")
    make(path, MIB)
    stream_id = foreign_id(room, path)
    before = physical(path)
    for flag in (ioctls.FS_IMMUTABLE_FL, ioctls.FS_APPEND_FL):
        fd = os.open(path, os.O_RDONLY)
        ioctls.setflags(fd, flag)
        try:
            done = wsctl("relocate", "--stream", stream_id, path)
        finally:
            ioctls.setflags(fd, 0)
            os.close(fd)
        assert done.status == 1 and b"immutable or append-only" in done.err
    run("mkswap", path)
    os.chmod(path, 0o600)
    try:
        run("swapon", path)
    except Exception as failure:  # a kernel without swap
        pytest.skip(str(failure))
    try:
        done = wsctl("relocate", "--stream", stream_id, path)
        assert done.status == 1 and b"ETXTBSY" in done.err
    finally:
        run("swapoff", path)
    assert [e[:3] for e in physical(path)] == [e[:3] for e in before]


# Interruptions and limits


def begin(path, *words):
    return subprocess.Popen(
        ["wsctl", "relocate", *map(str, words), path],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_goes_on_where_it_was_interrupted(room, number):
    path = room.at("f")
    want = make(path, 12 * MIB)
    stream_id, free = foreign_id(room, path), used(room)
    process = begin(path, "--bwlimit", "4M", "--stream", stream_id)
    home = room.wsfs.ag_set(stream_id)
    while not in_ags(room, path) & home:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
    if number != signal.SIGKILL:
        assert b"interrupted" in err
    check(room, "f", want)
    assert settled(lambda: used(room), free) == free
    entry = relocate(path, "--stream", stream_id)
    assert 0 < entry["moved_bytes"] < 12 * MIB
    assert in_ags(room, path) <= home
    check(room, "f", want)
    assert settled(lambda: used(room), free) == free
    assert not left_behind(room)
    assert not marked(room.below("f"))


def test_keeps_to_its_limit(room):
    path = room.at("f")
    make(path, 8 * MIB)
    start = time.monotonic()
    relocate(path, "--bwlimit", "4M", "--stream", foreign_id(room, path))
    assert time.monotonic() - start >= 1.9


# Others who write meanwhile


@pytest.mark.usefixtures("true_mappings")
@pytest.mark.parametrize("seed", [1, 2])
def test_no_write_is_lost(room, seed):
    """test_busy.py changes the file's stream as well."""
    path = room.at("f")
    busy = Busy(path, seed, room.below("f"))
    moved, ends = 0, []
    try:
        while not busy.failed and (len(ends) < 24 or moved < 4 * MIB) and len(ends) < 100:
            done = wsctl("relocate", "--json", "--ags", ("0-3", "8-11")[len(ends) % 2], path)
            assert done.status in (0, 1), done
            moved += done.json["files"][0]["moved_bytes"]
            ends.append(done.status)
    finally:
        want = busy.stop()
    print(f"{busy.writes} writes, {busy.reads} reads, {moved >> 20} MiB moved, {ends.count(1)} "
          f"of {len(ends)} not in full")  # fmt: skip
    assert moved >= 4 * MIB and busy.writes > 100
    check(room, "f", want)
    relocate(path, "--ags", "12-15")
    assert in_ags(room, path) <= {12, 13, 14, 15}
    check(room, "f", want)
