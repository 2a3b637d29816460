#!/bin/sh
# One question and all who answer it, as TAP: `sbxc why`, `sbxrun -n`, `sbxrun
# --explain` and `sbxc doctor` say of one policy on one machine what the kernel
# does.  At levels standard and full, as this user and as an ordinary one.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

# Not below /tmp: that is the scratch directory at level full.
tap_begin /var/tmp
tap_programs "$SBXRUN" "$SBXC"
chmod 755 "$tmp"
base=$(realpath "$tmp")/tree

# A home with a workspace in it; beside it what is whose.
prepare()
{
	rm -rf "${base:?}"
	home=$base/home ws=$base/home/ws
	mkdir -p "$ws" "$home/data" "$base/open" "$base/own"
	echo text | tee "$home/data/file" "$ws/file" >/dev/null
	chmod 755 "$base"
	chown -R "$1:$1" "$base" 2>/dev/null
}

# policy STATEMENT...
policy()
{
	{
		printf 'sbx 1\nprofile p extends workspace-write {\n'
		printf '    %s\n' "$@"
		echo '}'
	} >"$base/p.sbx"
	"$SBXC" build "$base/p.sbx" -o "$base/p.bin" 2>"$tmp/built" || {
		cat "$tmp/built"
		exit 99
	}
	chmod 644 "$base/p.bin" "$base/p.sbx"
}

# in_ws UID COMMAND...
in_ws()
{
	(user=$1 && shift && cd "$ws" && as "$user" "$@")
}

# says_why UID RIGHT PATH: its first word.
says_why()
{
	in_ws "$1" "$SBXC" why -l "$level" "$base/p.sbx" "$2" "$3" 2>&1 |
	    tee "$tmp/why" | sed -n '1s/:.*//p'
}

# says_kernel UID COMMAND...: the same word.
says_kernel()
{
	user=$1
	shift
	if in_ws "$user" "$SBXRUN" -l "$level" "$base/p.bin" -- "$@" \
	    >"$tmp/ran" 2>&1; then
		echo allowed
	else
		echo denied
	fi
}

# A rule that a link leads to its place grants nothing where others than the user
# could have made the link, and everybody says so.
planted()
{
	prepare "$1"
	chmod 777 "$base/open"
	ln -s "$home/data" "$base/open/link"
	ln -s "$home/data" "$ws/link"
	ln -s "$home/data" "$base/own/link"
	chown -h "$1" "$base/open/link" "$ws/link" "$base/own/link"
	for where in open home/ws; do
		name="level $level, uid $1: a link in $where"
		policy "allow read $base/$where/link/file"
		tap_is "$name: the kernel" denied \
		    "$(says_kernel "$1" cat "$base/$where/link/file")"
		tap_is "$name: why" denied \
		    "$(says_why "$1" read "$base/$where/link/file")"
		tap_found "$name: why names the rule" \
		    "$(grep 'p.sbx:3:[0-9]*: allow read' "$tmp/why")"
		tap_found "$name: -n" "$(in_ws "$1" "$SBXRUN" -l "$level" -n \
		    "$base/p.bin" | grep "allow read $home/data/file .*skipped")"
		in_ws "$1" "$SBXRUN" -l "$level" --explain "$base/p.bin" -- \
		    cat "$base/$where/link/file" >"$tmp/explained" 2>&1
		tap_found "$name: --explain names the rule" "$(
		    grep 'read .*data/file .*p.sbx:3:[0-9]* allow read ' \
			"$tmp/explained")"
		tap_found "$name: --explain says why it is skipped" \
		    "$(grep 'name the place itself' "$tmp/explained")"
		in_ws "$1" "$SBXC" doctor "$base/p.sbx" >"$tmp/doctor" 2>&1
		tap_found "$name: doctor" \
		    "$(grep 'skipped.*p.sbx:3:' "$tmp/doctor")"
	done
	# A link of the user's, where nobody else can make one.
	policy "allow read $base/own/link/file"
	tap_is "level $level, uid $1: a link of the user's: the kernel, why" \
	    "allowed allowed" \
	    "$(says_kernel "$1" cat "$base/own/link/file"
		) $(says_why "$1" read "$base/own/link/file")"
}

