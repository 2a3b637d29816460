#!/bin/sh
# The faults of tests/mutate fit the sources: each stands where its table says,
# once, and names tests that there are.  What the tests make of them is found out
# by tests/mutate/mutate.py, which takes hours.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
mutate=$srcdir/tests/mutate/mutate.py

tap_begin
got=$(python3 "$mutate" --check)
tap_is "each fault fits its file once" 0 "$?"
printf '%s\n' "$got" | sed 's/^/# /'
count=$(printf '%s\n' "$got" | sed -n 's/^\([0-9]*\) faults, .*/\1/p')
tap_empty "there are at least 150" "$([ "$count" -ge 150 ] || echo "$got")"

cat >"$tmp/table" <<'TABLE'
@ format/model.c
? tests/unit/index
# one that does not fit
- there is no such text

# one that fits often
- return
TABLE
got=$(python3 "$mutate" --check --file "$tmp/table")
tap_is "one that fits nowhere is found, and one that fits often" \
    '2 faults, 2 errors' "$(printf '%s\n' "$got" | tail -n 1)"
tap_done
