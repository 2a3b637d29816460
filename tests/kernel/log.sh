#!/bin/bash
# The log of sbxrun, as TAP: a line for each run, whole among many writers, hidden from
# commands; what was cut, changed or removed is found.  In a mount namespace, where the
# user's home is one of this test, as root and as an ordinary user.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
if [ "${1-}" != inside ]; then
	unshare --mount true 2>/dev/null || {
		tap_begin
		tap_lacks "all of it" "needs mount namespaces, as root has"
		tap_done
		exit
	}
	exec unshare --mount --propagation private "$0" inside
fi

USER_ID=23924
tap_begin /var/tmp
base=$tmp
tap_programs "$SBXRUN" "$SBXC" "${SBXRUN%/*}/sbx-proxy"
cat >"$base/own.sbx" <<'POLICY'
sbx 1
profile own extends workspace-write {
    limit timeout 60s
    limit output 64KiB
    watch ${workspace}/.envrc
}
POLICY
"$SBXC" "$base/own.sbx" -o "$base/own.bin" || exit 99
sed 's/60s/61s/' "$base/own.sbx" >"$base/other.sbx"
"$SBXC" "$base/other.sbx" -o "$base/other.bin" || exit 99
{ cat "$base/own.sbx" | sed 's/own/home/; s/^}/allow read ~\n}/'; } >"$base/home.sbx"
"$SBXC" "$base/home.sbx" -o "$base/home.bin" 2>/dev/null || exit 99
for uid in 0 $USER_ID; do
	mkdir -p "$base/$uid/ws" "$base/$uid/out" && chown -R "$uid:$uid" "$base/$uid"
	echo "log$uid:x:$uid:$uid:log:$base/$uid:/bin/sh"
done >"$base/passwd"
mount --bind "$base/passwd" /etc/passwd || exit 99

# run WORD...: sbxrun in the workspace.
run()
{
	(cd "$ws" && tap_as "$uid" env HOME="$home" "$base/sbxrun" "$@")
}

show()
{
	tap_as "$uid" "$base/sbxc" log show "$@"
}

verify()
{
	"$base/sbxc" log verify "$@" >"$base/verified" 2>&1
	echo $?
}

# is NAME WANTED GOT
is()
{
	tap_is "${level:+$level: }uid $uid: $1" "$2" "$3"
}

# last FILTER: of the last line, or of each.
last()
{
	tail -n 1 "$log" | perl -MJSON::PP -ne '
		my $r = JSON::PP->new->utf8->decode($_);
		print '"$1"
}

lines()
{
	rm -f "$log"
	run -l "$level" --log "$log" "$base/own.bin" -- sh -c 'exit 3' x 'y z'
	is 'it ends as the command does' 3 $?
	is 'a line of the policy and one of the run' 'policy end' \
	    "$(sed 's/.*"event":"\([a-z]*\)".*/\1/' "$log" | paste -sd ' ')"
	is 'nobody else may read it' 600 "$(stat -c %a "$log")"
	is 'less than a kilobyte' 1 "$(($(tail -n 1 "$log" | wc -c) < 1024))"
	is 'who, what, where, by what' \
	    "log$uid $uid sh|-c|exit 3|x|y z $ws $base/own.bin $level 3" \
	    "$(last '"$r->{user} $r->{uid} ", join("|", @{$r->{command}}),
	    " $r->{directory} $r->{policy} $r->{level} $r->{exit}"')"
	is 'the digest' "sha256:$(sha256sum <"$base/own.bin" | cut -c-64)" \
	    "$(last '$r->{digest}')"
	is 'which program has started it' log.sh "$(last '$r->{by_name}')"
	run -l "$level" --log "$log" --log-args=no "$base/own.bin" -- sh -c 'exit 4' s3cret
	is 'without arguments' '0 sh 3' "$(grep -c s3cret "$log") $(last \
	    '"@{$r->{command}} $r->{words_left_out}"')"
	is 'the policy stands there once' 1 "$(grep -c '"event":"policy"' "$log")"
	run -l "$level" --log "$log" "$base/own.bin" -- sh -c \
	    'echo x >.envrc; head -c 100000 /dev/zero' 2>/dev/null | cat >/dev/null
	is 'what changed, and the limit that was reached' \
	    "made $ws/.envrc output" "$(last \
	    '"$r->{changed}[0]{change} $r->{changed}[0]{path} @{$r->{reached}}"')"
	rm -f "$ws/.envrc"
	run -l "$level" --log "$log" --limit timeout=1s "$base/own.bin" -- sleep 60 2>/dev/null
	is 'out of time' '1 timeout' "$(last '"$r->{timeout} @{$r->{reached}}"')"
	run -l "$level" --log "$log" --explain "$base/own.bin" -- cat "$home/secret" \
	    >/dev/null 2>&1
	is 'with --explain, what was denied' "read ~/secret cat" "$(last \
	    'join " ", @{$r->{denials}[0]}{"right", "object", "program"}')"
	run -l "$level" --log "$log" "$base/no.bin" -- true 2>/dev/null
	is 'a run without a policy' 'refused 1' "$(last \
	    '"$r->{event} ", $r->{error} =~ /no.bin: cannot open/')"
	run -l "$level" --log "$log" -w /no/where "$base/own.bin" -- true 2>/dev/null
	is 'nor without a workspace' 'refused 1' "$(last \
	    '"$r->{event} ", $r->{error} =~ /no such workspace/')"
	is 'the chain holds' 0 "$(verify "$log")"
	is 'the receipt has the same' 'sh -c exit 5 5' \
	    "$(run -l "$level" --status-fd 7 "$base/own.bin" -- sh -c 'exit 5' 7>"$base/receipt"
	    log=$base/receipt; last '"@{$r->{command}} $r->{exit}"')"
}

