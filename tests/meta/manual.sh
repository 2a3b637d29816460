#!/bin/sh
# What the manual shows is so.
#
#	.Bd -literal that begins with "sbx 1"	compiles without a word
#	after the line  .\" in a profile	the same inside of a profile
#	after           .\" file NAME		is put there, as it is
#	after           .\" in a shell		`$ COMMAND` prints what follows
#						it, or whatever, if nothing does
#	```sbx in README.md and docs/		compiles without a word
#
# A table between  .\" table: NAME  and  .\" table: end  says what the sources
# say.  Each check is also run on a page that was made wrong.

set -u
HOME=/home/ada
export HOME
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/examples.sh
. "$srcdir/tests/lib/examples.sh"
tap_begin
mkdir "$tmp/bin" "$tmp/run"
ln -s "$SBXC" "$tmp/bin/sbxc"
PATH=$tmp/bin:$PATH

# --- examples --------------------------------------------------------------

# compiles FILE: what sbxc says of it; nothing, if all is well.
compiles()
{
	sbxc check "$1" 2>&1 || echo "status $?"
}

compiles_inside()
{
	page_inside "$1" >"$tmp/inside.sbx"
	compiles "$tmp/inside.sbx"
}

# says COMMAND OUTPUT: a wrong call is one whatever it prints.
says()
{
	printf '%s' "$2" >"$tmp/expected"
	(cd "$tmp/run" && sh -c "$1") >"$tmp/got" 2>&1 </dev/null
	status=$?
	[ $status -lt 2 ] || echo "$1: status $status"
	if [ -s "$tmp/expected" ]; then
		diff -u "$tmp/expected" "$tmp/got"
	elif [ $status -ne 0 ]; then
		cat "$tmp/got"
	fi
}

# speaks FILE: runs the commands of an example one after the other.
speaks()
{
	command='' output=''
	while IFS= read -r line; do
		case $line in
		'$ '*)
			[ -z "$command" ] || says "$command" "$output"
			command=${line#??} output=''
			;;
		*)
			output="$output$line
"
			;;
		esac
	done <"$1"
	says "$command" "$output"
}

# example FILE: what is wrong with it.
example()
{
	case $1 in
	*.policy) compiles "$1" ;;
	*.profile) compiles_inside "$1" ;;
	*.shell) speaks "$1" ;;
	*.file.*) cp "$1" "$tmp/run/${1##*.file.}" ;;
	esac
}

examples()
{
	page_examples "$1" "$tmp/blocks"
	for file in "$tmp"/blocks/*; do
		[ -e "$file" ] || continue
		name=${file##*/}
		tap_empty "${1##*/}:${name%%.*}: ${name#*.}" "$(example "$file")"
	done
}

# --- tables ----------------------------------------------------------------

# table FILE NAME: the lines of a table.
table()
{
	awk -v name="$2" '
	$0 == ".\\\" table: " name { inside = 1; next }
	/^\.\\" table: / { inside = 0 }
	inside' "$1"
}

