#!/bin/sh
# Limits by control groups, as TAP: what a group holds, that nothing of it is
# left, and that rlimits take its place where there is none.  See delegate.sh
# for where there is one.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/kernel/delegate.sh
. "$srcdir/tests/kernel/delegate.sh"

tap_begin /var/tmp
base=$tmp
tap_at_end=delegate_end
tap_programs "$SBXRUN" "$SBXC" "$SBXRUN_TEST"

# policy NAME STATEMENT...
policy()
{
	{
		printf 'sbx 1\nprofile limited extends %s {\n' "$parent"
		shift
		printf '%s\n' "$@"
		echo '}'
	} >"$base/text.sbx"
	"$SBXC" "$base/text.sbx" -o "$base/$name.bin" || exit 99
}
parent=workspace-write
name=limited
policy limited 'limit processes 8' 'limit memory 64MiB' 'limit timeout 300s'
name=memory
policy memory 'limit processes none' 'limit memory 64MiB' 'limit timeout 300s'
name=brief
policy brief 'limit processes 8' 'limit memory 64MiB' 'limit timeout 1s'
name=plain
policy plain 'limit processes none' 'limit timeout 300s'
# Nothing here asks for a supervisor; workspace-write watches files.
parent=read-only
name=unwatched
policy unwatched 'limit memory 64MiB' 'limit timeout none' 'limit output none'

loader=sbxrun

# launch WORD...: as $uid, in place of this shell.
launch()
{
	launch_any -l "$level" "$@"
}

launch_any()
{
	HOME=$base/$uid
	export HOME
	cd "$base/$uid" || exit 99
	set -- "$base/$loader" -w . "$@"
	[ "$uid" -eq "$(id -u)" ] || set -- setpriv --reuid="$uid" \
	    --regid="$uid" --clear-groups "$@"
	exec "$@"
}

run()
{
	(launch "$@")
}

# is NAME WANTED GOT
is()
{
	tap_is "$level: uid $uid: $1" "$2" "$3"
}

# left: our groups that are still there, after some time if they have to be
# removed by somebody else.
left()
{
	tap_until none
	groups
}

groups()
{
	find "$group" -mindepth 1 -type d -name 'sbx-*'
}

none()
{
	[ -z "$(groups)" ]
}

# asleep: our processes that sleep as long as no others, after some time.
asleep()
{
	tap_until gone "sleep $mark"
	pgrep -f "sleep $mark"
}

gone()
{
	! pgrep -f "$1"
}

# by LIMIT: who holds it, as the receipt of the last run says.
by()
{
	sed -n "1s/.*\"limit\":\"$1\",\"value\":[0-9]*,\"by\":\"\\([^\"]*\\)\".*/\\1/p" \
	    "$base/$uid/log"
}

# A user namespace counts processes itself.
processes_by()
{
	if [ "$level" = full ] && [ "$uid" -ne 0 ]; then
		echo 'rlimit of the sandbox'
	else
		echo 'cgroup, of all processes'
	fi
}

reports()
{
	log=$base/$uid/log
	rm -f "$log"
	run --status-fd 7 "$base/limited.bin" -- sh -c 'exit 7' 2>/dev/null 7>"$log"
	is 'the status' 7 $?
	is 'who holds processes' "$(processes_by)" "$(by processes)"
	is 'who holds memory' 'cgroup, of all processes' "$(by memory)"
	is '-v' 1 "$(run -v "$base/limited.bin" -- true 2>&1 |
	    grep -c 'memory by cgroup')"
	is '-n' 1 "$(run -n "$base/limited.bin" 2>&1 |
	    grep -c 'limit memory.*cgroup')"
	is 'nothing is left' '' "$(left)"
}

