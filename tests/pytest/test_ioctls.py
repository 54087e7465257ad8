# SPDX-License-Identifier: GPL-2.0
"""Ioctls that change the whole filesystem: growing it, shutting it down."""

import os

from lib.compare import attempt
from lib.shell import run


def test_growing_through_wsfs(bed):
    """xfs_growfs on the mount point, and the AGs are dealt to the streams."""
    bed.make(agcount=4, streams=2)
    bed.wsfs.umount()
    run("mount", "-t", "wsfs", "-o", "streams=2", bed.disk, bed.path)
    bed.wsfs.mounted = True
    blocks = 8 * 32 * (1 << 20) // 4096
    run("xfs_growfs", "-D", blocks, bed.path)
    assert bed.wsfs.geometry().agcount == 8
    assert bed.wsfs.ag_set(0) | bed.wsfs.ag_set(1) == set(range(8))


def test_shutdown(bed, kernel_log):
    """XFS_IOC_GOINGDOWN ends it as on XFS: EIO, and whole after a new mount."""
    bed.make(agcount=8, streams=4)
    fd = bed.open("f")
    bed.set(fd, bed.alloc())
    os.write(fd, b"content")
    os.fsync(fd)
    run("xfs_io", "-x", "-c", "shutdown -f", bed.path)
    assert attempt(os.write, fd, b"more") == "EIO"
    assert attempt(os.mkdir, bed.at("d")) == "EIO"
    assert attempt(os.fsync, fd) == "EIO"
    bed.remount()
    with open(bed.at("f")) as f:
        assert f.read() == "content"
    kernel_log.read()
