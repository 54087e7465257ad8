# SPDX-License-Identifier: GPL-2.0
"""Removes from the cache what the current sources do not need."""

import pathlib

from . import build, cache, kernels, sysroot
from .errors import say


def collect():
    """Remove runs that were killed, interrupted builds and outdated artifacts."""
    needed = {sysroot.name(), sysroot.name(small=True), kernels.source().name, build.home().name}
    needed |= {kernels.tree_name(kernel) for kernel in kernels.KERNELS.values() if kernel.built}
    for path in [*_runs(), *_artifacts(needed)]:
        say(f"removing {path}")
        cache.remove(path)


def _runs():
    runs = cache.root() / "runs"
    return [path for path in (runs.iterdir() if runs.exists() else [])
            if not pathlib.Path("/proc", path.name).exists()]


def _artifacts(needed):
    for kind in ("sysroot", "source", "kernel"):
        for path in cache.root().glob(f"{kind}-*"):
            name = path.name.rpartition("-")[0]
            if path.is_dir() and path.name not in needed and not cache.locked(name):
                yield path
