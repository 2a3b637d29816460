#!/bin/sh
# What `sbxc diff` says of changes of one line, put to `sbxc why` (asked.pl).

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
tap_begin

# All of the changes, or a part of them.
every=-4 few=1
[ "$(tap_rounds 100)" -lt 100 ] || every=-1 few=4
perl "$srcdir/tests/golden/asked.pl" $every "$SBXC" "$tmp" >"$tmp/told" 2>&1
tap_is 'sbxc why confirms what sbxc diff says of one line' \
    'of some hundred questions 0 are answered otherwise' \
    "$(sed "\$s/of ${few}[0-9][0-9] /of some hundred /" "$tmp/told")"
tap_done
