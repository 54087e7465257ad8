# SPDX-License-Identifier: GPL-2.0
"""stress-ng's file system stressors on wsfs, with streams set, cleared and closed
under them: they verify their own data, and the kernel's log stays clean."""

import os
import shutil

import pytest

from lib.meddling import TreeMeddler
from lib.shell import status

STRESSORS = """access acl aio aiol chattr chmod chown copy-file dentry dir dirdeep dirmany
dnotify dup eventfd fallocate fcntl fd-fork fd-race fiemap file-ioctl filename flock fpunch fsize
fstat getdent handle hdd inode-flags inotify io io-uring iomix lease link locka lockf lockmix
lockofd metamix mmapfiles mmapfixed mmapmany msync open pread readahead rename revio rwrite seal
seek sendfile splice symlink sync-file tee touch umount unlink utime vm-splice writev
xattr""".split()
SECONDS = int(os.environ.get("WSFS_STRESS_SECONDS", "5"))
# stress-ng: the stressor is not there, or cannot work here
NOT_HERE = (3, 4)

pytestmark = pytest.mark.long


def stress(stressor, directory):
    return status(
        "stress-ng", "--temp-path", directory, "--timeout", SECONDS, "--verify", "--oomable",
        "--hdd-bytes", "32m", "--fallocate-bytes", "32m", "--iomix-bytes", "32m",
        "--copy-file-bytes", "128m", "--revio-bytes", "32m", "--seek-size", "32m",
        "--sync-file-bytes", "32m", "--readahead-bytes", "64m", "--fiemap-bytes", "32m",
        f"--{stressor}", 2,
    )  # fmt: skip


@pytest.mark.parametrize("stressor", STRESSORS)
def test_stress(room, stressor):
    if not shutil.which("stress-ng"):
        pytest.skip("no stress-ng")
    directory = room.at("here")
    os.mkdir(directory)
    with TreeMeddler(room.wsfs, directory) as meddler:
        code, output = stress(stressor, directory)
    print(output, meddler.sets)
    if code in NOT_HERE:
        pytest.skip(output.strip().splitlines()[-1])
    if code:
        # Is it the layer, or the machine?
        plain = room.below("plain")
        os.mkdir(plain)
        below, _ = stress(stressor, plain)
        if below == code:
            pytest.skip(f"fails on plain XFS as well: {output.strip().splitlines()[-1]}")
    assert code == 0, output
