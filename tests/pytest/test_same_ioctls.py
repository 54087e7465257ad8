# SPDX-License-Identifier: GPL-2.0
"""Every ioctl of XFS: those that pass answer as on plain XFS, the others not at
all. docs/ioctls.md says which and why; each of its rows is tested here."""

import ctypes
import fcntl
import os
import re
import struct

import pytest

from lib.compare import attempt
from lib.ioctls import _ior, _iow, _iowr, FsXattr, clone, setflags
from lib.libc import _check, _libc, fallocate
from lib.shell import Failed, run, status
from lib.wsfs import PRIVATE

DOC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/ioctls.md")
BIG = 4096

# name: (command, argument). A buffer of zeros of that size where none is given.
PASS = {
    "XFS_IOC_DIOINFO": (_ior("X", 30, 12), None),
    "XFS_IOC_GETBMAP": (_iowr("X", 38, 32), struct.pack("=qqqii", 0, -1, 0, 8, 0)),
    "XFS_IOC_GETBMAPA": (_iowr("X", 44, 32), struct.pack("=qqqii", 0, -1, 0, 8, 0)),
    "XFS_IOC_FSGETXATTRA": (_ior("X", 45, 28), None),
    "XFS_IOC_GETBMAPX": (_iowr("X", 56, 32), struct.pack("=qqqiiii", 0, -1, 0, 8, 0, 0, 0)),
    "XFS_IOC_FREE_EOFBLOCKS": (_ior("X", 58, 128), struct.pack("=I", 1).ljust(128, b"\0")),
    "FS_IOC_GETFSMAP": (_iowr("X", 59, 192), bytes(96) + b"\xff" * 4 + b"\0" * 4 + b"\xff" * 88),
    "XFS_IOC_SCRUB_METADATA": (_iowr("X", 60, 64), struct.pack("=I", 0).ljust(64, b"\0")),
    "XFS_IOC_AG_GEOMETRY": (_iowr("X", 61, 128), None),
    "XFS_IOC_GETPARENTS": (_iowr("X", 62, 40), None),
    "XFS_IOC_SCRUBV_METADATA": (_iowr("X", 64, 40), None),
    "XFS_IOC_RTGROUP_GEOMETRY": (_iowr("X", 65, 128), None),
    "XFS_IOC_VERIFY_MEDIA": (_iowr("X", 70, 40), None),
    "XFS_IOC_FSGEOMETRY_V1": (_ior("X", 100, 112), None),
    "XFS_IOC_FSGEOMETRY_V4": (_ior("X", 124, 112), None),
    "XFS_IOC_FSGEOMETRY": (_ior("X", 126, 256), None),
    "XFS_IOC_FSCOUNTS": (_ior("X", 113, 32), None),
    "XFS_IOC_SET_RESBLKS": (_iowr("X", 114, 16), struct.pack("=QQ", 512, 0)),
    "XFS_IOC_GET_RESBLKS": (_ior("X", 115, 16), None),
    "XFS_IOC_ERROR_INJECTION": (_iow("X", 116, 8), struct.pack("=ii", 0, 9999)),
    "XFS_IOC_ERROR_CLEARALL": (_iow("X", 117, 8), None),
    "XFS_IOC_FSGROWFSDATA": (_iow("X", 110, 16), struct.pack("=QI", 1, 25)),
    "XFS_IOC_FSGROWFSLOG": (_iow("X", 111, 8), None),
    "XFS_IOC_FSGROWFSRT": (_iow("X", 112, 16), None),
    "XFS_IOC_GOINGDOWN": (_ior("X", 125, 4), struct.pack("=I", 77)),
    "XFS_IOC_INUMBERS": (_ior("X", 128, 64), None),
    "FITRIM": (_iowr("X", 121, 24), struct.pack("=QQQ", 0, 1 << 40, 1 << 39)),
    "FS_IOC_GETVERSION": (_ior("v", 1, 8), None),
    "FS_IOC_GETFSLABEL": (_ior(0x94, 49, 256), None),
    "FS_IOC_SETFSLABEL": (_iow(0x94, 50, 256), b"label".ljust(256, b"\0")),
}
REFUSE = {
    "XFS_IOC_GETPARENTS_BY_HANDLE": _iowr("X", 63, 64),
    "XFS_IOC_HEALTH_FD_ON_MONITORED_FS": _iow("X", 69, 8),
    "XFS_IOC_PATH_TO_FSHANDLE": _iowr("X", 104, 56),
    "XFS_IOC_PATH_TO_HANDLE": _iowr("X", 105, 56),
    "XFS_IOC_FD_TO_HANDLE": _iowr("X", 106, 56),
    "XFS_IOC_OPEN_BY_HANDLE": _iowr("X", 107, 56),
    "XFS_IOC_READLINK_BY_HANDLE": _iowr("X", 108, 56),
    "XFS_IOC_SWAPEXT": _iowr("X", 109, 192),
    "XFS_IOC_ATTRLIST_BY_HANDLE": _iow("X", 122, 88),
    "XFS_IOC_ATTRMULTI_BY_HANDLE": _iow("X", 123, 72),
    "XFS_IOC_EXCHANGE_RANGE": _iow("X", 129, 40),
    "XFS_IOC_START_COMMIT": _ior("X", 130, 88),
    "XFS_IOC_COMMIT_RANGE": _iow("X", 131, 88),
    "XFS_IOC_ALLOCSP": _iow("X", 10, 48),
    "XFS_IOC_FREESP": _iow("X", 11, 48),
    "XFS_IOC_ALLOCSP64": _iow("X", 36, 48),
    "XFS_IOC_FREESP64": _iow("X", 37, 48),
}
# Answered by the VFS or tested on their own below
ELSEWHERE = {
    "XFS_IOC_HEALTH_MONITOR",
    "XFS_IOC_FSBULKSTAT", "XFS_IOC_FSBULKSTAT_SINGLE", "XFS_IOC_FSINUMBERS", "XFS_IOC_BULKSTAT",
    "FS_IOC_GETFLAGS", "FS_IOC_SETFLAGS", "FS_IOC_FSGETXATTR", "FS_IOC_FSSETXATTR",
    "XFS_IOC_RESVSP", "XFS_IOC_UNRESVSP", "XFS_IOC_RESVSP64", "XFS_IOC_UNRESVSP64",
    "XFS_IOC_ZERO_RANGE", "FIFREEZE", "FITHAW", "FICLONE", "FICLONERANGE", "FIDEDUPERANGE",
    "FS_IOC_FIEMAP", "FIBMAP", "FIGETBSZ", "FIONREAD", "FIOQSIZE",
    "FS_IOC_GETFSUUID", "FS_IOC_GETFSSYSFSPATH",
}  # fmt: skip
# Different each time, or from one filesystem to the next
VARIES = {
    "XFS_IOC_FSGEOMETRY_V1", "XFS_IOC_FSGEOMETRY_V4", "XFS_IOC_FSGEOMETRY", "XFS_IOC_FSCOUNTS",
    "FS_IOC_GETVERSION", "XFS_IOC_GETBMAP", "XFS_IOC_GETBMAPA", "XFS_IOC_GETBMAPX",
    "FS_IOC_GETFSMAP", "XFS_IOC_INUMBERS", "XFS_IOC_AG_GEOMETRY", "XFS_IOC_SET_RESBLKS",
    "XFS_IOC_GET_RESBLKS", "FS_IOC_GETFSLABEL",
}  # fmt: skip


