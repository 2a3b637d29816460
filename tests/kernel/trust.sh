#!/bin/sh
# Whose policy is believed, as TAP: each owner, group and mode of the file, of
# the directories above it and of the links that lead to it; by its path, by a
# relative one, and as a descriptor.  Only root can make what belongs to others.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

# The user, another one, and a group that has more members.
SELF=23906 OTHER=23907 SHARED=23908

tap_begin /var/tmp
base=$tmp
tap_programs "$SBXRUN"
# It needs no directory that would be left behind.
echo 'sbx 1
profile trust { allow exec { ${system} } }' | "$SBXC" - -o "$base/p.bin" ||
    exit 99
if [ "$(id -u)" -ne 0 ]; then
	SELF=$(id -u)
fi

# answer COMMAND-LINE [GROUP]: what comes of it, in a word.
answer()
{
	said=$(tap_as_group "${2:-$SELF}" "$1" 2>&1)
	case $said in
	ran) echo ran ;;
	*'others may write'*) echo file ;;
	*'others may replace'*) echo directory ;;
	*"somebody else's link"*) echo link ;;
	*'cannot be told where'*) echo unknown ;;
	*) echo "$said" ;;
	esac
}

# tap_as_group GROUP STRING: a shell's command line, as the user in that group.
tap_as_group()
{
	set -- "$1" env -i PATH="$PATH" base="$base" \
	    run="$base/sbxrun -l standard -w /usr" sh -c "$2"
	as_group=$1
	shift
	[ "$(id -u)" -ne 0 ] || set -- setpriv --reuid="$SELF" \
	    --regid="$as_group" --clear-groups "$@"
	"$@"
}

# give OWNER:GROUP MODE PLACE
give()
{
	[ "$(id -u)" -ne 0 ] || chown "$1" "$3"
	chmod "$2" "$3"
}

# the_file WANTED OWNER:GROUP MODE [GROUP]: that file in a safe place.
the_file()
{
	cp "$base/p.bin" "$base/safe/p.bin"
	give "$2" "$3" "$base/safe/p.bin"
	# The commands are expanded by the user's shell.
	# shellcheck disable=SC2016
	for line in '$run $base/safe/p.bin -- echo ran' \
	    'cd $base/safe && $run p.bin -- echo ran' \
	    'cd $base/safe && $run ../safe/p.bin -- echo ran' \
	    '$run /dev/fd/3 -- echo ran 3<$base/safe/p.bin'; do
		tap_is "a file of $2, $3${4:+, read in group $4}: $line" "$1" \
		    "$(answer "$line" "${4-}")"
	done
}

# the_directory WANTED OWNER:GROUP MODE [GROUP]: that directory above the file, and
# above its directory.
the_directory()
{
	for above in in in/deep; do
		rm -rf "$base/in"
		mkdir -p "$base/in/deep"
		cp "$base/p.bin" "$base/in/deep/p.bin"
		give "$2" "$3" "$base/$above"
		# shellcheck disable=SC2016
		for line in '$run $base/in/deep/p.bin -- echo ran' \
		    'cd $base/in/deep && $run p.bin -- echo ran' \
		    'cd $base/in/deep && $run .//p.bin -- echo ran' \
		    'cd $base/in/deep && $run ./../deep/p.bin -- echo ran' \
		    'cd $base && $run in/deep/../deep/p.bin -- echo ran' \
		    '$run /dev/fd/3 -- echo ran 3<$base/in/deep/p.bin' \
		    '$run $base/leads/p.bin -- echo ran'; do
			tap_is "$above of $2, $3${4:+, read in group $4}: $line" \
			    "$1" "$(answer "$line" "${4-}")"
		done
	done
}

# A descriptor of a directory is none of a policy; and a name that leads to
# another file than the one that is open tells nothing.
# shellcheck disable=SC2016
descriptors()
{
	tap_is "somebody else's link, below a descriptor" link \
	    "$(answer '$run /dev/fd/3/theirs -- echo ran 3<$base/sticky')"
	tap_is "one's own, below a descriptor" ran \
	    "$(answer '$run /dev/fd/3/mine -- echo ran 3<$base/sticky')"
	rm "$base/safe/p.bin"
	cp "$base/p.bin" "$base/safe/p.bin"
	if ! unshare -m true 2>/dev/null; then
		tap_skip 'another file at its path' 'nothing can be mounted'
		return
	fi
	tap_is 'another file at its path' unknown "$(case $(unshare -m sh -c '
	    exec 3<"$0/safe/p.bin" && mount --bind "$0/sbxrun" "$0/safe/p.bin" &&
	    exec "$0/sbxrun" -l standard -w /usr /dev/fd/3 -- echo ran' \
	    "$base" 2>&1) in
	*'cannot be told where'*) echo unknown ;;
	esac)"
}

mkdir "$base/safe" "$base/sticky"
chmod 1777 "$base/sticky"
ln -s in/deep "$base/leads"
ln -s "$base/p.bin" "$base/sticky/mine"
ln -s "$base/p.bin" "$base/sticky/theirs"
[ "$(id -u)" -ne 0 ] || {
	chown -h "$SELF:$SELF" "$base/sticky/mine"
	chown -h "$OTHER:$OTHER" "$base/sticky/theirs"
}
own=$SELF:$SELF
the_file ran $own 644
the_file file $own 646
the_file file $own 1646
the_directory directory $own 757
the_directory ran $own 1757
if [ "$(id -u)" -eq 0 ]; then
	the_file ran $own 664
	the_file file $own 664 $SHARED
	the_file ran $SELF:0 664
	the_file file $SELF:$SHARED 664
	the_file file $SELF:$SHARED 664 $SHARED
	the_file file $SELF:$SHARED 1664
	the_file file $OTHER:$OTHER 644
	the_file ran 0:0 644
	the_file file 0:$SHARED 664
	the_directory directory $SELF:$SHARED 775
	the_directory directory $SELF:$SHARED 775 $SHARED
	the_directory ran $SELF:$SHARED 1775
	the_directory ran $own 775
	the_directory ran 0:0 775
	the_directory directory $OTHER:$OTHER 755
	the_directory directory $OTHER:$OTHER 1755
	descriptors
fi
tap_done
