# SPDX-License-Identifier: GPL-2.0
"""What is built on wsfs files: loop devices, overlayfs, programs, swap."""

import os
import subprocess

import pytest

from lib import libc
from lib.compare import attempt, tree
from lib.shell import run, status


@pytest.fixture
def made(bed):
    bed.make(agcount=8, streams=4)
    return bed


@pytest.mark.quick
@pytest.mark.parametrize("direct", ["on", "off"])
def test_loop_device(made, base, direct):
    """A filesystem in a file with a stream, through a loop device."""
    fd = made.open("image")
    made.set(fd, made.alloc())
    os.ftruncate(fd, 100 << 20)
    status("modprobe", "-q", "loop")
    loop = run("losetup", "-f", "--show", f"--direct-io={direct}", made.at("image")).strip()
    inner = f"{base}/inner"
    os.makedirs(inner, exist_ok=True)
    try:
        run("mkfs.ext4", "-q", loop)
        run("mount", loop, inner)
        try:
            for i in range(20):
                with open(f"{inner}/{i}", "wb") as f:
                    f.write(bytes([i]) * 300_000)
            run("fstrim", inner)
            os.sync()
        finally:
            run("umount", inner)
        assert "/image" in run("losetup", "-n", "-O", "BACK-FILE", loop)
    finally:
        run("losetup", "-d", loop)
    os.fsync(fd)
    run("fsck.ext4", "-f", "-n", made.below("image"))
    assert made.info(fd).homed and not made.info(fd).missed
    run("mount", "-o", "loop,ro", made.at("image"), inner)
    try:
        for i in range(20):
            with open(f"{inner}/{i}", "rb") as f:
                assert f.read() == bytes([i]) * 300_000
    finally:
        run("umount", inner)


@pytest.fixture
def overlay(made, base):
    """overlayfs with all its layers on wsfs, and options to choose."""
    top = f"{base}/overlay"
    os.makedirs(top, exist_ok=True)
    for name in ("low", "up", "work"):
        os.mkdir(made.at(name))
    with open(made.at("low/old"), "w") as f:
        f.write("from below")
    os.mkdir(made.at("low/dir"))
    with open(made.at("low/dir/inner"), "w") as f:
        f.write("inner")

    def mount(*options):
        layers = f"lowerdir={made.at('low')},upperdir={made.at('up')},workdir={made.at('work')}"
        run("mount", "-t", "overlay", "-o", ",".join([layers, *options]), "overlay", top)
        made.on_finish(lambda: status("umount", top))
        return top

    return mount


@pytest.mark.quick
def test_overlay_upper(made, overlay):
    """Copying up, whiteouts, opaque directories, renames, locks, mappings."""
    top = overlay()
    with open(f"{top}/old", "r+") as f:
        f.write("FROM")
    with open(f"{top}/new", "w") as f:
        f.write("new")
    os.unlink(f"{top}/dir/inner")
    assert os.listdir(f"{top}/dir") == []
    os.rmdir(f"{top}/dir")
    os.mkdir(f"{top}/dir")
    assert os.listdir(f"{top}/dir") == []
    os.rename(f"{top}/new", f"{top}/renamed")
    os.link(f"{top}/renamed", f"{top}/linked")
    os.setxattr(f"{top}/renamed", "user.a", b"b")
    os.symlink("old", f"{top}/symlink")
    libc.renameat2(f"{top}/old", f"{top}/symlink", libc.RENAME_EXCHANGE)
    fd = os.open(top, os.O_TMPFILE | os.O_RDWR)
    os.write(fd, b"unnamed")
    libc.linkat_fd(fd, f"{top}/named")
    os.close(fd)
    with open(f"{top}/symlink") as f:
        assert f.read() == "FROM below"
    assert sorted(os.listdir(top)) == ["dir", "linked", "named", "old", "renamed", "symlink"]
    with open(made.at("low/old")) as f:
        assert f.read() == "from below"
    with open(made.at("up/named")) as f:
        assert f.read() == "unnamed"
    seen = tree(top)
    run("umount", top)
    made.wsfs.umount()
    made.wsfs.mount(4)
    again = overlay_again(made, top)
    assert tree(again) == seen
    run("umount", again)


def overlay_again(made, top):
    layers = f"lowerdir={made.at('low')},upperdir={made.at('up')},workdir={made.at('work')}"
    run("mount", "-t", "overlay", "-o", layers, "overlay", top)
    return top


@pytest.mark.parametrize(
    "options",
    [("index=on",), ("index=on", "nfs_export=on"), ("metacopy=on",), ("redirect_dir=on",)],
)
def test_overlay_options(made, overlay, options):
    """Those that need file handles and xattrs of the upper layer."""
    top = overlay(*options)
    with open("/proc/self/mounts") as f:
        line = next(line for line in f if line.split()[1] == top)
    for option in options:
        assert option in line, "overlayfs has fallen back"
    if options == ("redirect_dir=on",):
        os.rename(f"{top}/dir", f"{top}/moved")
    os.chmod(f"{top}/old", 0o600)
    with open(f"{top}/old", "a") as f:
        f.write(" and above")
    with open(f"{top}/old") as f:
        assert f.read() == "from below and above"
    run("umount", top)


def test_overlay_says_nothing(made, overlay, kernel_log):
    """No word of what the upper layer lacks."""
    overlay()
    with open(os.path.join(made.path, "low/old")) as f:
        assert f.read()
    words = [line for line in kernel_log.read() if "overlayfs" in line]
    assert not [w for w in words if "does not support" in w or "falling back" in w], words


def test_swap_file(made):
    fd = made.open("swap", mode=0o600)
    made.set(fd, made.alloc())
    libc.fallocate(fd, 0, 0, 16 << 20)
    os.fsync(fd)
    run("mkswap", made.at("swap"))
    if status("swapon", made.at("swap"))[0]:
        pytest.skip("no swap in this kernel")
    try:
        assert attempt(os.unlink, made.at("swap")) == "EPERM"
        assert attempt(os.truncate, made.at("swap"), 0) == "ETXTBSY"
    finally:
        run("swapoff", made.at("swap"))
    os.truncate(made.at("swap"), 0)


def test_programs_run(made):
    """exec, its interpreter and a shared library from wsfs."""
    run("cp", "/bin/echo", made.at("echo"))
    assert run(made.at("echo"), "word") == "word\n"
    with open(made.at("script"), "w") as f:
        f.write(f"#!{made.at('echo')} argument\n")
    os.chmod(made.at("script"), 0o755)
    assert "argument" in run(made.at("script"))
    program = subprocess.Popen([made.at("echo"), "x"], stdout=subprocess.DEVNULL)
    program.wait()
    assert os.path.realpath(f"{made.path}/echo") == made.at("echo")
