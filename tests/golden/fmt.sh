#!/bin/sh
# sbxc fmt.
#
#	tests/golden/fmt.sh		all of it
#	tests/golden/fmt.sh --update	rewrite what NAME.sbx is to become: NAME.fmt
#
# fmt_all.sh has what it makes of all policies of the tree.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
tap_begin
cr=$(printf '\r')

cd "$srcdir/tests/golden/fmt" || exit 99
if [ "${1-}" = --update ]; then
	for file in *.sbx; do
		"$SBXC" fmt "$file" >"$tmp/got" &&
			cp "$tmp/got" "${file%.sbx}.fmt"
	done
	exit
fi

# becomes FMT: what is wrong with the layout of standard input.
becomes()
{
	"$SBXC" fmt 2>&1 | diff -u "$1" -
}

# --- the layout ------------------------------------------------------------

for file in *.sbx; do
	name=${file%.sbx}
	tap_empty "$name" "$(becomes "$name.fmt" <"$file")"
	tap_empty "$name: its layout stays" \
	    "$("$SBXC" fmt --list "$name.fmt" 2>&1)"
	tap_empty "$name: without indentation" \
	    "$(sed 's/^[ 	]*//' "$name.fmt" | becomes "$name.fmt")"
	tap_empty "$name: lines that end in CR LF" \
	    "$({ cat "$file"; echo; } | sed "s/\$/$cr/" | becomes "$name.fmt")"
	tap_empty "$name: a byte order mark, and no newline at the end" \
	    "$({ printf '\357\273\277'; printf %s "$(cat "$file")"; } |
		becomes "$name.fmt")"
	tap_empty "$name: -d prints the difference" "$(
	    "$SBXC" fmt --diff "$file" | tail -n +3 >"$tmp/diff"
	    diff -u "$file" "$name.fmt" | tail -n +3 | diff -u - "$tmp/diff")"
done
tap_found "a layout that differs is seen" "$(becomes lists.fmt <blocks.sbx)"

# --- the command -----------------------------------------------------------

