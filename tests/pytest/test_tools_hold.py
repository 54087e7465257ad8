# SPDX-License-Identifier: GPL-2.0
"""wsctl hold, release, run --hold, set --held, and wsfs-holdd."""

import os
import signal
import socket
import subprocess
import threading

import pytest

from lib import broker
from lib.child import Child
from lib.shell import run, status
from lib.wsctl import wsctl

USER = 4711
GROUP = 4712


@pytest.fixture
def mounted(bed):
    bed.make(agcount=16, streams=4)
    return bed


@pytest.fixture
def holdd(mounted, tmp_path):
    os.chmod(tmp_path, 0o755)
    for parent in tmp_path.parents[:3]:
        os.chmod(parent, 0o755)
    daemon = broker.Holdd(tmp_path)
    yield daemon
    daemon.end()


def as_service(*argv, groups=(GROUP,)):
    """(status, output) of a command of an unprivileged user."""
    done = subprocess.run(
        [str(a) for a in argv],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        user=USER,
        group=USER,
        extra_groups=list(groups),
        timeout=600,
    )
    return done.returncode, done.stdout


def test_streams_outlive_the_shell(mounted, holdd):
    run("sh", "-c", f"wsctl hold -n 3 db {mounted.path}")
    held = broker.wsctl_json("hold")["held"]
    assert [entry["name"] for entry in held] == ["db"]
    assert held[0]["count"] == 3
    assert held[0]["dev"] == mounted.wsfs.geometry().dev
    assert sorted(held[0]["ids"]) == broker.reserved(mounted.path)
    run("wsctl", "release", "db")
    assert broker.reserved(mounted.path) == []


def test_a_service_uses_them(mounted, holdd):
    broker.hold("db", mounted.path, 2, "--group", GROUP)
    ids = broker.wsctl_json("hold")["held"][0]["ids"]
    data = mounted.at("data")
    os.mkdir(data)
    os.chown(data, USER, USER)
    script = f"""
        set -e
        cd {data}
        touch a b
        wsctl set --stream 0 a
        wsctl set --held db:1 b
        dd if=/dev/zero of=a bs=64k count=16 conv=notrunc,fsync status=none
        dd if=/dev/zero of=b bs=64k count=16 conv=notrunc,fsync status=none
        echo $WSFS_STREAM_IDS
    """
    code, output = as_service("wsctl", "run", "--hold", "db", "--", "sh", "-c", script)
    assert (code, output.strip()) == (0, ",".join(map(str, ids)))
    run("wsctl", "check", "--stream", f"{data}/a={ids[0]}", "--stream", f"{data}/b={ids[1]}",
        "--isolated")
    # The streams are the broker's, so the files still carry them.
    run("wsctl", "check", data)
    assert broker.reserved(mounted.path) == sorted(ids)


def test_others_get_nothing(mounted, holdd):
    broker.hold("db", mounted.path, 1, "--group", GROUP)
    broker.hold("private", mounted.path)
    code, output = as_service("wsctl", "run", "--hold", "db", "--", "true", groups=())
    assert code == 125 and "EACCES" in output and str(GROUP) in output
    code, output = as_service("wsctl", "run", "--hold", "private", "--", "true")
    assert code == 125 and "EACCES" in output
    for command in (["release", "db"], ["hold", "mine", mounted.path]):
        code, output = as_service("wsctl", *command)
        assert code == 1, output
    assert len(broker.reserved(mounted.path)) == 2
    code, output = as_service("wsctl", "hold", groups=())
    assert code == 0 and "private" in output


def test_what_is_in_use_stays_until_its_user_ends(mounted, holdd):
    broker.hold("db", mounted.path)
    command = ["wsctl", "run", "--hold", "db", "--exec", "--", "sleep", "1000"]
    with subprocess.Popen(command) as user:
        broker.wait_for(lambda: os.readlink(f"/proc/{user.pid}/exe").endswith("sleep"))
        run("wsctl", "release", "db")
        assert len(broker.reserved(mounted.path)) == 1
        user.terminate()
    assert broker.reserved(mounted.path) == []


def test_a_full_disk_for_what_is_listed(mounted, holdd):
    broker.hold("db", mounted.path)
    for words in (["hold"], ["hold", "--json"], ["release", "--json", "db"]):
        with open("/dev/full", "wb") as full:
            done = wsctl(*words, stdout=full)
        assert done.status == 2 and b"could not be written" in done.err, (words, done)
    assert broker.reserved(mounted.path) == []


def test_more_than_there_are(mounted, holdd):
    code, output = status("wsctl", "hold", "-n", 5, "all", mounted.path)
    assert code == 1 and "ENOSPC" in output
    assert broker.reserved(mounted.path) == []
    broker.hold("all", mounted.path, 4)
    assert status("wsctl", "hold", "more", mounted.path)[0] == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_broker_that_ends_holds_nothing(mounted, holdd, number):
    broker.hold("db", mounted.path, 2)
    assert holdd.end(number) == (0 if number == signal.SIGTERM else -number)
    assert broker.reserved(mounted.path) == []
    assert status("wsctl", "hold", "--socket", holdd.socket)[0] == 1


