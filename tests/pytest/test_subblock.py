# SPDX-License-Identifier: GPL-2.0
"""Direct writes of parts of blocks, across extents: the bytes and the answers
are those of plain XFS, and they run in parallel."""

import os
import random
import threading

import pytest

from lib import aio, tracing
from lib.pattern import pattern
from lib.shell import run
from lib.shred import BLOCK, SECTOR, Expected, buffer_of, shredded


@pytest.fixture
def xfs(room):
    return room


@pytest.mark.quick
@pytest.mark.parametrize("flags", [0, os.O_DSYNC, os.O_SYNC], ids=["none", "dsync", "sync"])
def test_synchronous(xfs, flags):
    """Over each boundary, by each number of sectors."""
    fd = shredded(xfs, "f", flags=os.O_RDWR | os.O_DIRECT | flags)
    expected = Expected(64)
    for i in range(1, 63):
        before, after = 1 + i % 7, 1 + i // 8
        offset, length = i * BLOCK - before * SECTOR, (before + after) * SECTOR
        assert os.pwrite(fd, expected.put(i, offset, length), offset) == length
    expected.check(xfs, "f")


def test_over_several_extents(xfs):
    """Two to six of them: more pieces than wsfs makes are XFS's own."""
    fd = shredded(xfs, "f")
    expected = Expected(64)
    for i in range(2, 7):
        offset, length = (8 * i) * BLOCK - SECTOR, (i - 2) * BLOCK + 2 * SECTOR
        assert os.pwrite(fd, expected.put(i, offset, length), offset) == length
    expected.check(xfs, "f")


def test_aio_batches(xfs):
    """64 under way at once, no two of them over the same bytes."""
    fd = shredded(xfs, "f", blocks=130)
    expected = Expected(130)
    context = aio.Context(64)
    draw = random.Random(3)
    for turn in range(10):
        writes = []
        for i in range(64):
            before, after = draw.randrange(1, 8), draw.randrange(1, 8)
            offset = (2 * i + 1) * BLOCK - before * SECTOR
            length = (before + after) * SECTOR
            writes.append((i, fd, expected.put(turn * 64 + i, offset, length), offset))
        context.submit(writes)
        results = context.wait(64)
        assert results == {i: len(buffer) for i, _, buffer, _ in writes}
    context.close()
    expected.check(xfs, "f")


def test_aio_writers_side_by_side(xfs):
    """Four threads, each with boundaries of its own, eight writes under way."""
    blocks = 4 * 32 + 1
    fd = shredded(xfs, "f", blocks=blocks)
    expected = Expected(blocks)
    failures = []

    def work(thread):
        try:
            context = aio.Context(8)
            draw = random.Random(thread)
            for turn in range(30):
                writes = []
                for i in draw.sample(range(32), 8):
                    before, after = draw.randrange(1, 5), draw.randrange(1, 5)
                    offset = (4 * i + thread + 1) * BLOCK - before * SECTOR
                    if offset + (before + after) * SECTOR >= blocks * BLOCK:
                        after = 0
                    length = (before + after) * SECTOR
                    tag = thread * 10000 + turn * 32 + i
                    writes.append((i, fd, expected.put(tag, offset, length), offset))
                context.submit(writes)
                for i, result in context.wait(8).items():
                    want = next(len(w[2]) for w in writes if w[0] == i)
                    assert result == want, f"write {i}: {result}, not {want}"
            context.close()
        except BaseException as failure:  # handed to the test's thread
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    expected.check(xfs, "f")


@pytest.mark.parametrize("engine", ["io_uring", "libaio", "psync"])
def test_fio_verify(xfs, engine):
    """1 KiB over each boundary, four jobs, read back and verified by fio."""
    shredded(xfs, "f", blocks=257)
    jobs = []
    for job in range(4):
        jobs += [f"--name=j{job}", f"--offset={job * 64 * BLOCK + BLOCK - SECTOR}"]
    run(
        "fio", "--minimal", f"--filename={xfs.at('f')}", f"--ioengine={engine}",
        "--direct=1", "--iodepth=16", "--rw=write:3k", "--bs=1k", "--io_size=63k",
        f"--size={64 * BLOCK - BLOCK}", "--thread", "--verify=crc32c", "--do_verify=1",
        "--verify_fatal=1", "--fallocate=none", "--allow_file_create=0", *jobs,
    )  # fmt: skip


def test_aligned_and_small_writes_are_not_touched(xfs):
    if reason := tracing.missing():
        pytest.skip(reason)
    fd = shredded(xfs, "f")
    with tracing.Events("wsfs_subblock", "wsfs_piece") as events:
        for i in range(32):
            os.pwrite(fd, buffer_of(bytes(2 * BLOCK)), i * BLOCK)
            os.pwrite(fd, buffer_of(bytes(SECTOR)), i * BLOCK + SECTOR)
            os.pwrite(fd, buffer_of(bytes(BLOCK - SECTOR)), i * BLOCK + SECTOR)
    assert not events.found


def test_truncate_comes_before_or_after(xfs):
    """Never between the pieces: what a write has put before the boundary is not
    cut away and what it has put after it kept."""
    seen = set()
    for i in range(60):
        name = f"f{i}"
        fd = shredded(xfs, name, blocks=4)
        offset, length, cut = 2 * BLOCK - 2 * SECTOR, 4 * SECTOR, 2 * BLOCK - SECTOR
        data = pattern(i + 1, offset, length)
        gate = threading.Barrier(2)

        def write():
            gate.wait()
            os.pwrite(fd, buffer_of(data), offset)

        writer = threading.Thread(target=write)
        writer.start()
        gate.wait()
        os.ftruncate(fd, cut)
        writer.join()
        size = os.fstat(fd).st_size
        with open(xfs.at(name), "rb") as f:
            got = f.read()[offset:]
        assert size in (cut, offset + length)
        assert got == data[: size - offset], f"round {i}, size {size}"
        seen.add(size)
        xfs.close(fd)
        os.unlink(xfs.at(name))
    print(f"ended with sizes {seen}")


def test_polled(xfs):
    """io_uring with polled completion, over boundaries. (Read back without:
    not every device can be polled, and XFS polls none of these writes.)"""
    shredded(xfs, "f", blocks=65)
    words = [
        "fio", "--minimal", f"--filename={xfs.at('f')}", "--ioengine=io_uring",
        "--direct=1", "--iodepth=8", "--rw=write:3k", "--bs=1k", "--io_size=63k",
        f"--size={64 * BLOCK - BLOCK}", f"--offset={BLOCK - SECTOR}", "--thread",
        "--verify=crc32c", "--verify_fatal=1", "--verify_state_save=0", "--fallocate=none",
        "--allow_file_create=0", "--name=j",
    ]  # fmt: skip
    run(*words, "--hipri=1", "--do_verify=0")
    run(*words, "--verify_only=1")
