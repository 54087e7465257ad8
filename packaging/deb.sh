#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# deb.sh DIR: build the Debian packages into DIR, from a copy of this tree, so
# that the tree itself stays as it is.

set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
version=$(sed -n '1s/^wsfs (\(.*\)) .*/\1/p' "$top/debian/changelog")

for tool in dpkg-buildpackage dh dh_dkms; do
	command -v $tool >/dev/null && continue
	echo "deb: $tool is missing: apt-get install dpkg-dev debhelper dh-dkms" >&2
	exit 1
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$top/packaging/source.sh" "$work/wsfs-$version" \
	Kbuild dkms.conf module uapi userspace docs debian
cd "$work/wsfs-$version"
dpkg-buildpackage --build=binary --no-sign --jobs="$(nproc)"
rm -f "$out"/*.deb
cp "$work"/*.deb "$out"
ls "$out"/*.deb
