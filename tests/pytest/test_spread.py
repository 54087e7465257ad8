# SPDX-License-Identifier: GPL-2.0
"""Files without a stream that take turns over the AGs: by -o spread, or of one
directory."""

import errno
import os

import pytest

from lib import births, ioctls
from lib.births import WAYS, acting_as, by_open, directory, looks, make, make_only, way_name
from lib.fiemap import extents
from lib.placement import agnos, assert_balanced
from lib.shell import run, status

AGS = 8
USER = 1000


def mounted(bed, *options, streams=4):
    bed.make(agcount=AGS, streams=streams, options=options)
    return bed


def show(bed):
    """The options of the mount that wsfs shows."""
    with open("/proc/self/mounts") as f:
        line = next(line for line in f if line.split()[1] == bed.wsfs.path)
    return line.split()[3].split(",")


def remount(bed, options):
    return status("mount", "-o", f"remount,{options}", bed.wsfs.path)


def count(bed, name):
    return int(bed.wsfs.sysfs(name))


@pytest.mark.parametrize("way", WAYS, ids=way_name)
@pytest.mark.quick
def test_all_in_one_directory(bed, way):
    """Each AG has as many of the directory's files as the next, one extent
    each; no stream has anything to do with it."""
    mounted(bed, "spread")
    assert "spread=all" in show(bed)
    os.mkdir(bed.at("d"))
    fds = []
    for i in range(2 * AGS):
        fd = make(bed, way, "d", f"f{i}")
        births.fill(fd)
        assert not bed.info(fd).has_stream
        fds.append(fd)
    assert_balanced(bed.xfs.layout(), fds, set(range(AGS)))
    assert all(len(extents(fd)) == 1 for fd in fds)
    assert count(bed, "spread_homed") == 2 * AGS
    assert count(bed, "spread_missed") == 0


def test_without_it(bed):
    """The twin: all in the AG of their directory."""
    mounted(bed)
    assert not [word for word in show(bed) if "spread" in word]
    os.mkdir(bed.at("d"))
    fds = [make(bed, by_open, "d", f"f{i}") for i in range(AGS)]
    for fd in fds:
        births.fill(fd)
    assert len({agnos(bed.xfs.layout(), fd)[0] for fd in fds}) == 1
    assert count(bed, "spread_homed") == 0


def test_over_free_ags(bed):
    """AGs of reserved streams are left alone, as long as they are reserved."""
    mounted(bed, "spread=free")
    assert "spread=free" in show(bed)
    streams = [bed.alloc() for _ in range(4)]
    streams.sort(key=lambda stream: stream.id)
    for stream in streams[2:]:
        stream.close()
    allowed = set(range(AGS)) - bed.wsfs.ag_set(0) - bed.wsfs.ag_set(1)
    os.mkdir(bed.at("d"))

    def some(tag, number=2 * AGS):
        fds = [make(bed, by_open, "d", f"{tag}{i}") for i in range(number)]
        for fd in fds:
            births.fill(fd, 64 << 10)
        return fds

    assert_balanced(bed.xfs.layout(), some("free"), allowed)
    streams[0].close()
    assert_balanced(bed.xfs.layout(), some("freer", 3 * AGS), allowed | bed.wsfs.ag_set(0))
    # none is free: better all of them than one
    for _ in range(3):
        bed.alloc()
    assert_balanced(bed.xfs.layout(), some("all"), set(range(AGS)))


def test_more_streams_than_ags(bed):
    """An AG with several owners is free when none of them is reserved."""
    bed.make(agcount=4, streams=8, options=["spread=free"])
    streams = sorted((bed.alloc() for _ in range(8)), key=lambda stream: stream.id)
    for stream in streams[:4] + streams[5:]:
        stream.close()
    assert bed.wsfs.ag_set(4) == {0}
    os.mkdir(bed.at("d"))
    fds = [make(bed, by_open, "d", f"f{i}") for i in range(6)]
    for fd in fds:
        births.fill(fd, 64 << 10)
    assert_balanced(bed.xfs.layout(), fds, {1, 2, 3})


def test_one_directory(bed):
    """By the ioctl, inherited, taken back; and out of a mount that spreads."""
    mounted(bed)
    fd = directory(bed, "d")
    ioctls.set_dir(fd, ioctls.DIR_SPREAD)
    os.mkdir(bed.at("d/sub"))
    sub = bed.adopt(os.open(bed.at("d/sub"), os.O_RDONLY))
    assert bed.info(sub).dir_how == ioctls.DIR_SPREAD
    assert not bed.info(sub).has_stream

    def made_in(where, number=AGS):
        return [make(bed, by_open, where, f"f{i}") for i in range(number)]

    def inodes(fds):
        return {bed.info(each).inode_agno for each in fds}

    assert inodes(made_in("d")) == inodes(made_in("d/sub")) == set(range(AGS))
    os.mkdir(bed.at("other"))
    assert len(inodes(made_in("other"))) == 1
    ioctls.set_dir(fd, ioctls.DIR_DEFAULT)
    os.mkdir(bed.at("d/later"))
    assert len(inodes(made_in("d/later"))) == 1
    code, output = remount(bed, "spread")
    assert code == 0, output
    assert inodes(made_in("d/later/..", 1))
    os.mkdir(bed.at("spread"))
    assert inodes(made_in("spread")) == set(range(AGS))
    near = directory(bed, "near")
    ioctls.set_dir(near, ioctls.DIR_NEAR)
    assert inodes(made_in("near")) == {bed.info(near).inode_agno}


