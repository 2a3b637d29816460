#!/bin/sh
# What `watch` tells, at each level and for root and another user, as TAP.
# Each case begins with the same tree; a bare shell does the same to it first, so
# that it is seen to be possible at all.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

tap_begin "${SBX_WATCH_TMP:-/var/tmp}"
base=$tmp
tap_programs "$SBXRUN" "$SBXC"
cat >"$base/watch.sbx" <<'POLICY'
sbx 1
profile watching {
    use system
    allow write ${workspace}
    allow exec  ${workspace}
    watch git   ${workspace}
    watch       { ${workspace}/.envrc  ${workspace}/.vscode  ${workspace}/.idea  ~/.profile }
    watch       ${workspace}/.envrc.d/one
    watch       { glob "${workspace}/p10k-*"  glob "${workspace}/cached/repo*/*/bin" }
}
include "groups.sbx"
POLICY
"$SBXC" "$base/watch.sbx" -o "$base/watch.bin" || exit 99
cat >"$base/ww.sbx" <<'POLICY'
sbx 1
profile ww extends workspace-write {
    limit processes none
}
POLICY
"$SBXC" "$base/ww.sbx" -o "$base/ww.bin" || exit 99
cat >"$base/shut.sbx" <<'POLICY'
sbx 1
profile shut extends workspace-write {
    deny write  ${workspace}/.git
}
POLICY
"$SBXC" "$base/shut.sbx" -o "$base/shut.bin" || exit 99
cat >"$base/programs.sbx" <<'POLICY'
sbx 1
include "groups.sbx"
profile programs extends workspace-write {
    use git-programs
}
POLICY
"$SBXC" "$base/programs.sbx" -o "$base/programs.bin" || exit 99

# The tree of each case.
plant()
{
	chmod -R u+rwx "$ws" 2>/dev/null
	rm -rf "$ws"
	mkdir -p "$ws/.git/hooks" "$ws/.git/modules/m" "$ws/.vscode/a" \
	    "$ws/safe" "$ws/.envrc.d"
	echo one >"$ws/.envrc.d/one"
	echo 'exit 0' >"$ws/.git/hooks/pre-push"
	echo 'exit 0' >"$ws/.git/hooks/pre-commit.sample"
	echo one >"$ws/.vscode/a/tasks.json"
	mkdir -p "$ws/cached/repo/e/bin"
	echo one >"$ws/p10k-a"
	echo one >"$ws/cached/repo/e/bin/p"
	cat >"$ws/.git/config" <<-'CONFIG'
		[core]
			bare = false
		[alias]
			mine = log
		[remote "origin"]
			url = https://example.org/x
	CONFIG
	cp "$ws/.git/config" "$ws/.git/modules/m/config"
	(cd "$ws" && eval "$lead")
	[ "$uid" = 0 ] || chown -R "$uid" "$ws"
	(cd "$ws" && find .git | sort | cat - .git/config) >"$ws.before"
}

lead=:

# told COMMAND: what sbxrun says of it, one line each, without the beginning.
told()
{
	tap_as "$uid" env HOME="$base/home" sh -c 'cd "$1" && exec "$2" -l "$3" \
	    -w . --status-fd 7 "$5" -- sh -c "$6" 7>>"$4"' sh "$ws" "$base/sbxrun" "$level" \
	    "$ws.log" "$base/watch.bin" "$1" 2>&1 >/dev/null |
		sed -n 's/^sbxrun: //p' | sort
}

# case NAME COMMAND LINE...
case_()
{
	name=$1
	command=$2
	shift 2
	plant
	tap_as "$uid" sh -c 'cd "$1" && sh -c "$2"' sh "$ws" "$command" \
	    >/dev/null 2>&1 ||
		tap_not_ok "$level: uid $uid: $name: it is possible"
	plant
	rm -f "$ws.log"
	got=$(told "$command")
	tap_is "$level: uid $uid: $name" "$(printf '%s\n' "$@" | sort)" "$got"
}

