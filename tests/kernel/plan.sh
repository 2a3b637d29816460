#!/bin/sh
# sbxrun -n: its summary of one screen, and that what is printed for programs has
# the form that the schema in packaging/ says.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
schema=$srcdir/packaging/output.schema.json
tap_begin
mkdir -p "$tmp/home/.ssh" "$tmp/work/.vscode" "$tmp/work/secret" \
    "$tmp/work/part" "$tmp/out"
HOME=$tmp/home
export HOME
cat >"$tmp/p.sbx" <<'END'
sbx 1

profile p extends coding {
    allow write ~/notes
    deny read   ${workspace}/secret
    deny read   ${workspace}/part except ${workspace}/part/none
    deny read   ${workspace}/gone
    limit processes 77
}
END
mkdir "$HOME/notes"
cd "$tmp/work" || exit 99
"$SBXC" build -o "$tmp/p.bin" "$tmp/p.sbx"

summary()
{
	"$SBXRUN" "$@" --dry-run=summary "$tmp/p.bin"
}

# line HEADING: what the summary says under it, on one line.
line()
{
	awk -v heading="$1" 'substr($0, 1, 12) !~ /^ *$/ {
		on = index($0, heading) == 1 }
	on { printf "%s ", substr($0, 13) }' "$tmp/summary"
}

has()
{
	case $2 in
	*"$3"*) tap_ok "$1" ;;
	*) tap_not_ok "$1" "$2" ;;
	esac
}

summary -l standard >"$tmp/summary" 2>"$tmp/err"
tap_is "standard: it is printed" 0 $?
has "standard: what may be written" "$(line 'may write')" "${empty-}~/notes"
has "standard: the limits" "$(line limits)" "processes 77"
if "$SBXRUN" --status --json | grep -q '"level":"full"'; then
	summary >"$tmp/summary" 2>"$tmp/err"
	has "full: the workspace may be written" "$(line 'may write')" \
	    "$tmp/work,"
	has "full: the scratch directory, too" "$(line 'may write')" "/tmp,"
	has "full: what is read-only in it" "$(line '  but not')" \
	    "$tmp/work/.vscode"
	has "full: what is hidden in it" "$(line '  but not')" \
	    "$tmp/work/secret"
	tap_is "full: only what is not there cannot be masked" "gone" \
	    "$("$SBXRUN" -n "$tmp/p.bin" 2>/dev/null | grep '^deny ' |
	    sed -n 's,.*/work/\([a-z]*\) .* NOT COVERED.*,\1,p')"
	has "full: what may be run" "$(line 'may run')" "/usr"
	has "full: what is reached" "$(line reach)" "network: loopback"
	tap_is "full: a place that a wider rule gives is left out" "" \
	    "$(line 'may run' | grep -o '/usr/bin')"
	tap_is "full: it fits a screen" yes \
	    "$([ "$(wc -l <"$tmp/summary")" -le 24 ] && echo yes)"
	tap_is "full: no line is longer than 79 columns" "" \
	    "$(sed 1d "$tmp/summary" | grep -v "$tmp" | grep '.\{80\}')"
	echo data >"$tmp/work/secret/one"
	ln "$tmp/work/secret/one" "$tmp/work/other"
	echo data >"$tmp/work/alone"
	cat >"$tmp/names.sbx" <<-'END'
	sbx 1

	profile names extends workspace-write {
	    deny write { ${workspace}/other  ${workspace}/alone }
	}
	END
	"$SBXC" build -o "$tmp/names.bin" "$tmp/names.sbx" || exit 99
	tap_is "full: a denied file of two names is counted" \
	    '"hard_linked":1' "$("$SBXRUN" -n --json "$tmp/names.bin" \
	    2>/dev/null | grep -o '"hard_linked":[0-9]*')"
	rm "$tmp/work/secret/one" "$tmp/work/other" "$tmp/work/alone"
	"$SBXRUN" -n "$tmp/p.bin" 2>/dev/null | head -n "$(wc -l \
	    <"$tmp/summary")" | grep -v '^env ' >"$tmp/head"
	tap_is "-n begins with it" "$(grep -v '^env ' "$tmp/summary")" \
	    "$(cat "$tmp/head")"
elif [ "${SBX_MUST_RUN:-0}" = 1 ]; then
	tap_not_ok "this machine does not give level full"
else
	tap_skip "the summary at full" "this machine does not give it"
