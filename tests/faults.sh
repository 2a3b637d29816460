#!/bin/sh
# Every system call that sbxrun makes fails once, as TAP: the command then does
# not run, or runs as confined as ever.  The calls are those of a good run, so
# that the test follows the code.
#
#	faults.sh [all]
#
# all: every call and several errors, some minutes; else each name's first ones
# in each process and all that confine.

set -u
LC_ALL=C.UTF-8
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd) || exit 99
# shellcheck source=tests/tap.sh
. "$here/tap.sh"

# Not below /tmp: that is the scratch directory at level full.
base=$(mktemp -d /var/tmp/sbx-faults.XXXXXX) || exit 99
trap 'rm -rf "$base"' EXIT
trap 'exit 99' HUP INT TERM
mkdir -p "$base/ws/out" && cd "$base/ws" || exit 99
mkdir real sub
echo text | tee secret kept real/hidden sub/a.key ../outside >/dev/null
ln -s real/hidden linked
: >tool
chmod 755 tool
cp "${builddir:?}/tests/confined" confined

# policy NAME LEVEL [STATEMENT]
policy()
{
	cat >"$base/$1.sbx" <<-POLICY
	sbx 1
	profile faults {
	    require level $2
	    allow write \${workspace}
	    allow exec \${workspace}/confined
	    deny read { \${workspace}/secret \${workspace}/linked }
	    deny read glob "\${workspace}/**/*.key"
	    deny write \${workspace}/kept
	    allow env PATH
	    limit open-files 99
	    ${3-}
	}
	POLICY
	"$SBXC" "$base/$1.sbx" -o "$base/$1.bin" || exit 99
}

outside=$base/outside
policy standard standard
policy full full
policy standard-timeout standard 'limit timeout 60s'
policy full-timeout full 'limit timeout 60s'

faults='-k 2 -e EIO'
[ "${1-}" != all ] || faults='-e EIO -e EPERM -e ENOMEM -e ENOSYS -e EINTR'

# wrong LOADER LEVEL ARGUMENT...: prints what is wrong.
wrong()
{
	loader=$1 level=$2
	shift 2
	# Words of the options.
	# shellcheck disable=SC2086
	"$builddir/tests/fault" $faults out/marker "$loader" "$@" -- \
	    ./confined "$level" "$outside"
}

# try NAME LEVEL ARGUMENT...
try()
{
	name=$1
	shift
	tap_empty "$name" "$(wrong "$SBXRUN" "$@")"
}

for level in standard full; do
	try "level $level" $level -l $level "$base/$level.bin"
	try "level $level, supervised" $level -l $level \
	    "$base/$level-timeout.bin"
done
try 'the best level, down to standard' standard "$base/standard.bin"
outside=$base/ws/out/file
echo text >"$outside"
tap_found 'a command that can do more is seen' \
    "$(wrong "$SBXRUN" standard "$base/standard.bin")"
tap_done
