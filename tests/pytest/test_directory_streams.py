# SPDX-License-Identifier: GPL-2.0
"""Directories with a stream: files made in them are born in it, at home, with
all that their directory gives them, and nobody has to ask for it."""

import errno
import os
import stat
import threading

import pytest

from lib import births, ioctls, parents
from lib.births import WAYS, acting_as, by_open, by_tmpfile, directory, looks, make, way_name
from lib.compare import attempt
from lib.idmap import IdmappedMount, UserNamespace
from lib.ioctls import FsXattr
from lib.placement import assert_balanced, assert_placed
from lib.shell import run
from lib.wsctl import ok

USER = 1000


@pytest.fixture
def four(room):
    """A bed of 16 AGs and its 4 streams, by id."""
    return room, sorted((room.alloc() for _ in range(4)), key=lambda stream: stream.id)


@pytest.mark.parametrize("way", WAYS, ids=way_name)
@pytest.mark.quick
def test_born_at_home(four, way):
    """Every file carries the stream and lies in its set, AGs in turn; no inode
    was replaced: a file keeps the one it was made with."""
    bed, streams = four
    for stream in streams:
        directory(bed, f"d{stream.id}", stream)
    homed = [bed.wsfs.count(stream.id, "homed") for stream in streams]
    fds = {stream.id: [] for stream in streams}
    for i in range(8):
        for stream in streams:
            fd = make(bed, way, f"d{stream.id}", f"f{i}")
            info = bed.info(fd)
            assert info.homed and not info.missed and not info.anchored
            assert (info.stream, info.inode_agno) == (stream.id, info.home_agno)
            births.fill(fd)
            fds[stream.id].append(fd)
    layout = bed.xfs.layout()
    for stream in streams:
        allowed = bed.wsfs.ag_set(stream.id)
        assert_placed(layout, [(f"d{stream.id}", fd, allowed) for fd in fds[stream.id]])
        assert_balanced(layout, fds[stream.id], allowed)
        assert bed.wsfs.count(stream.id, "homed") == homed[stream.id] + 8
        assert bed.wsfs.count(stream.id, "files") == 8
        assert bed.wsfs.count(stream.id, "missed") == 0
    assert sorted(os.listdir(bed.at("d0"))) == [f"f{i}" for i in range(8)]
    assert sorted(os.listdir(bed.below("d0"))) == [f"f{i}" for i in range(8)]


@pytest.mark.parametrize("shape", parents.SHAPES, ids=way_name)
def test_inherits_as_ever(four, shape):
    """A file in a directory with a stream has what one in its twin without has,
    and lies at home all the same."""
    bed, streams = four
    fds = parents.twins(bed, shape, streams[2])
    try:
        parents.compare_twins(bed)
        fd = bed.adopt(os.open(bed.at("with/by_open-0"), os.O_RDWR))
        births.fill(fd)
        info = bed.info(fd)
        assert info.stream == 2 and info.homed and not info.missed
        assert_placed(bed.xfs.layout(), [("with", fd, bed.wsfs.ag_set(2))])
    finally:
        for fd in fds:
            ioctls.setflags(fd, 0)


def test_times(four):
    """All of the four are those of the creation."""
    bed, streams = four
    directory(bed, "d", streams[3])
    fd = make(bed, by_open, "d", "f")
    got = os.fstat(fd)
    assert got.st_atime_ns == got.st_mtime_ns <= got.st_ctime_ns
    assert got.st_ctime_ns - got.st_mtime_ns < 10**9
    assert os.stat(bed.at("d")).st_mtime_ns >= got.st_mtime_ns


def test_the_name_is_taken(four):
    bed, streams = four
    directory(bed, "d", streams[1])
    first = make(bed, by_open, "d", "f")
    os.write(first, b"first")
    for way in (births.by_exclusive_open, births.by_mknod, by_tmpfile):
        with pytest.raises(FileExistsError):
            make(bed, way, "d", "f")
    again = make(bed, by_open, "d", "f")
    assert os.read(again, 9) == b"first"
    # made below meanwhile, behind a name that wsfs knows not to be there
    assert not os.path.exists(bed.at("d/g"))
    os.close(os.open(bed.below("d/g"), os.O_CREAT | os.O_WRONLY))
    with pytest.raises(FileExistsError):
        make(bed, births.by_exclusive_open, "d", "g")