fi
# Words and record are one: a record that was kept gives the same words.
for form in -n -n=summary; do
	summary=${form#-n}
	"$SBXRUN" -l standard $form "$tmp/p.bin" >"$tmp/words" 2>/dev/null
	"$SBXRUN" -l standard $form --json "$tmp/p.bin" 2>/dev/null |
	    "$SBXC" records ${summary:+--summary} >"$tmp/kept"
	tap_is "$form: words of a record" same \
	    "$(cmp -s "$tmp/words" "$tmp/kept" && echo same)"
done
# Alone, sbxrun says so and prints the record, with the status that it has.
mkdir "$tmp/alone" && install -m 755 "$SBXRUN" "$tmp/alone" || exit 99
for form in -n --status; do
	set -- "$tmp/p.bin"
	[ $form != --status ] || set --
	said=$("$tmp/alone/sbxrun" -l standard $form "$@" 2>"$tmp/err")
	tap_is "$form without sbxc: status" 0 $?
	has "$form without sbxc: the record" "$said" '{"sbx":1,"event":"'
	has "$form without sbxc: it is said" "$(cat "$tmp/err")" \
	    "/alone/sbxc: cannot be started to say this in words"
done
"$SBXRUN" -n "$tmp/none.bin" >"$tmp/words" 2>"$tmp/err"
tap_is "without a policy: nothing is printed" '125 1' "$? $(cat "$tmp/words" \
    "$tmp/err" | wc -l)"
# Of a receipt each record is a line; what would allow something is below it.
"$SBXRUN" -l standard --explain --status-fd 7 "$tmp/p.bin" -- \
    sh -c 'echo x >~/other; exit 3' 2>"$tmp/err" 7>"$tmp/log"
said=$("$SBXC" records "$tmp/log")
has "a receipt: its run" "$said" 'run of p, level standard, workspace '
has "a receipt: what was denied" "$said" '  denied: write ~/other, 1x sh'
has "a receipt: what would allow it" "$said" '    policy: allow write ~/other'
has "a receipt: its end" "$said" '  ended with status 3'
# Two rules of one place, one place by its name; ranges and addresses.
ln -s "$tmp/out" ~/out
cat >"$tmp/more.sbx" <<END
sbx 1

profile more {
    allow exec { \${system} }
    allow read { $tmp/out  ~/out }
    allow network connect tcp 5000-5002
    limit timeout 9s
}

profile hosts {
    allow exec { \${system} }
    allow network connect { [2001:db8:0:0:1:0:0:1]:443  10.1.2.0/23:7 }
}
END
for name in more hosts; do
	"$SBXC" build --profile "$name" -o "$tmp/$name.bin" "$tmp/more.sbx" \
	    2>"$tmp/err" || exit 99
done
"$SBXRUN" -l standard -n --limit timeout=none "$tmp/more.bin" \
    >"$tmp/summary" 2>"$tmp/err"
tap_is "standard: a place of two rules is said once" 1 \
    "$(line 'may read' | grep -o "$tmp/out" | wc -l)"
has "standard: a range of ports" "$(line reach)" "tcp 5000-5002"
tap_is "standard: and its rule" "allow network connect tcp 5000-5002" \
    "$(grep -o '^allow network connect tcp [^ ]*' "$tmp/summary")"
has "a limit that is lifted" "$("$SBXRUN" -l standard -n --json --limit \
    timeout=none "$tmp/more.bin" 2>/dev/null)" \
    '"limit":"timeout","value":null,"by":"lifted"'
said=$("$SBXRUN" -l standard -n "$tmp/hosts.bin" 2>/dev/null)
has "the first run of zeros in an address" "$said" '[2001:db8::1:0:0:1]:443'
has "a network of addresses" "$said" '10.1.2.0/23:7'
# What Landlock keeps inside is said of each by itself, from ABI 6 on.
abi=$("$SBXRUN" --status --json | grep -o '"abi":[0-9]*')
for kind in $([ "${abi#*:}" -lt 6 ] || echo signal abstract); do
	printf 'sbx 1\nprofile p extends workspace-write {\n%s\n}\n' \
	    "allow $kind anywhere" | "$SBXC" - -o "$tmp/scope.bin" || exit 99
	tap_is "standard: what is kept inside but for $kind" \
	    "$kind null" "$("$SBXRUN" -l standard -n --json "$tmp/scope.bin" \
	    2>/dev/null | grep -o '"scope":"[a-z]*","by":[^}]*' |
	    grep -v '"landlock"$' | tr -d '"' | sed 's/scope:\(.*\),by:/\1 /')"
