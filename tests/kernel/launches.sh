#!/bin/sh
# What many launches leave behind, as TAP: eight at a time, and supervisors that
# are killed at any moment.  Afterwards there is no process, mount, temporary
# file or descriptor more than before.
#
#	launches.sh [LAUNCHES KILLS]

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
launches=${1-$(tap_rounds 200)} kills=${2-$(tap_rounds 60)}

tap_begin /var/tmp
base=$tmp
tap_programs "$SBXRUN"
cat >"$base/launches.sbx" <<'POLICY'
sbx 1
profile launches extends workspace-write {
    deny read ${workspace}/secret
    deny write ${workspace}/kept
    limit timeout 600s
    limit output 1MiB
}
POLICY
"$SBXC" "$base/launches.sbx" -o "$base/launches.bin" || exit 99
mkdir "$base/ws" && cd "$base/ws" || exit 99
echo text | tee secret kept >/dev/null
# The scratch directory of this workspace is meant to stay, for the next run.
"$base/sbxrun" "$base/launches.bin" -- true || exit 99
scratch=/tmp/sbx-$(id -u)/$(printf %s "$base/ws" | sha256sum | cut -c 1-16)
tap_at_end="rm -rf $scratch"
[ -d "$scratch" ] || exit 99
# Seconds that nobody else sleeps, so that it tells which processes are ours.
mark=7000$$

processes()
{
	pgrep -f "$base/sbxrun|sleep $mark"
}

# Where the loader and its commands may write; other tests run beside.
junk()
{
	find "$base" "$scratch" | sort
}

# Of the kernel: open files of the whole machine are too unsteady for a test,
# so it is the descriptors that commands see.
descriptors()
{
	"$base/sbxrun" -l "$1" "$base/launches.bin" -- \
	    ls /proc/self/fd 2>/dev/null | tr '\n' ' '
}

none()
{
	! processes
}

same_mounts()
{
	[ "$(tap_mounts)" = "$mounts_before" ]
}

# settled: waits for processes to be gone; those that are not, and never will.
settled()
{
	tap_until none
	left=$(processes)
	# Numbers that are to be split.
	# shellcheck disable=SC2086
	[ -z "$left" ] || ps -o pid,ppid,stat,args -p "$(echo $left |
	    tr ' ' ,)"
}

# Every second launch is at the highest level.
tap_levels standard full
best=${levels##* }

many()
{
	seq "$launches" | xargs -P 8 -n 1 sh -c '
		level=standard
		[ $(($4 % 2)) -eq 0 ] || level=$3
		got=$("$1/sbxrun" -l $level "$1/launches.bin" -- \
		    sh -c "echo $4; echo x >\$TMPDIR/$4; rm \$TMPDIR/$4; \
			exit $(($4 % 7))" 2>&1)
		status=$?
		[ "$status $got" = "$(($4 % 7)) $4" ] ||
		    echo "$level $4: status $status: $got"
	' sh "$base" "$mark" "$best"
}

# Kills supervisors after 0 to 49 ms: before, in and after the making of the
# sandbox.  Half of the commands have children that left their session.
kill_one()
{
	level=standard
	[ $(($1 % 2)) -eq 0 ] || level=$best
	"$base/sbxrun" -l $level "$base/launches.bin" -- sh -c \
	    "setsid sleep $mark & (sleep $mark &); sleep $mark" \
	    >/dev/null 2>&1 </dev/null &
	sleep "0.0$(printf '%02d' $(($1 * 37 % 50)))"
	kill -KILL $!
	wait $!
}

killed()
{
	i=0
	while [ $i -lt "$kills" ]; do
		kill_one $i
		i=$((i + 1))
	done
}

# Into a file: of a command substitution the shell may still hold both ends of
# the pipe.
ls /proc/$$/fd >"$tmp/descriptors"
mounts_before=$(tap_mounts) junk_before=$(junk)
standard_before=$(descriptors standard) best_before=$(descriptors "$best")
begin=$(date +%s)
tap_empty "$launches launches, eight at a time" "$(many)"
echo "# $(($(date +%s) - begin)) s"
tap_empty 'no process is left' "$(settled)"
begin=$(date +%s)
killed 2>/dev/null
echo "# $kills supervisors killed in $(($(date +%s) - begin)) s"
tap_empty 'no process is left of those that were killed' "$(settled)"
tap_until same_mounts
tap_is 'no mount is left' 0 $?
tap_is 'no temporary file is left' "$junk_before" "$(junk)"
ls /proc/$$/fd >"$tmp/descriptors-now"
tap_empty 'no descriptor is left here' \
    "$(diff "$tmp/descriptors" "$tmp/descriptors-now")"
tap_is 'commands see what they saw: standard' "$standard_before" \
    "$(descriptors standard)"
tap_is "commands see what they saw: $best" "$best_before" \
    "$(descriptors "$best")"
sleep "$mark" &
# Until it has become one of that name.
is_there()
{
	[ -n "$(processes)" ]
}
tap_until is_there
tap_found 'a process that is left is seen' "$(processes)"
kill $!
tap_done
