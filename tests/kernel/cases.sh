#!/bin/sh
# sbxc test --live: the cases of the shipped profiles, and accesses of every
# kind, hold in the kernel, as this user and, started by root, as an ordinary
# one too; a sandbox that is not what the model says is seen; and nothing is
# left behind.

# Scripts and policies are written in single quotes.
# shellcheck disable=SC2016

set -u
unset SBX_TRIAL
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

tap_begin
# Another user may not reach the build directory.
cd "$tmp" || exit 99
base=$tmp
mkdir "$base/profiles" "$base/tmp"
chmod 1777 "$base/tmp"
tap_programs "$SBXC" "$SBXRUN" "$builddir/sbx-trial" "$builddir/sbx-proxy"
cp "$srcdir"/profiles/*.sbx "$srcdir"/profiles/*.test.yaml "$base/profiles"
cp "$srcdir/tests/golden/cases/live.yaml" \
    "$srcdir/tests/golden/cases/live-network.yaml" "$base"
chmod -R a+rX "$base/profiles" "$base/live.yaml" "$base/live-network.yaml"
SBXRUN=$base/sbxrun

level=$("$SBXRUN" --status --json | sed 's/.*"level":"\([a-z]*\)".*/\1/')
case $level in
full) levels='standard full' ;;
standard) levels=standard ;;
*)
	tap_skip "cases hold in the kernel" "this machine gives level $level"
	tap_done
	exit
	;;
esac
[ "$level" = full ] || tap_skip "cases hold at level full" "it is not given"

# as UID COMMAND...: with nothing but what it needs.
as()
{
	as_uid=$1
	shift
	tap_as "$as_uid" env -i PATH="$PATH" HOME=/nonexistent \
	    TMPDIR="$base/tmp" SBXRUN="$SBXRUN" "$@"
}

# left: what a test has forgotten.
left()
{
	ls "$base/tmp"
}

# holds UID LEVEL LEAST FILE...: all is well, and not for want of trying.
holds()
{
	uid=$1 at=$2 least=$3
	shift 3
	got=$(as "$uid" "$base/sbxc" test --live -l "$at" "$@" 2>&1)
	status=$?
	tried=$(printf '%s\n' "$got" |
	    sed -n 's/^in the kernel: \([0-9]*\) tried.*/\1/p')
	tap_empty "uid $uid: $at: ${1##*/}" "$(
	    [ $status -eq 0 ] || printf 'status %s\n%s\n' "$status" "$got"
	    [ "${tried:-0}" -ge "$least" ] ||
	    printf 'only %s tried\n%s\n' "${tried:-none}" "$got"
	    left)"
}

everything()
{
	for at in $levels; do
		for name in workspace-write:90 read-only:15 full-access:6 \
		    coding:15 coding-online:12 data-analysis:20 agent:12 \
		    claude:12; do
			holds "$1" "$at" "${name#*:}" \
			    "$base/profiles/${name%:*}.test.yaml"
		done
		holds "$1" "$at" 40 "$base/live.yaml"
		# Where sbxrun answers no calls, sockets cannot be tried.
		[ "$at" = standard ] && least=13 || least=16
		holds "$1" "$at" $least "$base/live-network.yaml"
	done
}

everything "$(id -u)"
if [ "$(id -u)" -eq 0 ]; then
	everything 65534
	# Nobody else runs anything as this user.
	as 23916 "$base/sbxc" test --live "$base/live.yaml" >/dev/null 2>&1
	tap_empty "no scratch directory is left" "$(ls /tmp/sbx-23916 2>&1)"
	rm -rf /tmp/sbx-23916
fi
got=$(as "$(id -u)" "$base/sbxc" test --live "$base/live.yaml" 2>&1 |
    grep -c 'not tried: ')
tap_empty "what is not tried is told, and counted" "$(
    as "$(id -u)" "$base/sbxc" test --live "$base/live.yaml" 2>&1 |
    grep -q "^in the kernel: [0-9]* tried, $got not tried$" || echo "$got")"

# --- sandboxes that are wrong -------------------------------------------------

