#!/bin/sh
# What sbxrun says to people, as TAP: names are shown so that they cannot play
# with the terminal, and who mistyped something is told what there is.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

tap_begin /var/tmp
base=$tmp
HOME=$base
export HOME
ws=$base/ws
mkdir "$ws" && cd "$ws" || exit 99

# compile NAME STATEMENT...
compile()
{
	name=$1
	shift
	{
		printf 'sbx 1\nprofile p {\n    require level standard\n'
		printf '%s\n' "$@"
		echo '}'
	} >"$base/$name.sbx"
	"$SBXC" "$base/$name.sbx" -o "$base/$name.bin" || exit 99
}

# The view shows nothing that could be run, which -n and -v need not.
# shellcheck disable=SC2016
compile plain 'allow write ${workspace}' 'allow env *'
compile reads 'allow exec /'
# shellcheck disable=SC2016
compile params 'param data' 'param more' 'allow read { ${data} ${more} }'

# has NAME TEXT COMMAND...: a part of what the command says; nothing here fails
# for want of a privilege, so it does not say that.
has()
{
	name=$1 text=$2
	shift 2
	said=$("$@" 2>&1)
	case $said in
	*': Operation not permitted'*) tap_not_ok "$name" "$said" ;;
	*"$text"*) tap_ok "$name" ;;
	*) tap_not_ok "$name" "wanted: $text
got: $said" ;;
	esac
}

# --- the order of words -------------------------------------------------------

for word in -- -c; do
	has "a session that is not there, before $word" \
	    'messages-none: there is no such session; a policy makes it: sbxrun --session messages-none @coding -- CMD' \
	    "$SBXRUN" --session messages-none "$word" true
done
has 'an option after the policy' 'options come before the policy: sbxrun -v ' \
    "$SBXRUN" "$base/plain.bin" -v -- true
has 'a command without --' "sbxrun: true: expected '--' and the command" \
    "$SBXRUN" "$base/plain.bin" true

# --- names -----------------------------------------------------------------

# An escape sequence, a line's end, the one-byte and the two-byte form of CSI,
# a change of direction; what is fine is the accent.
odd=$base/$(printf 'a\033[31mb\nc\302\233d\233\303\251\342\200\256f\177')
shown='a\x1b[31mb\x0ac\xc2\x9bd\x9bé\xe2\x80\xaef\x7f'
mkdir "$odd"
has 'the workspace, -v' "workspace $base/$shown" \
    "$SBXRUN" -l standard -v -w "$odd" "$base/plain.bin" -- no-such-command
# JSON has no bytes that are no text.
has 'the workspace, -n' "$base/$(printf %s "$shown" | sed 's/d\\x9b/d�/')" \
    "$SBXRUN" -l standard -n -w "$odd" "$base/plain.bin"
has 'a command' "$shown: command not found" \
    "$SBXRUN" -l standard "$base/plain.bin" -- "${odd##*/}"
has 'a missing path' "$shown: no such file" \
    "$SBXRUN" -l standard "$base/plain.bin" -- "./${odd##*/}"
printf '#!%s\n' "$base/none" >"$base/script"
chmod 755 "$base/script"
has 'a script without its interpreter' \
    "script: the program that runs this file is missing: $base/none" \
    "$SBXRUN" -l standard "$base/reads.bin" -- "$base/script"
has 'a policy' "$shown/nothing: cannot open" "$SBXRUN" "$odd/nothing" -- true
has 'a parameter' \
    "x=$base/$shown: the policy has no such parameter; it has none" \
    "$SBXRUN" -D "x=$odd" "$base/plain.bin" -- true
has 'an option' "-\\x1b: unknown option" "$SBXRUN" "$(printf -- '-\033')"
# plain OUTPUT: its lines that hold a control character.
plain()
{
	printf %s "$1" | grep -an '[[:cntrl:]]' | head -n 3
}
tap_empty '-n has no control characters' "$(plain "$("$SBXRUN" -l standard \
    -n -w "$odd" "$base/plain.bin" 2>&1)")"