def call(fd, command, arg=None):
    buf = bytearray((arg or b"").ljust(BIG, b"\0"))
    result = fcntl.ioctl(fd, command, buf)
    return result, bytes(buf)


def make(d):
    with open(f"{d}/f", "wb") as f:
        f.write(b"x" * 100_000)
        os.fsync(f.fileno())
    os.makedirs(f"{d}/dir", exist_ok=True)


def documented():
    """{name: how} from the table."""
    with open(DOC) as f:
        rows = re.findall(r"^\| `([A-Z0-9_]+)` \| [^|]+ \| (\w+)", f.read(), re.M)
    return dict(rows)


def test_the_table_is_complete():
    """Every ioctl here is a row of docs/ioctls.md, and says what is tested."""
    rows = documented()
    assert set(rows) == set(PASS) | set(REFUSE) | ELSEWHERE
    assert {name for name, how in rows.items() if how == "refused"} == set(REFUSE)


# Not known to older kernels, or those built without scrubbing
NOT_EVERYWHERE = {
    "XFS_IOC_GETPARENTS",
    "XFS_IOC_RTGROUP_GEOMETRY",
    "XFS_IOC_SCRUBV_METADATA",
    "XFS_IOC_SCRUB_METADATA",
    "XFS_IOC_VERIFY_MEDIA",
}


