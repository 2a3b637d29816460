#!/bin/sh
# Limits that hold, and the lines that say which of them was reached, as TAP: at
# levels standard and full, as this user and, started by root, as an ordinary one
# too.  Control groups have a test of their own.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

tap_begin /var/tmp
base=$tmp home=$tmp/home
tap_programs "$SBXRUN" "$SBXC"

policy few workspace-write 'limit processes 20' 'limit timeout 300s'
policy more workspace-write 'limit processes 600' 'limit timeout 300s'
policy many workspace-write 'limit processes none' 'limit timeout 300s'
policy brief workspace-write 'limit timeout 1s' 'limit file-size 64KiB' \
    'limit cpu-time 1s'
cat >"$base/inner.sbx" <<'POLICY'
sbx 1
profile inner {
    require level standard
    allow exec { /usr  /bin  /lib  /lib64 }
    allow write { ${workspace}  /dev/null }
    allow env PATH
    limit processes 20
    limit timeout 300s
}
POLICY
"$SBXC" "$base/inner.sbx" -o "$base/inner.bin" || exit 99
policy written workspace-write 'limit processes 20' 'limit timeout 300s' \
    'allow write /proc'

# run ARGUMENT...: sbxrun as $uid at $level, in a workspace of that user's; by
# the command $by, if there is one.
run()
{
	# shellcheck disable=SC2086  # words
	(cd "$base/$uid" && as "$uid" ${by-} "$base/sbxrun" -l "$level" "$@")
}

# is NAME WANTED GOT
is()
{
	tap_is "$level: uid $uid: $1" "$2" "$3"
}

# --- processes ----------------------------------------------------------------

# Prints how many children there can be at once, 900 at most.
# shellcheck disable=SC2016  # perl's
forks='my ($count, @all) = 0;
    while ($count < 900 && defined(my $child = fork)) {
	if (!$child) { sleep 600; exit }
	push @all, $child;
	$count++;
    }
    kill "KILL", @all;
    print "$count\n"'
threads='import threading
count = 0
end = threading.Event()
try:
    while count < 900:
        threading.Thread(target=end.wait, daemon=True).start()
        count += 1
except RuntimeError:
    pass
end.set()
print(count)'

# between NAME LEAST MOST GOT
between()
{
	if [ "${4:-0}" -ge "$2" ] && [ "$4" -le "$3" ]; then
		tap_ok "$level: uid $uid: $1: $4"
	else
		tap_not_ok "$level: uid $uid: $1" \
		    "wanted $2 to $3, got ${4:-nothing}"
	fi
}

# by POLICY: who holds the limit on processes.
by()
{
	run -n "$base/$1.bin" | sed -n 's/^limit processes .* -- \(.*\)  \[.*/\1/p'
}

# Root, where neither a user namespace nor a control group counts: the number of
# the process namespace is the limit, and the command cannot change it.
by_number()
{
	number=/proc/sys/kernel/pid_max
	outer=$(cat $number)
	is 'who holds processes' \
	    'pid_max, of the sandbox' "$(by few)"
	between 'processes' 18 20 "$(run "$base/few.bin" -- perl -e "$forks")"
	# When the numbers have come round, the shell and perl are two.
	# shellcheck disable=SC2016  # for the inner shell
	between 'processes, after many' 18 20 "$(run "$base/few.bin" -- sh -c \
	    'for i in $(seq 700); do /bin/true; done; exec perl -e "$0"' \
	    "$forks")"
	is 'the number inside' 320 "$(run "$base/few.bin" -- cat $number)"
	run "$base/few.bin" -c "echo 100000 >$number" 2>/dev/null
	is 'it cannot be written' 1 "$(($? != 0))"
	is 'and that is said where it can' 'NOT ENFORCED for root' \
	    "$(by written)"
	is 'the number outside' "$outer" "$(cat $number)"
	is 'a plan names it' 1 "$(run -n --json "$base/few.bin" |
	    grep -c '"namespaces",.*"pid_max"\]')"
}

# enough COMMAND...: $got is how many it could start.  What others of this user
# start meanwhile takes of that, which is tried again then.
enough()
{
	got=$(run "$base/few.bin" -- "$@")
	[ "$got" -ge 18 ]
}

# An ordinary user's are counted with all others of that user: the limit is added
# to these, whether they are few or many.
by_user()
{
	tap_until enough perl -e "$forks"
	between 'processes' 18 $((20 + 10 + tasks / 2)) "$got"
	between 'processes, of a higher limit' 598 $((600 + 10 + tasks / 2)) \
	    "$(run "$base/more.bin" -- perl -e "$forks")"
	tap_as "$uid" perl -e 'for (1 .. 200) {
		push @all, fork || exec "sleep", 600; }
	    print "\n"; close STDOUT;
	    select undef, undef, undef, 0.1 while -e $ARGV[0];
	    kill "KILL", @all' "$base/many" >"$base/many" &
	tap_until test -s "$base/many"
	tap_until enough perl -e "$forks"
	between 'processes, beside many' 18 $((20 + 10 + (tasks + 200) / 4)) \
	    "$got"
	rm "$base/many"
	wait $!
}

