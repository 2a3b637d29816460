#!/bin/sh
# Random rules about hosts and sockets: what `sbxc why` says of a name, an address,
# a service of the host and a socket is what the kernel does under sbxrun, at level
# standard and full.  As TAP.
#
#	tests/model/reach.sh [COUNT [SEED]]
#
# In a network namespace with addresses that count as public, and files of names.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

if [ "${1-}" != inside ]; then
	command -v ip >/dev/null || { echo "1..0 # SKIP no ip(8)"; exit 0; }
	# In a user namespace nobody sees that root owns the way to the policy.
	[ "$(id -u)" -eq 0 ] ||
	    { echo "1..0 # SKIP for root, who tries it as another user"; exit 0; }
	unshare -mn true 2>/dev/null ||
	    { echo "1..0 # SKIP no network namespace"; exit 0; }
	exec unshare -mn "$0" inside "$(readlink /proc/self/ns/net)" "$@"
fi
# What follows changes addresses and files of the machine that it runs on.
case ${2-} in
'' | "$(readlink /proc/self/ns/net)") exit 99 ;;
esac
count=${3:-$(tap_rounds 30)}
seed=${4:-1}

tap_begin /var/tmp
server=
stop_server() { [ -z "$server" ] || kill "$server" 2>/dev/null; }
tap_at_end=stop_server
tap_programs "$SBXRUN" "$SBXC" "$builddir/sbx-proxy" \
    "$builddir/tests/model/reach"

ip link set lo up
{
	echo 127.0.0.1 localhost
	number=0
	for name in one.test a.one.test b.a.one.test two.test three.other other; do
		number=$((number + 1))
		echo "11.22.44.$number $name.example"
		ip address add "11.22.44.$number/32" dev lo
	done
	for name in priv.test x.priv.test; do
		number=$((number + 1))
		echo "10.9.0.$number $name.example"
		ip address add "10.9.0.$number/32" dev lo
	done
} >"$tmp/hosts"
for address in 11.22.33.1 11.22.33.2 11.22.33.129 11.22.34.1 10.2.0.1 10.2.1.1; do
	ip address add "$address/32" dev lo
done
six=yes
for address in fd00:1::1 fd00:1::2 fd00:2::1; do
	ip -6 address add "$address/128" dev lo nodad 2>/dev/null || six=
done
echo 'hosts: files dns' >"$tmp/nsswitch.conf"
for file in hosts nsswitch.conf; do
	[ ! -e /etc/$file ] || mount --bind "$tmp/$file" /etc/$file || exit 99
done

sockets=$tmp/out
mkdir -p "$sockets/a/b" "$sockets/c"
chmod -R a+rX "$tmp"
"$tmp/reach" serve "$sockets" "$tmp/ready" &
server=$!
tap_until test -e "$tmp/ready" || exit 99
for uid in 0 "$ORDINARY"; do
	home=$tmp/home-$uid
	mkdir -p "$home/ws"
	cp "$tmp/reach" "$home/ws"
	chown -R "$uid" "$home"
done

# expected LEVEL: what sbxc says, a word a question.
expected()
{
	while read -r question; do
		# shellcheck disable=SC2086  # words
		"$SBXC" why -l "$1" -w "$home/ws" --home="$home" \
		    "$tmp/reach.bin" $question 2>&1 </dev/null |
		    sed -n '1s/^\(allowed\|denied\): .*/\1/p; 1s/^sbxc: .*/&/p'
	done <"$tmp/questions"
}

# found LEVEL: what the kernel does.
found()
{
	(cd "$home/ws" && as "$uid" timeout 120 "$tmp/sbxrun" -l "$1" \
	    "$tmp/reach.bin" -- ./reach try "$1" <"$tmp/questions" \
	    2>"$tmp/err")
}

# control: outside, all is open.
control()
{
	"$tmp/reach" draw 1 "$sockets" "$tmp/reach.sbx" "$tmp/questions"
	[ -n "$six" ] || sed -i '/fd00/d' "$tmp/questions"
	tap_is "outside: all answer" "$(wc -l <"$tmp/questions") allowed" \
	    "$("$tmp/reach" try full <"$tmp/questions" | sort | uniq -c |
		sed 's/^ *//')"
}

control
tap_levels standard full
allowed=0
number=0
while [ $number -lt "$count" ]; do
	drawn=$((seed + number))
	number=$((number + 1))
	uid=0
	[ $((number % 2)) -eq 0 ] || uid=$ORDINARY
	home=$tmp/home-$uid
	"$tmp/reach" draw $drawn "$sockets" "$tmp/reach.sbx" "$tmp/questions"
	[ -n "$six" ] || sed -i '/fd00/d' "$tmp/questions"
	if ! "$SBXC" "$tmp/reach.sbx" -o "$tmp/reach.bin" 2>"$tmp/err"; then
		tap_not_ok "seed $drawn: it compiles" \
		    "$(grep error "$tmp/err"; cat "$tmp/reach.sbx")"
		continue
	fi
	for level in $levels; do
		expected "$level" >"$tmp/expected"
		found "$level" >"$tmp/found"
		paste -d ' ' "$tmp/expected" "$tmp/found" "$tmp/questions" |
		    awk '$1 != $2' >"$tmp/differ"
		allowed=$((allowed + $(grep -c '^allowed' "$tmp/found")))
		tap_empty "seed $drawn: uid $uid: level $level" "$(
		    [ ! -s "$tmp/differ" ] ||
		    cat "$tmp/differ" "$tmp/reach.sbx" "$tmp/err")"
	done
done
tap_found "what is not so is seen" "$("$tmp/reach" try full <"$tmp/questions" |
    paste -d ' ' "$tmp/expected" - | awk '$1 != $2')"
tap_found "something was allowed" "$([ $allowed -eq 0 ] || echo yes)"
tap_done
