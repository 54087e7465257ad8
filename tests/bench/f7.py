#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Appends of many writers in one directory: plain XFS against wsfs.

The two headline rows of the write streams series, on one disk, in one boot:
16 files over 4 streams, and 4 files in one stream. Each writer appends 4 KiB
blocks to its own file with direct I/O at depth 32. Rounds on plain XFS and on
wsfs take turns; the table shows medians, and speed as a ratio to plain XFS of
the same run.

Needs root, fio, xfsprogs, wsctl and the wsfs module loaded. DISK IS ERASED.
"""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile


class Layout:
    """Files, and the stream each one gets (slot of `wsctl run`)."""

    def __init__(self, name, files, streams):
        self.name = name
        self.files = files
        self.streams = streams

    def slot(self, number):
        return number % self.streams


LAYOUTS = [
    Layout("16 files, 4 streams", 16, 4),
    Layout("4 files, 1 stream", 4, 1),
]


def run(*argv, **kwargs):
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True, **kwargs).stdout


def fio_command(directory, files, size):
    return [
        "fio", "--name=f7", f"--directory={directory}", "--filename_format=f.$jobnum",
        f"--numjobs={files}", "--rw=write", "--bs=4k", "--direct=1", "--ioengine=libaio",
        "--iodepth=32", f"--size={size}", "--fallocate=none", "--create_on_open=1",
        "--group_reporting", "--output-format=json",
    ]


def steered(mountpoint, layout, paths, command):
    """Wraps a command so that it runs with its files on their streams."""
    script = []
    for slot in range(layout.streams):
        mine = [path for n, path in enumerate(paths) if layout.slot(n) == slot]
        script.append(f"wsctl set --stream {slot} {shlex.join(mine)}")
    script.append("exec " + shlex.join(command))
    return ["wsctl", "run", "-n", str(layout.streams), mountpoint, "--",
            "sh", "-c", " && ".join(script)]


def extents(path):
    """Data extents of a file, as xfs_bmap counts them."""
    lines = run("xfs_bmap", path).splitlines()[1:]
    return sum("hole" not in line for line in lines)


def one_round(mountpoint, layout, size, steer):
    with tempfile.TemporaryDirectory(dir=mountpoint) as directory:
        paths = [os.path.join(directory, f"f.{n}") for n in range(layout.files)]
        for path in paths:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        command = fio_command(directory, layout.files, size)
        if steer:
            command = steered(mountpoint, layout, paths, command)
        # What comes before the JSON is fio's chatter.
        out = run(*command)
        job = json.loads(out[out.index("{"):])["jobs"][0]
        return {
            "iops": job["write"]["iops"],
            "extents": statistics.mean(extents(path) for path in paths),
        }


def median(rounds, key):
    return statistics.median(entry[key] for entry in rounds)


def bench(plain, wsfs, size, rounds):
    rows = []
    for layout in LAYOUTS:
        results = {"plain XFS": [], "wsfs": []}
        for number in range(rounds):
            print(f"{layout.name}: round {number + 1} of {rounds}", file=sys.stderr)
            results["plain XFS"].append(one_round(plain, layout, size, False))
            results["wsfs"].append(one_round(wsfs, layout, size, True))
        base = median(results["plain XFS"], "iops")
        for where, entries in results.items():
            rows.append({
                "workload": layout.name,
                "on": where,
                "iops": round(median(entries, "iops")),
                "ratio": round(median(entries, "iops") / base, 2),
                "extents_per_file": round(median(entries, "extents"), 1),
            })
    return rows


def print_table(rows):
    print(f"{'workload':<22}{'on':<12}{'IOPS':>8}{'ratio':>8}{'extents a file':>17}")
    for row in rows:
        print(f"{row['workload']:<22}{row['on']:<12}{row['iops']:>8}{row['ratio']:>8.2f}"
              f"{row['extents_per_file']:>17.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("disk", help="block device to use; it is erased")
    parser.add_argument("--size", default="8m", help="bytes each writer appends (fio's units)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds on each, default 3")
    parser.add_argument("--json", metavar="FILE", help="write the rows there as JSON")
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as directory:
        plain = os.path.join(directory, "xfs")
        wsfs = os.path.join(directory, "wsfs")
        os.mkdir(plain)
        os.mkdir(wsfs)
        run("mkfs.xfs", "-q", "-f", "-d", "agcount=16", args.disk)
        run("mount", args.disk, plain)
        try:
            run("mount", "-t", "wsfs", "-o", "streams=4", plain, wsfs)
            try:
                rows = bench(plain, wsfs, args.size, args.rounds)
            finally:
                run("umount", wsfs)
        finally:
            run("umount", plain)

    print_table(rows)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as out:
            json.dump(rows, out, indent=2)


if __name__ == "__main__":
    main()
