# SPDX-License-Identifier: GPL-2.0
"""Mounting, remounting, unmounting, freezing; what a mount shows of itself."""

import errno
import fcntl
import mmap
import os
import subprocess
import tempfile
import time

import pytest

from lib import ioctls, libc
from lib.compare import attempt
from lib.shell import run, status
from lib.wsfs import PRIVATE, Wsfs, load_module, loaded, must_stay_loaded, unload_module

XFS_MAGIC = 0x58465342


@pytest.fixture
def made(bed):
    bed.make(agcount=8, streams=4)
    return bed


def mount_line(path):
    """The line of /proc/self/mounts for @path."""
    with open("/proc/self/mounts") as f:
        for line in f:
            fields = line.split()
            if fields[1] == path:
                return fields
    return None


@pytest.mark.quick
def test_what_it_shows(made):
    source, _, fstype, options, *_ = mount_line(made.path)
    assert fstype == "wsfs"
    assert source == made.lower
    assert "streams=4" in options.split(",")
    assert run("stat", "-f", "-c", "%t", made.path).strip() == f"{XFS_MAGIC:x}"


@pytest.mark.parametrize("option", ["nosuid", "nodev", "noexec", "nosymfollow", "ro", "noatime"])
def test_flags_of_the_mount(made, option):
    """They hold for what is reached by this mount, and by no other."""
    run("cp", "/bin/true", made.at("true"))
    run("cp", "/usr/bin/id", made.at("id"))
    os.chmod(made.at("id"), 0o4755)
    os.chmod(made.path, 0o755)
    os.mknod(made.at("null"), 0o20666, os.makedev(1, 3))
    os.symlink("true", made.at("link"))
    os.utime(made.at("true"), (1, 2))
    tries = {
        "nosuid": lambda at: status("setpriv", "--reuid=1000", "--clear-groups", at("id"), "-u"),
        "nodev": lambda at: attempt(lambda: os.close(os.open(at("null"), os.O_RDWR))),
        "noexec": lambda at: attempt(lambda: subprocess.run([at("true")], check=True) and None),
        "nosymfollow": lambda at: attempt(lambda: os.close(os.open(at("link"), os.O_RDONLY))),
        "ro": lambda at: attempt(os.utime, at("null")),
        "noatime": lambda at: read(at("true")) and os.stat(at("true")).st_atime == 1,
    }
    want = {"nosuid": (0, "1000\n"), "nodev": "EACCES", "noexec": "EACCES", "nosymfollow": "ELOOP",
            "ro": "EROFS", "noatime": True}  # fmt: skip
    run("mount", "-o", f"remount,bind,{option}", made.path)
    assert tries[option](made.at) == want[option]
    for name in set(tries) - {option, "noatime"}:
        assert tries[name](made.at) != want[name], name
    assert tries[option](made.below) != want[option], "on the XFS too"


def read(path):
    with open(path, "rb") as f:
        return f.read()


def test_statfs_is_the_lowers(made):
    with open(made.at("f"), "wb") as f:
        f.write(b"x" * 1_000_000)
    os.sync()
    above, below = os.statvfs(made.path), os.statvfs(made.lower)
    for field in ("f_bsize", "f_frsize", "f_blocks", "f_bfree", "f_files", "f_namemax"):
        assert getattr(above, field) == getattr(below, field), field


def test_sysfs(made):
    geometry, layout = made.wsfs.geometry(), made.xfs.layout()
    assert made.wsfs.sysfs("lower") == "xfs"
    for name in ("blocksize", "agblocks", "agcount"):
        assert int(made.wsfs.sysfs(name)) == getattr(layout, name) == getattr(geometry, name)
    assert int(made.wsfs.sysfs("streams")) == geometry.streams == 4
    assert int(made.wsfs.sysfs("reserved")) == 0
    lower = os.stat(made.lower).st_dev
    assert (geometry.lower_major, geometry.lower_minor) == (os.major(lower), os.minor(lower))
    top = f"/sys/fs/wsfs/{geometry.dev}"
    made.alloc()
    assert int(made.wsfs.sysfs("reserved")) == 1
    for directory, _, files in os.walk(top):
        for name in files:
            assert os.stat(f"{directory}/{name}").st_mode & 0o222 == 0
    made.close_all()
    made.wsfs.umount()
    assert not os.path.exists(top)


