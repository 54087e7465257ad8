# SPDX-License-Identifier: GPL-2.0
"""Idmapped mounts, user namespaces and file capabilities, as on plain XFS."""

import contextlib
import itertools
import os
import shutil
import struct
import subprocess

import pytest

from lib import acl, handles, ioctls, libc
from lib.child import Child
from lib.compare import attempt, status_of, tree, xattrs_of
from lib.idmap import IdmappedMount, UserNamespace
from lib.ioctls import FsXattr

FIRST = 100_000  # outside, of what is 0 inside


@pytest.fixture
def mapped(base):
    """mapped(d): d once more, where the ids on disk from 0 on are FIRST on."""
    count = itertools.count()

    @contextlib.contextmanager
    def mount(d):
        with UserNamespace(FIRST) as namespace:
            with IdmappedMount(d, f"{base}/idmapped-{next(count)}", namespace) as path:
                yield path

    return mount


def make_all(_, d, tag):
    """One of each kind, and what becomes of them."""
    answers = []

    def say(function, *args, **kwargs):
        answers.append(attempt(function, *args, **kwargs))

    def create(name, flags=os.O_CREAT | os.O_RDWR):
        fd = os.open(f"{d}/{name}", flags, 0o664)
        os.write(fd, b"content")
        os.close(fd)

    say(create, f"{tag}-file")
    say(os.mkdir, f"{d}/{tag}-dir")
    say(os.symlink, "target", f"{d}/{tag}-link")
    say(os.mkfifo, f"{d}/{tag}-fifo")
    say(os.mknod, f"{d}/{tag}-node", 0o100640)
    say(os.link, f"{d}/{tag}-file", f"{d}/{tag}-hard")
    say(tmpfile, d, tag)
    say(os.rename, f"{d}/{tag}-hard", f"{d}/{tag}-moved")
    say(os.chmod, f"{d}/{tag}-file", 0o6755)
    say(os.chown, f"{d}/{tag}-file", os.getuid() + 1, -1)
    say(os.truncate, f"{d}/{tag}-file", 3)
    say(os.utime, f"{d}/{tag}-file", (1, 1))
    say(os.setxattr, f"{d}/{tag}-file", "user.a", b"b")
    say(os.setxattr, f"{d}/{tag}-dir", acl.DEFAULT, acl.for_user(os.getuid() + 5))
    say(os.setxattr, f"{d}/{tag}-file", acl.ACCESS, acl.for_user(os.getuid() + 5))
    say(os.getxattr, f"{d}/{tag}-file", acl.ACCESS)
    say(create, f"{tag}-dir/inherits")
    say(os.unlink, f"{d}/{tag}-node")
    say(os.mkdir, f"{d}/{tag}-gone")
    say(os.rmdir, f"{d}/{tag}-gone")
    say(os.unlink, f"{d}/other")
    say(os.rename, f"{d}/other", f"{d}/{tag}-other")
    say(os.listdir, f"{d}/closed")
    say(lambda: os.close(os.open(f"{d}/closed/secret", os.O_RDONLY)))
    return answers


def tmpfile(d, tag):
    fd = os.open(d, os.O_TMPFILE | os.O_RDWR, 0o644)
    os.write(fd, b"content")
    libc.linkat_fd(fd, f"{d}/{tag}-tmpfile")
    os.close(fd)


def prepare(d):
    os.chmod(d, 0o1777)
    with open(f"{d}/other", "w") as f:
        f.write("root's")
    os.mkdir(f"{d}/closed", 0o700)
    with open(f"{d}/closed/secret", "w") as f:
        f.write("secret")


CALLERS = [(0, 0), (FIRST, FIRST), (FIRST + 1000, FIRST + 1000), (1000, 1000), (FIRST + 70000, 5)]


@pytest.mark.quick
@pytest.mark.parametrize("uid, gid", CALLERS)
def test_make_through_idmapped_mount(same, mapped, uid, gid):
    """The owner on disk is the caller's mapped id; who has none makes nothing."""

    def scenario(d):
        prepare(d)
        with mapped(d) as path:
            os.chmod(path, 0o777)
            with Child(uid=uid, gid=gid) as child:
                answers = child.call(make_all, path, "made")
            seen = tree(path)
        return answers, seen, tree(d)

    answers, _, below = same(scenario)
    if (uid, gid) == (FIRST + 1000, FIRST + 1000):
        assert below["made-dir"][0]["uid"] == below["made-tmpfile"][0]["uid"] == 1000
        assert below["made-moved"][0]["gid"] == 1000
    if uid in (0, 1000):
        assert answers[0] == "EOVERFLOW"