done
# A socket that is not there, and what is none.
cat >"$tmp/sockets.sbx" <<END
sbx 1

profile sockets extends workspace-write {
    allow socket { $tmp/none  $tmp/p.sbx }
}
END
"$SBXC" build -o "$tmp/sockets.bin" "$tmp/sockets.sbx" 2>"$tmp/err" || exit 99
said=$("$SBXRUN" -l standard -n "$tmp/sockets.bin" 2>/dev/null | grep '^allow socket')
has "a socket that is missing" "$said" \
    "$tmp/none  -- sbxrun connects, but nothing is there now"
has "what is no socket" "$said" \
    "$tmp/p.sbx  -- sbxrun connects, but what is there is no socket"

# Poorer machines: the plan says of each what holds all the same.  Words of an
# environment and of options, with plus signs, then a piece of what is said.
cat >>"$tmp/sockets.sbx" <<END
profile names extends sockets {
    allow network domain "example.org"
}
END
"$SBXC" build -p names -o "$tmp/names.bin" "$tmp/sockets.sbx" 2>"$tmp/err" ||
	exit 99
while read -r machine options piece; do
	# Words of both.
	# shellcheck disable=SC2046
	said=$(env $(echo "$machine" | tr + ' ') "$SBXRUN_TEST" \
	    $(echo "$options" | tr + ' ') 2>&1)
	has "$machine: $options: $piece" "$said" "$piece"
done <<END
SBX_TEST_NO_LISTENER=1 --status listener    the test says so
SBX_TEST_NO_LISTENER=1 --status AF_UNIX sockets are closed
SBX_TEST_NO_LISTENER=1 --status+--json "listener":{"available":false,"missing":"the test says so"}
SBX_TEST_NO_LISTENER=1 -l+standard+-n+$tmp/sockets.bin sbxrun answers for NONE: the test says so
SBX_TEST_NO_LISTENER=1 -l+standard+-n+$tmp/sockets.bin $tmp/none  -- stays shut: sbxrun answers no system calls
SBX_TEST_NO_LISTENER=1 -l+standard+-n+--json+$tmp/sockets.bin "why_no_listener":"the test says so"
SBX_TEST_NO_LISTENER=1 -l+standard+-n=summary+$tmp/sockets.bin need level full, no listener
SBX_TEST_NO_LISTENER=1 -n+$tmp/sockets.bin $tmp/none  --
SBX_TEST_ABI=3 --status TCP ports need ABI 4 (Linux 6.7)
SBX_TEST_ABI=5 --status signals and abstract sockets are kept inside from ABI 6 on
SBX_TEST_ABI=5 -l+standard+-n+$tmp/sockets.bin signal inside only  -- NOT ENFORCED: needs Landlock ABI 6
SBX_TEST_NO_SECCOMP=1 --status seccomp     absent; the kernel was built without
SBX_TEST_NO_SECCOMP=1 --status level       none
SBX_TEST_NO_NAMESPACES=1 --status level       standard
SBX_TEST_NO_SECCOMP=1 -n+$tmp/sockets.bin the kernel offers no protection here
SBX_TEST_NO_SECCOMP=1 --accept=none+-n=summary+$tmp/sockets.bin rules on files NOT ENFORCED at this level
SBX_TEST_NO_SECCOMP=1 --accept=none+-n+$tmp/sockets.bin allow socket
SBX_TEST_NO_SECCOMP=1 --accept=none+-n+--json+$tmp/sockets.bin "landlock_abi":0
SBX_TEST_NO_SECCOMP=1 --accept=none+-n+$tmp/names.bin example.org
SBX_TEST_NO_SECCOMP=1 --accept=none+-n+--json+$tmp/names.bin example.org
SBX_TEST_ABI=3 -l+standard+-n+$tmp/names.bin example.org
SBX_TEST_NO_LISTENER=1 -l+standard+-n+$tmp/names.bin example.org
END

# What stands for another machine is no part of the plan, in any form.
here=$(uname -m) other=aarch64
[ "$here" != aarch64 ] || other=x86_64
cat >"$tmp/other.sbx" <<END
sbx 1

