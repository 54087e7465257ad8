#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# build.sh ARCH BASE TARGET FRAGMENT...: configure and build a kernel, inside
# the sysroot: source in /wsfs-src, build tree in /wsfs-work. BASE is a make
# target like defconfig. The build tree stays fit for building modules.

set -euo pipefail
arch=$1
base=$2
target=$3
shift 3

tree=/wsfs-work
make=(make -s -C /wsfs-src O=$tree ARCH="$arch" KBUILD_BUILD_USER=wsfs KBUILD_BUILD_HOST=wsfs)

"${make[@]}" "$base"
cd $tree
/wsfs-src/scripts/kconfig/merge_config.sh -m -Q .config "$@" >/dev/null
"${make[@]}" olddefconfig

# An option that silently did not take would hide what we test for.
bad=0
for fragment; do
	while read -r line; do
		option=${line%%=*}
		value=${line#*=}
		# Only the last fragment that names an option counts.
		wanted=$(cat "$@" | grep "^$option=" | tail -n 1)
		[ "$wanted" = "$line" ] || continue
		if [ "$value" = n ]; then
			! grep -q "^$option=" .config && continue
		else
			grep -qx "$line" .config && continue
		fi
		echo "$line (${fragment##*/}) did not take effect: $(grep "$option[ =]" .config || echo absent)"
		bad=1
	done < <(grep ^CONFIG_ "$fragment")
done
[ $bad = 0 ] || exit 1

"${make[@]}" -j"$(nproc)" "$target" modules

# Modules need the headers, scripts and symbol table, not the objects.
find . -path ./scripts -prune -o -path ./tools -prune -o \
	\( -name '*.o' -o -name '*.a' -o -name '.*.cmd' -o -name 'vmlinux.unstripped' \) \
	-type f -exec rm -f {} +
