#!/bin/sh
# Drafts of real tools, as TAP: each that is here is learned from, passes under what
# sbxc drafts of it, and so do other commands of it.  Drafts have three rules at
# most, and a check warns of none.  At both levels, as an ordinary user.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

tap_begin /var/tmp
if ! command -v python3 >/dev/null; then
	tap_lacks 'drafts of tools' 'there is no python3'
	tap_done
	exit
fi
base=$tmp
tap_programs "$SBXRUN" "$SBXC" "$srcdir/tests/kernel/learn_tools.py" \
    "$srcdir/tests/kernel/learn_tools.jsonl"
[ ! -x "$builddir/sbx-proxy" ] || tap_programs "$builddir/sbx-proxy"
policy plain workspace-write
uid=$ORDINARY
[ "$(id -u)" -eq 0 ] || uid=$(id -u)
home=$base/stage
mkdir "$home"
[ "$(id -u)" -ne 0 ] || chown "$uid:$uid" "$home"

tap_levels standard full
for level in $levels; do
	# All of it four times would take long, and tell little more.
	cp "$base/learn_tools.jsonl" "$base/list"
	extends=nearest
	if [ "$level" = full ]; then
		extends=none
		grep -Ev '"tool": "(cmake|go|javac|npm)"' \
		    "$base/learn_tools.jsonl" >"$base/list"
	fi
	PYTHONDONTWRITEBYTECODE=1 as "$uid" \
	    python3 "$base/learn_tools.py" "$base/sbxrun" \
	    "$base/sbxc" "$home" "$level" "$base/plain.bin" \
	    "$extends" "$base/list" \
	    >"$base/results" 2>"$base/said" </dev/null
	tap_is "$level: $extends: all were tried" 0 $?
	# One line a fact: what, what it should be, what it is.
	python3 - "$base/results" >"$base/facts" <<'END'
import json, sys
for line in open(sys.argv[1]):
    one = json.loads(line)
    bad = [f"{key}: {said}" for key, said in one["others"].items() if said]
    said = [one["draft"] or one["again"] or ""] + bad
    print("\t".join([one["tool"], str(one["rules"] <= 3),
                     " | ".join(said).replace("\n", " ").replace("\t", " ")
                     .strip(" |")]))
END
	while IFS='	' read -r tool few said; do
		tap_is "$level: $extends: $tool has few rules" True \
		    "$few"
		tap_empty "$level: $extends: $tool passes, and its kin" \
		    "$said"
	done <"$base/facts"
	tap_found "$level: $extends: there are tools" \
	    "$(cat "$base/facts")"
done
tap_done
