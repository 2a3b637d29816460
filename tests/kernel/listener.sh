#!/bin/sh
# Calls that the supervisor answers, as TAP: at level standard, and at full where
# a policy shows directories in which services may listen; as this user and,
# started by root, as an ordinary one too.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

tap_begin /var/tmp
base=$tmp
servers=
# Expanded when it runs.
# shellcheck disable=SC2086
stop_servers() { [ -z "$servers" ] || kill $servers 2>/dev/null; }
tap_at_end=stop_servers
tap_programs "$SBXRUN" "$SBXC"
# shellcheck disable=SC2016  # the anchors are the policies'
policy listener workspace-write 'allow read ${home}/readable' \
    'deny write ${workspace}/denied'
# shellcheck disable=SC2016
policy own coding 'allow read ${home}/readable'
policy plain workspace-write
policy hosts workspace-write 'allow network full'
policy=$base/listener.bin
# Without a scratch directory, which one sandbox does not make in another.
cat >"$base/inner.sbx" <<'POLICY'
sbx 1
profile inner {
    require level standard
    allow exec { /usr  /lib  /lib64 }
    allow write ${workspace}
    allow exec ${workspace}
    limit timeout 60s
}
POLICY
"$SBXC" "$base/inner.sbx" -o "$base/inner.bin" || exit 99

# run UID COMMAND...: in the workspace.
run()
{
	run_uid=$1
	shift
	(cd "$ws" && as "$run_uid" "$base/sbxrun" -l "$level" \
	    "$policy" -- "$@" 2>&1 </dev/null | tail -n 1)
}

# held UID ANSWER OPERATION...: ANSWER is a regular expression.
held()
{
	uid=$1 answer=$2
	shift 2
	got=$(run "$uid" ./probe "$@")
	if printf '%s' "$got" | grep -Eqx "$answer"; then
		tap_ok "$level: uid $uid: $*"
	else
		tap_not_ok "$level: uid $uid: $*" "wanted $answer, got $got"
	fi
}

# serve UID PATH: a server outside.
serve()
{
	tap_start "$1" "$base/probe" serve-unix "$2" >/dev/null 2>&1 &
	servers="$servers $!"
	tap_until test -S "$2" && return
	tap_not_ok "uid $1: a server at $2"
}

prepare()
{
	home=$base/home-$1 ws=$base/home-$1/ws
	mkdir -p "$ws/denied" "$ws/sub" "$ws/directory" "$home/readable"
	cp "$PROBE" "$ws/probe"
	[ -e "$base/probe" ] || cp "$PROBE" "$base/probe"
	cp "$PROBE" "$ws/unreadable"
	chmod 111 "$ws/unreadable"
	ln -s ../outside "$ws/link"
	ln -s . "$ws/self"
	ln -s ../readable/file "$ws/to-file"
	ln -s ../out "$ws/to-out"
	ln -s file "$ws/to-own"
	touch "$home/readable/file" "$home/out" "$ws/file" "$ws/denied/file"
	[ "$1" -eq "$(id -u)" ] || chown -Rh "$1:$1" "$home"
	for path in outside readable/socket ws/socket ws/denied/socket; do
		serve "$1" "$home/$path"
	done
	serve "$1" "$ws/left"
	kill -KILL "${servers##* }"
	wait "${servers##* }" 2>/dev/null
	servers=${servers% *}
}

# A program that may be executed and not read cannot be looked into.  At full an
# ordinary user's supervisor owns the namespace, and so may.
unreadable()
{
	[ "$1" -ne 0 ] || return 0
	got=$(run "$1" sh -c 'exec ./unreadable unix-inside sub/inside')
	case $level in
	full) tap_is "full: uid $1: an unreadable program connects" ok "$got" ;;
	*) tap_is "standard: uid $1: an unreadable program does not" EPERM \
	    "$got" ;;
	esac
}

# Somebody outside connects to the server by its other name all the time: who is
# accepted need not be the client that proves its place.
doubted()
{
	tap_start "$1" "$base/probe" unix-knock "$ws/sub/away" &
	knocker=$!
	held "$1" EACCES unix-doubted socket
	kill "$knocker"
	wait "$knocker" 2>/dev/null
}

