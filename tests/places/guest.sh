#!/bin/sh
# places.sh in a virtual machine, with a kernel of Debian's that has what this
# one lacks:
#
#	guest.sh DIRECTORY [NAME...]
#
# DIRECTORY has packages: a linux-image-*.deb, busybox-static, kmod, and of what
# the machine lacks that is wanted inside, such as exfatprogs.  The guest sees the files
# of this machine by virtiofs, which it cannot write, below a layer of its own, and
# the packages above them.  It takes qemu with its virtiofsd, cpio and root, and some
# minutes: nothing here asks for /dev/kvm.  NAMEs are places.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

if [ $# -lt 1 ]; then
	tap_lacks 'a guest' 'no kernel was given: guest.sh DIRECTORY'
	tap_done
	exit
fi
packages=$(realpath "$1")
shift
virtiofsd=/usr/libexec/virtiofsd
[ -x $virtiofsd ] || virtiofsd=/usr/lib/qemu/virtiofsd
for need in qemu-system-x86_64 $virtiofsd cpio dpkg; do
	type "$need" >/dev/null 2>&1 || missing=$need
done
[ "$(id -u)" -eq 0 ] || missing=root
if [ -n "${missing-}" ]; then
	tap_lacks 'a guest' "there is no $missing"
	tap_done
	exit
fi

tap_begin /var/tmp
unpacked=$tmp/unpacked
mkdir -p "$unpacked" "$tmp/init/bin"
for package in "$packages"/*.deb; do
	dpkg -x "$package" "$tmp/one" || exit 99
	# Where /sbin is a link, it has to stay one.
	for directory in bin sbin lib lib64; do
		[ ! -d "$tmp/one/$directory" ] || {
			mkdir -p "$tmp/one/usr/$directory"
			cp -a "$tmp/one/$directory/." "$tmp/one/usr/$directory"
			rm -rf "${tmp:?}/one/$directory"
		}
	done
	cp -a "$tmp/one/." "$unpacked"
	rm -rf "$tmp/one"
done
# What is being tried must not change under the guest.
mkdir -p "$unpacked/opt/sbx/tests"
cp "$SBXC" "$SBXRUN" "$SBXRUN_TEST" "$PROBE" "$(dirname "$SBXRUN")/sbx-proxy" \
    "$unpacked/opt/sbx" && cp -a "$srcdir/tests/lib" "$srcdir/tests/places" \
    "$unpacked/opt/sbx/tests" || exit 99
kernel=$(ls "$unpacked"/boot/vmlinuz-* | head -n 1)
[ -n "$kernel" ] || exit 99
version=${kernel##*/vmlinuz-}
# It does what its name says.
ln -s "$unpacked/usr/bin/kmod" "$tmp/depmod"
"$tmp/depmod" -b "$unpacked/usr" "$version" || exit 99

# The first process: a root of three layers, and the script in it.
cp "$unpacked/usr/bin/busybox" "$tmp/init/bin/busybox" || exit 99
for name in fuse virtiofs overlay; do
	find "$unpacked" -name "$name.ko*" -exec cp {} "$tmp/init" \;
	[ ! -e "$tmp/init/$name.ko.xz" ] || unxz "$tmp/init/$name.ko.xz"
	[ ! -e "$tmp/init/$name.ko" ] || echo "/$name.ko" >>"$tmp/init/modules"