def test_long_and_strange_names(four):
    bed, streams = four
    directory(bed, "d", streams[1])
    for name in ("x" * 255, "\n", " ", "-rf", "ü", ".wsfs", "#123"):
        assert bed.info(make(bed, by_open, "d", name)).homed
    with pytest.raises(OSError) as caught:
        make(bed, by_open, "d", "x" * 256)
    assert caught.value.errno == errno.ENAMETOOLONG


def test_other_files_are_not_touched(four):
    """Those that were there, are moved in or linked in; and what is no regular
    file is made as ever."""
    bed, streams = four
    fd = directory(bed, "d")
    old = make(bed, by_open, "d", "old")
    ioctls.set_dir(fd, ioctls.DIR_STREAM, streams[1].fd)
    outside = make(bed, by_open, ".", "outside")
    os.rename(bed.at("outside"), bed.at("d/moved"))
    os.link(bed.at("d/moved"), bed.at("d/linked"))
    for each in (old, outside):
        assert not bed.info(each).has_stream
    os.mkfifo(bed.at("d/fifo"))
    os.symlink("old", bed.at("d/symlink"))
    os.mknod(bed.at("d/null"), stat.S_IFCHR | 0o666, os.makedev(1, 3))
    assert bed.wsfs.count(1, "files") == 0
    born = make(bed, by_open, "d", "born")
    os.rename(bed.at("d/born"), bed.at("away"))
    assert bed.info(born).stream == 1


def test_subdirectories_inherit(four):
    """Those made from then on, at any depth; by a copy, not by looking up."""
    bed, streams = four
    os.mkdir(bed.at("d"))
    os.mkdir(bed.at("d/old"))
    fd = bed.adopt(os.open(bed.at("d"), os.O_RDONLY))
    ioctls.set_dir(fd, ioctls.DIR_STREAM, streams[0].fd)
    os.makedirs(bed.at("d/a/b/c"))
    assert bed.info(make(bed, by_open, "d/a/b/c", "f")).stream == 0
    assert not bed.info(make(bed, by_open, "d/old", "f")).has_stream
    os.rename(bed.at("d/a/b"), bed.at("b"))
    assert bed.info(make(bed, by_open, "b/c", "g")).stream == 0
    ioctls.set_dir(fd, ioctls.DIR_DEFAULT)
    assert bed.info(make(bed, by_open, "d/a", "f")).stream == 0
    assert not bed.info(make(bed, by_open, "d", "f")).has_stream
    # a directory has it, and is no file of the stream
    info = bed.info(bed.adopt(os.open(bed.at("d/a"), os.O_RDONLY)))
    assert info.has_stream and info.stream == 0


def test_outlives_the_inode(four):
    """The directory forgets nothing when it leaves memory, and takes nothing
    along when it is removed."""
    bed, streams = four
    bed.close(directory(bed, "d", streams[2]))
    os.mkdir(bed.at("d/sub"))
    ino = os.stat(bed.at("d")).st_ino
    with open("/proc/sys/vm/drop_caches", "w") as f:
        f.write("2")
    assert bed.info(make(bed, by_open, "d/sub", "f")).stream == 2
    assert bed.info(make(bed, by_open, "d", "f")).stream == 2
    bed.close_all()
    run("rm", "-r", bed.at("d"))
    again = []
    for i in range(64):
        os.mkdir(bed.at(f"n{i}"))
        again.append(os.stat(bed.at(f"n{i}")).st_ino)
        fd = os.open(bed.at(f"n{i}/f"), os.O_CREAT | os.O_RDWR)
        assert not bed.info(fd).has_stream
        os.close(fd)
    print("inode number used again:", ino in again)


