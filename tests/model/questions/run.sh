#!/bin/sh
# A million random questions to each that answers some, with what came of it.
#
#	make -C build questions [QUESTIONS=1000000] [QUESTIONS_SEED=1]
#
# tests/model/questions/ask asks the model, why, test files, YAML, the blob read
# back, diff and --within; sbpl/questions and guile the text for macOS; and
# properties/property the kernel, a tenth as often.  A line for each engine says
# how often it was asked and how often it said something else; the last one is
# the sum.  Without a seed it is the time.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
tap_begin
count=${QUESTIONS:-1000000}
seed=${QUESTIONS_SEED:-$(date +%s)}
model=$builddir/tests/model

echo "seed $seed"

# ask: "ok 1 - why: 1000 questions, 0 differences" becomes "why 1000 0".
"$model/questions/ask" "$count" "$seed" >"$tmp/ask"
echo "$?" >"$tmp/status"
sed -n 's/^\(not \)*ok [0-9]* - \([a-z]*\): \([0-9]*\) questions, \([0-9]*\) differences$/\2 \3 \4/p' \
    "$tmp/ask" >"$tmp/counts"

# The evaluator of seatbelt.scm is slow unless it is compiled.
if command -v "${GUILE:=guile}" >/dev/null; then
	HOME=$tmp "$GUILE" --no-auto-compile -c '
(use-modules (system base compile))
(compile-file (cadr (command-line)) #:output-file (caddr (command-line)))' \
	    "$srcdir/tests/model/sbpl/seatbelt.scm" "$tmp/seatbelt.go" >/dev/null
	# In parts, which are read as a whole.
	part=0 left=$count
	while [ "$left" -gt 0 ]; do
		some=$((left < 100000 ? left : 100000))
		"$model/sbpl/questions" "$((seed + 100000 * part))" random \
		    "$some" >"$tmp/random"
		"$GUILE" --no-auto-compile -c '
(set-program-arguments (cdr (command-line)))
(load-compiled (car (command-line)))' "$tmp/seatbelt.go" \
		    --compare "$tmp/random" >>"$tmp/sbpl" 2>&1
		left=$((left - some)) part=$((part + 1))
	done
	awk '/ questions about .* differences$/ { asked += $1; wrong += $(NF - 1) }
	    END { print "sbpl", asked + 0, wrong + 0 }' "$tmp/sbpl" >>"$tmp/counts"
else
	echo "sbpl: not asked, there is no guile"
fi

# A round makes some 170 attempts, at each level and as each user.
rounds=$((count / 10 / 600 + 8))
"$model/properties/property" "$seed" "$rounds" >"$tmp/property"
echo "$?" >>"$tmp/status"
if grep -q '# SKIP' "$tmp/property"; then
	grep '# SKIP' "$tmp/property"
fi
sed -n 's/.* policies, \([0-9]*\) attempts .*; \([0-9]*\) differ, .*/\1 \2/p' \
    "$tmp/property" |
    awk '{ asked += $1; wrong += $2 }
	END { print "kernel", asked + 0, wrong + 0 }' >>"$tmp/counts"

grep -h '^not ok\|^# seed' "$tmp/ask" "$tmp/property"
[ ! -s "$tmp/sbpl" ] || grep -v ', 0 differences$' "$tmp/sbpl"
awk '{ printf "%-8s %9d questions, %d differences\n", $1, $2, $3
	asked += $2; wrong += $3 }
    END { printf "%-8s %9d questions, %d differences\n", "all", asked, wrong
	exit wrong > 0 }' "$tmp/counts" &&
    ! grep -qv '^0$' "$tmp/status"
