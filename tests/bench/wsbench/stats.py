# SPDX-License-Identifier: GPL-2.0
"""Medians of rounds, ratios to the first column, and goals."""

import dataclasses
import statistics


def summary(samples):
    """Of the samples of all rounds: the median of all numbers in them, the last of
    anything else, and the values themselves."""
    told = {key: _middle([sample[key] for sample in samples]) for key in samples[0]}
    return {**told, "rounds": [sample["value"] for sample in samples]}


def _middle(values):
    numbers = all(isinstance(value, (int, float)) for value in values)
    return statistics.median(values) if numbers else values[-1]


def add_ratios(columns):
    """@columns: name → summary. Each gets the ratio of its value to the first one's."""
    if not columns:
        return
    base = next(iter(columns.values()))["value"]
    for entry in columns.values():
        entry["ratio"] = entry["value"] / base


def overlap(one, other):
    """Some round of the better was no better than some round of the worse."""
    return min(one) <= max(other) and min(other) <= max(one)


@dataclasses.dataclass(frozen=True)
class Goal:
    """Column @who reaches @least times what column @of does.

    With @noise the goal is that no difference can be told: it is met, too, from
    that ratio on if the rounds of both overlap."""

    who: str
    of: str
    least: float
    noise: float = None

    def judge(self, columns):
        """@columns: name → summary, None for one that failed. Returns the verdict as
        a dict, None if a column was not asked for."""
        if self.who not in columns or self.of not in columns:
            return None
        who, of = columns[self.who], columns[self.of]
        verdict = {"who": self.who, "of": self.of, "least": self.least, "ratio": None,
                   "met": False, "noise": False}
        if who and of:
            ratio = verdict["ratio"] = who["value"] / of["value"]
            verdict["met"] = ratio >= self.least
            if not verdict["met"] and self.noise is not None:
                verdict["noise"] = (ratio >= self.noise
                                    and overlap(who["rounds"], of["rounds"]))
                verdict["met"] = verdict["noise"]
        return verdict


def words(verdict):
    """A verdict in words."""
    text = f"{verdict['who']}: "
    if verdict["ratio"] is None:
        return text + f"not measured beside {verdict['of']}"
    text += f"{verdict['ratio']:.2f} of {verdict['of']}"
    if verdict["noise"]:
        return text + ": within what the rounds differ by"
    return text + f", goal {verdict['least']:.2f}"