# Each in a directory of its own, with one file of each kind.
fresh()
{
	cd "$tmp" || exit 99
	rm -rf "$tmp/run"
	mkdir "$tmp/run"
	cd "$tmp/run" || exit 99
	cp "$srcdir/tests/golden/fmt/lists.sbx" odd.sbx
	cp "$srcdir/tests/golden/fmt/lists.fmt" neat.sbx
	printf 'sbx 1\nprofile x {\n' >bad.sbx
	chmod 644 ./*.sbx
}

# ends STATUS OUTPUT ARGUMENT...: what is wrong with a call and its output.
ends()
{
	want=$1
	printf '%s' "$2" >"$tmp/want"
	shift 2
	"$SBXC" "$@" >"$tmp/got" 2>"$tmp/err" </dev/null
	status=$?
	[ $status -eq "$want" ] || echo "status $status, not $want"
	diff -u "$tmp/want" "$tmp/got"
}

# says TEXT: whether the last call complained like that, in one line.
says()
{
	grep -q "$1" "$tmp/err" || cat "$tmp/err"
	[ "$(wc -l <"$tmp/err")" -eq 1 ] || echo "more than one line"
}

# kept FILE...: files that are not as they were, and whatever else is there.
kept()
{
	cmp odd.sbx "$srcdir/tests/golden/fmt/lists.sbx" 2>&1
	find . -type f ! -name odd.sbx ! -name neat.sbx ! -name bad.sbx
}

fresh
tap_empty "-l lists what differs" "$(ends 1 'odd.sbx
' fmt --list neat.sbx odd.sbx)"
tap_empty "--list has nothing to list" "$(ends 0 '' fmt --list neat.sbx)"
tap_empty "--diff has nothing to print" "$(ends 0 '' fmt --diff neat.sbx)"
"$SBXC" fmt --diff odd.sbx >"$tmp/diff"
tap_empty "-d ends with 1" "$(ends 1 "$(cat "$tmp/diff")
" fmt --diff odd.sbx)"
tap_is "-d without diff(1)" \
    "sbxc: cannot run diff: No such file or directory: 3" "$(
	env PATH=/nowhere "$SBXC" fmt --diff odd.sbx 2>&1 | tr '\n' :
	env PATH=/nowhere "$SBXC" fmt --diff odd.sbx 2>/dev/null
	echo " $?")"
tap_empty "a file with a fault prints nothing" "$(ends 1 '' fmt bad.sbx)"
tap_empty "and its fault is told" "$(grep -q SBX0107 "$tmp/err" ||
	cat "$tmp/err")"
tap_empty "the other files are laid out all the same" \
    "$(ends 1 "$(cat neat.sbx)
" fmt bad.sbx odd.sbx)"
tap_empty "a file that is missing" "$(ends 3 '' fmt missing.sbx; says missing)"
tap_empty "nothing was written" "$(kept)"

for call in 'fmt x.yaml' 'fmt x.json' 'fmt odd.sbx x.yml' 'fmt --write x.yaml' \
    'fmt --write' 'fmt --write -' 'fmt -p x odd.sbx'; do
	# shellcheck disable=SC2086  # words
	tap_empty "a wrong call: $call" "$(ends 125 '' $call)"
done
ends 125 '' fmt x.yaml >/dev/null
tap_empty "YAML: one line, and the way out" "$(says 'sbxc convert')"

fresh
chmod 640 odd.sbx
ln -s odd.sbx link.sbx
before=$(stat -c %i neat.sbx)
tap_empty "-w writes, and prints nothing" \
    "$(ends 0 '' fmt --write neat.sbx link.sbx)"
tap_empty "-w: the file has its layout" "$(cmp odd.sbx neat.sbx 2>&1)"
tap_empty "-w keeps mode and link" "$(
	[ "$(stat -c %a odd.sbx)" = 640 ] || stat odd.sbx
	[ -L link.sbx ] || echo "the link is gone")"
tap_empty "-w leaves alone what has the layout" \
    "$([ "$(stat -c %i neat.sbx)" = "$before" ] || stat neat.sbx)"
fresh
# A change of owner takes away the bits that the mode has for it.
if chown 65534:65533 odd.sbx 2>/dev/null; then
	chmod 6750 odd.sbx
	tap_is "-w keeps the owner, and all of the mode" \
	    "0 65534 65533 6750" "$("$SBXC" fmt --write odd.sbx
		echo "$? $(stat -c '%u %g %a' odd.sbx)")"
fi
fresh
tap_empty "-w and -l list what was written" "$(ends 0 'odd.sbx
' fmt --write --list neat.sbx odd.sbx)"
tap_empty "--write leaves a file with a fault" "$(ends 1 '' fmt --write bad.sbx)"
mkfifo pipe.sbx
# Here the pipe is open for both, so that nobody waits for anybody.
exec 3<>pipe.sbx
cat "$srcdir/tests/golden/fmt/lists.sbx" >&3
tap_empty "--write refuses what is no file" "$(ends 3 '' fmt --write pipe.sbx)"
exec 3>&-
# shellcheck disable=SC2002  # a pipe is meant
tap_is "-w refuses a pipe that can be read" \
    "sbxc: cannot write '/dev/stdin': Invalid argument" \
    "$(cat "$srcdir/tests/golden/fmt/lists.sbx" |
	"$SBXC" fmt --write /dev/stdin 2>&1)"

# A comment of so many bytes, which comes to have a margin of four.
comment()
{
	printf 'sbx 1\n\nprofile p {\n#%0*d\n}\n' "$(($1 - 1))" 0
}

fresh
comment 65531 >odd.sbx
tap_empty "a line may become as long as a line can be" \
    "$(ends 0 '' fmt --write odd.sbx; "$SBXC" check odd.sbx 2>&1)"
tap_is "and is as long" 65535 "$(awk 'NR == 4 { print length }' odd.sbx)"
comment 65532 >odd.sbx
tap_empty "a line that would become longer" "$(ends 1 '' fmt --write odd.sbx
	says 'line 4 would become too long')"
tap_empty "stays as it is" "$(comment 65532 | cmp - odd.sbx 2>&1)"

# As on a disk that is full: no file may grow.
fresh
full=$( (trap '' XFSZ; ulimit -f 0; exec "$SBXC" fmt --write odd.sbx) 2>&1)
tap_empty "-w on a full disk: status 3" \
    "$([ $? -eq 3 ] || echo "status $?: $full")"
tap_empty "-w on a full disk: the file is whole, and alone" "$(kept)"

# Root without its capabilities is held by modes as others are.
plainly()
{
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --bounding-set=-all --inh-caps=-all "$@"
	else
		"$@"
	fi
}

fresh
chmod 555 .
refused=$(plainly "$SBXC" fmt --write odd.sbx 2>&1)
tap_empty "-w in a directory that is read-only: status 3" \
    "$([ $? -eq 3 ] || echo "status $?: $refused")"
tap_empty "-w in a directory that is read-only: nothing changes" "$(kept)"
chmod 755 .
chmod 444 odd.sbx
refused=$(plainly "$SBXC" fmt --write odd.sbx 2>&1)
tap_empty "-w on a file that is read-only: status 3" \
    "$([ $? -eq 3 ] || echo "status $?: $refused")"
tap_empty "-w on a file that is read-only: nothing changes" "$(kept)"

fresh
red=$(printf '\033[31m-')
tap_empty "-d in colour" "$("$SBXC" fmt --diff --color=always odd.sbx |
	grep -qF "$red" || echo "no colour")"
tap_empty "-d into a pipe has none" "$("$SBXC" fmt --diff odd.sbx | grep -F "$red")"
tap_done
