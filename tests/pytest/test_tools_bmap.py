# SPDX-License-Identifier: GPL-2.0
"""wsctl bmap shows what xfs_bmap -vvp shows, extent by extent."""

import os
import threading

import pytest

from lib.shapes import KINDS, MIB, empty, hole, inline
from lib.wsctl import agree, ok, rows, xfs_rows


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_agrees(room, kind):
    kind(room.at("f"))
    for name in os.listdir(room.lower):
        extents = agree(room.below(name), room.at(name))
        assert bool(extents) == (kind not in (empty, inline, hole))


def test_agrees_on_a_tree(room):
    for kind in KINDS:
        kind(room.at(kind.__name__))
    os.sync()  # what is written back later is shared no longer
    names = sorted(os.listdir(room.lower))
    each = [row for name in names for row in xfs_rows(room.below(name))]
    assert rows(ok("bmap", room.path).out) == each


def test_shows_a_file_that_is_being_written(room):
    """No gap, no overlap, and nothing that is not true in the end."""
    stop = threading.Event()
    path = room.at("f")
    fd = os.open(path, os.O_CREAT | os.O_RDWR | os.O_TRUNC)

    def write():
        offset = 0
        while not stop.is_set() and offset < 200 * MIB:
            offset += os.pwrite(fd, b"x" * 65536, offset)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        maps = [ok("bmap", "--json", path).json["files"][0]["extents"] for _ in range(10)]
    finally:
        stop.set()
        writer.join()
        os.fsync(fd)
        os.close(fd)
    placed = {}
    for extent in ok("bmap", "--json", path).json["files"][0]["extents"]:
        if not extent["hole"]:
            placed[extent["offset"]] = extent
    for extents in maps:
        position = 0
        for index, extent in enumerate(extents):
            assert extent["index"] == index
            assert extent["offset"] >= position
            position = extent["offset"] + extent["length"]
            if extent["hole"]:
                continue
            final = max((o for o in placed if o <= extent["offset"]))
            shift = extent["offset"] - final
            assert placed[final]["block"] + shift == extent["block"]
