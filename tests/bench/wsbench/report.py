# SPDX-License-Identifier: GPL-2.0
"""The results as text and as JSON.

They are a dict: "kernel", "cpus", "disk", "date", "ags", "streams", "rounds",
"seconds" (of a timed round), "took" (seconds), "quick", "not_countable" (why there
are no instructions, or None), "targets" (names), and "rows" and "costs", lists of
    {"name", "unit", "more_is_better",
     "on": column → {"value", "rounds": [value…], "ratio": to the first column,
                     "extents": a file, "instructions": an operation, "places": see
                     rocksdb.py; where there are},
     "failed": column → why,
     "goals": [{"who", "of", "least", "ratio", "met", "noise"}…]}
where columns are targets, and for costs the two ways.
"""

import json

from . import rocksdb
from .stats import words

_NAME = 42
_CELL = 14  # wide enough for the name of a target
_EXTRA = (("extents", "extents a file", ".1f"),
          ("instructions", "instructions an operation", ".0f"))


def write_json(results, path):
    """As described above."""
    with open(path, "w", encoding="utf-8") as out:
        json.dump(results, out, indent=2)
        out.write("\n")


def all_goals(results):
    """(row, verdict) of each goal."""
    return [(row, verdict) for row in results["rows"] + results["costs"]
            for verdict in row["goals"]]


def failures(results):
    """(row, column, why) of each that could not be measured."""
    return [(row["name"], column, why) for row in results["rows"] + results["costs"]
            for column, why in row["failed"].items()]


def text(results):
    """All of it, in lines."""
    parts = [_heading(results)]
    if results["rows"]:
        parts.append(_table(results))
    if results["costs"]:
        parts.append(_costs(results["costs"]))
    parts += [rocksdb.words(results), _goals(results), _failures(results)]
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _heading(results):
    lines = [f"Linux {results['kernel']}, {results['cpus']} CPUs, XFS with {results['ags']} AGs on "
             f"{results['disk']}, {results['streams']} streams, {results['date']}",
             f"Medians of {results['rounds']} rounds (timed ones of {results['seconds']:g} s) that "
             f"took turns; {results['took']:.0f} s in all"]
    if results["quick"]:
        lines.append("A quick run, to see that every row works: ITS NUMBERS MEAN NOTHING.")
    if results["not_countable"]:
        lines.append(f"Instructions: not countable here ({results['not_countable']})")
    return lines


def _table(results):
    names = results["targets"]
    lines = [_line("", f"{names[0]:>{_CELL}}", "",
                   "".join(f"{name:>{_CELL}}" for name in names[1:]))]
    for row in results["rows"]:
        key, form = ("ratio", ".2f") if row["more_is_better"] else ("value", ".0f")
        rest = "".join(_cell(row, name, key, form) for name in names[1:])
        lines.append(_line(row["name"], _cell(row, names[0], "value", ".0f"), row["unit"], rest))
        for key, label, form in _EXTRA:
            if any(key in entry for entry in row["on"].values()):
                lines.append(_line(f"    {label}", _cell(row, names[0], key, form), "",
                                   "".join(_cell(row, name, key, form) for name in names[1:])))
    return lines


def _line(name, first, unit, rest):
    return f"{name:{_NAME}}{first} {unit:<9}{rest}".rstrip()


def _cell(row, column, key, form):
    """A number, or why there is none: nothing to measure, or it failed."""
    entry = row["on"].get(column)
    if column in row["failed"]:
        return f"{'failed':>{_CELL}}"
    if entry is None or key not in entry:
        return f"{'-':>{_CELL}}"
    return f"{entry[key]:>{_CELL}{form}}"


def _costs(costs):
    lines = ["What steering costs, on wsfs with streams"]
    for row in costs:
        entries = [f"{name} {_cell(row, name, 'value', '.0f').strip()}"
                   for name in [*row["on"], *row["failed"]]]
        last = list(row["on"].values())[-1] if len(row["on"]) > 1 else {}
        ratio = f", ratio {last['ratio']:.2f}" if "ratio" in last else ""
        lines.append(f"{row['name']:{_NAME}}{row['unit']}: {', '.join(entries)}{ratio}")
        counted = [f"{name} {entry['instructions']:.0f}" for name, entry in row["on"].items()
                   if "instructions" in entry]
        if counted:
            lines.append(f"{'    instructions an operation':{_NAME}}{', '.join(counted)}")
    return lines


def _goals(results):
    """A line a row that has goals, and one for each that is missed, or met only within
    the noise."""
    goals = all_goals(results)
    if not goals:
        return []
    lines = [f"Goals: {sum(verdict['met'] for _, verdict in goals)} of {len(goals)} met"]
    for row in results["rows"] + results["costs"]:
        if not row["goals"]:
            continue
        met = all(verdict["met"] for verdict in row["goals"])
        lines.append(f"  {'met   ' if met else 'MISSED'} {row['name']}")
        lines += [f"{'':11}{words(verdict)}" for verdict in row["goals"]
                  if verdict["noise"] or not verdict["met"]]
    return lines


def _failures(results):
    """Rows that are measured together fail together: told once."""
    whys = {}
    for name, column, why in failures(results):
        whys.setdefault((column, why), []).append(name)
    return whys and ["Not measured:"] + [f"  {', '.join(names)}; {column}: {why}"
                                         for (column, why), names in whys.items()]
