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
"$programs/sbxrun" --status >"$place/bare/out/status" 2>&1
# Of a terminal, too, which no probe tries.
HOME=/ "$programs/sbxrun" --self-test "$blob" 2>&1 |
    sed -n 's/^a pseudo-terminal *//p' >"$place/bare/out/terminal"
