#!/bin/sh
# Sessions: a sandbox that is kept, and the commands that join it, as TAP.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

tap_begin
base=$tmp
tap_programs "$SBXRUN" "$SBXC"
cat >"$base/plain.sbx" <<'POLICY'
sbx 1
profile plain extends workspace-write {
    deny read ${workspace}/secret
    deny write ${workspace}/kept
    limit open-files 99
}
POLICY
cat >"$base/other.sbx" <<'POLICY'
sbx 1
profile other extends read-only {
}
POLICY
for name in plain other; do
	"$SBXC" "$base/$name.sbx" -o "$base/$name.bin" || exit 99
done
mkdir -p "$base/w/secret" "$base/elsewhere"
echo data >"$base/w/kept"
cd "$base/w" || exit 99
if ! "$base/sbxrun" -l full "$base/plain.bin" -- true 2>/dev/null; then
	tap_skip 'sessions' 'no level full here'
	tap_done
	exit
fi

# Nobody else has this name, not even a run that was killed and left its session.
s=test-${tmp##*-}
run()
{
	timeout 300 "$base/sbxrun" --session "$s" "$@" 2>"$base/err"
}

# refused NAME TEXT ARG...: with 125, a line that has the text, and no command.
refused()
{
	name=$1 text=$2
	shift 2
	rm -f ran
	run "$@" -- touch ran
	status=$?
	tap_is "$name is refused" 125 "$status"
	grep -q -- "$text" "$base/err" && [ ! -e ran ]
	tap_is "$name: one line says it" "0 1" "$? $(wc -l <"$base/err")"
}

end_all()
{
	for s in "$mine" "$mine-b" "$mine-t"; do
		run --end
	done
}
mine=$s
tap_at_end=end_all

refused 'a session that is not there, without a policy' 'no such session'
run --check
tap_is 'there is none yet' 1 $?
tap_is 'the first command makes it' 'made' \
    "$(run "$base/plain.bin" -- sh -c 'echo made; echo kept >/tmp/file')"
run --check >/dev/null
tap_is 'it is there' 0 $?
tap_is 'the next one sees its files' kept "$(run -- cat /tmp/file)"
tap_is 'with its policy named too' kept \
    "$(run "$base/plain.bin" -- cat /tmp/file)"
tap_is 'it is told which session it is in' "$s" "$(run -- printenv SBX_SESSION)"
run -- sh -c 'exit 7'
tap_is 'the status is that of the command' 7 $?
run -- sh -c 'kill -9 $$'
tap_is 'and so is the signal' 137 $?
run -- no-such-command
tap_is 'a command that is not there' 127 $?
# shellcheck disable=SC2016  # perl's
tap_is 'what the caller ignores the command ignores' ignored "$(perl -e '
	$SIG{CHLD} = "IGNORE"; exec @ARGV' "$base/sbxrun" --session "$s" -- \
    sed -n 's/^SigIgn:.*1....$/ignored/p' /proc/self/status)"
# has TEXT: what is said of the session, soon: who passes on what a command writes
# ends after it.
has()
{
	run --check | grep -q "$1"
}
tap_until has 'commands: 0'
tap_is 'the list says what it is' \
    "$s: $base/plain.bin, in $base/w, process 1 is N, commands: 0" \
    "$("$base/sbxrun" --sessions | sed -n "/^$s:/{
	s/is [0-9]*/is N/; s/, idle for [1-9][0-9]* s\$//; p; }")"
tap_is 'to programs, too' "full $base/w $base/plain.bin sha256:$(sha256sum \
    <"$base/plain.bin" | cut -c-64)" "$("$base/sbxrun" --sessions --json |
    perl -MJSON::PP -e '
	my $list = JSON::PP->new->utf8->decode(join "", <STDIN>);
	print join " ", @$_{qw(level workspace policy)}, "sha256:$_->{digest}"
	    for grep { $_->{name} eq $ARGV[0] } @{$list->{sessions}};' "$s")"
tap_is 'the denied directory is denied' 'no' \
    "$(run -- sh -c 'ls secret 2>/dev/null || echo no')"

tap_is 'the limits hold for who joins' 99 "$(run -- sh -c 'ulimit -n')"

# What only begins as the scratch directory's path is another directory.
run -- touch "/tmp/mark-$s"
scratch=$(find "/tmp/sbx-$(id -u)" -name "mark-$s" 2>/dev/null | head -n 1)
scratch=${scratch%/*}
mkdir "${scratch:?no scratch directory}x" && cd "${scratch}x" || exit 99
refused 'a directory beside that of /tmp' "${scratch}x: "
cd "$base/w" && rmdir "${scratch}x"

refused 'another policy' 'another policy' "$base/other.bin"
refused 'another workspace' 'another workspace' -w "$base/elsewhere"
refused 'another level' 'another level' -l standard
refused 'another limit' 'another limit' --limit processes=77
refused 'a limit that is lifted' 'another limit' --limit open-files=none
refused 'a limit that it has not' 'another limit: memory none' \
    --limit memory=77MiB
grep -q -e "--session $s --end ends the session" "$base/err"
tap_is 'the line says how to go on' 0 $?

# By a socket to the keeper, as libsbx has it.
socket=$(find /run/user/*/sbx /tmp/sbx-*/sessions -name "$s" 2>/dev/null |
    head -n 1)
tap_is 'the socket is for nobody else' 600 "$(stat -c %a "$socket")"
by_socket()
{
	# shellcheck disable=SC2016  # perl's
	perl -MSocket -MPOSIX=dup2 -e 'my ($to, $socket) = shift;
	    $^F = 3;
	    socket($socket, AF_UNIX, SOCK_SEQPACKET, 0) &&
	    connect($socket, pack_sockaddr_un($to)) &&
	    dup2(fileno($socket), 3) or die $!;
	    exec {$ARGV[0]} @ARGV' "$socket" "$base/sbxrun" --join=3 "$@" \
	    2>"$base/err"
}
tap_is 'a command that joins by a socket' kept "$(by_socket -- cat /tmp/file)"
by_socket --limit processes=77 -- true
tap_is 'another limit does not' '125 1' \
    "$? $(grep -c 'another limit' "$base/err")"
cd "$base/elsewhere" || exit 99
refused 'a directory that is not in the view' 'does not have this directory'
cd "$base/w" || exit 99

mkdir "$base/gone" && cd "$base/gone" && rmdir "$base/gone"
"$base/sbxrun" --session auto "$base/plain.bin" -- true 2>"$base/err"
tap_is 'no session of its own where the directory is gone' '125 1' \
    "$? $(grep -c 'the current directory' "$base/err")"
cd "$base/w" || exit 99

# What a command leaves behind goes on, and others see and end it.
run -- sh -c 'sleep 300 & echo $! >/tmp/pid
    until grep -q sleep /proc/$!/comm; do sleep 0.05; done'
tap_is 'a process that was left behind runs on' sleep \
    "$(run -- sh -c 'cat /proc/$(cat /tmp/pid)/comm')"
run -- sh -c 'kill $(cat /tmp/pid)'
tap_is 'the next command can end it' 0 $?
# shellcheck disable=SC2016
tap_is 'and then it is gone' gone \
    "$(run -- sh -c 'while kill -0 $(cat /tmp/pid) 2>/dev/null; do
	    sleep 0.05
	done; echo gone')"

# The process group of the caller has processes outside.
sleep 600 &
outside=$!
run -- sh -c 'kill -KILL 0'
tap_is 'kill 0 ends the command alone' '137 0' \
    "$? $(kill -0 $outside; echo $?)"
kill $outside

echo data >file
tap_is 'a file can be standard input' data "$(run -- cat <file)"
printf '1\n2\n3\n' >lines
tap_is 'who reads on goes on where the command ended' '2 3' \
    "$({ run -- sh -c 'read -r line'; cat; } <lines | paste -sd ' ')"
tap_is 'wherever that began' 3 \
    "$({ read -r _ && run -- sh -c 'read -r line'; cat; } <lines)"
tap_is 'and can be opened again' data "$(run -- cat /dev/stdin <file)"
tap_is 'also below /tmp' scratch "$(
    run -- sh -c "echo scratch >/tmp/input-$s"
    run -- cat /dev/stdin <"$(find "/tmp/sbx-$(id -u)" -name "input-$s")")"
# Where the policy does not let the command write it, it cannot by this way.
cp file ../outside
for input in kept ../outside; do
	run -- sh -c 'chmod 777 /proc/self/fd/0 || chmod 777 /dev/stdin
	    echo changed >/proc/self/fd/0' <$input
	tap_is "standard input $input stays as it is" 'data 0' \
	    "$(cat $input) $(find $input -perm 777 | wc -l)"
	timeout 300 "$base/sbxrun" --session "$s" -- sh -c '
	    chmod 777 /proc/self/fd/2 || chmod 777 /dev/stderr
	    echo changed >/proc/self/fd/2' 2<$input
	tap_is "standard error from $input, too" 'data 0' \
	    "$(cat $input) $(find $input -perm 777 | wc -l)"
done

# To root, the null device belongs, which outside keeps its mode.
cp "$PROBE" probe
[ "$(id -u)" -ne 0 ] || tap_is 'the null device is that of the session' \
    EROFS "$(run -- ./probe chmod /proc/self/fd/0 666 </dev/null)"
tap_is 'the descriptors of a command with a receipt' '0 1 2 ' "$(
    run --status-fd 5 -- ./probe fds 5>../receipt 7<file </dev/null) "
