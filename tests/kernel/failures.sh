#!/bin/sh
# What people run into most, as TAP: a command fails because of the policy,
# --explain names the line, and what it says is done to the letter: then the
# command works.  Where nothing safe would do, it says so.  At both levels, as this
# user and, started by root, as an ordinary one too.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# The names of hosts lead to this machine, in a network and with files of its own.
if [ "$(id -u)" -eq 0 ] && [ -z "${FAILURES_INSIDE:-}" ] &&
    unshare -n -m true 2>/dev/null; then
	FAILURES_INSIDE=1 exec unshare -n -m "$0"
fi
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

tap_begin /var/tmp
base=$tmp
tap_programs "$SBXRUN" "$SBXC"
[ ! -x "$builddir/sbx-proxy" ] || tap_programs "$builddir/sbx-proxy"
mkdir "$base/www" || exit 99
echo hello >"$base/www/hello"
python=/usr/bin/python3
[ -x $python ] || python=python3

# serve ADDRESS PORT: a web server outside; fails if there is none.
serve()
{
	# shellcheck disable=SC2086  # a word
	$python -c 'import functools, http.server, sys
class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])),
    functools.partial(Quiet, directory=sys.argv[3]))
open(sys.argv[4], "w").write(str(server.server_address[1]))
server.serve_forever()' "$1" "$2" "$base/www" "$base/up-$1" &
	servers="$servers $!"
	# shellcheck disable=SC2064  # as they are now
	trap "kill $servers 2>/dev/null" EXIT
	tries=0
	until [ -s "$base/up-$1" ]; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || exit 99
		sleep 0.1
	done
}

servers=''
if [ -n "${FAILURES_INSIDE:-}" ]; then
	ip link set lo up && ip address add 11.22.33.44/32 dev lo || exit 99
	printf '127.0.0.1 localhost\n11.22.33.44 www.example\n' >"$base/hosts"
	echo 'hosts: files dns' >"$base/nsswitch.conf"
	echo 'nameserver 127.0.0.1' >"$base/resolv.conf"
	for name in hosts nsswitch.conf resolv.conf; do
		[ ! -e "/etc/$name" ] ||
			mount --bind "$base/$name" "/etc/$name" || exit 99
	done
	if git init -q -b main "$base/work" 2>/dev/null; then
		git -C "$base/work" -c user.name=a -c user.email=a@b commit -q \
		    --allow-empty -m first
		git clone -q --bare "$base/work" "$base/www/repo.git"
		git -C "$base/www/repo.git" update-server-info
	fi
	serve 11.22.33.44 80
fi
serve 127.0.0.1 0
port=$(cat "$base/up-127.0.0.1")

# A home with things in it that policies keep, made anew.
prepare()
{
	home=$base/home-$1 ws=$base/home-$1/ws
	rm -rf "$home"
	mkdir -p "$ws/a/b" "$ws/.git" "$ws/.vscode" "$home/.ssh" "$home/.aws" \
	    "$home/data" "$home/other" "$home/tools" "$home/.config/tool" \
	    "$home/.local/lib/python3.11/site-packages"
	echo key >"$home/.ssh/id_rsa"
	echo key >"$home/.aws/credentials"
	echo machine x >"$home/.netrc"
	echo x >"$home/.config/tool/settings"
	echo text >"$home/data/file"
	echo text >"$home/other/file"
	echo text >"$ws/secret"
	echo text >"$ws/a/b/c"
	printf '#!/bin/sh\necho ran\n' >"$home/tools/tool"
	chmod 755 "$home/tools/tool"
	printf '[user]\nname=me\nemail=me@x\n' >"$home/.gitconfig"
	echo '# mine' >"$home/.bashrc"
	{
		printf 'sbx 1\nprofile team extends workspace-write {\n'
		cat "$base/own"
		echo '}'
	} >"$base/team.sbx"
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$home"
}

compiled()
{
	(cd "$base" && "$SBXC" team.sbx -o team.bin) >"$base/built" 2>&1
}

# try UID COMMAND: puts the status into $status.
try()
{
	(cd "$ws" && as "$1" "$base/sbxrun" --explain -l "$level" \
	    "$base/team.bin" -c "exec 2>/dev/null; $2" \
	    >"$base/said" 2>"$base/block" </dev/null)
	status=$?
}

