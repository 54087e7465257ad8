#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In a guest: load the KUnit modules, and show and keep what they found.

set -u
shopt -s nullglob
results=$WSFS_RESULTS/kunit.tap
status=0

: >"$results"
for module in /wsfs-build/kunit/*.ko; do
	insmod "$module" || status=1
done
for file in /sys/kernel/debug/kunit/*/results; do
	cat "$file"
done | tee "$results"
for module in /wsfs-build/kunit/*.ko; do
	rmmod "$(basename "$module" .ko)" || status=1
done
! grep -q '^ *not ok' "$results" || status=1
exit $status
