#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# misbehave.sh KDIR ARCH KUNIT: build the module that tests the harness, inside
# the sysroot. Results in /wsfs-build/out.

set -euo pipefail
work=/wsfs-build/work
out=/wsfs-build/out

mkdir -p $work $out
rsync -a /wsfs/tests/vm/selftest/{Kbuild,misbehave.c} $work/
make -s -C "$1" ARCH="$2" M=$work KCFLAGS=-Werror modules
rsync -a $work/misbehave.ko $out/
