#!/bin/sh
# `sbxc why --from`, as TAP: what tools have printed, in from/, is read for what
# the policy denies.  The texts are those of workspace-write at both levels, with
# @HOME@ where the home was; `expected` says what is found in each.
#
#	from.sh [--update]

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

tap_begin /var/tmp
from=$srcdir/tests/golden/from
home=$tmp/h
mkdir -p "$home/ws" "$home/other" "$home/.ssh" "$home/.aws" "$home/tools"
for file in .ssh/id_rsa .aws/credentials .netrc .gitconfig other/file; do
	echo text >"$home/$file"
done
printf '#!/bin/sh\n' >"$home/tools/tool"
chmod 755 "$home/tools/tool"
cd "$home/ws" || exit 99

# why FILE OPTION...: its text, in this home, on standard input.
why()
{
	why_file=$1
	shift
	sed "s|@HOME@|$home|g" "$why_file" | env -i PATH="$PATH" HOME="$home" \
	    "$SBXC" why --from - "$@" @workspace-write
}

# found NAME: what is found, as in `expected`.
found()
{
	why "$from/$1" -l "${1##*.}" >"$tmp/out" 2>"$tmp/err"
	sed -n "s|^denied: ||; t found; b; : found; s|$home|~|g
	    s|^|$1	|p" "$tmp/out"
	! grep -q 'nothing in it is' "$tmp/out" || printf '%s\t-\n' "$1"
	cat "$tmp/err"
}

texts=$(cd "$from" && ls ./*.full ./*.standard | sed 's|^\./||')
if [ "${1-}" = --update ]; then
	{
		sed -n '/^#/p' "$from/expected"
		for text in $texts; do
			found "$text"
		done
	} >"$tmp/new" && cp "$tmp/new" "$from/expected"
	exit
fi

for text in $texts; do
	tap_is "$text" "$(grep "^$text	" "$from/expected")" "$(found "$text")"
done
why "$from/cat-04.full" -l full >/dev/null
tap_is 'a denial is status 1' 1 $?
why "$from/strace-41.full" -l full >/dev/null
tap_is 'none is status 0' 0 $?
tap_is 'the line is quoted, and counted' "(input):2: \
fatal: unable to access 'https://github.com/a/b/': Could not resolve host: \
github.com" "$(why "$from/git-25.full" -l full | head -n 1)"
tap_is 'JSON has what the text has' \
    '1 full 1 read ~/other/file allow read ~/other/file true' \
    "$(why "$from/cat-04.full" -l full -f json |
	perl -MJSON::PP -e 'local $/; my $all = decode_json(<STDIN>);
	    my $one = $all->{denied}[0];
	    $one->{object} =~ s/^$ARGV[0]/~/;
	    print join " ", $all->{sbx}, $all->{level}, $one->{line},
		$one->{right}, $one->{object}, $one->{fix}[0],
		$one->{fixed} ? "true" : "false";' "$home")"

if python3 -c 'import jsonschema' 2>/dev/null; then
	tap_empty 'JSON has the form that the schema says' "$(
	    why "$from/cat-04.full" -l full -f json | python3 -c '
import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
schema["anyOf"] = [{"$ref": "#/definitions/why"}]
jsonschema.validate(json.load(sys.stdin), schema)
' "$srcdir/packaging/output.schema.json" 2>&1)"
else
	tap_lacks 'JSON against the schema' 'python3-jsonschema is missing'
fi

# What a terminal would obey, long lines, and more than is kept.
printf '\033[31mcat: %s/other/file: Permission denied\033[0m\007\n' "$home" \
    >"$tmp/colours"
tap_is 'colours are left out' \
    "(input):1: cat: $home/other/file: Permission denied" \
    "$(why "$tmp/colours" -l full | head -n 1)"
perl -e 'print "x" x 100_000, " $ARGV[0]/other/file: Permission denied\n"' \
    "$home" >"$tmp/long"
tap_found 'the end of a long line counts' \
    "$(why "$tmp/long" -l full | grep '^denied: read')"
perl -e 'print "line\n" x 1_000_000;
    print "cat: $ARGV[0]/other/file: Permission denied\n"' "$home" \
    >"$tmp/many"
tap_is 'lines before the last part are counted' \
    "(input):1000001: cat: $home/other/file: Permission denied" \
    "$(why "$tmp/many" -l full | head -n 1)"
perl -e 'print "cat: $ARGV[0]/other/$_: Read-only file system\n" for 1 .. 9999' \
    "$home" >"$tmp/flood"
tap_is 'as many as can be read are told' 64 \
    "$(why "$tmp/flood" -l full | grep -c '^denied')"
env -i PATH="$PATH" "$SBXC" why --from "$tmp/absent" @workspace-write \
    >"$tmp/out" 2>&1
tap_is 'a file that is not there' 3 $?
env -i PATH="$PATH" "$SBXC" why --from - - </dev/null >"$tmp/out" 2>&1
tap_is 'both from standard input' 2 $?
tap_done
