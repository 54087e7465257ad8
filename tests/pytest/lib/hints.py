# SPDX-License-Identifier: GPL-2.0
"""Write life time hints."""

import fcntl
import struct

NOT_SET, NONE, SHORT, MEDIUM, LONG, EXTREME = range(6)
_F_GET_RW_HINT, _F_SET_RW_HINT = 1024 + 11, 1024 + 12


def set_hint(fd, hint):
    fcntl.fcntl(fd, _F_SET_RW_HINT, struct.pack("=Q", hint))


def get_hint(fd):
    return struct.unpack("=Q", fcntl.fcntl(fd, _F_GET_RW_HINT, bytes(8)))[0]
