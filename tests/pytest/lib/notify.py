# SPDX-License-Identifier: GPL-2.0
"""inotify and fanotify: what happened, in order."""

import ctypes
import fcntl
import os
import re
import select
import signal
import struct

from lib.libc import AT_FDCWD, _check, _libc

_INFO_ERROR = 5
PATIENCE = 120  # seconds, then it is a hang

IN_ALL = 0xFFF
_IN = {
    0x1: "access", 0x2: "modify", 0x4: "attrib", 0x8: "close-write", 0x10: "close",
    0x20: "open", 0x40: "from", 0x80: "to", 0x100: "create", 0x200: "delete",
    0x400: "delete-self", 0x800: "move-self", 0x2000: "unmount", 0x8000: "ignored",
    0x40000000: "dir",
}  # fmt: skip

FAN_CLASS_NOTIF = 0x0
FAN_CLASS_CONTENT = 0x4
FAN_CLASS_PRE_CONTENT = 0x8
FAN_PRE_ACCESS = 0x100000
FAN_OPEN_PERM, FAN_ACCESS_PERM, FAN_OPEN_EXEC_PERM = 0x10000, 0x20000, 0x40000
FAN_ALLOW, FAN_DENY = 1, 2
FAN_REPORT_FID = 0x200
FAN_REPORT_DFID_NAME = 0xC00
FAN_MARK_ADD = 0x1
FAN_MARK_MOUNT = 0x10
FAN_MARK_FILESYSTEM = 0x100
FAN_EVENT_ON_CHILD = 0x08000000
FAN_ONDIR = 0x40000000
FAN_SIMPLE = 0x3B  # access, modify, close, open
FAN_FS_ERROR = 0x8000
FAN_DIRENT = 0x3C0 | 0xC00 | 0x4  # names, and the object itself


def _same(name):
    """A file without a name is shown by its inode number."""
    return re.sub(r"^#\d+", "#", name)


def _words(mask):
    return " ".join(word for bit, word in _IN.items() if mask & bit)


class Inotify:
    """Watches; events() is what came since, as (name of the watch, what, name)."""

    def __init__(self):
        self.fd = _check(_libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK))
        self._names = {}
        self._cookies = {}

    def watch(self, path, name, mask=IN_ALL):
        number = _check(_libc.inotify_add_watch(self.fd, os.fsencode(path), ctypes.c_uint(mask)))
        self._names[number] = name

    def events(self):
        found = []
        while select.select([self.fd], [], [], 0)[0]:
            data, at = os.read(self.fd, 65536), 0
            while at < len(data):
                number, mask, cookie, length = struct.unpack_from("=iIII", data, at)
                name = data[at + 16 : at + 16 + length].rstrip(b"\0").decode()
                at += 16 + length
                pair = self._cookies.setdefault(cookie, len(self._cookies)) if cookie else None
                found.append((self._names.get(number), _words(mask), name, pair))
        return found

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)


class Dnotify:
    """F_NOTIFY of a directory: happened() is how often its signal has come since."""

    def __init__(self, directory, mask):
        self._count = 0
        self._old = signal.signal(signal.SIGIO, self._came)
        self._fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.fcntl(self._fd, fcntl.F_NOTIFY, mask | fcntl.DN_MULTISHOT)

    def _came(self, *_):
        self._count += 1

    def happened(self):
        count, self._count = self._count, 0
        return count

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self._fd)
        signal.signal(signal.SIGIO, self._old)


class Fanotify:
    """Marks; events() is what came since."""

    def __init__(self, flags):
        self.flags = flags
        self.fd = _check(
            _libc.fanotify_init(ctypes.c_uint(flags | 0x3), ctypes.c_uint(os.O_RDONLY))
        )  # FAN_CLOEXEC, FAN_NONBLOCK

    def mark(self, path, mask, flags=0):
        _check(
            _libc.fanotify_mark(
                self.fd, ctypes.c_uint(FAN_MARK_ADD | flags), ctypes.c_ulonglong(mask),
                AT_FDCWD, os.fsencode(path),
            ),
            path,
        )  # fmt: skip

    def events(self):
        """(mask, base name of the file or names in the records)"""
        found = []
        while select.select([self.fd], [], [], 0)[0]:
            data, at = os.read(self.fd, 65536), 0
            while at < len(data):
                size, _, _, head, mask, fd, _ = struct.unpack_from("=IBBHQii", data, at)
                if fd >= 0:
                    about = _same(os.path.basename(os.readlink(f"/proc/self/fd/{fd}")))
                    os.close(fd)
                else:
                    about = tuple(_records(data[at + head : at + size]))
                found.append((hex(mask), about))
                at += size
        return found

    def wait(self):
        """Until there is an event."""
        assert select.select([self.fd], [], [], PATIENCE)[0], "no event comes"

    def judge(self, allow):
        """Waits for one event that asks for leave, and answers it; its (mask, name)."""
        self.wait()
        data = os.read(self.fd, 4096)
        _, _, _, _, mask, fd, _ = struct.unpack_from("=IBBHQii", data)
        name = os.path.basename(os.readlink(f"/proc/self/fd/{fd}"))
        os.write(self.fd, struct.pack("=iI", fd, FAN_ALLOW if allow(name) else FAN_DENY))
        os.close(fd)
        return hex(mask), name

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)


def _records(data):
    """(kind, bytes of the handle, its type, name), or (kind, error)"""
    at = 0
    while at < len(data):
        kind, _, size = struct.unpack_from("=BBH", data, at)
        if kind == _INFO_ERROR:
            yield kind, struct.unpack_from("=i", data, at + 4)[0]
            at += size
            continue
        handle_bytes, handle_type = struct.unpack_from("=Ii", data, at + 12)
        name = data[at + 20 + handle_bytes : at + size].rstrip(b"\0").decode(errors="replace")
        yield kind, handle_bytes, handle_type, _same(name)
        at += size
