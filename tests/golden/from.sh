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
	! grep -q ': no line ' "$tmp/out" || printf '%s\t-\n' "$1"
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
# by_rule RULE: the place and the words of the rule that denies, as JSON has them.
by_rule()
{
	printf 'sbx 1\nprofile own extends workspace-write {\n    %s\n}\n' "$1" \
	    >"$tmp/own.sbx"
	echo "cat: $home/other/file: Permission denied" >"$tmp/said"
	env -i PATH="$PATH" HOME="$home" "$SBXC" why --from "$tmp/said" \
	    -l full -f json "$tmp/own.sbx" | perl -MJSON::PP -e '
	    local $/; my $one = decode_json(<STDIN>)->{denied}[0];
	    print join " | ", $one->{source} // "none", $one->{rule};'
}
tap_is 'JSON has the rule that denies' \
    'own.sbx:3:15 | deny read ~/other' "$(by_rule 'deny read ~/other')"
tap_is '... or that there is none' 'none | ' "$(by_rule 'deny read /srv')"

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

# asked POLICY LEVEL WORDS: what is said of them, the line itself left out.
asked()
{
	printf '%s\n' "$3" | sed "s|@HOME@|$home|g" |
	    env -i PATH="$PATH" HOME="$home" "$SBXC" why --from - -l "$2" \
	    "@$1" >"$tmp/out" 2>&1
	sed -n "2{s|$home|~|g;p;}" "$tmp/out"
}

denial='denied: read ~/other/file'
said="cat: @HOME@/other/file: Permission denied"
for before in '2026-01-31T08:15:00.1234567Z ' '2026-01-31 08:15:00,123 ' \
    '[08:15:00] ' '[2026-01-31T08:15:00+01:00] ' '#12 0.345 ' 'web-1  | ' \
    '##[error]' '2026-01-31T08:15:00.12Z ##[error]' 'job	step	2026-01-31T08:15:00Z ' \
    "$(printf '\033[36m\033]0;title\007\033(B')" "$(printf ' 50%%\r')"; do
	tap_is "a log with '$(printf %s "$before" | tr -cd ' -~')' in front" \
	    "$denial" "$(asked workspace-write full "$before$said")"
done
tap_is 'a log with the line ends of Windows' "$denial" \
    "$(asked workspace-write full "$said$(printf '\r')")"
# A name with a blank stands there as it is, or in quotes.
echo text >"$home/other/my file"
for words in 'grep: ../other/my file: Permission denied' \
    'sh: 0: cannot open ../other/my file: Permission denied' \
    'bash: line 1: @HOME@/other/my file: Permission denied' \
    'cp: cannot open ../none to ../other/my file: Permission denied' \
    'grep: @HOME@/other/my file: Permission denied' \
    "cat: '../other/my file': Permission denied"; do
	tap_is "$words" 'denied: read "~/other/my file"' \
	    "$(asked workspace-write full "$words")"
done
rm "$home/other/my file"
# What is run is read as such behind a time, too.
tap_is 'a shell in a log' 'denied: exec ~/tools/tool' "$(asked \
    workspace-write full \
    "2026-01-31T08:15:00Z sh: 1: @HOME@/tools/tool: not found")"

# remarked POLICY LEVEL WORDS PATTERN: nothing is denied, but something is said.
remarked()
{
	asked "$1" "$2" "$3" >/dev/null
	tap_empty "$1 $2: no denial: $3" "$(grep '^denied' "$tmp/out")"
	tap_found "$1 $2: $3" "$(grep -e "$4" "$tmp/out")"
}

curl='curl: (56) CONNECT tunnel failed, response'
remarked coding-online full "$curl 403" '403 is what sbx-proxy answers'
remarked coding-online standard "$curl 502" 'the policy is not the reason'
# At both 127.0.0.1 is the sandbox itself.
for level in standard full; do
	remarked coding $level 'Error: connect ECONNREFUSED 127.0.0.1:5432' \
	    'allow network host tcp 5432'
	remarked coding $level 'connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused' \
	    'allow network host tcp 5432'
	remarked coding $level 'connection to server at "127.0.0.1", port 5432 failed: Connection refused' \
	    'allow network host tcp 5432'
	# With --unix-socket that is a file.
	remarked workspace-write $level \
	    "curl: (7) Failed to connect to localhost port 80 after 0 ms: Couldn't connect to server" \
	    'allow network host tcp 80'
	remarked coding $level 'socket.gaierror: [Errno -3] Temporary failure in name resolution' \
	    'lets nothing out'
	tap_is "$level: Node.js, of a service that it was refused" \
	    'denied: host tcp 5432' \
	    "$(asked coding $level 'Error: connect EACCES 127.0.0.1:5432')"
done
remarked workspace-write full "$curl 403" 'no line names a place'
remarked workspace-write full 'everything is well' \
    'no line tells of a failure'
remarked workspace-write full 'cat: /absent: No such file or directory' \
    '; 1 tells of a failure'
tap_found 'what to do next' "$(grep -e --explain "$tmp/out")"
own='sbxrun: network: refused refused.example:443 (no rule)'
tap_is "sbxrun's own line" 'denied: domain refused.example:443' \
    "$(asked coding-online full "$own")"
asked coding-online full "$own, other.example (denied)" >/dev/null
tap_is "sbxrun's own line, of two names" 2 "$(grep -c '^denied' "$tmp/out")"
asked coding-online full "$curl 403
$own" >/dev/null
tap_empty 'what that names is not said again' "$(grep '403 is' "$tmp/out")"
for words in 'Error: listen EACCES: permission denied 127.0.0.1' \
    'Exception in thread "main" java.net.SocketException: Permission denied'; do
	tap_is "$words" 'denied: syscall socket(2,1,0)' \
	    "$(asked workspace-write full "$words")"
done
tap_is 'Node.js, of an address' 'denied: connect 198.51.100.7:443' \
    "$(asked workspace-write full 'Error: connect EACCES 198.51.100.7:443')"
tap_is 'an error of Node.js as JSON' 'denied: write ~/new.txt' \
    "$(asked workspace-write standard '{"errno":-13,"code":"EACCES","syscall":"open","path":"@HOME@/new.txt"}')"

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
