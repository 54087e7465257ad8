# SPDX-License-Identifier: GPL-2.0
"""quotactl(2) and quotactl_fd(2) with XFS's commands."""

import ctypes
import os
import struct

from lib.libc import _check, _libc

USER, GROUP, PROJECT = 0, 1, 2
Q_XQUOTAON, Q_XQUOTAOFF, Q_XGETQUOTA, Q_XSETQLIM, Q_XGETQSTAT, Q_XQUOTARM, Q_XQUOTASYNC, \
    Q_XGETQSTATV, Q_XGETNEXTQUOTA = (ord("X") << 8 | n for n in range(1, 10))
Q_SYNC, Q_GETFMT, Q_GETINFO, Q_SETINFO, Q_GETQUOTA, Q_SETQUOTA, Q_GETNEXTQUOTA = (
    0x800001, 0x800004, 0x800005, 0x800006, 0x800007, 0x800008, 0x800009,
)  # fmt: skip
FS_DQ_BSOFT, FS_DQ_BHARD, FS_DQ_ISOFT, FS_DQ_IHARD = 4, 8, 1, 2

_QUOTACTL_FD = 443
# The head of struct fs_disk_quota: up to the number of inodes
_DISK_QUOTA = struct.Struct("=bbHIQQQQQQ")
_SIZE = 112


def by_fd(fd, command, kind, number=0, arg=b""):
    """quotactl_fd(2); returns the buffer after the call."""
    buf = ctypes.create_string_buffer(arg, max(len(arg), 256))
    _check(_libc.syscall(_QUOTACTL_FD, fd, command << 8 | kind, number, buf))
    return bytes(buf)


def by_device(device, command, kind, number=0, arg=b""):
    """quotactl(2)"""
    buf = ctypes.create_string_buffer(arg, max(len(arg), 256))
    _check(_libc.quotactl(command << 8 | kind, os.fsencode(device), number, buf), device)
    return bytes(buf)


def limits(block_hard=0, block_soft=0, inode_hard=0, inode_soft=0):
    """The argument of Q_XSETQLIM; blocks of 512 bytes."""
    mask = FS_DQ_BSOFT | FS_DQ_BHARD | FS_DQ_ISOFT | FS_DQ_IHARD
    head = _DISK_QUOTA.pack(1, 0, mask, 0, block_hard, block_soft, inode_hard, inode_soft, 0, 0)
    return head.ljust(_SIZE, b"\0")


def usage(answer):
    """(id, hard blocks, hard inodes, blocks, inodes) from Q_XGETQUOTA's answer"""
    fields = _DISK_QUOTA.unpack_from(answer)
    return fields[3], fields[4], fields[6], fields[8], fields[9]
