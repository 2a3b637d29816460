#!/bin/sh
# A room uses itself and the rooms above it in ARCHITECTURE's list, and the two
# programs share format/ and the loader's binder alone: in what is included, and in what is called,
# which a declaration written by hand could hide.  Each check prints what
# breaks it, and is also run on a small tree that does.

set -u
LC_ALL=C
export LC_ALL
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
builddir=${builddir:-$srcdir/build}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

# Tables that are plugged in from above: who declares one calls what it holds.
plugs='rule_kinds'

rooms=$(sed -n 's,^    \(\(format\|grammar\|\(compiler\|runtime\)/[a-z]*\)\)/ .*,\1,p' \
    "$srcdir/ARCHITECTURE.md")

# upward: of lines "FROM TO WHAT", those whose arrow goes up.  FROM and TO are
# files.
upward()
{
	awk -v rooms="$rooms" '
	BEGIN {
		count = split(rooms, list, "\n")
		for (i = 1; i <= count; i++)
			rank[list[i]] = i
	}
	function room(file) {
		sub("/[^/]*$", "", file)
		return file
	}
	function program(name) {
		return name ~ /^(format|runtime\/(base|bind))$/ ? "" : \
		    name ~ /^runtime/ ? "sbxrun" : "sbxc"
	}
	{
		from = room($1)
		to = room($2)
		if (!(from in rank) || !(to in rank))
			print "no room of the list: " $0
		else if (rank[to] > rank[from] || (program(to) != "" && \
		    program(to) != program(from)))
			print $0
	}'
}

includes_upward()
{
	(cd "$1" && grep -rn --include='*.[chly]' \
	    '^[[:space:]]*#[[:space:]]*include "[a-z]*/' \
	    compiler grammar runtime format 2>/dev/null) |
	    sed -n 's,^\([^:]*\):\([0-9]*\):[^"]*"\([^"]*\)".*,\1 \3 line \2,p' |
	    grep -v '\.def line' | upward
}

# objects TREE PREFIX DIR...: those of the sources that there are, since a build
# directory keeps the objects of those that there were.
objects()
{
	tree=$1
	prefix=$2
	shift 2
	for root in "$tree" "$builddir"; do
		(cd "$root" && find "$@" -name '*.c' 2>/dev/null)
	done | sort -u | sed "s,[^/]*\$,$prefix&,; s,c\$,o,"
}

# calls_upward TREE BUILDDIR PREFIX DIR...: what nm says of one program.
calls_upward()
{
	tree=$1
	build=$2
	shift 2
	objects "$tree" "$@" | (cd "$build" && xargs nm -A 2>/dev/null) |
    awk -v plugs="$plugs" '
	BEGIN {
		count = split(plugs, list, " ")
		for (i = 1; i <= count; i++)
			plug[list[i]]
	}
	{
		file = $1
		sub(/:.*/, "", file)
		kind = $(NF - 1)
		if (kind ~ /^[TDRBVW]$/)
			defined[$NF] = file
		else if (kind == "U" && !($NF in plug))
			uses[++used] = file " " $NF
	}
	END {
		for (i = 1; i <= used; i++) {
			split(uses[i], use, " ")
			if (use[2] in defined)
				print use[1], defined[use[2]], use[2]
		}
	}' | upward
}

compiler_calls_upward()
{
	calls_upward "$1" "$2" '' compiler grammar format
}

loader_calls_upward()
{
	calls_upward "$1" "$2" sbxrun- runtime format
}

library_calls_upward()
{
	calls_upward "$1" "$2" libsbx_pic_a- runtime format
}

# Folders of code that the list does not have, and names that are no folder.
list_differs()
{
	(
		cd "$1" || exit
		find compiler grammar runtime format -name '*.[ch]' |
		    sed 's,/[^/]*$,,' | grep -v '^compiler/tables$' | sort -u
		echo compiler/tables
	) | sort -u >"$tmp/folders"
	echo "$rooms" | sort | diff - "$tmp/folders"
}

# --- trees that break the rules --------------------------------------------

tap_begin
bad=$tmp/bad
mkdir -p "$bad/grammar" "$bad/compiler/base" "$bad/compiler/check" "$bad/format" \
    "$bad/runtime/base" "$bad/compiler/attic"
echo '#include "compiler/check/check.h"' >"$bad/compiler/base/bad.c"
echo '# include "runtime/apply/landlock.h"' >"$bad/compiler/check/bad.h"
echo '#include "compiler/base/arena.h"' >"$bad/format/bad.c"
echo '#include "compiler/base/arena.h"' >"$bad/runtime/base/bad.c"
echo '#include "compiler/attic/old.h"' >"$bad/compiler/check/bad.c"
echo 'void high(void); void low(void) { high(); }' >"$bad/compiler/base/low.c"
echo 'void high(void); void high(void) { }' >"$bad/compiler/check/high.c"

tap_empty "ARCHITECTURE lists the rooms that there are" \
    "$(list_differs "$srcdir")"
tap_found "ARCHITECTURE lists the rooms: the check can fail" \
    "$(list_differs "$bad")"
tap_empty "no include goes up" "$(includes_upward "$srcdir")"
tap_found "no include goes up: the check can fail" \
    "$(includes_upward "$bad" | sed -n 5p)"

if [ ! -f "$builddir/compiler/base/arena.o" ]; then
	tap_skip "no call goes up" "nothing is built"
else
	tap_empty "no call of the compiler goes up" \
	    "$(compiler_calls_upward "$srcdir" "$builddir")"
	tap_empty "no call of the loader goes up" \
	    "$(loader_calls_upward "$srcdir" "$builddir")"
	tap_empty "no call of the library goes up" \
	    "$(library_calls_upward "$srcdir" "$builddir")"
fi
if ${CC:-cc} -c "$bad/compiler/base/low.c" -o "$bad/compiler/base/low.o" &&
    ${CC:-cc} -c "$bad/compiler/check/high.c" -o "$bad/compiler/check/high.o"; then
	tap_found "no call goes up: the check can fail" \
	    "$(compiler_calls_upward "$bad" "$bad")"
else
	tap_skip "no call goes up: the check can fail" "no compiler"
fi

tap_done
