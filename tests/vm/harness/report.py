# SPDX-License-Identifier: GPL-2.0
"""Finds what a kernel complains about in its console log."""

import re

# Each line that is a report.
REPORTS = re.compile(r"""
    \bBUG:                                      # oops, KASAN, lockdep, slab, sleeping, …
  | kernel\ BUG\ at
  | \bWARNING:
  | \bOops\b
  | Kernel\ panic
  | general\ protection\ fault
  | Unable\ to\ handle\ kernel
  | BUG\ .*\ remaining\b
  | \bUBSAN:
  | \bODEBUG:
  | refcount_t:
  | \bINFO:\ possible
  | possible\ (?:circular|recursive|irq\ lock)
  | inconsistent\ lock\ state
  | (?:INFO|ERR):\ suspicious\ RCU
  | suspicious\ RCU\ usage
  | sleeping\ function\ called
  | \bINFO:\ task\ .*\ blocked\ for
  | \bINFO:.*(?:stall|detected\ stalls)
  | (?:soft|hard)\ ?(?:lockup|LOCKUP)
  | list_(?:add|del)\ corruption
  | kmemleak:\ \d+\ new\ suspected
  | unreferenced\ object
  | VFS:\ Busy\ inodes
  | XFS.*(?:Internal\ error|Assertion\ failed|[Cc]orruption)
  | (?:page|vmalloc)\ allocation\ failure
  | SLUB:\ Unable\ to\ allocate
  | FAULT_INJECTION:\ forcing
  | (?:Buffer|blk_update_request:)\ I/O\ error
  | I/O\ error,\ dev
""", re.VERBOSE)

# What failing allocations and disks on purpose makes a healthy kernel say.
FAULT_INJECTION = re.compile(r"""
    FAULT_INJECTION:\ forcing
  | (?:page|vmalloc)\ allocation\ failure
  | SLUB:\ Unable\ to\ allocate
  | (?:Buffer|blk_update_request:)\ I/O\ error
  | I/O\ error,\ dev
""", re.VERBOSE)

CONTEXT = 40


def find(log, allowed=()):
    """The numbers of the log's lines that are reports and that nothing allows."""
    return [number for number, line in enumerate(log)
            if REPORTS.search(line) and not any(pattern.search(line) for pattern in allowed)]


def excerpt(log, numbers):
    """The first report with what follows it, and the headlines of the others."""
    first = numbers[0]
    lines = log[first:first + CONTEXT]
    later = [log[number] for number in numbers[1:] if number >= first + CONTEXT]
    if later:
        lines += ["…", f"{len(later)} more:", *later[:20]]
    return lines
