# SPDX-License-Identifier: GPL-2.0
"""Bytes that tell where they belong: each 16 bytes name file and offset."""

_WORD = 16


def pattern(tag, offset, length):
    """@length bytes of file number @tag from @offset on."""
    first, last = offset // _WORD, -(-(offset + length) // _WORD)
    words = b"".join(b"%05d:%09x\n" % (tag % 100000, i) for i in range(first, last))
    skip = offset - first * _WORD
    return words[skip : skip + length]


def first_difference(got, want):
    """None, or words about the first byte that differs."""
    if got == want:
        return None
    if len(got) != len(want):
        return f"length {len(got)}, expected {len(want)}"
    at = next(i for i, (a, b) in enumerate(zip(got, want)) if a != b)
    return f"byte {at}: {got[at : at + 16]!r}, expected {want[at : at + 16]!r}"
