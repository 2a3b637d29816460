/*
 * The programs that start commands of others, and all that sbx knows of each, in
 * one table.  What an agent may do beside its commands is its profile, with its
 * group in profiles/groups.sbx.
 */
#include "compiler/query/why.h"
#include "compiler/report/report.h"
#include "compiler/setup/setup.h"

#include <stdlib.h>
#include <string.h>

/* opencode makes it at its start, and ends where it cannot. */
static const char ignored[] =
    "node_modules\npackage.json\npackage-lock.json\nbun.lock\n.gitignore";

const struct client clients[] = {
	{ .name = "claude",
	    .title = "Claude Code",
	    .state = { { ".claude/", NULL }, { ".claude.json", "{}\n" } },
	    .moved = { { "CLAUDE_CONFIG_DIR", ".claude", "" } },
	    .secret = "ANTHROPIC_API_KEY",
	    .instruct = "--append-system-prompt ",
	    .shell = { ".claude/settings.json", "env", "CLAUDE_CODE_SHELL",
		"CLAUDE_CODE_TMPDIR" },
	    .servers = ".claude.json" },
	/* Its own sandbox cannot start inside another one. */
	{ .name = "codex",
	    .title = "Codex",
	    .state = { { ".codex/", NULL } },
	    .moved = { { "CODEX_HOME", ".codex", "" } },
	    .secret = "OPENAI_API_KEY",
	    .arguments = "--sandbox danger-full-access",
	    .instruct = "-c developer_instructions=",
	    .bare = "a hook could confine its commands, but without your trust "
		    "in the hook Codex runs them bare, and says nothing" },
	{ .name = "gemini",
	    .title = "Gemini CLI",
	    .state = { { ".gemini/", NULL } },
	    .moved = { { "GEMINI_CLI_HOME", ".gemini", "/.gemini" } },
	    .secret = "GEMINI_API_KEY",
	    .bare = "it has no setting for its shell",
	    .servers = ".gemini/settings.json" },
	{ .name = "opencode",
	    .title = "opencode",
	    .state = { { ".local/share/opencode/", NULL },
		{ ".local/state/opencode/", NULL },
		{ ".cache/opencode/", NULL },
		{ ".config/opencode/.gitignore", ignored } },
	    .moved = { { "XDG_DATA_HOME", ".local/share", "" },
		{ "XDG_STATE_HOME", ".local/state", "" },
		{ "XDG_CACHE_HOME", ".cache", "" },
		{ "XDG_CONFIG_HOME", ".config", "" } },
	    .shell = { ".config/opencode/opencode.json", NULL, "shell",
		NULL } },
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

/* --- what variables have moved -------------------------------------------- */

/* Where a variable has moved its place to; NULL: it is not set, or no path. */
static const char *
moved_to(struct arena *arena, const struct client_moved *moved)
{
	const char *value = moved->variable != NULL ? getenv(moved->variable) :
						      NULL;

	if (value == NULL || *value != '/')
		return NULL;
	return arena_printf(arena, "%s%s", needs_real(arena, value),
	    moved->below);
}

/* Where `below` is then; NULL if it is not of that place.  A file beside it whose
 * name begins with its name, such as ~/.claude.json, lies in it. */
static const char *
moved_path(struct arena *arena, const struct client_moved *moved,
    const char *to, const char *below)
{
	size_t len = strlen(moved->usual);

	if (strncmp(below, moved->usual, len) != 0)
		return NULL;
	if (below[len] == '.')
		return arena_printf(arena, "%s/%s", to,
		    strrchr(moved->usual, '/') != NULL ? below +
			    (strrchr(moved->usual, '/') + 1 - moved->usual) :
							 below);
	return below[len] == '/' || below[len] == '\0' ?
	    arena_printf(arena, "%s%s", to, below + len) :
	    NULL;
}

const char *
client_place(struct arena *arena, const struct client *client, const char *home,
    const char *below)
{
	for (size_t i = 0; i < CLIENT_STATE_MAX; i++) {
		const struct client_moved *moved = &client->moved[i];
		const char *to = moved_to(arena, moved), *path = NULL;

		if (to != NULL)
			path = moved_path(arena, moved, to, below);
		if (path != NULL)
			return path;
	}
	return arena_printf(arena, "%s/%s", home, below);
}

/* The statements of a shipped group. */
static const char *
group_body(struct arena *arena, const char *name)
{
	size_t size;
	const char *text = builtin_text("groups.sbx", &size), *end;

	text = strstr(arena_strndup(arena, text, size),
	    arena_printf(arena, "\ngroup %s {\n", name));
	text = strchr(text + 1, '\n') + 1;
	end = strstr(text, "\n}\n") + 1;
	return arena_strndup(arena, text, (size_t)(end - text));
}

const char *
client_moved_rules(struct arena *arena, const struct client *client,
    const char *home, const char **variable)
{
	const char *name = arena_printf(arena, "agent-%s", client->name);
	const char *rules = "", *from;

	*variable = NULL;
	for (size_t i = 0; i < CLIENT_STATE_MAX; i++) {
		const struct client_moved *moved = &client->moved[i];
		const char *to = moved_to(arena, moved);

		if (to != NULL && *variable == NULL &&
		    strcmp(to,
			arena_printf(arena, "%s/%s", home, moved->usual)) != 0)
			*variable = moved->variable;
	}
	if (*variable == NULL)
		return "";
	from = group_body(arena, name);
	/* Its lists are names of the shipped group. */
	for (const char *list = arena_printf(arena, "%s-runs", client->name),
			*at;
	     (at = strstr(from, list)) != NULL; from = at + strlen(list))
		rules = arena_printf(arena, "%s%.*smy-%s", rules,
		    (int)(at - from), from, list);
	from = arena_printf(arena, "%s%s", rules, from);
	for (rules = ""; *from != '\0';) {
		size_t len = strcspn(from, "~");
		size_t end = from[len] == '~' ? strcspn(from + len, " \t\n") :
						0;
		const char *path = "";

		if (end > 2)
			path = spelled_path(arena,
			    client_place(arena, client, home,
				arena_strndup(arena, from + len + 2, end - 2)));
		if (path == NULL)
			return NULL;
		rules = arena_printf(arena, "%s%.*s%s", rules, (int)len, from,
		    path);
		from += len + end;
	}
	return arena_printf(arena,
	    "    drop use %s\n    # That group, for where %s leads.\n%s", name,
	    *variable, rules);
}