quiet()
{
	case_ 'nothing' 'true' ''
	case_ 'reading' 'cat .git/config .git/hooks/* .vscode/a/*' ''
	case_ 'beside it' 'echo x >x; mkdir -p .git/objects/aa; echo x >.git/index' ''
	case_ 'a sample' 'echo x >.git/hooks/post-merge.sample' ''
	case_ 'harmless settings' 'cat >>.git/config <<-X
		[remote "two"]
			url = git@example.org:x
			fetch = +refs/heads/*:refs/remotes/two/*
		[branch "main"]
			merge = refs/heads/main
		[user]
			name = A
		# fsmonitor = x
	X' ''
	case_ 'the same settings again' \
	    'cp .git/config c; rm .git/config; mv c .git/config' ''
	case_ 'a directory alone' 'mkdir .vscode/b; rmdir .vscode/b' ''
}

names()
{
	case_ 'a hook' 'echo x >.git/hooks/post-commit' \
	    'the command made .git/hooks/post-commit'
	case_ 'a hook that is written to' 'echo x >>.git/hooks/pre-push' \
	    'the command changed .git/hooks/pre-push'
	case_ 'a hook that is made executable' 'chmod +x .git/hooks/pre-push' \
	    'the command changed .git/hooks/pre-push'
	case_ 'times that are set back' \
	    'touch -r .git/hooks/pre-push t; echo "exit 1" >.git/hooks/pre-push
		touch -r t .git/hooks/pre-push' \
	    'the command changed .git/hooks/pre-push'
	case_ 'a file renamed over it' \
	    'echo "exit 1" >n; touch -r .git/hooks/pre-push n
		mv n .git/hooks/pre-push' \
	    'the command changed .git/hooks/pre-push'
	case_ 'a hook that goes' 'rm .git/hooks/pre-push' \
	    'the command removed .git/hooks/pre-push'
	case_ 'an absent file' 'echo x >.envrc' 'the command made .envrc'
	case_ 'a watched file that goes' 'rm .envrc.d/one' \
	    'the command removed .envrc.d/one'
	case_ 'what a pattern matches' 'echo x >>p10k-a; echo x >p10k-b
		mkdir -p cached/repo1/env/bin cached/repo2/env/bin cached/repo1/env/lib
		echo x >cached/repo1/env/bin/x; echo x >cached/repo1/env/lib/x' \
	    'the command made p10k-b' 'the command changed p10k-a' \
	    'the command made cached/repo1/env/bin/x'
	case_ 'what matches no more' 'mv p10k-a p9k-a; rm -r cached' \
	    'the command removed p10k-a' 'the command removed cached/repo/e/bin/p'
	case_ 'a link' 'ln -s /etc/hosts .envrc' \
	    'the command made .envrc, which is a link'
	case_ 'a file deep in a tree' 'echo x >.vscode/a/settings.json' \
	    'the command made .vscode/a/settings.json'
	case_ 'a tree that is new' 'mkdir -p .idea/b; for i in 1 2 3 4; do
		echo x >.idea/b/$i; done' 'the command made .idea, with 4 files'
	case_ '... and small' 'mkdir .idea; echo x >.idea/a' \
	    'the command made .idea/a'
	case_ 'a tree that goes' 'rm -r .vscode' \
	    'the command removed .vscode/a/tasks.json'
	case_ 'a tree that becomes a link' 'mv .vscode v; ln -s v .vscode' \
	    'the command replaced .vscode, which is a link' \
	    'the command removed .vscode/a/tasks.json'
	case_ 'names that move the cursor' \
	    'echo x >"$(printf ".vscode/\\033[2Jx")"' \
	    'the command made .vscode/\x1b[2Jx'
	case_ 'many' 'cd .vscode; for i in 1 2 3 4 5; do echo x >$i; done
		rm a/tasks.json; echo x >../.envrc' \
	    'the command changed 3 more watched names' \
	    "$(told_first 3)" 'the command made .envrc'
	case_ 'what runs on in the background' \
	    '(sleep 0.2; echo x >.envrc) & wait' 'the command made .envrc'
}

# The directory's order decides which of five are named.
told_first()
{
	(
		plant
		cd "$ws/.vscode" || exit
		for i in 1 2 3 4 5; do echo x >$i; done
		find . -maxdepth 1 -type f -printf 'the command made .vscode/%P\n'
	) | head -n "$1"
}

settings()
{
	for setting in fsmonitor hooksPath sshCommand editor pager; do
		case_ "core.$setting" \
		    "printf '[core]\\n\\t$setting = x\\n' >>.git/config" \
		    "the command changed .git/config: core.$setting"
	done
	case_ 'a program that gc runs' \
	    'printf "[gc]\n\trecentObjectsHook = x\n" >>.git/config' \
	    'the command changed .git/config: gc.recentObjectsHook'
	case_ 'a filter' \
	    'printf "[filter \"x\"]\n\tclean = x\n" >>.git/config' \
	    'the command changed .git/config: filter.clean'
	case_ 'another configuration' \
	    'printf "[include]\n\tpath = ../x\n" >>.git/config' \
	    'the command changed .git/config: include.path'
	case_ 'on the line of the section' \
	    'printf "[core] fsmonitor = x\n" >>.git/config' \
	    'the command changed .git/config'
	case_ 'in other letters' \
	    'printf "[CORE]\n\tFSMONITOR = x\n" >>.git/config' \
	    'the command changed .git/config: CORE.FSMONITOR'
	case_ 'after a line that goes on' \
	    'printf "[user]\n\tname = a \\\\\n[core]\n\tfsmonitor = x\n" \
		>>.git/config' \
	    'the command changed .git/config' \
	    'the command changed .git/config: user.fsmonitor'
	case_ 'after a comment that seems to go on' \
	    'printf "[core]\n# a \\\\\n\tfsmonitor = x\n" >>.git/config' \
	    'the command changed .git/config: core.fsmonitor'
	case_ 'an address that runs a program' \
	    'printf "[remote \"o\"]\n\turl = ext::sh\n" >>.git/config' \
	    'the command changed .git/config: remote.url'
	case_ 'the same, in quotation marks' \
	    'printf "[remote \"o\"]\n\turl = ext:\":\"sh\n" >>.git/config' \
	    'the command changed .git/config: remote.url'
	case_ 'an address on disk' \
	    'printf "[remote \"o\"]\n\tpushurl = ./o\n" >>.git/config' \
	    'the command changed .git/config: remote.pushurl'
	case_ 'another value, as long as the old one' \
	    'sed -i "s/mine = log/mine = !id/" .git/config' \
	    'the command changed .git/config: alias.mine'
	case_ 'another key, as long as the old one' \
	    'sed -i "s/mine = log/ours = log/" .git/config' \
	    'the command changed .git/config: alias.ours'
	case_ 'another section, as long as the old one' \
	    'sed -i "s/^.alias/[pager/" .git/config' \
	    'the command changed .git/config: pager.mine'
	case_ 'one that goes' 'sed -i /mine/d .git/config' \
	    'the command changed .git/config: alias.mine'
	case_ 'a file too large to be read' \
	    'head -c 20000 /dev/zero | tr "\0" "\n" >>.git/config' \
	    'the command changed .git/config'
	case_ 'no text' 'printf "a\\0b" >.git/config' \
	    'the command changed .git/config'
	case_ 'what stands behind no text' \
	    'printf "\0[core]\n\tfsmonitor = x\n" >>.git/config' \
	    'the command changed .git/config'
	case_ 'of a work tree' \
	    'printf "[core]\n\tfsmonitor = x\n" >.git/config.worktree' \
	    'the command changed .git/config.worktree: core.fsmonitor'
	case_ 'of a submodule' \
	    'printf "[core]\n\tfsmonitor = x\n" >>.git/modules/m/config' \
	    'the command changed .git/modules/m/config: core.fsmonitor'
}

# As much as is looked at, and a bit more.
# shellcheck disable=SC2016  # the commands' shells are to expand
bounds()
{
	fill='head -c $((SIZE - $(wc -c <.git/config))) /dev/zero |
	    tr "\0" "\n" >>.git/config'
	case_ 'a file as large as is read' "SIZE=16384; $fill" ''
	case_ 'a byte more' "SIZE=16385; $fill" 'the command changed .git/config'
	deep=.vscode/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15
	case_ 'a file as deep as is looked' "mkdir -p $deep; echo x >$deep/x" \
	    "the command made $deep/x"
	cut='warning: .vscode: only 16384 names are watched here, 16 directories deep'
	case_ 'a directory more' "mkdir -p $deep/16" "$cut"
	# The tree has three names.
	case_ 'as many names as are kept' \
	    'cd .vscode; mkdir $(seq 252); echo x >x' \
	    'the command made .vscode/x'
	case_ 'one more' 'cd .vscode; mkdir $(seq 253); echo x >x' \
	    'the command changed something in .vscode'
}

# What git follows is followed: each case has its own start, before the look.
led()
{
	lead=$3
	case_ "$1" "$2" "$4"
	lead=:
}

# What a review would not show, in files that git writes all the time.
hides()
{
	if ! command -v git >/dev/null; then
		tap_skip 'what an index hides' 'there is no git'
		return
	fi
	start='rm -rf .git; git init -q; echo 1 >one; echo 2 >two; git add one two'
	led 'an index as it should be' 'sleep .2; echo 3 >>one; git add one' \
	    "$start; git update-index --assume-unchanged two" ''
	led 'a file that git does not look at' \
	    'sleep .2; git update-index --assume-unchanged one two' "$start" \
	    'the command changed .git/index: git does not look at one, and 1 more'
	led 'one that it leaves out' \
	    'sleep .2; git update-index --skip-worktree two' \
	    "$start; git update-index --index-version 4; git update-index --assume-unchanged one" \
	    'the command changed .git/index: git does not look at two'
	led 'a history that is replaced, and packed' \
	    'echo "0 refs/replace/1" >>.git/packed-refs' "$start" \
	    'the command made .git/packed-refs: refs/replace'

	# An entry of the new file with the object of the old one.
	forge='echo 3 >one; touch -d @9 one; git add one
		export LC_ALL=C; sed -i "s/\x00\x75\x0e\xdc\x07\xd6\x41/\xd0\x04\x91\xfd\x7e\x5b\xb6/
			s/\x5d\xcc\x07\xae\x03\x51\xe9\x39\x7b\x02\x22\xb7\xba/\xfa\x28\xc5\x17\xa0\xbb\x32\xb8\xb5\x06\x53\x9d\x4d/" .git/index'
	led 'an entry that is false' "$forge; test -z \"\$(git diff)\"" "$start" \
	    'the command changed .git/index: git takes for unchanged one'
	led 'one that was written into the index that was there' \
	    "cp .git/index i; $forge; cp .git/index j; cp i .git/index; cp j .git/index" \
	    "$start" 'the command changed .git/index: git takes for unchanged one'
	led 'one in an index without a checksum' "$forge" \
	    "$start; truncate -s -20 .git/index; head -c 20 /dev/zero >>.git/index" \
	    'the command changed .git/index: git takes for unchanged one'
	led 'one of a file that was made before' \
	    "mv other/one one; git update-index --refresh; $forge" \
	    "$start; mkdir other; echo 3 >other/one; touch -d @9 other/one" \
	    'the command changed .git/index: git takes for unchanged one'
	led 'a link that is false' \
	    'touch -h -d @9 l; git add l; ln -sf b l; touch -h -d @9 l
		cp .git/index i; git add l; export LC_ALL=C
		new=$(git hash-object --stdin <l.b | sed "s/../\\\\x&/g")
		old=$(git hash-object --stdin <l.a | sed "s/../\\\\x&/g")
		sed -i "s/$new/$old/" .git/index' \
	    "$start; ln -s a l; printf a >l.a; printf b >l.b; git add l" \
	    'the command changed .git/index: git takes for unchanged l'
	led 'true entries' \
	    'echo 4 >one; echo 5 >>two; printf "a\r\n" >three; git add .; touch one two
		git update-index --refresh; git mv one four' \
	    "$start; git config core.autocrlf true" ''
	led 'a list of files that are not there' \
	    'git update-index --force-untracked-cache' "$start" \
	    'the command changed .git/index: git believes its list of files'
	led 'an index in two files' 'git update-index --split-index' "$start" \
	    'the command changed .git/index: git believes its list of files'
	linked="$start; git -c user.name=a -c user.email=a commit -qm a
		rm -rf \"$base/linked\"; git worktree add -q \"$base/linked\" 2>/dev/null"
	led 'the index of another working tree' \
	    'GIT_DIR=.git/worktrees/linked git update-index --assume-unchanged two' \
	    "$linked" \
	    'the command changed .git/worktrees/linked/index: git does not look at two'
	led 'settings by which git shows less' \
	    'git config status.showUntrackedFiles no; git config core.fileMode true' \
	    "$start" 'the command changed .git/config: status.showUntrackedFiles'
	led 'where the tree of a submodule is' \
	    'git config -f .git/modules/m/config core.worktree ../../../z' \
	    'git config -f .git/modules/m/config core.worktree ../../../y' \
	    'the command changed .git/modules/m/config: core.worktree'
}

leads()
{
	led 'a directory of hooks elsewhere' 'echo x >my/hooks/post-commit' \
	    'mkdir -p my/hooks; printf "[core]\n\thooksPath = ./my/hooks\n" >>.git/config' \
	    'the command made my/hooks/post-commit'
	led 'one that is not there yet' 'mkdir my; echo x >my/post-commit' \
	    'printf "[core]\n\thooksPath = my\n" >>.git/config' 'the command made my/post-commit'
	led 'settings that others include' \
	    'printf "[core]\n\tpager = x\n" >>team' \
	    'echo "# none" >team; printf "[include]\n\tpath = ../team\n" >>.git/config' \
	    'the command changed team: core.pager'
	led 'settings that those include' \
	    'printf "[core]\n\tpager = x\n" >>more' \
	    'printf "[include]\n\tpath = more\n" >team; echo >more
		printf "[include]\n\tpath = ../team\n" >>.git/config' \
	    'the command changed more: core.pager'
	led 'hooks that the user has in each project' \
	    'mkdir .githooks; echo x >.githooks/post-commit' \
	    'printf "[core]\n\thooksPath = .githooks\n" >"$base/home/.gitconfig"' \
	    'the command made .githooks/post-commit'
	led 'settings that the user includes' \
	    'printf "[core]\n\tpager = x\n" >>shared' \
	    'echo >shared; mkdir -p "$base/home/.config/git"
		printf "[include]\n\tpath = $PWD/shared\n" >"$base/home/.config/git/config"' \
	    'the command changed shared: core.pager'
	rm -r "$base/home/.gitconfig" "$base/home/.config"
	led 'a linked hook' 'echo x >>hook' \
	    'echo x >hook; ln -s ../../hook .git/hooks/post-commit' \
	    'the command changed hook'
	led 'a linked configuration' 'printf "[core]\n\tpager = x\n" >>c' \
	    'mv .git/config c; ln -s ../c .git/config' \
	    'the command changed c: core.pager'
	led 'a repository elsewhere' 'echo x >git/hooks/post-commit' \
	    'mv .git git; echo "gitdir: git" >.git
	mkdir -p git/objects git/refs; echo "ref: refs/heads/main" >git/HEAD
	printf "[core]\n\tworktree = ..\n" >>git/config' \
	    'the command made git/hooks/post-commit'
	led 'a linked repository' 'echo x >git/hooks/post-commit' \
	    'mv .git git; ln -s git .git' \
	    'the command made git/hooks/post-commit'
	led 'a linked file' 'echo x >>envrc' \
	    'echo x >envrc; ln -s envrc .envrc' 'the command changed envrc'
}

elsewhere()
{
	case_ 'another common directory' 'echo ../x >.git/commondir' \
	    'the command made .git/commondir'
	case_ 'what a rebase goes on with' \
	    'mkdir .git/rebase-merge
		echo exec x >.git/rebase-merge/git-rebase-todo' \
	    'the command made .git/rebase-merge/git-rebase-todo'
	case_ 'a submodule whose name has a slash' \
	    'mkdir -p .git/modules/a/b; printf "[core]\n\tpager = x\n" \
		>.git/modules/a/b/config' \
	    'the command changed .git/modules/a/b/config: core.pager'
	case_ 'a merge strategy' 'mkdir .git/rebase-merge .git/sequencer
		echo x >.git/rebase-merge/strategy; echo x >.git/sequencer/opts' \
	    'the command made .git/rebase-merge/strategy' \
	    'the command made .git/sequencer/opts'
	case_ 'an address of old' 'mkdir .git/branches; echo ../x >.git/branches/o' \
	    'the command made .git/branches/o'
	case_ 'what hides files from a review' \
	    'mkdir .git/info; echo "# none" >.git/info/attributes
		echo x >.git/info/exclude' \
	    'the command made .git/info/exclude'
	case_ 'what hides contents and history' \
	    'mkdir -p .git/info .git/refs/replace; echo x >.git/refs/replace/0
		echo x >.git/info/grafts; echo x >.git/shallow' \
	    'the command made .git/refs/replace/0' \
	    'the command made .git/info/grafts' 'the command made .git/shallow'
	case_ 'a workspace that is a repository' \
	    'mv .git git; mkdir objects refs; echo "ref: refs/heads/x" >HEAD
		printf "[core]\n\tfsmonitor = x\n" >config; mv git .git' \
	    'the command made HEAD' 'the command changed config: core.fsmonitor'
	case_ 'what is none' 'mkdir objects hooks; echo x >HEAD; echo x >hooks/x' ''
	case_ 'a rebase that ended' \
	    'mkdir .git/rebase-merge; echo exec x >.git/rebase-merge/git-rebase-todo
		rm -r .git/rebase-merge' ''
	case_ 'another repository' \
	    'mv .git git; echo "gitdir: git" >.git' \
	    'the command replaced .git' \
	    'the command removed .git/hooks/pre-push' \
	    'the command removed .git/config' \
	    'the command changed 1 more watched names'
	case_ 'a link to another one' \
	    'cp -r .git git; rm -r .git; ln -s git .git' \
	    'the command replaced .git, which is a link' \
	    'the command removed .git/hooks/pre-push' \
	    'the command removed .git/config' \
	    'the command changed 1 more watched names'
}

record()
{
	case_ 'a record' 'echo x >.envrc' 'the command made .envrc'
	tap_is "$level: uid $uid: the receipt" \
	    "start
changed made $ws/.envrc null watch.sbx
end" "$(perl -MJSON::PP -ne '
	my $at = JSON::PP->new->utf8->decode($_);
	print join(" ", $at->{event}, $at->{event} eq "changed" ?
	    ($at->{change}, $at->{path}, $at->{setting} // "null",
	    $at->{source} =~ s/.*?(\w+\.sbx).*/$1/r) : ()), "\n"' "$ws.log")"
	tap_is "$level: uid $uid: what -n says" "$ws" "$(tap_as "$uid" \
	    env HOME="$base/home" "$base/sbxrun" -l "$level" -w "$ws" -n \
	    "$base/watch.bin" | sed -n 's/^watch git \(.*\)  \[.*/\1/p')"
	case_ 'a setting' 'printf "[core]\n\tpager = x\n" >>.git/config' \
	    'the command changed .git/config: core.pager'
	tap_is "$level: uid $uid: its name in the receipt" core.pager \
	    "$(perl -MJSON::PP -ne '
	my $at = JSON::PP->new->utf8->decode($_);
	print $at->{setting} if $at->{event} eq "changed"' "$ws.log")"
}

