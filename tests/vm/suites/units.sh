#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In the sysroot: the unit tests of the tools, in their build tree; and the fuzz
# targets, built with clang and sanitizers, for a few seconds each.

status=0
cmake -S /wsfs/userspace -B /wsfs-build/work -DWSFS_TESTS=ON >/dev/null &&
	nice ninja -C /wsfs-build/work --quiet || exit
ctest --test-dir /wsfs-build/work --output-on-failure --no-tests=error \
	--output-junit /wsfs-results/units.xml -j"$(nproc)" || status=$?

fuzz=/wsfs-build/fuzz
cmake -S /wsfs/userspace -B $fuzz -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	-DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O2 -g1" \
	-DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19 \
	-DCMAKE_UNITY_BUILD=ON -DWSFS_TESTS=OFF -DWSFS_FUZZ=ON >/dev/null && nice ninja -C $fuzz --quiet fuzzers &&
	ctest --test-dir $fuzz --output-on-failure --no-tests=error \
		--output-junit /wsfs-results/fuzz.xml -j"$(nproc)" || status=1
exit $status
