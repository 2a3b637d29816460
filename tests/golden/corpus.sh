#!/bin/sh
# The policies that the compiler is tested with, as a whole: ok/ and err/.
#
# There are many, every code that a diagnostic can have comes up in two files at
# least, and both front ends say the same of them: each text is converted to
# YAML and to JSON, and each YAML to text, and that has the same codes, or
# compiles to the same bytes but for lines and columns.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
unplaced=$(realpath "$builddir/tests/golden/unplaced")
tap_begin

# --- numbers ---------------------------------------------------------------

# rare FEWEST FILE...: the codes that fewer files have.
rare()
{
	fewest=$1
	shift
	sed -n '/^DIAG(BLOB_/d; /^DIAG(LEARN_/d; /^DIAG(IMPORT_/d; s/^DIAG([A-Z_0-9]*, "\(SBX[0-9]*\)".*/\1/p' \
	    "$srcdir/compiler/tables/diags.def" | while read -r code; do
		count=$(grep -El "(error|warning|note): .*\[$code\]$" "$@" |
			wc -l)
		[ "$count" -ge "$fewest" ] || echo "$code: $count"
	done
}

cd "$srcdir/tests/golden" || exit 99
tap_empty "every code comes up in two files" "$(rare 2 err/*.err)"
tap_found "a code that is rare is seen" "$(rare 2 err/SBX0101-1.err)"
count=$(find ok err -name '*.sbx' -o -name '*.yaml' -o -name '*.json' | wc -l)
tap_empty "there are 150 policies" "$([ "$count" -ge 150 ] || echo "$count")"

# --- both front ends -------------------------------------------------------

# Twins lie beside what they are made from, so that includes are found.  Places
# and the file's own name are all that may differ in a blob.
mkdir -p "$tmp/corpus"
for kept in want yaml json sbx text; do
	mkdir -p "$tmp/$kept/ok" "$tmp/$kept/err"
done
cp -R ok err "$tmp/corpus"
chmod -R u+w "$tmp/corpus"
cd "$tmp/corpus" || exit 99

# codes FILE LIKE: what is said of a file with the command of another.
codes()
{
	read -r command <"$2"
	case $command in
	'# sbxc '*) command=${command#"# sbxc "} ;;
	*) command=check ;;
	esac
	# shellcheck disable=SC2086  # words
	(cd "${1%/*}" && "$SBXC" $command --color=never "${1##*/}" 2>&1) |
		sed -nE 's/.*(error|warning|note): .*\[(SBX[0-9]*)\]$/\1 \2/p' |
		sort
}

# blob FILE SUFFIX: of a copy whose name has a suffix of four letters.
blob()
{
	cp "$1" "${1%/*}/twin.$2"
	"$SBXC" build "${1%/*}/twin.$2" -o "$tmp/blob" 2>"$tmp/fault" &&
		"$unplaced" "$tmp/blob" | sed "s/twin\.$2/twin.xxxx/g"
	# Two that cannot be built are not alike.
	[ -s "$tmp/blob" ] || echo "$1: no blob"
	rm -f "$tmp/blob"
}

# twin FILE FORMAT: makes FILE.twin.FORMAT; false if it cannot be read at all,
# or holds a comment that is about a line.
twin()
{
	! grep -q '# sbx: ignore' "$1" &&
		"$SBXC" convert -O "$2" "$1" >"${1%.*}.twin.$2" 2>/dev/null
}

# unlike FILE TWIN FORMAT: how they differ.  What is said of FILE is kept, since
# it has a twin in each format.
unlike()
{
	want=$tmp/want/$1 got=$tmp/$3/$1
	case $1 in
	ok/*)
		[ -e "$want" ] || blob "$1" text >"$want"
		blob "$2" "$3" >"$got"
		cmp "$want" "$got" 2>&1 || cat "$tmp/fault"
		;;
	err/*)
		[ -e "$want" ] || codes "$1" "$1" >"$want"
		codes "$2" "$1" >"$got"
		diff "$want" "$got"
		;;
	esac
}

# unlike_all FORMAT FILE...: the twins that differ.  JSON is read as YAML is, so
# that a part of it is enough where all is not asked for.
every=1
[ "$(tap_rounds 100)" -ge 100 ] || every=4
unlike_all()
{
	format=$1 turn=0
	shift
	for file in "$@"; do
		turn=$((turn + 1))
		[ "$format" != json ] || [ $((turn % every)) -eq 0 ] ||
			continue
		twin "$file" "$format" || continue
		echo >>"$tmp/count"
		how=$(unlike "$file" "${file%.*}.twin.$format" "$format")
		[ -z "$how" ] || printf '%s: %s\n' "$file" "$how"
	done
}

for format in yaml json; do
	: >"$tmp/count"
	tap_empty "a text says the same in $format" \
	    "$(unlike_all $format ok/*.sbx err/*.sbx)"
	count=$(wc -l <"$tmp/count")
	least=100
	[ "$format" != json ] || least=$((100 / every))
	tap_empty "as $format: there are $least of them" \
	    "$([ "$count" -ge "$least" ] || echo "$count")"
done

# only_text FILE: codes that no YAML has, and which are not about the signs and
# lines of the policy language.
only_text()
{
	sed -n '/^DIAG(BLOB_/d; /^DIAG(LEARN_/d; /^DIAG(IMPORT_/d; s/^DIAG([A-Z_0-9]*, "\(SBX[0-9]*\)".*/\1/p' \
	    "$srcdir/compiler/tables/diags.def" |
		grep -Ev 'SBX01(03|05|06|07|12)' | grep -Fvf "$1"
}

cat "$tmp"/yaml/err/* err/*yaml.err err/SBX08*.err |
	grep -o 'SBX[0-9]\{4\}\]*$' | tr -d ']' | sort -u >"$tmp/codes"
tap_empty "every code comes up in YAML, too" "$(only_text "$tmp/codes")"
sed '/SBX0211/d' "$tmp/codes" >"$tmp/fewer"
tap_found "a code that YAML does not have is seen" "$(only_text "$tmp/fewer")"
tap_empty "what is YAML says the same as text" \
    "$(unlike_all sbx err/*-*.yaml)"
tap_found "twins that differ are seen" \
    "$(unlike ok/drop.sbx ok/drop-on.sbx text)"
tap_done
