#!/bin/sh
# Attacks on sessions, as TAP: from inside, by commands on those beside them, on
# those that are being started, and on what keeps the session; from outside, by
# other users and with what lies in the places where sessions are looked for.  As
# this user and, started by root, as an ordinary one too.

# Variables in what the sandbox's shell runs are that shell's.
# shellcheck disable=SC2016

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# Tests run beside each other, and these attack what is of the whole user.
ORDINARY=$(tap_user)
THIRD=23918
ALONE=23920

tap_begin /var/tmp
base=$tmp
# shellcheck source=tests/lib/session.sh
. "$srcdir/tests/lib/session.sh"
tap_programs "$SBXRUN" "$SBXC" "$SBXRUN_TEST" "$builddir/tests/kernel/siege"
seconds=$(tap_rounds 8)

# policy NAME STATEMENTS
policy()
{
	printf 'sbx 1\nprofile %s extends workspace-write {\n%s\n}\n' "$1" "$2" |
	    "$SBXC" - -o "$base/$1.bin" || exit 99
}
policy attack 'limit timeout 3000s
    watch ${workspace}/watched
    deny read ${workspace}/secret'
policy changed 'limit timeout 3000s
    deny read ${workspace}/secrets'
policy few 'limit timeout 3000s
    limit processes 64
    deny read ${workspace}/secret'
"$SBXC" - -o "$base/parameter.bin" <<'POLICY' || exit 99
sbx 1
param where
profile parameter extends workspace-write {
    allow write ${where}
    allow read ${home}/readable
}
POLICY
policy=$base/attack.bin

is()
{
	tap_is "uid $uid: $1" "$2" "$3"
}

# matches NAME PATTERN TEXT
matches()
{
	if printf '%s\n' "$3" | grep -Eq "$2"; then
		tap_ok "uid $uid: $1"
	else
		tap_not_ok "uid $uid: $1" "wanted $2, got $3"
	fi
}

# besiege MODE: starts it in the session; what it says will be in $ws/siege.
besiege()
{
	rm -f "$ws/siege"
	in_session siege \
	    'exec ./siege-program '"$1"' '"$seconds"' all >siege' &
	besieger=$!
}

# What a command that is being started must be, whatever is done to it: under
# the filter, without new privileges, and without what the policy denies.
assault()
{
	wrong='' said=0 killed=0
	while kill -0 $besieger 2>/dev/null; do
		got=$(as env SECRET=secret timeout -s KILL 300 "$base/sbxrun" \
		    --session "${own}siege" -- ./probe seccomp -- nnp -- \
		    open-read secret 2>&1 </dev/null)
		code=$?
		case $code:$got in
		"0:2
1
EACCES" | "0:2
1
ENOENT") said=$((said + 1)) ;;
		137:* | 125:sbxrun:* | *:) killed=$((killed + 1)) ;;
		*) wrong="$wrong
$code: $got" ;;
		esac
	done
	wait $besieger
}

# Nobody is looked into or changed, from the first moment on.
looks()
{
	launch sleep 333 &
	victim=$!
	tap_until grep -qx sleep "/proc/$victim/comm"
	is 'control: the attacks work on a process that is not confined' 1 \
	    $(($(as ./siege-program look 1 $victim |
		grep -c 'breaches [1-9]') > 16))
	kill $victim
	in_session siege 'SECRET=secret sleep 444 >/dev/null 2>&1 &'
	besiege look
	assault
	is 'looking: commands run as they should' '' "$wrong"
	is 'looking: and there were some' 1 $((said > 0))
	# Niceness is that of processes of one user, as it is without sandboxes.
	is 'looking: nothing was read or changed' '' \
	    "$(grep ' breaches [1-9]' "$ws/siege" | grep -v '^nice ')"
	is 'looking: and it was tried' 20 "$(grep -c ' tried [1-9]' "$ws/siege")"
	grep '^met' "$ws/siege" | sed 's/^/# /'
}

stops()
{
	for mode in stop kill; do
		besiege $mode
		assault
		is "$mode: no command ran with less" '' "$wrong"
		grep '^met' "$ws/siege" | sed "s/^/# $said ran, $killed ended: /"
	done
	session_end siege
	is 'nothing is left after the siege' '' "$(session_left)"
}

