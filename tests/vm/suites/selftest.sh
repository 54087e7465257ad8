#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftest.sh RESULTS [KERNEL...]: tests of the harness itself: a guest that
# fails, hangs, dies or complains must be reported as just that.

set -u
results=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- uml
vm=$(dirname "$0")/../vm
number=0
: >"$results/selftest.tap"

# expect NAME STATUS TEXT OPTIONS... -- COMMAND: run it in the guest; status and
# output must be these.
expect() {
	local name=$1 status=$2 text=$3 output code
	shift 3
	number=$((number + 1))
	output=$("$vm" run -k "$kernel" --parts misbehave --dmesg "$results/$number.dmesg" \
		-t 300 "$@" 2>&1)
	code=$?
	if [ $code = "$status" ] && grep -q -- "$text" <<<"$output"; then
		echo "ok $number $kernel: $name"
	else
		printf '%s\n' "$output"
		echo "not ok $number $kernel: $name: status $code, expected $status and '$text'"
	fi | tee -a "$results/selftest.tap"
}

misbehave() {
	echo "insmod /wsfs-build/selftest/misbehave.ko how=$1; sleep 1; rmmod misbehave; echo survived"
}

for kernel; do
	expect "the output comes through" 0 '^two  words$' -- echo 'two  words'
	expect "the exit status comes through" 7 '' -- sh -c 'exit 7'
	expect "a signal is a failure" 143 '' -- sh -c 'kill $$'
	expect "no such command" 127 'not found' -- no-such-command
	expect "arguments stay as they are" 0 "^<a  b><\\\$x><'>\$" -- \
		printf '<%s><%s><%s>\n' 'a  b' '$x' "'"
	expect "disks of the asked sizes" 0 '^1073741824 67108864$' -d 1G -d 64M -- \
		sh -c 'echo $(for d in $WSFS_DISKS; do blockdev --getsize64 $d; done)'
	expect "disks are empty" 0 '^empty$' -d 64M -- \
		sh -c 'cmp -n 67108864 $WSFS_DISKS /dev/zero && echo empty'
	expect "the checkout is there, read-only" 0 'Read-only' -- \
		sh -c 'test -r Kbuild && touch Kbuild 2>&1 || true; touch new; test ! -e new'
	expect "the sysroot cannot be spoilt" 0 'Read-only' -- sh -c '! touch /usr/new'
	expect "a file system that is mounted" 0 '' -d 1G -- \
		sh -c 'mkfs.xfs -q $WSFS_DISKS && mount $WSFS_DISKS /mnt && cp -r /wsfs/tests /mnt'
	expect "a stuck guest is ended" 124 'STUCK' -t 15 -- sh -c 'echo before; sleep 1000'
	expect "a WARN is reported" 120 'WARNING:' -- sh -c "$(misbehave warn)"
	expect "an oops is reported" 120 'REPORT' -- sh -c "$(misbehave oops)"
	expect "a panic is reported" 120 'Kernel panic' -- sh -c 'echo c >/proc/sysrq-trigger; sleep 9'
	expect "a guest that goes away" 121 'DIED' -- sh -c 'echo b >/proc/sysrq-trigger; sleep 9'
	expect "failures on purpose are reported" 120 'REPORT' -- \
		sh -c 'echo "FAULT_INJECTION: forcing a failure." >/dev/kmsg'
	expect "unless one says so" 0 '' --fault-injection -- \
		sh -c 'echo "FAULT_INJECTION: forcing a failure." >/dev/kmsg'
	expect "even then a WARN is reported" 120 'WARNING:' --fault-injection -- \
		sh -c "$(misbehave warn)"
	case $kernel in
	uml-kasan)
		expect "KASAN is reported" 120 'KASAN' -- sh -c "$(misbehave use-after-free)"
		expect "a leak is reported" 120 'unreferenced' -- sh -c "$(misbehave leak)" ;;
	x86-lockdep)
		expect "sleeping in atomic context" 120 'BUG' -- sh -c "$(misbehave sleep)"
		expect "a possible deadlock" 120 'circular' -- sh -c "$(misbehave deadlock)"
		expect "a leak is reported" 120 'unreferenced' -- sh -c "$(misbehave leak)" ;;
	esac
done

number=$((number + 1))
if find "${WSFS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/wsfs}/runs" -mindepth 1 -maxdepth 1 |
	while read -r run; do [ -d "/proc/${run##*/}" ] || echo "$run"; done | grep .; then
	echo "not ok $number leftovers of runs"
else
	echo "ok $number no leftovers of runs"
fi | tee -a "$results/selftest.tap"
! grep -q '^not ok' "$results/selftest.tap"
