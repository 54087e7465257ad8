# SPDX-License-Identifier: GPL-2.0
"""pytest --fail-allocations=N: one in N allocations of what a test does fails.

What the test itself says then is no failure, since it is told ENOMEM where it does
not expect it. What its fixtures find afterwards is one: a filesystem that cannot be
unmounted, that xfs_repair complains about, files left in .wsfs, a kernel that warns.
"""

import pytest

from lib import faults

_told = []


def pytest_addoption(parser):
    parser.addoption(
        "--fail-allocations", type=int, metavar="N",
        help="let one in N allocations of the tests fail; what counts is what they leave behind",
    )  # fmt: skip


def pytest_configure(config):
    if config.getoption("--fail-allocations") and (why := faults.missing()):
        raise pytest.UsageError(f"--fail-allocations: {why}")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    one_in = item.config.getoption("--fail-allocations")
    if not one_in:
        yield
        return
    with faults.at_random(one_in), faults.marked():
        outcome = yield
    if outcome.excinfo and issubclass(outcome.excinfo[0], Exception):
        _told.append(f"{item.nodeid}: {str(outcome.excinfo[1]).splitlines()[:1]}")
        outcome.force_result(None)


def pytest_terminal_summary(terminalreporter):
    for line in _told:
        terminalreporter.write_line(f"TOLD {line}")
