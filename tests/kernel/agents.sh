#!/bin/sh
# What agents run into, as TAP: places that are not there yet, where a project
# begins, variables, a sandbox in a sandbox.  As this user and, started by root,
# as an ordinary one too.

# Variables in what the sandbox's shell runs are that shell's.
# shellcheck disable=SC2016

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

tap_begin /var/tmp
tap_programs "$SBXRUN" "$builddir/sbx-proxy"
tap_levels standard full
policy coding coding
policy claude claude

# begins UID: a home and a project of the user's own.
begins()
{
	uid=$1
	home=$tmp/$uid
	mkdir -p "$home/project" "$home/.cache"
	chown -R "$uid:$uid" "$home"
}

# in_project LEVEL POLICY SCRIPT: as the user, in the project.
in_project()
{
	as "$uid" sh -c 'cd "$HOME/project" && exec "$@"' sh \
	    "$tmp/sbxrun" -l "$1" "$tmp/$2.bin" -c "$3" 2>&1
}

is()
{
	tap_is "uid $uid: $1" "$2" "$3"
}

caches()
{
	for level in $levels; do
		rm -rf "$home/.cache/huggingface" "$home/.cache/made"
		is "$level: coding makes a directory in an empty ~/.cache" '' "$(
		    in_project "$level" coding 'mkdir ~/.cache/made')"
		mkdir -p "$home/.cache/huggingface"
		echo secret >"$home/.cache/huggingface/token"
		echo secret >"$home/.cache/huggingface/stored_tokens"
		chown -R "$uid:$uid" "$home/.cache"
		is "$level: coding reads no token that is there" '' "$(
		    in_project "$level" coding '
		    cat ~/.cache/huggingface/*token* 2>/dev/null')"
		rm -rf "$home/.cache/huggingface"
	done
}

# The state of one agent, and of no other.
states()
{
	mkdir -p "$home/.claude" "$home/.codex"
	echo key >"$home/.claude/.credentials.json"
	echo key >"$home/.codex/auth.json"
	echo '{}' >"$home/.claude.json"
	echo '{}' >"$home/.claude/settings.json"
	chown -R "$uid:$uid" "$home"
	for level in $levels; do
		is "$level: claude has its key, its state, and no other key" \
		    'key' "$(in_project "$level" claude '
		    cat ~/.codex/auth.json 2>/dev/null
		    cat ~/.claude/.credentials.json >~/.claude/copy
		    cat ~/.claude/copy; rm ~/.claude/copy')"
	done
	is "full: what the next start obeys is kept" '{}' "$(
	    in_project full claude 'echo x >~/.claude/settings.json' >/dev/null
	    cat "$home/.claude/settings.json")"
}

everything()
{
	begins "$1"
	caches
	states
}

everything "$(id -u)"
[ "$(id -u)" -ne 0 ] || everything $ORDINARY
tap_done
