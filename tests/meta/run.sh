#!/usr/bin/env bash
# lib/run, which all tests rely on: a test sees nothing of its caller's habits,
# is killed when its time is up, with all that it has started, and leaves
# nothing behind.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
tap_begin
run=$(realpath "$builddir/tests/lib/run")
# Seconds that nobody else sleeps, by which our processes are found.
mark=6000$$

# Nothing here uses its time to clean up.
TEST_GRACE=1
export TEST_GRACE

none()
{
	! pgrep -f "(sleep |chain-)$mark"
}

# left: our processes, once they had some time to go.
left()
{
	tap_until none || pgrep -fa "(sleep |chain-)$mark"
}

# --- surroundings -----------------------------------------------------------

# All that a test can notice of them.
cat >"$tmp/look" <<'SCRIPT'
grep -E '^Sig(Blk|Ign)' /proc/self/status
ls /proc/self/fd | tr '\n' ' '
readlink /proc/self/fd/0
umask
ulimit -S -n
ulimit -S -f
ulimit -S -c
env | sed 's/sbx-test\.[^/]*/X/' | grep -Ev '^(PWD|OLDPWD|SHLVL|_)=' | sort
[ "$(stat -c %a "$TMPDIR")" = 755 ] && [ -d "$HOME" ]
trap 'echo trapped' HUP INT QUIT PIPE TERM
for signal in HUP INT QUIT PIPE TERM; do
	kill -$signal $$
done
SCRIPT

# plainly COMMAND...
plainly()
{
	env -i PATH="$PATH" TEST_ROUNDS=7 "$@" </dev/null
}

# oddly COMMAND...: as under nohup, from cron, or by a broken desktop.
oddly()
{
	(
		trap '' HUP INT QUIT PIPE TERM CHLD ALRM
		umask 077
		ulimit -S -n 90
		ulimit -S -f 4
		exec env -i PATH="$PATH" TEST_ROUNDS=7 LANG=tr_TR.UTF-8 \
		    LC_NUMERIC=de_DE.UTF-8 TMPDIR=/nonexistent HOME=/root/x \
		    POSIXLY_CORRECT=1 NO_COLOR=1 CDPATH=/ SBX_TRIAL=/x "$@" \
		    <"$tmp/look" 5</dev/null 77</dev/null
	)
}

wanted=$(plainly "$run" GIVEN=1 sh "$tmp/look" 2>&1)
tap_is "there is something to see" 5 "$(echo "$wanted" | grep -c trapped)"
tap_is "there is no input" 1 "$(echo "$wanted" | grep -c '/dev/null$')"
# Without a shell, which clears its mask.
tap_is "no signal is blocked or ignored" 2 \
    "$(oddly "$run" grep -cE '^Sig(Blk|Ign):.0*$' /proc/self/status)"
tap_is "what was closed is open" /dev/null \
    "$("$run" readlink /proc/self/fd/0 <&-)"
tap_is "what is given is there" 1 "$(echo "$wanted" | grep -c '^GIVEN=1$')"
tap_is "a test sees nothing of its caller" "$wanted" \
    "$(oddly "$run" GIVEN=1 sh "$tmp/look" 2>&1)"
tap_found "without it, it would" \
    "$(oddly sh "$tmp/look" 2>&1 | grep -v 'SigIgn.*: 0*$')"

# --- ends -------------------------------------------------------------------

# statuses: of tests that end by themselves.
statuses()
{
	for status in 0 1 77 99; do
		"$run" sh -c "exit $status"
		echo "$status: $?"
	done
	# shellcheck disable=SC2016  # the test's own
	"$run" sh -c 'kill -SEGV $$'
	echo "SEGV: $?"
	"$run" "$tmp/nothing" 2>/dev/null
	echo "nothing: $?"
}
tap_is "a test's status is kept" '0: 0
1: 1
77: 77
99: 99
SEGV: 139
nothing: 99' "$(statuses)"

