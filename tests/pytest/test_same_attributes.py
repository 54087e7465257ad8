# SPDX-License-Identifier: GPL-2.0
"""Modes, owners, times, xattrs, ACLs, file flags, as on plain XFS."""

import itertools
import os

import pytest

from lib import acl, ioctls, libc
from lib.child import Child
from lib.compare import attempt, status_of, tree, xattrs_of
from lib.ioctls import FsXattr


def touch(path, data=b""):
    fd = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
    os.write(fd, data)
    os.close(fd)
    return path


@pytest.mark.quick
def test_chmod_chown(same):
    def scenario(d):
        answers = []
        f = touch(f"{d}/f")
        os.mkdir(f"{d}/d")
        os.symlink("f", f"{d}/l")
        for mode in (0, 0o777, 0o7777, 0o4711, 0o2755, 0o1644):
            for path in (f, f"{d}/d"):
                os.chmod(path, mode)
                answers.append(status_of(path))
                os.chown(path, 1000, 1001)  # takes suid away from files
                answers.append(status_of(path))
                os.chown(path, -1, 0)
                answers.append(status_of(path))
        os.lchown(f"{d}/l", 5, 6)
        answers.append(status_of(f"{d}/l"))
        return answers

    same(scenario)


def test_write_takes_suid_away(same):
    """A write by somebody who is not capable."""
    def scenario(d):
        os.chmod(d, 0o777)
        answers = []
        for mode in (0o6777, 0o4777, 0o2777, 0o2767, 0o1777):
            f = touch(f"{d}/{mode:o}", b"content")
            for function in (_write, _truncate):
                os.chown(f, 0, 0)
                os.chmod(f, mode)
                with Child(uid=1000, gid=1000) as child:
                    child.call(function, f)
                answers.append(status_of(f))
        return answers

    answers = same(scenario)
    assert answers[0]["mode"] == oct(0o100777)


def _write(_, path):
    fd = os.open(path, os.O_WRONLY)
    os.write(fd, b"x")
    os.close(fd)


def _truncate(_, path):
    os.truncate(path, 3)


def test_times(same):
    def scenario(d):
        f = touch(f"{d}/f")
        answers = []
        for pair in ((0, 0), (1, 2**31), (10**9, 2**32 + 5), (-5, -7), (2**40, 2**62)):
            answers.append(attempt(os.utime, f, pair))
            got = os.stat(f)
            answers.append((got.st_atime_ns, got.st_mtime_ns))
        os.utime(f, ns=(123456789, 987654321))
        got = os.stat(f)
        return answers, got.st_atime_ns, got.st_mtime_ns

    same(scenario)


def test_what_changes_which_time(same):
    """mtime and ctime move with the operations that XFS moves them with."""

    def scenario(d):
        f = touch(f"{d}/f", b"content")
        fd = os.open(f, os.O_RDWR)
        operations = {
            "write": lambda: os.write(fd, b"x"),
            "nothing": lambda: os.write(fd, b""),
            "truncate": lambda: os.ftruncate(fd, 3),
            "same size": lambda: os.ftruncate(fd, 3),
            "fallocate": lambda: libc.fallocate(fd, 0, 0, 8192),
            "punch": lambda: libc.fallocate(fd, 3, 0, 4096),
            "chmod": lambda: os.fchmod(fd, 0o600),
            "setxattr": lambda: os.setxattr(fd, "user.a", b"b"),
            "link": lambda: os.link(f, f"{d}/g"),
            "unlink": lambda: os.unlink(f"{d}/g"),
            "read": lambda: os.pread(fd, 1, 0),
            "open O_TRUNC": lambda: os.close(os.open(f, os.O_RDWR | os.O_TRUNC)),
            "fsync": lambda: os.fsync(fd),
        }
        answers = {}
        try:
            for name, operation in operations.items():
                os.utime(fd, (1, 1))
                before = os.fstat(fd)
                _next_tick(d, before.st_ctime_ns)
                operation()
                after = os.fstat(fd)
                answers[name] = (
                    after.st_mtime_ns != before.st_mtime_ns,
                    after.st_ctime_ns != before.st_ctime_ns,
                )
                assert os.stat(f) == after
        finally:
            os.close(fd)
        return answers

    answers = same(scenario)
    assert answers["write"] == (True, True)
    assert answers["chmod"] == (False, True)
    assert answers["read"] == (False, False)


