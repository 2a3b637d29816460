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

# A python of pyenv's, which the caller may run under, is not to be seen inside.
PATH=/usr/bin:/bin:$PATH

tap_begin /var/tmp
# Another user may not reach the build directory.
cd "$tmp" || exit 99
tap_programs "$SBXRUN" "$SBXC" "$builddir/sbx-proxy"
tap_levels standard full
policy coding coding
for agent in claude codex gemini opencode; do
	policy $agent $agent
done
policy agent agent

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
	obeyed
}

# What the next start of each agent runs or obeys, there or not.
obeyed()
{
	for place in claude/.claude/local/claude \
	    claude/.claude/plugins/p/hooks.json \
	    claude/.claude/settings.local.json codex/.codex/rules/default.rules \
	    gemini/.gemini/tmp/bin/rg gemini/.gemini/.env \
	    opencode/.cache/opencode/node_modules/p/index.js \
	    opencode/.local/share/opencode/bin/rg; do
		agent=${place%%/*}
		name=$home/${place#*/}
		for level in $levels; do
			as "$uid" mkdir -p "${name%/*}" "$home/.cache/opencode" \
			    "$home/.local/share/opencode" \
			    "$home/.local/state/opencode"
			as "$uid" sh -c 'echo old >"$1"' sh "$name"
			got=$(in_project "$level" "$agent" \
			    "(echo x >$name) 2>/dev/null || echo no")
			want=no
			[ "$level" = full ] ||
			    want="sbxrun: the command changed $name"
			is "$level: $name is kept or told" "$want" "$got"
			rm "$name"
		done
	done
	as "$uid" mkdir -p "$home/.codex"
	for level in $levels; do
		is "$level: a name that was not there is told" \
		    "sbxrun: the command made $home/.codex/hooks.json" \
		    "$(in_project "$level" codex 'echo x >~/.codex/hooks.json')"
		rm -f "$home/.codex/hooks.json"
	done
}

# git AT ARGUMENT...: as the user, and outside, in a directory of the home.
git_in()
{
	git_at=$1
	shift
	as "$uid" git -C "$home/$git_at" -c protocol.file.allow=always "$@" \
	    >/dev/null 2>&1
}

# auto LEVEL DIRECTORY SCRIPT: -w auto, from there.
auto()
{
	as "$uid" sh -c 'cd "$1" && shift && exec "$@"' sh "$home/$2" \
	    "$tmp/sbxrun" -l "$1" -w auto "$tmp/${with-coding}.bin" -c "$3" 2>&1
}

# Where a project begins, and where its repository is.
projects()
{
	rm -rf "$home/w"
	as "$uid" mkdir "$home/w"
	as "$uid" git config --global user.email a@example.com
	as "$uid" git config --global user.name a
	for repository in main lib other; do
		as "$uid" git init -q "$home/w/$repository"
		as "$uid" mkdir -p "$home/w/$repository/a/b"
		as "$uid" touch "$home/w/$repository/a/b/file"
		git_in w/$repository add .
		git_in w/$repository commit -m one
	done
	git_in w/main submodule add ../lib sub || echo "submodule"
	git_in w/main commit -m two
	git_in w/main worktree add ../linked
	git_in w/other worktree add ../others
	git_in w clone --bare main bare.git
	git_in w/bare.git worktree add ../of-bare
	for level in $levels; do
		for at in main/a/b linked/a/b main/sub/a of-bare/a; do
			is "$level: git works in $at" 'done' "$(
			    auto "$level" "w/$at" 'echo $$ >>new &&
			    git add -A . >/dev/null && git commit -qm new &&
			    [ -z "$(git status --porcelain .)" ] && echo done')"
		done
		is "$level: the top is the workspace, and nothing above" 'no' "$(
		    auto "$level" w/main/a/b 'echo >../../at-top; rm ../../at-top
		    (echo >../../../above) 2>/dev/null || echo no')"
		is "$level: hooks of a repository elsewhere are watched" \
		    "sbxrun: the command made $home/w/main/.git/hooks/pre-push" \
		    "$(auto "$level" w/linked 'git config alias.x y
		    echo >"$(git rev-parse --git-common-dir)/hooks/pre-push"' |
		    grep -v alias)"
		rm "$home/w/main/.git/hooks/pre-push"
	done
	elsewhere
	planted
}

