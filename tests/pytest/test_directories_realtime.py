# SPDX-License-Identifier: GPL-2.0
"""Directories whose files are realtime files: XFS makes and places those, with all
that it gives them, whatever was said of the directory; others are steered as ever."""

import errno
import os

import pytest

from lib import acl, births, ioctls, parents
from lib.births import WAYS, by_open, directory, make, way_name
from lib.disks import zero
from lib.hints import SHORT, set_hint
from lib.ioctls import FsXattr
from lib.placement import assert_placed

AGS = 8
MIB = 1 << 20

groups = pytest.param(
    ("-m", "metadir=1", "-r", "rgcount=4"),
    marks=pytest.mark.skipif(
        tuple(map(int, os.uname().release.split("-")[0].split(".")[:2])) < (6, 13),
        reason="no realtime groups before Linux 6.13",
    ),
    id="groups",
)
volume = pytest.param(("-m", "reflink=0,rmapbt=0"), id="volume")


@pytest.fixture(params=[volume, groups])
def realtime(bed, disks, request):
    """A bed with a realtime volume, still to be made."""
    zero(disks[1], MIB)

    def make_bed(**how):
        bed.make(agcount=AGS, streams=4, mkfs=request.param, rtdev=disks[1], **how)
        return bed

    return make_bed


def is_realtime(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        return bool(FsXattr.of(fd).xflags & ioctls.XFLAG_REALTIME)
    finally:
        os.close(fd)


def clear(fd, flag):
    attr = FsXattr.of(fd)
    attr.xflags &= ~flag
    attr.apply(fd)


@pytest.mark.parametrize("shape", parents.REALTIME_SHAPES, ids=way_name)
def test_inherits_as_ever(realtime, shape):
    """xfs_io chattr +t, on a directory that has a stream: its files are realtime
    files as those of its twin are, and carry none, which is counted. So are those
    of a directory made in it."""
    bed = realtime()
    streams = sorted((bed.alloc() for _ in range(4)), key=lambda stream: stream.id)
    fds = parents.twins(bed, shape, streams[2])
    try:
        names = parents.compare_twins(bed)
        for name in names:
            assert is_realtime(bed.at(f"with/{name}")), name
            fd = bed.open(f"with/{name}", os.O_RDWR)
            assert not bed.info(fd).has_stream
            bed.close(fd)
        assert bed.wsfs.count(2, "missed") == len(names)
        assert bed.wsfs.count(2, "homed") == bed.wsfs.count(2, "files") == 0
        for name in ("with", "without"):
            sub = bed.at(f"{name}/sub")
            os.mkdir(sub)
            os.chmod(sub, 0o777)
            if acl.ACCESS in os.listxattr(sub):  # gives the user less than the mode
                os.removexattr(sub, acl.ACCESS)
        assert births.looks(bed.at("with/sub")) == births.looks(bed.at("without/sub"))
        for name in parents.compare_twins(bed, "/sub"):
            assert is_realtime(bed.at(f"with/sub/{name}")), name
        assert bed.wsfs.count(2, "missed") == 2 * len(names)
    finally:
        for fd in fds:
            ioctls.setflags(fd, 0)


def test_data_goes_to_the_realtime_volume(realtime):
    """statfs(2) tells of that volume in a directory of realtime files."""
    bed = realtime()
    fd = directory(bed, "d", bed.alloc())
    parents.realtime(bed.at("d"), fd)
    before = os.statvfs(bed.below("d"))
    assert before.f_blocks * before.f_frsize <= 256 * MIB
    births.fill(make(bed, by_open, "d", "f"), MIB)
    after = os.statvfs(bed.below("d"))
    assert (before.f_bfree - after.f_bfree) * after.f_frsize >= MIB


def test_marked_and_unmarked(realtime):
    """The stream is not lost: without the mark its files are at home again."""
    bed = realtime()
    stream = bed.alloc()
    fd = directory(bed, "d", stream)

    def born(tag):
        fds = [make(bed, way, "d", f"{tag}-{way.__name__}") for way in WAYS]
        for each in fds:
            births.fill(each, 64 << 10)
        return fds

    home = bed.wsfs.ag_set(stream.id)
    assert_placed(bed.xfs.layout(), [("before", each, home) for each in born("before")])
    parents.realtime(bed.at("d"), fd)
    assert not any(bed.info(each).has_stream for each in born("marked"))
    clear(fd, ioctls.XFLAG_RTINHERIT)
    after = born("after")
    assert all(bed.info(each).homed for each in after)
    assert_placed(bed.xfs.layout(), [("after", each, home) for each in after])


def test_refused(realtime):
    """Neither a stream nor a turn for what is a directory of realtime files, nor a
    stream for such a file."""
    bed = realtime()
    stream = bed.alloc()
    fd = directory(bed, "d")
    parents.realtime(bed.at("d"), fd)
    for how, stream_fd in (
        (ioctls.DIR_STREAM, stream.fd), (ioctls.DIR_SPREAD, -1), (ioctls.DIR_SPREAD_FREE, -1)
    ):  # fmt: skip
        with pytest.raises(OSError) as caught:
            ioctls.set_dir(fd, how, stream_fd)
        assert caught.value.errno == errno.EXDEV, how
    for how in (ioctls.DIR_NEAR, ioctls.DIR_DEFAULT):
        ioctls.set_dir(fd, how)
    file = make(bed, by_open, "d", "f")
    with pytest.raises(OSError) as caught:
        bed.set(file, stream)
    assert caught.value.errno == errno.EXDEV
    assert ioctls.get_max(file) == 0
    assert not bed.info(file).has_stream


def test_mkfs_rtinherit(realtime):
    """All of the filesystem's files, with -o spread and -o hints: as without; but
    not those of a directory that is not so, nor wsfs's own."""
    bed = realtime(
        data=f"agcount={AGS},size={AGS * 32}m,rtinherit=1", options=["spread", "hints=2"]
    )
    fds = parents.twins(bed, parents.plain, None)
    ioctls.set_dir(fds[1], ioctls.DIR_NEAR)
    names = parents.compare_twins(bed)
    assert all(is_realtime(bed.at(f"with/{name}")) for name in names)
    assert int(bed.wsfs.sysfs("spread_missed")) == len(names)
    assert int(bed.wsfs.sysfs("spread_homed")) == 0

    fd = make(bed, by_open, "with", "hint")
    set_hint(fd, SHORT)
    births.fill(fd, 64 << 10)
    assert not bed.info(fd).has_stream
    assert bed.wsfs.count(2, "missed") == 1

    for each in fds:
        clear(each, ioctls.XFLAG_RTINHERIT)
    homed = [make(bed, by_open, "with", f"data{i}") for i in range(2 * AGS)]
    for i, each in enumerate(homed):
        births.fill(each, 64 << 10)
        assert not is_realtime(bed.at(f"with/data{i}"))
    assert int(bed.wsfs.sysfs("spread_homed")) == 2 * AGS
    layout = bed.xfs.layout()
    assert_placed(layout, [("data", each, {bed.info(each).inode_agno}) for each in homed])
    assert {bed.info(each).inode_agno for each in homed} == set(range(AGS))
