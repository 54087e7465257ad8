# SPDX-License-Identifier: GPL-2.0
"""Mounting sweeps .wsfs, and touches nothing else."""

import os
import shutil

import pytest

from lib.shell import run
from lib.swap import reserve_all, swapped
from lib.wsfs import PRIVATE, strays


def test_leftovers_are_swept(bed):
    """Files that a crash could have left in the AG directories."""
    bed.make(agcount=8, streams=4)
    fd = bed.open("f")
    for _ in range(4):  # to be sure that one is not the file's own AG
        bed.set(fd, bed.alloc())
    bed.close_all()
    bed.wsfs.umount()
    directories = [e.path for e in os.scandir(bed.below(PRIVATE)) if e.is_dir()]
    assert directories
    for directory in directories:
        for i in range(3):
            os.mknod(f"{directory}/17f{i}", 0o100644)  # empty, as SET makes it
        # Half dressed, with attributes that do not fit into the inode
        os.setxattr(f"{directory}/17f1", "user.big", bytes(3000))
    os.mkdir(bed.below(f"{PRIVATE}/new17f"))  # not named after its AG yet
    with open(bed.below("mine"), "w") as f:
        f.write("mine")
    bed.wsfs.mount(4)
    assert strays(bed.lower) == []
    assert not os.path.exists(bed.below(f"{PRIVATE}/new17f"))
    assert sorted(os.listdir(bed.path)) == ["f", "mine"]


@pytest.fixture
def left(bed):
    """wsfs is not mounted, and one file of a crash is there; its path."""
    bed.make(agcount=8, streams=4)
    fd = bed.open("f")
    for _ in range(4):
        bed.set(fd, bed.alloc())
    bed.close_all()
    bed.wsfs.umount()
    directory = next(e.path for e in os.scandir(bed.below(PRIVATE)) if e.is_dir())
    os.mknod(f"{directory}/17f", 0o100644)
    return f"{directory}/17f"


def test_leftover_that_cannot_go(bed, left):
    """It is in nobody's way: wsfs mounts, steers, and takes it when it can."""
    run("chattr", "+i", left)
    bed.wsfs.mount(4)
    assert os.path.exists(left)
    reserve_all(bed)
    swapped(bed, bed.open("g"), "g")
    bed.close_all()
    bed.wsfs.umount()
    run("chattr", "-i", left)
    bed.wsfs.mount(4)
    assert not os.path.exists(left)


def test_swept_when_it_becomes_writable(bed, left):
    bed.wsfs.mount(4, ["ro"])
    assert os.path.exists(left)
    run("mount", "-o", "remount,rw", bed.path)
    assert not os.path.exists(left)


def test_what_is_not_ours_stays(bed, left):
    """Data, and names that wsfs does not give."""
    other = os.path.join(os.path.dirname(left), "not-a-number")
    os.mknod(other, 0o100644)
    with open(left, "w") as f:
        f.write("data")
    bed.wsfs.mount(4)
    with open(left) as f:
        assert f.read() == "data"
    os.unlink(other)
    os.unlink(left)


def test_private_directory_that_is_something_else(bed):
    """A file of that name: a clean refusal or a mount that leaves it alone."""
    bed.make(agcount=8, streams=4)
    bed.wsfs.umount()
    assert not os.path.exists(bed.below(PRIVATE)), "made before it was needed"
    with open(bed.below(PRIVATE), "w") as f:
        f.write("somebody's file")
    try:
        bed.wsfs.mount(4)
    except AssertionError as failure:
        assert "mount" in str(failure)
    with open(bed.below(PRIVATE)) as f:
        assert f.read() == "somebody's file"
    if bed.wsfs.mounted:
        fd = bed.open("f")
        for _ in range(4):
            bed.set(fd, bed.alloc())
        os.write(fd, b"content")
        bed.close_all()
        bed.wsfs.umount()
    with open(bed.below(PRIVATE)) as f:
        assert f.read() == "somebody's file"
    os.unlink(bed.below(PRIVATE))


def test_removed_while_mounted(bed):
    """Somebody tidies up on the XFS: SET makes what it needs anew."""
    bed.make(agcount=4, ag_mib=80, streams=4)
    reserve_all(bed)
    for i in range(3):
        fd = bed.open(f"f{i}")
        swapped(bed, fd, f"f{i}")
        shutil.rmtree(bed.below(PRIVATE))
    assert bed.wsfs.geometry().agcount == 4