def test_rights_through_idmapped_mount(same, mapped):
    """Each mode for owner, group and others, with and without the sticky bit."""

    def scenario(d):
        answers = {}
        for mode, sticky in itertools.product((0o000, 0o070, 0o700, 0o750, 0o770), (0, 0o1000)):
            top = f"{d}/{mode:o}-{sticky:o}"
            os.mkdir(top)
            with open(f"{top}/f", "w") as f:
                f.write("content")
            os.chown(f"{top}/f", 1000, 2000)
            os.chmod(f"{top}/f", mode & 0o660)
            os.chown(top, 1000, 2000)
            os.chmod(top, mode | sticky)
        with mapped(d) as path:
            for uid, gid in ((FIRST + 1000, 5), (5, FIRST + 2000), (1000, 2000), (FIRST, FIRST)):
                with Child(uid=uid, gid=gid) as child:
                    for name in sorted(os.listdir(d)):
                        answers[uid, gid, name] = child.call(use, f"{path}/{name}")
        return answers, tree(d)

    answers, _ = same(scenario)
    assert answers[FIRST + 1000, 5, "700-0"][0] == ["f"]
    assert answers[1000, 2000, "700-0"][0] == "EACCES"


def use(_, d):
    answers = [attempt(os.listdir, d)]
    for flags in (os.O_RDONLY, os.O_WRONLY):
        fd = attempt(os.open, f"{d}/f", flags)
        answers.append(fd if isinstance(fd, str) else os.close(fd))
    answers += [
        attempt(os.access, f"{d}/f", os.R_OK | os.W_OK),
        attempt(os.chmod, f"{d}/f", 0o640),
        attempt(os.link, f"{d}/f", f"{d}/g"),
        attempt(os.rename, f"{d}/f", f"{d}/h"),
        attempt(os.unlink, f"{d}/g"),
        attempt(os.rename, f"{d}/h", f"{d}/f"),
    ]
    return answers


def test_setgid_and_suid_through_idmapped_mount(same, mapped):
    def scenario(d):
        os.chown(d, 0, 2000)
        os.chmod(d, 0o2777)
        with mapped(d) as path:
            for groups in ((), (FIRST + 2000,)):
                with Child(uid=FIRST + 1000, gid=FIRST + 1000, groups=groups) as child:
                    child.call(suid_files, path, len(groups))
        return tree(d)

    found = same(scenario)
    assert found["0-dir"][0]["gid"] == 2000


def suid_files(_, d, tag):
    os.umask(0)
    os.mkdir(f"{d}/{tag}-dir")
    for mode in (0o6777, 0o2767, 0o2707):
        fd = os.open(f"{d}/{tag}-{mode:o}", os.O_CREAT | os.O_RDWR, mode)
        os.close(fd)
        fd = os.open(d, os.O_TMPFILE | os.O_RDWR, mode)
        libc.linkat_fd(fd, f"{d}/{tag}-{mode:o}-tmpfile")
        os.close(fd)


def test_flags_and_project_through_idmapped_mount(same, mapped):
    def scenario(d):
        fd = os.open(f"{d}/f", os.O_CREAT | os.O_RDWR)
        os.fchown(fd, 1000, 1000)
        os.close(fd)
        answers = []
        with mapped(d) as path:
            for uid in (FIRST + 1000, 1000, FIRST):
                with Child(uid=uid, gid=uid) as child:
                    answers.append(child.call(change_attributes, f"{path}/f"))
        return answers

    answers = same(scenario)
    assert answers[0][0] is None and answers[1][0] == "EPERM"


def change_attributes(_, path):
    fd = os.open(path, os.O_RDONLY)
    try:
        attr = FsXattr.of(fd)
        attr.projid += 7
        return [
            attempt(ioctls.setflags, fd, ioctls.FS_NODUMP_FL),
            attempt(attr.apply, fd),
            ioctls.getflags(fd),
            FsXattr.of(fd).projid,
        ]
    finally:
        os.close(fd)


def test_streams_through_idmapped_mount(apart, mapped):
    """SET goes by the mapped owner."""
    fd = apart.open("f")
    os.fchown(fd, 1000, 1000)
    os.chmod(apart.path, 0o777)
    stream = apart.alloc()
    with mapped(apart.path) as path:
        for uid, want in ((FIRST + 1000, None), (1000, "EPERM")):
            os.chmod(apart.at("f"), 0o666)
            pid = os.fork()
            if pid == 0:
                os.setresuid(uid, uid, uid)
                inner = os.open(f"{path}/f", os.O_RDWR)
                os._exit(attempt(ioctls.set_stream, inner, stream.fd) != want)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, uid
    assert os.fstat(fd).st_uid == 1000


CAPS = struct.pack("=5I", 0x02000001, 1 << 10, 0, 0, 0)  # v2: net_bind_service
CAPS_V3 = struct.pack("=6I", 0x03000001, 1 << 10, 0, 0, 0, FIRST)
NAME = "security.capability"


