#!/bin/sh
# What each layer denies by itself, with its exact errno.  Where several deny the
# same, a fault in one of them is hidden by the others; so the test build leaves
# all but one out: Landlock alone and the filter alone at level standard, and the
# view alone at level full.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

tap_begin
tap_programs "$SBXRUN_TEST" "$PROBE"

# OPERATION: what Landlock, the filter and the view say by themselves.  What is
# allowed everywhere shows that the operation works at all.
table()
{
	cat <<-TABLE
	open-read $home/.ssh/key        EACCES ok     ENOENT
	list $home/.ssh                 EACCES ok     ENOENT
	open-read $out/file             EACCES ok     ENOENT
	open-write $out/file            EACCES ok     ENOENT
	truncate $out/file              EACCES ok     ENOENT
	create $out/new                 EACCES ok     ENOENT
	link $out/file $ws/link         EXDEV  ok     ENOENT
	rename $out/a $out/b            EACCES ok     ENOENT
	unlink $out/gone                EACCES ok     ENOENT
	exec $out/probe                 EACCES ok     ENOENT
	open-read $shown/file           ok     ok     ok
	open-write $shown/file          EACCES ok     EROFS
	truncate $shown/file            EACCES ok     EROFS
	create $shown/new               EACCES ok     EROFS
	rename $shown/a $shown/b        EACCES ok     EROFS
	unlink $shown/gone              EACCES ok     EROFS
	exec $shown/probe               EACCES ok     EACCES
	exec $ws/probe                  ok     ok     ok
	create $ws/made                 ok     ok     ok
	socket inet stream 0            ok     EACCES ok
	socket unix stream 0            ok     ok     ok
	socket packet raw 0             EPERM  EACCES EPERM
	socket netlink raw 0            ok     ok     ok
	connect-tcp $port               EACCES EACCES ENETUNREACH
	unix-connect $out/socket        ok     EACCES ENOENT
	unix-connect $ws/shut           ok     EACCES ECONNREFUSED
	tiocsti                         ENOTTY EPERM  ENOTTY
	unshare newuser                 ok     EPERM  ok
	kill $server 0                  EPERM  ok     ESRCH
	ptrace $server                  EPERM  $trace ESRCH
	io-uring                        ok     ENOSYS ok
	int80 20                        ok     ENOSYS ok
	nnp                             1      1      1
	TABLE
}

# place UID: what the operations are tried on, new for each layer.
place()
{
	home=$tmp/$1/home ws=$home/ws out=$tmp/$1/out shown=$tmp/$1/shown
	rm -rf "${tmp:?}/$1"
	mkdir -p "$home/.ssh" "$ws" "$out" "$shown"
	echo key >"$home/.ssh/key"
	for directory in "$out" "$shown"; do
		touch "$directory/file" "$directory/a" "$directory/gone"
	done
	for directory in "$out" "$shown" "$ws"; do
		cp "$PROBE" "$directory/probe"
	done
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$tmp/$1"
	# The user's process, and not the shell that waits for it.
	# shellcheck disable=SC2016
	for socket in "$out/socket" "$ws/shut"; do
		(as "$1" sh -c 'echo $$ >>"$1"; exec "$2" serve-unix "$3"' \
		    sh "$out/servers" "$tmp/probe" "$socket" 2>/dev/null &)
		tap_until [ -S "$socket" ]
	done
	servers=$(cat "$out/servers")
	server=${servers%%[!0-9]*}
}

# alone UID LAYER COLUMN LEVEL WITHOUT: each line of the table under one layer.
alone()
{
	uid=$1 layer=$2 column=$3 level=$4 without=$5
	# Root without capabilities may not trace root who has them.
	trace=ok
	[ "$uid" -ne 0 ] || trace=EPERM
	place "$uid"
	table >"$tmp/table"
	while read -r line; do
		wanted=$(echo "$line" | awk -v at="$column" \
		    '{ print $(NF - 3 + at) }')
		operation=$(echo "$line" | sed -E 's/( +[^ ]+){3}$//')
		[ "${operation%% *}" != int80 ] || wanted=$(tap_int80 "$wanted")
		# The operation is words.
		# shellcheck disable=SC2086
		got=$(cd "$ws" && as "$uid" env SBX_TEST_WITHOUT="$without" \
		    "$tmp/sbxrun-test" -l "$level" "$tmp/p.bin" -- \
		    ./probe $operation 2>&1 </dev/null)
		tap_is "uid $uid: $layer alone: $(echo "$operation" |
		    sed "s|$tmp/$uid/||g; s/[0-9]\{3,\}/N/")" "$wanted" "$got"
	done <"$tmp/table"
	# shellcheck disable=SC2086  # words
	kill $servers
}

# Where the supervisor connects for the command, Landlock still holds what it
# connects to by itself; but not its servers, which the supervisor keeps inside.
connected()
{
	place "$1"
	for operation in "EACCES connect-tcp $port" 'ok bind-tcp 0'; do
		# The operation is words.
		# shellcheck disable=SC2086
		tap_is "uid $1: Landlock where sbxrun connects: ${operation% *}" \
		    "${operation%% *}" "$(cd "$ws" && as "$1" \
		    env SBX_TEST_WITHOUT=filter "$tmp/sbxrun-test" -l standard \
		    "$tmp/loopback.bin" -- ./probe ${operation#* } 2>&1)"
	done
	# shellcheck disable=SC2086  # words
	kill $servers
}

"$PROBE" serve-tcp "$tmp/port" &
service=$!
tap_at_end="kill $service"
tap_until [ -s "$tmp/port" ]
port=$(cat "$tmp/port")
home=$tmp
policy loopback workspace-write 'allow network loopback'
tap_levels standard full
for user in $(id -u) $([ "$(id -u)" -ne 0 ] || echo "$ORDINARY"); do
	cat >"$tmp/p.sbx" <<-POLICY
	sbx 1
	profile p extends workspace-write {
	    allow read $tmp/$user/shown
	    deny socket \${workspace}/shut
	}
	POLICY
	"$SBXC" "$tmp/p.sbx" -o "$tmp/p.bin" || exit 99
	for level in $levels; do
		case $level in
		standard)
			connected "$user"
			alone "$user" Landlock 1 standard filter
			alone "$user" 'the filter' 2 standard landlock
			;;
		full) alone "$user" 'the view' 3 full landlock,filter ;;
		esac
	done
done
tap_done
