# shellcheck shell=sh
# Sourced by tests of sessions, after tap.sh and tap_begin; $base is their
# directory and $policy a blob.  A machine without level full has no sessions.
# Other tests of the same user have sessions, too, and one that was killed may
# have left some: here each name has a part of its own, $own.

# shellcheck disable=SC2154  # tap_begin sets $tmp
own=test${tmp##*-}-

# session_here: whether sessions can be tried; a skip if not.
session_here()
{
	if "$SBXRUN" --status --json | grep -q '"level":"full"'; then
		return 0
	fi
	tap_skip 'sessions' 'this machine does not give level full'
	return 1
}

# session_user UID: from now on $uid runs commands, in the workspace $ws.
session_user()
{
	uid=$1
	home=$base/home-$uid
	ws=$home/ws
	[ ! -d "$home" ] || return 0
	mkdir -p "$ws" && cp "$PROBE" "$ws/probe" || exit 99
	[ "$uid" -eq "$(id -u)" ] || chown -R "$uid:$uid" "$home"
}

# launch_in DIRECTORY COMMAND...: as $uid, with nothing but what it needs; in
# place of this shell, so that $! is the command's.
launch_in()
{
	cd "$1" || exit 99
	shift
	set -- env -i PATH=/usr/bin:/bin HOME="$home" "$@"
	[ "$uid" -eq "$(id -u)" ] ||
		set -- setpriv --reuid="$uid" --regid="$uid" --clear-groups "$@"
	exec "$@"
}

# launch COMMAND...: in the workspace.
launch()
{
	launch_in "$ws" "$@"
}

# as_in DIRECTORY COMMAND..., as COMMAND...: the same, and come back.
as_in()
{
	(launch_in "$@")
}

as()
{
	(launch "$@")
}

# in_session NAME STRING: a command as agents start them, with a new shell.
in_session()
{
	in_name=$1
	shift
	# shellcheck disable=SC2086  # words
	as "$base/sbxrun" ${session_options-} --session "$own$in_name" \
	    "$policy" -- bash -c "$@"
}

# session_end NAME
session_end()
{
	as "$base/sbxrun" --session "$own$1" --end
}

# session_number NAME WHAT: a number that the list has for the session.
session_number()
{
	as "$base/sbxrun" --sessions --json | tr '{}' '\n\n' |
	    sed -n 's/.*"name":"'"$own$1"'".*"'"$2"'":\([0-9]*\).*/\1/p'
}

# session_init NAME: process 1 of the session, as it is called outside.
session_init()
{
	session_number "$1" process
}

# session_keeper NAME: who keeps it.
session_keeper()
{
	session_number "$1" keeper
}

# session_find_place NAME: makes $place the directory that its socket lies in.
session_find_place()
{
	place=$(find /run/user/*/sbx /tmp/sbx-*/sessions -name "$own$1" \
	    2>/dev/null)
	place=${place%/*}
	case $place in
	/*) ;;
	*)
		echo "the session $1 has no socket"
		exit 99
		;;
	esac
}

# session_processes: of sbxrun as this test has it, and what was started for
# one of its users.
session_processes()
{
	for session_exe in /proc/[0-9]*/exe; do
		session_pid=${session_exe#/proc/}
		session_pid=${session_pid%/exe}
		case $(readlink "$session_exe" 2>/dev/null) in
		"$base"/*) echo "$session_pid" ;;
		'') ;;
		*)
			grep -aqzx "HOME=$base/.*" \
			    "/proc/$session_pid/environ" 2>/dev/null &&
				echo "$session_pid"
			;;
		esac
	done
}

session_sockets()
{
	find /run/user/*/sbx /tmp/sbx-*/sessions -name "$own*" 2>/dev/null
}

# session_groups: those whose maker has ended.  Other tests run beside, and have
# groups.
session_groups()
{
	find /sys/fs/cgroup -type d -name 'sbx-*' ! -path '*/sbxtest-*' \
	    2>/dev/null |
		while IFS= read -r session_group; do
			session_pid=${session_group##*/sbx-}
			[ -d "/proc/${session_pid%%-*}" ] ||
				echo "$session_group"
		done
}

session_new_groups()
{
	session_groups | grep -vxF -e "$session_old_groups"
}

session_none()
{
	[ -z "$(session_processes)$(session_sockets)$(session_new_groups)" ] &&
		[ "$(tap_mounts)" = "$session_mounts" ]
}

# session_left: waits for all of them to be gone, or lists what is left: of
# processes, sockets, control groups and mounts.
session_left()
{
	! tap_until session_none || return 0
	for session_pid in $(session_processes); do
		ps -o pid=,ppid=,stat=,args= -p "$session_pid"
	done
	session_sockets
	session_new_groups
	[ "$(tap_mounts)" = "$session_mounts" ] ||
		echo 'there are other mounts'
}

# What was there before.
session_mounts=$(tap_mounts)
session_old_groups=$(session_groups)
