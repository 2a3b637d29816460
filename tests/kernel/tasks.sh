#!/bin/sh
# Ten tasks of an agent's day under `coding` as it is shipped, as TAP: what must
# work, and what must not, at both levels.

# Variables in what the sandbox's shell runs are that shell's.
# shellcheck disable=SC2016

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

tap_begin /var/tmp
base=$tmp
service='' agent=''
stop()
{
	# shellcheck disable=SC2086  # none or one
	kill $service $agent 2>/dev/null
}
tap_at_end=stop
tap_programs "$SBXRUN"
policy coding coding
# Those that every user may run.
PATH=/usr/local/bin:/usr/bin:/bin

# What the tasks work on.
project()
{
	mkdir -p "$home/.ssh" "$ws/test"
	echo secret >"$home/.ssh/id_ed25519"
	cat >"$ws/package.json" <<-'FILE'
		{ "name": "p", "version": "1.0.0", "private": true,
		  "scripts": { "test": "node --test test/" } }
	FILE
	cat >"$ws/test/server.test.js" <<-'FILE'
		const test = require('node:test');
		const assert = require('node:assert');
		const http = require('node:http');
		test('a server answers', (t, done) => {
		    const server = http.createServer((q, a) => a.end('hello'));
		    server.listen(0, () => http.get({ host: 'localhost',
		        port: server.address().port }, (answer) => {
		            assert.equal(answer.statusCode, 200);
		            answer.resume();
		            answer.on('end', () => { server.close(); done(); });
		        }));
		});
	FILE
	cat >"$ws/test_it.py" <<-'FILE'
		import http.server
		import socket
		import threading
		import unittest
		import urllib.request


		class It(unittest.TestCase):
		    def test_unix(self):
		        listening = socket.socket(socket.AF_UNIX)
		        listening.bind('it.sock')
		        listening.listen()
		        connecting = socket.socket(socket.AF_UNIX)
		        connecting.connect('it.sock')
		        accepted, _ = listening.accept()
		        connecting.sendall(b'hello')
		        self.assertEqual(accepted.recv(5), b'hello')

		    def test_http(self):
		        class Handler(http.server.BaseHTTPRequestHandler):
		            def do_GET(self):
		                self.send_response(200)
		                self.end_headers()
		                self.wfile.write(b'hello')

		        server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
		        threading.Thread(target=server.serve_forever,
		            daemon=True).start()
		        url = 'http://localhost:%d/' % server.server_port
		        with urllib.request.urlopen(url) as answer:
		            self.assertEqual(answer.read(), b'hello')
		        server.shutdown()
	FILE
	printf 'all: p\np: p.o\n\t$(CC) -o p p.o\n' >"$ws/Makefile"
	echo 'int main(void) { return 0; }' >"$ws/p.c"
	git -C "$ws" init -q
	git -C "$ws" config user.email a@example.org
	git -C "$ws" config user.name A
}

# task COMMAND: its last line, and how it ended.
task()
{
	# shellcheck disable=SC2086  # none or one word
	(cd "$ws" && as "$uid" ${agent_socket:+SSH_AUTH_SOCK=$agent_socket} \
	    PORT="$port" "$base/sbxrun" -l "$level" "$base/coding.bin" -- \
	    sh -c "$1" >"$base/out" 2>&1 </dev/null && echo works || echo fails)
}

# works NAME COMMAND, shut NAME COMMAND
works() { tap_is "$level: uid $uid: $1" works "$(task "$2")"; show; }
shut() { tap_is "$level: uid $uid: $1 is shut" fails "$(task "$2")"; }
show() { [ "$tap_failed" -eq 0 ] || sed 's/^/# /' "$base/out" | tail -n 5; }

has() { PATH=$PATH command -v "$1" >/dev/null; }

reach='python3 -c "import os, socket; socket.create_connection((
    \"127.0.0.1\", int(os.environ[\"PORT\"])), 5)"'
tasks()
{
	works 'git commit' 'echo a >>a && git add a && git commit -qm a &&
	    [ "$(git log --format=%s | head -n 1)" = a ]'
	if has npm && node -e 'require("node:test")' 2>/dev/null; then
		works 'npm test' 'npm test'
	else
		tap_lacks 'npm test' 'no npm'
	fi
	works 'python with AF_UNIX and http' 'rm -f it.sock
	    if python3 -c "import pytest" 2>/dev/null; then
		python3 -m pytest -q test_it.py
	    else python3 -m unittest test_it; fi'
	works 'gcc and make' 'rm -f p p.o; make && ./p'
	# The log of the level before would name its port.
	works 'a server, and a client in another process' 'rm -f log
	    python3 -u -m http.server 0 >log 2>&1 &
	    for i in $(seq 600); do
		grep -q "port [0-9]" log && break; sleep 0.1
	    done
	    at=$(sed "s/.*port \([0-9]*\).*/\1/" log | head -n 1)
	    python3 -c "import urllib.request as r; print(
		r.urlopen(\"http://127.0.0.1:$at/p.c\").read())"; said=$?
	    kill $!; exit $said'
	shut 'the keys of ssh' 'cat "$HOME/.ssh/id_ed25519"'
	shut 'writing outside' 'echo x >"$HOME/outside"'
	[ ! -e "$home/outside" ] || tap_not_ok "$level: a file outside" there
	shut "a host's service" "$reach"
	hook
	shut 'the ssh-agent outside' 'ssh-add -l >said 2>&1; grep -q . said &&
	    ! grep -q -e "not open" -e "connecting" said'
}

# Kept from being written, at full, or told.
hook()
{
	task 'echo "#!/bin/sh" >.git/hooks/pre-commit &&
	    chmod +x .git/hooks/pre-commit' >/dev/null
	if [ ! -e "$ws/.git/hooks/pre-commit" ]; then
		tap_ok "$level: uid $uid: a hook cannot be planted"
	else
		tap_found "$level: uid $uid: a planted hook is told" \
		    "$(grep 'pre-commit' "$base/out")"
	fi
	rm -f "$ws/.git/hooks/pre-commit"
}

each()
{
	uid=$1 home=$base/home-$1 ws=$base/home-$1/ws
	project
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$home"
	agent_socket=
	rm -f "$base/agent"
	if has ssh-agent; then
		mkdir -p "$home/run"
		chown "$1" "$home/run"
		as "$1" ssh-agent -a "$home/run/agent" >"$base/agent"
		agent=$(sed -n 's/.*SSH_AGENT_PID=\([0-9]*\);.*/\1/p' \
		    "$base/agent")
		agent_socket=$home/run/agent
	fi
	tap_levels standard full
	for level in $levels; do
		tasks
	done
	[ -z "$agent" ] || kill $agent
	agent=
}

python3 -c 'import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
print(s.getsockname()[1], flush=True); time.sleep(3600)' >"$base/port" &
service=$!
tap_until test -s "$base/port"
port=$(cat "$base/port")
tap_is 'bare: the service is there' 0 "$(PORT=$port sh -c "$reach"; echo $?)"
each "$(id -u)"
! tap_twice || each "$ORDINARY"
tap_done