tap_is 'those of a command that joins by a socket' '0 1 2 ' \
    "$(by_socket -- ./probe fds </dev/null) "
# The keeper has none of those that are handed on to the command.
timeout 100 "$base/sbxrun" --session "$s-passed" --pass-fd 5 \
    "$base/plain.bin" -- true 5>&1 >/dev/null 2>&1 | timeout 100 cat
tap_is 'a pipe that was handed on ends with the command' '0 0' \
    "$? $("$base/sbxrun" --session "$s-passed" --end 2>&1; echo $?)"
# What is left behind may go on to write, through the cap on output.
timeout 300 "$base/sbxrun" --session "$s" -- sh -c '
	{ sleep 0.5; echo late && echo written >/tmp/late; } &' | cat >"$base/late"
tap_is 'what is left behind writes on' 'late written' \
    "$(cat "$base/late") $(run -- cat /tmp/late)"
# But who writes to the command need not wait for that.
is_unread()
{
	perl -MFcntl -e 'exit 1 if sysopen my $pipe, shift,
	    O_WRONLY | O_NONBLOCK; exit !$!{ENXIO}' "$base/in"
}
mkfifo "$base/in"
: >"$base/in" &
writer=$!
timeout 200 "$base/sbxrun" --session "$s" -- sh -c '
	{ until [ -e go ]; do sleep 0.05; done; echo late; } &' <"$base/in" |
	cat >"$base/late" &