done
cat >"$tmp/init/init" <<INIT
#!/bin/busybox sh
/bin/busybox --install -s /bin
mkdir /proc /low /packages /up /new
mount -t proc proc /proc
while read -r module; do insmod \$module; done </modules
mount -t virtiofs -o ro root /low
mount -t virtiofs -o ro packages /packages
mount -t tmpfs -o size=1G none /up
mkdir /up/up /up/work
mount -t overlay -o lowerdir=/packages:/low,upperdir=/up/up,workdir=/up/work none /new
mkdir -p /new/tmp /new/run /new/var/tmp
mount -t proc proc /new/proc
mount -t sysfs sys /new/sys
mount -t devtmpfs dev /new/dev
mkdir -p /new/dev/pts /new/dev/shm
mount -t devpts devpts /new/dev/pts
mount -t tmpfs none /new/dev/shm
mount -t tmpfs none /new/run
mount -t tmpfs none /new/tmp
mount -t tmpfs none /new/var/tmp
chmod 1777 /new/tmp /new/var/tmp
mount -t cgroup2 none /new/sys/fs/cgroup
mount -t securityfs none /new/sys/kernel/security
exec switch_root /new /bin/sh /run.sh
INIT
sed -i 's|^exec|cp /run.sh /new/run.sh; &|' "$tmp/init/init"
cat >"$tmp/init/run.sh" <<RUN
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TMPDIR=/tmp
export TEST_ROUNDS=100 PLACES_GUEST=1 srcdir=/opt/sbx builddir=/opt/sbx
export SBXC=/opt/sbx/sbxc SBXRUN=/opt/sbx/sbxrun PROBE=/opt/sbx/probe
export SBXRUN_TEST=/opt/sbx/sbxrun-test
modprobe -q loop
ip link set lo up 2>/dev/null || busybox ifconfig lo 127.0.0.1 up
cd /
{
	echo "# \$(uname -sr)"
	/opt/sbx/sbxrun --status | sed 's/^/# /'
	sh /opt/sbx/tests/places/places.sh $*
} >/dev/ttyS0 2>&1
echo 'the guest ends' >/dev/ttyS0
sync
echo o >/proc/sysrq-trigger
sleep 60
RUN
chmod +x "$tmp/init/init"
(cd "$tmp/init" && find . | cpio -o -H newc --quiet | gzip -1) >"$tmp/initrd"

# share NAME DIRECTORY: what the guest mounts by that name.
share()
{
	$virtiofsd --socket-path="$tmp/$1.socket" -o "source=$2" \
	    -o sandbox=chroot -o cache=auto >"$tmp/virtiofsd" 2>&1 &
	servers="$servers $!"
	tap_until [ -S "$tmp/$1.socket" ]
	devices="$devices -chardev socket,id=$1,path=$tmp/$1.socket"
	devices="$devices -device vhost-user-fs-pci,chardev=$1,tag=$1"
}

# They end when the guest does, as a rule.
unshared()
{
	for server in $servers; do
		kill "$server" 2>/dev/null
	done
}
servers='' devices=''
tap_at_end=unshared
mkdir -m 1777 "$tmp/shared"
share root /
share packages "$unpacked"
share shared "$tmp/shared"
# shellcheck disable=SC2086  # words
timeout "${GUEST_LIMIT:-1800}" qemu-system-x86_64 -accel tcg \
    -cpu qemu64,-cx16 -m 3072 -smp 2 -nographic -no-reboot -nodefaults \
    -serial stdio -display none \
    -object memory-backend-memfd,id=memory,size=3072M,share=on \
    -numa node,memdev=memory $devices \
    -kernel "$kernel" -initrd "$tmp/initrd" \
    -append "console=ttyS0 quiet panic=-1" \
    </dev/null 2>"$tmp/qemu" | tr -d '\r' | tee "$tmp/console" |
    sed -n 's/^not ok [0-9]* - /not ok /p; s/^ok [0-9]* - /ok /p; /^#/p' \
    >"$tmp/said"

while read -r line; do
	name=${line#*ok }
	case $line in
	'not ok '*) tap_not_ok "$name" ;;
	'ok '*' # SKIP '*) tap_lacks "${name%% # SKIP*}" "${name#* # SKIP }" ;;
	'ok '*) tap_ok "$name" ;;
	*) echo "$line" ;;
	esac
done <"$tmp/said"
if grep -q '^the guest ends' "$tmp/console"; then
	tap_ok 'the guest came to its end'
else
	tap_not_ok 'the guest came to its end' \
	    "$(grep -hv "^\[" "$tmp/console" "$tmp/qemu" | tail -n 30)"
fi
tap_done
