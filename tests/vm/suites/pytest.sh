#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In a guest: run tests/pytest with the given options, and keep the results.

cd /wsfs/tests/pytest || exit
exec pytest -q --junitxml="$WSFS_RESULTS/pytest.xml" "$@"
