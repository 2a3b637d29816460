#!/usr/bin/env bash
# usage: run.sh BUILDDIR [ROUNDS]
# What sbxrun adds to the start of a command, beside the bare system calls and
# beside bubblewrap.
#
# The bare calls: sbxrun runs once under ptrace, and every rule's path and mask,
# the ruleset's attributes, the filter's bytes and, at level full, every mount
# of the view are written down (record); minload is given just these and makes
# the same.  The number of rules is the number of landlock_add_rule calls that
# sbxrun made, which may be less than the number of rules in the policy (those
# that others cover are dropped).  minload has no supervisor at level standard.
#
# Bubblewrap makes the same mounts and namespaces, of the network too if sbxrun
# makes one; it applies no Landlock rules and, here, no filter.
#
# The last tables are for sessions: the floor is a join of the same session,
# with the same ruleset and filter, that does nothing else (join.c).
#
# Everything is measured as an ordinary user.

set -euo pipefail
export LC_ALL=C
build=$(cd "$1" && pwd)
rounds=${2:-1000}
if [ "$(id -u)" -eq 0 ]; then
	copy=$(mktemp -d /var/tmp/sbx-bench.XXXXXX)
	trap 'rm -rf "$copy"' EXIT
	mkdir "$copy/bench" "$copy/profiles"
	cp "$build/sbxrun" "$build/sbxc" "$0" "$copy"
	cp "$build"/bench/{latency,record,minload,hold,true} "$copy/bench"
	cp "$build"/profiles/*.bin "$copy/profiles"
	chmod -R a+rX "$copy"
	setpriv --reuid=1000 --regid=1000 --clear-groups env HOME="$copy" \
	    "$copy/${0##*/}" "$copy" "$rounds"
	exit
fi
# Not below /tmp: that is the scratch directory at level full.
work=$(mktemp -d /var/tmp/sbx-bench.XXXXXX)
mkdir -m 700 "$work/run"
export XDG_RUNTIME_DIR=$work/run
session=
end()
{
	[ -z "$session" ] || "$build/sbxrun" --session "$session" --end || true
	rm -rf "$work"
}
trap end EXIT
mkdir "$work/workspace"
cp "$build/bench/true" "$work/workspace/true"
cp "$build/bench/hold" "$work/workspace/hold"
true=$work/workspace/true hold=$work/workspace/hold
cd "$work/workspace"
command -v bwrap >/dev/null ||
    echo "bubblewrap is not installed: nothing to compare level full with"

unshare=(--unshare-user --unshare-pid --unshare-ipc)

# policy N: N path rules on siblings, so that none covers another.
policy()
{
	echo "sbx 1"
	echo "profile bench {"
	echo "    require level standard"
	echo "    allow write \${workspace}"
	echo "    allow exec \${workspace}"
	find /usr/share /usr/lib -mindepth 1 -maxdepth 2 -type d \
	    -path '/usr/*/*/*' -regex '[a-zA-Z0-9/._-]*' 2>/dev/null |
	    sort | awk -v n=$(($1 - 1)) 'NR <= n { print "    allow read " $0 }'
	echo "}"
}

# Says how the figures compare, by what each adds to the least that was seen:
# time by the clock, and CPU time of all processes.
compare()
{
	awk '{ print }
	    $1 ~ /^(bare|minload|sbxrun|bwrap)$/ { least[$1] = $2; cpu[$1] = $7 }
	    END {
		added = least["sbxrun"] - least["bare"]
		printf "sbxrun adds %.0f us", added
		if (added > 0 && "minload" in least)
			printf ": %.2f times the bare calls",
			    added / (least["minload"] - least["bare"])
		if (added > 0 && "bwrap" in least)
			printf ", %.2f times bubblewrap",
			    added / (least["bwrap"] - least["bare"])
		added = cpu["sbxrun"] - cpu["bare"]
		printf "; %.0f us of CPU time", added
		if ("bwrap" in cpu && cpu["bwrap"] > cpu["bare"])
			printf ": %.2f times bubblewrap",
			    added / (cpu["bwrap"] - cpu["bare"])
		print "\n"
	    }'
}