def test_remount_read_only_and_back(made):
    made.close(made.open("f"))
    run("mount", "-o", "remount,ro", made.path)
    assert "ro" in mount_line(made.path)[3].split(",")
    for change in (
        lambda: os.mkdir(made.at("d")),
        lambda: os.open(made.at("g"), os.O_CREAT | os.O_RDWR),
        lambda: os.open(made.at("f"), os.O_RDWR),
        lambda: os.chmod(made.at("f"), 0o600),
        lambda: os.setxattr(made.at("f"), "user.a", b"b"),
        lambda: os.unlink(made.at("f")),
        lambda: os.truncate(made.at("f"), 5),
    ):
        assert attempt(change) == "EROFS"
    with open(made.at("f")) as f:
        assert f.read() == ""
    os.mkdir(made.below("from-below"))  # the XFS is not read-only
    run("mount", "-o", "remount,rw", made.path)
    fd = made.open("f")
    made.set(fd, made.alloc())
    os.write(fd, b"content")
    assert os.path.isdir(made.at("from-below"))


def test_remount_read_only_is_busy_with_writers(made):
    """EBUSY while somebody has a file open for writing, as on XFS."""
    fd = made.open("f")
    here = status("mount", "-o", "remount,ro", made.path)[0]
    made.close(fd)
    lower = os.open(made.below("f"), os.O_RDWR)
    there = status("mount", "-o", "remount,ro", made.lower)[0]
    os.close(lower)
    assert (here != 0) == (there != 0)
    run("mount", "-o", "remount,rw", made.path)


def test_sync_is_for_the_xfs_below(made):
    """wsfs adds nothing to how durable a write is, and does not say that it does."""
    for option in ("sync", "dirsync"):
        assert status("mount", "-o", f"remount,{option}", made.path)[0]
        made.wsfs.umount()
        assert status("mount", "-t", "wsfs", "-o", option, made.lower, made.path)[0]
        made.wsfs.mount(4)
    made.umount()
    made.xfs.mount("sync")
    made.wsfs.mount(4, ["sync"])
    assert "sync" in mount_line(made.path)[3].split(",")


def test_names_without_regard_to_case(bed):
    """Refused: .WSFS would be what .wsfs is."""
    bed.xfs.mkfs(4, 80, "-n", "version=ci")
    if status("mount", "-t", "xfs", bed.xfs.device, bed.xfs.path)[0]:
        pytest.skip("this kernel's XFS has no ascii-ci")
    bed.xfs.mounted = True
    os.makedirs(bed.path, exist_ok=True)
    code, said = status("mount", "-t", "wsfs", bed.lower, bed.path)
    assert code
    assert os.listdir(bed.lower) == []
    print(said)


def test_remount_keeps_the_number_of_streams(made):
    stream = made.alloc()
    status("mount", "-o", "remount,streams=2", made.path)
    assert made.wsfs.geometry().streams == 4
    fd = made.open("f")
    made.set(fd, stream)
    assert made.info(fd).homed


@pytest.mark.quick
def test_umount_is_busy_then_clean(made):
    fd = made.open("f")
    code, output = status("umount", made.path)
    assert code and "busy" in output
    made.close(fd)
    made.wsfs.umount()
    assert mount_line(made.path) is None


def test_lower_unmounted_below(made):
    """Busy; or it goes from sight and wsfs works on."""
    fd = made.open("f")
    if status("umount", made.lower)[0]:
        return
    made.xfs.mounted = False
    made.set(fd, made.alloc())
    os.write(fd, b"content")
    with open(made.at("f")) as f:
        assert f.read() == "content"
    made.close_all()
    made.wsfs.umount()
    made.xfs.mount()
    with open(made.below("f")) as f:
        assert f.read() == "content"


def test_umount_with_streams_held(made):
    """A stream does not keep the mount; it dies with it and is harmless."""
    stream = made.alloc()
    code, _ = status("umount", made.path)
    if code:  # or it does keep it: then until it is closed
        stream.close()
        made.wsfs.umount()
    else:
        made.wsfs.mounted = False
        assert stream.info()
        made.wsfs.mount(4)
        fd = made.open("f")
        got = attempt(made.set, fd, stream)
        assert got is None or isinstance(got, str)
        os.write(fd, b"content")


def test_lazy_umount(made):
    fd = made.open("f")
    stream = made.alloc()
    run("umount", "-l", made.path)
    made.wsfs.mounted = False
    made.set(fd, stream)
    os.write(fd, b"content")
    assert os.pread(fd, 9, 0) == b"content"
    with open(made.below("f"), "rb") as f:
        assert f.read() == b"content"


