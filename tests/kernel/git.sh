#!/bin/sh
# What the user's settings of git lead to, as TAP: git has the name that they set in
# a sandbox, too, by whatever files; a denial of such a file holds, and settings that a
# command could have written open nothing.  At both levels, as this user and, started
# by root, as an ordinary one too.

# Variables in what the sandbox's shell runs are that shell's.
# shellcheck disable=SC2016

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

if ! command -v git >/dev/null; then
	tap_skip 'settings of git' 'there is no git'
	tap_done
fi
tap_begin /var/tmp
base=$tmp
tap_programs "$SBXRUN"
policy plain workspace-write
policy shut workspace-write 'deny read ~/work/config'
policy open workspace-write 'allow write ~/.config/git'
policy home workspace-write 'allow write ~/work'

# prepare UID: a home with a repository, and settings in many files.
prepare()
{
	home=$base/home-$1
	rm -rf "$home"
	mkdir -p "$home/ws" "$home/work" "$home/dot/more" "$home/.config/git"
	cat >"$home/dot/gitconfig" <<-'CONFIG'
		[user]
			name = plain
			email = a@b
		[core]
			excludesFile = ~/dot/ignored
		[include]
			path = "beside.inc"   ; from where the link is
			path = ~/dot/more/first
			path = ~/gone
		[includeIf "gitdir:~/ws/"]
			path = ~/work/config
		[includeIf "gitdir:~/elsewhere/"]
			path = ~/work/other
	CONFIG
	ln -s dot/gitconfig "$home/.gitconfig"
	printf '[sbx]\n\tbeside = yes\n' >"$home/beside.inc"
	printf '[include]\n\tpath = second\n' >"$home/dot/more/first"
	printf '[sbx]\n\tnested = yes\n' >"$home/dot/more/second"
	printf '[user]\n\tname = work\n' >"$home/work/config"
	printf '[user]\n\tname = other\n' >"$home/work/other"
	echo private >"$home/work/beside"
	printf '[include]\n\tpath = ~/work/xdg\n' >"$home/.config/git/config"
	printf '[sbx]\n\txdg = yes\n' >"$home/work/xdg"
	echo '*.skip' >"$home/dot/ignored"
	touch "$home/ws/a.skip"
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$home"
	as "$1" git init -q "$home/ws"
}

# run POLICY STRING: in the repository; what it prints, in one line.
run()
{
	(cd "$home/ws" && as "$uid" "$base/sbxrun" -l "$level" "$base/$1.bin" \
	    -- sh -c "$2" 2>&1 </dev/null) | tr '\n' ' '
}

included()
{
	prepare "$uid"
	all='git config user.name; git config --get-regexp ^sbx; git status -s'
	tap_is "$level: uid $uid: all that counts here is read" \
	    "work sbx.xdg yes sbx.beside yes sbx.nested yes " \
	    "$(run plain "$all")"
	# What is beside the workspace is not there, so git finds no repository.
	tap_is "$level: uid $uid: what is conditional stays so" 'plain ' \
	    "$(run plain 'cd "$TMPDIR" && git config user.name')"
	tap_is "$level: uid $uid: nothing of it can be written" 'no ' \
	    "$(run plain '(echo >>~/work/config) 2>/dev/null || echo no')"
	tap_is "$level: uid $uid: and nothing is opened that git does not read" \
	    'no ' "$(run plain 'cat ~/work/beside 2>/dev/null || echo no')"
}

shut()
{
	prepare "$uid"
	tap_is "$level: uid $uid: a denied file stays denied" 'no ' \
	    "$(run shut 'cat ~/work/config 2>/dev/null || echo no' |
		sed 's/^sbxrun: warning.* level //')"
	case $level-$(run shut true) in
	full-) said=right ;;
	standard-*"the policy denies it, so git fails"*) said=right ;;
	*) said=wrong ;;
	esac
	tap_is "$level: uid $uid: and is said where git fails" right "$said"
}

planted()
{
	prepare "$uid"
	rm "$home/.gitconfig"
	printf '[include]\n\tpath = ~/work/config\n' \
	    >"$home/.config/git/config"
	tap_is "$level: uid $uid: settings that a command writes lead nowhere" \
	    'no ' "$(run open 'cat ~/work/config 2>/dev/null || echo no')"
	printf '[include]\n\tpath = ~/work/other\n' >"$home/.gitconfig"
	printf '[include]\n\tpath = ~/dot/more/second\n' >"$home/work/other"
	tap_is "$level: uid $uid: included ones neither" 'no ' \
	    "$(run home 'cat ~/dot/more/second 2>/dev/null || echo no')"
}

tap_levels standard full
users=$(id -u)
if tap_twice; then users="$users $ORDINARY"; fi
for uid in $users; do
	for level in $levels; do
		included
		shut
		planted
	done
done
tap_done
