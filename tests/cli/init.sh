#!/bin/sh
# sbxc init: what it writes for each client, that it works, and that nothing is
# left or lost: by --undo, where it refuses, and where it fails in between.

# What launchers and hooks expand is theirs.
# shellcheck disable=SC2016

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
tap_begin /var/tmp
tmp=$(realpath "$tmp")
python=$(command -v python3)
HOME=$tmp/home
PATH=$tmp/bin:$(dirname "$SBXC"):/usr/bin:/bin
GIT_CONFIG_NOSYSTEM=1
export HOME PATH GIT_CONFIG_NOSYSTEM
unset XDG_CONFIG_HOME
mkdir -p "$HOME/.ssh" "$tmp/bin" "$tmp/work/below"
echo key >"$HOME/.ssh/id"
cd "$tmp/work" || exit 99
git init -q .
ours=$HOME/.config/sbx

init()
{
	"$SBXC" init "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
}

# refuses NAME TEXT: it did not work, and said so.
refuses()
{
	if [ $status -ne 0 ] && grep -q "$2" "$tmp/err"; then
		tap_ok "$1"
	else
		tap_not_ok "$1" "$(echo "$status"; cat "$tmp/err")"
	fi
}

files()
{
	(cd "$1" && find . -type f | LC_ALL=C sort | tr '\n' ' ')
}

# --- the call --------------------------------------------------------------

init -y cluade
refuses "a mistyped client" "did you mean 'claude'?"
init -y --undo
refuses "--undo without a client says what to do" "directory 'sandbox'"

# --- agents ----------------------------------------------------------------

init -y claude
refuses "an agent that is not installed" "not in PATH"
for agent in claude codex gemini opencode; do
	cat >"$tmp/bin/$agent" <<'END'
#!/bin/sh
while :; do
	case ${1-} in
	--sandbox | -c | --append-system-prompt) shift 2 ;;
	*) break ;;
	esac
done
# It leaves things in its directory, as some clients do.
if [ "${1-}" = --version ]; then
	mkdir -p a/b && echo kept >a/b/file && ln -s "$HOME" a/b/home &&
	    ln -s a/b c && mkdir d && chmod 500 d
	echo "1.0 (stand-in) in $PWD"
	exit
fi
"$@"
END
	chmod +x "$tmp/bin/$agent"
	before=$(files "$HOME")
	init $agent
	refuses "$agent: without -y and nobody to ask" "nothing was written"
	tap_is "$agent: ... and nothing is" "$before" "$(files "$HOME")"
	init -y $agent
	tap_is "$agent: is set up" 0 $status
	[ $status -eq 0 ] || sed 's/^/# /' "$tmp/err"
	tap_empty "$agent: what the trial wrote is removed" \
	    "$(place=$(sed -n 's/.*(stand-in) in //p' "$tmp/out")
	    [ -n "$place" ] && [ ! -e "$place" ] || echo "there: $place"
	    grep 'is left' "$tmp/err")"
	tap_is "$agent: ... and no more" key "$(cat "$HOME/.ssh/id")"
	tap_is "$agent: it was tried" 1 "$(grep -c 'says 1.0 (stand-in)' \
	    "$tmp/out")"
	run=$HOME/.local/bin/$agent-sbx
	tap_is "$agent: it runs" "made" "$("$run" sh -c \
	    'echo made >file && cat file' 2>&1)"
	tap_is "$agent: a key is out of reach" "" "$("$run" cat "$HOME/.ssh/id" \
	    2>/dev/null)"
	tap_is "$agent: the workspace is the project" "made" "$(cd below &&
	    "$run" cat ../file 2>&1)"
	rm -f file
	case $agent in
	claude | opencode)
		tap_is "$agent: its own name has a shell of ours" "$(
		    echo "$HOME/.local/bin/$agent-sbx-bash")" "$("$python" -c '
import json, sys
d = json.load(open(sys.argv[1]))
print(d.get("shell") or d["env"]["CLAUDE_CODE_SHELL"])' "$(ls \
		    "$HOME/.claude/settings.json" \
		    "$HOME/.config/opencode/opencode.json" 2>/dev/null)")"
		tap_is "$agent: ... which becomes sbxsh" "sbxsh" "$(
		    "$HOME/.local/bin/$agent-sbx-bash" --version |
		    cut -d ' ' -f 1)"
		;;
	*)
		tap_is "$agent: that its own name is not confined is said" 1 \
		    "$(grep -c "^NOT CONFINED is '$agent' by itself" "$tmp/out")"
		;;
	esac
	init -y $agent
	refuses "$agent: twice" "set up already"
	init $agent --undo
	tap_is "$agent: --undo" 0 $status
	rm -rf "$HOME/.cache" "$HOME/.local/state" # of the trial and other runs
	tap_is "$agent: ... leaves no other file and no directory" \
	    ". ./.local ./.ssh ./.ssh/id" "$(cd "$HOME" && find . |
	    LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//')"
	rmdir "$HOME/.local"
