# SPDX-License-Identifier: GPL-2.0
"""Which stream owns which AG: docs/interface.md, "AG sets", in arithmetic."""


def default_streams(agcount):
    """Streams of a mount without streams=."""
    if agcount >= 32:
        return min(agcount // 4, 16)
    if agcount >= 8:
        return min(agcount // 2, 16)
    return agcount


def ag_sets(streams, agcount):
    """The AG set of each stream."""
    if streams > agcount:
        return [{i % agcount} for i in range(streams)]
    share = agcount // streams
    sets = [set(range(i * share, (i + 1) * share)) for i in range(streams)]
    sets[-1] |= set(range(streams * share, agcount))
    return sets


def grown_ag_sets(streams, old, new):
    """The sets after growfs from @old to @new AGs while a stream is reserved."""
    sets = ag_sets(streams, old)
    for agno in range(old, new):
        sets[(agno - old) % streams].add(agno)
    return sets


def parse(text):
    """A list of ranges, "8-11,32", as a set."""
    agnos = set()
    for piece in filter(None, text.strip().split(",")):
        low, _, high = piece.partition("-")
        agnos |= set(range(int(low), int(high or low) + 1))
    return agnos
