# SPDX-License-Identifier: GPL-2.0
"""Write files by fio, for the engines that Python cannot drive."""

import tempfile

from lib.shell import run


def _word(number):
    """Four bytes that tell a job."""
    return b"ws%02d" % (number % 100)


def fill(number, size):
    """What job @number writes."""
    return _word(number) * (size // 4)


def append_files(jobs, size, engine, direct, at_once=True, block=4096, depth=16):
    """@jobs: (number, bytes that each of the files has) → paths of files, which each
    grow by @size bytes; the jobs run at once or one after the other."""
    lines = [
        "[global]",
        f"ioengine={engine}",
        f"direct={direct}",
        f"iodepth={depth}",
        f"bs={block}",
        "rw=write",
        "file_append=1",
        "fallocate=none",
        "file_service_type=roundrobin",
        "openfiles=64",
        "thread",
    ]
    for (number, start), paths in sorted(jobs.items()):
        lines += [
            f"[job{number}]",
            f"nrfiles={len(paths)}",
            f"filename={':'.join(paths)}",
            f"filesize={start + size}",
            f"size={size * len(paths)}",
            f'buffer_pattern="{_word(number).decode()}"',
            *([] if at_once else ["stonewall"]),
        ]
    with tempfile.NamedTemporaryFile("w", suffix=".fio") as job_file:
        job_file.write("\n".join(lines) + "\n")
        job_file.flush()
        run("fio", "--minimal", job_file.name)
