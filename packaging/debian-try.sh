#!/bin/sh
# usage: packaging/debian-try.sh DIR
# Installs the Debian packages that are in a directory, uses them as an ordinary
# user, purges them, and says what they leave.  This is done twice, with an
# AppArmor that restricts namespaces and without.  Takes root; the system is a
# copy of this one, which keeps only what is written (overlayfs), in a mount
# namespace.  What the packages depend on must be installed here.

set -eu
if [ $# -eq 1 ] && packages=$(realpath "$1"); then
	root=$(mktemp -d)
	status=0
	unshare --mount --propagation private "$0" "$packages" "$root" ||
	    status=$?
	rmdir "$root"
	exit $status
elif [ $# -ne 2 ]; then
	sed -n '2s/^# //p' "$0" >&2
	exit 2
fi

# --- the copy ---------------------------------------------------------------

packages=/tmp/here$1
lower=/tmp/here
upper=/tmp/here$2/upper
cd "$2"
mount -t tmpfs -o mode=755 tmpfs .
cd "$2"
mkdir upper work new
mount -t overlay -o lowerdir=/,upperdir=upper,workdir=work overlay new
for name in proc sys dev; do
	mount --rbind /$name new/$name
done
mount -t tmpfs -o mode=1777 tmpfs new/tmp
mkdir new/tmp/here
# Not chroot(2): in one nobody may make user namespaces.
pivot_root new new/tmp/here
cd /

# --- what is tried ----------------------------------------------------------

# A compiler's cache, say, writes elsewhere.
PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
failed=0
home=/srv/sbx-try

# is WHAT WANTED GOT
is()
{
	if [ "$2" = "$3" ]; then
		echo "fine: $1"
	else
		printf 'FAILED: %s\n  wanted: %s\n  got: %s\n' "$1" "$2" "$3"
		failed=1
	fi
}

as_user()
{
	(cd $home/project && setpriv --reuid=nobody --regid=nogroup \
	    --clear-groups env -i PATH=/usr/bin:/bin HOME=$home "$@" 2>&1)
}

# What any installation writes, of whatever package.
own='(/etc/ld\.so\.cache|/var/log/dpkg\.log|/var/cache/(man|ldconfig)/.*'
own="$own|/var/lib/dpkg/(status|lock|lock-frontend|triggers/Lock|[a-z]*-old))"

differences()
{
	{
		find "$upper" -mindepth 1 ! -type d
		find "$upper" -mindepth 1 -type d
	} | grep -vxE "$upper$own" | while read -r name; do
		name=${name#"$upper"}
		if [ -c "$upper$name" ]; then
			echo "removed $name"
		elif [ ! -e "$lower$name" ] && [ ! -L "$lower$name" ]; then
			echo "left $name"
		elif [ ! -d "$upper$name" ] &&
		    ! cmp -s "$upper$name" "$lower$name"; then
			echo "changed $name"
		fi
	done
}

installs()
{
	dpkg --force-unsafe-io -i "$packages"/*.deb >/tmp/dpkg 2>&1 || {
		cat /tmp/dpkg
		exit 1
	}
}

purges()
{
	for file in "$packages"/*.deb; do
		dpkg-deb -f "$file" Package
	done | xargs dpkg --force-unsafe-io --purge >/tmp/dpkg 2>&1 ||
	    cat /tmp/dpkg
	rm -rf $home
}

purged()
{
	is "purged $1: nothing is left" '' "$(differences)"
	is "purged $1: the linker knows no library" '' \
	    "$(ldconfig -p | grep libsbx || :)"
}

uses()
{
	mkdir -p $home/project $home/.ssh
	echo secret >$home/.ssh/id
	chown -R nobody $home
	is "a command runs at full" in \
	    "$(as_user sbxrun -l full @workspace-write -c 'echo in')"
	is "a command runs at standard" in \
	    "$(as_user sbxrun -l standard @workspace-write -c 'echo in')"
	is "a key is out of reach" \
	    "cat: $home/.ssh/id: No such file or directory" \
	    "$(as_user sbxrun -l full @coding -- cat $home/.ssh/id)"
	is "a policy that reaches names finds its proxy" in \
	    "$(as_user sbxrun @coding-online -c 'echo in')"
	is "sbxc compiles" '' "$(as_user sbxc build -o p.bin @coding)"
	is "sbxsh is a shell" out "$(as_user sbxsh -c 'echo out')"
	is "pages are found" 3 "$(for page in 1:sbxrun 5:sbx 3:sbx; do
		ls /usr/share/man/man"${page%:*}/${page#*:}.${page%:*}.gz"
	done | wc -l)"
	is "bash completes" 'complete -F _sbx sbxrun' "$(bash -c '
	    . /usr/share/bash-completion/completions/sbxrun
	    complete -p sbxrun')"
	printf '#include <sbx.h>\n#include <stdio.h>\nint main(void)\n{
	struct sbx_error e = { 0 };\n	puts(sbx_open(NULL, &e) ? "yes" : "no");\n}
	' >/tmp/p.c
	# shellcheck disable=SC2046
	is "a program is built with the library" no "$(cc -o /tmp/p /tmp/p.c \
	    $(pkg-config --cflags --libs sbx) 2>&1 && /tmp/p)"
}

installs
uses
purges
purged "without AppArmor"

# A machine with the restriction, and a parser that only notes what it is given.
profiles=$([ -d /etc/apparmor.d ] || echo missing)
parser=/usr/local/sbin/apparmor_parser
mount -t tmpfs tmpfs /proc/sys/kernel
echo 1 >/proc/sys/kernel/apparmor_restrict_unprivileged_userns
mkdir -p /etc/apparmor.d
printf '#!/bin/sh\necho "$*" >>/tmp/parser\n' >$parser
chmod 755 $parser
installs
is "AppArmor is told" "-r /etc/apparmor.d/sbxrun" "$(cat /tmp/parser)"
is "of the program" 1 "$(grep -c '/usr/bin/sbxrun' /etc/apparmor.d/sbxrun)"
rm /tmp/parser
purges
is "AppArmor is told of the end" "-R /etc/apparmor.d/sbxrun" \
    "$(cat /tmp/parser)"
rm $parser
[ -z "$profiles" ] || rmdir /etc/apparmor.d
purged "with AppArmor"
exit $failed
