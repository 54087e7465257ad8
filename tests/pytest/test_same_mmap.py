# SPDX-License-Identifier: GPL-2.0
"""Mappings and programs, as on plain XFS."""

import mmap
import os
import shutil
import subprocess

import pytest

from lib import libc
from lib.compare import attempt
from lib.pattern import pattern

PAGE = mmap.PAGESIZE
SIZE = 16 * PAGE


def made(d, name="f", size=SIZE):
    fd = os.open(f"{d}/{name}", os.O_CREAT | os.O_RDWR)
    os.write(fd, pattern(1, 0, size))
    return fd


@pytest.mark.quick
def test_shared_agrees_with_read_and_write(same):
    def scenario(d):
        fd = made(d)
        try:
            with mmap.mmap(fd, SIZE) as m:
                answers = [m[:] == pattern(1, 0, SIZE)]
                m[100:106] = b"mapped"
                answers.append(os.pread(fd, 6, 100))
                os.pwrite(fd, b"written", 5000)
                answers.append(m[5000:5007])
                m.flush()
                os.ftruncate(fd, SIZE // 2)
                os.ftruncate(fd, SIZE)
                answers.append(m[SIZE - PAGE : SIZE] == bytes(PAGE))
            with open(f"{d}/f", "rb") as f:
                answers.append(f.read())
            return answers
        finally:
            os.close(fd)

    answers = same(scenario)
    assert answers[:4] == [True, b"mapped", b"written", True]


def test_private(same):
    def scenario(d):
        fd = made(d)
        try:
            with mmap.mmap(fd, SIZE, flags=mmap.MAP_PRIVATE) as m:
                m[0:7] = b"private"
                return os.pread(fd, 7, 0) == pattern(1, 0, 7), m[0:7], m[7:20]
        finally:
            os.close(fd)

    assert same(scenario)[:2] == (True, b"private")


def test_two_mappings(same):
    def scenario(d):
        fd, other = made(d), os.open(f"{d}/f", os.O_RDWR)
        try:
            with mmap.mmap(fd, SIZE) as a, mmap.mmap(other, SIZE) as b:
                a[0:5] = b"first"
                b[PAGE : PAGE + 6] = b"second"
                return b[0:5], a[PAGE : PAGE + 6]
        finally:
            os.close(fd)
            os.close(other)

    assert same(scenario) == (b"first", b"second")


def test_mapped_then_direct(same):
    def scenario(d):
        fd = made(d)
        direct = os.open(f"{d}/f", os.O_RDWR | os.O_DIRECT)
        try:
            with mmap.mmap(fd, SIZE) as m, mmap.mmap(-1, PAGE) as buffer:
                m[0:6] = b"mapped"
                os.preadv(direct, [buffer], 0)
                answers = [buffer[0:6]]
                buffer[0:6] = b"direct"
                os.pwrite(direct, buffer, PAGE)
                answers.append(m[PAGE : PAGE + 6])
                return answers
        finally:
            os.close(fd)
            os.close(direct)

    assert same(scenario) == [b"mapped", b"direct"]


def test_hole_filled_through_mapping(same):
    def scenario(d):
        fd = os.open(f"{d}/f", os.O_CREAT | os.O_RDWR)
        try:
            os.ftruncate(fd, 1 << 20)
            with mmap.mmap(fd, 1 << 20) as m:
                for offset in range(0, 1 << 20, 65536):
                    m[offset] = 7
                m.flush()
            os.fsync(fd)
            return os.pread(fd, 1 << 20, 0), os.lseek(fd, 0, os.SEEK_HOLE)
        finally:
            os.close(fd)

    same(scenario)


def test_mapping_outlives_file_and_name(same):
    def scenario(d):
        fd = made(d)
        m = mmap.mmap(fd, SIZE)
        os.close(fd)
        os.unlink(f"{d}/f")
        try:
            m[0:4] = b"late"
            m.flush()
            return m[0:4], m[SIZE - 1]
        finally:
            m.close()

    assert same(scenario)[0] == b"late"


MADVISE = {"WILLNEED": 3, "DONTNEED": 4, "REMOVE": 9, "COLD": 20, "PAGEOUT": 21,
           "POPULATE_READ": 22, "POPULATE_WRITE": 23, "unknown": 99}  # fmt: skip


@pytest.mark.parametrize("advice", MADVISE)
def test_madvise(same, advice):
    """MADV_REMOVE punches a hole, the others change no byte."""

    def scenario(d):
        fd = made(d)
        address = libc.map_file(fd, SIZE, libc.MAP_SHARED)
        try:
            answer = attempt(libc.madvise, address + 4 * PAGE, 4 * PAGE, MADVISE[advice])
            os.fsync(fd)
            return answer, os.pread(fd, SIZE, 0), os.fstat(fd).st_blocks
        finally:
            libc.unmap(address, SIZE)
            os.close(fd)

    answer, data, _ = same(scenario)
    if advice == "REMOVE":
        assert answer is None and data[4 * PAGE : 8 * PAGE] == bytes(4 * PAGE)
    else:
        assert data == pattern(1, 0, SIZE)


def test_protection(same):
    def scenario(d):
        os.close(made(d))
        read_only = os.open(f"{d}/f", os.O_RDONLY)
        try:
            answers = [
                attempt(mmap.mmap, read_only, PAGE),
                attempt(lambda: mmap.mmap(read_only, PAGE, prot=mmap.PROT_READ)[0]),
                attempt(lambda: mmap.mmap(read_only, PAGE, flags=mmap.MAP_PRIVATE)[1]),
            ]
            return answers
        finally:
            os.close(read_only)

    assert same(scenario)[0] == "EACCES"


def test_write_through_mapping_changes_mtime(same):
    def scenario(d):
        fd = made(d)
        try:
            with mmap.mmap(fd, SIZE) as m:
                os.utime(fd, (1, 1))
                m[0] = 1
                m.flush()
                return os.fstat(fd).st_mtime != 1
        finally:
            os.close(fd)

    assert same(scenario)


def test_name_in_proc_maps(same):
    def scenario(d):
        fd = made(d)
        try:
            with mmap.mmap(fd, SIZE), open("/proc/self/maps") as maps:
                return sum(line.rstrip().endswith(f"{d}/f") for line in maps)
        finally:
            os.close(fd)

    assert same(scenario) == 1


@pytest.mark.quick
def test_programs(same):
    """A binary, a script, a shared library; suid is honoured or not alike."""

    def scenario(d):
        shutil.copy("/bin/cat", f"{d}/cat")
        with open(f"{d}/script", "w") as f:
            f.write(f"#!{d}/cat\nthe script itself\n")
        answers = [attempt(subprocess.run, [f"{d}/script"])]
        os.chmod(f"{d}/cat", 0o755)
        os.chmod(f"{d}/script", 0o755)
        done = subprocess.run([f"{d}/script"], stdout=subprocess.PIPE, check=True)
        answers.append(done.stdout.split(b"\n")[1])
        shutil.copy(shutil.which("id"), f"{d}/id")
        os.chmod(f"{d}/id", 0o4755)
        os.chmod(d, 0o755)
        done = subprocess.run([f"{d}/id", "-u"], stdout=subprocess.PIPE, user=1000)
        return answers + [done.stdout]

    answers = same(scenario)
    assert answers == ["EACCES", b"the script itself", b"0\n"]
