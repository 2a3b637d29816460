/* See clients.h. */
#include "compiler/setup/clients.h"

#include <string.h>

const struct client clients[] = {
	{ "claude", "Claude Code", "claude", "claude",
	    { ".claude/", ".claude.json" }, NULL },
	/* Its own sandbox cannot start inside another one. */
	{ "codex", "Codex", "codex", "codex", { ".codex/" },
	    "--sandbox danger-full-access" },
	{ "gemini", "Gemini CLI", "gemini", "gemini", { ".gemini/" }, NULL },
	{ "opencode", "opencode", "opencode", "opencode",
	    { ".local/share/opencode/", ".local/state/opencode/",
		".cache/opencode/", ".config/opencode/" },
	    NULL },
};
const size_t client_count = countof(clients);

const struct client *
client_find(const char *name)
{
	for (size_t i = 0; i < client_count; i++) {
		if (strcmp(clients[i].name, name) == 0)
			return &clients[i];
	}
	return NULL;
}