def test_stream_of_the_directory_first(bed):
    mounted(bed, "spread")
    stream = bed.alloc()
    directory(bed, "d", stream)
    fds = [make(bed, by_open, "d", f"f{i}") for i in range(AGS)]
    assert {bed.info(fd).inode_agno for fd in fds} == bed.wsfs.ag_set(stream.id)
    stream.close()
    fds = [make(bed, by_open, "d", f"g{i}") for i in range(AGS)]
    assert {bed.info(fd).inode_agno for fd in fds} == set(range(AGS))


def test_remount(bed):
    mounted(bed, "spread")
    for options, want in (
        ("nospread", []),
        ("spread=free", ["spread=free"]),
        ("spread", ["spread=all"]),
        ("ro", ["spread=all"]),
        ("rw", ["spread=all"]),
    ):
        code, output = remount(bed, options)
        assert code == 0, output
        assert [word for word in show(bed) if "spread" in word] == want


def test_bad_values(bed):
    mounted(bed)
    for options in ("spread=some", "spread=", "spread=all=free", "nospread=all"):
        code, output = remount(bed, options)
        assert code, options
        assert "spread" in output
    other = f"{bed.wsfs.path}-other"
    os.makedirs(other, exist_ok=True)
    code, output = status("mount", "-t", "wsfs", "-o", "spread", bed.lower, other)
    assert code, "another wsfs over the same filesystem, with another spread"
    assert not [word for word in show(bed) if "spread" in word]
    code, output = status("mount", "-t", "wsfs", "-o", "nospread", bed.lower, other)
    assert code == 0, output
    run("umount", other)


def test_without_streams(bed):
    """streams=0 is no reason not to spread."""
    mounted(bed, "spread", streams=0)
    os.mkdir(bed.at("d"))
    fds = [make(bed, by_open, "d", f"f{i}") for i in range(AGS)]
    assert {bed.info(fd).inode_agno for fd in fds} == set(range(AGS))
    assert ioctls.get_max(fds[0]) == 0
    bed.close_all()
    bed.umount()
    bed.xfs.mount()
    bed.wsfs.mount(0)
    fd = bed.adopt(os.open(bed.path, os.O_RDONLY))
    with pytest.raises(OSError) as caught:
        ioctls.set_dir(fd, ioctls.DIR_SPREAD)
    assert caught.value.errno == errno.EOPNOTSUPP
    code, output = remount(bed, "spread")
    assert code, output


def test_filestreams_below(bed):
    """XFS places files by directory then; they exclude each other."""
    bed.make(agcount=4, streams=2, xfs_options="filestreams")
    code, output = remount(bed, "spread")
    assert code and "filestreams" in output, output
    bed.wsfs.umount()
    code, output = status("mount", "-t", "wsfs", "-o", "spread", bed.lower, bed.wsfs.path)
    assert code and "filestreams" in output, output


def test_no_xfs_below(base, plain, module):
    """Refused, with a word on why."""
    if plain:
        pytest.skip("--plain: no wsfs")
    lower, upper = f"{base}/tmpfs", f"{base}/over-tmpfs"
    for path in (lower, upper):
        os.makedirs(path, exist_ok=True)
    run("mount", "-t", "tmpfs", "none", lower)
    try:
        code, output = status("mount", "-t", "wsfs", "-o", "spread", lower, upper)
        assert code, output
    finally:
        run("umount", lower)


@pytest.mark.parametrize("parent", ["plain", "setgid", "project"])
def test_inherits_as_ever(bed, parent):
    """Against the twin that does not spread; test_directory_streams.py has
    every kind of directory."""
    mounted(bed, "spread")
    os.chmod(bed.path, 0o755)
    fds = [directory(bed, "with"), directory(bed, "without")]
    ioctls.set_dir(fds[1], ioctls.DIR_NEAR)
    for name, fd in zip(("with", "without"), fds):
        os.chmod(bed.at(name), 0o777)
        if parent == "setgid":
            os.chown(bed.at(name), 0, 77)
            os.chmod(bed.at(name), 0o2777)
        if parent == "project":
            attr = ioctls.FsXattr.of(fd)
            attr.xflags |= ioctls.XFLAG_PROJINHERIT
            attr.projid = 42
            attr.apply(fd)
    for way in WAYS:
        for uid in (0, USER):
            name = f"{way.__name__}-{uid}"
            with acting_as(uid, (), 0o027):
                for where in ("with", "without"):
                    make_only(way, bed.at(where), name, 0o666)
            assert looks(bed.at(f"with/{name}")) == looks(bed.at(f"without/{name}"))
    # one made without a name, where a project wants it, cannot be moved
    missed = 2 if parent == "project" else 0
    assert count(bed, "spread_missed") == missed
    assert count(bed, "spread_homed") == 8 - missed


def test_full_ag(bed):
    """A file is made all the same."""
    mounted(bed, "spread")
    os.mkdir(bed.at("d"))
    fds = []
    try:
        for i in range(10_000):
            fd = make(bed, by_open, "d", f"f{i}")
            fds.append(fd)
            os.posix_fallocate(fd, 0, 24 << 20)
    except OSError as failure:
        assert failure.errno == errno.ENOSPC
    assert len(fds) >= AGS
    for i in range(50):
        make_only(by_open, bed.at("d"), f"small{i}", 0o600)
    assert len(os.listdir(bed.at("d"))) == len(fds) + 50


def test_grown(bed):
    """AGs that xfs_growfs adds have their turn."""
    bed.make(agcount=4, streams=2, options=["spread"])
    os.mkdir(bed.at("d"))
    make(bed, by_open, "d", "first")
    bed.xfs.grow(6)
    bed.wsfs.geometry()
    fds = [make(bed, by_open, "d", f"f{i}") for i in range(6)]
    assert {bed.info(fd).inode_agno for fd in fds} == set(range(6))