profile other extends workspace-write {
    on $other {
        allow read /elsewhere
        deny read glob "/elsewhere/*"
        allow socket /elsewhere/s
        allow network connect { 10.99.0.0/16:4711  10.98.0.0/16:4700-4711 }
        allow network domain "elsewhere.example"
        allow network publish tcp 4712
        watch /elsewhere
        allow env ELSEWHERE
        set env ELSEWHERE = 4711
        deny syscalls sched_yield
    }
}
END
sed "s/on $other/on $here/" "$tmp/other.sbx" >"$tmp/here.sbx"
for name in other here; do
	"$SBXC" build -o "$tmp/$name.bin" "$tmp/$name.sbx" 2>"$tmp/err" ||
		exit 99
done
"$SBXC" build -o "$tmp/all.bin" @full-access 2>"$tmp/err" || exit 99
# planned WORDS...: what of it is in a plan.  Whole words: a scratch directory's
# name may have any digits.
planned()
{
	"$SBXRUN" -l standard "$@" 2>/dev/null |
	    grep -iowE 'elsewhere|471[12]|sched_yield'
}
for form in -n '-n --json' -n=summary; do
	# Words of the options.
	# shellcheck disable=SC2086
	{
		tap_empty "$form: nothing for another machine" \
		    "$(planned $form "$tmp/other.bin")"
		tap_found "$form: all for this one" \
		    "$(planned $form "$tmp/here.bin")"
		has "$form: without a workspace" "$("$SBXRUN" -w none \
		    -l standard $form "$tmp/here.bin" 2>/dev/null)" standard
		has "$form: everything is allowed" "$("$SBXRUN" -w none \
		    --allow-full-access $form "$tmp/all.bin" 2>/dev/null)" \
		    everything
	}
done

# Of a list nothing is left out, the first and the last neither.
"$SBXC" build -o "$tmp/watches.bin" @workspace-write 2>"$tmp/err" || exit 99
tap_is '-n --json: all that is watched' \
    "$("$SBXC" dump "$tmp/watches.bin" | sed -n 's/^watch .*# //p' |
	cut -d ' ' -f 1 | sort)" \
    "$("$SBXRUN" -l standard -n --json "$tmp/watches.bin" 2>/dev/null |
	perl -MJSON::PP -e 'print map { "$_->{source}\n" }
	    @{JSON::PP->new->decode(join "", <STDIN>)->{watches}}' | sort)"

# What the self-test tries is what would work: where all is allowed it does.
said=$("$SBXRUN" --allow-full-access --self-test "$tmp/all.bin" \
    2>/dev/null)
while read -r probe; do
	tap_is "self-test: $probe" 'allowed, as the policy says' \
	    "$(echo "$said" | sed -n "s/^$probe  *\(allowed.*\)/\1/p")"
done <<END
write in the workspace
write outside
make a file outside
read a key
connect TCP
send UDP
connect to a socket outside
signal a process outside
write outside, as a grandchild
a set-user-ID file
a subvolume of btrfs
END
tap_is 'self-test: and nothing else is tried' 'io_uring
trace a process outside
mount
a namespace of users
outlive the time limit
a pseudo-terminal' "$(echo "$said" | sed -n 's/  *\(allowed\|denied\) *.*//p' |
    grep -vxE 'write .*|make .*|read .*|connect .*|send .*|signal .*|a s.*')"

# The self-test sees what gets through where a layer is missing.
tried()
{
	said=$(SBX_TEST_WITHOUT=$1 "$SBXRUN_TEST" -l standard --self-test \
	    "$tmp/p.bin" 2>/dev/null)
	tap_is "self-test without $1: status" 1 $?
	while read -r probe; do
		[ -n "$probe" ] || continue
		has "self-test without $1: $probe" "$(echo "$said" |
		    grep "^$probe  ")" 'IT GOT THROUGH'
	done
}
tried filter <<END
a namespace of users
a set-user-ID file
$([ "$("$PROBE" io-uring)" != ok ] || echo io_uring)
END
tried landlock <<END
write outside
make a file outside
write outside, as a grandchild
END
# Without a null device the sandbox that is to end in time does not start, and
# what was not tried has not passed.
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
	printf 'sbx 1\nprofile p extends workspace-write {\n%s\n}\n' \
	    'limit output none' | "$SBXC" - -o "$tmp/any.bin" || exit 99
	# shellcheck disable=SC2016  # for the inner shell
	said=$(unshare -m sh -c 'mount -t tmpfs none /dev && exec "$@"' sh \
	    "$SBXRUN" -l standard --self-test "$tmp/any.bin" 2>/dev/null)
	tap_is "self-test without a null device: status" 1 $?
	has "self-test without a null device: time" "$(echo "$said" |
	    grep '^outlive the time limit ')" 'not tried'
