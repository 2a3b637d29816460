# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154  # places.sh has them
# Sourced by places.sh: how each place is made.  make_NAME makes it at $place,
# an empty directory, in a namespace of mounts that ends with the test; it fails
# with a line in $why_not where this machine cannot.

# needs WORD...: programs, and file systems of the kernel as `fs:NAME`.
needs()
{
	for need; do
		case $need in
		fs:*)
			modprobe -q "${need#fs:}" 2>/dev/null
			grep -qw "${need#fs:}$" /proc/filesystems || {
				why_not="this kernel has no ${need#fs:}"
				return 1
			}
			;;
		*)
			type "$need" >/dev/null 2>&1 || {
				why_not="there is no $need"
				return 1
			}
			;;
		esac
	done
}

# tried COMMAND...: with what it says, if it fails.
tried()
{
	"$@" >"$tmp/tried" 2>&1 || {
		why_not="$1: $(head -n 1 "$tmp/tried")"
		return 1
	}
}

# image MIB MKFS...: a new file system in $tmp/image, mounted with $options.
image()
{
	rm -f "$tmp/image"
	truncate -s "$1M" "$tmp/image"
	shift
	tried "$@" "$tmp/image" && tried mount -o "loop${options:+,$options}" \
	    "$tmp/image" "$place"
}

# own DIRECTORY...: of whoever comes.
own()
{
	mkdir -p "$@" && chmod 1777 "$@"
}

# layouts DIRECTORY: those of all users and levels, made before.
layouts()
{
	own "$1"
	for uid in $users; do
		for level in bare standard full; do
			at=$1/$uid-$level
			mkdir "$at" && layout "$uid" || return
		done
	done
}

# A directory of the file system that the tests lie on.
make_directory() { :; }

make_tmpfs() { tried mount -t tmpfs none "$place"; }

make_ext4() { image 64 mkfs.ext4 -q; }

# A list of names does not say there what each of them is.
make_untyped() { image 64 mkfs.ext4 -q -O ^filetype; }

make_casefold()
{
	needs chattr || return
	[ -e /sys/fs/ext4/features/casefold ] || {
		why_not='this kernel has ext4 without casefold'
		return 1
	}
	image 64 mkfs.ext4 -q -O casefold -E encoding=utf8 && own "$place/f" &&
	    tried chattr +F "$place/f" && place=$place/f
}

make_xfs() { needs fs:xfs mkfs.xfs && image 320 mkfs.xfs -q; }

make_btrfs()
{
	needs fs:btrfs mkfs.btrfs && image 128 mkfs.btrfs -q &&
	    tried btrfs subvolume create "$place/sub" &&
	    tried btrfs subvolume snapshot "$place/sub" "$place/snapshot" &&
	    place=$place/snapshot
}

make_vfat()
{
	options=umask=0,shortname=mixed
	needs fs:vfat mkfs.vfat && image 64 mkfs.vfat
}

make_exfat()
{
	options=umask=0
	needs fs:exfat mkfs.exfat && image 64 mkfs.exfat
}

make_ntfs3()
{
	options=umask=0
	needs fs:ntfs3 mkfs.ntfs && image 64 mkfs.ntfs -q -F
}

# By the host of a guest; see guest.sh.
make_virtiofs()
{
	needs fs:virtiofs && tried mount -t virtiofs shared "$place" &&
	    find "$place" -mindepth 1 -delete
}

# Of this machine itself, so that it is done in a guest alone: there is one server
# for all of a machine.
make_nfs()
{
	[ -n "${PLACES_GUEST-}" ] || {
		why_not='only a guest may have a server of its own'
		return 1
	}
	needs fs:nfs4 fs:nfsd exportfs rpc.nfsd rpc.mountd mount.nfs || return
	own "$tmp/behind" && tried mount -t tmpfs none "$tmp/behind" &&
	    chmod 1777 "$tmp/behind" &&
	    { grep -q ' /proc/fs/nfsd ' /proc/self/mountinfo ||
		tried mount -t nfsd nfsd /proc/fs/nfsd; } &&
	    mkdir -p /var/lib/nfs/v4recovery && touch /etc/exports \
		/var/lib/nfs/etab /var/lib/nfs/rmtab &&
	    tried rpc.mountd -N 2 -N 3 && tried rpc.nfsd -N 3 1 &&
	    tried exportfs -o rw,insecure,no_root_squash,fsid=0 \
		"127.0.0.1:$tmp/behind" &&
	    tried mount -t nfs4 127.0.0.1:/ "$place"
}

overlay()
{
	own "$tmp/over/low" "$tmp/over/up" "$tmp/over/work" &&
	    tried mount -t overlay -o \
	    "lowerdir=$tmp/over/low,upperdir=$tmp/over/up,workdir=$tmp/over/work" \
	    none "$place"
}

make_overlay() { needs fs:overlay && overlay; }

# What is denied lies in the lower layer, and is copied up when it is written.
make_lower()
{
	needs fs:overlay && layouts "$tmp/over/low" && overlay
}

make_squashfs()
{
	needs fs:squashfs mksquashfs && layouts "$tmp/behind" &&
	    tried mksquashfs "$tmp/behind" "$tmp/image" -noappend -quiet &&
	    tried mount -o loop "$tmp/image" "$place"
}

make_erofs()
{
	needs fs:erofs mkfs.erofs && layouts "$tmp/behind" && rm -f "$tmp/image" &&
	    tried mkfs.erofs "$tmp/image" "$tmp/behind" &&
	    tried mount -o loop "$tmp/image" "$place"
}

make_readonly()
{
	layouts "$tmp/behind" &&
	    tried mount -o bind,ro "$tmp/behind" "$place" &&
	    tried mount -o remount,bind,ro "$place"
}

make_bindfs()
{
	needs fs:fuse bindfs && own "$tmp/behind" &&
	    tried bindfs -o allow_other "$tmp/behind" "$place"
}

make_fuse_overlayfs()
{
	needs fs:fuse fuse-overlayfs || return
	own "$tmp/over/low" "$tmp/over/up" "$tmp/over/work"
	tried fuse-overlayfs -o "allow_other,lowerdir=$tmp/over/low,upperdir=$tmp/over/up,workdir=$tmp/over/work" \
	    "$place"
}

make_fuse2fs()
{
	needs fs:fuse fuse2fs || return
	rm -f "$tmp/image"
	truncate -s 64M "$tmp/image"
	tried mkfs.ext4 -q "$tmp/image" &&
	    tried fuse2fs -o allow_other,fakeroot "$tmp/image" "$place"
}

# A directory and files in it that are mounts themselves, as /etc/resolv.conf
# of a container.
make_nested()
{
	own "$tmp/nested/of/it" && tried mount --bind "$tmp/nested" "$place" &&
	    tried mount --bind "$tmp/nested/of" "$place/of" &&
	    place=$place/of
}

make_bound()
{
	tried mount -o bind,nosuid,nodev "$place" "$place" &&
	    tried mount -o remount,bind,nosuid,nodev "$place"
}

make_noexec()
{
	tried mount -t tmpfs -o nosuid,nodev,noexec none "$place"
}

# What belongs to user N looks like what belongs to N + 100000.
make_idmapped()
{
	needs python3 && own "$tmp/mapped" &&
	    tried mount -t tmpfs none "$tmp/mapped" &&
	    chown 100000:100000 "$tmp/mapped" && chmod 1777 "$tmp/mapped" &&
	    tried mount --bind "$tmp/mapped" "$place" &&
	    tried python3 "$srcdir/tests/places/idmapped.py" "$place" \
	    100000 0 70000
}
