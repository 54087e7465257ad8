# SPDX-License-Identifier: GPL-2.0
"""The command line that boots a QEMU guest, inside the sysroot."""

import os
import pathlib
import re
import shlex

from . import kernels


def binds(kernel):
    """What the guest needs besides the usual directories."""
    return [(kernels.tree(kernel), "/wsfs-work", "ro")] if kernel.built else []


def accelerator():
    """What runs the guest's code: KVM, or QEMU itself where there is none.

    A /dev/kvm without vmx or svm is PVM's (kvm-pvm.ko): it runs kernels made for it alone.
    """
    hardware = re.search(r"^flags\b.*\b(vmx|svm)\b", pathlib.Path("/proc/cpuinfo").read_text(),
                         re.M)
    return "kvm" if hardware and os.access("/dev/kvm", os.R_OK | os.W_OK) else "tcg,thread=multi"


def script(kernel, guest):
    """A shell script that becomes the guest.

    Its root is the sysroot itself, over virtiofs, which all these kernels have
    built in: neither a disk image nor an initial RAM disk has to be made. The
    serial port is the kernel's console; a virtio port takes the output.
    """
    image = (f"/wsfs-work/{kernel.image}" if kernel.built
             else f"/boot/vmlinuz-{kernels.release(kernel)}")
    append = ["console=ttyS0", "rootfstype=virtiofs", "root=wsfs", "rw",
              "ignore_loglevel", "mitigations=off", "watchdog_thresh=60",
              "rcupdate.rcu_cpu_stall_timeout=120", *guest.append, f"init={guest.init}",
              f"wsfs.out={'hvc0' if guest.shell else 'vport*p1'}"]
    words = ["qemu-system-x86_64", "-accel", accelerator(), "-cpu", "max", "-smp", guest.cpus,
             "-m", guest.memory, "-nodefaults", "-no-user-config", "-display", "none",
             "-no-reboot", "-kernel", image, "-append", " ".join(append),
             "-object", f"memory-backend-memfd,id=mem,size={guest.memory},share=on",
             "-machine", "q35,memory-backend=mem",
             "-chardev", "socket,id=fs,path=/run/virtiofs",
             "-device", "vhost-user-fs-pci,chardev=fs,tag=wsfs,queue-size=1024",
             "-chardev", "file,id=console,path=/wsfs-ctl/console,append=on",
             "-serial", "chardev:console",
             "-device", "virtio-serial", "-chardev",
             "stdio,id=out,signal=off" if guest.shell else "file,id=out,path=/dev/fd/1,append=on",
             "-device", "virtconsole,chardev=out" if guest.shell
             else "virtserialport,chardev=out,nr=1"]
    lines = []
    for number, size in enumerate(guest.disks):
        lines.append(f"truncate -s {size} /wsfs-disks/disk{number}")
        words += ["-drive", f"file=/wsfs-disks/disk{number},if=none,id=d{number},format=raw,"
                            "cache=unsafe,discard=unmap",
                  "-device", f"virtio-blk-pci,drive=d{number},serial=wsfs{number}"]
    words += guest.emulator
    lines += ["/usr/libexec/virtiofsd --socket-path=/run/virtiofs --shared-dir=/ --sandbox=none"
              " --announce-submounts --cache=always >/wsfs-ctl/virtiofsd 2>&1 </dev/null &",
              "for _ in $(seq 100); do [ -S /run/virtiofs ] && break; sleep 0.1; done",
              f"exec {shlex.join(map(str, words))}"]
    return "\n".join(lines)