done
# A way upwards in PATH, which no rule can name.
(PATH=$tmp/work/../bin:$(dirname "$SBXC"):/usr/bin:/bin && init -y claude &&
    exit $status)
tap_is "claude: by a PATH with '..'" 0 $?
tap_is "... which is in no policy" "" "$(grep -F '..' "$ours/claude.sbx")"
init claude --undo
rm -rf "$HOME/.cache"
init -y claude
echo '{"a": 1}' >"$HOME/.claude.json"
touch "$HOME/.claude/history"
init claude --undo
tap_is "what an agent wrote into places that were made is kept" '0 {"a": 1} yes' \
    "$status $(cat "$HOME/.claude.json") $(
    [ -f "$HOME/.claude/history" ] && echo yes)"

# Settings of an agent that were there, and that it writes itself.
mkdir -p "$HOME/.claude"
echo '{"model": "x", "env": {"A": "b"}}' >"$HOME/.claude/settings.json"
cp "$HOME/.claude/settings.json" "$tmp/settings"
init -y claude
init -y opencode
init claude --undo
tap_is "settings are as before" "0 yes" "$status $(
    cmp -s "$HOME/.claude/settings.json" "$tmp/settings" && echo yes)"
tap_is "what another agent's commands need is kept" yes \
    "$([ -f "$ours/shell" ] && [ -f "$ours/commands.bin" ] && echo yes)"
init opencode --undo
tap_is "... and goes with that one" no \
    "$([ -e "$ours" ] && echo yes || echo no)"
init -y claude
"$python" - "$HOME/.claude/settings.json" <<'END'
import json
import sys

settings = json.load(open(sys.argv[1]))
settings["model"] = "y"
json.dump(settings, open(sys.argv[1], "w"))
END
init claude --undo
tap_is "of settings that were changed since, only ours goes" \
    '0 {"env": {"A": "b"}, "model": "y"}' "$status $("$python" -c '
import json, sys
print(json.dumps(json.load(open(sys.argv[1])), sort_keys=True))' \
    "$HOME/.claude/settings.json")"
tap_is "... and no backup stays" "" "$(find "$HOME" -name '*before-sbx*')"
cp "$tmp/settings" "$HOME/.claude/settings.json"
init -y claude
sed -i 's|\(CLAUDE_CODE_SHELL": \)"[^"]*"|\1"/bin/zsh"|' \
    "$HOME/.claude/settings.json"
init claude --undo
tap_is "a setting that was changed since stays" \
    '0 "/bin/zsh"' "$status $(grep -o '"/bin/zsh"' \
    "$HOME/.claude/settings.json")"
cp "$tmp/settings" "$HOME/.claude/settings.json"
init -y opencode
init -y claude
cp "$HOME/.claude/settings.json" "$tmp/written"
init opencode --undo
echo '{' >"$HOME/.claude/settings.json"
init claude --undo
refuses "what is no JSON any more is not undone" "changed since"
tap_is "... nor is what another agent left to be undone" yes \
    "$([ -f "$ours/shell" ] && [ -f "$ours/commands.bin" ] && echo yes)"
cp "$tmp/written" "$HOME/.claude/settings.json"
init claude --undo
tap_is "... and all is, once it is as before" "0 yes no" "$status $(
    cmp -s "$HOME/.claude/settings.json" "$tmp/settings" && echo yes) $(
    [ -e "$ours" ] && echo yes || echo no)"
for text in '{"env": {"CLAUDE_CODE_SHELL": "/bin/zsh"}}' '{ /* x */ }' \
    '{"env": 1}'; do
	echo "$text" >"$HOME/.claude/settings.json"
	init -y claude
	tap_is "settings of $text are left alone, with a warning" \
	    "0 $text 1 1" "$status $(cat "$HOME/.claude/settings.json") $(
	    grep -c '^sbxc: warning: ' "$tmp/err") $(
	    grep -c "^NOT CONFINED is 'claude'" "$tmp/out")"
	init claude --undo
done
rm "$HOME/.claude/settings.json"
echo mine >"$HOME/.claude/mine"
ln -s mine "$HOME/.claude/settings.json"
init -y claude
tap_is "settings that are a link are left alone" "0 mine" \
    "$status $(cat "$HOME/.claude/mine")"
init claude --undo
rm -r "$HOME/.claude" "$HOME/.claude.json" "$HOME/.cache"
mkdir "$HOME/tools" # a program right below a directory of the home's
ln "$tmp/bin/claude" "$HOME/run-claude" 2>/dev/null ||
    cp "$tmp/bin/claude" "$HOME/run-claude"
