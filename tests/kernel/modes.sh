#!/bin/sh
# No command gives a file set-ID bits, with which another user of the machine
# would run it as this one, as TAP: every call that takes a mode, at levels
# standard and full, as this user and, started by root, as an ordinary one too.  And
# owners and groups are changed as outside, in what may be written.

# Substitutions in what runs inside are made there.
# shellcheck disable=SC2016

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"
WAYS='fchmod fchmodat fchmodat2 openat openat2 mknodat'
[ "$(uname -m)" != x86_64 ] || WAYS="$WAYS chmod creat open mknod"

# Not below /tmp: that is the scratch directory at level full.
tap_begin /var/tmp
base=$tmp home=$tmp/home
tap_programs "$SBXRUN"
policy plain workspace-write
policy lifted workspace-write 'allow syscalls @chmod'

# got UID OPERATION...: inside, at $level; bare without a level.
got()
{
	uid=$1
	shift
	[ -z "$level" ] || set -- "$base/sbxrun" -l "$level" \
	    "$base/$policy.bin" -- "$@"
	(cd "$ws" && as "$uid" "$@" 2>&1 </dev/null)
}

# tried UID ANSWER: each way to each mode; leaves in $wrong what ended otherwise.
tried()
{
	wrong=
	for way in $WAYS; do
		for mode in 4755 2755 6755 104755; do
			case $way in
			*chmod*) : >"$ws/file" && chown "$1:$1" "$ws/file" ;;
			esac
			answer=$(got "$1" ./probe mode "$way" file "$mode")
			case $way-$answer in
			openat2-ENOSYS | fchmodat2-ENOSYS | *-"$2") ;;
			# openat2(2) takes nothing that is no mode.
			openat2-EINVAL) [ $mode = 104755 ] ;;
			*) false ;;
			esac || wrong="$wrong $way($mode)=$answer"
			[ "$2" = ok ] || [ -z "$(find "$ws" -perm /6000)" ] ||
				wrong="$wrong $way($mode)=left"
			rm -f "$ws/file"
		done
	done
}

# same NAME ANSWER OPERATION...
same()
{
	name=$1 answer=$2
	shift 2
	tap_is "$level: uid $who: $name" "$answer" "$(got "$who" "$@")"
}

check_all()
{
	who=$1
	ws=$base/ws-$1
	mkdir "$ws" && cp "$PROBE" "$ws/probe" && chown "$1:$1" "$ws"
	mkdir -p "$base/outside" && chmod 755 "$base/outside" &&
		chown "$1:$1" "$base/outside" &&
		ln -s "$base/outside" "$ws/link"
	policy=plain level=
	tried "$1" ok
	tap_empty "bare: uid $1: each call gives what it is asked for" "$wrong"
	tap_levels standard full
	for level in $levels; do
		tried "$1" EPERM
		tap_empty "$level: uid $1: no call gives set-ID bits" "$wrong"
		same 'an unnamed file' EPERM ./probe mode tmpfile . 4755
		same 'the sticky bit' ok ./probe mode openat sticky 1777
		same 'a directory has none to give' '' \
		    sh -c 'mkdir -m 1777 d && rmdir d'
		# A directory hands its group on, and lends nobody anything.
		same 'set-group-ID of a directory' 'drwxrwsr-x drwxr-s---
f' \
		    sh -c 'mkdir -m 2775 d e && chmod 2750 e && cd d &&
			stat -c %A . ../e | xargs && touch ../f &&
			! chmod 4755 ../e 2>/dev/null &&
			! chmod g+s ../f ../link ../../outside \
			    2>/dev/null && cd .. && ls f && rm -r d e f'
		tap_is "$level: uid $1: and of no other, through no link" \
		    drwxr-xr-x "$(stat -c %A "$base/outside")"
		same 'a mode where nothing is made' ok \
		    ./probe mode read sticky 6777
		policy=lifted
		: >"$ws/lifted" && chown "$1:$1" "$ws/lifted"
		same 'the policy may lift it' ok \
		    ./probe mode fchmodat lifted 2755
		same 'for the calls that it names' EPERM \
		    ./probe mode openat new 2755
		policy=plain
		rm -f "$ws/lifted" "$ws/sticky"
	done
}

# Groups of the user's are such inside as well, though but one has a number there.
OWNER=23989 OTHER=23990 THIRD=23991
owned()
{
	echo "$(cd "$ws" && setpriv --reuid=$OWNER --regid=$OWNER \
	    --groups="$1" env -i PATH="$PATH" HOME="$home" "$base/sbxrun" \
	    -l "$level" "$base/plain.bin" -- sh -c "$2" 2>&1 </dev/null) $(
	    stat -c %g "$ws/f")"
}

check_owners()
{
	ws=$base/ws-$OWNER
	one=$OWNER,$OTHER
	mkdir "$ws" && chown $OWNER:$OWNER "$ws"
	for level in $levels; do
		: >"$ws/f" && : >"$ws/of" && chown $OWNER:$OWNER "$ws/f"
		chown $OWNER:$OTHER "$ws/of"
		tap_is "$level: a group of the user's" " $OTHER" \
		    "$(owned $one "chgrp $OTHER f")"
		tap_is "$level: and back" " $OWNER" \
		    "$(owned $one "chgrp $OWNER f")"
		tap_is "$level: the one that a file shows" " $OTHER" \
		    "$(owned $one 'chgrp "$(stat -c %g of)" f')"
		chown $OWNER:$OWNER "$ws/f"
		tap_is "$level: another is not permitted, as outside" \
		    "no no $OWNER" "$(owned $one \
		    "chgrp $THIRD f 2>&1 | grep -q 'not permitted' && echo no
		    chown $THIRD f 2>&1 | grep -q 'not permitted' && echo no" |
			xargs)"
		tap_is "$level: what a read-only place has stays" \
		    "no $OWNER" "$(owned $one \
		    "chgrp $OTHER ../outside/g 2>/dev/null || echo no")"
		: >"$base/outside/g" && chown $OWNER:$OWNER "$base/outside/g"
		owned $one "chgrp $OTHER $base/outside/g" >/dev/null
		tap_is "$level: and what is outside, too" "$OWNER" \
		    "$(stat -c %g "$base/outside/g")"
	done
	level=full
	tap_is 'of several nobody knows which a file shows' "no $OWNER" \
	    "$(owned $one,$THIRD 'chgrp 65534 f 2>/dev/null || echo no')"
}

check_all "$(id -u)"
if [ "$(id -u)" -eq 0 ]; then
	check_all $ORDINARY
	case $levels in
	*full*) check_owners ;;
	esac
fi
tap_done
