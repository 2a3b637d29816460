#!/bin/sh
# What a reviewer is told of small changes, as TAP: `check --within` passes what is
# plainly narrower and fails it the other way round; `diff` has at most three
# findings for a line, whose words come first, and names a system call only where
# the line does.  changes/ has the pairs and the lines; the fast tier asks a part.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
here=$srcdir/tests/golden/changes
tap_begin
cd "$tmp" || exit 99

# lines FILE: without comments; every fourth one where few are asked.
lines()
{
	every=1
	! tap_short || every=4
	grep -v '^#\|^$' "$here/$1" | awk "NR % $every == 0"
}

# policy FILE PARENT STATEMENTS: with a `;` behind each; a PARENT of "-" is none.
policy()
{
	{
		echo 'sbx 1'
		if [ "$2" = - ]; then
			echo 'profile p {
    require level standard
    allow exec { /usr /lib /lib64 /bin }'
		else
			echo "profile p extends $2 {"
		fi
		printf '%s\n}\n' "$3" | tr ';' '\n'
	} >"$1"
}

lines narrower >pairs
while IFS= read -r pair; do
	sides=${pair#*:}
	case $pair in
	@*) old=${pair%% =>*} new=${pair##*=> } ;;
	*)
		policy old.sbx "${pair%%:*}" "${sides%%=>*}"
		policy new.sbx "${pair%%:*}" "${sides#*=>}"
		old=old.sbx new=new.sbx
		;;
	esac
	"$SBXC" check -q --within "$old" "$new" >said 2>&1
	status=$?
	"$SBXC" check -q --within "$new" "$old" >back 2>&1
	tap_is "within: $pair" "0 1" "$status $?"
	[ $status -eq 0 ] || sed 's/^/# /' said
done <pairs

# told OLD NEW LINE
told()
{
	"$SBXC" diff "$1" "$2" >said 2>&1
	findings=$(grep -c '^\(wider\|narrower\|maybe-wider\):' said)
	[ "$findings" -gt 0 ] || return
	[ "$findings" -le 3 ] || echo "$findings findings"
	sed -n 2,3p said | grep -qF -- "${3##* }" || sed -n 1,3p said
	case $3 in
	*' syscalls '*) ;;
	*) grep '^[a-z-]*: syscall' said ;;
	esac
}

lines lines >added
for parent in - workspace-write coding; do
	while IFS= read -r line; do
		own=
		[ $parent != - ] || own='allow write ${workspace}'
		policy old.sbx $parent "$own"
		policy new.sbx $parent "$own;$line"
		tap_empty "diff: $parent: $line" "$(told old.sbx new.sbx "$line"
		    told new.sbx old.sbx "$line")"
	done <added
done
tap_done
