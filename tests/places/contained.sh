#!/bin/sh
# Started by containers.sh in each container, in which there is little: tries
# the list of probes.sh bare and at each level, and leaves in PLACE/LEVEL/out
# what came of it.
#
#	contained.sh PLACE

programs=${0%/*} tmp=${0%/*} place=$1 blob=$1/place.bin
# tap.sh wants these, and they need not be there.
srcdir=$tmp SBXC=$tmp/sbxrun SBXRUN=$tmp/sbxrun SBXRUN_TEST=$tmp/sbxrun
PROBE=$tmp/probe
# shellcheck source=tests/lib/tap.sh
. "$programs/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$programs/sandbox.sh"
# shellcheck source=tests/places/probes.sh
. "$programs/probes.sh"
uid=$(id -u)

for level in bare auto standard full; do
	at=$place/$level home=$place/$level/home ws=$place/$level/ws
	tmp=$at/out
	answers "$uid"
	# What is said of the list, and not of the next command.
	cp "$tmp/said" "$tmp/kept"
	[ $level = bare ] || entered "$uid" sh -c 'echo scratch >$TMPDIR/a &&
	    mv $TMPDIR/a $TMPDIR/b && cat $TMPDIR/b && exit 7' >"$tmp/scratch"
	echo "$? $(cat "$tmp/scratch" 2>/dev/null)" >"$tmp/works"
	mv "$tmp/kept" "$tmp/said"
done
# The records alone: sbxc, which says them in words, stays outside.  The self-test
# tries a terminal, too, which no probe does.
"$programs/sbxrun" --status --json >"$place/bare/out/status.json" 2>/dev/null
HOME=/ "$programs/sbxrun" --self-test --json "$blob" \
    >"$place/bare/out/self-test.json" 2>/dev/null
