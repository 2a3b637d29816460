#!/bin/sh
# Timeouts, output caps, statuses and ends of supervised commands, as TAP: at
# each level, as this user and, started by root, as an ordinary one too; in the
# short form at the highest level, as this user.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

tap_begin
base=$tmp
tap_programs "$SBXRUN"
# Without a limit on processes: below full it counts those of all tests that run
# as this user, and a shell that cannot fork ends.
cat >"$base/limited.sbx" <<'POLICY'
sbx 1
profile limited extends workspace-write {
    limit timeout 1s
    limit output 1MiB
    limit processes none
}
profile heeded extends workspace-write {
    limit timeout 3s
    limit output 64KiB
    limit processes none
}
profile capped extends workspace-write {
    limit timeout none
    limit output 64KiB
    limit processes none
}
profile lasting extends workspace-write {
    limit timeout 300s
    limit output 64KiB
    limit processes none
}
profile patient extends workspace-write {
    limit timeout 300s
    limit output 64KiB
    limit processes none
}
POLICY
for profile in limited heeded capped lasting patient; do
	"$SBXC" "$base/limited.sbx" -p $profile -o "$base/$profile.bin" ||
		exit 99
done

# shellcheck disable=SC2016  # perl's
echo 'system @ARGV; print $? >> 7 & 1' >"$base/dumps.pl"
# shellcheck disable=SC2016
echo '$SIG{TERM} = "IGNORE"; system @ARGV; print $? & 127' >"$base/ignores.pl"

# launch POLICY WORD...: as $uid, at $level, in $base/$uid, in place of this
# shell; by the command $by, if there is one.
launch()
{
	run_policy=$1
	shift
	if [ "$uid" -eq "$(id -u)" ]; then
		set -- "$base/sbxrun" -w . -l "$level" "$base/$run_policy.bin" \
		    -- "$@"
	else
		set -- setpriv --reuid="$uid" --regid="$uid" --clear-groups \
		    "$base/sbxrun" -w . -l "$level" "$base/$run_policy.bin" -- "$@"
	fi
	HOME=$base/$uid
	export HOME
	# shellcheck disable=SC2086  # words
	cd "$base/$uid" && exec ${by-} "$@"
}

run()
{
	(launch "$@")
}

# is NAME WANTED GOT
is()
{
	tap_is "$level: uid $uid: $1" "$2" "$3"
}

gone()
{
	! pgrep -f "$1"
}

# nobody NAME MARK: no process is left whose command line has the mark.
nobody()
{
	tap_until gone "$2"
	is "$1" '' "$(pgrep -f "$2")"
}

# begin WORD...: launches a command in the background, as $job, and waits until
# it prints `ready`, which then is what $base/got begins with.
begin()
{
	: >"$base/got"
	launch "$@" >"$base/got" &
	job=$!
	tap_until grep -qx ready "$base/got"
}

# dumps WORD... sh: whether that shell, or who repeats its death, dumps core where
# the caller wants that.
dumps()
{
	# shellcheck disable=SC2016,SC3045  # a shell that lacks it dumps none
	(cd "$base/$uid" && ulimit -c unlimited &&
	    by="perl $base/dumps.pl" && if [ "$1" = launch ]; then
		"$@" -c 'kill -SEGV $$'
	    else
		exec $by "$@" -c 'kill -SEGV $$'
	    fi) 2>/dev/null
}

# As in a container, where no signal of its own ends it.
as_first()
{
	first='unshare --pid --fork --mount-proc'
	if ! $first true 2>/dev/null; then
		tap_lacks "$level: uid $uid: as process 1" 'nobody can be it'
		return
	fi
	# shellcheck disable=SC2016
	(by=$first && run lasting sh -c 'kill -TERM $$') 2>/dev/null
	is 'death by TERM, where sbxrun is process 1' 143 $?
}

