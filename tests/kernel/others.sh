#!/bin/sh
# Other processes of the same user are left alone, as TAP: how they are
# scheduled, and System V's and POSIX's objects, at levels standard and full, as
# this user and, started by root, as an ordinary one too.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
ORDINARY=65534

tap_begin /var/tmp
base=$tmp
tap_programs "$SBXRUN"
cat >"$base/policy.sbx" <<'POLICY'
sbx 1
profile policy extends workspace-write { }
POLICY
cat >"$base/lifted.sbx" <<'POLICY'
sbx 1
profile lifted extends workspace-write {
    allow syscalls { @shared-objects  setpriority }
}
POLICY
for policy in policy lifted; do
	"$SBXC" "$base/$policy.sbx" -o "$base/$policy.bin" || exit 99
done

as()
{
	as_uid=$1
	shift
	tap_as "$as_uid" env -i PATH="$PATH" HOME="$base/home" "$@"
}

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

many()
{
	for operation in 'nice group 0' "nice user $1" 'ioprio group 0' \
	    "ioprio user $1"; do
		# shellcheck disable=SC2086
		held "$1" "$2" $operation
	done
}

objects()
{
	for operation in "shmat $segment" 'shmget 0' 'shmget 4711' \
	    'semget 4711' 'msgget 4711' 'mq-open sbx-test' \
	    'mq-unlink sbx-test'; do
		# shellcheck disable=SC2086
		held "$1" "$2" $operation
	done
}

forget()
{
	as "$1" ipcrm -m "$segment" 2>/dev/null
	for kind in M Q S; do
		as "$1" ipcrm "-$kind" 4711
	done 2>/dev/null
}

check_all()
{
	ws=$base/ws-$1
	mkdir "$ws" && cp "$PROBE" "$ws/probe" && chown "$1:$1" "$ws"
	# Without a shell of ours between: its number is the sleeper's.
	tap_as "$1" sh -c 'echo $$; exec sleep 600 >/dev/null 2>&1' \
	    >"$base/victim" &
	while [ ! -s "$base/victim" ]; do sleep 0.1; done
	victim=$(cat "$base/victim")
	segment=$(as "$1" ipcmk -M 4096 | sed 's/.*: //')
	policy=policy level=
	scheduling "$1" ok "$victim"
	many "$1" ok
	objects "$1" ok
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
		case $level in
		standard) objects "$1" EPERM ;;
		# shmat of the segment outside, then of the sandbox's own.
		full)
			operation='shmat of a number from outside'
			held "$1" EINVAL shmat "$segment"
			;;
		esac
	done
	level=standard policy=lifted
	for operation in "shmat $segment" 'semget 4711' 'msgget 4711'; do
		# shellcheck disable=SC2086
		held "$1" ok $operation
	done
	# The kernel protects those who have more capabilities.
	operation='nice of another'
	[ "$1" -eq 0 ] || held "$1" ok nice process "$victim"
	forget "$1"
	kill "$victim"
	wait 2>/dev/null
	rm "$base/victim"
}

check_all "$(id -u)"
if [ "$(id -u)" -eq 0 ]; then
	check_all $ORDINARY
fi
tap_done
