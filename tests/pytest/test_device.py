# SPDX-License-Identifier: GPL-2.0
"""mount -t wsfs DEVICE: XFS is mounted out of sight, with its own options."""

import os
import subprocess

import pytest

from lib import ioctls, libc
from lib.compare import attempt
from lib.disks import zero
from lib.shell import Failed, run, status
from lib.wsfs import Wsfs, strays
from lib.xfs import Xfs

MS_REMOUNT = 32
MS_RDONLY = 1


@pytest.fixture
def fs(disks, base, plain, kernel_log):
    """An XFS on the first disk and a wsfs for it, neither mounted."""
    if plain:
        pytest.skip("--plain: no wsfs")
    xfs = Xfs(disks[0], f"{base}/xfs")
    xfs.mkfs(8, 32)
    os.makedirs(xfs.path, exist_ok=True)
    wsfs = Wsfs(disks[0], f"{base}/on-device")
    wsfs.xfs = xfs
    yield wsfs
    for mounted in (wsfs, xfs):
        if mounted.mounted:
            mounted.umount()
    assert not mounts_of(disks[0])
    zero(disks[1], 1 << 20)
    if report := xfs.check():
        pytest.fail(f"xfs_repair -n:\n{report}")


def mounts_of(source):
    """The lines of /proc/self/mounts with that source, as fields."""
    with open("/proc/self/mounts") as f:
        return [line.split() for line in f if line.split()[0] == source]


def options_of(path):
    with open("/proc/self/mounts") as f:
        for line in f:
            if line.split()[1] == path:
                return line.split()[3].split(",")
    return None


def in_use(device):
    """Does somebody have the device for himself?"""
    answer = attempt(os.open, device, os.O_RDONLY | os.O_EXCL)
    if isinstance(answer, int):
        os.close(answer)
        return False
    assert answer == "EBUSY"
    return True


@pytest.mark.quick
def test_mount_use_umount(fs):
    """Streams work, no other path leads there, one umount ends it all."""
    fs.mount(4)
    assert [line[1:3] for line in mounts_of(fs.lower)] == [[fs.path, "wsfs"]]
    with open("/proc/self/mountinfo") as f:
        assert len([line for line in f if fs.lower in line.split()]) == 1
    fd = os.open(f"{fs.path}/f", os.O_CREAT | os.O_RDWR)
    stream = fs.alloc()
    ioctls.set_stream(fd, stream.fd)
    os.write(fd, b"content")
    assert ioctls.FileInfo.of(fd).homed
    assert in_use(fs.lower)
    assert status("umount", fs.path)[0], "busy"
    os.close(fd)
    stream.close()
    fs.umount()
    assert not in_use(fs.lower)
    assert not fs.xfs.check()
    fs.xfs.mount()
    assert not strays(fs.xfs.path)
    with open(f"{fs.xfs.path}/f") as f:
        assert f.read() == "content"


def test_umount_by_device(fs):
    fs.mount()
    run("umount", fs.lower)
    fs.mounted = False
    assert not in_use(fs.lower)


def test_programs_show_the_device(fs):
    fs.mount()
    assert run("df", "--output=source,fstype", fs.path).split()[-2:] == [fs.lower, "wsfs"]
    found = run("findmnt", "-n", "-o", "SOURCE,FSTYPE", fs.path).split()
    assert found == [fs.lower, "wsfs"]
    assert fs.path in run("findmnt", "-n", "-o", "TARGET", "-S", fs.lower).split()
    assert fs.sysfs("lower") == "xfs"


def test_fstab(fs, base):
    """A line of fstab, with options of the VFS, of wsfs and of XFS."""
    fstab = f"{base}/fstab"
    os.makedirs(fs.path, exist_ok=True)
    with open(fstab, "w") as f:
        f.write(f"{fs.lower} {fs.path} wsfs noatime,streams=3,uquota,logbsize=64k 0 2\n")
    run("mount", "-T", fstab, fs.path)
    fs.mounted = True
    assert {"noatime", "streams=3", "usrquota", "logbsize=64k"} <= set(options_of(fs.path))
    assert fs.geometry().streams == 3


def test_statfs_is_that_of_xfs(fs):
    fs.xfs.mount()
    want = os.statvfs(fs.xfs.path)
    fs.xfs.umount()
    fs.mount()
    got = os.statvfs(fs.path)
    for field in ("f_bsize", "f_frsize", "f_blocks", "f_bfree", "f_files", "f_namemax"):
        assert getattr(got, field) == getattr(want, field), field


