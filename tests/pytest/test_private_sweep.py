# SPDX-License-Identifier: GPL-2.0
"""Mounting sweeps .wsfs, and touches nothing else."""

import os
import shutil

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
            os.mknod(f"{directory}/left-{i}", 0o100644)  # empty, as SET makes it
    with open(bed.below("mine"), "w") as f:
        f.write("mine")
    bed.wsfs.mount(4)
    assert strays(bed.lower) == []
    assert sorted(os.listdir(bed.path)) == ["f", "mine"]


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
