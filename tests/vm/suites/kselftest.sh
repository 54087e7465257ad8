#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In a guest: run the selftests (all, or those named), and keep their TAP.

set -u
# Races take turns on two slow CPUs; check-long gives each more.
export WSFS_RACE_SECONDS=${WSFS_RACE_SECONDS:-1}
cd /wsfs-build/kselftest || exit
modprobe -q xfs
insmod /wsfs-build/wsfs.ko || exit
./run "$@" 2>&1 | tee "$WSFS_RESULTS/kselftest.tap"
status=${PIPESTATUS[0]}
rmmod wsfs || status=1
exit "$status"