tap_found 'which the check sees' "$(plain "$(ls -N -d "$odd")")"

# What both programs take for a character that nobody sees.
while read -r character bytes; do
	hidden=$(printf %b "$bytes")
	escaped=$(printf %s "$hidden" | od -An -tx1 | sed 's/ /\\x/g')
	printf 'sbx 1\n# a%sb\nprofile p { }\n' "$hidden" >"$base/hidden.sbx"
	has "$character in a policy" "invisible character $character [SBX0104]" \
	    "$SBXC" check "$base/hidden.sbx"
	has "$character in what sbxrun says" "a${escaped}b: cannot open" \
	    "$SBXRUN" "$base/a${hidden}b" -- true
done <<'EOF'
U+00A0 \0302\0240
U+115F \0341\0205\0237
U+2003 \0342\0200\0203
U+2800 \0342\0240\0200
U+3000 \0343\0200\0200
U+3164 \0343\0205\0244
U+FE0F \0357\0270\0217
U+1BCA0 \0360\0233\0262\0240
U+1D173 \0360\0235\0205\0263
U+E0100 \0363\0240\0204\0200
U+E0FFF \0363\0240\0277\0277
EOF

# The longest name that there is.
long=$(printf %064d 0 | tr 0 n)
# shellcheck disable=SC2016
compile long "param $long" "allow write \${$long}"
tap_empty 'a name of 64 letters' "$("$SBXRUN" -l standard -n -D "$long=/usr" \
    "$base/long.bin" 2>&1 >/dev/null)"

# --- values of options --------------------------------------------------------

digits=$(printf %063d 0)
while read -r text options; do
	# The options are words.
	# shellcheck disable=SC2086
	has "$options" "$(echo "$text" | tr _ ' ')" "$SBXRUN" $options \
	    "$base/plain.bin" -- true
done <<EOF
--status-fd_needs_a_descriptor --status-fd 2
--pass-fd_needs_a_descriptor --pass-fd 2
--keep_needs_a_descriptor --keep 2
--join_needs_a_descriptor --join 2
too_many_--pass-fd --pass-fd 3 $(yes -- --pass-fd 3 | head -n 8 | paste -sd ' ')
a_session's_name --session .x
a_session's_name --session -x
a_session's_name --session ${long}n
64_hexadecimal --expect sha256:$digits
64_hexadecimal --expect sha256:${digits}g
64_hexadecimal --expect sha256:${digits}00
SHA-256_is_not --expect sha256:${digits}0
do_not_go_together --keep 3 --join 4
do_not_go_together --keep 3 --session x
do_not_go_together --session x --end --check
--idle_needs_a_time --idle 596524h
is_no_workspace -w /
EOF
tap_is 'the longest name of a session' '' "$("$SBXRUN" --session "$long" \
    --check 2>&1)"
# shellcheck disable=SC2046  # words
tap_is 'as many --pass-fd as there may be' '' "$("$SBXRUN" --pass-fd 3 \
    $(yes -- --pass-fd 3 | head -n 7) -l standard "$base/plain.bin" -- true \
    2>&1 3>&1 | grep 'too many')"

# --- who chooses the policy ------------------------------------------------

cp "$SBXRUN" "$base/sbxrun"
cp "$SBXC" "$base/sbxc"
replaced='a command may replace this link or directory'