wait $writer
tap_until is_unread
tap_is 'what is left behind does not read on' 0 $?
touch go
wait
tap_is 'but ends as it likes' late "$(cat "$base/late")"
run --status-fd 7 -- sh -c 'sleep 0.3; exit 3' 7>"$base/log"
tap_is 'the receipt has the session, the directory and a time' \
    "$s $(pwd -P) 3 1" "$(perl -MJSON::PP -e '
	my @lines = map { JSON::PP->new->utf8->decode($_) } <STDIN>;
	print "$lines[0]{session} $lines[0]{directory} $lines[1]{exit} ",
	    0.3 <= $lines[1]{wall} && $lines[1]{wall} < 300;' <"$base/log")"
run --status-fd 7 -- sh -c 'echo x >.envrc' 7>"$base/log"
tap_is 'what is watched is told' '1 1' \
    "$(grep -c '^sbxrun: the command made .envrc$' "$base/err") $(grep -c \
    '"event":"changed".*"change":"made","path":"[^"]*/w/.envrc"' "$base/log")"
# Since Linux 6.3 a machine may have no files in memory that could be executed.
become=
[ "$(id -u)" -eq 0 ] || become=-r
# shellcheck disable=SC2086  # or nothing
unshare $become -pf --mount-proc sh -c '
    echo 2 >/proc/sys/vm/memfd_noexec || exit 77
    timeout 100 "$1" --session "$2" "$3" -- true
    echo "$? $(timeout 100 "$1" --session "$2" --end; echo $?)" >sealed' sh \
    "$base/sbxrun" "$s-m" "$base/plain.bin" 2>"$base/err"
if [ $? -eq 77 ] || grep -q '^unshare:' "$base/err"; then
	tap_lacks 'a session without them' 'this machine has no such thing'
else
	tap_is 'a session without them' '0 0' "$(cat sealed)"
fi
ln -s . link
refused 'a log by way of a link' 'link' --log "$base/w/link/log"
timeout 300 "$base/sbxrun" --session "$s-n" -l standard "$base/plain.bin" -- \
    echo alone >"$base/alone" 2>/dev/null
tap_is 'below level full a command runs by itself' 'alone 1' \
    "$(cat "$base/alone") $("$base/sbxrun" --session "$s-n" --check; echo $?)"

# What others see of the command lines: nothing of the first command's.
s=$mine-b
cp "$base/plain.bin" "$base/changed.bin"
run "$base/changed.bin" -c 'true first-words'
tap_is 'process 1 has a command line of its own' "sbxrun: session $s" \
    "$(run -- sh -c 'tr "\\0" "\\n" </proc/1/cmdline')"
tap_is 'the words of the first command are nowhere' 1 \
    "$(pgrep -f "$s .*first-words" >/dev/null; echo $?)"
cp "$base/other.bin" "$base/changed.bin"
refused 'a policy that has changed' \
    "the policy changed after the session was made; --session $s --end ends" \
    "$base/changed.bin"
run --end

# Two sessions.
s=$mine-b
run "$base/plain.bin" -- sh -c 'sleep 300 &
    until grep -q sleep /proc/$!/comm; do sleep 0.05; done'
tap_is 'another session has a process table of its own' 1 \
    "$(run -- sh -c 'pgrep -c sleep')"
s=$mine
tap_is 'this one does not see its processes' 0 \
    "$(run -- sh -c 'pgrep -c sleep')"
tap_is 'both are listed' 2 \
    "$("$base/sbxrun" --sessions | grep -c "^$mine")"
tap_is 'also for programs' 2 "$("$base/sbxrun" --sessions --json |
    perl -MJSON::PP -e '
	my $list = JSON::PP->new->utf8->decode(join "", <STDIN>);
	print scalar grep { index($_->{name}, $ARGV[0]) == 0 &&
	    $_->{level} eq "full" } @{$list->{sessions}};' "$mine")"
s=$mine-b
# told.pl NAME: starts nothing in the two seconds that it has, and is stopped if
# that is its name.
cat >told.pl <<'END'
my $name = shift;
sub put { open F, ">", shift; print F shift; close F }
$SIG{TERM} = sub {
	select undef, undef, undef, 0.2;
	put("ended-$name", "told");
	exit;
};
put("ready-$name", "");
kill STOP => $$ if $name eq "stopped";
sleep 100 while 1;
END
# The kernel wakes what is stopped in a group that nobody has any more.
# shellcheck disable=SC2016
run -- sh -c 'perl told.pl running &
    setsid perl told.pl stopped &
    until [ -e ready-running ] && grep -q "^State:.T" /proc/$!/status; do
	    sleep 0.05
    done'
run -- touch "/tmp/mark-$s"
scratch=$(find "/tmp/sbx-$(id -u)" -name "mark-$s" 2>/dev/null)
run --end
tap_is 'it can be ended' '0 1' "$? $(run --check; echo $?)"
tap_is 'and its directory of /tmp is gone' 1 \
    "$(test -e "${scratch%/*}"; echo $?)"
[ -n "$scratch" ] || tap_not_ok 'it had one'
tap_is 'and what runs in it is told before' told "$(cat ended-running)"
tap_is 'and so is what was stopped' told "$(cat ended-stopped)"
s=$mine

# One whose keeper ends while it is asked is over, as one that is not there.
s=$mine-k
run "$base/plain.bin" -- true
first=$(run --check | sed 's/.*process 1 is \([0-9]*\).*/\1/')
keeper=$(sed -n 's/^PPid:\t//p' "/proc/$first/status")
is_waiting()
{
	find "/proc/$1/fd" -lname 'socket:*' | grep -q . &&
	    grep -q '^State:.S' "/proc/$1/status"
}
# session_of PROCESS: of the kernel's, by which a terminal knows its jobs.
session_of()
{
	ps -o sid= -p "$1" | tr -d ' '
}
tap_is 'a keeper has no terminal of the caller' apart \
    "$([ "$(session_of "$keeper")" = "$(session_of $$)" ] || echo apart)"
kill -HUP "$keeper"
run -- true
tap_is 'and does not end with one' "0 $keeper" \
    "$? $(sed -n 's/^PPid:\t//p' "/proc/$first/status")"
kill -STOP "$keeper"
"$base/sbxrun" --session "$s" --check >"$base/said" 2>&1 &
asking=$!
tap_until is_waiting $asking
kill -KILL "$keeper"
wait $asking
tap_is 'a session that ends while it is asked is none' '1 ' \
    "$? $(cat "$base/said")"
s=$mine

# The time of a command.  Those that are to succeed have no limit, since a
# second is over soon on a busy machine.
s=$mine-t
run --limit timeout=1s "$base/plain.bin" -- true
run --limit timeout=none -- sh -c 'sleep 300 &
    until grep -q sleep /proc/$!/comm; do sleep 0.05; done'
run -- sh -c 'setsid sleep 301 & sh -c "sleep 302 & sleep 303" & sleep 304'
tap_is 'a command whose time is over ends with 124' '124 0' \
    "$? $(grep -c 'not all' "$base/err")"
# shellcheck disable=SC2016
tap_is 'what it started is ended, also what did setsid; nothing else is' \
    'sleep 300' "$(run --limit timeout=none -- \
    sh -c 'ps -eo args | grep "^sleep"')"
run --limit timeout=none -- sleep 1.5
tap_is 'a command may lift the limit on its time' 0 $?
run --limit timeout=1h "$base/plain.bin" -- sleep 1.5
tap_is 'or have another one, with the policy named too' 0 $?
run -- sleep 3
tap_is 'the next one has that of the session' 124 $?
# Without a terminal, by which sbxrun would be stopped, too.
rm -f ended-stopped
setsid -w timeout 300 "$base/sbxrun" --session "$s" --limit timeout=1s -- \
    perl told.pl stopped 2>"$base/err"
tap_is 'one that was stopped is told that its time is over' '124 told' \
    "$? $(cat ended-stopped)"
rm -f ready-running ended-running
setsid "$base/sbxrun" --session "$s" --limit timeout=none -- \
    sh -c 'perl told.pl running & wait' 2>"$base/err" &
command=$!
tap_until test -e ready-running
kill -TERM $command
wait $command
tap_is 'a signal for sbxrun ends the command' 143 $?
tap_until test -s ended-running
tap_is 'and goes to its whole group' told "$(cat ended-running)"
tap_is 'a command may have a limit on its output' 1234 \
    "$(run --limit output=4B --limit timeout=none -- echo 123456789)"
tap_is 'the next one has none' 123456789 \
    "$(run --limit timeout=none -- echo 123456789)"
run --end
run "$base/plain.bin" -- true
run --limit timeout=1s -- sleep 10
tap_is 'a limit on time where the session has none' 124 $?
grep -q 'timeout 1s' "$base/err"
tap_is 'the line names it' 0 $?
run --end
s=$mine

# not ARG...: run fails.
not()
{
	! run "$@"
}

# Whoever keeps it is killed.
pid_of()
{
	"$base/sbxrun" --sessions --json | perl -MJSON::PP -e '
		my $list = JSON::PP->new->utf8->decode(join "", <STDIN>);
		print $_->{$ARGV[1]} for grep { $_->{name} eq $ARGV[0] }
		    @{$list->{sessions}};' "$s" "$1"
}

for who in keeper process; do
	run "$base/plain.bin" -- sh -c 'echo old >/dev/shm/mark'
	rm -f started
	run -- sh -c '>started; exec sleep 300' &
	command=$!
	tap_until test -e started
	tap_until has 'commands: 1$'
	tap_is "before the $who is killed, one command runs" \
	    "$s: process 1 is $(pid_of process), commands: 1" "$(run --check)"
	kill -9 "$(pid_of $who)"
	wait $command
	tap_is "$who killed: the command ends" 137 $?
	# At once, while the kernel still ends the rest.
	tap_is "$who killed: the next one makes a new session" new \
	    "$(run "$base/plain.bin" -- \
	    sh -c 'test -e /dev/shm/mark || echo new')"
done

rm -f started
run -- sh -c 'echo $$ >/tmp/pid; >started; exec sleep 300' &
command=$!
tap_until test -e started
joiner=$(pgrep -f "^$base/sbxrun --session $s -- sh -c echo" | head -n1)
kill -9 "$joiner"
# It is a zombie where nobody reaps orphans.
# shellcheck disable=SC2016
tap_is 'a command ends with the sbxrun that started it' gone \
    "$(run -- sh -c 'for i in $(seq 600); do
	case $(ps -o stat= "$(cat /tmp/pid)") in
	Z* | "") echo gone; break ;;
	esac; sleep 0.1; done')"
wait $command

run --end
tap_is 'the session is ended' 0 $?
last=$("$base/sbxrun" --session "$s" --idle 1s "$base/plain.bin" -- date +%s%N)
tap_until not --check
tap_is 'an idle session ends, and not before its time' '1 yes' \
    "$(run --check; echo $?) $(
    [ $(($(date +%s%N) - last)) -ge 990000000 ] && echo yes)"
