# SPDX-License-Identifier: GPL-2.0
"""Answers that can be compared between two filesystems."""

import errno
import os
import stat

_NAMES = {**errno.errorcode, errno.EOPNOTSUPP: "EOPNOTSUPP", errno.EAGAIN: "EAGAIN"}


def attempt(function, *args, **kwargs):
    """What @function returns, or the name of the errno it fails with."""
    try:
        return function(*args, **kwargs)
    except OSError as error:
        return _NAMES.get(error.errno, error.errno)


def status_of(path_or_fd, follow=False):
    """The part of stat(2) that does not depend on inode numbers and time."""
    if isinstance(path_or_fd, int):
        got = os.fstat(path_or_fd)
    else:
        got = os.stat(path_or_fd, follow_symlinks=follow)
    return {
        "mode": oct(got.st_mode),
        "nlink": got.st_nlink,
        "uid": got.st_uid,
        "gid": got.st_gid,
        "size": got.st_size if stat.S_ISREG(got.st_mode) else 0,
        "rdev": got.st_rdev,
        "blksize": got.st_blksize,
    }


def xattrs_of(path, follow=False):
    names = sorted(os.listxattr(path, follow_symlinks=follow))
    return {name: os.getxattr(path, name, follow_symlinks=follow) for name in names}


def tree(top):
    """Every name below @top with what it is and holds."""
    found = {}
    for directory, names, files in os.walk(top):
        for name in names + files:
            path = os.path.join(directory, name)
            about = [status_of(path), xattrs_of(path)]
            if os.path.islink(path):
                about.append(os.readlink(path))
            elif os.path.isfile(path):
                with open(path, "rb") as f:
                    about.append(f.read())
            found[os.path.relpath(path, top)] = about
    return found


def differences(got, want, at="answer"):
    """Words about each place where two nested answers differ."""
    if type(got) is type(want):
        if isinstance(got, dict) and got.keys() == want.keys():
            return [line for key in want
                    for line in differences(got[key], want[key], f"{at}[{key!r}]")]  # fmt: skip
        if isinstance(got, (list, tuple)) and len(got) == len(want):
            return [line for i, pair in enumerate(zip(got, want))
                    for line in differences(*pair, f"{at}[{i}]")]  # fmt: skip
    return [] if got == want else [f"{at}: {got!r}, plain XFS: {want!r}"]
