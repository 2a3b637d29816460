#!/bin/sh
# sbxc doctor: each thing that it finds, made here, and that it says nothing of it
# where it is not so.  A stand-in for sbxrun says what machine this is.

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
tap_begin
tmp=$(realpath "$tmp")
python=$(command -v python3)
HOME=$tmp/home
PATH=/usr/bin:/bin
GIT_CONFIG_NOSYSTEM=1
export HOME PATH GIT_CONFIG_NOSYSTEM
mkdir -p "$HOME" "$tmp/bin" "$tmp/elsewhere" "$tmp/work"
cd "$tmp/work" || exit 99
real=$SBXRUN

# machine LEVEL LANDLOCK NAMESPACES: what the stand-in says of it.
machine()
{
	cat >"$tmp/status" <<END
{"sbx":1,"kernel":"6.1","machine":"x86_64",
"landlock":{"available":true,"missing":$2,"abi":7},
"namespaces":{"available":true,"missing":$3},
"network":{"available":true,"missing":null},
"hosts":{"available":true,"missing":null},"level":"$1"}
END
}

cat >"$tmp/sbxrun" <<END
#!/bin/sh
if [ "\$1" = --status ]; then cat "$tmp/status"; exit; fi
if [ "\$1" = -n ] && [ -e "$tmp/plan" ]; then cat "$tmp/plan"; exit; fi
if [ "\$1" = --self-test ] && [ -e "$tmp/tried" ]; then
	cat "$tmp/tried"; exit 1
fi
exec "$real" "\$@"
END
chmod +x "$tmp/sbxrun"
SBXRUN=$tmp/sbxrun
export SBXRUN
machine full null null

doctor()
{
	"$SBXC" doctor "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
}

# says NAME STATE ABOUT TEXT: there is such a line.
says()
{
	if grep -q "^$2  *$3 .*$4" "$tmp/out"; then
		tap_ok "$1"
	else
		tap_not_ok "$1" "$(cat "$tmp/out" "$tmp/err")"
	fi
}

# says_not NAME ABOUT TEXT
says_not()
{
	tap_is "$1" "" "$(grep "^....  $2 .*$3" "$tmp/out")"
}

# What git takes for no repository is none.
mkdir -p "$tmp/.git"
doctor
tap_is "a directory in which all is well" 0 $status
says "the level" good level "full (Landlock ABI 7)"
says "the policy" good policy coding
says "the workspace" good workspace "$tmp/work"
tap_is "... and nothing else" 4 "$(grep -c . "$tmp/out")"

# What a container's /dev can do to a sandbox, whose plan is as ever.
echo '{"ok":false,"canaries":[{"canary":"mount","ok":true},
{"canary":"a pseudo-terminal","ok":false}]}' >"$tmp/tried"
doctor
tap_is "the self-test fails" 1 $status
says "... and it is said at what" fix self-test ': a pseudo-terminal$'
rm "$tmp/tried"

rmdir "$tmp/.git"
: >"$tmp/.git"
doctor
tap_is "an empty file .git above" 0 $status
rm "$tmp/.git"

# --- the machine -----------------------------------------------------------

machine standard null '"not permitted"'
doctor
tap_is "standard works" 0 $status
says "standard: it is said" note level "standard: .*"
machine minimal '"built in but not switched on; add landlock to the lsm= list"' \
    '"not tried"'
doctor
tap_is "minimal is to be fixed" 1 $status
says "minimal: it is said" fix level "files are NOT protected"
tap_is "minimal: with what fixes it" 1 "$(grep -c 'update-grub' "$tmp/out")"
machine full null null

# --- the workspace ---------------------------------------------------------

(cd "$HOME" && "$SBXC" doctor) >"$tmp/out" 2>&1
tap_is "the home directory" 1 $?
says "the home directory: it is said" fix workspace "it is the home directory"
doctor -w "$tmp"
says "what the home directory lies in" fix workspace \
    "the home directory lies in it"
