# SPDX-License-Identifier: GPL-2.0
"""What the harness says when it, rather than the command, fails."""

import sys

# Exit statuses of `vm run` that are the harness's own.
REPORTED = 120    # the kernel reported a bug (or a leak), whatever the command said
DIED = 121        # the guest ended without a word from the command: panic, oops
TIMED_OUT = 124   # the time limit ended the guest
FAILED = 125      # the guest was never started: build error, bad arguments


class HarnessError(Exception):
    """Ends the program with a message and the status FAILED."""


def say(message):
    """Tell the user what is going on."""
    print(f"vm: {message}", file=sys.stderr, flush=True)
