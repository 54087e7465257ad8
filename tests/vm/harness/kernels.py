# SPDX-License-Identifier: GPL-2.0
"""The kernels that guests run, and where each comes from."""

import dataclasses
import os
import pathlib

from . import cache, sysroot
from .errors import HarnessError

FRAGMENTS = sysroot.VM / "kernels"
SOURCE_VERSION = "7.3"

# Without poisoning, a slab object keeps a stale pointer to the next free one, and
# leaked objects, allocated one after the other, hide each other from kmemleak.
KMEMLEAK = ("slab_debug=P",)
# virtiofsd writes files straight into pages of the guest, which QEMU's emulated CPU
# does not notice: code that it has translated from such a page stays. So the guest
# clears each page first. (Debian's kernels do without being told.)
CLEAR_PAGES = ("init_on_alloc=1",)
# A host that is busy stops a guest of its own for a while.
PATIENCE = ("rcupdate.rcu_cpu_stall_timeout=180",)


@dataclasses.dataclass(frozen=True)
class Kernel:
    """One kernel: how it is made, and how it is booted."""
    name: str
    boots: str                  # "uml", "qemu" or "host"
    about: str
    arch: str = "x86_64"
    base: str = ""              # the make target to configure from; "" if not built here
    image: str = ""             # the file to boot, in the build tree
    fragments: tuple = ()
    memory: str = "4G"          # default for guests
    parameters: tuple = ()      # of the kernel, always given

    @property
    def built(self):
        """Whether we build it ourselves."""
        return bool(self.base)


KERNELS = {kernel.name: kernel for kernel in (
    Kernel("uml", "uml", "7.3, user mode Linux: the daily loop",
           "um", "defconfig", "linux", ("uml",), parameters=PATIENCE),
    Kernel("uml-kasan", "uml", "the same with KASAN, kmemleak, fault injection",
           "um", "defconfig", "linux", ("uml", "uml-kasan"),
           parameters=KMEMLEAK + PATIENCE),
    Kernel("x86-lockdep", "qemu", "7.3 with lockdep and friends, in QEMU",
           "x86_64", "tinyconfig", "arch/x86/boot/bzImage", ("x86-lockdep",),
           parameters=KMEMLEAK + CLEAR_PAGES),
    Kernel("6.12", "qemu", "Debian's stable kernel, in QEMU"),
    Kernel("7.3", "qemu", "Debian's newest kernel (backports), in QEMU"),
    Kernel("host", "host", "this machine's own kernel"),
)}


def find(name):
    """The kernel of that name."""
    if name not in KERNELS:
        raise HarnessError(f"no kernel named {name!r}; there are: {', '.join(KERNELS)}")
    return KERNELS[name]


def source():
    """The kernel source tree, unpacked from Debian's package."""
    version = sysroot.text("toolchain").split("\n", maxsplit=1)[0].split()[-1]

    def unpack(path, log):
        path.mkdir()
        log.write_bytes(b"")
        tar = f"/usr/src/linux-source-{SOURCE_VERSION}.tar.xz"
        cache.logged(sysroot.inside(["tar", "-xf", tar, "-C", "/wsfs-work", "--strip-components=1"],
                                    [(path, "/wsfs-work", "rw")]), log, "unpacking the kernel")

    return cache.artifact("source", cache.digest(version), "the kernel source tree", unpack)


def _fragments(kernel):
    return [FRAGMENTS / f"{name}.config" for name in kernel.fragments]


def _key(kernel):
    return cache.digest(sysroot.text("toolchain"), FRAGMENTS / "build.sh", kernel.arch,
                        kernel.base, kernel.image, *_fragments(kernel))


def tree_name(kernel):
    """The name in the cache of the build tree of a kernel that we build."""
    return f"kernel-{kernel.name}-{_key(kernel)}"


def tree(kernel):
    """The build tree of a kernel that we build, made when missing."""
    inside = [pathlib.Path("/wsfs") / file.relative_to(sysroot.TOP)
              for file in _fragments(kernel)]

    def build(path, log):
        path.mkdir()
        log.write_bytes(b"")
        target = pathlib.Path(kernel.image).name
        with cache.lock("kernel-build", wait_for="building a kernel"):
            cache.logged(sysroot.inside(
                ["nice", "/wsfs/tests/vm/kernels/build.sh", kernel.arch, kernel.base, target,
                 *inside],
                [(sysroot.TOP, "/wsfs", "ro"), (source(), "/wsfs-src", "ro"),
                 (path, "/wsfs-work", "rw")]), log, f"building the kernel {kernel.name}")

    return cache.artifact(f"kernel-{kernel.name}", _key(kernel), f"the kernel {kernel.name}",
                          build)


def build_binds(kernel):
    """To build modules for a kernel: what to mount, KDIR, and what tells it from others."""
    if kernel.built:
        build_tree = tree(kernel)
        binds = [(source(), "/wsfs-src", "ro"), (build_tree, "/wsfs-work", "ro")]
        return binds, "/wsfs-work", build_tree.name
    binds = []
    if kernel.boots == "host":
        binds = [(path, path, "ro") for path in host_build_paths()]
    return binds, f"/lib/modules/{release(kernel)}/build", release(kernel)


def host_build_paths():
    """Where the headers of this machine's kernel are, all that their links lead to."""
    modules = pathlib.Path("/lib/modules") / os.uname().release
    if not (modules / "build/Makefile").exists():
        raise HarnessError(f"there is no kernel build tree at {modules}/build; "
                           "install the headers of the running kernel")
    paths = [modules, pathlib.Path("/usr/src"), *pathlib.Path("/usr/lib").glob("linux-kbuild-*")]
    return [path for path in paths if path.exists()]


def release(kernel):
    """The release (uname -r) of a kernel that we do not build."""
    return os.uname().release if kernel.boots == "host" else sysroot.text(f"kernels/{kernel.name}")