says_not "... is not called good" workspace " $tmp\$"
doctor -w /
says "the root directory" fix workspace "no workspace"
doctor -w /tmp
says "a directory that sbx itself uses" fix workspace "sbxrun refuses it"
says_not "... is not called good" workspace " /tmp\$"
git init -q .
git -c user.name=A -c user.email=a@b commit -q --allow-empty -m "Begin"
mkdir -p below
doctor -w below
tap_is "a part of a repository" 1 $status
says "a part of a repository: it is said" fix workspace "begins at $tmp/work"
git worktree add -q "$tmp/tree" >/dev/null 2>&1
doctor -w "$tmp/tree"
says "a linked worktree" fix workspace "git writes to $tmp/work/.git,"
doctor
says_not "the repository itself" workspace git

ln -s "$tmp/elsewhere" out
ln -s below inside
ln -s /etc known
doctor
says "a link that leads out" note links "work/out leads out .* $tmp/elsewhere"
tap_is "a link into the workspace, and one to what is shown" 1 \
    "$(grep -c '^note  links' "$tmp/out")"
rm out inside known
ln -s "$HOME" all
ln -s "$HOME/.ssh" keys
ln -s "$tmp" above
mkdir -p "$HOME/.ssh"
doctor
says "a link to credentials" note links "work/keys leads out"
says "a link to the home" note links "work/all leads out"
says "a link to what is above it" note links "work/above leads out"
tap_empty "... comes with no advice to show them" "$(grep allow "$tmp/out")"
rm all keys above
rmdir "$HOME/.ssh"
mkdir "$tmp/a b; allow read ~"
ln -s "$tmp/a b; allow read ~" spaces
doctor
tap_found "a name with spaces is one word of the advice" \
    "$(grep -F "allow read \"$tmp/a b; allow read ~\"" "$tmp/out")"
rm spaces
mv .git .git-kept
mkfifo .git
timeout 300 "$SBXC" doctor >"$tmp/out" 2>"$tmp/err"
tap_is "a named pipe for a repository is not waited for" 0 $?
rm .git
mv .git-kept .git
mkdir -p .vscode .git/hooks
printf '#!/bin/sh\n' >.git/hooks/post-commit
printf '#!/bin/sh\n' >.git/hooks/pre-push.sample
chmod +x .git/hooks/*
printf '#!/bin/sh\n' >.git/hooks/pre-commit
doctor
says "what runs later" note "runs later" "2 things"
tap_is "what runs later: no sample, and no hook that git does not run" 1 \
    "$(grep -c 'ls -l .git/hooks/post-commit .vscode$' "$tmp/out")"
rm -r .vscode .git/hooks

# --- the policy ------------------------------------------------------------

cat >"$tmp/p.sbx" <<'END'
sbx 1

profile p extends coding {
    allow read  ~/nowhere
    deny write  ${workspace}/nothing
    allow env   *
}
END
chmod 644 "$tmp/p.sbx"
XURL=https://me:secret@host/x PLAIN=https://host/x doctor "$tmp/p.sbx"
says "what it allows is not there" note absent "home/nowhere"
if "$real" --status --json | grep -q '"level":"full"'; then
	says "what it denies is not there" note absent "make it: .*work/nothing"
else
	tap_skip "what it denies is not there" "this is level full's"
fi
says "a variable with a secret" fix variables "handed on: XURL$"
"$SBXC" build -o "$tmp/p.bin" "$tmp/p.sbx"
chmod 666 "$tmp/p.bin"
doctor "$tmp/p.bin"
says "a policy that sbxrun refuses" fix policy "others may write"
doctor "$tmp/p.sbx" another
tap_is "two policies" 125 $status
printf 'sbx 1\nprofile q {\n  allow raed /\n}\n' >"$tmp/q.sbx"
doctor "$tmp/q.sbx"
tap_is "a policy that does not compile" 1 $status

# --- what a plan says --------------------------------------------------------

# plan RULES REST: what sbxrun is to say of the policy.
plan()
{
	printf '{"profile": "planned", %s"rules": [%s], "watches": []}\n' "$2" \
	    "$1" >"$tmp/plan"
}

# rule WORDS PATH BY STATE SOURCE
rule()
{
	printf '{"rule": "%s", "path": "%s", "by": "%s", "state": "%s", "source": "%s"}' \
	    "$@"
}

# told ABOUT: all that is said about it, with what is advised.
told()
{
	awk -v about="$1" '
	/^[a-z]/ { found = index($0, "  " about " ") == 5 }
	found { sub(/^[a-z]+  /, ""); sub(about, ""); sub(/^ */, ""); print }' \
	    "$tmp/out" | paste -sd '|'
}

