#!/bin/sh
# What `sbxc why` answers, to the letter: who decides, at which place, what holds
# at which level, and the way out.
#
#	tests/golden/why.sh [--update]
#
# why/NAME.sbx is asked what stands in the files of its first line, `# asked FILE`,
# and what its own lines `#? QUESTION` say.  A line of questions that begins with
# `levels` is asked at each level, too.  The answers are why/NAME.out, without the
# places of shipped rules.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
cd "$srcdir/tests/golden/why" || exit 99
tap_begin

# Nothing here depends on the machine, or on who runs it.
HOME=/home/ada SBXRUN=none XDG_RUNTIME_DIR=/run/user/7 TMPDIR=/tmp
export HOME SBXRUN XDG_RUNTIME_DIR TMPDIR
unset SSH_AUTH_SOCK

# ask FILE QUESTION [OPTION...]
ask()
{
	asked_file=$1 question=$2
	shift 2
	# shellcheck disable=SC2086  # words
	"$SBXC" why --model --home=/home/ada -w /src/app --arch x86_64 "$@" \
	    "$tmp/${asked_file%.sbx}.bin" $question >"$tmp/said" 2>&1
	asked_status=$?
	sed 's,/tmp/sbx-[0-9]*,/tmp/sbx-UID,' "$tmp/said" | tap_shipped
	case $asked_status in
	0) echo yes ;;
	1) echo no ;;
	*) echo "status $asked_status" ;;
	esac
}

# answers FILE: what comes of all its questions.  What a level says like the one
# before it is said once.
answers()
{
	{
		sed -n '1s/^# asked //p' "$1" | xargs -r cat
		sed -n 's/^#? //p' "$1"
	} | while read -r question; do
		levels=''
		case $question in
		levels*)
			question=${question#levels }
			levels='full standard minimal none'
			;;
		esac
		echo "? $question"
		ask "$1" "$question"
		: >"$tmp/before"
		for level in $levels; do
			ask "$1" "$question" -l "$level" >"$tmp/now"
			if cmp -s "$tmp/now" "$tmp/before"; then
				echo "-- $level: the same"
			else
				echo "-- $level:"
				cat "$tmp/now"
			fi
			cp "$tmp/now" "$tmp/before"
		done
	done
}

for file in *.sbx; do
	name=${file%.sbx}
	# Once, since its answers are those of the text.
	if ! "$SBXC" build "$file" -o "$tmp/$name.bin" 2>"$tmp/said"; then
		tap_not_ok "$name" "$(cat "$tmp/said")"
		continue
	fi
	answers "$file" >"$tmp/got"
	if [ "${1-}" = --update ]; then
		cmp -s "$tmp/got" "$name.out" || cp "$tmp/got" "$name.out"
	fi
	tap_empty "$name" "$(diff -u "$name.out" "$tmp/got" 2>&1)"
done
tap_found 'another answer is seen' "$(diff network-none.out network-full.out)"
tap_done
