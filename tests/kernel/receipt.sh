#!/bin/sh
# The receipt of sbxrun, what it says of machines, and its self-test, as TAP.
# Every line is read by a parser of JSON, which comes with perl.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
TESTED=23986

tap_begin
base=$tmp
tap_programs "$SBXRUN" "$SBXC" "$SBXRUN_TEST"
cat >"$base/plain.sbx" <<'POLICY'
sbx 1
profile plain extends workspace-write {
    limit timeout 300s
    limit output 64KiB
    deny write ${workspace}/keep
    deny read  ${workspace}/absent
}
POLICY
"$SBXC" "$base/plain.sbx" -o "$base/plain.bin" || exit 99
cat >"$base/shown.sbx" <<POLICY
sbx 1
profile shown extends workspace-write {
    allow read /tmp/sbx-test-$TESTED/shown
}
POLICY
"$SBXC" "$base/shown.sbx" -o "$base/shown.bin" || exit 99
cat >"$base/alone.sbx" <<'POLICY'
sbx 1
include "groups.sbx"
profile alone {
    use system
    use offline
    allow write ${workspace}
}
POLICY
"$SBXC" "$base/alone.sbx" -o "$base/alone.bin" || exit 99
ws=$base/w$(printf '"\\\001\303\251\377')
mkdir -p "$ws/keep"
cp "$PROBE" "$ws/probe"
log=$base/log

# field LINE KEY...: what stands there, in the given line of the log.
field()
{
	perl -MJSON::PP -e '
		my ($file, $line, @keys) = @ARGV;
		open my $in, "<", $file or die;
		my @lines = <$in>;
		my $at = JSON::PP->new->utf8->decode($lines[$line]);
		$at = ref $at eq "ARRAY" ? $at->[$_] : $at->{$_} for @keys;
		print ref $at eq "ARRAY" ? scalar @$at : !defined $at ? "null" :
		    JSON::PP::is_bool($at) ? ($at ? "true" : "false") : $at;
	' "$log" "$@"
}

# is NAME WANTED GOT
is()
{
	tap_is "$level: $1" "$2" "$3"
}

run()
{
	rm -f "$log"
	# Words of the options.
	# shellcheck disable=SC2086
	(cd "$ws" && "$base/sbxrun" -l "$level" --status-fd 7 ${options-} \
	    "$base/plain.bin" -- "$@") >/dev/null 2>&1 7>"$log"
}

# Each rule that is not plainly Landlock's, and what enforces it.
enforcers()
{
	perl -MJSON::PP -ne 'print map("$_->{rule}: $_->{by}\n",
	    @{JSON::PP->new->utf8->decode($_)->{rules}}) if $. == 1' "$log"
}

records()
{
	run sh -c 'exit 3'
	is 'two records' 2 "$(wc -l <"$log")"
	is 'the version' '1 1' "$(field 0 sbx) $(field 1 sbx)"
	is 'the events' 'start end' "$(field 0 event) $(field 1 event)"
	is 'they belong together' "$(field 0 run)" "$(field 1 run)"
	is 'the digest' "sha256:$(sha256sum <"$base/plain.bin" | cut -c-64)" \
	    "$(field 0 digest)"
	is 'the profile' plain "$(field 0 profile)"
	is 'the level' "$level" "$(field 0 level)"
	is 'why' null "$(field 0 why_not_full)"
	is 'the network' none "$(field 0 network)"
	is 'the limits' 5 "$(field 0 limits)"
	is 'the exit' '3 null false' \
	    "$(field 1 exit) $(field 1 signal) $(field 1 timeout)"
	run sh -c 'kill -9 $$'
	is 'a signal' 'null 9' "$(field 1 exit) $(field 1 signal)"
	options='--limit timeout=1s'
	run sleep 600
	options=
	is 'a timeout' '124 true' "$(field 1 exit) $(field 1 timeout)"
	is 'its time' 1 "$(field 1 wall | awk '{ print ($1 >= 1 && $1 < 300) }')"
	run head -c 100000 /dev/zero
	rm -f "$log"
	(cd "$ws" && "$base/sbxrun" -l "$level" --status-fd 7 \
	    "$base/plain.bin" -- head -c 100000 /dev/zero) 2>/dev/null 7>"$log" |
	    cat >/dev/null
	is 'bytes cut' '30368 0' "$(field 1 stdout_cut) $(field 1 stderr_cut)"
	rm -f "$log"
	(cd "$ws" && "$base/sbxrun" -l "$level" --status-fd 7 \
	    "$base/plain.bin" -- sh -c 'head -c 70000 /dev/zero >&2') 2>&1 \
	    >/dev/null 7>"$log" | cat >/dev/null
	is 'bytes cut of the errors' '0 368' \
	    "$(field 1 stdout_cut) $(field 1 stderr_cut)"
	run no-such-command
	is 'no command' '2 127' "$(wc -l <"$log") $(field 1 exit)"
	(cd "$ws" && "$base/sbxrun" -l "$level" --status-fd 7 \
	    "$base/plain.bin" -- true 7>"$log") 2>/dev/null
	is 'on a descriptor' 'start end' "$(field 0 event) $(field 1 event)"
	# The numbers around it, and some that are far from it, are open, too.
	# shellcheck disable=SC2016
	is 'which the command has not, nor others' '0 1 2' "$(cd "$ws" &&
	    perl -MPOSIX=dup2 -e 'dup2(1, $_) for 3 .. 12, 100, 255, 1000;
		open my $log, ">>", shift; dup2(fileno $log, 7); exec @ARGV' \
	    "$log" "$base/sbxrun" -l "$level" --status-fd 7 \
	    "$base/plain.bin" -- ./probe fds 2>/dev/null)"
	is 'all together' 4 "$(wc -l <"$log")"
}

