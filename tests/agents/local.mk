# Agents and MCP servers as they come from npm, set up by `sbxc init`.  CLIENTS is
# a directory whose node_modules has them; without it they are looked for in PATH,
# and fetched where every round is wanted.

slow_scripts += \
	tests/agents/clients.sh \
	tests/agents/servers.sh

EXTRA_DIST += \
	tests/agents/client.py \
	tests/agents/model.py \
	tests/agents/packages.sh