def test_file_capabilities(same):
    """Of the first two versions; what takes them away."""

    def scenario(d):
        answers = []
        for number, value in enumerate((CAPS, CAPS_V3, b"short", CAPS + b"long")):
            path = f"{d}/{number}"
            with open(path, "w") as f:
                f.write("content")
            answers.append(attempt(os.setxattr, path, NAME, value))
            answers.append(xattrs_of(path))
            for change in (
                lambda p=path: os.chmod(p, 0o755),
                lambda p=path: write(None, p),
                lambda p=path: os.setxattr(p, NAME, CAPS),
                lambda p=path: os.chown(p, 5, 5),
            ):
                answers.append(attempt(change))
                answers.append(xattrs_of(path))
        return answers

    assert {NAME: CAPS} in same(scenario)


def write(_, path):
    with open(path, "r+") as f:
        f.write("x")


def caps_inside(kept, first, path):
    """As root of a user namespace."""
    with UserNamespace(first) as namespace:
        namespace.enter()
        return [
            attempt(os.getxattr, path, NAME),
            attempt(os.setxattr, path, NAME, CAPS),
            attempt(os.getxattr, path, NAME),
            attempt(os.listxattr, path),
            attempt(os.removexattr, path, NAME),
            attempt(os.setxattr, path, NAME, CAPS),
        ]


def forked(function, *args):
    """For what cannot be undone in a process."""
    with Child() as child:
        return child.call(function, *args)


@pytest.mark.parametrize("before", [None, CAPS, CAPS_V3], ids=["none", "v2", "v3"])
def test_file_capabilities_in_a_user_namespace(same, before):
    """Set and read inside, read outside."""

    def scenario(d):
        os.chmod(d, 0o755)
        path = f"{d}/f"
        with open(path, "w") as f:
            f.write("content")
        os.chown(path, FIRST, FIRST)
        if before:
            os.setxattr(path, NAME, before)
        inside = forked(caps_inside, FIRST, path)
        return inside, xattrs_of(path)

    inside, outside = same(scenario)
    assert outside[NAME] == CAPS_V3
    assert inside[1] is None and inside[2] == CAPS


def test_capabilities_count_when_run(same):
    def scenario(d):
        os.chmod(d, 0o755)
        shutil.copy("/usr/sbin/getpcaps", f"{d}/getpcaps")
        os.chmod(f"{d}/getpcaps", 0o755)
        answers = []
        for value in (None, CAPS, CAPS_V3):
            if value:
                os.setxattr(f"{d}/getpcaps", NAME, value)
            answers.append(forked(run_as_user, f"{d}/getpcaps"))
        return answers

    same(scenario)


def run_as_user(_, program):
    os.setresgid(1000, 1000, 1000)
    os.setresuid(1000, 1000, 1000)
    done = subprocess.run(
        ["sh", "-c", f"exec {program} $$"], capture_output=True, text=True, check=False
    )
    return done.stdout.partition(":")[2]


def everything_inside(_, first, d):
    with UserNamespace(first) as namespace:
        namespace.enter()
        return make_all(None, d, "inside")


def test_in_a_user_namespace(same):
    def scenario(d):
        prepare(d)
        os.chown(d, FIRST, FIRST)
        answers = forked(everything_inside, FIRST, d)
        return answers, tree(d)

    _, found = same(scenario)
    assert found["inside-dir"][0]["uid"] == FIRST


def test_idmapped_mount_in_its_user_namespace(same, mapped):
    """A container: ids inside are those on disk."""

    def scenario(d):
        prepare(d)
        with mapped(d) as path:
            answers = forked(everything_inside, FIRST, path)
        return answers, tree(d)

    _, found = same(scenario)
    assert found["inside-dir"][0]["uid"] == 0


def test_labels(same):
    """Labels of security modules that are not there: xattrs like others."""

    def scenario(d):
        with open(f"{d}/f", "w") as f:
            f.write("content")
        os.mkdir(f"{d}/d")
        os.symlink("f", f"{d}/l")
        answers = []
        for path in (f"{d}/f", f"{d}/d", f"{d}/l"):
            for name in ("security.selinux", "security.SMACK64", "security.ima", "security.evm"):
                for value in (b"system_u:object_r:file_t:s0\0", b"x" * 300):
                    answers.append(attempt(os.setxattr, path, name, value, follow_symlinks=False))
            answers.append(xattrs_of(path))
            with Child(uid=1000, gid=1000) as child:
                answers.append(child.call(label_as_user, path))
        return answers

    same(scenario)


def label_as_user(_, path):
    return [
        attempt(os.getxattr, path, "security.selinux", follow_symlinks=False),
        attempt(os.setxattr, path, "security.selinux", b"x", follow_symlinks=False),
        attempt(os.removexattr, path, "security.selinux", follow_symlinks=False),
    ]


def test_handles_through_idmapped_mount(same, mapped):
    def scenario(d):
        with open(f"{d}/f", "w") as f:
            f.write("content")
        handle = handles.of(f"{d}/f")
        with mapped(d) as path:
            fd = attempt(handles.open_handle, path, handle)
            answer = status_of(fd) if isinstance(fd, int) else fd
            if isinstance(fd, int):
                os.close(fd)
        return answer

    assert same(scenario)["uid"] == FIRST
