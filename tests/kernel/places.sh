#!/bin/sh
# Where rules end up, as TAP: exceptions that begin at another anchor than their
# rule or lie below a match, links on the way to what is denied, names in a
# directory that is listed at once, the two homes of a user, and links in all the
# places that commands write.  At levels standard and full, as this user and,
# started by root, as an ordinary one too.

# The anchors are the policies', and the inner shell expands the rest.
# shellcheck disable=SC2016

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

# Not below /tmp: that is the scratch directory at level full.
tap_begin /var/tmp
base=$tmp
tap_programs "$SBXRUN" "$PROBE"
# Where links lead that a workspace is named by: above none of them, since what
# lies in the workspace is suspected anyway.
mkdir "$base/aside"
# A user of its own, who has run nothing in the directories above.
ORDINARY=23909 SHARED=23908

# reads NAME WANTED POLICY FILE...: the contents of those that are read.
reads()
{
	name=$1 wanted=$2 with=$3
	shift 3
	tap_is "$level: uid $uid: $name" "$wanted" "$(cd "$ws" && as "$uid" \
	    "$base/sbxrun" -l "$level" ${options-} "$base/$with.bin" -- \
	    cat "$@" 2>/dev/null | paste -sd ' ')"
}

# tries NAME POLICY COMMAND...: fails, and changes nothing.
tries()
{
	name=$1 with=$2
	shift 2
	said=$(cd "$ws" && as "$uid" "$base/sbxrun" -l "$level" \
	    "$base/$with.bin" -- "$@" 2>&1)
	tap_is "$level: uid $uid: $name" '1 yes' "$? $(echo "$said" |
	    grep -q 'Permission denied\|busy\|Read-only' && echo yes ||
	    echo "$said")"
}

# prepare UID: a home with a workspace in it.
prepare()
{
	home=$base/home-$1 ws=$base/home-$1/ws
	rm -rf "$home"
	mkdir -p "$home/.ssh" "$ws/a.d/public" "$ws/b.d" "$ws/real" \
	    "$home/many" "$home/param/sub/in" "$ws/part/open"
	for file in .ssh/key file ws/a.d/public/file ws/a.d/file ws/b.d/file \
	    ws/real/file param/file param/sub/file param/sub/in/file \
	    ws/part/secret ws/part/file; do
		echo "${file#ws/}" >"$home/$file"
	done
	ln -s real "$ws/linked"
	ln -s linked "$ws/again"
	ln -s param/sub/in "$home/past"
	[ "$1" -eq "$(id -u)" ] || chown -hR "$1:$1" "$home"
}

policies()
{
	policy anchors workspace-write "allow read $home except ~/.ssh"
	policy workspace workspace-write \
	    "deny read $ws except \${workspace}/a.d"
	policy below workspace-write \
	    'deny read glob "${workspace}/*.d" except ${workspace}/a.d/public'
	policy within workspace-write \
	    'allow read glob "~/p*" except ~/param/sub'
	policy again workspace-write 'allow read ~/param except ~/param/sub' \
	    'allow read ~/param/sub/in'
	policy part workspace-write 'deny read ${workspace}/part/secret' \
	    'deny write ${workspace}/part except ${workspace}/part/open'
	policy linked workspace-write 'deny read ${workspace}/again'
	policy late workspace-write 'allow read ~/param except ~/param/late'
	policy shut workspace-write 'deny read ${workspace}/shut/in'
	policy machine workspace-write \
	    'on x86_64 { deny read ${workspace}/b.d }' \
	    'on aarch64 { deny read ${workspace}/real }'
	printf 'sbx 1\nparam p\nprofile q extends workspace-write {\n%s\n}\n' \
	    "allow read $home except \${p}/sub" >"$base/param.sbx"
	"$SBXC" "$base/param.sbx" -o "$base/param.bin" 2>/dev/null || exit 99
	printf 'sbx 1\nparam p\nparam pq\n%s\n%s\n}\n' \
	    'profile q extends workspace-write {' 'allow read ${pq} except ${p}' \
	    >"$base/alike.sbx"
	"$SBXC" "$base/alike.sbx" -o "$base/alike.bin" 2>/dev/null || exit 99
}

