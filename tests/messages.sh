#!/bin/sh
# What sbxrun says to people, as TAP: names are shown so that they cannot play
# with the terminal, and who mistyped something is told what there is.

set -u
LC_ALL=C.UTF-8
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd) || exit 99
# shellcheck source=tests/tap.sh
. "$here/tap.sh"

base=$(mktemp -d /var/tmp/sbx-messages.XXXXXX) || exit 99
trap 'rm -rf "$base"' EXIT
trap 'exit 99' HUP INT TERM
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
# shellcheck disable=SC2016
compile params 'param data' 'param more' 'allow read { ${data} ${more} }'

# is NAME WANTED GOT
is()
{
	tap_empty "$1" "$([ "$2" = "$3" ] || printf 'wanted %s, got %s' \
	    "$2" "$3")"
}

# has NAME TEXT COMMAND...: a part of what the command says.
has()
{
	name=$1 text=$2
	shift 2
	said=$("$@" 2>&1)
	case $said in
	*"$text"*) tap_ok "$name" ;;
	*) tap_not_ok "$name" "wanted: $text
got: $said" ;;
	esac
}

# --- names -----------------------------------------------------------------

# An escape sequence, a line's end, the one-byte and the two-byte form of CSI,
# a change of direction; what is fine is the accent.
odd=$base/$(printf 'a\033[31mb\nc\302\233d\233\303\251\342\200\256f\177')
shown='a\x1b[31mb\x0ac\xc2\x9bd\x9bé\xe2\x80\xaef\x7f'
mkdir "$odd"
has 'the workspace, -v' "workspace $base/$shown" \
    "$SBXRUN" -l standard -v -w "$odd" "$base/plain.bin" -- no-such-command
has 'the workspace, -n' "$base/$shown" \
    "$SBXRUN" -l standard -n -w "$odd" "$base/plain.bin"
has 'a command' "$shown: command not found" \
    "$SBXRUN" -l standard "$base/plain.bin" -- "${odd##*/}"
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

# --- what there is instead -------------------------------------------------

mkdir "$base/profiles"
: | tee "$base/profiles/coding.bin" "$base/profiles/read-only.bin" \
    "$base/profiles/groups.sbx" >/dev/null
SBX_TEST_PROFILES=$base/profiles
export SBX_TEST_PROFILES
has 'a profile without its @' 'coding: no such file; did you mean @coding?' \
    "$SBXRUN_TEST" coding -- true
has 'a file that is not there' 'codin: cannot open the policy: No such' \
    "$SBXRUN_TEST" codin -- true
has 'a path that is not there' './coding: cannot open the policy: No such' \
    "$SBXRUN_TEST" ./coding -- true
said=$("$SBXRUN_TEST" @codin -- true 2>&1)
is 'a profile that is not there' 125 $?
is 'all that there are' '@coding @read-only ' "$(echo "$said" |
    sed -n 's/.*@codin: no such profile; there are //p' | tr ' ' '\n' |
    sort | tr '\n' ' ')"
SBX_TEST_PROFILES=$base/none
has 'no profiles at all' "cannot open that profile in $base/none: No such" \
    "$SBXRUN_TEST" @codin -- true
has 'a parameter that is not there' \
    'dta=/: the policy has no such parameter; it has data more' \
    "$SBXRUN" -D dta=/ "$base/params.bin" -- true
for option in --status --clean; do
	said=$("$SBXRUN" $option extra 2>&1)
	is "$option and a policy" "125 sbxrun: extra: $option takes no policy" \
	    "$? $said"
done
tap_done
