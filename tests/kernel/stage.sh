#!/bin/bash
# --stage and --staged, as TAP: the workspace stays as it was until a person applies
# what was changed, and then it is as if the command had run there.  In a mount
# namespace with homes of this test, as this user and an ordinary one.

# The inner shell expands the rest.
# shellcheck disable=SC2016

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"
if [ "${1-}" != inside ]; then
	unshare --mount true 2>/dev/null || {
		tap_begin
		tap_lacks "all of it" "needs mount namespaces, as root has"
		tap_done
		exit
	}
	exec unshare --mount --propagation private "$0" inside
fi

# Not below /tmp: that is the scratch directory at level full.
tap_begin /var/tmp
tap_programs "$SBXRUN" "$SBXC" "$builddir/sbxsh"
policy plain read-only 'allow write ${workspace}'
policy always workspace-write 'stage write ${workspace}'
policy work workspace-write 'watch git ${workspace}' 'watch ${workspace}/v/w' 'deny write ${workspace}/kept'
printf 'root:x:0:0::%s:/bin/sh\nu:x:%s:%s::%s:/bin/sh\n' "$tmp/home-0" \
    "$ORDINARY" "$ORDINARY" "$tmp/home-$ORDINARY" >"$tmp/passwd"
mount --bind "$tmp/passwd" /etc/passwd || exit 99
mkfifo "$tmp/hold"
exec </dev/null

# make DIRECTORY: a small project.
make()
{
	rm -rf "$1" 2>/dev/null
	mkdir -p "$1/src/deep" "$1/gone/deep" "$1/again" "$1/.git/hooks" \
	    "$1/.sbx-staged"
	(
		cd "$1" || exit 99
		echo one | tee a b t gone/1 gone/deep/2 again/old src/deep/f kept \
		    >/dev/null
		ln -s a link
		chmod 644 b
	)
	[ "$uid" -eq "$(id -u)" ] || chown -hR "$uid:$uid" "$1"
}

# What a tree is: names, modes, links, old times, bytes.
tree()
{
	(cd "$1" && find . -printf '%M %p %l\n' | grep -v '^d[^ ]* \.git' | sort
	find . -type f -printf '%n %p\n' | sort
	find . ! -newermt 2002-01-01 | sort
	find . -type f -exec sha256sum {} + | sort -k 2)
}

run()
{
	(cd "$ws" && as "$uid" "$tmp/sbxrun" "$@" 2>"$tmp/said")
}

staged()
{
	(cd "$ws" && as "$uid" "$tmp/sbxrun" --staged "$@" 2>&1 </dev/null)
}

script='echo two >>a && chmod 755 b && rm -r gone && rm -r again && mkdir again &&
    echo new >again/new && mv src/deep/f src/g && ln -sfn b link &&
    mkdir -p made/deep && echo x >made/deep/f && truncate -s 1M made/hole &&
    ln link made/link && echo h >h1 && ln h1 h2 && ln h1 made/h3 &&
    mkdir ro && echo r >ro/f && chmod 555 ro &&
    touch -d @1000000000 t made/deep src
    echo two >kept 2>/dev/null; true'

# What git keeps elsewhere would not be staged; in the workspace it is.
repositories()
{
	(cd "$ws" && as "$uid" sh -c 'rm -rf .git && git init -q . &&
	    git -c user.name=u -c user.email=u@x commit -q --allow-empty -m m &&
	    git worktree add -q ../tree && cp -r .git sub.git &&
	    git -c protocol.file.allow=always submodule --quiet add ./sub.git sub
	    git -C sub rev-parse -q --verify HEAD >/dev/null') 2>"$tmp/said" ||
	    tap_not_ok "uid $uid: a repository" "$(cat "$tmp/said")"
	(cd "$home/tree" && as "$uid" "$tmp/sbxrun" --stage "$tmp/work.bin" -- true
	) 2>"$tmp/said"
	tap_is "uid $uid: a linked working tree" '125 1' \
	    "$? $(grep -c 'repository of this working tree lies outside' "$tmp/said")"
	run --stage "$tmp/work.bin" -c 'cd sub && git -c user.name=u \
	    -c user.email=u@x commit -q --allow-empty -m inside'
	tap_is "uid $uid: what is committed in a submodule is staged" 'm inside' \
	    "$(cd "$ws" && as "$uid" git -C sub log -1 --format=%s) $(
		run --stage "$tmp/work.bin" -c 'git -C sub log -1 --format=%s')"
	(cd "$ws/sub" && as "$uid" "$tmp/sbxrun" --stage "$tmp/work.bin" -- true
	) 2>"$tmp/said"
	tap_is "uid $uid: a submodule by itself" 125 $?
	staged discard >/dev/null
}