home()
{
	plant
	case $uid in
	0) ;;
	*) case_ 'a directory that is shut' 'chmod 000 .vscode' \
	    'the command changed .vscode' ;;
	esac
	ws=$base/home-$uid
	mkdir -p "$ws"
	plant
	echo one >"$ws/.profile" && chown "$uid" "$ws/.profile"
	tap_is "$level: uid $uid: the home" 'the command changed .profile' \
	    "$(tap_as "$uid" env HOME="$ws" sh -c 'cd "$1" && "$2" -w . -l "$3" "$4" \
		-- sh -c "echo x >.profile"' sh "$ws" "$base/sbxrun" "$level" \
		"$base/watch.bin" 2>&1 | sed -n 's/^sbxrun: //p')"
	tap_is "$level: uid $uid: ... is warned of in the plan" 1 \
	    "$(warned "$base/sbxrun -w . -n -l $level $base/watch.bin")"
	tap_is "$level: uid $uid: ... and at a terminal" 1 \
	    "$(warned "script -qec '$base/sbxrun -w . -l $level $base/watch.bin \
		-- true' /dev/null")"
}

# ~ is the home of the password entry, too, where $HOME is another directory.
two_homes()
{
	ws=$base/entry
	plant
	echo one >"$ws/.profile"
	printf '%s\n' "root:x:0:0::$ws:/bin/sh" >"$base/passwd"
	# shellcheck disable=SC2016  # for the inner shell
	got=$(cd "$ws" && HOME=$base/home unshare -m sh -c \
	    'mount --bind "$1" /etc/passwd && exec "$2" -w . -l standard "$3" -- \
		sh -c "echo x >.profile"' sh "$base/passwd" "$base/sbxrun" \
	    "$base/watch.bin" 2>&1 | grep -v warning)
	tap_is 'the home of the password entry' \
	    'sbxrun: the command changed .profile' "$got"
}

