#!/bin/sh
# One version: configure.ac's is what NEWS tells of and what both programs say.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

version=$(sed -n 's/^AC_INIT(\[sbx\], \[\(.*\)\])$/\1/p' "$srcdir/configure.ac")

tap_is "NEWS begins with this version" "sbx $version" \
    "$(head -n 1 "$srcdir/NEWS")"
tap_is "sbxc --version" "sbxc $version" \
    "$("${SBXC:-$builddir/sbxc}" --version 2>&1 | head -n 1)"
tap_is "sbxrun --version" "sbxrun $version" \
    "$("${SBXRUN:-$builddir/sbxrun}" --version 2>&1 | head -n 1)"
tap_done
