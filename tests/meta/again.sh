#!/bin/sh
# lib/again.sh, by which the gate runs failed test programs again: what it runs,
# what it says, and what summary.sh counts afterwards.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/again.sh
. "$srcdir/tests/lib/again.sh"
tap_begin

# results NAME RESULT...: the file that a program with these cases has left.
results()
{
	results_of=$1
	shift
	printf ':test-result: %s\n' "$@" >"$tmp/build/$results_of.trs"
}

# build: one program that passed and three that did not.
build()
{
	rm -rf "$tmp/build"
	mkdir -p "$tmp/build/tests/a"
	: >"$tmp/ran"
	results tests/a/fine PASS PASS
	results tests/a/busy PASS FAIL
	results tests/a/hung PASS ERROR
	results tests/a/wrong FAIL PASS
}

# one TEST_LOGS=LOG: what would run a program.  `hung` passes twice, and then
# leaves no results; `wrong` fails again.
one()
{
	echo "$1" >>"$tmp/ran"
	case $1-$(grep -c "^$1$" "$tmp/ran") in
	*/wrong*) results tests/a/wrong FAIL FAIL; return 1 ;;
	*/hung.log-3) return 1 ;;
	*) name=${1#*=}; results "${name%.log}" PASS PASS ;;
	esac
}

counted()
{
	"$srcdir/tests/lib/summary.sh" "$tmp/build" | tail -n 1
}

build
tap_is 'what failed is counted' 'passed 5 failed 3 skipped 0' "$(counted)"
tap_is 'what failed is run again, and told' \
    'tests/a/busy: failed beside others, then passed 3 times of 3 alone
tests/a/hung: failed beside others, and alone (time 3 of 3)
tests/a/wrong: failed beside others, and alone (time 1 of 3)' \
    "$(again "$tmp/build" one)"
tap_is 'three times, or until it fails' '      3 TEST_LOGS=tests/a/busy.log
      3 TEST_LOGS=tests/a/hung.log
      1 TEST_LOGS=tests/a/wrong.log' "$(uniq -c "$tmp/ran")"
tap_is 'each case is counted once, as it ended' \
    'passed 5 failed 3 skipped 0' "$(counted)"
tap_is 'and nothing else is left' 4 \
    "$(find "$tmp/build" -type f | grep -c .)"

# Without results, and with a good status, nothing has passed either.
build
tap_is 'a program that says nothing has not passed' \
    3 "$(again "$tmp/build" true | grep -c 'and alone (time 1 of 3)')"
tap_is 'and its first results count' 'passed 5 failed 3 skipped 0' "$(counted)"

for i in 1 2 3 4 5 6 7 8; do
	results tests/a/busy$i FAIL
done
tap_is 'no more than ten are run again' '10
1' "$(
    again "$tmp/build" one >"$tmp/said"
    grep -vc 'too many' "$tmp/said"
    grep -c 'too many' "$tmp/said")"
build
rm "$tmp"/build/tests/a/[!f]*
tap_is 'where nothing failed, nothing is run' ' 0' \
    "$(again "$tmp/build" one) $(grep -c . "$tmp/ran")"
tap_done
