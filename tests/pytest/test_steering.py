# SPDX-License-Identifier: GPL-2.0
"""docs/steering.md, cell by cell: every way of writing × state of the file × call; all
blocks that are allocated after the call lie where the page says."""

import itertools
import mmap
import os
from dataclasses import dataclass

import pytest

from lib import births, ioctls, libc
from lib.fiemap import SHARED, extents
from lib.hints import EXTREME, SHORT, set_hint
from lib.numbered import SET, V3, call as numbered_call
from lib.pattern import pattern
from lib.placement import strayed
from lib.steering import Steering
from lib.swap import elsewhere
from lib.writers import SIZE, WAYS, CopyFileRange, Direct, Target, Way

# streams 0 to 3 are there to be reserved, 4 and 5 for hints, 6 and 7 for numbers
BED = {"agcount": 16, "ag_mib": 48, "streams": 8, "options": ["hints=2", "numbered=2"]}
BLOCK = 4096
OLD = 64 << 10  # what a file has before the call
PAGE = Steering()
TURN = itertools.count()
# copy_file_range(2) of whole blocks allocates nothing where there is reflink.
WRITERS = [way for way in WAYS if way is not CopyFileRange]


@dataclass
class Case:
    """A file on its way through a state and a call."""

    bed: object
    name: str
    state: str
    flags: int

    def make(self, directory="."):
        """Two descriptors: to bring it to its state, and to write by."""
        self.path = self.bed.at(f"{directory}/{self.name}")
        self.plain = births.make(self.bed, births.by_open, directory, self.name)
        self.fd = self.bed.adopt(os.open(self.path, os.O_RDWR | os.O_CLOEXEC | self.flags))

    def bring(self):
        STATES[self.state](self)
        os.fsync(self.plain)

    @property
    def size(self):
        return os.fstat(self.plain).st_size

    def append(self):
        os.pwrite(self.plain, pattern(3, self.size, OLD), self.size)
        os.fsync(self.plain)

    def as_xfs(self):
        """Where XFS goes on."""
        found = extents(self.plain)
        if not found:
            return {self.bed.info(self.plain).inode_agno}
        return {self.bed.xfs.layout().ag_of_byte(found[-1].physical)}


# States


def empty(case):
    pass


def with_data(case):
    os.pwrite(case.plain, pattern(1, 0, OLD), 0)


def sparse(case):
    """Its end is a hole."""
    with_data(case)
    os.ftruncate(case.plain, 1 << 20)


def preallocated(case):
    libc.fallocate(case.plain, 0, 0, OLD)


def reflinked(case):
    with_data(case)
    ioctls.clone(case.bed.open(f"{case.name}-other"), case.plain)


def mapped(case):
    """Python maps no empty file."""
    os.ftruncate(case.plain, BLOCK)
    mapping = mmap.mmap(case.plain, BLOCK, prot=mmap.PROT_READ)
    case.bed.on_finish(mapping.close)
    os.ftruncate(case.plain, 0)


def two_links(case):
    os.link(case.path, f"{case.path}-other")


STATES = {
    "empty": empty,
    "with data": with_data,
    "sparse": sparse,
    "preallocated": preallocated,
    "reflinked": reflinked,
    "mapped": mapped,
    "two links": two_links,
}

# Calls: bring a file to its state, and return the AGs that are its home from then on


def by_set(case):
    case.make()
    case.bring()
    stream = elsewhere(case.bed, case.fd)
    case.bed.set(case.fd, stream)
    return case.bed.wsfs.ag_set(stream.id)


def changed(case):
    first = by_set(case)
    if case.state != "empty":
        case.append()
    inode = case.bed.info(case.fd).inode_agno
    for stream in case.bed.streams:
        home = case.bed.wsfs.ag_set(stream.id)
        if inode not in home and not home & first:
            case.bed.set(case.fd, stream)
            return home
    raise AssertionError("no third stream")


def cleared(case):
    by_set(case)
    ioctls.clear_stream(case.fd)
    return set()


def directory(case):
    case.make("stream")
    case.bring()
    return case.bed.wsfs.ag_set(case.bed.streams[0].id)


def spread(case):
    case.make("spread")
    case.bring()
    return {case.bed.info(case.fd).inode_agno}


def by_hint(case):
    case.make()
    case.bring()
    inode = case.bed.info(case.fd).inode_agno
    for hint, stream_id in ((SHORT, 4), (EXTREME, 5)):
        home = case.bed.wsfs.ag_set(stream_id)
        if inode not in home:
            set_hint(case.fd, hint)
            return home


def by_number(case):
    case.make()
    case.bring()
    inode = case.bed.info(case.fd).inode_agno
    for number in (1, 2):
        home = case.bed.wsfs.ag_set(5 + number)
        if inode not in home:
            numbered_call(case.fd, V3, SET, number)
            return home


CALLS = {
    "SET": by_set,
    "changed": changed,
    "cleared": cleared,
    "directory": directory,
    "spread": spread,
    "hint": by_hint,
    "numbered": by_number,
}


@pytest.fixture
def steered(room):
    """A room with its streams, and a directory of each kind. Whichever stream comes
    first has the most data, so that is another one each time."""
    for _ in range(4):
        room.alloc()
    first = next(TURN) % 4
    room.streams[:] = room.streams[first:] + room.streams[:first]
    births.directory(room, "stream", room.streams[0])
    ioctls.set_dir(births.directory(room, "spread"), ioctls.DIR_SPREAD)
    return room


def blocks(bed, fd, start, size=SIZE):
    """The AG of each block from @start on that there is."""
    layout = bed.xfs.layout()
    return [
        layout.ag_of_byte(e.physical + at - e.logical)
        for e in extents(fd)
        for at in range(e.logical, e.logical + e.length, BLOCK)
        if start <= at < start + size
    ]