# One that is stopped before it executes ends when its time is over, with a word.
freezes()
{
	in_session frozen 'touch began; exec /usr/bin/python3 -c "
import os, signal, time
end = time.time() + 8
while time.time() < end:
    try:
        os.kill(-1, signal.SIGSTOP)
    except OSError:
        pass"' &
	besieger=$!
	tap_until test -e "$ws/began"
	is 'a command that is stopped as it starts is ended in time' '124 1' \
	    "$(as timeout -s KILL 60 "$base/sbxrun" --limit timeout=1s \
		--session "${own}frozen" -- sleep 70 2>"$ws/said" </dev/null
	    echo $?) $(grep -c 'limit timeout 1s' "$ws/said")"
	touch "$ws/watched"
	launch "$base/sbxrun" --session "${own}frozen" -- sleep 71 \
	    2>"$ws/said" </dev/null &
	joiner=$!
	sleep .5
	rm "$ws/watched"
	kill "$joiner"
	wait "$joiner" 2>/dev/null
	is 'one that is asked to end as it starts ends, and tells' '143 1' \
	    "$? $(grep -c 'removed watched' "$ws/said")"
	wait $besieger
	session_end frozen
}

# A hostile process fills the table of processes.
fills()
{
	full=$policy policy=$base/few.bin
	in_session siege true
	rm -f "$ws/siege"
	in_session siege './siege-program fill '"$seconds"' >siege 2>&1' &
	besieger=$!
	assault
	is 'fill: no command ran with less' '' "$wrong"
	session_end siege
	policy=$full
	is 'fill: nothing is left' '' "$(session_left)"
}

# Process 1, the keeper and its socket, and what is outside.
reaches()
{
	in_session one true
	keeper=$(session_keeper one)
	init=$(session_init one)
	for name in mem environ maps fd/0 root/ cwd/ exe; do
		is "process 1: $name" 1 "$(in_session one \
		    "head -c 1 /proc/1/$name 2>/dev/null; ls /proc/1/$name \
			2>/dev/null | head -c 1" | wc -c | sed 's/0/1/')"
	done
	is 'process 1 cannot be signalled' 'no no' "$(in_session one \
	    'for s in KILL STOP; do kill -$s 1 2>/dev/null && true; done
	    kill -TERM 1 2>/dev/null; sleep .2
	    [ -d /proc/1 ] && grep -q "^State:.[SR]" /proc/1/status &&
	    echo no no')"
	for pid in $keeper $$; do
		is "process $pid of outside is not there" ESRCH \
		    "$(in_session one "./probe kill $pid 9")"
	done
	is 'the sockets of sessions are not in sight' '' "$(in_session one \
	    'find /run /tmp -type s 2>/dev/null')"
	is 'the host'"'"'s abstract sockets cannot be reached' \
	    'outside refused' "$(
	    launch /usr/bin/python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(chr(0) + "attack" + sys.argv[1])
s.listen()
open("up", "w")
while True:
    s.accept()[0].close()' $$ >/dev/null 2>&1 &
	    tap_until test -e "$ws/up"
	    client='import socket, sys
s = socket.socket(socket.AF_UNIX)
try:
    s.connect(chr(0) + "attack" + sys.argv[1])
    print(sys.argv[2])
except OSError:
    print("refused")'
	    printf '%s %s' "$(as /usr/bin/python3 -c "$client" $$ outside)" \
		"$(as "$base/sbxrun" --session "${own}one" -- /usr/bin/python3 -c "$client" \
		    $$ inside)"
	    kill $!)"
	is 'nobody outside is signalled by a terminal' 'PermissionError' \
	    "$(in_session one '/usr/bin/python3 -c "
import fcntl, os, pty
fcntl.fcntl(pty.openpty()[1], fcntl.F_SETFL, os.O_ASYNC)" 2>&1' |
		sed -n 's/^\(PermissionError\).*/\1/p')"
	is 'capabilities are gone' 1 "$(in_session one './probe caps' |
	    grep -c 'effective 0000000000000000')"
	is 'the user namespace is not entered twice' EPERM \
	    "$(in_session one './probe unshare newuser')"
	is 'a new UTS namespace is refused' EPERM \
	    "$(in_session one './probe unshare newuts')"
	is 'process 1 is who it was' "$init $keeper" \
	    "$(session_init one) $(session_keeper one)"
	session_end one
}

