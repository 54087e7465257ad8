# SPDX-License-Identifier: GPL-2.0
"""A device-mapper copy of a disk, of which pieces can be made to fail."""

import tempfile

from lib.disks import size_of
from lib.shell import run, status

SECTOR = 512


def missing():
    """Why there cannot be one, or None."""
    status("modprobe", "-q", "dm-flakey")
    code, output = status("dmsetup", "targets")
    if code:
        return f"dmsetup: {output.strip()}"
    targets = {line.split()[0] for line in output.splitlines() if line}
    absent = {"linear", "error", "flakey"} - targets
    return f"no target {sorted(absent)} of device-mapper" if absent else None


class FaultyDisk:
    """@disk as `path`."""

    def __init__(self, disk, name):
        self.disk, self.name = disk, name
        self.sectors = size_of(disk) // SECTOR
        run("dmsetup", "create", name, "--table", self._table())
        run("dmsetup", "mknodes", name)
        self.path = f"/dev/mapper/{name}"

    def _table(self, start=0, length=0):
        """Lines of the table, with @length sectors at @start that fail."""
        pieces = [(0, start, "linear"), (start, length, "error"),
                  (start + length, self.sectors - start - length, "linear")]  # fmt: skip
        return "\n".join(
            f"{at} {size} linear {self.disk} {at}" if kind == "linear" else f"{at} {size} error"
            for at, size, kind in pieces
            if size
        )

    def _load(self, table):
        run("dmsetup", "suspend", "--nolockfs", "--noflush", self.name)
        with tempfile.NamedTemporaryFile("w") as f:  # --table takes one line
            f.write(table + "\n")
            f.flush()
            run("dmsetup", "load", self.name, f.name)
        run("dmsetup", "resume", self.name)

    def fail(self, offset, length):
        """These bytes fail from now on."""
        self._load(self._table(offset // SECTOR, length // SECTOR))

    def fail_writes(self):
        """Every write fails from now on."""
        self._load(f"0 {self.sectors} flakey {self.disk} 0 0 1 1 error_writes")

    def heal(self):
        self._load(self._table())

    def remove(self):
        run("dmsetup", "remove", "--retry", self.name)
