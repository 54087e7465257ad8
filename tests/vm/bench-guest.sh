#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In a guest: what `make bench` runs. The arguments are the benchmark's. A disk that
# the guest was given is used in place of a null_blk.

set -eu
modprobe -q xfs || true
modprobe -q overlay || true
insmod /wsfs-build/wsfs.ko
disk=${WSFS_DISKS%% *}
[ -n "$disk" ] || disk=$(/wsfs/tests/vm/null-blk.sh 4096)
status=0
/wsfs/tests/bench/bench "$disk" --results "$WSFS_RESULTS" "$@" || status=$?
rmmod wsfs
exit $status
