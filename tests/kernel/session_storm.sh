#!/bin/sh
# Sessions that are used hard, as TAP: many commands at a time, a keeper, process
# 1 or a joiner that is killed at any moment, a command with a thousand
# processes whose time is over, one that makes all it can.  Afterwards nothing is
# left, and the next command finds a session or makes one.
#
#	session_storm.sh [COMMANDS KILLS PROCESSES]

# Variables in what the sandbox's shell runs are that shell's.
# shellcheck disable=SC2016

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
commands=${1-$(tap_rounds 800)} kills=${2-$(tap_rounds 120)}
many=${3-$(tap_rounds 1000)}
# Tests run beside each other: this user has a number of processes of its own.
ORDINARY=$(tap_user)

tap_begin /var/tmp
base=$tmp
# shellcheck source=tests/lib/session.sh
. "$srcdir/tests/lib/session.sh"
tap_programs "$SBXRUN" "$SBXC" "$builddir/tests/kernel/siege"
mkdir "$base/shut"
cp "$(command -v sleep)" "$(command -v bash)" "$base/shut"
chmod 711 "$base/shut/sleep" "$base/shut/bash"
# policy NAME STATEMENTS
policy()
{
	printf 'sbx 1\nprofile %s extends workspace-write {\n%s\n}\n' "$1" "$2" |
	    "$SBXC" - -o "$base/$1.bin" || exit 99
}
policy storm 'limit timeout none'
# Long enough for so many to be started on a busy machine.
policy brief 'limit timeout 8s
    limit processes 4000'
policy shut "limit timeout 2s
    allow exec $base/shut"
policy few 'limit timeout 5s
    limit processes 64'

is()
{
	tap_is "uid $uid: $1" "$2" "$3"
}

descriptors()
{
	find "/proc/$1/fd" -mindepth 1 2>/dev/null | grep -c .
}

commands()
{
	policy=$base/storm.bin
	cat >"$base/join" <<'JOIN'
#!/bin/sh
"$1" --session "$3" "$2" -- sh -c 'echo x >>/tmp/count' || echo "status $?"
JOIN
	chmod 755 "$base/join"
	is 'eight make one session' '' "$(seq 8 | as xargs -P 8 -I {} \
	    "$base/join" "$base/sbxrun" "$policy" "${own}storm" 2>&1)"
	is 'which is one' '1 8' "$(as "$base/sbxrun" --sessions --json |
	    grep -o '"name":"[^"]*"' | grep -c "${own}storm") $(
	    in_session storm 'grep -c x /tmp/count; : >/tmp/count')"
	keeper=$(session_keeper storm)
	# Of what ended since it was last asked, the keeper has descriptors still.
	before=
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		session_keeper storm >/dev/null
		sleep 0.2
		last=$before before=$(descriptors "$keeper")
		[ "$before" != "$last" ] || break
	done
	is "$commands commands, eight at a time" '' "$(seq "$commands" |
	    as xargs -P 8 -I {} "$base/join" "$base/sbxrun" "$policy" \
	    "${own}storm" 2>&1)"
	is 'each of them ran' "$commands" \
	    "$(in_session storm 'grep -c x /tmp/count')"
	is 'the keeper is who it was' "$keeper" "$(session_keeper storm)"
	tap_until as_before
	is 'with as many descriptors' "$before" "$(descriptors "$keeper")"
	is 'nothing runs inside' '1 2' "$(in_session storm \
	    'cd /proc; echo [0-9]*' | tr ' ' '\n' | sort -n | head -n 1) $(
	    in_session storm 'ls -d /proc/[0-9]*' | grep -c .)"
	session_end storm
	is 'nothing is left' '' "$(session_left)"
}

as_before()
{
	session_keeper storm
	[ "$(descriptors "$keeper")" = "$before" ]
}

# One of sbxrun's processes, at random.
victim()
{
	for exe in /proc/[0-9]*/exe; do
		[ "$(readlink "$exe" 2>/dev/null)" != "$base/sbxrun" ] ||
			echo "$exe"
	done | sort -R | head -n 1 | cut -d / -f 3
}