def test_a_restart_loses_nothing(mounted, tmp_path):
    manager = broker.Manager(tmp_path)
    try:
        manager.start()
        broker.hold("db", mounted.path, 2, "--group", GROUP)
        assert [manager.receive() for _ in range(2)] == ["FDSTORE=1"] * 2
        before = broker.wsctl_json("hold")
        for number in (signal.SIGTERM, signal.SIGKILL):
            manager.stop(number)
            if number == signal.SIGTERM:
                assert manager.receive() == "STOPPING=1"
            assert len(broker.reserved(mounted.path)) == 2
            manager.start()
            assert broker.wsctl_json("hold") == before
        run("wsctl", "release", "db")
        assert [manager.receive() for _ in range(2)] == ["FDSTOREREMOVE=1"] * 2
        assert manager.store == []
        assert broker.reserved(mounted.path) == []
        manager.stop()
    finally:
        manager.close()


def test_idle(tmp_path):
    manager = broker.Manager(tmp_path)
    try:
        manager.start("--idle", "1")
        assert manager.receive() == "STOPPING=1"
        assert os.waitpid(manager.process, 0)[1] == 0
    finally:
        manager.close()


def _pester(_kept, path, seconds):
    """Everything a bad client can do, as an unprivileged user."""
    import random
    import time

    end = time.monotonic() + seconds
    kept = []
    random.seed(1)
    while time.monotonic() < end:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            sock.connect(path)
            what = random.randrange(6)
            if what == 0:
                kept.append(sock)  # hangs
                continue
            if what == 1:
                sock.send(random.randbytes(random.randrange(1, 3000)))
            elif what == 2:
                socket.send_fds(sock, [b"wsfs-hold 1\nlist\n"], [0] * 200)
            elif what == 3:
                sock.send(b"wsfs-hold 1\ntake\nname=db\n")  # and goes
            elif what == 4:
                socket.send_fds(sock, [b"wsfs-hold 1\nhold\nname=x\nstreams=1\n"], [0])
                sock.recv(4096)
        except OSError:
            pass
        sock.close()
        if len(kept) > 100:
            kept.pop(0).close()
    return len(kept)


def test_bad_clients_do_not_block_others(mounted, holdd):
    broker.hold("db", mounted.path)
    fds = f"/proc/{holdd.process.pid}/fd"
    before = len(os.listdir(fds))
    pid = os.fork()
    if pid == 0:
        with Child(uid=USER, gid=USER) as child:
            child.call(_pester, holdd.socket, 8)
        os._exit(0)
    served = 0
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        run("wsctl", "run", "--hold", "db", "--", "true", timeout=60)
        served += 1
    assert served >= 3
    assert [entry["name"] for entry in broker.wsctl_json("hold")["held"]] == ["db"]
    # The first connection may have been open yet when they were counted.
    broker.wait_for(lambda: len(os.listdir(fds)) <= before)


LIES = {
    "nothing": (b"", 0),
    "garbage": (b"\xff\0\n" * 300, 0),
    "another version": (b"wsfs-hold 2\nok\n", 0),
    "no streams": (b"wsfs-hold 1\nok\nheld=db - - 2 0,1\n", 0),
    "too few streams": (b"wsfs-hold 1\nok\nheld=db - - 2 0,1\n", 1),
    "nothing held": (b"wsfs-hold 1\nok\n", 1),
    "a terminal's bytes": (
        b"wsfs-hold 1\nerror\nerrno=2\npath=\x1b[2J\ncall=\nwhy=w\nadvice=\n", 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_broker_that_lies(tmp_path, monkeypatch, lie):
    text, fds = lie
    path = str(tmp_path / "sock")
    monkeypatch.setenv("WSFS_HOLD_SOCKET", path)

    def answer(listener):
        connection, _ = listener.accept()
        with connection:
            connection.recv(4096)
            if text:
                socket.send_fds(connection, [text], [0] * fds)

    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(path)
        listener.listen()
        broker_thread = threading.Thread(target=answer, args=(listener,))
        broker_thread.start()
        done = wsctl("run", "--hold", "db", "--", "echo", "started")
        broker_thread.join()
    assert done.status == 125 and done.out == b"", done
    assert done.err.startswith(b"wsctl run: ")
    assert all(line.isprintable() for line in done.err.decode().splitlines()), done


def test_a_broker_that_hangs(mounted, holdd):
    holdd.process.send_signal(signal.SIGSTOP)
    try:
        done = wsctl("hold")
        assert done.status == 1 and b"did not answer" in done.err, done
    finally:
        holdd.process.send_signal(signal.SIGCONT)
    assert wsctl("hold").status == 0
