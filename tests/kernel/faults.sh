#!/bin/sh
# Every system call that sbxrun makes fails once, as TAP: the command then does
# not run, or runs as confined as ever.  The calls are those of a good run, so
# that the test follows the code.
#
#	faults.sh [all]
#
# all: every call and several errors, some minutes; with a thousand rounds one call
# of each place that makes it; else each name's first ones in each process and all
# that confine.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/kernel/delegate.sh
. "$srcdir/tests/kernel/delegate.sh"

# Not below /tmp: that is the scratch directory at level full.
tap_begin /var/tmp
base=$tmp
tap_at_end=delegate_end
mkdir -p "$base/ws/out" && cd "$base/ws" || exit 99
mkdir -p real sub .git/hooks
printf '[core]\n\tbare = false\n' >.git/config
echo text | tee secret kept real/hidden sub/a.key ../outside >/dev/null
ln -s real/hidden linked
: >tool
chmod 755 tool
cp "${builddir:?}/tests/kernel/confined" confined

# policy NAME LEVEL [STATEMENTS]
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
policy full-timeout full 'limit timeout 600s'
watched='limit timeout 600s
    limit output 1MiB
    watch ${workspace}/real
    watch ${workspace}/gone
    watch git ${workspace}'
policy standard-watched standard "$watched"
policy full-watched full "$watched"
policy full-proc full 'allow write ${tmp}
    allow read /proc
    deny read /proc/1/environ
    prefer deny read ${tmp}/sub/secret'
group_limits='limit timeout 600s
    limit processes 99
    limit memory 4GiB
    allow read /proc'
policy standard-group standard "$group_limits"
policy full-group full "$group_limits"

policy standard-hosts standard 'allow network domain "example.org"'
port=$(tap_port 23000)
policy full-hosts full "limit timeout 600s
    allow network domain \"example.org\"
    allow network connect 10.2.0.0/16:443
    allow network publish tcp $port"

# The limit on processes, where it is a fault that it is still that.
held=
faults='-k 1 -e EIO'
[ "$(tap_rounds 100)" -lt 100 ] || faults='-k 2 -e EIO'
[ "$(tap_rounds 100)" -lt 1000 ] || faults='-s -e EIO -e EINTR'
[ "${1-}" != all ] || faults='-e EIO -e EPERM -e ENOMEM -e ENOSYS -e EINTR'

# wrong LOADER LEVEL ARGUMENT...: prints what is wrong.
wrong()
{
	loader=$1 level=$2
	shift 2
	# Words of the options.
	# shellcheck disable=SC2086
	"$builddir/tests/kernel/fault" $faults out/marker "$loader" "$@" -- \
	    ./confined "$level" "$outside" $held
}

# try NAME LEVEL ARGUMENT...
try()
{
	name=$1
	shift
	tap_empty "$name" "$(wrong "$SBXRUN" "$@")"
}

# ask NAME BEGIN ARGUMENT...: of questions, which run no command.  Without a policy
# all is counted from the start, where a library would be loaded first; a program
# that counts opens a file of its own then.
start=
! grep -q '^SANITIZE = .*-fprofile' "$builddir/Makefile" || start=.profraw
ask()
{
	name=$1 begin=$2
	shift 2
	# Words of the options.
	# shellcheck disable=SC2086
	tap_empty "$name" "$("$builddir/tests/kernel/fault" -q -b "$begin" \
	    $faults out/marker "$SBXRUN" "$@")"
}

