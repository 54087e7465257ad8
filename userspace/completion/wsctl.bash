# SPDX-License-Identifier: GPL-2.0
# bash completion for wsctl(8): wsctl itself knows what may stand where.

_wsctl() {
	local cur=${COMP_WORDS[COMP_CWORD]} rest i
	local -a words lines

	# Readline may split at "=": put "--color", "=", "au" together again.
	words=()
	for ((i = 1; i <= COMP_CWORD; i++)); do
		if ((${#words[@]} > 0)) && [[ ${words[-1]} == --* ]] &&
			{ [[ ${COMP_WORDS[i]} == = ]] || [[ ${words[-1]} == *= ]]; }; then
			words[-1]+=${COMP_WORDS[i]}
		else
			words+=("${COMP_WORDS[i]}")
		fi
	done
	COMPREPLY=()
	mapfile -t lines < <("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)
	((${#lines[@]} > 0)) || return
	case ${lines[0]} in
	command\ *)
		rest=$((${lines[0]#command } + 1))
		if declare -F _comp_command_offset >/dev/null; then
			_comp_command_offset "$rest"
		elif declare -F _command_offset >/dev/null; then
			_command_offset "$rest"
		fi
		return
		;;
	files)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "${cur#=}")
		;;
	esac
	for i in "${lines[@]:1}"; do
		i=${i%%$'\t'*}
		# What readline has split off is not its business.
		[[ ${words[-1]} == *=* && $cur != *=?* ]] && i=${i#*=}
		COMPREPLY+=("$i")
	done
}

complete -F _wsctl wsctl
