#!/bin/sh
# What takes sbxc long or much memory, as TAP: policies of many rules, one shape
# after the other (shapes.pl), are checked, built, and compared with a copy that
# differs in one line.  They count CPU time, so a machine that is busy does not
# matter, and memory.  The bounds are generous: a slow machine takes 5 s for the
# largest policy that sbxc accepts at all (MAX_SPENT, compiler/policy/resolve.c).

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
tap_begin

# Of 32,000 rules: seconds, and KiB of address space.
count=32000 seconds=15 memory=409600
if [ "$(tap_rounds 100)" -lt 100 ]; then
	count=4000 seconds=15 memory=204800
fi
# A sanitizer takes terabytes of address space, and more time.
if tap_sanitized; then
	memory=unlimited seconds=$((seconds * 4))
fi

# bounded WORD...: runs sbxc with the bounds; says what was not kept.  Status 1
# is a policy with errors, as many of these are.
bounded()
{
	(
		# dash and bash have both.
		# shellcheck disable=SC3045
		ulimit -v "$memory"
		# shellcheck disable=SC3045
		ulimit -t "$seconds"
		exec "$SBXC" "$@"
	) >"$tmp/out" 2>&1
	bounded_status=$?
	[ $bounded_status -le 1 ] ||
		echo "sbxc $1: status $bounded_status: $(tail -n 1 "$tmp/out")"
}

# shape_fault SHAPE COUNT
shape_fault()
{
	perl "$srcdir/tests/cli/shapes.pl" "$1" "$2" >"$tmp/p.sbx" || echo "none"
	sed '$!s,/a,/z,2; s,V_1\>,W_1,' "$tmp/p.sbx" >"$tmp/q.sbx"
	profile=p
	grep -q '^profile p ' "$tmp/p.sbx" || profile=p1
	bounded check "$tmp/p.sbx"
	bounded build -p "$profile" "$tmp/p.sbx" -o "$tmp/p.bin"
	bounded diff -p "$profile" "$tmp/p.sbx" "$tmp/q.sbx"
	rm -f "$tmp/p.bin"
}

for shape in $(perl "$srcdir/tests/cli/shapes.pl"); do
	tap_empty "$count of $shape" "$(shape_fault "$shape" $count)"
done

# Many globs of one policy that the other one has elsewhere.
perl "$srcdir/tests/cli/shapes.pl" globs "$count" >"$tmp/p.sbx"
sed '1,2000s,"/a/,"/z/,' "$tmp/p.sbx" >"$tmp/q.sbx"
tap_empty "2,000 of $count globs are changed" \
    "$(bounded diff "$tmp/p.sbx" "$tmp/q.sbx")"

# One of many globs is elsewhere, and what it means depends on all others.
for shape in globs_both globs_stars; do
	perl "$srcdir/tests/cli/shapes.pl" "$shape" 5000 >"$tmp/p.sbx"
	sed '1000s,"/a/,"/z/,' "$tmp/p.sbx" >"$tmp/q.sbx"
	tap_empty "one of 5,000 of $shape is changed" \
	    "$(bounded diff "$tmp/p.sbx" "$tmp/q.sbx")"
done

# Short texts of what combines in many ways.
seconds=4
for shape in env_stars params_meet; do
	perl "$srcdir/tests/cli/shapes.pl" "$shape" 1000 >"$tmp/p.sbx"
	sed 's/A\*$/B*/; s/x$/y/' "$tmp/p.sbx" >"$tmp/q.sbx"
	tap_empty "1,000 of $shape are changed" \
	    "$(bounded diff "$tmp/p.sbx" "$tmp/q.sbx")"
done

# The bounds are bounds.
seconds=1 memory=4096
[ "$builddir" = "" ] || tap_found "too little memory is seen" \
    "$(shape_fault paths 100)"
tap_done
