# shellcheck shell=sh
# Sourced by tests written in sh, once they have $srcdir.  A test ends with
# tap_done.  Where it is not run by lib/run, the programs are those of ./build.

: "${builddir:=$srcdir/build}"
SBXC=$(realpath "${SBXC:-$builddir/sbxc}")
SBXRUN=$(realpath "${SBXRUN:-$builddir/sbxrun}")
SBXRUN_TEST=$(realpath "${SBXRUN_TEST:-$builddir/sbxrun-test}")
PROBE=$(realpath "${PROBE:-$builddir/tests/kernel/probe}")
LC_ALL=C.UTF-8
export LC_ALL
unset NO_COLOR CLICOLOR_FORCE
umask 022

tap_count=0
tap_failed=0

# tap_begin [DIRECTORY]: makes $tmp, a directory in it or in $TMPDIR that every
# user may enter.  It is removed at the end, after a command in $tap_at_end.
tap_begin()
{
	tmp=$(mktemp -d "${1-${TMPDIR-/tmp}}/sbx-XXXXXX") || exit 99
	chmod 755 "$tmp"
	trap tap_clean EXIT
	trap 'exit 99' HUP INT TERM
}

tap_at_end=:
tap_clean()
{
	$tap_at_end
	chmod -R u+w "$tmp"
	rm -rf "$tmp"
}

# tap_programs FILE...: copies of programs in $tmp, which every user may run.
tap_programs()
{
	install -m 755 "$@" "$tmp" || exit 99
}

# tap_rounds COUNT: as many rounds as are asked for, of the usual COUNT:
# $TEST_ROUNDS per cent, but one at least.
tap_rounds()
{
	tap_number=$(($1 * ${TEST_ROUNDS:-100} / 100))
	[ $tap_number -gt 0 ] || tap_number=1
	echo $tap_number
}

# tap_user: the ordinary user of this test, in root's run.  Tests of which it
# matters what else the user runs have one that nobody else has: the kernel counts
# processes by user, the sessions of a user share a lock, and a link is not believed
# below what was the user's workspace once.  23900 to 23999 are theirs.
tap_user()
{
	case ${0##*/} in
	limits.sh) echo 23900 ;;
	others.sh) echo 23901 ;;
	callers.sh) echo 23902 ;;
	cgroup.sh) echo 23903 ;;
	supervise.sh) echo 23904 ;;
	session_use.sh) echo 23905 ;;
	session_attack.sh) echo 23921 ;;
	session_storm.sh) echo 23922 ;;
	ways.sh) echo 23923 ;;
	*) echo 65534 ;;
	esac
}

# tap_sanitized: the programs of this build have sanitizers.
tap_sanitized()
{
	grep -q '^SANITIZE = .*-fsanitize' "${builddir:?}/Makefile"
}

# tap_twice: all is tried once more as an ordinary user, in root's run of all rounds.
# The gate has a run of such a user.
tap_twice()
{
	[ "$(id -u)" -eq 0 ] && [ "${TEST_ROUNDS:-100}" -ge 100 ] &&
	    ! tap_sanitized
}

# tap_short: so few rounds are asked for that less is wanted of other kinds of
# repetition, too.
tap_short()
{
	[ "${TEST_ROUNDS:-100}" -lt 16 ]
}

# tap_shipped: text of sbxc without the lines of shipped rules, which move whenever
# one is added.
tap_shipped()
{
	sed 's/\(sbx:[a-z-]*\.sbx\):[0-9]*:[0-9]*/\1:N:N/g
	    /^sbx:[a-z-]*\.sbx:N:N: /{n; s/^ *[0-9]* |/    N |/; }'
}

# tap_until COMMAND...: waits until the command succeeds; false once that took
# two minutes, on whatever machine.
tap_until()
{
	tap_late=$(($(date +%s) + 120))
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -lt $tap_late ] || return 1
		sleep 0.1
	done
}

# tap_port FIRST: a port of TCP from there on that nobody uses, below those that
# the kernel gives out.  Each test has a thousand of its own.
tap_port()
{
	tap_number=$(($1 + $$ % 900))
	while grep -q "$(printf ':%04X ' $tap_number)" /proc/net/tcp \
	    /proc/net/tcp6 2>/dev/null; do
		tap_number=$((tap_number + 1))
	done
	echo $tap_number
}

# tap_mounts: how many there are, but for those of tests that run beside this one,
# which lie in their directories.
tap_mounts()
{
	awk -v own="${tmp-}/" '$5 !~ "^/(var/)?tmp/sbx-[A-Za-z0-9.]+(/|$)" ||
	    index($5 "/", own) == 1' /proc/self/mountinfo | grep -c .
}

# tap_ok NAME: the case held.
tap_ok()
{
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1"
}

# tap_not_ok NAME [TEXT]: the case failed, and why.
tap_not_ok()
{
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_count - $1"
	[ -z "${2-}" ] || printf '%s\n' "$2" | sed 's/^/# /'
}

# tap_skip NAME WHY: a failure where the caller promised that it can be run.
tap_skip()
{
	if [ "${SBX_MUST_RUN:-0}" = 1 ]; then
		tap_not_ok "$1" "$2, but SBX_MUST_RUN=1"
		return
	fi
	tap_lacks "$@"
}

# tap_lacks NAME WHY: what a machine need not have, whatever was promised.
tap_lacks()
{
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

# tap_empty NAME TEXT: TEXT lists what is wrong.
tap_empty()
{
	if [ -z "$2" ]; then tap_ok "$1"; else tap_not_ok "$1" "$2"; fi
}

# tap_found NAME TEXT: the same check, on what it must object to.
tap_found()
{
	if [ -n "$2" ]; then
		tap_ok "$1"
	else
		tap_not_ok "$1" "the check did not see what was planted for it"
	fi
}

# tap_is NAME WANTED GOT
tap_is()
{
	if [ "$2" = "$3" ]; then
		tap_ok "$1"
	else
		tap_not_ok "$1" "wanted: $2
got: $3"
	fi
}

# tap_as UID COMMAND...: runs a command as that user.
tap_as()
{
	tap_uid=$1
	shift
	[ "$tap_uid" -eq "$(id -u)" ] ||
		set -- setpriv --reuid="$tap_uid" --regid="$tap_uid" \
		    --clear-groups "$@"
	${tap_instead-} "$@"
}

# tap_start UID COMMAND...: the same in place of this shell: `tap_start ... &` is
# the command itself, which $! can end, and not a shell that leaves it behind.
tap_start()
{
	tap_instead='exec'
	tap_as "$@"
}

# tap_levels LEVEL...: puts into $levels those that this machine gives; a skip
# for level full where it does not, in a container, say.
tap_levels()
{
	levels=''
	for tap_level; do
		if [ "$tap_level" != full ] || "$SBXRUN" --status --json |
		    grep -q '"level":"full"'; then
			levels="$levels $tap_level"
		else
			tap_skip 'level full' 'this machine does not give it'
		fi
	done
}

# tap_int80 ANSWER: the answer to a call by int 0x80; on a machine that takes none,
# where the processor ends who tries, that end.
tap_int80()
{
	if [ "$("$PROBE" int80 20 2>&1)" = 'signal 11' ]; then
		echo 'signal 11'
	else
		echo "$1"
	fi
}

tap_done()
{
	echo "1..$tap_count"
	[ "$tap_failed" -eq 0 ]
}