def test_ends_with_the_reservation(four):
    """A later owner of the same stream gets none of the files."""
    bed, streams = four
    directory(bed, "d", streams[1])
    os.mkdir(bed.at("d/sub"))
    first = make(bed, by_open, "d", "first")
    assert bed.info(first).stream == 1
    streams[1].close()
    for where in ("d", "d/sub"):
        assert not bed.info(make(bed, by_open, where, "f")).has_stream
    again = bed.alloc()
    assert again.id == 1
    assert not bed.info(make(bed, by_open, "d", "g")).has_stream
    assert not bed.info(first).has_stream
    directory(bed, "e", again)
    assert bed.info(make(bed, by_open, "e", "g")).stream == 1


def test_changed_and_cleared(four):
    bed, streams = four
    fd = directory(bed, "d", streams[1])
    one = make(bed, by_open, "d", "one")
    ioctls.set_dir(fd, ioctls.DIR_STREAM, streams[3].fd)
    three = make(bed, by_open, "d", "three")
    ioctls.set_dir(fd, ioctls.DIR_DEFAULT)
    none = make(bed, by_open, "d", "none")
    assert (bed.info(one).stream, bed.info(three).stream) == (1, 3)
    assert not bed.info(none).has_stream
    assert bed.info(none).inode_agno == bed.info(fd).inode_agno


def test_set_on_a_file_born_in_a_stream(four):
    """SET and CLEAR go on as ever; a hint gives way."""
    bed, streams = four
    directory(bed, "d", streams[1])
    fd = make(bed, by_open, "d", "f")
    bed.set(fd, streams[2])
    assert bed.info(fd).stream == 2 and bed.info(fd).homed
    ioctls.clear_stream(fd)
    assert not bed.info(fd).has_stream
    # whoever sees both open sees one file
    other = make(bed, by_open, "d", "f")
    os.write(other, b"data")
    assert os.pread(fd, 4, 0) == b"data"


def test_errors(four):
    bed, streams = four
    fd = directory(bed, "d")
    file = make(bed, by_open, "d", "f")
    sets = [
        (errno.EINVAL, fd, 99, -1, 0),
        (errno.EINVAL, fd, ioctls.DIR_DEFAULT, streams[0].fd, 0),
        (errno.EINVAL, fd, ioctls.DIR_DEFAULT, -1, 1),
        (errno.EINVAL, fd, ioctls.DIR_STREAM, file, 0),
        (errno.EBADF, fd, ioctls.DIR_STREAM, -1, 0),
        (errno.EBADF, fd, ioctls.DIR_STREAM, 9999, 0),
        (errno.ENOTDIR, file, ioctls.DIR_STREAM, streams[0].fd, 0),
        (errno.ENOTDIR, file, ioctls.DIR_DEFAULT, -1, 0),
    ]
    for want, where, how, stream_fd, reserved in sets:
        with pytest.raises(OSError) as caught:
            ioctls.set_dir(where, how, stream_fd, reserved)
        assert caught.value.errno == want, (where, how, stream_fd, reserved)
    # the series' own SET says of a directory what it always said
    with pytest.raises(OSError) as caught:
        bed.set(fd, streams[0])
    assert caught.value.errno == errno.EINVAL
    assert not bed.info(fd).has_stream


def test_who_may(four):
    bed, streams = four
    fd = directory(bed, "d")
    os.mkdir(bed.at("theirs"))
    os.chown(bed.at("theirs"), USER, USER)
    os.chmod(bed.path, 0o755)
    theirs = bed.adopt(os.open(bed.at("theirs"), os.O_RDONLY))
    with acting_as(USER, (), 0o022):
        with pytest.raises(PermissionError):
            ioctls.set_dir(fd, ioctls.DIR_STREAM, streams[0].fd)
        ioctls.set_dir(theirs, ioctls.DIR_STREAM, streams[0].fd)
    assert bed.info(make(bed, by_open, "theirs", "f")).stream == 0
    ioctls.setflags(fd, ioctls.FS_IMMUTABLE_FL)
    try:
        with pytest.raises(PermissionError):
            ioctls.set_dir(fd, ioctls.DIR_STREAM, streams[0].fd)
    finally:
        ioctls.setflags(fd, 0)


