#!/bin/sh
# The ways out of a network of the sandbox's own, as TAP: what leads out, what
# does not, and what is left when one of those who serve it dies.  Who serves is
# a program that stands in for sbx-proxy; tests/kernel/network.sh has the real
# one.  As this user and, started by root, as an ordinary one; in a run by itself
# and in a session.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

# Not below /tmp: that is the scratch directory at level full.
tap_begin /var/tmp
mkdir "$tmp/bin" "$tmp/lone"
install -m 755 "$SBXRUN" "$tmp/bin/sbxrun"
install -m 755 "$SBXRUN" "$tmp/lone/sbxrun"
install -m 755 "$builddir/tests/kernel/standin" "$tmp/bin/sbx-proxy"
# A copy of it in memory is known by what is in it.
echo "$tmp" >>"$tmp/bin/sbx-proxy"
install -m 755 "$builddir/tests/kernel/knock" "$tmp/knock"
sbxrun=$tmp/bin/sbxrun

levels=
tap_levels full
if [ -z "$levels" ]; then
	tap_done
	exit
fi

published=$(tap_port 21000)
service=$(tap_port 22000)

common="allow exec $tmp/knock"
policy names workspace-write "$common" \
    'allow network domain { "example.org" "*.example.com" "example.org:22" }'
policy ends workspace-write "$common" \
    'allow network connect 10.2.0.0/16:{ 80 443 }' \
    'deny network connect 10.2.0.0/16:22' \
    'allow network connect [fd00::1]:5432' \
    'allow network connect 10.9.8.7:5432' \
    'deny network connect 10.9.8.8:22'
policy host workspace-write "$common" "allow network host tcp $service"
policy publish workspace-write "$common" \
    "allow network publish tcp $published" 'allow network connect 10.2.3.4:443'
# That of another machine is none here.
here=x86_64 other=aarch64
[ "$(uname -m)" = x86_64 ] || here=aarch64 other=x86_64
for place in '${runtime}' '~' '${where}'; do
	name=$(echo "$place" | tr -d '${}~')
	policy "own-${name:-home}" workspace-write 'param where' "$common" \
	    "on $here { allow network proxy unix $place/proxy.sock }" \
	    "on $other { allow network proxy unix ~/other.sock }"
done
policy loopback workspace-write "$common" 'allow network loopback'

# prepare UID: a home and a workspace.
prepare()
{
	home=$tmp/home-$1
	mkdir -p "$home/ws"
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$home"
	cd "$home/ws" || exit 99
}

# inside POLICY COMMAND...: runs it in a sandbox, alone or in the session.
inside()
{
	in_policy=$1
	shift
	# shellcheck disable=SC2086  # words
	as "$uid" timeout 300 "$sbxrun" $session -l full "$tmp/$in_policy.bin" \
	    -- "$@" 2>"$tmp/err-$uid"
}

# knock POLICY HOW ADDRESS PORT [TEXT]
knock()
{
	knock_policy=$1
	shift
	inside "$knock_policy" "$tmp/knock" "$@"
}

# running: those of our programs that run, but for dead ones that nobody reaps.
running()
{
	find /proc -maxdepth 2 -name exe -lname "$tmp/*" 2>/dev/null |
	    sed 's,/exe$,,'
	find /proc -maxdepth 2 -name exe -lname '/memfd:sbx-proxy*' \
	    2>/dev/null | while read -r running_exe; do
		! cmp -s "$running_exe" "$tmp/bin/sbx-proxy" ||
		    echo "${running_exe%/exe}"
	done
}

none()
{
	[ -z "$(running)" ]
}

# gone: whether all of them end, in a time that no machine takes.
gone()
{
	tap_until none
}

nowhere=unreachable
refused=refused

what_leads_out()
{
	tap_is "$who: the proxy's port" '127.0.0.1 3128' \
	    "$(knock names tcp 127.0.0.1 3128)"
	tap_is "$who: the resolver" '127.0.0.1 53' \
	    "$(knock names udp 127.0.0.1 53)"
	tap_is "$who: the resolver by TCP" '127.0.0.1 53' \
	    "$(knock names tcp 127.0.0.1 53)"
	tap_is "$who: an address of a name" '::ffff:198.19.254.3 443' \
	    "$(knock names tcp 198.19.254.3 443)"
	tap_is "$who: a port of a name" '::ffff:198.18.0.1 22' \
	    "$(knock names tcp 198.18.0.1 22)"
	if grep -q ' lo$' /proc/net/if_inet6 2>/dev/null; then
		tap_is "$who: an address of IPv6 of a name" \
		    '100::c612:1 443' "$(knock names tcp 100::c612:1 443)"
	fi
	tap_is "$who: another port of it" "$refused" \
	    "$(knock names tcp 198.18.0.1 25)"
	tap_is "$who: resolv.conf" 'nameserver 127.0.0.1' \
	    "$(inside names grep -v '#' /etc/resolv.conf)"
}

