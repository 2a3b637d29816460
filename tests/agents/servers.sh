#!/bin/sh
# Five MCP servers from npm, set up by `sbxc init mcp` and started as a client
# starts them (client.py), as TAP: they answer, also with much, what they may not
# read they do not read, and the kernel says that they are confined.

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
install -m 644 "$srcdir/tests/agents/client.py" "$tmp"
mkdir -p "$home/.ssh" "$home/p"
echo secret >"$home/.ssh/id"
head -c 3000000 /dev/zero | tr '\0' x >"$home/p/large"
cat >"$home/p/.mcp.json" <<SERVERS
{ "mcpServers": {
    "filesystem": { "command": "mcp-server-filesystem", "args": ["$home"] },
    "memory": { "command": "mcp-server-memory",
        "env": { "MEMORY_FILE_PATH": "$home/p/memory.json" } },
    "everything": { "command": "mcp-server-everything" },
    "sequential-thinking": { "command": "mcp-server-sequential-thinking" },
    "github": { "command": "mcp-server-github" }
} }
SERVERS
chown -R "$uid:$uid" "$home"

# servers NAME...: what client.py finds, a line each.
ask()
{
	as "$uid" PATH="$path" sh -c 'cd "$HOME/p" && timeout 100 python3 "$@"' \
	    sh "$tmp/client.py" .mcp.json "$@" 2>"$tmp/err"
}

# server NAME TOOL ARGUMENTS: one that answers the call of its tool.
server()
{
	tap_is "$1: it answers, confined" "tools yes
answer yes
confined yes" "$(ask "$1" "$2" "$3" | sed 's/^answer .*/answer yes/')"
}

for name in filesystem memory everything sequential-thinking github; do
	if [ -z "$levels" ] || ! packages_have "mcp-server-$name"; then
		tap_lacks "$name" "it is not installed"
		levels=
	fi
done
if [ -n "$levels" ]; then
	tap_is "bare: the key can be read, and is not confined" "tools yes
answer secret
confined no" "$(ask filesystem read_text_file "{\"path\": \"$home/.ssh/id\"}")"
	as "$uid" PATH="$path" sh -c 'cd "$HOME/p" && sbxc init -y mcp' \
	    >"$tmp/out" 2>&1
	tap_is "init" "0 5 servers are confined" \
	    "$? $(grep confined "$tmp/out")"
	server filesystem list_directory "{\"path\": \"$home/p\"}"
	server memory create_entities '{"entities": [{"name": "a",
	    "entityType": "b", "observations": ["c"]}]}'
	tap_is "memory: it keeps what it was given" yes \
	    "$(grep -q '"a"' "$home/p/memory.json" && echo yes)"
	server everything echo '{"message": "hello"}'
	server sequential-thinking sequentialthinking '{"thought": "a",
	    "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1}'
	tap_is "github: it answers, confined" "tools yes
confined yes" "$(ask github)"
	tap_is "more than a mebibyte comes through" "answer 3000000" "$(
	    ask filesystem read_text_file "{\"path\": \"$home/p/large\"}" |
	    awk '/^answer/ { print $1, length($2) }')"
	tap_is "a key is out of reach" 0 "$(ask filesystem read_text_file \
	    "{\"path\": \"$home/.ssh/id\"}" | grep -c secret)"
	tap_is "nothing is written outside" no "$(ask filesystem write_file \
	    "{\"path\": \"$home/new\", \"content\": \"x\"}" >/dev/null
	    [ -e "$home/new" ] && echo yes || echo no)"
	as "$uid" PATH="$path" sh -c 'cd "$HOME/p" && sbxc init mcp --undo' \
	    >"$tmp/out" 2>&1
	tap_is "--undo" 0 $?
	tap_is "... and it is as before" 0 "$(grep -c sbxrun "$home/p/.mcp.json")"
fi
tap_done