# appears SOCKET: waits for it.  What makes it gives it this name when it listens:
# a socket that does not is what a dead keeper leaves, and is replaced.
appears()
{
	tap_until test -S "$1"
}

# A keeper connects for its commands where services may listen.  It looks like
# somebody who may join, but what a command then asks for is not heard.
deputy()
{
	in_session one true
	session_find_place one
	mkdir -p "$home/readable" && chown "$uid" "$home/readable"
	# What sbxrun asks is taken from itself.
	launch /usr/bin/python3 -c 'import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(sys.argv[1] + "-")
s.listen()
os.rename(sys.argv[1] + "-", sys.argv[1])
request = s.accept()[0].recv(1000)
open("request", "wb").write(request)' "$place/${own}fake" &
	listens=$!
	appears "$place/${own}fake"
	as "$base/sbxrun" --session "${own}fake" --check >/dev/null 2>&1
	wait $listens
	rm -f "$place/${own}fake"
	# The keeper connects for the command, but to no server that is outside.
	# Otherwise a message without credentials of its own would have them only
	# from the moment on at which the keeper asks for them.
	cp "$ws/request" "$base"
	cat >"$base/ask.py" <<'END'
import os, select, socket, struct, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.settimeout(20)
try:
    s.connect(sys.argv[2])
except PermissionError:
    sys.exit(print("denied"))
if sys.argv[4:] == ["child"] and os.fork():
    sys.exit(os.wait()[1])
stamp = open(sys.argv[1] + "/request", "rb").read()[:36]
who = struct.pack("III", os.getpid(), os.geteuid(), os.getegid())
control = [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, who)]
ours, given = os.pipe()
if sys.argv[4:] == ["give"]:
    control.append((socket.SOL_SOCKET, socket.SCM_RIGHTS,
        struct.pack("i", given)))
try:
    s.sendmsg([stamp + struct.pack("I", int(sys.argv[3]))], control)
except BrokenPipeError:
    pass
try:
    reply = s.recv(1000)
    print(struct.unpack_from("I", reply, 36)[0])
except socket.timeout:
    print("nothing")
os.close(given)
if len(sys.argv) > 4 and not select.select([ours], [], [], 20)[0]:
    print("it is kept open")
END
	cp "$base/ask.py" "$ws"
	# The numbers are those of enum session_kind: 2 is an answer, and 8 none.
	ask="/usr/bin/python3 $base/ask.py $base $place/${own}one"
	is 'control: who is outside is answered' 2 "$(as $ask 2)"
	is 'what comes with a question does not stay open' 2 "$(as $ask 2 give)"
	is 'but not another process than the one that connected' 8 \
	    "$(as $ask 2 child)"
	is 'nor one that is confined' 8 "$(as setpriv --no-new-privs $ask 2)"
	is 'and nobody brings a listener who has not joined' 8 "$(as $ask 5)"
	for kind in 0 1 2 3; do
		is "a command asks for $kind through its keeper" denied "$(
		    as "$base/sbxrun" --session "${own}two" -D "where=$place" \
			"$base/parameter.bin" -- /usr/bin/python3 ask.py \
			. "$place/${own}one" $kind 2>&1)"
	done
	is 'the session is there' here "$(in_session one 'echo here')"
	session_end two
	session_end one
}

# refused NAME PATTERN WORD...: sbxrun refuses, and says a line of this pattern.
refused()
{
	name=$1 pattern=$2
	shift 2
	got=$(as timeout 300 "$base/sbxrun" "$@" 2>&1 </dev/null)
	is "$name: refused" 125 $?
	matches "$name: it is said" "$pattern" "$got"
}

