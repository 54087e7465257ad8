#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In a guest: what `make demo` shows.

set -eu

# Shows a command before it runs it.
say() {
	printf '\n\033[1m# %s\033[0m\n' "$*" | if [ -t 1 ]; then cat; else sed 's/\x1b\[[0-9;]*m//g'; fi
	"$@"
}

modprobe -q xfs
disk=$(/wsfs/tests/vm/null-blk.sh 4096)
mkdir -p /mnt/xfs /mnt/data

say uname -r
say mkfs.xfs -q -f -d agcount=16 $disk
say mount $disk /mnt/xfs
say insmod /wsfs-build/wsfs.ko
say mount -t wsfs -o streams=4 /mnt/xfs /mnt/data
say wsctl info /mnt/data

echo
echo "An example program that knows nothing but the series' interface:"
say ws-example /mnt/data
say wsctl bmap /mnt/data/a.dat /mnt/data/b.dat /mnt/data/c.dat
say wsctl check --isolated /mnt/data/a.dat -- /mnt/data/b.dat /mnt/data/c.dat

echo
echo "Files that are steered by hand, while their streams are reserved:"
say wsctl run -n 4 /mnt/data -- sh -c '
	cd /mnt/data && for i in 0 1 2 3; do
		touch s$i.1 s$i.2 s$i.3 s$i.4
		wsctl set --stream $i s$i.1 s$i.2 s$i.3 s$i.4
	done
	for f in s?.?; do dd if=/dev/zero of=$f bs=256k count=4 conv=notrunc,fsync status=none; done
	wsctl bmap s0.1 s1.1 s2.1 s3.1 && wsctl check s?.?'

say umount /mnt/data
say umount /mnt/xfs

echo
echo 'Sixteen, and four, writers append to files in one directory:'
say /wsfs/tests/bench/bench $disk --rows 'F7*' --on 'homed*' --on '*streams' 2>/dev/null

say rmmod wsfs
