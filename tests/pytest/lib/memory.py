# SPDX-License-Identifier: GPL-2.0
"""What the kernel holds in slabs, to see that it comes back."""

import os
import time

_CACHES = "/sys/kernel/slab"
_TRIES = 20


def missing():
    """Why it cannot be seen, or None."""
    absent = [path for path in (_CACHES, "/proc/slabinfo") if not os.path.exists(path)]
    return f"no {absent[0]} in this kernel" if absent else None


def _settle():
    """Only what is in use stays."""
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as f:
        f.write("3\n")
    for entry in os.scandir(_CACHES):
        # Slabs that are kept for the next allocation, and KASAN's quarantine
        if entry.is_dir(follow_symlinks=False):
            with open(f"{entry.path}/shrink", "w", encoding="ascii") as f:
                f.write("1\n")


def slabs():
    """Bytes in use of each cache."""
    _settle()
    found = {}
    with open("/proc/slabinfo", encoding="ascii") as f:
        for line in f:
            if line.startswith(("slabinfo", "#")):
                continue
            name, active, _, size = line.split()[:4]
            found[name] = int(active) * int(size)
    return found


def growth(before, most):
    """Words on caches that have grown since @before, if all together have by more
    than @most bytes or one of wsfs's own holds anything, and do so for some time:
    what RCU and workqueues free comes later."""
    for _ in range(_TRIES):
        now = slabs()
        grown = {name: now[name] - before.get(name, 0) for name in now}
        own = {name: size for name, size in now.items() if name.startswith("wsfs") and size}
        total = sum(grown.values())
        if not own and total <= most:
            return []
        time.sleep(0.5)
    worst = sorted(grown.items(), key=lambda item: -item[1])[:8]
    return [f"slabs have grown by {total} bytes: {worst}", f"of wsfs's own: {own}"]