# The name of a socket may lead elsewhere from another directory; no server is
# connected to there to prove anything.
proved()
{
	: >"$base/count"
	chmod 666 "$base/count"
	tap_start "$1" "$base/probe" unix-count "$home/readable/name" \
	    "$base/count" &
	servers="$servers $!"
	tap_until test -S "$home/readable/name"
	held "$1" ok unix-elsewhere sub "$home/readable" name
	as "$1" "$base/probe" unix-connect "$home/readable/name" >/dev/null
	tap_until test -s "$base/count"
	tap_is "$level: uid $1: nobody else came there" 1 \
	    "$(wc -c <"$base/count")"
	kill "${servers##* }"
	wait "${servers##* }" 2>/dev/null
	servers=${servers% *}
	rm -f "$home/readable/name"
}

# What is outside is not there at level full, which has abstract names of its
# own.
sockets()
{
	case $level in
	full) away=ENOENT abstract=ECONNREFUSED ;;
	*) away=EACCES abstract=EPERM ;;
	esac
	held "$1" ok unix-inside sub/inside
	held "$1" ok unix-inside "$ws/sub/inside"
	held "$1" ok unix-inside sub/inside self/self/../ws/sub/inside
	held "$1" EACCES unix-connect socket
	held "$1" EACCES unix-connect "$ws/socket"
	held "$1" EACCES unix-renamed socket
	held "$1" EACCES unix-pending socket
	held "$1" EACCES unix-unheard sub/heard sub/unheard
	doubted "$1"
	proved "$1"
	held "$1" $away unix-connect "$home/outside"
	held "$1" $away unix-connect ../outside
	held "$1" $away unix-connect link
	held "$1" EACCES unix-connect "$home/readable/socket"
	held "$1" EACCES unix-connect denied/socket
	held "$1" EACCES unix-connect "$home/readable/file"
	held "$1" ENOENT unix-connect absent
	held "$1" 'ELOOP|EACCES|ENOENT' unix-connect "/proc/self/cwd/../outside"
	held "$1" 'ELOOP|EACCES|ENOENT' unix-connect "/proc/self/root$home/outside"
	held "$1" ECONNREFUSED unix-connect probe
	# What a server has left that was killed, and the next one removes.
	held "$1" ECONNREFUSED unix-connect left
	held "$1" $abstract abstract-connect sbx-listener-test
	held "$1" EACCES unix-dgram-send socket
	held "$1" EACCES unix-pair-send socket
	for len in 0 2 111 128 129 2147483648 4294967295; do
		held "$1" EINVAL unix-length socket "$len"
	done
	held "$1" EACCES unix-length socket 110
	held "$1" ok unix-full sub/inside
	held "$1" ok unix-daemon sub/daemon
	case $level in
	full) held "$1" 200 unix-servers sub/s 200 ;;
	*) held "$1" 128 unix-servers sub/s 200 ;;
	esac
	held "$1" EACCES unix-switch "$home/readable/socket" "$ws/socket"
	held "$1" ok unix-hidden sub/inside
	held "$1" EPERM syscall prctl 4 0
	held "$1" EPERM syscall prctl 0x100000004 0x100000000
	held "$1" ok syscall prctl 4 1
	held "$1" EBADF syscall connect 77 0 0
	unreadable "$1"
	held "$1" '0 1 2' fds
}

# What the policy lets the command write it may change by every call, and
# nothing else by any.
metadata()
{
	file=$home/readable/file
	before=$(stat -c '%a %u %x %y' "$file" "$home/out" "$ws/denied/file")
	held "$1" ok change-all file
	held "$1" ok change-all "$ws/sub/../file"
	held "$1" ok change-all directory
	held "$1" ok change-oddly file
	held "$1" ok change-unnamed sub/unnamed
	held "$1" ok change-threads file
	held "$1" EPERM change-all "$file"
	held "$1" EPERM change-all ../readable
	held "$1" EPERM change-all denied
	held "$1" EPERM change-all denied/file
	held "$1" ok change lchown to-file
	for call in lsetxattr lremovexattr; do
		held "$1" EPERM change $call to-own
	done
	for name in ../out "$home/out" to-out to-file; do
		for call in fchmodat fchmodat2 fchownat utimensat utimensat-now \
		    setxattr removexattr; do
			held "$1" EPERM change $call "$name"
		done
	done
	# file_setattr(2), which changes what chattr does.
	held "$1" ENOSYS syscall 469
	held "$1" ENOENT change fchmodat absent
	held "$1" ENOENT change fchmodat ''
	held "$1" 'ELOOP|EPERM' change fchmodat "/proc/self/root$file"
	held "$1" ELOOP change fchmodat /proc/self/cwd/file
	# Names of its descriptors are the command's.
	for name in /proc/self/fd/ /proc/thread-self/fd/ /dev/fd/; do
		# shellcheck disable=SC2016  # for the inner shell
		tap_is "$level: uid $1: ${name}3 and 4" 'ok EPERM EBADF' "$(
		    run "$1" sh -c 'echo $(./probe change fchmodat "$0"3 \
			-- change fchmodat "$0"4 -- change fchmodat "$0"5 \
			3<file 4<"$1")' "$name" "$file")"
	done
	held "$1" EPERM change fchmodat /proc/self/comm
	held "$1" ENAMETOOLONG change fchmodat "$(printf '%04095d' 0)"
	held "$1" ENAMETOOLONG change fchmodat "$(printf '%05000d' 0)"
	held "$1" EACCES chmod-switch "$file" "$ws/file"
	tap_is "uid $1: what may not be written is as it was" "$before" \
	    "$(stat -c '%a %u %x %y' "$file" "$home/out" "$ws/denied/file")"
}

