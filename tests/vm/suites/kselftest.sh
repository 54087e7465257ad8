#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In a guest: run the selftests (all, or those named), and keep their TAP.

set -u
cd /wsfs-build/kselftest || exit
modprobe -q xfs
insmod /wsfs-build/wsfs.ko || exit
./run "$@" 2>&1 | tee "$WSFS_RESULTS/kselftest.tap"
status=${PIPESTATUS[0]}
rmmod wsfs || status=1
exit "$status"
