#!/bin/sh
# Other processes of the same user are left alone, as TAP: how they are
# scheduled, and POSIX's queues, at levels standard and full, as this user and,
# started by root, as an ordinary one too.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

tap_begin /var/tmp
base=$tmp
tap_programs "$SBXRUN"
home=$base/home
policy plain workspace-write
policy lifted workspace-write 'allow syscalls setpriority'

# held UID ANSWER OPERATION...: inside, at $level; bare without a level.
held()
{
	uid=$1 answer=$2
	shift 2
	set -- ./probe "$@"
	[ -z "$level" ] || set -- "$base/sbxrun" -l "$level" \
	    "$base/$policy.bin" -- "$@"
	# The group of processes is that of sbxrun, and nobody else's.
	got=$(cd "$ws" && as "$uid" setsid -w "$@" 2>&1 </dev/null)
	tap_is "${level:-bare}: uid $uid: $policy: $operation" "$answer" "$got"
}

scheduling()
{
	for operation in 'nice process' 'ioprio process' \
	    'schedule affinity' 'schedule attributes' 'schedule parameter' \
	    'schedule scheduler'; do
		operation="$operation $3"
		# The operation is meant to be split.
		# shellcheck disable=SC2086
		held "$1" "$2" $operation
	done
}

# Bare, what is meant for a whole user reaches every process of that user: so it
# is asked of one alone who has no other processes.
many()
{
	set -- "$1" "$2" 'nice group 0' 'ioprio group 0'
	[ -z "$level" ] && [ "$1" -ne "$ORDINARY" ] ||
	    set -- "$@" "nice user $1" "ioprio user $1"
	uid=$1 answer=$2
	shift 2
	for operation; do
		# shellcheck disable=SC2086
		held "$uid" "$answer" $operation
	done
}

queues()
{
	for operation in 'mq-open sbx-test' 'mq-unlink sbx-test'; do
		# shellcheck disable=SC2086
		held "$1" "$2" $operation
	done
}

check_all()
{
	ws=$base/ws-$1
	mkdir "$ws" && cp "$PROBE" "$ws/probe" && chown "$1:$1" "$ws"
	# Without a shell of ours between: its number is the sleeper's.
	tap_as "$1" sh -c 'echo $$; exec sleep 600 >/dev/null 2>&1' \
	    >"$base/victim" &
	tap_until test -s "$base/victim"
	victim=$(cat "$base/victim")
	policy=plain level=
	scheduling "$1" ok "$victim"
	many "$1" ok
	queues "$1" ok
	tap_levels standard full
	for level in $levels; do
		case $level in
		standard) scheduling "$1" EPERM "$victim" ;;
		full)
			scheduling "$1" ESRCH "$victim"
			scheduling "$1" EPERM init
			;;
		esac
		scheduling "$1" ok 0
		many "$1" EPERM
		[ "$level" = full ] || queues "$1" EPERM
	done
	level=standard policy=lifted
	# The kernel protects those who have more capabilities.
	operation='nice of another'
	[ "$1" -eq 0 ] || held "$1" ok nice process "$victim"
	kill "$victim"
	wait 2>/dev/null
	rm "$base/victim"
}

check_all "$(id -u)"
if [ "$(id -u)" -eq 0 ]; then
	check_all $ORDINARY
fi
tap_done
