# SPDX-License-Identifier: GPL-2.0
"""Rounds on all columns, taking turns."""

import itertools
import subprocess
import time

from lib.shell import Failed

from . import stats
from .errors import NotMeasured
from .targets import mounted

# What a row may fail by; all else is a fault of ours.
FAILURES = (NotMeasured, Failed, OSError, subprocess.SubprocessError)


def run(workloads, kinds, disk, base, scale, rounds, progress):
    """Measure them, on targets of these @kinds; returns the rows in the same order.
    @progress is called with each workload's rows and the seconds that they took."""
    results = []
    for filesystem, group in itertools.groupby(workloads, key=lambda it: it.filesystem):
        group = list(group)
        needed = [kind for kind in kinds if any(it.runs_on(kind) for it in group)]
        with mounted(disk, base, needed) as targets:
            for target in targets:
                _prepare(filesystem, target, scale)
            for workload in group:
                start = time.monotonic()
                rows = _measure(workload, targets, scale, rounds)
                results += rows
                progress(rows, time.monotonic() - start)
    return results


def _prepare(filesystem, target, scale):
    try:
        target.begin("kept")
        target.prepared = filesystem.prepare(target, scale)
    except FAILURES as failure:
        target.unprepared = str(failure)


def _measure(workload, targets, scale, rounds):
    columns = workload.columns(targets)
    if not columns:
        return []
    samples = {name: [] for name, _, _ in columns}
    failed = {name: target.unprepared for name, target, _ in columns if target.unprepared}
    for turn in range(rounds):
        # There and back, so that none of them always comes first.
        for name, target, measure in columns if turn % 2 == 0 else reversed(columns):
            if name in failed:
                continue
            try:
                samples[name].append(_round(target, measure, scale, turn))
            except FAILURES as failure:
                failed[name] = str(failure)
    return [_row(row, samples, failed) for row in workload.rows]


def _round(target, measure, scale, turn):
    target.begin(f"round-{turn}")
    try:
        return measure(scale)
    finally:
        target.end()


def _row(row, samples, failed):
    """A row of the results; see report.py for what it holds."""
    judged = {name: None if name in failed else stats.summary([of[row.name] for of in rounds])
              for name, rounds in samples.items()}
    on = {name: entry for name, entry in judged.items() if entry}
    if next(iter(samples)) in on:
        stats.add_ratios(on)
    verdicts = [goal.judge(judged) for goal in row.goals]
    return {"name": row.name, "unit": row.unit, "more_is_better": row.more_is_better,
            "on": on, "failed": failed, "goals": [it for it in verdicts if it]}
