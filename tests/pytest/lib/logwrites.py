# SPDX-License-Identifier: GPL-2.0
"""dm-log-writes: a device that logs its writes, and a replayer of the log.

The log, as the kernel's dm-log-writes.c describes it: one sector with the
super (magic, version, number of entries, sector size), then for each entry a
sector with its head (sector, sectors, flags, length of a mark's text, then
the text), then the data written, which a discard and a mark do not have. An
entry counts sectors of the logged device's logical block size.
"""

import os
import struct
from dataclasses import dataclass

from lib.disks import size_of, zero
from lib.shell import run, status

_SUPER = struct.Struct("<QQQI")
_ENTRY = struct.Struct("<QQQQ")
_MAGIC = 0x6A736677736872

FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8


@dataclass
class Entry:
    """One write, flush, discard or mark."""

    sector: int
    sectors: int
    flags: int
    text: str
    data_at: int  # place of the data on the log device


def missing():
    """Why the target cannot be used, or None."""
    status("modprobe", "dm-log-writes")
    code, output = status("dmsetup", "targets")
    if code:
        return f"dmsetup: {output.strip()}"
    if not any(line.split()[0] == "log-writes" for line in output.splitlines() if line):
        return "this kernel has no dm-log-writes"
    return None


class LoggedDevice:
    """@disk with every write to it logged on @log_disk."""

    def __init__(self, disk, log_disk, name="wsfs-log"):
        self.disk, self.log_disk, self.name = disk, log_disk, name
        sectors = size_of(disk) // 512
        run("dmsetup", "create", name, "--table", f"0 {sectors} log-writes {disk} {log_disk}")
        run("dmsetup", "mknodes", name)
        self.path = f"/dev/mapper/{name}"

    def mark(self, text):
        run("dmsetup", "message", self.name, "0", "mark", text)

    def remove(self):
        run("dmsetup", "remove", "--retry", self.name)


class Log:
    """A finished log, to be read."""

    def __init__(self, log_disk):
        self._fd = os.open(log_disk, os.O_RDONLY | os.O_CLOEXEC)
        magic, version, count, self.sector_size = _SUPER.unpack(
            os.pread(self._fd, _SUPER.size, 0)
        )
        assert (magic, version) == (_MAGIC, 1), "no dm-log-writes log"
        self.entries = list(self._read_entries(count))

    def _read_entries(self, count):
        at = self.sector_size
        for _ in range(count):
            head = os.pread(self._fd, self.sector_size, at)
            sector, sectors, flags, length = _ENTRY.unpack_from(head)
            text = head[_ENTRY.size : _ENTRY.size + length] if flags & MARK else b""
            at += self.sector_size
            yield Entry(sector, sectors, flags, text.decode(), at)
            if not flags & (DISCARD | MARK):
                at += sectors * self.sector_size

    def marks(self):
        """text → number of the mark's entry."""
        return {e.text: i for i, e in enumerate(self.entries) if e.flags & MARK}

    def data(self, entry):
        length = entry.sectors * self.sector_size
        data = os.pread(self._fd, length, entry.data_at)
        assert len(data) == length
        return data

    def close(self):
        os.close(self._fd)


class Replay:
    """The state of the disk after the first so many entries of a log.

    A mount changes the disk, so each state is written anew: zeros, then the
    last contents of each sector that was ever written.
    """

    def __init__(self, log, disk, length):
        self._log, self._disk, self._length = log, disk, length
        self._sectors = {}
        self._done = 0

    def advance(self, count):
        """Take in the log up to (not including) entry @count."""
        assert count >= self._done, "a replay only goes forward"
        for entry in self._log.entries[self._done : count]:
            if entry.flags & MARK:
                continue
            if entry.flags & DISCARD:
                for i in range(entry.sector, entry.sector + entry.sectors):
                    self._sectors.pop(i, None)
                continue
            data, size = self._log.data(entry), self._log.sector_size
            for i in range(entry.sectors):
                self._sectors[entry.sector + i] = data[i * size : (i + 1) * size]
        self._done = count

    def write_disk(self):
        """Bring the disk into the present state."""
        zero(self._disk, self._length)
        fd = os.open(self._disk, os.O_WRONLY | os.O_CLOEXEC)
        try:
            for start, data in self._runs():
                os.pwrite(fd, data, start * self._log.sector_size)
            os.fsync(fd)
        finally:
            os.close(fd)

    def _runs(self):
        """Neighbouring sectors joined: (first sector, data)."""
        start, pieces = None, []
        for sector in sorted(self._sectors):
            if start is not None and sector != start + len(pieces):
                yield start, b"".join(pieces)
                start = None
            if start is None:
                start, pieces = sector, []
            pieces.append(self._sectors[sector])
        if start is not None:
            yield start, b"".join(pieces)