# What goes through the proxy, to a server that reads five bytes and answers.
bytes()
{
	perl -MIO::Socket -e '
		my $s = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") or die;
		open my $f, ">", $ARGV[0]; print $f $s->sockport; close $f;
		alarm 60;
		while (my $c = $s->accept) { read $c, my $b, 5; print $c "x" x 1000; }
	' "$base/port" &
	server=$!
	tap_until test -s "$base/port"
	port=$(cat "$base/port")
	sed "s/^}/allow network host tcp $port\n}/" "$base/own.sbx" >"$base/net.sbx"
	"$SBXC" "$base/net.sbx" -o "$base/net.bin" 2>/dev/null
	# shellcheck disable=SC2016  # the shell there expands it
	run -l full --log "$log" "$base/net.bin" -- bash -c '
		exec 3<>/dev/tcp/127.0.0.1/$0; printf 12345 >&3; wc -c <&3' "$port" >"$base/got"
	is 'bytes, of a connection that ends with the command' '1000 allowed 1 5 1000' \
	    "$(cat "$base/got") $(last 'join " ", @{$r->{network}[0]}{
	    "verdict", "count", "sent", "received"}')"
	kill "$server"
	wait "$server" 2>/dev/null
	rm "$base/port"
}

# What is refused by a process inside, and a supervisor that is killed.
ends()
{
	ln -s loop "$ws/loop"
	run -l "$level" --log "$log" "$base/own.bin" -- ./loop 2>/dev/null
	is 'a command that cannot be executed' '126' "$(last '$r->{exit}')"
	rm "$ws/loop"
	rm "$log"
	(cd "$ws" && tap_start "$uid" env HOME="$home" "$base/sbxrun" -l "$level" \
	    --log "$log" "$base/other.bin" -- sleep 300) 2>/dev/null &
	started=$!
	tap_until grep -qs sleep "$home/.local/state/sbx/logging/"*
	kill -9 "$started"
	wait "$started" 2>/dev/null
	is 'a killed run has no line yet' 0 "$(wc -l <"$log")"
	run -l "$level" --log "$log" "$base/own.bin" -- true
	is 'but the next one writes it' 'sleep 300' "$(perl -MJSON::PP -ne '
		my $r = JSON::PP->new->utf8->decode($_);
		print "@{$r->{command}}" if $r->{event} eq "killed"' "$log")"
	is 'below its policy' 'policy killed policy end' \
	    "$(sed 's/.*"event":"\([a-z]*\)".*/\1/' "$log" | paste -sd ' ')"
	run -l "$level" --log "$log" "$base/own.bin" -- true
	is 'once' 1 "$(grep -c '"event":"killed"' "$log")"
	is 'the chain holds still' 0 "$(verify "$log")"
}

hidden()
{
	run -l "$level" --log "$ws/log" "$base/own.bin" -- touch "$ws/ran" 2>"$base/err"
	is 'no log where the command may read' '125 1 no' "$? $(grep -c \
	    'lets the command see the log' "$base/err") $([ -e "$ws/ran" ] || echo no)"
	rm -f "$ws/log"
	run -l "$level" --log "$home/out/log2" "$base/home.bin" -- true 2>/dev/null
	is 'nor in a home that it may read' 125 $?
	is 'it sees no descriptor of it' '' "$(run -l "$level" --log "$log" "$base/own.bin" -- \
	    sh -c 'ls -l /proc/self/fd /proc/$PPID/fd 2>/dev/null | grep -e /out -e state')"
}