# An edit at a line, as it is printed: RULE at FILE:LINE:COLUMN, or FILE:LINE:COLUMN
# with: except OBJECT.
edit()
{
	at=$(expr "$1" : '.* at \(team.sbx:[0-9]*\)')
	case $1 in
	"take away: "*) sed -i "${at#*:}d" "$base/team.sbx" ;;
	"end the rule at "*)
		sed -i "${at#*:}s|\$| ${1##* with: }|" "$base/team.sbx"
		;;
	*) return 1 ;;
	esac
}

# apply UID: the steps of the block, to the letter.  Fails if there is none.
apply()
{
	sed -n 's/^          //p' "$base/block" >"$base/steps"
	sed -i '$d' "$base/team.sbx"
	done=0
	while read -r step; do
		case $step in
		"first, in a shell: make the "*)
			# Whoever reads it makes it as she likes: what may be
			# either is a directory here.
			place=$(expr "$step" : '[^"]*"\(.*\)" outside of the')
			case $step in
			*'make the file "'*) as "$1" touch "$place" ;;
			*) as "$1" mkdir "$place" ;;
			esac
			;;
		"first, in a shell: "*)
			as "$1" sh -c "${step#*shell: }" </dev/null
			;;
		"in the policy: take away: "* | "in the policy: end the rule"*)
			edit "${step#in the policy: }" && done=1
			;;
		"in the policy: "*) echo "${step#*policy: }" && done=1 ;;
		"instead, in the policy: "*)
			echo "${step#*policy: }" && done=1
			;;
		esac >>"$base/team.sbx"
	done <"$base/steps"
	echo '}' >>"$base/team.sbx"
	[ $done -eq 1 ] && compiled
}

# begin UID COMMAND PATTERN [STATEMENT...]: it fails, and a line says why.
begin()
{
	begin_uid=$1 begin_command=$2 begin_pattern=$3
	what="$level: uid $1: $2"
	shift 3
	printf '    %s\n' "$@" >"$base/own"
	prepare "$begin_uid"
	if ! compiled; then
		tap_not_ok "$what: the policy" "$(cat "$base/built")"
		return 1
	fi
	try "$begin_uid" "$begin_command"
	if [ "$status" -eq 0 ] ||
	    ! grep -Eq -e "$begin_pattern" "$base/block"; then
		tap_not_ok "$what: fails, and it is said why" \
		    "status $status: $(cat "$base/block")"
		return 1
	fi
	tap_ok "$what: fails, and it is said why"
}

# fixed UID COMMAND PATTERN [STATEMENT...]: and what is said helps; what comes
# after the first failure shows only then.
fixed()
{
	begin "$@" || return
	for _ in 1 2 3; do
		apply "$1" || break
		try "$1" "$2"
		[ "$status" -ne 0 ] || break
	done
	if [ "$status" -eq 0 ]; then
		tap_ok "$what: works once that is done"
	else
		tap_not_ok "$what: works once that is done" \
		    "status $status: $(cat "$base/block" "$base/team.sbx" \
			"$base/built")"
	fi
}

# kept SENTENCE UID COMMAND PATTERN [STATEMENT...]: nothing safe would do.
kept()
{
	sentence=$1
	shift
	begin "$@" || return
	if grep -Eq -e "^          no rule is offered: $sentence" \
	    "$base/block" &&
	    ! grep -Eq -e '^          (in the policy: |first, in a shell)' \
		"$base/block"; then
		tap_ok "$what: no rule is offered"
	else
		tap_not_ok "$what: no rule is offered" "$(cat "$base/block")"
	fi
}

# needs PROGRAM COMMAND...: where there is one.
needs()
{
	if command -v "$1" >/dev/null; then
		shift
		"$@"
	else
		tap_lacks "$level: uid $3: $4" "there is no $1"
	fi
}