# chosen UID NAME TEXT SCRIPT: what the script, in which $run is a dry run, says
# in the workspace: TEXT is a part of it, and empty where it succeeds.
chosen()
{
	uid=$1 name=$2 text=$3 script=$4
	set -- env HOME="$mine" base="$base" deep="$base/deep.pl" \
	    run="$base/sbxrun -n -l $level"
	[ "$uid" -eq "$(id -u)" ] || set -- setpriv --reuid="$uid" \
	    --regid="$uid" --clear-groups "$@"
	said=$(cd "$mine/ws" && "$@" sh -c "$script" 2>&1)
	case "$?-$text-$said" in
	0--* | 125-?*-*"$text"*) tap_ok "uid $uid, $level: $name" ;;
	*) tap_not_ok "uid $uid, $level: $name" "wanted: ${text:-success}
got: $said" ;;
	esac
}

# shellcheck disable=SC2016  # for the inner shell
turns()
{
	chosen "$1" 'a link in the workspace' "$replaced" '$run ./link'
	chosen "$1" 'a link to a directory' "$replaced" '$run pol/plain.bin'
	chosen "$1" 'links in a row' "$replaced" '$run ../outer'
	chosen "$1" 'a directory that is left again' "$replaced" \
	    '$run sub/../../safe/plain.bin'
	chosen "$1" 'one that is the current directory' "$replaced" \
	    'cd sub && $run -w .. ../../safe/plain.bin'
	chosen "$1" 'a link, and the digest' '' '$run --expect sha256:$(
	    sha256sum <link | cut -c 1-64) ./link'
	chosen "$1" 'a link elsewhere' '' '$run ../link'
	chosen "$1" 'a path with dots' '' '$run ./.././safe//plain.bin'
	chosen "$1" 'a path with one dot' '' '$run ./plain.bin'
	chosen "$1" 'a directory that cannot be replaced' '' \
	    '$run ../safe/../ws/plain.bin'
}

# shellcheck disable=SC2016
descriptors()
{
	chosen "$1" 'a pipe' '' 'cat plain.bin | $run /dev/stdin'
	chosen "$1" 'a pipe by its number' '' \
	    'cat plain.bin | $run /proc/self/fd/0'
	chosen "$1" 'a file that is open' '' '$run /dev/fd/3 3<plain.bin'
	chosen "$1" 'a file without a name' '' 'cp plain.bin gone
	    exec 3<gone && rm gone && $run /dev/fd/3'
	chosen "$1" 'another kind of file' 'no regular file' '$run /dev/null'
	chosen "$1" 'a place that is too deep' 'cannot be told where' \
	    'perl "$deep"'
}

# shellcheck disable=SC2016
strangers()
{
	chosen "$1" "a stranger's directory" 'others may replace' \
	    '$run $base/stranger/p.bin'
	chosen "$1" "a stranger's directory that is left again" \
	    'others may replace' '$run $base/stranger/../plain.bin'
	chosen "$1" "a stranger's current directory" 'others may replace' \
	    'cd $base/stranger && $run -w /usr ../plain.bin'
	chosen "$1" "a stranger's link" "somebody else's link" \
	    '$run $base/sticky/theirs'
	chosen "$1" "one's own link to it" "somebody else's link" \
	    '$run ../theirs'
	chosen "$1" "one's own link beside it" '' '$run $base/sticky/mine'
	chosen "$1" 'an open file there' 'others may replace' \
	    '$run /dev/fd/3 3<$base/stranger/file.bin'
}

# choosing UID: the places, and all of that.
choosing()
{
	mine=$base/of-$1
	mkdir -p "$mine/ws/sub" "$mine/safe"
	cp "$base/plain.bin" "$mine/safe/plain.bin"
	cp "$base/plain.bin" "$mine/ws/plain.bin"
	ln -s ../safe/plain.bin "$mine/ws/link"
	ln -s ../safe "$mine/ws/pol"
	ln -s safe/plain.bin "$mine/link"
	ln -s ws/link "$mine/outer"
	ln -s "$base/sticky/theirs" "$mine/theirs"
	ln -s "$base/plain.bin" "$base/sticky/mine"
	[ "$1" -eq "$(id -u)" ] || chown -hR "$1:$1" "$mine" "$base/sticky/mine"
	tap_levels standard full
	for level in $levels; do
		turns "$1"
		descriptors "$1"
		[ "$(id -u)" -ne 0 ] || strangers "$1"
	done
	rm "$base/sticky/mine"
}

