# shellcheck shell=sh
# Sourced, after tap.sh: agents and MCP servers as npm has them.
# shellcheck disable=SC2154  # $tmp and so on are those of tap.sh and the caller

# Of the day on which they were last tried.
packages='
@anthropic-ai/claude-code@2.1.197
@openai/codex@0.169.0
@google/gemini-cli@0.61.0
opencode-ai@1.18.33
@modelcontextprotocol/server-filesystem@2026.8.31
@modelcontextprotocol/server-memory@2026.8.31
@modelcontextprotocol/server-everything@2026.8.31
@modelcontextprotocol/server-sequential-thinking@2026.8.31
@modelcontextprotocol/server-github@2025.4.8'

# packages_begin: our programs in $tmp/bin, and a $path that has them and the
# agents: those of $CLIENTS, a prefix of npm, or of PATH.  Where every round is
# wanted they are fetched, into the home.
packages_begin()
{
	mkdir -p "$tmp/bin" "$home"
	install -m 755 "$SBXC" "$SBXRUN" "$builddir/sbx-proxy" "$tmp/bin" ||
	    exit 99
	install -m 755 "$builddir/sbxsh-test" "$tmp/bin/sbxsh"
	install -m 644 "$srcdir/tests/agents/model.py" "$tmp"
	path=$tmp/bin:$PATH
	if [ -n "${CLIENTS-}" ]; then
		path=$CLIENTS/bin:$path
	elif ! packages_all && [ "${TEST_ROUNDS:-100}" -ge 100 ] &&
	    timeout 60 npm ping >/dev/null 2>&1; then
		# shellcheck disable=SC2086  # names of packages
		timeout 400 npm install -g --prefix "$home/.npm-global" \
		    --no-audit --no-fund --loglevel=error \
		    --allow-scripts=@anthropic-ai/claude-code,opencode-ai \
		    $packages >"$tmp/npm.log" 2>&1 ||
		    sed 's/^/# /' "$tmp/npm.log"
		path=$home/.npm-global/bin:$path
	fi
}

packages_all()
{
	path=$PATH
	for packages_name in claude codex gemini opencode; do
		packages_have "$packages_name" || return 1
	done
}

# packages_have PROGRAM: whether it is in $path.
packages_have()
{
	(PATH=$path && command -v "$1" >/dev/null)
}
