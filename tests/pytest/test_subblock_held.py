# SPDX-License-Identifier: GPL-2.0
"""Direct writes of parts of blocks over extents do not wait for each other."""

import threading

import pytest

from lib import aio
from lib.bed import Bed
from lib.shell import run
from lib.shred import BLOCK, SECTOR, Expected, shredded


@pytest.fixture
def held(disks, base, plain, kernel_log):
    """A bed on a device that can hold its I/O back, and the two switches."""
    if plain:
        pytest.skip("--plain: XFS waits here")
    name = "wsfs-held"
    size = int(run("blockdev", "--getsz", disks[0]))
    run("dmsetup", "create", name, "--table", f"0 {size} linear {disks[0]} 0")
    run("dmsetup", "mknodes", name)
    bed = Bed(f"/dev/mapper/{name}", f"{base}/held")
    bed.make(agcount=4)
    yield (
        bed,
        lambda: run("dmsetup", "suspend", "--noflush", "--nolockfs", name),
        lambda: run("dmsetup", "resume", name),
    )
    complaints = bed.finish()
    run("dmsetup", "remove", "--retry", name)
    assert not complaints, "\n".join(complaints)


def test_no_write_waits_for_another(held):
    """With the device holding everything back, 20 crossing writes are submitted
    one after the other: one that took the lock for itself would wait for those
    before it (as plain XFS does) and io_submit(2) would not return."""
    bed, hold, let_go = held
    fd = shredded(bed, "f")
    expected = Expected(64)
    context = aio.Context(32)
    writes = []
    for i in range(1, 21):
        offset = 2 * i * BLOCK - SECTOR
        writes.append((i, fd, expected.put(i, offset, 2 * SECTOR), offset))
    submitter = threading.Thread(target=context.submit, args=(writes,))
    hold()
    try:
        submitter.start()
        submitter.join(20)
        waits = submitter.is_alive()
    finally:
        let_go()
    submitter.join()
    assert context.wait(20) == {i: 2 * SECTOR for i in range(1, 21)}
    context.close()
    assert not waits, "a crossing write waited for those under way"
    expected.check(bed, "f")
