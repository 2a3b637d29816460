#!/bin/sh
# What reads the sources of the programs without running them: gcc -fanalyzer,
# clang-tidy with the checks of .clang-tidy, and cppcheck.  Whatever one of them
# says is a failure.  Each is also run on a file with a mistake for it.
#
#	tests/meta/analyze.sh [FILE...]
#
# Without names all files are read, ANALYZE_JOBS at a time.  `make analyze` and
# `make check-all` run this.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
builddir=${builddir:-$srcdir/build}
export srcdir builddir
cd "$srcdir" || exit 99

# What the build defines, with values that do not matter here.
# shellcheck disable=SC2089
defines="-D_GNU_SOURCE -D__x86_64__ -DHAVE_STRERRORDESC_NP=1
-DPACKAGE_VERSION=\"0\" -DSBX_PROFILE_DIR=\"/x\" -DSBX_SHIPPED_PROFILES=\"/x.sbx\" -DSBX_LIBEXEC_DIR=\"/x\"
-DSBX_BINDIR=\"/x\" -DSBX_SBXRUN=\"/x\" -I. -I$builddir"

# say TOOL FILE: what it has to say.  A tool that fails without a word says that.
#
# gcc: without optimisation, since places are lost by it.  It takes for leaks what
# an arena, a blob or a child of the loader still points to; the tests with
# sanitizers look for leaks.  cppcheck: across files it does not see that a
# function fills what it is given.
say()
{
	# shellcheck disable=SC2086,SC2090
	case $1 in
	gcc)
		gcc -std=c11 $defines -O0 -fanalyzer -Wno-analyzer-malloc-leak \
		    -c -o /dev/null "$2"
		;;
	clang-tidy)
		clang-tidy --quiet "$2" -- -std=c11 $defines 2>/dev/null
		;;
	cppcheck)
		cppcheck -q --std=c11 --error-exitcode=1 --inline-suppr \
		    --enable=warning,portability,performance \
		    --suppress=missingIncludeSystem \
		    --suppress=ctuuninitvar --suppress=ctuPointerArith \
		    --template='{file}:{line}: {severity}: {message} [{id}]' \
		    $defines "$2"
		;;
	esac 2>&1 || echo "$2: $1 ends with status $?"
}

# one TOOL FILE: the same.  Of what bison and flex made, what is said of the lines
# of policy.y and scan.l: the rest is theirs.
one()
{
	case $2 in
	"$builddir"/grammar/*)
		say "$1" "$2" |
		    grep -E '\.[ly]:[0-9:]+ (warning|error|perf|port)'
		;;
	*) say "$1" "$2" ;;
	esac
}

# xargs runs this script again, with a file for the tool.
if [ -n "${ANALYZE_TOOL-}" ]; then
	one "$ANALYZE_TOOL" "$1"
	exit 0
fi

# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
tap_begin
if [ $# -gt 0 ]; then
	printf '%s\n' "$@"
else
	find format runtime compiler grammar -name '*.c'
	# What bison and flex made lies in the build directory.
	find "$builddir/grammar" -name '*.c'
fi | sort -u >"$tmp/files"
files=$(grep -c . "$tmp/files")

cat >"$tmp/gcc.c" <<'END'
#include <stdlib.h>
void twice(char *text);
void twice(char *text) { free(text); free(text); }
END
cat >"$tmp/clang-tidy.c" <<'END'
#include <stdlib.h>
int number(const char *text);
int number(const char *text) { return atoi(text); }
END
cat >"$tmp/cppcheck.c" <<'END'
int last(int n);
int last(int n) { int values[4] = { n, n, n, n }; return values[4]; }
END
# For clang-tidy, which looks for it beside the file.
cp .clang-tidy "$tmp"

# noticed TOOL WORD: it objects to its file, and to what WORD tells.
noticed()
{
	if one "$1" "$tmp/$1.c" | grep -q "$2"; then
		tap_ok "$1 notices a mistake"
	else
		tap_not_ok "$1 notices a mistake" "$(one "$1" "$tmp/$1.c")"
	fi
}

while read -r tool word; do
	if ! command -v "$tool" >/dev/null; then
		tap_lacks "$tool" "it is not here"
		continue
	fi
	noticed "$tool" "$word"
	begin=$(date +%s)
	tr '\n' '\0' <"$tmp/files" |
	    ANALYZE_TOOL=$tool xargs -0 -P "${ANALYZE_JOBS:-$(nproc)}" -n 1 \
		tests/meta/analyze.sh >"$tmp/said" 2>&1 ||
	    echo "xargs failed" >>"$tmp/said"
	tap_empty "$tool: $files files in $(($(date +%s) - begin)) s" \
	    "$(cat "$tmp/said")"
done <<'END'
gcc analyzer-double-free
clang-tidy cert-err34-c
cppcheck arrayIndexOutOfBounds
END
tap_done
