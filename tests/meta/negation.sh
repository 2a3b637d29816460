#!/bin/sh
# A command that begins with '!' never ends a test of bats, whatever becomes of it
# (set -e of bash passes over it), unless it is the last one of its test.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

# vain FILE...: those in the middle, and those that only a loop or a condition
# ends with.
vain()
{
	awk '
	FNR == 1 { kept = "" }
	kept != "" && $0 != "}" { print kept }
	{ kept = "" }
	/^[ \t]+! / && !/(\|\| (false|return 1|exit 1)|; (then|do))$/ {
		kept = FILENAME ":" FNR ":" $0
	}' "$@"
}

tap_begin
tap_empty "no test passes over its '!'" "$(vain "$srcdir"/tests/*/*.bats)"
printf '@test "one" {\n\t! grep -q a b\n\techo\n}\n' >"$tmp/a.bats"
tap_found "no test passes over its '!': the check can fail" \
    "$(vain "$tmp/a.bats")"
printf '@test "one" {\n\techo\n\t! grep -q a b\n}\n' >"$tmp/a.bats"
tap_empty "the last command is looked at" "$(vain "$tmp/a.bats")"
tap_done