cat >"$base/deep.pl" <<'PERL'
use File::Copy;
for (1 .. 17) {
	mkdir "d" x 250;
	chdir "d" x 250 or die;
}
copy("$ENV{base}/plain.bin", "p.bin") or die;
exec split(" ", $ENV{run}), "-w", "/usr", "p.bin";
PERL
mkdir "$base/sticky" "$base/stranger"
chmod 1777 "$base/sticky"
if [ "$(id -u)" -eq 0 ]; then
	cp "$base/plain.bin" "$base/stranger/file.bin"
	ln -s "$base/plain.bin" "$base/stranger/p.bin"
	ln -s "$base/plain.bin" "$base/sticky/theirs"
	chown -h 65533:65533 "$base/stranger" "$base/stranger/p.bin" \
	    "$base/sticky/theirs"
	choosing 65534
fi
choosing "$(id -u)"

# --- what there is instead -------------------------------------------------

mkdir "$base/profiles"
: | tee "$base/profiles/coding.bin" "$base/profiles/read-only.bin" \
    "$base/profiles/groups.sbx" >/dev/null
SBX_TEST_PROFILES=$base/profiles
export SBX_TEST_PROFILES
has 'a profile without its @' 'coding: a policy or a command? A policy is @coding' \
    "$SBXRUN_TEST" coding -- true
has 'a path that is not there' './coding: cannot open the policy: No such' \
    "$SBXRUN_TEST" ./coding -- true
said=$("$SBXRUN_TEST" @codin -- true 2>&1)
tap_is 'a profile that is not there' 125 $?
tap_is 'all that there are' '@coding @read-only ' "$(echo "$said" |
    sed -n 's/.*@codin: no such profile; there are //p' | sed 's/;.*//' |
    tr ' ' '\n' | sort | tr '\n' ' ')"
for name in codin codng codign Coding ocding codingg cdoing ocidng odin codixx; do
	has "the nearest profile to $name" '; did you mean @coding?' \
	    "$SBXRUN_TEST" "@$name" -- true
done
for name in cod x aaaaaa read-only-and-more \
    aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; do
	tap_is "nothing is near $name" '' "$("$SBXRUN_TEST" "@$name" -- true 2>&1 |
	    grep 'did you mean')"
done
SBX_TEST_PROFILES=$base/none
# Where none are installed, those that come with sbx are known.
for name in codin:coding codng:coding read-onyl:read-only mpc:mcp \
    workspace-writ:workspace-write data-analysys:data-analysis; do
	near=${name#*:} name=${name%:*}
	has "no profiles at all: $name" \
	    "in $base/none; did you mean @$near? ('sbxc build @$near' writes a file that can be named instead): No such" \
	    "$SBXRUN_TEST" "@$name" -- true
done
has "no profiles at all, and none is near aaaaaa" \
    "in $base/none ('sbxc profiles' lists them): No such" \
    "$SBXRUN_TEST" @aaaaaa -- true
has "no profiles at all, and it is coding" \
    "in $base/none ('sbxc build @coding' writes a file that can be named instead): No such" \
    "$SBXRUN_TEST" @coding -- true
has 'a parameter that is not there' \
    'dta=/: the policy has no such parameter; it has data more' \
    "$SBXRUN" -D dta=/ "$base/params.bin" -- true
has 'a parameter that is empty' 'data=: -D needs NAME=PATH' \
    "$SBXRUN" -D data= -D more=/ "$base/params.bin" -- true
for option in --status --clean; do
	said=$("$SBXRUN" $option extra 2>&1)
	tap_is "$option and a policy" "125 sbxrun: extra: $option takes no policy" \
	    "$? $said"
done
tap_done