# shellcheck disable=SC2088  # patterns, and the command's to expand
files()
{
	fixed "$1" 'cat ~/other/file' 'read +~/other/file .* no rule$'
	fixed "$1" 'echo >~/data/new' 'write +~/data/new .* no rule$'
	fixed "$1" 'cd ~/other && touch file' \
	    '(read|write) +~/other'
	fixed "$1" 'rm ~/data/file' 'write +~/data/file .* no rule$'
	fixed "$1" 'mkdir -p ~/.parallel/tmp' 'write +~/.parallel '
	fixed "$1" 'mkdir -p ~/"a b*c"/x' 'write +~/a b.c '
	fixed "$1" 'mkdir -p ~/data && echo x >~/data/x' \
	    'write +~/data(/x)? .* no rule$'
	fixed "$1" '~/tools/tool' 'exec +~/tools/tool .* no rule$'
	fixed "$1" 'cp ~/other/file ~/data/copy' '(read|write) +~/(other|data)'
	fixed "$1" 'cat ~/.config/tool/settings' \
	    'read +~/.config/tool/settings .*deny read ~/.config'
	needs git fixed "$1" 'git config --global user.name x' \
	    'write +~/(.gitconfig|.local/state/sbx/git/config).lock '
	needs sed fixed "$1" 'sed -i s/a/b/ ~/data/file' 'read +~/data/file'
	needs perl fixed "$1" \
	    "perl -e 'open(F, \">\", \"\$ENV{HOME}/zz\") or exit 1'" \
	    'write +~/zz '
	# shellcheck disable=SC2016  # the policy's
	fixed "$1" 'cat secret' 'read .*/secret .* team.sbx:3:.*deny read' \
	    'deny read ${workspace}/secret'
	# shellcheck disable=SC2016
	fixed "$1" 'cat a/b/c' 'read .*/a/b/c .* team.sbx:3:.*deny read' \
	    'deny read ${workspace}/a'
}

# Advice that led nowhere once: a name that the next run does not have, a variable
# of another file, one that hides what the program reads, or a directory that nobody
# makes.
# shellcheck disable=SC2016,SC2088  # the command's to expand
misled()
{
	mkdir -p "$base/everybody" && chmod 1777 "$base/everybody"
	fixed "$1" "d=\$(mktemp -d $base/everybody/build.XXXXXX) && rmdir \"\$d\"" \
	    'write .*/everybody/build\.[^ ]* .* no rule$'
	needs npm fixed "$1" 'mkdir -p m && echo "{\"name\":\"m\",\"version\":\"1.0.0\"}" >m/package.json
	    : ${npm_config_prefix:=$HOME/.npm-global}; export npm_config_prefix
	    npm i -g --offline ./m' 'write +~/.npm-global'
	needs git fixed "$1" 'git init -q r && cd r && echo x >x && git add x &&
	    git config --global core.pager cat && git commit -q -m x &&
	    git log --format=%ae | grep -q me@x' 'write +~/(.gitconfig|.local/state/sbx/git/config).lock '
	fixed "$1" 'mkdir -p "${XDG_CONFIG_HOME:-$HOME/.config}/new/x"' \
	    'write +~/.config'
	begin "$1" 'mkdir ~/.config/new' 'write +~/.config' \
	    'set env XDG_CONFIG_HOME = ${tmp}/config'
	tap_is "$level: uid $1: a variable that is set is not offered" 0 \
	    "$(grep -c 'set env XDG' "$base/block")"
	needs gpg fixed "$1" 'gpg --batch --list-keys' \
	    '(read|write) +~/.gnupg'
	needs git fixed "$1" 'rm -rf .git && git init -q && git -c user.name=me \
	    -c user.email=a@b commit -q --allow-empty -m x && git worktree add -q ../x' \
	    'write +~/x '
	tap_is "$level: uid $1: what holds all projects is not offered" 0 \
	    "$(grep -cx '    allow write ~' "$base/team.sbx")"
	"$base/sbxrun" --status --json | grep -q '"abi":9' ||
		works "$1" 'mkdir shared && chmod g+s shared && [ -g shared ]'
}

# works UID COMMAND: and nothing has to be said.
works()
{
	echo >"$base/own"
	prepare "$1"
	compiled && try "$1" "$2"
	tap_is "$level: uid $1: $2" 0 "$status"
}

