#!/bin/sh
# Servers of TCP in the sandbox, and nobody else's, as TAP: under `network
# loopback` and beside single ways out, at both levels, as this user and, started
# by root, as an ordinary one too.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

tap_begin /var/tmp
base=$tmp
tap_programs "$SBXRUN"
python=/usr/bin/python3
if [ ! -x $python ]; then
	tap_lacks 'servers inside' 'no python3'
	tap_done
	exit
fi
policy loopback workspace-write 'allow network loopback'
policy service workspace-write 'allow network host tcp 9'
# Neither a limit on time or output nor a watch: the network alone is a reason
# to supervise.
cat >"$base/bare.sbx" <<'POLICY'
sbx 1
profile bare {
    allow exec { /usr  /lib  /lib64 }
    allow read /etc
    allow write ${workspace}
    allow network loopback
}
POLICY
"$SBXC" "$base/bare.sbx" -o "$base/bare.bin" || exit 99

# act UID POLICY ACT...: inside, what it prints.
act()
{
	act_uid=$1 act_policy=$2
	shift 2
	(cd "$ws" && as "$act_uid" "$base/sbxrun" -l "$level" \
	    "$base/$act_policy.bin" -- $python inside.py "$@" \
	    2>"$base/said" </dev/null)
}

bare() { (cd "$ws" && $python inside.py "$@" 2>&1); }

is() { tap_is "$level: $1" "$2" "$3"; }

# A place for files by which the two sides wait for each other.
place()
{
	rm -rf "$ws/place"
	mkdir "$ws/place"
	chmod 777 "$ws/place"
}

# addresses UID POLICY
addresses()
{
	while read -r at to; do
		is "uid $1: $2: from $to to $at" ok \
		    "$(act "$1" "$2" pair "$at" "$to")"
	done <<-'PAIRS'
		127.0.0.1 127.0.0.1
		0.0.0.0 127.0.0.1
		0.0.0.0 0.0.0.0
		127.9.9.9 127.9.9.9
		:: 127.0.0.1
		:: ::1
		:: ::
		::1 ::1
		:: ::ffff:127.0.0.1
		127.0.0.1 ::ffff:127.0.0.1
	PAIRS
	is "uid $1: $2: a server that has ended" ECONNREFUSED \
	    "$(act "$1" "$2" later 0.0.0.0 127.0.0.1)"
	is "uid $1: $2: one of IPv6" ECONNREFUSED \
	    "$(act "$1" "$2" later :: ::1)"
}

# beside OUTER INNER COMMAND...: has COMMAND act INNER, and a program outside OUTER:
# what they say is in $got and $outside.  Where the sandbox has a network of its
# own its port may be anybody's outside, and who is met there somebody else: then
# once more.
beside()
{
	outer=$1 inner=$2
	shift 2
	for _ in 1 2 3 4 5 6 7 8; do
		place
		bare "$outer" "$ws/place" >"$base/outside" &
		got=$("$@" "$inner" "$ws/place")
		wait $!
		outside=$(cat "$base/outside")
		case $got,$outside in
		*,'in use' | 'nobody came,connected') ;;
		*) break ;;
		esac
	done
}

# What the port is of when the connection is made is what counts.
changed_hands()
{
	beside take defer act "$1" "$2"
	is "uid $1: $2: a port that changes hands" nothing "$got"
	is "uid $1: $2: who has it then" nothing "$outside"
}

from_outside()
{
	beside call serve act "$1" "$2"
	is "uid $1: $2: a client outside" 'not connected' "$outside"
	is "uid $1: $2: a server inside" 'nobody came' "$got"
}

# services UID POLICY ERRNO: ERRNO is what 127.0.0.1 answers.
services()
{
	place
	(cd "$ws" && as "$1" $python inside.py own "$ws/place") >"$base/own" &
	own=$!
	tap_until test -s "$ws/place/outside"
	port=$(cat "$ws/place/outside")
	is "uid $1: $2: a service of the host's" "$3" \
	    "$(act "$1" "$2" reach 127.0.0.1 "$port")"
	is "uid $1: $2: one of IPv6" ECONNREFUSED \
	    "$(act "$1" "$2" reach ::1 "$port")"
	case $level in
	standard) is "uid $1: $2: a share of its port" EADDRINUSE \
	    "$(act "$1" "$2" share "$port")" ;;
	esac
	: >"$ws/place/end"
	wait $own
	is "uid $1: $2: it saw nobody" 'nobody came' "$(cat "$base/own")"
}

each()
{
	home=$base/home-$1 ws=$base/home-$1/ws
	mkdir -p "$ws"
	cp "$srcdir/tests/kernel/inside.py" "$ws"
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$home"
	tap_levels standard full
	for level in $levels; do
		addresses "$1" loopback
		from_outside "$1" loopback
		changed_hands "$1" loopback
		services "$1" loopback ECONNREFUSED
		case $level in
		full) ;;
		*)
			is "uid $1: a key" EPERM "$(act "$1" loopback keys)"
			is "uid $1: with nothing else to supervise" ok \
			    "$(act "$1" bare pair 127.0.0.1 127.0.0.1)"
			addresses "$1" service
			from_outside "$1" service
			changed_hands "$1" service
			services "$1" service EACCES
			;;
		esac
	done
}

each "$(id -u)"
! tap_twice || each "$ORDINARY"

# Without a sandbox all that is there.
level=bare
beside take defer bare
is 'a port that changes hands' secret "$outside"
beside call serve bare
is 'a client outside' connected "$outside"
tap_done
