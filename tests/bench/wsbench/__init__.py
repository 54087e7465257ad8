# SPDX-License-Identifier: GPL-2.0
"""What tests/bench/bench is made of; docs/benchmarks.md tells what it shows.

scale.py     how much a round does
targets.py   the five ways to a file that are compared
workload.py  what a row, a workload and its filesystem are
data.py, names.py, costs.py
             the workloads; names.c is the loops of one of them
plan.py      all of them, in the order of the table
run.py       rounds, taking turns
fio.py, meter.py, slabs.py
             what measures; errors.py is what a row fails by
stats.py     medians, ratios, goals
report.py, svg.py
             the results as text, JSON and a picture
"""