def _next_tick(d, after):
    """Wait until the filesystem's clock has passed @after."""
    probe = f"{d}/probe"
    while os.stat(touch(probe)).st_ctime_ns <= after:
        os.unlink(probe)
    os.unlink(probe)


def test_atime(same):
    """relatime, noatime by flag, O_NOATIME."""

    def scenario(d):
        answers = []
        for flags, attribute in itertools.product(
            (0, os.O_NOATIME), (0, ioctls.FS_NOATIME_FL)
        ):
            f = touch(f"{d}/{flags}-{attribute}", b"content")
            fd = os.open(f, os.O_RDONLY | flags)
            try:
                if attribute:
                    ioctls.setflags(fd, attribute)
                os.utime(f, (1, 1))
                os.pread(fd, 4, 0)
                answers.append(os.stat(f).st_atime == 1)
            finally:
                os.close(fd)
        os.utime(d, (1, 1))
        os.listdir(d)
        answers.append(os.stat(d).st_atime == 1)
        return answers

    assert same(scenario) == [False, True, True, True, False]


NAMES = ["user.a", "user.b" * 36, "trusted.t", "security.s", "system.s", "other.o", "user."]
VALUES = [b"", b"v", b"v" * 3000, b"v" * 65536, b"v" * 65537]


def test_xattr_sizes_and_namespaces(same):
    def scenario(d):
        answers = []
        os.mkdir(f"{d}/d")
        os.symlink("f", f"{d}/l")
        os.mkfifo(f"{d}/p")
        for path in (touch(f"{d}/f"), f"{d}/d", f"{d}/l", f"{d}/p"):
            for name, value in itertools.product(NAMES, VALUES):
                answers.append(
                    attempt(os.setxattr, path, name, value, follow_symlinks=False)
                )
            answers.append(xattrs_of(path))
        return answers

    answers = same(scenario)
    assert None in answers and "EOPNOTSUPP" in answers and "E2BIG" in answers


def test_xattr_create_replace_remove(same):
    def scenario(d):
        f = touch(f"{d}/f")
        return [
            attempt(os.setxattr, f, "user.a", b"1", os.XATTR_REPLACE),
            attempt(os.setxattr, f, "user.a", b"2", os.XATTR_CREATE),
            attempt(os.setxattr, f, "user.a", b"3", os.XATTR_CREATE),
            attempt(os.setxattr, f, "user.a", b"4", os.XATTR_REPLACE),
            attempt(os.getxattr, f, "user.a"),
            attempt(os.getxattr, f, "user.none"),
            attempt(os.removexattr, f, "user.a"),
            attempt(os.removexattr, f, "user.a"),
            attempt(os.listxattr, f),
        ]

    assert same(scenario) == [
        "ENODATA", None, "EEXIST", None, b"4", "ENODATA", None, "ENODATA", [],
    ]  # fmt: skip


def test_xattr_by_fd(same):
    def scenario(d):
        fd = os.open(f"{d}/f", os.O_CREAT | os.O_RDWR)
        try:
            os.setxattr(fd, "user.by-fd", b"value")
            os.unlink(f"{d}/f")
            os.setxattr(fd, "user.unlinked", b"value")
            return sorted(os.listxattr(fd)), os.getxattr(fd, "user.by-fd")
        finally:
            os.close(fd)

    assert same(scenario) == (["user.by-fd", "user.unlinked"], b"value")


def test_acl_inheritance(same):
    """Everything made below a directory with a default ACL."""

    def scenario(d):
        os.setxattr(d, acl.DEFAULT, acl.for_user(1000))
        for mask in (0, 0o027, 0o777):
            old = os.umask(mask)
            try:
                inner = f"{d}/{mask:o}"
                os.mkdir(inner, 0o777)
                os.close(os.open(f"{inner}/file", os.O_CREAT | os.O_RDWR, 0o666))
                os.close(os.open(f"{inner}/exec", os.O_CREAT | os.O_RDWR, 0o777))
                os.mkfifo(f"{inner}/fifo", 0o666)
                os.mknod(f"{inner}/node", 0o100600)
                os.symlink("x", f"{inner}/link")
                fd = os.open(inner, os.O_TMPFILE | os.O_RDWR, 0o666)
                libc.linkat_fd(fd, f"{inner}/tmpfile")
                os.close(fd)
            finally:
                os.umask(old)
        return tree(d)

    found = same(scenario)
    assert acl.ACCESS in found["0/file"][1]
    assert acl.DEFAULT in found["0"][1]
    assert acl.DEFAULT not in found["0/file"][1]


