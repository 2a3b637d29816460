#!/bin/sh
# What `sbxc diff` says of changes of one line, put to `sbxc why` (asked.pl).

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
tap_begin

perl "$srcdir/tests/golden/asked.pl" "$SBXC" "$tmp" >"$tmp/told" 2>&1
tap_is 'sbxc why confirms what sbxc diff says of one line' \
    'of 4.. questions 0 are answered otherwise' \
    "$(sed '$s/of 4[0-9][0-9] /of 4.. /' "$tmp/told")"
tap_done