# agree UID ABOUT RIGHT PATH COMMAND...: why says what the kernel does.
agree()
{
	user=$1 about=$2 right=$3 path=$4
	shift 4
	said=$(says_why "$user" "$right" "$path")
	tap_is "level $level, uid $user: $about: why says what happens" \
	    "$(says_kernel "$user" "$@")" "$said"
}

# What holds a rule, and what else than rules decides.
decided()
{
	prepare "$1"
	mkdir -p "$home/.config/git" "$home/.config/foo"
	echo text >"$home/.config/git/config"
	echo text >"$home/closed"
	chown -R "$1" "$home"
	chmod 0 "$home/closed"
	policy "prefer deny write \${workspace}/kept" 'allow read ~/closed'
	agree "$1" "a rule that the level does not hold" write kept touch kept
	agree "$1" "a directory above what is allowed" read \
	    "$home/.config" ls "$home/.config"
	agree "$1" "what a rule denies" read "$home/.config/foo" \
	    ls "$home/.config/foo"
	says_why "$1" read "$home/closed" >/dev/null
	mode=allowed
	! grep -q "the policy allows it; the file's mode does not" \
	    "$tmp/why" || mode=denied
	tap_is "level $level, uid $1: the mode of a file" \
	    "$(says_kernel "$1" cat "$home/closed")" "$mode"
	mkdir "$ws/.git" "$ws/.git/objects" "$ws/.git/refs" "$ws/sub"
	echo 'ref: refs/heads/main' >"$ws/.git/HEAD"
	chown -R "$1" "$ws"
	top=$ws ws=$ws/sub
	agree "$1" "the workspace is the working tree" write "$top/made" \
	    touch "$top/made"
	ws=$top
	policy
	hidden=$(mktemp /tmp/sbx-answers-XXXXXX)
	chmod 666 "$hidden"
	agree "$1" "what is in /tmp outside" read "$hidden" cat "$hidden"
	agree "$1" "a name that is taken there" write "$hidden" touch "$hidden"
	rm -f "$hidden"
	command -v python3 >/dev/null || return 0
	python3 -c 'import socket, sys, time
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
time.sleep(60)' "$ws/outside" &
	server=$!
	while ! [ -S "$ws/outside" ]; do sleep 0.05; done
	chmod 777 "$ws/outside"
	agree "$1" "a server of outside" socket "$ws/outside" python3 -c \
	    'import socket; socket.socket(socket.AF_UNIX).connect("outside")'
	policy 'allow network full' "allow socket $ws/outside"
	agree "$1" "a rule about a socket that can open nothing" \
	    socket "$ws/outside" python3 -c \
	    'import socket; socket.socket(socket.AF_UNIX).connect("outside")'
	# Who shows no place of services to be read has sockets at full, and nobody
	# looks where their servers are.
	for rule in 'network full' 'network loopback' 'exec ${workspace}'; do
		printf 'sbx 1\nprofile p {\n%s\n%s\n%s\n%s\n}\n' \
		    'require level standard' "allow $rule" \
		    'allow exec { /usr /lib /lib64 /bin }' \
		    "$([ "$rule" = 'exec ${workspace}' ] ||
			echo 'allow write ${workspace}')" >"$base/p.sbx"
		"$SBXC" build "$base/p.sbx" -o "$base/p.bin" || exit 99
		agree "$1" "a server of outside, $rule" socket \
		    "$ws/outside" python3 -S -E -c \
		    'import socket; socket.socket(socket.AF_UNIX).connect("outside")'
	done
	kill "$server"
	wait "$server" 2>/dev/null
	rm -f "$ws/outside"
}

each()
{
	tap_levels standard full
	for level in $levels; do
		planted "$1"
		decided "$1"
	done
}

each "$(id -u)"
! tap_twice || each "$ORDINARY"
tap_done
