# SPDX-License-Identifier: GPL-2.0
"""Trees of many files: wsctl beside running xfs_bmap on each."""

import os

import pytest

from lib.shell import run

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bench/tools_scan.py")


@pytest.mark.long
def test_three_times_the_files_a_second(disks):
    """What the script wants of bmap, check and map; memory is bounded as well."""
    print(run(SCRIPT, "--files", 20_000, "--seconds", 5, disks[0]))