# The command and all that it starts is in it, and nothing else.
places()
{
	text=$(run "$base/limited.bin" -c 'cat /proc/self/cgroup
	    setsid cat /proc/self/cgroup' 2>/dev/null |
	    grep -c '^0::.*/sbx-[0-9]*-[0-9]*$')
	is 'who is in it' 2 "$text"
	is 'no group without a limit for it' 0 "$(run "$base/plain.bin" \
	    -c 'cat /proc/self/cgroup' 2>/dev/null | grep -c '^0::.*/sbx-')"
	is 'a sandbox in a sandbox goes on without' 1 "$(run \
	    "$base/limited.bin" -- ./loader -w . -v -l standard \
	    ./limited.bin -- true 2>&1 | grep -c 'memory by rlimit')"
}

ends()
{
	mark=2000$$.$uid${#level}
	run "$base/limited.bin" -c "setsid sleep $mark & (sleep $mark &)" \
	    2>/dev/null
	is 'background' '0 ' "$? $(left)"
	is 'is ended' '' "$(asleep)"
	run "$base/brief.bin" -c "setsid sh -c 'trap \"\" TERM; sleep $mark' &
	    sleep $mark" 2>/dev/null
	is 'a timeout' '124 ' "$? $(left)"
	is 'ends all' '' "$(asleep)"
	# A short time for each step of the making and some for the command.
	for i in 10 12 14 16 18 20 30 40 50 60; do
		launch "$base/limited.bin" -c "setsid sleep $mark & sleep $mark" \
		    >/dev/null 2>&1 &
		sleep 0.0$i
		kill -KILL $!
		wait $!
	done 2>/dev/null
	is 'sbxrun is killed' '' "$(left)"
	is 'and everything with it' '' "$(asleep)"
}

# A session's group is removed by its keeper, or by process 1 where that was
# killed.
keeps()
{
	name=group-${tmp##*-}-$uid
	run --session "$name" "$base/memory.bin" -- true 2>/dev/null
	is 'a session has a group' 1 "$(groups | wc -l)"
	first=$( (launch_any --session "$name" --check) |
	    sed 's/.*process 1 is \([0-9]*\).*/\1/')
	kill -KILL "$(sed -n 's/^PPid:\t//p' "/proc/$first/status")"
	is 'which ends with its keeper' '' "$(left)"
	run --session "$name" "$base/memory.bin" -- true 2>/dev/null
	is 'so has the next one' 1 "$(groups | wc -l)"
	(launch_any --session "$name" --end)
	is 'which ends with it' '0 ' "$? $(groups)"
}

# Where the kernel counts.
limits()
{
	log=$base/$uid/log
	rm -f "$log"
	# The shell and seven more; a shell that cannot fork ends.
	# shellcheck disable=SC2016
	text=$(run --status-fd 7 "$base/limited.bin" -c \
	    'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		sleep 300 & echo $i; done' 2>/dev/null 7>"$log" | tail -n 1)
	is 'processes' 7 "$text"
	if [ "$(processes_by)" = 'cgroup, of all processes' ]; then
		is 'are counted' 1 "$(sed -n \
		    '2s/.*"processes_refused":\([0-9]*\).*/\1/p' "$log")"
	fi
	rm -f "$log"
	run --status-fd 7 "$base/memory.bin" -c 'head -c 9m /dev/zero | tail -c 8m |
	    wc -c >/dev/null; exit 3' 2>/dev/null 7>"$log"
	is 'less memory' 3 $?
	rm -f "$log"
	# Three that are below the limit, and above it together.
	text=$(run --status-fd 7 "$base/memory.bin" -c 'for i in 1 2 3; do
	    (head -c 40m /dev/zero; echo >fed$i
	    until [ -e fed1 ] && [ -e fed2 ] && [ -e fed3 ]; do
		sleep 0.1
	    done) | tail -c 40m | wc -c &
	    done; wait' 2>/dev/null 7>"$log" | grep -c '^41943040$')
	is 'memory of all together' 1 "$((text < 3))"
	is 'that is counted' 1 "$(sed -n \
	    '2s/.*"memory_killed":\([1-9]\).*/1/p' "$log")"
	is 'and its peak' 1 "$(sed -n \
	    '2s/.*"memory_together":\([0-9]\{7,8\}\),.*/1/p' "$log")"
	is 'nothing is left of it' '' "$(left)"
}

# What holds where there is no group.
falls_back()
{
	log=$base/$uid/log
	rm -f "$log"
	run --status-fd 7 "$base/limited.bin" -- sh -c 'exit 7' 2>/dev/null 7>"$log"
	is 'without a group: the status' 7 $?
	is 'without a group: memory' 'rlimit, of each process' "$(by memory)"
	is 'without a group: the limit is set' 65536 \
	    "$(run "$base/limited.bin" -c 'ulimit -v' 2>/dev/null)"
	is 'without a group: none' 0 "$(run "$base/limited.bin" \
	    -c 'cat /proc/self/cgroup' 2>/dev/null | grep -c '/sbx-')"
}

# Where namespaces turn out to be missing, and calls cannot be answered, nobody
# supervises a policy without limits on time and output: then no group may be said to hold its memory.  In a
# user namespace the number of namespaces can be limited.
turns_out_lower()
{
	# shellcheck disable=SC2016  # for the inner shell
	none='echo 0 >/proc/sys/user/max_mnt_namespaces && exec "$@"'
	if ! unshare -Ur sh -c "$none" sh true 2>/dev/null; then
		tap_skip 'no namespaces after all' 'their number cannot be limited'
		return
	fi
	level=auto
	text=$(cd "$base/$uid" && SBX_TEST_NO_LISTENER=1 \
	    unshare -Ur sh -c "$none" sh "$base/sbxrun-test" \
	    "$base/unwatched.bin" -c 'ulimit -v' 2>/dev/null)
	is 'no namespaces after all: the rlimit is set' 65536 "$text"
	is 'no namespaces after all: no group' '' "$(left)"
}

check_group()
{
	tap_levels standard full
	for level in $levels; do
		reports
		places
		ends
		[ "$level" != full ] || keeps
		if [ -n "${SBX_TEST_CGROUP-}" ]; then
			tap_lacks "$level: uid $uid: what is counted" \
			    "$delegate_how"
		else
			limits
		fi
	done
}

# check_kept_apart GROUP: none is made beside that of a sandbox, whose limits it
# would escape, and none in one of systemd's, who may switch controllers off.
check_kept_apart()
{
	mkdir -p "$1"
	chown "$uid" "${1%/*}" "${1%/*}/cgroup.procs" \
	    "${1%/*}/cgroup.subtree_control"
	enter "$1"
	for level in standard full; do
		is "no group from ${1##"$group"/}" 0 "$(run \
		    "$base/limited.bin" -c 'cat /proc/self/cgroup' 2>/dev/null |
		    grep -c '/sbx-[0-9]*-[0-9]\{9,\}')"
	done
}

check_user()
{
	uid=$1
	mkdir -p "$base/$uid"
	cp "$base/$loader" "$base/$uid/loader"
	cp "$base/limited.bin" "$base/$uid"
	[ "$uid" -eq "$(id -u)" ] || chown -R "$uid:$uid" "$base/$uid"
	if [ -n "$group" ]; then
		delegate_to "$uid" || exit 99
		enter "$group/$uid/main"
		check_group
		[ "$uid" -ne "$(id -u)" ] || turns_out_lower
		# Not beside what belongs to somebody else.
		mkdir -p "$group/other/main"
		chown 1 "$group/other/cgroup.procs"
		enter "$group/other/main"
		check_kept_apart "$group/sbx-1-1"
		check_kept_apart "$group/$uid/x.slice/main"
		enter "$group/other/main"
		rmdir "$group/sbx-1-1"
	else
		tap_lacks "uid $uid: a group" "$delegate_how"
	fi
	tap_levels standard full
	for level in $levels; do
		falls_back
	done
}

level=any uid=$(id -u)
delegate_begin
[ -z "${SBX_TEST_CGROUP-}" ] || loader=sbxrun-test
echo "# $delegate_how"
is '--status' 1 "$("$base/$loader" --status | grep -c '^cgroup ')"
check_user "$uid"
[ "$uid" -ne 0 ] || check_user "$(tap_user)"
tap_done
