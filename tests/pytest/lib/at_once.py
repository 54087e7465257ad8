# SPDX-License-Identifier: GPL-2.0
"""pytest -p lib.at_once: show each failure when it happens, for guests that a
time limit may end before the summary."""


def pytest_runtest_logreport(report):
    if report.failed:
        print(f"\n---- {report.nodeid} ({report.when})")
        print(report.longreprtext)
        for title, text in report.sections:
            print(f"-- {title}\n{text}")
