/*
 * See init.c: sbxsh as the shell of an agent that is started by its own name, where
 * the agent has a setting for it.  The agent gets a script of that purpose, because
 * some look at the name of their shell; what the commands may do stands in the
 * settings of sbxsh, and is the same for all agents.
 */
#include "compiler/base/base.h"
#include "compiler/setup/setup.h"
#include "format/protocol.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

const char *
init_sbxsh(const struct init *init)
{
	const char *slash = strrchr(init->sbxrun, '/');
	const char *path = arena_printf(init->arena, "%.*s/sbxsh",
	    (int)(slash - init->sbxrun), init->sbxrun);

	return access(path, X_OK) == 0 ? path : NULL;
}

/* Settings that are there are the user's, and stay. */
static bool
add_settings(struct init *init)
{
	struct arena *arena = init->arena;
	const char *path = arena_printf(arena, "%s" SBX_OWN_CONFIG "/shell",
	    init->home);
	const char *name, *blob, *text;
	size_t first = init->changes.list.count;
	struct stat status;

	if (lstat(path, &status) == 0)
		return true;
	name = init_free_name(init, "commands");
	text = arena_printf(arena,
	    "# Commands of agents, by sbxsh.  After a change of this file:\n"
	    "#     sbxc build -o %s/%s.bin %s/%s.sbx\n"
	    "sbx 1\n\n"
	    "profile my-%s extends agent {\n"
	    "    about \"What commands of agents may do\"\n"
	    "    # allow read  ~/another/project\n"
	    "    # allow network domain { \"registry.npmjs.org\"  "
	    "\"github.com\" }\n"
	    "}\n",
	    init->configuration, name, init->configuration, name, name);
	blob = init_policy(init, name, text);
	text = arena_printf(arena,
	    "# How sbxsh runs the commands of agents, see sbxsh(1).\n"
	    "policy  %s\n"
	    "# What was denied is told to who reads the output.\n"
	    "explain agent\n",
	    blob);
	if (blob == NULL ||
	    change_add(&init->changes, path, text, 0644, true) == NULL)
		return false;
	for (size_t i = first; i < init->changes.list.count; i++)
		init->changes.list.items[i].shared = true;
	return true;
}

struct edit {
	struct init *init;
	const struct client_shell *shell;
	const char *path; /* of the agent's settings */
};

/* False if there is such a setting, which is the user's. */
static bool
put(struct json_t *object, const char *key, const char *value)
{
	if (json_member(object, key) != NULL)
		return false;
	json_put_text(object, key, value);
	return true;
}

/* The agent's settings with ours in them; NULL after saying why not. */
static const char *
edited_text(struct edit *edit, const char *old, const char *script)
{
	const struct client_shell *shell = edit->shell;
	struct arena *arena = edit->init->arena;
	struct json_t *root = json_read(old != NULL ? old : "{}");
	struct json_t *object = root;
	const char *text = NULL;

	if (root != NULL && shell->object != NULL)
		object = json_edit(root, shell->object);
	if (object == NULL) {
		complain("warning: '%s' is no plain JSON (it may have "
			 "comments), and is left alone",
		    edit->path);
	} else if (!put(object, shell->key, script)) {
		complain("warning: '%s' has a %s already, which is left alone",
		    edit->path, shell->key);
	} else {
		if (shell->scratch != NULL)
			put(object, shell->scratch,
			    arena_printf(arena, "%s/%.*s", edit->init->home,
				(int)strlen(CLIENT_SCRATCH) - 1,
				CLIENT_SCRATCH));
		text = json_print(arena, root, old);
	}
	json_release(root);
	return text;
}

static bool
add_script(struct init *init, const char *path, const char *sbxsh)
{
	const char *text = arena_printf(init->arena,
	    "#!/bin/sh\n"
	    "# The shell of an agent, in a sandbox: 'sbxc init %s --undo' "
	    "removes it.\n"
	    "exec %s \"$@\"\n",
	    init->what, shell_word(init->arena, sbxsh));

	return change_add(&init->changes, path, text, 0755, true) != NULL;
}

/* Other forms of the file, which the agent reads as well. */
static bool
has_other_form(const struct edit *edit)
{
	const char *path = arena_printf(edit->init->arena, "%sc", edit->path);
	struct stat status;

	if (lstat(path, &status) != 0)
		return false;
	complain("warning: '%s' is there, which may have comments, and is left "
		 "alone",
	    path);
	return true;
}

bool
init_shell(struct init *init, bool *done)
{
	struct arena *arena = init->arena;
	const struct client_shell *shell = &init->client->shell;
	struct edit edit = { .init = init, .shell = shell };
	const char *script = arena_printf(arena, "%s/.local/bin/%s-sbx-bash",
	    init->home, init->what);
	const char *sbxsh = init_sbxsh(init), *old, *text;
	struct stat status;

	*done = false;
	edit.path = client_place(arena, init->client, init->home, shell->file);
	if (sbxsh == NULL) {
		complain("warning: there is no sbxsh beside '%s'",
		    init->sbxrun);
		return true;
	}
	old = change_read(arena, edit.path, &status);
	if ((old == NULL && errno != 0) || has_other_form(&edit))
		return true; /* it has been said why */
	text = edited_text(&edit, old, script);
	if (text == NULL)
		return true;
	if (!add_settings(init) || !add_script(init, script, sbxsh))
		return false;
	if (change_add(&init->changes, edit.path, text, 0600, false) == NULL)
		return false;
	init->changes.shell = true;
	*done = true;
	return true;
}
