# SPDX-License-Identifier: GPL-2.0
# completion_test.zsh WSCTL DIR: a zsh on a terminal offers what wsctl says.
zmodload zsh/zpty || exit 1
wsctl=$1
dir=$2
failed=0
work=$(mktemp -d)
cd $work || exit 1
touch file-a
mkdir bin
ln -s $wsctl bin/wsctl

# offers PATTERN LINE: what zsh shows for LINE and a tab matches
offers() {
	local text= part
	zpty shell zsh -f -i
	zpty -w shell "PS1=; unset zle_bracketed_paste; path=($work/bin \$path); fpath=($dir \$fpath)"
	zpty -w shell "autoload -Uz compinit; compinit -u -D; zstyle ':completion:*' list-prompt ''"
	zpty -w shell "setopt no_list_ambiguous; LISTMAX=1000; COLUMNS=200; LINES=100"
	zpty -w shell "cd $work; echo rea''dy"
	while zpty -r shell part; do [[ $part == *ready* ]] && break; done
	zpty -n -w shell "$2"$'\t'$'\t'
	repeat 50; do
		while zpty -r -t shell part; do text+=$part; done
		[[ $text == ${~1} ]] && break
		sleep 0.1
	done
	zpty -d shell
	[[ $text == ${~1} ]] && return
	print -r -- "FAIL: $2: ${(V)text}"
	failed=1
}

offers "*bmap*doctor*release*" "wsctl "
offers "*--legend*" "wsctl bmap --l"
offers "*file-a*" "wsctl bmap f"
offers "*inter-stream*intra-stream*" "wsctl fio gen int"
rm -rf $work
exit $failed
