#!/bin/sh
# sbxc learn: what is drafted of recorded runs, beside what is expected.
#
#	tests/golden/learn.sh [--update]
#
# learn/NAME.jsonl is learned from, with the options of NAME.words; what is
# printed, the policy and the test file that are written, and the exit status are
# NAME.out.  Of each draft: it is laid out as `sbxc fmt` does, no check warns of
# it, and its tests pass.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
cd "$srcdir/tests/golden/learn" || exit 99
tap_begin

# learn NAME: what comes of it; the draft is $tmp/NAME.sbx.
learn()
{
	words="-o $tmp/$1.sbx"
	[ ! -e "$1.words" ] || words=$(cat "$1.words")
	case $words in
	*--update*) ;;
	*) words="-o $tmp/$1.sbx $words" ;;
	esac
	rm -f "$tmp/$1.sbx" "$tmp/$1.test.yaml"
	# shellcheck disable=SC2086  # words
	"$SBXC" learn --color=never $words "$1.jsonl" >"$tmp/out" 2>"$tmp/err"
	status=$?
	cat "$tmp/out"
	sed 's/^/! /' "$tmp/err"
	for written in "$tmp/$1.sbx" "$tmp/$1.test.yaml"; do
		[ ! -e "$written" ] || cat "$written"
	done
	echo "status $status"
}

for file in *.jsonl; do
	name=${file%.jsonl}
	learn "$name" >"$tmp/got"
	if [ "${1-}" = --update ]; then
		cmp -s "$tmp/got" "$name.out" || cp "$tmp/got" "$name.out"
	fi
	tap_empty "$name" "$(diff -u "$name.out" "$tmp/got" 2>&1)"
	draft=$tmp/$name.sbx
	[ -e "$draft" ] || continue
	tap_empty "$name: it is laid out" "$("$SBXC" fmt --list "$draft" 2>&1)"
	tap_empty "$name: no check warns" "$("$SBXC" check "$draft" 2>&1)"
	"$SBXC" test "$tmp/$name.test.yaml" >"$tmp/said" 2>&1
	tap_is "$name: its tests pass" 0 $?
	# The order in which things were wanted is none of its business.
	{
		grep -v '"event":"\(wanted\|network\)"' "$file" |
		    grep -v '"event":"learned"'
		grep '"event":"\(wanted\|network\)"' "$file" | sort -r
	} >"$tmp/$name.jsonl"
	"$SBXC" learn "$tmp/$name.jsonl" \
	    "$(sed 's/^/ /; s/^ $//' "$name.words" 2>/dev/null)" \
	    >/dev/null 2>&1
done

# Twice the same: nothing of the machine or of the order of hashes is in it.
for name in tool risks; do
	learn "$name" >"$tmp/first"
	HOME=/ XDG_RUNTIME_DIR=/x learn "$name" >"$tmp/second"
	tap_empty "$name: twice the same" \
	    "$(diff -u "$tmp/first" "$tmp/second")"
done

# status NAME EXPECTED WORD...: what sbxc exits with.
status()
{
	status_name=$1 status_wanted=$2
	shift 2
	"$SBXC" learn "$@" >"$tmp/out" 2>&1
	tap_is "$status_name" "$status_wanted" $?
}

status "several files" 0 tool.jsonl caches.jsonl
status "a faulty one among them" 1 tool.jsonl faulty.jsonl
status "no file" 125
status "a file that is not there" 3 absent.jsonl
status "a profile that is none" 125 --extends nothing tool.jsonl
status "one that allows everything" 125 --extends full-access tool.jsonl
status "the name of a shipped one" 125 -p coding tool.jsonl
status "a keyword" 125 -p sbx tool.jsonl
status "--write without --update" 125 --write tool.jsonl
# Its last brace is on a line of its own; its name does not say that it is YAML.
cat >"$tmp/same.policy" <<'END'
sbx: 1
profiles:
  team: {
    rules: [ allow read /usr ],
    about: "In YAML."
  }
END
status "--update of YAML" 125 --update "$tmp/same.policy" -p team tool.jsonl
status "--update of a policy with a mistake" 1 --update ../err/SBX0101-1.sbx \
    tool.jsonl
printf 'sbx 1\nprofile team {\n    allow read /srv/x }\n' >"$tmp/brace.sbx"
status "--update of a policy whose brace has no line" 125 --update \
    "$tmp/brace.sbx" tool.jsonl
cp update.sbx "$tmp/written.sbx"
status "--update --write" 0 --update "$tmp/written.sbx" -p team --write tool.jsonl
tap_empty "it compiles" "$("$SBXC" check -p team "$tmp/written.sbx" 2>&1)"
status "once more" 0 --update "$tmp/written.sbx" -p team tool.jsonl
tap_found "nothing is lacking then" "$(grep 'no rule is lacking' "$tmp/out")"
# As on a disk that is full: no file may grow.
cp update.sbx "$tmp/full.sbx"
got=$( (trap '' XFSZ; ulimit -f 0; exec "$SBXC" learn --update "$tmp/full.sbx" \
    -p team --write tool.jsonl) 2>&1 >/dev/null)
tap_is "--update --write on a full disk" \
    "3 sbxc: cannot write '$tmp/full.sbx': File too large" "$? $got"
tap_empty "... leaves the file as it was" "$(cmp update.sbx "$tmp/full.sbx" 2>&1)"
status "a draft is not overwritten" 125 -o "$tmp/written.sbx" tool.jsonl
yes '{"sbx":1}' | head -c 17000000 >"$tmp/large"
status "a file that is too large" 3 "$tmp/large"
# What is added to a shipped profile makes it no copy of one, and its name a fault.
for file in *.jsonl; do
	"$SBXC" learn --update "$srcdir/profiles/coding.sbx" "$file" \
	    >"$tmp/out" 2>"$tmp/err"
	status=$?
	grep -q 'a policy of your own' "$tmp/err" && break
	[ $status -lt 126 ] || break
done
tap_is "a shipped profile is not brought up to date" 125 "$status"
tap_found "and it is said why" "$(grep 'a policy of your own' "$tmp/err")"
tap_done