# What a policy says of ${workspace}/.git, and of names below the workspace, it says
# of a repository elsewhere, and what links in it lead to commands have chosen.
elsewhere()
{
	# The exception is as long as .git, and names nothing in there.
	policy git workspace-write \
	    'deny read glob "${workspace}/**/*.shut" except ${workspace}/abcd/a.shut' \
	    'deny read ${workspace}/.git/info except ${workspace}/.git/info/open' \
	    'deny read glob "${workspace}/*/one"' \
	    'deny read glob "${workspace}/.g??/**/two" except ${workspace}/.git/open' \
	    'prefer deny read glob "${workspace}/.*t/three*"' \
	    'deny read glob "${workspace}/?gi/four"' \
	    'allow read ${workspace}/.git/link'
	policy given read-only \
	    'allow write glob "${workspace}/*/given" except ${workspace}/.git/given/kept' \
	    'allow write glob "${workspace}/*/*/not"'
	policy whole workspace-write 'deny read glob "${workspace}/**/.g*"'
	for git in main/.git main/.git/modules/sub bare.git; do
		as "$uid" sh -c 'mkdir -p ~/hidden && cd ~/w/$1 &&
		    ln -s ~/hidden link &&
		    mkdir -p one open/two deep/two given not info &&
		    for file in a.shut info/shut info/open link/key one/file \
		    open/two/file deep/two/file three.x four given/file \
		    given/kept; do
			echo $file >$file
		    done' sh "$git"
	done
	for level in $levels; do
		for at in linked=main/.git main/sub=main/.git/modules/sub \
		    of-bare=bare.git; do
			rules_elsewhere "${at%%=*}" "$home/w/${at#*=}"
		done
	done
	policy hub workspace-write 'allow read ${workspace}/.github'
	as "$uid" sh -c 'mkdir ~/w/main/.github && echo x >~/w/main/.github/key'
	for level in $levels; do
		is "$level: what begins as .git is in no repository" '' "$(
		    with=hub auto "$level" w/linked \
			"cat $home/w/main/.github/key 2>/dev/null")"
	done
	as "$uid" rm -r "$home/w/main/.github"
	for git in main/.git main/.git/modules/sub bare.git; do
		as "$uid" sh -c 'cd ~/w/$1 && rm -rf link one open deep given \
		    not three.x four a.shut info' sh "$git"
	done
	as "$uid" rm -r "$home/hidden"
}

# rules_elsewhere WORKSPACE REPOSITORY
rules_elsewhere()
{
	is "$level: $1: rules about a repository elsewhere" \
	    'info/open open/two/file four' "$(with=git auto "$level" "w/$1" \
	    "cd $2 && cat a.shut info/shut info/open link/key one/file \
	    open/two/file deep/two/file three.x four 2>/dev/null" | xargs)"
	is "$level: $1: what a pattern opens there" "given/file three.x" "$(
	    with=given auto "$level" "w/$1" "cd $2 && for file in file kept; do
	    (echo >given/\$file) 2>/dev/null && echo given/\$file; done
	    cat three.x; (echo >not/file) 2>/dev/null && echo not" | xargs)"
	is "$level: $1: and keeps" given/kept "$(cat "$2/given/kept")"
	is "$level: $1: a pattern that is the repository itself" no "$(
	    with=whole auto "$level" "w/$1" \
	    "cat $2/HEAD 2>/dev/null || echo no")"
	is "$level: $1: what -n says of one" "$2 as .git of $home/w/$1/*/one" "$(
	    as "$uid" sh -c 'cd "$1" && shift && exec "$@"' sh "$home/w/$1" \
	    "$tmp/sbxrun" -l "$level" -w auto -n "$tmp/git.bin" -- true 2>&1 |
	    sed -n 's,.* glob \(.* as .*/one\)  --.*,\1,p')"
}

# leads NAME TEXT: a `.git` of a command's that leads to a repository which is
# not that of the working tree opens nothing.
leads()
{
	printf '%s\n' "$2" >"$home/w/linked/.git"
	chown "$uid:$uid" "$home/w/linked/.git"
	for level in $levels; do
		got=$(auto "$level" w/linked \
		    "(echo x >$home/w/other/.git/planted) 2>/dev/null || echo no")
		is "$level: $1 opens nothing" no "$(printf '%s\n' "$got" |
		    grep -v '^sbxrun: warning: .*leads back here')"
		rm -f "$home/w/other/.git/planted"
	done
}

