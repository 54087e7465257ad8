#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In a guest that was booted with security=selinux: the tests of labels.

exec "$(dirname "$0")/pytest.sh" test_labels.py
