# SPDX-License-Identifier: GPL-2.0
"""wsctl on a filesystem that fails."""

import subprocess

from lib.shell import run
from lib.wsctl import document, make, ok, wsctl


def test_a_filesystem_that_is_shut_down(bed, kernel_log):
    """What cannot be looked at is told, and all that was begun is ended."""
    bed.make(agcount=8, streams=4)
    stream = bed.alloc()
    for i in range(500):
        make(bed.at(f"t/{i}"), 1)
    process = subprocess.Popen(
        ["wsctl", "bmap", "--json", bed.path],
        bufsize=0,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    begin = process.stdout.read(1)
    run("xfs_io", "-x", "-c", "shutdown -f", bed.path)
    out, err = process.communicate(timeout=600)
    assert process.returncode in (0, 1), err
    assert document(begin + out)["files"]
    for words in (
        ["bmap"], ["check", "--max-extents", "1"], ["map", "--by-operand"],
        ["set", "--fd", stream.fd], ["relocate", "--ags", "0"],
    ):  # fmt: skip
        done = wsctl(*words, bed.at("t/1"), pass_fds=[stream.fd])
        assert done.status in (1, 2) and b"(EIO)" in done.err, (words, done)
        assert wsctl(*words, "--json", bed.at("t/1"), pass_fds=[stream.fd]).json
    for words in (["info"], ["streams"], ["get"], ["doctor"]):
        assert wsctl(*words, bed.path).status in (0, 1)
    bed.remount()
    assert len(ok("bmap", "--json", bed.path).json["files"]) == 500
    kernel_log.read()