def test_cwd_in_the_mount(made):
    here = os.getcwd()
    os.mkdir(made.at("d"))
    os.chdir(made.at("d"))
    try:
        assert os.getcwd() == made.at("d")
        assert status("umount", made.path)[0]
    finally:
        os.chdir(here)


@pytest.mark.quick
def test_module_cannot_go_while_mounted(made):
    if not os.path.isdir("/sys/module/wsfs/holders"):
        pytest.skip("wsfs is not a module here")
    code, _ = status("rmmod", "wsfs")
    assert code and loaded()
    stream = made.alloc()
    made.wsfs.umount()
    code, _ = status("rmmod", "wsfs")
    assert code, "rmmod while a stream is held"
    made.close_all()
    assert stream.fd == -1
    if why := must_stay_loaded():
        pytest.skip(why)
    unload_module()
    assert not loaded()
    assert not os.path.exists("/sys/fs/wsfs")
    assert slabs() == []
    load_module()


def slabs():
    found = []
    if os.path.exists("/proc/slabinfo"):
        with open("/proc/slabinfo") as f:
            found += [line.split()[0] for line in f if line.startswith("wsfs")]
    if os.path.isdir("/sys/kernel/slab"):
        found += [n for n in os.listdir("/sys/kernel/slab") if n.startswith("wsfs")]
    return found


def test_load_and_unload_again_and_again(made):
    if not os.path.isdir("/sys/module/wsfs/holders"):
        pytest.skip("wsfs is not a module here")
    if why := must_stay_loaded():
        pytest.skip(why)
    made.wsfs.umount()
    for i in range(5):
        unload_module()
        load_module()
        made.wsfs.mount(4)
        fd = made.open(f"f{i}")
        made.set(fd, made.alloc())
        os.write(fd, b"content")
        made.close_all()
        made.wsfs.umount()


@pytest.mark.quick
def test_freeze_and_thaw(made):
    """fsfreeze -f stops writers until fsfreeze -u; the data is there."""
    fd = made.open("f")
    os.write(fd, b"before")
    run("fsfreeze", "-f", made.path)
    try:
        writer = subprocess.Popen(["sh", "-c", f"echo after >{made.at('g')}"])
        with pytest.raises(subprocess.TimeoutExpired):
            writer.wait(timeout=1)
        with open(made.at("f"), "rb") as f:
            assert f.read() == b"before"
    finally:
        run("fsfreeze", "-u", made.path)
    assert writer.wait(timeout=30) == 0
    with open(made.at("g")) as f:
        assert f.read() == "after\n"


def test_freeze_of_the_lower(made):
    """A frozen XFS stops writers of wsfs as well, SET included."""
    fd = made.open("f")
    stream = made.alloc()
    run("fsfreeze", "-f", made.lower)
    try:
        pid = os.fork()
        if pid == 0:
            try:
                made.set(fd, stream)
                os.write(fd, b"content")
                os._exit(0)
            finally:
                os._exit(1)
        writer = subprocess.Popen(["sh", "-c", f"echo after >{made.at('g')}"])
        with pytest.raises(subprocess.TimeoutExpired):
            writer.wait(timeout=1)
        assert os.waitpid(pid, os.WNOHANG) == (0, 0)
    finally:
        run("fsfreeze", "-u", made.lower)
    assert writer.wait(timeout=30) == 0
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert os.pread(fd, 9, 0) == b"content"


def forked_in_time(function, seconds):
    """Does @function, in a process of its own, come back in time?"""
    pid = os.fork()
    if pid == 0:
        try:
            function()
        finally:
            os._exit(0)
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if os.waitpid(pid, os.WNOHANG) != (0, 0):
            return True
        time.sleep(0.05)
    return False


def test_nowait_on_a_frozen_lower(made):
    """RWF_NOWAIT gets EAGAIN there, and does not wait for the thaw."""
    fd = made.open("f")
    os.write(fd, bytes(8192))
    seen = mmap.mmap(-1, mmap.PAGESIZE)

    def write():
        got = attempt(os.pwritev, fd, [bytes(4096)], 0, 8)
        seen[0] = 1 if got == "EAGAIN" else 2

    run("fsfreeze", "-f", made.lower)
    try:
        assert forked_in_time(write, 5)
    finally:
        run("fsfreeze", "-u", made.lower)
    assert seen[0] == 1
    os.pwrite(fd, b"after", 0)


def swap_something(bed):
    """SET on a file until wsfs has had use for its directory."""
    fd = bed.open("f")
    for _ in range(4):
        bed.set(fd, bed.alloc())
    assert PRIVATE in os.listdir(bed.lower)


