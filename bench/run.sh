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

set -euo pipefail
export LC_ALL=C
build=$(cd "$1" && pwd)
rounds=${2:-1000}
# Not below /tmp: that is the scratch directory at level full.
work=$(mktemp -d /var/tmp/sbx-bench.XXXXXX)
trap 'rm -rf "$work"' EXIT
mkdir "$work/workspace"
cp "$build/bench/true" "$work/workspace/true"
true=$work/workspace/true
cd "$work/workspace"
command -v bwrap >/dev/null ||
    echo "bubblewrap is not installed: nothing to compare level full with"

unshare=(--unshare-pid --unshare-ipc)
[ "$(id -u)" -eq 0 ] || unshare+=(--unshare-user)

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

# measure NAME LEVEL BLOB
measure()
{
	local name=$1 level=$2 blob=$3 words=()
	echo "== $name, level $level"
	"$build/bench/record" -b "$work/words" "$work/plan" "$build/sbxrun" \
	    -l "$level" "$blob" -- "$true"
	if [ "$level" = full ] && command -v bwrap >/dev/null; then
		mapfile -t words <"$work/words"
		words=(-- bwrap "$(command -v bwrap)" "${unshare[@]}"
		    --die-with-parent "${words[@]}"
		    --remount-ro / --chdir "$PWD" "$true")
	fi
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