# What may be read may be watched, and nothing else.
watching()
{
	held "$1" ok watch-told sub
	held "$1" ok watch-told "$ws/sub"
	held "$1" ok watch file
	held "$1" ok watch "$home/readable"
	held "$1" ok watch to-file
	held "$1" ok watch to-out link
	held "$1" ok watch /usr/bin
	held "$1" EACCES watch ..
	held "$1" EACCES watch "$home/out"
	held "$1" EACCES watch ../out
	held "$1" EACCES watch to-out
	held "$1" EACCES watch /var/tmp
	held "$1" 'ELOOP|EACCES' watch "/proc/self/root$home/out"
	held "$1" ENOENT watch absent
	held "$1" ENOENT watch ''
	held "$1" ENOTDIR watch-told file
}

# tmpfile(3) wants /tmp; every other directory is as the rules have it.
unnamed()
{
	held "$1" ok unnamed /tmp
	held "$1" ok unnamed /tmp/
	held "$1" EMFILE unnamed-many /tmp
	held "$1" ok unnamed sub
	held "$1" EACCES unnamed /tmp/.
	held "$1" ENOENT unnamed /tmpx
	held "$1" EACCES unnamed /var/tmp
	held "$1" EACCES unnamed "$home/readable"
	held "$1" EACCES unnamed denied
	held "$1" ENOENT unnamed absent
	held "$1" EACCES create /tmp/sbx-listener-test
}

# A superuser may change what belongs to others.
superuser()
{
	touch "$ws/foreign"
	chown "$ORDINARY" "$ws/foreign"
	held 0 ok change-all foreign
	held 0 EPERM change-weaker foreign
	run 0 chown "$ORDINARY:7" foreign >/dev/null
	tap_is "standard: uid 0: an owner and another group" "$ORDINARY 7" \
	    "$(stat -c '%u %g' "$ws/foreign")"
	mknod "$ws/null" c 1 3
	held 0 EPERM change fchmodat null
	mknod "$ws/block" b 7 255
	held 0 EPERM change fchmodat block
	# The first and the last of pseudoterminals, and what is beside them.
	for end in EPERM:135 ok:136 ok:143 EPERM:144; do
		mknod "$ws/c${end#*:}" c "${end#*:}" 5
		held 0 "${end%:*}" change fchmodat "c${end#*:}"
	done
	held 0 EPERM change-as "$ORDINARY" file
	held 0 EACCES unnamed-as "$ORDINARY" /tmp
}

# What was opened before something was mounted over it: its path leads to another
# place, or to none, and does not end as that of what was removed.
covered()
{
	if ! unshare -m true 2>/dev/null; then
		tap_skip "$level: uid 0: what lies under a mount" \
		    'no mounts of its own'
		return
	fi
	mkdir "$ws/sub/over"
	touch "$ws/sub/over/file"
	# shellcheck disable=SC2016  # for the inner shells
	tap_is "$level: uid 0: what lies under a mount" EPERM "$(cd "$ws" &&
	    timeout 60 unshare -m sh -c '
		"$@" sh -c "exec 3<sub/over/file; : >sub/ready
		    until [ -e sub/covered ]; do sleep 0.1; done
		    exec ./probe change fchmodat /dev/fd/3" 2>&1 &
		until [ -e sub/ready ]; do sleep 0.1; done
		mount -t tmpfs none sub/over && : >sub/covered
		wait' sh "$base/sbxrun" -l "$level" "$policy" -- </dev/null)"
	rm -r "$ws/sub/over" "$ws/sub/ready" "$ws/sub/covered"
}

