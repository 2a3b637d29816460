#!/bin/sh
# What sbxrun makes of its caller, as TAP: where the caller has run out of
# processes or descriptors, holds capabilities that it cannot give up in the
# usual way, or hands on variables twice.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
ORDINARY=$(tap_user)
# Nobody else runs as this user, whose processes are counted.
ALONE=23919

tap_begin /var/tmp
base=$tmp
tap_programs "$SBXRUN" "$SBXC" "$builddir/sbx-proxy"
# The least that is supervised.
cat >"$base/unwatched.sbx" <<'POLICY'
sbx 1
profile unwatched extends workspace-write {
    limit timeout none
    limit output  none
    set env TWICE = ours
    on x86_64 { set env ON_x86_64 = yes }
    on aarch64 { set env ON_aarch64 = yes }
}
POLICY
"$SBXC" "$base/unwatched.sbx" -o "$base/unwatched.bin" || exit 99
# One that needs a user namespace of its own.
cat >"$base/publishes.sbx" <<POLICY
sbx 1
profile publishes extends workspace-write {
    allow network publish tcp $(tap_port 24000)
}
POLICY
"$SBXC" "$base/publishes.sbx" -o "$base/publishes.bin" || exit 99

# prepare UID: a workspace of that user's.
prepare()
{
	ws=$base/home-$1/ws
	mkdir -p "$ws"
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$base/home-$1"
}

# run UID WORD... -- SBXRUN-ARGUMENT...: a launch by a command that changes
# something of the caller.
run()
{
	run_uid=$1
	shift
	(cd "$ws" && tap_as "$run_uid" env -i PATH="$PATH" \
	    HOME="$base/home-$run_uid" "$@" 2>&1)
}

# refused NAME OUTPUT: level full was refused for a shortage, in one line of
# sbxrun's; without /proc a sanitizer has lines of its own.
refused()
{
	tap_is "$1" 'sbxrun: level full' "$(printf '%s' "$2" | sed -n '/^sbxrun/ {
	    s/^\(sbxrun: level full\): .* cannot be made now; .*: [A-Z].*/\1/
	    p
	}')"
}

# --- shortages --------------------------------------------------------------

# A sandbox that has forked more often than another one may.
beside_another()
{
	prepare $ALONE
	run $ALONE "$base/sbxrun" -l standard "$base/unwatched.bin" \
	    -c 'for i in 1 2 3 4 5 6 7 8 9 10; do sleep 600 & done
	    echo >ready; wait' >/dev/null &
	tap_until test -e "$ws/ready"
	refused "beside a sandbox that forks" "$(run $ALONE \
	    prlimit --nproc=8 "$base/sbxrun" "$base/unwatched.bin" -- echo in)"
	tap_is 'beside one that forks less' in "$(run $ALONE \
	    prlimit --nproc=40 "$base/sbxrun" "$base/unwatched.bin" -- echo in)"
	# shellcheck disable=SC2046  # numbers
	kill $(pgrep -u $ALONE)
	wait
}

processes()
{
	[ "$1" -ne 0 ] || return
	text=$(run "$1" prlimit --nproc=1 "$base/sbxrun" \
	    "$base/unwatched.bin" -- echo in)
	refused "uid $1: no more processes" "$text"
	text=$(run "$1" prlimit --nproc=1 "$base/sbxrun" --status --json)
	refused "uid $1: no more processes: --status" "$text"
	# Where a listener answers for the command, that level forks, too.
	tap_empty "uid $1: no more processes: -l standard" "$(run "$1" \
	    prlimit --nproc=1 "$base/sbxrun" -l standard \
	    "$base/unwatched.bin" -- echo in |
	    grep -Evx 'in|sbxrun: cannot fork: .*')"
}

# Rules keep descriptors, but not those that the rest of the run needs.
many_rules()
{
	{
		printf 'sbx 1\nprofile many extends workspace-write {\n'
		for i in $(seq 99); do
			mkdir -p "$ws/many/$i"
			printf '\tallow read ${workspace}/many/%d\n' "$i"
		done
		echo '}'
	} >"$base/many.sbx"
	"$SBXC" "$base/many.sbx" -o "$base/many.bin" 2>/dev/null || exit 99
	tap_is "$level: uid $1: more rules than descriptors" in "$(run "$1" \
	    prlimit --nofile=64 "$base/sbxrun" -l "$level" "$base/many.bin" \
	    -- echo in)"
}

