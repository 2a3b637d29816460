#!/bin/sh
# sbxrun --learn, as TAP: what a command wanted is written, whether the policy
# allows it or not, where the command cannot reach it; several runs share a file.
# At both levels, as this user and, started by root, as an ordinary one too.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

tap_begin /var/tmp
base=$tmp
tap_programs "$SBXRUN" "$SBXC"
[ ! -x "$builddir/sbx-proxy" ] || tap_programs "$builddir/sbx-proxy"
policy shell workspace-write
policy online coding-online
policy named workspace-write 'allow network domain "allowed.example"'
# shellcheck disable=SC2016  # the anchors are the policies'
policy wide workspace-write 'allow write ~/out'
# shellcheck disable=SC2016
policy kept workspace-write 'allow write ~/out' 'deny write ~/out/kept'
policy tools coding
# shellcheck disable=SC2016  # the anchors are the policies'
policy strict workspace-write 'deny write ${workspace}/source' \
    'limit timeout 1s'

# A home with things in it, made anew.
prepare()
{
	home=$base/home-$1 ws=$base/home-$1/ws file=$base/home-$1/learned
	rm -rf "$home"
	mkdir -p "$ws" "$home/.ssh" "$home/data" "$home/out"
	echo key >"$home/.ssh/id_rsa"
	echo text >"$home/data/file"
	echo text >"$ws/source"
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$home"
}

# run UID POLICY COMMAND: learns into $file; the status is in $status.
run()
{
	(cd "$ws" && as "$1" "$base/sbxrun" --learn "$file" -l "$level" \
	    "$base/$2.bin" -c "exec 2>/dev/null; $3" >"$base/said" 2>&1 \
	    </dev/null)
	status=$?
}

# has NAME PATTERN: a line of the file.
has()
{
	if grep -Eq -e "$2" "$file"; then
		tap_ok "$level: uid $uid: $1"
	else
		tap_not_ok "$level: uid $uid: $1" \
		    "wanted $2 in: $(cat "$base/said"; grep -v /usr/ "$file")"
	fi
}

records()
{
	prepare "$uid"
	run "$uid" shell 'cat source ~/data/file ~/.ssh/id_rsa; echo >x;
	    echo >~/data/new; unshare -U true; test -e ~/data; ls /; exit 3'
	tap_is "$level: uid $uid: the status is the command's" 3 "$status"
	has "the first record has the version" \
	    '^.{1,60}"learn","run":"[^"]*","learn":1,"profile":"my-shell"'
	has "a record has an anchor" "\"name\":\"workspace\",\"path\":\"$ws\""
	has "what is allowed is there" \
	    "\"read\",\"path\":\"$ws/source\",\"allowed\":true,\"count\":1,\"program\":\"cat\""
	has "what is made" "\"path\":\"$ws/x\",\"makes\":true,\"allowed\":true"
	has "what is denied" \
	    "\"$home/data/file\",\"allowed\":false,\"errno\":\"E(NOENT|ACCES)\",\"count\":1,\"program\":\"cat\""
	has "the root directory" '"read","path":"/",'
	has "credentials" "\"$home/.ssh/id_rsa\",\"allowed\":false"
	has "what cannot be made" \
	    "\"$home/data/new\",\"makes\":true,\"allowed\":false"
	has "a system call" '"call","arch":[0-9]*,"number":[0-9]*,.*"unshare"'
	has "the command itself" '"exec","path":"/(usr/)?bin/[a-z]*sh"'
	has "the last record has the status" '"event":"learned".*"status":3,'
	run "$uid" shell 'exit 4'
	tap_is "$level: uid $uid: two runs share a file" 2 \
	    "$(grep -c '"event":"learned"' "$file")"
	tap_is "$level: uid $uid: it is the user's alone" 600 \
	    "$(stat -c %a "$file")"
	[ "$level" = full ] || return 0
	run "$uid" shell 'mkdir -p ~/data && echo >~/data/x'
	has "what mkdir(2) would find there is to be written" \
	    "\"write\",\"path\":\"$home/data\",\"allowed\":false"
}

# refused NAME: sbxrun has said why, and nothing ran.
refused()
{
	if [ $status -eq 125 ] && grep -q "$2" "$base/said" &&
	    [ ! -e "$ws/ran" ]; then
		tap_ok "$level: uid $uid: $1"
	else
		tap_not_ok "$level: uid $uid: $1" \
		    "status $status: $(cat "$base/said")"
	fi
}

