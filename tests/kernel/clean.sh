#!/bin/sh
# sbxrun --clean: what it removes, what it leaves and what it refuses, as TAP;
# as this user and, started by root, as an ordinary one too.

# Variables in what the sandbox's shell runs are that shell's.
# shellcheck disable=SC2016

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

tap_begin /var/tmp
base=$tmp
tap_programs "$SBXRUN" "$SBXC"
printf 'sbx 1\nprofile p extends workspace-write {\n}\n' >"$base/p.sbx"
"$SBXC" "$base/p.sbx" -o "$base/p.bin" || exit 99

# as WORD...: in $base/$uid/ws.
as()
{
	(
		HOME=$base/$uid
		export HOME
		cd "$base/$uid/ws" || exit 99
		tap_as "$uid" "$@"
	)
}

# is NAME WANTED GOT
is()
{
	tap_is "uid $uid: $1" "$2" "$3"
}

# scratch_of WORKSPACE: what holds one scratch directory for each profile
scratch_of()
{
	echo "/tmp/sbx-$uid/$(printf %s "$1" | sha256sum | cut -c 1-16)"
}

# run STRING: in a sandbox, at the level whose scratch directory is its own
# place.
run()
{
	as "$base/sbxrun" -l standard "$base/p.bin" -c "$1"
}

is_gone()
{
	is "$1" gone "$([ -e "$scratch" ] || echo gone)"
}

removes()
{
	run 'echo x >$TMPDIR/file; mkdir -p $TMPDIR/a/b/c; echo y >$TMPDIR/a/b/f
	    mkfifo $TMPDIR/pipe; ln -s / $TMPDIR/link; ln -s .. $TMPDIR/a/up
	    mkdir $TMPDIR/shut; echo z >$TMPDIR/shut/file; chmod 0 $TMPDIR/shut
	    mkdir -p $TMPDIR/half/in; chmod 555 $TMPDIR/half/in $TMPDIR/half
	    mkdir $TMPDIR/0 $TMPDIR/1; echo >$TMPDIR/2; echo >$TMPDIR/0/f
	    echo >"$TMPDIR/
	    new"; mkdir $TMPDIR/...; echo >$TMPDIR/.../-rf'
	is 'there is something' 1 "$(find "$scratch" -name shut 2>/dev/null |
	    grep -c .)"
	is 'nothing is said' '0 ' "$(as "$base/sbxrun" --clean 2>&1
	    printf '%s ' $?)"
	is_gone 'all of it is removed'
	as "$base/sbxrun" --clean
	is 'nothing to do' 0 $?
	# Deeper than a path can be long, and than there can be open files.
	run 'cd $TMPDIR && perl -e "for (1 .. 1500) {
	    mkdir q(deep) or die; chdir q(deep) or die; }
	    open F, q(>), q(file)"'
	# As every shell here knows it.
	# shellcheck disable=SC3045
	(ulimit -n 16 && as "$base/sbxrun" --clean)
	is 'a deep tree' 0 $?
	is_gone 'is removed'
	run 'cd $TMPDIR && seq 1500 | xargs touch && mkdir d &&
	    cd d && seq 1500 | xargs mkdir'
	as "$base/sbxrun" --clean
	is 'a wide one' 0 $?
	is_gone 'is removed'
	# The names that directories are moved to may be those of files.
	run 'cd $TMPDIR && seq -f "%g/x/f" 40 | xargs mkdir -p'
	seq -f "$scratch/%g" 0 99 | as xargs touch
	as "$base/sbxrun" --clean
	is 'one whose files have numbers' 0 $?
	is_gone 'is removed'
	run 'chmod 0 $TMPDIR'
	as "$base/sbxrun" --clean
	is 'one that is shut' 0 $?
	is_gone 'is removed'
}

