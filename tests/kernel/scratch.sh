#!/bin/sh
# The scratch directory, as TAP: a command cannot make it unusable for the next
# run, another user cannot keep us out, and no profile finds what another one
# left.  As this user and, started by root, as an ordinary one too.

# Variables in what the sandbox's shell runs are that shell's.
# shellcheck disable=SC2016

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

tap_begin /var/tmp
base=$tmp
tap_programs "$SBXRUN" "$SBXC"
mkdir "$base/elsewhere" "$base/before" "$base/home"

# policy FILE NAME [STATEMENT]
policy()
{
	printf 'sbx 1\nprofile %s extends workspace-write {\n%s\n}\n' "$2" \
	    "${3-}" | "$SBXC" - -o "$base/$1" || exit 99
}

policy narrow.bin narrow
policy wide.bin wide 'allow network full'
printf 'sbx 1\nprofile fresh extends coding {\n}\n' |
    "$SBXC" - -o "$base/fresh.bin" || exit 99
policy elsewhere/narrow.bin narrow 'allow read /usr'

# run POLICY STRING
run()
{
	(cd "$base/$uid" && HOME=$base/home tap_as "$uid" "$base/sbxrun" \
	    -l "$level" "$base/$1" -c "$2" 2>&1)
}

is()
{
	tap_is "$level: uid $uid: $1" "$2" "$3"
}

# Where it lies, which at full is seen as /tmp.
place()
{
	(cd "$base/$uid" && HOME=$base/home tap_as "$uid" "$base/sbxrun" \
	    -l standard -n "$base/$1" 2>&1) | sed -n 's/^tmp *\([^ ]*\).*/\1/p'
}

modes()
{
	scratch=$(level=standard run narrow.bin 'echo $TMPDIR')
	workspace=${scratch%/*}
	is 'it is named by the whole path of the workspace' \
	    "/tmp/sbx-$uid/$(printf %s "$base/$uid" | sha256sum | cut -c -16)" \
	    "$workspace"
	run narrow.bin 'echo kept >$TMPDIR/file' >/dev/null
	for mode in 755 777 0 2700 500; do
		for directory in "$scratch" "$workspace" "${workspace%/*}"; do
			chmod "$mode" "$directory"
			is "mode $mode of ${directory#/tmp/}" kept \
			    "$(run narrow.bin 'cat $TMPDIR/file')"
			is 'which is fixed' 700 "$(stat -c %a "$directory")"
		done
	done
	# As a command does it, where it sees more than its own.
	level=standard run narrow.bin 'chmod 777 $TMPDIR $TMPDIR/.. $TMPDIR/../..
	    chmod 0 $TMPDIR' >/dev/null
	is 'what a command has opened and shut' kept \
	    "$(run narrow.bin 'cat $TMPDIR/file')"
}

profiles()
{
	run narrow.bin 'mkdir -p $TMPDIR/npm
	    echo hostile | tee $TMPDIR/npmrc $TMPDIR/npm/x' >/dev/null
	is 'the same profile finds what it has left' hostile \
	    "$(run narrow.bin 'cat $TMPDIR/npmrc')"
	is 'a wider one does not' 'none' \
	    "$(run wide.bin 'cat $TMPDIR/npmrc 2>/dev/null || echo none')"
	is 'nor one of the same name from elsewhere' none "$(run \
	    elsewhere/narrow.bin 'cat $TMPDIR/npmrc 2>/dev/null || echo none')"
	cp "$base/narrow.bin" "$base/before"
	policy narrow.bin narrow 'limit timeout 90s'
	is 'a policy that was edited does' hostile \
	    "$(run narrow.bin 'cat $TMPDIR/npmrc')"
	mv "$base/before/narrow.bin" "$base"
	# Through a pipe: each content is its own origin.
	(cd "$base/$uid" && HOME=$base/home && export HOME &&
		for name in narrow wide narrow; do
			tap_as "$uid" sh -c 'cat "$1.bin" |
			    "${1%/*}/sbxrun" -l "$2" /dev/stdin -c "$3"' sh \
			    "$base/$name" "$level" \
			    "echo $name >>\$TMPDIR/piped; cat \$TMPDIR/piped"
		done) >"$base/piped" 2>&1
	is 'policies through a pipe' 'narrow wide narrow narrow ' \
	    "$(tr '\n' ' ' <"$base/piped")"
	(cd "$base/$uid" && tap_as "$uid" "$base/sbxrun" --clean)
	is '--clean removes all of them' '' "$(ls -d "$workspace" 2>/dev/null)"
}

# Somebody else was there first.
taken()
{
	top=/tmp/sbx-$uid
	rm -rf "$top" "$top"-*
	for kind in directory link file; do
		case $kind in
		directory) mkdir "$top" && chown 4321 "$top" ;;
		link) ln -s "$base/elsewhere" "$top" && chown -h 4321 "$top" ;;
		file) : >"$top" && chown 4321 "$top" ;;
		esac
		# One that is not ours either.
		mkdir -p "$top-0000000000000000"
		chown 4321 "$top-0000000000000000"
		(cd "$base/$uid" && HOME=$base/home tap_as "$uid" \
		    "$base/sbxrun" -l "$level" -n "$base/narrow.bin" \
		    >/dev/null 2>&1 </dev/null)
		is "a $kind of another user: -n, where there is no other" 0 $?
		is "a $kind of another user: it is usable" kept "$(run \
		    narrow.bin 'echo kept >$TMPDIR/file; cat $TMPDIR/file')"
		is 'and the next run finds it again' kept \
		    "$(run narrow.bin 'cat $TMPDIR/file')"
		is 'and it is ours alone' "700 $uid" "$(stat -c '%a %u' \
		    "$(place narrow.bin)")"
		(cd "$base/$uid" && tap_as "$uid" "$base/sbxrun" --clean)
		is 'and --clean finds it' 0 "$(find "$top"-* -name file |
		    grep -c .)"
		rm -rf "$top" "$top"-*
	done
}

# In a sandbox at level standard it lies in the outer one's, and nowhere else.
nested()
{
	own=$base/$uid/own
	cp "$base/sbxrun" "$base/$uid/sbxrun"
	cp "$base/narrow.bin" "$base/$uid/inner.bin"
	mkdir "$own"
	chmod 755 "$own"
	chown -R "$uid" "$base/$uid"
	inner='./sbxrun -l standard ./inner.bin -c'
	is 'a sandbox in a sandbox has one' kept "$(run narrow.bin \
	    "$inner 'echo kept >\$TMPDIR/x; cat \$TMPDIR/x'" | tail -n 1)"
	is 'no other directory becomes one' 1 "$(run narrow.bin \
	    "TMPDIR=$own $inner true" | grep -c 'cannot open the scratch')"
	is 'and none is changed for it' 755 "$(stat -c %a "$own")"
}

# What the policy shows of /tmp outside hides what the scratch directory has by
# that name, whoever was there first; several, since it may depend on the order
# in which two rules about one place come.
hidden()
{
	outside=$(mktemp -d /tmp/sbx-test-XXXXXX)
	rules=''
	for i in a b c d e f; do
		mkdir "$outside$i"
		chmod 755 "$outside$i"
		echo "$i" >"$outside$i/file"
		rules="$rules allow read $outside$i
		    allow write \${tmp}/${outside##*/}$i
		    "
	done
	policy both.bin both "$rules" 2>/dev/null
	for time in first second; do
		is "what is shown of /tmp, the $time time" 'a b c d e f' \
		    "$(run both.bin "cat $outside?/file
		    for i in $outside?; do { echo >\$i/new; } 2>/dev/null &&
		    echo \$i; done" | paste -sd ' ')"
	done
	rm -r "$outside"*
}