# warned COMMAND-LINE: how often, where the home directory is the workspace.
warned()
{
	tap_as "$uid" env HOME="$ws" sh -c 'cd "$1" && eval "$2"' sh "$ws" "$1" \
	    2>&1 </dev/null |
	    grep -c '^sbxrun: warning: the workspace is the home directory'
}

# What the shipped profile keeps where there are masks, and tells elsewhere; and
# that `prefer deny write` costs nothing beside it at level standard.
shipped()
{
	ws=$base/s-$uid-$level
	plant
	got=$(shipped_run 'echo x >.vscode/a/tasks.json; echo x >beside
		echo x >.envrc; echo x >.git/hooks/post-commit; cat beside')
	case $level in
	full) tap_is "$level: uid $uid: the shipped profile" \
	    "sbxrun: the command made .envrc
sbxrun: the command made .git/hooks/post-commit
sh: cannot create .vscode/a/tasks.json: Read-only file system
x" "$got" ;;
	*) tap_is "$level: uid $uid: the shipped profile" \
	    "sbxrun: the command changed .vscode/a/tasks.json
sbxrun: the command made .envrc
sbxrun: the command made .git/hooks/post-commit
x" "$got" ;;
	esac
	tap_is "$level: uid $uid: what -n says" "$(
		case $level in
		full) echo 'view: read-only' ;;
		*) echo 'NOT ENFORCED: without masks nothing could be made' \
		    'beside it' ;;
		esac
	)" "$(tap_as "$uid" "$base/sbxrun" -l "$level" -w "$ws" -n \
	    "$base/ww.bin" | sed -n \
	    "s|^prefer deny write $ws/.vscode  -- \\(.*\\)  \\[.*|\\1|p")"
	ws=$base/home-$uid
	plant
	echo old >"$ws/.bashrc"
	[ "$uid" = 0 ] || chown "$uid" "$ws/.bashrc"
	got=$(shipped_run 'echo x >>.bashrc; echo x >.zshrc')
	case $level in
	full) tap_is "$level: uid $uid: the home as workspace" \
	    "sbxrun: the command made .zshrc
