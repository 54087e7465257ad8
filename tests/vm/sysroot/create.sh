#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# create.sh DIR [small]: make the sysroot, a Debian tree with every tool that wsfs
# is built and tested with, and with the stock kernels, in DIR (must not exist).
# small: what make demo needs.

set -euo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive

here=$(cd "$(dirname "$0")" && pwd)
dir=$1
suite=trixie
lists=("$here/packages" "$here/packages-tests")
stock_kernels="6.12 7.3"
source_kernel=7.3
if [ "${2:-}" = small ]; then
	lists=("$here/packages")
	stock_kernels=7.3
	source_kernel=none
fi

die() {
	echo "sysroot: $*" >&2
	exit 1
}

# Sites of Debian and of its security archive, as this machine's apt has them.
site() {
	apt-get indextargets --format '$(LABEL)|$(SITE)' 'Created-By: Packages' |
		sed -n "s/^$1|//p" | head -n 1
}

main=$(site Debian)
if [ -z "$main" ]; then
	apt-get update -qq >&2 || die "apt-get update failed; is the network up?"
	main=$(site Debian)
fi
[ -n "$main" ] || die "apt knows no Debian archive; add one to /etc/apt/sources.list"
security=$(site Debian-Security)

sources=(
	"deb $main $suite main"
	"deb $main $suite-updates main"
	"deb $main $suite-backports main"
)
[ -z "$security" ] || sources+=("deb $security $suite-security main")

packages=$(sed -e 's/#.*//' "${lists[@]}" | xargs | tr ' ' ,)

# A tree that is not finished is thrown away: nothing in it has to survive a crash.
mmdebstrap --verbose --mode=root --variant=minbase --skip=output/dev \
	--aptopt='APT::Install-Recommends "false"' \
	--aptopt='Acquire::Check-Valid-Until "false"' \
	--aptopt='Acquire::Languages "none"' \
	--aptopt='Acquire::Retries "3"' \
	--dpkgopt=force-unsafe-io \
	--dpkgopt='path-exclude=/usr/share/doc/*' \
	--dpkgopt='path-exclude=/usr/share/man/*' \
	--dpkgopt='path-exclude=/usr/share/locale/*' \
	--dpkgopt='path-exclude=/usr/share/info/*' \
	--include="$packages" \
	--customize-hook="'$here/customize.sh' \"\$1\" $source_kernel $stock_kernels" \
	"$suite" "$dir" "${sources[@]}" >&2 ||
	die "mmdebstrap failed; its messages are above"
