# SPDX-License-Identifier: GPL-2.0
"""Quota: asked, set and enforced through wsfs, as on plain XFS."""

import os

import pytest

from lib import quota
from lib.bed import Bed
from lib.child import Child
from lib.compare import attempt
from lib.ioctls import XFLAG_PROJINHERIT, FsXattr
from lib.quota import GROUP, PROJECT, USER
from lib.shell import run

KINDS = (USER, GROUP, PROJECT)
# What would leave the quota off: XFS's commands and the VFS's own
SWITCHES = (quota.Q_XQUOTAOFF, quota.Q_XQUOTARM, 0x800002, 0x800003)


@pytest.fixture(scope="module")
def pair(disks, base, plain):
    """As conftest's, with all quotas on."""
    stacked = Bed(disks[0], f"{base}/quota", stacked=not plain)
    alone = Bed(disks[1], f"{base}/quota-alone", stacked=False)
    for bed in (stacked, alone):
        bed.make(agcount=4, ag_mib=80, xfs_options="uquota,gquota,pquota")
    yield stacked, alone
    complaints = stacked.finish() + alone.finish()
    assert not complaints, "\n".join(complaints)


def ask(d, command, kind, number=0, arg=b""):
    fd = os.open(d, os.O_RDONLY)
    try:
        return attempt(quota.by_fd, fd, command, kind, number, arg)
    finally:
        os.close(fd)


def set_project(path, number):
    fd = os.open(path, os.O_RDONLY)
    attr = FsXattr.of(fd)
    attr.projid = number
    attr.xflags |= XFLAG_PROJINHERIT
    attr.apply(fd)
    os.close(fd)


@pytest.mark.quick
def test_usage_by_fd(same):
    def scenario(d):
        set_project(d, 4321)
        with open(f"{d}/f", "wb") as f:
            f.write(b"x" * (1 << 20))
            os.fchown(f.fileno(), 1234, 2345)
            os.fsync(f.fileno())
        answers = [
            quota.usage(ask(d, quota.Q_XGETQUOTA, kind, number))
            for kind, number in ((USER, 1234), (GROUP, 2345), (PROJECT, 4321))
        ]
        answers.append(ask(d, quota.Q_XGETQUOTA, USER, 99999))
        answers.append(quota.usage(ask(d, quota.Q_XGETNEXTQUOTA, USER, 1))[0] > 0)
        return answers

    answers = same(scenario)
    assert answers[0] == (1234, 0, 0, 2048, 1)


def test_every_command(same):
    """What the kernel says to each, known and unknown."""

    def scenario(d):
        answers = {}
        for command in [*range(0x5800, 0x580C), *range(0x800000, 0x80000A)]:
            if command in SWITCHES:
                continue
            for kind in (*KINDS, 3):
                got = ask(d, command, kind, 0, bytes(112))
                answers[command, kind] = got if isinstance(got, str) else len(got)
        return answers

    answers = same(scenario)
    assert answers[quota.Q_XGETQSTAT, USER] == 256
    assert answers[quota.Q_GETQUOTA, USER] == 256


def test_limits_hold(same):
    """Set by fd, met by a user, a group and a project."""

    def scenario(d):
        os.chmod(d, 0o777)
        answers = []
        for kind, number in ((USER, 5001), (GROUP, 5002)):
            answers.append(
                ask(d, quota.Q_XSETQLIM, kind, number, quota.limits(block_hard=4096, inode_hard=3))
                and "set"
            )
            answers.append(quota.usage(ask(d, quota.Q_XGETQUOTA, kind, number)))
            with Child(uid=5001, gid=5002) as child:
                answers.append(child.call(fill, f"{d}/{kind}"))
            ask(d, quota.Q_XSETQLIM, kind, number, quota.limits())
        os.mkdir(f"{d}/project")
        set_project(f"{d}/project", 5003)
        ask(d, quota.Q_XSETQLIM, PROJECT, 5003, quota.limits(block_hard=4096, inode_hard=4))
        answers.append(fill(None, f"{d}/project/f"))
        got = os.statvfs(f"{d}/project")
        answers.append((got.f_blocks, got.f_files))
        ask(d, quota.Q_XSETQLIM, PROJECT, 5003, quota.limits())
        return answers

    answers = same(scenario)
    assert "EDQUOT" in str(answers) and "ENOSPC" in str(answers)