mv "$tmp/bin/claude" "$tmp/claude"
ln -s "$HOME/run-claude" "$tmp/bin/claude"
init -y claude
tap_is "a program in the home does not open the home" \
    1 "$(grep -c "allow exec .*home/run-claude\$" "$ours/claude.sbx")"
init claude --undo
rm -r "$HOME/tools" "$HOME/run-claude" "$tmp/bin/claude"
mv "$tmp/claude" "$tmp/bin/claude"

printf '#!/bin/sh\nexit 3\n' >"$tmp/bin/claude"
init -y claude
refuses "an agent that does not start inside" "fails in the sandbox with 3"
tap_is "... says it" 1 "$(grep -c '^sbxc: nothing was written$' "$tmp/err")"
tap_is "... leaves nothing" "" "$(files "$HOME" | grep -o 'config/sbx')"
printf '#!/bin/sh\necho 1\n' >"$tmp/bin/claude"
mkdir -p "$HOME/.local/bin"
echo mine >"$HOME/.local/bin/claude-sbx"
init -y claude
refuses "a launcher that is there already" "not overwritten"
tap_is "... is left" mine "$(cat "$HOME/.local/bin/claude-sbx")"
rm "$HOME/.local/bin/claude-sbx"
init -y claude
echo '# mine' >>"$ours/claude.sbx"
init claude --undo
tap_is "--undo after a change of the policy keeps that, and nothing else" \
    "0 ./claude.sbx " "$status $(files "$ours")"
init -y claude
tap_is "a policy that was kept is used again" "0 # mine" \
    "$status $(tail -n 1 "$ours/claude.sbx")"
tap_is "... and it is said" 1 "$(grep -c "^use .*claude.sbx, which is there" \
    "$tmp/out")"
init claude --undo
tap_is "... and kept again" "0 ./claude.sbx " "$status $(files "$ours")"
init -y claude
echo '# mine' >>"$ours/commands.sbx"
init claude --undo
init -y claude
tap_is "... and the one for its commands, too" "0 # mine commands-2*" \
    "$status $(tail -n 1 "$ours/commands.sbx") $(cd "$ours" && echo commands-2*)"
init claude --undo
rm -r "$HOME/.config"

# Where a variable has moved what an agent keeps: below ~/.config, which is shut.
cat >"$tmp/bin/claude" <<'END'
#!/bin/sh
[ "${1-}" != --version ] || exec echo 1.0
shift 2
"$@"
END
CLAUDE_CONFIG_DIR=$HOME/.config/cc init -y claude
tap_is "CLAUDE_CONFIG_DIR: the shell is set where it leads" "0 yes no" "$status $(
    grep -q CLAUDE_CODE_SHELL "$HOME/.config/cc/settings.json" && echo yes) $(
    [ -e "$HOME/.claude" ] && echo yes || echo no)"
tap_is "... and there it may write, but not what runs later" made "$(
    export CLAUDE_CONFIG_DIR="$HOME/.config/cc"
    "$HOME/.local/bin/claude-sbx" sh -c 'cd $CLAUDE_CONFIG_DIR && echo made >new &&
	cat new; echo x >settings.json' 2>/dev/null)"
tap_is "... nor elsewhere in ~/.config" "" "$(
    export CLAUDE_CONFIG_DIR="$HOME/.config/cc"
    "$HOME/.local/bin/claude-sbx" ls "$ours" 2>/dev/null)"
tap_is "... and another place is refused" "125 1" "$(
    "$HOME/.local/bin/claude-sbx" echo ran 2>"$tmp/err"
    echo "$? $(grep -c 'CLAUDE_CONFIG_DIR is another' "$tmp/err")")"
CLAUDE_CONFIG_DIR=$HOME/.config/cc init claude --undo
tap_is "... and all of it is undone" 0 $status
mkdir -p "$HOME/.gnupg"
CLAUDE_CONFIG_DIR=$HOME/.gnupg/cc init -y claude
refuses "... where the policy keeps commands out" "CLAUDE_CONFIG_DIR leads to"
tap_is "... and nothing is written" "" "$(find "$HOME/.gnupg" -type f)"
rmdir "$HOME/.gnupg"
rm -rf "$HOME/.config"
ANTHROPIC_API_KEY=k init -y claude
tap_is "what is kept from it, and where its command is, is said" "1 1" "$(
    grep -c "^ANTHROPIC_API_KEY is kept" "$tmp/out") $(
    grep -c "local/bin is not in PATH" "$tmp/out")"
mkdir "$tmp/bin/new"
mv "$tmp/bin/claude" "$tmp/bin/new"
tap_is "an agent that was moved is found at its start" found "$(
    sed -i "s|^}|    allow exec $tmp/bin/new\n}|" "$ours/claude.sbx"
    "$SBXC" build -o "$ours/claude.bin" "$ours/claude.sbx"
    PATH=$tmp/bin/new:$PATH "$HOME/.local/bin/claude-sbx" echo found 2>&1)"