# However few, they lower nothing: the run is at level full, or there is none.
descriptors()
{
	wrong=''
	for limit in 4 5 6 7 8 9 10 11 12 13 14 16 20 24 32 48 64; do
		text=$(run "$1" prlimit --nofile=$limit "$base/sbxrun" -v \
		    "$base/unwatched.bin" -- true)
		case $text in
		*'level full ('*) ;;
		*': '*file\ descriptors\ available | *'open files') ;;
		*) wrong="$wrong $limit: $text" ;;
		esac
	done
	tap_empty "uid $1: few descriptors" "$wrong"
}

# A number of namespaces that others have used up refuses; 0 forbids them.  For
# root: in another's user namespace, a policy below /var/tmp is a stranger's.
namespaces()
{
	# shellcheck disable=SC2016  # for the inner shell
	number='echo $1 >/proc/sys/user/max_${KIND:-mnt}_namespaces && shift &&
	    exec "$@"'
	if ! unshare -Ur sh -c "$number" sh 1 true 2>/dev/null; then
		tap_skip 'few namespaces' 'their number cannot be limited'
		return
	fi
	for limit in 0 1; do
		text=$(cd "$ws" && unshare -Urm sh -c "$number" sh $limit \
		    "$base/sbxrun" -v "$base/unwatched.bin" -- echo in 2>&1)
		case $limit in
		0) tap_is 'namespaces are forbidden' 1 "$(printf '%s' "$text" |
		    grep -c 'level standard')" ;;
		1) refused 'namespaces are used up' "$text" ;;
		esac
	done
	# Each kind alone.  Without one for the network level full goes on, and
	# root makes one for users only if it publishes a port.
	for kind in 'mnt standard unwatched' 'pid standard unwatched' \
	    'ipc standard unwatched' 'net full unwatched' \
	    'user full unwatched' 'user standard publishes'; do
		# shellcheck disable=SC2086  # words
		set -- $kind
		text=$(cd "$ws" && KIND=$1 unshare -Urm sh -c "$number" sh 0 \
		    "$base/sbxrun" -v "$base/$3.bin" -- echo in 2>&1)
		tap_is "no namespaces of kind $1: $3" "level $2 in" \
		    "$(printf '%s' "$text" | grep -ow 'level [a-z]*\|^in' |
		    paste -sd ' ')"
	done
}

# with_proc SCRIPT: this shell becomes sbxrun as an ordinary user, where /proc
# holds what the script makes of a directory.
with_proc()
{
	cd "$ws" && exec unshare -m sh -c 'mount -t tmpfs none /proc &&
	    mkdir -p /proc/self/fd && cd /proc && eval "$1" && cd "$2" && shift 2 &&
	    exec setpriv --reuid="$1" --regid="$1" --clear-groups env -i \
	    PATH="$PATH" HOME="$2" "$3/sbxrun" -v "$3/unwatched.bin" \
	    -- echo in' sh "$1" "$ws" $ALONE "$base/home-$ALONE" "$base" 2>&1
}

# begun PARENT: the first process of that one.
# shellcheck disable=SC2317  # tap_until calls it
begun()
{
	first=$(pgrep -u $ALONE -P "$1")
}

# A first process that waits for somebody to read what it writes to /proc.
waiting()
{
	with_proc 'mkfifo self/setgroups && chmod 666 self/setgroups' \
	    >"$base/said" &
	parent=$!
	tap_until begun $parent
}

# Whether /proc is there is the machine's affair, but not whether somebody kills
# the first process.
first_process()
{
	prepare $ALONE
	tap_is 'a part of /proc is a file' 1 "$(with_proc \
	    'rm -r self && echo >self' | grep -c 'level standard')"
	tap_is '/proc can only be read' 1 "$(with_proc \
	    'echo >self/setgroups && mount -o remount,ro /proc' |
	    grep -c 'level standard')"
	waiting
	kill -KILL "$first"
	wait $parent
	refused 'the first process is killed' "$(cat "$base/said")"
	waiting
	kill -KILL $parent
	wait $parent
	ended='the first process ends with its parent'
	if tap_until gone "$first"; then
		tap_ok "$ended"
	else
		tap_not_ok "$ended"
		kill -KILL "$first"
	fi
}

