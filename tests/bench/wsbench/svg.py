# SPDX-License-Identifier: GPL-2.0
"""The results as a picture: a bar for each column of each row."""

from xml.sax.saxutils import escape

from .rocksdb import BY_HINT, WAL_STREAM
from .targets import HOMED, OVERLAY, PLAIN, STEERED, WSFS

_COLOURS = {PLAIN: "#7f7f7f", HOMED: "#bcbd22", WSFS: "#1f77b4", STEERED: "#2ca02c",
            OVERLAY: "#d62728", BY_HINT: "#1f77b4", WAL_STREAM: "#2ca02c"}
_OTHER = "#9467bd"
_LEFT, _WIDTH, _BAR, _GAP, _HEAD = 310, 420, 10, 8, 50
_RIGHT = 60


def _bars(results):
    """(name of the row, [(column, ratio)…]) of all that are speeds."""
    for row in results["rows"] + results["costs"]:
        if not row["more_is_better"]:
            continue
        found = [(name, entry["ratio"]) for name, entry in list(row["on"].items())[1:]
                 if "ratio" in entry]
        if found:
            yield row["name"], found


def draw(results):
    """The text of an SVG file: speed as a ratio to plain XFS, and for costs to the
    first of the two ways."""
    rows = list(_bars(results))
    top = max([1.0, *(ratio for _, found in rows for _, ratio in found)]) * 1.05
    unit = _WIDTH / top
    height = _HEAD + sum(len(found) * _BAR + _GAP for _, found in rows) + 20
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _WIDTH + _RIGHT}" '
           f'height="{height}" font-family="sans-serif" font-size="11">',
           '<rect width="100%" height="100%" fill="white"/>',
           _text(8, 16, f"Speed as a ratio to plain XFS (costs: to doing without), Linux "
                        f"{results['kernel']}"), *_legend(results)]
    at = _HEAD
    for name, found in rows:
        out.append(_text(_LEFT - 6, at + len(found) * _BAR / 2 + 4, name, 'text-anchor="end"'))
        for column, ratio in found:
            out.append(f'<rect x="{_LEFT}" y="{at}" width="{ratio * unit:.1f}" '
                       f'height="{_BAR - 1}" fill="{_COLOURS.get(column, _OTHER)}">'
                       f"<title>{escape(column)}</title></rect>")
            out.append(_text(f"{_LEFT + ratio * unit + 3:.1f}", at + _BAR - 2, f"{ratio:.2f}",
                             'font-size="8"'))
            at += _BAR
        at += _GAP
    out.append(f'<line x1="{_LEFT + unit:.1f}" x2="{_LEFT + unit:.1f}" y1="{_HEAD - 4}" '
               f'y2="{at}" stroke="black" stroke-dasharray="3 2"/>')
    return "\n".join([*out, "</svg>", ""])


def _text(x, y, words, more=""):
    return f'<text x="{x}" y="{y}"{more and " "}{more}>{escape(words)}</text>'


def _legend(results):
    entries = [(name, _COLOURS.get(name, _OTHER)) for name in results["targets"][1:]]
    if results["costs"]:
        entries.append(("the cost", _OTHER))
    for number, (name, colour) in enumerate(entries):
        x = 8 + number * 130
        yield f'<rect x="{x}" y="26" width="10" height="10" fill="{colour}"/>'
        yield _text(x + 14, 35, name)