tap_is "... and if there is none, that is said" "125 1" "$(
    "$HOME/.local/bin/claude-sbx" 2>"$tmp/err"
    echo "$? $(grep -c 'no claude in PATH' "$tmp/err")")"
mv "$tmp/bin/new/claude" "$tmp/bin"
rmdir "$tmp/bin/new"
init claude --undo
rm -rf "$HOME/.config"

# --- MCP servers -----------------------------------------------------------

cat >.mcp.json <<'END'
{
    "mcpServers": {
        "a": { "command": "srv", "args": ["-y", "x y"], "env": {"A": "b"} },
        "b": { "command": "other" },
        "far": { "url": "https://example.org/" }
    },
    "mine": [1, "\u00e9", null]
}
END
# A group that is not the user's first one, where that may be given.
[ "$(id -u)" -ne 0 ] || chgrp 23908 .mcp.json
group=$(stat -c %g .mcp.json)
chmod 640 .mcp.json
cp -p .mcp.json "$tmp/mcp.json"
init -y mcp
tap_is "mcp: JSON" 0 $status
cat >"$tmp/mcp_json.py" <<'END'
import json
import sys

old, new = (json.load(open(path)) for path in sys.argv[1:3])
for name, server in old["mcpServers"].items():
    if "command" in server:
        server["args"] = [sys.argv[3] + "/mcp-" + name + ".bin", "--",
                          server["command"]] + server.get("args", [])
        server["command"] = "sbxrun"
print("same" if old == new else f"{old}\n{new}")
END
tap_is "mcp: each server that is started, and nothing else" same \
    "$("$python" "$tmp/mcp_json.py" "$tmp/mcp.json" .mcp.json "$ours" 2>&1)"
tap_is "mcp: the mode and the group are kept" "640 $group" \
    "$(stat -c '%a %g' .mcp.json)"
init -y mcp
refuses "mcp: twice" "set up already"
init mcp --undo
tap_is "mcp: --undo gives the bytes back" yes \
    "$(cmp -s .mcp.json "$tmp/mcp.json" && echo yes)"
tap_is "mcp: ... and leaves no backup" "" "$(find . -name '*before-sbx*')"
init -y mcp
sed -i 's/"mine": /"theirs": 1, &/' .mcp.json
init mcp --undo
tap_is "mcp: --undo after other edits gives the servers back" "0 same" \
    "$status $("$python" -c '
import json
import sys
old, new = (json.load(open(path)) for path in sys.argv[1:3])
old["theirs"] = 1
print("same" if old == new else new)' "$tmp/mcp.json" .mcp.json)"
cp -p "$tmp/mcp.json" .mcp.json
init -y mcp
sed -i 's/"x y"/"z"/' .mcp.json
init mcp --undo
refuses "mcp: --undo where a server was changed since" "changed since"
sed -i 's/"z"/"x y"/' .mcp.json
init mcp --undo
cp -p "$tmp/mcp.json" .mcp.json

# A server's tokens reach it, and no other; each is tried.
cat >"$tmp/bin/answers" <<'END'
#!/bin/sh
read -r line
echo "{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": {}}"
END
chmod +x "$tmp/bin/answers"
cat >"$tmp/two.json" <<END
{"mcpServers": {
    "one": {"command": "answers", "env": {"A_TOKEN": "a", "PLAIN": "b",
        "--split-string": "touch $tmp/outside"}},
    "two": {"command": "dies", "env": {"AWS_TOKEN": "\${AWS_TOKEN}"}}}}
END
cp "$tmp/two.json" two.json
init -y mcp two.json
tap_is "mcp: each server is tried, and said" "0 1 1" "$status $(
    grep -c '^tried in the sandbox: the server one answers' "$tmp/out") $(
    grep -c "'two' does not answer in the sandbox: .*dies" "$tmp/err")"
tap_is "mcp: a variable is no option of env, which would run it outside" no \
    "$([ ! -e "$tmp/outside" ] && echo no)"
token()
{
	echo "$(A_TOKEN=a AWS_TOKEN=b B_TOKEN=c "$SBXRUN" -w none \
	    "$ours/mcp-$1.bin" -- sh -c 'echo ${A_TOKEN-} ${AWS_TOKEN-} ${B_TOKEN-}')"
}
tap_is "mcp: a token reaches its server" "a b" "$(token one) $(token two)"
# Where the home is that of the password entry, the file names no path of it.
sed "s|$ours/\(mcp-[a-z]*\)\.bin|@\1|" two.json >"$tmp/shared.json"
init mcp two.json --undo
cp "$tmp/shared.json" two.json
init -y mcp two.json
tap_is "mcp: a file that a colleague has set up takes policies alone" \
    "0 same a b" "$status $(cmp -s two.json "$tmp/shared.json" && echo same) $(
    token one) $(token two)"
