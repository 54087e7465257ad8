# SPDX-License-Identifier: GPL-2.0
"""Counts the tests in result files: TAP (KTAP included) and JUnit XML."""

import dataclasses
import re
import xml.etree.ElementTree


@dataclasses.dataclass
class Counts:
    """How many tests did what."""
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Counts(self.passed + other.passed, self.failed + other.failed,
                      self.skipped + other.skipped)

    def __str__(self):
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"

    @property
    def total(self):
        """Tests that ran."""
        return self.passed + self.failed


def of_directory(path):
    """The tests in all result files of a directory."""
    total = Counts()
    for file in sorted(path.glob("*.tap")):
        total += of_tap(file.read_text(errors="replace"))
    for file in sorted(path.glob("*.xml")):
        total += of_junit(file)
    return total


def of_tap(text):
    """The leaves of TAP: a line after deeper ones only sums those up."""
    total = Counts()
    previous = 0
    for line in text.splitlines():
        match = re.match(r"( *)(not )?ok\b", line)
        if not match:
            continue
        depth = len(match[1])
        if depth >= previous:
            if re.search(r"# *skip", line, re.IGNORECASE):
                total.skipped += 1
            elif match[2]:
                total.failed += 1
            else:
                total.passed += 1
        previous = depth
    return total


def of_junit(path):
    """The test cases of a JUnit file; an unreadable one is a failure."""
    try:
        cases = list(xml.etree.ElementTree.parse(path).iter("testcase"))
    except xml.etree.ElementTree.ParseError:
        return Counts(failed=1)
    total = Counts()
    for case in cases:
        if case.find("failure") is not None or case.find("error") is not None:
            total.failed += 1
        elif case.find("skipped") is not None:
            total.skipped += 1
        else:
            total.passed += 1
    return total