# shellcheck disable=SC2317  # tap_until calls it
gone()
{
	! kill -0 "$1" 2>/dev/null
}

# --- the owner of the policy ------------------------------------------------

# with_first COUNT UID: $enter leads into a namespace of so many users.
with_first()
{
	unshare -U sleep 600 &
	holder=$!
	tap_until is_apart $holder
	echo "0 0 $1" | tee /proc/$holder/gid_map >/proc/$holder/uid_map
	enter="nsenter -U -t $holder setpriv --reuid=$2 --regid=$2
	    --clear-groups"
}

# shellcheck disable=SC2317  # tap_until calls it
is_apart()
{
	[ "$(readlink "/proc/$1/ns/user")" != "$(readlink /proc/$$/ns/user)" ]
}

# Where a user namespace has no number for root, an installed profile is still
# the system's, but another policy of the same owner may be anybody's.
installed()
{
	prepare $ORDINARY
	profiles=$("$base/sbxrun" @callers-none -- true 2>&1 |
	    sed -n 's/.* that profile in \([^ ]*\).*: No such file.*/\1/p')
	if [ -z "$profiles" ]; then
		tap_not_ok 'where installed profiles lie is said'
		return
	fi
	# Something that is there, to be covered for a moment.
	covered=$profiles
	until [ -d "$covered" ]; do
		covered=${covered%/*}
	done
	# shellcheck disable=SC2016  # for the inner shell
	as_installed='mount -t tmpfs -o mode=755 none "$4" &&
	mkdir -p "$5" && cp "$1" "$5/unwatched.bin" || exit
	chown "$2" "$5/unwatched.bin"
	uid=$3
	shift 5
	exec setpriv --reuid="$uid" --regid="$uid" --clear-groups "$@"'
	for case in '0 61234 61234 @unwatched inside' \
	    "0 61234 61234 $profiles/unwatched.bin others" \
	    "61235 61234 61234 $profiles/unwatched.bin others" \
	    '61235 61234 none @unwatched others' \
	    '0 65534 bare @unwatched inside' \
	    "0 65534 bare $profiles/unwatched.bin others" \
	    '70000 61234 first-65534 @unwatched inside' \
	    '70000 61234 first-65535 @unwatched others' \
	    "65534 65534 bare $profiles/unwatched.bin others" \
	    "61235 65534 bare $profiles/unwatched.bin others"; do
		# shellcheck disable=SC2086  # words
		set -- $case
		enter="unshare -U --map-user=$3 --map-group=$3"
		case $3 in
		none) enter='env' ;;
		# The caller has no number either, and looks like all owners; by
		# this one it finds the scratch directory.
		bare) enter='unshare -U' ;;
		# So many have numbers, from root on: 65534 is one of them or not.
		first-*) with_first "${3#*-}" "$2"
			set -- "$1" 0 "$3" "$4" "$5" ;;
		esac
		# shellcheck disable=SC2086  # words
		text=$(cd "$ws" && unshare -m sh -c "$as_installed" sh \
		    "$base/unwatched.bin" "$1" "$2" "$covered" "$profiles" \
		    $enter env -i PATH="$PATH" \
		    HOME="$base/home-$ORDINARY" "$base/sbxrun" -w /var/tmp/ \
		    -l standard "$4" -- echo inside 2>&1 | grep -o 'inside\|others' |
		    head -n 1)
		tap_is "owner $1, read as $3 in a namespace: ${4##*/}" "$5" "$text"
		case $3 in
		first-*) kill $holder; wait $holder ;;
		esac
	done
}

# --- capabilities -----------------------------------------------------------

# The sets of the command and of what it starts: those for the files and users
# of others at level standard, none at full.
capabilities()
{
	case $level in
	full) most=0000000000000000 ;;
	*) most=00000000000000fb ;;
	esac
	sets=$(run 0 "$@" "$base/sbxrun" -l "$level" "$base/unwatched.bin" \
	    -c 'grep ^Cap /proc/self/status; sh -c "grep ^Cap /proc/self/status"')
	tap_is "$level: capabilities under: $*" \
	    "0000000000000000 $most $most 0000000000000000 $(:
	    )0000000000000000 $most $most 0000000000000000" \
	    "$(printf '%s\n' "$sets" | sed -n 's/^Cap[IPEA][a-z]*:.//p' |
	    paste -sd ' ')"
}