sh: cannot create .bashrc: Read-only file system" "$got" ;;
	# Nothing is made beside the credentials, which are denied.
	*) tap_is "$level: uid $uid: the home as workspace" \
	    "sbxrun: the command changed .bashrc
sh: cannot create .zshrc: Permission denied" "$got" ;;
	esac
}

# The ways to have git run something, where all of .git is denied; and those that
# the group git-programs leaves, which are told.
shut()
{
	ws=$base/g-$uid-$level
	plant
	for way in 'echo x >.git/hooks/post-commit' 'echo x >>.git/config' \
	    'echo x >.git/config.worktree' 'echo ../x >.git/commondir' \
	    'mkdir .git/modules/n' 'mv .git git' 'rm -r .git' \
	    'ln -s ../x .git/hooks/x'; do
		tap_is "$level: uid $uid: .git is denied: $way" 1 "$(
			policy=shut shipped_run "$way" >/dev/null
			(cd "$ws" && find .git | sort | cat - .git/config) |
			    cmp -s - "$ws.before"
			echo $((! $?)))"
	done
	[ "$level" = full ] || return
	for way in 'echo x >.git/hooks/post-commit' 'echo x >>.git/config' \
	    'mkdir .git/modules/n' 'mv .git git'; do
		tap_is "$level: uid $uid: git-programs: $way" 1 "$(
			policy=programs shipped_run "$way" >/dev/null
			(cd "$ws" && find .git | sort | cat - .git/config) |
			    cmp -s - "$ws.before"
			echo $((! $?)))"
	done
	tap_is "$level: uid $uid: git-programs: what was not there" \
	    'sbxrun: the command made .git/commondir' \
	    "$(policy=programs shipped_run 'echo ../x >.git/commondir')"
}