planted()
{
	as "$uid" cp "$home/w/linked/.git" "$home/w/own"
	leads "a repository" "gitdir: $home/w/other/.git"
	leads "another linked tree" "gitdir: $home/w/other/.git/worktrees/others"
	leads "a relative way" "gitdir: ../other/.git/worktrees/others"
	# What a command made in the workspace leads on to it.
	as "$uid" mkdir "$home/w/linked/fake"
	echo "$home/w/other/.git" >"$home/w/linked/fake/commondir"
	echo "$home/w/linked/.git" >"$home/w/linked/fake/gitdir"
	leads "a common directory" "gitdir: $home/w/linked/fake"
	rm "$home/w/linked/fake/commondir"
	as "$uid" ln -s "$home/w/other/.git/HEAD" "$home/w/other/.git/objects" \
	    "$home/w/other/.git/refs" "$home/w/linked/fake"
	printf '[core]\n\tworktree = %s\n' "$home/w/linked" \
	    >"$home/w/linked/fake/config"
	leads "a repository of links" "gitdir: $home/w/linked/fake"
	as "$uid" rm -r "$home/w/linked/fake" "$home/w/linked/.git"
	as "$uid" ln -s "$home/w/other/.git/worktrees/others" \
	    "$home/w/linked/.git"
	is "a link opens nothing" no "$(auto standard w/linked \
	    "(echo x >$home/w/other/.git/planted) 2>/dev/null || echo no")"
	as "$uid" rm "$home/w/linked/.git"
	as "$uid" mkfifo "$home/w/linked/.git"
	is "nor does a pipe" no "$(auto standard w/linked \
	    "(echo x >$home/w/other/.git/planted) 2>/dev/null || echo no")"
	as "$uid" rm "$home/w/linked/.git"
	as "$uid" mv "$home/w/own" "$home/w/linked/.git"

	# A repository in another one.
	is "a project whose .git a command removes is no part of another" no "$(
	    auto standard w/main/sub 'rm .git' >/dev/null
	    auto standard w/main/sub '(echo >../README) 2>/dev/null || echo no')"
	# The home directory is not what one works on below it.
	as "$uid" git init -q "$home"
	is "the home directory is no project of what lies in it" no "$(
	    as "$uid" mkdir -p "$home/plain"
	    auto standard plain '(echo >../README) 2>/dev/null || echo no')"
	rm -rf "$home/.git"
	remembered
	[ "$(id -u)" -eq 0 ] || return
	install -d -o 23917 "$home/shared" "$home/shared/.git"
	install -d -o "$uid" "$home/shared/mine"
	is "nor is a directory of somebody else" no "$(
	    auto standard shared/mine '(echo >../README) 2>/dev/null || echo no')"
}

# in_tmp OPTION... -- COMMAND...: sbxrun in /tmp.
in_tmp()
{
	as "$uid" sh -c 'cd /tmp && exec "$@"' sh "$tmp/sbxrun" "$@" 2>&1
}

# sbxrun remembers in /tmp what was a project; a command writes nothing there.
remembered()
{
	digest=$(printf %s "$home" | sha256sum | cut -c 1-16)
	memory=/tmp/sbx-$uid/$digest
	for level in $levels; do
		is "$level: a command in /tmp makes no project of the home" no "$(
		    in_tmp -l "$level" -w auto "$tmp/coding.bin" \
			-- mkdir -p "$memory/project" >/dev/null
		    [ -e "$memory/project" ] || echo no)"
		is "$level: /tmp is no workspace" 'sbxrun: /tmp: it is no workspace, for sbx keeps its own directory in it; choose one with -w
125' "$(in_tmp -l "$level" "$tmp/coding.bin" -- true; echo $?)"
		is "$level: nor is the directory of sbx" 125 "$(
		    in_tmp -l "$level" -w "/tmp/sbx-$uid" "$tmp/coding.bin" \
			-- true >/dev/null; echo $?)"
	done
	as "$uid" mkdir -p "$memory/project"
	is "a home that is remembered is no project" no "$(
	    auto standard plain '(echo >../w/own) 2>/dev/null || echo no')"
	rm -rf "$memory"
}

# What a program is told, and what it can find out by itself.
inside()
{
	for level in $levels; do
		is "$level: variables tell profile and level" "my-coding $level" "$(
		    in_project "$level" coding 'echo "$SBX $SBX_LEVEL"')"
	done
	[ "$uid" -eq 0 ] || return
	for level in $levels; do
		is "$level: a call tells that this is a sandbox" ENOANO "$(
		    in_project "$level" coding "$ask")"
	done
	is "and that nothing is one outside" EINVAL "$(sh -c "$ask")"
	is "a variable does not" EINVAL "$(SBX=coding sh -c "$ask")"
}
ask='python3 -c "
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
number = {\"x86_64\": 251, \"aarch64\": 30}[os.uname().machine]
libc.syscall(number, 0x736278, 0, 0)
print(errno.errorcode[ctypes.get_errno()])"'

# A policy without limits on time and output has a supervisor as long as it
# watches, which answers for sockets and modes.
answered()
{
	for level in $levels; do
		is "$level: an agent connects to a socket of its own" x "$(
		    in_project "$level" agent 'python3 -c "
import os, socket
a, b = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
a.bind(\"s\")
a.listen()
b.connect(\"s\")
b.send(b\"x\")
print(a.accept()[0].recv(1).decode())
os.unlink(\"s\")"')"
		is "$level: and changes no mode elsewhere" 700 "$(
		    chmod 700 "$home/.cache"
		    in_project "$level" agent 'chmod 755 ~' >/dev/null 2>&1
		    stat -c %a "$home")"
	done
}

everything()
{
	begins "$1"
	caches
	states
	projects
	inside
	chmod 700 "$home"
	answered
}

everything "$(id -u)"
! tap_twice || everything $ORDINARY
tap_done