# Who may cut the bounding set does; who may not has the same without it.
bounding()
{
	tap_is "$level: the bounding set under: $*" "$most" "$(run 0 "$@" \
	    "$base/sbxrun" -l "$level" "$base/unwatched.bin" -- \
	    sed -n 's/^CapBnd:.//p' /proc/self/status)"
}

# sets PID: what that process may use.
# shellcheck disable=SC2317  # tap_until calls it
sets()
{
	sed -n 's/^Cap[PE][a-z]*:.//p' "/proc/$1/status" | paste -sd ' '
}

# shellcheck disable=SC2317  # tap_until calls it
has_sets()
{
	[ "$(sets "$1")" = "$most $most" ]
}

# What of sbxrun stays outside of the sandbox has no more than the command, soon
# after that has begun.
supervisor()
{
	rm -f "$ws/ready"
	(cd "$ws" && exec env -i PATH="$PATH" HOME="$base/home-0" \
	    "$base/sbxrun" -l "$level" --limit timeout=10m \
	    "$base/unwatched.bin" -c 'echo >ready; exec sleep 600') &
	tap_until test -e "$ws/ready"
	tap_until has_sets $!
	tap_is "$level: capabilities of the supervisor" "$most $most" \
	    "$(sets $!)"
	tap_is "$level: and it gets no others" 1 \
	    "$(sed -n 's/^NoNewPrivs:.//p' "/proc/$!/status")"
	kill $!
	wait
}

all_capabilities()
{
	capabilities env
	supervisor
	for change in env 'setpriv --inh-caps=+sys_admin' \
	    'setpriv --securebits=+keep_caps_locked,+no_setuid_fixup'; do
		# shellcheck disable=SC2086  # words
		bounding $change
	done
	for change in '--bounding-set=-setpcap' \
	    '--inh-caps=-setpcap --bounding-set=-setpcap' \
	    '--bounding-set=-setpcap,-sys_admin' \
	    '--inh-caps=+sys_admin,+setpcap --ambient-caps=+sys_admin' \
	    '--inh-caps=+sys_admin --ambient-caps=+sys_admin --bounding-set=-setpcap' \
	    '--securebits=+keep_caps_locked,+no_setuid_fixup'; do
		# shellcheck disable=SC2086  # words
		capabilities setpriv $change
	done
	if unshare -Ur true 2>/dev/null; then
		capabilities unshare -Ur
		capabilities unshare -Ur setpriv --bounding-set=-setpcap
	else
		tap_skip "$level: capabilities in a user namespace" \
		    'this machine gives none'
	fi
	# Number 0 cannot be mapped, so there is no level full, and AppArmor has no
	# part in it.
	for change in --securebits=+noroot \
	    '--inh-caps=-all --bounding-set=-setfcap,-sys_admin'; do
		# shellcheck disable=SC2086  # words
		got=$(run 0 setpriv $change "$base/sbxrun" -l full \
		    "$base/unwatched.bin" -- true 2>&1)
		case $level-$got in
		full-*'root has no CAP_SETFCAP'*) tap_ok "full: setpriv $change" ;;
		full-*) tap_not_ok "full: setpriv $change" "$got" ;;
		esac
	done
	# An ordinary user who holds some has none inside.
	install -d -o $ORDINARY "$base/other"
	sets=$(run 0 setpriv --reuid=$ORDINARY \
	    --inh-caps=+sys_admin,+setpcap \
	    --ambient-caps=+sys_admin,+setpcap env \
	    HOME="$base/other" "$base/sbxrun" -w "$base/other" -l "$level" \
	    "$base/unwatched.bin" -- grep -E '^Cap(Inh|Prm|Eff|Amb)' \
	    /proc/self/status)
	tap_is "$level: capabilities of an ordinary user" 4 \
	    "$(printf '%s\n' "$sets" | grep -c '0000000000000000$')"
	# Nor one who could only inherit them.
	tap_is "$level: capabilities that are inherited" 0000000000000000 \
	    "$(run 0 setpriv --reuid=$ORDINARY --inh-caps=+sys_admin env \
	    HOME="$base/other" "$base/sbxrun" -w "$base/other" -l "$level" \
	    "$base/unwatched.bin" -- sed -n 's/^CapInh:.//p' \
	    /proc/self/status)"
	# A file's capabilities add nothing either.
	cp "$(command -v grep)" "$ws/grep"
	if ! setcap cap_sys_admin,cap_net_raw=ep "$ws/grep" 2>/dev/null; then
		tap_skip "$level: a file's capabilities" 'none can be given'
		return
	fi
	tap_empty "$level: a file's capabilities" "$(run 0 \
	    setpriv --bounding-set=-setpcap "$base/sbxrun" -l "$level" \
	    "$base/unwatched.bin" -- ./grep ^CapPrm /proc/self/status |
	    grep -Ev '00(fb|00)$')"
	# One that is permitted, and not yet in effect: with it nobody makes a user
	# namespace.
	[ "$level" = standard ] || return 0
	cp "$base/sbxrun" "$base/permitted"
	setcap cap_setpcap=p "$base/permitted"
	tap_is "$level: the bounding set by a file's capability" "$most" \
	    "$(run 0 setpriv --reuid=$ORDINARY --inh-caps=-all env \
	    HOME="$base/other" "$base/permitted" -w "$base/other" -l "$level" \
	    "$base/unwatched.bin" -- sed -n 's/^CapBnd:.//p' \
	    /proc/self/status)"
}