names()
{
	for name in '' . .. ../x a/b /x -x .x 'a b' "$(printf 'a\nb')" \
	    "$(printf 'a\033b')" "$(printf '%0200d' 0)" "$(printf '%065d' 0)" \
	    'ä'; do
		refused "the name '$(printf %.20s "$name" | tr '\n\033' '??')'" \
		    '^sbxrun: ' "--session=$name" "$policy" -- true
	done
	long=$(printf '%0*d' $((64 - ${#own})) 0)
	in_session "$long" 'exit 3'
	is 'a name of 64 bytes' 3 $?
	session_end "$long"
	is 'no other session was made' '' "$(session_left)"
}

# Whoever asks for something else than what the session is does not get it.
differences()
{
	mkdir -p "$ws/a" "$ws/b" && chown "$uid" "$ws/a" "$ws/b"
	in_session one true
	refused 'another policy' 'polic' --session "${own}one" "$base/changed.bin" \
	    -- true
	cp "$policy" "$base/copy.bin"
	as "$base/sbxrun" --session "${own}one" "$base/copy.bin" -- true
	is 'the same bytes elsewhere are the same policy' 0 $?
	refused 'another workspace' "$ws/a" --session "${own}one" -w "$ws/a" -- true
	refused 'another level' 'level' --session "${own}one" -l standard "$policy" \
	    -- true
	refused 'another limit' 'processes' --session "${own}one" --limit=processes=77 \
	    "$policy" -- true
	refused 'no session' '^sbxrun: ' --session "${own}none" -- true
	refused 'a directory that is not in the view' '^sbxrun: ' \
	    --session "${own}one" -w "$base" "$policy" -- true
	got=$(as_in /var/log "$base/sbxrun" --session "${own}one" -- pwd 2>&1)
	is 'a directory that is not in the view is refused' 125 $?
	matches 'and named' '^sbxrun: .*/var/log' "$got"
	session_end one
	as "$base/sbxrun" --session "${own}one" -D where="$ws/a" \
	    "$base/parameter.bin" -- true
	is 'a parameter' 0 $?
	refused 'another one' 'where' --session "${own}one" -D where="$ws/b" -- true
	session_end one
	swapped
}

# A path is not a place: the session has what stood there when it was made.
swapped()
{
	launch_in "$ws/a" "$base/sbxrun" --session "${own}one" "$policy" -- true &
	wait $!
	mv "$ws/a" "$ws/old" && mkdir "$ws/a" && chown "$uid" "$ws/a"
	got=$(as_in "$ws/a" "$base/sbxrun" --session "${own}one" "$policy" -- \
	    touch written 2>&1)
	is 'the workspace was replaced: refused, and nothing is written' \
	    '125 ' "$? $(cd "$ws" && find a old -name written)"
	matches 'and what to do is said' 'ends the session' "$got"
	session_end one
	mkdir "$ws/a/sub" && chown "$uid" "$ws/a/sub"
	in_session one true
	mv "$ws/a" "$ws/older" && cp -a "$ws/older" "$ws/a"
	is 'a directory in the workspace was replaced: the new one' 'a/sub/here' \
	    "$(as_in "$ws/a/sub" "$base/sbxrun" --session "${own}one" "$policy" \
		-- touch here && cd "$ws" && find . -name here | cut -c3-)"
	session_end one
}

# An agent knows nothing of its session: one that is outdated is left.
renews()
{
	cp "$policy" "$home/edited.bin" && chown "$uid" "$home/edited.bin"
	cat >"$base/renew.sh" <<'END'
run="$1/sbxrun --session=auto"
$run "$HOME/edited.bin" -- sh -c 'echo kept >/tmp/file; readlink /proc/self/ns/pid'
$run "$HOME/edited.bin" -- sh -c 'touch runs; sleep 4; cat /tmp/file' >later &
while [ ! -e runs ]; do sleep .1; done
cp "$1/changed.bin" "$HOME/edited.bin"
$run "$HOME/edited.bin" -- sh -c 'cat /tmp/file || echo new; readlink /proc/self/ns/pid'
$run "$HOME/edited.bin" -- true && echo "again"
wait $! && echo "went on $(cat later)"
$run --end
END
	got=$(as sh "$base/renew.sh" "$base" 2>"$ws/said")
	is 'auto: a changed policy: what runs goes on, and keeps its /tmp' \
	    'new again went on kept' "$(echo "$got" | grep -v pid: | xargs)"
	is 'auto: in another session' 2 \
	    "$(echo "$got" | grep pid: | sort -u | grep -c .)"
	is 'auto: it is said once' 1 \
	    "$(grep -c 'edited.bin: it has changed' "$ws/said")"
}

# planted NAME COMMAND...: COMMAND puts something where the session is looked
# for; what it leads to stays, and no command waits for ever.
planted()
{
	name=$1
	shift
	echo kept >"$base/kept"
	"$@"
	got=$(as timeout 300 "$base/sbxrun" --session "${own}planted" \
	    "$policy" -- ./probe seccomp 2>&1)
	matches "planted: $name" '^0:2$|^125:sbxrun: ' "$?:$got"
	is "planted: $name: nothing else has changed" 'kept' \
	    "$(cat "$base/kept")"
	session_end planted >/dev/null 2>&1
	rm -rf "$place/${own}planted"
}

plants()
{
	in_session one true
	session_find_place one
	socket=$place/${own}planted
	planted 'a link' as ln -s "$base/kept" "$socket"
	planted 'a link to nowhere' as ln -s "$base/none" "$socket"
	planted 'a file' as touch "$socket"
	planted 'a directory' as mkdir "$socket"
	planted 'a pipe' as mkfifo "$socket"
	planted 'a socket that nobody has' as /usr/bin/python3 -c 'import socket, sys
socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).bind(sys.argv[1])' \
	    "$socket"
	for kind in SOCK_SEQPACKET SOCK_STREAM; do
		planted "somebody who does not answer, $kind" silent "$kind"
		kill "$silent" && wait "$silent" 2>/dev/null
		silent "$kind"
		beside "$kind"
		kill "$silent" && wait "$silent" 2>/dev/null
		rm -f "$socket" "$socket"-*
	done
	session_end one
}

# beside KIND: what is no session keeps no other from being listed.  It has many
# names, of which some come first in whatever order the directory has; who takes
# no such connection is known at once, and the other kind is waited for.
beside()
{
	for number in 1 2 3 4 5 6 7 8 9; do
		[ "$1" = SOCK_SEQPACKET ] || ln "$socket" "$socket-$number"
	done
	is "beside $1 the others are listed" 1 "$(
	    as timeout 300 "$base/sbxrun" --sessions 2>/dev/null |
		grep -c "^${own}one:")"
}

silent()
{
	launch /usr/bin/python3 -c 'import os, socket, sys, time
s = socket.socket(socket.AF_UNIX, getattr(socket, sys.argv[2]))
s.bind(sys.argv[1] + "-")
s.listen()
os.rename(sys.argv[1] + "-", sys.argv[1])
time.sleep(900)' "$socket" "$1" >/dev/null 2>&1 &
	silent=$!
	appears "$socket"
}

# planted_place NAME COMMAND...: the same for the directory of all sessions.
planted_place()
{
	name=$1
	shift
	rm -rf "$place"
	"$@"
	before=$(stat -c '%u %F' "$place")
	got=$(as timeout 300 "$base/sbxrun" --session "${own}planted" \
	    "$policy" -- ./probe seccomp 2>&1)
	matches "the place is $name" '^0:2$|^125:sbxrun: ' "$?:$got"
	is "the place is $name: it stays that" "$before" \
	    "$(stat -c '%u %F' "$place")"
	[ ! -S "$base/elsewhere/${own}planted" ] ||
		tap_not_ok "the place is $name: and is not followed"
	session_end planted >/dev/null 2>&1
	rm -rf "$place"
}

# A lock that somebody holds, who may read the directory.
locked()
{
	in_session one true
	launch flock -o "$place" sh -c 'echo >held; exec sleep 900' &
	holder=$!
	tap_until test -e "$ws/held"
	got=$(as timeout 300 "$base/sbxrun" --session "${own}planted" \
	    "$policy" -- ./probe seccomp 2>&1)
	matches 'the lock is held: there is an end' '^125:sbxrun: .*lock' \
	    "$?:$got"
	pkill -P $holder
	wait $holder
	session_end one
}

# Whether a process has ended, though nobody may have reaped it.
has_ended()
{
	! grep -q '^State:.[^XZ]' "/proc/$1/status" 2>/dev/null
}

# Only where nobody else has sessions as that user.
places()
{
	session_user $ALONE
	mkdir -p "$base/elsewhere"
	chmod 777 "$base/elsewhere"
	place=/tmp/sbx-$uid/sessions
	in_session one true
	is 'where sessions are' 1 "$(find "$place" -name "${own}one" |
	    grep -c .)"
	is 'which is ours alone' "700 $uid" "$(stat -c '%a %u' "$place")"
	session_end one
	is 'the last one takes the place away' '' "$(find "$place" 2>/dev/null)"
	in_session one 'setsid sleep 300 >/dev/null 2>&1 &'
	keeper=$(session_keeper one)
	left=$(pgrep -u "$uid" -x sleep)
	kill -KILL "$keeper"
	tap_until has_ended "$keeper"
	tap_until has_ended "$left"
	is 'with its keeper all of a session ends' '' "$(pgrep -u "$uid" -x \
	    -r D,R,S,T,t sleep)"
	is 'what a killed keeper leaves' 1 "$(find "$place" -name "${own}one" |
	    grep -c .)"
	is 'is no session' '' "$(as "$base/sbxrun" --sessions)"
	is 'and goes when they are listed' '' "$(find "$place" 2>/dev/null)"
	locked
	planted_place 'a link' as ln -s "$base/elsewhere" "$place"
	planted_place 'a file' as touch "$place"
	planted_place 'open to all' as mkdir -m 777 "$place"
	planted_place "another user's" install -d -o $THIRD -m 777 "$place"
	# What XDG_RUNTIME_DIR says is not believed.
	for lie in "$base/elsewhere" "$ws" "$base/none" relative; do
		as env XDG_RUNTIME_DIR="$lie" "$base/sbxrun" --session \
		    "${own}lie" "$policy" -- true
		is 'XDG_RUNTIME_DIR is a lie' 0 $?
		is 'and nothing is made there' '' "$(find "$base/elsewhere" \
		    "$ws" -name "*lie*")"
		as env XDG_RUNTIME_DIR="$lie" "$base/sbxrun" --session \
		    "${own}lie" --end
	done
	rm -rf "/tmp/sbx-$uid"
}