what_does_not()
{
	tap_is "$who: an address" "$nowhere" \
	    "$(knock names tcp 192.0.2.1 443)"
	tap_is "$who: the proxy's port elsewhere" "$nowhere" \
	    "$(knock names tcp 192.0.2.1 3128)"
	tap_is "$who: another resolver" "$nowhere" \
	    "$(knock names udp 192.0.2.1 53)"
	tap_is "$who: QUIC" "$refused" "$(knock names udp 198.18.0.1 443)"
	tap_is "$who: IPv6" "$nowhere" "$(knock names tcp 2001:db8::1 443)"
	for how in mptcp fast raw; do
		case $(knock names $how 192.0.2.1 443) in
		unreachable | denied) tap_ok "$who: $how" ;;
		*) tap_not_ok "$who: $how" ;;
		esac
	done
}

addresses()
{
	tap_is "$who: in a permitted network" '::ffff:10.2.3.4 443' \
	    "$(knock ends tcp 10.2.3.4 443)"
	tap_is "$who: a permitted address" '::ffff:10.9.8.7 5432' \
	    "$(knock ends tcp 10.9.8.7 5432)"
	tap_is "$who: beside it" "$nowhere" "$(knock ends tcp 10.9.8.8 5432)"
	tap_is "$who: no resolver without names" "$refused" \
	    "$(knock ends udp 127.0.0.1 53)"
	tap_is "$who: no proxy without names" "$refused" \
	    "$(knock ends tcp 127.0.0.1 3128)"
	if grep -q ' lo$' /proc/net/if_inet6 2>/dev/null; then
		tap_is "$who: one of IPv6" 'fd00::1 5432' \
		    "$(knock ends tcp fd00::1 5432)"
	fi
	tap_is "$who: a service of the host" "127.0.0.1 $service" \
	    "$(knock host tcp 127.0.0.1 "$service")"
	tap_is "$who: none where none is named" "$refused" \
	    "$(knock loopback tcp 127.0.0.1 "$service")"
}

# The caller's own are not handed on, and what the policy sets wins.
variables()
{
	by=http://127.0.0.1:3128 direct=localhost,127.0.0.1,::1
	tap_is "$who: variables" "ALL_PROXY=$by
HTTPS_PROXY=$by
HTTP_PROXY=$by
NODE_USE_ENV_PROXY=1
NO_PROXY=$direct
RSYNC_PROXY=127.0.0.1:3128
all_proxy=$by
http_proxy=$by
https_proxy=$by
no_proxy=$direct" "$(http_proxy=http://192.0.2.1 inside names env |
	    grep -i _proxy | sort)"
	tap_is "$who: none without names" '' \
	    "$(inside ends env | grep -i _proxy)"
}