exceptions()
{
	reads 'an exception of another anchor' file anchors "$home/.ssh/key" \
	    "$home/file"
	reads 'one of a denial' a.d/file workspace "$ws/a.d/file" \
	    "$ws/b.d/file"
	options="-D p=$home/param"
	reads 'one of a parameter' param/file param "$home/param/sub/file" \
	    "$home/param/file"
	options="-D pq=$home/param -D p=$home/param/sub"
	reads 'two whose names begin alike' param/file alike \
	    "$home/param/sub/file" "$home/param/file"
	options=''
	tap_is "$level: uid $uid: a home directory that is relative" '' "$(
	    cd "$home" && as "$uid" env HOME=. "$base/sbxrun" -l "$level" \
	    -w "$ws" "$base/late.bin" -- cat "$home/param/file" 2>/dev/null)"
	reads 'an exception below a match' a.d/public/file below \
	    "$ws/a.d/file" "$ws/a.d/public/file" "$ws/b.d/file"
	reads 'one below a match that is allowed' param/file within \
	    "$home/param/sub/file" "$home/param/file" "$home/.ssh/key"
	reads 'nor where a match that is a link leads into one' '' within \
	    "$home/past/file" "$home/param/sub/in/file"
	reads 'an allow in an exception' 'param/file param/sub/in/file' again \
	    "$home/param/file" "$home/param/sub/file" \
	    "$home/param/sub/in/file"
	wanted=real/file
	[ "$(uname -m)" != aarch64 ] || wanted=b.d/file
	reads 'a denial on another machine' "$wanted" machine \
	    "$ws/b.d/file" "$ws/real/file"
	# Of one directory a part is read, and another part is written.
	reads 'a denial beside an exception' part/file part "$ws/part/secret" \
	    "$ws/part/file"
	tries 'beside an exception of a denial' part tee -a part/file
}

# What an exception names and is not there may become a directory.
late()
{
	rm -f "$ws/began"
	(cd "$ws" && as "$uid" "$base/sbxrun" -l "$level" "$base/late.bin" -- \
	    sh -c '>began; until [ -e ~/param/late/file ]; do sleep 0.1; done
	    cat ~/param/file; ls ~/param/late; cat ~/param/late/file' \
	    >"$base/said" 2>/dev/null) &
	tap_until test -e "$ws/began"
	as "$uid" sh -c 'mkdir ~/param/late && echo late >~/param/late/file'
	wait
	tap_is "$level: uid $uid: an exception that comes later" param/file \
	    "$(cat "$base/said")"
	rm -r "$home/param/late"
}

# A policy that lies where the command writes, and which the next run obeys.
own_policy()
{
	cp "$base/below.bin" "$ws/own.bin"
	cp "$base/probe" "$ws"
	[ "$uid" -eq "$(id -u)" ] || chown "$uid:$uid" "$ws/own.bin"
	for call in 'open-write own.bin' 'unlink own.bin' \
	    'rename own.bin other.bin'; do
		# shellcheck disable=SC2086  # words
		tap_is "full: uid $uid: its own policy: $call" 1 "$(cd "$ws" &&
		    as "$uid" "$base/sbxrun" -l full own.bin -- \
		    ./probe $call 2>&1 | grep -cx 'EROFS\|EBUSY')"
	done
	rm "$ws/own.bin"
}

# Below full nothing keeps it, which is said.
own_policy_told()
{
	cp "$base/below.bin" "$ws/own.bin"
	[ "$uid" -eq "$(id -u)" ] || chown "$uid:$uid" "$ws/own.bin"
	tap_is "$level: uid $uid: its own policy: it is said" 1 "$(cd "$ws" &&
	    as "$uid" "$base/sbxrun" -l "$level" own.bin -- true 2>&1 |
	    grep -c 'the command may write its own policy')"
	rm "$ws/own.bin"
}