# Other users, root among them, at the session of this one: its socket is not
# theirs, even if they are let in everywhere.  Which a capability does: the modes
# of the directory are what other tests of this user go by.
users()
{
	in_session one 'echo mine >/tmp/note'
	session_find_place one
	for other in 0 $ORDINARY $THIRD; do
		[ "$other" -ne "$uid" ] || continue
		is "user $other is told nothing" 8 "$(setpriv --reuid="$other" \
		    --regid="$other" --clear-groups --inh-caps=+dac_override \
		    --ambient-caps=+dac_override $ask 2)"
	done
	is 'and the session goes on' mine "$(in_session one 'cat /tmp/note')"
	session_end one
}

# Two keepers of one name: the one that ends leaves the socket of the other.
replaced()
{
	in_session one true
	session_find_place one
	former=$(session_keeper one)
	init=$(session_init one)
	rm "$place/${own}one"
	in_session one true
	is 'a session in the place of one whose socket is gone' another \
	    "$([ "$(session_keeper one)" = "$former" ] || echo another)"
	kill -KILL "$init"
	tap_until ended "$former"
	is 'the end of the former one is not its end' there \
	    "$(as "$base/sbxrun" --session "${own}one" --check >/dev/null 2>&1 &&
		echo there)"
	session_end one
}