# The path of the user's own proxy, without links; a command must not choose it.
users_proxy()
{
	mkdir -p "$home/run" "$home/real" "$home/ws/shared"
	ln -sfn ../real "$home/run/link"
	ln -sfn ../real "$home/ws/planted"
	[ "$uid" -eq "$(id -u)" ] || chown -h "$uid:$uid" "$home"/* \
	    "$home/run/link" "$home/ws/planted"
	tap_is "$who: a user's proxy in ~" "$home/proxy.sock" \
	    "$(users_path home ../run)"
	end_session
	tap_is "$who: in \${runtime}" "$home/run/proxy.sock" \
	    "$(users_path runtime ../run)"
	end_session
	tap_is "$who: in a parameter, by a link" "$home/real/proxy.sock" \
	    "$(users_path where ../run/link)"
	end_session
	[ -z "$session" ] || return
	: >"$home/proxy.sock"
	tap_is "$who: whether it is there is told" '1 0' "$(
	    for place in runtime home; do
		users_path $place ../run >/dev/null
		grep -c 'own proxy is not there' "$tmp/err-$uid"
	    done | paste -sd ' ')"
	ln -sfn ws/planted/inner "$home/proxy.sock"
	tap_is "$who: not by a link that a command may have made" \
	    '125 ws/planted: a command may have made this link' \
	    "$(refused_path home ../run)"
	rm "$home/proxy.sock"
	tap_is "$who: nor where a command may put it" \
	    '125 ws/shared/proxy.sock: a command may put another socket' \
	    "$(refused_path where shared)"
	long=$home/run/$(printf '%0100d' 0)
	mkdir "$long"
	[ "$uid" -eq "$(id -u)" ] || chown "$uid:$uid" "$long"
	tap_is "$who: nor with a path that no socket has" 125 \
	    "$(refused_path where "$long" | cut -c 1-3)"
	long=$home/run/
	long=$long$(printf "%0$((108 - ${#long} - 11))d" 0)
	mkdir "$long"
	[ "$uid" -eq "$(id -u)" ] || chown "$uid:$uid" "$long"
	tap_is "$who: not even one byte longer" 125 \
	    "$(refused_path where "$long" | cut -c 1-3)"
}

end_session()
{
	# shellcheck disable=SC2086  # words
	[ -z "$session" ] || as "$uid" "$sbxrun" $session --end
}

# users_path POLICY WHERE
users_path()
{
	# shellcheck disable=SC2086  # words
	as "$uid" XDG_RUNTIME_DIR="$home/run" timeout 300 "$sbxrun" $session \
	    -l full -D where="$2" "$tmp/own-$1.bin" -- \
	    "$tmp/knock" tcp 127.0.0.1 3128 path 2>"$tmp/err-$uid"
}

refused_path()
{
	users_path "$@"
	echo "$? $(sed "s,^sbxrun: $home/,,; s/link,.*/link/
	    s/socket or.*/socket/" "$tmp/err-$uid")"
}

all_deaths()
{
	# shellcheck disable=SC2016  # the inner shell's
	answers=$(inside names sh -c 'for i in 1 2 3 4 5 6; do
		$0 tcp 127.0.0.1 3128; $0 tcp 127.0.0.1 3128 die; done' \
	    "$tmp/knock")
	tap_is "$who: a proxy that dies is started again, and not for ever" \
	    4 "$(echo "$answers" | grep -c '^127')"
	tap_is "$who: then whoever connects is refused" "$refused" \
	    "$(echo "$answers" | tail -n 1)"
	tap_is "$who: and that is said" 1 \
	    "$(grep -c 'keeps ending; the network is shut' "$tmp/err-$uid")"
	[ -n "$session" ] || return
	inside names true
	tap_is "$who: to the next command, too" 1 \
	    "$(grep -c 'the network of this session is shut' \
		"$tmp/err-$uid")"
}

left_behind()
{
	knock names tcp 127.0.0.1 3128 fork >/dev/null
	[ -z "$session" ] || as "$uid" "$sbxrun" $session --end
	if gone; then
		tap_ok "$who: nothing is left at the end"
	else
		tap_not_ok "$who: nothing is left at the end" "$(running)"
	fi
}

# The sandbox, the proxy and its child.
killed()
{
	as "$uid" "$sbxrun" -l full "$tmp/publish.bin" -- sleep 1000 \
	    2>/dev/null &
	supervisor=$!
	tries=0
	until [ "$(as "$uid" "$tmp/knock" tcp 127.0.0.1 "$published" fork)" = \
	    "127.0.0.1 $published" ]; do
		tries=$((tries + 1))
		[ $tries -lt 1200 ] || break
		sleep 0.1
	done
	tap_is "$who: a published port" "127.0.0.1 $published" \
	    "$(as "$uid" "$tmp/knock" tcp 127.0.0.1 "$published")"
	tap_is "$who: one that is in use refuses" \
	    "125 sbxrun: publish.sbx:4:31: cannot publish port $published: another program" \
	    "$(inside publish true; echo "$? $(sed 's/, perhaps .*//' \
		"$tmp/err-$uid")")"
	kept=$(for pid in $(running); do
		case $(tr '\0' ' ' <"$pid/cmdline") in
		*"sbxrun -l full"*) find "$pid/fd" -lname '/memfd:sbx-policy*' ;;
		esac
	done 2>/dev/null)
	tap_empty "$who: what was made for the proxy is its alone" "$kept"
	for pid in $(running); do
		case $(cat "$pid/cmdline" 2>/dev/null | tr '\0' ' ') in
		*"sbxrun -l full"*) kill -9 "${pid#/proc/}" ;;
		esac
	done 2>/dev/null
	wait $supervisor 2>/dev/null
	if gone; then
		tap_ok "$who: nothing is left when sbxrun is killed"
	else
		tap_not_ok "$who: nothing is left when sbxrun is killed" \
		    "$(running)"
	fi
	tap_is "$who: and the port is free" "$refused" \
	    "$(as "$uid" "$tmp/knock" tcp 127.0.0.1 "$published")"
}