@pytest.mark.quick
@pytest.mark.parametrize("uid", [0, 1000])
def test_those_that_pass(same, uid):
    """On a file and on a directory; errors as well, without privilege too."""

    def scenario(d):
        make(d)
        os.chmod(d, 0o777)
        fds = {"f": os.open(f"{d}/f", os.O_RDWR), "dir": os.open(f"{d}/dir", os.O_RDONLY)}
        answers = {}
        if uid:
            os.setresuid(uid, uid, 0)
        try:
            for kind, fd in fds.items():
                for name, (command, arg) in PASS.items():
                    got = attempt(call, fd, command, arg)
                    if isinstance(got, tuple) and name in VARIES:
                        got = got[0]
                    answers[kind, name] = got
        finally:
            if uid:
                os.setresuid(0, 0, 0)
            for fd in fds.values():
                os.close(fd)
        return answers

    answers = same(scenario)
    if not uid:
        unknown = {name for name in PASS if answers["f", name] == "ENOTTY"}
        assert unknown <= NOT_EVERYWHERE
        assert isinstance(answers["f", "XFS_IOC_DIOINFO"], tuple)
    else:
        assert "EPERM" in answers.values()


def test_bad_pointers(same):
    def scenario(d):
        make(d)
        fd = os.open(f"{d}/f", os.O_RDWR)
        answers = {}
        for name, (command, _) in PASS.items():
            if name in ("XFS_IOC_ERROR_CLEARALL", "FS_IOC_GETVERSION"):
                continue
            _libc.ioctl.argtypes = None
            got = attempt(
                lambda c=command: _check(
                    _libc.ioctl(fd, ctypes.c_ulong(c), ctypes.c_void_p(1))
                )
            )
            answers[name] = got
        os.close(fd)
        return answers

    answers = same(scenario)
    assert "EFAULT" in answers.values()


def test_those_that_do_not_pass(apart):
    """ENOTTY whoever asks: on a file, on a directory and on the root."""
    make(apart.path)
    for path in (apart.at("f"), apart.at("dir"), apart.wsfs.path):
        fd = apart.adopt(os.open(path, os.O_RDONLY))
        for name, command in REFUSE.items():
            assert attempt(call, fd, command) == "ENOTTY", (path, name)


def test_files_inside_arguments(apart):
    """No exchange of a wsfs file with a file of the XFS, or the other way
    round, whichever of the two is asked."""
    for name, content in (("a", b"aaaa"), ("b", b"bbbb")):
        with open(apart.at(name), "wb") as f:
            f.write(content * 4096)
    above = apart.adopt(os.open(apart.at("a"), os.O_RDWR))
    below = apart.adopt(os.open(apart.below("b"), os.O_RDWR))
    exchange = struct.pack("=iIQQQQ", below, 0, 0, 0, 16384, 0)
    swapped = struct.pack("=iIQQQQ", above, 0, 0, 0, 16384, 0)
    assert attempt(call, above, REFUSE["XFS_IOC_EXCHANGE_RANGE"], exchange) == "ENOTTY"
    assert isinstance(attempt(call, below, REFUSE["XFS_IOC_EXCHANGE_RANGE"], swapped), str)
    handle = struct.pack("=IxxxxQIxxxxQIxxxxQQ", above, 0, 0, 0, 0, 0, 0)
    got = attempt(call, below, REFUSE["XFS_IOC_FD_TO_HANDLE"], handle)
    assert isinstance(got, str), "XFS took a wsfs inode for one of its own"
    with open(apart.at("a"), "rb") as f:
        assert f.read() == b"aaaa" * 4096