killed()
{
	policy=$base/storm.bin
	round=0 wrong=''
	while [ $round -lt "$kills" ]; do
		round=$((round + 1))
		in_session kills 'sleep 4711 >/dev/null 2>&1 & sleep 0.05' \
		    >/dev/null 2>&1 &
		in_session kills 'sleep 4711' >/dev/null 2>&1 &
		sleep "0.0$((round % 10))"
		pid=$(victim)
		[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null
		# While the session ends, it is refused.
		for _ in $(seq 100); do
			said=$(in_session kills 'echo well' 2>&1)
			[ "$said" != well ] || break
			sleep 0.1
		done
		[ "$said" = well ] || wrong="$wrong
$round: $said"
		session_end kills >/dev/null 2>&1
		wait
	done
	is "$kills times something is killed, and the next command runs" '' \
	    "$wrong"
	session_end kills >/dev/null 2>&1
	is 'nothing is left of that' '' "$(session_left)"
}

# A thousand processes that do what they can to stay; 20 of another command.
ended()
{
	policy=$base/brief.bin
	# What makes the session says what the others have.
	in_session ended true
	session_options='--limit timeout=none'
	in_session ended 'for i in $(seq 20); do
	    setsid sleep 815 >/dev/null 2>&1 & done; echo $$ >/tmp/first'
	session_options=
	begin=$(date +%s)
	as "$base/sbxrun" --session "${own}ended" "$policy" -- perl -MPOSIX -e '
	    $SIG{TERM} = $SIG{HUP} = $SIG{INT} = "IGNORE";
	    for my $i (1 .. $ARGV[0]) {
		my $pid = fork;
		next if $pid;
		last if !defined $pid;
		setsid if $i % 4 == 0;
		(fork and POSIX::_exit(0)), setsid if $i % 4 == 1;
		open STDOUT, ">>", "/tmp/many"; syswrite STDOUT, "x\n";
		kill STOP => $$ if $i % 4 == 2;
		sleep 816 while 1;
	    }
	    sleep 816 while 1' "$many" >/dev/null 2>"$base/said"
	is "the time of $many processes is over" 124 $?
	sed 's/^/# /' "$base/said"
	is 'soon' 1 $(($(date +%s) - begin < 300))
	session_options='--limit timeout=none'
	# As many as the machine has made in that time.
	count=$(in_session ended 'grep -c x /tmp/many')
	is 'there were many' 1 $((count * 10 >= many))
	echo "# $count of $many"
	is 'none of them is left' 0 "$(in_session ended 'pgrep -c perl')"
	is 'those of the other command are' 20 \
	    "$(in_session ended 'pgrep -xc sleep')"
	session_options=
	session_end ended
	is 'nothing is left after that' '' "$(session_left)"
}

# The kernel lets an ordinary user look into no program that may be executed and
# not read: by its namespaces a process of one cannot be told.
unreadable()
{
	policy=$base/shut.bin
	begin=$(date +%s)
	as mkfifo fifo
	as "$base/sbxrun" --session "${own}shut" "$policy" -- sh -c \
	    '(setsid "$1/shut/sleep" 4713 &) ; "$1/shut/sleep" 4713' sh \
	    "$base" >/dev/null 2>"$base/said"
	is 'a program that cannot be read: its time is over' 124 $?
	sed 's/^/# /' "$base/said"
	is 'soon too' 1 $(($(date +%s) - begin < 300))
	is 'and nothing is left, or that is said' '' "$(
	    pgrep -xf "$base/shut/sleep 4713" >/dev/null &&
	    ! grep -q 'not all' "$base/said" && echo left)"
	begin=$(date +%s)
	as "$base/sbxrun" --session "${own}shut" "$policy" -- \
	    "$base/shut/bash" -c 'trap "" TERM; while :; do read -r _ <>fifo
		done' >/dev/null 2>&1
	is 'one that ignores SIGTERM: its time is over' 124 $?
	is 'then, too' 1 $(($(date +%s) - begin < 300))
	session_end shut
	is 'nothing is left of it after the end' '' "$(session_left)"
}

bomb()
{
	policy=$base/few.bin
	in_session bomb 'echo here >/tmp/note'
	as "$base/sbxrun" --session "${own}bomb" "$policy" -- ./siege \
	    fill 100 >/dev/null 2>&1 &
	sleep 1
	# There may be no room for it; then that is said, in time.
	said=$(as timeout 300 "$base/sbxrun" --session "${own}bomb" -- true 2>&1)
	code=$?
	is 'a full table of processes is no hang' 1 \
	    $((code == 0 || code == 125))
	[ $code -eq 0 ] || is 'and it is said' 1 "$(printf '%s' "$said" |
	    grep -c '^sbxrun: ')"
	wait
	# What was killed has its number until process 1 has seen its end.
	for _ in $(seq 40); do
		said=$(in_session bomb 'cat /tmp/note' 2>&1) && break
		sleep 0.25
	done
	is 'when its time is over there is room again' here "$said"
	session_end bomb
	is 'nothing is left of the bomb' '' "$(session_left)"
}

check_user()
{
	session_user "$1"
	cp "$base/siege" "$ws/siege"
	commands
	killed
	ended
	unreadable
	bomb
}

if session_here; then
	[ "$(id -u)" -ne 0 ] || check_user $ORDINARY
	# The short form is for one user.
	if [ "$(id -u)" -ne 0 ] || ! tap_short; then
		check_user "$(id -u)"
	fi
fi
tap_done
