#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# kselftest.sh: build tests/kselftest inside the sysroot, with the harness
# header of the kernel source in /wsfs-src. Results in /wsfs-build/out.

set -euo pipefail
work=/wsfs-build/work
out=/wsfs-build/out

mkdir -p $work $out
cd /wsfs
rsync -aR ./uapi ./tests/kselftest $work/
make -s -C $work/tests/kselftest -j"$(nproc)" \
	KSELFTEST_INCLUDE=/wsfs-src/tools/testing/selftests
rsync -a --delete --exclude='*.o' --exclude='*.d' --exclude='*.a' $work/tests/kselftest/ $out/