# What the user keeps shut a command could open; what somebody else does, not.
shut()
{
	mkdir "$ws/shut"
	for owner in "$uid=125" 4321=0; do
		chown "${owner%=*}" "$ws/shut"
		chmod 0 "$ws/shut"
		(cd "$ws" && as "$uid" "$base/sbxrun" -l full \
		    "$base/shut.bin" -- true 2>/dev/null)
		tap_is "full: uid $uid: a denial below a directory of ${owner%=*}" \
		    "${owner#*=}" $?
	done
	rmdir "$ws/shut"
}

links()
{
	reads 'what a denied link leads to' '' linked "$ws/again/file" \
	    "$ws/linked/file" "$ws/real/file"
	for link in again linked; do
		tries "$link cannot be moved" linked mv "$link" other
		tries "$link cannot be removed" linked rm "$link"
	done
}

# Ten rules in a directory: it is listed at once, as long as its names have room.
listed()
{
	for name in a b c d e f g h i link; do
		rules="${rules-} ~/many/$name"
	done
	policy many workspace-write 'allow read ~/many' "deny read {$rules }"
	as "$uid" sh -c 'cd ~/many && echo target >target &&
	    ln -s target link && for name in a i; do echo $name >$name; done'
	reads 'in a directory that is listed' '' many "$home/many/a" \
	    "$home/many/i" "$home/many/link" "$home/many/target"
	as "$uid" sh -c 'cd ~/many && seq -f "a-longer-name-than-usual-%g" 1200 |
	    xargs touch'
	reads 'in one that has no room' '' many "$home/many/a" \
	    "$home/many/i" "$home/many/link" "$home/many/target"
}

