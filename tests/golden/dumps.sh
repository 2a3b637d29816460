#!/bin/sh
# What `sbxc dump` writes as a policy compiles to the blob that was dumped: the
# policies of tests/golden/ok, the shipped profiles, the examples of the manual and
# README.md.  tests/model/roundtrip.c does the same with random policies.
# And `sbxc build --verify`, which says whether a blob is what a text compiles to.

set -u
HOME=/home/ada
export HOME
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/examples.sh
. "$srcdir/tests/lib/examples.sh"
tap_begin

# equal NAME WANTED GOT
equal()
{
	tap_empty "$1" "$([ "$2" = "$3" ] || echo "'$3', not '$2'")"
}

# status NAME WANTED COMMAND...
status()
{
	status_name=$1 status_wanted=$2
	shift 2
	"$@" >"$tmp/said" 2>&1
	equal "$status_name" "$status_wanted" $?
}

# says NAME TEXT COMMAND...: the command says the text.
says()
{
	says_name=$1 says_text=$2
	shift 2
	"$@" >"$tmp/said" 2>&1
	if grep -qF "$says_text" "$tmp/said"; then
		tap_ok "$says_name"
	else
		tap_not_ok "$says_name" "$(cat "$tmp/said")"
	fi
}

# trip BLOB: what is wrong with what the blob is written as.
trip()
{
	for form in sbx yaml json; do
		text=$tmp/again.$form
		if ! "$SBXC" dump -O "$form" "$1" >"$text" 2>"$tmp/said"; then
			echo "dump -O $form failed:"
			cat "$tmp/said"
			continue
		fi
		[ ! -s "$tmp/said" ] || cat "$tmp/said"
		"$SBXC" "$text" -o "$tmp/again.bin" 2>"$tmp/said" ||
			cat "$tmp/said"
		cmp "$1" "$tmp/again.bin" 2>&1
		"$SBXC" build --verify "$1" "$text" 2>"$tmp/said" ||
			grep -v warning: "$tmp/said"
		rm -f "$tmp/again.bin"
	done
}

# policy NAME FILE [OPTION...]: each profile of the file.
policy()
{
	name=$1 file=$2
	shift 2
	if ! (cd "${file%/*}" && "$SBXC" "$@" "${file##*/}" -o "$tmp/a.bin") \
	    2>"$tmp/said"; then
		tap_not_ok "$name" "$(cat "$tmp/said")"
		return
	fi
	tap_empty "$name" "$(trip "$tmp/a.bin")"
}

# --- policies that are there -------------------------------------------------

for file in "$srcdir"/tests/golden/ok/*.sbx; do
	policy "ok/${file##*/}" "$file"
done
policy "a parameter that is bound" "$srcdir/tests/golden/ok/param.sbx" \
    -D dataset='/srv/with blank*'
for file in "$srcdir"/profiles/*.sbx; do
	case $file in
	*/groups.sbx) ;;
	*) policy "profiles/${file##*/}" "$file" ;;
	esac
done
printf 'sbx 1\nprofile odd { deny env X }\n' >"$tmp/a (b):1:2 #ü.sbx"
policy "a file with an odd name" "$tmp/a (b):1:2 #ü.sbx"
name=$tmp/$(printf 'line\nend \377.sbx')
cp "$tmp/a (b):1:2 #ü.sbx" "$name"
policy "a file whose name no text can hold" "$name"
says "and that is what it is called" '"line?end ?.sbx":2:24 odd' \
    "$SBXC" dump "$tmp/a.bin"

# --- examples ----------------------------------------------------------------

found=0
for page in "$srcdir"/man/* "$srcdir/README.md" "$srcdir"/docs/*.md; do
	page_policies "$page" "$tmp/examples"
	for file in "$tmp"/examples/*.profile; do
		[ -e "$file" ] || continue
		page_inside "$file" >"${file%.profile}.sbx"
	done
	for file in "$tmp"/examples/*.sbx; do
		# What shows a mistake is no good policy.
		[ -e "$file" ] || continue
		"$SBXC" check -q "$file" || continue
		found=$((found + 1))
		policy "${page##*/}:${file##*/}" "$file"
	done
done
tap_empty "the examples were found" \
    "$([ "$found" -ge 20 ] || echo "only $found of them")"

# --- what the check notices --------------------------------------------------

policy "the sample of the next ones" "$srcdir/tests/golden/ok/groups.sbx"
"$SBXC" dump -O sbx "$tmp/a.bin" >"$tmp/good.sbx"
sed '0,/from ".*:\([0-9]*\) /s/:\([0-9]*\) /:\18 /' "$tmp/good.sbx" \
    >"$tmp/bad.sbx"
status "another column is another blob" 1 \
    "$SBXC" build --verify "$tmp/a.bin" "$tmp/bad.sbx"
says "and the difference is named" 'the places where rules were written' \
    "$SBXC" build --verify "$tmp/a.bin" "$tmp/bad.sbx"
sed '/allow read/{s/read/write/;q}' "$tmp/good.sbx" >"$tmp/head"
{
	cat "$tmp/head"
	sed '1,/allow read/d' "$tmp/good.sbx"
} >"$tmp/bad.sbx"
says "another right is" 'differ first in the path rules' \
    "$SBXC" build --verify "$tmp/a.bin" "$tmp/bad.sbx"

# --- build --verify ----------------------------------------------------------

printf 'sbx 1\nprofile v { allow exec /usr }\n' >"$tmp/v.sbx"
"$SBXC" "$tmp/v.sbx" -o "$tmp/v.bin"
before=$(cksum <"$tmp/v.bin")
status "--verify: the same" 0 "$SBXC" build --verify "$tmp/v.bin" \
    "$tmp/v.sbx"
printf 'sbx 1\nprofile v { allow exec /usr\nlimit core 0B }\n' >"$tmp/w.sbx"
status "--verify: another policy" 1 "$SBXC" build --verify "$tmp/v.bin" \
    "$tmp/w.sbx"
says "it says what tells more" "sbxc diff" \
    "$SBXC" build --verify "$tmp/v.bin" "$tmp/w.sbx"
equal "it writes nothing" "$before" "$(cksum <"$tmp/v.bin")"
status "--verify: a policy with errors" 1 "$SBXC" build --verify \
    "$tmp/v.bin" "$srcdir/tests/golden/err/SBX0201-1.sbx"
status "--verify: no blob" 3 "$SBXC" build --verify "$tmp/none" \
    "$tmp/v.sbx"
status "--verify: a text for a blob" 1 "$SBXC" build --verify \
    "$tmp/v.sbx" "$tmp/v.sbx"
status "--verify: no policy" 3 "$SBXC" build --verify "$tmp/v.bin" \
    "$tmp/none.sbx"
status "--verify and -o" 125 "$SBXC" build --verify "$tmp/v.bin" -o - \
    "$tmp/v.sbx"
head -c 200 "$tmp/v.bin" >"$tmp/short.bin"
status "--verify: half a blob" 1 "$SBXC" build --verify "$tmp/short.bin" \
    "$tmp/v.sbx"
tap_done
