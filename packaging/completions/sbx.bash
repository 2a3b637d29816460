# bash completion for sbxc(1) and sbxrun(1).  What they know is asked of them, so
# that nothing here has to follow a change of an option.

# Which help has all options.
_sbx_help()
{
	[[ $1 != sbxrun ]] && echo --help || echo --help=all
}

# Options of a command, one a line: those with a value end in "=".
_sbx_options()
{
	"$@" "$(_sbx_help "$1")" 2>/dev/null |
		sed -n 's/^ \{2,\}\(-[a-zA-Z], \)\{0,1\}\(--[a-z-]*\)\(=\{0,1\}\).*/\2\3/p'
}

_sbx_profiles()
{
	sbxc profiles 2>/dev/null | sed -n 's/^\([a-z][a-z-]*\) .*/@\1/p'
}

_sbx_codes()
{
	sbxc explain all 2>/dev/null | sed -n 's/^\(SBX[0-9]*\): .*/\1/p'
}

# What an option takes, as the help says it: words, or in capitals what to look
# for, and [ where it may be left out.  The words are those of its value, or a list
# at the beginning of what it does.
_sbx_takes()
{
	local option=$1
	shift
	"$@" "$(_sbx_help "$1")" 2>/dev/null | awk -v want="$option" '
	{
		sub(/^ +/, "")
		at = index($0, "  ")
		head = substr($0, 1, at - 1)
		split(head, name, /, |=/)
		if (want != name[1] && want != name[2] || head !~ /=/)
			next
		does = substr($0, at)
		sub(/^ +/, "", does)
		value = head
		sub(/^[^=]*=/, "", value)
		if (value ~ /^\[.*\]$/)
			print "["
		gsub(/[][]|no-/, "", value)
		if (value ~ /^[A-Z]/) {
			print value
			value = does
			sub(/[:;].*/, "", value)
			gsub(/ or |, /, "|", value)
		}
		count = split(value, word, "|")
		for (i = 1; i <= count; i++) {
			sub(/=[A-Z]*$/, "=", word[i])
			if (word[i] ~ /^[a-z][a-z0-9_-]*=?$/)
				print word[i]
		}
	}'
}

