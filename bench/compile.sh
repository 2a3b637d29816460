#!/usr/bin/env bash
# usage: compile.sh BUILDDIR [ROUNDS]
# How long sbxc takes for policies of 1,000, 10,000 and 30,000 path rules, all
# different and none covered by another; `cpu min` is the one to compare.

set -euo pipefail
export LC_ALL=C
build=$(cd "$1" && pwd)
rounds=${2:-10}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

policy()
{
	echo "sbx 1"
	echo "profile bench {"
	seq "$1" | awk '{ printf "    allow read /d%d/%d\n", $1 % 97, $1 }'
	echo "}"
}

arguments=(nothing "$build/bench/true")
for count in 1 1000 10000 30000; do
	policy "$count" >"$work/$count.sbx"
	arguments+=(-- "$count rules" "$build/sbxc" "$work/$count.sbx" \
	    -o "$work/$count.bin")
done
arguments+=(-- "workspace-write" "$build/sbxc" \
    "$(dirname "$0")/../profiles/workspace-write.sbx" -o "$work/ww.bin")
"$build/bench/latency" "$rounds" "${arguments[@]}"
(cd "$work" && stat -c '%s bytes %n' ./*.bin)