sessions()
{
	rm -f "$log"
	run --session "log$uid" --log "$log" "$base/own.bin" -- sh -c 'exit 6'
	run --session "log$uid" --log "$log" -- sh -c 'exit 7'
	run --session "log$uid" --end
	is 'a session, and each of its commands' "log$uid 6|log$uid 7|log$uid 0|" \
	    "$(perl -MJSON::PP -ne 'my $r = JSON::PP->new->utf8->decode($_);
	    print "$r->{session} $r->{exit}|" if $r->{event} eq "end"' "$log")"
	run --session "log$uid" "$base/own.bin" -- true
	run --session "log$uid" --log "$ws/log" -- true 2>/dev/null
	is 'it may not be seen there' 125 $?
	run --session "log$uid" --end
	rm -f "$ws/log"
}

many()
{
	rm -f "$log" "$log.1"
	for i in 1 2 3 4 5 6 7 8 9 10; do
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			run -l standard --log "$log" "$base/own.bin" -- true &
		done
		[ "$i" -ne 5 ] || mv "$log" "$log.1"
		[ $((i % 2)) -ne 0 ] || wait
	done 2>/dev/null
	wait
	is 'a hundred runs have a line each, in one file or the other' 100 \
	    "$(cat "$log.1" "$log" | grep -c '^{"sbx":1,"event":"end",.*"}$')"
	is 'which are both whole' '0 0' "$(verify "$log.1") $(verify "$log")"
}

damaged()
{
	all=$base/all
	cat "$log.1" >"$all"
	count=$(wc -l <"$all")
	middle=$((count / 2))
	for change in "${middle}d" "${middle}s/\"exit\":0/\"exit\":1/" 1d \
	    "${middle}{h;d};$((middle + 1)){G}" "${middle}s/.\$//"; do
		sed "$change" "$all" >"$all.x"
		is "found: $change" 1 "$(verify "$all.x")"
	done
	head -c -10 "$all" >"$all.x"
	is 'found: the last line is cut' 1 "$(verify "$all.x")"
	chain=$(sed -n '$s/.*"chain":"\([0-9a-f]*\)"}$/\1/p' "$all")
	head -n -1 "$all" >"$all.x"
	is 'a last line that is gone, by its chain alone' '0 1 0' "$(verify "$all.x") $(
	    verify --chain "$chain" "$all.x") $(verify --chain "$chain" "$all")"
	head -c -10 "$all" >"$log"
	run -l standard --log "$log" "$base/own.bin" -- sh -c 'exit 9'
	is 'a run goes on behind a line that was cut' '9' "$(last '$r->{exit}')"
	is 'and one knows where' 1 "$(verify "$log")"
	echo 'export PATH=x' >"$home/out/profile"
	chown "$uid" "$home/out/profile"
	run -l standard --log "$home/out/profile" "$base/own.bin" -- true 2>/dev/null
	is 'no file of another kind' '125 1' "$? $(wc -l <"$home/out/profile")"
}

# What is not written.
troubles()
{
	mkdir -p "$base/small$uid"
	mount -t tmpfs -o size=64k,mode=777 tmpfs "$base/small$uid" || exit 99
	head -c 64k /dev/zero >"$base/small$uid/fill" 2>/dev/null
	run -l standard --log "$base/small$uid/log" "$base/own.bin" -- touch ran 2>"$base/err"
	status=$?
	umount "$base/small$uid"
	is 'a full disk refuses the run' '125 1 no' "$status $(grep -c \
	    'no room' "$base/err") $([ -e "$ws/ran" ] || echo no)"
	rm -f "$log"
	run -l standard --log "$log" "$base/own.bin" -- true
	flock "$log" sleep 30 &
	holder=$!
	tap_until sh -c '! flock -n "$0" true' "$log"
	run -l standard --log "$log" "$base/own.bin" -- touch ran 2>"$base/err"
	is 'so does one who holds the lock' '125 1 no' "$? $(grep -c \
	    'held the lock' "$base/err") $([ -e "$ws/ran" ] || echo no)"
	pkill -P "$holder" 2>/dev/null
	kill "$holder" 2>/dev/null
	wait "$holder" 2>/dev/null
}