# shellcheck disable=SC2088
keepings()
{
	kept 'credentials are there' "$1" 'cat ~/.ssh/id_rsa' \
	    'read +~/.ssh/id_rsa .*deny read ~/.ssh$'
	kept 'credentials are there' "$1" 'cat ~/.aws/credentials' \
	    'read +~/.aws/cred.*deny read ~/.aws$'
	kept 'credentials are there' "$1" 'cat ~/.netrc' \
	    'read +~/.netrc .*deny read ~/.netrc$'
	kept 'credentials are there' "$1" 'echo x >>~/.npmrc' \
	    'write +~/.npmrc .*deny read ~/.npmrc$'
	kept 'it gives away what every python runs' "$1" \
	    'echo >~/.local/lib/python3.11/site-packages/a.pth' \
	    'write +~/.local/lib/'
	[ "$level" != full ] || kept 'it gives away the settings of every' \
	    "$1" 'mkdir -p ~/.config/tool' 'write +~/.config .*deny read ~/.con'
	kept 'it gives away what every new shell runs' "$1" \
	    'echo x >>~/.bashrc' 'write +~/.bashrc '
	# shellcheck disable=SC2016  # the policy's
	kept ".deny write .*/.git. at team.sbx:3:16 is there to keep commands" \
	    "$1" 'echo >.git/index.lock' \
	    'write .*/.git/index.lock .* team.sbx:3:16 deny write' \
	    'deny write ${workspace}/.git'
}

calls()
{
	kept 'nobody gets users, mounts or processes of their own inside' \
	    "$1" 'unshare -U true' 'call +unshare .*'
	server="$python -c 'import socket; s = socket.socket(); \
s.bind((\"127.0.0.1\", 8765)); s.listen()'"
	if [ "$level" = full ]; then
		fixed "$1" "$server" 'call +socket inet stream '
	elif begin "$1" "$server" 'call +socket inet stream '; then
		tap_found "$what: the rules that there are" \
		    "$(grep "instead: .* 'allow network listen tcp PORT'" \
			"$base/block")"
	fi
}

network()
{
	needs curl fixed "$1" "curl -fsS http://127.0.0.1:$port/hello" \
	    "call +socket inet stream for 127.0.0.1:$port "
	"$base/sbxrun" --status --json | grep -q '"hosts":{"available":true' ||
		return 0
	for rule in 'allow network loopback' \
	    'allow network domain one.example'; do
		needs curl fixed "$1" "curl -fsS http://127.0.0.1:$port/hello" \
		    "host +tcp $port .*127.0.0.1 is the sandbox's own" "$rule"
	done
	[ -n "${FAILURES_INSIDE:-}" ] || return 0
	needs curl fixed "$1" 'curl -fsS http://www.example/hello' \
	    'call +socket inet dgram for www.example:80 '
	needs wget fixed "$1" 'wget -q -t 1 -O- http://www.example/hello' \
	    'call +socket inet .* for www.example:80 '
	needs git fixed "$1" 'git clone -q http://www.example/repo.git' \
	    'call +socket inet dgram for www.example:80 '
	needs curl fixed "$1" 'curl -fsS http://11.22.33.44/hello' \
	    'call +socket inet stream for 11.22.33.44:80 '
	needs curl fixed "$1" 'curl -fsS http://www.example/hello' \
	    'domain +www.example:80 .* no rule' 'allow network domain one.example'
}