def bulkstat(fd, command, count=512):
    """Inode numbers by XFS_IOC_FSBULKSTAT."""
    last = ctypes.c_uint64(0)
    got = ctypes.c_int32(0)
    buf = ctypes.create_string_buffer(136 * count)
    request = struct.pack(
        "=QixxxxQQ", ctypes.addressof(last), count, ctypes.addressof(buf), ctypes.addressof(got)
    )
    fcntl.ioctl(fd, command, bytearray(request))
    return {struct.unpack_from("=Q", buf, 136 * i)[0] for i in range(got.value)}


FSBULKSTAT = _iowr("X", 101, 32)


def test_bulkstat(apart):
    """All inodes, and no more than the XFS shows the same caller."""
    make(apart.path)
    above = apart.adopt(os.open(apart.path, os.O_RDONLY))
    below = apart.adopt(os.open(apart.lower, os.O_RDONLY))
    found = bulkstat(above, FSBULKSTAT)
    assert found == bulkstat(below, FSBULKSTAT)
    assert os.stat(apart.at("f")).st_ino in found
    for number, size in ((101, 32), (102, 32), (103, 32)):
        os.setresuid(1000, 1000, 0)
        try:
            assert attempt(call, above, _iowr("X", number, size)) == "EPERM"
        finally:
            os.setresuid(0, 0, 0)
    request = struct.pack("=QIIIIIxxxx5Q", 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0)
    for number in (127, 128):
        a, b = (attempt(call, fd, _ior("X", number, 64), request) for fd in (above, below))
        assert (a if isinstance(a, str) else a[1]) == (b if isinstance(b, str) else b[1])


def test_bulkstat_through_idmapped_mount(apart, base):
    """Refused, as XFS refuses it: the owners would be wrong."""
    from lib.idmap import IdmappedMount, UserNamespace

    with UserNamespace(100_000) as namespace:
        answers = []
        for source in (apart.path, apart.lower):
            with IdmappedMount(source, f"{base}/idmapped-bulkstat", namespace) as path:
                fd = os.open(path, os.O_RDONLY)
                answers.append(attempt(bulkstat, fd, FSBULKSTAT))
                os.close(fd)
    assert answers == ["EINVAL", "EINVAL"]


def test_read_only_mount(apart, base):
    """Those that write do not pass a read-only mount of a writable XFS."""
    path = f"{base}/read-only"
    os.makedirs(path, exist_ok=True)
    run("mount", "--bind", apart.path, path)
    run("mount", "-o", "remount,bind,ro", path)
    try:
        fd = os.open(path, os.O_RDONLY)
        for name in (
            "FS_IOC_SETFSLABEL", "XFS_IOC_SET_RESBLKS", "XFS_IOC_FSGROWFSDATA",
            "XFS_IOC_SCRUB_METADATA", "XFS_IOC_FSGROWFSRT",
        ):  # fmt: skip
            assert attempt(call, fd, *PASS[name]) == "EROFS", name
        assert isinstance(attempt(call, fd, *PASS["XFS_IOC_FSGEOMETRY"]), tuple)
        os.close(fd)
    finally:
        run("umount", path)
        os.rmdir(path)


def test_health_monitor(apart):
    """On the root alone, and an fd that keeps nothing mounted."""
    request = struct.pack("=QB23x", 0, 0)
    inner = apart.adopt(os.open(apart.path, os.O_RDONLY))
    root = apart.adopt(os.open(apart.wsfs.path, os.O_RDONLY))
    below = apart.adopt(os.open(apart.xfs.path, os.O_RDONLY))
    command = _iow("X", 68, 32)
    want = attempt(call, below, command, request)
    got = attempt(call, root, command, request)
    assert isinstance(got, tuple) == isinstance(want, tuple) or got == "EEXIST"
    for answer in (want, got):
        if isinstance(answer, tuple):
            os.close(answer[0])
    if not isinstance(want, str):
        assert attempt(call, inner, command, request) == "EPERM"


