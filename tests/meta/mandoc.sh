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

# What grew until nobody read it: words of a page as it is shown, lines of a text.
long()
{
	for page in sbxrun sbxc; do
		words=$("${MANDOC:-mandoc}" "$srcdir/man/$page.1" | wc -w)
		[ "$words" -le 3000 ] || echo "$page(1): $words words"
	done
	for text in README.md:150 NEWS:40; do
		lines=$(wc -l <"$srcdir/${text%:*}")
		[ "$lines" -le "${text#*:}" ] || echo "${text%:*}: $lines lines"
	done
}

tap_begin
tap_empty "sbxrun(1), sbxc(1), README and NEWS are short" "$(long)"
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