# What a keeper sends must be out of everybody's hands: the one here passes on what
# another one sends, as it is or copied to a file that can be written.
relayed()
{
	in_session one true
	session_find_place one
	cat >"$base/relay.py" <<'END'
import array, fcntl, os, socket, sys
place, own, seals = sys.argv[1], sys.argv[2], int(sys.argv[3])
def listen():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.bind(place + own + "fake-")
    s.listen()
    os.rename(place + own + "fake-", place + own + "fake")
    return s.accept()[0]
asks = listen()
asked = asks.recv(1000)
keeper = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
keeper.connect(place + own + "one")
credentials = array.array("i", [os.getpid(), os.geteuid(), os.getegid()])
keeper.sendmsg([asked], [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS,
    credentials)])
reply, descriptors, flags, address = socket.recv_fds(keeper, 10000, 99)
copy = os.memfd_create("copy", os.MFD_ALLOW_SEALING)
os.write(copy, os.pread(descriptors[0], 1 << 24, 0))
fcntl.fcntl(copy, 1033, seals)  # F_ADD_SEALS
descriptors[0] = copy
socket.send_fds(asks, [reply], descriptors)
asks.recv(1000)
END
	# All seals; then without one of them.
	for seals in 15 14 13 11 7; do
		launch /usr/bin/python3 "$base/relay.py" "$place/" "$own" \
		    $seals 2>/dev/null &
		relay=$!
		appears "$place/${own}fake"
		got=$(as timeout 300 "$base/sbxrun" --session "${own}fake" -- \
		    echo ran 2>&1)
		case $seals in
		15) is 'control: what is passed on as it was' ran "$got" ;;
		*) matches "what has the seals $seals is refused" \
		    '^sbxrun: .*another version' "$got" ;;
		esac
		kill $relay 2>/dev/null
		wait $relay 2>/dev/null
		rm -f "$place/${own}fake"
	done
	session_end one
}

