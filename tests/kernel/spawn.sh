#!/bin/sh
# `deny spawn`, as TAP: every way to another process or another program is shut,
# at every level, and threads go on; as this user and, started by root, as an
# ordinary one too.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

tap_begin /var/tmp
base=$tmp
tap_programs "$SBXRUN" "$SBXC"
# shellcheck disable=SC2016  # the anchors are the policies'
policy spawn workspace-write 'deny spawn' 'allow exec ${workspace}'
# All that the language can lift.
policy lifted workspace-write 'deny spawn' 'allow exec ${workspace}' \
    'allow syscalls { @process  @namespaces  @process-access }'

# run UID COMMAND...: the last line that it says, in the workspace.
run()
{
	run_uid=$1
	shift
	(cd "$ws" && as "$run_uid" "$base/sbxrun" -l "$level" \
	    "$base/$which.bin" -- "$@" 2>&1 </dev/null | tail -n 1)
}

# held UID ANSWER COMMAND...
held()
{
	uid=$1 answer=$2
	shift 2
	got=$(run "$uid" "$@")
	if printf '%s' "$got" | grep -Eqx "$answer"; then
		tap_ok "$level: $which: uid $uid: $*"
	else
		tap_not_ok "$level: $which: uid $uid: $*" \
		    "wanted $answer, got $got"
	fi
}

prepare()
{
	home=$base/home-$1 ws=$base/home-$1/ws
	mkdir -p "$ws"
	cp "$PROBE" "$ws/probe"
	printf '#!/bin/sh\necho ran\n' >"$ws/script"
	printf 'echo ran\n' >"$ws/plain"
	# An interpreter that is a script itself, and a probe that is one.
	printf '#!%s/script\n' "$ws" >"$ws/twice"
	printf '#!%s/probe spawn-execve\n' "$ws" >"$ws/again"
	chmod 755 "$ws/script" "$ws/plain" "$ws/twice" "$ws/again"
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$home"
	chmod 755 "$base"
}

processes()
{
	held "$1" ok ./probe spawn-thread
	held "$1" EPERM ./probe spawn-fork
	held "$1" EPERM ./probe spawn-vfork
	held "$1" EPERM ./probe spawn-clone 0
	# CLONE_PARENT; CLONE_VM; what nobody knows, above 32 bits
	held "$1" EPERM ./probe spawn-clone 32768
	held "$1" EPERM ./probe spawn-clone 256
	held "$1" EPERM ./probe spawn-clone 281474976710656
	# A thread with what only threads have and no process: the kernel's.
	held "$1" EINVAL ./probe spawn-clone 65536
	held "$1" ENOSYS ./probe spawn-clone3
	held "$1" EPERM ./probe spawn-posix /bin/echo ran
	held "$1" EPERM ./probe spawn-system true
	held "$1" '.*annot fork.*' sh -c '/bin/echo ran; :'
}

programs()
{
	held "$1" EPERM ./probe spawn-execve /bin/echo ran
	held "$1" EPERM ./probe spawn-execveat /bin/echo ran
	held "$1" EPERM ./probe spawn-fexecve /bin/echo ran
	held "$1" EPERM ./probe spawn-memfd /bin/echo ran
	held "$1" EPERM ./probe spawn-execve ./script
	# Whatever is said to be the directory: AT_FDCWD, the lowest numbers, and
	# those that a loader may have used.
	for number in 4294967196 0 3 63 1023 1048575 16384; do
		held "$1" EPERM ./probe spawn-path $number /bin/echo ran
	done
	held "$1" EPERM ./probe spawn-proc /bin/echo ran
	held "$1" EPERM ./probe spawn-guess /bin/echo ran
	held "$1" '.*Operation not permitted|.*ermission denied|.*not found' \
	    sh -c 'exec /bin/echo ran'
	held "$1" ran sh ./script
	held "$1" ran /bin/echo ran
	held "$1" ran echo ran
	# The kernel executes both at once, and the first line's word is no spawn.
	held "$1" ran ./script
	held "$1" ran ./plain
	held "$1" ran ./twice
	held "$1" EPERM ./again
	held "$1" 'sbxrun: absent: command not found' absent
	held "$1" 'sbxrun: ./absent: no such file.*' ./absent
}

each()
{
	prepare "$1"
	tap_levels minimal standard full
	for level in $levels; do
		which=spawn
		processes "$1"
		programs "$1"
		which=spawn
		tap_is "$level: uid $1: --self-test refuses" \
		    'sbxrun: --self-test: each attempt is a process of its own, and the policy says `deny spawn`' \
		    "$(as "$1" "$base/sbxrun" -l "$level" --self-test \
			"$base/spawn.bin" 2>&1)"
		[ "$level" != full ] ||
			tap_is "full: uid $1: there is no session" \
			    "sbxrun: a policy with 'deny spawn' has no session" \
			    "$(as "$1" "$base/sbxrun" --session spawn-$$ \
			    "$base/spawn.bin" -- true 2>&1)"
		which=lifted
		held "$1" EPERM ./probe spawn-fork
		held "$1" ENOSYS ./probe spawn-clone3
		held "$1" EPERM ./probe spawn-clone 268435456 # a user namespace
		held "$1" EPERM ./probe spawn-execve /bin/echo ran
	done
}

# What a way does that is open, outside.
control()
{
	cd "$ws" || exit 99
	for way in fork vfork 'clone 0' clone3 'posix /bin/echo ran' \
	    'system true'; do
		# shellcheck disable=SC2086  # it has words
		tap_is "outside: $way" ok "$(./probe spawn-$way | tail -n 1)"
	done
	for way in execve execveat fexecve memfd; do
		tap_is "outside: $way" ran "$(./probe spawn-$way /bin/echo ran)"
	done
	tap_is 'outside: a path at some number' ran \
	    "$(./probe spawn-path 16384 /bin/echo ran)"
	tap_is 'outside: a path through /proc' ran \
	    "$(./probe spawn-proc /bin/echo ran)"
	tap_is 'outside: the first guess' ran \
	    "$(./probe spawn-guess /bin/echo ran)"
	cd "$base" || exit 99
}

each "$(id -u)"
control
! tap_twice || each "$ORDINARY"
tap_done
