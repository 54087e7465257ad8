# SPDX-License-Identifier: GPL-2.0
"""wsfs exported through the kernel's NFS server answers as XFS exported the same way."""

import fcntl
import os

import pytest

from lib import ioctls, nfs
from lib.compare import attempt, tree
from lib.pattern import pattern
from lib.shell import run

DATA = pattern(3, 0, 300_000)

pytestmark = pytest.mark.long


def drop_caches():
    """The server has to find files by their handles."""
    run("sync")
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as f:
        f.write("3\n")


@pytest.fixture
def exported(pair, base, request):
    """Run a scenario on each side's export; the answers must agree."""
    if why := nfs.missing():
        pytest.skip(why)
    name = request.node.name

    def run_on_both(scenario):
        answers = []
        for bed in reversed(pair):
            os.mkdir(bed.at(name))
            with nfs.exported(bed.path, f"{base}/nfs") as mount:
                answers.append(scenario(f"{mount}/{name}"))
            answers[-1] = answers[-1], tree(bed.at(name))
        want, got = answers
        assert got == want, "wsfs exported differs from XFS exported"
        return got[0]

    return run_on_both


def test_names_and_data(exported):
    def scenario(d):
        answers = []
        for i in range(200):
            with open(f"{d}/{i}", "wb") as f:
                f.write(DATA[: i * 1000])
        drop_caches()
        for i in range(0, 200, 3):
            answers.append(attempt(os.rename, f"{d}/{i}", f"{d}/r{i}"))
        for i in range(1, 200, 3):
            answers.append(attempt(os.link, f"{d}/{i}", f"{d}/l{i}"))
            answers.append(attempt(os.unlink, f"{d}/{i}"))
        os.mkdir(f"{d}/sub")
        answers += [
            attempt(os.rename, f"{d}/2", f"{d}/sub/2"),
            attempt(os.rmdir, f"{d}/sub"),
            attempt(os.symlink, "x", f"{d}/s"),
            attempt(os.mkfifo, f"{d}/p"),
            attempt(os.truncate, f"{d}/r3", 77),
            attempt(os.setxattr, f"{d}/r3", "user.a", b"v"),
            attempt(os.chmod, f"{d}/r3", 0o4711),
            attempt(os.chown, f"{d}/r3", 5, 6),
            attempt(os.listdir, f"{d}/none"),
        ]
        drop_caches()
        status = os.stat(f"{d}/r3")
        return answers, sorted(os.listdir(d)), (oct(status.st_mode), status.st_uid, status.st_size)

    exported(scenario)


def test_open_files_survive_the_servers_caches(exported):
    def scenario(d):
        fd = os.open(f"{d}/f", os.O_RDWR | os.O_CREAT)
        os.write(fd, DATA)
        os.fsync(fd)
        drop_caches()
        answers = [os.pread(fd, 100, 4096), attempt(os.pwrite, fd, b"new", 5)]
        os.rename(f"{d}/f", f"{d}/g")
        drop_caches()
        answers.append(attempt(os.pwrite, fd, b"renamed", len(DATA)))
        os.unlink(f"{d}/g")
        answers.append(os.fstat(fd).st_size)
        answers.append(attempt(fcntl.lockf, fd, fcntl.LOCK_EX | fcntl.LOCK_NB))
        os.close(fd)
        return answers

    exported(scenario)


def test_private_directory_is_hidden(pair, base, plain):
    if plain:
        pytest.skip("--plain: no wsfs")
    if why := nfs.missing():
        pytest.skip(why)
    bed = pair[0]
    fd = os.open(bed.at("homed"), os.O_RDWR | os.O_CREAT)
    streams = [bed.wsfs.alloc() for _ in range(2)]  # one is not the file's own AG's
    for stream in streams:
        ioctls.set_stream(fd, stream.fd)
    for stream in streams:
        stream.close()
    os.close(fd)
    assert os.path.isdir(bed.below(".wsfs"))
    with nfs.exported(bed.path, f"{base}/nfs") as mount:
        assert ".wsfs" not in os.listdir(mount)
        assert attempt(os.stat, f"{mount}/.wsfs") == "ENOENT"


def test_set_on_the_server_is_seen_by_clients(pair, base, plain):
    """A client that has the file open follows the swap or is told ESTALE; its
    data is never lost without an error."""
    if plain:
        pytest.skip("--plain: no streams")
    if why := nfs.missing():
        pytest.skip(why)
    bed = pair[0]
    os.mkdir(bed.at("swap"))
    with nfs.exported(bed.path, f"{base}/nfs") as mount:
        client = os.open(f"{mount}/swap/f", os.O_RDWR | os.O_CREAT)
        stream = bed.wsfs.alloc()
        server = os.open(bed.at("swap/f"), os.O_RDWR)
        ioctls.set_stream(server, stream.fd)
        answer = attempt(os.pwrite, client, b"client", 0)
        answer = answer if isinstance(answer, str) else attempt(os.fsync, client)
        attempt(os.close, client)
        assert answer in (None, "ESTALE", "EIO"), answer
        got = os.pread(server, 100, 0)
        assert got == (b"client" if answer is None else b"")
        # A client that looks anew finds it.
        with open(f"{mount}/swap/f", "r+b") as f:
            f.write(b"again!")
        assert os.pread(server, 100, 0) == b"again!"
        os.close(server)
        stream.close()
