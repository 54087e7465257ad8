#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# man_test.sh PAGE...: mandoc finds nothing to say about the manual pages, but
# for pages of others that are not installed here.
found=$(mandoc -T lint "$@" 2>&1 |
	grep -v -e 'referenced manual not found' -e 'outdated mandoc.db')
[ -z "$found" ] && exit 0
echo "$found"
exit 1
