#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In a guest: our own tests in xfstests' style, without an xfstests checkout.

set -o pipefail
export SCRATCH_DEV=${WSFS_DISKS%% *} WSFS_MODULE=/wsfs-build/wsfs.ko RESULTS=$WSFS_RESULTS/tests
/wsfs/xfstests-ext/run "$@" | tee "$WSFS_RESULTS/xfstests-ext.tap"
