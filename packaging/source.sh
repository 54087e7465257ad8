#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# source.sh DIR PATH...: copy these parts of the tree into DIR, without what has
# been built in them.

set -euo pipefail
mkdir -p "$1"
into=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."
cp -r "$@" "$into"
find "$into" \( -name '*.o' -o -name '*.ko' -o -name '*.cmd' -o -name '*.mod' -o -name '*.mod.c' \
	-o -name '*.order' -o -name '*.symvers' \) -delete
