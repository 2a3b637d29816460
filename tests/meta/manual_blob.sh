#!/bin/sh
# sbx-blob(5) says what format/blob.h and format/landlock.def say.
#
# The tables of the page become a C program of static assertions: each row of a
# record is an offset and a size, each row of a table of values a constant, and
# the rows of a record fill it to its end, so that a missing field is seen.  In
# the other direction, every record and constant of blob.h is in the page.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
LC_ALL=C

page=$srcdir/man/sbx-blob.5
header=$srcdir/format/blob.h
tap_begin

# assertions PAGE: the C program.
assertions()
{
	awk '
	BEGIN { print "#include \"format/blob.h\"" }
	function assert(what, text) {
		printf "_Static_assert(%s, \"%s\");\n", what, text
	}
	function record_ends() {
		if (record != "")
			assert("sizeof(struct " record ") == " end, \
			    record " is described to its end")
		record = ""
	}
	/^\.S[hs] / { record_ends(); values = 0 }
	/^\.Ss struct / {
		record = $3
		sub(/:$/, "", record)
		end = 0
		assert("sizeof(struct " record ") == " $4, record ": its size")
	}
	/^\.It Em (value|number) / { values = 1; next }
	/^\.It [0-9]/ && record != "" {
		field = record "." $6
		assert("offsetof(struct " record ", " $6 ") == " $2, \
		    field ": its offset")
		assert("sizeof(((struct " record " *)0)->" $6 ") == " $4, \
		    field ": its size")
		if ($2 != end)
			assert(0, field " does not follow the field before it")
		end = $2 + $4
	}
	/^\.It [0-9]/ && values { assert($4 " == " $2, $4) }
	END { record_ends() }' "$1"
}

# wrong_layout PAGE: what the compiler says of it.
wrong_layout()
{
	assertions "$1" >"$tmp/page.c"
	${CC:-cc} -std=c11 -fsyntax-only -I "$srcdir" "$tmp/page.c" 2>&1
}

# missing PAGE: records and constants of the header that the page lacks.
missing()
{
	{
		sed -n 's/^SBX_ASSERT_SIZE(\(sbx_[a-z]*\),.*/struct \1:/p' \
		    "$header"
		grep -oE '\<SBX_[A-Z]+_[A-Z0-9_]+' "$header" | sort -u |
		    grep -E -e '^SBX_(SECTION|ON|LEVEL|NET|ANCHOR)_' \
			-e "^SBX_(LIMIT|PROGRAM|SYSCALL|MAX|NAME)_" |
		    grep -vE '_(END|FLAGS|USED)$|_ON_(ALL|LINUX)$'
		echo SBX_SIGNAL_ANYWHERE
		echo SBX_ABSTRACT_ANYWHERE
		echo SBX_NO_SPAWN
	} | while read -r text; do
		grep -qw -- "${text%:}" "$1" || echo "the page lacks $text"
	done
}

# The rights, one a line: class bit abi file kind name.
rights_of_page()
{
	awk '/^\.It (FS|NET|SCOPE|FLAG) / {
		gsub(/\\-/, "-")
		print $2, $4, $6, $8, $10, $12
	}' "$1"
}

rights_of_table()
{
	sed -n 's/^\(FS\|NET\|SCOPE\|FLAG\)(\(.*\)$/\1, \2/p' \
	    "$srcdir/format/landlock.def" | tr -d ' ' |
	    awk -F, '
	$1 == "FS" { print $1, $3, $4, $5 ? "yes" : "no", $6, $2; next }
	$1 == "FLAG" { print $1, $3, $4, "-", "-", $2; next }
	{ print $1, $3, $4, "-", $5, $2 }'
}

wrong_rights()
{
	rights_of_page "$1" >"$tmp/page.rights"
	rights_of_table >"$tmp/table.rights"
	diff "$tmp/table.rights" "$tmp/page.rights"
}

# check FUNCTION NAME EDIT: on the page, and on one that sed EDIT made wrong.
check()
{
	tap_empty "$2" "$($1 "$page")"
	sed "$3" "$page" >"$tmp/bad.5"
	if cmp -s "$page" "$tmp/bad.5"; then
		tap_not_ok "$2: the check can fail" "sed '$3' changes nothing"
	else
		tap_found "$2: the check can fail" "$($1 "$tmp/bad.5")"
	fi
}

rows=$(assertions "$page" | wc -l)
if [ "$rows" -gt 150 ] && [ "$(rights_of_table | wc -l)" -gt 15 ]; then
	tap_ok "the tables were found: $rows assertions"
else
	tap_not_ok "the tables were found" "only $rows assertions"
fi
check wrong_layout "offsets, sizes and numbers" \
    's/^\.It 16 Ta 4 Ta source Ta/.It 16 Ta 8 Ta source Ta/'
check wrong_layout "no field is left out" '/^\.It 20 Ta 4 Ta glob/d'
check wrong_layout "values" \
    's/^\.It 2 Ta SBX_PREFER_DENY/.It 3 Ta SBX_PREFER_DENY/'
check missing "every record and constant is there" '/SBX_SECTION_SET/d'
check wrong_rights "the Landlock rights" \
    's/^\.It FS Ta 13 Ta 2/.It FS Ta 13 Ta 1/'
tap_done
