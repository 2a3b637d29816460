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

# compact: answers, without what the question has or says already: the access, the
# status that belongs to the answer; and of a level what it has not of the answer
# for all (after -, what only that has, but for who enforces it).
compact()
{
	awk '
	function status_of(line) {
		return line ~ /^denied: / ? "no" : line ~ /^allowed: / ? "yes" : ""
	}
	function finish(    i, known, now) {
		if (count == 0)
			return
		if (level == "") {
			split("", base)
			bases = count
			for (i = 1; i <= count; i++)
				base[i] = text[i]
			if (text[1] == "denied: " asked)
				print "? " asked ": denied"
			else if (text[1] == "allowed: " asked)
				print "? " asked ": allowed"
			else
				print "? " asked "\n" text[1]
			for (i = 2; i <= count; i++)
				if (text[i] != status_of(text[1]))
					print text[i]
		} else {
			print level
			for (i = 1; i <= bases; i++)
				known[base[i]]
			for (i = 1; i <= count; i++) {
				now[text[i]]
				if (!(text[i] in known) && \
				    text[i] != status_of(text[1]))
					print text[i]
			}
			for (i = 1; i <= bases; i++)
				if (!(base[i] in now) && \
				    base[i] !~ /^(yes|no|denied: .*|allowed: .*)$/ && \
				    base[i] !~ /^    enforced by: /)
					print "-" base[i]
		}
		count = 0
	}
	/^\? / { finish(); asked = substr($0, 3); level = ""; next }
	/^-- .*: the same$/ { finish(); print; next }
	/^-- / { finish(); level = $0; next }
	{ text[++count] = $0 }
	END { finish() }'
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
	answers "$file" | compact >"$tmp/got"
	if [ "${1-}" = --update ]; then
		cmp -s "$tmp/got" "$name.out" || cp "$tmp/got" "$name.out"
	fi
	tap_empty "$name" "$(diff -u "$name.out" "$tmp/got" 2>&1)"
done
tap_found 'another answer is seen' "$(diff network-none.out network-full.out)"
tap_done
