# SPDX-License-Identifier: GPL-2.0
"""Which stream owns which AG: docs/interface.md, "AG sets", in arithmetic."""


def default_streams(agcount):
    """Streams of a mount without streams=."""
    if agcount >= 32:
        return min(agcount // 4, 16)
    if agcount >= 8:
        return min(agcount // 2, 16)
    return agcount


def ag_sets(streams, agcount, first=0):
    """The AG set of each stream over @agcount AGs from @first on."""
    if streams > agcount:
        return [{first + i % agcount} for i in range(streams)]
    share = agcount // streams
    sets = [
        set(range(first + i * share, first + (i + 1) * share)) for i in range(streams)
    ]
    sets[-1] |= set(range(first + streams * share, first + agcount))
    return sets


def grown_ag_sets(streams, old, new):
    """The sets after growfs from @old to @new AGs while a stream is reserved."""
    added = ag_sets(streams, new - old, first=old)
    return [a | b for a, b in zip(ag_sets(streams, old), added)]


def parse(text):
    """A list of ranges, "8-11,32", as a set."""
    agnos = set()
    for piece in filter(None, text.strip().split(",")):
        low, _, high = piece.partition("-")
        agnos |= set(range(int(low), int(high or low) + 1))
    return agnos