def blocks_at(fd):
    """Where each block lies, on the device."""
    return {
        e.logical + at: e.physical + at for e in extents(fd) for at in range(0, e.length, BLOCK)
    }


def complaint(found, allowed, lies):
    """Words about what does not lie as the page says, or None."""
    if len(found) != SIZE // BLOCK:
        return f"{len(found)} blocks"
    away = [agno for agno in found if agno not in allowed]
    if lies == "in part":
        return None if 0 < len(away) < len(found) else f"{len(away)} of {len(found)} not home"
    return f"{len(away)} of {len(found)} blocks {strayed(away[0], allowed)}" if away else None


def test_the_page_is_complete():
    """What it names is what is looked at here."""
    assert PAGE.states == list(STATES)
    assert PAGE.calls == list(CALLS)
    assert PAGE.ways() == [way.name for way in WRITERS]
    assert PAGE.ways_with_exceptions <= set(PAGE.ways())
    assert set(PAGE.not_steered) == set(NOT_STEERED)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("way", WRITERS, ids=lambda way: way.name)
def test_where_it_lies(steered, way, call):
    """One file in each state."""
    bed, way = steered, way()
    for fd in way.prepare(bed.path):
        bed.adopt(fd)
    work = []
    for number, state in enumerate(STATES):
        case = Case(bed, f"f{number}", state, way.flags)
        home = CALLS[call](case)
        lies = PAGE.where(way.name, state, call)
        allowed = case.as_xfs() if lies == "as XFS" else home
        target = Target(case.path, case.fd, number, stream=number, start=case.size)
        work.append((case, target, lies, allowed))
    way.write_one_by_one([target for _, target, *_ in work])
    wrong = []
    for case, target, lies, allowed in work:
        found = blocks(bed, case.plain, target.start)
        right = sum(agno in allowed for agno in found)
        print(f"{case.state}: {right} of {len(found)} blocks in AG {sorted(allowed)}, {lies}")
        if words := complaint(found, allowed, lies):
            wrong.append(f"{case.state}, {lies}: {words}")
        way.check(target)
        way.check(target, target.path.replace(bed.path, bed.lower, 1))
    assert not wrong, "\n".join(wrong)
    if call == "spread":
        turns = {bed.info(case.fd).inode_agno for case, *_ in work}
        assert len(turns) == len(work), f"files in AG {sorted(turns)}"


# What is not steered


def in_another_stream(bed, case):
    stream = elsewhere(bed, case.fd)
    bed.set(case.fd, stream)
    return bed.wsfs.ag_set(stream.id)


def write(way, case, start, size):
    way.chunk(Target(case.path, case.fd, 5), pattern(5, start, size), start)
    os.fsync(case.fd)


def hole(bed, case, way):
    """64 KiB between such with data."""
    with_data(case)
    os.pwrite(case.plain, pattern(1, 2 * OLD, OLD), 2 * OLD)
    os.fsync(case.plain)
    there = case.as_xfs()
    home = in_another_stream(bed, case)
    write(way, case, OLD, OLD)
    return blocks(bed, case.fd, OLD, OLD), there - home


def preallocated_before(bed, case, way):
    """Past the end of a file with data, whose last block alone has moved then."""
    with_data(case)
    libc.fallocate(case.plain, libc.FALLOC_KEEP_SIZE, OLD, OLD)
    os.fsync(case.plain)
    there = case.as_xfs()
    home = in_another_stream(bed, case)
    before = blocks_at(case.fd)
    write(way, case, OLD, OLD)
    assert blocks_at(case.fd) == before
    return blocks(bed, case.fd, OLD, OLD), there - home


def overwritten_while_shared(bed, case, way):
    """All but the last block, which an anchor has made the file's own."""
    reflinked(case)
    os.fsync(case.plain)
    home = in_another_stream(bed, case)
    write(way, case, 0, OLD - BLOCK)
    assert not [e for e in extents(case.plain) if e.flags & SHARED]
    return blocks(bed, case.fd, 0, OLD - BLOCK), {bed.info(case.fd).inode_agno} - home


def shared_from_elsewhere(bed, case, way):
    """And what is appended."""
    other = Case(bed, f"{case.name}-source", "with data", 0)
    other.make()
    with_data(other)
    os.fsync(other.plain)
    there = other.as_xfs()
    stream = next(s for s in bed.streams if not there & bed.wsfs.ag_set(s.id))
    bed.set(case.fd, stream)
    home = bed.wsfs.ag_set(stream.id)
    ioctls.clone(case.plain, other.plain)
    before = extents(case.plain)
    write(way, case, OLD, SIZE)
    appended = blocks(bed, case.fd, OLD)
    assert (words := complaint(appended, home, "home")) is None, f"appended: {words}"
    # the end has been brought home, the rest is still shared
    for old, new in zip(before, extents(case.plain)):
        assert new.physical == old.physical
    return blocks(bed, case.fd, 0, OLD - BLOCK), there - home


NOT_STEERED = {
    "hole": hole,
    "preallocated before": preallocated_before,
    "overwritten while shared": overwritten_while_shared,
    "shared from elsewhere": shared_from_elsewhere,
}


@pytest.mark.parametrize("what", NOT_STEERED)
@pytest.mark.parametrize("way", [Way, Direct], ids=lambda way: way.name)
def test_not_steered(steered, way, what):
    """It lies outside of the stream's AGs, where the page says."""
    bed, way = steered, way()
    case = Case(bed, "f", "empty", way.flags)
    case.make()
    found, allowed = NOT_STEERED[what](bed, case, way)
    away = [agno for agno in found if agno not in allowed]
    assert found and not away, f"{len(away)} of {len(found)} {strayed(away[0], allowed)}"
