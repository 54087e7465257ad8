# SPDX-License-Identifier: GPL-2.0
"""Runs commands in guests with the built tree inside; see ../README.md."""
