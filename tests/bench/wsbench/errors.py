# SPDX-License-Identifier: GPL-2.0
"""What a row fails by."""


class NotMeasured(Exception):
    """What was run is not what the row says, and how that was seen."""
