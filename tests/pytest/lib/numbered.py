# SPDX-License-Identifier: GPL-2.0
"""The numbered interface, as a program has it compiled in."""

import fcntl
import struct

# the two numbers that programs carry
V3 = 3 << 30 | 16 << 16 | ord("f") << 8 | 135
V2 = 3 << 30 | 16 << 16 | ord("f") << 8 | 43
GET_MAX, GET, SET = 1, 2, 4


def call(fd, number, op, stream_id=0):
    """The struct after the call: (op_flags, stream_id, max_streams, rsvd)."""
    buf = bytearray(struct.pack("=4I", op, stream_id, 0, 0))
    fcntl.ioctl(fd, number, buf)
    return struct.unpack("=4I", buf)


def get(fd, number=V3):
    return call(fd, number, GET)[1]
