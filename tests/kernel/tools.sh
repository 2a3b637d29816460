#!/bin/sh
# What single tools need of the system, as TAP: under `coding` as it is shipped, at
# both levels, as this user and, started by root, as an ordinary one too.  What is
# shut here has its reason in sbxrun(1).

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
tap_programs "$SBXRUN"
policy coding coding
# Those that every user may run.
PATH=/usr/local/bin:/usr/bin:/bin
server=
# shellcheck disable=SC2086  # none or one
stop() { kill $server 2>/dev/null; }
tap_at_end=stop

has() { PATH=$PATH command -v "$1" >/dev/null; }

# task COMMAND: how it ended; what it printed is in $base/out.
task()
{
	(cd "$ws" && as "$uid" "$base/sbxrun" -l "$level" "$base/coding.bin" -- \
	    bash -c "$1" >"$base/out" 2>&1 </dev/null && echo works ||
	    echo fails)
}

# works TOOL NAME COMMAND, shut TOOL NAME COMMAND: where there is such a tool.
expected()
{
	if ! has "$2"; then
		tap_lacks "$3" "there is no $2"
		return
	fi
	tap_is "$level: uid $uid: $3" "$1" "$(task "$4")"
	[ "$tap_failed" -eq 0 ] || sed 's/^/# /' "$base/out" | tail -n 5
}
works() { expected works "$@"; }
shut() { expected fails "$@"; }

# --- make, and its jobs from outside ---------------------------------------------

# Two jobs that wait for each other: there is more than one at a time.
cat >"$base/jobs.mk" <<'MAKE'
all: one two
one:
	@: >one.$(DIR); for i in $$(seq 600); do \
	    [ ! -e two.$(DIR) ] || exit 0; sleep 0.1; done; exit 1
two:
	@: >two.$(DIR); for i in $$(seq 600); do \
	    [ ! -e one.$(DIR) ] || exit 0; sleep 0.1; done; exit 1
MAKE

# A command of a make outside: what MAKEFLAGS has for the jobs is handed on.
cat >"$base/handed.sh" <<'END'
set -- $(echo "$MAKEFLAGS" | sed -n \
    's/.*--jobserver-[a-z]*=\([0-9]*\),\([0-9]*\).*/--pass-fd=\1 --pass-fd=\2/p')
exec "$BASE/sbxrun" -l "$LEVEL" "$@" "$BASE/coding.bin" -- \
    make -f jobs.mk DIR=out
END

jobs()
{
	works make 'jobs of a make below a make' 'rm -f one.* two.*
	    printf "all:\n\t\$(MAKE) -f jobs.mk DIR=in\n" >sub.mk
	    make -j3 -f sub.mk'
	has make || return
	# From version 4.4 on the pipe has a name, if nobody asks for one without.
	style=--jobserver-style=pipe
	make $style -v >/dev/null 2>&1 || style=
	printf 'all:\n\t+@sh "$(BASE)/handed.sh"\n' >"$ws/outer.mk"
	(cd "$ws" && rm -f one.* two.* && as "$uid" BASE="$base" \
	    LEVEL="$level" make -s -j3 $style -f outer.mk >"$base/out" 2>&1)
	tap_is "$level: uid $uid: jobs of a make outside, by --pass-fd" 0 $?
	[ "$tap_failed" -eq 0 ] || sed 's/^/# /' "$base/out" | tail -n 5
}

# --- the rest ---------------------------------------------------------------------

files()
{
	works bash 'bash <(...)' '[ "$(bash <(echo "echo in"))" = in ] &&
	    diff <(echo a) <(echo a)'
	works ln 'a hard link in the workspace' 'rm -f a b; echo a >a && ln a b'
	works ln 'a move from a cache' 'mkdir -p ~/.cache/tools &&
	    echo a >~/.cache/tools/a && mv ~/.cache/tools/a moved && rm moved'
	# Two mounts of the view; tools copy then.
	task 'rm -f a ~/.cache/tools/a; echo a >a; ln a ~/.cache/tools/a' \
	    >/dev/null
	case $level in
	full) tap_found "full: uid $uid: a hard link into a cache" \
	    "$(grep -i 'cross-device' "$base/out")" ;;
	*) tap_is "$level: uid $uid: a hard link into a cache" 2 \
	    "$(stat -c %h "$ws/a")" ;;
	esac
	shut sh 'writing in /var/tmp' 'echo x >/var/tmp/sbx-tools-test'
	works mktemp 'a scratch file' 'echo x >"$(mktemp)"'
	works setfacl 'an ACL for oneself' 'rm -f acl; >acl
	    setfacl -m g::r acl && getfacl acl | grep "^group::r"'
	# A user namespace has no number for others; root's has those of all.
	case $level-$uid in
	full-0) ;;
	full-*) shut setfacl 'an ACL for another' 'setfacl -m u:12345:r acl' ;;
	*) works setfacl 'an ACL for another' 'setfacl -m u:12345:r acl' ;;
	esac
}