def test_acl_and_mode(same):
    """chmod changes the mask, setting an ACL changes the mode."""

    def scenario(d):
        f = touch(f"{d}/f")
        answers = [attempt(os.setxattr, f, acl.DEFAULT, acl.for_user(1))]
        os.setxattr(f, acl.ACCESS, acl.for_user(1000, 7))
        answers.append((status_of(f), xattrs_of(f)))
        os.chmod(f, 0o700)
        answers.append((status_of(f), xattrs_of(f)))
        minimal = acl.acl((acl.USER_OBJ, 6), (acl.GROUP_OBJ, 2), (acl.OTHER, 1))
        os.setxattr(f, acl.ACCESS, minimal)
        answers.append((status_of(f), xattrs_of(f)))
        answers.append(attempt(os.setxattr, f, acl.ACCESS, b"\2\0\0\0broken"))
        answers.append(attempt(os.setxattr, f, acl.ACCESS, b""))
        answers.append(attempt(os.removexattr, f, acl.ACCESS))
        return answers

    answers = same(scenario)
    assert answers[0] == "EACCES"


def test_setgid_inheritance(same):
    def scenario(d):
        os.chown(d, 0, 1234)
        os.chmod(d, 0o2777)
        touch(f"{d}/file")
        os.mkdir(f"{d}/dir")
        os.symlink("x", f"{d}/link")
        os.mkfifo(f"{d}/fifo")
        return tree(d)

    found = same(scenario)
    assert {entry[0]["gid"] for entry in found.values()} == {1234}
    assert found["dir"][0]["mode"] == oct(0o42755)


def test_flags(same):
    """Each flag of lsattr: what can be set, and what it forbids."""

    def scenario(d):
        answers = {}
        os.mkdir(f"{d}/dir")
        for bit in range(24):
            for name in ("file", "dir"):
                path = touch(f"{d}/{bit}") if name == "file" else f"{d}/dir"
                fd = os.open(path, os.O_RDONLY)
                try:
                    answers[name, bit] = [
                        attempt(ioctls.setflags, fd, 1 << bit),
                        ioctls.getflags(fd),
                        attempt(os.utime, path, (1, 1)),
                        attempt(os.chmod, path, 0o755),
                        attempt(os.setxattr, path, "user.a", b"b"),
                        attempt(os.rename, path, path + "-renamed"),
                        attempt(os.link, path, path + "-linked"),
                        libc.statx(f"/proc/self/fd/{fd}", flags=0)["attributes"],
                    ]
                    ioctls.setflags(fd, 0)
                finally:
                    os.close(fd)
                if os.path.exists(path + "-renamed"):
                    os.rename(path + "-renamed", path)
        return answers

    answers = same(scenario)
    assert "EPERM" in answers["file", 4]  # immutable


def test_file_attr_by_path(same):
    """file_getattr(2) and file_setattr(2), which need no open file: of each kind."""

    def scenario(d):
        answers = {}
        touch(f"{d}/file")
        os.mkdir(f"{d}/dir")
        os.symlink("file", f"{d}/link")
        os.mkfifo(f"{d}/fifo")
        os.mknod(f"{d}/null", 0o20644, os.makedev(1, 3))
        for name in ("file", "dir", "link", "fifo", "null", "none"):
            path = f"{d}/{name}"
            before = attempt(libc.file_getattr, path)
            answers[name] = found = [before]
            for project, xflags in ((77, 0), (0, 0x10), (5, 0x80)):
                attr = (xflags, 0, 0, project, 0)
                found.append(attempt(libc.file_setattr, path, attr))
                found.append(attempt(libc.file_getattr, path))
            attempt(libc.file_setattr, path, (0, 0, 0, 0, 0))
            found.append(attempt(libc.file_setattr, path, (1 << 40, 0, 0, 0, 0)))
        answers["followed"] = attempt(libc.file_getattr, f"{d}/link", 0)
        return answers

    answers = same(scenario)
    if answers["file"][0] == "ENOSYS":
        pytest.skip("a kernel without file_getattr(2)")
    assert answers["file"][2][3] == 77
    assert answers["none"][0] == "ENOENT"


