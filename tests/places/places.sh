#!/bin/sh
# File systems, as TAP: in each of them what a policy denies is denied, by
# whatever name, and what it allows ends as it does without a sandbox, at both
# levels, as root and as an ordinary user; what cannot be held is refused in
# one line.  Lines that begin with `# row:` are those of docs/file-systems.md.
#
#	places.sh [NAME...]
#
# tries these places alone.  What this kernel lacks is tried by guest.sh.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"
# shellcheck source=tests/places/probes.sh
. "$srcdir/tests/places/probes.sh"
# shellcheck source=tests/places/rows.sh
. "$srcdir/tests/places/rows.sh"

if [ "$(id -u)" -ne 0 ]; then
	tap_lacks 'file systems' 'root mounts them'
	tap_done
	exit
fi
# What is mounted goes with the namespace, whatever becomes of the test.
if [ "${PLACES-}" != inside ]; then
	PLACES=inside exec unshare -m --propagation private sh "$0" "$@"
fi

tap_begin /var/tmp
programs=$tmp blob=$tmp/place.bin
tap_programs "$SBXRUN" "$PROBE"
places_policy
users="$(id -u) $ORDINARY"

# unmade: everything that this row has mounted.
unmade()
{
	for mount in $(awk -v tmp="$tmp/" 'index($5, tmp) == 1 { print $5 }' \
	    /proc/self/mountinfo | tac); do
		umount -l "$mount"
	done
	rm -rf "$tmp/over" "$tmp/behind" "$tmp/nested" "$tmp/mapped"
}
tap_at_end=unmade

# explained NAME: what `sbxc why` says of masks in FUSE, and of no other place.
explained()
{
	fuse=0
	[ "$(stat -f -c %t "$place")" != 65735546 ] || fuse=1
	for question in 'read .env' 'write new'; do
		# Two words.
		# shellcheck disable=SC2086
		tap_is "$1: why: $question: Landlock, too" $fuse "$(
		    cd "$ws" && HOME=$home "$SBXC" why -l full "$blob" \
		    $question | grep -Ec 'in FUSE also|nothing is made.*full|one by one.*full')"
	done
}

# one NAME STANDARD FULL: a place, and what sbxrun is to say there.
one()
{
	options='' why_not='' root=$tmp/places/$1
	place=$root
	own "$place"
	if ! "make_$1"; then
		tap_lacks "$1" "$why_not"
		unmade
		return
	fi
	chmod 1777 "$place" 2>/dev/null
	for uid in $users; do
		if ! place_bare "$uid"; then
			tap_not_ok "$1: uid $uid: bare" "$(cat "$tmp/said")"
			continue
		fi
		tap_levels standard full
		for level in $levels; do
			case $level in
			standard) place_at "$1" "$uid" standard "$2" ;;
			full) place_at "$1" "$uid" full "$3" ;;
			esac
		done
	done
	explained "$1"
	unmade
}

# The places, in the order of the table: what is said at standard, and at full.
table()
{
	cat <<-TABLE
	directory|holds|holds
	tmpfs|holds|holds
	ext4|holds|holds
	untyped|holds|holds
	casefold|holds|holds
	xfs|holds|holds
	btrfs|holds|holds
	vfat|holds|holds
	exfat|holds|holds
	ntfs3|holds|holds
	virtiofs|holds|holds
	nfs|holds|holds
	overlay|holds|holds
	lower|holds|holds
	squashfs|holds|holds
	erofs|holds|holds
	readonly|holds|holds
	bindfs|holds|holds
	fuse_overlayfs|holds|holds
	fuse2fs|holds|holds
	nested|holds|holds
	bound|holds|holds
	noexec|holds|holds
	idmapped|holds|holds
	TABLE
}

# Without a sandbox nothing is denied, and the list says so.
unconfined()
{
	place=$tmp/places/unconfined
	own "$place"
	place_bare "$(id -u)" || exit 99
	cp "$tmp/bare" "$tmp/answers"
	tap_found 'without a sandbox the list finds what is not denied' \
	    "$(wrong)"
	tap_found 'without a sandbox the list finds what is spoiled' \
	    "$(spoiled)"
}

chosen=$*
[ -n "$chosen" ] || ! tap_short ||
	chosen='directory tmpfs untyped overlay readonly bindfs'
unconfined
table >"$tmp/table"
while IFS='|' read -r name standard full <&3; do
	# Both are words.
	case " ${chosen:-$name} " in
	*" $name "*) one "$name" "$standard" "$full" ;;
	esac
done 3<"$tmp/table"
tap_done
