#!/bin/sh
# `sbxc diff` and `sbxc check --within` on pairs of small policies, one for
# each kind of difference, both ways round; each witness is put to `sbxc why`.
#
#	tests/golden/diff.sh --update	rewrite what is expected

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
here=$srcdir/tests/golden/diff
tap_begin

# told CASE: what sbxc says of it, one way and the other.
told()
{
	(
		cd "$here/$1" || exit
		"$SBXC" diff old.sbx new.sbx
		echo '--- the other way round'
		"$SBXC" diff new.sbx old.sbx
	) 2>&1 | tap_shipped
}

# reported CASE: what programs are told of it.  These have differences of each kind,
# with a binding, a level, a machine or other accesses beside them.
reports='env floors lies-added lies-other macos platform several
    strength syscalls taken'
reported()
{
	(
		cd "$here/$1" || exit
		"$SBXC" diff --json old.sbx new.sbx
		"$SBXC" diff -f markdown --fail-on widen old.sbx new.sbx
		"$SBXC" diff -f github --fail-on any old.sbx new.sbx
	) 2>&1 | sed 's/"tool": "sbxc .*"/"tool": "sbxc"/'
}

if [ "${1-}" = --update ]; then
	for case in "$here"/*/; do
		told "$(basename "$case")" >"${case}expected"
	done
	for name in $reports; do
		reported "$name" >"$here/$name/report"
	done
	exit
fi

for case in "$here"/*/; do
	name=$(basename "$case")
	told "$name" >"$tmp/got"
	if diff -u "${case}expected" "$tmp/got" >"$tmp/diff"; then
		tap_ok "$name"
	else
		tap_not_ok "$name" "$(cat "$tmp/diff")"
	fi
done

for name in $reports; do
	reported "$name" >"$tmp/got"
	tap_empty "$name: for programs" \
	    "$(diff -u "$here/$name/report" "$tmp/got" 2>&1)"
done

# --- witnesses ---------------------------------------------------------------