files()
{
	prepare "$uid"
	file=$ws/learned
	run "$uid" shell 'touch ran'
	refused "a file that the command can write is refused" 'lets the command'
	tap_empty "$level: uid $uid: and not made" "$(ls "$file" 2>/dev/null)"
	file=$home/out/learned
	run "$uid" wide 'touch ran'
	refused "so is one in what a rule allows" 'lets the command'
	mkdir "$home/out/kept"
	[ "$uid" -eq "$(id -u)" ] || chown "$uid:$uid" "$home/out/kept"
	file=$home/out/kept/learned
	run "$uid" kept 'touch ran'
	refused "and one in a directory that can be renamed" 'lets the command'
	file=$home/data/file
	run "$uid" shell 'touch ran'
	refused "a file of something else is refused" 'something else'
	echo 'a text that is longer than the beginning of a record' >"$file"
	run "$uid" shell 'touch ran'
	refused "whatever its length" 'something else'
	file=$home/learned
	run "$uid" shell true
	printf '{"sbx":1' >>"$file"
	run "$uid" shell 'touch ran'
	refused "a file that ends within a line is refused" 'last line'
	rm "$file"
	ln -s data/file "$file"
	run "$uid" shell 'touch ran'
	refused "a link is refused" 'cannot open'
	rm "$file"
	run "$uid" shell 'ls -l /proc/self/fd/ | grep learned'
	tap_is "$level: uid $uid: the command has no descriptor of it" 1 \
	    "$status"
	# shellcheck disable=SC2088  # it is the command's to expand
	run "$uid" shell 'echo x >>~/learned || rm ~/learned'
	has "the command cannot write it" '"event":"learned"'
	(cd "$ws" && as "$uid" "$base/sbxrun" --learn "$file" -n \
	    "$base/shell.bin" >"$base/said" 2>&1)
	status=$?
	refused "it goes with a command" 'goes with a command'
}

# Where nobody can write: it says what to do.
places()
{
	prepare "$uid"
	for file in /sys/learned "$base/absent/learned"; do
		run "$uid" shell 'touch ran'
		refused "$file is refused" "such as ~/learned: [A-Z]"
	done
	[ "$uid" -ne 0 ] || return
	mkdir -m 555 "$home/shut"
	[ "$(id -u)" -ne 0 ] || chown "$uid" "$home/shut"
	file=$home/shut/learned
	run "$uid" shell 'touch ran'
	refused "so is a directory that cannot be written" \
	    "such as ~/learned: Permission denied"
}

# What is only looked for, in PATH, by stat(2) and by modules, is no rule.
probes()
{
	prepare "$uid"
	mkdir -p "$home/lib/node_modules" "$home/looked"
	: >"$home/looked/file"
	cat >"$ws/look.py" <<'END'
import os
for i in range(300):
    for name in "~/absent/%d", "~/lib/node_modules/m%d", "~/%d.conf":
        for look in os.stat, os.lstat, os.readlink, open, os.listdir:
            try: look(os.path.expanduser(name % i))
            except OSError: pass
for look in os.stat, os.lstat, lambda path: os.access(path, os.R_OK):
    try: look(os.path.expanduser("~/looked/file"))
    except OSError: pass
END
	run "$uid" shell 'PATH=$HOME/a:/opt/b:/usr/bin:/bin; python3 look.py; nonesuch'
	draft
	tap_empty "$level: uid $uid: what is only looked for is no rule" \
	    "$(grep '^    allow' "$base/draft.sbx")"
	[ "$level" = standard ] ||
	    tap_found "$level: uid $uid: but what is there is in a comment" \
		"$(grep '#   read ~/looked' "$base/draft.sbx")"
}

# What runs had of the network, their draft gives them.
loopback()
{
	[ "$level" = full ] || return
	prepare "$uid"
	cat >"$ws/serve.py" <<'END'
import socket, threading
server = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=lambda: server.accept()[0].sendall(b"x")).start()
with socket.create_connection(server.getsockname()) as client:
    assert client.recv(1) == b"x"
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.bind(("127.0.0.1", 0))
END
	run "$uid" tools 'python3 serve.py'
	tap_is "$level: uid $uid: a server passes under @coding" 0 "$status"
	for words in '' '--extends workspace-write' '--extends none'; do
		# shellcheck disable=SC2086  # words
		draft $words
		run "$uid" draft 'python3 serve.py'
		tap_is "$level: uid $uid: and under its draft ($words)" 0 \
		    "$status"
	done
}

