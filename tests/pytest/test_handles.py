# SPDX-License-Identifier: GPL-2.0
"""File handles: the same as those of the XFS below, and no way into .wsfs."""

import os

import pytest

from lib import handles
from lib.compare import attempt
from lib.handles import AT_HANDLE_CONNECTABLE, Handle
from lib.wsfs import PRIVATE


@pytest.fixture
def made(bed):
    bed.make(agcount=8, streams=4)
    return bed


def test_the_same_below(made):
    """A handle means the same file on wsfs, on the XFS and after unmounting."""
    os.mkdir(made.at("d"))
    with open(made.at("d/f"), "w") as f:
        f.write("content")
    above = {name: handles.of(made.at(name)) for name in ("d", "d/f")}
    assert above == {name: handles.of(made.below(name)) for name in above}
    made.remount()
    for mount in (made.path, made.lower):
        fd = handles.open_handle(mount, above["d/f"])
        assert os.read(fd, 100) == b"content"
        os.close(fd)


def test_set_by_handle(made):
    """SET on a file that was opened by its handle, with and without a name."""
    os.mkdir(made.at("d"))
    made.close(made.open("d/f"))
    handle = handles.of(made.at("d/f"))
    stream = made.alloc()
    handles.drop_caches()
    fd = made.adopt(handles.open_handle(made.path, handle, os.O_RDWR))
    made.set(fd, stream)
    info = made.info(fd)
    assert info.has_stream and info.placed_somehow
    os.write(fd, b"content")
    with open(made.at("d/f")) as f:
        assert f.read() == "content"


def test_opened_by_handle_and_by_name(made):
    """Both are one file, whichever came first, and SET moves it for both."""
    made.close(made.open("f"))
    handle = handles.of(made.at("f"))
    handles.drop_caches()
    by_handle = made.adopt(handles.open_handle(made.path, handle, os.O_RDWR))
    by_name = made.open("f")
    assert os.fstat(by_handle).st_ino == os.fstat(by_name).st_ino
    for _ in range(4):
        made.set(by_name, made.alloc())
    os.write(by_handle, b"content")
    assert os.pread(by_name, 100, 0) == b"content"
    assert os.fstat(by_handle).st_ino == os.fstat(by_name).st_ino
    os.unlink(made.at("f"))
    assert os.fstat(by_handle).st_nlink == os.fstat(by_name).st_nlink == 0


def test_moved_below_meanwhile(made):
    os.makedirs(made.at("a/b"))
    with open(made.at("a/b/f"), "w") as f:
        f.write("content")
    handle = handles.of(made.at("a/b/f"))
    os.rename(made.below("a"), made.below("moved"))
    fd = made.adopt(handles.open_handle(made.path, handle))
    assert os.read(fd, 100) == b"content"
    directory = handles.of(made.below("moved/b"))
    fd = made.adopt(handles.open_handle(made.path, directory, os.O_DIRECTORY))
    assert os.listdir(fd) == ["f"]


@pytest.mark.quick
def test_no_way_into_the_private_directory(made):
    """Handles made on the XFS for .wsfs and what is in it are stale here."""
    fd = made.open("f")
    for _ in range(4):
        made.set(fd, made.alloc())
    inner = [e.path for e in os.scandir(made.below(PRIVATE)) if e.is_dir()]
    assert inner
    for path in [made.below(PRIVATE), *inner]:
        for flags in (0, AT_HANDLE_CONNECTABLE):
            handle = attempt(handles.of, path, flags)
            if not isinstance(handle, Handle):
                continue
            for how in (os.O_PATH, os.O_RDONLY | os.O_DIRECTORY):
                assert attempt(handles.open_handle, made.path, handle, how) == "ESTALE"
    stray = f"{inner[0]}/stray"
    with open(stray, "w"):
        pass
    handle = handles.of(stray)
    try:
        assert attempt(handles.open_handle, made.path, handle, os.O_RDWR) == "ESTALE"
    finally:
        os.unlink(stray)


def test_handle_of_a_file_that_set_has_moved(made):
    """The old handle is stale, as the manual says, the new one good."""
    fd = made.open("f")
    old = handles.of(made.at("f"))
    for _ in range(4):
        made.set(fd, made.alloc())
    os.write(fd, b"content")
    new = handles.of(fd)
    if new != old:
        assert attempt(handles.open_handle, made.path, old) == "ESTALE"
    again = made.adopt(handles.open_handle(made.path, new))
    assert os.read(again, 100) == b"content"