# Completes $cur by these words.  bash replaces only what stands behind the last =
# or :, which is $end.
_sbx_words()
{
	local i begin=${cur%"$end"}

	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
	[[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace
	for i in "${!COMPREPLY[@]}"; do
		COMPREPLY[i]=${COMPREPLY[i]#"$begin"}
	done
}

_sbx_files()
{
	compopt -o filenames
	mapfile -t COMPREPLY < <(compgen "$1" -- "${cur#*=}")
}

# The sessions or stages that are there, for $option.
_sbx_names()
{
	local list=--sessions

	[[ $option != --stage* ]] || list=--staged
	[[ $option != --s[et]* ]] || sbxrun "$list" --json 2>/dev/null |
		grep -o '"name": *"[^"]*"' | sed 's/.*"\(.*\)"/\1/'
}

# _sbx_value PREFIX COMMAND...: the value of $option, in front of which PREFIX
# stands in the same word.
_sbx_value()
{
	local prefix=$1 word words=
	shift

	while read -r word; do
		case $word in
		DIR*) _sbx_files -d ;;
		FILE* | OUT* | BLOB* | BASE* | HOW) _sbx_files -f ;;
		POLICY) _sbx_policies ;;
		NAME)
			[[ $option != --session ]] || words+=" ${prefix}auto"
			words+=" $(_sbx_names | sed "s/^/$prefix/")"
			;;
		NAME=VALUE)
			for word in file-size processes open-files cpu-time \
				memory core stack timeout output; do
				words+=" $prefix$word="
			done
			;;
		CODE)
			for word in all $(_sbx_codes); do
				words+=" $prefix$word"
			done
			;;
		PROFILE)
			for word in none $(_sbx_profiles); do
				words+=" $prefix${word#@}"
			done
			;;
		[a-z]*) words+=" $prefix$word" ;;
		esac
	done < <(_sbx_takes "$option" "$@")
	local files=("${COMPREPLY[@]}")
	[[ -z $words ]] || _sbx_words "$words"
	[[ ${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=("${files[@]}")
}

_sbx_policies()
{
	if [[ $cur == @* ]]; then
		_sbx_words "$(_sbx_profiles)"
	else
		_sbx_files -f
		[[ -n $cur ]] || mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY \
			< <(_sbx_profiles)
	fi
}

# _sbx_option COMMAND...: whether the word or the one before it is an
# option.
_sbx_option()
{
	local option takes

	if [[ $cur == --*=* ]]; then
		option=${cur%%=*}
		_sbx_value "$option=" "$@"
	elif [[ $cur == -* ]]; then
		_sbx_words "$(_sbx_options "$@")"
	elif [[ $previous == -* && $previous != *=* ]]; then
		option=$previous
		takes=$(_sbx_takes "$option" "$@")
		# What may be left out stands in the same word.
		[[ -n $takes && $takes != \[* ]] || return 1
		_sbx_value "" "$@"
	else
		return 1
	fi
}

# _sbx_rule FIRST: the words of a rule or of a question, from that one on.
_sbx_rule()
{
	local i at=$1

	for ((i = $1; i < ${#words[@]} - 1; i++)); do
		[[ ${words[i]} != -* ]] || ((at = i + 2))
	done
	if ((${#words[@]} - 1 <= at)); then
		_sbx_words "read write exec domain connect listen syscall env"
	elif [[ $previous == connect || $previous == listen ]]; then
		_sbx_words tcp
	elif [[ ${words[at]} == @(read|write|exec) ]]; then
		_sbx_files -f
	fi
}

_sbxc()
{
	local command=${words[1]}

	if [[ ${#words[@]} -eq 2 && $cur != [-@/.]* ]]; then
		_sbx_words "$(sbxc --help 2>/dev/null |
			sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p')"
		return
	fi
	# Without a command it is build.
	[[ $command != [-@/.]* ]] || command=build
	_sbx_option sbxc "$command" && return
	case $command in
	explain) _sbx_words "all $(_sbx_codes)" ;;
	allow) _sbx_rule 2 ;;
	log) ((${#words[@]} > 3)) && _sbx_files -f || _sbx_words "show verify" ;;
	why) ((${#words[@]} > 3)) && _sbx_rule 3 || _sbx_policies ;;
	init)
		_sbx_words "claude codex gemini opencode mcp vscode git npm"
		;;
	*) _sbx_policies ;;
	esac
}

_sbxrun()
{
	local i

	for ((i = 1; i < ${#words[@]} - 1; i++)); do
		[[ ${words[i]} == -- ]] || continue
		if ((i == ${#words[@]} - 2)); then
			mapfile -t COMPREPLY < <(compgen -c -- "$cur")
		else
			compopt -o default
		fi
		return
	done
	if [[ $previous == -w || $previous == --workspace ]]; then
		_sbx_files -d
		_sbx_words "auto none $(printf '%s ' "${COMPREPLY[@]}")"
		return
	fi
	_sbx_option sbxrun && return
	if [[ ${words[1]} == --staged* ]]; then
		_sbx_words "list diff apply discard"
		return
	fi
	_sbx_policies
	# Or a command, under the policy that is taken by default.
	mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "$cur")
}

# The words up to the cursor, which bash would also cut at = and @.
_sbx()
{
	local words cur end=$2 previous
	local line=${COMP_LINE:0:COMP_POINT}

	COMPREPLY=()
	read -r -a words <<<"$line"
	[[ $line != *[[:space:]] ]] || words+=("")
	cur=${words[${#words[@]} - 1]}
	previous=${words[${#words[@]} - 2]}
	"_${1##*/}"
}

complete -F _sbx sbxc
complete -F _sbx sbxrun
