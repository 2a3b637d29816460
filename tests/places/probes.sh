# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154  # places.sh has them
# Sourced, after tap.sh and sandbox.sh: one list of operations, which is tried in
# each place, bare and at each level.  What the policy allows must end as it
# does bare, whatever that is there; what it denies must not succeed, by any
# name.

# places_policy: for $tmp/place.bin.  It has a deny, an exception and a glob in the workspace.
places_policy()
{
	# shellcheck disable=SC2016  # the anchors are the policy's
	policy place workspace-write 'allow read ${home}/data' \
	    "allow exec $tmp/probe" \
	    'deny read ${workspace}/.env' 'deny write ${workspace}/.git' \
	    'deny read ${workspace}/kept except ${workspace}/kept/shown' \
	    'deny read glob "${workspace}/key?/*.pem"'
}

# layout UID: below $at, of that user, unless it is there already.  $home, $ws.
layout()
{
	home=$at/home ws=$at/ws
	[ ! -d "$ws" ] || return 0
	mkdir -p "$home/.ssh" "$home/data" "$home/other" "$ws/dir/sub" "$ws/keys" \
	    "$ws/.git/hooks" "$ws/kept/shown" "$at/tmp" || return
	chmod 1777 "$at/tmp" 2>/dev/null
	for file in "$home/.ssh/key" "$home/other/file" "$ws/.env" \
	    "$ws/kept/secret" "$ws/keys/key.pem"; do
		echo secret >"$file" || return
	done
	for file in "$home/data/file" "$ws/file" "$ws/dir/inner" \
	    "$ws/dir/a" "$ws/dir/b" "$ws/dir/gone" "$ws/.git/config" \
	    "$ws/kept/shown/file"; do
		echo text >"$file" || return
	done
	for directory in "$ws/dir" "$ws/kept" "$home/other"; do
		cp "$PROBE" "$directory/probe" || return
	done
	chmod -R go-w "$home" "$ws" || return
	ln -s ../.env "$ws/dir/link" 2>/dev/null
	[ "$1" -eq "$(id -u)" ] || chown -R "$1:$1" "$at" 2>/dev/null || :
}

# Each ends as it does bare ...
allowed()
{
	cat <<-OPERATIONS
	open-read file
	open-write file
	open-read $home/data/file
	list dir
	open-read .git/config
	open-read kept/shown/file
	create dir/made
	mkdir dir/new
	rmdir dir/sub
	mknod dir/fifo
	symlink inner dir/symlink
	link dir/inner dir/hard
	rename dir/a dir/renamed
	exchange dir/b dir/inner
	rename dir/renamed dir/new/moved
	map dir/inner read
	map dir/inner write
	map dir/probe exec
	truncate dir/inner
	unlink dir/gone
	mode openat dir/mode 0640
	change setxattr dir/inner
	change utimensat dir/inner
	chmod dir/inner 0600
	unix-inside dir/server
	exec dir/probe nnp
	exec /bin/true
	OPERATIONS
}

# ... and none of these succeeds: what is denied, by its name and by names that
# a file system may take for the same.
denied()
{
	cat <<-OPERATIONS
	open-read .ENV
	open-write .Env
	open-read .env.
	open-read ENV~1
	open-write .GIT/config
	create .Git/hooks/post-commit
	open-write GIT~1/config
	open-write .git./config
	open-read KEPT/secret
	list Kept
	open-read Kept/secret
	open-read .g${joiner}it/../.en${joiner}v
	open-read .en${joiner}v
	open-write .g${joiner}it/config
	open-read keys/KEY.PEM
	open-read $home/.SSH/key
	open-read .env
	open-write .env
	map .env read
	map .env write
	map keys/key.pem exec
	map .git/config write
	map kept/probe exec
	exec kept/probe nnp
	exec $home/other/probe nnp
	truncate .env
	link .env dir/stolen
	rename .env dir/stolen
	exchange .env dir/inner
	rename dir/inner .env
	unlink .env
	open-read dir/link
	open-read keys/key.pem
	link keys/key.pem dir/stolen.txt
	open-write .git/config
	create .git/hooks/post-commit
	mkdir .git/new
	mknod .git/fifo
	symlink x .git/link
	unlink .git/config
	rmdir .git/hooks
	rename .git dir/taken
	rename .git/config dir/config
	rename dir/inner .git/inner
	link dir/inner .git/inner
	unix-bind .git/socket
	change setxattr .git/config
	change chmod .git/config
	change utimensat .git/config
	open-read kept/secret
	list kept
	create kept/new
	rename kept dir/taken
	open-read $home/.ssh/key
	list $home/.ssh
	open-read $home/other/file
	open-write $home/data/file
	create $home/data/new
	create $home/new
	change utimensat $home/data/file
	OPERATIONS
}
joiner=$(printf '\342\200\214') kelvin=$(printf '\342\204\252')

