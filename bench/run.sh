#!/usr/bin/env bash
# usage: run.sh BUILDDIR [ROUNDS]
# What sbxrun adds to the start of a command, beside a loader that makes the
# same Landlock rules and installs the same filter and does nothing else.
#
# The same means the same: sbxrun runs once under ptrace, every rule's path and
# mask, the ruleset's attributes and the filter's bytes are written down
# (record), and minload is given just these.  The number of rules is therefore
# the number of landlock_add_rule calls that sbxrun made, which may be less
# than the number of rules in the policy (those that others cover are dropped).

set -euo pipefail
export LC_ALL=C
build=$(cd "$1" && pwd)
rounds=${2:-1000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
true=$build/bench/true
mkdir "$work/workspace"
cd "$work/workspace"

# policy N: N path rules on siblings, so that none covers another.
policy()
{
	echo "sbx 1"
	echo "profile bench {"
	echo "    require level standard"
	echo "    allow exec $build/bench"
	echo "    allow write \${workspace}"
	find /usr/share /usr/lib -mindepth 1 -maxdepth 2 -type d \
	    -path '/usr/*/*/*' -regex '[a-zA-Z0-9/._-]*' 2>/dev/null |
	    sort | awk -v n=$(($1 - 2)) 'NR <= n { print "    allow read " $0 }'
	echo "}"
}

measure()
{
	local name=$1 blob=$2
	shift 2
	echo "== $name"
	"$build/bench/record" "$work/plan" "$build/sbxrun" -l standard "$@" \
	    "$blob" -- "$true"
	"$build/bench/latency" "$rounds" bare "$true" \
	    -- minload "$build/bench/minload" "$work/plan" "$true" \
	    -- sbxrun "$build/sbxrun" -l standard "$@" "$blob" --- "$true" \
	    -- "sbxrun again" "$build/sbxrun" -l standard "$@" "$blob" \
		--- "$true"
	echo
}

for count in 15 100 1000; do
	policy "$count" >"$work/$count.sbx"
	"$build/sbxc" "$work/$count.sbx" -o "$work/$count.bin"
	measure "$count path rules" "$work/$count.bin"
done

# Level full, beside bubblewrap with the same places and namespaces; it applies
# no Landlock rules and, here, no filter.
full()
{
	local count=$1 blob=$work/$1.bin line words=() least=()
	echo "== level full, $count path rules"
	if command -v bwrap >/dev/null; then
		words=(-- bwrap "$(command -v bwrap)" --unshare-pid
		    --unshare-ipc --die-with-parent)
		[ "$(id -u)" -eq 0 ] || words+=(--unshare-user)
		words+=(--ro-bind "$build/bench" "$build/bench"
		    --bind "$PWD" "$PWD")
		while read -r line; do
			words+=(--ro-bind "$line" "$line")
		done < <(sed -n 's/^    allow read //p' "$work/$count.sbx")
		words+=(--chdir "$PWD" "$true")
	else
		echo "bubblewrap is not installed: nothing to compare with"
	fi
	if [ "$(id -u)" -eq 0 ]; then
		"$build/bench/record" plan "$build/sbxrun" -l standard \
		    "$blob" -- "$true" >/dev/null
		mapfile -t least < <(sed -n 's/^    allow read //p' \
		    "$work/$count.sbx")
		least=(-- "minload, full" "$build/bench/minload" -f "$PWD"
		    "$build/bench" "${least[@]}" - plan "$true")
	else
		echo "minload makes no user namespace: no floor beside it"
	fi
	"$build/bench/latency" "$rounds" bare "$true" "${least[@]}" \
	    -- "sbxrun, standard" "$build/sbxrun" -l standard "$blob" \
		--- "$true" \
	    -- "sbxrun, full" "$build/sbxrun" -l full "$blob" --- "$true" \
	    "${words[@]}"
	echo
}

full 15
full 100

# The default profile, which a command of the build tree may be executed by
# only from the workspace.
cp "$true" "$work/workspace/true"
true=$work/workspace/true
measure "workspace-write" "$build/profiles/workspace-write.bin" -w .
