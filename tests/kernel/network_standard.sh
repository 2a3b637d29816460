#!/bin/sh
# TCP by address and by name at level standard, as TAP: in a network namespace
# with addresses that count as public; as this user and, started by root, as an
# ordinary one too.  tests/kernel/network.sh has the tools that people use.

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
	exec unshare -mn "$0" inside
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
tap_programs "$SBXRUN" "$SBXC"
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
	tap_until grep -q . "$base/ready-$2"
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
	    "$base/tcp.bin" -- "$@" 2>&1 </dev/null |
	    grep -v '^sbxrun: network: refused' | tail -n 1)
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

# --- names: a server of HTTP, and what leads to it -----------------------------

mkdir "$base/names" "$base/standin" "$base/www"
install -m 755 "$SBXC" "$base/names/sbxc"
install -m 755 "$SBXRUN" "$base/names/sbxrun"
install -m 755 "$SBXRUN" "$base/standin/sbxrun"
install -m 755 "$builddir/sbx-proxy" "$base/names/sbx-proxy"
install -m 755 "$builddir/tests/kernel/standin" "$base/standin/sbx-proxy"
install -m 755 "$builddir/tests/kernel/knock" "$base/knock"
echo hello >"$base/www/hello"
cat >"$base/hosts" <<-'HOSTS'
	127.0.0.1 localhost
	11.22.33.44 one.example
	11.22.33.45 two.example
	11.22.33.45 three.example
	127.0.0.1 here.example
HOSTS
echo 'hosts: files' >"$base/nsswitch.conf"
chmod 755 "$base"
for file in hosts nsswitch.conf; do
	[ ! -e /etc/$file ] || mount --bind "$base/$file" /etc/$file || exit 99
done
policy names workspace-write "allow exec $base/knock" \
    'allow network domain { one.example two.example here.example }'
if command -v curl >/dev/null && [ -x /usr/bin/python3 ]; then
	(cd "$base/www" && exec /usr/bin/python3 -m http.server 80 \
	    --bind 0.0.0.0 >/dev/null 2>&1) &
	servers="$servers $!"
	tap_until curl -s -o "$base/got" http://one.example/hello || exit 99
	web=yes
else
	web=
fi

# named DIRECTORY COMMAND...: with the sbx-proxy that is in this directory.
named()
{
	named_by=$1
	shift
	(cd "$ws" && as "$uid" timeout 300 "$base/$named_by/sbxrun" -l standard \
	    "$base/names.bin" -- "$@" 2>"$base/err" </dev/null)
}

# Where sbx-proxy listens: nobody else does on such a port of 127.0.0.1.
proxy_port()
{
	printf '%d' "0x$(awk '$4 == "0A" && $2 ~ /^0100007F:/ {
		split($2, at, ":"); print at[2] }' /proc/net/tcp |
		grep -vxE '1770|1771|0C38' | head -n 1)"
}

# Whom nobody announced is closed, wherever he comes from.
stranger()
{
	rm -f "$ws/up" "$ws/done"
	# shellcheck disable=SC2016  # the inner shell's
	named names sh -c 'curl -sS http://one.example/hello; : >up
		tries=0
		until [ -e done ] || [ $tries -gt 600 ]; do
			tries=$((tries + 1)); sleep 0.1; done
		curl -sS http://two.example/hello' >"$base/inside" &
	running=$!
	tap_until test -e "$ws/up"
	port=$(proxy_port)
	for from in 127.0.0.1 127.0.0.2; do
		got=$(curl -sS --interface $from -m 20 \
		    -x "http://127.0.0.1:$port" http://one.example/hello 2>&1)
		case $port:$got in
		0:* | *hello*) tap_not_ok "uid $uid: a stranger from $from" \
		    "port $port: $got" ;;
		*) tap_ok "uid $uid: a stranger from $from is closed" ;;
		esac
	done
	: >"$ws/done"
	wait $running
	tap_is "uid $uid: and the sandbox is served before and after" \
	    'hello hello' "$(tr '\n' ' ' <"$base/inside" | sed 's/ $//')"
}

by_name()
{
	for name in one two; do
		tap_is "uid $uid: $name.example" hello \
		    "$(named names curl -sS http://$name.example/hello)"
	done
	tap_found "uid $uid: a third name is refused" \
	    "$(named names curl -sS http://three.example/hello |
		grep 'no rule allows it')"
	tap_is "uid $uid: and stderr says so" 1 \
	    "$(grep -c 'refused three.example:80 (no rule)' "$base/err")"
	tap_empty "uid $uid: a name that is a private address" \
	    "$(named names curl -sS http://here.example/hello | grep hello)"
	tap_found "uid $uid: past the proxy nothing is found" \
	    "$(named names sh -c 'curl -sS --noproxy "*" -m 20 \
		http://11.22.33.44/hello 2>&1' | grep -v hello)"
	tap_found "uid $uid: -n says what is reached" "$(
	    cd "$ws" && as "$uid" "$base/names/sbxrun" -l standard -n \
		"$base/names.bin" -- true | grep '^network selected hosts')"
	as_log=$ws/log
	rm -f "$as_log"
	(cd "$ws" && as "$uid" "$base/names/sbxrun" -l standard --status-fd 7 \
	    "$base/names.bin" -- curl -sS http://three.example/hello \
	    >/dev/null 2>&1) 7>"$as_log"
	tap_is "uid $uid: and so does the receipt" 1 "$(grep -c \
	    '"event":"network".*"name":"three.example","port":80,"verdict":"no rule"' \
	    "$as_log")"
	stranger
}

