#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# `make demo`: a stock Debian kernel in a guest, the module, streams, and what
# they do for speed. KERNEL= chooses another kernel of `tests/vm/vm list`.

set -eu
cd "$(dirname "$0")/../.."
small=()
[ "${KERNEL:-7.3}" != 7.3 ] || small=(--small)
exec tests/vm/vm run "${small[@]}" -k "${KERNEL:-7.3}" --parts module,tools -m 6G -t 900 -- \
	/wsfs/tests/vm/demo-guest.sh
