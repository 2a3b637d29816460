#!/bin/sh
# What file systems do when they are asked by ioctl(2), which Landlock does not
# see, as TAP: the requests themselves, and what btrfs does with them on a file
# system of its own, where root can mount one.  As this user and, started by
# root, as an ordinary one too.
#
# btrfs.img.gz.gz was made by `truncate -s 16M img; mkfs.btrfs --mixed -m single
# -d single -n 4096 img`; what gzip leaves of it is zeros, once more.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"
image=$srcdir/tests/kernel/btrfs.img.gz.gz

# Not below /tmp: that is the scratch directory at level full.
tap_begin /var/tmp
base=$tmp
tap_programs "$SBXRUN"
# shellcheck disable=SC2016  # the anchor is the policy's
policy plain workspace-write 'deny read ${workspace}/.env'

# prepare UID PLACE: a home with a workspace and something that may be read.
prepare()
{
	home=$2/home-$1
	ws=$home/src
	library=$home/.local/lib
	"$PROBE" subvolume "$2" "home-$1" >/dev/null
	mkdir -p "$home" "$library"
	"$PROBE" subvolume "$home" src >/dev/null
	mkdir -p "$ws"
	echo secret >"$ws/.env"
	head -c 20000 /dev/zero >"$ws/file"
	: >"$ws/copy"
	: >"$library/file"
	cp "$PROBE" "$ws/probe"
	chown -R "$1:$1" "$home"
}

# got UID WORD...: inside, at $level; bare without a level.
got()
{
	uid=$1
	shift
	[ -z "$level" ] || set -- "$base/sbxrun" -l "$level" \
	    "$base/plain.bin" -- "$@"
	(cd "$ws" && as "$uid" "$@" 2>&1 </dev/null)
}

# held UID ANSWER OPERATION...
held()
{
	uid=$1 answer=$2
	shift 2
	tap_is "${level:-bare}: uid $uid: $*" "$answer" \
	    "$(got "$uid" ./probe "$@")"
}

# FS_IOC_ENABLE_VERITY, FS_IOC_ADD_ENCRYPTION_KEY, EXT4_IOC_MIGRATE,
# BTRFS_IOC_SUBVOL_CREATE, SNAP_CREATE, _V2, SNAP_DESTROY, SUBVOL_SETFLAGS,
# DEFRAG, OCFS2_IOC_REFLINK, BCH_IOCTL_SUBVOLUME_CREATE, SMB, F2FS: with other
# sizes and directions, and with what the kernel does not look at.
REQUESTS='0x40806685 0xc0506617 0x6609 0x5000940e 0x50009401 0x50009417
    0x5000940f 0x4008941a 0x50009402 0x40186f04 0x4008bc10 0xcf04 0x4004f50d
    0x15000940e 0x940e 0xffff940e 0xffffffff5000940e'
# FS_IOC_FSSETXATTR, FS_IOC_SETVERSION, FAT_IOCTL_SET_ATTRIBUTES, and
# FS_IOC_SETFLAGS of 32-bit programs.
FLAGS='0x401c5820 0x40087602 0x40047211'

requests()
{
	wrong=
	for request in $REQUESTS; do
		answer=$(got "$1" ./probe ioctl "$library/file" "$request")
		[ "$answer" = EPERM ] || wrong="$wrong $request=$answer"
	done
	tap_empty "$level: uid $1: requests that change what may be read" \
	    "$wrong"
	wrong=
	for request in $FLAGS 0x40086602; do
		answer=$(got "$1" ./probe ioctl "$library/file" "$request")
		case $level-$answer in
		standard-EPERM | full-E*) ;;
		*) wrong="$wrong $request=$answer" ;;
		esac
	done
	tap_empty "$level: uid $1: attributes of what may be read" "$wrong"
	# FS_IOC_GETFLAGS, FS_IOC_FIEMAP, FS_IOC_FSGETXATTR, FIGETBSZ, FIONREAD
	wrong=
	for request in 0x80086601 0xc020660b 0x801c581f 0x2 0x541b; do
		answer=$(got "$1" ./probe ioctl "$library/file" "$request")
		[ "$answer" != EPERM ] || wrong="$wrong $request"
	done
	tap_empty "$level: uid $1: requests that only look" "$wrong"
}