tap_levels standard full
# A start takes several times as long with a sanitizer: level full is made of what
# standard is made of, and a run that is supervised of what others are.
sanitized='' brief=''
! tap_short || brief=yes
if tap_sanitized; then
	sanitized=yes brief=yes levels=${levels##* }
fi
for level in $levels; do
	[ -n "$brief" ] ||
		try "level $level" $level -l $level "$base/$level.bin"
	try "level $level, supervised" $level -l $level \
	    "$base/$level-watched.bin"
done
# Here the keeper is not traced: what is tried is how a command joins.
if [ "$level" = full ]; then
	session=faults-${base##*-}
	if timeout 300 "$SBXRUN" --session "$session" "$base/full-timeout.bin" \
	    -- ./confined full "$outside" 2>/dev/null; then
		try 'a command that joins a session' joined --session "$session" \
		    "$base/full-timeout.bin"
		timeout 300 "$SBXRUN" --session "$session" --end
	else
		tap_skip 'a command that joins a session' 'no session here'
	fi
fi
# The life of a session: of the one who makes it, its keeper and its process 1.
# The libraries of a sanitizer die of what they cannot have, and say so.
if [ "$level" = full ] && [ -z "$sanitized" ]; then
	fault="$builddir/tests/kernel/fault -j -p 1-4"
	# Words of the options.
	# shellcheck disable=SC2086
	tap_empty 'a session, from its making to its end' "$($fault $faults \
	    out/marker "$builddir/tests/kernel/fault_session" out/marker "$SBXRUN" "life-${base##*-}" \
	    "$base/full-timeout.bin" ./confined joined "$outside")"
	# Who makes it and who waits for that do so before it opens the policy.
	makers='-k 1 -e EIO'
	[ "$(tap_rounds 100)" -lt 1000 ] || makers=$faults
	# shellcheck disable=SC2086
	[ "$(tap_rounds 100)" -lt 100 ] || tap_empty 'the makers of a session' \
	    "$("$builddir/tests/kernel/fault" -j -x -b "$start" -p 1-2 $makers \
	    out/marker "$builddir/tests/kernel/fault_session" out/marker \
	    "$SBXRUN" "make-${base##*-}" "$base/full-timeout.bin" ./confined \
	    joined "$outside")"
	# libsbx, and its processes before they are sbxrun or the command.
	# shellcheck disable=SC2086
	tap_empty 'libsbx' "$("$builddir/tests/kernel/fault" -j -b /dev/null \
	    -p 0-16 $faults out/marker "$builddir/tests/kernel/fault_library" \
	    out/marker "$SBXRUN" "$base/full.bin" ./confined joined \
	    "$outside")"
fi
if [ "$level" = full ]; then
	try 'level full, a part of /proc denied' full -l full \
	    "$base/full-proc.bin"
	try 'level full, explained' full -l full --explain "$base/full.bin"
fi
if [ "$(tap_rounds 100)" -ge 100 ]; then
	for json in '' --json; do
		# shellcheck disable=SC2086  # a word, or none
		{
			ask "what would be applied $json" .bin -n $json \
			    "$base/full-watched.bin"
			! tap_sanitized || continue
			ask "what a machine offers $json" "$start" --status \
			    $json
			ask "the sessions $json" "$start" --sessions $json
		}
	done
	ask 'a summary' .bin --dry-run=summary "$base/full-hosts.bin"
	# Where what would learn cannot go on, the command may have a line, too: its
	# execve(2) has no answer.
	learned=
	[ "$(tap_rounds 100)" -lt 1000 ] || learned=--learn=$base/learned
	for level in $levels; do
		# shellcheck disable=SC2086  # a word, or none
		try "level $level, with a receipt" $level -l $level $learned \
		    --log="$base/log" "$base/$level-watched.bin"
	done
fi
# One of each takes a second, which is its time limit.
if [ "$(tap_rounds 100)" -ge 1000 ]; then
	all=$faults faults='-s -e EIO'
	ask 'the self-test' .bin -l $level --self-test "$base/$level.bin"
	faults=$all
fi
# What comes before sbxrun: the shell of agents, with settings; the words are for
# the command, which stands in for the real shell.
mkdir -p "$base/home/.config/sbx"
cat >"$base/home/.config/sbx/shell" <<SETTINGS
# read line by line
policy ~/standard.bin
session none
level standard
shell $base/ws/confined
SETTINGS
cp "$base/standard.bin" "$base/home"
# A sanitizer cannot look for leaks in what is traced.
# shellcheck disable=SC2086  # words of the options
tap_empty 'sbxsh' "$(SBX_TEST_HOME="$base/home" ASAN_OPTIONS=detect_leaks=0 \
    "$builddir/tests/kernel/fault" -b /etc/passwd $faults out/marker \
    "$builddir/sbxsh-test" standard "$outside")"
# The ways out, and the start of who serves them; one that stands in for it.
mkdir "$base/bin"
install -m 755 "$SBXRUN" "$base/bin/sbxrun"
install -m 755 "$builddir/tests/kernel/standin" "$base/bin/sbx-proxy"
tap_empty 'level standard, with names' "$(wrong "$base/bin/sbxrun" \
    "names-$port" -l standard "$base/standard-hosts.bin")"
if [ "$level" = full ]; then
	tap_empty 'level full, with hosts' "$(wrong "$base/bin/sbxrun" \
	    "hosts-$port" -l full "$base/full-hosts.bin")"
fi
# sbx-proxy itself, from its start to its end.
if [ "$level" = full ] && [ "$(tap_rounds 100)" -ge 100 ] &&
    [ -z "$sanitized" ]; then
	proxy=$builddir/tests/kernel/fault_proxy
	# Words of the options.
	# shellcheck disable=SC2086
	tap_empty 'sbx-proxy' "$(SBX_PROXY=$builddir/sbx-proxy "$proxy" \
	    "$base/proxy.bin" "$builddir/tests/kernel/fault" -j -x -p 1-99 \
	    $faults out/marker "$proxy" "$base/proxy.bin")"
fi
[ -n "$brief" ] ||
	try 'the best level, down to standard' standard "$base/standard.bin"
# Either the group holds the limit, or an rlimit does.
groups()
{
	loader=$SBXRUN held=$(prlimit --nproc --noheadings -o HARD)
	[ -z "${SBX_TEST_CGROUP-}" ] || loader=$SBXRUN_TEST
	delegate_to 0 && enter "$group/0/main" || exit 99
	for level in $levels; do
		tap_empty "level $level, in a control group" "$(
		    wrong "$loader" $level -l $level "$base/$level-group.bin")"
	done
	tap_empty 'few control groups are left' "$(find "$group/0" \
	    -name 'sbx-*' | sed -n 9p)"
	held=
}

delegate_begin
echo "# $delegate_how"
[ -z "$group" ] || groups
outside=$base/ws/out/file
echo text >"$outside"
tap_found 'a command that can do more is seen' \
    "$(wrong "$SBXRUN" standard "$base/standard.bin")"
tap_done
