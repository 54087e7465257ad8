# SPDX-License-Identifier: GPL-2.0
"""What is built from the checkout: the module per kernel, and the programs.

Each part has a directory in the cache, made for this checkout, with the build
tree in work/ and the results in out/. A stamp holds the hash of the sources
that out/ was made from, so an up-to-date part costs only reading those.
"""

import dataclasses
import hashlib
import os
import pathlib
import subprocess
import sys
import time

from . import cache, kernels, sysroot
from .errors import HarnessError, say


@dataclasses.dataclass(frozen=True)
class Part:
    """One thing to build."""
    name: str
    needs: str              # the file without which this checkout has no such part
    sources: tuple          # what it is made from
    target: str             # where guests see the results
    per_kernel: bool = False
    kernel_source: bool = False     # whether it takes something from there


PARTS = {part.name: part for part in (
    Part("module", "module/Kbuild", ("module", "Kbuild", "uapi", "tests/kunit"), "",
         per_kernel=True),
    Part("kselftest", "tests/kselftest/Makefile", ("tests/kselftest", "uapi"), "kselftest",
         kernel_source=True),
    Part("tools", "userspace/CMakeLists.txt",
         ("userspace", "uapi", "docs/examples", "docs/man", "tests/fuzz"), "tools"),
    Part("misbehave", "tests/vm/selftest/Kbuild", ("tests/vm/selftest",), "selftest",
         per_kernel=True),
)}
USUAL = ("module", "kselftest", "tools")


def home():
    """Where the results of this checkout are kept."""
    return cache.root() / f"build-{cache.digest(str(sysroot.TOP))}"


def directory(part, kernel):
    """Where a part is built."""
    return home() / (f"{part.name}-{kernel.name}" if part.per_kernel else part.name)


def _lock(path, **kwargs):
    """Of a part's directory; other checkouts have others."""
    return cache.lock(f"{path.parent.name}-{path.name}", **kwargs)


def ensure(kernel, names=USUAL):
    """Build the parts that are stale; the parts that this checkout has."""
    done = []
    for name in names:
        part = PARTS[name]
        if not (sysroot.TOP / part.needs).exists():
            continue
        _ensure_part(part, kernel)
        done.append(part)
    return done


def _ensure_part(part, kernel):
    path = directory(part, kernel)
    script = sysroot.VM / "build" / f"{part.name}.sh"
    arguments, binds, version = [], [], ""
    if part.kernel_source:
        binds = [(kernels.source(), "/wsfs-src", "ro")]
    if part.per_kernel:
        binds, kdir, version = kernels.build_binds(kernel)
        kunit = kernel.built and (sysroot.TOP / "tests/kunit/Kbuild").exists()
        arguments = [kdir, kernel.arch, int(kunit)]
    stamp = path / "stamp"
    label = f"{part.name} for {kernel.name}" if part.per_kernel else part.name
    with _lock(path, wait_for=f"building {label}"):
        key = _hash(script, *(sysroot.TOP / source for source in part.sources)) + version
        if stamp.exists() and stamp.read_text() == key:
            return
        path.mkdir(parents=True, exist_ok=True)
        start = time.monotonic()
        done = sysroot.run(["nice", pathlib.Path("/wsfs") / script.relative_to(sysroot.TOP),
                            *arguments],
                           [*binds, (sysroot.TOP, "/wsfs", "ro"), (path, "/wsfs-build", "rw")],
                           stdout=sys.stderr)
        if done.returncode:
            raise HarnessError(f"building the {label} failed, see above")
        stamp.write_text(key)
        say(f"built the {label} in {time.monotonic() - start:.0f} s")


def snapshot(kernel, parts, path):
    """Hard-link the results into path, which a later build leaves alone."""
    path.mkdir()
    for part in parts:
        out = directory(part, kernel) / "out"
        with _lock(directory(part, kernel)):
            subprocess.run(["cp", "-al", f"{out}/.", path / part.target], check=True)


def _hash(*paths):
    """A hash of files, and of all files below directories."""
    total = hashlib.sha256()
    for path in paths:
        for file in sorted(_files(path)):
            total.update(f"{file}\0".encode())
            total.update(file.read_bytes())
    return total.hexdigest()


def _files(path):
    if path.is_file():
        yield path
    for folder, _, names in os.walk(path):
        if "__pycache__" not in folder:
            yield from (pathlib.Path(folder) / name for name in names)