# What the supervisor itself refuses is told as what sbx-proxy refuses is.
refused_here()
{
	as_log=$ws/log
	rm -f "$as_log"
	for where in '11.22.33.44 5433' '127.0.0.1 6001' '11.23.0.8 80'; do
		# shellcheck disable=SC2086  # two words
		(cd "$ws" && as "$1" "$base/sbxrun" -l standard --status-fd 7 \
		    "$base/tcp.bin" -- ./probe greet $where >/dev/null \
		    2>>"$base/err-$1" 7>>"$as_log")
	done
	tap_is "uid $1: refused addresses are told with the rule" \
	    'connect 11.22.33.44:5433 host tcp 6001' \
	    "$(sed -n 's/.*"verdict":"no rule".*"fix":"allow network \([^"]*\)".*/\1/p' \
		"$as_log" | tr '\n' ' ' | sed 's/ $//')"
	tap_is "uid $1: and a denied one with the rule that denies it" 1 \
	    "$(grep -c '"name":"11.23.0.8","port":80,"verdict":"denied".*"source":"[^"]*tcp.sbx:' \
		"$as_log")"
	tap_is "uid $1: and on stderr" 3 \
	    "$(grep -c 'sbxrun: network: refused 1[0-9.]*:[0-9]* (' \
		"$base/err-$1")"
}

# A program in its place that dies when it is told to.
deaths()
{
	# shellcheck disable=SC2016  # the inner shell's
	answers=$(named standin sh -c 'for i in 1 2 3 4 5 6; do
		"$0" tcp 127.0.0.1 3128; "$0" tcp 127.0.0.1 3128 die; done' \
	    "$base/knock")
	tap_is "uid $uid: a proxy that dies is started again, not for ever" \
	    '4 1' "$(echo "$answers" | grep -c '^127') $(grep -c \
		'keeps ending; the network is shut' "$base/err")"
}

missing()
{
	(cd "$ws" && as "$uid" "$base/sbxrun" -l standard "$base/names.bin" -- \
	    true 2>"$base/err")
	tap_is "uid $uid: without sbx-proxy the run is refused" '125 1' \
	    "$? $(grep -c 'the program sbx-proxy' "$base/err")"
}

# published UID ADDRESS SECONDS: a server inside, at the port that is published;
# whether it is reached by 127.0.0.1 and by another address of the machine, within
# so many seconds.
published()
{
	rm -f "$ws/ready" "$ws/done"
	# shellcheck disable=SC2016  # the inner shell's
	run "$1" sh -c './probe serve-at "$0" 3000 >ready &
	    tries=0; until [ -e done ] || [ $tries -gt 1200 ]; do
		tries=$((tries + 1)); sleep 0.05; done' "$2" >/dev/null &
	running=$!
	tap_until grep -q . "$ws/ready"
	echo "$(timeout "$3" "$base/probe" greet 127.0.0.1 3000)" \
	    "$(timeout "$3" "$base/probe" greet 11.22.33.44 3000)"
	: >"$ws/done"
	wait $running
}

names()
{
	uid=$1
	[ -z "$web" ] || by_name
	deaths
	missing
}

# --- by address ------------------------------------------------------------------

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
		# These lead to servers of the sandbox, of which there are none.
		held "$1" ECONNREFUSED $how 127.0.0.2 6000
		held "$1" ECONNREFUSED $how :: 80
		held "$1" ECONNREFUSED $how ::1 80
		held "$1" EACCES $how fd00:1::5 81
		held "$1" EACCES $how 11.23.0.8 80
		# A server of somebody's at the port that stands for the proxy,
		# and that port on another address.
		held "$1" ECONNREFUSED $how 127.0.0.1 3128
		held "$1" EACCES $how 11.22.33.44 3128
	done
	held "$1" EACCES greet-switch 11.22.33.44 5432 11.22.33.45 5432
	held "$1" EACCES greet-switch 127.0.0.1 6000 127.0.0.1 6001
	held "$1" EAFNOSUPPORT greet-mixed 11.22.33.44 5432
	held "$1" EAFNOSUPPORT greet-mixed fd00:1::5 80
	held "$1" EOPNOTSUPP fastopen 11.22.33.44 5432
	# A route in the packets would lead them to another machine.
	for option in '0 4' '41 57' '41 5' '41 6'; do
		# shellcheck disable=SC2086  # words
		held "$1" EPERM set-route $option
	done
	held "$1" EACCES socket inet stream mptcp
	held "$1" EACCES socket inet dgram
	held "$1" EACCES socket inet6 dgram
	held "$1" EACCES socket inet raw
	held "$1" ok listen-at 127.0.0.1 3000
	# For itself it listens anywhere: inside.sh.
	held "$1" ok listen-at 127.0.0.1 3001
	held "$1" EADDRINUSE listen-at 127.0.0.1 6000
	tap_is "uid $1: a published server is on 127.0.0.1" 'ok ECONNREFUSED' \
	    "$(published "$1" 127.0.0.1 60)"
	tap_is "uid $1: one on all addresses is nobody's outside" ' ' \
	    "$(published "$1" 0.0.0.0 2)"
	held "$1" ok unix-inside inside
	[ -z "$silent" ] || held "$1" ok greet-crowd $silent 80 11.22.33.44 5432
	refused_here "$1"
	names "$1"
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
