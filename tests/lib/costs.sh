#!/bin/sh
# usage: costs.sh BUILDDIR
# The tests of a build that took most of the processors, and what all took, from
# the last lines of their logs.

set -u
cd "$1" || exit 2
find tests -name '*.log' -exec awk '
	/^# took .* s of processors$/ { print $6, $3, FILENAME }' {} + |
    LC_ALL=C sort -rn | awk '
	{
		sum += $1
		sub(/\.log$/, "", $3)
		if (NR <= 12)
			printf "  %-28s %6.1f s of processors in %.1f s\n", \
			    $3, $1, $2
	}
	END { printf "  %-28s %6.1f s of processors\n", "all", sum }'
