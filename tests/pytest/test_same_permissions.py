# SPDX-License-Identifier: GPL-2.0
"""Who may do what: the caller's own rights hold, as on plain XFS."""

import itertools
import os

import pytest

from lib import acl
from lib.child import Child
from lib.compare import attempt, tree

USER, GROUP, OTHER_GROUP = 1000, 1000, 2000


def _try_everything(_, d):
    """Run as a user who owns nothing but what says so."""
    answers = {}
    for name in sorted(os.listdir(d)):
        path = f"{d}/{name}"
        answers[name] = [
            attempt(lambda: os.close(os.open(path, os.O_RDONLY))),
            attempt(lambda: os.close(os.open(path, os.O_WRONLY))),
            attempt(lambda: os.close(os.open(path, os.O_RDWR | os.O_TRUNC))),
            attempt(os.access, path, os.R_OK),
            attempt(os.access, path, os.W_OK),
            attempt(os.access, path, os.X_OK),
            attempt(os.chmod, path, 0o6777),
            attempt(os.chown, path, USER, OTHER_GROUP),
            attempt(os.chown, path, 0, 0),
            attempt(os.utime, path),
            attempt(os.utime, path, (1, 1)),
            attempt(os.truncate, path, 5),
            attempt(os.setxattr, path, "user.x", b"y"),
            attempt(os.getxattr, path, "user.x"),
            attempt(os.setxattr, path, "trusted.x", b"y"),
            attempt(os.listxattr, path),
            attempt(os.link, path, path + "-link"),
            attempt(os.rename, path, path + "-moved"),
            attempt(os.mkdir, path + "/new"),
            attempt(os.listdir, path),
        ]
    return answers


@pytest.mark.quick
@pytest.mark.parametrize("directory_mode", [0o755, 0o777, 0o1777, 0o711], ids=oct)
def test_as_a_user(same, directory_mode):
    def scenario(d):
        modes = (0o000, 0o400, 0o600, 0o640, 0o664, 0o666, 0o755, 0o4755)
        owners = ((0, 0), (USER, 0), (0, GROUP))
        for mode, (uid, gid) in itertools.product(modes, owners):
            for kind in ("f", "d"):
                path = f"{d}/{kind}-{mode:o}-{uid}-{gid}"
                if kind == "f":
                    with open(path, "w") as f:
                        f.write("some content")
                else:
                    os.mkdir(path)
                os.chown(path, uid, gid)
                os.chmod(path, mode)
        os.chmod(d, directory_mode)
        with Child(uid=USER, gid=GROUP) as child:
            answers = attempt(child.call, _try_everything, d)
        return answers, tree(d)

    same(scenario)


def _make_things(_, d):
    os.umask(0)
    return [
        attempt(os.mkdir, f"{d}/dir", 0o777),
        attempt(lambda: os.close(os.open(f"{d}/file", os.O_CREAT | os.O_RDWR, 0o2777))),
        attempt(os.symlink, "x", f"{d}/link"),
        attempt(os.mkfifo, f"{d}/fifo", 0o666),
        attempt(os.mknod, f"{d}/null", 0o020666, os.makedev(1, 3)),
        attempt(lambda: os.close(os.open(d, os.O_TMPFILE | os.O_RDWR, 0o666))),
    ]


@pytest.mark.parametrize("mode, gid", [(0o777, 0), (0o2777, OTHER_GROUP), (0o755, 0)])
def test_owner_of_what_is_made(same, mode, gid):
    def scenario(d):
        os.chown(d, 0, gid)
        os.chmod(d, mode)
        with Child(uid=USER, gid=GROUP, groups=(GROUP,)) as child:
            answers = child.call(_make_things, d)
        return answers, tree(d)

    answers, found = same(scenario)
    assert answers[0] == (None if mode != 0o755 else "EACCES")
    assert all(entry[0]["uid"] == USER for entry in found.values())


def _remove(_, d):
    return [attempt(os.unlink, f"{d}/{name}") for name in sorted(os.listdir(d))]


def test_sticky_directory(same):
    def scenario(d):
        for name, uid in (("mine", USER), ("roots", 0), ("others", USER + 1)):
            os.close(os.open(f"{d}/{name}", os.O_CREAT | os.O_RDWR, 0o666))
            os.chown(f"{d}/{name}", uid, 0)
        os.chmod(d, 0o1777)
        with Child(uid=USER, gid=GROUP) as child:
            return child.call(_remove, d), tree(d)

    answers, found = same(scenario)
    assert sorted(found) == ["others", "roots"]


def _open_each(_, d):
    return {
        name: [
            attempt(lambda: os.close(os.open(f"{d}/{name}", flags)))
            for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR)
        ]
        for name in sorted(os.listdir(d))
    }


def test_acl_grants(same):
    """What the mode denies, an ACL may grant, and the other way round."""

    def scenario(d):
        for permissions in range(8):
            path = f"{d}/{permissions}"
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            os.setxattr(path, acl.ACCESS, acl.for_user(USER, permissions))
        with Child(uid=USER, gid=GROUP) as child:
            return child.call(_open_each, d)

    answers = same(scenario)
    assert answers["6"] == [None, None, None]
    assert answers["0"] == ["EACCES"] * 3


def test_search_permission(same):
    def scenario(d):
        os.makedirs(f"{d}/closed/open")
        os.close(os.open(f"{d}/closed/open/f", os.O_CREAT | os.O_RDWR, 0o666))
        answers = []
        for mode in (0o700, 0o711, 0o744, 0o755):
            os.chmod(f"{d}/closed", mode)
            with Child(uid=USER, gid=GROUP) as child:
                answers.append(attempt(child.call, _look, f"{d}/closed"))
        return answers

    same(scenario)


def _look(_, d):
    return attempt(os.listdir, d), attempt(lambda: os.stat(f"{d}/open/f").st_size)