# fake SCRIPT: an sbxrun that does so instead of running a command; $real is
# the right one.
fake()
{
	{
		printf '#!/bin/sh\nreal=%s\nbase=%s\n' "$base/sbxrun" "$base"
		cat <<-'SCRIPT'
		for word; do
			case $word in
			--status | -n) exec "$real" "$@" ;;
			--) break ;;
			esac
		done
		SCRIPT
		printf '%s\n' "$1"
	} >"$base/fake"
	chmod 755 "$base/fake"
}

# sees NAME STATUS TEXT WORD...: sbxc test --live with the fake.
sees()
{
	name=$1 wanted=$2 text=$3
	shift 3
	got=$(env TMPDIR="$base/tmp" SBXRUN="$base/fake" "$base/sbxc" test \
	    --live "$@" "$base/live.yaml" 2>&1)
	status=$?
	tap_empty "$name" "$(
	    [ $status -eq "$wanted" ] && printf '%s\n' "$got" |
	    grep -q -- "$text" || printf 'status %s\n%s\n' $status "$got"
	    left)"
}

# The command alone, without any sandbox.
bare='while [ "$1" != -- ]; do shift; done; shift'
fake "$bare; exec \"\$@\""
sees "a sandbox that denies nothing is seen" 1 \
    'deny read ~/keys/x: the model says denied, and the kernel allows' \
    -l standard
tap_empty "each kind of denial is missed" "$(
    for kind in 'write ${workspace}/.git/hooks/x' 'exec ${workspace}/data/tool' \
	'read ${workspace}/.env' 'connect tcp 4432' 'listen tcp 4431' \
	'syscall getppid' 'env CI_TOKEN' 'read /dev/zero' \
	'write ${dataset}' 'exec ${tmp}/x'; do
	    printf '%s\n' "$got" | grep -Fq "failed: deny $kind" ||
		echo "deny $kind"
    done)"

# Another policy: sbx-trial starts, and hardly anything else is allowed.
cat >"$base/tight.sbx" <<'POLICY'
sbx 1
profile tight {
    param dataset
    allow exec ${workspace}
}
POLICY
"$base/sbxc" "$base/tight.sbx" -o "$base/tight.bin" 2>/dev/null || exit 99
fake 'set -- "$@" ""
while [ "$1" != -- ]; do
	case $1 in */policy.bin) set -- "$@" "$base/tight.bin" ;;
	*) set -- "$@" "$1" ;; esac
	shift
done
while [ -n "$1" ]; do set -- "$@" "$1"; shift; done
shift
exec "$real" "$@"'
sees "a sandbox that denies too much is seen" 1 \
    'allow read /etc/passwd: the model says allowed, and the kernel denies' \
    -l standard
tap_empty "each kind of permission is missed" "$(
    for kind in 'write ${workspace}/a/b/c' 'read ${dataset}/x' \
	'write ${tmp}/x' 'connect tcp 4431' 'env LANG' 'env FIXED'; do
	    printf '%s\n' "$got" | grep -Fq "failed: allow $kind" ||
		echo "allow $kind"
    done)"

# instead POLICY: a sandbox of another policy.
instead()
{
	"$base/sbxc" "$base/$1.sbx" -o "$base/$1.bin" 2>/dev/null || exit 99
	fake "set -- \"\$@\" ''
	while [ \"\$1\" != -- ]; do
		case \$1 in */policy.bin) set -- \"\$@\" \"\$base/$1.bin\" ;;
		*) set -- \"\$@\" \"\$1\" ;; esac
		shift
	done
	while [ -n \"\$1\" ]; do set -- \"\$@\" \"\$1\"; shift; done
	shift
	exec \"\$real\" \"\$@\""
}

# missed ALLOW|DENY ACCESS...: each must be told.
missed()
{
	missed_what=$1
	shift
	tap_empty "$missed_what is missed of hosts and sockets, $at" "$(
	    for kind; do
		printf '%s\n' "$got" | grep -Fq "failed: $missed_what $kind" ||
		    printf '%s\n%s\n' "$missed_what $kind" "$got"
	    done)"
}