init mcp two.json --undo
tap_is "mcp: ... and they are undone" 0 "$status"

cat >config.toml <<'END'
model = "x"  # a comment
list = [
  ["command = 1"],
]
[mcp_servers.a]
command = "srv"   # runs
args = ["-y", "it's"]  # these
env = { "A" = "b" }
[mcp_servers."b.c"]
command = "two"
args = [
]
[mcp_servers.b.env]
command = "no command"
[mcp_servers.d]
command="three"
[other]
command = "x"
END
cp config.toml "$tmp/config.toml"
init -y mcp config.toml
tap_is "mcp: TOML" 0 $status
cat >"$tmp/mcp_toml.py" <<'END'
import sys

try:
    import tomllib
except ImportError:
    print("same")
    sys.exit()
old, new = (tomllib.load(open(path, "rb")) for path in sys.argv[1:3])
for name, server in old["mcp_servers"].items():
    if "command" in server:
        server["args"] = [
            sys.argv[3] + "/mcp-" + name.replace(".", "-") + ".bin", "--",
            server["command"]] + server.get("args", [])
        server["command"] = "sbxrun"
print("same" if old == new else f"{old}\n{new}")
END
tap_is "mcp: TOML: each server, and nothing else" same \
    "$("$python" "$tmp/mcp_toml.py" "$tmp/config.toml" config.toml "$ours" 2>&1)"
tap_is "mcp: TOML: other lines are kept" 1 "$(grep -c \
    '^model = "x"  # a comment$' config.toml)"
(cd below && "$SBXC" init mcp ../config.toml --undo) >/dev/null 2>"$tmp/err"
tap_is "mcp: TOML: --undo, from elsewhere" yes \
    "$(cmp -s config.toml "$tmp/config.toml" && echo yes)"

# left NAME FILE TEXT: a file of that text is refused, and left as it is.
left()
{
	printf '%b' "$3" >"$2"
	cp "$2" "$tmp/before"
	init -y mcp "$2"
	refuses "mcp: refused: $1" "${4-'.*$2'}"
	tap_is "mcp: left alone: $1" yes \
	    "$(cmp -s "$2" "$tmp/before" && [ -z "$(find "$ours" -name 'mcp*' 2>/dev/null)" ] &&
	    echo yes)"
}
left "comments in JSON" c.json '{ "mcpServers": {} /* x */ }'
left "no servers" n.json '{ "a": 1 }'
left "arguments that are no texts" t.json \
    '{ "mcpServers": {"a": {"command": "x", "args": [1]}}}'
left "keys twice" k.json '{ "mcpServers": {}, "mcpServers": {} }'
left "a table in a line" i.toml '[mcp_servers]\na = {command = "x"}\n' \
    i.toml:1:1
left "a dotted key" k.toml 'mcp_servers.a.command = "x"\n' k.toml:1:1
left "a text of many lines" m.toml \
    '[mcp_servers.a]\ncommand = """\nx"""\n' m.toml:2:1
left "arguments before the command" o.toml \
    '[mcp_servers.a]\nargs = []\ncommand = "x"\n' o.toml:3:1
left "escapes" e.toml '[mcp_servers.a]\ncommand = "x\\\\y"\n' e.toml:2:1
# What a reader of TOML takes for a server, beside one that is plain.
plain='[mcp_servers.a]\ncommand = "x"\n'
for header in '[ mcp_servers.evil ]' '[mcp_servers . c]' '["mcp_servers".b]' \
    "['mcp_servers'.b]" '["mcp\\\\u005fservers".b]' '[[mcp_servers.b]]' \
    '[mcp_servers. b]'; do
	left "$header" h.toml "$plain  $header\ncommand = \"e\"\n" h.toml:3:3
done
for key in '"command"' "'command'" '"comm\\\\u0061nd"'; do
	left "$key" q.toml "${plain}[mcp_servers.b]\nurl = \"\"\n$key = \"e\"\n" \
	    q.toml:5:1
done
left '"mcp_servers" in a line' r.toml \
    "\"mcp_servers\".b = {command = \"e\"}\n$plain" r.toml:1:1
left "a server without a command" w.toml "[mcp_servers.b]\nx = 1\n$plain" \
    w.toml:1:1
left "a byte 0" z.toml "$plain\0000[mcp_servers.b]\n" "byte 0"
left "sbxrun with other arguments" s.toml \
    "${plain}[mcp_servers.b]\ncommand = \"$SBXRUN\"\nargs = [\"@full-access\", \"--\", \"e\"]\n" \
    s.toml:5:1
