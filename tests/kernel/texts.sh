#!/bin/bash
# sbxrun with a policy that is a text, as TAP: it is compiled once, again when
# something has changed that it was made of, and the command chooses nothing of it.
# And the rules of the command line.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
tap_begin /var/tmp
tap_programs "$SBXRUN" "$SBXC"
run=$tmp/sbxrun
mkdir -p "$tmp/p" "$tmp/ws" "$tmp/data"
echo secret >"$tmp/data/file"
cd "$tmp/ws" || exit 99

# says NAME STATUS TEXT WORD...: sbxrun's status, and a part of what it says.
says()
{
	name=$1 wanted=$2 part=$3
	shift 3
	got=$("$run" "$@" 2>&1 </dev/null)
	status=$?
	case $status/$got in
	"$wanted/"*"$part"*) tap_ok "$name" ;;
	*) tap_not_ok "$name" "status $status: $got" ;;
	esac
}
# write RULE: the file that the policy includes.
write()
{
	printf 'sbx 1\ngroup more {\n%s\n}\n' "$1" >"$tmp/p/more.sbx"
}

# Made anew, a file has another inode.
kept_files()
{
	ls -i "$(getent passwd "$(id -u)" | cut -d: -f6)/.local/state/sbx/compiled" |
	    sort
}

printf 'sbx 1\ninclude "more.sbx"\nprofile t extends workspace-write {\nuse more\n}\n' \
    >"$tmp/p/t.sbx"
text=$tmp/p/t.sbx
write "deny read \"$tmp/data\""
says 'a text is compiled' 0 hello "$text" -- echo hello
says 'and denies' 1 '' "$text" -- cat "$tmp/data/file"
write "allow read \"$tmp/data\""
says 'a change of what it includes counts at once' 0 secret "$text" -- cat "$tmp/data/file"
# The same length, and the time of the change set back.
touch -r "$tmp/p/more.sbx" "$tmp/stamp"
sleep 0.2
kept=$(kept_files)
says 'a second run' 0 secret "$text" -- cat "$tmp/data/file"
tap_is 'uses what was kept' "$kept" "$(kept_files)"
write "deny  read \"$tmp/data\""
touch -r "$tmp/stamp" "$tmp/p/more.sbx"
says 'a time that is set back hides no change' 1 '' "$text" -- cat "$tmp/data/file"
printf 'sbx 1\ninclude "more.sbx"\ninclude "also.sbx"\nprofile a extends workspace-write {\n}\n' \
    >"$tmp/p/a.sbx"
ln -s more.sbx "$tmp/p/also.sbx"
says 'a file is included by two names' 0 '' "$tmp/p/a.sbx" -- true
rm "$tmp/p/also.sbx"
echo 'grup x {' >"$tmp/p/also.sbx"
says 'of which each counts' 125 'also.sbx:' "$tmp/p/a.sbx" -- true
echo 'grup x {' >>"$tmp/p/more.sbx"
says 'a mistake is shown where it stands' 125 "did you mean 'group'?" "$text" -- true
write "allow read \"$tmp/data\""
printf 'profile two extends workspace-write {\n}\n' >>"$text"
says 'several profiles take -p' 125 'say which one with -p' "$text" -- true
says 'and have it' 0 two -p two -n=summary "$text"
says 'others may not write what is included' 125 'others may write this policy' \
    -p t "$(chmod o+w "$tmp/p/more.sbx"; echo "$text")" -- true
chmod o-w "$tmp/p/more.sbx"
mkdir "$tmp/alone"
cp "$run" "$tmp/alone/sbxrun"
tap_is 'without sbxc it is one line' \
    "sbxrun: $text: it is a text, and to compile it needs sbxc, which is not at $tmp/alone/sbxc" \
    "$("$tmp/alone/sbxrun" "$text" -- true 2>&1)"

# So many are kept, and the oldest go.
kept=$(getent passwd "$(id -u)" | cut -d: -f6)/.local/state/sbx/compiled
for i in $(seq 140); do
	: >"$kept/test-$$-$i"
