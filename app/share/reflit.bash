# SPDX-License-Identifier: BSD-3-Clause
# Completion for bash. What a program takes is asked of its own --help, so that
# it is never out of date; names of links and switches are asked of the fabric.

# Programs that are asked run briefly, and never from a pipe's other end.
_reflit_help() {
	"$1" "${@:2}" --help </dev/null 2>/dev/null
}

_reflit_options() {
	_reflit_help "$@" | grep -Eo -- '(^|[ ,])--?[a-z][a-z0-9-]*' | tr -d ' ,'
}

# The indented first words below a heading of --help.
_reflit_list() {
	local heading=$1
	shift
	_reflit_help "$@" | sed -n "/^$heading/I,/^\$/s/^  \\([a-z][a-z0-9-]*\\) .*/\\1/p"
}

# The value of an option that stands on the line already.
_reflit_given() {
	local i
	for ((i = 1; i < COMP_CWORD; i++)); do
		if [ "${COMP_WORDS[i]}" = "$1" ]; then
			echo "${COMP_WORDS[i + 1]}"
			return
		fi
	done
}

# Links and switches of the fabric file that --config names.
_reflit_parts() {
	local config
	config=$(_reflit_given --config)
	[ -r "$config" ] || return 0
	reflit-route --config "$config" --dump - </dev/null 2>/dev/null |
		awk '$1 == "switch" { print $2 }
		     $1 == "link" { print $2 "-" $3; print $2 "-" $3 "#" $4 }' |
		sort -u
}

_reflit() {
	local program=$1 cur=$2 prev=$3 sub="" words="" IFS=$' \t\n'
	# '#' and '=' do not part words here as they do on the line
	COMPREPLY=()
	if [ "${program##*/}" = reflit-sim ] && [ "$COMP_CWORD" -gt 1 ]; then
		case ${COMP_WORDS[1]} in
		ablation | rxl | scenario | merge) sub=${COMP_WORDS[1]} ;;
		esac
		[ "$sub" = ablation ] && sub=""
	fi
	case $prev in
	--config | --json | --counts | --cmdline-file | --faults | --dump | --dot | --csv | \
		--trace | --worst | --socket | --out | --check-opensm)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	--engine) words=$(_reflit_list Engines reflit-route) ;;
	--fail) words=$(_reflit_parts) ;;
	--traffic) words=$(_reflit_list Patterns "$program") ;;
	--profile) words="rxl rxl-compact cxl cxl-sep-ack" ;;
	--table) words="equations fec way order fit loss burst profiles long" ;;
	--figure) words="rates order fit loss coalescing burst" ;;
	*)
		# shellcheck disable=SC2086
		words=$(_reflit_options "$program" $sub)
		case ${program##*/} in
		reflit-bench) words="$words $(_reflit_list suites "$program")" ;;
		reflit-sim)
			[ "$COMP_CWORD" -eq 1 ] && words="$words ablation rxl scenario merge"
			[ "$sub" = scenario ] &&
				words="$words fig4 fig5a fig5b"
			;;
		reflit-fault)
			words="$words $(ls /sys/class/net 2>/dev/null)"
			;;
		esac
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -F _reflit reflit reflit-sim reflit-route reflit-bench reflit-view \
	reflit-fault reflit-report
