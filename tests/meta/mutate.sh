#!/bin/sh
# The faults that tests/mutate/mutate.py makes by chance are what they say, and can
# hurt nothing but its copy.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
mutate=$srcdir/tests/mutate/mutate.py

tap_begin
# Comments, text and the preprocessor are not touched.
cat >"$tmp/a.c" <<'C'
#define N (1 + 2)
/* if (a < 1) f(); */
int f(int a)
{
	if (a < 7 && g("1 < 2"))
		h(a,
		    A | B);
	x->y = a + 010;
	return true;
}
C
printf 'ROW(1, "a",\n    B)\nROW(2)\n' >"$tmp/a.def"
made()
{
	python3 -B - "$srcdir/tests/mutate" "$1" <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
import chance
for line in chance.faults_of(sys.argv[2], []):
    for fault in line:
        print(fault.name, "".join(fault.new).replace("\t", ""), sep=": ")
PYTHON
}
got=$(made "$tmp/a.c")
tap_is "a line has the faults that it can have" \
    'line 5: <= for <: if (a <= 7 && g("1 < 2"))
line 5: || for &&: if (a < 7 || g("1 < 2"))
line 5: if (0): if (0)
line 5: if (1): if (1)
line 5: 8 for 7: if (a < 8 && g("1 < 2"))
line 5: 6 for 7: if (a < 6 && g("1 < 2"))
line 9: false for true: return false;
line 8: - for +: x->y = a - 010;
line 8: 011 for 010: x->y = a + 011;
line 8: 07 for 010: x->y = a + 07;
line 8: nothing is set: ;
line 6: h() is not called: ;
line 7: a bit is left out:     A );' "$got"
got=$(made "$tmp/a.def")
tap_is "a row of a table is left out" \
    'line 1: 2 for 1: ROW(2, "a",
line 1: 0 for 1: ROW(0, "a",
line 1: a row is left out: 
line 3: 3 for 2: ROW(3)
line 3: 1 for 2: ROW(1)
line 3: a row is left out: ' "$got"
drawn()
{
	python3 "$mutate" --seed "$1" --only format/ --list 50
}
got=$(drawn 1)
tap_is "chance draws as many as are wanted" 50 \
    "$(printf '%s\n' "$got" | grep -c '^format/[a-z0-9_]*\.[a-z]*: line .* tests/')"
tap_is "a seed draws the same again" "$got" "$(drawn 1)"
tap_is "and another seed others" 1 "$([ "$got" != "$(drawn 2)" ] && echo 1)"

# failed STATUS LINE...: what mutate.py reads out of what a test says.
failed()
{
	python3 -B - "$srcdir/tests/mutate" "$@" <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
import alone
tap = alone.Tap()
for line in sys.argv[3:]:
    tap.hear(line)
print(tap.verdict(int(sys.argv[2])))
PYTHON
}
tap_is "a test has passed" None "$(failed 0 1..2 'ok 1' 'ok 2 - b # SKIP c')"
tap_is "a case failed" 'not ok 1 - a' \
    "$(failed 1 'not ok 1 - a' 'not ok 2' 1..2)"
tap_is "it gave up" 'Bail out! no' "$(failed 0 'ok 1' 'Bail out! no')"
tap_is "it ended too early" '1 cases of 2 that it planned' \
    "$(failed 0 1..2 'ok 1')"
tap_is "it ended without a plan" '1 cases of None that it planned' \
    "$(failed 0 'ok 1')"
tap_is "it ended badly" 'it ended with status 139' \
    "$(failed 139 1..1 'ok 1')"

# What a fault may do to the machine, done by itself.
alone="unshare --pid --fork --kill-child --mount --mount-proc
    $srcdir/tests/mutate/alone.sh"
place=$(mktemp -d "$(realpath "$builddir")/alone-XXXXXX") || exit 99
tap_at_end="rm -rf $place"
tap_is "no copy is below what builds do not see" 1 \
    "$(python3 "$mutate" 1 "$tmp/m" 2>&1 | grep -c 'see an empty')"
# shellcheck disable=SC2086
if ! $alone "$place" true 2>/dev/null; then
	tap_lacks "a fault hurts nothing but its copy" "no namespaces here"
else
	sleep 300 &
	other=$!
	got=$($alone "$place" sh -c 'kill -KILL -1; touch "$1/seen"
	    rm -rf "$3/a.c" /tmp/* /var/tmp/*; touch "$2"; echo $?' \
	    sh "$place" "$srcdir/planted" "$tmp" 2>/dev/null)
	tap_is "a fault can write to its copy" 1 "$(find "$place/seen" | wc -l)"
	tap_is "and not to the sources" 1 "$got"
	tap_is "it removes no file of another program" 1 \
	    "$(find "$tmp/a.c" | wc -l)"
	tap_is "it ends none" 0 "$(kill -TERM $other; echo $?)"

	outside=$(cat /proc/sys/kernel/pid_max)
	inside=$($alone "$place" cat /proc/sys/kernel/pid_max)
	if printf '%s\n' 6.14 "$(uname -r)" | sort -CV; then
		tap_is "it forks into a bound of its own" 8000 "$inside"
	fi
	tap_is "which others do not feel" "$outside" \
	    "$(cat /proc/sys/kernel/pid_max)"

	# A test of which a case failed: it cleans up, and does no more.
	mkdir -p "$place/source/build"
	cat >"$place/test" <<-END
		trap 'touch "$place/cleaned"' EXIT
		trap 'exit 99' TERM
		# A shell that is just starting a command may lose the signal.
		sleep 300 &
		echo "not ok 1 - a"
		wait
		touch "$place/more"
	END
	cat >"$tmp/one.py" <<-END
		import sys
		sys.path.insert(0, "$srcdir/tests/mutate")
		import alone
		build, limit, *test = sys.argv[1:]
		print(alone.run_test(build, test, int(limit)))
	END
	tap_is "nothing is run after what failed" 'not ok 1 - a' \
	    "$(python3 -B "$tmp/one.py" "$place/source/build" 60 \
		"$builddir/tests/lib/run" sh "$place/test")"
	tap_is "but for what cleans up" cleaned "$(cd "$place" && ls -d [cm]*)"
	tap_is "what says nothing is ended" 'it ended with status -9' \
	    "$(python3 -B "$tmp/one.py" "$place/source/build" -19 \
		sleep 300)"
fi
tap_done