own=p.sbx:1:1
plan '' ''
doctor
tap_is "a plan without a network" 'planned, network: none' "$(told policy)"
tap_is "... and without rules: nothing is absent" '' "$(told absent)$(told split)"
plan '' '"network": "selected", "why_no_listener": "no ear", "why_no_sockets": "no way", '
doctor
tap_is "what a plan lacks" 'planned, network: selected|no ear|no way' \
    "$(told policy)"
gone=$(rule 'allow read' /a 'nothing' absent $own)
plan "$gone, $(rule 'allow read' /b - there $own), $(rule 'deny read' /c \
    - absent $own), $(rule 'allow read' /d - absent sbx:x)" ''
doctor
tap_is "what is allowed and not there is told, if it is the user's own" \
    'the policy allows what is not there: /a; what is made there later stays shut until the next start' \
    "$(told absent)"
for count in 3 4 5; do
	plan "$(for i in $(seq $count); do
		[ "$i" = 1 ] || printf ', '
		rule 'allow read' "/$i" - absent $own
	done)" ''
	case $count in
	3) wanted=': /1, /2, /3; ' ;;
	*) wanted=": /1, /2, /3 and $((count - 3)) more; " ;;
	esac
	doctor
	tap_found "of $count three are named" \
	    "$(told absent | grep -F "$wanted")"
done
bare=$(rule 'deny read' '/b c' 'NOT COVERED: x' - $own)
plan "$bare, $(rule 'allow read' /d 'NOT COVERED' - $own), $(rule 'deny read' \
    /e 'covered' - $own), $(rule 'deny read' /f 'NOT COVERED' - sbx:y)" ''
doctor
tap_is "what is denied and not there is told, if nothing covers it" \
    "the policy denies what is not there, so a command can make it: /b c|mkdir -p '/b c'" \
    "$(told absent)"
plan "$bare, $(rule 'deny read' /g 'NOT COVERED' - $own)" ''
doctor
tap_is "... with no place to make where there are two" \
    'the policy denies what is not there, so a command can make it: /b c, /g|mkdir -p PLACE' \
    "$(told absent)"
plan "$(rule 'deny write' /h 'split in 3' - sbx:z), $(rule 'allow write' /i \
    split - $own), $(rule 'deny write' /j view - $own)" ''
doctor
tap_is "what is split is told, whoever wrote it" \
    "at this level nothing can be made beside /h: 'sbxrun -n' lists the directories" \
    "$(told split)"

# watched PATH...: a plan with these watches.
watched()
{
	printf '{"profile": "planned", "rules": [], "watches": [%s]}\n' "$(
	    for place; do
		printf '%s{"rule": "watch x", "path": "%s"}' "$comma" "$place"
		comma=', '
	    done)" >"$tmp/plan"
}
mkdir -p later
for i in $(seq 13); do
	echo x >"later/$i"
done
echo x >-l
comma=
watched "$PWD/later/1" "$PWD/none" /etc/passwd "$PWD-beside"
doctor
tap_is "one thing that runs later" 'git, editors, agents or shells act on 1 thing here without being asked; read them before you use the project unconfined|ls -l later/1' \
    "$(told 'runs later')"
watched "$PWD" "$PWD/-l"
doctor
tap_is "the workspace, and a name like an option" "ls -l '' ./-l" \
    "$(told 'runs later' | cut -d '|' -f 2)"
for count in 12 13; do
	# shellcheck disable=SC2046 # numbers
	watched $(seq -f "$PWD/later/%g" $count)
	doctor
	tap_is "of $count things that run later twelve are named" \
	    "$count things $(seq -f 'later/%g' -s ' ' 12)$([ $count = 12 ] ||
	    echo ' ...')" "$(told 'runs later' | sed -E \
	    's/.* on ([0-9]+ things) .*\|ls -l /\1 /')"
done
rm -r later ./-l

# --- variables that look like secrets ----------------------------------------

