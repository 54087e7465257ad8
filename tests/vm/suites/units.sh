#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In the sysroot: the unit tests of the tools, in their build tree.

exec ctest --test-dir /wsfs-build/work --output-on-failure --no-tests=error \
	--output-junit /wsfs-results/units.xml -j"$(nproc)"