# What why answers with the options that diff prints, on a set of lines.
told=$(perl "$srcdir/tests/golden/asked.pl" "$SBXC" "$tmp" "$here"/*/ 2>&1)
tap_is 'sbxc why confirms what sbxc diff says' \
    'of [0-9][0-9][0-9] questions 0 are answered otherwise' \
    "$(echo "$told" | sed '$s/of [0-9]\{3\} /of [0-9][0-9][0-9] /')"

# --- what it ends with, and how it is told -----------------------------------

# ends STATUS ARGUMENT...
ends()
{
	want=$1
	shift
	"$SBXC" "$@" >"$tmp/out" 2>"$tmp/said"
	got=$?
	if [ $got -eq "$want" ]; then
		tap_ok "$want: sbxc $*"
	else
		tap_not_ok "$want: sbxc $*" "$got: $(cat "$tmp/said")"
	fi
}

cd "$here" || exit 99
wider=ports/new.sbx
ends 0 diff ports/old.sbx $wider
ends 1 diff --fail-on widen ports/old.sbx $wider
ends 1 diff --fail-on wider ports/old.sbx $wider
ends 1 diff --fail-on widen strength/old.sbx strength/new.sbx
ends 0 diff --fail-on widen strength/new.sbx strength/old.sbx
ends 0 diff --fail-on widen strength-full/old.sbx strength-full/new.sbx
ends 1 diff --fail-on any strength/old.sbx strength/new.sbx
ends 1 diff --fail-on widen strength-globs/old.sbx strength-globs/new.sbx
ends 0 diff --fail-on any ports/old.sbx ports/old.sbx
ends 125 diff --fail-on something ports/old.sbx $wider
ends 125 diff ports/old.sbx
ends 125 diff ports/old.sbx $wider $wider
ends 125 diff -f junit ports/old.sbx $wider
ends 125 diff -D nothing=/x ports/old.sbx $wider
ends 3 diff ports/old.sbx nothing.sbx
ends 1 check --within ports/old.sbx $wider
ends 0 check --within $wider $wider
ends 0 check --within @full-access $wider
ends 1 check --within @read-only @workspace-write
ends 1 check -q --within strength/old.sbx strength/new.sbx
ends 0 check -q --within strength-full/old.sbx strength-full/new.sbx
ends 1 check -q --within strength-globs/old.sbx strength-globs/new.sbx
ends 125 check --within $wider --target macos $wider
ends 125 check --within $wider -f gcc $wider

# What the user binds lies there alone; a parameter without a place anywhere.
param='lies-param/old.sbx lies-param/new.sbx'
# shellcheck disable=SC2086  # two words
{
	ends 1 check --within $param
	ends 1 check -w /x --within $param
	ends 1 check -D a=/srv/keys/b --within $param
	ends 1 check -w /x -D a=/srv --within $param
	ends 0 check -D a=/opt --within $param
	ends 0 check -w /x -D a=/srv/other --within $param
}
ends 0 check --home /x -w /y --within lies-home/old.sbx lies-home/new.sbx
ends 1 check --home /root -w /y --within lies-home/old.sbx lies-home/new.sbx

# More layouts than can be compared: what is not decided fails, and is said.
{
	printf 'sbx 1\nprofile p {\n    allow write ${workspace}\n'
	awk 'BEGIN { for (i = 0; i < 3000; i++)
		printf "    deny write /t%d/.git\n", i }'
	echo '}'
} >"$tmp/many.sbx"
sed '/deny/d' "$tmp/many.sbx" >"$tmp/none.sbx"
ends 1 check --within "$tmp/many.sbx" "$tmp/none.sbx"
ends 0 check --within "$tmp/none.sbx" "$tmp/many.sbx"
ends 1 diff --fail-on widen "$tmp/many.sbx" "$tmp/none.sbx"
tap_is 'what is not decided is said' 1 "$(grep -cE \
    '^maybe-wider: write, by [0-9]+ rules, where the anchors lie' "$tmp/out")"

# Files of several profiles: each is compared, what came and went is said, and a
# file of groups has nothing to compare.
printf 'sbx 1\nprofile a { allow exec /usr }\nprofile b { allow exec /usr }\n' \
    >"$tmp/two.sbx"
printf 'sbx 1\nprofile a { allow exec / }\nprofile b2 { allow exec /usr }\n' \
    >"$tmp/changed.sbx"
printf 'sbx 1\nprofile c { allow exec /usr }\n' >"$tmp/more.sbx"
cat "$tmp/two.sbx" >>"$tmp/more.sbx" && sed -i '3,$s/^sbx 1$//' "$tmp/more.sbx"
printf 'sbx 1\ngroup g {\n    allow read /srv\n}\n' >"$tmp/group.sbx"
ends 1 diff --fail-on widen "$tmp/two.sbx" "$tmp/changed.sbx"
tap_found 'the weaker profile is named' "$(grep '^profile a$' "$tmp/out")"
tap_is 'a renamed one is the same' 'neutral: profile b is now b2' \
    "$(grep b2 "$tmp/out")"
ends 1 diff --fail-on widen "$tmp/two.sbx" "$tmp/more.sbx"
tap_found 'one that came' "$(grep '^wider: profile c is new' "$tmp/out")"
ends 0 diff --fail-on widen "$tmp/more.sbx" "$tmp/two.sbx"
tap_found 'one that went' "$(grep '^narrower: profile c is gone' "$tmp/out")"
ends 1 check --within "$tmp/two.sbx" "$tmp/changed.sbx"
ends 1 check --within "$tmp/two.sbx" "$tmp/more.sbx"
ends 0 check --within "$tmp/more.sbx" "$tmp/two.sbx"
ends 0 check --within @full-access "$tmp/two.sbx"
ends 0 diff --fail-on any "$tmp/group.sbx" "$tmp/group.sbx"

# A profile that does not compile hides no other one, and what profiles share is
# said once.
sed 's/^profile b2.*/profile b2 { use nothing }/' "$tmp/changed.sbx" \
    >"$tmp/broken.sbx"
ends 1 diff --fail-on widen -f github "$tmp/two.sbx" "$tmp/broken.sbx"
tap_found 'beside one that does not compile' \
    "$(grep '^::error.*::a: wider: read and exec /;' "$tmp/out")"
mkdir "$tmp/dir"
printf 'sbx 1\ngroup g { allow exec { /usr } }\n' >"$tmp/dir/g.sbx"
printf 'sbx 1\ninclude "g.sbx"\nprofile %s { use g }\nprofile %s { use g }\n' \
    a b >"$tmp/dir/p.sbx"
cp -r "$tmp/dir" "$tmp/after"
sed -i 's,/usr ,/usr  /opt ,' "$tmp/after/g.sbx"
ends 0 diff -f github "$tmp/dir/p.sbx" "$tmp/after/p.sbx"
tap_is 'what two profiles share is said once, where it is written' \
    "file=$tmp/after/g.sbx" "$(grep '::p.sbx a, b: wider: read' "$tmp/out" |
    sed 's/^[^ ]* //; s/,.*//')"