processes()
{
	# All tasks of the machine, and those of other tests that begin now.
	tasks=$(sed 's|.*/\([0-9]*\) .*|\1|' /proc/loadavg)
	tasks=$((tasks + 50))
	between 'processes, without a limit' 900 900 \
	    "$(run "$base/many.bin" -- perl -e "$forks")"
	case $level-$(by few) in
	full-pid_max*) by_number ;;
	*NOT\ ENFORCED*)
		echo "# $level: uid $uid: nothing limits the processes of root"
		return ;;
	full-*) between 'processes' 18 20 \
	    "$(run "$base/few.bin" -- perl -e "$forks")"
		# Those of the command, and process 1.
		is 'processes, to the number' 21 "$(run "$base/few.bin" -- \
		    sed -n 's/^Max processes *\([0-9]*\) .*/\1/p' \
		    /proc/self/limits)" ;;
	*) by_user ;;
	esac
	[ -x /usr/bin/python3 ] || return
	tap_until enough /usr/bin/python3 -c "$threads"
	between 'threads' 18 $((20 + 320 + tasks)) "$got"
}

# Root of a user namespace is an ordinary user outside, whose processes the
# kernel counts; the plan says so, and the limit holds.
another_root()
{
	# shellcheck disable=SC2016  # for the inner shell
	(cd "$base/$uid" && tap_as "$uid" env -i PATH="$PATH" HOME="$base/home" \
	    unshare -Ur sh -c 'blob=$1; shift; cat "$blob" | exec "$@"' sh \
	    "$base/inner.bin" "$base/sbxrun" -v -l "$level" /dev/stdin -- \
	    perl -e "$forks") >"$base/plan" 2>"$base/said"
	case $level in
	full) how='pid_max, of the sandbox' ;;
	*) how='rlimit, beside what the user runs' ;;
	esac
	is "another's root: who holds processes" 1 \
	    "$(grep -c "processes by $how" "$base/said")"
	between "another's root: processes" 18 $((320 + tasks)) \
	    "$(cat "$base/plan")"
}

# --- open files ---------------------------------------------------------------

# Both limits are set, so the command cannot raise its own.
open_files()
{
	is 'open files' '64 64 ' "$(run --limit open-files=64 \
	    "$base/few.bin" -c 'ulimit -Sn; ulimit -Hn' | tr '\n' ' ')"
	run --limit open-files=64 "$base/few.bin" \
	    -c 'ulimit -n 65' 2>/dev/null
	is 'and they cannot be raised' 1 "$(($? != 0))"
	is 'the lower limit of the caller stays' '32 48 ' \
	    "$(by='prlimit --nofile=32:48' run --limit open-files=64 \
	    "$base/few.bin" -c 'ulimit -Sn; ulimit -Hn' | tr '\n' ' ')"
}

# The others, each by its own name, soft and hard.  To have any of a core may take
# root; who uses up the time of a processor is told so a second before the end.
resources()
{
	by='' wanted='' what=''
	if [ "$uid" -eq 0 ] && prlimit --core=unlimited true 2>/dev/null; then
		# A sanitizer has its own idea of cores.
		by='env ASAN_OPTIONS=disable_coredump=0 prlimit --core=unlimited'
		what='core file size|'
		wanted='Max core file size 1048576 1048576 bytes '
	fi
	is 'a limit of each kind' "Max cpu time 7 8 seconds $(:
	    )Max file size 8192 8192 bytes $(:
	    )Max stack size 4194304 4194304 bytes ${wanted}$(:
	    )Max address space 4294967296 4294967296 bytes " \
	    "$(run --limit cpu-time=7s --limit file-size=8KiB \
	    --limit stack=4MiB --limit core=1MiB --limit memory=4GiB \
	    "$base/few.bin" -- sed -nE "/^Max (cpu time|file size|stack size|$what$(:
	    )address space) / { s/  +/ /g; s/ \$//; p }" /proc/self/limits | tr '\n' ' ')"
	if [ -n "$by" ]; then
		# A program that core_pattern names is not started at 1 alone.
		is 'no core' 'Max core file size 1 1 bytes  ' "$(run \
		    "$base/few.bin" -- sed -nE "/^Max core file size/ {
			s/  +/ /g; p }" /proc/self/limits | tr '\n' ' ')"
	fi
	by=''
	! tap_sanitized || return 0 # which needs terabytes of addresses
	# shellcheck disable=SC3045  # a shell that lacks it limits nothing
	(ulimit -v 30000 && run "$base/few.bin" -- true) >"$base/said" 2>&1
	is 'little memory for sbxrun' "125 1" \
	    "$? $(grep -c '^sbxrun: .*memory' "$base/said")"
}

# --- what is said ---------------------------------------------------------------