# What the shell says when it loses a job is not wanted: hence the subshells.
statuses()
{
	for code in 0 1 7 124 255; do
		run lasting sh -c "exit $code"
		is "status $code" $code $?
	done
	for signal in KILL TERM INT SEGV PIPE; do
		# A shell cannot take back that it was told to ignore INT.
		# shellcheck disable=SC2016
		(run lasting perl -e '$SIG{$ARGV[0]} = "DEFAULT";
		    kill $ARGV[0], $$; sleep 300' $signal; exit $?) 2>/dev/null
		is "death by $signal" $signal "$(kill -l $?)"
	done
	# shellcheck disable=SC2016
	is 'death by TERM, which the caller ignores' 15 "$(
	    by="perl $base/ignores.pl"
	    run lasting perl -e '$SIG{TERM} = "DEFAULT"; kill "TERM", $$;
		sleep 300')"
	as_first
	if [ "$(dumps sh)" = 1 ]; then
		is 'sbxrun dumps no core for the command' 0 \
		    "$(dumps launch lasting sh)"
	else
		tap_lacks "$level: uid $uid: a core" 'none is dumped here'
	fi
	run lasting no-such-command 2>/dev/null
	is 'no such command' 127 $?
	run lasting /etc/passwd 2>/dev/null
	is 'no command' 126 $?
}

# stops NAME SCRIPT: sbxrun stops along with it, and nobody lets it go on.
stops()
{
	launch limited sh -c "$2" >/dev/null 2>"$base/said" </dev/null &
	job=$!
	perl -e 'sleep 100; kill "KILL", @ARGV' $job >/dev/null 2>&1 &
	wait $job 2>/dev/null
	code=$?
	kill $! 2>/dev/null
	is "$1" 124 $code
	is "$1: it is said" 1 "$(grep -c 'timeout 1s: the command is ended' "$base/said")"
	nobody "$1: nothing is left" "sleep $mark"
}

timeouts()
{
	# A number of seconds that no other run has.
	mark=1000$$.1$uid${#level}
	text=$(run limited sleep "$mark" 2>&1)
	is 'a timeout' 124 $?
	is 'it is said' 'sbxrun: limited.sbx:3:11: limit timeout 1s: the command is ended; --limit timeout=none lifts it' \
	    "$(printf '%s' "$text" | grep -v warning)"
	# A second may be over before the shell has set its trap.
	is 'who heeds TERM' 'heeds 124' "$(run heeded sh -c \
	    "trap 'printf \"heeds \"; exit 3' TERM; sleep $mark & wait" \
		2>/dev/null
	    echo $?)"
	begun=$(date +%s%3N)
	run heeded sh -c "trap '' TERM HUP INT
		setsid sh -c 'trap \"\" TERM; sleep $mark & sleep $mark' &
		(setsid sleep $mark &)
		sleep $mark; sleep $mark" 2>/dev/null
	is 'who does not' 124 $?
	# A bound from above would be one for the machine.
	is 'has two more seconds' 1 $(($(date +%s%3N) - begun >= 5000))
	nobody 'nothing is left after a timeout' "sleep $mark"
	begin limited sh -c "echo ready; kill -STOP \$\$; sleep $mark" \
	    2>/dev/null </dev/null
	kill -CONT $job
	wait $job
	is 'who was stopped' 124 $?
	stops 'who stops itself' "sleep $mark & kill -STOP \$\$"
	stops 'who stops itself and does not heed TERM' \
	    "trap '' TERM; setsid sleep $mark & kill -STOP \$\$; sleep $mark"
	# More often than there is room for in a pipe, were each told.
	stops 'who stops itself on and on' "trap '' TERM
		(while :; do kill -STOP \$\$; kill -CONT \$\$; done) &
		while :; do sleep $mark; done"
	run lasting sh -c "sleep $mark & setsid sleep $mark & (sleep $mark &)"
	is 'background' 0 $?
	nobody 'nothing is left after the command' "sleep $mark"
	# Each forks the next and ends; the number is always a new one.
	run limited sh -c 'f() { f & }; f; sleep 60' "chain-$mark" 2>/dev/null
	is 'who runs away' 124 $?
	nobody 'nothing of it is left' "chain-$mark"
}

ended()
{
	! grep -q '^State:[[:space:]]*[^Z]' "/proc/$job/status"
}

without_children()
{
	! pgrep -P "$job"
}

# A pipe that is full, and that nobody reads, when the command has ended.
unread()
{
	# At standard nothing new can be made beside what is denied in a home.
	install -m 666 /dev/null "$base/$uid/wrote"
	rm -f "$base/full"
	mkfifo "$base/full"
	exec 9<>"$base/full"
	head -c 60000 /dev/zero >&9
	launch capped sh -c 'head -c 60000 /dev/zero; echo >wrote' >"$base/full" \
	    2>/dev/null 9>&- &
	job=$!
	tap_until [ -s "$base/$uid/wrote" ]
	tap_until without_children
	kill -TERM $job
	tap_until ended 2>/dev/null
	kill -KILL $job 2>/dev/null
	wait $job
	is 'a signal ends the wait for a reader' 0 $?
	exec 9>&-
}

# What is cut, and that there is exactly one line that says so.
outputs()
{
	is 'below the cap' 48894 "$(run lasting seq 10000 | wc -c)"
	is 'as much as the cap' 65536 \
	    "$(run lasting head -c 65536 /dev/zero | wc -c)"
	is 'a bit more is kept' "$(seq 13000 | cksum)" \
	    "$(run lasting seq 13000 | cksum)"
	seq 90000 >"$base/bare"
	is 'far more: its head and its tail' "$( (head -c 65536 "$base/bare"
	    tail -c 4096 "$base/bare") | cksum)" \
	    "$(run lasting seq 90000 2>"$base/said" | cksum)"
	is 'it is said' 'sbxrun: limited.sbx:19:11: limit output 64KiB: 459262 bytes of standard output are missing here, before its end; --limit output=none lifts it' \
	    "$(grep -v warning "$base/said")"
	is 'and where both are one, between them' 'sbxrun: 90000' \
	    "$(run lasting seq 90000 2>&1 | grep -v warning |
		sed -n '/missing here/s/ .*//p; $p' | tr '\n' ' ' |
		sed 's/ $//')"
	# A regular file is not cut: 3 MB, as bare.
	seq 450000 >"$base/bare"
	run lasting seq 450000 >"$base/file" 2>"$base/said"
	is 'into a file' "0 $(cksum <"$base/bare")" \
	    "$? $(cksum <"$base/file")"
	is 'nothing is said of it' 0 "$(grep -c missing "$base/said")"
	run lasting seq 450000 >>"$base/file" 2>/dev/null
	is 'appended to a file' "$(cat "$base/bare" "$base/bare" | cksum)" \
	    "$(cksum <"$base/file")"
	is 'both into a file' "$(cksum <"$base/bare")" \
	    "$(run lasting sh -c 'seq 450000 >&2' >"$base/file" 2>&1
		grep -v '^sbxrun: warning' "$base/file" | cksum)"
	is 'a file beside a pipe that is cut' "69632 $(cksum <"$base/bare")" \
	    "$(run lasting sh -c 'seq 90000; seq 450000 >&2' \
		2>"$base/file" | wc -c) $(grep -v sbxrun: "$base/file" |
		cksum)"
	is 'standard error' 1 "$(run lasting sh -c 'seq 90000 >&2' 2>&1 \
	    >/dev/null | grep -c 'of standard error are missing')"
	is 'the status stays' 7 \
	    "$(run lasting sh -c 'seq 90000; exit 7' >/dev/null 2>&1 | cat
	    run lasting sh -c 'seq 90000; exit 7' 2>&1 >"$base/file" | cat >&2
	    run lasting sh -c 'seq 90000; exit 7' >"$base/file" 2>/dev/null
	    echo $?)"
	# shellcheck disable=SC2016
	is 'two streams in one keep their order' 'o1 e1 o2 e2 o3 e3 ' \
	    "$(run lasting sh -c 'for i in 1 2 3; do
		echo o$i; echo e$i >&2; done' 2>&1 | grep -v warning | tr '\n' ' ')"
	is 'a reader who is gone' PIPE "$(
	    (run capped yes; echo $? >"$base/code") 2>/dev/null | head -n 1 \
		>/dev/null
	    kill -l "$(cat "$base/code")")"
	is 'a reader who is gone beyond the cap' PIPE "$(
	    (run patient yes; echo $? >"$base/code") 2>/dev/null |
		head -c 65536 >/dev/null
	    kill -l "$(cat "$base/code")")"
	is 'a slow reader' 20000 "$(run capped seq 10000 20000 |
	    (sleep 0.3; tail -n 1))"
	: >"$base/code"
	is 'no reader at all, and a timeout' 124 "$(
	    (run limited yes; echo $? >"$base/code") 2>/dev/null |
		while [ ! -s "$base/code" ]; do sleep 0.2; done
	    cat "$base/code")"
	unread
	run lasting echo >&- 2>/dev/null
	is 'no output at all' 1 $?
	is 'no input at all' hi "$(run lasting echo hi <&-)"
	is 'what it has open' '0 1 2 3 ' "$(run lasting sh -c \
	    'ls /proc/self/fd' 2>/dev/null | tr '\n' ' ')"
}