# Each place that profiles let commands write may hold a link of theirs.
caches()
{
	"$SBXC" build @workspace-write -o "$base/ws.bin" || exit 99
	wrong=''
	for cache in $(sed -n 's/^CACHE([AL][^M,]*, "~\(.*\)")/\1/p
	    s/^STATE("~\(.*\)")/\1/p' "$srcdir/format/caches.def" \
	    "$srcdir/format/states.def"); do
		as "$uid" sh -c 'mkdir -p "$HOME$1" && ln -s "$2" "$HOME$1/x"' \
		    sh "$cache" "$base/aside"
		(cd "$ws" && as "$uid" "$base/sbxrun" -l "$level" -w \
		    "$home$cache/x" "$base/ws.bin" -- true 2>&1 |
		    grep -q 'a command may have made this link') ||
			wrong="$wrong $cache"
	done
	tap_empty "$level: uid $uid: links in what commands write" "$wrong"
}

# Of the scratch directories those of commands alone may be workspaces, and what
# any of them holds was made by commands.
scratch()
{
	top=$(as "$uid" "$base/sbxrun" -l standard -w "$ws" "$base/below.bin" \
	    -- sh -c 'echo $TMPDIR')
	for wanted in "$top=0" "${top%/*}=125" "${top%/*/*}=125"; do
		as "$uid" "$base/sbxrun" -l "$level" -w "${wanted%=*}" \
		    "$base/below.bin" -- true 2>/dev/null
		tap_is "$level: uid $uid: ${wanted%=*} as a workspace" \
		    "${wanted#*=}" $?
	done
	other=/tmp/sbx-$uid-${base##*-}
	as "$uid" mkdir -m 700 "$other" "$other/x" "$other/x/y"
	as "$uid" ln -s "$base/aside" "$other/x/y/link"
	tap_is "$level: uid $uid: a link in a scratch directory with a number" 1 \
	    "$(as "$uid" "$base/sbxrun" -l "$level" -w "$other/x/y/link" \
	    "$base/below.bin" -- true 2>&1 | grep -c 'a command may have made')"
	rm -r "$other"
}

# --- what only root can set up ------------------------------------------------

# with_passwd LINE COMMAND...: while that is the list of users.
with_passwd()
{
	printf '%s\n' "$1" >"$base/passwd"
	shift
	unshare -m sh -c 'mount --bind "$0" /etc/passwd && exec "$@"' \
	    "$base/passwd" "$@"
}

# The home of the list of users is denied beside that of the variable.
homes()
{
	mkdir -p "$base/listed/.ssh" "$base/listed/.cache" "$base/listed/own"
	echo listed | tee "$base/listed/own/key" >"$base/listed/.ssh/key"
	echo file >"$base/listed/file"
	ln -sfn "$base/aside" "$base/listed/.cache/x"
	chown -R "$uid:$uid" "$base/listed"
	policy both workspace-write "allow read $base/listed" 'deny read ~/.ssh'
	for case in "u:x:$uid:0::LISTED:/bin/sh=file" \
	    "u:x:$uid:0::LISTED=file" \
	    "v:x:0$uid:0::LISTED:=file" \
	    "v:x:${uid}x:0::LISTED:=listed file" \
	    "v:x:${uid}0:0::LISTED:=listed file" \
	    "v:x:$(printf %09000d 1):0::/:
u:x:$uid:0::LISTED:/bin/sh=file" \
	    "u:x:$(printf %05000d 1):$(printf %05000d 1)x:x:$uid:0::LISTED:=listed file" \
	    "u:x:$((uid + 1)):0::/:
u:x:$uid:0::LISTED:/bin/sh=file"; do
		tap_is "$level: uid $uid: the users $(echo "${case%=*}" |
		    cut -c 1-40 | paste -sd ' ')" "${case##*=}" "$(cd "$ws" &&
		    with_passwd "$(echo "${case%=*}" |
		    sed "s,LISTED,$base/listed,")" setpriv --reuid="$uid" \
		    --regid="$uid" --clear-groups env -i PATH="$PATH" \
		    HOME="$home" "$base/sbxrun" -l "$level" "$base/both.bin" \
		    -- cat "$base/listed/.ssh/key" "$base/listed/file" \
		    2>/dev/null | paste -sd ' ')"
	done
	line="u:x:$uid:0::$base/listed:/bin/sh"
	policy prefers workspace-write "allow read $base/listed" \
	    'prefer deny read ~/own'
	# Without masks a denial that is preferred is left out.
	[ "$level" = standard ] || tap_is \
	    "$level: uid $uid: a preferred denial in the other home" file "$(
	    cd "$ws" && with_passwd "$line" setpriv --reuid="$uid" \
	    --regid="$uid" --clear-groups env -i PATH="$PATH" HOME="$home" \
	    "$base/sbxrun" -l "$level" "$base/prefers.bin" -- cat \
	    "$base/listed/own/key" "$base/listed/file" 2>/dev/null)"
	cp "$base/probe" "$ws"
	servers=
	for name in open shut; do
		rm -f "$base/listed/$name"
		tap_start "$uid" "$base/probe" serve-unix "$base/listed/$name" \
		    2>/dev/null &
		servers="$servers $!"
		tap_until [ -S "$base/listed/$name" ]
	done
	policy sockets workspace-write "allow socket $base/listed" \
	    'deny socket ~/shut'
	tap_is "$level: uid $uid: a denied socket in the other home" \
	    'ok EACCES' "$(cd "$ws" && with_passwd "$line" setpriv \
	    --reuid="$uid" --regid="$uid" --clear-groups env -i PATH="$PATH" \
	    HOME="$home" "$base/sbxrun" -l "$level" "$base/sockets.bin" -- sh -c '
		echo $(./probe unix-connect "$0/open") \
		    $(./probe unix-connect "$0/shut")' "$base/listed" 2>&1 |
	    sed s/ECONNREFUSED/EACCES/)"
	# shellcheck disable=SC2086  # numbers
	kill $servers
	tap_is "$level: uid $uid: no HOME" file "$(cd "$ws" &&
	    with_passwd "$line" setpriv --reuid="$uid" --regid="$uid" \
	    --clear-groups env -i PATH="$PATH" "$base/sbxrun" -l "$level" \
	    "$base/both.bin" -- cat "$base/listed/.ssh/key" \
	    "$base/listed/file" 2>/dev/null | paste -sd ' ')"
	tap_is "$level: uid $uid: a link in the caches of the other home" 1 \
	    "$(cd "$ws" && with_passwd "$line" setpriv --reuid="$uid" \
	    --regid="$uid" --clear-groups env -i PATH="$PATH" HOME="$home" \
	    "$base/sbxrun" -l "$level" -w "$base/listed/.cache/x" \
	    "$base/both.bin" -- true 2>&1 | grep -c 'a command may have made')"
}