# At full the internet of the sandbox's own network goes the same way, and so do
# sockets of a policy that shows only what may be written.
own_internet()
{
	policy=$base/own.bin
	for family in inet inet6; do
		held "$1" ok loopback $family stream
		held "$1" ok loopback $family dgram
	done
	held "$1" ok linger
	held "$1" ECONNREFUSED connect-tcp 9
	held "$1" EACCES unix-connect "$home/readable/socket"
	held "$1" ok unix-inside sub/inside
	policy=$base/plain.bin
	held "$1" EACCES unix-connect socket
	held "$1" ok unix-inside sub/inside
	# In the host's network nobody listens: then no socket could be made.
	policy=$base/hosts.bin
	held "$1" ok unix-inside sub/inside
	policy=$base/listener.bin
}

# says NAME REGEX COMMAND...: what sbxrun itself says.
says()
{
	name=$1 wanted=$2
	shift 2
	got=$(cd "$ws" && "$@" 2>&1 </dev/null)
	if printf '%s' "$got" | grep -Eq "$wanted"; then
		tap_ok "$name"
	else
		tap_not_ok "$name" "wanted $wanted, got $got"
	fi
}

# Where there can be no listener, that is said, and sockets stay closed.
without_listener()
{
	cp "$SBXRUN" "$ws/sbxrun"
	cp "$base/inner.bin" "$ws/sub/inner.bin"
	[ "$1" -eq "$(id -u)" ] || chown "$1:$1" "$ws/sub/inner.bin"
	says "uid $1: -n says who answers" 'sbxrun answers for some' \
	    as "$1" "$base/sbxrun" -n -l standard "$base/listener.bin"
	uid=$1
	set -- as "$1" "$base/sbxrun" -l standard "$base/listener.bin" -- \
	    ./sbxrun -l standard --expect "sha256:$(sha256sum \
	    "$ws/sub/inner.bin" | cut -d ' ' -f 1)"
	says "uid $uid: inside another, -v says why" \
	    'no listener .another supervisor listens already' \
	    "$@" -v sub/inner.bin -- ./probe fds
	says "uid $uid: inside another, sockets are closed" '^EACCES$' \
	    "$@" sub/inner.bin -- ./probe socket unix stream 0
	says "uid $uid: inside another, the outer one answers" '^EPERM$' \
	    "$@" sub/inner.bin -- ./probe change fchmodat "$home/out"
}

# stopped PID: waits until the process is stopped.
stopped()
{
	tap_until grep -q '^State:.T' "/proc/$1/status"
}

asleep()
{
	pgrep -f "sleep 77[.]$$"
}

ended()
{
	! asleep
}

# A supervisor that is stopped holds the command, and one that is killed ends
# it.
absent_supervisor()
{
	cd "$ws" || exit 99
	rm -f sub/one sub/two
	"$base/sbxrun" -l standard "$base/listener.bin" -- sh -c '
	    echo >sub/one; until [ -e sub/two ]; do sleep 0.02; done
	    ./probe change fchmodat file >sub/answer; exec sleep "$0"' 77.$$ &
	supervisor=$!
	tap_until test -e sub/one
	kill -STOP $supervisor
	stopped $supervisor
	echo >sub/two
	sleep 0.3
	tap_empty 'a stopped supervisor does not answer' "$(cat sub/answer)"
	kill -CONT $supervisor
	tap_until test -s sub/answer
	tap_is 'it answers when it goes on' ok "$(cat sub/answer)"
	tap_until asleep
	kill -KILL $supervisor
	wait $supervisor 2>/dev/null
	tap_until ended
	tap_empty 'the command ends with a killed supervisor' "$(asleep)"
	cd "$base" || exit 99
}

# The keeper of a session answers for all commands, and can do no more than they.
keeper()
{
	"$base/sbxrun" --session "keeper-$$" -l full -w "$ws" \
	    "$base/listener.bin" -- true
	keeper_first=$("$base/sbxrun" --session "keeper-$$" --check |
	    sed 's/.*process 1 is \([0-9]*\).*/\1/')
	keeper=$(awk '/^PPid:/ { print $2 }' "/proc/$keeper_first/status")
	tap_is 'the keeper of a session has no capability' 0000000000000000 \
	    "$(awk '/^CapEff:/ { print $2 }' "/proc/$keeper/status")"
	"$base/sbxrun" --session "keeper-$$" --end
}

# descriptors PID: how many it has.
descriptors()
{
	find "/proc/$1/fd" -type l | wc -l
}

# One that has ended meanwhile, as by the time that the policy gives it, has
# none, and tells nothing.
no_more_descriptors()
{
	[ -e "/proc/$1/fd/0" ] && [ "$(descriptors "$1")" -le "$2" ]
}