# Where Landlock keeps nobody from it, process 1 keeps itself from the root inside.
undumped()
{
	session_user 0
	is 'process 1 keeps itself to itself' 'seen' "$(as env \
	    SBX_TEST_WITHOUT=landlock "$base/sbxrun-test" \
	    --session "${own}bare" "$policy" -- sh -c 'sleep 99 &
	    readlink /proc/$!/exe >/dev/null && printf seen
	    cat /proc/1/environ; readlink /proc/1/exe; kill $!' 2>/dev/null)"
	session_end bare
}

ended()
{
	! kill -0 "$1"
}

# Who is confined already does not get into another sandbox, which may allow
# more; and who stands where the keeper should is not believed if confined.
confined()
{
	in_session one true
	session_find_place one
	"$SBXC" - -o "$base/near.bin" <<-POLICY
		sbx 1
		profile near extends workspace-write {
		    allow write $place
		    allow network full
		    limit timeout 3000s
		}
	POLICY
	mkdir -p "$ws/bin" && cp "$base/sbxrun" "$ws/bin" &&
		chown -R "$uid" "$ws/bin"
	got=$(as "$base/sbxrun" -l standard "$base/near.bin" -- timeout 300 \
	    ./bin/sbxrun --session "${own}one" -- ./probe seccomp 2>&1)
	is 'from inside a sandbox nobody joins' 125 $?
	matches 'and that is said' 'sbxrun: ' "$got"
	got=$(as setpriv --no-new-privs "$base/sbxrun" --session "${own}one" \
	    -- ./probe seccomp 2>&1)
	is 'nor one who has new privileges no more' 125 $?
	matches 'and that is said, too' '^sbxrun: ' "$got"
	got=$(as "$base/sbxrun" -l standard "$base/near.bin" -- \
	    /usr/bin/python3 -c 'import socket, sys
socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).bind(sys.argv[1])' \
	    "$place/${own}fake" 2>&1)
	matches 'a sandbox cannot stand where a keeper should' 'Error' "$got"
	launch setpriv --no-new-privs /usr/bin/python3 -c '
import os, socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(sys.argv[1] + "-")
s.listen()
os.rename(sys.argv[1] + "-", sys.argv[1])
s.settimeout(60)
# Other tests of this user list their sessions, and do not wait for this one.
while True:
    c = s.accept()[0]
    try:
        c.recv(4096)
        c.send(b"sbx:ses1" * 99)
    except OSError:
        pass' "$place/${own}fake" >/dev/null 2>&1 &
	fake=$!
	appears "$place/${own}fake"
	refused 'who stands there confined' '^sbxrun: ' \
	    --session "${own}fake" "$policy" -- true
	kill $fake 2>/dev/null
	wait $fake 2>/dev/null
	rm -f "$place/${own}fake"
	session_end one
}

