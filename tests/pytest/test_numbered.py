# SPDX-License-Identifier: GPL-2.0
"""-o numbered: the series' earlier interface, as programs were built for it."""

import errno
import os

import pytest

from lib import births, ioctls
from lib.births import acting_as, by_open, make
from lib.numbered import GET, GET_MAX, SET, V2, V3, call, get
from lib.placement import assert_placed

USER = 1000


# of which 5 to 7 have the numbers 1 to 3
BED = {"agcount": 16, "streams": 8, "options": ["numbered=3"]}


@pytest.mark.parametrize("number", [V2, V3])
@pytest.mark.quick
def test_as_a_program_does(room, number):
    """Ask how many, set each, ask again, write: all is where it should be."""
    bed = room
    root = bed.adopt(os.open(bed.path, os.O_RDONLY))
    assert call(root, number, GET_MAX) == (GET_MAX, 0, 3, 0)
    files = []
    for i in range(6):
        fd = bed.open(f"f{i}")
        assert call(fd, number, GET_MAX)[2] == 3
        assert get(fd, number) == 0
        wanted = i % 3 + 1
        assert call(fd, number, SET, wanted) == (SET, wanted, 0, 0)
        assert call(fd, number, GET) == (GET, wanted, 0, 0)
        births.fill(fd)
        assert bed.info(fd).homed and bed.info(fd).stream == 4 + wanted
        files.append((f"f{i}", fd, bed.wsfs.ag_set(4 + wanted)))
    assert_placed(bed.xfs.layout(), files)


def test_change_and_clear(room):
    bed = room
    fd = bed.open("f")
    for wanted in (1, 3, 3, 2):
        call(fd, V3, SET, wanted)
        assert get(fd) == wanted
    births.fill(fd)
    call(fd, V3, SET, 1)
    births.fill(fd)
    assert get(fd) == 1 and bed.info(fd).anchored
    call(fd, V3, SET, 0)
    assert get(fd) == 0 and not bed.info(fd).has_stream
    call(fd, V3, SET, 0)


def test_apart_from_reserved_streams(room):
    """Neither interface gets a stream of the other; both can set theirs."""
    bed = room
    fd = bed.open("f")
    assert ioctls.get_max(fd) == 5
    streams = [bed.alloc() for _ in range(5)]
    assert sorted(stream.id for stream in streams) == [0, 1, 2, 3, 4]
    bed.set(fd, streams[0])
    assert get(fd) == 0, "a stream without a number"
    call(fd, V3, SET, 2)
    assert get(fd) == 2
    bed.set(fd, streams[1])
    assert get(fd) == 0
    call(fd, V3, SET, 1)
    ioctls.clear_stream(fd)
    assert get(fd) == 0


def test_errors(room):
    bed = room
    fd = bed.open("f")
    reader = bed.open("f", os.O_RDONLY)
    root = bed.adopt(os.open(bed.path, os.O_RDONLY))
    for where, op, stream_id, want in (
        (fd, 0, 0, errno.EINVAL),
        (fd, 3, 0, errno.EINVAL),
        (fd, 8, 0, errno.EINVAL),
        (fd, SET | GET, 1, errno.EINVAL),
        (fd, SET, 4, errno.EINVAL),
        (fd, SET, 0xFFFFFFFF, errno.EINVAL),
        (root, SET, 1, errno.EINVAL),
        (reader, SET, 1, errno.EBADF),
        (reader, SET, 0, errno.EBADF),
    ):
        with pytest.raises(OSError) as caught:
            call(where, V3, op, stream_id)
        assert caught.value.errno == want, (op, stream_id)
    assert get(fd) == get(reader) == get(root) == 0


def test_who_may(room):
    """No privilege, for there is no reservation; but whose file it is."""
    bed = room
    os.chmod(bed.path, 0o777)
    mine = bed.open("f", mode=0o666)
    os.fchmod(mine, 0o666)
    with acting_as(USER, (), 0o022):
        theirs = make(bed, by_open, ".", "theirs")
        call(theirs, V3, SET, 2)
        other = bed.open("f", os.O_RDWR)
        with pytest.raises(PermissionError):
            call(other, V3, SET, 2)
        assert call(other, V3, GET_MAX)[2] == 3
    assert get(theirs) == 2
