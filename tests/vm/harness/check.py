# SPDX-License-Identifier: GPL-2.0
"""Runs the suites of `make check` and its sisters, and sums them up.

Every suite leaves result files, and those are what is counted: a suite that
ran no test has failed, whatever it returned.
"""

import dataclasses
import subprocess
import sys
import time
from concurrent import futures

from . import build, cache, counts, guest, kernels, report, sysroot
from .errors import HarnessError, say


@dataclasses.dataclass(frozen=True)
class Suite:
    """A suite: where it runs ("inside" the sysroot, in a "guest", "here"), and with what."""
    name: str
    where: str
    parts: tuple = ()
    arguments: tuple = ()
    disks: tuple = ()
    limit: int = 900
    append: tuple = ()      # kernel parameters


STYLE = Suite("style", "inside")
STYLE_FAST = dataclasses.replace(STYLE, arguments=("fast",))
UNITS = Suite("units", "inside", ("tools",))
KUNIT = Suite("kunit", "guest", ("module",))
KSELFTEST = Suite("kselftest", "guest", ("module", "kselftest"),
                  disks=("1G", "1G"), limit=1500)
# SET against every other operation takes too long on an emulated or checked CPU.
KSELFTEST_SLOW = dataclasses.replace(KSELFTEST, arguments=(
    "alloc", "bad_input", "bad_mount", "get_max", "hidden", "hints", "info", "life", "mounts",
    "numbered", "race_alloc", "race_mix", "readonly", "set", "set_dir", "set_errors"))
PYTEST = Suite("pytest", "guest", ("module", "tools"), disks=("4G", "4G"), limit=3600)
QUICK = dataclasses.replace(PYTEST, arguments=("-m", "quick"))
LONG = dataclasses.replace(PYTEST, arguments=("-m", "long or not long"), limit=7200)
LABELS = dataclasses.replace(PYTEST, name="labels", append=("security=selinux",))
RACES = dataclasses.replace(KSELFTEST, arguments=("race_set",), limit=7200)
EXT = Suite("xfstests-ext", "guest", ("module", "tools"), disks=("2G",))
HARNESS = Suite("selftest", "here")
DEB = Suite("deb", "here")

# Groups of suites, one group after the other. Those of a group run side by side, as
# emulated CPUs are worth: UML wants two for itself (kselftest in UML takes 151 s alone,
# and 540 s beside a build). check and check-debug are what CI has time for, an hour from
# nothing: building x86-lockdep alone takes a quarter of one.
PLANS = {
    "check": [[(UNITS, "")], [(KUNIT, "uml")], [(KSELFTEST, "uml")], [(STYLE_FAST, "")],
              [(PYTEST, "uml")], [(KSELFTEST_SLOW, "6.12"), (KSELFTEST_SLOW, "7.3")],
              [(EXT, "uml")]],
    "check-debug": [[(KUNIT, "uml-kasan")], [(KSELFTEST_SLOW, "uml-kasan")],
                    [(QUICK, "uml-kasan")]],
    "check-long": [[(STYLE, "")], [(HARNESS, "uml")], [(DEB, "")],
                   [(LONG, "uml")], [(LONG, "uml-kasan")],
                   [(LONG, "6.12"), (LONG, "7.3")], [(LABELS, "6.12"), (LABELS, "7.3")],
                   [(KUNIT, "x86-lockdep")],
                   [(KSELFTEST_SLOW, "x86-lockdep"), (LONG, "x86-lockdep")],
                   [(RACES, "uml-kasan")], [(RACES, "6.12"), (RACES, "7.3")],
                   [(RACES, "x86-lockdep")]],
    "check-host": [[(KSELFTEST, "host")], [(PYTEST, "host")]],
    "style": [[(STYLE, "")]],
}


def run(plan, only=None):
    """Run a plan, or its suite of that name; print a table and, last, the sum.

    Suites that run side by side have their names before their lines. Return the
    exit status.
    """
    results = build.home() / "results" / plan
    groups = PLANS[plan]
    if only is None:
        cache.remove(results)
    else:
        suites = [suite for group in groups for suite in group]
        groups = [[suite] for suite in suites if _name(*suite) == only]
        if not groups:
            raise HarnessError(f"{plan} has no suite {only!r}: "
                               f"{', '.join(_name(*suite) for suite in suites)}")
    rows = []
    for group in groups:
        apart = len(group) > 1
        with futures.ThreadPoolExecutor(max_workers=len(group)) as pool:
            rows += pool.map(lambda suite: _row(plan, suite, results, apart), group)
    return _sum_up(plan, rows, results)


def _name(suite, kernel):
    return f"{suite.name} {kernel}".strip()


def _row(plan, suite, results, apart):
    """Run a suite, in a process of its own where it is to go apart: name, counts, status, time."""
    name = _name(*suite)
    path = results / name.replace(" ", "-")
    cache.remove(path)
    path.mkdir(parents=True)
    if not apart:
        say(f"==== {name} ====")
    start = time.monotonic()
    status = _apart(plan, name) if apart else _run_suite(*suite, path)
    return name, _count(path, status), status, time.monotonic() - start


def _apart(plan, name):
    command = ["setpriv", "--pdeathsig", "TERM", sys.executable, sysroot.VM / "vm", "check",
               "--only", name, plan]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace") as process:
        for line in process.stdout:
            print(f"{name} | {line}", end="", flush=True)
    return process.returncode


def _run_suite(suite, kernel, path):
    try:
        sys.stdout.flush()
        if suite.where == "inside":
            return _inside(suite, path)
        if suite.where == "here":
            return subprocess.run([sysroot.VM / "suites" / f"{suite.name}.sh", path],
                                  stdin=subprocess.DEVNULL, check=False).returncode
        script = f"/wsfs/tests/vm/suites/{suite.name}.sh"
        return guest.run(guest.Guest(
            kernels.find(kernel), [script, *suite.arguments], list(suite.disks),
            limit=suite.limit, append=list(suite.append), parts=suite.parts, results=path,
            dmesg=path / "dmesg",
            allowed=[report.FAULT_INJECTION] if suite.name == "pytest" else []))
    except HarnessError as error:
        say(f"error: {error}")
        return 1


def _inside(suite, path):
    build.ensure(kernels.find("uml"), suite.parts)
    binds = [(sysroot.TOP, "/wsfs", "ro"), (kernels.source(), "/wsfs-src", "ro"),
             (path, "/wsfs-results", "rw")]
    tools = build.directory(build.PARTS["tools"], None)
    if tools.exists():
        binds.append((tools, "/wsfs-build", "rw"))
    script = f"/wsfs/tests/vm/suites/{suite.name}.sh"
    return sysroot.run([script, *suite.arguments], binds).returncode


def _count(path, status):
    """The tests of a suite; what went wrong besides the tests counts as one more."""
    found = counts.of_directory(path)
    if found.total == 0:
        say("this suite ran no test")
        return found + counts.Counts(failed=1)
    if status and not found.failed:
        return found + counts.Counts(failed=1)
    return found


def _sum_up(plan, rows, results):
    total = counts.Counts()
    print(f"\n{plan}:")
    for name, found, status, seconds in rows:
        total += found
        verdict = "ok  " if not status and not found.failed else "FAIL"
        print(f"  {verdict} {name:24} {found!s:36} status {status:3}  {seconds:5.0f} s")
    print(f"results and kernel logs: {results}")
    print(total, flush=True)
    return 1 if total.failed or not total.passed else 0
