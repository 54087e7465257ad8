#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# null-blk.sh MIB: in a guest, makes a null_blk that keeps its data in memory, with
# sectors of 512 bytes and a queue for each CPU, and prints its path.

set -eu
name=nullbws
config=/sys/kernel/config/nullb/$name

modprobe -q configfs || true
mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
# Without a device of its own; where it is built in, it has made that already.
modprobe -q null_blk nr_devices=0 || true
mkdir $config
set_to() {
	echo "$2" >$config/"$1"
}
set_to size "$1"
set_to memory_backed 1
set_to discard 1
set_to blocksize 512
set_to queue_mode 2
set_to submit_queues "$(nproc)"
set_to irqmode 1
set_to power 1

# Kernels before 6.11 name it by its index.
for disk in /dev/$name "/dev/nullb$(cat $config/index)"; do
	if [ -b "$disk" ] && [ "$(blockdev --getsize64 "$disk")" = $(($1 << 20)) ]; then
		echo "$disk"
		exit
	fi
done
echo "null-blk.sh: null_blk made no disk of $1 MiB; see dmesg" >&2
exit 1
