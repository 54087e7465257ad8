# SPDX-License-Identifier: GPL-2.0
"""Mounting sweeps .wsfs, and touches nothing else."""

import os

from lib.wsfs import PRIVATE, strays


def test_leftovers_are_swept(bed):
    """Files that a crash could have left in the AG directories."""
    bed.make(agcount=8, streams=4)
    bed.set(bed.open("f"), bed.alloc())
    bed.close_all()
    bed.wsfs.umount()
    directories = [e.path for e in os.scandir(bed.below(PRIVATE)) if e.is_dir()]
    assert directories
    for directory in directories:
        for i in range(3):
            with open(f"{directory}/left-{i}", "w") as f:
                f.write("left by a crash")
    with open(bed.below("mine"), "w") as f:
        f.write("mine")
    bed.wsfs.mount(4)
    assert strays(bed.lower) == []
    assert sorted(os.listdir(bed.path)) == ["f", "mine"]


def test_private_directory_that_is_something_else(bed):
    """A file of that name: a clean refusal or a mount that leaves it alone."""
    bed.make(agcount=8, streams=4)
    bed.wsfs.umount()
    for entry in os.scandir(bed.below(PRIVATE)):
        os.rmdir(entry.path)
    os.rmdir(bed.below(PRIVATE))
    with open(bed.below(PRIVATE), "w") as f:
        f.write("somebody's file")
    try:
        bed.wsfs.mount(4)
    except AssertionError as failure:
        assert "mount" in str(failure)
    with open(bed.below(PRIVATE)) as f:
        assert f.read() == "somebody's file"
    if bed.wsfs.mounted:
        bed.wsfs.umount()
    os.unlink(bed.below(PRIVATE))