shipped_run()
{
	tap_as "$uid" env HOME="$base/home-$uid" sh -c 'cd "$1" && "$2" -l "$3" \
	    -w . "$4" -- sh -c "$5"' sh "$ws" "$base/sbxrun" "$level" \
	    "$base/${policy:-ww}.bin" "$1" 2>&1 | sed 's/^sh: [0-9]*: /sh: /' | sort
}

# Where the directory itself has not changed for a while, what was absent is not
# looked for again.
settled()
{
	level=standard uid=$(id -u)
	for way in 'echo x >.envrc' 'echo x >safe/t; mv safe/t .envrc' \
	    'ln .vscode/a/tasks.json .envrc' 'true' 'echo x >.envrc; rm .envrc'; do
		ws=$base/settled-$((settled += 1))
		plant
	done
	while [ $(($(date +%s) - $(stat -c %Z "$ws"))) -le 4 ]; do
		sleep 0.5
	done
	settled=0
	for way in 'echo x >.envrc' 'echo x >safe/t; mv safe/t .envrc' \
	    'ln .vscode/a/tasks.json .envrc' 'true' 'echo x >.envrc; rm .envrc'; do
		ws=$base/settled-$((settled += 1))
		case $settled in
		[123]) want='the command made .envrc' ;;
		*) want= ;;
		esac
		[ "$settled" != 3 ] || want="the command changed .vscode/a/tasks.json