rules()
{
	run true
	case $level in
	standard) is 'a denial in the workspace' 1 "$(enforcers |
	    grep -c '^deny write: landlock: split')" ;;
	full) is 'a denial in the workspace' 1 "$(enforcers |
	    grep -c '^deny write: view: read-only')"
	    is 'a denied place that is absent' 1 \
		"$(grep -c '"uncovered":\[[^]]*/absent"' "$log")" ;;
	esac
	is 'paths that are not there' 1 "$(($(field 0 skipped) > 0))"
}

# The plan says as JSON what it says as text, and what the receipt says.
plans()
{
	run true
	recorded="$(field 0 digest) $(field 0 network) $(field 0 level)"
	recorded="$recorded $(field 0 limits) $(field 0 skipped)"
	(cd "$ws" && "$base/sbxrun" -l "$level" -n "$base/plain.bin") \
	    >"$base/said" 2>/dev/null
	(cd "$ws" && "$base/sbxrun" -l "$level" -n --json "$base/plain.bin") \
	    >"$log" 2>/dev/null
	is 'the plan as JSON: one line' '1 1' "$(wc -l <"$log") $(field 0 sbx)"
	is 'what the receipt says too' "$recorded" "$(field 0 digest) $(field \
	    0 network) $(field 0 level) $(field 0 limits) $(states absent)"
	is 'every rule, as in the text' "$(sed -n \
	    's/^\(\(allow\|deny\|prefer\) [a-z ]*\) \/.*  -- \(.*\)  \[.*/\1: \3/p' \
	    "$base/said")" "$(enforcers)"
	is 'the scratch directory' "$(sed -n \
	    's/^tmp *\([^ ]*\).*/\1/p' "$base/said")" "$(field 0 anchors tmp)"
	is 'the filter' "$(sed -n \
	    's/^syscalls \([0-9]*\) .*, \([0-9]*\) inst.*/\1 \2/p' "$base/said")" \
	    "$(field 0 syscalls denied) $(field 0 syscalls instructions)"
	is 'a right of Landlock' execute "$(field 0 handled 0)"
	case $level in
	standard) is 'a rule that is split' true "$(split_rules)" ;;
	full) is 'the mechanisms' $((3 + $(grep -c -e '-- cgroup' \
	    -e '-- pid_max' "$base/said"))) "$(field 0 mechanisms)" ;;
	esac
}

# How many allow rules of the plan are in a state.
states()
{
	perl -MJSON::PP -ne 'print scalar grep { $_->{state} eq "'"$1"'" &&
	    $_->{rule} =~ /^allow/ } @{JSON::PP->new->utf8->decode($_)->{rules}}' \
	    "$log"
}