def test_answered_by_the_vfs(same):
    """Those that never come to wsfs's own ioctl."""

    def scenario(d):
        make(d)
        fd = os.open(f"{d}/f", os.O_RDWR)
        answers = []
        flock = struct.pack("=hhxxxxqqii16x", 0, 0, 0, 65536, 0, 0)
        for number in (40, 41, 42, 43, 57):
            answers.append(attempt(call, fd, _iow("X", number, 48), flock) and number)
            answers.append(os.fstat(fd).st_size)
        answers.append(attempt(setflags, fd, 0))
        answers.append(FsXattr.of(fd))
        answers.append(attempt(fallocate, fd, 0, 0, 4096))
        answers.append(call(fd, 0x541B)[1][:4])  # FIONREAD
        answers.append(attempt(call, fd, 0x5460))  # FIOQSIZE
        answers.append(call(fd, 2)[1][:4])  # FIGETBSZ
        answers.append(isinstance(attempt(call, fd, 1), tuple))  # FIBMAP
        answers.append(len(call(fd, _ior(0x15, 0, 17))[1]))  # FS_IOC_GETFSUUID
        answers.append(attempt(clone, fd, fd))
        os.close(fd)
        return answers

    same(scenario)


def test_uuid_and_sysfs_path(apart):
    """The UUID is the XFS's; the path in sysfs is wsfs's own."""
    above = apart.adopt(os.open(apart.path, os.O_RDONLY))
    below = apart.adopt(os.open(apart.lower, os.O_RDONLY))
    command = _ior(0x15, 0, 17)
    assert call(above, command) == call(below, command)
    path = call(above, _ior(0x15, 1, 129))[1]
    path = path[1 : 1 + path[0]].split(b"\0")[0].decode()
    assert path == f"wsfs/{apart.wsfs.geometry().dev}"
    assert os.path.isdir(f"/sys/fs/{path}")


# The programs of xfsprogs


@pytest.mark.quick
def test_xfs_io_and_xfs_bmap(same):
    """They work, and print the same."""

    def scenario(d):
        make(d)
        run("xfs_io", "-f", "-c", "falloc 0 1m", "-c", "fsync", f"{d}/g")
        answers = {}
        differs = r"stat\.(ino|atime|mtime|ctime|btime|dev_m).*|/\S+"
        for command in ("stat -r", "lsattr", "lsproj", "extsize"):
            output = run("xfs_io", "-r", "-c", command, f"{d}/g", ok=None)
            answers[command] = re.sub(differs, "", output)
        bmap = run("xfs_bmap", "-vp", f"{d}/g")
        answers["bmap"] = [line.split()[5:] for line in bmap.splitlines()[2:]]
        assert bmap.count("\n") > 2, bmap
        answers["geometry"] = run("xfs_io", "-r", "-c", "fsmap", d).count("\n") > 3
        answers["open"] = status("xfs_io", "-c", "pread 0 10", f"{d}/f")[0]
        return answers

    same(scenario)


def test_programs_for_the_filesystem(apart):
    """xfs_spaceman and xfs_freeze on the mount point."""
    top = apart.wsfs.path
    above, below = (
        run("xfs_spaceman", "-c", "info", path).split("bsize", 1)[1]
        for path in (top, apart.xfs.path)
    )
    assert above == below
    # Refused, not answered wrongly: docs/ioctls.md says why.
    with pytest.raises(Failed, match="GETFSMAP.*Invalid argument"):
        run("xfs_spaceman", "-c", "freesp -s", top)
    run("xfs_spaceman", "-c", "prealloc -s", top)
    run("xfs_freeze", "-f", top)
    run("xfs_freeze", "-u", top)


def test_private_directory_stays_private(apart):
    """GETPARENTS and the like on what can be opened do not lead there."""
    fd = apart.open("f")
    for _ in range(4):
        apart.set(fd, apart.alloc())
    got = attempt(call, fd, *PASS["XFS_IOC_GETPARENTS"])
    assert isinstance(got, str) or PRIVATE.encode() not in got[1]