# says NAME STATUS LINE SBXRUN-ARGUMENT...: sbxrun says that, and no more.
says()
{
	says_name=$1 says_status=$2 says_line=$3
	shift 3
	(run "$@" >/dev/null 2>"$base/said"; exit $?) 2>/dev/null
	is "$says_name" "$says_status sbxrun: $says_line" \
	    "$? $(grep ^sbxrun: "$base/said")"
}

messages()
{
	says 'the end of the time' 124 'brief.sbx:3:11: limit timeout 1s: the command is ended; --limit timeout=none lifts it' \
	    "$base/brief.bin" -- sleep 600
	says 'a file that is too large' 153 'brief.sbx:4:11: limit file-size 64KiB: the command wrote more to a file and got SIGXFSZ; --limit file-size=none lifts it' \
	    --limit timeout=300s "$base/brief.bin" -- \
	    dd if=/dev/zero of=large bs=4k count=20 status=none
	says 'too much time of a processor' 152 'brief.sbx:5:11: limit cpu-time 1s: the command needed more and got SIGXCPU; --limit cpu-time=none lifts it' \
	    --limit timeout=300s "$base/brief.bin" -- perl -e '1 while 1'
	says 'a limit of the command line' 124 'command line: limit timeout 1s: the command is ended; --limit timeout=none lifts it' \
	    --limit timeout=1s "$base/few.bin" -- sleep 600
	(by='prlimit --fsize=4096' run --limit timeout=300s "$base/brief.bin" -- \
	    dd if=/dev/zero of=large bs=4k count=20 status=none) \
	    2>"$base/said"
	is "nothing is said of the caller's own limit" 0 \
	    "$(grep -c '^sbxrun: .*limit' "$base/said")"
}

# --- the command line -----------------------------------------------------------

overrides()
{
	run --limit timeout=none --limit output=2KiB --limit core=1MiB \
	    -n "$base/brief.bin" >"$base/plan" 2>/dev/null
	is 'a plan has what the command line says' \
	    'limit timeout none  -- lifted  [command line]' \
	    "$(grep '^limit timeout' "$base/plan")"
	is 'a plan has its source' 2 \
	    "$(grep -c '^limit \(output 2048\|core 1048576\) .*\[command line\]' \
	    "$base/plan")"
	is 'and what the policy says' 1 \
	    "$(grep -c '^limit cpu-time 1  .*\[brief.sbx:5:11\]' "$base/plan")"
	is 'so has -v' 1 "$(run -v --limit timeout=none --limit output=2KiB \
	    "$base/brief.bin" -- true 2>&1 | grep -c \
	    'limit output 2KiB \[command line\], limit timeout none \[command line\]')"
	rm -f "$base/$uid/log"
	run --status-fd 7 --limit timeout=none --limit output=3KiB \
	    "$base/brief.bin" -- seq 9000 2>/dev/null >"$base/plan" \
	    7>"$base/$uid/log"
	is 'and the receipt' 1 "$(grep -c \
	    '"limit":"output","value":3072,[^}]*"source":"command line"}.*{"limit":"timeout","value":null,"by":"lifted","source":"command line"}' \
	    "$base/$uid/log")"
	is 'a limit that is raised holds' 3264 \
	    "$(run --limit output=3KiB "$base/few.bin" -- seq 9000 2>/dev/null |
	    wc -c)"
	is 'a limit that is lifted does not' 1288902 \
	    "$(run --limit output=none "$base/few.bin" -- seq 200001 \
	    2>/dev/null | wc -c)"
	is 'the last one counts' 7 "$(run --limit processes=9 \
	    --limit processes=none --limit open-files=20 \
	    --limit open-files=17 "$base/few.bin" -c 'ulimit -n' |
	    sed 's/^17$/7/')"
}

# What is no limit is refused, and the command not started.
refusals()
{
	wrong=''
	for word in timeout timeout= =5s timeout=5 timeout=0s timeout=-1s \
	    timeout=5d timeout=+5s 'timeout= 5s' 'timeout=5s,' time=5s \
	    output=1MB output=1mib memory=1KiB open-files=15 processes=0 \
	    processes=5s processes=1e3 memory=9999999TiB stack=0 Timeout=5s \
	    memory=99999999999999999999B timeout=nonesuch; do
		text=$(run --limit "$word" "$base/few.bin" -- echo in 2>&1)
		status=$?
		[ $status -eq 125 ] && [ "$(echo "$text" | wc -l)" -eq 1 ] ||
		    wrong="$wrong $word: $status $text"
	done
	is 'what is no limit' '' "$wrong"
	is 'zero without a unit' in \
	    "$(run --limit core=0 "$base/few.bin" -- echo in)"
}

check_all()
{
	uid=$1
	mkdir -p "$base/$uid"
	[ "$uid" -eq "$(id -u)" ] || chown "$uid:$uid" "$base/$uid"
	tap_levels standard full
	for level in $levels; do
		processes
		if [ "$uid" -ne 0 ] && unshare -Ur true 2>/dev/null; then
			another_root
		fi
		open_files
		resources
		messages
		overrides
		refusals
	done
}

check_all "$(id -u)"
! tap_twice || check_all "$(tap_user)"
tap_done