fi
"$SBXRUN" --dry-run=some "$tmp/p.bin" 2>"$tmp/err"
tap_is "another word is refused" 125 $?
"$SBXRUN" --dry-run=summary "$tmp/p.bin" >"$tmp/long" 2>&1
"$SBXRUN" -n=summary "$tmp/p.bin" >"$tmp/short" 2>&1
tap_is "-n=summary is --dry-run=summary" same \
    "$(cmp -s "$tmp/long" "$tmp/short" && echo same)"

# A mistyped word of --explain must not become a file of the workspace.
for word in agnt Agent all.json; do
	"$SBXRUN" "--explain=$word" "$tmp/p.bin" -- true 2>"$tmp/err"
	tap_is "--explain=$word is refused" '125 live, all, agent, quiet no' "$? $(
	    grep -o 'live, all, agent, quiet' "$tmp/err") $(
	    [ -f "./$word" ] && echo yes || echo no)"
done

tap_is "text: places stand below each other" 2 \
    "$("$SBXRUN" -l standard -n "$tmp/p.bin" 2>/dev/null |
	grep -c '^workspace   /\|^home        /')"

# --- for programs ----------------------------------------------------------

if ! python3 -c 'import jsonschema' 2>/dev/null; then
	tap_lacks "output against the schema" "python3-jsonschema is missing"
	tap_done
	exit
fi
# Strict: what the schema does not name is a mistake here, as users' programs
# take what it names.
cat >"$tmp/validate.py" <<'END'
import json
import sys

import jsonschema


def strict(part):
    if isinstance(part, dict):
        if "properties" in part:
            part.setdefault("additionalProperties", False)
        for value in part.values():
            strict(value)
    elif isinstance(part, list):
        for value in part:
            strict(value)


schema = json.load(open(sys.argv[1]))
jsonschema.Draft7Validator.check_schema(schema)
strict(schema)
validator = jsonschema.Draft7Validator(
    {"$ref": "#/definitions/" + sys.argv[2],
     "definitions": schema["definitions"]})
for line in sys.stdin:
    for error in validator.iter_errors(json.loads(line)):
        print(f"{error.json_path}: {error.message[:300]}")
END

# fits NAME DEFINITION COMMAND...
fits()
{
	name=$1 definition=$2
	shift 2
	"$@" >"$tmp/json" 2>"$tmp/err"
	tap_empty "schema: $name" "$(python3 "$tmp/validate.py" "$schema" \
	    "$definition" <"$tmp/json" 2>&1)"
}

fits "the plan" plan "$SBXRUN" -n --json "$tmp/p.bin"
tap_found "schema: the check can fail" "$(sed 's/"level":"/&some/' "$tmp/json" |
    python3 "$tmp/validate.py" "$schema" plan)"
fits "the plan at standard" plan "$SBXRUN" -l standard -n --json "$tmp/p.bin"
fits "the plan at minimal" plan "$SBXRUN" -l minimal -n --json "$tmp/p.bin"
"$SBXC" build -o "$tmp/net.bin" @coding-online 2>"$tmp/err"
fits "the plan of a policy with hosts" plan "$SBXRUN" -n --json "$tmp/net.bin"
# Each statement of the language stands in one of them.
for source in "$srcdir"/tests/golden/ok/*.sbx; do
	"$SBXC" build -o "$tmp/all.bin" "$source" &&
		"$SBXRUN" -l standard -n --json "$tmp/all.bin"
done >"$tmp/plans" 2>"$tmp/err"
fits "the plans of other policies" plan cat "$tmp/plans"
tap_is "there are some" yes \
    "$([ "$(wc -l <"$tmp/plans")" -gt 30 ] && echo yes)"
fits "the status" status "$SBXRUN" --status --json
fits "the sessions" sessions "$SBXRUN" --sessions --json
fits "the self-test" self_test "$SBXRUN" --self-test --json "$tmp/p.bin"
tap_done