missing()
{
	as "$uid" "$tmp/lone/sbxrun" -l full "$tmp/names.bin" -- true \
	    2>"$tmp/err-$uid"
	tap_is "$who: without sbx-proxy the run is refused" "125 1" \
	    "$? $(grep -c 'the program sbx-proxy' "$tmp/err-$uid")"
	install -m 777 "$tmp/bin/sbx-proxy" "$tmp/lone/sbx-proxy"
	as "$uid" "$tmp/lone/sbxrun" -l full "$tmp/names.bin" -- true \
	    2>"$tmp/err-$uid"
	tap_is "$who: with one that others may write, too" "125 1" \
	    "$? $(grep -c 'the program sbx-proxy' "$tmp/err-$uid")"
	for mode in '-m 775' '-m 757' '-m 755 -o 4242'; do
		case $mode in
		*-o*) [ "$(id -u)" -eq 0 ] || continue ;;
		esac
		# shellcheck disable=SC2086  # words
		install $mode "$tmp/bin/sbx-proxy" "$tmp/lone/sbx-proxy"
		as "$uid" "$tmp/lone/sbxrun" -l full "$tmp/names.bin" -- true \
		    2>"$tmp/err-$uid"
		tap_is "$who: with one of $mode, too" "125 1" \
		    "$? $(grep -c 'the program sbx-proxy' "$tmp/err-$uid")"
	done
	rm "$tmp/lone/sbx-proxy"
	ln -sf ../bin/sbxrun "$tmp/lone/link"
	as "$uid" "$tmp/lone/link" -l full "$tmp/names.bin" -- true \
	    2>"$tmp/err-$uid"
	tap_is "$who: by a link, it is looked for where sbxrun lies" 0 $?
}

# How it is started: with nothing of the caller's, and as a copy that nobody can
# write.
started()
{
	# dash and bash have -S.
	# shellcheck disable=SC3045
	tap_is "$who: sbx-proxy has nothing of the caller's" \
	    "in /, alone, 0 variables, 0 ignored, 0 blocked, all files, sealed" \
	    "$(trap '' USR1
	    ulimit -Sn 300
	    inside names "$tmp/knock" tcp 127.0.0.1 3128 state)"
}

# What the command writes into sbx-proxy is not what is started outside.
overwritten()
{
	for name in sbxrun sbx-proxy; do
		rm -f "$home/ws/$name"
		as "$uid" install -m 755 "$tmp/bin/$name" "$home/ws/$name"
	done
	tap_is "$who: sbx-proxy is overwritten, and the one of before serves" \
	    '127.0.0.1 3128' "$(as "$uid" timeout 300 "$home/ws/sbxrun" -l full \
		"$tmp/names.bin" -- sh -c "cat /bin/false >./sbx-proxy
		    exec $tmp/knock tcp 127.0.0.1 3128" 2>"$tmp/err-$uid")"
	if cmp -s /bin/false "$home/ws/sbx-proxy"; then
		tap_ok "$who: it was overwritten"
	else
		tap_not_ok "$who: it was overwritten"
	fi
	rm -f "$home/ws/sbxrun" "$home/ws/sbx-proxy"
}

receipt()
{
	log=$home/log
	rm -f "$log"
	as "$uid" "$sbxrun" -l full --status-fd 7 "$tmp/names.bin" -- sh -c \
	    "$tmp/knock udp 127.0.0.1 53; $tmp/knock udp 127.0.0.1 53" \
	    >/dev/null 2>"$tmp/err-$uid" 7>"$log"
	tap_is "$who: the receipt has each decision once" 1 \
	    "$(grep -c '"event":"network".*"name":"127.0.0.1","port":53,"verdict":"no rule","via":"resolver","count":2.*"shared":false' "$log")"
	tap_is "$who: and stderr a line" \
	    'sbxrun: network: refused 127.0.0.1:53 (no rule)' \
	    "$(cat "$tmp/err-$uid")"
}

