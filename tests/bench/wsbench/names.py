# SPDX-License-Identifier: GPL-2.0
"""Workloads on names: files without data."""

import functools
import os
import tempfile

from lib.shell import run

from . import slabs
from .data import EMPTY
from .errors import NotMeasured
from .meter import Meter
from .workload import Workload


@functools.cache
def _program():
    """Builds names.c; (the program, what keeps it there)."""
    keep = tempfile.TemporaryDirectory(prefix="wsfs-names-")
    program = os.path.join(keep.name, "names")
    run("gcc", "-O2", "-Wall", "-o", program, os.path.join(os.path.dirname(__file__), "names.c"))
    return program, keep


def names(directory, action, count, expected=None):
    """Run it; returns a sample of files a second. @expected: names that it has to
    have seen, @count if not given."""
    program = _program()[0]
    with Meter() as meter:
        out = run(program, directory, action, count)
    done, nanoseconds = map(int, out.split())
    if done != (expected or count):
        raise NotMeasured(f"{directory}: {action}: {done} names, not {expected or count}")
    return meter.sample(done, seconds=nanoseconds / 1e9)


class Names(Workload):
    """Files made, looked at first and again, listed, unlinked, in one directory."""

    filesystem = EMPTY

    def __init__(self, create, first, again, readdir, unlink, memory):
        self.rows = (create, first, again, readdir, unlink, memory)

    def measure(self, target, scale):
        told = []
        do = functools.partial(names, target.directory)
        told.append(do("create", scale.names))
        slabs.forget_inodes(target.xfs.path)
        before, known = slabs.read(), slabs.xfs_inodes()
        told.append(do("stat", scale.names))
        grown = slabs.grown(before, slabs.read())
        new = slabs.xfs_inodes()["missed"] - known["missed"]
        told.append(do("stat", scale.names))
        entries = scale.names + 2  # . and ..
        told.append(do("readdir", scale.passes, expected=scale.passes * entries))
        told.append(do("unlink", scale.names))
        if new % 2**32 < 0.9 * scale.names:
            raise NotMeasured(f"{target.directory}: only {new} of {scale.names} inodes were read "
                              "by the first stat: the caches could not be emptied before it")
        told.append({"value": grown / scale.names})
        return {row.name: sample for row, sample in zip(self.rows, told)}


class Set(Workload):
    """Files made, and SET where the target has streams; by hand in their AG's
    directory where it is homed by hand."""

    filesystem = EMPTY
    apart = True

    def __init__(self, row):
        self.rows = (row,)

    def measure(self, target, scale):
        with Meter() as meter:
            paths = target.create(scale.set_files)
        target.check_steered(paths)
        return {self.rows[0].name: meter.sample(scale.set_files)}
