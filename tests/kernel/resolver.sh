#!/bin/sh
# /etc/resolv.conf where it is a link into /run, as TAP: who may use the host's
# network reads what it leads to, and nothing beside that; who may not does not.
# Who may use names reads what sbxrun says of them, and of other hosts nothing.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

if [ "${1-}" != inside ]; then
	# In a user namespace nobody sees that root owns the way to the policy.
	[ "$(id -u)" -eq 0 ] || { echo "1..0 # SKIP for root"; exit 0; }
	# Not below /tmp: that is the scratch directory at level full.
	tap_begin /var/tmp
	mkdir "$tmp/ws"
	if ! unshare -m true 2>/dev/null; then
		tap_skip 'a machine with such a link' 'no mounts of its own'
		tap_done
		exit
	fi
	unshare -m sh "$srcdir/tests/kernel/resolver.sh" inside "$tmp"
	exit
fi

# A machine with such a link, in mounts of its own.
tmp=$2
mkdir -p "$tmp/etc"
for name in passwd group ld.so.cache ld.so.conf alternatives; do
	[ ! -e "/etc/$name" ] || cp -R "/etc/$name" "$tmp/etc"
done
mount --bind "$tmp/etc" /etc && mount -t tmpfs none /run &&
	mkdir /run/resolve && cd "$tmp/ws" || exit 99
echo 'nameserver 192.0.2.53' >/run/resolve/stub
echo secret >/run/resolve/secret
ln -s ../run/resolve/stub /etc/resolv.conf
printf '%s\n' '127.0.0.1 localhost' '192.0.2.1 other' '::1 six' \
    ' 127.0.1.1 own' '::2 another' '128.0.0.1 near' >/etc/hosts

# policy NAME [STATEMENT...]
policy()
{
	name=$1
	shift
	{
		echo 'sbx 1'
		echo "profile $name {"
		echo '    allow exec { /usr /bin /lib /lib64 }'
		echo "    allow read { ${reads-/etc} \${workspace} }"
		echo '    allow env PATH'
		printf '    %s\n' "$@"
		echo '}'
	} >"$tmp/$name.sbx"
	"$SBXC" "$tmp/$name.sbx" -o "$tmp/$name.bin" || exit 99
}

policy none
policy full 'allow network full'
policy denied 'allow network full' 'deny read /run/resolve'
policy hidden 'allow network full' 'deny read /etc/resolv.conf'
reads=
policy unread 'allow network full'
policy names-unread 'allow network domain example.org'
reads='/etc/hosts /etc/resolv.conf'
policy alone 'allow network domain example.org'
unset reads
policy names 'allow network domain example.org'
policy names-denied 'allow network domain example.org' 'allow read /run' \
    'deny read { /run/resolve  /etc/hosts }'

# shown POLICY FILE: what the command reads there.
shown()
{
	"$SBXRUN" -l "$level" "$tmp/$1.bin" -- cat "$2" 2>/dev/null || echo no
}

tap_levels standard full
for level in $levels; do
	tap_is "$level: who has the network reads what the link leads to" \
	    'nameserver 192.0.2.53' "$(shown full /etc/resolv.conf)"
	tap_is "$level: and nothing beside it" \
	    no "$(shown full /run/resolve/secret)"
	tap_is "$level: -n names the rule" 1 "$("$SBXRUN" -l "$level" -n \
	    "$tmp/full.bin" -- true | grep -c 'read */run/resolve/stub')"
	tap_is "$level: who may not read the link reads nothing there" \
	    no "$(shown unread /run/resolve/stub)"
	for name in none denied hidden; do
		tap_is "$level: $name" no "$(shown $name /etc/resolv.conf)"
	done
	[ "$level" = full ] || continue
	tap_is 'names: resolv.conf' 'nameserver 127.0.0.1' \
	    "$(shown names /etc/resolv.conf | grep -v '^#')"
	tap_is 'names: hosts' '127.0.0.1 localhost
::1 six
 127.0.1.1 own' "$(shown names /etc/hosts)"
	tap_is 'names: each of the two where nothing around it is allowed' \
	    '127.0.0.1 localhost nameserver 127.0.0.1' "$(shown alone /etc/hosts |
	    head -n 1) $(shown alone /etc/resolv.conf | grep -v '^#')"
	for file in /etc/resolv.conf /etc/hosts; do
		tap_is "names: $file, which is denied" no \
		    "$(shown names-denied $file)"
		tap_is "names: $file, which is not allowed" no \
		    "$(shown names-unread $file)"
	done
	echo '192.0.2.1 other' >/etc/hosts
	tap_is 'names: hosts without this machine' '127.0.0.1 localhost' \
	    "$(shown names /etc/hosts)"
done
tap_done