# Each command of a session has a receipt of its own time.
receipts()
{
	log=$home/log-session
	rm -f "$log" "$log-2" "$home/ws/up" "$home/ws/done"
	session="$session --status-fd 7" inside names sh -c \
	    "$tmp/knock udp 127.0.0.1 53; $tmp/knock udp 127.0.0.1 53" \
	    >/dev/null 7>"$log"
	tap_is "$who: the receipt has what was decided meanwhile" 1 \
	    "$(grep -c '"event":"network".*"name":"127.0.0.1","port":53,"verdict":"no rule","via":"resolver","count":2.*"shared":false' "$log")"
	tap_is "$who: and stderr a line" \
	    'sbxrun: network: refused 127.0.0.1:53 (no rule)' \
	    "$(cat "$tmp/err-$uid")"
	rm -f "$log"
	session="$session --status-fd 7" inside names true 7>"$log"
	tap_is "$who: not that of the next command" '0 ' \
	    "$(grep -c '"event":"network"' "$log") $(cat "$tmp/err-$uid")"
	# shellcheck disable=SC2016  # the inner shell's
	session="$session --status-fd 7" inside names sh -c ': >up; tries=0
		until [ -e done ] || [ $tries -gt 600 ]; do
			tries=$((tries + 1)); sleep 0.1; done' 7>"$log-2" &
	running=$!
	tries=0
	until [ -e "$home/ws/up" ] || [ $tries -gt 600 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	knock names udp 127.0.0.1 53 >/dev/null
	: >"$home/ws/done"
	wait $running
	tap_is "$who: of two at once both are told, with that word" '1 1' \
	    "$(grep -c '"event":"network".*"shared":true' "$log-2") $(grep -c \
		'by this command or another one of the session' \
		"$tmp/err-$uid")"
	# shellcheck disable=SC2086  # words
	first=$(as "$uid" "$sbxrun" $session --check |
	    sed 's/.*process 1 is \([0-9]*\).*/\1/')
	keeper=$(awk '/^PPid:/ { print $2 }' "/proc/$first/status")
	tap_is "$who: what a command was told nobody keeps open" 0 \
	    "$(find "/proc/$keeper/fd" -lname '*sbx-decisions*' | wc -l)"
	tap_found "$who: nor is the keeper's socket lost" \
	    "$(find "/proc/$keeper/fd" -lname 'socket:*')"
}

# with_closed STREAMS COMMAND...: without these streams, in the session.
with_closed()
{
	closed=$1
	shift
	# shellcheck disable=SC2086  # words
	set -- "$sbxrun" $session -l full "$tmp/names.bin" -- "$@"
	case $closed in
	input) as "$uid" "$@" <&- ;;
	output) as "$uid" "$@" >&- ;;
	error) as "$uid" "$@" 2>&- ;;
	all) as "$uid" "$@" <&- >&- 2>&- ;;
	esac
}

# Whoever starts a session may have closed its streams, and who joins as well:
# what is handed over has other numbers.
closed_streams()
{
	for streams in input output error all; do
		who="uid $uid, closed: $streams" session="--session closed-$$"
		with_closed $streams true
		tap_is "$who: a session is started" 0 $?
		with_closed $streams sh -c "echo here >$home/ws/here"
		tap_is "$who: and joined" '0 here' "$? $(cat "$home/ws/here")"
		tap_is "$who: the proxy's port" '127.0.0.1 3128' \
		    "$(knock names tcp 127.0.0.1 3128)"
		end_session
		tap_is "$who: it was there until now" 0 $?
		rm -f "$home/ws/here"
	done
}

many()
{
	tap_is "$who: as many connections as nobody needs" '10000 connections' \
	    "$(knock names many 127.0.0.1 3128 10000)"
}

alone()
{
	who="uid $uid" session=
	what_leads_out
	what_does_not
	addresses
	variables
	users_proxy
	all_deaths
	left_behind
	killed
	missing
	started
	overwritten
	receipt
}

# One session for each policy, and the shared one to die in.
together()
{
	who="uid $uid, session"
	session="--session ways-$$"
	what_leads_out
	what_does_not
	variables
	receipts
	all_deaths
	left_behind
	session="--session path-$$"
	users_proxy
}

users=$(id -u)
[ "$users" -ne 0 ] || users="0 $ORDINARY"
for uid in $users; do
	prepare "$uid"
	alone
	together
	closed_streams
done
tap_done
