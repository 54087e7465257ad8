# SPDX-License-Identifier: GPL-2.0
"""A directory exported by the kernel's NFS server, version 4 alone, and mounted."""

import os
import shutil
import time

from lib.shell import run, status

_STATE = "/var/lib/nfs"
_CONTROL = "/proc/fs/nfsd"


def missing():
    """Why there can be no server, or None."""
    for program in ("rpc.nfsd", "rpc.mountd", "exportfs", "mount.nfs4"):
        if not shutil.which(program):
            return f"no {program}"
    with open("/proc/filesystems", encoding="ascii") as f:
        known = {line.split()[-1] for line in f}
    return None if {"nfsd", "nfs4"} <= known else "no NFS in this kernel"


class Exported:
    """@path, exported and mounted on @mount. A context."""

    def __init__(self, path, mount):
        self._path, self._mount = path, mount

    def __enter__(self):
        os.makedirs(self._mount, exist_ok=True)
        run("mount", "-t", "tmpfs", "tmpfs", _STATE)
        for name in ("v4recovery", "rpc_pipefs"):
            os.mkdir(f"{_STATE}/{name}")
        for name in ("etab", "rmtab"):
            open(f"{_STATE}/{name}", "w", encoding="ascii").close()
        if not os.path.ismount(_CONTROL):
            run("mount", "-t", "nfsd", "nfsd", _CONTROL)
        # Without a grace period, in which nothing can be opened.
        for name in ("nfsv4gracetime", "nfsv4leasetime"):
            with open(f"{_CONTROL}/{name}", "w", encoding="ascii") as f:
                f.write("10\n")
        run("exportfs", "-o", "rw,no_root_squash,insecure,no_subtree_check,fsid=0",
            f"127.0.0.1:{self._path}")  # fmt: skip
        run("rpc.mountd", "--no-nfs-version", "3")
        run("rpc.nfsd", "--no-nfs-version", "3", "4")
        with open(f"{_CONTROL}/v4_end_grace", "w", encoding="ascii") as f:
            f.write("Y\n")
        self._try("mount", "-t", "nfs4", "-o", "vers=4.2,actimeo=0", "127.0.0.1:/", self._mount)
        return self._mount

    @staticmethod
    def _try(*argv):
        for _ in range(50):
            code, output = status(*argv)
            if not code:
                return
            time.sleep(0.2)
        raise AssertionError(f"{' '.join(argv)}: {output}")

    def __exit__(self, *_):
        status("umount", "-f", self._mount)
        status("rpc.nfsd", "0")
        status("exportfs", "-au")
        status("exportfs", "-f")
        status("pkill", "rpc.mountd")
        self._try("umount", _STATE)
