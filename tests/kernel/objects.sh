#!/bin/sh
# System V's shared memory, semaphores and queues, as TAP: the command has its
# own, and neither sees nor gets those of others, at levels standard and full; as
# this user and, started by root, as an ordinary one too.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"
# Of this run alone, whoever else runs one.
KEY=$((1330000000 + $$))
KINDS='shm sem msg'

tap_begin /var/tmp
base=$tmp
tap_programs "$SBXRUN" "$SBXRUN_TEST" "$PROBE"
policy plain workspace-write
policy lifted workspace-write 'allow syscalls @shared-objects'
policy bare workspace-write 'limit timeout none' 'limit output none'
policy denied workspace-write 'deny syscalls { semop semtimedop }'

# inside UID COMMAND...: at $level; bare without one.
inside()
{
	inside_uid=$1
	shift
	[ -z "$level" ] || set -- "$base/sbxrun" -l "$level" \
	    "$base/$policy.bin" -- "$@"
	(cd "$ws" && as "$inside_uid" "$@" 2>&1 </dev/null)
}

# held UID ANSWER OPERATION...
held()
{
	uid=$1 answer=$2
	shift 2
	tap_is "${level:-bare}: uid $uid: $policy: $*" "$answer" \
	    "$(inside "$uid" ./probe "$@")"
}

# there FILE: which of the objects are still there; a line of FILE is what
# object-make said of one of each of $KINDS.
there()
{
	for kind in $KINDS; do
		read -r number || break
		awk -v id="$number" '$2 == id { print FILENAME, id }' \
		    "/proc/sysvipc/$kind"
	done <"$1"
}

# Nobody's objects are found by key, by number or by their place in the table.
# The numbers of the commands are those of the kernel's *_STAT, *_STAT_ANY and
# *_INFO.
others()
{
	for kind in $KINDS; do
		# shellcheck disable=SC2154  # check_all sets them
		case $kind in
		shm) id=$shm commands='13 14 15' ;;
		sem) id=$sem commands='18 19 20' ;;
		msg) id=$msg commands='11 12 13' ;;
		esac
		held "$1" ENOENT object-find "$kind" $KEY
		held "$1" EINVAL object-use "$kind" "$id"
		held "$1" EINVAL object-command "$kind" "$id" 0
		held "$1" EINVAL object-command "$kind" "$id" 2
		[ "$level" = standard ] || continue
		for command in $commands 3; do
			held "$1" EINVAL object-command "$kind" "$id" "$command"
			held "$1" EINVAL object-command "$kind" 0 "$command"
		done
		# The same key inside is another object.
		tap_found "$level: uid $1: a key means something else inside" \
		    "$(inside "$1" ./probe object-make "$kind" $KEY |
			grep -vx "$id" | grep '^[0-9]')"
	done
}

# What somebody outside removes is gone inside too, whatever gets its number.
removed_outside()
{
	policy=plain
	# shellcheck disable=SC2016  # for the inner shell
	inside "$1" sh -c './probe object-make sem 7 >made
	    until [ -e removed ]; do sleep 0.05; done
	    ./probe object-use sem "$(cat made)" -- object-find sem 7 \
	    -- object-make sem 7 >then' &
	tap_until test -s "$ws/made"
	as "$1" ipcrm -s "$(cat "$ws/made")"
	: >"$ws/removed"
	wait $!
	tap_is "$level: uid $1: what is removed outside is gone" 'EINVAL
ENOENT' "$(head -n 2 "$ws/then")"
	tap_found "$level: uid $1: and can be made again" \
	    "$(sed -n '3{/^[0-9]/p;}' "$ws/then")"
}

none()
{
	[ -z "$(there "$1")" ]
}

