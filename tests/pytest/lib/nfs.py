# SPDX-License-Identifier: GPL-2.0
"""A directory exported by the kernel's NFS server, version 4 alone, and mounted."""

import contextlib
import os
import shutil
import subprocess
import time

from lib.shell import run, status

_STATE = "/var/lib/nfs"
_PIPES = f"{_STATE}/rpc_pipefs"
_CONTROL = "/proc/fs/nfsd"
_PROGRAMS = ("rpc.nfsd", "rpc.mountd", "nfsdcld", "exportfs", "mount.nfs4")


def missing():
    """Why there can be no server, or None."""
    absent = [program for program in _PROGRAMS if not shutil.which(program)]
    if absent:
        return f"no {', '.join(absent)} (nfs-kernel-server)"
    for module in ("nfsd", "nfsv4"):
        status("modprobe", "-q", module)
    with open("/proc/filesystems", encoding="ascii") as f:
        known = {line.split()[-1] for line in f}
    if not {"nfsd", "nfs4"} <= known:
        return "no NFS server or client in this kernel"
    if _threads():
        return "this machine is an NFS server already"
    return None


def _threads():
    """Of the server; 0 where nobody has mounted its control files."""
    try:
        with open(f"{_CONTROL}/threads", encoding="ascii") as f:
            return int(f.read())
    except FileNotFoundError:
        return 0


@contextlib.contextmanager
def exported(path, mount):
    """@path is mounted on @mount by way of the server, and the server ends with it."""
    os.makedirs(mount, exist_ok=True)
    with contextlib.ExitStack() as undo:
        _mount(undo, "tmpfs", _STATE)
        for name in ("rpc_pipefs", "nfsdcld", "v4recovery"):
            os.mkdir(f"{_STATE}/{name}")
        for name in ("etab", "rmtab"):
            open(f"{_STATE}/{name}", "w", encoding="ascii").close()
        _mount(undo, "rpc_pipefs", _PIPES)
        if not os.path.ismount(_CONTROL):
            _mount(undo, "nfsd", _CONTROL)
        # Knows that there are no clients to wait for, so there is no grace period.
        _start(undo, "nfsdcld", "-F", "-p", _PIPES, "-s", f"{_STATE}/nfsdcld")
        _eventually(lambda: os.path.exists(f"{_STATE}/nfsdcld/main.sqlite"), "nfsdcld")
        run("exportfs", "-o", "rw,no_root_squash,insecure,no_subtree_check,fsid=0",
            f"127.0.0.1:{path}")  # fmt: skip
        undo.callback(status, "exportfs", "-f")
        undo.callback(status, "exportfs", "-au")
        _start(undo, "rpc.mountd", "--foreground", "--no-nfs-version", "3")
        run("rpc.nfsd", "--no-nfs-version", "3", "4")
        undo.callback(run, "rpc.nfsd", "0")
        _try("mount", "-t", "nfs4", "-o", "actimeo=0", "127.0.0.1:/", mount)
        undo.callback(_try, "umount", mount)
        yield mount


def _mount(undo, fstype, where):
    run("mount", "-t", fstype, fstype, where)
    undo.callback(_try, "umount", where)


def _start(undo, *argv):
    """A daemon in the foreground; what it says is in the test's output."""
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL)
    undo.callback(process.wait)
    undo.callback(process.terminate)


def _try(*argv):
    """Until it works: whoever was just ended may be in the way a little longer."""
    said = []

    def works():
        code, output = status(*argv)
        said.append(output)
        return not code

    _eventually(works, lambda: f"{' '.join(argv)}: {said[-1]}")


def _eventually(ready, what):
    for _ in range(300):
        if ready():
            return
        time.sleep(0.1)
    raise AssertionError(what() if callable(what) else f"{what} does not come up")
