#!/bin/sh
# sbxrun --explain in sessions, as TAP: each command has a block of its own, by
# the rules of the session, and is what it would be without.  As this user and,
# started by root, as an ordinary one too.

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
policy plain workspace-write 'deny read ${workspace}/secret' \
    'allow exec ${workspace}' 'allow read ~/later' 'limit timeout 60s' \
    'allow read ~/open except ~/open/a' 'allow read ~/some except ~/some/b'
# shellcheck disable=SC2016
policy sockets workspace-write 'deny socket ${tmp}/shut' \
    'allow exec ${workspace}' 'limit timeout 60s'
cat >"$base/server.py" <<'END'
import os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
open("up", "w").close()
while True:
    peer = server.accept()[0]
    peer.sendall(b"served\n")
    peer.close()
END
cat >"$base/client.py" <<'END'
import socket, sys
peer = socket.socket(socket.AF_UNIX)
try:
    peer.connect(sys.argv[1])
    print(peer.recv(100).decode(), end="")
except OSError as error:
    print(error.strerror)
END

end_sessions()
{
	for end in $sessions; do
		as "${end%% *}" "$base/sbxrun" --session "${end##* }" --end \
		    2>/dev/null
	done
}

prepare()
{
	home=$base/home-$1 ws=$base/home-$1/ws
	mkdir -p "$ws" "$home/.ssh" "$home/data"
	echo key >"$home/.ssh/id_rsa"
	echo text >"$home/data/file"
	echo text >"$ws/secret"
	mkdir "$home/open" "$home/some"
	echo text | tee "$home/open/a" "$home/open/b" "$home/some/a" \
	    >"$home/some/b"
	cp "$base"/*.py "$ws"
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$home"
	session=explain-$$-$1
}

# run UID POLICY OPTIONS COMMAND: into $status, $base/said and $base/block.
run()
{
	# shellcheck disable=SC2086  # the options are several
	(cd "$ws" && as "$1" timeout -k 5 60 "$base/sbxrun" $3 \
	    --session "$session-$2" "$base/$2.bin" -c "$4" \
	    >"$base/said" 2>"$base/block" </dev/null)
	status=$?
}

# tells UID PATTERN: a line of the block.
tells()
{
	if sed -e ':a' -e 'N' -e '$!ba' -e 's/\n          / | /g' "$base/block" |
	    grep -Eq -e "$2"; then
		tap_ok "uid $1: $2"
	else
		tap_not_ok "uid $1: $2" "it is: $(cat "$base/block")"
	fi
}

commands()
{
	run "$1" plain --explain 'cat ~/.ssh/id_rsa secret 2>/dev/null; exit 3'
	tap_is "uid $1: the one that makes the session has its status" 3 \
	    "$status"
	tells "$1" 'read +~/.ssh/id_rsa +1x cat .*deny read ~/.ssh \| no rule is offered'
	tells "$1" 'read +..workspace./secret +1x cat +plain.sbx:3:15 deny'
	run "$1" plain --explain 'echo >~/data/new'
	tells "$1" 'write +~/data/new +1x sh +no rule \| in the policy: allow write ~/data'
	tap_empty "uid $1: the next one hears nothing of the first" \
	    "$(grep secret "$base/block")"
	run "$1" plain --explain 'cd; cat open/a open/b some/a some/b 2>/dev/null'
	tap_is "uid $1: what rules except, and nothing else" 'open/a some/b' \
	    "$(sed -n 's/^  read *~.\([^ ]*\) .*/\1/p' "$base/block" | paste -sd ' ')"
	run "$1" plain --explain 'unshare -U true'
	tells "$1" 'call +unshare +1x unshare .*no rule is offered: nobody gets'
	run "$1" plain --explain 'echo x >"$TMPDIR/x"; cat /tmp/x; kill -0 $$'
	tap_is "uid $1: what is allowed is not told of" "0 x" \
	    "$status $(cat "$base/said" "$base/block")"
	run "$1" plain '' 'cat secret 2>/dev/null; echo none'
	tap_is "uid $1: without the option nothing is told" "0 none" \
	    "$status $(cat "$base/said" "$base/block")"
	run "$1" plain --explain=all 'kill -TERM $$'
	tap_is "uid $1: it ends by the signal of its command" 143 "$status"
	mkdir "$home/later"
	echo text >"$home/later/x"
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$home/later"
	run "$1" plain --explain 'cat ~/later/x 2>/dev/null'
	tells "$1" 'read +~/later/x .*made before this was allowed.*--end'
}

