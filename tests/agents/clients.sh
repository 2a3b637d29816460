#!/bin/sh
# Claude Code, Codex, Gemini CLI and opencode as a new user gets them: `sbxc init
# NAME`, and the next command that the agent starts is confined.  As TAP; a model
# on 127.0.0.1 (model.py) asks them for commands.  They are started as a whole, by
# the launcher that init wrote, and where init could give them a shell, by their
# own name as well.  What is not installed is left out and counted.

# Variables in what agents run are theirs.
# shellcheck disable=SC2016

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"
# shellcheck source=tests/agents/packages.sh
. "$srcdir/tests/agents/packages.sh"

tap_begin /var/tmp
tap_levels full
uid=$(id -u)
[ "$uid" -ne 0 ] || uid=$ORDINARY
home=$tmp/home
packages_begin
port=$(tap_port 27000)
server=$(tap_port 28000)
mkdir -p "$home/.ssh" "$home/.codex" "$home/.gemini" "$home/.claude" \
    "$home/.config/opencode" "$home/p"
echo secret >"$home/.ssh/id"

# What each agent is told of its model, as its user would.
cat >"$home/.claude/settings.json" <<SETTINGS
{
  "env": {
    "ANTHROPIC_BASE_URL": "http://127.0.0.1:$port",
    "ANTHROPIC_API_KEY": "k",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"
  }
}
SETTINGS
cat >"$home/.codex/config.toml" <<SETTINGS
model = "test"
model_provider = "fake"
[model_providers.fake]
name = "fake"
wire_api = "responses"
base_url = "http://127.0.0.1:$port/v1"
SETTINGS
cat >"$home/.gemini/.env" <<SETTINGS
GEMINI_API_KEY=k
GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:$port
SETTINGS
echo '{"security": {"auth": {"selectedType": "gemini-api-key"}}}' \
    >"$home/.gemini/settings.json"
echo "{\"$home/p\": \"TRUST_FOLDER\"}" >"$home/.gemini/trustedFolders.json"
cat >"$home/.config/opencode/opencode.json" <<SETTINGS
{"model": "fake/test", "small_model": "fake/test", "provider": {"fake": {
    "npm": "@ai-sdk/openai-compatible", "name": "fake",
    "options": {"baseURL": "http://127.0.0.1:$port/v1", "apiKey": "k"},
    "models": {"test": {"name": "test"}}}}}
SETTINGS
# Codex ends what a command leaves behind in its process group, also without sbx:
# hence setsid(1).
cat >"$home/commands" <<COMMANDS
echo "profile \$SBX,"; D=.ssh; cat "\$HOME/\$D/id" || echo "key is shut"
setsid python3 -m http.server $server >/tmp/log 2>&1 & echo started
mkdir -p deep && cd deep && pwd
echo "now in \$PWD,"; until python3 -c "import urllib.request as u; print('answer', u.urlopen('http://127.0.0.1:$server/').status)" 2>/dev/null; do sleep 0.5; done
(echo x >"\$HOME/outside") || echo "outside is shut"
COMMANDS
chown -R "$uid:$uid" "$home"
as "$uid" git init -q "$home/p"

