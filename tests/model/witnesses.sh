#!/bin/sh
# What tests/model/compare calls a difference between two policies, tried in the
# kernel: under one policy the operation must be refused and under the other
# not, as the witness says.  As TAP.
#
#	tests/model/witnesses.sh [COUNT [SEED]]
#
# Each witness has a tree of its own, with a file where the operation is tried.
# Ports need Landlock ABI 4 at level standard.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
count=${1:-$(tap_rounds 100)}
seed=${2:-1}

tap_begin
work=$tmp
base=$work/t
probe=$work/probe
tap_programs "$PROBE"

# landlock: the ABI of this machine, 0 if there is none.
landlock()
{
	"$SBXRUN" --status 2>/dev/null |
	    sed -n 's/^landlock  *ABI \([0-9]*\).*/\1/p' | grep . || echo 0
}

# plant PATH: an empty tree with an executable file there.
plant()
{
	rm -rf "$base"
	mkdir -p "$base/home/user/project" "$base/srv" "$base/a" \
	    "$(dirname "$1")" && : >"$1" && chmod 755 "$1"
}

# try NUMBER WHICH OPERATION...: what the probe says of it.
try()
{
	try_blob=$base.$1.$2.bin
	shift 2
	env -i HOME="$base/home/user" PATH="$PATH" "$SBXRUN" -l standard \
	    -w "$base/home/user/project" "$try_blob" -- "$probe" "$@" 2>&1 |
	    tail -n 1
}

# is_as WORD ANSWER: whether the kernel's answer is that of the verdict.
is_as()
{
	case $1-$2 in
	allowed-ok | allowed-ENOEXEC | allowed-ECONNREFUSED) return 0 ;;
	denied-EACCES) return 0 ;;
	esac
	return 1
}

"${builddir:-.}/tests/model/compare" --witnesses "$seed" "$count" "$base" "$probe" \
    >"$work/list" || exit 99
abi=$(landlock)
if [ "$abi" -eq 0 ]; then
	tap_skip 'witnesses in the kernel' 'there is no Landlock'
	tap_done
	exit
fi

while read -r number what object old new; do
	case $what in
	read) set -- open-read "$object" ;;
	write) set -- open-write "$object" ;;
	exec) set -- exec "$object" ;;
	connect) set -- connect-tcp "$object" ;;
	listen) set -- bind-tcp "$object" ;;
	esac
	name="$number: $what ${object#"$work"}: $old, then $new"
	case $what in
	connect | listen)
		if [ "$abi" -lt 4 ]; then
			tap_skip "$name" 'Landlock has no ports'
			continue
		fi
		plant "$base/a/a"
		;;
	*) plant "$object" || exit 99 ;;
	esac
	before=$(try "$number" old "$@" </dev/null)
	after=$(try "$number" new "$@" </dev/null)
	if is_as "$old" "$before" && is_as "$new" "$after"; then
		tap_ok "$name"
	else
		tap_not_ok "$name" "the kernel says $before, then $after"
	fi
done <"$work/list"

lines=$(wc -l <"$work/list")
[ "$lines" -eq "$count" ] || tap_not_ok "$count witnesses" "$lines"
tap_done
