# SPDX-License-Identifier: GPL-2.0
"""The commands of README's "Use it", one block after the other, as they stand there:
only the disk, the directories and how much fio does are others."""

import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

from lib.shell import run, status
from lib.xfs import Xfs

README = pathlib.Path(__file__).parents[2] / "README.md"

# Writes what README's writes. The one whose files are looked at goes on running.
MY_DATABASE = """#!/bin/sh
case $1 in
--wal-dir=*) dd if=/dev/zero of="${1#--wal-dir=}/1.log" bs=1M count=4 ;;
*) for file in wal.log table.db; do
       dd if=/dev/zero of="$DATA/$file" bs=1M count=4 conv=notrunc
   done
   sync
   touch "$DATA/ready"
   exec sleep 600 ;;
esac
"""


def blocks():
    """The shell commands of the section. systemd is not there; its units, and the
    broker, are test_tools_hold.py's."""
    section = README.read_text().split("\n## Use it\n")[1].split("\n## ")[0]
    for block in re.findall(r"(?:^ {4}.*\n)+", section, re.MULTILINE):
        if re.match(r" +(?:mount|wsctl|mkdir) ", block):
            yield block


@pytest.fixture
def fresh(disks, base, plain, kernel_log):
    """What the blocks have for /srv/data, /mnt/plain and the disk; its XFS is whole
    afterwards."""
    if plain:
        pytest.skip("--plain: no wsfs")
    xfs = Xfs(disks[0], f"{base}/readme-plain")
    xfs.mkfs(16, 64)
    data = f"{base}/readme-data"
    os.mkdir(data)
    yield {"/srv/data": data, "/mnt/plain": xfs.path, "/dev/nvme0n1": disks[0]}
    for path in (data, xfs.path):
        if os.path.ismount(path):
            run("umount", path)
        os.rmdir(path)
    assert not xfs.check()


def test_use_it(fresh, tmp_path):
    program = tmp_path / "my-database"
    program.write_text(MY_DATABASE)
    program.chmod(0o755)
    data = fresh["/srv/data"]
    shell = {
        "cwd": tmp_path,
        "env": {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "DATA": data},
    }
    found = list(blocks())
    # Those on mounting, reserving, looking, directories and fio
    assert len(found) == 5, found

    database = None
    try:
        for block in found:
            for theirs, ours in {**fresh, "--filesize 1g": "--filesize 4m",
                                 "--rounds 3": "--rounds 1"}.items():  # fmt: skip
                block = block.replace(theirs, ours)
            if block.rstrip().endswith("exec my-database'"):
                database = subprocess.Popen(
                    ["sh", "-ec", block], **shell, start_new_session=True
                )
                while not os.path.exists(f"{data}/ready"):
                    assert database.poll() is None, database.returncode
                    time.sleep(0.05)
            else:
                subprocess.run(["sh", "-exc", block], **shell, check=True, timeout=300)
        assert database.poll() is None
        # The first program holds 0 and 1; the second one's stream is released by now.
        code, output = status("wsctl", "check", "--within", "2", f"{data}/wal/1.log")
        assert code == 0, output
        assert list((tmp_path / "plots").glob("*.svg"))
    finally:
        if database:
            os.killpg(database.pid, signal.SIGTERM)
            database.wait()
