#!/bin/bash
# The file of secrets, as TAP: what a command gets for a secret, what it does not get,
# and what is refused.  In a mount namespace, where the user's home is one of this
# test; no connection is made.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"
if [ "${1-}" != inside ]; then
	[ -x "$builddir/sbx-tls" ] && unshare --mount true 2>/dev/null || {
		tap_begin
		tap_lacks "all of it" "needs mount namespaces, as root has"
		tap_done
		exit
	}
	exec unshare --mount --propagation private "$0" inside
fi

tap_begin /var/tmp
mkdir -p "$tmp/home/.config/sbx" "$tmp/ws"
echo "root:x:0:0:root:$tmp/home:/bin/sh" >"$tmp/passwd"
mount --bind "$tmp/passwd" /etc/passwd || exit 99
HOME=$tmp/home REAL=ghp_0123456789abcdefghijklmnopqrstuvwxyz
export HOME REAL OTHER=$REAL
cd "$tmp/ws" || exit 99
policy secrets workspace-write 'allow env { REAL  OTHER  FILE }' \
    'allow network domain a.test with secret gh as env GH_TOKEN' \
    'allow network domain b.test with secret file as env FILE' \
    'allow network domain c.test with secret said'
file=$tmp/home/.config/sbx/secrets
(umask 077 && echo sk-ant-0123456789abcdef >"$tmp/value")
# says LINE...: the file of secrets.
says()
{
	printf '%s\n' "$@" >"$file"
	chmod 600 "$file"
}
gh='secret gh for a.test from env REAL'
named="secret file for *.x.test b.test from file $tmp/value"
# Not begun in the workspace, where a command may have put what it reads.
said='secret said for *.test from command sh -c "test ! -e here && echo said-0123456789abcdef"'
touch here
says '# mine' "$gh" "$named" "$said"

# shellcheck disable=SC2016  # the shell inside expands it
look='echo "$GH_TOKEN" "$FILE"; env | grep -c "$0"; cat ~/.config/sbx/secrets'
for level in full standard; do
	got=$("$SBXRUN" --level "$level" "$tmp/secrets.bin" -- \
	    sh -c "$look" '0123456789abcdef' 2>/dev/null)
	case $got in
	ghp_????????????????????????????????????' sk-ant-'????????????????"
0") tap_ok "$level: something of its form in the place of each secret" ;;
	*) tap_not_ok "$level: something of its form in the place of each" "$got" ;;
	esac
done

# shellcheck disable=SC2016  # each shell expands its own
got=$("$SBXRUN" --level standard "$tmp/secrets.bin" -- sh -c 'echo "$TMPDIR"' 2>/dev/null)
if bash -c 'mkdir "$0/.sbx-tls-$$" && exec "$@"' "$got" "$SBXRUN" \
    --level standard "$tmp/secrets.bin" -- true 2>"$tmp/err"; then
	tap_ok 'a directory that a run of this number has left'
else
	tap_not_ok 'a directory that a run of this number has left' "$(cat "$tmp/err")"
fi

# refused NAME PART: sbxrun ends with 125 and one line that has it.
refused()
{
	got=$("$SBXRUN" "$tmp/secrets.bin" -- echo ran 2>&1)
	case $?/$got in
	125/*ran*) tap_not_ok "$1" "$got" ;;
	125/*"$2"*) tap_ok "$1" ;;
	*) tap_not_ok "$1" "$got" ;;
	esac
}
chmod 644 "$tmp/value"
refused 'a file that others may read' 'chmod 600'
chmod 600 "$tmp/value"
chmod 666 "$file"
refused 'a list that others may write' 'others may write it'
says "$gh" "$named" 'secret said for c.test from command false'
refused 'a program that fails' 'its program has failed'
says "$gh" "$named" 'secret said for d.test from command echo x'
refused 'a host that the owner does not name' 'does not let it be used'
says "$gh" "$named" 'secret said for c.test from env NONE'
refused 'a variable that is not set' 'is not set'
says "$gh" "$named" 'secret said for c.test from command echo x'
refused 'a short one' 'less than 16'
says "$gh" "$named"
refused 'one that nobody knows' 'it is not known here'
says "$gh" 'secret x from y'
refused 'a line that is none' 'secrets:2:'
rm "$file"
refused 'no list at all' 'it is not known here'
tap_done