# ~/.config/sbx/log.
settings()
{
	setting=$home/.config/sbx/log own=$home/.local/state/sbx/log
	tap_as "$uid" mkdir -p "${setting%/*}"
	tap_as "$uid" touch "$setting"
	run -l standard "$base/own.bin" -- sh -c 'exit 2'
	log=$own
	is 'an empty setting: in the state of sbx' '2 600' "$(last '$r->{exit}') $(
	    stat -c %a "$own")"
	is 'where nothing inside sees it' '' "$(run "$base/own.bin" -- sh -c \
	    'cat "$0" 2>/dev/null' "$own")"
	run -l standard "$base/home.bin" -- touch ran 2>"$base/err"
	is 'a policy that lets it be read: a line says that there is none' '0 1 1' "$? $(
	    grep -c 'nothing is written of this run' "$base/err") $([ -e "$ws/ran" ] && echo 1)"
	rm -f "$ws/ran"
	printf 'required\nno-args\n' >"$setting"
	run -l standard "$base/home.bin" -- touch ran 2>/dev/null
	is 'but if it is required, it is refused' '125 no' \
	    "$? $([ -e "$ws/ran" ] || echo no)"
	run -l standard "$base/own.bin" -- sh -c 'exit 2'
	is 'no-args' sh "$(last '"@{$r->{command}}"')"
	echo "$home/out/else" >"$setting"
	run -l standard "$base/own.bin" -- true
	is 'another file' 2 "$(wc -l <"$home/out/else")"
	is 'which is also the one that is shown' 2 "$(show | wc -l)"
	chmod 000 "$setting"
	run -l standard "$base/own.bin" -- true 2>"$base/err"
	status=$?
	is 'a setting that cannot be read' "$([ "$uid" -eq 0 ] && echo 0 0 || echo 125 1)" \
	    "$status $(grep -c 'cannot read this setting' "$base/err")"
	chmod 644 "$setting"
	echo 'what is this' >"$setting"
	run -l standard "$base/own.bin" -- true 2>/dev/null
	is 'a word that is none' 125 $?
	chmod 666 "$setting"
	run -l standard "$base/own.bin" -- true 2>/dev/null
	is 'a setting that others may write' 125 $?
	rm -f "$setting"
	log=$home/out/log
}

# The table, as people see it.
shown()
{
	rm -f "$log" "$home/.local/state/sbx/log"
	is 'no log yet, and how there will be one' 1 \
	    "$(show 2>&1 | grep -c 'no log at .*/log: after .touch .*/log. each run')"
	run -l standard --log "$log" "$base/own.bin" -- sh -c 'exit 3'
	run -l standard --log "$log" "$base/own.bin" -- sh -c 'kill -9 $$' 2>/dev/null
	run -l standard --log "$log" nope.bin -- ls 2>/dev/null
	is 'a row each' '3 own sh SIGKILL own sh refused nope.bin ls ' "$(show "$log" |
	    awk '/^[0-9]/ { printf "%s %s %s ", $4, $5, $6 }')"
	is 'no row is wider than a terminal' 0 "$(show "$log" | grep -c '.\{81\}')"
	is 'by command, policy, time, what was denied' '1 2 3 0 1' "$(
	    for filter in '--command exit' '--policy own' '--since 1h' \
		'--since 2031-01-01' --denied; do
		# shellcheck disable=SC2086  # words
		show --json $filter "$log" | wc -l
	    done | paste -sd ' ')"
	tap_start "$uid" timeout 60 "$base/sbxc" log show --follow "$log" >"$base/follow" &
	follower=$!
	tap_until grep -q refused "$base/follow"
	mv "$log" "$log.old"
	run -l standard --log "$log" "$base/own.bin" -- sh -c 'exit 77'
	tap_until grep -q ' 77 ' "$base/follow"
	is 'it goes on, in a new file too' 0 $?
	kill "$follower" 2>/dev/null
	wait "$follower" 2>/dev/null
}

# A week of an agent's work.
large()
{
	tail -n 1 "$log" >"$base/one"
	for _ in 1 2 3 4 5 6 7 8 9 10; do cat "$base/one"; done >"$base/ten"
	for _ in $(seq 200); do cat "$base/ten"; done >"$base/large"
	before=$(date +%s%N)
	show "$base/large" >"$base/table"
	took=$((($(date +%s%N) - before) / 1000000))
	is "2,000 runs are read in under a second ($took ms)" '1 2001' \
	    "$((took < 1000 || $(tap_sanitized && echo 1 || echo 0))) $(wc -l <"$base/table")"
}

tap_levels standard full
for uid in 0 $USER_ID; do
	home=$base/$uid ws=$base/$uid/ws log=$base/$uid/out/log
	echo secret >"$home/secret"
	for level in $levels; do
		lines
		ends
		hidden
	done
	level=
	case $levels in *full*)
		sessions
		bytes
		;;
	esac
	many
	damaged
	troubles
	settings
	shown
	large
	tap_twice || break
done
tap_done
