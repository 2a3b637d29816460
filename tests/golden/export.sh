#!/bin/sh
# sbxc export -O systemd: the unit beside what is expected; that systemd reads
# each line as it is meant, and no text of a policy becomes a line of its own.
#
#	tests/golden/export.sh --update	rewrite what is expected

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
here=$srcdir/tests/golden/export
tap_begin
cp "$here"/unit.sbx "$tmp"
cd "$tmp" || exit 99

unit()
{
	"$SBXC" export -O systemd --arch x86_64 -w /src/app --home /home/ada \
	    "$@" unit.sbx
}

unit >out 2>&1
tap_is 'what is lost is an error' 1 $?
tap_empty 'and nothing is written' "$(grep Service out)"
unit --lossy >unit.conf 2>unit.err
tap_is 'with --lossy it is written' 0 $?
for file in unit.conf unit.err; do
	[ "${1-}" != --update ] || cp "$file" "$here"
	tap_empty "$file: as it was" "$(diff -u "$here/$file" $file 2>&1)"
done
tap_empty 'each line is a comment, a setting or the section' \
    "$(grep -vE '^(#|[A-Z][A-Za-z]*=|\[Service\]$)' unit.conf)"

if command -v systemd-analyze >/dev/null; then
	# It says nothing of a unit that it reads whole, but for the machine.
	{
		printf '[Unit]\nDescription=sbx\n'
		cat unit.conf
		printf 'ExecStart=/bin/true\n'
	} >sbx-export.service
	said()
	{
		systemd-analyze verify "$tmp/$1" 2>&1 | grep -F "$1:"
	}
	tap_empty 'systemd reads it without a word' "$(said sbx-export.service)"
	sed 's/^LockPersonality=yes/LockPersonality=perhaps/' \
	    sbx-export.service >sbx-bad.service
	tap_found 'systemd tells a bad line' "$(said sbx-bad.service)"
else
	tap_skip 'systemd reads it without a word' 'no systemd-analyze'
fi
tap_done
