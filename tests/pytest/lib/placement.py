# SPDX-License-Identifier: GPL-2.0
"""Is the data where it belongs?"""

from collections import Counter

from lib.fiemap import extents


def agnos(layout, fd):
    """The AG of each extent of a file, in the file's order; twice where an
    extent runs over the end of an AG."""
    found = []
    for extent in extents(fd):
        first = layout.ag_of_byte(extent.physical)
        last = layout.ag_of_byte(extent.physical + extent.length - 1)
        found += [first] if first == last else [first, last]
    return found


def outside(layout, fd, allowed):
    """The extents of a file that touch an AG not in @allowed, as words."""
    wrong = []
    for extent in extents(fd):
        for at in (extent.physical, extent.physical + extent.length - 1):
            agno = layout.ag_of_byte(at)
            if agno not in allowed:
                wrong.append(
                    f"bytes {extent.logical}+{extent.length} in AG {agno}, "
                    f"not in {sorted(allowed)}"
                )
                break
    return wrong


def assert_placed(layout, files):
    """@files: (name, fd, allowed AGs). All data extents are inside; tells of
    every one that is not."""
    wrong, total = [], 0
    for name, fd, allowed in files:
        found = extents(fd)
        if not found:
            wrong.append(f"{name}: no extents")
        total += len(found)
        wrong += [f"{name}: {words}" for words in outside(layout, fd, allowed)]
    assert not wrong, f"{len(wrong)} of {total} extents:\n" + "\n".join(wrong)


def assert_balanced(layout, fds, allowed):
    """The files' first extents are spread evenly over the AGs."""
    count = Counter({agno: 0 for agno in allowed})
    count.update(agnos(layout, fd)[0] for fd in fds)
    spread = max(count.values()) - min(count.values())
    assert spread <= 1, f"files per AG: {dict(sorted(count.items()))}"
