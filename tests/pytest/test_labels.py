# SPDX-License-Identifier: GPL-2.0
"""The security label of a new file comes from the directory that it is in, from its
name and from who makes it, as on XFS, wherever the file is born; and SET keeps it.

To be run alone, in a guest that was booted for it:

    tests/vm/vm run -k 7.3 --append security=selinux … pytest.sh test_labels.py
"""

import os

import pytest

from lib import births, ioctls, parents, selinux
from lib.births import WAYS, directory, way_name
from lib.child import forked
from lib.swap import elsewhere

APP = "u:r:app_t"
DIR, BORN, SPECIAL, CHOSEN = (
    f"u:object_r:{name}_t" for name in ("dir", "born", "special", "chosen")
)
# (name, what its maker asks for): the label of a file made by its name
MADE = {("f", None): BORN, ("special", None): SPECIAL, ("chosen", CHOSEN): CHOSEN}


@pytest.fixture(scope="module")
def policy(module, plain):
    if reason := selinux.missing():
        pytest.skip(reason)
    selinux.load()


@pytest.fixture
def labelled(policy, bed):
    bed.make(agcount=8, streams=4)
    os.chmod(bed.path, 0o755)
    return bed


def label(path):
    return os.getxattr(path, selinux.XATTR).decode().rstrip("\0")


def make_all(way, path):
    """In a process of another domain than that of who has mounted."""

    def work():
        selinux.become(APP)
        for name, chosen in MADE:
            selinux.create_as(chosen)
            os.close(way(path, name, 0o644))
        selinux.create_as(None)
        os.mkdir(f"{path}/sub")

    assert forked(work) == 0


def in_stream(bed, name, fd):
    ioctls.set_dir(fd, ioctls.DIR_STREAM, bed.alloc().fd)


def spread(bed, name, fd):
    ioctls.set_dir(fd, ioctls.DIR_SPREAD)


def moved(bed, name, fd):
    """XFS makes the files, for they inherit an ACL."""
    in_stream(bed, name, fd)
    parents.default_acl(bed.at(name), fd)


@pytest.mark.parametrize("how", [in_stream, spread, moved], ids=way_name)
@pytest.mark.parametrize("way", WAYS, ids=way_name)
def test_new_files(labelled, how, way):
    bed = labelled
    for name in ("with", "without"):
        fd = directory(bed, name)
        os.setxattr(bed.at(name), selinux.XATTR, DIR.encode())
        if name == "with":
            how(bed, name, fd)
        make_all(way, bed.at(name))
    os.mkdir(bed.below("plain"))
    os.setxattr(bed.below("plain"), selinux.XATTR, DIR.encode())
    make_all(way, bed.below("plain"))

    names = [name for name, _ in MADE]
    want = {name: label(bed.below(f"plain/{name}")) for name in [*names, "sub"]}
    assert want["sub"] == DIR
    if way is not births.by_tmpfile:  # which is made without the name
        assert [want[name] for name in names] == list(MADE.values())
    for top in (bed.at("with"), bed.at("without"), bed.below("with"), bed.below("without")):
        assert {name: label(f"{top}/{name}") for name in want} == want, top
    agnos = set()
    for name in names:
        agnos.add(bed.info(bed.open(f"with/{name}", os.O_RDWR)).inode_agno)
    assert how is spread or agnos <= bed.wsfs.ag_set(bed.streams[0].id)
    assert how is not spread or len(agnos) == len(names)
    bed.remount()
    for top in (bed.at("with"), bed.below("with")):
        assert {name: label(f"{top}/{name}") for name in want} == want, top


@pytest.mark.parametrize("what", [DIR, CHOSEN])
def test_set_keeps_it(labelled, what):
    """The new inode has what the old one had, not what a new file would get."""
    bed = labelled
    for _ in range(4):
        bed.alloc()
    directory(bed, "d")
    os.setxattr(bed.at("d"), selinux.XATTR, DIR.encode())
    fd = bed.open("d/f")
    os.setxattr(bed.at("d/f"), selinux.XATTR, what.encode())
    ino = os.stat(bed.below("d/f")).st_ino
    stream = elsewhere(bed, fd)

    def set_stream():
        selinux.become(APP)
        bed.set(fd, stream)

    assert forked(set_stream) == 0
    assert bed.info(fd).homed and os.stat(bed.below("d/f")).st_ino != ino
    assert label(bed.at("d/f")) == label(bed.below("d/f")) == what
    bed.remount()
    assert label(bed.at("d/f")) == label(bed.below("d/f")) == what
