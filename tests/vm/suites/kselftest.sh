#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In a guest: run the selftests named by the arguments (default: every program
# in the build's kselftest directory), and keep their TAP.

set -u
limit=300
results=$WSFS_RESULTS/kselftest.tap
programs=()
status=0

cd /wsfs-build/kselftest || exit
: >"$results"
lsmod | grep -q '^wsfs ' || { modprobe -q xfs; insmod /wsfs-build/wsfs.ko; } || exit

[ $# -gt 0 ] || mapfile -t programs < <(
	find . -maxdepth 1 -type f -executable ! -name '*.*' -printf '%f\n' | sort)
for program in "$@" "${programs[@]}"; do
	echo "# $program" | tee -a "$results"
	timeout $limit "./$program" 2>&1 | tee -a "$results"
	code=${PIPESTATUS[0]}
	case $code in
	0 | 4) ;;	# passed, skipped
	124) echo "not ok 1 $program: still running after $limit s" | tee -a "$results" ;;
	1) ;;		# it said itself what failed
	*) echo "not ok 1 $program: ended with status $code" | tee -a "$results" ;;
	esac
	[ "$code" = 0 ] || [ "$code" = 4 ] || status=1
done
rmmod wsfs || status=1
exit $status
