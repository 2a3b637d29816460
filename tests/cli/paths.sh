#!/bin/sh
# Files that are not what their names promise, as TAP: neither program waits for
# a named pipe, opens a device, or writes where a link leads.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

tap_begin "${TMPDIR-/tmp}"
cd "$tmp" || exit 99
printf 'sbx 1\nprofile p extends workspace-write {\n}\n' >good.sbx
printf 'sbx 1\ninclude "pipe.sbx"\nprofile p extends workspace-write {\n}\n' \
    >includes.sbx
printf 'sbx-test: 1\npolicy: pipe.sbx\ncases:\n  - allow: read /usr\n' \
    >policy.test.yaml
"$SBXC" good.sbx -o good.bin || exit 99
mkfifo pipe.sbx pipe.yaml pipe.bin pipe.out
mkdir directory
ln -s pipe.sbx link.sbx
perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => "socket",
    Listen => 1) or die' || exit 99

# refuses STATUS NAME COMMAND...: without waiting for anything, in one line.
refuses()
{
	wanted=$1 name=$2
	shift 2
	said=$(timeout 300 "$@" 2>&1 </dev/null)
	status=$?
	tap_is "$name" "$wanted 1" "$status $(echo "$said" | grep -c \
	    'no regular file\|No such device\|is a directory\|Is a directory')"
	[ "$status" = "$wanted" ] || echo "# $said"
}

for file in pipe.sbx link.sbx pipe.yaml /dev/zero socket directory; do
	refuses 3 "sbxc build $file" "$SBXC" "$file" -o out
	refuses 3 "sbxc check $file" "$SBXC" check "$file"
done
refuses 3 'sbxc test' "$SBXC" test pipe.yaml
refuses 3 'sbxc fmt' "$SBXC" fmt pipe.sbx
refuses 3 'sbxc dump' "$SBXC" dump pipe.bin
refuses 3 'sbxc why' "$SBXC" why pipe.bin read /usr
refuses 3 'sbxc diff' "$SBXC" diff good.bin pipe.bin
refuses 1 'an include' "$SBXC" includes.sbx -o out
refuses 3 'the policy of a test' "$SBXC" test policy.test.yaml
for file in pipe.bin ./link.sbx /dev/zero ./socket; do
	refuses 125 "sbxrun $file" "$SBXRUN" -l standard "$file" -- true
done

# What the caller hands over is waited for.
tap_is 'a slow pipe, sbxc' 0 "$( (sleep 0.5; cat good.sbx) |
    "$SBXC" check /dev/stdin >&2; echo $?)"
tap_is 'a slow pipe, sbxrun' ran "$( (sleep 0.5; cat good.bin) |
    "$SBXRUN" -l standard /dev/stdin -- echo ran)"
(sleep 0.3; cat good.bin >pipe.bin) &
tap_is 'a named pipe as a descriptor, sbxrun' ran \
    "$("$SBXRUN" -l standard /dev/stdin -- echo ran <pipe.bin)"
(sleep 0.3; cat good.sbx >pipe.sbx) &
tap_is 'a named pipe as a descriptor, sbxc' 0 \
    "$("$SBXC" check /dev/fd/0 <pipe.sbx >&2; echo $?)"

# --- what is written ----------------------------------------------------------

echo precious >precious
ln -s precious good.out
ln -s precious deps
"$SBXC" good.sbx -o good.out -d deps
tap_is 'a link is replaced' 'precious same file' "$(cat precious) $(cmp good.bin \
    good.out && echo same) $([ -L deps ] || echo file)"
rm good.bin
ln -s precious good.bin
"$SBXC" good.sbx
tap_is 'the name that nobody gave' 'precious same' "$(cat precious) $(cmp \
    good.bin good.out && echo same)"
ln -s nowhere dangling
"$SBXC" good.sbx -o dangling
tap_is 'a link that leads nowhere' 'same ' \
    "$(cmp dangling good.out && echo same) $(ls nowhere 2>/dev/null)"
refuses 3 'a pipe that nobody reads' "$SBXC" good.sbx -o pipe.out
exec 3<>pipe.out
"$SBXC" good.sbx -o pipe.out &
tap_is 'a pipe that somebody reads' same "$(timeout 300 head \
    -c "$(wc -c <good.out)" <&3 | cmp good.out - && echo same)"
wait $!
exec 3>&-
tap_is 'standard output' same "$("$SBXC" good.sbx -o /dev/stdout |
    cmp good.out - && echo same)"
"$SBXC" good.sbx -o /dev/stdout >redirected
tap_is 'standard output in a file' same "$(cmp good.out redirected && echo same)"
"$SBXC" good.sbx -o /dev/null
tap_is 'a device' 0 $?
tap_done
