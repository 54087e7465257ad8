#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# enter.sh ROOT [SOURCE:TARGET:ro|rw]... -- COMMAND...
#
# Run COMMAND in the sysroot at ROOT, with the SOURCE directories mounted on
# the TARGETs. To be called in a mount and PID namespace of its own, whose end
# takes the mounts and every process with it. The sysroot itself is read-only;
# /tmp and the like are empty and private.

set -eu
root=$1
shift

mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount -t tmpfs -o mode=755 dev "$root/dev"
mkdir "$root/dev/shm" "$root/dev/pts"
mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
for node in null zero full random urandom tty kvm; do
	[ -e "/dev/$node" ] || continue
	touch "$root/dev/$node"
	mount --bind "/dev/$node" "$root/dev/$node"
done
for dir in dev/shm tmp run root var/tmp mnt; do
	mount -t tmpfs -o size=100%,mode=1777 tmpfs "$root/$dir"
done

while [ "$1" != -- ]; do
	IFS=: read -r source target mode <<<"$1"
	mkdir -p "$root$target"
	mount --bind "$source" "$root$target"
	[ "$mode" = rw ] || mount -o remount,bind,ro "$root$target"
	shift
done
shift
mount -o remount,bind,ro "$root"

exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
	LC_ALL=C.UTF-8 TERM="${TERM:-dumb}" "$@"
