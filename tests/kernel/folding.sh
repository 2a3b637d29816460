#!/bin/sh
# A workspace in which upper and lower case are the same, as TAP: what is denied
# there must not have another name.  And one whose server fails once, when the
# kernel forgets a name with all that is mounted there.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
FOLDING=$(realpath "$(dirname "$PROBE")/folding")
ORDINARY=65534

# Not below /tmp: that is the scratch directory at level full.
tap_begin /var/tmp
base=$tmp
tap_programs "$SBXRUN" "$SBXC"
mkdir "$base/fuse" "$base/failing" "$base/plain" "$base/home"
chmod 777 "$base/home"

# policy NAME RULE
policy()
{
	printf 'sbx 1\nprofile p extends workspace-write {\n%s\n}\n' "$2" |
	    "$SBXC" - -o "$base/$1.bin" || exit 99
}

# shellcheck disable=SC2016  # the anchor is the policy's
{
	policy hidden 'deny read ${workspace}/.env'
	policy closed 'deny write ${workspace}/sub/Key'
	policy otherwise 'deny read ${workspace}/sub/key'
	policy preferred 'prefer deny read ${workspace}/.env'
	policy both 'prefer deny read ${workspace}/.env
	    deny read ${workspace}/.env'
	policy none 'deny read ${workspace}/absent'
}

# enforcer: what -n says of the deny, at $level.
enforcer()
{
	(cd "$ws" && env -i PATH="$PATH" HOME="$base/home" "$base/sbxrun" \
	    -l "$level" -n "$base/hidden.bin" 2>&1) | grep '^deny.*/\.env ' |
	    sed 's/.*-- //; s/  \[.*//'
}

# splits: rules that are split for a denial of what is not there.
splits()
{
	(cd "$ws" && env -i PATH="$PATH" HOME="$base/home" "$base/sbxrun" \
	    -l "$level" -n --json "$base/none.bin" 2>/dev/null) |
	    tr '{' '\n' | grep '"split":true'
}

# is NAME WANTED POLICY FILE...: the status, and what cat prints of them.
is()
{
	name=$1 wanted=$2 policy=$3
	shift 3
	got=$(cd "$ws" && tap_as "$uid" env -i PATH="$PATH" \
	    HOME="$base/home" "$base/sbxrun" -l "$level" "$base/$policy.bin" \
	    -- cat "$@" 2>"$base/said")
	got="$? $got"
	tap_is "$level: uid $uid: $name" "$wanted" "$got"
}

check_all()
{
	uid=$1
	tap_levels standard full
	for level in $levels; do
		ws=$base/fuse
		is 'the names are the same' '0 secret' none .ENV
		if [ "$level" = full ]; then
			is 'a hidden file' '125 ' hidden .ENV
			is 'one that is preferably hidden, too' '125 ' both .ENV
			is 'a closed file' '125 ' closed other
		else
			is 'a hidden file' '1 ' hidden .ENV
			is 'beside it' '0 secret' hidden other
		fi
		is 'a rule that spells a name otherwise' '125 ' otherwise \
		    sub/Key
		is 'what is preferably denied' '0 secret' preferred other
		ws=$base/failing
		is 'a file that is shown' '0 secret' hidden other
		is 'the server fails to look up what is hidden' '1 ' hidden \
		    .env trip .env .env
		is 'what is preferably hidden is looked up' '1 ' preferred .env
		plan='landlock: split, nothing can be made beside it'
		tap_is "$level: uid $uid: the plan tells who denies" \
		    "$plan" "$(enforcer)"
		[ "$level" = standard ] ||
			tap_is "full: uid $uid: what is not there splits nothing" \
			    '' "$(splits)"
		ws=$base/plain
		is 'where names differ' '0 secret' hidden .ENV
		is 'the one that is denied there' '1 ' hidden .env
		[ "$level" = standard ] || plan='view: masked'
		tap_is "$level: uid $uid: and who denies it" "$plan" \
		    "$(enforcer)"
	done
	rm -rf "$base/home/.cache"
}

echo secret | tee "$base/plain/.ENV" "$base/plain/.env" >/dev/null
if ! "$FOLDING" "$base/fuse" 2>/dev/null; then
	# It takes root and a kernel with FUSE, which nobody promises.
	SBX_MUST_RUN=0
	tap_skip 'a file system that folds case' 'FUSE cannot be mounted'
	tap_done
	exit
fi
"$FOLDING" "$base/failing" failing
tap_at_end="umount $base/fuse $base/failing"
check_all "$(id -u)"
if [ "$(id -u)" -eq 0 ]; then
	check_all $ORDINARY
fi
tap_done