# Whether a rule on the workspace is split.
split_rules()
{
	perl -MJSON::PP -ne 'my $plan = JSON::PP->new->utf8->decode($_);
	    print "true" if grep { $_->{split} && $_->{grants} > 0 &&
	    $_->{path} eq $plan->{workspace} } @{$plan->{rules}}' "$log"
}

# refused NAME TEXT WORD...: no record, no command.
refused()
{
	refused_name=$1 text=$2
	shift 2
	rm -f "$log"
	got=$("$@" 2>&1)
	status=$?
	is "refused: $refused_name" 125 $status
	tap_empty "$level: it is said" "$(echo "$got" | grep -q "$text" ||
		echo "$got")"
	[ -L "$log" ] || is 'no record' 0 "$(wc -c 2>/dev/null <"$log" || echo 0)"
}

refusals()
{
	r="$base/sbxrun -l $level"
	# Words.
	# shellcheck disable=SC2086
	{
		refused 'a closed descriptor' 'not open' $r --status-fd 9 \
		    "$base/plain.bin" -- true
		refused 'standard error' 'above 2' $r --status-fd 2 \
		    "$base/plain.bin" -- true
		refused 'a full device' 'cannot write' \
		    sh -c "exec $r --status-fd 5 \"\$0\" -- true 5>/dev/full" \
		    "$base/plain.bin"
		refused 'a log that is no file' 'regular' $r --log /dev/null \
		    "$base/plain.bin" -- true
		mkfifo "$base/pipe"
		refused 'a log that is a pipe with a name' 'regular' \
		    timeout 30 $r --log "$base/pipe" "$base/plain.bin" -- true
		rm "$base/pipe"
		refused 'a policy that needs more' 'no such' $r --status-fd 7 \
		    -w /no/where "$base/plain.bin" -- true 7>"$log"
	}
	ln -s "$base/elsewhere" "$base/link"
	refused 'a log that is a link' 'cannot open' "$base/sbxrun" \
	    -l "$level" --log "$base/link" "$base/plain.bin" -- true
	rm "$base/link"
}

stages()
{
	find /tmp /var/tmp -maxdepth 1 -name 'sbx-self-test-*' \
	    -user "$(id -u)" 2>/dev/null |
		sort
}
# Of those who were killed before this test.
old_stages=$(stages)

no_stage()
{
	[ -z "$(new_stages)" ]
}

# Of the old ones, too, some may have been of tests that still ran.
new_stages()
{
	stages | grep -vxF -e "$old_stages"
}

# On a stage of its own, whatever the policy; nothing of it is left.
self_tests()
{
	# A denial in the workspace, as this policy has, costs that.
	case $level in
	standard) inside='a pseudo-terminal     ' ;;
	full) inside='write in the workspace
a pseudo-terminal     ' ;;
	esac
	"$base/sbxrun" -l "$level" --self-test "$base/plain.bin" \
	    >"$base/said" 2>/dev/null
	is 'the self-test' 0 $?
	is 'its canaries' 18 "$(wc -l <"$base/said")"
	is 'only the workspace and a terminal are open' "$inside" \
	    "$(grep allowed "$base/said" | cut -c-22)"
	"$base/sbxrun" -l "$level" --self-test --json "$base/plain.bin" \
	    >"$log" 2>/dev/null
	is 'the self-test as JSON' "$level true 17" \
	    "$(field 0 level) $(field 0 ok) $(field 0 canaries)"
	is 'a canary' 'io_uring false ENOSYS' "$(field 0 canaries 7 canary
	    ) $(field 0 canaries 7 allowed) $(field 0 canaries 7 errno)"
	is 'what nobody granted' 'write outside false false' \
	    "$(field 0 canaries 1 canary) $(field 0 canaries 1 granted
	    ) $(field 0 canaries 1 allowed)"
	is 'the time limit' 'outlive the time limit killed true' \
	    "$(field 0 canaries 13 canary) $(field 0 canaries 13 errno
	    ) $(field 0 canaries 13 ok)"
	# Another test's may be there for a moment.
	tap_until no_stage
	is 'the stage is gone' '' "$(new_stages)"
	[ "$(id -u)" -eq 0 ] || return
	# A user of whom nothing else is there; at level full the view makes a
	# place for what it shows below /tmp.
	mkdir -p "/tmp/sbx-test-$TESTED/shown"
	tap_as "$TESTED" env HOME=/ "$base/sbxrun" -l "$level" --self-test \
	    "$base/shown.bin" >/dev/null 2>&1
	is 'and so is its scratch directory' '0 /tmp/sbx-'"$TESTED" \
	    "$? $(find "/tmp/sbx-$TESTED")"
	rm -rf "/tmp/sbx-$TESTED" "/tmp/sbx-test-$TESTED"
}

