#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# completion_test.bash WSCTL DIR: the completions know what --help knows.
set -u
wsctl=$1
dir=$2
failed=0

fail() {
	echo "FAIL: $*"
	failed=1
}

# shellcheck source=/dev/null
. "$dir/wsctl.bash" || exit 1

# complete WORD...: what completion offers for the last word
complete_words() {
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMPREPLY=()
	_wsctl 2>/dev/null
	printf '%s\n' "${COMPREPLY[@]}"
}

commands=$("$wsctl" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ -n "$commands" ] || fail "no commands in --help"
for command in $commands; do
	complete_words wsctl "" | grep -qx "$command" || fail "bash does not know '$command'"
	grep -q "^[[:space:]]*'$command:" "$dir/_wsctl" || fail "zsh does not know '$command'"
	for option in $("$wsctl" "$command" --help | grep -o '^  *-[-a-zA-Z,]*' |
		grep -o -- '--[a-z-]*'); do
		complete_words wsctl "$command" -- | grep -qx -- "$option" ||
			fail "bash does not know '$command $option'"
		sed -n "/^[[:space:]]*$command)/,/;;/p" "$dir/_wsctl" | grep -q -- "$option\|common" ||
			fail "zsh does not know '$command $option'"
	done
done
[ "$(complete_words wsctl bo)" = "" ] || fail "bash offers something for 'bo'"
[ "$(complete_words wsctl bm)" = bmap ] || fail "bash does not complete 'bm'"
exit $failed
