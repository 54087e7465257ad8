# SPDX-License-Identifier: GPL-2.0
"""Another process: does one thing after the other when told."""

import os
import pickle
import socket
import struct
import traceback


class Child:
    """Forked; call(f, *args) runs f there and returns what it returns or
    raises what it raises. State is kept in the child's `kept` dict, which f
    gets as its first argument."""

    def __init__(self, uid=None, gid=None, groups=()):
        self._socket, theirs = socket.socketpair()
        self._calls = []
        self.pid = os.fork()
        if self.pid == 0:
            self._socket.close()
            self._serve(theirs, uid, gid, groups)
        theirs.close()

    def _serve(self, sock, uid, gid, groups):
        status = 1
        try:
            if gid is not None:
                os.setgroups(groups)
                os.setresgid(gid, gid, gid)
            if uid is not None:
                os.setresuid(uid, uid, uid)
            kept = {"socket": sock}
            while request := _receive(sock):
                function, args = _functions(request)
                try:
                    answer = (True, function(kept, *args))
                except BaseException as failure:  # goes back to the caller
                    answer = (False, _portable(failure))
                _send(sock, pickle.dumps(answer))
            status = 0
        finally:
            os._exit(status)

    def call(self, function, *args):
        _send(self._socket, pickle.dumps((function, args)))
        good, answer = pickle.loads(_receive(self._socket))
        if not good:
            raise answer
        return answer

    def close(self):
        self._socket.close()
        os.waitpid(self.pid, 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _functions(request):
    return pickle.loads(request)


def _portable(failure):
    if isinstance(failure, OSError):
        return OSError(failure.errno, failure.strerror)
    return AssertionError("".join(traceback.format_exception(failure)))


def _send(sock, data):
    sock.sendall(struct.pack("=I", len(data)) + data)


def _receive(sock):
    head = _exactly(sock, 4)
    return _exactly(sock, struct.unpack("=I", head)[0]) if head else b""


def _exactly(sock, size):
    data = b""
    while len(data) < size:
        piece = sock.recv(size - len(data))
        if not piece:
            return b""
        data += piece
    return data


def forked(function):
    """Runs @function in a forked process, which then exits as it is, with its
    files open. Returns the status of wait(2)."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            function()
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1]
