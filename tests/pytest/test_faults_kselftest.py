# SPDX-License-Identifier: GPL-2.0
"""The kselftests while allocations of theirs fail: whatever they say of it, nothing is
left in .wsfs, XFS is whole, and wsfs works. (pytest --fail-allocations: the same here.)"""

import os
import subprocess

import pytest

from lib import faults, ioctls
from lib.bed import Bed
from lib.shell import run
from lib.wsfs import strays

PROGRAMS = """alloc bad_input bad_mount get_max hidden hints info life mounts numbered
race_alloc readonly set set_dir set_errors""".split()
DIRECTORY = f"{os.environ.get('WSFS_BUILD', '/nowhere')}/kselftest"
SECONDS = 600

pytestmark = pytest.mark.long


def holds_xfs(disk):
    """Is there one, that mkfs.xfs has made to its end?"""
    if run("blkid", "-s", "TYPE", "-o", "value", disk, ok=(0, 2)).strip() != "xfs":
        return False
    return run("xfs_db", "-r", "-c", "sb 0", "-c", "p inprogress", disk).split()[-1] == "0"


def judge(disk, base):
    """Mounting replays what was under way; a list of complaints."""
    bed = Bed(disk, f"{base}/judged")
    bed.mount()
    complaints = [f"left in .wsfs: {left}"] if (left := strays(bed.lower)) else []
    fd = bed.open("after-faults")
    bed.set(fd, bed.alloc())
    assert ioctls.FileInfo.of(fd).placed_somehow
    return complaints + bed.finish()


@pytest.mark.parametrize("one_in", [300, 1000, 5000])
@pytest.mark.parametrize("program", PROGRAMS)
def test_kselftest(disks, base, program, one_in):
    if why := faults.missing():
        pytest.skip(why)
    path = f"{DIRECTORY}/{program}"
    if not os.access(path, os.X_OK):
        pytest.skip(f"no {path}: run the guest with --parts module,tools,kselftest")
    for disk in disks[:2]:
        run("wipefs", "-a", disk)
    with faults.at_random(one_in):
        done = subprocess.run(
            ["sh", "-c", faults.MARKED_SHELL, "sh", path],
            cwd=DIRECTORY, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=SECONDS, check=False,
        )  # fmt: skip
    print(done.stdout.decode(errors="replace")[-4000:])
    # A bug of the kernel ends a task by a signal of its own accord.
    assert done.returncode >= 0, f"signal {-done.returncode}"
    complaints = []
    for disk in disks[:2]:
        if holds_xfs(disk):
            complaints += judge(disk, base)
    assert not complaints, "\n".join(complaints)