$want"
		tap_is "in a settled directory: $way" "$want" "$(told "$way")"
	done
}

# Where times are whole seconds, as ext4 has them in small inodes, a name can be
# made in a directory without a change of its time.
coarse()
{
	mkdir "$base/coarse"
	truncate -s 2M "$base/image"
	mke2fs -q -t ext4 -I 128 "$base/image" >/dev/null 2>&1
	# shellcheck disable=SC2016  # for the inner shell
	got=$(HOME=$base/home unshare -m sh -c '
	    mount -o loop "$1/image" "$1/coarse" 2>/dev/null &&
		cd "$1/coarse" || exit
	    for i in 1 2 3 4 5 6 7 8 9 10; do
		now=$(date +%s)
		mkdir "$now"
		said=$(cd "$now" && "$1/sbxrun" -l standard "$1/watch.bin" \
		    -- sh -c "echo x >.envrc" 2>&1)
		[ "$(stat -c %Z "$now")" != "$now" ] || break
	    done
	    echo "$said"' sh "$base" | grep -v warning)
	if [ -n "$(ls "$base/coarse")" ] || [ -z "$got" ]; then
		tap_lacks 'a change within one second' 'no such file system'
	else
		tap_is 'a change within one second' \
		    'sbxrun: the command made .envrc' "$got"
	fi
}

mkdir "$base/home"
chmod 1777 "$base"
uids=$(id -u)
! tap_twice || uids='0 65534'
for level in standard full; do
	for uid in $uids; do
		ws=$base/w-$uid-$level
		if ! tap_as "$uid" "$base/sbxrun" -l "$level" \
		    -w "$base/home" "$base/watch.bin" -- true 2>/dev/null; then
			tap_skip "$level: uid $uid" 'the level is not offered'
			continue
		fi
		quiet
		names
		settings
		bounds
		elsewhere
		leads
		hides
		record
		home
		shipped
		shut
	done
done
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
	two_homes
	coarse
else
	tap_lacks 'the home of the password entry' 'no mounts can be made'
fi
settled=0
settled
tap_done