# Where nothing protects files, the test must find that.
self_test_fails()
{
	"$base/sbxrun" -l minimal --self-test "$base/plain.bin" \
	    >"$base/said" 2>/dev/null
	is 'the self-test can fail' 1 $?
	is 'and says what got through' 7 "$(grep -c 'GOT THROUGH' \
	    "$base/said")"
}

machines()
{
	"$base/sbxrun" --status --json >"$log"
	is 'the machine as JSON' "1 $(uname -r)" \
	    "$(field 0 sbx) $(field 0 kernel)"
	is 'and as text' "$("$base/sbxrun" --status | sed -n 's/^level *//p')" \
	    "$(field 0 level)"
	is 'what there is' 'true null' \
	    "$(field 0 seccomp available) $(field 0 seccomp missing)"
	SBX_TEST_NO_LISTENER=1 "$base/sbxrun-test" --status --json >"$log"
	is 'that nobody listens' 'false the test says so' \
	    "$(field 0 listener available) $(field 0 listener missing)"
	is 'and what follows' 1 "$(SBX_TEST_NO_LISTENER=1 \
	    "$base/sbxrun-test" --status | grep -c 'modes, times and')"
	is 'which a run says, too' 1 "$(cd "$ws" && SBX_TEST_NO_LISTENER=1 \
	    "$base/sbxrun-test" -l standard "$base/plain.bin" -- true 2>&1 |
	    grep -c ': warning: modes, times and attributes .*: the test says')"
	# shellcheck disable=SC2016  # the shells there expand it
	is 'with nobody above it sbxrun becomes the command' 1 "$(cd "$ws" &&
	    SBX_TEST_NO_LISTENER=1 sh -c 'echo $$; exec "$@"' sh \
	    "$base/sbxrun-test" -l standard "$base/alone.bin" -- \
	    sh -c 'echo $$' 2>/dev/null | sort -u | wc -l)"
	is 'sockets and a supervisor' 'true null true null' "$("$base/sbxrun" \
	    --status --json >"$log"; echo "$(field 0 sockets available) $(field \
	    0 sockets missing) $(field 0 supervisor available) $(field 0 \
	    supervisor missing)")"
	# There is none beside it here, and few machines have one installed.
	if ! ls /usr/lib*/sbx/sbx-proxy /usr/local/lib*/sbx/sbx-proxy \
	    >/dev/null 2>&1; then
		"$base/sbxrun" --status --json >"$log"
		is 'that sbx-proxy is missing' 'false the program sbx-proxy' \
		    "$(field 0 hosts available) $(field 0 hosts missing |
		    cut -d , -f 1)"
	fi
	SBX_TEST_ABI=0 "$base/sbxrun-test" --status --json >"$log"
	is 'what is missing' 'minimal false 1' "$(field 0 level) $(field 0 \
	    landlock available) $(field 0 landlock missing | grep -c lsm=)"
}

tap_levels standard full
for level in $levels; do
	records
	self_tests
	rules
	plans
	refusals
done

level=any
self_test_fails
machines
rm -f "$log"
(cd "$ws" && SBX_TEST_ABI=2 "$base/sbxrun-test" --status-fd 7 \
    "$base/plain.bin" -- true) 2>/dev/null 7>"$log"
is 'rights that the kernel lacks' 1 "$(($(field 0 dropped) >= 6))"
rm -f "$log"
for _ in 1 2 3 4 5 6 7 8 9 10; do
	for _ in 1 2 3 4; do
		(cd "$ws" && "$base/sbxrun" --status-fd 7 "$base/plain.bin" \
		    -- true 7>>"$log") &
	done
	wait
done 2>/dev/null
is 'four at a time' '80 80' "$(wc -l <"$log") $(grep -c \
    '^{"sbx":1,"event":"\(start\|end\)",.*}$' "$log")"
tap_done
