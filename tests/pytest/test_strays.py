# SPDX-License-Identifier: GPL-2.0
"""Which failures lib/strays.py has run again, and which not."""

import os
import subprocess
import sys

import pytest

from lib.placement import strayed

HERE = os.path.dirname(os.path.abspath(__file__))
STRAYED = f"assert False, {strayed(4, {1, 2})!r}"
CASES = {
    "passes": ("pass", 1, 0),
    "strays_once": (f"if len(seen) < 2: {STRAYED}", 2, 0),
    "strays_always": (STRAYED, 3, 1),
    "wrong_bytes": ("assert b'a' == b'b'", 1, 1),
    "error": (f"raise OSError({strayed(4, {1, 2})!r})", 1, 1),
}


@pytest.mark.parametrize("name", CASES)
def test_run_again(tmp_path, name):
    body, times, status = CASES[name]
    (tmp_path / "test_it.py").write_text(
        f"seen = []\n\n\ndef test_it():\n    seen.append(1)\n    print('ran')\n    {body}\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", "-p", "lib.strays", "-c", os.devnull,
         "-p", "no:cacheprovider", "test_it.py"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": HERE}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == status, done.stdout
    assert done.stdout.count("ran\n") == times, done.stdout
    assert done.stdout.count("STRAY") == times - 1, done.stdout