# After sbxrun was killed as well.
left_behind()
{
	make='./probe object-make shm 7 -- object-make sem 0 -- object-make msg 7'
	rm -f "$ws/made"
	inside "$1" sh -c "$make >made"
	tap_is "$level: uid $1: objects are made" 3 "$(grep -c '^[0-9]' "$ws/made")"
	tap_empty "$level: uid $1: nothing is left behind" "$(there "$ws/made")"
	rm -f "$ws/made"
	(cd "$ws" && as "$1" sh -c 'echo $$ >pid; exec "$@"' - \
	    "$base/sbxrun" -l standard "$base/plain.bin" -- \
	    sh -c "$make >made.new; mv made.new made; sleep 600" \
	    >/dev/null 2>&1 &)
	tap_until test -e "$ws/made"
	tap_is "$level: uid $1: objects are seen" 3 \
	    "$(there "$ws/made" | wc -l)"
	kill -KILL "$(cat "$ws/pid")"
	tap_until none "$ws/made"
	tap_empty "$level: uid $1: nothing is left behind by a killed sbxrun" \
	    "$(there "$ws/made")"
}

without_listener()
{
	tap_is "$level: uid $1: without a listener there are none" EPERM \
	    "$(cd "$ws" && as "$1" env SBX_TEST_NO_LISTENER=1 \
		"$base/sbxrun-test" -l standard "$base/plain.bin" -- \
		./probe object-make shm 0 2>&1 | tail -n 1)"
}

check_all()
{
	home=$base/home-$1 ws=$base/home-$1/ws
	mkdir -p "$ws" && cp "$PROBE" "$ws/probe" && chown -R "$1:$1" "$home"
	level='' policy=plain
	for kind in $KINDS; do
		id=$(inside "$1" ./probe object-make "$kind" $KEY)
		eval "$kind=\$id"
		held "$1" ok object-find "$kind" $KEY
		held "$1" ok object-use "$kind" "$id"
		held "$1" ok object-command "$kind" "$id" 2
	done
	held "$1" ok objects
	held "$1" ok segments-left
	tap_levels standard full
	for level in $levels; do
		policy=plain
		held "$1" ok objects
		held "$1" ok objects-threads
		others "$1"
		policy=lifted
		[ "$level" = full ] || held "$1" ok object-use sem "$sem"
		policy=denied
		held "$1" EPERM objects
	done
	level=standard policy=plain
	# What is about its own number, and what about all objects (IPC_INFO, and
	# SHM_STAT and its like, which take the place in a list of all).
	for kind in $KINDS; do
		case $kind in
		shm) stat=13 ;;
		sem) stat=18 ;;
		msg) stat=11 ;;
		esac
		# shellcheck disable=SC2016  # for the inner shell
		tap_is "$level: uid $1: commands for one's own $kind" 'ok
EINVAL
EINVAL' "$(inside "$1" sh -c 'id=$(./probe object-make "$0" 0)
		    ./probe object-command "$0" "$id" 2 -- \
			object-command "$0" "$id" 3 -- \
			object-command "$0" "$id" "$1"' "$kind" "$stat")"
	done
	held "$1" ENOSPC object-fill sem
	# Those that were removed and are attached count as well.
	held "$1" ENOSPC segments-left
	held "$1" ok semaphores 1024
	held "$1" EINVAL semaphores 1025
	held "$1" EINVAL semaphores 0
	policy=bare
	held "$1" ok semaphores 4
	policy=plain
	removed_outside "$1"
	left_behind "$1"
	without_listener "$1"
	as "$1" ipcrm -m "$shm" -s "$sem" -q "$msg"
}

# The first objects of a machine have number 0.
first_objects()
{
	for kind in $KINDS; do
		tap_is "standard: the first $kind there is" '0
ok' "$(cd "$ws" && unshare -i "$base/sbxrun" -l standard "$base/plain.bin" \
		    -- ./probe object-make "$kind" 7 -- object-find "$kind" 7)"
	done
}

check_all "$(id -u)"
if [ "$(id -u)" -eq 0 ]; then
	level=standard policy=plain
	held 0 ok objects-as "$ORDINARY"
	held 0 ok objects-others "$ORDINARY"
	check_all "$ORDINARY"
	first_objects
fi
tap_done