left "sbxrun without arguments" u.toml \
    "${plain}[mcp_servers.b]\ncommand = \"$SBXRUN\"\n" u.toml:3:1
left "sbxrun with other arguments, in JSON" s.json \
    '{ "mcpServers": {"a": {"command": "x"}, "b": {"command": "'"$SBXRUN"'",
    "args": ["@full-access", "--", "e"]}}}'
cat >ours.json <<END
{"mcpServers": {"b": {"command": "$SBXRUN",
    "args": ["$ours/mcp.bin", "--", "e"]}}}
END
init -y mcp ours.json
refuses "mcp: what init wrote is confined" "confined already"

printf '[mcp_servers.a]\ncommand = "x" # \033[2J\n' >escape.toml
init mcp escape.toml
tap_is "mcp: an escape is shown as one" '    - command = "x" # \x1b[2J' \
    "$(grep '^    - ' "$tmp/out")"

# A confined command that swaps the file with a link while init works.
cat >"$tmp/swap.py" <<'END'
import ctypes
import os
import sys

libc = ctypes.CDLL(None)
parent = os.getppid()
open(sys.argv[3], "w").close()
while os.getppid() == parent and os.path.exists(sys.argv[3]):
    for _ in range(1000):
        libc.renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(),
                       2)
END
mkdir "$tmp/race"
echo mine >"$HOME/victim"
"$python" "$tmp/swap.py" "$tmp/race/.mcp.json" "$tmp/race/l" "$tmp/ready" &
swapper=$!
tries=0
while [ ! -e "$tmp/ready" ] && kill -0 $swapper; do :; done
while [ $tries -lt 60 ] && [ "$(cat "$HOME/victim")" = mine ]; do
	rm -f "$tmp/race/l" "$tmp/race/.mcp.json"*
	ln -s "$HOME/victim" "$tmp/race/l"
	echo '{"mcpServers": {"a": {"command": "x"}}}' >"$tmp/race/.mcp.json"
	init -y mcp "$tmp/race/.mcp.json"
	rm -rf "$ours"
	tries=$((tries + 1))
done
rm -f "$tmp/ready"
wait $swapper
tap_is "mcp: a race for the file leads nowhere else" mine \
    "$(cat "$HOME/victim")"
rm -rf "$tmp/race"

cat >"$tmp/state.json" <<'END'
{"projects": {"/p": {"mcpServers": {"a": {"command": "x"}}, "b": 1}, "/q": 2}}
END
init -y mcp "$tmp/state.json"
tap_is "mcp: servers of a project in one file" "0 sbxrun" "$status $("$python" -c '
import json, sys
print(json.load(open(sys.argv[1]))["projects"]["/p"]["mcpServers"]["a"]["command"])
' "$tmp/state.json")"
init mcp "$tmp/state.json" --undo
cp "$tmp/bin/claude" "$tmp/bin/srv"
printf '{"mcpServers": {"a": {"command": "srv"}, "b": {"command": "%s"}}}' \
    "$HOME/.ssh/srv" >"$tmp/state.json"
init -y mcp "$tmp/state.json"
tap_is "mcp: what PATH leads to may run, and no path of the file's" \
    "1 0" "$(grep -c "allow exec .*/bin/srv\|allow exec  $tmp" "$ours/mcp-a.sbx") $(
    cat "$ours"/mcp*.sbx | grep -c 'allow.*\.ssh')"
init mcp "$tmp/state.json" --undo
rm "$tmp/bin/srv"

mkdir "$HOME/away"
ln -s "$HOME/away" linked
cp "$tmp/mcp.json" "$HOME/away/mcp.json"
init -y mcp linked/mcp.json
refuses "mcp: behind a link" "symbolic link"
init -y mcp "$tmp/work/linked/mcp.json"
refuses "mcp: behind a link, by its whole path" "symbolic link"
tap_is "mcp: ... and nothing is there" yes \
    "$(cmp -s "$HOME/away/mcp.json" "$tmp/mcp.json" && echo yes)"
ln -s "$tmp/mcp.json" link.json
init -y mcp link.json
refuses "mcp: a link" "symbolic link"
init -y mcp none.json
refuses "mcp: a file that is not there" "not there"
mkdir directory.json
init -y mcp directory.json
refuses "mcp: a directory" "no file"

# --- npm, git, VS Code -----------------------------------------------------

printf '//registry/:_authToken=x' >"$HOME/.npmrc"
chmod 600 "$HOME/.npmrc"
init -y npm
tap_is "npm" 0 $status
tap_is "npm: the setting is added" "//registry/:_authToken=x
script-shell=$ours/npm-sh" "$(cat "$HOME/.npmrc")"
tap_is "npm: the mode is kept" 600 "$(stat -c %a "$HOME/.npmrc")"
tap_is "npm: its shell confines" "denied" "$("$ours/npm-sh" -c \
    'cat ~/.ssh/id 2>/dev/null || echo denied')"