# What bubblewrap is to do, into $words.
peer()
{
	command -v bwrap >/dev/null || return 0
	mapfile -t words <"$work/words"
	words=(-- bwrap "$(command -v bwrap)" "${unshare[@]}"
	    --die-with-parent "${words[@]}"
	    --remount-ro / --chdir "$PWD" "$true")
}

# measure NAME LEVEL BLOB
measure()
{
	local name=$1 level=$2 blob=$3 words=()
	echo "== $name, level $level"
	"$build/bench/record" -b "$work/words" "$work/plan" "$build/sbxrun" \
	    -l "$level" "$blob" -- "$true"
	[ "$level" != full ] || peer
	"$build/bench/latency" "$rounds" bare "$true" \
	    -- minload "$build/bench/minload" "$work/plan" "$true" \
	    -- sbxrun "$build/sbxrun" -l "$level" "$blob" --- "$true" \
	    "${words[@]}" | compare
}

for count in 15 100 1000; do
	policy "$count" >"$work/$count.sbx"
	"$build/sbxc" "$work/$count.sbx" -o "$work/$count.bin"
	measure "$count path rules" standard "$work/$count.bin"
done
cat >"$work/unlimited.sbx" <<'POLICY'
sbx 1
profile unlimited extends workspace-write {
    limit timeout none
    limit output none
}
POLICY
"$build/sbxc" "$work/unlimited.sbx" -o "$work/unlimited.bin"
measure "workspace-write without a timeout and a cap" standard \
    "$work/unlimited.bin"
measure workspace-write standard "$build/profiles/workspace-write.bin"

measure "15 path rules" full "$work/15.bin"
measure "100 path rules" full "$work/100.bin"
measure "workspace-write" full "$build/profiles/workspace-write.bin"

# What one adds as a part of what another adds.
ratios()
{
	awk '{ print }
	    $2 ~ /^[0-9.]+$/ { least[$1] = $2; wall[$1] = $3; cpu[$1] = $8 }
	    function ratio(a, b, limit) {
		if (!(a in wall) || !(b in wall))
			return
		printf "%s adds %.3f of what %s adds by the clock, ", a,
		    (wall[a] - wall["bare"]) / (wall[b] - wall["bare"]), b
		printf "%.3f of the least, %.3f in CPU time (%s)\n",
		    (least[a] - least["bare"]) / (least[b] - least["bare"]),
		    (cpu[a] - cpu["bare"]) / (cpu[b] - cpu["bare"]), limit
	    }
	    END {
		ratio("session", "bwrap", "to be 1/20 by the clock")
		ratio("spawn", "floor", "to be at most 1.3")
		ratio("session", "standard", "to be below 1")
		ratio("full", "bwrap", "to be 1/4 by the clock, 1 in CPU time")
		print ""
	    }'
}

# measure_session NAME BLOB
measure_session()
{
	local name=$1 blob=$2 words=() inside
	echo "== sessions: $name"
	session=bench-$$
	# Process 1 cannot be looked into; what a command leaves can.
	"$build/sbxrun" --session "$session" "$blob" -- \
	    "$hold" "$$"
	for _ in {1..100}; do
		inside=$(pgrep -xf "$hold $$") && break
		sleep 0.1
	done
	"$build/bench/record" -b "$work/words" "$work/plan" "$build/sbxrun" \
	    -l full "$blob" -- "$true" >"$work/calls"
	peer
	cat >"$work/forget" <<-FORGET
		#!/bin/sh
		exec "$build/sbxrun" --session $session-first --end
	FORGET
	chmod +x "$work/forget"
	"$build/bench/latency" "$rounds" bare "$true" \
	    -- floor +join "$work/plan" "$inside" "$true" \
	    -- spawn +spawn "$blob" "$build/sbxrun" "$true" \
	    -- session "$build/sbxrun" --session "$session" --- "$true" \
	    -- first +then "$work/forget" "$build/sbxrun" --session \
		"$session-first" "$blob" --- "$true" \
	    -- standard "$build/sbxrun" -l standard "$blob" --- "$true" \
	    -- full "$build/sbxrun" -l full "$blob" --- "$true" \
	    "${words[@]}" | ratios
	"$build/sbxrun" --session "$session" --end
	session=
}

measure_session "15 path rules" "$work/15.bin"
measure_session "workspace-write" "$build/profiles/workspace-write.bin"
