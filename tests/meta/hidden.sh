#!/bin/sh
# The table of characters that nobody sees, in format/utf8.c, beside the Unicode
# of perl, which may be older or newer.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
tap_begin

compare()
{
	perl "$srcdir/tests/meta/hidden.pl" "$1" || echo "perl: status $?"
}

tap_empty "the table has what is hidden, and nothing else" \
    "$(compare "$srcdir/format/utf8.c")"
sed '/{ 0xfe00,/d' "$srcdir/format/utf8.c" >"$tmp/less.c"
tap_found "a row that is missing is seen" "$(compare "$tmp/less.c")"
sed 's/{ 0x00ad, 0x00ad }/{ 0x00ad, 0x00ae }/' "$srcdir/format/utf8.c" \
    >"$tmp/more.c"
tap_found "a row that is too long is seen" "$(compare "$tmp/more.c")"

# Each of them is refused in a policy, in a path and in a comment.
faults=
for code in FE00 FE0F E0100 E01EF 2800 1D173 1D17A 1BCA0 E0FFF 202E 00AD 200B \
    0600 13430 3164 FEFF; do
	character=$(perl -CO -e "print chr 0x$code")
	for line in "deny read \"/srv/keys$character\"" "# $character"; do
		printf 'sbx 1\nprofile p {\n    %s\n}\n' "$line" >"$tmp/p.sbx"
		"$SBXC" check "$tmp/p.sbx" 2>&1 |
			grep -q "invisible character U+$code " ||
			faults="$faults U+$code"
	done
done
tap_empty "they are refused" "$faults"
tap_done
