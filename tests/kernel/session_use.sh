#!/bin/sh
# Sessions as agents use them, as TAP: each command is a new `bash -c` of its
# own sbxrun.  Servers, directories kept in files, the tools of a project, the
# caller's streams, sessions beside sessions.  As this user and, started by root,
# as an ordinary one too.

# Variables in what the sandbox's shell runs are that shell's.
# shellcheck disable=SC2016

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
ORDINARY=$(tap_user)

tap_begin /var/tmp
base=$tmp
# shellcheck source=tests/lib/session.sh
. "$srcdir/tests/lib/session.sh"
tap_programs "$SBXRUN" "$SBXC" "$PROBE"
# Each policy in a text of its own: they are two for a session.
cat >"$base/agent.sbx" <<'POLICY'
sbx 1
profile together extends workspace-write {
    allow network loopback
}
POLICY
cat >"$base/other.sbx" <<'POLICY'
sbx 1
profile other extends workspace-write {
    deny write ${workspace}/kept
}
POLICY
for name in agent other; do
	"$SBXC" "$base/$name.sbx" -o "$base/$name.bin" || exit 99
done
policy=$base/agent.bin

is()
{
	tap_is "uid $uid: $1" "$2" "$3"
}

# has COMMAND...: whether the machine has these, for every user.
has()
{
	for has_name; do
		PATH=/usr/bin:/bin command -v "$has_name" >/dev/null ||
			return 1
	done
}

# A server in one command, a client in the next, its end in the third.
# serves NAME SCRIPT: SCRIPT starts a server on $PORT in the background.
serves()
{
	in_session one "PORT=8123; $2 >/tmp/log 2>&1 & echo \$! >/tmp/pid"
	is "$1: starting it comes back" 0 $?
	is "$1: the next command reaches it" hello "$(in_session one '
	    for i in $(seq 600); do
		curl -sf http://127.0.0.1:8123/hello && exit; sleep .1
	    done; cat /tmp/log; ps ax')"
	is "$1: and sees it" 1 "$(in_session one \
	    'ps -o pid= -p "$(cat /tmp/pid)" | grep -c .')"
	is "$1: the third ends it" 0 "$(in_session one \
	    'kill "$(cat /tmp/pid)"; echo $?')"
	is "$1: and it is gone" gone "$(in_session one '
	    for i in $(seq 600); do
		kill -0 "$(cat /tmp/pid)" 2>/dev/null || break; sleep .1
	    done
	    curl -s http://127.0.0.1:8123/hello || echo gone')"
}

servers()
{
	mkdir -p "$ws/site"
	echo hello >"$ws/site/hello"
	cat >"$ws/server.js" <<'SERVER'
require('http').createServer((ask, answer) => answer.end('hello'))
    .listen(process.env.PORT, '127.0.0.1');
SERVER
	! has node || serves node 'export PORT; node server.js'
	serves python 'python3 -m http.server -b 127.0.0.1 -d site $PORT'
	# As a shell does it who wants to be sure.
	serves 'nohup and setsid' 'setsid nohup python3 -m http.server -b \
	    127.0.0.1 -d site $PORT </dev/null'
}

