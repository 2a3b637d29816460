#!/bin/sh
# A /dev as containers have it, as TAP: /dev/ptmx is a link to pts/ptmx there.
# At levels standard and full, as root and as an ordinary user, a command gets a
# pseudo-terminal under policies that grant one.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

if [ "${DEVICES-}" != inside ]; then
	if ! unshare -m --propagation private mount -t devpts -o newinstance \
	    none /mnt 2>/dev/null; then
		tap_lacks devices 'root makes them'
		tap_done
		exit
	fi
	# What is mounted goes with the namespace, whatever becomes of the test.
	DEVICES=inside exec unshare -m --propagation private sh "$0" "$@"
fi

tap_begin /var/tmp
base=$tmp
tap_programs "$SBXRUN" "$SBXC"

# container TARGET: mounts such a /dev, over the one before.
container()
{
	mount -t tmpfs -o mode=755 none /mnt || exit 99
	for node in null zero full random urandom tty; do
		: >"/mnt/$node"
		mount --bind "/dev/$node" "/mnt/$node"
	done
	mkdir /mnt/pts /mnt/shm
	mount -t devpts -o newinstance,ptmxmode=0666,mode=620 none /mnt/pts
	mount -t tmpfs -o mode=1777 none /mnt/shm
	ln -s "$1" /mnt/ptmx
	mknod -m 666 /mnt/disk c 1 5
	mount --move /mnt /dev
}

# try UID NAME ANSWER: what the self-test finds.
try()
{
	home=$base/home-$1
	mkdir -p "$home" && chown "$1:$1" "$home"
	tap_is "$target: $level: uid $1: $2" "$3" "$(cd "$home" && as "$1" \
	    "$base/sbxrun" -l "$level" --self-test "$base/$2.bin" \
	    2>&1 | sed -n 's/^sbxrun: \|^a pseudo-terminal *//p')"
}

# opens UID NAME STATUS: whether the rule about the whole machine opens a device.
opens()
{
	(cd "$home" && as "$1" "$base/sbxrun" -l "$level" "$base/$2.bin" -- \
	    dd if=/dev/disk count=1 of=/dev/null 2>/dev/null)
	tap_is "$target: $level: uid $1: $2: a device" "$3" $?
}

policy usual coding
policy reads read-only
policy all read-only 'allow write /dev'
policy machine read-only
policy named read-only 'allow read /dev/disk'
tap_levels standard full
for target in pts/ptmx /dev/pts/ptmx; do
	container $target
	for level in $levels; do
		for uid in 0 "$ORDINARY"; do
			for name in usual reads all; do
				try "$uid" $name \
				    'allowed, as the policy says'
			done
			opens "$uid" machine 1
			opens "$uid" named 0
		done
	done
done
tap_done
