#!/bin/sh
# Completions for bash, zsh and fish, and the syntax for vim and TextMate: that
# they know what sbxc and sbxrun know, tried in each shell and in vim.

# What other shells expand is theirs.
# shellcheck disable=SC2016

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
tap_begin
packaging=$srcdir/packaging
PATH=$(dirname "$SBXC"):$(dirname "$SBXRUN"):$PATH
export PATH
HOME=$tmp
export HOME
cd "$tmp" || exit 99
touch file.sbx

# has NAME WORDS WANTED: WANTED is one of the lines.
has()
{
	if printf '%s\n' "$2" | grep -qxF -e "$3"; then
		tap_ok "$1: $3"
	else
		tap_not_ok "$1: $3" "$2"
	fi
}

# each SHELL: the questions, which `offers SHELL LINE` answers with a word a
# line.
each()
{
	has "$1" "$(offers "$1" 'sbxc ')" doctor
	has "$1" "$(offers "$1" 'sbxc init ')" claude
	has "$1" "$(offers "$1" 'sbxc explain SBX04')" SBX0401
	has "$1" "$(offers "$1" 'sbxc check --ta' | sed 's/=$//')" --target
	has "$1" "$(offers "$1" 'sbxc why @co')" @coding
	has "$1" "$(offers "$1" 'sbxrun --dry' | sed 's/=$//')" --dry-run
	has "$1" "$(offers "$1" 'sbxrun @wor')" @workspace-write
	lists "$1" 'sbxrun --staged a' apply
	lists "$1" 'sbxc log ve' verify
	values "$1"
	tap_is "$1: an option of another command is not offered" "" \
	    "$(offers "$1" 'sbxc profiles --tar' | grep -e target -e test:)"
}

# lists SHELL LINE WANTED: just that, and no file.
lists()
{
	tap_is "$1: $2" "$(printf '%s\n' $3 | sort)" "$(offers "$1" "$2" |
	    grep -v '^file.sbx$' | sort)"
}