# Of a size that somebody has chosen: a file system of its own.
full()
{
	mount -t tmpfs -o "size=3m,mode=700,uid=$uid" tmpfs \
	    "$home/.local/state/sbx/stages"
	run --stage "$tmp/plain.bin" -c 'echo x >small; head -c 9M /dev/zero >large'
	tap_is "uid $uid: a stage that is full says so" '1 1' \
	    "$(grep -c 'No space left' "$tmp/said") $(
		grep -c 'file system of the stage is full' "$tmp/said")"
	staged discard >/dev/null
	umount "$home/.local/state/sbx/stages"
}

# One stage for all commands of a session, of a shell.
sessions()
{
	run --session=s --stage "$tmp/work.bin" -c 'mkdir fresh && echo one >fresh/f'
	tap_is "uid $uid: a session has a stage, and says so" '0 1 no' \
	    "$? $(grep -c 'sbxrun --staged diff' "$tmp/said") $(
		[ ! -e "$ws/fresh" ] && echo no)"
	tap_is "uid $uid: all its commands are in it" one \
	    "$(cd "$ws/sub" && as "$uid" "$tmp/sbxrun" --session=s -c 'cat ../fresh/f' 2>&1)"
	run --session=s --stage=other -- true
	tap_is "uid $uid: a session has one stage" '125 1' \
	    "$? $(grep -c 'the session has another stage: ws-' "$tmp/said")"
	tap_is "uid $uid: nobody applies meanwhile" 1 \
	    "$(staged apply | grep -c 'a run or a session has this stage')"
	run --session=s --end
	run --session=s "$tmp/work.bin" -- true
	run --session=s --stage -- true
	tap_is "uid $uid: a session without one" '125 1' \
	    "$? $(grep -c 'the session has another stage: none' "$tmp/said")"
	run --session=s --end
	mkdir -p "$home/.config/sbx"
	printf '%s\n' "policy $tmp/work.bin" 'session s' 'stage yes' \
	    >"$home/.config/sbx/shell"
	[ "$uid" -eq 0 ] || chown -R "$uid:$uid" "$home/.config"
	(cd "$ws" && as "$uid" "$tmp/sbxsh" -c 'echo two >>fresh/f') 2>/dev/null
	run --session=s --end
	tap_is "uid $uid: sbxsh has one, and what is watched there is known" \
	    'one two no' "$(run --stage "$tmp/work.bin" -c 'echo e >.git/hooks/e
		echo $(cat fresh/f)') $(staged apply >/dev/null
		[ ! -e "$ws/.git/hooks/e" ] && echo no)"
	staged discard >/dev/null
}

