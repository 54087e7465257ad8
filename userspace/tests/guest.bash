#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.bash: wsctl and ws-example on real filesystems. Runs as root in a guest
# with two disks of 2 GiB or more:
#
#	tests/vm/vm run -k uml -d 2G -d 2G -- bash /wsfs/userspace/tests/guest.bash
#
# With an argument only one part: plain or wsfs. Writes TAP.
set -u
export LC_ALL=C

read -r -a disks <<<"$WSFS_DISKS"
module=${WSFS_MODULE:-/wsfs-build/wsfs.ko}
xfs=/mnt/xfs
ws=/mnt/ws
tests=0
failures=0

# result STATUS NAME: one TAP line
result() {
	tests=$((tests + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tests - $2"
	else
		failures=$((failures + 1))
		echo "not ok $tests - $2"
	fi
}

# setup COMMAND...: what has to work before anything can be tested
setup() {
	"$@" 2>&1 | sed 's/^/# /'
	[ "${PIPESTATUS[0]}" = 0 ] && return
	result 1 "setup: $*"
	return 1
}

# is NAME ACTUAL EXPECTED
is() {
	[ "$2" = "$3" ] || printf '# %s: %s, not %s\n' "$1" "$2" "$3"
	[ "$2" = "$3" ]
	result $? "$1"
}

# want STATUS NAME COMMAND...
want() {
	local status=$1 name=$2 output got

	shift 2
	output=$("$@" 2>&1)
	got=$?
	[ "$got" = "$status" ] || printf '# %s: status %s, not %s\n# %s\n' "$*" "$got" "$status" \
		"${output//$'\n'/$'\n# '}"
	[ "$got" = "$status" ]
	result $? "$name"
}

# what wsctl bmap and xfs_bmap have in common
common_columns() {
	sed -e '/^ FLAG Values:/,$d' -e 's/ \([0-7]\{6\}\)  *[^ ]* [^ ]*$/ \1/' \
		-e 's/ *STREAM PLACE$//' -e 's/ *$//'
}

same_map() {
	diff <(xfs_io -r -c "bmap -vvp" "$1" | common_columns) <(wsctl bmap "$1" | common_columns) |
		sed 's/^/# /'
	[ "${PIPESTATUS[0]}" = 0 ]
	result $? "bmap agrees with xfs_bmap: $2, ${1##*/}"
}

make_files() {
	local dir=$1

	xfs_io -f -c "pwrite -q 0 1m" "$dir/plain"
	: >"$dir/empty"
	truncate -s 10m "$dir/hole"
	xfs_io -f -c "pwrite -q 64k 4k" -c "pwrite -q 1m 8k" -c "truncate 5m" "$dir/sparse"
	xfs_io -f -c "pwrite -q 0 5000" "$dir/odd-size"
	xfs_io -f -c "falloc 0 1m" -c "pwrite -q 256k 64k" -c fsync "$dir/unwritten"
	xfs_io -f -c "pwrite -q 0 8k" -c "falloc -k 0 2m" "$dir/keep-size"
	xfs_io -f -c "extsize 1m" -c "pwrite -q 0 4k" "$dir/extsize"
	cp --reflink=always "$dir/plain" "$dir/clone" 2>/dev/null &&
		xfs_io -c "pwrite -q 128k 64k" "$dir/clone"
	xfs_io -f -c "pwrite -q 0 16m" -c fsync "$dir/many"
	# 1000 holes, so that FIEMAP needs several calls.
	python3 - "$dir/many" <<-END
		import ctypes, os, sys
		libc = ctypes.CDLL(None, use_errno=True)
		fd = os.open(sys.argv[1], os.O_RDWR)
		for i in range(1000):
		    offset = ctypes.c_long(16384 * i + 4096)
		    if libc.fallocate(fd, 3, offset, ctypes.c_long(4096)):
		        sys.exit("fallocate: " + os.strerror(ctypes.get_errno()))
	END
	sync
}

compare() {
	local name=$1 dir=$2 file

	make_files "$dir"
	for file in "$dir"/*; do
		same_map "$file" "$name"
	done
}

on_plain_xfs() {
	local name=$1

	shift
	setup mkfs.xfs -q -f "$@" "${disks[0]}" || return
	setup mount "${disks[0]}" $xfs || return
	compare "$name" $xfs
	want 0 "check counts extents, $name" wsctl check --max-extents 3 $xfs/unwritten $xfs/hole
	want 1 "check sees too many extents, $name" wsctl check --max-extents 999 $xfs/many
	want 1 "check sees groups that share an AG, $name" \
		wsctl check --isolated $xfs/plain -- $xfs/sparse
	umount $xfs
}

on_realtime() {
	[ "${#disks[@]}" -gt 1 ] || return
	setup mkfs.xfs -q -f "$@" -r rtdev="${disks[1]}" "${disks[0]}" || return
	setup mount -o rtdev="${disks[1]}" "${disks[0]}" $xfs || return
	xfs_io -c "chattr +t" $xfs
	xfs_io -f -c "pwrite -q 0 1m" -c "pwrite -q 3m 64k" -c fsync $xfs/realtime
	same_map $xfs/realtime "mkfs $*"
	umount $xfs
}

ags_of() {
	wsctl bmap --json "$@" | jq -c '[.files[].extents[] | select(.hole | not).ag] | unique'
}

on_wsfs() {
	setup mkfs.xfs -q -f -d agcount=16 "${disks[0]}" || return
	setup mount "${disks[0]}" $xfs || return
	setup insmod "$module" || return
	mount -t wsfs -o streams=4 $xfs $ws
	result $? "wsfs mounts"

	wsctl info | sed 's/^/# /'
	is "info knows the mount" "$(wsctl info --json $ws | jq -c '.mounts[0] | [.mount_point,
		.source, .lower.type, .geometry.ag_count, [.streams[].ag_set]]')" \
		"[\"$ws\",\"$xfs\",\"xfs\",16,[\"0-3\",\"4-7\",\"8-11\",\"12-15\"]]"

	want 0 "ws-example runs" ws-example $ws
	wsctl bmap $ws/[abc].dat | sed 's/^/# /'
	want 0 "a.dat lies apart from b.dat and c.dat" \
		wsctl check --isolated $ws/a.dat -- $ws/b.dat $ws/c.dat
	want 0 "and so it does seen from below" \
		wsctl check --isolated $xfs/a.dat -- $xfs/b.dat $xfs/c.dat
	want 1 "check sees what is together" wsctl check --isolated $ws/b.dat $ws/c.dat -- \
		$ws/b.dat
	want 2 "check has nothing to go by once the streams are released" wsctl check $ws
	is "the streams are released" \
		"$(wsctl info --json $ws | jq '[.mounts[0].streams[] | select(.reserved)] | length')" 0

	# shellcheck disable=SC2016
	want 0 "run, set, check with live streams" wsctl run -n 3 $ws -- bash -ec '
		cd '$ws'
		IFS=, read -r -a id <<<"$WSFS_STREAM_IDS"
		for i in 0 1 2; do
			touch s$i.1 s$i.2
			wsctl set --stream $i s$i.1 s$i.2
			xfs_io -c "pwrite -q 0 1m" s$i.1
			xfs_io -d -c "pwrite -q 0 256k" s$i.2
		done
		wsctl check .
		wsctl check --isolated s?.?
		for i in 0 1 2; do wsctl check --within "${id[i]}" s$i.1 s$i.2; done
		[ "$(wsctl bmap --json s?.? | jq -c "[.files[].extents[].place] | unique")" = "[\"ok\"]" ]
		! wsctl check --within "${id[1]}" s0.1 >/dev/null
		wsctl info --json . | jq -e "[.mounts[0].streams[] | select(.reserved)] | length == 3"
		wsctl clear s0.1
		[ "$(wsctl bmap --json s0.1 | jq .files[0].stream)" = null ]'
	echo "# AGs: s0 $(ags_of $ws/s0.?) s1 $(ags_of $ws/s1.?) s2 $(ags_of $ws/s2.?)"

	# A file whose data was elsewhere before it got its stream has to be found.
	# XFS puts it into the AG of the directory, which one stream owns; the others do not.
	# shellcheck disable=SC2016
	want 1 "check and bmap find data that was there before SET" wsctl run -n 4 $ws -- bash -ec '
		cd '$ws'
		xfs_io -f -c "pwrite -q 0 64k" -c fsync early
		for i in 0 1 2 3; do
			wsctl set --stream $i early
			if ! wsctl check early; then
				wsctl bmap early | grep -q STRAY
				exit 1
			fi
		done'
	want 125 "run says that there are 4 streams" wsctl run -n 5 $ws -- true
	want 0 "a failed run keeps none" wsctl run -n 4 $ws -- true
	want 7 "run returns the status" wsctl run $ws -- sh -c 'exit 7'
	want 143 "run returns the signal" wsctl run $ws -- sh -c 'kill $$'
	want 1 "set says that plain XFS has no streams" wsctl run $ws -- \
		wsctl set --stream 0 $xfs/a.dat

	wsctl run -n 4 $ws -- sleep 100 &
	sleep 1
	want 125 "all streams are held" wsctl run $ws -- true
	kill -TERM $!
	wait $!
	is "run ends with its command" $? 143
	want 0 "the streams are free again" wsctl run -n 4 $ws -- true

	compare "through wsfs" $xfs
	for file in $xfs/plain $xfs/sparse $xfs/unwritten $xfs/clone $xfs/many; do
		diff <(wsctl bmap "$file" | common_columns | tail -n +2) \
			<(wsctl bmap "$ws/${file##*/}" | common_columns | tail -n +2) | sed 's/^/# /'
		[ "${PIPESTATUS[0]}" = 0 ]
		result $? "bmap through wsfs shows what is below: ${file##*/}"
	done
	umount $ws
	umount $xfs
	rmmod wsfs
	result $? "the module goes"
}

echo "TAP version 13"
mkdir -p $xfs $ws
for part in "${@:-plain wsfs}"; do
	case $part in
	*plain*)
		on_plain_xfs "4 AGs" -d agcount=4
		on_plain_xfs "stripes" -d su=64k,sw=4
		on_plain_xfs "1 KiB blocks" -b size=1024 -d agcount=12
		on_realtime -m reflink=0,rmapbt=0
		on_realtime -m metadir=1 -r rgcount=4
		;;&
	*wsfs*) on_wsfs ;;
	esac
done
echo "1..$tests"
[ "$failures" = 0 ] && [ "$tests" -gt 0 ]