# lacks NAME PATTERN: what --update says of the last run.
lacks()
{
	"$SBXC" learn --update "$base/$with.sbx" "$file" >"$base/said" 2>&1
	tap_found "$level: uid $uid: --update: $1" \
	    "$(grep -e "$2" "$base/said")"
}

# Why there is no rule for what failed.
denied()
{
	prepare "$uid"
	with=strict
	run "$uid" $with 'echo x >source'
	lacks "a deny" "^no rule is offered; the last run ended with [12]"
	lacks "a deny, by its line" \
	    "write .*source .*kept by 'deny write [^']*' ([^ ]*strict.sbx:3:"
	lacks "and what to do" "^sbxc why .*strict.sbx write "
	rm -f "$file"
	run "$uid" $with 'cat ~/.ssh/id_rsa'
	lacks "credentials" "read ~/.ssh/id_rsa (cat 1x).*(credentials)"
	rm -f "$file"
	connect='python3 -c "import socket, sys
socket.create_connection((sys.argv[1], int(sys.argv[2])))"'
	run "$uid" $with "$connect 198.51.100.7 80"
	lacks "the network" "the policy has no network"
	rm -f "$file"
	run "$uid" $with 'sleep 60'
	lacks "a limit" "ended with 124: its 'limit timeout' was over"
	rm -f "$file"
	run "$uid" $with 'exit 7'
	lacks "the command's own failure" "ended with 7: 'sbxrun --explain'"
	run "$uid" $with true
	lacks "no failure" "^no rule is lacking$"
	with=wide
	rm -rf "$file" "$home/out"
	run "$uid" $with 'echo x >~/out'
	lacks "what was not there" "once somebody has made it before"
	mkdir "$home/out"
	[ "$uid" -eq "$(id -u)" ] || chown "$uid:$uid" "$home/out"
	run "$uid" shell 'echo x >~/out/x'
	lacks "what is allowed now" "'write ~/out/x' is one: run it once more"
	[ "$level" = full ] || return
	with=tools
	rm -f "$file"
	run "$uid" $with "$connect 127.0.0.1 $port"
	lacks "a service of the host" "'allow network host tcp $port'"
}

# Names that are many, long, or no text.
names()
{
	prepare "$uid"
	cat >"$ws/names.py" <<'END'
import os
for i in range(3000):
    os.makedirs("d/%d" % (i % 30), exist_ok=True)
    os.close(os.open("d/%d/%d" % (i % 30, i), os.O_CREAT | os.O_WRONLY))
os.mkdir("e")
for i in range(65):
    os.close(os.open("e/%d" % i, os.O_CREAT | os.O_WRONLY))
os.close(os.open(b"bad\xff\x1b[2J\n\"", os.O_CREAT | os.O_WRONLY))
room = 4095 - len(os.getcwd())
while room > 256:
    os.mkdir("y" * 200)
    os.chdir("y" * 200)
    room -= 201
os.close(os.open("z" * (room - 1), os.O_CREAT | os.O_WRONLY))
END
	run "$uid" shell 'python3 names.py'
	tap_is "$level: uid $uid: a command with many names" 0 "$status"
	has "further names are counted for their directory" \
	    "\"path\":\"$ws/d/7\",\"below\":true,.*\"count\":36,"
	has "a single one has its program" \
	    "\"path\":\"$ws/e\",\"below\":true,.*\"count\":1,\"program\":\"python3"
	tap_is "$level: uid $uid: the others are kept" 64 \
	    "$(grep -c "\"path\":\"$ws/d/7/" "$file")"
	has "a name that is no text is there in digits" \
	    'bad\\ufffd\\u001b\[2J\\u000a\\"","bytes":"2f[0-9a-f]*626164ff1b5b324a0a22"'
	has "a path of 4095 bytes is whole" 'z{50}","makes":true'
	tap_is "$level: uid $uid: as long as it is" 4095 "$(
	    grep -o '"path":"[^"]*z"' "$file" | awk '{ print length - 9 }')"
	tap_empty "$level: uid $uid: nothing in it moves a terminal" \
	    "$(LC_ALL=C tr -d '\n -~' <"$file" | head -c 9)"
}