# Values, of which none is written in the completions but the limits; file.sbx is
# a file that is offered where files are.
values()
{
	lists "$1" 'sbxrun --level=' 'auto full standard minimal'
	lists "$1" 'sbxrun -l ' 'auto full standard minimal'
	lists "$1" 'sbxrun --level=st' standard
	lists "$1" 'sbxrun --accept=' none
	for value in live all agent; do
		has "$1" "$(offers "$1" 'sbxrun --explain=')" $value
	done
	has "$1" "$(offers "$1" 'sbxrun --explain @cod')" @coding
	has "$1" "$(offers "$1" 'sbxrun --staged=o')" one
	has "$1" "$(offers "$1" 'sbxrun -n @cod')" @coding
	has "$1" "$(offers "$1" 'sbxrun tru')" true
	lists "$1" 'sbxrun --limit=' "$(sed -n \
	    's/^LIMIT("\([^"]*\)".*/\1=/p' "$srcdir/format/limits.def")"
	lists "$1" 'sbxrun --limit=ti' timeout=
	lists "$1" 'sbxc check --target=mac' macos
	lists "$1" 'sbxc diff --fail-on=' 'any widen'
	lists "$1" 'sbxc dump -O s' 'sbx sbpl'
	lists "$1" 'sbxc check -W SBX0401' SBX0401
	lists "$1" 'sbxc learn --extends=read' read-only
	has "$1" "$(offers "$1" 'sbxc learn --update=fi' 2>&1)" file.sbx
}

offers()
{
	case $1 in
	bash)
		# readline replaces what stands behind the last = or :.
		bash --norc -c '. "$1"
		    compopt() { :; }
		    COMP_LINE=$2 COMP_POINT=${#2}
		    _sbx "${2%% *}" "${2##*[ =:]}"
		    printf "%s\n" "${COMPREPLY[@]}"' bash \
		    "$packaging/completions/sbx.bash" "$2"
		;;
	fish)
		# What it says about a mistake is no word, and fails.
		fish --no-config -c 'source $argv[1]; complete -C $argv[2]' \
		    "$packaging/completions/sbx.fish" "$2" 2>&1 |
		    cut -f 1 | sed 's/^--[a-z-]*=\(.\)/\1/'
		;;
	zsh)
		# What would be added is printed instead.
		zsh -f -c '
		    compadd() {
		        while [[ $1 == -* ]]; do
		            [[ $1 == -S ]] && shift
		            shift
		        done
		        print -rl -- "$@"
		    }
		    compset() { :; }
		    _describe() { local -a list; list=(${(P)2})
		        print -rl -- ${list%%:*} }
		    _files() { print file.sbx; }
		    _normal() { :; }
		    _command_names() { print true; }
		    words=(${(z)2}); [[ $2 != *" " ]] || words+=("")
		    CURRENT=${#words}; service=$words[1]
		    . "$1"' zsh "$packaging/completions/_sbx" "$2" |
		    awk -v word="${2##*[ =]}" 'index($0, word) == 1'
		;;
	esac
}

# There are stages only where somebody has staged something.
mkdir "$tmp/stages"
printf '#!/bin/sh\n%s\nexec "%s" "$@"\n' \
    '[ "$1" != --staged ] || { echo "{\"name\": \"one\"}"; exit; }' "$SBXRUN" \
    >"$tmp/stages/sbxrun"
chmod 755 "$tmp/stages/sbxrun"
PATH=$tmp/stages:$PATH
for shell in bash zsh fish; do
	if command -v $shell >/dev/null; then
		each $shell
	else
		tap_skip "completion of $shell" "it is not installed"
	fi
done
for option in $(sbxrun --help=all | sed -n \
    's/^ \{2,\}\(-[a-zA-Z], \)\{0,1\}\(--[a-z-]*\).*/\2/p'); do
	offers bash "sbxrun $option" | sed 's/=$//' | grep -qxF -e "$option" ||
	    echo "$option" >>"$tmp/missing"
done
tap_empty "bash: every option of sbxrun" "$(cat "$tmp/missing" 2>/dev/null)"

# --- syntax ----------------------------------------------------------------

# words_without FILE: words of the language that it does not have.
words_without()
{
	{
		sed -n 's/^KEYWORD("\([^"]*\)".*/\1/p' \
		    "$srcdir/compiler/tables/keywords.def"
		sed -n 's/^\(RIGHT\|PORT_OP\|PROXY\|BLANKET\|LIST\|WATCH\|SOCKET\|LEVEL\|PLATFORM\)("\([^"]*\)".*/\2/p' \
		    "$srcdir/compiler/tables/words.def"
		sed -n 's/^\(LIMIT\|UNIT\)([A-Z]*,* *"\([^"]*\)".*/\2/p' \
		    "$srcdir/format/limits.def"
	} | tr ' ' '\n' | sort -u | while read -r word; do
		grep -Eq "(^|[ (|\\])$word([ )|\\]|\$)" "$1" || echo "$word"
	done
}

for file in vim/syntax/sbx.vim textmate/sbx.tmLanguage.json; do
	tap_empty "$file knows the words" "$(words_without "$packaging/$file")"
	sed 's/processes//g; s/prefer//g' "$packaging/$file" >"$tmp/less"
	tap_found "$file: the check can fail" "$(words_without "$tmp/less")"
done

cat >"$tmp/p.sbx" <<'END'
profile team extends coding { # why
    deny read "${workspace}/x"
    limit timeout 10m
    allow write ~/notes-read
}
END
if vim --version 2>/dev/null | grep -q '+syntax'; then
	cat >"$tmp/look.vim" <<'END'
function! Say(line, word)
	call cursor(a:line, 1)
	call search(a:word, 'c', a:line)
	call writefile([synIDattr(synID(line('.'), col('.'), 1), 'name')],
	    \ $OUT, 'a')
endfunction
call Say(1, 'profile')
call Say(1, 'why')
call Say(2, 'deny')
call Say(2, 'read')
call Say(2, 'workspace')
call Say(3, 'timeout')
call Say(3, '10m')
call Say(4, 'allow')
call Say(4, 'notes')
qall!
END
	OUT=$tmp/names vim -N -u NONE -i NONE -n -es \
	    --cmd "set runtimepath^=$packaging/vim" \
	    -c 'filetype on' -c 'syntax on' -c "edit $tmp/p.sbx" \
	    -c "source $tmp/look.vim" </dev/null >/dev/null 2>&1
	tap_is "vim: each word is what it is" \
	    "sbxStatement sbxComment sbxDeny sbxWord sbxName sbxLimit sbxNumber sbxAllow  " \
	    "$(tr '\n' ' ' <"$tmp/names")"
else
	tap_skip "the syntax in vim" "vim is not installed, or without syntax"
fi

# The first pattern that matches earliest, as an editor takes it.
cat >"$tmp/scopes.py" <<'END'
import json
import re
import sys

patterns = json.load(open(sys.argv[1]))["patterns"]
starts = [(re.compile(p.get("match") or p["begin"]), p) for p in patterns]
for line in open(sys.argv[2]):
    line = line.rstrip("\n")
    at = 0
    while at < len(line):
        found = [(m.start(), i, m, p) for i, (start, p) in enumerate(starts)
                 for m in [start.search(line, at)] if m]
        if not found:
            break
        _, _, match, pattern = min(found, key=lambda one: one[:2])
        end = match.end()
        if "end" in pattern:
            end = re.compile(pattern["end"]).search(line, end).end()
        names = [pattern["name"]] if "name" in pattern else [
            pattern["captures"][key]["name"] for key in pattern["captures"]]
        print(" ".join(names), "|", line[match.start():end].strip())
        at = max(end, at + 1)
END
tap_is "TextMate: each word is what it is" "keyword.control.sbx entity.name.type.sbx | profile team
keyword.control.sbx | extends
comment.line.number-sign.sbx | # why
invalid.deny.sbx | deny
keyword.other.sbx | read
string.quoted.double.sbx | \"\${workspace}/x\"
keyword.control.sbx | limit
support.constant.limit.sbx | timeout
constant.numeric.sbx | 10m
storage.type.allow.sbx | allow
keyword.other.sbx | write" \
    "$(python3 "$tmp/scopes.py" "$packaging/textmate/sbx.tmLanguage.json" \
    "$tmp/p.sbx" 2>&1)"
tap_done