# The sets, one path a line: "devices /dev/null".
sets_of_page()
{
	table "$1" sets | awk '
	/^\.It Ql \${/ { gsub(/[${}]/, "", $3); set = $3 }
	/^[\/~$]/ { for (i = 1; i <= NF; i++) print set, $i }'
}

sets_of_source()
{
	sed -n 's/^SET("\(.*\)", \(LINUX\|ALL\), "\(.*\)")$/\1 \3/p' \
	    "$srcdir/compiler/tables/sets.def"
	sed -n 's/^CACHE(\(LINUX\|ALL\), "\(.*\)")$/caches \2/p' \
	    "$srcdir/format/caches.def"
}

baseline_of_page()
{
	table "$1" baseline | sed -n 's/^\.It \([@a-z].*\)$/\1/p' |
	    sed 's/ Ta / /g'
}

baseline_of_source()
{
	sed -n 's/^BASELINE("\(.*\)", \(.*\), "\(.*\)")$/\1 \2 \3/p' \
	    "$srcdir/compiler/tables/baseline.def"
}

groups_of_page()
{
	table "$1" groups | sed -n 's/^\.It \(@.*\)$/\1/p' | sed 's/ Ta / /'
}

groups_of_source()
{
	sed -n 's/^GROUP("\([^"]*\)", "\([^"]*\)",$/@\1 \2/p' \
	    "$srcdir/compiler/tables/groups.def"
}

profile_groups_of_page()
{
	table "$1" 'profile groups' | sed -n 's/^\.It //p' | sort
}

profile_groups_of_source()
{
	sed -n 's/^group \([a-z-]*\) {$/\1/p' "$srcdir/profiles/groups.sbx" |
	    sort
}

# The limits, one a line: "coding file-size 1GiB".
limits_of_page()
{
	table "$1" limits | sed -n 's/^\.It //p' | sed 's/\\-/-/g' | awk '
	$1 == "limit" { for (i = 3; i <= NF; i += 2) name[i] = $i; next }
	{
		for (i = 3; i <= NF; i += 2)
			if ($i != "-")
				print name[i], $1, $i
	}' | sort
}

# As compiled, so with what is inherited: bytes and seconds become words.
limits_of_source()
{
	for profile in workspace-write read-only coding coding-online \
	    agent data-analysis \
	    full-access; do
		sbxc "$srcdir/profiles/$profile.sbx" -o "$tmp/limits.bin"
		sbxc dump "$tmp/limits.bin" | awk -v profile="$profile" '
		$1 == "limit" {
			value = $3
			if ($2 == "file-size" || $2 == "memory" ||
			    $2 == "output")
				value = $3 >= 1073741824 ? \
				    $3 / 1073741824 "GiB" : \
				    $3 / 1048576 "MiB"
			if ($2 == "core")
				value = $3 "B"
			if ($2 == "cpu-time" || $2 == "timeout")
				value = $3 "s"
			print profile, $2, value
		}'
	done | sort
}

# differs NAME PAGE: what the table and the source disagree on.
differs()
{
	"$1_of_page" "$2" >"$tmp/page"
	"$1_of_source" >"$tmp/source"
	[ -s "$tmp/source" ] || echo "nothing was found in the sources"
	diff -u "$tmp/source" "$tmp/page"
}

# agrees NAME PAGE EDIT: on the page, and on one that sed EDIT made wrong.
agrees()
{
	tap_empty "$2: the table of $1" "$(differs "$1" "$srcdir/man/$2")"
	sed "$3" "$srcdir/man/$2" >"$tmp/bad"
	tap_found "$2: the table of $1: the check can fail" \
	    "$(differs "$1" "$tmp/bad")"
}

# --- the cases -------------------------------------------------------------

# shellcheck disable=SC2046
for page in $(cd "$srcdir" && echo man/*.[157]) README.md docs/tour.md docs/network.md; do
	examples "$srcdir/$page"
done
if [ "$tap_count" -ge 20 ]; then
	tap_ok "the examples were found"
else
	tap_not_ok "the examples were found" "only $tap_count of them"
fi

cat >"$tmp/bad.page" <<'END'
.Bd -literal
sbx 1
profile bad { alow read / }
.Ed
.\" in a profile
.Bd -literal
allow read relative
.Ed
.\" in a shell
.Bd -literal
$ sbxc --version
sbxc 0
.Ed
END
page_examples "$tmp/bad.page" "$tmp/blocks"
for file in "$tmp"/blocks/*; do
	tap_found "the check of a ${file##*.} can fail" "$(example "$file")"
done

agrees sets sbx.5 's,~/\.ssh ,~/.shs ,'
agrees baseline sbx-syscalls.7 's/^\.It @swap Ta EPERM/.It @swap Ta ENOSYS/'
agrees groups sbx-syscalls.7 '/^\.It @pkey/d'
agrees profile_groups sbx-profiles.7 '/^\.It dotfiles/d'
agrees limits sbx-profiles.7 '/^\.It processes/s/8192/4096/'
tap_done