OPTIONS = [
    "uquota", "gquota", "pquota", "uqnoenforce,pqnoenforce", "noquota", "inode32", "inode64",
    "logbufs=4", "logbsize=256k", "allocsize=1m", "largeio", "wsync", "discard", "noalign",
    "filestreams", "swalloc", "grpid", "sync", "dirsync", "lazytime", "nouuid",
]  # fmt: skip


def test_options_are_those_of_xfs(fs):
    """Shown the same, taken the same."""
    for options in OPTIONS:
        fs.xfs.mount(options)
        want = set(options_of(fs.xfs.path))
        fs.xfs.umount()
        fs.mount(2, options.split(","))
        assert set(options_of(fs.path)) - {"streams=2"} == want, options
        fs.umount()


REFUSED = [
    "nonsense", "logbufs=1", "logbsize=5", "inode32=7", "logdev=/none", "sunit=7", "swidth=9",
]  # fmt: skip


def test_bad_options_are_refused_as_by_xfs(fs):
    os.makedirs(fs.path, exist_ok=True)
    for option in REFUSED:
        want = attempt(libc.mount, fs.lower, fs.xfs.path, "xfs", 0, option)
        assert want, option
        assert attempt(libc.mount, fs.lower, fs.path, "wsfs", 0, option) == want, option
        code, output = status("mount", "-t", "wsfs", "-o", option, fs.lower, fs.path)
        assert code and output
    code, output = status("mount", "-t", "wsfs", "-o", "nonsense=1", fs.lower, fs.path)
    assert "nonsense" in output
    assert attempt(libc.mount, fs.lower, fs.path, "wsfs", 0, "streams=2000") == "EINVAL"
    assert not in_use(fs.lower)


def test_what_is_no_xfs(fs, disks, base):
    """Blank, another filesystem, damaged, gone: XFS's errno."""
    os.makedirs(fs.path, exist_ok=True)

    def both(device):
        want = attempt(libc.mount, device, fs.xfs.path, "xfs")
        got = attempt(libc.mount, device, fs.path, "wsfs")
        assert got == want is not None
        assert not os.path.exists(device) or not in_use(device)
        return got

    assert both(disks[1]) == "EINVAL"
    run("mkfs.ext4", "-q", "-F", disks[1], "64m")
    assert both(disks[1]) == "EINVAL"
    assert both(f"{base}/none") == "ENOENT"


def test_other_sources(fs, base):
    os.makedirs(fs.path, exist_ok=True)
    with open(f"{base}/file", "w") as f:
        f.write("a file")
    assert attempt(libc.mount, f"{base}/file", fs.path, "wsfs") == "ENOTDIR"
    assert attempt(libc.mount, "/dev/null", fs.path, "wsfs") == "ENOTDIR"


def test_busy_device(fs):
    """Held by somebody else, then by wsfs."""
    os.makedirs(fs.path, exist_ok=True)
    holder = os.open(fs.lower, os.O_RDONLY | os.O_EXCL)
    try:
        assert attempt(libc.mount, fs.lower, fs.xfs.path, "xfs") == "EBUSY"
        assert attempt(libc.mount, fs.lower, fs.path, "wsfs") == "EBUSY"
    finally:
        os.close(holder)
    fs.mount()
    assert attempt(os.open, fs.lower, os.O_RDWR | os.O_EXCL) == "EBUSY"
    assert status("mkfs.xfs", "-f", fs.lower)[0]


@pytest.mark.quick
def test_read_only(fs):
    fs.mount()
    with open(f"{fs.path}/f", "w") as f:
        f.write("content")
    fs.umount()
    fs.mount(options=["ro"])
    with open(f"{fs.path}/f") as f:
        assert f.read() == "content"
    assert attempt(os.mkdir, f"{fs.path}/d") == "EROFS"
    assert "ro" in options_of(fs.path)
    run("mount", "-o", "remount,rw", fs.path)
    os.mkdir(f"{fs.path}/d")


def below_is_read_only(fs):
    """XFS's superblock is one with that of a second mount, if they agree."""
    code, output = status("mount", "-t", "xfs", "-o", "ro", fs.lower, fs.xfs.path)
    if code:
        return False
    run("umount", fs.xfs.path)
    return True