def fill(_, prefix):
    """Create and write until it fails: with which errno, and how far."""
    answers = []
    for i in range(5):
        fd = attempt(os.open, f"{prefix}-{i}", os.O_CREAT | os.O_WRONLY)
        if isinstance(fd, str):
            answers.append(fd)
            continue
        answers.append(attempt(os.write, fd, b"x" * (3 << 20)))
        os.close(fd)
    return answers


def test_without_privilege(same):
    def scenario(d):
        os.chmod(d, 0o777)
        with Child(uid=1000, gid=1000) as child:
            return child.call(ask_as_user, d)

    answers = same(scenario)
    assert "EPERM" in answers


def ask_as_user(_, d):
    found = []
    for command, number in (
        (quota.Q_XGETQUOTA, 1000),
        (quota.Q_XGETQUOTA, 1001),
        (quota.Q_XSETQLIM, 1000),
        (quota.Q_XGETQSTAT, 0),
        (quota.Q_XQUOTAOFF, 0),
    ):
        got = ask(d, command, USER, number, quota.limits())
        found.append(got if isinstance(got, str) else "answered")
    return found


def test_switched_off_and_on(same, pair):
    """Enforcement goes off and on for all that see the XFS."""

    def scenario(d):
        answers = []
        flags = (1 << 1).to_bytes(4, "little")  # user enforcement
        answers.append(ask(d, quota.Q_XQUOTAOFF, USER, 0, flags) and "off")
        answers.append(ask(d, quota.Q_XGETQSTATV, USER, 0, b"\1".ljust(256, b"\0"))[:4])
        answers.append(ask(d, quota.Q_XQUOTAON, USER, 0, flags) and "on")
        answers.append(ask(d, quota.Q_XGETQSTATV, USER, 0, b"\1".ljust(256, b"\0"))[:4])
        return answers

    same(scenario)


def test_by_device(pair, plain):
    """quotactl(2) on the device is the XFS's own, and tells the same."""
    if plain:
        pytest.skip("--plain: no wsfs")
    stacked, _ = pair
    with open(stacked.at("by-device"), "wb") as f:
        f.write(b"x" * (1 << 20))
        os.fchown(f.fileno(), 7777, 0)
        os.fsync(f.fileno())
    below = quota.by_device(stacked.disk, quota.Q_XGETQUOTA, USER, 7777)
    above = ask(stacked.path, quota.Q_XGETQUOTA, USER, 7777)
    assert quota.usage(above) == quota.usage(below) == (7777, 0, 0, 2048, 1)


def test_xfs_quota(pair, plain):
    """The program, with -f as its manual says for what is not of type xfs."""
    if plain:
        pytest.skip("--plain: no wsfs")
    stacked, _ = pair
    stacked.umount()
    run("mount", "-t", "wsfs", "-o", "uquota,pquota", stacked.disk, stacked.path)
    try:
        with open(stacked.at("program"), "wb") as f:
            f.write(b"x" * (1 << 20))
            os.fchown(f.fileno(), 8888, 0)
            os.fsync(f.fileno())
        xfs_quota = ("xfs_quota", "-x", "-f")
        run(*xfs_quota, "-c", "limit -u bhard=2m 8888", stacked.path)
        report = run(*xfs_quota, "-c", "report -u -N -n", stacked.path)
        line = next(line.split() for line in report.splitlines() if "8888" in line)
        assert line[1] == "1024" and line[3] == "2048", report
        assert "Enforcement: ON" in run(*xfs_quota, "-c", "state -u", stacked.path)
        os.mkdir(stacked.at("project"))
        run(*xfs_quota, "-c", f"project -s -p {stacked.at('project')} 99", stacked.path)
        fd = os.open(stacked.at("project"), os.O_RDONLY)
        assert FsXattr.of(fd).projid == 99
        os.close(fd)
    finally:
        run("umount", stacked.path)
        stacked.mount()
