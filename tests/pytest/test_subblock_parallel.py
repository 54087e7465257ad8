# SPDX-License-Identifier: GPL-2.0
"""How many of the pieces of direct writes over extents XFS takes in parallel mode."""

import os

import pytest

from lib import aio, tracing
from lib.compare import attempt
from lib.shred import BLOCK, SECTOR, Expected, buffer_of, shredded


def time_stamps_wait(bed):
    """Does XFS say EAGAIN to a write that must not wait, because its time stamp is
    due? Not any more with lazytime, since Linux 7.0."""
    fd = bed.adopt(os.open(bed.below("stamps"), os.O_CREAT | os.O_RDWR | os.O_DIRECT))
    buffer = buffer_of(bytes(BLOCK))
    os.pwritev(fd, [buffer], 0)
    os.utime(fd, (0, 0))
    return attempt(os.pwritev, fd, [buffer], 0, os.RWF_NOWAIT) == "EAGAIN"


def share_in_parallel(fd, expected, turn):
    """Crosses each boundary once, all of them by one io_submit(2); the part of the
    pieces that XFS took without waiting."""
    writes = []
    for i in range(1, 63):
        offset = i * BLOCK - SECTOR
        writes.append((i, fd, expected.put(turn * 100 + i, offset, 2 * SECTOR), offset))
    context = aio.Context(len(writes))
    with tracing.Events("wsfs_subblock", "wsfs_piece") as events:
        context.submit(writes)
        assert context.wait(62) == {i: 2 * SECTOR for i in range(1, 63)}
    context.close()
    splits, pieces = events.of("wsfs_subblock"), events.of("wsfs_piece")
    assert len(splits) == 62
    assert all(split["pieces"] == "2" for split in splits)
    assert len(pieces) == 2 * 62
    return sum(piece["parallel"] == "1" for piece in pieces) / len(pieces)


@pytest.mark.quick
def test_pieces_run_in_parallel_mode(bed):
    """wsfs_piece tells how XFS took each: without waiting, but where a time stamp
    was due or the page cache held the block. The first round empties that, nothing
    is read in between, and lazytime has no time stamp wait, where the kernel can;
    else one is due each tick, which are few writes on a slow or busy CPU."""
    if reason := tracing.missing():
        pytest.skip(reason)
    bed.make(agcount=4, xfs_options="lazytime")
    wanted = 0.5 if time_stamps_wait(bed) else 0.95
    fd = shredded(bed, "f")
    expected = Expected(64)
    shares = []
    while not shares or (max(shares) < wanted and len(shares) < 10):
        shares.append(share_in_parallel(fd, expected, len(shares)))
    print(f"without waiting, by rounds: {', '.join(f'{share:.2f}' for share in shares)}")
    assert max(shares) >= wanted
    expected.check(bed, "f")
