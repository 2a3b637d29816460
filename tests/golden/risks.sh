#!/bin/sh
# What `sbxc check` says of a rule about each place or host that gives away more than
# itself, as TAP.  They are those of risks.def and hosts.def in compiler/tables,
# written down once more: a row that is lost there is not lost here.
#
#	tests/golden/risks.sh --update	rewrite what is expected

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
here=$srcdir/tests/golden/risks
tap_begin

# told PLACES: a policy for each line, since no more than fifty things are told of
# one.
told()
{
	count=0
	rm -f "$tmp"/*.sbx
	while read -r platform right place; do
		count=$((count + 1))
		printf 'sbx 1\nprofile p { on %s { allow %s %s } }\n' \
		    "$platform" "$right" "$place" \
		    >"$tmp/$(printf '%03d' $count)-$platform.sbx"
	done <"$1"
	(cd "$tmp" && "$SBXC" check -f gcc -w /srv/w --home=/home/u ./*.sbx 2>&1) | sed 's/^[^ ]*-//'
}

if [ "${1-}" = --update ]; then
	told "$here/places" >"$here/expected"
	exit
fi

told "$here/places" >"$tmp/got"
tap_empty 'each place is told' "$(diff -u "$here/expected" "$tmp/got")"
sed 2d "$here/places" >"$tmp/fewer"
told "$tmp/fewer" >"$tmp/got"
tap_found 'one that is not told is seen' \
    "$(diff -u "$here/expected" "$tmp/got")"
tap_done
