#!/bin/sh
# Limits that hold, and the lines that say which of them was reached, as TAP: at
# levels standard and full, as this user and, started by root, as an ordinary one
# too.  Control groups have a test of their own.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

tap_begin /var/tmp
base=$tmp
tap_programs "$SBXRUN"

# policy NAME STATEMENT...
policy()
{
	policy_name=$1
	shift
	{
		printf 'sbx 1\nprofile limited extends workspace-write {\n'
		printf '    %s\n' "$@"
		echo '}'
	} >"$base/$policy_name.sbx"
	"$SBXC" "$base/$policy_name.sbx" -o "$base/$policy_name.bin" 2>/dev/null ||
	    exit 99
}
policy few 'limit processes 20' 'limit timeout 30s'
policy many 'limit processes none' 'limit timeout 30s'
policy written 'limit processes 20' 'limit timeout 30s' 'allow write /proc'

# run ARGUMENT...: sbxrun as $uid at $level, in a workspace of that user's.
run()
{
	(cd "$base/$uid" && tap_as "$uid" env -i PATH="$PATH" \
	    HOME="$base/$uid" "$base/sbxrun" -l "$level" "$@")
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
	if (!$child) { sleep 60; exit }
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
	    'pid_max, of the sandbox, and up to 299 more' "$(by few)"
	between 'processes' 18 318 "$(run "$base/few.bin" -- perl -e "$forks")"
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
	    "$(run "$base/few.bin" -- perl -e "$forks")" ;;
	*) between 'processes' 18 $((20 + tasks)) \
	    "$(run "$base/few.bin" -- perl -e "$forks")" ;;
	esac
	[ -x /usr/bin/python3 ] || return
	between 'threads' 18 $((20 + 320 + tasks)) \
	    "$(run "$base/few.bin" -- /usr/bin/python3 -c "$threads")"
}

check_all()
{
	uid=$1
	mkdir -p "$base/$uid"
	[ "$uid" -eq "$(id -u)" ] || chown "$uid:$uid" "$base/$uid"
	tap_levels standard full
	for level in $levels; do
		processes
	done
}

check_all "$(id -u)"
[ "$(id -u)" -ne 0 ] || check_all 65534
tap_done