# F_SETLEASE (F_RDLCK) and F_NOTIFY (DN_MODIFY), of what is only read.
leases()
{
	held "$1" "$2" fcntl "$library/file" 1024 0
	held "$1" "$2" fcntl "$library" 1026 2
	[ -z "$level" ] || held "$1" "$2" fcntl "$library/file" 0x100000400 0
	# F_GETLEASE, F_GETFL
	held "$1" ok fcntl "$library/file" 1025 0
	held "$1" ok fcntl "$library/file" 3 0
}

# Bare, to see that the requests are those that do it.
bare()
{
	level=
	held "$1" ok subvolume "$library" planted
	held "$1" ok snapshot . . taken
	tap_is "bare: uid $1: the snapshot shows what is masked" secret \
	    "$(cat "$ws/taken/.env")"
	held "$1" ok ioctl "$library/file" 0x40086602
	rmdir "$library/planted"
	as "$1" rm -f "$ws/taken/.env"
}

# A socket that listened before the sandbox was made, with a client waiting, and is
# told to listen again inside: nobody takes that client from it.  In btrfs the
# place of a socket is proved by a connection, so that is where one could.
cat >"$base/waiting.py" <<'END'
import os, socket, subprocess, sys
place = os.path.join(os.getcwd(), "waiting.sock")
if len(sys.argv) == 1:
    server = socket.socket(fileno=0)
    server.settimeout(60)
    server.listen(8)
    server.accept()[0].sendall(b"served")
    sys.exit()
if os.path.exists(place):
    os.unlink(place)
server = socket.socket(socket.AF_UNIX)
server.bind(place)
server.listen(8)
client = socket.socket(socket.AF_UNIX)
client.settimeout(60)
client.connect(place)
inside = subprocess.Popen(sys.argv[1:] + ["/usr/bin/python3", "waiting.py"],
    stdin=server, stderr=subprocess.DEVNULL)
print(client.recv(10).decode() or "closed")
server.close()
inside.kill()
inside.wait()
END

waiting()
{
	[ -x /usr/bin/python3 ] || return
	cp "$base/waiting.py" "$ws"
	tap_is "$level: uid $1: a client that waits is served" served \
	    "$(cd "$ws" && as "$1" /usr/bin/python3 waiting.py \
		"$base/sbxrun" -l "$level" "$base/plain.bin" -- 2>&1)"
}

btrfs()
{
	prepare "$1" "$base/mounted"
	bare "$1"
	tap_levels standard full
	for level in $levels; do
		held "$1" EPERM subvolume "$library" "planted-$level"
		held "$1" EPERM subvolume . "planted-$level"
		held "$1" EPERM snapshot . . "taken-$level"
		tap_is "$level: uid $1: cp --reflink" '' \
		    "$(got "$1" cp --reflink=always file copy)"
		waiting "$1"
		tap_empty "$level: uid $1: nothing was planted or taken" \
		    "$(find "$library" "$ws" -name "*-$level")"
	done
}

unmount()
{
	umount "$base/mounted"
}

for uid in $(id -u) $([ "$(id -u)" -ne 0 ] || echo $ORDINARY); do
	prepare "$uid" "$base"
	level=
	leases "$uid" ok
	tap_levels standard full
	for level in $levels; do
		leases "$uid" EPERM
		requests "$uid"
	done
done

if [ "$(id -u)" -ne 0 ]; then
	tap_done
	exit
fi
mkdir "$base/mounted"
gzip -dc "$image" | gzip -dc >"$base/image"
if mount -t btrfs -o loop "$base/image" "$base/mounted" 2>/dev/null; then
	tap_at_end=unmount
	chmod 755 "$base/mounted"
	btrfs 0
	btrfs $ORDINARY
else
	tap_skip 'btrfs' 'no image of it can be mounted here'
fi
tap_done
