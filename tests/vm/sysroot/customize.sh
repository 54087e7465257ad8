#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# customize.sh ROOT SOURCE_VERSION|none STOCK_VERSION...: called by mmdebstrap.
# Adds the kernels to the sysroot at ROOT.

set -euo pipefail
root=$1
source_kernel=$2
shift 2

# The newest kernel comes from backports, with what it depends on.
cat >"$root/etc/apt/preferences.d/wsfs" <<END
Package: src:linux src:linux-base src:linux-signed-amd64
Pin: release n=*-backports
Pin-Priority: 500
END

# The newest cloud kernel of a version, e.g. 7.3 -> 7.3.4+deb13-cloud-amd64.
newest() {
	chroot "$root" apt-cache pkgnames "linux-image-$1" |
		sed -n "s/^linux-image-\(${1//./\\.}[0-9.+a-z]*-cloud-amd64\)$/\1/p" |
		sort -V | tail -n 1
}

packages=()
[ "$source_kernel" = none ] || packages+=(linux-source-"$source_kernel")
mkdir -p "$root/usr/lib/wsfs/kernels"
for version; do
	release=$(newest "$version")
	if [ -z "$release" ]; then
		echo "no Debian kernel $version in this archive" >&2
		exit 1
	fi
	packages+=("linux-image-$release" "linux-headers-$release")
	echo "$release" >"$root/usr/lib/wsfs/kernels/$version"
done
# Guests boot without an initial RAM disk.
chroot "$root" env INITRD=No apt-get install -qq -y "${packages[@]}" >&2

# An emulated CPU takes seconds to unpack what the guests load all the time.
for release in $(cat "$root"/usr/lib/wsfs/kernels/*); do
	find "$root/usr/lib/modules/$release" \( -name 'xfs.ko.xz' -o -name 'virtio_blk.ko.xz' \
		-o -name 'dm-*.ko.xz' -o -name 'null_blk.ko.xz' -o -name 'loop.ko.xz' \
		-o -name 'brd.ko.xz' -o -name 'libcrc32c.ko.xz' -o -name 'overlay.ko.xz' \) \
		-exec unxz {} +
	chroot "$root" depmod "$release"
done

# What kernels and modules built from the source package depend on.
[ "$source_kernel" = none ] || chroot "$root" dpkg-query -W -f '${Package} ${Version}\n' \
	"linux-source-$source_kernel" gcc-14 binutils >"$root/usr/lib/wsfs/toolchain"

rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*
