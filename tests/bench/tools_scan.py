#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""How many files a second wsctl looks at, and xfs_bmap run on each of them.

In a guest, as root:  tests/bench/tools_scan.py [--files N] [--seconds S] DISK

Makes an XFS on DISK with N files of one extent each, drops the caches before
every run, and writes files a second. xfs_bmap is run file by file, as a shell
loop would, for S seconds. Fails where wsctl bmap, check or map is not at least 3
times as fast as that, or takes more than 64 MiB of memory.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

WANTED = 3
MOST_MIB = 64
PER_DIRECTORY = 1000


def main():
    """Make the files, measure, compare."""
    arguments = parse()
    with tempfile.TemporaryDirectory(prefix="wsfs-bench-") as mount_point:
        command("mkfs.xfs", "-q", "-f", "-d", "agcount=16", "-i", "size=512", arguments.disk)
        command("mount", arguments.disk, mount_point)
        try:
            paths = make_files(mount_point, arguments.files)
            base = one_by_one(paths, arguments.seconds)
            print(f"{'xfs_bmap, file by file':28} {base:12.0f} files/s")
            missed = [
                " ".join(words)
                for words in COMMANDS
                if not measure(words, mount_point, len(paths), base)
            ]
        finally:
            command("umount", mount_point)
    if missed:
        print(f"slower than {WANTED} times xfs_bmap, or in more than {MOST_MIB} MiB: {missed}")
        return 1
    return 0


COMMANDS = (
    ("bmap",),
    ("bmap", "--json"),
    ("check", "--max-extents", "1"),
    ("map", "--by-operand"),
)


def parse():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("disk")
    return parser.parse_args()


def command(*words, **kwargs):
    """Run it; it has to succeed."""
    return subprocess.run(words, check=True, **kwargs)


def make_files(top, count):
    """Files of one block; returns their paths."""
    paths = []
    for number in range(count):
        directory = f"{top}/{number // PER_DIRECTORY:06}"
        if number % PER_DIRECTORY == 0:
            os.mkdir(directory)
        path = f"{directory}/{number:09}"
        with open(path, "wb") as file:
            file.write(b"x")
        paths.append(path)
    os.sync()
    return paths


def drop_caches():
    """So that inodes come from the disk."""
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("3")


def one_by_one(paths, seconds):
    """Files a second of xfs_bmap, a process each."""
    drop_caches()
    start = time.monotonic()
    done = 0
    while done < len(paths) and time.monotonic() - start < seconds:
        command("xfs_bmap", "-vv", paths[done], stdout=subprocess.DEVNULL)
        done += 1
    return done / (time.monotonic() - start)


def measure(words, top, count, base):
    """Whether wsctl is fast and small enough; writes both."""
    drop_caches()
    start = time.monotonic()
    process = subprocess.Popen(["wsctl", *words, top], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    rate = count / (time.monotonic() - start)
    process.returncode = os.waitstatus_to_exitcode(status)
    peak = usage.ru_maxrss / 1024
    print(
        f"{'wsctl ' + ' '.join(words):28} {rate:12.0f} files/s {rate / base:8.1f} times"
        f" in {peak:.0f} MiB"
    )
    assert process.returncode == 0, words
    return rate >= WANTED * base and peak <= MOST_MIB


if __name__ == "__main__":
    sys.exit(main())
