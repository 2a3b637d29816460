#!/bin/sh
# alone.sh PLACE COMMAND...: runs the command where a fault of the loader can hurt
# nothing but PLACE.  It may signal or remove whatever it sees: so it sees the
# processes that it has started, temporary directories of its own, and all else
# read-only.  mutate.py begins it in namespaces of processes and mounts.

set -eu

place=$1
shift

mounts=$(cut -d' ' -f5 /proc/self/mountinfo |
    grep -vxE "$place|/tmp|/var/tmp|/(proc|sys|dev)(/.*)?")
rm -rf "$place/temporary"
for dir in tmp var/tmp; do
	mkdir -p "$place/temporary/$dir"
	chmod 1777 "$place/temporary/$dir"
	mount --bind "$place/temporary/$dir" "/$dir"
done
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
for dir in "$place" ${CCACHE_DIR:+"$CCACHE_DIR"}; do
	mount --bind "$dir" "$dir"
done
for dir in $mounts; do
	mount -o remount,bind,ro "$dir" 2>/dev/null || [ "$dir" != / ]
done
# One that forks without an end takes what all have, unless this namespace has a
# bound of its own, as it can since Linux 6.14; before, the bound is everybody's.
if printf '%s\n' 6.14 "$(uname -r)" | sort -CV; then
	echo 8000 >/proc/sys/kernel/pid_max
fi
# The directory was entered below the mount that no longer can be written.
cd "$(pwd)"
"$@"
