#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# deb.sh RESULTS: make install in the sysroot; build the Debian packages there, and
# in a Debian that has just been made: install them, have DKMS build the module,
# run wsctl, and remove all without a trace; make dkms-install. Needs root, network
# and some minutes.

set -u
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
top=$(cd "$(dirname "$0")/../../.." && pwd)
vm=$top/tests/vm/vm
results=$1
tests=0
failures=0
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT

# result STATUS NAME
result() {
	tests=$((tests + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tests - $2"
	else
		failures=$((failures + 1))
		echo "not ok $tests - $2"
	fi
}

# want NAME COMMAND...: it has to succeed; what it says is shown where it does not
want() {
	local name=$1 output status
	shift
	output=$("$@" 2>&1)
	status=$?
	[ $status = 0 ] || printf '%s\n' "$output" | tail -n 40 | sed 's/^/# /'
	result $status "$name"
	return $status
}

# bail NAME: what follows makes no sense
bail() {
	result 1 "$1"
	echo "1..$tests"
	exit 1
}

inside() {
	chroot "$work/root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive "$@"
}

# Everything but what any installation leaves.
files() {
	(cd "$work/root" && find . -path ./proc -prune -o -path ./sys -prune -o \
		-path ./var/lib/dpkg -prune -o -path ./var/cache -prune -o -path ./var/log -prune -o \
		-path ./var/lib/apt -prune -o -path ./tmp -prune -o -path ./run -prune -o \
		-path ./etc/ld.so.cache -prune -o -name 'modules.*' -prune -o -print | sort)
}

build() {
	"$vm" sysroot -- bash -c '/wsfs/packaging/deb.sh /tmp/deb >&2 && tar -c -C /tmp/deb .' \
		>"$work/debs.tar" && mkdir "$work/debs" && tar -x -C "$work/debs" -f "$work/debs.tar"
}

# What the sysroot was made from, without the kernels of backports.
make_root() {
	"$vm" sysroot -- cat /etc/apt/sources.list >"$work/sources" &&
		grep -v backports "$work/sources" >"$work/sources.list" &&
		mmdebstrap --quiet --mode=root --variant=apt --skip=output/dev \
			--aptopt='APT::Install-Recommends "false"' \
			--aptopt='Acquire::Check-Valid-Until "false"' \
			--aptopt='Acquire::Languages "none"' --aptopt='Acquire::Retries "3"' \
			--include=dkms,kmod,linux-headers-cloud-amd64,man-db \
			trixie "$work/root" "$work/sources.list"
}

# With DESTDIR all goes there, and what is needed is among it.
make_install() {
	"$vm" sysroot -- bash -ec '
		/wsfs/packaging/source.sh /tmp/tree Kbuild Makefile module uapi userspace docs tests
		kernel=$(cat /usr/lib/wsfs/kernels/7.3)
		touch /tmp/before
		make -C /tmp/tree -s KVER="$kernel" DESTDIR=/tmp/dest PREFIX=/usr install
		cd /tmp/dest
		test -s "$(find "lib/modules/$kernel" -name "wsfs.ko*")"
		test -x usr/bin/wsctl || test -x usr/sbin/wsctl
		test -x usr/sbin/mkfs.wsfs
		test -s usr/include/linux/wsfs.h
		test -s usr/share/man/man8/wsctl.8
		find /usr /lib/modules /etc -newer /tmp/before -type f | grep . && exit 1
		exit 0'
}

main() {
	local kernel before after package

	echo "TAP version 13"
	want "make install" make_install
	want "the packages build" build || bail "no packages"
	for package in wsfs-dkms wsctl libws0 libws-dev; do
		ls "$work/debs/${package}"_*.deb >/dev/null 2>&1
		result $? "there is a package $package"
	done
	want "a fresh Debian" make_root || bail "no root"
	mount -t proc proc "$work/root/proc" || bail "no /proc"
	kernel=$(inside sh -c 'basename /usr/src/linux-headers-*-cloud-amd64' | sed 's/^linux-headers-//')
	mkdir -p "$work/root/lib/modules/$kernel"
	before=$(files)
	cp "$work"/debs/*.deb "$work/root/tmp"

	want "they install" inside sh -c \
		'apt-get update -qq && apt-get install -qq -y --no-install-recommends /tmp/*.deb'
	want "DKMS builds the module" inside dkms install wsfs/0.1.0 -k "$kernel"
	want "and the module is one for that kernel" inside modinfo -k "$kernel" wsfs
	want "wsctl runs" inside wsctl --version
	inside wsctl doctor >"$work/doctor" 2>&1
	[ $? = 1 ] && grep -q '^machine:' "$work/doctor" && grep -q 'mkfs.xfs' "$work/doctor"
	result $? "wsctl doctor says what is missing"
	sed 's/^/# /' "$work/doctor"
	want "wsctl doctor writes JSON" sh -c "chroot '$work/root' wsctl doctor --json | grep -q findings"
	want "wsfs-holdd runs" inside wsfs-holdd --version
	want "mkfs and fsck find the type" inside sh -c \
		'test -x /usr/sbin/mkfs.wsfs && test -x /usr/sbin/fsck.wsfs'
	want "the manual is there" inside sh -c 'test -e /usr/share/man/man8/wsctl.8.gz &&
		test -e /usr/share/man/man5/wsfs.5.gz && test -e /usr/share/man/man8/wsfs-holdd.8.gz &&
		test -e /usr/share/man/man2/ioctl_write_stream.2.gz &&
		test -e /usr/share/man/man3/ws.3.gz'
	want "the schema of the JSON is there" inside test -s /usr/share/wsctl/wsctl.schema.json
	want "completion is there" inside sh -c 'test -e /usr/share/bash-completion/completions/wsctl &&
		test -e /usr/share/zsh/vendor-completions/_wsctl'
	want "the socket is enabled" inside sh -c \
		'test -e /etc/systemd/system/sockets.target.wants/wsfs-hold.socket ||
		 ! command -v systemctl'
	want "they are removed" inside sh -c \
		'apt-get purge -qq -y wsfs-dkms wsctl libws0 libws-dev && apt-get autoremove -qq -y --purge && rm /tmp/*.deb'
	after=$(files)
	diff <(echo "$before") <(echo "$after") | grep '^>' | sed 's/^/# left: /' | tee "$work/left"
	[ ! -s "$work/left" ]
	result $? "nothing of them is left"
	"$top/packaging/source.sh" "$work/root/tmp/wsfs" Kbuild Makefile dkms.conf module uapi packaging
	for package in "make dkms-install" "and once more"; do
		want "$package" inside make -C /tmp/wsfs dkms-install KVER="$kernel"
		want "the module is there" inside modinfo -k "$kernel" wsfs
	done
	umount "$work/root/proc"
	echo "1..$tests"
}

main | tee "$results/deb.tap"
! grep -q '^not ok' "$results/deb.tap"