# What an agent keeps between its commands.
memory()
{
	mkdir -p "$ws/deep/er"
	in_session one 'cd deep/er && export -p >/tmp/state && pwd -P >/tmp/cwd'
	is 'the directory is kept in a file' "$ws/deep/er" \
	    "$(in_session one 'cd "$(cat /tmp/cwd)" && pwd -P')"
	is 'and can be the one of sbxrun' "$ws/deep/er" "$(as_in "$ws/deep/er" \
	    "$base/sbxrun" --session "${own}one" -- pwd)"
	for place in /tmp /dev/shm; do
		in_session one "echo kept >$place/note"
		is "what is written to $place is there" kept \
		    "$(in_session one "cat $place/note")"
	done
	in_session one 'mkfifo /tmp/pipe; (cat /tmp/pipe >/tmp/through &)'
	is 'a named pipe' heard "$(in_session one 'echo heard >/tmp/pipe
	    for i in $(seq 600); do [ -s /tmp/through ] && break; sleep .1
	    done; cat /tmp/through')"
	in_session one 'python3 -c "
import socket, os, time
server = socket.socket(socket.AF_UNIX)
server.bind(chr(0) + \"agent\")
server.listen()
if os.fork() == 0:
    os.close(1)
    os.close(2)
    server.accept()[0].send(b\"abstract\")
"'
	is 'an abstract socket' abstract "$(in_session one 'python3 -c "
import socket
client = socket.socket(socket.AF_UNIX)
client.connect(chr(0) + \"agent\")
print(client.recv(99).decode())"')"
	in_session one 'echo $(ipcmk -M 64) >/tmp/shm'
	is "System V's shared memory" 1 "$(in_session one \
	    'ipcs -m -i "${a:=$(sed "s/.* //" /tmp/shm)}" | grep -c bytes=64')"
	is 'processes of an earlier command are seen and signalled' \
	    'seen ended' "$(in_session one 'sleep 1234 >/dev/null 2>&1 & echo $! >/tmp/pid'
	    in_session one 'p=$(cat /tmp/pid); grep -qz 1234 /proc/$p/cmdline &&
		printf "seen "; kill -STOP $p && kill -CONT $p && kill $p
		for i in $(seq 600); do
			kill -0 $p 2>/dev/null || break; sleep .1
		done; kill -0 $p 2>/dev/null || echo ended')"
}

# A server that runs while commands come and go.
for_long()
{
	in_session one 'python3 -m http.server -b 127.0.0.1 -d site 8124 \
	    >/dev/null 2>&1 &'
	tap_until in_session one 'curl -sf http://127.0.0.1:8124/hello'
	round=0 heard=0 rounds=$(tap_rounds 300)
	while [ $round -lt "$rounds" ]; do
		round=$((round + 1))
		[ "$(in_session one \
		    'curl -sf http://127.0.0.1:8124/hello')" != hello ] ||
			heard=$((heard + 1))
	done
	is 'a server runs while commands come and go' "$rounds" $heard
	in_session one 'pkill -f http.server'
}

statuses()
{
	for code in 0 1 7 124 125 255; do
		in_session one "exit $code"
		is "status $code" $code $?
	done
	for signal in KILL TERM INT SEGV PIPE; do
		(as "$base/sbxrun" --session "${own}one" "$policy" -- perl -e \
		    '$SIG{$ARGV[0]} = "DEFAULT"; kill $ARGV[0], $$; sleep 300' \
		    $signal; exit $?) 2>/dev/null
		is "death by $signal" $signal "$(kill -l $?)"
	done
	as "$base/sbxrun" --session "${own}one" -- no-such-command 2>/dev/null
	is 'no such command' 127 $?
	as "$base/sbxrun" --session "${own}one" -- /etc/passwd 2>/dev/null
	is 'no command' 126 $?
	for signal in TERM INT HUP; do
		rm -f "$ws/ready"
		launch "$base/sbxrun" --session "${own}one" -- perl -e '
		    $SIG{$_} = "DEFAULT" for qw(INT HUP TERM);
		    open F, ">", "ready"; close F; sleep 500' 2>/dev/null &
		job=$!
		tap_until test -e "$ws/ready"
		kill -$signal $job
		wait $job 2>/dev/null
		is "$signal for sbxrun is one for the command" $signal \
		    "$(kill -l $?)"
	done
}

streams()
{
	echo text >"$ws/file"
	is 'a file as input' text "$(in_session one cat <"$ws/file")"
	is 'by its name, too' text "$(in_session one 'cat /dev/stdin' \
	    <"$ws/file")"
	echo outside >"$base/outside"
	chmod 666 "$base/outside"
	is 'a file of outside as input' outside \
	    "$(in_session one 'cat' <"$base/outside")"
	is 'and not written through it' outside "$(in_session one \
	    'echo changed >/proc/self/fd/0; chmod 600 /dev/stdin' \
	    <"$base/outside" 2>/dev/null; cat "$base/outside")"
	is 'nor through one that errors go to' outside "$(in_session one \
	    'echo changed >/proc/self/fd/2' 2<"$base/outside"
	    cat "$base/outside")"
	is 'a pipe as input' piped "$(echo piped | in_session one cat)"
	is 'nothing as input' '' "$(in_session one cat </dev/null)"
	is 'no input at all' '' "$(in_session one 'cat 2>/dev/null' <&-)"
	in_session one 'echo out; echo err >&2' >"$base/out" 2>"$base/err"
	is 'output and errors are apart' 'out err' \
	    "$(cat "$base/out") $(grep -v '^sbxrun: warning' "$base/err")"
	is 'a megabyte goes through' "$(head -c 1000000 /dev/zero | cksum)" \
	    "$(head -c 1000000 /dev/zero | in_session one cat | cksum)"
	is 'descriptors of the caller are not there' '0 1 2' "$(as \
	    "$base/sbxrun" --session "${own}one" -- ./probe fds </dev/null \
	    7</etc/passwd 9</)"
	is 'arguments stay as they are' "a b|*|'|" "$(as "$base/sbxrun" \
	    --session "${own}one" -- printf '%s|' 'a b' '*' "'")"
	is 'the environment is that of the caller' mine "$(as \
	    env MINE=mine "$base/sbxrun" --session "${own}one" -- printenv MINE)"
	is 'less what the policy removes' '' "$(as env GITHUB_TOKEN=secret \
	    "$base/sbxrun" --session "${own}one" -- printenv GITHUB_TOKEN)"
}

# script(1) gives a terminal.
terminals()
{
	has script || return 0
	is 'a terminal' 'yes yes yes' "$(as script -qec "$base/sbxrun --session \
	    ${own}one $policy -- bash -c 'for i in 0 1 2; do [ -t \$i ] && echo yes; done'" \
	    /dev/null </dev/null | tr -d '\r' | tr '\n' ' ' | sed 's/ $//')"
	# The group has processes outside: script's shell, say.
	is 'a job at a terminal does not signal its group' kept \
	    "$(as script -qec "$base/sbxrun --session ${own}one -- sh -c \
	    'kill -0 0 2>/dev/null && echo reached || echo kept'" /dev/null \
	    </dev/null | tr -d '\r')"
	is 'a terminal made inside' 'yes' "$(in_session one \
	    'script -qec "[ -t 0 ] && echo yes" /dev/null </dev/null' |
	    tr -d '\r')"
	is 'python makes one too' tty "$(in_session one 'python3 -c "
import os, pty
pty.spawn([\"sh\", \"-c\", \"[ -t 1 ] && echo tty\"])"' </dev/null |
	    tr -d '\r')"
	has tmux || return 0
	in_session one 'SHELL=/bin/sh tmux -L t -f /dev/null new-session -d "cat >/tmp/typed"'
	in_session one 'tmux -L t send-keys typed Enter C-d'
	is 'tmux lives from command to command' typed "$(in_session one '
	    for i in $(seq 600); do [ -s /tmp/typed ] && break; sleep .1; done
	    cat /tmp/typed; tmux -L t kill-server 2>/dev/null')"
}

tools()
{
	printf 'int main(void) { return 0; }\n' >"$ws/a.c"
	cp "$ws/a.c" "$ws/b.c"
	printf 'all: a b c\n%%: %%.c\n\t$(CC) -o $@ $<\nc.c:\n\tcp a.c c.c\n' \
	    >"$ws/Makefile"
	[ "$uid" -eq "$(id -u)" ] || chown "$uid" "$ws"/*
	in_session one 'make -s -j4' >"$base/out" 2>&1
	is 'make -j' '0 ' "$? $(cat "$base/out")"
	in_session one './a && ./b && ./c'
	is 'and the programs run' 0 $?
	in_session one 'git init -q . && git add a.c &&
	    git -c user.name=n -c user.email=e commit -qm first'
	in_session one 'git switch -qc work && git rm -q --cached a.c'
	is 'git' 'D  a.c' "$(in_session one 'git status --short a.c' | head -n 1)"
	as sh -c 'cd .. && git init -q main && git -C main -c user.name=n \
	    -c user.email=e commit -q --allow-empty -m first &&
	    git -C main worktree add -q ../linked' 2>/dev/null
	is 'a repository that lies elsewhere is watched' \
	    "sbxrun: the command made $home/main/.git/hooks/pre-push" \
	    "$(as_in "$home/linked" "$base/sbxrun" --session "${own}git" -w auto \
		"$policy" -- sh -c \
		'echo >"$(git rev-parse --git-common-dir)/hooks/pre-push"' 2>&1)"
	session_end git
	! has npm || is 'npm' '"1.0.0"' "$(in_session one \
	    'npm init -y >/dev/null && npm pkg get version')"
	printf 'def test_it():\n    assert True\n' >"$ws/test_it.py"
	! has pytest || is 'pytest' 0 "$(in_session one 'pytest -q >/tmp/out 2>&1
	    echo $?')"
	is 'processes of python' '[1, 4, 9]' "$(in_session one 'python3 -c "
import multiprocessing
def square(x):
    return x * x
with multiprocessing.Pool(3) as pool:
    print(pool.map(square, [1, 2, 3]))"')"
	is 'its shared memory goes from command to command' 42 "$(in_session \
	    one 'python3 -c "
from multiprocessing import shared_memory, resource_tracker
memory = shared_memory.SharedMemory(\"answer\", True, 9)
memory.buf[0] = 42
resource_tracker.unregister(memory._name, \"shared_memory\")"'
	    in_session one 'python3 -c "
from multiprocessing import shared_memory
memory = shared_memory.SharedMemory(\"answer\")
print(memory.buf[0])
memory.unlink()"')"
}

# Two sessions of one policy in one workspace, and one of another policy.
apart()
{
	in_session one 'echo one | tee /tmp/mark /dev/shm/mark >/tmp/only
	    mkfifo /tmp/wait; sleep 4321 >/dev/null 2>&1 & cat >/tmp/held </tmp/wait &
	    ipcmk -M 64 | sed "s/.* //" >shm-id
	    (python3 -c "
import socket, time
tcp = socket.create_server((\"127.0.0.1\", 8125))
unix = socket.socket(socket.AF_UNIX)
unix.bind(chr(0) + \"apart\")
unix.listen()
open(\"/tmp/listens\", \"w\")
time.sleep(600)" >/dev/null 2>&1 &)
	    for i in $(seq 600); do [ -e /tmp/listens ] && break; sleep .1
	    done'
	one=$policy
	echo kept >"$ws/kept"
	chown "$uid" "$ws/kept"
	for policy in "$one" "$base/other.bin"; do
		two=two-$(basename "$policy" .bin)
		is "$two: files" '' "$(in_session "$two" \
		    'ls -d /tmp/mark /dev/shm/mark /tmp/only 2>/dev/null')"
		is "$two: processes" '' "$(in_session "$two" \
		    'pgrep -f "sleep 4321"')"
		is "$two: network" refused "$(in_session "$two" 'python3 -c "
import socket
socket.create_connection((\"127.0.0.1\", 8125))" 2>/dev/null || echo refused')"
		is "$two: abstract sockets" refused "$(in_session "$two" \
		    'python3 -c "
import socket
s = socket.socket(socket.AF_UNIX)
s.connect(chr(0) + \"apart\")" 2>/dev/null || echo refused')"
		is "$two: System V's objects" '' "$(in_session "$two" \
		    'ipcs -m -i "$(cat shm-id)" 2>/dev/null | grep bytes=')"
		is "$two: the workspace is one" one "$(in_session "$two" \
		    'echo one >shared'; as "$base/sbxrun" --session \
		    "${own}one" -- cat shared)"
	done
	is 'the other policy holds there' kept "$(
	    in_session "$two" 'echo changed >kept' 2>/dev/null; cat "$ws/kept")"
	policy=$one
	is 'and not here' changed \
	    "$(in_session one 'echo changed >kept'; cat "$ws/kept")"
	session_end "$two"
	is 'the end of one is not that of the other' one \
	    "$(in_session one 'cat /tmp/mark')"
	in_session two-agent 'sleep 9876 >/dev/null 2>&1 & echo two >/tmp/mark'
	is 'each is listed' 'one two-agent' "$(as "$base/sbxrun" --sessions \
	    --json | grep -o '"name":"'"$own"'[^"]*"' | cut -d - -f 2- |
	    tr -d '"' | sort | tr '\n' ' ' | sed 's/ $//')"
}

ends()
{
	as "$base/sbxrun" --session "${own}one" --check >/dev/null
	is 'a session that runs is there' 0 $?
	session_end one
	is 'it can be ended' 0 $?
	as "$base/sbxrun" --session "${own}one" --check >/dev/null 2>&1
	is 'then it is not' 1 $?
	as "$base/sbxrun" --session "${own}one" -- true 2>/dev/null
	is 'and without a policy there is no new one' 125 $?
	session_end two-agent
	is 'nothing is left' '' "$(session_left)"
	is 'nothing is listed' '' "$(as "$base/sbxrun" --sessions |
	    grep "$own")"
	is 'a new session begins afresh' '' "$(in_session one \
	    'ls -d /tmp/mark /dev/shm/mark 2>/dev/null; pgrep sleep')"
	# An agent that dies leaves nothing.
	as sh -c '"$1" --session "$3" --with-parent "$2" -- sh -c \
	    "sleep 999 >/dev/null 2>&1 &"; kill -9 $$' sh "$base/sbxrun" \
	    "$policy" "${own}mine" 2>/dev/null
	session_end one
	is 'a session with its parent ends with it' '' "$(session_left)"
	session_options='--idle 1s'
	in_session brief 'true'
	is 'an idle session ends' '' "$(session_left)"
	if [ "$(id -u)" -eq 0 ]; then
		# As many machines mount it: others' processes are not shown.
		(unshare -m sh -c 'mount -t proc -o hidepid=2 proc /proc && exec "$@"' \
		    sh setpriv --reuid="$uid" --regid="$uid" --clear-groups env -i \
		    PATH=/usr/bin:/bin HOME="$home" "$base/sbxrun" --idle 1s \
		    --session "${own}brief" "$policy" -- true)
		is 'an idle session ends where /proc hides others' '' \
		    "$(session_left)"
	fi
	session_options=
	as "$base/sbxrun" --session "${own}brief" --idle 1s "$policy" -- \
	    sh -c 'sleep 600 >/dev/null 2>&1 &'
	# Longer than it may be idle; what runs goes on.
	sleep 2.5
	is 'it is not idle while something runs' 1 \
	    "$(in_session brief 'pgrep -xc sleep')"
	session_end brief
	is 'nothing is left at the end' '' "$(session_left)"
}

# refused NAME WORDS OPTION...: those do not fit the session.
refused()
{
	refused_name=$1 words=$2
	shift 2
	said=$(as "$base/sbxrun" --session "${own}same" "$@" 2>&1)
	is "$refused_name" '125 yes' "$? $(case $said in
	    *"$words"*) echo yes ;; *) echo "$said" ;; esac)"
}

# What does not fit the session that is there is refused, to the last letter.
same()
{
	printf 'sbx 1\nparam data\nprofile same extends workspace-write {\n%s\n}' \
	    'allow read ${data}' | "$SBXC" - -o "$base/same.bin" || exit 99
	digest=$(sha256sum <"$base/same.bin" | cut -c 1-64)
	as "$base/sbxrun" --session "${own}same" -D data=/usr \
	    "$base/same.bin" -- true
	is 'a session with a parameter' 0 $?
	as "$base/sbxrun" --session "${own}same" -D data=/usr -l full \
	    --expect "sha256:$digest" "$base/same.bin" -- true
	is 'the same once more' 0 $?
	refused 'another digest, from its middle on' 'another policy' \
	    --expect "sha256:$(echo "$digest" | cut -c 1-33)$(echo "$digest" |
	    cut -c 34- | tr 0-9a-f 1-9a-f0)" -- true
	(cat "$base/same.bin" && printf x) >"$base/longer.bin"
	refused 'a policy that begins as its own' 'another policy' \
	    "$base/longer.bin" -- true
	head -c 4000 "$base/same.bin" >"$base/shorter.bin"
	refused 'the beginning of its own' 'another policy' \
	    "$base/shorter.bin" -- true
	refused 'a parameter that begins as its own' 'no such parameter' \
	    -D dat=/usr -- true
	refused 'another value of it' 'another value' -D data=/etc -- true
	refused 'another level' 'another level' -l standard \
	    "$base/same.bin" -- true
	ln -s . "$ws/leads"
	refused 'a link on the way to the log' 'a link is on the way' \
	    --log "$ws/leads/log" -- true
	is 'its keeper is in a session of its own' apart "$([ "$(ps -o sess= \
	    -p "$(session_keeper same)")" = "$(ps -o sess= -p $$)" ] ||
	    echo apart)"
	session_end same
	mkdir -p "$ws/first/.git" "$ws/second/.git"
	chown -R "$uid" "$ws/first" "$ws/second"
	is 'each project of an agent has one' 2 "$(as sh -c '
	    for place in first second first; do
		(cd $place && exec "$0" --session auto -l full "$1" -- true)
	    done
	    "$0" --sessions --json | grep -o "\"auto-$$-[^\"]*" | sort | tee names |
		wc -l
	    while read -r name; do
		"$0" --session "${name#?}" --end
	    done <names' "$base/sbxrun" "$policy")"
}

# What stays in a session writes when nobody looks.
stays()
{
	in_session left '(sleep 1; echo x >.envrc; echo >done) >/dev/null 2>&1 &'
	for _ in $(seq 600); do
		[ ! -e "$ws/done" ] || break
		sleep 0.05
	done
	is 'what a command left in the background did is told' \
	    "sbxrun: what was left in a session, or somebody since, made $ws/.envrc" \
	    "$(in_session beside true 2>&1)"
	is 'and once' '' "$(in_session left true 2>&1)"
	rm -f "$ws/.envrc" "$ws/done"
	session_end left
	session_end beside
}

check_user()
{
	session_user "$1"
	stays
	servers
	memory
	for_long
	statuses
	streams
	terminals
	tools
	apart
	ends
	same
}

if session_here; then
	[ "$(id -u)" -ne 0 ] || check_user $ORDINARY
	# The short form is for one user.
	if [ "$(id -u)" -ne 0 ] || ! tap_short; then
		check_user "$(id -u)"
	fi
fi
tap_done
