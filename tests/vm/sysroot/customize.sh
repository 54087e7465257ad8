#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# customize.sh ROOT SOURCE_VERSION STOCK_VERSION...: called by mmdebstrap.
# Adds the kernels to the sysroot at ROOT, and the mount points that guests use.

set -euo pipefail
root=$1
source_kernel=$2
shift 2

# The initial RAM disk of the stock kernels: the root disk and nothing else.
cat >"$root/etc/initramfs-tools/conf.d/wsfs" <<END
MODULES=list
COMPRESS=gzip
COMPRESSLEVEL=1
FSTYPE=ext4
RESUME=none
END
printf '%s\n' virtio_pci virtio_blk ext4 >>"$root/etc/initramfs-tools/modules"

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

packages=(linux-source-"$source_kernel")
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
chroot "$root" apt-get install -qq -y "${packages[@]}" >&2

# What kernels and modules built from the source package depend on.
chroot "$root" dpkg-query -W -f '${Package} ${Version}\n' \
	"linux-source-$source_kernel" gcc-14 binutils >"$root/usr/lib/wsfs/toolchain"

rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*
