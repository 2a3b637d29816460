#!/bin/sh
# Containers, as TAP: in each of them sbxrun says what level there is, what a
# policy denies is denied, what it allows ends as it does without sbxrun, and
# what cannot be held is refused in one line.  Lines that begin with `# row:` are
# those of docs/file-systems.md.
#
#	containers.sh [NAME...]
#
# tries these alone.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"
# shellcheck source=tests/places/probes.sh
. "$srcdir/tests/places/probes.sh"
# shellcheck source=tests/places/rows.sh
. "$srcdir/tests/places/rows.sh"
# shellcheck source=tests/places/kinds.sh
. "$srcdir/tests/places/kinds.sh"

if [ "$(id -u)" -ne 0 ]; then
	tap_lacks 'containers' 'root makes them'
	tap_done
	exit
fi
# What is mounted goes with the namespace, whatever becomes of the test.
if [ "${PLACES-}" != inside ]; then
	PLACES=inside exec unshare -m --propagation private sh "$0" "$@"
fi

tap_begin /var/tmp
programs=$tmp
tap_programs "$SBXRUN" "$PROBE"
install -m 755 "$srcdir/tests/places/contained.sh" \
    "$srcdir/tests/places/probes.sh" "$srcdir/tests/lib/sandbox.sh" \
    "$srcdir/tests/lib/tap.sh" "$tmp"
places_policy
tap_levels full
if [ -z "$levels" ]; then
	tap_done
	exit
fi
# A hierarchy of control groups that crun knows, whatever this machine has.
mount -t cgroup2 none /sys/fs/cgroup

# look NAME UID: has all tried in there, and leaves it in $place.
look()
{
	place=$tmp/$1-$2
	mkdir "$place"
	for level in bare auto standard full; do
		at=$place/$level
		mkdir "$at" "$at/out" && layout "$2" || exit 99
	done
	cp "$tmp/place.bin" "$place"
	chown "$2:$2" "$place" "$place/place.bin" "$place"/*/out
	"in_$1" "$2" sh "$tmp/contained.sh" "$place" >"$place/log" 2>&1
}

# take LEVEL: what contained.sh has left of a run.
take()
{
	at=$place/$1 home=$place/$1/home ws=$place/$1/ws level=$1
	: >"$tmp/answers"
	[ -e "$at/out/said" ] || return
	cp "$at/out/answers" "$tmp/answers"
	said=$(sed "s|$at/||g; s/^sbxrun: //" "$at/out/said" | tr '\n' ' ' |
	    sed 's/ $//')
}

# Where sbxrun connects no sockets, not even to the command's own servers.
unconnected='^unix-inside dir/server: bare ok, here '

# listener FILE: what --status says of it.
listener()
{
	if grep -q '^  *but not connect sockets: ' "$1"; then
		echo unconnected
	elif grep -q '^listener  *sbxrun can ' "$1"; then
		echo answers
	else
		echo unanswered
	fi
}

# held NAME LEVEL-THERE NOT-HELD: what is allowed, and what is not.
held()
{
	tap_empty "$1: what is allowed, and what is not" "$(wrong |
	    if [ "$3" = unconnected ]; then
		grep -v "$unconnected"
	    else
		cat
	    fi)"
	tap_is "$1: a command works" '7 scratch' "$(cat "$at/out/works")"
}

# refused NAME: in one line.
refused()
{
	tap_is "$1: refused" 'status 125 1' \
	    "$(cat "$tmp/answers") $(grep -c '^sbxrun: ' "$at/out/said")"
}

# at_level NAME LEVEL-THERE NOT-HELD SAID
at_level()
{
	case $level-$2 in
	auto-minimal)
		# Whoever reads it knows that nothing is held.
		tap_is "$1: what is said" "$4" "${said%% the command *}"
		return
		;;
	standard-minimal | full-minimal | full-standard | full-) refused "$1" ;;
	*)
		if [ -n "$4" ] && [ $level != standard ] ||
		    [ "${4#/proc/}" != "$4" ]; then
			refused "$1"
			tap_is "$1: what is said" "$4" "$said"
		else
			held "$1" "$2" "$3"
			tap_is "$1: what is said" '' "$said"
		fi
		;;
	esac
	tap_empty "$1: nothing was spoiled" "$(spoiled)"
}

# one NAME UID LEVEL NOT-HELD SAID: the level there is, and what a run says of
# itself.
one()
{
	why_not=''
	if ! works "$1"; then
		tap_lacks "$1" "$why_not"
		return
	fi
	look "$1" "$2"
	take bare
	if ! grep -q '^ok' "$tmp/answers"; then
		tap_not_ok "$1: uid $2: bare" "$(cat "$place/log")"
		return
	fi
	cp "$tmp/answers" "$tmp/bare"
	tap_found "$1: uid $2: bare: what is not denied is found" "$(wrong)"
	tap_found "$1: uid $2: bare: what is spoiled is found" "$(spoiled)"
	status=$place/bare/out/status
	"$SBXC" records "$status.json" >"$status" 2>&1
	there=$(sed -n 's/^level *//p' "$status")
	tap_is "$1: uid $2: the level" "$3" "$there"
	if [ -n "$there" ]; then
		tap_is "$1: uid $2: the listener" "${4:-answers}" \
		    "$(listener "$status")"
		tap_is "$1: uid $2: that nobody can supervise is said" \
		    "$(printf '%s' "$5" | grep -c '^/proc/')" \
		    "$(grep -c '^supervisor  *no /proc/' "$status")"
		# Nothing is denied at level minimal.
		[ "$3" = minimal ] || [ -n "$5" ] ||
		    tap_is "$1: uid $2: a terminal" 'allowed, as the policy says' \
			"$("$SBXC" records "$place/bare/out/self-test.json" |
			    sed -n 's/^a pseudo-terminal *//p')"
	fi
	for level in auto standard full; do
		take $level
		at_level "$1: uid $2: $level" "$3" "$4" "$5"
	done
	take full
	echo "# row: $1 | uid $2 | ${there:-none} | ${said:-holds at full}"
}

chosen=$*
[ -n "$chosen" ] || ! tap_short || chosen=docker
kinds >"$tmp/kinds"
while IFS='|' read -r name uid wanted lacking says <&3; do
	case " ${chosen:-$name} " in
	*" $name "*) one "$name" "$uid" "$wanted" "$lacking" "$says" ;;
	esac
done 3<"$tmp/kinds"
tap_done