echo "more=1" >>"$HOME/.npmrc"
init npm --undo
refuses "npm: --undo after a change" "changed since"
sed -i '/more=1/d' "$HOME/.npmrc"
init npm --undo
tap_is "npm: --undo" "//registry/:_authToken=x" "$(cat "$HOME/.npmrc")"
echo "script-shell=/bin/sh" >.npmrc
printf 'all:\n\toverride SHELL\noverride  SHELL := /bin/sh\n' >Makefile
init npm
tap_is "npm: a project that switches it off" "2" \
    "$(grep -c "warning: '\(.npmrc\|Makefile\)' here" "$tmp/err")"
rm .npmrc Makefile
echo "script-shell = /bin/mine" >"$HOME/.npmrc"
init -y npm
refuses "npm: a shell that is set already" "already"

init -y git
tap_is "git" 0 $status
printf 'sbx 1\n\nprofile p extends coding {\n    allow raed /\n}\n' >p.sbx
git add p.sbx
git -c user.name=A -c user.email=a@b commit -q -m "Wrong" 2>"$tmp/err"
tap_is "git: a wrong policy is not committed" "1 1" \
    "$? $(grep -c "unknown right 'raed'" "$tmp/err")"
right='sbx 1\n\nprofile p extends coding {\n}\n'
wrong='sbx 1\n\nprofile p extends coding {\n    allow raed /\n}\n'

# commits OPTION...
commits()
{
	mkdir -p "$tmp/hook"
	TMPDIR=$tmp/hook git -c user.name=A -c user.email=a@b commit -q -m x \
	    "$@" 2>"$tmp/err"
}

# shellcheck disable=SC2059  # the texts are formats
git_cases()
{
	printf "$right" >p.sbx
	commits
	tap_is "git: fixed on disk alone" "1 p.sbx:4:11" \
	    "$? $(grep -o '^p.sbx:4:[0-9]*' "$tmp/err")"
	git add p.sbx
	printf "$wrong" >p.sbx
	commits
	tap_is "git: the first commit, broken on disk alone" 0 $?
	commits -a
	tap_is "git: commit -a" 1 $?
	commits p.sbx
	tap_is "git: commit FILE" 1 $?
	git checkout -q p.sbx
	printf 'sbx 1\ninclude "p.sbx"\nprofile i extends p {\n}\n' >i.sbx
	echo "a: [" >none.yaml
	echo '{ "scripts": { "sbx": "sbxrun x" } }' >none.json
	git add i.sbx none.yaml none.json
	commits
	tap_is "git: an include that is not staged, and files that are no policy" \
	    "0 " "$? $(cat "$tmp/err")"
	for name in y.yaml y.yml y.json '-y.yaml'; do
		printf '{ "sbx": 1,\n "allow": 1 }\n' >"./$name"
		git add -- "$name"
		commits
		tap_is "git: $name" "1 1" "$? $(grep -c "^$name:2:" "$tmp/err")"
		git rm -q -f --cached -- "$name"
		rm -- "./$name"
	done
	printf 'sbx: 1\nallow: 1\n' >y.yaml
	git add y.yaml
	commits
	tap_is "git: YAML" 1 $?
	git rm -q -f y.yaml
	name=$(printf 'a  b\nc.sbx')
	printf "$wrong" >"$name"
	git add .
	commits
	tap_is "git: blanks and a newline" 1 $?
	git rm -q -f "$name"
	git mv i.sbx j.sbx
	printf 'sbx 1\n\ninclude "q.sbx"\n' >j.sbx
	git add j.sbx
	commits
	tap_is "git: a name that changed" 1 $?
	git reset -q --hard
	git rm -q i.sbx
	commits
	tap_is "git: one that goes" 0 $?
	git worktree add -q "$tmp/tree"
	(cd "$tmp/tree" && printf "$wrong" >t.sbx && git add t.sbx && commits)
	tap_is "git: a linked work tree" 1 $?
	git worktree remove --force "$tmp/tree"
	tap_is "git: nothing is left" "" "$(ls -A "$tmp/hook")"
}

git_cases
init git --undo
tap_is "git: --undo" no "$([ -e .git/hooks/pre-commit ] && echo yes || echo no)"
echo mine >.git/hooks/pre-commit
init -y git
refuses "git: a hook that is there" "not overwritten"
rm .git/hooks/pre-commit
mkdir -p "$HOME/.local/bin"
for path in "$HOME/.local/bin" ../hooks .git/../hooks .gitx; do
	git config core.hooksPath "$path"
	init -y git
	refuses "git: hooks in $path" "not in the repository"
