# SPDX-License-Identifier: GPL-2.0
"""What wsfs has allocated for a file or a call comes back; see test_stress.py too."""

import os

import pytest

from lib import memory
from lib.shell import run

SIZE = 8 << 20


@pytest.mark.parametrize("how", ["read", "write", "randrw"])
@pytest.mark.parametrize("direct", [0, 1], ids=["buffered", "direct"])
@pytest.mark.parametrize("engine", ["io_uring", "libaio"])
def test_asynchronous_calls(bed, engine, direct, how):
    """Of a file that is not in the page cache: io_uring is told when a page is there,
    and calls again."""
    if why := memory.missing():
        pytest.skip(why)
    bed.make(agcount=8, streams=4)
    with open(bed.at("f"), "wb") as f:
        f.write(os.urandom(SIZE))
    bed.remount()
    run(
        "fio", "--name=job", f"--filename={bed.at('f')}", f"--rw={how}", "--bs=4k",
        f"--size={SIZE}", f"--ioengine={engine}", f"--direct={direct}", "--iodepth=16",
        "--thread", "--invalidate=1", "--fadvise_hint=random",
    )  # fmt: skip
    bed.umount()
    # Any growth of others is no business of this test.
    assert memory.growth(memory.slabs(), 1 << 30) == []
    bed.mount()
