# SPDX-License-Identifier: GPL-2.0
"""SETs that are sure to move a file."""

import os


def reserve_all(bed):
    for _ in range(4):
        bed.alloc()


def elsewhere(bed, fd):
    """A stream that the file is not at home in yet."""
    agno = bed.info(fd).inode_agno
    return next(s for s in bed.streams if agno not in bed.wsfs.ag_set(s.id))


def swapped(bed, fd, name="f"):
    """SET, and be sure that the lower inode is another one."""
    before = os.stat(bed.below(name)).st_ino
    bed.set(fd, elsewhere(bed, fd))
    assert bed.info(fd).homed
    assert os.stat(bed.below(name)).st_ino != before
