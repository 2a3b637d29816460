#!/bin/sh
# Every C file has the layout of .clang-format.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
tap_begin

# Other versions have other habits.
if ! clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
	tap_skip "the layout of C files" "clang-format 14 is not installed"
	tap_done
	exit
fi

# badly FILE...: what is not laid out as it should be.
badly()
{
	clang-format --dry-run -Werror "$@" 2>&1 | grep -A 2 ': error: '
}

# What bison, flex and awk made is here if it was built here.
cd "$srcdir" || exit 99
find format compiler grammar runtime tests bench -name '*.[ch]' \
    ! -path grammar/policy.c ! -path grammar/policy.h ! -path grammar/scan.c \
    ! -name builtin.c >"$tmp/files"
for room in $(sed 's,/[^/]*$,,' "$tmp/files" | sort -u); do
	# shellcheck disable=SC2046  # names without blanks
	tap_empty "$room" "$(badly $(grep "^$room/[^/]*\$" "$tmp/files"))"
done

cp .clang-format "$tmp"
printf 'int f(void) {\n  return 1; }\n' >"$tmp/bad.c"
tap_found "the check can fail" "$(badly "$tmp/bad.c")"
tap_done
