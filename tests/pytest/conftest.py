# SPDX-License-Identifier: GPL-2.0
"""Fixtures: disks, test beds, and the checks that follow every test."""

import os
import shutil
import tempfile

import pytest

from lib import kmsg, wsfs
from lib.bed import Bed
from lib.compare import differences
from lib.disks import Disks

pytest_plugins = ["lib.strays", "lib.failing", "lib.uml"]


def pytest_addoption(parser):
    parser.addoption(
        "--plain",
        action="store_true",
        help="check the tests themselves: plain XFS in place of wsfs, "
        "without the tests that need streams",
    )


def pytest_report_header(config):
    uname = os.uname()
    return f"kernel: {uname.release} {uname.machine}, disks: {os.environ.get('WSFS_DISKS')}"


@pytest.fixture(scope="session")
def plain(request):
    return request.config.getoption("--plain")


@pytest.fixture(scope="session")
def module(plain):
    """wsfs is loaded."""
    if not plain:
        wsfs.load_module()


@pytest.fixture(scope="session")
def disks(module):
    disks = Disks()
    yield disks.paths
    disks.close()


@pytest.fixture(scope="session")
def base():
    path = tempfile.mkdtemp(prefix="wsfs-test-")
    os.chmod(path, 0o755)  # other users have to get through
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(autouse=True)
def kernel_log(module):
    """Fails the test that put a warning into the kernel's log."""
    log = kmsg.Log()
    yield log
    bad = kmsg.bad_lines(log.read())
    log.close()
    assert not bad, "in the kernel's log:\n" + "\n".join(bad)


@pytest.fixture
def bed(disks, base, plain, kernel_log):
    """An unmade test bed: the test calls make()."""
    if plain:
        pytest.skip("--plain: no streams")
    bed = Bed(disks[0], base)
    yield bed
    complaints = bed.finish()
    assert not complaints, "\n".join(complaints)


@pytest.fixture(scope="module")
def standing_bed(disks, base, plain, request):
    """16 AGs, 4 streams, or what the file's BED says, for all tests of a file."""
    if plain:
        pytest.skip("--plain: no streams")
    bed = Bed(disks[0], f"{base}/standing")
    bed.make(**getattr(request.module, "BED", {"agcount": 16, "streams": 4}))
    yield bed
    complaints = bed.finish()
    assert not complaints, "\n".join(complaints)


@pytest.fixture
def room(standing_bed, request):
    """The standing bed, with a directory for this test alone."""
    standing_bed.enter(request.node.name.replace("/", "-"))
    yield standing_bed
    standing_bed.leave()


@pytest.fixture(scope="module")
def pair(disks, base, plain):
    """wsfs and plain XFS side by side, for all tests of a file."""
    mkfs = ("-m", "reflink=1")
    stacked = Bed(disks[0], f"{base}/pair", stacked=not plain)
    alone = Bed(disks[1], f"{base}/alone", stacked=False)
    for bed in (stacked, alone):
        bed.make(agcount=4, ag_mib=80, mkfs=mkfs)
    yield stacked, alone
    complaints = stacked.finish() + alone.finish()
    assert not complaints, "\n".join(complaints)


@pytest.fixture
def apart(pair, request, plain):
    """The wsfs of the pair, with a directory for this test alone."""
    if plain:
        pytest.skip("--plain: no wsfs")
    stacked, _ = pair
    stacked.enter(request.node.name.replace("/", "-"))
    yield stacked
    stacked.leave()


@pytest.fixture
def same(pair, request):
    """Run a function on a fresh directory of each; the answers must agree."""
    name = request.node.name.replace("/", "-")

    def run(scenario):
        answers = []
        for bed in reversed(pair):  # plain XFS first: it tells what is right
            directory = bed.at(name)
            os.mkdir(directory)
            answers.append(scenario(directory))
        want, got = answers
        if got != want:
            pytest.fail("wsfs differs:\n" + "\n".join(differences(got, want)[:20]))
        return got

    return run
