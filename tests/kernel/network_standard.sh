#!/bin/sh
# TCP by address at level standard, as TAP: in a network namespace with addresses
# that count as public; as this user and, started by root, as an ordinary one too.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

if [ "${1-}" != inside ]; then
	command -v ip >/dev/null || { echo "1..0 # SKIP no ip(8)"; exit 77; }
	net=-n
	[ "$(id -u)" -eq 0 ] || net=-rn
	unshare $net true 2>/dev/null ||
	    { echo "1..0 # SKIP no network namespace"; exit 77; }
	exec unshare $net "$0" inside
fi

ip link set lo up
ip address add 11.22.33.44/32 dev lo
ip address add 11.22.33.45/32 dev lo
ip -6 address add fd00:1::5/128 dev lo nodad
ip route add 11.22.33.99/32 dev lo 2>/dev/null
tap_begin /var/tmp
base=$tmp
servers=
# shellcheck disable=SC2086
stop_servers() { [ -z "$servers" ] || kill $servers 2>/dev/null; }
tap_at_end=stop_servers
tap_programs "$SBXRUN"
cp "$PROBE" "$base/probe"
chmod 755 "$base/probe"
# A server does not answer at all where packets are lost.
ip link add dummy type dummy 2>/dev/null && ip link set dummy up &&
    ip address add 11.23.0.1/24 dev dummy && silent=11.23.0.9 || silent=
policy tcp workspace-write 'allow network connect 11.22.33.44:5432' \
    'allow network connect [fd00:1::/64]:{ 80 443 }' \
    'allow network connect 11.23.0.0/24:80' \
    'deny network connect 11.23.0.8:80' \
    'allow network host tcp 6000' 'allow network publish tcp 3000'

serve()
{
	"$base/probe" serve-at "$1" "$2" >"$base/ready-$2" 2>&1 &
	servers="$servers $!"
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		! grep -q . "$base/ready-$2" || return 0
		sleep 0.1
	done
}
serve 11.22.33.44 5432
serve 11.22.33.44 5433
serve 11.22.33.45 5432
serve 127.0.0.1 6000
serve 127.0.0.1 6001
serve 127.0.0.1 3128
serve 127.0.0.2 6000
serve fd00:1::5 80
serve ::1 80

# run UID COMMAND...
run()
{
	run_uid=$1
	shift
	(cd "$ws" && as "$run_uid" "$base/sbxrun" -l standard \
	    "$base/tcp.bin" -- "$@" 2>&1 </dev/null | tail -n 1)
}

held()
{
	uid=$1 answer=$2
	shift 2
	got=$(run "$uid" ./probe "$@")
	if printf '%s' "$got" | grep -Eqx "$answer"; then
		tap_ok "uid $uid: $*"
	else
		tap_not_ok "uid $uid: $*" "wanted $answer, got $got"
	fi
}

each()
{
	home=$base/home-$1 ws=$base/home-$1/ws
	mkdir -p "$ws"
	cp "$PROBE" "$ws/probe"
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$home"
	chmod 755 "$base"
	for how in greet greet-later; do
		held "$1" ok $how 11.22.33.44 5432
		held "$1" ok $how ::ffff:11.22.33.44 5432
		held "$1" ok $how fd00:1::5 80
		held "$1" ok $how 127.0.0.1 6000
		held "$1" ECONNREFUSED $how fd00:1::5 443
		held "$1" EACCES $how 11.22.33.44 5433
		held "$1" EACCES $how 11.22.33.45 5432
		held "$1" EACCES $how 127.0.0.1 6001
		held "$1" EACCES $how 127.0.0.2 6000
		held "$1" EACCES $how 0.0.0.0 6000
		held "$1" EACCES $how :: 80
		held "$1" EACCES $how ::1 80
		held "$1" EACCES $how fd00:1::5 81
		held "$1" EACCES $how 11.23.0.8 80
		# A server of somebody's at the port that stands for the proxy,
		# and that port on another address.
		held "$1" ECONNREFUSED $how 127.0.0.1 3128
		held "$1" EACCES $how 11.22.33.44 3128
	done
	held "$1" EACCES greet-switch 11.22.33.44 5432 11.22.33.45 5432
	held "$1" EACCES greet-switch 127.0.0.1 6000 127.0.0.1 6001
	held "$1" EOPNOTSUPP fastopen 11.22.33.44 5432
	held "$1" EACCES socket inet stream mptcp
	held "$1" EACCES socket inet dgram
	held "$1" EACCES socket inet6 dgram
	held "$1" EACCES socket inet raw
	held "$1" ok listen-at 127.0.0.1 3000
	held "$1" EACCES listen-at 0.0.0.0 3000
	held "$1" EACCES listen-at 11.22.33.44 3000
	held "$1" EACCES listen-at 127.0.0.1 3001
	held "$1" EACCES listen-at 127.0.0.1 6000
	held "$1" EACCES listen-tcp
	held "$1" ok unix-inside inside
	[ -z "$silent" ] || held "$1" ok greet-crowd $silent 80 11.22.33.44 5432
}

# The plan says so before it is done.
tap_found "-n says who connects" "$("$SBXRUN" -l standard -n "$base/tcp.bin" \
    2>&1 | grep 'landlock and the supervisor, which connects')"

# Without a listener TCP stays shut.
without_listener()
{
	cp "$SBXRUN_TEST" "$base/sbxrun-test"
	got=$(cd "$ws" && as "$1" env SBX_TEST_NO_LISTENER=1 \
	    "$base/sbxrun-test" -l standard "$base/tcp.bin" -- \
	    ./probe greet 11.22.33.44 5432 2>&1)
	tap_is "uid $1: no listener, no TCP" EACCES \
	    "$(printf '%s\n' "$got" | tail -n 1)"
	tap_found "uid $1: no listener: that is said" "$(
	    printf '%s' "$got" | grep 'all TCP stays shut')"
}

each "$(id -u)"
without_listener "$(id -u)"
[ "$(id -u)" -ne 0 ] || ! grep -q " 4294967295$" /proc/self/uid_map ||
    each "$ORDINARY"
for where in '11.22.33.45 5432' '127.0.0.1 6001' '127.0.0.1 3128' '::1 80'; do
	# shellcheck disable=SC2086  # two words
	tap_is "outside: $where" ok "$("$base/probe" greet $where)"
done
tap_done
