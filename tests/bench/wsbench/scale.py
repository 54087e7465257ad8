# SPDX-License-Identifier: GPL-2.0
"""How much a round does."""

import dataclasses

KIB = 1 << 10
MIB = 1 << 20


@dataclasses.dataclass(frozen=True)
class Scale:
    """Sizes in bytes; `seconds` is how long a round lasts that has no end of its own."""

    seconds: float = 2
    names: int = 20000
    passes: int = 10  # over the names, of readdir
    set_files: int = 2000
    anchor_files: int = 256
    births: int = 5000  # files made in a directory with a stream, and in a spread one
    file: int = 32 * MIB  # one that is written before it is measured
    crossing: int = 4 * MIB  # the same, in extents of one block
    sequential: int = 128 * MIB
    append: int = 8 * MIB  # what each writer of F7 appends
    keys: int = 50_000  # of 1 KB, of RocksDB


# To see that every row works: its numbers mean nothing.
QUICK = Scale(seconds=0.2, names=1000, passes=2, set_files=50, anchor_files=8, births=320,
              file=MIB, crossing=256 * KIB, sequential=4 * MIB, append=256 * KIB, keys=6000)
