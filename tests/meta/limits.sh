#!/bin/sh
# How long things may be: a file 600 lines, a function 60, and a function has at
# most five parameters.  Whatever is longer holds more than one thing.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

sources()
{
	(cd "$1" && find compiler grammar format runtime \
	    \( -name '*.[chly]' -o -name '*.def' \) | sort)
}

long_files()
{
	sources "$1" | (cd "$1" && xargs wc -l) |
	    awk '$2 != "total" && $1 > 600 { print $2 ": " $1 " lines" }'
}

# A definition is as clang-format leaves it: the name begins a line, the body
# lies between braces that begin one.
long_functions()
{
	sources "$1" | grep '\.c$' | (cd "$1" && xargs awk '
	FNR == 1 { inside = 0; head = "" }
	/^[a-z_][a-z_0-9]*\(/ { head = ""; name = $0; sub(/\(.*/, "", name) }
	!inside && name != "" { head = head " " $0 }
	/^{/ && name != "" {
		inside = 1
		begin = FNR
		sub(/^[^(]*\(/, "", head)
		gsub(/\([^()]*\)/, "", head)
		commas = gsub(/,/, "", head)
		if (commas > 4)
			print FILENAME ": " name "() has " commas + 1 \
			    " parameters"
	}
	/^}/ && inside {
		if (FNR - begin - 1 > 60)
			print FILENAME ": " name "() has " \
			    FNR - begin - 1 " lines"
		inside = 0
		name = ""
	}')
}

tap_begin
mkdir -p "$tmp/compiler" "$tmp/grammar" "$tmp/format" "$tmp/runtime"
awk 'BEGIN {
	print "void\nwide(int a, int (*b)(int, int), int c, int d, int e,"
	print "    int f)\n{\n}\n\nvoid\nlong_one(void)\n{"
	for (i = 0; i < 600; i++)
		print "\tf();"
	print "}"
}' >"$tmp/compiler/bad.c"

tap_empty "no file has more than 600 lines" "$(long_files "$srcdir")"
tap_found "no file has more than 600 lines: the check can fail" \
    "$(long_files "$tmp")"
tap_empty "no function has more than 60 lines or 5 parameters" \
    "$(long_functions "$srcdir")"
tap_found "no function is too long: the check can fail" \
    "$(long_functions "$tmp" | sed -n 2p)"
tap_done
