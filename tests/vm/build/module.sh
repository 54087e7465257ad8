#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# module.sh KDIR ARCH KUNIT: build the module (and with KUNIT=1 its KUnit
# tests) inside the sysroot, from a copy of the sources, so that kernels do not
# share objects and the checkout stays clean. Work in /wsfs-build/work, results
# in /wsfs-build/out.

set -euo pipefail
kdir=$1
arch=$2
kunit=$3
work=/wsfs-build/work
out=/wsfs-build/out

mkdir -p $work $out/kunit
sources=()
for name in Kbuild module uapi tests/kunit; do
	[ ! -e /wsfs/$name ] || sources+=("./$name")
done
cd /wsfs
rsync -aR --delete --exclude='*.o' --exclude='*.ko' --exclude='*.cmd' --exclude='*.mod' \
	--exclude='*.mod.c' --exclude='*.order' --exclude='*.symvers' "${sources[@]}" $work/

make -s -C "$kdir" ARCH="$arch" M=$work KCFLAGS=-Werror WSFS_KUNIT="$kunit" \
	-j"$(nproc)" modules

# rsync replaces a file by renaming, so guests that run keep the one they have.
rsync -a --delete $work/module/wsfs.ko $out/
rm -rf $out/kunit.new
mkdir $out/kunit.new
[ "$kunit" = 0 ] || find $work/tests/kunit -name '*.ko' -exec cp -t $out/kunit.new {} +
rsync -a --delete $out/kunit.new/ $out/kunit/
rm -rf $out/kunit.new