# The name with the sign for kelvin, whose lower case is k, and what cannot be
# written at home in this file.
denied_otherwise()
{
	printf 'open-read %sept/secret\n' "$kelvin"
	printf 'open-read keys/%sey.pem\n' "$kelvin"
}

operations()
{
	allowed
	denied
	denied_otherwise
}

# entered UID PROGRAM...: at $level, which may be `bare`, or `auto` for the best;
# what is said goes to $tmp/said.
entered()
{
	entered_uid=$1
	shift
	case $level in
	bare) ;;
	auto) set -- "$programs/sbxrun" "$blob" -- "$@" ;;
	*) set -- "$programs/sbxrun" -l "$level" "$blob" -- "$@" ;;
	esac
	(cd "$ws" && as "$entered_uid" "$@" 2>"$tmp/said")
}

# answers UID: one line for each operation, in a layout of its own; the status
# of sbxrun if there is none.
answers()
{
	operations | tr ' ' '\t' | entered "$1" "$programs/probe" - >"$tmp/answers"
	status=$?
	[ $status -eq 0 ] || echo "status $status" >"$tmp/answers"
}

# wrong: what did not end as it must, beside what was found bare.
wrong()
{
	allowed | wc -l >"$tmp/count"
	if grep -q '^status' "$tmp/answers"; then
		cat "$tmp/answers"
		return
	fi
	operations | paste "$tmp/bare" "$tmp/answers" - | awk -F '\t' \
	    -v allowed="$(cat "$tmp/count")" '
	NR <= allowed && $1 != $2 { print $3 ": bare " $1 ", here " $2 }
	NR > allowed && ($2 == "ok" || $2 == "") { print $3 ": " $2 }'
}

# spoiled: what is not as it was, seen from outside.
spoiled()
{
	for file in "$home/.ssh/key" "$home/other/file" "$ws/.env" \
	    "$ws/kept/secret" "$ws/keys/key.pem"; do
		[ "$(cat "$file" 2>/dev/null)" = secret ] || echo "$file"
	done
	[ "$(cat "$ws/.git/config" 2>/dev/null)" = text ] || echo "$ws/.git/config"
	find "$ws/.git" "$home/data" 2>/dev/null | sort | tr '\n' ' ' | sed "s|$at/||g" |
	    grep -vx 'home/data home/data/file ws/.git ws/.git/config ws/.git/hooks ' |
	    grep -vx 'ws/.git ws/.git/config ws/.git/hooks home/data home/data/file '
}

# place_at NAME UID LEVEL WANTED: in a new layout.  WANTED is `holds`, or what
# sbxrun says when it refuses, or warns.
place_at()
{
	level=$3
	at=$place/$2-$3
	mkdir -p "$at" && layout "$2" || {
		tap_not_ok "$1: uid $2: $3: a layout"
		return
	}
	# Where nobody is the owner of a file, nobody has a scratch directory.
	mount --bind "$(if [ -w "$at/tmp" ] &&
	    [ "$(stat -c %u "$ws/file")" -eq "$2" ]; then echo "$at/tmp"; else
	    echo /tmp; fi)" /tmp
	answers "$2"
	said=$(said)
	if grep -q '^status' "$tmp/answers"; then
		tap_is "$1: uid $2: $3: refuses" "status 125 $4" \
		    "$(cat "$tmp/answers") $said"
	else
		tap_empty "$1: uid $2: $3: what is allowed, and what is not" \
		    "$(wrong)"
		tap_is "$1: uid $2: $3: what is said" "${4#holds}" "$said"
		tap_is "$1: uid $2: $3: the scratch directory" scratch \
		    "$(entered "$2" sh -c 'echo scratch >$TMPDIR/a &&
		    mv $TMPDIR/a $TMPDIR/b && cat $TMPDIR/b')"
	fi
	tap_empty "$1: uid $2: $3: nothing was spoiled" "$(spoiled)"
	umount /tmp
	row "$1" "$2" "$3"
}

# said: without what differs from run to run.
said()
{
	sed "s|$at/||g; s|$place|PLACE|g; s/^sbxrun: //" "$tmp/said" |
	    tr '\n' ' ' | sed 's/ $//'
}

# row NAME UID LEVEL: a line for the table.
row()
{
	case $(cat "$tmp/answers") in
	status*) row_end="refuses: $said" ;;
	*) row_end="holds${said:+; says: $said}" ;;
	esac
	echo "# row: $1 | uid $2 | $3 | $row_end"
}

# place_bare UID: what the place does by itself.
place_bare()
{
	level=bare at=$place/$1-bare
	mkdir -p "$at" && layout "$1" || return
	answers "$1"
	cp "$tmp/answers" "$tmp/bare"
	! grep -q '^status' "$tmp/bare"
}