# --- Landlock ---------------------------------------------------------------

# Who is in sixteen sandboxes already, and so mounts nothing, is told why there
# is no other.
nested()
{
	[ "$level" = standard ] || return 0
	# shellcheck disable=SC2016  # perl's
	tap_is "$level: uid $1: in sixteen sandboxes" 1 "$(run "$1" \
	    setpriv --no-new-privs perl -e '
		my $attributes = pack "Q", 1 << 11; # to make block devices
		my $ruleset = syscall 444, $attributes, 8, 0;
		for (1 .. 16) { syscall(446, $ruleset, 0) == 0 or die $! }
		exec @ARGV' "$base/sbxrun" -l "$level" "$base/unwatched.bin" \
	    -- true | grep -c 'the kernel nests at most 16 Landlock sandboxes')"
}

# --- variables --------------------------------------------------------------

# twice UID COMMAND...: with two of each variable, as libc never hands them on.
twice()
{
	twice_uid=$1
	shift
	# shellcheck disable=SC2016  # perl's
	run "$twice_uid" perl -e '
	    my %execve = ("x86_64", 59, "aarch64", 221);
	    chomp(my $machine = `uname -m`);
	    my @variables = ("TWICE=a", "PATH=$ENV{PATH}", "HOME=$ENV{HOME}",
		"TWICE=b", "TMPDIR=/a", "TMPDIR=/b", "TWICE=c");
	    my $words = pack("p*", @ARGV, undef);
	    my $environment = pack("p*", @variables, undef);
	    syscall($execve{$machine}, $ARGV[0], $words, $environment);
	    exit 99' "$@"
}

variables()
{
	tap_is "uid $1: two of a variable, bare" 3 \
	    "$(twice "$1" /usr/bin/env | grep -c ^TWICE=)"
	text=$(twice "$1" "$base/sbxrun" -l "$level" "$base/unwatched.bin" -- env)
	tap_is "$level: uid $1: two of a variable" TWICE=ours \
	    "$(printf '%s\n' "$text" | grep ^TWICE=)"
	tap_is "$level: uid $1: variables of one machine" "ON_$(uname -m)=yes" \
	    "$(printf '%s\n' "$text" | grep ^ON_)"
	tap_is "$level: uid $1: two of TMPDIR" 1 \
	    "$(printf '%s\n' "$text" | grep -c ^TMPDIR=)"
	tap_is "$level: uid $1: of two variables the one that is allowed" \
	    LANG=C "$(run "$1" env LANG=C GH_TOKEN=x "$base/sbxrun" -l "$level" \
	    "$base/unwatched.bin" -- env | grep -E '^(LANG|GH_TOKEN)=')"
}

check_user()
{
	prepare "$1"
	tap_levels standard full
	for level in $levels; do
		variables "$1"
		[ "$1" -ne 0 ] || all_capabilities
		many_rules "$1"
		nested "$1"
	done
	[ "$level" = full ] || return
	processes "$1"
	descriptors "$1"
}

check_user "$(id -u)"
if [ "$(id -u)" -eq 0 ]; then
	prepare 0
	tap_levels full
	[ -z "$levels" ] || {
		namespaces
		first_process
		beside_another
		installed
	}
	check_user $ORDINARY
fi
tap_done
