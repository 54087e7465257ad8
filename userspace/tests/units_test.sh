#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# units_test.sh BUILD WSFS-HOLDD: systemd has nothing to say about the units.
dir=$(mktemp -d) || exit
trap 'rm -rf "$dir"' EXIT
cp "$(dirname "$0")/../systemd/wsfs-hold.socket" "$dir" || exit
# The program is not installed yet.
sed "s|^ExecStart=[^ ]*|ExecStart=$2|" "$1/systemd/wsfs-hold.service" >"$dir/wsfs-hold.service" || exit
found=$(systemd-analyze verify --man=no --recursive-errors=no \
	"$dir/wsfs-hold.socket" "$dir/wsfs-hold.service" 2>&1 | grep wsfs-hold)
[ -z "$found" ] && exit 0
echo "$found"
exit 1