def test_filestream(four):
    bed, streams = four
    fd = directory(bed, "d")
    parents.change(fd, ioctls.XFLAG_FILESTREAM)
    with pytest.raises(OSError) as caught:
        ioctls.set_dir(fd, ioctls.DIR_STREAM, streams[0].fd)
    assert caught.value.errno == errno.EBUSY
    # marked afterwards: files are as XFS makes them, and that is counted
    change_off = FsXattr.of(fd)
    change_off.xflags &= ~ioctls.XFLAG_FILESTREAM
    change_off.apply(fd)
    ioctls.set_dir(fd, ioctls.DIR_STREAM, streams[0].fd)
    parents.change(fd, ioctls.XFLAG_FILESTREAM)
    missed = bed.wsfs.count(0, "missed")
    for i, way in enumerate(WAYS):
        assert not bed.info(make(bed, way, "d", f"f{i}")).has_stream
    assert bed.wsfs.count(0, "missed") == missed + len(WAYS)


def test_idmapped_mount(four, base):
    """Owners are made by the idmap, at home as elsewhere."""
    bed, streams = four
    for name, stream in (("with", streams[1]), ("without", None)):
        directory(bed, name, stream)
        os.chown(bed.at(name), 100_000, 100_000)
    with UserNamespace(100_000) as ns, IdmappedMount(bed.path, f"{base}/mapped", ns) as mapped:
        # uid 0 of the mount is 100000 on disk
        for way in WAYS:
            results = [
                attempt(lambda d=d, w=way: os.close(w(f"{mapped}/{d}", way.__name__, 0o640)))
                for d in ("with", "without")
            ]
            assert results[0] == results[1]
            if os.path.exists(bed.at(f"without/{way.__name__}")):
                got, want = (looks(bed.at(f"{d}/{way.__name__}")) for d in ("with", "without"))
                assert got == want


@pytest.mark.quick
def test_many_at_once(four):
    """Threads make, open, remove and rename the same names: each O_EXCL is won
    once, and what is there at the end is whole."""
    bed, streams = four
    directory(bed, "d", streams[1])
    won, failures = [], []

    def work(number):
        try:
            for i in range(20):
                try:
                    fd = births.by_exclusive_open(bed.at("d"), f"f{i}", 0o644)
                except FileExistsError:
                    fd = by_open(bed.at("d"), f"f{i}", 0o644)
                else:
                    won.append(i)
                os.pwrite(fd, b"%d" % number, number)
                os.close(fd)
                by_tmp = by_tmpfile(bed.at("d"), f"t{number}-{i}", 0o600)
                os.close(by_tmp)
                os.unlink(bed.at(f"d/t{number}-{i}"))
        except BaseException as failure:
            failures.append(failure)
            raise

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert sorted(won) == list(range(20))
    for i in range(20):
        with open(bed.at(f"d/f{i}"), "rb") as f:
            assert f.read() == b"0123"
    assert sorted(os.listdir(bed.at("d"))) == sorted(f"f{i}" for i in range(20))
    assert bed.wsfs.count(1, "missed") == 0


def test_wsctl_tells_of_directories(four):
    """What a directory was given, what it inherited, and when that is over."""
    bed, streams = four

    def told(*names):
        files = ok("get", "--json", "-d", *map(bed.at, names)).json["files"]
        return [(it["born"], it["stream"] and it["stream"]["id"]) for it in files]

    directory(bed, "d", streams[1])
    os.makedirs(bed.at("d/below"))
    os.mkdir(bed.at("plain"))
    assert told("d", "d/below", "plain") == [("stream", 1), ("stream", 1), ("default", None)]
    for word, born in (([], "spread"), (["--free"], "spread_free"), (["--off"], "near")):
        ok("spread", *word, bed.at("plain"))
        assert told("plain") == [(born, None)]
    # Without -d it comes before the files of the directory.
    bed.close(make(bed, by_open, "d", "f"))
    first, second = ok("get", "--json", bed.at("d")).json["files"]
    assert first["directory"] and first["stream"] == {"id": 1}
    assert second["path"] == bed.at("d/f") and second["stream"]["homed"]
    streams[1].close()
    assert told("d") == [("stream", None)]
