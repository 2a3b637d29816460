#!/bin/sh
# Golden files of sbxc, as TAP.
#
#	tests/golden/policies.sh [CASE...]	ok/NAME or err/NAME; default: all
#	tests/golden/policies.sh --update [CASE...]	rewrite what is expected
#
# ok/NAME.sbx compiles without a word, and NAME.dump is what `sbxc dump` of it has
# and smallest.dump, that of a profile without rules, has not (+), and the other way
# round (-); of profiles beside ok/extends-coding, if they extend it or the like.
# These are without the numbers and lengths of filters, which the bases have.
#
# err/NAME.sbx goes through `sbxc check`, or what its first line says, such as
# "# sbxc build -o /dev/null", whose whole stderr is NAME.err; the status is 1 if
# there is an error in it, 2 if all are about -D, and 0 if there are only
# warnings.  A case may be in
# YAML or JSON instead: err/NAME.yaml, err/NAME.json.
#
# Each code that a message can have is in a line of diags.def and has a case,
# but for those of a blob that somebody changed: tests/unit/verify.
#
# $SBXC is the compiler.  The line of the dump that names its version is left
# out, and where a rule stands in a shipped profile; and, but for err/SBX01*, the
# lines of the source that are printed below a message, which names them.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
cd "$srcdir/tests/golden" || exit 99
tap_begin

# Both leave what sbxc printed in $tmp/got and print what is wrong beside.

dump()
{
	(cd ok && "$SBXC" build "$1.sbx" -o "$tmp/blob") 2>&1 ||
		echo "sbxc build: status $?"
	"$SBXC" dump "$tmp/blob" 2>&1 | grep -v '^writer ' | tap_shipped \
	    >"$tmp/dump"
	rm -f "$tmp/blob"
}

# base NAME: the policy beside which it is dumped; none for a base, and for what
# has less than one.
base()
{
	case $1 in
	smallest | everything | extends-full) ;;
	extends-coding) echo smallest ;;
	*)
		if grep -qE 'extends (coding|workspace-write|data-analysis) ' \
		    "ok/$1.sbx"; then
			echo extends-coding
		else
			echo smallest
		fi
		;;
	esac
}

# What says nothing beside another policy: the profile's name, numbers.
comparable()
{
	sed 's/^\(program [^ ]* \)[0-9]* /\1/; s/ insns [0-9]*//
	    /^profile /d' "$1"
}

run_ok()
{
	dump "$1"
	base=$(base "$1")
	if [ -z "$base" ]; then
		mv "$tmp/dump" "$tmp/got"
		return
	fi
	comparable "$tmp/dump" >"$tmp/new"
	if [ ! -e "$tmp/base-$base" ]; then
		dump "$base"
		comparable "$tmp/dump" >"$tmp/base-$base"
	fi
	diff -U0 "$tmp/base-$base" "$tmp/new" | sed '1,2d; /^@@/d' >"$tmp/got"
}

unquoted()
{
	case $1 in
	SBX01*) cat ;;
	*) sed '/^ *[0-9N][0-9N]* | /d' ;;
	esac
}

run_err()
{
	for file in "$1.sbx" "$1.yaml" "$1.json"; do
		[ ! -e "err/$file" ] || break
	done
	command=$(sed -n '1s/^# sbxc //p' "err/$file")
	# shellcheck disable=SC2086  # words
	(cd err && "$SBXC" ${command:-check} --color=never "$file") \
	    >"$tmp/out" 2>"$tmp/said"
	status=$?
	tap_shipped <"$tmp/said" | unquoted "$1" >"$tmp/got"
	# Only `sbxc test` has something to say beside its diagnostics.
	case $command in
	test*) ;;
	*) cat "$tmp/out" ;;
	esac
	want=0
	# What is wrong with -D alone is wrong with the command line.
	! grep -q ': error: .*SBX0222' "$tmp/got" || want=125
	! grep ': error:' "$tmp/got" | grep -qv SBX0222 || want=1
	[ $status -eq $want ] || echo "sbxc check: status $status, not $want"
	[ -s "$tmp/got" ] || echo "nothing was reported"
}

# codes_without FILE...: the codes that no file has in a first line.
codes_without()
{
	sed -n '/^DIAG(BLOB_/d; /^DIAG(LEARN_/d; s/^DIAG([A-Z_0-9]*, "\(SBX[0-9]*\)".*/\1/p' \
	    "$srcdir"/compiler/tables/diags.def | while read -r code; do
		cat "$@" | grep -Eq "(error|warning|note): .*\[$code\]$" ||
			echo "$code"
	done
}

update=false
if [ "${1-}" = --update ]; then
	update=true
	shift
fi
all=false
if [ $# -eq 0 ]; then
	all=true
	for file in ok/*.sbx err/*.sbx err/*.yaml err/*.json; do
		[ ! -e "$file" ] || set -- "$@" "${file%.*}"
	done
fi
[ $# -gt 0 ] || tap_not_ok "there are cases in $PWD"

for case in "$@"; do
	case=${case#tests/golden/}
	case=${case%.*}
	case $case in
	ok/*)
		golden=$case.dump
		fault=$(run_ok "${case#ok/}")
		;;
	err/*)
		golden=$case.err
		fault=$(run_err "${case#err/}")
		;;
	*)
		tap_not_ok "$case" "it is neither ok/NAME nor err/NAME"
		continue
		;;
	esac
	if $update && [ -z "$fault" ] && ! cmp -s "$tmp/got" "$golden"; then
		cp "$tmp/got" "$golden"
		echo "# wrote $golden"
	fi
	if [ -e "$golden" ]; then
		fault=$fault$(diff -u "$golden" "$tmp/got")
	else
		fault="$fault$golden is missing: tests/golden/policies.sh --update $case"
	fi
	tap_empty "$case" "$fault"
done
if $all; then
	tap_empty "every code has a case" "$(codes_without err/*.err)"
	tap_found "a code without a case is seen" \
	    "$(codes_without err/SBX0101-1.err)"
fi
tap_done