# terminal COMMAND: at a terminal; by python, which needs no such option as
# script(1) has here and there.
terminal()
{
	(cd "$ws" && as "$uid" SBX_HINT=0 python3 -c 'import pty, sys
status = pty.spawn(sys.argv[1:])
sys.exit(status >> 8)' "$base/sbxrun" -l "$level" "$base/coding.bin" -- \
	    sh -c "$1" </dev/null 2>&1 | tr -d '\r')
}

terminals()
{
	if ! has python3; then
		tap_lacks 'terminals' 'no python3'
		return
	fi
	tap_is "$level: uid $uid: /dev/tty" 'there yes' \
	    "$(terminal 'echo there >/dev/tty; test -t 0 && echo yes' |
		tr '\n' ' ' | sed 's/ $//')"
	case $level in
	full) tap_is "full: uid $uid: the terminal has no name" 'not a tty' \
	    "$(terminal tty)" ;;
	*) tap_found "$level: uid $uid: the terminal has a name" \
	    "$(terminal tty | grep '^/dev/pts/')" ;;
	esac
}

signatures()
{
	commit='git commit -q --allow-empty -m signed'
	shut ssh-keygen 'signing a commit with a key in ~/.ssh' "
	    git -c gpg.format=ssh -c commit.gpgsign=true \\
		-c user.signingkey=~/.ssh/id_ed25519.pub ${commit#git }"
	works ssh-keygen 'and with one in the workspace' "
	    rm -f key key.pub; ssh-keygen -q -t ed25519 -N '' -f key &&
	    git -c gpg.format=ssh -c commit.gpgsign=true \\
		-c user.signingkey=\$PWD/key.pub ${commit#git } &&
	    git cat-file commit HEAD | grep -q 'BEGIN SSH SIGNATURE'"
	shut gpg 'signing with a key in ~/.gnupg' "git -c commit.gpgsign=true \\
	    -c user.signingkey=a@example.org ${commit#git }"
	works gpg 'and with one in the workspace' "
	    export GNUPGHOME=\$PWD/keys; rm -rf keys; mkdir -m 700 keys
	    gpg --batch --quiet --passphrase '' \\
		--quick-gen-key a@example.org default default never &&
	    git -c commit.gpgsign=true -c user.signingkey=a@example.org \\
		${commit#git } && [ \"\$(git log -n 1 --format=%G?)\" = G ]
	    said=\$?; gpgconf --kill all; exit \$said"
}

# A package without a registry, from a tarball that pnpm links out of its store.
store()
{
	mkdir -p "$home/dep" "$ws/app"
	echo '{ "name": "dep", "version": "1.0.0" }' >"$home/dep/package.json"
	echo 'module.exports = 5' >"$home/dep/index.js"
	(cd "$home/dep" && tar -czf "$ws/dep.tgz" --transform \
	    's,^\.,package,' .)
	echo '{ "name": "app", "private": true,
	    "dependencies": { "dep": "file:../dep.tgz" } }' \
	    >"$ws/app/package.json"
	chown -R "$uid" "$home/dep" "$ws"
	install='cd app && rm -rf node_modules && pnpm install --offline &&
	    [ "$(node -p "require(\"dep\")")" = 5 ]'
	major=$(PATH=$PATH pnpm --version 2>/dev/null)
	case $level-${major%%.*} in
	standard-1[2-9]) shut pnpm "pnpm ${major%%.*}, whose locks are in /tmp" \
	    "$install" ;;
	*) works pnpm 'pnpm, and its store' "$install" ;;
	esac
}

browser()
{
	echo '<p>hello</p>' >"$ws/page.html"
	works chromium 'a browser, and its profile directory' 'for i in 1 2 3; do
	    timeout 100 chromium --headless --no-sandbox --disable-gpu \
		--user-data-dir="$PWD/profile" --dump-dom \
		"file://$PWD/page.html" | grep hello && exit
	    done; exit 1'
}

each()
{
	uid=$1 home=$base/home-$1 ws=$base/home-$1/ws
	mkdir -p "$ws" "$home/.ssh" "$home/.gnupg" "$home/.cache"
	chmod 700 "$home/.ssh" "$home/.gnupg"
	cp "$base/jobs.mk" "$ws"
	echo key >"$home/.ssh/id_ed25519"
	git -C "$ws" init -q
	git -C "$ws" config user.email a@example.org
	git -C "$ws" config user.name A
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$home"
	tap_levels standard full
	for level in $levels; do
		jobs
		files
		terminals
		signatures
		store
		browser
	done
}

each "$(id -u)"
! tap_twice || each "$ORDINARY"
tap_done