signals()
{
	mark=1000$$.2$uid${#level}
	for signal in TERM HUP USR1 USR2 WINCH; do
		begin capped sh -c "trap 'echo got; exit 5' $signal; echo ready
			while :; do sleep 0.05; done" 2>/dev/null
		kill -$signal $job
		wait $job
		is "$signal is handed on" '5 ready got' \
		    "$? $(tr '\n' ' ' <"$base/got" | sed 's/ $//')"
	done
	(begin capped sh -c "setsid sleep $mark & (sleep $mark &)
		echo ready; sleep $mark"
	kill -KILL $job
	wait $job) 2>/dev/null
	nobody 'killing sbxrun kills all' "sleep $mark"
}

# The first process, which is the parent of the command, from inside; it has
# what it needs open, which only root may see.  At minimal nothing keeps signals
# inside, and there it is enough to ask whether one would come.
reach()
{
	signals='STOP KILL TERM 0' reached=''
	[ "$level" != minimal ] || signals=0 reached='signal 0 '
	# A shell's pid is another one inside.
	# shellcheck disable=SC2016
	text=$(run capped sh -c 'for signal in '"$signals"'; do
		kill -$signal $PPID && echo signal $signal; done
	    prlimit --pid $PPID --nofile=3:3 && echo limit
	    cat /proc/$PPID/environ && echo environment
	    readlink /proc/$PPID/exe && echo program
	    (: <>/proc/$PPID/mem) && echo memory
	    readlink /proc/$PPID/fd/* | grep -q . && echo descriptor
	    echo end' 2>/dev/null | tr '\n' ' ')
	is 'the first process is out of reach' "${reached}end " "$text"
	if [ "$(id -u)" -ne 0 ]; then
		tap_lacks "$level: the first process has little open" \
		    'only root sees it'
		return
	fi
	begin capped sh -c 'echo ready; sleep 300' 2>/dev/null
	first=$(pgrep -P $job)
	case $level in
	full) wanted=2 ;;
	*) wanted=3 ;; # and its children's list
	esac
	is 'the first process has little open' $wanted \
	    "$(find "/proc/$first/fd" -mindepth 1 | wc -l)"
	kill -KILL $job
	wait $job
}

# Where neither Landlock nor namespaces keep the command from it.
alone()
{
	mark=1000$$.3$uid${#level}
	# shellcheck disable=SC2016
	is 'nothing of the first process can be seen' 'end ' \
	    "$(run capped sh -c 'cat /proc/$PPID/environ && echo environment
		readlink /proc/$PPID/exe && echo program
		(: <>/proc/$PPID/mem) && echo memory
		readlink /proc/$PPID/fd/* | grep -q . && echo descriptor
		echo end' 2>/dev/null | tr '\n' ' ')"
	# shellcheck disable=SC2016
	begin capped sh -c 'trap "exit 5" USR1; trap "exit 6" USR2
		kill -USR1 $PPID; echo ready; while :; do sleep 0.05; done' \
	    2>/dev/null
	kill -USR2 $job
	wait $job
	is 'what is sent to it from inside stays there' 6 $?
	(begin capped sh -c "echo ready; exec sleep $mark" 2>/dev/null
	kill -KILL "$(pgrep -P $job)"
	wait $job) 2>/dev/null
	nobody 'killing it ends the command' "sleep $mark"
	is 'no signal is too soon for the command' '' "$(
	    for i in $(seq "$(tap_rounds 300)"); do
		(at_once) 2>/dev/null
		status=$?
		[ $status -eq 5 ] || echo "$i: $status"
	    done)"
}

# What the command sends sbxrun at once is handed on, on one processor too, where
# the command may run before sbxrun does.
at_once()
{
	by="taskset -c $(sed -n \
	    's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)"
	# shellcheck disable=SC2016
	launch capped sh -c 'trap "exit 5" TERM
		read -r _ _ _ sbxrun _ </proc/$PPID/stat
		kill -TERM $sbxrun; while :; do sleep 0.05; done'
}

# The kernel continues the processes of a job in an order of its own, so the
# command must go on each time.
continues()
{
	is 'a job goes on each time it is continued' "$rounds" "$(
		by="perl $srcdir/tests/kernel/continue.pl $rounds"
		run capped)"
}

rounds=$(tap_rounds 200)
check_all()
{
	uid=$1
	mkdir -p "$base/$uid"
	[ "$uid" -eq "$(id -u)" ] || chown "$uid:$uid" "$base/$uid"
	tap_levels minimal standard full
	! tap_short || levels=${levels##* }
	for level in $levels; do
		statuses
		timeouts
		outputs
		signals
		continues
		reach
	done 2>"$base/stderr"
	level=minimal
	alone 2>>"$base/stderr"
	[ ! -s "$base/stderr" ] || sed 's/^/# /' "$base/stderr"
}

check_all "$(id -u)"
[ "$(id -u)" -ne 0 ] || tap_short || check_all "$(tap_user)"
tap_done
