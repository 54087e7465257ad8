#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# `make bench`: tests/bench/bench in a guest with a stock Debian kernel, on a
# memory-backed null_blk. The arguments are the benchmark's. KERNEL= chooses
# another kernel of `tests/vm/vm list`, OUT= where the results go.

set -eu
cd "$(dirname "$0")/../.."
out=${OUT:-build/bench}
rm -f "$out"/bench.*
status=0
tests/vm/vm run -k "${KERNEL:-7.3}" --parts module,tools -m 8G -t 14400 --keep "$out" -- \
	/wsfs/tests/vm/bench-guest.sh "$@" || status=$?
[ ! -e "$out/bench.json" ] || echo "results: $out/bench.txt, bench.json, bench.svg"
exit $status
