# SPDX-License-Identifier: GPL-2.0
"""Is the data where it belongs?"""

from collections import Counter

from lib.fiemap import extents


def agnos(layout, fd):
    """The AG of each extent of a file, in the file's order; twice where an
    extent runs over the end of an AG."""
    return [agno for _, agno in _pieces(layout, fd)]


def _pieces(layout, fd):
    """(extent, AG) for each AG that an extent touches."""
    for extent in extents(fd):
        first = layout.ag_of_byte(extent.physical)
        last = layout.ag_of_byte(extent.physical + extent.length - 1)
        yield extent, first
        if last != first:
            yield extent, last


def strayed(agno, allowed):
    """The words by which strays.py knows that a test has failed for one."""
    return f"in AG {agno}, not in {sorted(allowed)}"


def outside(layout, fd, allowed):
    """The extents of a file that touch an AG not in @allowed, as words; those
    that follow each other into the same AG are told together."""
    runs = []
    for extent, agno in _pieces(layout, fd):
        if agno in allowed:
            continue
        end = extent.logical + extent.length
        if runs and runs[-1][1:3] == [extent.logical, agno]:
            runs[-1][1], runs[-1][3] = end, runs[-1][3] + 1
        else:
            runs.append([extent.logical, end, agno, 1])
    return [
        f"bytes {start} to {end} ({count} extents) {strayed(agno, allowed)}"
        for start, end, agno, count in runs
    ]


def assert_placed(layout, files):
    """@files: (name, fd, allowed AGs). All data extents are inside; tells of
    every one that is not."""
    wrong, total = [], 0
    for name, fd, allowed in files:
        found = extents(fd)
        if not found:
            wrong.append(f"{name}: no extents")
        total += 1
        wrong += [f"{name}: {words}" for words in outside(layout, fd, allowed)]
    assert not wrong, f"of {total} files:\n" + "\n".join(wrong)


def assert_balanced(layout, fds, allowed):
    """The files' first extents are spread evenly over the AGs."""
    count = Counter({agno: 0 for agno in allowed})
    count.update(agnos(layout, fd)[0] for fd in fds)
    spread = max(count.values()) - min(count.values())
    assert spread <= 1, f"files per AG: {dict(sorted(count.items()))}"
