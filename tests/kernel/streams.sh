#!/bin/sh
# What a command can do with standard input, output and error, which are the
# caller's, as TAP: as this user and, started by root, as an ordinary one too.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# Not the one that everybody looks like in a user namespace.
ORDINARY=23910

# Not below /tmp: that is the scratch directory at level full.
tap_begin /var/tmp
base=$tmp
tap_programs "$SBXRUN"
cat >"$base/streams.sbx" <<'POLICY'
sbx 1
profile streams extends workspace-write {
    deny write ${workspace}/keep
}
POLICY
"$SBXC" "$base/streams.sbx" -o "$base/streams.bin" || exit 99

# The command line for a shell is the last word.
run()
{
	tap_as "$uid" env -i PATH="$PATH" HOME="$home" sh -c "cd '$home' && $1"
}

prepare()
{
	uid=$1
	home=$base/home-$1
	outside=$base/outside-$1
	sbxrun="$base/sbxrun -w . -l $level $base/streams.bin --"
	mkdir -p "$home/keep" "$outside"
	printf '1\n2\n3\n4\n' >"$home/keep/lines"
	cp "$home/keep/lines" "$outside"
	cp "$PROBE" "$home/probe"
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$home" "$outside"
	# Of whoever runs this test, and anybody's to write.
	install -m 666 "$home/keep/lines" "$outside/shared"
}

# is NAME WANTED COMMAND: what it prints, in a line.
is()
{
	tap_is "$level: uid $uid: $1" "$2" "$(run "$3" 2>&1 | tr '\n' ' ')"
}

# A directory leads to all that is below it, where no rule is looked at.
directories()
{
	for stream in '<.' '1<.' '2<.'; do
		got=$(run "$sbxrun touch ran $stream" 2>&1)
		status=$?
		tap_empty "$level: uid $uid: a directory as $stream" \
		    "$([ $status -eq 125 ] && [ ! -e "$home/ran" ] ||
		    echo "$status: $got")"
	done
	# O_PATH is not in Fcntl.
	opath='use POSIX; sysopen(F, "keep/lines", 010000000) || die;
	    dup2(fileno(F), 0); exec(@ARGV)'
	got=$(run "perl -e '$opath' $sbxrun touch ran" 2>&1)
	status=$?
	tap_empty "$level: uid $uid: a descriptor of O_PATH" \
	    "$([ $status -eq 125 ] && [ ! -e "$home/ran" ] &&
	    [ "$(echo "$got" | wc -l)" -eq 1 ] || echo "$status: $got")"
}

# What is open for reading stays what it is, by whatever name.
read_only()
{
	for file in keep/lines "$outside/lines" "$outside/shared"; do
		for call in 'open-write /proc/self/fd/0' \
		    'chmod /proc/self/fd/0 777' 'truncate /dev/stdin'; do
			is "$call <$file" 'EROFS ' \
			    "$sbxrun ./probe $call <$file"
		done
		is "read it <$file" '1 2 3 4 ' "$sbxrun cat <$file"
		is "open it again <$file" '1 2 3 4 ' \
		    "$sbxrun cat /dev/stdin <$file"
	done
	is 'standard input that could be written' '1 2 3 4 ' \
	    "$sbxrun sh -c 'echo 5 >&0; cat' 0<>keep/lines 2>/dev/null"
	tap_is "$level: uid $uid: the files are as they were" \
	    '1 2 3 4 1 2 3 4 644 644 ' \
	    "$( (cat "$home/keep/lines" "$outside/lines"
	    stat -c %a "$home/keep/lines" "$outside/lines") | tr '\n' ' ')"
}

