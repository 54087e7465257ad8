#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# style.sh [fast]: in the sysroot, what can be said about the sources without
# running them; fast: without clang-tidy, which takes a quarter of an hour. One
# line of TAP for each check.

set -u
shopt -s nullglob globstar
results=/wsfs-results/style.tap
work=/tmp/tidy
number=0
cd /wsfs || exit

# check NAME COMMAND...: the check passes if the command is silent and says 0.
check() {
	local name=$1 output code
	shift
	number=$((number + 1))
	output=$("$@" 2>&1)
	code=$?
	if [ $code = 0 ] && [ -z "$output" ]; then
		echo "ok $number $name"
	else
		printf '%s\n' "$output"
		echo "not ok $number $name (status $code)"
	fi
}

# The kernel's own style. Ignored: what cannot apply outside its tree.
kernel_style() {
	local ignore=FILE_PATH_CHANGES,SPLIT_STRING,LINUX_VERSION_CODE,CONSTANT_COMPARISON
	case $1 in
	# TRACE_EVENT() is laid out in a way of its own.
	*/trace.h) ignore+=,PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE ;;
	# User space has no BIT(), and no __printf().
	uapi/*) ignore+=,BIT_MACRO ;;
	tests/kselftest/*) ignore+=,PREFER_DEFINED_ATTRIBUTE_MACRO ;;
	esac
	/wsfs-src/scripts/checkpatch.pl --no-tree --strict --terse --quiet --show-types \
		--no-summary --ignore $ignore -f "$@"
}

# sparse, on the module and its KUnit tests, built for the newest kernel.
sparse_module() {
	local tree=/tmp/sparse
	mkdir -p $tree
	cp -r --parents Kbuild module uapi $tree
	[ ! -e tests/kunit/Kbuild ] || cp -r --parents tests/kunit $tree
	make -s -C "/lib/modules/$(cat /usr/lib/wsfs/kernels/7.3)/build" M=$tree C=2 \
		CF="-D__CHECK_ENDIAN__" KCFLAGS=-Werror -j"$(nproc)" modules >/tmp/sparse.log 2>&1 || {
		cat /tmp/sparse.log
		return 1
	}
	! grep -E "(^|/)(module|tests/kunit)/.*(warning|error):" /tmp/sparse.log
}

has_spdx() {
	local file bad=0
	for file; do
		head -n 5 "$file" | grep -q 'SPDX-License-Identifier:' || {
			echo "$file: no SPDX-License-Identifier"
			bad=1
		}
	done
	return $bad
}

# From commands of its own: the tree of the guests' programs compiles files together.
tidy() {
	cmake -S userspace -B $work -G Ninja -DWSFS_TESTS=ON >/tmp/tidy.log 2>&1 || {
		cat /tmp/tidy.log
		return 1
	}
	run-clang-tidy -quiet -p $work -warnings-as-errors='*' \
		-header-filter='/wsfs/userspace/.*' -j"$(nproc)" '/wsfs/userspace/.*\.cpp$' \
		>/tmp/tidy.log 2>&1 && return
	grep -vE '^(\[|clang-tidy|[0-9]+ warnings|Suppressed|Use -)' /tmp/tidy.log
	return 1
}

kernel_c=(module/**/*.[ch] uapi/**/*.h tests/**/*.[ch])
cxx=(userspace/**/*.cpp userspace/**/*.hpp userspace/**/*.h tests/fuzz/*.cpp)
scripts=()
python=()
while read -r file; do
	case $(head -n 1 "$file" | tr -d '\0') in
	'#!'*bash* | '#!/bin/sh'*) scripts+=("$file") ;;
	'#!'*python*) python+=("$file") ;;
	esac
done < <(find tests .ci docs packaging userspace/sbin -type f ! -name '*.py' ! -path '*/__pycache__/*' 2>/dev/null)
python+=(tests/**/*.py userspace/**/*.py)
code=("${kernel_c[@]}" "${cxx[@]}" "${scripts[@]}" "${python[@]}" Kbuild Makefile)

{
	check "SPDX lines" has_spdx "${code[@]}"
	for file in "${kernel_c[@]}"; do
		check "checkpatch $file" kernel_style "$file"
	done
	[ ! -e module/Kbuild ] || check "sparse" sparse_module
	# SC1087 takes a regular expression for an array, SC2206 a path of ours for words.
	check "shellcheck" shellcheck -x -S warning -e SC1087,SC2206 "${scripts[@]}"
	check "flake8" flake8 --max-line-length 100 --extend-ignore E203,E402 "${python[@]}"
	if [ ${#cxx[@]} -gt 0 ]; then
		check "clang-format" clang-format --dry-run -Werror "${cxx[@]}"
		[ "${1:-}" = fast ] || check "clang-tidy" tidy
	fi
} | tee $results
! grep -q '^not ok' $results
