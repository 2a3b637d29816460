#!/bin/sh
# Tables of system calls, as TAP: each syscalls/NAME.sbx is compiled and NAME.sim
# is tried against it; `profile-NAME.sim` goes with the shipped profile NAME.
#
# $SBXC is the compiler.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
table_program=$(realpath "$builddir/tests/model/syscall_table")
cd "$srcdir/tests/model/syscalls" || exit 99

tap_begin

count=0
failed=0
for table in *.sim; do
	name=${table%.sim}
	policy=$name.sbx
	case $name in
	profile-*)
		policy=$tmp/$name.sbx
		printf 'sbx 1\nprofile it extends %s {\n%s\n}\n' \
			"${name#profile-}" "about \"$name\"" >"$policy"
		;;
	esac
	"$SBXC" build "$policy" -o "$tmp/blob" >"$tmp/log" 2>&1 ||
		sed 's/^/# /' "$tmp/log"
	"$table_program" "$tmp/blob" "$table" >"$tmp/out" || failed=1
	# The numbers and plans of the tables become one.
	while IFS= read -r line; do
		case $line in
		'ok '*)
			count=$((count + 1))
			echo "ok $count - $name:${line#ok *-}"
			;;
		'not ok '*)
			count=$((count + 1))
			echo "not ok $count - $name:${line#not ok *-}"
			;;
		'#'*)
			echo "$line"
			;;
		esac
	done <"$tmp/out"
	grep -q '^1\.\.' "$tmp/out" || {
		count=$((count + 1))
		echo "not ok $count - $name: the table was not tried"
	}
	rm -f "$tmp/blob"
done
echo "1..$count"
exit $failed
