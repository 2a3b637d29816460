#!/bin/sh
# make fuzz: each fuzzer in turn for FUZZ_SECONDS.  Its corpus is read, and what
# it adds is kept in fuzz/corpus/NAME of the build directory, so that the next run
# goes on from there.  Prints a line for each and the sum of their CPU seconds;
# exit status 1 if one found something, which lies in fuzz/found then.
#
# make fuzz-corpus: the smallest set of what was added that reaches code which the
# corpus does not, goes into tests/fuzz/NAME.
#
# FUZZERS names some of them: "blob dns".

set -u
srcdir=${srcdir:?} builddir=${builddir:?}
FUZZ_SECONDS=${FUZZ_SECONDS:-60}
# No sanitizer looks at what a fuzzer starts.
SBXRUN=${SBXRUN:-$builddir/sbxrun}
export SBXRUN
work=$builddir/fuzz
# What is larger is slow to replay and hard to read.
largest=4096
mkdir -p "$work/corpus" "$work/found" "$work/log"
# What a fuzzer has started ends with it, in a namespace of processes.  Process 1
# is a shell, which buries what nobody waits for, or it would fill the machine.
alone=
for try in "" -r; do
	if unshare $try -p -f --kill-child --mount-proc true 2>/dev/null; then
		alone="unshare $try -p -f --kill-child --mount-proc"
		break
	fi
done
[ -n "$alone" ] || echo "fuzz: no namespace of processes here" >&2

# number NAME LOG: the value of a line of libFuzzer's last words.
number()
{
	sed -n "s/^stat::$1: *//p" "$2" | tail -n 1
}

# covered LOG: how many edges the last line about progress has.
covered()
{
	sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$1" | tail -n 1
}

# take_time FILE: sets cpu to the seconds that all which this shell has started
# took.  A subshell would have started nothing.
take_time()
{
	times >"$1"
	cpu=$(sed -n '2s/[ms]/ /gp' "$1" |
	    awk '{ printf "%.0f\n", 60 * ($1 + $3) + $2 + $4 }')
}

fuzz()
{
	found=$work/found/$1- log=$work/log/$1
	mkdir -p "$work/corpus/$1"
	rm -f "$found"*
	take_time "$log.times"
	before=$cpu
	# shellcheck disable=SC2086,SC2016
	$alone sh -c '"$@"; exit $?' sh \
	    "$work/tests/fuzz/fuzz_$1" -max_total_time="$FUZZ_SECONDS" \
	    -timeout=20 -report_slow_units=20 -rss_limit_mb=2048 \
	    -print_final_stats=1 -artifact_prefix="$found" "$work/corpus/$1" \
	    "$srcdir/tests/fuzz/$1" >"$log" 2>&1
	status=$?
	take_time "$log.times"
	findings=$(find "$work/found" -name "$1-*" | wc -l)
	inputs=$(number number_of_executed_units "$log")
	if [ $status -eq 0 ] && [ -z "$inputs" ]; then
		status=1
	fi
	printf 'fuzz: %-9s %10s inputs, %6s s, %5s edges, %4s new, %s\n' "$1" \
	    "${inputs:-?}" "$((cpu - before))" "$(covered "$log")" \
	    "$(number new_units_added "$log")" \
	    "$([ $status -eq 0 ] && echo "nothing found" ||
		echo "$findings FOUND, see $log")"
	[ $status -eq 0 ] && [ "$findings" -eq 0 ]
}

# Edges alone count: how often one is passed would make a corpus ten times as
# large.
grow()
{
	had=$(find "$srcdir/tests/fuzz/$1" -type f | wc -l)
	"$work/tests/fuzz/fuzz_$1" -set_cover_merge=1 -use_counters=0 \
	    -max_len=$largest -timeout=20 "$srcdir/tests/fuzz/$1" \
	    "$work/corpus/$1" >"$work/log/$1" 2>&1 || {
		tail -n 20 "$work/log/$1"
		return 1
	}
	echo "fuzz: $1: $had files in the corpus, now $(find \
	    "$srcdir/tests/fuzz/$1" -type f | wc -l)"
}

if [ -z "${FUZZERS-}" ]; then
	FUZZERS=$(cd "$srcdir/tests/fuzz" && echo fuzz_*.c)
	FUZZERS=$(echo " $FUZZERS" | sed 's/ fuzz_/ /g; s/\.c//g')
fi
failed=0
for name in $FUZZERS; do
	"$1" "$name" || failed=1
done
[ "$1" != fuzz ] || echo "fuzz: $cpu CPU seconds in all"
exit $failed