def test_remount_goes_down_to_xfs(fs):
    fs.mount()
    with open(f"{fs.path}/f", "w") as f:
        f.write("content")
        assert status("mount", "-o", "remount,ro", fs.path)[0], "busy with a writer"
        assert "rw" in options_of(fs.path)
    assert not below_is_read_only(fs)
    run("mount", "-o", "remount,ro", fs.path)
    assert below_is_read_only(fs)
    assert attempt(os.mkdir, f"{fs.path}/d") == "EROFS"
    run("mount", "-o", "remount,rw", fs.path)
    assert not below_is_read_only(fs)
    os.mkdir(f"{fs.path}/d")
    fd = os.open(f"{fs.path}/unlinked", os.O_CREAT | os.O_RDONLY)
    os.unlink(f"{fs.path}/unlinked")
    assert attempt(libc.mount, "", fs.path, "", MS_REMOUNT | MS_RDONLY) == "EBUSY"
    os.close(fd)
    assert attempt(libc.mount, "", fs.path, "", MS_REMOUNT | MS_RDONLY) is None
    assert below_is_read_only(fs)


def test_remount_changes_what_xfs_can_change(fs):
    fs.mount(2)
    assert "inode64" in options_of(fs.path)
    run("mount", "-o", "remount,inode32", fs.path)
    assert "inode32" in options_of(fs.path)
    run("mount", "-o", "remount,inode64", fs.path)
    assert "inode64" in options_of(fs.path)
    for option in ("nonsense", "streams=3", "logbsize=5"):
        assert attempt(libc.mount, "", fs.path, "", MS_REMOUNT, option) == "EINVAL", option
    assert fs.geometry().streams == 2
    os.mkdir(f"{fs.path}/d")


def test_mounted_as_xfs_too(fs):
    """One XFS, seen twice; who could still write forbids remounting."""
    fs.mount()
    fs.xfs.mount()
    with open(f"{fs.xfs.path}/f", "w") as f:
        f.write("content")
    with open(f"{fs.path}/f") as f:
        assert f.read() == "content"
    code, output = status("mount", "-o", "remount,ro", fs.path)
    assert code and "xfs" in output
    os.mkdir(f"{fs.path}/d")
    fs.xfs.umount()
    run("mount", "-o", "remount,ro", fs.path)
    run("mount", "-o", "remount,rw", fs.path)


def test_mounted_twice(fs, base):
    """The second mount shares all, and each umount ends its own."""
    fs.mount(4)
    second = Wsfs(fs.lower, f"{base}/second")
    second.mount()
    with open(f"{second.path}/f", "w") as f:
        f.write("content")
    stream = fs.alloc()
    assert int(second.sysfs("reserved")) == 1
    stream.close()
    fs.umount()
    with open(f"{second.path}/f") as f:
        assert f.read() == "content"
    second.umount()
    assert not in_use(fs.lower)


def test_device_and_directory(fs, base):
    """The two kinds of source over one XFS share the streams."""
    fs.xfs.mount()
    stacked = Wsfs(fs.xfs.path, f"{base}/stacked")
    stacked.mount(4)
    fs.mount()
    held = stacked.alloc()
    assert int(fs.sysfs("reserved")) == 1
    held.close()
    stacked.umount()
    fs.xfs.umount()
    os.mkdir(f"{fs.path}/d")


def test_options_for_a_directory(fs, base):
    """A mounted XFS has its options already."""
    fs.xfs.mount()
    stacked = Wsfs(fs.xfs.path, f"{base}/stacked")
    with pytest.raises(Failed, match="directory"):
        stacked.mount(4, ["noquota"])
    stacked.mount(4)
    assert attempt(libc.mount, "", stacked.path, "", MS_REMOUNT, "inode32") == "EINVAL"
    stacked.umount()


def test_same_uuid_twice(fs, disks, base):
    """nouuid is needed, and enough."""
    uuid = run("blkid", "-s", "UUID", "-o", "value", disks[0]).strip()
    twin = Xfs(disks[1], f"{base}/twin")
    twin.mkfs(8, 32, "-m", f"uuid={uuid}")
    fs.mount()
    second = Wsfs(disks[1], f"{base}/second")
    os.makedirs(second.path, exist_ok=True)
    want = attempt(libc.mount, disks[1], fs.xfs.path, "xfs")
    assert attempt(libc.mount, disks[1], second.path, "wsfs") == want == "EINVAL"
    second.mount(2, ["nouuid"])
    os.mkdir(f"{second.path}/d")
    second.umount()