each()
{
	uid=$1
	home=$tmp/home-$uid
	ws=$home/ws
	rm -rf "$home"
	mkdir -p "$ws"
	# Once from one file system to another, where changes have to be copied.
	[ "$uid" -ne 0 ] || mount -t tmpfs -o mode=755 tmpfs "$ws" || exit 99
	[ "$uid" -eq 0 ] || chown "$uid:$uid" "$home" "$ws"

	make "$home/bare"
	(cd "$home/bare" && as "$uid" "$tmp/sbxrun" -l full "$tmp/work.bin" \
	    -c "$script" 2>/dev/null </dev/null)
	make "$ws"
	before=$(tree "$ws")
	# Whoever made the tree just before has not changed it meanwhile.
	sleep 0.1
	if ! run --stage "$tmp/work.bin" -c "$script"; then
		if grep -q 'makes no overlay' "$tmp/said"; then
			tap_lacks "uid $uid: a stage" "no overlay can be made here"
			return
		fi
		tap_not_ok "uid $uid: a staged run" "$(cat "$tmp/said")"
		return
	fi
	tap_is "uid $uid: the tree is as it was" "$before" "$(tree "$ws")"
	tap_is "uid $uid: it says where to look" 1 \
	    "$(grep -c 'sbxrun --staged diff' "$tmp/said")"
	tap_is "uid $uid: deletions come first" 'deleted again/old
deleted gone/ (2 files)
deleted src/deep/f
changed a
new again/new
mode b
new h1
new h2
changed link -> b
new made/
new made/deep/
new made/deep/f
new made/h3
new made/hole
new made/link -> b
new ro/
new ro/f
new src/g' "$(staged diff | awk '/^$/ {exit} {$1 = $1; sub(/ \(mode.*/, ""); print}')"
	tap_is "uid $uid: a run goes on where the last one was" 'two x' \
	    "$(run --stage "$tmp/work.bin" -c 'echo $(tail -n 1 a) $(cat made/deep/f)')"
	tap_is "uid $uid: all is applied" '18 applied, 0 left in the stage' \
	    "$(staged apply)"
	tap_is "uid $uid: as if it had run there" "$(tree "$home/bare")" \
	    "$(tree "$ws")"
	tap_is "uid $uid: nothing is left" 'nothing was changed' "$(staged diff)"

	# What the command has no business with.
	tap_is "uid $uid: its layers are not to be had" '0 0' "$(
	    run --stage "$tmp/work.bin" -c 'ls ~/.local/state/sbx/stages/*/*
		echo x >~/.local/state/sbx/stages/x
		mkdir -p ~/.local/state/sbx/stages/x
		cat /proc/self/mountinfo' | grep -c 'about\|watched' | tr '\n' ' '
	    find "$home/.local/state/sbx" -name x | grep -c .)"

	# A hook, and settings that lead to one.
	run --stage "$tmp/work.bin" -c 'echo evil >.git/hooks/pre-commit
	    echo c >c; mkfifo fifo; rm -r .git/hooks/../../src'
	tap_is "uid $uid: what is watched stays" \
	    '2 applied, 2 left in the stage 1 no' \
	    "$(staged apply | tail -n 1) $(staged apply >/dev/null; echo $?) $(
		[ ! -e "$ws/.git/hooks/pre-commit" ] && echo no)"
	staged apply .git >/dev/null
	tap_is "uid $uid: a directory around it names it not" no \
	    "$([ ! -e "$ws/.git/hooks/pre-commit" ] && echo no)"
	staged apply .git/hooks/pre-commit >/dev/null
	tap_is "uid $uid: it goes by name" evil "$(cat "$ws/.git/hooks/pre-commit")"
	staged discard >/dev/null

	run --stage "$tmp/work.bin" -c 'mkdir -m 750 v && echo a | tee v/a >v/w'
	tap_is "uid $uid: a new directory of which something stays has its mode" \
	    '2 applied, 1 left in the stage 750 1 applied, 0 left in the stage' "$(
	    staged apply | tail -n 1) $(stat -c %a "$ws/v") $(staged apply v/w)"
	staged discard >/dev/null

	# What an earlier policy watched; a link where such a place would lie; what
	# nobody sees of a file.
	run --stage "$tmp/work.bin" -c 'echo evil >.git/hooks/post-merge
	    mkdir elsewhere; echo evil >elsewhere/agents; ln -s elsewhere .github
	    echo two >>a; python3 -c "import os; os.setxattr(\"a\", \"user.x\", b\"x\")"'
	run --stage "$tmp/plain.bin" -- true
	tap_is "uid $uid: diff says where a link leads" \
	    'new .github -> elsewhere (watched: applied only by name)' \
	    "$(staged diff | sed -n 's/  */ /;/^new .github /p')"
	mkdir "$ws/bin"
	printf '#!/bin/sh\n' >"$ws/bin/diff"
	chmod 755 "$ws/bin/diff"
	tap_is "uid $uid: a diff of the workspace does not run" 1 \
	    "$(PATH=$ws/bin:$PATH; staged diff | grep -c '^+two')"
	rm -r "${ws:?}/bin"
	tap_is "uid $uid: neither another policy nor a link hides what is watched" \
	    '3 applied, 2 left in the stage' "$(staged apply | tail -n 1)"
	tap_is "uid $uid: attributes are not applied" '[]' \
	    "$(python3 -c 'import os, sys; print(os.listxattr(sys.argv[1]))' "$ws/a")"
	run --stage "$tmp/work.bin" -c 'python3 -c "import os