# What was asked for in the network: names, and addresses.
network()
{
	prepare "$uid"
	cat >"$ws/ask.py" <<'END'
import socket, urllib.request
try: urllib.request.urlopen("https://seen.example", timeout=5)
except OSError: pass
with socket.socket() as s:
    s.settimeout(5)
    try: s.connect(("198.51.100.7", 5432))
    except OSError: pass
END
	run "$uid" online 'python3 ask.py'
	has "an address is there" \
	    '"connect","address":"198.51.100.7","port":5432,'
	if [ ! -x "$base/sbx-proxy" ]; then
		tap_lacks "$level: uid $uid: names" "there is no sbx-proxy"
		return
	fi
	has "a name is there" \
	    '"network",.*"name":"seen.example","port":443,"verdict":"no rule"'
	draft
	for rule in 'connect 198.51.100.7:5432' 'domain "seen.example"'; do
		tap_found "$level: uid $uid: allow network $rule" \
		    "$(grep "allow network $rule" "$base/draft.sbx")"
	done
	tap_found "$level: uid $uid: it extends what has names" \
	    "$(grep 'extends coding-online' "$base/draft.sbx")"
}

# At full a name has an address of the sandbox's own, which says nothing.
named()
{
	if [ "$level" != full ] || [ ! -x "$base/sbx-proxy" ]; then
		return
	fi
	prepare "$uid"
	cat >"$ws/ask.py" <<'END'
import socket
to = socket.getaddrinfo("allowed.example", 443, socket.AF_INET)[0][4]
with socket.socket() as s:
    s.settimeout(5)
    try: s.connect(to)
    except OSError: pass
print(to[0], file=open("asked", "w"))
END
	run "$uid" named 'python3 ask.py'
	address=$(cat "$ws/asked")
	tap_found "$level: uid $uid: a name has an address" "$address"
	tap_empty "$level: uid $uid: which is not what was wanted" \
	    "$(grep -F "\"address\":\"$address\"" "$file")"
}

# draft WORD...: drafts $base/draft.bin of what was learned.
draft()
{
	rm -f "$base/draft.sbx" "$base/draft.test.yaml"
	"$SBXC" learn -p drafted -o "$base/draft.sbx" "$@" "$file" \
	    >"$base/said" 2>&1 &&
	    "$SBXC" check -E all "$base/draft.sbx" >>"$base/said" 2>&1 &&
	    "$SBXC" build "$base/draft.sbx" -o "$base/draft.bin" \
		>>"$base/said" 2>&1 &&
	    "$SBXC" test "$base/draft.test.yaml" >>"$base/said" 2>&1
	status=$?
	tap_empty "$level: uid $uid: the draft is good" "$(
	    [ $status -eq 0 ] || cat "$base/said" "$base/draft.sbx")"
}

# A command is run under one draft after the other until it passes.
rounds()
{
	prepare "$uid"
	command='cat ~/data/file >copy && echo x >~/out/new &&
	    mkdir -p ~/.tool/state && echo x >~/.tool/state/db &&
	    { cat ~/.ssh/id_rsa >stolen || true; } && rm ~/out/new'
	mkdir -p "$home/.tool"
	[ "$uid" -eq "$(id -u)" ] || chown "$uid:$uid" "$home/.tool"
	with=shell
	for round in 1 2 3 4 5; do
		run "$uid" "$with" "$command"
		[ $status -ne 0 ] || break
		draft "$@"
		with=draft
	done
	tap_is "$level: uid $uid: it passes under a draft ($*), round $round" \
	    0 "$status"
	tap_empty "$level: uid $uid: no key was given" \
	    "$(cat "$ws/stolen" 2>/dev/null)"
	tap_is "$level: uid $uid: the draft has few rules" 3 \
	    "$(grep -c '^    allow .*  # [a-z]* [0-9]*x' "$base/draft.sbx")"
	printf 'sbx 1\n\nprofile old extends workspace-write {\n}\n' \
	    >"$base/old.sbx"
	"$SBXC" learn --update "$base/old.sbx" --write "$file" >"$base/said" 2>&1
	tap_found "$level: uid $uid: a policy is brought up to it" \
	    "$(grep 'wider: read and write ~/out' "$base/said")"
	"$SBXC" build "$base/old.sbx" -o "$base/old.bin"
	rm -f "$home/.tool/state/db"
	run "$uid" old "$command"
	tap_is "$level: uid $uid: and the command passes under that" 0 "$status"
}

each()
{
	uid=$1
	tap_levels standard full
	for level in $levels; do
		records
		files
		places
		probes
		loopback
		denied
		names
		network
		named
		rounds
		rounds --extends none
	done
}

"$PROBE" serve-tcp "$base/port" &
tap_at_end="kill $!"
tap_until [ -s "$base/port" ]
port=$(cat "$base/port")
each "$(id -u)"
! tap_twice || each "$ORDINARY"
tap_done