# Hosts, services and sockets: first what denies nothing of them, then all.
cat >"$base/wide.sbx" <<'POLICY'
sbx 1
profile wide extends workspace-write {
    allow network domain { two.example  one.example:22  three.example }
    allow network domain { bad.three.example  other.example }
    allow network host tcp 54323
    allow network publish tcp 54324
    allow socket { ~/run  ${workspace} }
}
POLICY
cat >"$base/shut.sbx" <<'POLICY'
sbx 1
profile shut extends workspace-write {
    deny network full
    deny socket { ~/run  ${workspace} }
    deny spawn
}
POLICY
# The resolver is there, and the ports lead out, but not for these names.
cat >"$base/elsewhere.sbx" <<'POLICY'
sbx 1
profile elsewhere extends workspace-write {
    allow network domain { nine.example  nine.example:22 }
}
POLICY
for at in $levels; do
	instead wide
	got=$(env TMPDIR="$base/tmp" SBXRUN="$base/fake" "$base/sbxc" test \
	    --live -l "$at" "$base/live-network.yaml" 2>&1)
	missed deny 'domain two.example' 'domain one.example:22' \
	    'domain bad.three.example' 'domain other.example' \
	    'socket ~/run/other.sock' 'socket ${workspace}/.control' spawn
	# Below, a port where nobody listens answers the same.
	[ "$at" = standard ] || missed deny 'host tcp 54323'
	instead shut
	got=$(env TMPDIR="$base/tmp" SBXRUN="$base/fake" "$base/sbxc" test \
	    --live -l "$at" "$base/live-network.yaml" 2>&1)
	if [ "$at" = full ]; then
		missed allow 'domain one.example' 'domain two.example:22' \
		    'host tcp 54321' 'connect 127.0.0.1:54321' \
		    'socket ~/run/db.sock'
		instead elsewhere
		got=$(env TMPDIR="$base/tmp" SBXRUN="$base/fake" "$base/sbxc" \
		    test --live -l "$at" "$base/live-network.yaml" 2>&1)
		missed allow 'domain one.example' 'domain two.example:22' \
		    'domain a.three.example'
	else
		missed allow 'host tcp 54321' 'publish tcp 54322' \
		    'socket ~/run/db.sock'
	fi
done

fake 'echo "sbxrun: no" >&2; exit 125'
sees "a sandbox that is refused" 3 'could not be tried at level standard (status 125): sbxrun: no' \
    -l standard
fake 'exit 0'
sees "a program that has tried nothing" 3 'ended before it had tried' \
    -l standard

# --- what else there is ---------------------------------------------------------

# ends NAME SIGNAL STATUS: while the sandbox runs.
ends()
{
	fake "trap 'exit 1' $2; kill -$2 \$PPID; while :; do sleep 1; done"
	env TMPDIR="$base/tmp" SBXRUN="$base/fake" "$base/sbxc" test --live \
	    -l standard "$base/live.yaml" >/dev/null 2>&1
	status=$?
	tap_empty "$1" "$([ $status -eq "$3" ] || echo "status $status"; left)"
}

ends "SIGTERM ends it, and the tree is removed" TERM 143
ends "SIGHUP does" HUP 129

fake 'exit 1'
sed -i 's/--status | -n)/--status) echo '\''{"level":"standard","abi":3}'\''; exit ;; -n)/' \
    "$base/fake"
sees "a level that the machine does not give" 3 'gives level standard, not full' \
    -l full
sed -i 's/"standard"/"minimal"/' "$base/fake"
sees "a machine that gives nothing to try with" 3 'neither level standard nor full'

got=$(env SBX_TRIAL=/nonexistent "$base/sbxc" test --live "$base/live.yaml" 2>&1)
tap_empty "no sbx-trial" "$([ $? -eq 3 ] || echo "$got")"
got=$(env SBXRUN=/nonexistent "$base/sbxc" test --live "$base/live.yaml" 2>&1)
tap_empty "no sbxrun" "$([ $? -eq 3 ] || echo "$got")"

# A policy in which sbx-trial has no place to run.
printf '%s\n' 'sbx-test: 1' 'text: |' '  sbx 1' \
    '  profile shut { allow read ${workspace} }' 'cases:' \
    '  - deny: read ~/x' >"$base/shut.yaml"
got=$(env TMPDIR="$base/tmp" "$base/sbxc" test --live -l standard \
    "$base/shut.yaml" 2>&1)
tap_empty "where nothing can be tried, --live fails" "$(
    [ $? -eq 3 ] || echo "$got")"
tap_empty "a policy that lets nothing be executed" "$(
    printf '%s\n' "$got" | grep -q 'in the kernel: 0 tried, 1 not tried' ||
    echo "$got"; left)"

tap_done