# shellcheck disable=SC2016  # the test's own
"$run" sh -c 'echo "$TMPDIR" >"$0"; mkdir -p "$TMPDIR/a/b"; : >"$TMPDIR/a/b/c"
	chmod 0 "$TMPDIR/a/b" "$TMPDIR/a"' "$tmp/place"
tap_empty "its directory is removed" \
    "$(ls -d "$(cat "$tmp/place")" 2>/dev/null)"

got=$("$run" sh -c "(setsid sleep $mark &)")
tap_is "a process that is left behind is an error" "99" $?
tap_found "and is named" "$(echo "$got" | grep '^# left behind: sleep')"
tap_empty "and is killed" "$(left)"
TEST_GRACE=60 "$run" sh -c "sleep 0.5 & exit 0"
tap_is "one that is about to end is none" 0 $?

# --- limits -----------------------------------------------------------------

# A test that does not heed TERM and whose children are everywhere; of one chain
# each starts the next and ends.
echo 'sh "$0" &' >"$tmp/chain-$mark"
cat >"$tmp/hangs.sh" <<SCRIPT
#!/bin/sh
trap '' TERM INT HUP
echo "ok 1 - fine so far"
(setsid sh -c 'trap "" TERM HUP; sleep $mark & sleep $mark' &)
sh "$tmp/chain-$mark" &
setsid sh -c "kill -STOP \\\$\\\$; sleep $mark" &
while :; do sleep $mark; done
SCRIPT
chmod 755 "$tmp/hangs.sh"
got=$(TEST_LIMIT=3 "$run" "$tmp/hangs.sh")
tap_is "a test that hangs is ended" 124 $?
tap_is "which is said" "Bail out! $tmp/hangs.sh: killed after its limit of 3 s" \
    "$(echo "$got" | tail -n 1)"
tap_empty "and nothing of it is left" "$(left)"

cat >"$tmp/slow.sh" <<SCRIPT
trap 'echo cleaned; exit 99' TERM
sleep $mark
SCRIPT
tap_is "one that heeds TERM can clean up" 1 \
    "$(TEST_LIMIT=3 "$run" sh "$tmp/slow.sh" | grep -c cleaned)"

# began: a test that says where its directory is and starts a process that
# leaves its session; $runs is who runs it.
began()
{
	rm -f "$tmp/place"
	"$run" sh -c "setsid sleep $mark & echo \$TMPDIR >$tmp/place.new
		mv $tmp/place.new $tmp/place; sleep $mark" >"$tmp/said" &
	runs=$!
	tap_until test -e "$tmp/place"
}

gone()
{
	! test -e "$(cat "$tmp/place")"
}

began
kill -TERM $runs
wait $runs
tap_is "who ends run ends the test" 143 $?
tap_is "which is said" 1 "$(grep -c 'ended by signal 15' "$tmp/said")"
tap_empty "with all that it started" "$(left)"

# Each of the two may be killed.
began
kill -KILL $runs
wait $runs 2>/dev/null
tap_empty "who kills run ends the test with all that it started" "$(left)"
tap_until gone
tap_is "and its directory is removed" 0 $?
began
kill -KILL "$(pgrep -P $runs)"
wait $runs
tap_is "its warden killed: it has a status" 137 $?
tap_empty "its warden killed: nothing is left" "$(left)"
rm -rf "$(cat "$tmp/place")"

# What automake makes of it.
driven()
{
	(
		cd "$tmp" || exit
		export TEST_LIMIT=3
		sh "$srcdir/build-aux/tap-driver.sh" --test-name hangs \
		    --log-file hangs.log --trs-file hangs.trs \
		    --color-tests no --enable-hard-errors yes \
		    --expect-failure no -- "$run" ./hangs.sh
	) >/dev/null 2>&1
	grep -E '^:(global-test-result|test-result)' "$tmp/hangs.trs"
	grep '^ERROR' "$tmp/hangs.log"
}
tap_is "automake takes it for an error" ':global-test-result: ERROR
:test-result: PASS
:test-result: ERROR
ERROR: hangs - Bail out! ./hangs.sh: killed after its limit of 3 s' \
    "$(driven)"
tap_done