# model COMMAND...: as the user in the project, while the model runs.
model()
{
	rm -f "$home/log" "$home/outside"
	as "$uid" PATH="$path" SBX_TEST_HOME="$home" SHELL=/bin/bash \
	    TERM=dumb SH="$tmp" PORT="$port" sh -c '
	python3 "$SH/model.py" "$HOME/commands" "$HOME/log" "$PORT" >/dev/null &
	model=$!
	trap "kill $model; wait" EXIT
	until python3 -c "
import socket, sys
socket.create_connection((\"127.0.0.1\", int(sys.argv[1])))" "$PORT"; do
		kill -0 $model || exit
		sleep 0.1
	done 2>/dev/null
	cd "$HOME/p" && timeout 200 "$@"' sh "$@" </dev/null \
	    >"$tmp/out" 2>&1
	as "$uid" rm -rf "$home/p/deep"
	[ -f "$home/log" ] || : >"$home/log"
}

# has NAME TEXT: some tool has said that.
has()
{
	if grep -q "$2" "$home/log"; then
		tap_ok "$1"
	else
		tap_not_ok "$1" "$(tail -n 20 "$tmp/out" "$home/log" 2>&1)"
	fi
}

# facts NAME PROFILE: what the commands of the last run found.
facts()
{
	has "$1: its commands are confined" "profile $2,"
	has "$1: a key is out of reach" "key is shut"
	tap_is "$1: ... wholly" 0 "$(grep -c secret "$home/log")"
	has "$1: a server answers the next command" "answer 200"
	has "$1: nothing is written outside" "outside is shut"
	tap_is "$1: ... and nothing is there" no \
	    "$([ -e "$home/outside" ] && echo yes || echo no)"
	# The other agents start each command in the project.
	[ "${1%%,*}" != claude ] ||
	    has "$1: cd is kept" "now in $home/p/deep,"
}

# told NAME TEXT: the agent learned about a denial.
told()
{
	has "$1: it is told what a denial means" "$2"
}

# planted ARGUMENT...: settings of a project that name another shell, as a command
# could have made them.  They hold for plain Claude Code, which asks the user
# first unless it is run by a script; so docs/agents/claude.md warns of it.
planted()
{
	as "$uid" mkdir "$home/p/.claude"
	as "$uid" sh -c 'echo "{\"env\": {\"CLAUDE_CODE_SHELL\": \"/bin/bash\"}}" \
	    >"$HOME/p/.claude/settings.json"'
	model "$home/.local/bin/claude-sbx" "$@"
	has "claude, as a whole: a shell of the project's leads nowhere" \
	    "profile my-claude,"
	model claude "$@"
	if grep -q 'profile my-commands,' "$home/log"; then
		tap_ok "claude, its shell: nor here"
	else
		tap_lacks "claude, its shell: a shell of the project's" \
		    "Claude Code takes it, as the page says"
		# Its commands had no sandbox that would have ended the server.
		pkill -f "http\.server $server\$"
	fi
	as "$uid" rm -r "$home/p/.claude"
}

# agent NAME ARGUMENT...: set up, run, and undone.
agent()
{
	name=$1
	shift
	if [ -z "$levels" ] || ! packages_have "$name"; then
		tap_lacks "$name" "it is not installed"
		return
	fi
	if [ "$name" = opencode ]; then # it makes its places outside
		as "$uid" PATH="$path" timeout 100 opencode --version >/dev/null
	fi
	as "$uid" PATH="$path" SBX_TEST_HOME="$home" sbxc init -y "$name" \
	    >"$tmp/out" 2>&1
	tap_is "$name: init" 0 $?
	grep '^sbxc: ' "$tmp/out" | sed 's/^/# /'
	# The model is no service of the agent's: one more line in the policy.
	sed -i "s/^}/    allow network host tcp $port\n}/" \
	    "$home/.config/sbx/$name.sbx"
	as "$uid" PATH="$path" sbxc build -o "$home/.config/sbx/$name.bin" \
	    "$home/.config/sbx/$name.sbx" || exit 99
	model "$home/.local/bin/$name-sbx" "$@"
	facts "$name, as a whole" "my-$name"
	case $name in
	claude | codex) told "$name, as a whole" TOLD ;;
	esac
	case $name in
	claude | opencode)
		model "$name" "$@"
		facts "$name, its shell" my-commands
		told "$name, its shell" "policy my-commands denied this.* read [^ ]*~/.ssh/id"
		;;
	esac
	[ "$name" != claude ] || planted "$@"
	as "$uid" PATH="$path" sbxc init "$name" --undo >"$tmp/out" 2>&1
	tap_is "$name: --undo" 0 $?
	tap_is "$name: ... which leaves nothing of sbx" "" "$(find "$home/.config" \
	    "$home/.local/bin" -name '*sbx*' 2>&1 |
	    grep -v "$name.sbx\|config/sbx$\|No such file"
	    grep -rs sbx "$home/.claude/settings.json" \
		"$home/.config/opencode/opencode.json")"
	as "$uid" rm -rf "$home/.config/sbx" # the policy that was changed
}

agent claude -p "run it" --dangerously-skip-permissions
agent codex exec --skip-git-repo-check "run it"
agent gemini -p "run it" --yolo -m gemini-2.5-flash
agent opencode run "run it"
tap_done
