# SPDX-License-Identifier: GPL-2.0
"""SELinux with a policy of a few lines, which permits everything and says what label
a new file gets. For guests that were booted with security=selinux: a policy that is
loaded cannot be taken back."""

import ctypes
import os

from lib.shell import run

XATTR = "security.selinux"
_FS = "/sys/fs/selinux"
_ALLOW_UNKNOWN, _SELINUX = 4, 0

# app_t makes files that take after a directory of the type dir_t, and after their
# own name; kernel_t, which everything else runs as, does not. All classes and
# permissions that are not named are permitted.
_POLICY = """
(mls false)
(class file (none))
(class dir (none))
(class process (transition dyntransition))
(classorder (file dir process))
(sensitivity s0)
(sensitivityorder (s0))
(level low (s0))
(levelrange all (low low))
(sid kernel)
(sid security)
(sid unlabeled)
(sidorder (kernel security unlabeled))
(user u)
(role r)
(role object_r)
(userrole u r)
(userrole u object_r)
(userlevel u low)
(userrange u all)
(type kernel_t)
(type app_t)
(type fs_t)
(type unlabeled_t)
(type dir_t)
(type born_t)
(type special_t)
(type chosen_t)
(roletype r kernel_t)
(roletype r app_t)
(roletype object_r fs_t)
(roletype object_r unlabeled_t)
(roletype object_r dir_t)
(roletype object_r born_t)
(roletype object_r special_t)
(roletype object_r chosen_t)
(sidcontext kernel (u r kernel_t all))
(sidcontext security (u object_r unlabeled_t all))
(sidcontext unlabeled (u object_r unlabeled_t all))
(fsuse xattr xfs (u object_r fs_t all))
(fsuse xattr wsfs (u object_r fs_t all))
(allow kernel_t app_t (process (transition dyntransition)))
(typetransition app_t dir_t file born_t)
(typetransition app_t dir_t file "special" special_t)
"""


def missing():
    """Why there can be no labels here, or None."""
    with open("/proc/filesystems") as f:
        if not any(line.split()[-1] == "selinuxfs" for line in f):
            return "SELinux is not on: boot with security=selinux, on a kernel that has it"
    with open("/proc/self/attr/current") as f:
        label = f.read().strip("\0\n")
    if label != "kernel" and not label.startswith("u:r:"):
        return f"SELinux has a policy already, and this process is {label}"
    return None


def _compiled(version):
    """The policy as the kernel takes it."""
    sepol = ctypes.CDLL("libsepol.so.2")
    for name in ("cil_db_init", "cil_add_file", "cil_compile", "cil_build_policydb",
                 "cil_set_handle_unknown", "sepol_policydb_to_image"):  # fmt: skip
        getattr(sepol, name).restype = ctypes.c_int
    sepol.sepol_handle_create.restype = ctypes.c_void_p
    text = _POLICY.encode()
    cil, policy, image = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    size = ctypes.c_size_t()
    sepol.cil_db_init(ctypes.byref(cil))
    sepol.cil_set_mls(cil, 0)
    sepol.cil_set_handle_unknown(cil, _ALLOW_UNKNOWN)
    sepol.cil_set_target_platform(cil, _SELINUX)
    sepol.cil_set_policy_version(cil, version)
    assert not sepol.cil_add_file(cil, b"policy", text, ctypes.c_size_t(len(text)))
    assert not sepol.cil_compile(cil)
    assert not sepol.cil_build_policydb(cil, ctypes.byref(policy))
    handle = ctypes.c_void_p(sepol.sepol_handle_create())
    assert not sepol.sepol_policydb_to_image(
        handle, policy, ctypes.byref(image), ctypes.byref(size)
    )
    return ctypes.string_at(image, size.value)


def load():
    """Loads the policy; permissive."""
    if not os.path.exists(f"{_FS}/load"):
        run("mount", "-t", "selinuxfs", "selinuxfs", _FS)
    with open(f"{_FS}/enforce") as f:
        assert f.read() == "0"
    with open(f"{_FS}/policyvers") as f:
        version = min(int(f.read()), 33)
    fd = os.open(f"{_FS}/load", os.O_RDWR)
    try:
        policy = _compiled(version)
        assert os.write(fd, policy) == len(policy)
    finally:
        os.close(fd)


def become(label):
    """This process, which must have one thread, goes on as @label."""
    with open("/proc/self/attr/current", "w") as f:
        f.write(label)


def create_as(label):
    """What this thread makes from now on gets @label; None: what the policy says."""
    with open("/proc/thread-self/attr/fscreate", "w") as f:
        f.write(label or "\0")