for i in range(1100): os.mkdir(\"d\"); os.chdir(\"d\")"'
	tap_is "uid $uid: a deep tree can be thrown away" 'is discarded' \
	    "$(ulimit -Sn 1000; staged discard | grep -o 'is discarded')"

	# Somebody works in the tree meanwhile.
	run --stage "$tmp/work.bin" -c 'echo theirs >a; echo theirs >b; rm -r made
	    mkdir -p again; echo theirs >again/f; echo theirs >link/f 2>/dev/null'
	as "$uid" sh -c "echo mine >'$ws/a'; echo mine >'$ws/made/mine'"
	staged apply >"$tmp/applied"
	tap_is "uid $uid: what was changed meanwhile stays" \
	    'mine mine theirs 2' "$(cat "$ws/a" "$ws/made/mine" "$ws/b" |
		tr '\n' ' ')$(grep -c 'meanwhile' "$tmp/applied")"
	staged apply --force >/dev/null
	tap_is "uid $uid: --force replaces it" 'theirs no' \
	    "$(cat "$ws/a") $([ ! -e "$ws/made" ] && echo no)"

	run --stage "$tmp/work.bin" -c 'chmod 777 again; echo n >again/named'
	tap_is "uid $uid: what leads to a name keeps its mode" \
	    "1 applied, 0 left in the stage 755" \
	    "$(staged apply again/named) $(stat -c %a "$ws/again")"
	staged discard >/dev/null

	# Paths as diff prints them, and what cannot be shown or found.
	run --stage "$tmp/work.bin" -c 'mkdir dir && echo new >dir/f'
	mount --bind /dev/null /usr/bin/diff
	tap_is "uid $uid: without diff(1) the status says so" 3 "$(cd "$ws" &&
	    as "$uid" env PATH=/none "$tmp/sbxrun" --staged diff >/dev/null 2>&1
	    echo $?)"
	umount /usr/bin/diff
	tap_is "uid $uid: for programs, in the form that all have" '1 1' \
	    "$(staged --json | grep -c '"sbx": *1') $(staged diff --json |
		grep -c '"sbx": *1')"
	tap_is "uid $uid: as a page" '1 1' "$(staged diff --html |
		grep -c '<code>new  *dir/f$') $(staged diff --html | grep -c '^+new')"
	tap_is "uid $uid: a path that names nothing" 3 \
	    "$(staged apply dirr >/dev/null; echo $?)"
	tap_is "uid $uid: a directory as diff prints it" \
	    '2 applied, 0 left in the stage' "$(staged apply ./dir/)"

	# The tree leads elsewhere by now.
	run --stage "$tmp/work.bin" -c 'echo out >again/f2; echo out >src2; mkdir n;
	    echo out >n/f'
	mkdir "$home/outside"
	mv "$ws/again" "$home/outside/again"
	ln -s "$home/outside/again" "$ws/again"
	ln -s "$home/outside" "$ws/n"
	[ "$uid" -eq 0 ] || chown -h "$uid:$uid" "$ws/again" "$ws/n"
	staged apply --force >/dev/null
	tap_is "uid $uid: through no link" '0' \
	    "$(find "$home/outside" -name f2 -o -name n -o -path '*/outside/f' |
		grep -c .)"
	staged discard >/dev/null
	tap_is "uid $uid: none is left" 'nothing is staged; sbxrun --stage CMD does that' \
	    "$(staged)"

	tap_is "uid $uid: a mistyped word is no stage's name" 1 \
	    "$(staged aply | grep -c 'aply: --staged takes list, diff')"

	# Two at once; and what cannot be staged.
	run --stage "$tmp/work.bin" -c 'read -r line' <"$tmp/hold" &
	exec 9>"$tmp/hold"
	tap_until sh -c "HOME=$home; ! flock -n '$home'/.local/state/sbx/stages/ws-* true"
	run --stage "$tmp/work.bin" -- true
	tap_is "uid $uid: another run waits for its end" '125 1' \
	    "$? $(grep -c 'another run or session has this stage' "$tmp/said")"
	tap_is "uid $uid: and so does who applies it" 1 \
	    "$(staged apply | grep -c 'a run or a session has this stage')"
	run --stage=other "$tmp/work.bin" -- true
	tap_is "uid $uid: another stage is free" 0 $?
	exec 9>&-
	wait
	staged=$(staged | grep -c 'ws$')
	tap_is "uid $uid: both are listed" 2 "$staged"
	staged discard >/dev/null
	staged=other
	(cd "$ws" && as "$uid" "$tmp/sbxrun" --staged=other discard >/dev/null)
	run "$tmp/always.bin" -c 'echo two >always'
	tap_is "uid $uid: a policy that stages" '0 no 1' "$? $(
		[ ! -e "$ws/always" ] && echo no) $(staged apply always | grep -c '^1 applied')"
	run -l standard "$tmp/always.bin" -- true
	tap_is "uid $uid: is for level full" '125 1' "$? $(grep -c 'higher level' "$tmp/said")"
	staged discard >/dev/null
	run --stage -l standard "$tmp/work.bin" -- true
	tap_is "uid $uid: level standard has none" 125 $?
	run -l standard --stage "$tmp/work.bin" -- true
	tap_is "uid $uid: nor where that was said first" 125 $?
	mkdir -p "$ws/mnt"
	mount -t tmpfs tmpfs "$ws/mnt"
	run --stage "$tmp/work.bin" -- true
	tap_is "uid $uid: a mount in the workspace" '125 1' \
	    "$? $(grep -c 'mnt: it is a mount' "$tmp/said")"
	umount "$ws/mnt"
	repositories
	sessions
	full
	[ "$uid" -ne 0 ] || umount "$ws"
}

each "$(id -u)"
! tap_twice || each "$ORDINARY"
tap_done
