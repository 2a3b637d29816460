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
	if grep -q "^$2  $3 .*$4" "$tmp/out"; then
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

doctor
tap_is "a directory in which all is well" 0 $status
says "the level" good level "full (Landlock ABI 7)"
says "the policy" good policy coding
says "the workspace" good workspace "$tmp/work"
tap_is "... and nothing else" 4 "$(grep -c . "$tmp/out")"

# --- the machine -----------------------------------------------------------

machine standard null '"not permitted"'
doctor
tap_is "standard works" 0 $status
says "standard: it is said" note level "standard: .*"
machine minimal '"built in but not switched on; add landlock to the lsm= list"' \
    '"not tried"'
doctor
tap_is "minimal is to be mended" 1 $status
says "minimal: it is said" mend level "files are NOT protected"
tap_is "minimal: with what mends it" 1 "$(grep -c 'update-grub' "$tmp/out")"
machine full null null

# --- the workspace ---------------------------------------------------------

(cd "$HOME" && "$SBXC" doctor) >"$tmp/out" 2>&1
tap_is "the home directory" 1 $?
says "the home directory: it is said" mend workspace "home directory"
doctor -w /
says "the root directory" mend workspace "no workspace"
doctor -w /tmp
says "a directory that sbx itself uses" mend workspace "sbxrun refuses it"
says_not "... is not called good" workspace "^/tmp$"
git init -q .
git -c user.name=A -c user.email=a@b commit -q --allow-empty -m "Begin"
mkdir -p below
doctor -w below
tap_is "a part of a repository" 1 $status
says "a part of a repository: it is said" mend workspace "begins at $tmp/work"
git worktree add -q "$tmp/tree" >/dev/null 2>&1
doctor -w "$tmp/tree"
says "a linked worktree" mend workspace "git writes to $tmp/work/.git,"
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
doctor
says "what runs later" note "runs later" "2 things"
tap_is "what runs later: a sample is none" 1 \
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
says "a variable with a secret" mend variables "handed on: XURL$"
"$SBXC" build -o "$tmp/p.bin" "$tmp/p.sbx"
chmod 666 "$tmp/p.bin"
doctor "$tmp/p.bin"
says "a policy that sbxrun refuses" mend policy "others may write"
doctor "$tmp/p.sbx" another
tap_is "two policies" 2 $status
printf 'sbx 1\nprofile q {\n  allow raed /\n}\n' >"$tmp/q.sbx"
doctor "$tmp/q.sbx"
tap_is "a policy that does not compile" 1 $status

# --- agents ----------------------------------------------------------------

printf '#!/bin/sh\n' >"$tmp/bin/claude"
chmod +x "$tmp/bin/claude"
PATH=$tmp/bin:$PATH doctor
says "an agent that the policy does not let run" note claude "does not let run"
mv "$tmp/bin/claude" "$tmp/work"
PATH=$tmp/work:$PATH doctor
says "an agent whose state is shut" note claude "profile 'claude'"

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
doctor -f json
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
