#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# xfstests.sh FS TEST...: in a guest, run tests of the xfstests checkout at
# /xfstests on FS (xfs, wsfs, or overlay over XFS). Of its four disks the first is
# not used, the last is for the logs of dm-log-writes.

set -u
fs=$1
shift
read -r _ test scratch log <<<"$WSFS_DISKS"

# What xfstests expects of the machine: users of its own, and a writable /etc.
cp -a /etc /dev/shm/etc
mount --bind /dev/shm/etc /etc
for user in fsgqa fsgqa2 123456-fsgqa; do
	useradd --badname --create-home --home-dir "/tmp/$user" "$user" 2>/dev/null
done
hostname wsfs-guest
# mkfs.wsfs and fsck.wsfs
export PATH=$PATH:/wsfs/userspace/sbin
mkdir -p /mnt/test /mnt/scratch
[ "$fs" != wsfs ] || insmod "$WSFS_MODULE" || exit

export FSTYP=$fs TEST_DEV=$test TEST_DIR=/mnt/test SCRATCH_DEV=$scratch SCRATCH_MNT=/mnt/scratch
export LOGWRITES_DEV=$log RESULT_BASE=$WSFS_RESULTS/results HOST_OPTIONS=/dev/null
# check itself writes to $seqres.full before its first test.
export seqres=/tmp/check
export LOAD_FACTOR=1 TIME_FACTOR=1 SOAK_DURATION=${SOAK_DURATION:-5}
mode=()
if [ "$fs" = overlay ]; then
	export FSTYP=xfs
	mode=(-overlay)
fi
mkfs.xfs -q -f "$test" || exit
cd /xfstests || exit
./check "${mode[@]}" "$@"
status=$?
umount -q /mnt/scratch /mnt/test
[ "$fs" != wsfs ] || rmmod wsfs || exit
exit "$status"
