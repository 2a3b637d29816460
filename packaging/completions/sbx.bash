# bash completion for sbxc(1) and sbxrun(1).  What they know is asked of them, so
# that nothing here has to follow a change of an option.

# Options of a command, one a line: those with a value end in "=".
_sbx_options()
{
	"$@" --help 2>/dev/null |
		sed -n 's/^ \{2,\}\(-[a-zA-Z], \)\{0,1\}\(--[a-z-]*\)\(=\{0,1\}\).*/\2\3/p'
}

_sbx_profiles()
{
	sbxc profiles 2>/dev/null | sed -n 's/^\([a-z][a-z-]*\) .*/@\1/p'
}

# Words that may stand in place of the current one.
_sbx_words()
{
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
	[[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace
}

_sbx_policies()
{
	if [[ $cur == @* ]]; then
		_sbx_words "$(_sbx_profiles)"
	else
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		[[ -n $cur ]] || mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY \
			< <(_sbx_profiles)
	fi
}

_sbxc()
{
	local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}
	COMPREPLY=()

	if [[ $COMP_CWORD -eq 1 && $cur != [-@/.]* ]]; then
		_sbx_words "$(sbxc --help 2>/dev/null |
			sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p')"
		return
	fi
	if [[ $cur == -* ]]; then
		_sbx_words "$(_sbx_options sbxc "$command")"
		return
	fi
	case $command in
	explain)
		_sbx_words "all $(sbxc explain all 2>/dev/null |
			sed -n 's/^\(SBX[0-9]*\): .*/\1/p')"
		;;
	init)
		_sbx_words "claude codex gemini opencode mcp vscode git npm"
		;;
	*) _sbx_policies ;;
	esac
}

_sbxrun()
{
	local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local i
	COMPREPLY=()

	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -- ]] || continue
		if ((i == COMP_CWORD - 1)); then
			mapfile -t COMPREPLY < <(compgen -c -- "$cur")
		else
			compopt -o default
		fi
		return
	done
	case $previous in
	-l) _sbx_words "auto full standard minimal" ;;
	-w) mapfile -t COMPREPLY < <(compgen -d -W auto -- "$cur") ;;
	*)
		if [[ $cur == -* ]]; then
			_sbx_words "$(_sbx_options sbxrun) --"
		else
			_sbx_policies
		fi
		;;
	esac
}

complete -F _sbxc sbxc
complete -F _sbxrun sbxrun