@pytest.mark.quick
def test_private_directory_cannot_be_reached(made):
    """.wsfs is not seen, found, made, replaced or entered."""
    os.mkdir(made.at("d"))
    swap_something(made)
    assert PRIVATE in os.listdir(made.lower)
    assert PRIVATE not in os.listdir(made.path)
    fd = made.adopt(os.open(made.path, os.O_RDONLY))
    assert PRIVATE not in [name for name, _, _ in libc.read_dir(fd, 300)]
    path = made.at(PRIVATE)
    inner = sorted(os.listdir(made.below(PRIVATE)))
    looks = [
        attempt(os.stat, path),
        attempt(os.lstat, path),
        attempt(os.listdir, path),
        attempt(os.stat, f"{path}/{inner[0] if inner else 'x'}"),
        attempt(os.open, path, os.O_RDONLY),
        attempt(os.stat, made.at(f"d/../{PRIVATE}")),
    ]
    assert set(looks) == {"ENOENT"}
    changes = [
        attempt(os.mkdir, path),
        attempt(os.rmdir, path),
        attempt(os.symlink, "d", path),
        attempt(os.link, made.at("f"), path),
        attempt(os.rename, made.at("d"), path),
        attempt(os.rename, path, made.at("moved")),
        attempt(libc.renameat2, made.at("d"), path, libc.RENAME_EXCHANGE),
        attempt(os.open, path, os.O_CREAT | os.O_RDWR),
        attempt(os.chmod, path, 0o777),
    ]
    assert all(isinstance(answer, str) for answer in changes), changes
    assert sorted(os.listdir(made.below(PRIVATE))) == inner
    assert sorted(os.listdir(made.path)) == ["d", "f"]


def test_private_directory_by_other_paths(made):
    """Nor relative to an open directory, or by a roundabout path."""
    swap_something(made)
    fd = made.adopt(os.open(made.path, os.O_RDONLY | os.O_DIRECTORY))
    for name in (PRIVATE, f"./{PRIVATE}", f"{PRIVATE}/", f"../wsfs/{PRIVATE}"):
        assert attempt(os.stat, name, dir_fd=fd) == "ENOENT", name


def test_private_directory_is_closed_to_users(made):
    """Seen from below it is root's own."""
    swap_something(made)
    got = os.stat(made.below(PRIVATE))
    assert got.st_uid == 0 and got.st_mode & 0o077 == 0


def test_subdirectory_as_lower(made, base):
    """A wsfs over a directory of the XFS: its streams place as well."""
    os.mkdir(made.below("sub"))
    inner = Wsfs(made.below("sub"), f"{base}/inner")
    inner.mount(4)
    try:
        fd = os.open(f"{inner.path}/f", os.O_CREAT | os.O_RDWR)
        stream = inner.alloc()
        ioctls.set_stream(fd, stream.fd)
        os.write(fd, b"content")
        assert ioctls.FileInfo.of(fd).homed
        assert os.listdir(inner.path) == ["f"]
        assert os.path.samefile(f"{inner.path}/..", base)
        os.close(fd)
        stream.close()
    finally:
        inner.umount()
    with open(made.at("sub/f")) as f:
        assert f.read() == "content"


def test_two_mounts_share_the_streams(made, base):
    second = Wsfs(made.lower, f"{base}/second")
    second.mount(4)
    try:
        held = [made.wsfs.alloc() for _ in range(2)] + [second.alloc() for _ in range(2)]
        assert sorted(s.id for s in held) == [0, 1, 2, 3]
        with pytest.raises(OSError) as failure:
            second.alloc()
        assert failure.value.errno == errno.ENOSPC
        # a file of one mount on a stream reserved through the other
        fd = os.open(f"{second.path}/f", os.O_CREAT | os.O_RDWR)
        ioctls.set_stream(fd, held[0].fd)
        os.write(fd, b"content")
        with open(made.at("f")) as f:
            assert f.read() == "content"
        os.close(fd)
        for stream in held:
            stream.close()
    finally:
        second.umount()


def test_mounts_have_to_agree(made, base):
    second = f"{base}/second"
    os.makedirs(second, exist_ok=True)
    with pytest.raises(OSError) as failure:
        libc.mount(made.lower, second, "wsfs", 0, "streams=2")
    assert failure.value.errno == errno.EBUSY
    libc.mount(made.lower, second, "wsfs", 0, "streams=4")
    libc.umount(second)


