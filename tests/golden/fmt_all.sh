#!/bin/sh
# `sbxc fmt` on each policy of the tree: its layout is its own layout, and it
# compiles to the same bytes before and after, but for lines and columns.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/examples.sh
. "$srcdir/tests/lib/examples.sh"
unplaced=$(realpath "$builddir/tests/golden/unplaced")
tap_begin

# profiles FILE: the names of those that it defines.
profiles()
{
	sed -n 's/^[ 	]*profile[ 	]*\([^ 	{]*\).*/\1/p' "$1"
}

# compile TREE FILE PROFILE: the blob, without positions, to standard output.
compile()
{
	(cd "$tmp/$1" && "$SBXC" build "$2" -p "$3" -o "$tmp/blob" \
	    >/dev/null 2>&1) && "$unplaced" "$tmp/blob"
}

# compiled TREE FILE LIST: every profile of a file; false if one does not.
compiled()
{
	: >"$3"
	for profile in $(profiles "$tmp/before/$2"); do
		compile "$1" "$2" "$profile" >>"$3" || return 1
	done
	[ -s "$3" ]
}

# Of the policies that the compiler is tested with a third is enough where all is
# not asked for.
every=1
[ "$(tap_rounds 100)" -ge 100 ] || every=3
mkdir "$tmp/before"
for dir in profiles tests examples; do
	(cd "$srcdir" && find $dir -name '*.sbx' 2>/dev/null) | sort |
	awk -v every=$every '!/golden/ || NR % every == 0' |
	while read -r file; do
		mkdir -p "$tmp/before/${file%/*}"
		cp "$srcdir/$file" "$tmp/before/$file"
	done
done
page_policies "$srcdir/man/sbx.5" "$tmp/before/man"
cp -R "$tmp/before" "$tmp/after"
chmod -R u+w "$tmp/after"
(cd "$tmp/after" && find . -name '*.sbx' -exec "$SBXC" fmt --write {} + 2>/dev/null)

# changes: policies that mean something else in their layout.
count=0 changed=
for file in $(cd "$tmp/before" && find . -name '*.sbx' | sort); do
	compiled before "$file" "$tmp/want" || continue
	count=$((count + 1))
	compiled after "$file" "$tmp/got" && cmp -s "$tmp/want" "$tmp/got" ||
		changed="$changed $file"
done
tap_empty "policies compile to the same bytes in their layout" "$changed"
if [ $count -ge 60 ]; then
	tap_ok "the policies were found"
else
	tap_not_ok "the policies were found" "only $count of them"
fi
printf 'sbx 1\nprofile a {\nallow read /a\n}\n' >"$tmp/a.sbx"
printf 'sbx 1\nprofile a {\nallow read /b\n}\n' >"$tmp/b.sbx"
"$SBXC" build "$tmp/a.sbx" -o "$tmp/a.bin"
"$SBXC" build "$tmp/b.sbx" -o "$tmp/b.bin"
"$unplaced" "$tmp/a.bin" >"$tmp/a.bytes"
"$unplaced" "$tmp/b.bin" >"$tmp/b.bytes"
tap_found "bytes that differ are seen" "$(cmp "$tmp/a.bytes" "$tmp/b.bytes")"
tap_empty "the shipped profiles and the policies of golden/ok have the layout" \
    "$(cd "$srcdir" && "$SBXC" fmt --list profiles/*.sbx tests/golden/ok/*.sbx)"

# The examples of the manual and of the README, but those with a mistake.
mkdir "$tmp/pages"
for page in man/sbx.5 man/sbxc.1 man/sbxc-check.1 man/sbxc-fmt.1 \
    man/sbx-profiles.7 README.md docs/tour.md docs/network.md; do
	page_policies "$srcdir/$page" "$tmp/pages/${page##*/}"
done
tap_empty "what users are shown has the layout" \
    "$(find "$tmp/pages" "$srcdir/examples" -name '*.sbx' |
	while read -r file; do
		if "$SBXC" check -q "$file" 2>/dev/null; then
			"$SBXC" fmt --list "$file"
		fi
	done)"

# Whatever the parser was ever given: refused without a byte of output, or laid
# out so that it stays.
unstable()
{
	for file in "$@"; do
		"$SBXC" fmt <"$file" >"$tmp/once" 2>/dev/null
		case $? in
		0)
			[ -z "$("$SBXC" fmt --list "$tmp/once" 2>&1)" ] ||
				echo "$file moves"
			;;
		1)
			[ ! -s "$tmp/once" ] || echo "$file: printed"
			;;
		*)
			echo "$file: a strange status"
			;;
		esac
	done
}
tap_empty "all that the parser is tested with" "$(unstable \
    "$srcdir"/tests/fuzz/policy/* "$srcdir"/tests/golden/ok/*.sbx \
    "$srcdir"/tests/golden/err/*.sbx)"
tap_done
