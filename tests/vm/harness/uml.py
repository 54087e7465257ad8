# SPDX-License-Identifier: GPL-2.0
"""The command line that boots a user mode Linux guest, inside the sysroot."""

import shlex

from . import kernels


def binds(kernel):
    """What the guest needs besides the usual directories."""
    return [(kernels.tree(kernel), "/wsfs-work", "ro")]


def script(kernel, guest):
    """A shell script that becomes the guest.

    The kernel's console is the console file; the second console (con1), the
    output of the command. Its memory and disks are files in private tmpfs.

    To restart, UML executes its argv[0], and hangs in there: signals are still
    blocked. No such program, and the guest ends, as it does under QEMU.
    """
    lines, disks = [], []
    for number, size in enumerate(guest.disks):
        lines.append(f"truncate -s {size} /dev/shm/disk{number}")
        disks.append(f"ubd{number}=/dev/shm/disk{number}")
    words = [f"/wsfs-work/{kernel.image}", "rootfstype=hostfs", "rootflags=/", "rw",
             f"mem={guest.memory}", f"ncpus={guest.cpus}", "seccomp=on",
             "con=null", "con0=null,fd:1", f"con1={guest.input},fd:3",
             "uml_dir=/tmp", f"umid=guest{guest.number}", *disks, *guest.append,
             f"init={guest.init}", "wsfs.out=tty1"]
    lines += ["exec 3>&1 >>/wsfs-ctl/console 2>&1",
              f"TMPDIR=/dev/shm exec -a restart-of-the-guest {shlex.join(map(str, words))}"]
    return "\n".join(lines)