# A blob is what its source is, whatever else its bytes say.
for case in "$here"/*/; do
	"$SBXC" build "${case}new.sbx" -o "$tmp/new.bin" 2>/dev/null
	"$SBXC" diff --fail-on any "${case}new.sbx" "$tmp/new.bin" ||
		echo "$case differs from its blob"
done >"$tmp/out"
tap_empty 'a blob is the same as its source' "$(grep -v '^0 wider' "$tmp/out")"

# From pipes, as `git show` gives them.
"$SBXC" build anchors/new.sbx -o "$tmp/new.bin" 2>/dev/null
if bash -c '"$1" diff <(cat "$2") <(cat "$3")' - "$SBXC" "$tmp/new.bin" \
    anchors/old.sbx >"$tmp/out" 2>&1 &&
    grep -q '^0 wider, 1 narrower' "$tmp/out"; then
	tap_ok 'policies from pipes'
else
	tap_not_ok 'policies from pipes' "$(cat "$tmp/out")"
fi

# The binding that the user asks for is the only one.
"$SBXC" diff -w /srv --home /home/user anchors/old.sbx anchors/new.sbx \
    >"$tmp/out"
if grep -q '^0 wider, 0 narrower' "$tmp/out"; then
	tap_ok 'a workspace apart from the home directory'
else
	tap_not_ok 'a workspace apart from the home directory' \
	    "$(cat "$tmp/out")"
fi
"$SBXC" diff -w /home/user --home /home/user anchors/old.sbx \
    anchors/new.sbx >"$tmp/out"
if grep -q '^wider: read' "$tmp/out"; then
	tap_ok 'a workspace that is the home directory'
else
	tap_not_ok 'a workspace that is the home directory' \
	    "$(cat "$tmp/out")"
fi
# Nothing is looked for then but where the rules' own places lie.
"$SBXC" diff -w /w --home /home/user sockets-hole/old.sbx \
    sockets-hole/new.sbx >"$tmp/out"
tap_found 'a socket where an exception lies, in a binding' \
    "$(grep '^wider: socket /srv/x/y' "$tmp/out")"

# found FORMAT PATTERN: a line of the document, for the pair of ports.
found()
{
	form="-f $1"
	[ "$1" != json ] || form=--json
	# shellcheck disable=SC2086  # words
	"$SBXC" diff --fail-on widen $form ports/old.sbx $wider >"$tmp/$1"
	if grep -q -- "$2" "$tmp/$1"; then
		tap_ok "$1: $2"
	else
		tap_not_ok "$1: $2" "$(cat "$tmp/$1")"
	fi
}
found json '"witness": "connect tcp 8011"'
found json '"sbx": 1'
found github '^::error file=ports/new.sbx,line=3,endLine=3,col=38'
found markdown '^| error | wider: connect tcp 8011.*<br>now: .* | ports/new.sbx:3 |$'
found markdown '^### Policy ports/new.sbx: 1 wider, 1 narrower, 0 neutral$'
# What a shipped profile says stands in no file of theirs: the finding is about
# the policy itself.
printf 'sbx 1\nprofile a {\n    use scratch-caches\n}\n' >"$tmp/shipped.sbx"
"$SBXC" diff --fail-on widen -f github ports/old.sbx "$tmp/shipped.sbx" \
    >"$tmp/found"
tap_found 'a rule of a shipped group is found' "$(grep \
    "^::error file=$tmp/shipped.sbx,title=wider-path.*allow write" \
    "$tmp/found")"
tap_empty '... in the policy alone' "$(grep 'file=sbx:' "$tmp/found")"
"$SBXC" diff --color=always ports/old.sbx $wider >"$tmp/out"
if grep -q "$(printf '^\033\\[1;31mwider:')" "$tmp/out"; then
	tap_ok 'colours'
else
	tap_not_ok 'colours' "$(cat "$tmp/out")"
fi

tap_done