# Who starts in it starts in what is /tmp inside; and where the policy shows the
# /tmp of outside, it stays where it is.
seen()
{
	scratch=$(place narrow.bin)
	run narrow.bin 'mkdir -p $TMPDIR/in && echo inside >$TMPDIR/in/file' \
	    >/dev/null
	is 'a start in it' '/tmp/in inside' "$(cd "$scratch/in" &&
	    HOME=$base/home tap_as "$uid" "$base/sbxrun" -l "$level" \
		-w "$base/$uid" "$base/narrow.bin" \
		-c 'echo "$(pwd) $(cat file)"' 2>&1)"
	outside=$(mktemp /tmp/sbx-test-XXXXXX)
	echo outside >"$outside"
	chmod 644 "$outside"
	policy open.bin open 'allow read /tmp' 2>/dev/null
	is 'the /tmp of outside' "outside $(place open.bin) kept" \
	    "$(run open.bin "echo kept >\$TMPDIR/file
	    echo \"\$(cat $outside) \$TMPDIR \$(cat \$TMPDIR/file)\"")"
	rm "$outside"
}

# A home in which none of the caches is: what names one leads here, and back to
# the home when it is there.
fresh()
{
	home=$base/$uid/fresh
	mkdir -p "$home/ws"
	chown -R "$uid" "$home"
	for cached in '' ws/.cache .cache; do
		[ -z "$cached" ] || mkdir -p "$home/$cached"
		[ -z "$cached" ] || chown -R "$uid" "$home/$cached"
		got=$(cd "$home/ws" && HOME=$home tap_as "$uid" \
		    "$base/sbxrun" -l "$level" "$base/fresh.bin" -c '
			mkdir -p "$XDG_CACHE_HOME/x" "$npm_config_cache" &&
			    echo "${XDG_CACHE_HOME#"$TMPDIR"}" \
				"${npm_config_cache#"$TMPDIR"}"' 2>&1)
		# At full the view has them in the home, and they lie in scratch.
		case $level/$cached in
		full/*) wanted="$home/.cache $home/.npm" ;;
		standard/.cache) wanted="$home/.cache /.npm" ;;
		*) wanted='/.cache /.npm' ;;
		esac
		is "a fresh home with ${cached:-nothing}" "$wanted" "$got"
	done
	is 'and nothing is made in it' '. .. .cache .local ws' \
	    "$(ls -a "$home" | paste -sd ' ')"
	rm -rf "$home"
}

check_user()
{
	uid=$1
	mkdir -p "$base/$uid"
	chown "$uid" "$base/$uid"
	tap_levels standard full
	for level in $levels; do
		modes
		profiles
		fresh
		case $level in
		standard) nested ;;
		full)
			hidden
			seen
			;;
		esac
		# Only where nobody else runs anything as that user.
		[ "$uid" -ne 23918 ] || taken
	done
}

check_user "$(id -u)"
[ "$(id -u)" -ne 0 ] || check_user 23918
tap_done
