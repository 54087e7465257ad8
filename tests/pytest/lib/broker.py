# SPDX-License-Identifier: GPL-2.0
"""wsctl and wsfs-holdd, as programs."""

import array
import contextlib
import os
import signal
import socket
import subprocess
import time

from lib.shell import run
from lib.wsctl import document


def wsctl_json(*argv, ok=(0,)):
    """What `wsctl ARGV --json` says on standard output."""
    done = subprocess.run(
        ["wsctl", *map(str, argv), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=600,
    )
    assert done.returncode in ok, f"{argv}: {done.returncode}\n{done.stdout}{done.stderr}"
    return document(done.stdout)


def reserved(path):
    """Ids of the streams that are reserved."""
    streams = wsctl_json("info", path)["mounts"][0]["streams"]
    return [stream["id"] for stream in streams if stream["reserved"]]


def wait_for(done, seconds=20):
    """Until @done() is true."""
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "it did not come to be"
        time.sleep(0.02)


class Holdd:
    """A broker of our own."""

    def __init__(self, directory, *options):
        self.socket = os.path.join(directory, "hold.sock")
        self.process = subprocess.Popen(
            ["wsfs-holdd", "--socket", self.socket, *options], stdin=subprocess.DEVNULL
        )
        os.environ["WSFS_HOLD_SOCKET"] = self.socket
        wait_for(self._answers)

    def _answers(self):
        assert self.process.poll() is None, "wsfs-holdd ended"
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
            return sock.connect_ex(self.socket) == 0

    def end(self, number=signal.SIGTERM):
        """End it; returns its status."""
        os.environ.pop("WSFS_HOLD_SOCKET", None)
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(20)


class Manager:
    """A service manager: passes a socket, and keeps what it is given."""

    def __init__(self, directory):
        self.path = os.path.join(directory, "hold.sock")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(self.path)
        os.chmod(self.path, 0o666)
        self.listener.listen()
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify_path = os.path.join(directory, "notify")
        self.notify.bind(self.notify_path)
        self.notify.settimeout(20)
        self.store = []  # (name, fd)
        self.process = None
        os.environ["WSFS_HOLD_SOCKET"] = self.path

    def start(self, *options):
        """Start the broker with the socket and what is stored."""
        fds = [("wsfs-hold", self.listener.fileno()), *self.store]
        names = ":".join(name for name, _ in fds)

        def arrange():
            # Out of the way first, then to 3, 4, …
            moved = [os.dup2(fd, 100 + n) for n, (_, fd) in enumerate(fds)]
            for n, fd in enumerate(moved):
                os.dup2(fd, 3 + n, inheritable=True)
                os.close(fd)
            os.environ["LISTEN_PID"] = str(os.getpid())
            os.environ["LISTEN_FDS"] = str(len(fds))
            os.environ["LISTEN_FDNAMES"] = names
            os.environ["NOTIFY_SOCKET"] = self.notify_path
            os.execvp("wsfs-holdd", ["wsfs-holdd", *options])

        pid = os.fork()
        if pid == 0:
            try:
                arrange()
            finally:
                os._exit(127)
        self.process = pid
        assert self.receive() == "READY=1"

    def receive(self):
        """One message; what it stores is stored."""
        data, control, _, _ = self.notify.recvmsg(4096, socket.CMSG_SPACE(4 * 64))
        lines = data.decode().strip().split("\n")
        fds = array.array("i")
        for _, _, blob in control:
            fds.frombytes(blob[: len(blob) - len(blob) % fds.itemsize])
        if lines[0] == "FDSTORE=1":
            name = next(x for x in lines if x.startswith("FDNAME=")).removeprefix("FDNAME=")
            assert ":" not in name and len(name) < 255
            for fd in fds:
                os.set_inheritable(fd, False)
            self.store += [(name, fd) for fd in fds]
        elif lines[0] == "FDSTOREREMOVE=1":
            name = lines[1].removeprefix("FDNAME=")
            for stored in [x for x in self.store if x[0] == name]:
                os.close(stored[1])
                self.store.remove(stored)
        return lines[0]

    def stop(self, number=signal.SIGTERM):
        """End the broker, not what is stored."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process, number)
        os.waitpid(self.process, 0)

    def close(self):
        os.environ.pop("WSFS_HOLD_SOCKET", None)
        for _, fd in self.store:
            os.close(fd)
        self.listener.close()
        self.notify.close()


def hold(name, path, streams=1, *options):
    run("wsctl", "hold", "-n", streams, *options, name, path)