# A file system whose server is gone: what a denied place is cannot be known.
dead()
{
	[ -c /dev/fuse ] || return 0
	mkdir -p "$base/dead"
	policy dead workspace-write "deny read $base/dead/x"
	tap_is "$level: uid $uid: a denied place that cannot be looked at" \
	    '125 1' "$(cd "$ws" && unshare -m sh -c '
		exec 9<>/dev/fuse && mount -i -t fuse -o "$1" dead "$0/dead"
		exec 9>&-
		shift
		exec "$@" 2>"$0/said"' "$base" \
	    "fd=9,rootmode=40000,user_id=$uid,group_id=$uid,allow_other" \
	    setpriv --reuid="$uid" --regid="$uid" --clear-groups \
	    "$base/sbxrun" -l "$level" "$base/dead.bin" -- echo ran
	    echo "$? $(grep -c "/dead/x: cannot look at this place" \
		"$base/said")")"
}

# A group that others are in may replace a link; its own alone may not.
groups()
{
	mkdir -p "$base/group"
	ln -sfn "$base/listed" "$base/group/link"
	for group in "$uid" $SHARED; do
		chown -h "$uid:$group" "$base/group" "$base/group/link"
		chmod 775 "$base/group"
		wanted=0
		[ "$group" != $SHARED ] || wanted=1
		tap_is "$level: uid $uid: a link in a directory of group $group" \
		    $wanted "$(cd "$ws" && setpriv --reuid="$uid" \
		    --regid="$group" --clear-groups env -i PATH="$PATH" \
		    HOME="$home" "$base/sbxrun" -l "$level" -w \
		    "$base/group/link" "$base/anchors.bin" -- true 2>&1 |
		    grep -c 'another user may have made this link')"
	done
}

# Where another process has a number that begins as that of sbxrun.
numbers()
{
	tap_is "$level: what process 2x leads to" 125 "$(cd "$ws" &&
	    unshare -mpf --mount-proc sh -c '
	    (until [ -e /proc/23 ]; do sleep 0.1; done
	    exec env -i PATH="$PATH" HOME="$2" "$1/sbxrun" -l "$3" \
		-w /proc/23/cwd "$1/anchors.bin" -- true 2>/dev/null) &
	    first=$!
	    for i in $(seq 30); do sleep 600 & done
	    wait $first; echo $?' sh "$base" "$home" "$level")"
}

for uid in $(id -u) $([ "$(id -u)" -ne 0 ] || echo "$ORDINARY"); do
	prepare "$uid"
	policies
	tap_levels standard full
	for level in $levels; do
		exceptions
		case $level in
		full) own_policy ;;
		*) own_policy_told
			late ;;
		esac
		links
		scratch
		if [ "$(id -u)" -eq 0 ] && [ "$uid" -ne 0 ] &&
		    unshare -mp true 2>/dev/null; then
			homes
			dead
			groups
			[ "$level" != full ] || shut
			[ "$level" = full ] || numbers
		fi
		listed
		rm -rf "$home/many"
		mkdir "$home/many"
		[ "$uid" -eq "$(id -u)" ] || chown "$uid:$uid" "$home/many"
	done
	caches
done
[ "$(id -u)" -ne 0 ] || rm -rf "/tmp/sbx-$ORDINARY"
tap_done
