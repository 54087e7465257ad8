# SPDX-License-Identifier: GPL-2.0
"""Linux AIO by its system calls: several writes under way at once."""

import ctypes
import os
import struct

_libc = ctypes.CDLL(None, use_errno=True)
_SETUP, _DESTROY, _GETEVENTS, _SUBMIT = 206, 207, 208, 209  # x86-64
_PWRITE = 1
_IOCB = struct.Struct("=QIiHhIQQqQII")
_EVENT = struct.Struct("=QQqq")


def _call(number, *args):
    result = _libc.syscall(ctypes.c_long(number), *args)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


class Context:
    """An AIO context for @depth writes at a time."""

    def __init__(self, depth):
        self._depth = depth
        self._id = ctypes.c_ulong(0)
        self._kept = {}  # iocbs and buffers, until their event is there
        _call(_SETUP, ctypes.c_uint(depth), ctypes.byref(self._id))

    def submit(self, writes, rwf=0):
        """@writes: (tag, fd, aligned buffer, offset)."""
        pointers = []
        for tag, fd, buffer, offset in writes:
            view = (ctypes.c_char * len(buffer)).from_buffer(buffer)
            iocb = ctypes.create_string_buffer(
                _IOCB.pack(
                    tag, 0, rwf, _PWRITE, 0, fd,
                    ctypes.addressof(view), len(buffer), offset, 0, 0, 0
                )
            )
            self._kept[tag] = (iocb, view, buffer)
            pointers.append(ctypes.addressof(iocb))
        array = (ctypes.c_void_p * len(pointers))(*pointers)
        done = 0
        while done < len(pointers):
            at = ctypes.c_void_p(ctypes.addressof(array) + done * ctypes.sizeof(ctypes.c_void_p))
            done += _call(_SUBMIT, self._id, ctypes.c_long(len(pointers) - done), at)

    def wait(self, count):
        """The next @count results: tag → bytes written or -errno."""
        results = {}
        while len(results) < count:
            left = count - len(results)
            buf = ctypes.create_string_buffer(_EVENT.size * left)
            got = _call(_GETEVENTS, self._id, ctypes.c_long(1), ctypes.c_long(left), buf, None)
            for i in range(got):
                tag, _, result, _ = _EVENT.unpack_from(buf, i * _EVENT.size)
                assert tag not in results, "completed twice"
                results[tag] = result
                self._kept.pop(tag)
        return results

    def close(self):
        _call(_DESTROY, self._id)
