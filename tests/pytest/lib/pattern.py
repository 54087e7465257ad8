# SPDX-License-Identifier: GPL-2.0
"""Bytes that tell where they belong: each sector names its file and place."""

_SECTOR = 512
_REPEAT = _SECTOR // 16


def pattern(tag, offset, length):
    """@length bytes of file number @tag from @offset on."""
    first, last = offset // _SECTOR, -(-(offset + length) // _SECTOR)
    sectors = b"".join(
        b"%05d:%09x\n" % (tag % 100000, i) * _REPEAT for i in range(first, last)
    )
    skip = offset - first * _SECTOR
    return sectors[skip : skip + length]


def first_difference(got, want):
    """None, or words about the first byte that differs."""
    if got == want:
        return None
    if len(got) != len(want):
        return f"length {len(got)}, expected {len(want)}"
    at = next(i for i, (a, b) in enumerate(zip(got, want)) if a != b)
    return f"byte {at}: {got[at : at + 16]!r}, expected {want[at : at + 16]!r}"
