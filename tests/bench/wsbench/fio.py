# SPDX-License-Identifier: GPL-2.0
"""fio on files that are there already."""

import json
import os
import tempfile

from lib.shell import run

from .errors import NotMeasured
from .meter import Meter

# fio makes, unlinks and extends files as it sees fit; here it may not. It looks at the
# clock several times an operation, and tests it at length when it starts; it need not.
_GLOBAL = {"thread": 1, "allow_file_create": 0, "fallocate": "none", "randrepeat": 1,
           "gtod_reduce": 1, "clocksource": "clock_gettime", "disk_util": 0}


def job_file(paths, options):
    """The text of one: a job for each path."""
    lines = ["[global]"]
    lines += [f"{key}={value}" for key, value in {**_GLOBAL, **options}.items()]
    for number, path in enumerate(paths):
        lines += [f"[job{number}]", f"filename={path}"]
    return "\n".join(lines) + "\n"


def total(report, jobs):
    """Of fio's JSON: (operations of all jobs, seconds that the longest took)."""
    if len(report["jobs"]) != jobs:
        raise NotMeasured(f"fio told of {len(report['jobs'])} jobs, not of {jobs}")
    operations, milliseconds = 0, 0
    for job in report["jobs"]:
        done = job["read"]["total_ios"] + job["write"]["total_ios"]
        if job["error"] or not done:
            raise NotMeasured(f"fio: {job['jobname']}: error {job['error']}, {done} operations")
        operations += done
        milliseconds = max(milliseconds, job["read"]["runtime"], job["write"]["runtime"])
    if not milliseconds:
        raise NotMeasured("fio: the jobs took no time: they are too small")
    return operations, milliseconds / 1000


def run_jobs(paths, file_size, **options):
    """Run a job on each of @paths (one path may come more than once), and tell
    operations a second. Afterwards the files have to be the same, and to have
    @file_size bytes."""
    before = [os.stat(path).st_ino for path in paths]
    with tempfile.TemporaryDirectory(prefix="wsfs-fio-") as directory:
        jobs, output = f"{directory}/jobs", f"{directory}/json"
        with open(jobs, "w", encoding="utf-8") as file:
            file.write(job_file(paths, options))
        with Meter() as meter:
            run("fio", "--output-format=json", f"--output={output}", jobs)
        with open(output, encoding="utf-8") as file:
            text = file.read()
    # What comes before the JSON is fio's chatter.
    operations, seconds = total(json.loads(text[text.index("{"):]), len(paths))
    for path, ino in zip(paths, before):
        now = os.stat(path)
        if now.st_ino != ino:
            raise NotMeasured(f"{path}: fio has put another file there")
        if now.st_size != file_size:
            raise NotMeasured(f"{path}: {now.st_size} bytes after fio, not {file_size}")
        if now.st_blocks * 512 < file_size:
            raise NotMeasured(f"{path}: {now.st_blocks} blocks of 512 bytes for {file_size} bytes")
    return meter.sample(operations, seconds)