more_descriptors()
{
	[ "$(descriptors "$1")" -ge "$2" ]
}

# Whether the kernel lets no handler of a signal end a call that the supervisor
# has received, as from Linux 5.19 on.
keeps_calls()
{
	printf '%s\n' 5.19 "$(uname -r)" | sort -CV
}

# Whoever waits has a socket and a server there, until somebody takes him.
waiting_descriptors()
{
	cd "$ws" || exit 99
	rm -rf steps sub/full && mkdir steps
	"$base/sbxrun" -l standard "$base/listener.bin" -- sh -c '
	    ./probe unix-connect socket; echo >steps/1
	    until [ -e steps/2 ]; do sleep 0.02; done
	    ./probe unix-waiting sub/full steps/3 >steps/answer
	    echo >steps/4; until [ -e steps/5 ]; do sleep 0.02; done' \
	    >/dev/null 2>&1 &
	supervisor=$!
	tap_until test -e steps/1
	before=$(descriptors "$supervisor")
	# But for where it keeps what the watched places held.
	tap_empty 'the supervisor has no file open' "$(find \
	    "/proc/$supervisor/fd" -lname '/*' ! -lname /dev/null \
	    ! -lname '*/runs*' -printf '%l ')"
	tap_is 'and the one socket by which it asks' 1 "$(find \
	    "/proc/$supervisor/fd" -lname 'socket:*' | wc -l)"
	echo >steps/2
	tap_until more_descriptors "$supervisor" $((before + 16))
	tap_is 'those who wait are kept' 0 $?
	echo >steps/3
	tap_until test -e steps/4
	if keeps_calls; then
		tap_is 'and taken in the end, whatever signal comes' ok \
		    "$(cat steps/answer)"
	fi
	tap_until no_more_descriptors "$supervisor" "$before"
	tap_is 'the supervisor keeps none of those who waited' 0 $?
	echo >steps/5
	wait $supervisor
	cd "$base" || exit 99
}

# Whatever is answered, the supervisor has as many descriptors as before.
kept_descriptors()
{
	cd "$ws" || exit 99
	# Of its own: nothing new can be made beside what is denied, and what
	# the calls change may be shut to its owner.
	rm -rf steps && mkdir steps
	cat >steps/calls <<-'CALLS'
		for path in socket absent denied/socket file "$0"; do
			./probe unix-connect "$path"
		done
		./probe unix-inside sub/inside
		rm -f sub/full && ./probe unix-full sub/full
		for path in file sub denied/file "$0" absent; do
			./probe change-all "$path"
			./probe change fchmodat2 "$path"
			./probe watch "$path"
		done
		for path in /tmp sub denied absent; do
			./probe unnamed "$path"
		done
		./probe objects
	CALLS
	"$base/sbxrun" -l standard "$base/listener.bin" -- sh -c '
	    sh steps/calls "$0"; echo >steps/1
	    until [ -e steps/2 ]; do sleep 0.02; done
	    sh steps/calls "$0"; sh steps/calls "$0"; echo >steps/3
	    until [ -e steps/4 ]; do sleep 0.02; done' "$home/out" \
	    >/dev/null 2>&1 &
	supervisor=$!
	tap_until test -e steps/1
	before=$(descriptors "$supervisor")
	echo >steps/2
	tap_until test -e steps/3
	# What it had in hand then, and has now, it lets go of in its own time.
	tap_until no_more_descriptors "$supervisor" "$before"
	tap_is 'the supervisor keeps no descriptor of a call' 0 $?
	echo >steps/4
	wait $supervisor
	cd "$base" || exit 99
}

each()
{
	prepare "$1"
	tap_levels standard full
	for level in $levels; do
		sockets "$1"
		case $level in
		full) own_internet "$1" ;;
		*)
			metadata "$1"
			unnamed "$1"
			watching "$1"
			held "$1" EAGAIN unix-crowd sub/first sub/second
			;;
		esac
	done
	without_listener "$1"
}

each "$(id -u)"
absent_supervisor
waiting_descriptors
kept_descriptors
if [ "$(id -u)" -eq 0 ]; then
	case $levels in *full*) keeper ;; esac
	level=standard
	superuser
	covered
	each "$ORDINARY"
fi
home=$base/home-$(id -u) ws=$base/home-$(id -u)/ws
tap_found 'a watch outside is seen' "$(
    [ "$(cd "$ws" && ./probe watch ../out)" != ok ] || echo yes)"
tap_found 'a connection to a server outside is seen' "$(
    [ "$(cd "$ws" && ./probe unix-connect ../outside)" != ok ] || echo yes)"
tap_done