# One after the other reads a file, as scripts do.
positions()
{
	is 'reading goes on where the command ended' '1 2 3 4 ' \
	    "(read -r a; echo \$a; $sbxrun sh -c 'read -r a; echo \$a'; cat) \
	    <keep/lines"
	is 'a command in a loop' '1 in 2 in 3 in 4 in ' \
	    "while read -r a; do echo \$a; $sbxrun echo in; done <keep/lines"
	is 'a script from standard input' '1 in 2 ' \
	    "printf 'echo 1\n$sbxrun echo in\necho 2\n' >script; sh <script"
	is 'a file without a name' '1 2 3 4 ' \
	    "(rm keep/lines; $sbxrun cat) <keep/lines"
	is 'a pipe' '1 ' "echo 1 | $sbxrun cat"
	is 'nothing' '' "$sbxrun true <&-"
}

# To root, the device belongs.
null_device()
{
	is 'the null device' 'EROFS EROFS ok ' "$sbxrun ./probe \
	    chmod /proc/self/fd/0 666 -- chmod /dev/null 666 -- \
	    open-write /dev/null </dev/null"
}

# Others of the caller's: only pipes without a name are handed on, and the receipt
# stays sbxrun's own.
# said NAME FAULT COMMAND: 125 and that fault in what is said, or what there is.
said()
{
	got=$(run "$3" 2>&1)
	tap_is "$level: uid $uid: $1" "125 yes" "$? $(case $got in
	    *"$2"*) echo yes ;; *) echo "$got" ;; esac)"
}

others()
{
	run="$base/sbxrun -w . -l $level"
	command="$base/streams.bin -- true"
	said 'a receipt into what is read' 'not open for writing' \
	    "$run --status-fd 3 $command 3<probe"
	said 'a receipt into what is closed' 'not open for writing' \
	    "$run --status-fd 3 $command 3<&-"
	said 'handed on, and closed' \
	    '--pass-fd: this descriptor is not open: Bad file descriptor' \
	    "$run --pass-fd 3 $command 3<&-"
	run 'mkfifo named'
	for file in '<probe' '<.' '<>/dev/null' '<>named'; do
		said "handed on beside a pipe: $file" \
		    'only a pipe without a name' "true | $run --pass-fd 4 \
		    --pass-fd 3 $command 4<&0 3$file"
	done
	# The one that ls has opened is the next.
	is 'those of the command' '0 1 2 3 ' "true | $run --status-fd 5 \
	    $base/streams.bin -- ls /proc/self/fd 3<keep 4>made 5>receipt \
	    6<&0 7>made 8<keep"
	is 'and two that are handed on' '0 1 2 3 4 6 ' "true | $run \
	    --status-fd 5 --pass-fd 4 --pass-fd 6 $base/streams.bin -- \
	    ls /proc/self/fd 3<keep 4<&0 5>receipt 6<&0 7<keep 8<&0"
}

# A file that lies at its path now, and is another one.
covered()
{
	unshare -m true 2>/dev/null || return
	# shellcheck disable=SC2016,SC2086  # for the inner shell; words
	tap_is "$level: another file at its path" 1 "$(unshare -m sh -c '
	    cd "$1" && shift && exec <keep/lines && echo other >other &&
	    mount --bind other keep/lines && exec "$@"' sh "$home" \
	    $sbxrun cat 2>&1 | grep -c 'cannot find the file by its path')"
	# The first files of two such file systems have the same number.
	# shellcheck disable=SC2016,SC2086
	tap_is "$level: another file system at its path" 1 "$(unshare -m sh -c '
	    cd "$1" && shift && mount -t tmpfs none keep && echo 1 >keep/file &&
	    exec <keep/file && mount -t tmpfs none "$PWD/keep" &&
	    echo other >"$PWD/keep/file" && exec "$@"' sh "$home" \
	    $sbxrun cat 2>&1 | grep -c 'cannot find the file by its path')"
}

check_all()
{
	tap_levels standard full
	for level in $levels; do
		prepare "$1"
		directories
		if [ "$level" = full ]; then
			read_only
			[ "$1" -ne 0 ] || null_device
			[ "$1" -ne 0 ] || covered
		fi
		positions
		others
		rm -rf "$home" "$outside"
	done
}

check_all "$(id -u)"
if [ "$(id -u)" -eq 0 ]; then
	check_all $ORDINARY
fi
tap_done
