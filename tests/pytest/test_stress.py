# SPDX-License-Identifier: GPL-2.0
"""stress-ng's file system stressors, fsx and fsstress on wsfs, with streams set,
cleared and closed under them: they verify their own data, the kernel's log stays
clean, and memory comes back with the umount.

WSFS_STRESS_SECONDS: how long each stressor runs, 5 by default; as many thousand
operations fsx and fsstress do. Those two are xfstests': a checkout that was built at
/xfstests, or where WSFS_XFSTESTS says.
"""

import os
import re
import shutil

import pytest

from lib import memory
from lib.bed import Bed
from lib.meddling import TreeMeddler
from lib.shell import status

STRESSORS = """access acl aio aiol chattr chmod chown copy-file dentry dir dirdeep dirmany
dnotify dup eventfd fallocate fcntl fd-fork fd-race fiemap file-ioctl filename flock fpunch fsize
fstat getdent handle hdd inode-flags inotify io io-uring iomix lease link locka lockf lockmix
lockofd metamix mmapfiles mmapfixed mmapmany msync open pread readahead rename revio rwrite seal
seek sendfile splice symlink sync-file tee touch umount unlink utime vm-splice writev
xattr""".split()
SECONDS = int(os.environ.get("WSFS_STRESS_SECONDS", "5"))
LTP = f"{os.environ.get('WSFS_XFSTESTS', '/xfstests')}/ltp"
# stress-ng: the stressor is not there, or cannot work here
NOT_HERE = (3, 4)
# Programs that ran once keep some in the kernel; a leak with each SET is many times that.
SLACK = 4 << 20

pytestmark = pytest.mark.long


def unmounted(bed):
    bed.close_all()
    bed.umount()


@pytest.fixture(scope="module")
def stressed(disks, base, plain):
    """A bed for all tests of the file. After the last one the slabs hold what they
    held after a first mount with all that is done once."""
    if plain:
        pytest.skip("--plain: no streams")
    bed = Bed(disks[0], f"{base}/stressed")
    bed.make(agcount=8, streams=6, ag_mib=120)
    if shutil.which("stress-ng"):
        with TreeMeddler(bed.wsfs, bed.path):
            for stressor in ("metamix", "io-uring", "aio"):
                stress(stressor, bed.path, seconds=1)
    why = memory.missing()
    unmounted(bed)
    before = None if why else memory.slabs()
    bed.mount()
    yield bed
    unmounted(bed)
    complaints = [] if why else memory.growth(before, SLACK)
    bed.mount()
    complaints += bed.finish()
    assert not complaints, "\n".join(complaints)


@pytest.fixture
def place(stressed, request):
    """The bed, with a directory for this test alone that is removed afterwards."""
    stressed.enter(re.sub(r"\W", "-", request.node.name))
    yield stressed
    directory = stressed.path
    stressed.leave()
    status("chattr", "-R", "-ai", directory)
    shutil.rmtree(directory)


def stress(stressor, directory, seconds=SECONDS):
    return status(
        "stress-ng", "--temp-path", directory, "--timeout", seconds, "--verify", "--oomable",
        "--hdd-bytes", "32m", "--fallocate-bytes", "32m", "--iomix-bytes", "32m",
        "--copy-file-bytes", "128m", "--revio-bytes", "32m", "--seek-size", "32m",
        "--sync-file-bytes", "32m", "--readahead-bytes", "64m", "--fiemap-bytes", "32m",
        f"--{stressor}", 2,
    )  # fmt: skip


@pytest.mark.parametrize("stressor", STRESSORS)
def test_stress(place, stressor):
    if not shutil.which("stress-ng"):
        pytest.skip("no stress-ng")
    with TreeMeddler(place.wsfs, place.path) as meddler:
        code, output = stress(stressor, place.path)
    print(output, f"{meddler.sets} SETs")
    if code in NOT_HERE:
        pytest.skip(output.strip().splitlines()[-1])
    if code:
        # Is it the layer, or the machine?
        plain = place.below("plain")
        os.mkdir(plain)
        if stress(stressor, plain)[0] == code:
            pytest.skip(f"fails on plain XFS as well: {output.strip().splitlines()[-1]}")
    assert code == 0, output


def program(name):
    if not os.access(f"{LTP}/{name}", os.X_OK):
        pytest.skip(f"no {LTP}/{name}: show the guest a built xfstests, -b DIR:/xfstests")
    return f"{LTP}/{name}"


@pytest.mark.usefixtures("true_mappings")
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    "options",
    [(), ("-A",), ("-U",), ("-Z", "-r", "512", "-w", "512", "-t", "512"), ("-Z", "-R", "-W",
     "-r", "4096", "-w", "4096", "-t", "4096")],
    ids=["buffered", "aio", "io_uring", "sub-block", "direct"],
)  # fmt: skip
def test_fsx(place, options, seed):
    """It compares each byte that it reads with what it has written."""
    with TreeMeddler(place.wsfs, place.path, seed) as meddler:
        code, output = status(
            program("fsx"), "-q", "-N", 1000 * SECONDS, "-S", seed, "-l", 4 << 20, "-o", 128 << 10,
            *options, place.at("f"),
        )  # fmt: skip
    print(output[-4000:], f"{meddler.sets} SETs")
    if "usage: fsx" in output:
        pytest.skip(f"this fsx has not been built with {options}")
    assert code == 0, output[-4000:]
    assert meddler.sets, "no stream was ever set"


@pytest.mark.parametrize("seed", [1, 2])
def test_fsstress(place, seed):
    """Of any order and kind; its processes end well, and XFS is whole."""
    with TreeMeddler(place.wsfs, place.path, seed) as meddler:
        code, output = status(
            program("fsstress"), "-d", place.path, "-p", 4, "-n", 250 * SECONDS, "-s", seed,
        )  # fmt: skip
    print(output[-4000:], f"{meddler.sets} SETs")
    assert code == 0, output[-4000:]
    assert meddler.sets, "no stream was ever set"
