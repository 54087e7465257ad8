# SPDX-License-Identifier: GPL-2.0
"""What is measured, and where: rows, workloads, filesystems."""

import contextlib
import dataclasses
import functools
import os

from lib.fiemap import extents

from .targets import HOMED


@dataclasses.dataclass(frozen=True)
class Row:
    """A line of the table. `goals`: see stats.py."""

    name: str
    unit: str
    goals: tuple = ()
    more_is_better: bool = True


class Filesystem:
    """Workloads that name the same one run on one XFS, made for them."""

    def prepare(self, target, scale):
        """Once on each target, in its directory; what is returned is
        target.prepared from then on."""


class Workload:
    """Something to measure, and the rows that it tells of."""

    filesystem = None
    rows = ()
    apart = False  # files of it can be placed apart from each other

    def runs_on(self, target):
        """Is there a point in it? @target: one, or its class."""
        return self.apart or target.name != HOMED

    def measure(self, target, scale):
        """A round in target.directory, which is new. Returns row name → sample:
        {"value": in the row's unit, and what the row tells besides}."""
        raise NotImplementedError

    def columns(self, targets):
        """What is compared: (name, target, function of the scale). The others are
        told as a ratio to the first."""
        return [(target.name, target, functools.partial(self.measure, target))
                for target in targets if self.runs_on(target)]


@contextlib.contextmanager
def opened(path):
    """A descriptor, to look at a file or directory."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)


def extents_of(path):
    """How many a file has."""
    with opened(path) as fd:
        return len(extents(fd))
