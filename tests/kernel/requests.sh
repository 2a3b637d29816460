#!/bin/sh
# Names whose TLS is ended, as TAP: what sbx-tls makes of requests, and that the
# tools that people use believe it with nothing set for them.  As network.sh.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

tap_begin /var/tmp
for program in openssl python3; do
	command -v "$program" >/dev/null && continue
	tap_lacks 'requests' "no $program here"
	tap_done
	exit
done
if [ ! -x "$builddir/sbx-tls" ]; then
	tap_lacks 'requests' 'no OpenSSL where this was built'
	tap_done
	exit
fi

policy requests workspace-write \
    'allow network domain judged.test { GET /a/** }' \
    'allow network domain third.test with secret npm' \
    'allow network domain tls.test with secret gh as env GH_TOKEN'
ec='ec -pkeyopt ec_paramgen_curve:P-256'
# shellcheck disable=SC2086  # words
{
	openssl req -x509 -newkey $ec -nodes -days 2 -subj /CN=test \
	    -keyout "$tmp/ca.key" -out "$tmp/ca.pem" &&
	openssl req -newkey $ec -nodes -subj /CN=test -keyout "$tmp/key" \
	    -out "$tmp/request.pem"
} 2>/dev/null || exit 99
for name in tls.test judged.test; do
	echo "subjectAltName=DNS:$name" >"$tmp/ext"
	openssl x509 -req -days 2 -in "$tmp/request.pem" -CA "$tmp/ca.pem" \
	    -CAkey "$tmp/ca.key" -CAcreateserial -extfile "$tmp/ext" \
	    -out "$tmp/$name.pem" 2>/dev/null || exit 99
done
export builddir
python3 "$srcdir/tests/kernel/requests.py" "$tmp/requests.bin" "$tmp" \
    >"$tmp/tap" 2>"$tmp/tap.err"
if grep -q '^1\.\.' "$tmp/tap" && ! grep -q '^not ok' "$tmp/tap"; then
	tap_ok "$(grep -c '^ok' "$tmp/tap") of sbx-tls by itself"
else
	tap_not_ok 'sbx-tls by itself' "$(grep -A1 '^not ok' "$tmp/tap")
$(tail -n 5 "$tmp/tap.err")"
fi
# With what it says by itself, behind our own cases.
ENDED=1 sh "$srcdir/tests/kernel/network.sh" curl wget \
    >"$tmp/tools" 2>"$tmp/tools.err"
while read -r result; do
	case $result in
	"ok "*) tap_ok "${result#ok * - }" ;;
	"not ok "*) tap_not_ok "${result#not ok * - }" \
	    "$(cat "$tmp/tools" "$tmp/tools.err")" ;;
	esac
done <"$tmp/tools"
tap_done