done
touch -d @1 "$kept/test-$$"-*
says 'one more is kept' 0 '' -p two --allow "read \"$tmp/p\"" "$text" -- true
# Other tests may keep theirs beside.
if [ "$(find "$kept" -type f | wc -l)" -lt 140 ]; then
	tap_ok 'and no more than 128 in all'
else
	tap_not_ok 'and no more than 128 in all' "$(find "$kept" -type f | wc -l)"
fi
rm -f "$kept/test-$$"-*

# Nothing can be written: what needs a file says so, and the rest works.
limited()
{
	name=$1 wanted=$2
	shift 2
	got=$(ulimit -f 0; "$run" "$@" 2>&1 </dev/null; echo "$?")
	tap_is "with ulimit -f 0: $name" "$wanted" "$(echo "$got" | tail -n 1)"
}
limited 'a blob' 0 "$builddir/profiles/workspace-write.bin" -- true
limited 'the command has the usual end' 153 "$builddir/profiles/workspace-write.bin" -- \
    sh -c 'echo >file'
limited 'a text' 125 -p t --allow "read \"$tmp/p/none\"" "$text" -- true
tap_is 'and that is not its fault' 0 "$(ulimit -f 0
	"$run" -p t "$text" --allow x -- true 2>&1 | grep -c 'does not compile')"

# In the workspace.
cp "$tmp/p/"*.sbx .
if "$run" -l full -p t ./t.sbx -- true 2>/dev/null; then
	tap_is 'at full the command writes none of the texts' 'no no' \
	    "$("$run" -l full -p t ./t.sbx -c '
	    (echo >>t.sbx) 2>/dev/null || echo no
	    mv more.sbx x 2>/dev/null || echo no' | xargs)"
else
	tap_skip 'at full the command writes none of the texts' 'no level full'
fi
says 'at standard that is refused' 125 'nothing keeps the command from writing this text' \
    -l standard -p t ./t.sbx -- true
printf 'sbx 1\ninclude "groups.sbx"\nprofile t {\nuse system\nallow write ${workspace}\n}\n' \
    >"$tmp/p/g.sbx"
printf 'sbx 1\ngroup system {\nallow write /\n}\n' >"$tmp/p/groups.sbx"
says 'a shipped name that is included is no file beside' 2 '' "$tmp/p/g.sbx" -- \
    sh -c 'echo >"$1"' sh "$tmp/data/new"

# --- rules of the command line ------------------------------------------------

blob=$builddir/profiles/workspace-write.bin
rule="read \"$tmp/data\""
says 'a rule is added' 0 secret --allow "$rule" "$blob" -- cat "$tmp/data/file"
says 'to a text, too' 0 secret --allow "$rule" "$tmp/p/g.sbx" -- cat "$tmp/data/file"
says 'a deny beats it' 1 '' --allow "$rule" --deny "read \"$tmp/data/file\"" "$blob" -- \
    cat "$tmp/data/file"
printf 'sbx 1\nprofile d extends workspace-write {\ndeny read "%s"\n}\n' "$tmp/data" \
    >"$tmp/p/d.sbx"
says 'it lifts no deny of the policy' 1 '' --allow "$rule" "$tmp/p/d.sbx" -- cat "$tmp/data/file"
says 'nor does a text in it' 125 'takes one rule' --allow "$rule
drop deny read \"$tmp/data\"" "$tmp/p/d.sbx" -- cat "$tmp/data/file"
says 'a right that is none' 125 'unknown right' --allow "x" "$blob" -- true
says '-n says whose it is' 0 '[--allow:1:1]' --allow "$rule" -n "$blob"
tap_is 'a host, as a denial names it' 'allowed: domain example.org:443' \
    "$("$tmp/sbxc" why --allow 'domain example.org' "$blob" domain example.org |
	head -n 1)"
says '-v says it' 0 '--allow "read ' -v --allow "$rule" "$blob" -- true
tap_is 'the receipt says it' 1 "$("$run" --status-fd 7 --allow "$rule" "$blob" -- true 7>"$tmp/log"
    grep -c '"event":"start".*"added":\["allow read ' "$tmp/log")"
tap_done
