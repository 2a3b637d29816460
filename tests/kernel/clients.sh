#!/bin/sh
# Claude Code, Codex, Gemini CLI and opencode with sbxsh as their shell, as TAP: a
# model on 127.0.0.1 (lib/model.py) asks them for commands.  Where a client is not
# installed it is left out.  As an ordinary user.

# Variables in what the sandbox's shell runs are that shell's.
# shellcheck disable=SC2016

set -u
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
# shellcheck source=tests/lib/sandbox.sh
. "$srcdir/tests/lib/sandbox.sh"

tap_begin /var/tmp
tap_programs "$SBXRUN"
install -m 755 "$builddir/sbxsh-test" "$tmp/bash"
install -m 644 "$srcdir/tests/lib/model.py" "$tmp"
tap_levels full
policy agent agent
uid=$(id -u)
[ "$uid" -ne 0 ] || uid=$ORDINARY
home=$tmp/$uid
mkdir -p "$home/.config/sbx" "$home/.config/opencode" "$home/.ssh" \
    "$home/.codex" "$home/.gemini" "$home/.cache/agent" "$home/p"
echo secret >"$home/.ssh/id"
echo "policy $tmp/agent.bin" >"$home/.config/sbx/shell"
cat >"$home/commands" <<'COMMANDS'
echo "profile $SBX"; D=.ssh; cat "$HOME/$D/id" 2>/dev/null || echo shut
python3 -m http.server 8126 >/tmp/log 2>&1 & echo started
for i in 1 2 3 4 5 6 7 8 9; do python3 -c "import urllib.request as u; print('answer', u.urlopen('http://127.0.0.1:8126/').status)" 2>/dev/null && break; sleep 0.5; done
COMMANDS
chown -R "$uid:$uid" "$home"
as "$uid" git init -q "$home/p"

# client NAME COMMAND...: with $PORT for the model's in all words.
client()
{
	name=$1
	shift
	if [ -z "$levels" ] || ! PATH=$PATH command -v "$name" >/dev/null; then
		tap_lacks "$name" "it is not installed"
		return
	fi
	rm -f "$home/log" "$home/port"
	as "$uid" SBX_TEST_HOME="$home" TMPDIR="$home/.cache/agent" \
	    CLAUDE_CODE_SHELL="$tmp/bash" SHELL="$tmp/bash" SH="$tmp" sh -c '
	python3 "$SH/model.py" "$HOME/commands" "$HOME/log" >"$HOME/port" &
	model=$!
	trap "kill $model" EXIT
	until [ -s "$HOME/port" ]; do sleep 0.1; done
	PORT=$(cat "$HOME/port")
	export PORT
	cd "$HOME/p" && timeout 200 sh -c "$1"' sh "$*" </dev/null \
	    >"$tmp/out" 2>&1
	tap_empty "$name: confined, and a server answers the next command" "$(
	    grep -q 'profile my-agent' "$home/log" &&
	    grep -q shut "$home/log" && ! grep -q secret "$home/log" &&
	    grep -q 'answer 200' "$home/log" ||
	    tail -n 20 "$tmp/out" "$home/log" 2>&1)"
}

cat >"$tmp/hook.py" <<'HOOK'
import json, os, shlex, sys
given = json.load(sys.stdin)["tool_input"]
given["command"] = "exec %s -c %s" % (
    shlex.quote(os.environ["SH"] + "/bash"), shlex.quote(given["command"]))
print(json.dumps({"hookSpecificOutput": {
    "hookEventName": "PreToolUse", "permissionDecision": "allow",
    "updatedInput": given}}))
HOOK
cat >"$home/.codex/hooks.json" <<HOOKS
{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
    {"type": "command", "command": "python3 $tmp/hook.py"}]}]}}
HOOKS
echo '{"security": {"auth": {"selectedType": "gemini-api-key"}}}' \
    >"$home/.gemini/settings.json"
cat >"$home/.config/opencode/opencode.json" <<'CONFIG'
{"model": "fake/test", "small_model": "fake/test", "provider": {"fake": {
    "npm": "@ai-sdk/openai-compatible", "name": "fake",
    "options": {"baseURL": "http://127.0.0.1:{env:PORT}/v1", "apiKey": "k"},
    "models": {"test": {"name": "test"}}}}}
CONFIG
mkdir "$tmp/first"
ln -s ../bash "$tmp/first/bash"
chown -R "$uid:$uid" "$home"

client claude 'ANTHROPIC_BASE_URL=http://127.0.0.1:$PORT ANTHROPIC_API_KEY=k \
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 \
    claude -p "run it" --dangerously-skip-permissions'
client codex 'codex exec --dangerously-bypass-hook-trust \
    --dangerously-bypass-approvals-and-sandbox -c model=test \
    -c model_provider=fake -c model_providers.fake.name=fake \
    -c model_providers.fake.wire_api=responses \
    -c model_providers.fake.base_url=http://127.0.0.1:$PORT/v1 "run it"'
client gemini 'PATH=$SH/first:$PATH GEMINI_API_KEY=k \
    GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:$PORT \
    GEMINI_CLI_TRUST_WORKSPACE=true gemini -p "run it" --yolo \
    -m gemini-2.5-flash'
client opencode 'opencode run "run it"'
tap_done