printf 'sbx 1\nprofile all {\n  allow exec /usr\n  allow env *\n}\n' >"$tmp/all.sbx"
plan '' ''
# secret WANTED NAME VALUE
secret()
{
	env "$2=$3" "$SBXC" doctor "$tmp/all.sbx" >"$tmp/out" 2>"$tmp/err"
	tap_is "a variable: $2=$3" "$1" "$(told variables)"
}
for name in A_TOKEN MY_SECRET X_PASSWORD X_PASSWD CREDENTIALS A_PRIVATE_KEY API_KEY \
    MYAPIKEY my_token; do
	secret "look like secrets and are handed on: $name|add to the policy: deny env $name" \
	    $name x
done
for url in https://me:secret@host/x ftp://a:b@c https://:b@c/d; do
	secret 'look like secrets and are handed on: URL|add to the policy: deny env URL' \
	    URL $url
done
for url in https://host/x https://me@host/x https://host:80/x https://host/a:b@c \
    me:secret@host; do
	secret '' URL $url
done
A_TOKEN=x B_TOKEN=x doctor "$tmp/all.sbx"
tap_is "two variables: both are named" \
    'look like secrets and are handed on: A_TOKEN, B_TOKEN|add to the policy: deny env { NAME NAME }' \
    "$(told variables | sed 's/B_TOKEN, A_TOKEN/A_TOKEN, B_TOKEN/')"

# --- the machine ---------------------------------------------------------------

SBX=outer doctor
tap_is "inside another sandbox" \
    'this runs inside a sandbox of sbx already (SBX=outer)' "$(told nested)"
SBX='' doctor
tap_is "... which an empty name does not say" '' "$(told nested)"
machine minimal '"not there"' null
doctor
tap_is "a level that no switch of the kernel fixes" \
    'minimal: files are NOT protected; Landlock is not there' "$(told level)"
machine minimal null null
doctor
tap_is "... and one for another reason than Landlock" \
    'minimal: files are NOT protected; Landlock is there' "$(told level)"
machine full null null
sed -i 's/"abi":7/"abi":6/' "$tmp/status"
doctor
tap_is "the ABI is the machine's" 'full (Landlock ABI 6)' "$(told level)"
machine full null null
sed -i 's/"hosts":{"available":true,"missing":null}/"hosts":{"missing":"a tap"}/' \
    "$tmp/status"
doctor
tap_is "hosts cannot be reached, and none is named" '' "$(told network)"
printf 'sbx 1\nprofile named {\n  allow exec /usr\n  allow network domain a.example\n}\n' \
    >"$tmp/named.sbx"
doctor "$tmp/named.sbx"
tap_is "... and one is" "1 the policy names hosts, and what reaches them is missing: a tap" \
    "$status $(told network)"
machine full null null

# --- the directory ---------------------------------------------------------------

chmod o+w .
doctor
tap_is "every user may write there" \
    "$PWD|every user may write to it|chmod o-w $PWD" "$(told workspace)"
chmod o-w .
mkdir -p deep/one/two/three deep/.hidden
ln -s "$tmp/elsewhere" deep/one/link
ln -s "$tmp/elsewhere" deep/one/two/link
ln -s "$tmp/elsewhere" deep/.hidden/link
doctor
tap_is "links are looked for three directories deep, in none that is hidden" 1 \
    "$(grep -c 'leads out of' "$tmp/out")"
for count in 2 3 4; do
	ln -s "$tmp/elsewhere" "deep/one/link$count"
	doctor
	tap_is "of $count links three are told" "$((count < 3 ? count : 3)) $((
	    count > 3))" "$(grep -c 'leads out of' "$tmp/out") $(
	    grep -c ' 1 more such links' "$tmp/out")"
done
rm -r deep
if [ "$(id -u)" = 0 ]; then
	mkdir theirs
	chown 65534 theirs
	doctor -w theirs
	tap_found "a directory of another user's" \
	    "$(told workspace | grep 'belongs to another user')"
	rmdir theirs
else
	mkdir shut
	chmod 500 shut
	doctor -w shut
	tap_found "a directory in which nothing can be written" \
	    "$(told workspace | grep 'you may not write to it')"
	rmdir shut
fi
# --- how it is told ------------------------------------------------------------------

