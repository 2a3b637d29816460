#!/bin/sh
# sbxrun --explain and programs that are hard to look at, as TAP: nothing hangs,
# nothing is opened by who looks, and nothing raw comes out.  At both levels, as
# this user and, started by root, as an ordinary one too.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

tap_begin /var/tmp
base=$tmp
observed=$(dirname "$PROBE")/observed
tap_programs "$SBXRUN" "$SBXC" "$observed"
# shellcheck disable=SC2016  # the anchors are the policies'
policy hard workspace-write 'allow exec ${workspace}' 'limit timeout 300s' \
    'allow syscalls { chroot openat2 prctl }' \
    'limit processes 512' 'limit output 64MiB'
policy calls workspace-write 'deny syscalls sendmsg' 'limit timeout 60s'
cat >"$base/inner.sbx" <<'POLICY'
sbx 1
profile inner {
    require level standard
    allow exec { /usr  /lib  /lib64 }
    allow write ${workspace}
    allow exec ${workspace}
    limit timeout 60s
}
POLICY
"$SBXC" "$base/inner.sbx" -o "$base/inner.bin" || exit 99

prepare()
{
	home=$base/home-$1 ws=$base/home-$1/ws
	rm -rf "$home"
	mkdir -p "$ws" "$home/data"
	echo text >"$home/data/file"
	mkfifo "$home/data/fifo"
	cp "$base/observed" "$base/sbxrun" "$base/inner.bin" "$ws"
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$home"
}

# run UID OPTIONS COMMAND...: with a bound of its own.
run()
{
	run_uid=$1
	options=$2
	shift 2
	# shellcheck disable=SC2086  # they are several
	(cd "$ws" && as "$run_uid" timeout -k 5 200 "$base/sbxrun" --explain \
	    $options -l "$level" "$base/hard.bin" -- "$@" \
	    >"$base/said" 2>"$base/block" </dev/null)
	status=$?
}

# observe UID PATTERN WAY PATH: the program is content, and the block has a line.
observe()
{
	run "$1" '' ./observed "$3" "$4"
	tap_is "$level: uid $1: $3 goes its way" "0 ok" \
	    "$status $(cat "$base/said")"
	if [ -z "$2" ]; then
		tap_empty "$level: uid $1: $3: nothing is said" \
		    "$(cat "$base/block")"
	else
		tap_found "$level: uid $1: $3: $2" \
		    "$(grep -E -e "$2" "$base/block")"
	fi
	tap_empty "$level: uid $1: $3: what is said is plain" \
	    "$(LC_ALL=C tr -d '\n\40-\176' <"$base/block")"
	tap_found "$level: uid $1: $3: it is 20 lines at most" \
	    "$([ "$(wc -l <"$base/block")" -gt 20 ] || echo yes)"
}

ways()
{
	observe "$1" '' threads ./observed
	observe "$1" '' ticks ./observed
	observe "$1" '' vfork /bin/true
	observe "$1" 'write .*/data/GmXXXXXX .*, 20000 names' flood \
	    "$home/data"
	observe "$1" 'write .*x1b' long "$home/data"
	[ "$level" = full ] || [ "$1" -eq 0 ] ||
		observe "$1" 'could not be read' hidden ./observed
}

# The one who looks would wait for the other end.
files()
{
	run "$1" '' sh -c 'cat ~/data/fifo; echo >~/data/fifo; cat ~/data/file'
	tap_found "$level: uid $1: a named pipe is not opened" \
	    "$(grep 'read .*~/data/fifo' "$base/block")"
	run "$1" '' sh -c 'cat /proc/self/fd/0 /dev/fd/0 /dev/stdin; exit 0'
	tap_empty "$level: uid $1: descriptors by name are nobody's" \
	    "$(cat "$base/block")"
	cp "$base/observed" "$ws/$(printf 'a\033[2Jb')"
	run "$1" '' ./"$(printf 'a\033[2Jb')" spread "$home/data"
	tap_empty "$level: uid $1: a program's name is plain" \
	    "$(LC_ALL=C tr -d '\n\40-\176' <"$base/block")"
}

