# SPDX-License-Identifier: GPL-2.0
"""What the tests are made of: one module, one job."""