machine minimal null null
"$SBXC" doctor --color=always "$tmp/all.sbx" >"$tmp/out" 2>&1
tap_is "each state has its colour" '32good 1;31fix' "$(
    sed -n 's/^.\[\([0-9;]*\)m\([a-z]*\) *.\[0m  .*/\1\2/p' "$tmp/out" | sort -ur |
    paste -sd ' ')"
SBX=outer "$SBXC" doctor --color=always "$tmp/all.sbx" >"$tmp/out" 2>&1
tap_is "... a note, too" 1 "$(grep -c "^$(printf '\033')\[36mnote" "$tmp/out")"
A_TOKEN=x SBX=outer doctor --json "$tmp/all.sbx"
tap_is "for programs: what has to be fixed is counted" '"fix": 2' \
    "$(grep -o '"fix": [0-9]*' "$tmp/out")"
tap_is "... and the commands are there" '"command": "add to the policy: deny env A_TOKEN"' \
    "$(grep -o '"command": ".*"' "$tmp/out")"
tap_is "... each state" 'fix good note' "$(sed -n 's/.*"state": "\(.*\)".*/\1/p' \
    "$tmp/out" | sort -u | paste -sd ' ')"
machine full null null
rm "$tmp/plan"

# --- agents ----------------------------------------------------------------

printf '#!/bin/sh\n' >"$tmp/bin/claude"
chmod +x "$tmp/bin/claude"
PATH=$tmp/bin:$PATH doctor
says "an agent that the policy does not let run" note claude "does not let run"
mv "$tmp/bin/claude" "$tmp/work"
PATH=$tmp/work:$PATH doctor
says "an agent whose state is shut" note claude "profile 'claude'"
printf 'sbx 1\nprofile part {\n  allow exec /usr\n  allow exec "%s"\n  allow write ~/.claude\n}\n' \
    "$tmp/work/claude" >"$tmp/part.sbx"
mkdir "$HOME/.claude"
echo '{}' >"$HOME/.claude.json"
PATH=$tmp/work:$PATH doctor "$tmp/part.sbx"
says "... or a part of it" note claude "because it writes to $HOME/.claude.json"
sed -i 's|allow write .*|&\n  allow write ~/.claude.json|' "$tmp/part.sbx"
PATH=$tmp/work:$PATH doctor "$tmp/part.sbx"
says "... or no part" good claude "gives it its state"
rmdir "$HOME/.claude"
PATH=$tmp/work:$PATH doctor "$tmp/part.sbx"
says "... which is not there, and stays shut" note claude \
    "because it writes to $HOME/.claude/"
rm "$HOME/.claude.json"
# One that `sbxc init` has set up: its shell is tried.
mkdir -p "$HOME/.config/sbx/init" "$HOME/.claude"
echo '{}' >"$HOME/.config/sbx/init/claude.json"
cp "$tmp/work/claude" "$tmp/bin/claude"
shell()
{
	echo "{\"env\": {\"CLAUDE_CODE_SHELL\": \"$1\"}}" \
	    >"$HOME/.claude/settings.json"
	PATH=$tmp/bin:$PATH doctor
}
"$SBXC" build -o "$tmp/coding.bin" @coding
printf '#!/bin/sh\nexec %s -w none %s -- sh "$@"\n' "$real" "$tmp/coding.bin" \
    >"$tmp/bin/shell"
printf '#!/bin/sh\necho >"%s"\n' "$tmp/ran" >"$tmp/work/shell"
chmod 755 "$tmp/bin/shell" "$tmp/work/shell"
shell "$tmp/bin/shell"
says "an agent that is set up" good claude "is set up"
says "... whose commands are confined" good claude "are confined: one was tried"
shell /bin/sh
says "... and are not" fix claude "are NOT confined: /bin/sh"
shell "$tmp/work/shell"
says "... what the project may write is not started" fix claude "was not tried"
tap_is "... and was not" no "$([ -e "$tmp/ran" ] && echo yes || echo no)"
export CLAUDE_CONFIG_DIR="$HOME/other"
shell "$tmp/bin/shell"
says "... and of other settings than those" fix claude "other/settings.json names no"
unset CLAUDE_CONFIG_DIR
rm -r "$HOME/.config/sbx" "$HOME/.claude" "$tmp/bin/claude"
printf 'sbx 1\nprofile bound {\n  param data\n  allow exec /usr\n  allow read ${data}\n}\n' \
    >"$tmp/bound.sbx"
doctor -D "data=$tmp/elsewhere" "$tmp/bound.sbx"
says "a parameter is bound for sbxrun, too" good policy bound
doctor @full-access
says "a policy that confines nothing is no fault of sbxrun's" good policy full-access

cat >"$HOME/.claude.json" <<END
{"projects": {"/p": {"mcpServers": {"a": {"command": "x"},
    "b": {"url": "https://example.org"}, "c": {"command": "$SBXRUN",
    "args": ["$HOME/.config/sbx/mcp.bin", "--", "x"]}}}},
    "mcpServers": {"d": {"command": "y"}}}
END
echo '{"mcpServers": {"e": {"command": "z"}}}' >.mcp.json
doctor
says "servers that are not confined" note mcp "2 servers of .*/.claude.json run"
says "... those of the project" note mcp "1 server of .*/.mcp.json runs"
# What a project writes for sbxrun to do, which is not what init writes.
n=0
for arguments in \
    '"'"$PWD"'/full-access.bin", "--", "sh", "-c", "x"' \
    '"-l", "none", "'"$HOME"'/.config/sbx/mcp.bin", "--", "x"' \
    '"'"$HOME"'/.config/sbx/mcp.bin.bin", "--", "x"' \
    '"'"$HOME"'/.config/sbx/mcp.bin", "x", "y"' '' ; do
	n=$((n + 1))
	echo '{"mcpServers": {"e": {"command": "'"$SBXRUN"'", "args": ['\
"$arguments"']}}}' >.mcp.json
	doctor
	says "a server that sbxrun starts otherwise: $n" note mcp \
	    "1 server of .*/.mcp.json runs"
done
# What only looks like that: another program with the arguments of sbxrun.
echo '{"mcpServers": {"e": {"command": "'"$PWD"'/sbxrun", "args": ["'\
"$HOME/.config/sbx/mcp"'.bin", "--", "x"]}}}' >.mcp.json
doctor
says "a server of another program's" note mcp "1 server of .*/.mcp.json runs"
for blob in mcp mcp-2; do
	echo '{"mcpServers": {"e": {"command": "'"$SBXRUN"'", "args": ["'\
"$HOME/.config/sbx/$blob"'.bin", "--", "x"]}}}' >.mcp.json
	doctor
	says_not "a server that is confined: $blob" mcp '/.mcp.json'
done
rm "$HOME/.claude.json" .mcp.json

# --- forms -----------------------------------------------------------------

touch "$(printf 'line\033[2J')"
ln -s "$tmp/elsewhere" "$(printf 'esc\033[2J')"
mkdir -p .git/hooks
hook=.git/hooks/$(printf 'h\033[2J')
printf '#!/bin/sh\n' >"$hook"
chmod 755 "$hook"
doctor
tap_is "a name does not reach the terminal as it is" 0 \
    "$(grep -c "$(printf '\033')" "$tmp/out")"
says "... and is shown" note links 'esc\\x1b\[2J" leads'
tap_is "... that of a hook too" 1 "$(grep -c '/h\\x1b\[2J' "$tmp/out")"
rm "$hook"
SBXRUN=$tmp/none doctor
tap_is "without sbxrun" 3 $status
"$real" --doctor >"$tmp/out" 2>"$tmp/err"
tap_is "sbxrun --doctor is it" 0 $?
says "sbxrun --doctor: the workspace" good workspace "$tmp/work"
"$real" --doctor @coding -- true 2>"$tmp/err"
tap_is "sbxrun --doctor takes no command" 125 $?
doctor --json
if "$python" -c 'import jsonschema' 2>/dev/null; then
	tap_empty "for programs: the schema takes it" "$("$python" -c '
import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
schema = {"$ref": "#/definitions/doctor", "definitions": schema["definitions"]}
for error in jsonschema.Draft7Validator(schema).iter_errors(
        json.load(sys.stdin)):
    print(error)
' "$srcdir/packaging/output.schema.json" <"$tmp/out" 2>&1)"
else
	tap_skip "for programs" "python3-jsonschema is missing"
fi
tap_done