spares()
{
	run 'echo x >$TMPDIR/file'
	(cd "$base" && as "$base/sbxrun" --clean -w "$base/$uid/other")
	is 'of another workspace' '0 1' \
	    "$? $(find "$scratch" -name file | grep -c .)"
	run 'ln -s '"$base/$uid/keep"' $TMPDIR/keep'
	as "$base/sbxrun" --clean -w .
	is 'where a link leads' 'kept gone' "$(cat "$base/$uid/keep/file") $(
	    [ -e "$scratch" ] || echo gone)"
	run 'echo x >$TMPDIR/file'
	mv "$base/$uid/ws" "$base/$uid/was"
	mkdir "$base/$uid/ws"
	(cd / && "$base/sbxrun" --clean -w "$base/$uid/none")
	is 'of one that never was' 0 $?
	rmdir "$base/$uid/ws"
	uid_home=$base/$uid
	(
		cd / && set -- "$base/sbxrun" --clean -w "$uid_home/ws"
		[ "$uid" -eq "$(id -u)" ] ||
			set -- setpriv --reuid="$uid" --regid="$uid" \
			    --clear-groups "$@"
		exec "$@"
	)
	is 'of a workspace that is gone' 0 $?
	is_gone 'is removed'
	mv "$base/$uid/was" "$base/$uid/ws"
}

# refused NAME TEXT WORD...
refused()
{
	name=$1 text=$2
	shift 2
	said=$(as "$@" 2>&1)
	is "refused: $name" 125 $?
	is "refused: $name: it is said" 1 "$(echo "$said" | grep -c "$text")"
}

refuses()
{
	refused 'a policy' 'takes no policy' "$base/sbxrun" --clean "$base/p.bin"
	refused 'with --status' 'do not go together' "$base/sbxrun" --clean \
	    --status
	run true
	rmdir "$scratch"/* "$scratch"
	as ln -s "$base/$uid/keep" "$scratch"
	refused 'a link' 'not a scratch directory of yours' "$base/sbxrun" \
	    --clean
	is 'and nothing is removed' kept "$(cat "$base/$uid/keep/file")"
	as rm "$scratch"
	as mkdir -m 755 "$scratch"
	as "$base/sbxrun" --clean
	is 'what others may enter' 0 $?
	is_gone 'is removed'
	run true
	# Of the workspace's own name nothing is left to be found.
	refused 'in a directory that is gone' 'current directory' sh -c \
	    'mkdir gone && cd gone && rmdir ../gone && "$1" --clean' sh \
	    "$base/sbxrun"
	refused 'nor is .. of it' 'current directory' sh -c \
	    'mkdir gone && cd gone && rmdir ../gone && "$1" --clean -w ..' sh \
	    "$base/sbxrun"
	refused 'a link that leads to itself' 'no such workspace' sh -c \
	    'ln -s self self && "$1" --clean -w self' sh "$base/sbxrun"
	is 'and nothing is removed by any' there \
	    "$([ -e "$scratch" ] && echo there)"
	as sh -c 'rm self; mkdir gone && cd gone && rmdir ../gone &&
	    "$1" --clean -w "$2"' sh "$base/sbxrun" "$base/$uid/ws"
	is 'one that is named from there' 0 $?
	is_gone 'is removed'
	if [ "$(id -u)" -eq 0 ] && [ "$uid" -ne 0 ]; then
		rm -rf "$scratch"
		mkdir -m 700 "$scratch"
		refused 'what is not ours' 'of yours' "$base/sbxrun" --clean
		rmdir "$scratch"
		run true
		mkdir -m 700 "$scratch/foreign"
		echo x >"$scratch/foreign/file"
		refused "somebody else's directory" 'cannot remove' \
		    "$base/sbxrun" --clean
		is 'which stays' x "$(cat "$scratch"/*/file)"
		rm -rf "$scratch"
	fi
}

# What it shows it does not do: a project is remembered by who runs in it.
plans()
{
	if ! as git init -q . 2>/dev/null; then
		tap_skip "uid $uid: a plan for a project" 'no git here'
		return
	fi
	as "$base/sbxrun" -n -l standard -w auto "$base/p.bin" -- true \
	    >/dev/null 2>&1
	is 'a plan succeeds' 0 $?
	is_gone 'a plan remembers no project'
	rm -rf "$base/$uid/ws/.git"
}

check_user()
{
	uid=$1
	mkdir -p "$base/$uid/ws" "$base/$uid/keep" "$base/$uid/other"
	echo kept >"$base/$uid/keep/file"
	[ "$uid" -eq "$(id -u)" ] || chown -R "$uid:$uid" "$base/$uid"
	scratch=$(scratch_of "$base/$uid/ws")
	plans
	removes
	spares
	refuses
}

check_user "$(id -u)"
[ "$(id -u)" -ne 0 ] || check_user 65534
tap_done
