#!/bin/sh
# Rules about sockets where places move and numbers repeat, as TAP: the scratch
# directory, which is seen as /tmp at level full; the agent of ssh, which a session
# names, too; and btrfs, whose subvolumes number inodes each for itself.  As this
# user and, started by root, as an ordinary one too.

# The anchors are the policies', and some variables the inner shell's.
# shellcheck disable=SC2016

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"
image=$srcdir/tests/kernel/btrfs.img.gz.gz

tap_begin /var/tmp
base=$tmp
servers=
mounted=
at_end()
{
	# shellcheck disable=SC2086  # numbers
	[ -z "$servers" ] || kill $servers 2>/dev/null
	# shellcheck disable=SC2086
	[ -z "$servers" ] || wait $servers 2>/dev/null
	[ -z "$mounted" ] || umount "$mounted"
}
tap_at_end=at_end
tap_programs "$SBXRUN" "$SBXC" "$PROBE"
policy shut workspace-write 'deny socket ${tmp}/shut'
policy agent workspace-write 'allow socket ${ssh-agent}'
policy plain workspace-write
# Three servers outside: one at the place of a rule, one that is nobody's, and
# one that a denial in an open directory keeps from the command.
policy moved workspace-write 'allow socket ${workspace}/open' \
    'allow socket ${workspace}/run' 'deny socket ${workspace}/run/shut'
policy later workspace-write 'allow socket ${workspace}/run' \
    'deny socket ${workspace}/run/named'

# inside POLICY COMMAND...
inside()
{
	in_policy=$1
	shift
	# shellcheck disable=SC2086  # words
	(cd "$ws" && as "$uid" env SSH_AUTH_SOCK="$home/agent" timeout 300 \
	    "$base/sbxrun" $session -l "$level" "$base/$in_policy.bin" -- \
	    "$@" 2>&1 </dev/null | tail -n 1)
}

# serve PATH [KIND]: a server outside; with a kind, a service that is asked.
serve()
{
	verb=serve-unix
	[ $# -eq 1 ] || verb=serve-agent
	tap_as "$uid" "$base/probe" "$verb" "$1" ${2+"$2"} \
	    >/dev/null 2>&1 &
	servers="$servers $!"
	tap_until test -S "$1" && return
	tap_not_ok "uid $uid: a server at $1"
}

# prepare PLACE
prepare()
{
	home=$1/home-$uid ws=$1/home-$uid/ws
	mkdir -p "$ws"
	cp "$PROBE" "$ws/probe"
	chown -R "$uid" "$home"
}

rules()
{
	who="$level${session:+, session}: uid $uid"
	inside shut sh -c 'mkdir -p "$TMPDIR/shut"'
	tap_is "$who: what is denied in the scratch directory" EACCES \
	    "$(inside shut sh -c './probe unix-inside "$TMPDIR/shut/$1"' - \
		"$level")"
	tap_is "$who: what is not" ok \
	    "$(inside shut sh -c './probe unix-inside "$TMPDIR/$1"' - "$level")"
	[ -z "$session" ] || as "$uid" "$base/sbxrun" $session --end
	tap_is "$who: the variable of the agent" "$home/agent" \
	    "$(inside agent sh -c 'echo $SSH_AUTH_SOCK')"
	tap_is "$who: and where it leads" ok \
	    "$(inside agent sh -c './probe unix-connect $SSH_AUTH_SOCK')"
	tap_is "$who: one that joins has it" "$home/agent" \
	    "$(inside agent sh -c 'echo $SSH_AUTH_SOCK')"
	[ -z "$session" ] || as "$uid" "$base/sbxrun" $session --end
}

# Whatever else listens where SSH_AUTH_SOCK leads is no agent.
answers()
{
	session='' level=standard
	for kind in locked docker gpg large other short bus silent; do
		serve "$home/service" $kind
		got=$(cd "$ws" && as "$uid" env SSH_AUTH_SOCK="$home/service" \
		    timeout 300 "$base/sbxrun" -n "$base/agent.bin" 2>&1 |
		    sed -n "/ssh-agent}/{s/.*-- //; s/  .agent.*//; p}")
		case $kind in
		locked) wanted='' ;;
		*) wanted='skipped: no agent of ssh answers there' ;;
		esac
		tap_is "uid $uid: a service: $kind" "$wanted" \
		    "$(printf '%s' "$got" | grep skipped)"
		rm "$home/service"
	done
}

