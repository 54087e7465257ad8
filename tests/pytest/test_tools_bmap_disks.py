# SPDX-License-Identifier: GPL-2.0
"""wsctl bmap shows what xfs_bmap -vv shows: stripes, realtime, a million extents."""

import os
import subprocess

import pytest

from lib import libc
from lib.shapes import MIB, plain, punched, sparse, unwritten, xfs_io
from lib.shell import run
from lib.wsctl import agree, agree_on_many, ok


def test_agrees_with_stripes(bed):
    bed.make(agcount=4, ag_mib=64, mkfs=("-d", "su=64k,sw=4"))
    for kind in (plain, sparse, unwritten, punched):
        kind(bed.at(kind.__name__))
        agree(bed.below(kind.__name__), bed.at(kind.__name__))


def has_realtime_groups():
    """Since Linux 6.13."""
    return tuple(map(int, os.uname().release.split("-")[0].split(".")[:2])) >= (6, 13)


@pytest.mark.parametrize(
    "options",
    [
        ("-m", "reflink=0,rmapbt=0"),
        pytest.param(
            ("-m", "metadir=1", "-r", "rgcount=4"),
            marks=pytest.mark.skipif(not has_realtime_groups(), reason="no realtime groups"),
        ),
    ],
    ids=["volume", "groups"],
)
def test_agrees_on_a_realtime_file(bed, disks, options):
    run("mkfs.xfs", "-q", "-f", *options, "-r", f"rtdev={disks[1]}", disks[0])
    os.makedirs(bed.xfs.path, exist_ok=True)
    run("mount", "-o", f"rtdev={disks[1]}", disks[0], bed.xfs.path)
    try:
        xfs_io(bed.below("f"), "chattr +r", "pwrite -q 0 1m", "pwrite -q 3m 64k", "fsync")
        expected = agree(bed.below("f"))
        document = ok("bmap", "--json", bed.below("f")).json["files"][0]
        assert document["realtime"]
        got = [(e["offset"], e["length"], e["block"]) for e in document["extents"]]
        want = [
            (int(row[1]), int(row[2]) - int(row[1]) + 1, row[4] and int(row[4]))
            for row in expected
        ]
        assert got == want and len(got) >= 3
        assert [e["ag"] for e in document["extents"]] == [
            row[6] and int(row[6]) for row in expected
        ]
    finally:
        run("umount", bed.xfs.path)


def many_extents(path, count):
    """Every second block of 1 KiB written, the others not: an extent each."""
    fd = os.open(path, os.O_CREAT | os.O_RDWR)
    libc.fallocate(fd, 0, 0, 1024 * count)
    for block in range(0, count, 2):
        os.pwrite(fd, b"x" * 1024, 1024 * block)
        if block % 65536 == 0:
            os.fdatasync(fd)
    os.fsync(fd)
    os.close(fd)


@pytest.mark.parametrize(
    "count", [60_000, pytest.param(1_000_000, marks=pytest.mark.long)], ids=["60k", "1M"]
)
def test_agrees_on_many_extents(bed, count, disks):
    room = os.lseek(fd := os.open(disks[0], os.O_RDONLY), 0, os.SEEK_END) // MIB
    os.close(fd)
    if room * 1024 < 1.3 * count:
        pytest.skip(f"a million extents need a larger disk than {room} MiB")
    bed.make(agcount=4, ag_mib=room // 4 - 8, mkfs=("-b", "size=1024"))
    many_extents(bed.at("f"), count)
    assert agree_on_many(bed.below("f"), bed.at("f")) >= count - 2
    # In bounded memory: the file is not remembered.
    peak = subprocess.run(
        ["/usr/bin/time", "-f", "%M", "wsctl", "bmap", bed.at("f")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=True,
    ).stderr
    assert int(peak) < 64 * 1024, f"{peak} KiB"
