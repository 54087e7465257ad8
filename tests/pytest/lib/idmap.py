# SPDX-License-Identifier: GPL-2.0
"""Idmapped mounts and user namespaces."""

import ctypes
import os
import signal
import struct

from lib.libc import AT_EMPTY_PATH, AT_FDCWD, _check, _libc, umount

_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442
_OPEN_TREE_CLONE, _MOVE_MOUNT_F_EMPTY_PATH = 1, 4
_MOUNT_ATTR_IDMAP = 0x100000
_CLONE_NEWUSER = 0x10000000


class UserNamespace:
    """A user namespace in which id 0 is @first outside, and so on for @count
    ids; held by a sleeping process."""

    def __init__(self, first, count=65536):
        ready, told = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                _check(_libc.unshare(_CLONE_NEWUSER))
                os.write(told, b"x")
                while True:
                    signal.pause()
            finally:
                os._exit(1)
        os.close(told)
        assert os.read(ready, 1) == b"x"
        os.close(ready)
        for name in ("uid_map", "gid_map"):
            with open(f"/proc/{self.pid}/{name}", "w") as f:
                f.write(f"0 {first} {count}")
        self.fd = os.open(f"/proc/{self.pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)

    def close(self):
        os.close(self.fd)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def enter(self):
        """For this process; then it is root in there."""
        _check(_libc.setns(self.fd, _CLONE_NEWUSER))
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class IdmappedMount:
    """@source once more at @target, with the ids of a user namespace."""

    def __init__(self, source, target, namespace):
        os.makedirs(target, exist_ok=True)
        self.path = target
        tree = _check(
            _libc.syscall(_OPEN_TREE, AT_FDCWD, os.fsencode(source), _OPEN_TREE_CLONE), source
        )
        try:
            attr = struct.pack("=QQQQ", _MOUNT_ATTR_IDMAP, 0, 0, namespace.fd)
            _check(
                _libc.syscall(
                    _MOUNT_SETATTR, tree, b"", AT_EMPTY_PATH, attr, ctypes.c_size_t(len(attr))
                ),
                source,
            )
            _check(
                _libc.syscall(
                    _MOVE_MOUNT, tree, b"", AT_FDCWD, os.fsencode(target),
                    _MOVE_MOUNT_F_EMPTY_PATH,
                ),
                target,
            )  # fmt: skip
        finally:
            os.close(tree)

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        umount(self.path)
        os.rmdir(self.path)
