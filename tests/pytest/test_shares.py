# SPDX-License-Identifier: GPL-2.0
"""How the streams are shared out: to be reserved, for hints, for numbers."""

import errno
import os

import pytest

from lib import births, ioctls
from lib.anchored import BLOCK
from lib.births import by_open, make
from lib.hints import EXTREME, LONG, MEDIUM, SHORT, get_hint, set_hint
from lib.numbered import GET, GET_MAX, SET, V2, V3, call, get
from lib.shell import run, status
from lib.wsctl import ok

HINTS = [SHORT, MEDIUM, LONG, EXTREME]


def mounted(bed, options="hints", streams=8):
    bed.make(agcount=16, streams=streams, options=options.split(","))
    return bed


def write(fd, size=64 << 10):
    births.fill(fd, size)


def test_fewer_streams_than_hints(bed):
    """Neighbours share; the shortest life has the first."""
    bed.make(agcount=16, streams=4)
    for number, want in (
        (1, [3, 3, 3, 3]),
        (2, [2, 2, 3, 3]),
        (3, [1, 1, 2, 3]),
        (4, [0, 1, 2, 3]),
    ):
        bed.close_all()
        bed.wsfs.umount()
        bed.wsfs.mount(4, [f"hints={number}"])
        got = []
        for hint in HINTS:
            fd = bed.open(f"f{number}-{hint}")
            set_hint(fd, hint)
            write(fd, BLOCK)
            got.append(bed.info(fd).stream)
        assert got == want


def test_without_the_option(bed):
    """A hint is a hint for XFS, and no more."""
    mounted(bed, "nospread")
    fd = bed.open("f")
    set_hint(fd, SHORT)
    write(fd)
    assert not bed.info(fd).has_stream
    below = bed.adopt(os.open(bed.below("f"), os.O_RDONLY))
    assert get_hint(fd) == get_hint(below) == SHORT


def test_spread_and_hints(bed):
    mounted(bed, "hints,spread=free")
    owned = set().union(*(bed.wsfs.ag_set(i) for i in range(4, 8)))
    fds = [make(bed, by_open, ".", f"f{i}") for i in range(8)]
    for fd in fds:
        assert bed.info(fd).inode_agno not in owned
    set_hint(fds[3], LONG)
    write(fds[3])
    info = bed.info(fds[3])
    assert info.by_hint and info.stream == 6 and info.inode_agno in bed.wsfs.ag_set(6)


def test_what_is_left_for_others(bed):
    """GET_MAX and ALLOC know nothing of the streams set aside."""
    mounted(bed)
    with open("/proc/self/mounts") as f:
        assert any(line.split()[1] == bed.path and ",hints=4" in line for line in f)
    fd = bed.open("f")
    assert ioctls.get_max(fd) == 4
    assert sorted(bed.alloc().id for _ in range(4)) == [0, 1, 2, 3]
    with pytest.raises(OSError) as caught:
        bed.alloc()
    assert caught.value.errno == errno.ENOSPC
    assert bed.wsfs.geometry().streams == 8
    assert int(bed.wsfs.sysfs("reserved")) == 8
    assert int(bed.wsfs.sysfs("stream/7/reserved")) == 1


def test_refused(bed):
    """Nothing is mounted, and it says why."""
    bed.make(agcount=4, streams=2)
    bed.wsfs.umount()
    for options in (
        "hints=0", "hints=5", "hints=x", "hints=", "hints=3,streams=2", "hints,streams=1",
        "hints,streams=0", "hints=2,numbered=3,streams=4", "numbered=0", "numbered=1025",
        "numbered=-1", "numbered,streams=1",
    ):  # fmt: skip
        code, output = status("mount", "-t", "wsfs", "-o", options, bed.lower, bed.wsfs.path)
        assert code, options
        assert "hints" in output or "numbered" in output, (options, output)


def test_mounts_agree(bed):
    mounted(bed, "hints=2", streams=4)
    other = f"{bed.wsfs.path}-other"
    os.makedirs(other, exist_ok=True)
    for options, fits in [
        ("hints=3", False), ("numbered", False), ("hints", True), ("hints=2", True)
    ]:
        code, output = status("mount", "-t", "wsfs", "-o", options, bed.lower, other)
        assert (code == 0) == fits, output
        if fits:
            run("umount", other)
        code, output = status("mount", "-o", f"remount,{options}", bed.wsfs.path)
        assert (code == 0) == fits, output


def test_with_hints(bed):
    """Shares of their own."""
    bed.make(agcount=16, streams=8, options=["numbered=2", "hints=2"])
    fd = bed.open("f")
    assert call(fd, V3, GET_MAX)[2] == 2
    assert ioctls.get_max(fd) == 4
    call(fd, V3, SET, 1)
    assert bed.info(fd).stream == 6
    other = bed.open("g")
    set_hint(other, SHORT)
    births.fill(other)
    assert bed.info(other).stream == 4
    assert get(other) == 0
    with pytest.raises(OSError) as caught:
        call(other, V3, SET, 1)
    assert caught.value.errno == errno.EBUSY


def test_default_share(bed):
    bed.make(agcount=16, streams=6, options=["numbered"])
    fd = bed.open("f")
    assert call(fd, V3, GET_MAX)[2] == 3
    with open("/proc/self/mounts") as f:
        assert any(line.split()[1] == bed.path and ",numbered=3" in line for line in f)


def test_off_by_default(bed):
    bed.make(agcount=4, streams=4)
    fd = bed.open("f")
    for number in (V2, V3):
        for op in (GET_MAX, GET, SET, 0):
            with pytest.raises(OSError) as caught:
                call(fd, number, op)
            assert caught.value.errno == errno.ENOTTY


def test_wsctl_tells_what_is_set_aside(bed):
    """Which they are, and by what a file gets each: as it then comes about."""
    mounted(bed, "hints=3,numbered=2")
    names = ["short", "medium", "long", "extreme"]
    told = {}
    for command in ("info", "streams"):
        (mount,) = ok(command, "--json", bed.path).json["mounts"]
        told[command] = {it["id"]: it["set_aside"] for it in mount["streams"]}
    assert told["info"] == {0: None, 1: None, 2: None, **told["streams"]}
    for hint, name in zip(HINTS, names):
        fd = bed.open(name)
        set_hint(fd, hint)
        write(fd, BLOCK)
        assert name in told["info"][bed.info(fd).stream]["hints"]
    for number in (1, 2):
        fd = bed.open(f"n{number}")
        call(fd, V3, SET, number)
        assert told["info"][bed.info(fd).stream] == {"hints": [], "number": number}
    lines = ok("streams", bed.path).out.decode()
    assert "(hints: short, medium)" in lines and "(number 2)" in lines
