#!/bin/sh
# sbx-proxy as nobody but sbxrun starts it, as TAP: what it was not given it says,
# and ends.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

tap_begin "${TMPDIR-/tmp}"
cd "$tmp" || exit 99
proxy=${builddir:?}/sbx-proxy
if [ ! -x "$proxy" ]; then
	tap_skip 'sbx-proxy' 'it was not built'
	tap_done
	exit
fi

# policy NAME STATEMENT
policy()
{
	printf 'sbx 1\nprofile p extends workspace-write {\n%s\n}\n' "$2" \
	    >"$1.sbx"
	"$SBXC" "$1.sbx" -o "$1.bin" || exit 99
}

policy names 'allow network domain "example.org"'
policy path 'allow network proxy unix /nonexistent/proxy.sock'
policy none 'deny read /nonexistent'
: >empty
# The longest that there may be, and one byte more.
truncate -s 4194304 longest
truncate -s 4194305 longer

# refuses NAME TEXT FILE WORD...: with the file as the policy.
refuses()
{
	name=$1 text=$2 file=$3
	shift 3
	said=$(timeout 60 "$proxy" "$@" 2>&1 3<"$file" 4<&- 5<&- 6<&- 7<&- \
	    </dev/null)
	status=$?
	tap_is "$name" "125 sbx-proxy: $text" "$status ${said%%: [A-Z]*}"
}

refuses 'no words' 'sbxrun starts this program' names.bin
refuses 'a level that it has not' 'sbxrun starts this program' names.bin \
    minimal
refuses 'a word too many' 'sbxrun starts this program' names.bin full a b
refuses 'an empty policy' 'descriptor 3 is not a policy' empty full
refuses 'one that is too long' 'descriptor 3 is not a policy' longer full
refuses 'one that is not' 'it is not a compiled policy' longest full
for level in full standard; do
	refuses "$level: no socket" 'a socket was not handed over' names.bin \
	    $level
done
refuses 'standard has a way in any case' 'a socket was not handed over' \
    none.bin standard
refuses 'a socket by path without its path' \
    "the path of the proxy's socket is missing, or longer than a socket's can be" \
    path.bin full
refuses 'with one that is too long' \
    "the path of the proxy's socket is missing, or longer than a socket's can be" \
    path.bin full "/$(printf '%0107d' 0)"
refuses 'with one that is not' 'a socket was not handed over' path.bin full \
    "/$(printf '%0106d' 0)"
tap_done
