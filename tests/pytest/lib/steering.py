# SPDX-License-Identifier: GPL-2.0
"""docs/steering.md, which says what is steered, as the tests read it."""

import os

_PATH = os.path.join(os.path.dirname(__file__), "../../../docs/steering.md")


def _cells(line):
    return [cell.strip().replace("`", "") for cell in line.strip().strip("|").split("|")]


def _tables():
    """Each table of the page: a list of dicts, header → cell."""
    with open(_PATH) as f:
        lines = f.read().splitlines()
    found, rows = [], []
    for line in [*lines, ""]:
        if line.startswith("|"):
            rows.append(_cells(line))
        elif rows:
            head, _, *body = rows
            found.append([dict(zip(head, row, strict=True)) for row in body])
            rows = []
    return found


def _table(*head):
    """The one with these headers."""
    (rows,) = [table for table in _tables() if list(table[0])[: len(head)] == list(head)]
    return rows


class Steering:
    """What the page says."""

    def __init__(self):
        rows = _table("file", "SET")
        self.states = [row["file"] for row in rows]
        self.calls = list(rows[0])[1:]
        self._cells = {(row["file"], call): row[call] for row in rows for call in self.calls}
        self._exceptions = [
            (row["way"], self._names(row["file"], self.states),
             self._names(row["call"], self.calls), row["lies"])
            for row in _table("way", "file", "call")
        ]  # fmt: skip
        self.ways_with_exceptions = {way for way, *_ in self._exceptions}
        self.not_steered = {row["what"]: row["lies"] for row in _table("what", "lies")}

    @staticmethod
    def _names(cell, names):
        found = names if cell == "all" else cell.split(", ")
        assert set(found) <= set(names), f"{cell}: not one of {names}"
        return found

    def where(self, way, state, call):
        """What is to come of it, in the words of the page."""
        for name, states, calls, lies in self._exceptions:
            if name == way and state in states and call in calls:
                return lies
        return self._cells[state, call]

    @staticmethod
    def ways():
        """The ways of writing that the page names."""
        with open(_PATH) as f:
            text = f.read()
        part = text.split("That holds for these ways of writing:")[1].split("with these except")[0]
        return part.split("`")[1::2]
