#!/bin/sh
# Which system calls each group has, and the baseline denies, as TAP.  They are those
# of compiler/tables, written down once more: what is lost there is not lost here.
#
#	tests/golden/calls.sh --update	rewrite what is expected

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
expected=$srcdir/tests/golden/calls/expected
tap_begin
cd "$tmp" || exit 99

# What a profile with this rule says of system calls, without where that is.
calls()
{
	printf 'sbx 1\nprofile p {\n    %s\n}\n' "$1" >p.sbx
	"$SBXC" build p.sbx -o p.bin 2>said || cat said
	"$SBXC" dump p.bin | sed -n 's/  # .*//; s/^syscall //p'
}

# each: for each group, what denying it adds to the baseline and what allowing it
# takes away.
each()
{
	calls '' >none
	sed 's/^/baseline: /' none
	sed -n 's/^GROUP("\([a-z-]*\)".*/\1/p' \
	    "$srcdir/compiler/tables/groups.def" | while read -r group; do
		for effect in deny allow; do
			calls "$effect syscalls @$group" >some
			awk 'FILENAME == "none" { known[$0] = 1; next }
			    !known[$0]' none some |
			    sed "s/ because @$group\$//; s/ because @$group on/ on/
			    s/^/$effect @$group: /"
		done
	done
}

# folded: of lines "WHAT: CALL VERDICT" those of one verdict together.
folded()
{
	awk '{
		call = $0
		sub(/^[^:]*: /, "", call)
		what = substr($0, 1, length($0) - length(call) - 2)
		verdict = call
		sub(/ .*/, "", call)
		sub(/^[^ ]* ?/, "", verdict)
		key = what ": " verdict
		if (!(key in calls))
			keys[++count] = key
		calls[key] = calls[key] " " call
	}
	END {
		for (i = 1; i <= count; i++)
			print keys[i] "\n   " calls[keys[i]]
	}' | fold -s -w 78 | sed 's/ *$//; /^[a-z]*\( @[a-z-]*\)\?:/!s/^ */    /'
}

if [ "${1-}" = --update ]; then
	each | folded >"$expected"
	exit
fi

each | folded >got
tap_empty 'each group has its calls' "$(diff -u "$expected" got | head -40)"
sed 2d got >fewer
tap_found 'one that is not there is seen' "$(diff "$expected" fewer)"
tap_done
