# SPDX-License-Identifier: GPL-2.0
# bash completion for wsctl(8)

_wsctl() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev= command= word i
	local common="--help --json --color"
	local files="--recursive --glob --files-from --null --file-fd"

	COMPREPLY=()
	((COMP_CWORD > 0)) && prev=${COMP_WORDS[COMP_CWORD - 1]}
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		case $word in
		--)
			# Behind "run PATH --" there is another program's command line.
			if [[ $command == run ]]; then
				if declare -F _comp_command_offset >/dev/null; then
					_comp_command_offset $((i + 1))
				elif declare -F _command_offset >/dev/null; then
					_command_offset $((i + 1))
				fi
				return
			fi
			;;
		info | streams | run | set | clear | get | bmap | check | map)
			[[ $command ]] || command=$word
			;;
		esac
	done

	case $prev in
	--color)
		mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$cur")
		return
		;;
	-n | --streams | -s | --fd | --within | --max-extents)
		return
		;;
	--stream)
		[[ $command == set ]] && return
		;;
	esac

	if [[ -z $command ]]; then
		mapfile -t COMPREPLY < <(
			compgen -W "info streams run set clear get bmap check map --help --version --color" -- "$cur")
		return
	fi
	if [[ $cur == -* ]]; then
		case $command in
		info) word="$common --ags" ;;
		streams) word="$common --all --watch --interval --count" ;;
		clear) word="$common $files" ;;
		get) word="$common $files --carrying" ;;
		map) word="$common --by-operand --svg --png" ;;
		run) word="$common --streams" ;;
		set) word="$common $files --stream --fd --verbose" ;;
		bmap) word="$common --legend" ;;
		check) word="$common --within --stream --isolated --max-extents --spread --junit --quiet" ;;
		esac
		mapfile -t COMPREPLY < <(compgen -W "$word" -- "$cur")
		return
	fi
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}

complete -F _wsctl wsctl