# given UID calls|looks: each call is told of that a path is given.
given()
{
	names=$("$observed" "$2" "$base/none" | grep -v '^ok$')
	for name in $names; do
		mkdir "$home/data/$name"
		case $name in
		mk* | link* | symlink*) ;;
		*) cp "$observed" "$home/data/$name/file" ;;
		esac
	done
	chown -R "$1:$1" "$home/data"
	run "$1" --explain=./report ./observed "$2" "$home/data"
	tap_is "$level: uid $1: $2 go their way" ok "$(tail -n 1 "$base/said")"
	tap_is "$level: uid $1: of each of the $2 there is a line" '' "$(
	    for name in $names; do
		grep -q "/data/$name/file\"" "$ws/report" || echo "$name"
	    done)"
}

parent()
{
	ps -o ppid= -p "$1" | tr -d ' '
}

# gone TEXT: whether no process has it in its command line, soon.
gone()
{
	for _ in $(seq 300); do
		pgrep -f "$1" >/dev/null || return 0
		sleep 0.2
	done
	return 1
}

# killed UID WHOM NUMBER: whoever is killed, the command ends; a number of its
# own finds it.
killed()
{
	nap="$3.$$"
	(cd "$ws" && as "$1" "$base/sbxrun" --explain -l "$level" \
	    "$base/hard.bin" -- sh -c "echo up; while :; do
		cat $home/data/file; sleep $nap; done" \
	    >"$base/up" 2>/dev/null &)
	command=
	for _ in $(seq 300); do
		command=$(pgrep -f "^sleep $nap" | head -n 1)
		[ -z "$command" ] || break
		sleep 0.2
	done
	shell=$(parent "$command")
	first=$(parent "$shell")
	supervisor=$(parent "$first")
	case $2 in
	supervisor) kill -9 "$supervisor" ;;
	first) kill -9 "$first" ;;
	shell) kill -9 "$shell" ;;
	esac
	if gone "^sleep $nap"; then
		tap_ok "$level: uid $1: it ends with a killed $2"
	else
		tap_not_ok "$level: uid $1: it ends with a killed $2" \
		    "$(ps -ef | grep "$nap")"
	fi
}

nested()
{
	run "$1" '' ./sbxrun --explain -l standard inner.bin -- echo inside
	tap_is "$level: uid $1: inside another it runs" "0 inside" \
	    "$status $(cat "$base/said")"
	tap_found "$level: uid $1: and says that it does not see" \
	    "$(grep 'explain.*another supervisor listens already' \
		"$base/block")"
	run "$1" '' ./sbxrun -l standard inner.bin -- echo inside
	tap_is "$level: uid $1: one inside that does not look runs" \
	    "0 inside" "$status $(cat "$base/said")"
	(cd "$ws" && as "$1" "$base/sbxrun" --explain -l "$level" \
	    "$base/calls.bin" -- true 2>"$base/block")
	tap_is "$level: uid $1: without sendmsg(2) it is refused" \
	    "125 sbxrun: --explain: needs sendmsg(2), which the policy denies" \
	    "$? $(cat "$base/block")"
}

each()
{
	tap_levels standard full
	number=$((1000 + $1 % 1000))
	for level in $levels; do
		prepare "$1"
		ways "$1"
		files "$1"
		given "$1" calls
		[ "$level" = standard ] || given "$1" looks
		[ "$level" = full ] || nested "$1"
		# Below full, what is left of a killed first process goes on.
		for whom in supervisor first shell; do
			[ "$level-$whom" != standard-first ] || continue
			number=$((number + 1))
			killed "$1" $whom $number
		done
	done
}

each "$(id -u)"
[ "$(id -u)" -ne 0 ] || each "$ORDINARY"
tap_done