# What no rule about places decides, and the sandbox refuses all the same: a line
# each of level, user (o: not root, r: root, b: both), command, what is said.  All
# of them is told and nothing else: the own ones have nothing.
# shellcheck disable=SC2016  # the commands'
obstacles()
{
	cat <<'END'
b|both|exec dd if=/dev/zero of=big bs=1M count=2|limit file-size 1MiB
b|both|$py 'import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); f = open("big", "wb"); f.write(bytes(2000000)); f.flush()'|call +write .*/big .*limit file-size 1MiB
b|both|$py 'import os; [os.open("/dev/null", 0) for i in range(100)]'|call +open.* limit open-files 64
b|both|ulimit -c 1000|call +prlimit64 .*limit core 0B
b|standard|$py 'open("/proc/self/comm", "w")'|write +/proc/self/comm
r|full|$py 'open("/proc/self/comm", "w")'|write +/proc/self/comm
o|full|$py 'open("/proc/self/comm", "w")' && exit 5|no denial was seen
b|standard|$py 'import os; open("/proc/%d/oom_score_adj" % os.getpid(), "w")'|write +/proc/self/oom_score_adj
r|full|$py 'import os; open("/proc/%d/oom_score_adj" % os.getpid(), "w")'|write +/proc/self/oom_score_adj
o|full|$py 'import os; open("/proc/%d/oom_score_adj" % os.getpid(), "w")' && exit 5|no denial was seen
b|standard|$py 'import os; open("/proc/self/task/%d/comm" % os.getpid(), "w")'|write +/proc/self/comm
r|full|$py 'import os; open("/proc/self/task/%d/comm" % os.getpid(), "w")'|write +/proc/self/comm
o|full|$py 'import os; open("/proc/self/task/%d/comm" % os.getpid(), "w")' && exit 5|no denial was seen
b|both|$py 'import ctypes, sys; sys.exit(ctypes.CDLL(None).mq_open(b"/sbx-q", 0o102, 0o600, None) < 0)'|call +mq_open
b|both|$py 'import socket; socket.socket(socket.AF_UNIX).connect("\0$abstract")'|call +connect @sbx-failures.*server is outside
b|standard|kill -CONT $outside|call +kill process [0-9]*, sleep .*outside of the sandbox
b|both|$py 'import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)'|call +socket unix dgram
b|both|cp /bin/true t && chmod u+s t|call +fchmodat
r|full|chown 1 secret|call +fchownat .*/secret .*gives files to others
r|full|chgrp 1 secret|call +fchownat .*/secret .*no number in the sandbox
r|both|mknod dev c 1 3|call +mknodat .*/dev .*makes devices
r|full|$py 'import os; os.setgroups([1])'|call +setgroups .*becomes another user
b|both|test -n "$EXAMPLE_API_KEY"|no denial was seen; .*kept back: EXAMPLE_API_KEY
b|both|cat ~/other/file; exit 1|kept back as well: EXAMPLE_API_KEY$
o|both|chown 1 secret|no denial was seen
o|both|mknod dev c 1 3|no denial was seen
o|both|$py 'import os; os.setgroups([1])'|no denial was seen
b|both|exit 7|no denial was seen; in force: .*file-size 1MiB
b|both|cat absent|no denial was seen
b|both|kill -CONT $$ && kill -0 $$ && exit 3|no denial was seen
b|both|ulimit -n 32; ulimit -c 0; exit 1|no denial was seen
END
}

# said UID COMMAND PATTERN: in the block, and no step that is for no reason.
said()
{
	what="$level: uid $1: $2: is told"
	(cd "$ws" &&
	    tap_as "$1" env -i PATH=/usr/bin:/bin HOME="$home" EXAMPLE_API_KEY=x \
		"$base/sbxrun" --explain -l "$level" "$base/team.bin" \
		-c "py() { $python -S -E -c \"\$@\"; }; outside=$napping; $2" \
		>"$base/said" 2>"$base/block" </dev/null)
	tap_found "$what" "$(grep -E -e "$3" "$base/block" ||
	    sed 's/^/# /' "$base/block" >&2)"
}

refused()
{
	abstract=sbx-failures-$1-$$
	$python -c 'import socket, sys, time
server = socket.socket(socket.AF_UNIX)
server.bind("\0" + sys.argv[1])
server.listen()
time.sleep(300)' "$abstract" &
	napper=$!
	tap_start "$1" sleep 300 &
	napping=$!
	tap_until grep -q "@$abstract" /proc/net/unix
	printf '    %s\n' 'limit file-size 1MiB' 'limit core 0' \
	    'limit open-files 64' >"$base/own"
	prepare "$1"
	compiled || tap_not_ok "a policy with limits" "$(cat "$base/built")"
	who=o
	[ "$1" -ne 0 ] || who=r
	obstacles >"$base/table"
	while IFS='|' read -r whose levels command pattern; do
		case $whose,$levels in
		[b$who],both | [b$who],"$level") ;;
		*) continue ;;
		esac
		command=$(printf '%s\n' "$command" |
		    sed "s|[$]py|py|; s|[$]abstract|$abstract|")
		said "$1" "$command" "$pattern"
	done <"$base/table"
	kill $napper $napping
	wait $napper $napping 2>/dev/null
}

# A package manager does not say whom it asks: the group of all of them.
fetchers()
{
	command -v npm >/dev/null || return 0
	begin "$1" 'npm view left-pad' 'call +socket inet .* npm ' || return
	tap_found "$what: the group of registries" \
	    "$(grep '^          in the policy: use registries$' "$base/block")"
}

each()
{
	tap_levels standard full
	for level in $levels; do
		files "$1"
		keepings "$1"
		misled "$1"
		calls "$1"
		refused "$1"
		network "$1"
		fetchers "$1"
	done
}

each "$(id -u)"
! tap_twice || each "$ORDINARY"
tap_done