sh -c '"$1" --session "$2" --with-parent "$3" -- true; exit' sh \
    "$base/sbxrun" "$s" "$base/plain.bin"
tap_until not --check
run --check
tap_is 'a session ends with the process that made it' 1 $?

# In the network of the host, Landlock keeps the host's abstract sockets away; from
# its ABI 6 on.
abstract()
{
	printf 'sbx 1\nprofile net extends workspace-write {\n%s\n}\n' \
	    'allow network full' | "$SBXC" - -o "$base/net.bin" || exit 99
	python3 -c 'import socket, sys, time
server = socket.socket(socket.AF_UNIX)
server.bind(chr(0) + sys.argv[1])
server.listen()
open("up", "w")
time.sleep(600)' "$s" &
	server=$!
	tap_until test -e up
	tap_is 'an abstract socket' ok "$(./probe abstract-connect "$s")"
	tap_is 'with the network, a session does not reach it' EPERM \
	    "$(run "$base/net.bin" -- ./probe abstract-connect "$s")"
	run --end
	# Where sbxrun answers for it, too, as here for what is only to be read.
	for shown in '' "allow read $base"; do
		printf 'sbx 1\nprofile any extends workspace-write {\n%s\n%s\n}\n' \
		    'allow abstract anywhere' "$shown" |
		    "$SBXC" - -o "$base/any.bin" || exit 99
		tap_is "by a rule it does: $shown" ok "$(run "$base/any.bin" -- \
		    ./probe abstract-connect "$s")"
		run --end
	done
	kill $server
}
abi=$("$base/sbxrun" --status --json | grep -o '"abi":[0-9]*')
if command -v python3 >/dev/null && [ "${abi#*:}" -ge 6 ]; then
	abstract
fi

# longer COUNT: the policy with as many instructions in each filter.
longer()
{
	python3 "$srcdir/tests/kernel/long_filter.py" "$base/plain.bin" \
	    "$base/longer.bin" "$1" || exit 99
}
if command -v python3 >/dev/null; then
	longer 4082
	tap_is 'a session has room for its own part of the filter' joined \
	    "$(run "$base/longer.bin" -- echo joined)"
	run --end
	longer 4083
	tap_is 'a filter with no room for it is refused' \
	    "sbxrun: the policy's filter has more than the 4082 instructions that a session has room for; run each command without a session" \
	    "$("$base/sbxrun" --session "$s" "$base/longer.bin" -- true 2>&1)"
	tap_is 'and does without a session' alone \
	    "$("$base/sbxrun" "$base/longer.bin" -- echo alone)"
else
	tap_lacks 'a long filter' 'no python3 here'
fi
tap_done