records()
{
	run "$1" plain '--explain=./report --status-fd 7' 'cat secret 2>/dev/null' 7>"$ws/log"
	for file in report log; do
		tap_found "uid $1: a record of it is in $file" "$(
		    grep '"event":"denied"' "$ws/$file" |
			grep '"object":"${workspace}/secret"')"
		tap_found "uid $1: the last record counts in $file" "$(
		    grep '"traced":true' "$ws/$file" | grep '"denied":1,')"
	done
	rm -f "$ws/report" "$ws/log"
}

forms()
{
	run "$1" plain --explain=agent 'cat secret 2>/dev/null; exit 1'
	tells "$1" '^1. denied: read "..workspace./secret" .1x "cat"., by'
	run "$1" plain --explain=live 'cat secret 2>/dev/null; echo end >&2'
	tap_found "uid $1: live, it is told at once" "$(sed '/^end/,$d' \
	    "$base/block" | grep 'denied: read ..workspace./secret')"
	run "$1" plain --explain 'realpath -e ~/.ssh 2>/dev/null'
	tap_empty "uid $1: few looks are told" "$(grep -F /.ssh "$base/block")"
	run "$1" plain --explain=all 'realpath -e ~/.ssh 2>/dev/null'
	tells "$1" 'read +~/.ssh .*realpath'
	command -v script >/dev/null || return 0
	tap_is "uid $1: at a terminal the group is not signalled" kept "$(cd \
	    "$ws" && as "$1" script -qec "$base/sbxrun --explain --session \
	    $session-plain -- sh -c 'kill -0 0 2>/dev/null && echo reached ||
	    echo kept'" /dev/null </dev/null | tr -d '\r' |
	    grep -x 'reached\|kept')"
}

# await FILE: until it is there.
await()
{
	for _ in $(seq 300); do
		[ ! -e "$1" ] || return 0
		sleep 0.1
	done
	return 1
}

# What a command leaves behind goes on when its sbxrun has ended.
left()
{
	run "$1" plain --explain '(
	    until [ -e go ]; do sleep 0.1; done
	    cat server.py >copy && mv copy copied) >/dev/null 2>&1 &'
	tap_is "uid $1: it does not wait for what it leaves" 0 "$status"
	as "$1" touch "$ws/go"
	await "$ws/copied"
	tap_is "uid $1: what it leaves goes on" 0 $?
}

# The one who listens knows what the keeper knows.
sockets()
{
	run "$1" sockets '' 'python3 server.py /tmp/open >/dev/null 2>&1 &
	    python3 server.py /tmp/shut >/dev/null 2>&1 &'
	await "$ws/up"
	for _ in $(seq 100); do
		run "$1" sockets '' '[ -S /tmp/open ] && [ -S /tmp/shut ]'
		[ $status -ne 0 ] || break
		sleep 0.1
	done
	for option in '' --explain; do
		run "$1" sockets "$option" 'python3 client.py /tmp/open'
		tap_is "uid $1: ${option:-without}: a server of the session" \
		    served "$(cat "$base/said")"
		run "$1" sockets "$option" 'python3 client.py /tmp/shut'
		tap_is "uid $1: ${option:-without}: one that a rule shuts" \
		    'Permission denied' "$(cat "$base/said")"
	done
	tells "$1" 'connect +..tmp./shut +1x python3 .*deny socket'
}

# killed UID: its end is the command's.
killed()
{
	nap=7$1.$$
	(cd "$ws" && as "$1" "$base/sbxrun" --explain --session \
	    "$session-plain" "$base/plain.bin" -- sleep "$nap" &)
	command=
	for _ in $(seq 300); do
		command=$(pgrep -f "^sleep $nap")
		[ -z "$command" ] || break
		sleep 0.1
	done
	kill -9 "$(ps -o ppid= -p "$command" | tr -d ' ')"
	for _ in $(seq 300); do
		pgrep -f "^sleep $nap" >/dev/null || break
		sleep 0.1
	done
	tap_empty "uid $1: a command whose sbxrun is killed ends" \
	    "$(pgrep -f "^sleep $nap")"
	run "$1" plain --explain 'echo there'
	tap_is "uid $1: the session is still there" there "$(cat "$base/said")"
}

each()
{
	prepare "$1"
	sessions="$1 $session-plain
$1 $session-sockets"
	tap_at_end='eval IFS="
"; end_sessions'
	commands "$1"
	records "$1"
	forms "$1"
	left "$1"
	sockets "$1"
	killed "$1"
	IFS='
'
	end_sessions
	unset IFS
}

tap_levels full
if [ -n "$levels" ]; then
	each "$(id -u)"
	! tap_twice || each "$ORDINARY"
fi
tap_done