@pytest.mark.parametrize(
    "option",
    ["streams=", "streams=x", "streams=-1", "streams=1025", "streams=4,nonsense", "nonsense=1"],
)
def test_bad_options(made, option):
    made.wsfs.umount()
    with pytest.raises(OSError) as failure:
        libc.mount(made.lower, made.path, "wsfs", 0, option)
    assert failure.value.errno in (errno.EINVAL, errno.ERANGE)
    assert mount_line(made.path) is None
    made.wsfs.mount(4)


def test_bad_sources(made):
    made.wsfs.umount()
    with open(made.below("file"), "w") as f:
        f.write("a file")
    for source, expected in (
        (made.below("file"), errno.ENOTDIR),
        (made.below("none"), errno.ENOENT),
    ):
        with pytest.raises(OSError) as failure:
            libc.mount(source, made.path, "wsfs")
        assert failure.value.errno == expected, source
    made.wsfs.mount(4)


def test_no_streams(made):
    """streams=0: a filesystem like others."""
    made.wsfs.umount()
    made.wsfs.mount(0)
    assert made.wsfs.geometry().streams == 0
    fd = made.open("f")
    assert ioctls.get_max(fd) == 0
    with pytest.raises(OSError) as failure:
        made.alloc()
    assert failure.value.errno == errno.EOPNOTSUPP
    os.write(fd, b"content")


def test_read_only_lower(made):
    """Reading works, and nothing else; or mounting says why not."""
    with open(made.at("f"), "w") as f:
        f.write("content")
    made.umount()
    made.xfs.mount("ro")
    code, output = status("mount", "-t", "wsfs", made.lower, made.path)
    if code:
        assert "read-only" in output.lower() or "read only" in output.lower(), output
        return
    made.wsfs.mounted = True
    with open(made.at("f")) as f:
        assert f.read() == "content"
    assert attempt(os.mkdir, made.at("d")) == "EROFS"
    assert attempt(os.open, made.at("f"), os.O_RDWR) == "EROFS"


@pytest.mark.quick
def test_lower_that_is_not_xfs(module, base, kernel_log, plain):
    """tmpfs: 0 streams, told once, everything else works."""
    if plain:
        pytest.skip("--plain: no wsfs")
    lower = f"{base}/tmpfs"
    os.makedirs(lower, exist_ok=True)
    run("mount", "-t", "tmpfs", "tmpfs", lower)
    wsfs = Wsfs(lower, f"{base}/over-tmpfs")
    try:
        wsfs.mount()
        assert wsfs.geometry().streams == 0
        assert wsfs.geometry().agblocks == 0
        with open(f"{wsfs.path}/f", "w+") as f:
            f.write("content")
            f.flush()
            assert ioctls.FileInfo.of(f.fileno()).inode_agno == 0xFFFFFFFF
        with open(f"{lower}/f") as f:
            assert f.read() == "content"
        with pytest.raises(OSError) as failure:
            wsfs.alloc()
        assert failure.value.errno == errno.EOPNOTSUPP
        assert os.listdir(wsfs.path) == ["f"]
    finally:
        if wsfs.mounted:
            wsfs.umount()
        run("umount", lower)


@pytest.fixture
def over_tmpfs(module, base):
    """wsfs over a tmpfs of its own."""
    lower = tempfile.mkdtemp(dir=base)
    run("mount", "-t", "tmpfs", "tmpfs", lower)
    wsfs = Wsfs(lower, tempfile.mkdtemp(dir=base))
    wsfs.mount()
    yield wsfs
    wsfs.umount()
    run("umount", lower)


def test_map_sync_where_the_lower_has_none(over_tmpfs):
    """A program that gets MAP_SYNC does without fsync: not on tmpfs."""
    fd = os.open(f"{over_tmpfs.path}/f", os.O_RDWR | os.O_CREAT)
    os.ftruncate(fd, 4096)
    flags = libc.MAP_SHARED_VALIDATE | libc.MAP_SYNC
    got = attempt(libc.map_file, fd, 4096, flags)
    os.close(fd)
    assert got == "EOPNOTSUPP"


def test_no_seals(over_tmpfs):
    """tmpfs keeps the seals of a file in its own inode, which a file of wsfs has not:
    they are refused, and what is in that place says nothing of mappings."""
    with open(f"{over_tmpfs.path}/f", "w+b") as file:
        file.truncate(4096)
        assert attempt(fcntl.fcntl, file, fcntl.F_GET_SEALS) == "EINVAL"
        assert attempt(fcntl.fcntl, file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW) == "EINVAL"
        with mmap.mmap(file.fileno(), 4096) as mapped:
            mapped[:4] = b"data"
        assert file.read(4) == b"data"
        file.truncate(8192)