done
git config --unset core.hooksPath
mv .git/hooks "$tmp/hooks"
ln -s "$HOME/.local/bin" .git/hooks
init -y git
tap_is "git: a link for the hooks" "3 " \
    "$status $(ls -A "$HOME/.local/bin")"
rm .git/hooks
mv "$tmp/hooks" .git/hooks

echo '{ "a": 1.5 }' >settings.json
init -y vscode settings.json
tap_is "vscode" 0 $status
tap_is "vscode: the terminal, and what was there" "1.5 $SBXRUN" "$("$python" -c '
import json
d = json.load(open("settings.json"))
print(d["a"], d["terminal.integrated.profiles.linux"]["sbx"]["path"])')"
init vscode settings.json --undo
tap_is "vscode: --undo" '{ "a": 1.5 }' "$(cat settings.json)"
# VS Code and its user go on writing there.
init -y vscode settings.json
"$python" - settings.json <<'END'
import json
import sys

d = json.load(open(sys.argv[1]))
d["b"] = 2
d["terminal.integrated.profiles.linux"]["mine"] = {"path": "/bin/sh"}
json.dump(d, open(sys.argv[1], "w"))
END
init vscode settings.json --undo
tap_is "vscode: --undo after other edits takes out its own" \
    '0 {"a":1.5,"b":2,"terminal.integrated.profiles.linux":{"mine":{"path":"/bin/sh"}}}' \
    "$status $("$python" -c '
import json
print(json.dumps(json.load(open("settings.json")), sort_keys=True,
    separators=(",", ":")))')"

# Two at once: one of them says that it came too late, and the record of the other
# stays, without which its work could not be undone.
late=
wanted=
for i in 1 2 3 4 5 6 7 8 9 10; do
	wanted="$wanted$i 0{ \"a\": 1.5 } "
	echo '{ "a": 1.5 }' >settings.json
	"$SBXC" init -y vscode settings.json >/dev/null 2>&1 &
	"$SBXC" init -y vscode settings.json >/dev/null 2>&1
	wait
	init vscode settings.json --undo
	late="$late$i $status$(cat settings.json) "
done
tap_is "two at once leave what undoes them" "$wanted" "$late"

# --- a project -------------------------------------------------------------

mkdir "$tmp/My app.2"
cd "$tmp/My app.2" || exit 99
touch package.json Cargo.toml pyproject.toml go.mod .env
mkdir .git
init -y
tap_is "a project" 0 $status
policy=$(ls sandbox/*.sbx)
"$SBXC" check "$policy" >"$tmp/out" 2>&1
tap_is "a project: its policy is clean" "0 " "$? $(cat "$tmp/out")"
"$SBXC" fmt --list "$policy" >"$tmp/out" 2>&1
tap_is "a project: ... and laid out" "" "$(cat "$tmp/out")"
"$SBXC" test sandbox/*.test.yaml >"$tmp/out" 2>&1
tap_is "a project: its cases hold" 0 $?
for word in npmjs crates.io pypi golang .env; do
	tap_is "a project: it knows $word" yes \
	    "$(grep -q "$word" "$policy" && echo yes)"
done
"$SBXC" build -o "$tmp/app.bin" "$policy"
tap_is "a project: .env is out of reach" denied "$(echo secret >.env
    "$SBXRUN" "$tmp/app.bin" -c 'cat .env 2>/dev/null || echo denied')"
init -y
refuses "a project: twice" "not overwritten"
# The workspace is that of sbxrun: what lies below it is kept from its commands.
mkdir -p "$tmp/top/src"
cd "$tmp/top" && git init -q . && cd src || exit 99
init -y
tap_is "a project: from below its top" "0 ../sandbox/top.sbx" \
    "$status $(echo ../sandbox/*.sbx)"
cd "$tmp/My app.2" || exit 99
mkdir "$HOME/elsewhere" "$tmp/linked"
ln -s "$HOME/elsewhere" "$tmp/linked/sandbox"
init -y -w "$tmp/linked"
refuses "a project: sandbox is a link" "symbolic link"
tap_is "... that leads nowhere" "" "$(ls -A "$HOME/elsewhere")"
# A profile cannot have the name of a keyword.
for name in empty sbx 2nd- _; do
	mkdir "$tmp/$name"
	init -y -w "$tmp/$name"
	tap_is "a project with nothing, $name: the cases hold" 0 \
	    "$("$SBXC" test "$tmp/$name"/sandbox/*.test.yaml >/dev/null 2>&1
	    echo $?)"
done

init nobody
tap_is "an unknown client" 125 $status
init claude file
tap_is "a file for a client without" 125 $status
HOME=/nowhere init -y claude
tap_is "no home" 3 $status
(unset HOME && init -y claude)
tap_is "without HOME" "sbxc: HOME is not set: it says for whom this is to be \
set up" "$(cat "$tmp/err")"
tap_done