def test_append_only_and_immutable_data(same):
    def scenario(d):
        answers = []
        for flag in (ioctls.FS_APPEND_FL, ioctls.FS_IMMUTABLE_FL):
            f = touch(f"{d}/{flag}", b"content")
            fd = os.open(f, os.O_RDWR)
            ioctls.setflags(fd, flag)
            answers += [
                attempt(os.open, f, os.O_RDWR),
                attempt(os.open, f, os.O_RDWR | os.O_TRUNC),
                attempt(lambda f=f: os.close(os.open(f, os.O_WRONLY | os.O_APPEND))),
                attempt(os.truncate, f, 0),
                attempt(os.write, fd, b"x"),
                attempt(libc.fallocate, fd, 3, 0, 4096),
                attempt(libc.fallocate, fd, 0, 0, 8192),
                attempt(os.unlink, f),
            ]
            ioctls.setflags(fd, 0)
            os.close(fd)
        return answers

    assert "EPERM" in same(scenario)


def test_project_and_hints(same):
    def scenario(d):
        answers = []
        os.mkdir(f"{d}/dir")
        for path in (touch(f"{d}/f"), f"{d}/dir"):
            fd = os.open(path, os.O_RDONLY)
            try:
                for change in (
                    {"projid": 77},
                    {"extsize": 65536, "xflags": ioctls.XFLAG_EXTSIZE},
                    {"extsize": 65536, "xflags": ioctls.XFLAG_EXTSZINHERIT},
                    {"extsize": 5, "xflags": ioctls.XFLAG_EXTSIZE},
                    {"cowextsize": 65536, "xflags": ioctls.XFLAG_COWEXTSIZE},
                    {"xflags": ioctls.XFLAG_PROJINHERIT},
                    {"xflags": 1 << 29},
                ):
                    attr = FsXattr.of(fd)
                    for name, value in change.items():
                        setattr(attr, name, value)
                    answers.append(attempt(attr.apply, fd))
                    answers.append(FsXattr.of(fd))
            finally:
                os.close(fd)
        return answers

    assert None in same(scenario)


def test_project_inheritance(same):
    """Hints and project of a directory come to what is made in it; nothing
    may be linked or moved in from another project."""

    def scenario(d):
        os.mkdir(f"{d}/dir")
        fd = os.open(f"{d}/dir", os.O_RDONLY)
        attr = FsXattr.of(fd)
        attr.projid, attr.extsize = 9, 65536
        attr.xflags |= ioctls.XFLAG_PROJINHERIT | ioctls.XFLAG_EXTSZINHERIT
        attr.apply(fd)
        os.close(fd)
        answers = []
        os.mkdir(f"{d}/dir/sub")
        for path in (touch(f"{d}/dir/f"), f"{d}/dir/sub"):
            fd = os.open(path, os.O_RDONLY)
            answers.append(FsXattr.of(fd))
            os.close(fd)
        touch(f"{d}/outside")
        answers.append(attempt(os.link, f"{d}/outside", f"{d}/dir/linked"))
        answers.append(attempt(os.rename, f"{d}/outside", f"{d}/dir/moved"))
        return answers

    assert "EXDEV" in same(scenario)


def test_statx(same):
    """The fields that os.stat does not show."""

    def scenario(d):
        answers = []
        os.mkdir(f"{d}/dir")
        os.symlink("f", f"{d}/l")
        for path in (touch(f"{d}/f", b"content"), f"{d}/dir", f"{d}/l"):
            got = libc.statx(path)
            born = got.pop("btime")
            got["born"] = born[0] > 0
            answers.append(got)
        return answers

    same(scenario)


def test_birth_time_stays(same):
    def scenario(d):
        f = touch(f"{d}/f")
        born = libc.statx(f)["btime"]
        os.utime(f, (1, 1))
        os.chmod(f, 0o600)
        os.rename(f, f"{d}/g")
        return libc.statx(f"{d}/g")["btime"] == born

    assert same(scenario)