def test_log_on_another_device(fs, disks):
    zero(disks[1], 1 << 20)
    run(
        "mkfs.xfs", "-f", "-K", "-q", "-d", "agcount=8,size=256m",
        "-l", f"logdev={disks[1]},size=32m", disks[0],
        env={"TEST_DIR": "/", "TEST_DEV": "none", "QA_CHECK_FS": "1"},
    )  # fmt: skip
    os.makedirs(fs.path, exist_ok=True)
    want = attempt(libc.mount, fs.lower, fs.xfs.path, "xfs")
    assert attempt(libc.mount, fs.lower, fs.path, "wsfs") == want is not None
    fs.mount(4, [f"logdev={disks[1]}"])
    assert f"logdev={disks[1]}" in options_of(fs.path)
    with open(f"{fs.path}/f", "w") as f:
        f.write("content")
    assert in_use(disks[1])
    fs.umount()
    assert not in_use(disks[1])
    run("xfs_repair", "-n", "-l", disks[1], disks[0])
    fs.xfs.mkfs(8, 32)


def mkfs_realtime(disks, size, data=""):
    zero(disks[1], 1 << 20)
    run(
        "mkfs.xfs", "-f", "-K", "-q", "-d", f"agcount=8,size=256m{data}", "-l", "size=16m",
        "-m", "reflink=0,rmapbt=0", "-r", f"rtdev={disks[1]},size={size}", disks[0],
        env={"TEST_DIR": "/", "TEST_DEV": "none", "QA_CHECK_FS": "1"},
    )  # fmt: skip


def test_realtime_device(fs, disks):
    mkfs_realtime(disks, "256m")
    fs.mount(4, [f"rtdev={disks[1]}"])
    fd = os.open(f"{fs.path}/f", os.O_CREAT | os.O_RDWR)
    attr = ioctls.FsXattr.of(fd)
    attr.xflags |= 1  # realtime
    attr.apply(fd)
    os.write(fd, b"x" * 65536)
    os.fsync(fd)
    os.close(fd)
    fs.umount()
    run("xfs_repair", "-n", "-r", disks[1], disks[0])
    fs.xfs.mkfs(8, 32)


def test_realtime_by_inheritance(fs, disks):
    """The realtime volume answers statfs in the root, and is no AG."""
    mkfs_realtime(disks, "1g", data=",rtinherit=1")
    fs.mount(4, [f"rtdev={disks[1]}"])
    os.mkdir(f"{fs.path}/data")
    fd = os.open(f"{fs.path}/data", os.O_RDONLY)
    attr = ioctls.FsXattr.of(fd)
    attr.xflags &= ~0x100  # FS_XFLAG_RTINHERIT
    attr.apply(fd)
    stream = ioctls.alloc(fd)
    file = os.open(f"{fs.path}/data/f", os.O_CREAT | os.O_RDWR)
    ioctls.set_stream(file, stream)
    assert ioctls.Geometry.of(fd).agcount == 8
    for held in (file, stream, fd):
        os.close(held)
    fs.umount()
    fs.xfs.mkfs(8, 32)


def test_quota_options_count(fs):
    fs.mount(2, ["uquota", "pquota"])
    with open(f"{fs.path}/f", "wb") as f:
        f.write(b"x" * (1 << 20))
        os.fchown(f.fileno(), 1234, 0)
        os.fsync(f.fileno())
    report = run("xfs_quota", "-x", "-f", "-c", "quota -N -u 1234", fs.path)
    assert "1024" in report, report


def test_in_a_user_namespace(fs, base):
    """Only the administrator of the machine mounts devices."""
    os.makedirs(fs.path, exist_ok=True)
    done = subprocess.run(
        ["unshare", "-Urm", "mount", "-t", "wsfs", fs.lower, fs.path],
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode
    assert options_of(fs.path) is None


def test_mkfs_and_fsck(fs, disks):
    """mkfs -t wsfs and fsck -t wsfs hand over to XFS's."""
    here = os.path.dirname(os.path.abspath(__file__))
    sbin = os.path.normpath(f"{here}/../../userspace/sbin")
    env = {"PATH": f"{sbin}:{os.environ['PATH']}"}
    zero(disks[1], 1 << 20)
    run("mkfs", "-t", "wsfs", "-f", "-K", "-q", "-L", "made", disks[1], env=env)
    found = run("blkid", "-s", "TYPE", "-s", "LABEL", "-o", "value", disks[1]).split()
    assert found == ["made", "xfs"]
    assert run("fsck", "-t", "wsfs", disks[1], env=env) is not None
    twin = Wsfs(disks[1], fs.path)
    twin.mount()
    twin.umount()


def test_error_numbers(fs):
    """Without privilege, without source."""
    os.makedirs(fs.path, exist_ok=True)
    pid = os.fork()
    if pid == 0:
        os.setresuid(1000, 1000, 1000)
        os._exit(attempt(libc.mount, fs.lower, fs.path, "wsfs") != "EPERM")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert attempt(libc.mount, "", fs.path, "wsfs") == "EINVAL"
