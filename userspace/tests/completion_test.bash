#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# completion_test.bash WSCTL DIR: bash offers what wsctl says may stand there.
set -u
wsctl=$1
failed=0

fail() {
	echo "FAIL: $*"
	failed=1
}

# shellcheck source=/dev/null
. "$2/wsctl.bash" || exit 1
cd "$(mktemp -d)" || exit 1
touch file-a file-b

# complete_words WORD...: what completion offers for the last word
complete_words() {
	COMP_WORDS=("$wsctl" "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	_wsctl 2>/dev/null
	printf '%s\n' "${COMPREPLY[@]}"
}

# offers EXPECTED WORD...
offers() {
	local expected got
	expected=$(xargs -n 1 <<<"$1" | sort | xargs)
	shift
	got=$(complete_words "$@" | sort | xargs)
	[ "$got" = "$expected" ] || fail "$*: '$got', not '$expected'"
}

# options COMMAND...: all in its help are offered
options() {
	local option offered
	offered=$(complete_words "$@" --)
	for option in $("$wsctl" "$@" --help | grep -o '^  *-[-a-zA-Z,]*' |
		grep -o -- '--[a-z-]*'); do
		grep -qx -- "$option" <<<"$offered" || fail "'$* $option' is not offered"
	done
}

subcommands() {
	"$wsctl" "$@" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

commands=$(subcommands)
[ -n "$commands" ] || fail "no commands in --help"
for command in $commands; do
	complete_words "" | grep -qx "$command" || fail "'$command' is not offered"
	options "$command"
	for sub in $(subcommands "$command"); do
		complete_words "$command" "" | grep -qx "$sub" ||
			fail "'$command $sub' is not offered"
		options "$command" "$sub"
	done
done
offers "" bo
offers bmap bm
offers "file-a file-b" bmap f
offers "auto always" info --color = a
offers "auto always never" info --color =
offers "auto always never" info --color ""
offers "" run -n ""
offers "gen run" fio ""
offers "inter-stream intra-stream" fio gen in
offers "file-a file-b" fio run f
exit $failed