# stranger NAME TEXT UID COMMAND...: who stands where the keeper should, made by
# root with the command and then of that user, is not believed.  Who was root before
# it was executed can be looked into, and is refused for what it is.
stranger()
{
	who=$1 text=$2 other=$3
	shift 3
	"$@" /usr/bin/python3 -c '
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(sys.argv[1] + "-")
os.chmod(sys.argv[1] + "-", 0o777)
if os.getuid() == 0:
    os.setgroups([])
    os.setresgid(*3 * [int(sys.argv[2])])
os.rename(sys.argv[1] + "-", sys.argv[1])
os.setresuid(*3 * [int(sys.argv[2])])
s.listen()
s.settimeout(60)
while True:
    c = s.accept()[0]
    try:
        c.send(b"sbx:ses1" * 99)
    except OSError:
        pass' "$place/${own}fake" "$other" \
	    >/dev/null 2>&1 &
	fake=$!
	appears "$place/${own}fake"
	refused "$who" "$text" --session "${own}fake" "$policy" -- true
	refused "$who, among all" "$text" --sessions
	is "$who, among all: it is no line, and the session is one" '0 1' \
	    "$(printf '%s\n' "$got" | grep -c "^${own}fake:") $(printf '%s\n' \
		"$got" | grep -c "^${own}one:")"
	refused "$who, to be ended" "$text" --session "${own}fake" --end
	refused "$who, to be looked at" "$text" --session "${own}fake" --check
	is "$who keeps its socket" 1 "$(find "$place/${own}fake" | wc -l)"
	kill $fake 2>/dev/null
	wait $fake 2>/dev/null
	rm -f "$place/${own}fake"
}

strangers()
{
	in_session one true
	session_find_place one
	stranger 'a keeper of another user' 'another user is there' $THIRD env
	stranger 'a keeper with mounts of its own' 'of other namespaces' \
	    "$uid" unshare -m setpriv --reuid="$uid" --regid="$uid" \
	    --clear-groups
	# Root's would lack the groups that it gives up above.
	[ "$uid" -eq 0 ] || stranger 'a keeper with a user namespace of its own' \
	    'of other namespaces' "$uid" setpriv --reuid="$uid" \
	    --regid="$uid" --clear-groups unshare -U --map-user="$uid"
	session_end one
}

# Somebody has stopped the keeper, or process 1.
stopped()
{
	for who in keeper init; do
		in_session one true
		pid=$(session_$who one)
		kill -STOP "$pid"
		got=$(as timeout 300 "$base/sbxrun" --session "${own}one" -- true 2>&1)
		matches "$who is stopped: there is an end" '^0:$|^125:sbxrun: ' \
		    "$?:$got"
		kill -CONT "$pid"
		is "$who goes on" 0 "$(in_session one 'echo $?')"
		session_end one
	done
}

# Somebody has stopped the keeper, and as many wait for it as may: who connects
# then would wait in the kernel.
queued()
{
	in_session one true
	session_find_place one
	pid=$(session_keeper one)
	kill -STOP "$pid"
	launch /usr/bin/python3 -c 'import socket, sys, time
waiting = []
while len(waiting) < 9999:
    one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    one.setblocking(False)
    try:
        one.connect(sys.argv[1])
    except BlockingIOError:
        break
    waiting.append(one)
open(sys.argv[2], "w").close()
time.sleep(900)' "$place/${own}one" "$ws/queued" >/dev/null 2>&1 &
	queue=$!
	tap_until test -e "$ws/queued"
	got=$(as timeout 100 "$base/sbxrun" --session "${own}one" --check 2>&1)
	matches 'no place in the queue of a keeper: there is an end' \
	    '^125:sbxrun: .*cannot reach' "$?:$got"
	kill "$queue" && wait "$queue" 2>/dev/null
	kill -CONT "$pid"
	is "... which goes on" 0 "$(in_session one 'echo $?')"
	rm -f "$ws/queued"
	session_end one
}

check_user()
{
	session_user "$1"
	cp "$base/siege" "$ws/siege-program"
	echo secret >"$ws/secret"
	chown "$uid" "$ws/secret"
	looks
	stops
	freezes
	fills
	reaches
	names
	differences
	renews
	plants
	deputy
	replaced
	relayed
	confined
	stopped
	queued
	# Only root can be others.
	if [ "$(id -u)" -eq 0 ]; then
		users
		strangers
	fi
	is 'nothing is left at the end' '' "$(session_left)"
}

if session_here; then
	if [ "$(id -u)" -eq 0 ]; then
		check_user $ORDINARY
		undumped
		places
	fi
	# The short form is for one user.
	if [ "$(id -u)" -ne 0 ] || ! tap_short; then
		check_user "$(id -u)"
	fi
fi
tap_done
