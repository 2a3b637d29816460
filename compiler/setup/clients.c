/*
 * The programs that start commands of others, and what sbx knows of each.
 */
#include "compiler/setup/setup.h"

#include <string.h>

/* opencode makes it at its start, and ends where it cannot. */
static const char ignored[] =
    "node_modules\npackage.json\npackage-lock.json\nbun.lock\n.gitignore";

const struct client clients[] = {
	{ "claude", "Claude Code", "claude", "claude",
	    { { ".claude/", NULL }, { ".claude.json", "{}\n" } }, NULL,
	    "--append-system-prompt ",
	    { ".claude/settings.json", "env", "CLAUDE_CODE_SHELL",
		"CLAUDE_CODE_TMPDIR" },
	    NULL },
	/* Its own sandbox cannot start inside another one. */
	{ "codex", "Codex", "codex", "codex", { { ".codex/", NULL } },
	    "--sandbox danger-full-access",
	    "-c developer_instructions=", { NULL, NULL, NULL, NULL },
	    "a hook could confine its commands, but without your trust in the "
	    "hook Codex runs them bare, and says nothing" },
	{ "gemini", "Gemini CLI", "gemini", "gemini", { { ".gemini/", NULL } },
	    NULL, NULL, { NULL, NULL, NULL, NULL },
	    "it has no setting for its shell" },
	{ "opencode", "opencode", "opencode", "opencode",
	    { { ".local/share/opencode/", NULL },
		{ ".local/state/opencode/", NULL },
		{ ".cache/opencode/", NULL },
		{ ".config/opencode/.gitignore", ignored } },
	    NULL, NULL,
	    { ".config/opencode/opencode.json", NULL, "shell", NULL }, NULL },
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
