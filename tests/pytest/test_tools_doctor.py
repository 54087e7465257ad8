# SPDX-License-Identifier: GPL-2.0
"""wsctl doctor on real mounts."""

import subprocess

import pytest

from lib import broker


def findings(path, ok=(0,)):
    """result by name of the findings about @path."""
    document = broker.wsctl_json("doctor", path, ok=ok)
    return {
        entry["name"]: entry["result"]
        for entry in document["findings"]
        if entry["subject"] == path
    }


def test_plain_xfs(bed):
    bed.make(agcount=16)
    found = findings(bed.lower, ok=(0, 1))
    assert found["mount"] == "warn"
    assert found["crc"] == found["reflink"] == found["agcount"] == "ok"


def test_all_is_well(bed):
    bed.make(agcount=16, streams=4, mkfs=("-m", "rmapbt=1,reflink=1"))
    found = findings(bed.path)
    assert set(found.values()) <= {"ok", "note"}
    for name in ("mount", "streams", "crc", "reflink", "rmapbt", "agcount"):
        assert found[name] == "ok"


def test_no_reflink(bed):
    bed.make(agcount=16, streams=4, mkfs=("-m", "rmapbt=0,reflink=0"))
    found = findings(bed.path)
    assert found["reflink"] == "warn"
    assert found["rmapbt"] == "note"


def test_no_streams(bed):
    bed.make(agcount=16, streams=0)
    assert findings(bed.path, ok=(1,))["streams"] == "fail"


def test_all_reserved(bed):
    bed.make(agcount=16, streams=2)
    bed.alloc()
    bed.alloc()
    assert findings(bed.path)["streams"] == "warn"


@pytest.mark.parametrize("option,result", [("inode32", "warn"), ("filestreams", "fail")])
def test_mount_options(bed, option, result):
    bed.make(agcount=16, streams=4, xfs_options=option)
    assert findings(bed.path, ok=(0, 1))[option] == result


def test_without_root(bed):
    bed.make(agcount=16)
    done = subprocess.run(["wsctl", "doctor", bed.path], user=4711, group=4711, extra_groups=[],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode in (0, 1), done.stdout
    assert "CAP_SYS_ADMIN" in done.stdout
