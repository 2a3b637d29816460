#!/bin/sh
# Every page is clean under mandoc's lint, and the links of `make html` lead somewhere.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

pages=$(cd "$srcdir" && ls man/*.[1-9] 2>/dev/null)
if ! command -v "${MANDOC:-mandoc}" >/dev/null; then
	tap_skip "the manual pages are clean" "mandoc is not installed"
	tap_done
	exit
fi
for page in $pages; do
	tap_empty "$page" "$(cd "$srcdir" && "${MANDOC:-mandoc}" -Tlint \
	    -Wwarning "$page" 2>&1)"
done

tap_begin
if command -v python3 >/dev/null; then
	site=$srcdir/docs/site/site.py
	tap_empty "the site has no broken link" \
	    "$(python3 "$site" "$srcdir" "$tmp/site" 2>&1)"
else
	tap_skip "the site has no broken link" "python3 is not installed"
fi
bad=$tmp/bad.1
printf '.Dd today\n.Dt BAD 1\n.Os\n.Xx\n' >"$bad"
tap_found "the check can fail" \
    "$("${MANDOC:-mandoc}" -Tlint -Wwarning "$bad" 2>&1)"
tap_done