# moves: what the command may write it may rename and link; a rule opens what was
# bound to the place, and nothing that was brought there.
moves()
{
	who="$level: uid $uid"
	mkdir -p "$ws/run"
	chown "$uid" "$ws/run"
	for name in open other run/one run/shut; do
		rm -f "$ws/$name"
		serve "$ws/$name"
	done
	tap_is "$who: a rule in what may be written" 'ok ok EACCES EACCES' \
	    "$(inside moved sh -c 'echo $(./probe unix-connect open) \
		$(./probe unix-connect "$PWD/run/one") \
		$(./probe unix-connect other) $(./probe unix-connect run/shut)')"
	tap_is "$who: a socket that is brought to such a place" \
	    'EACCES EACCES EACCES EACCES' \
	    "$(inside moved sh -c 'ln other run/link; ln run/shut run/again
		mv open away; mv other open
		echo $(./probe unix-connect open) $(./probe unix-connect away) \
		    $(./probe unix-connect run/link) \
		    $(./probe unix-connect run/again)' 2>&1 |
		sed 's/ENOENT/EACCES/g')" # at full, two mounts cannot be linked
	# What an earlier run has left.
	tap_is "$who: and the next time" EACCES \
	    "$(inside moved ./probe unix-connect open)"
	# At full, mv(1) copies from one mount to another: nobody is bound to that.
	tap_is "$who: its directory" EACCES \
	    "$(inside moved sh -c 'mv run gone; mkdir run; mv open run/one
		./probe unix-connect run/one' | sed 's/ECONNREFUSED/EACCES/')"
	tap_is "$who: servers of the command" 'ok ok' \
	    "$(inside moved sh -c 'rm -f open; echo $(./probe unix-inside open) \
		$(./probe unix-inside run/own)')"
	tap_is "outside: uid $uid: such a socket" ok \
	    "$("$base/probe" unix-connect "$ws/away")"
	rm -rf "$ws/run" "$ws/gone" "$ws/away" "$ws/open"
}

# What was a link at the start is a server's place by now: the denial holds for the
# name, too, and not only for where it led.
later()
{
	who="$level: uid $uid"
	rm -rf "$ws/run" "$ws/there" "$ws/go"
	mkdir "$ws/run"
	ln -s "$ws/nowhere" "$ws/run/named"
	chown -h "$uid" "$ws/run" "$ws/run/named"
	inside later sh -c ': >there
		until [ -e go ]; do sleep 0.1; done
		echo $(./probe unix-connect run/other) \
		    $(./probe unix-connect run/named)' >"$base/later" &
	waiter=$!
	tap_until test -e "$ws/there"
	rm "$ws/run/named"
	serve "$ws/run/other"
	serve "$ws/run/named"
	: >"$ws/go"
	wait $waiter
	tap_is "$who: a server where a denied link was" 'ok EACCES' \
	    "$(cat "$base/later")"
}

# A server of the command's in one subvolume, with the number of one outside.
same_number()
{
	who="$level: uid $uid"
	rm -f "$ws"/made-* "$ws/own"
	tap_is "$who: the number of a socket in another subvolume" EACCES \
	    "$(inside plain sh -c 'n=0
		while : >made-$n && [ $(($(stat -c %i made-$n) + 1)) -lt $1 ]
		do n=$((n + 1)); done
		exec timeout 300 ./probe unix-inside own outer/socket' - \
		"$(stat -c %i "$ws/outer/socket")")"
	tap_is "$who: which it had" "$(stat -c %i "$ws/outer/socket")" \
	    "$(stat -c %i "$ws/own")"
}

# The command's own servers, of which the kernel tells no place.
own()
{
	who="$level: uid $uid"
	tap_is "$who: btrfs: a server of the command" ok \
	    "$(inside plain ./probe unix-inside own)"
	tap_is "$who: btrfs: by its whole path" ok \
	    "$(inside plain ./probe unix-inside "$ws/own")"
	tap_is "$who: btrfs: a daemon" ok "$(inside plain sh -c '
	    ./probe unix-daemon daemon')"
	tap_is "$who: btrfs: one outside" EACCES \
	    "$(inside plain ./probe unix-connect outer/socket)"
	tap_is "$who: btrfs: one outside at the name of an own one" EACCES \
	    "$(inside plain sh -c 'mkdir -p sub; ./probe unix-renamed side')"
	tap_is "$who: btrfs: while clients of it wait" EACCES \
	    "$(inside plain sh -c 'mkdir -p sub; ./probe unix-pending side')"
	tap_is "$who: btrfs: as many as are known" 128 \
	    "$(inside plain ./probe unix-servers s 200)"
}

btrfs()
{
	"$PROBE" subvolume "$base/mounted" "home-$uid" >/dev/null
	prepare "$base/mounted"
	"$PROBE" subvolume "$ws" outer >/dev/null
	chown "$uid" "$ws/outer"
	# Numbers are not used again, so the second one has a greater one.
	for level in $levels; do
		rm -f "$ws/outer/socket"
		for n in $(seq 100); do
			: >"$ws/outer/$level-$n"
		done
		serve "$ws/outer/socket"
		same_number
	done
	serve "$ws/side"
	for level in $levels; do
		own
		moves
	done
}

users=$(id -u)
[ "$users" -ne 0 ] || users="0 $ORDINARY"
cp "$PROBE" "$base/probe"
tap_levels standard full
for uid in $users; do
	prepare "$base"
	serve "$home/agent" agent
	answers
	for level in $levels; do
		session=
		rules
		moves
		later
		[ "$level" = full ] || continue
		session="--session rules-$$"
		rules
	done
done
session=
if [ "$(id -u)" -ne 0 ]; then
	tap_done
	exit
fi
mkdir "$base/mounted"
gzip -dc "$image" | gzip -dc >"$base/image"
if mount -t btrfs -o loop "$base/image" "$base/mounted" 2>/dev/null; then
	mounted=$base/mounted
	chmod 755 "$base/mounted"
	for uid in $users; do
		btrfs
	done
else
	tap_skip 'btrfs' 'no image of it can be mounted here'
fi
tap_done
