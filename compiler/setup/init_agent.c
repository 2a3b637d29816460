/* See init.c: an agent as a whole, by a command that starts it confined. */
#include "compiler/base/base.h"
#include "compiler/query/why.h"
#include "compiler/setup/setup.h"

#include <stdlib.h>
#include <string.h>

struct agent {
	struct init *init;
	const struct client *client;
	const char *moved;    /* rules for what a variable has moved */
	const char *variable; /* that one, or NULL */
	struct needs needs;
};

/* A place in ~/.config is behind a deny of the profile's. */
static const char *
configuration_rules(const struct agent *agent)
{
	struct arena *arena = agent->init->arena;
	const char *place = agent->variable == NULL ?
	    "" :
	    needs_real(arena, getenv(agent->variable));
	const char *parent = arena_printf(arena, "%s/.config/",
	    agent->init->home);

	if (strncmp(place, parent, strlen(parent)) != 0)
		return "";
	return arena_printf(arena,
	    "    drop deny read ~/.config  except ~/.config/git\n"
	    "    deny read   ~/.config  except { ~/.config/git  %s }\n",
	    spelled_path(arena, place));
}

static const char *
policy_text(const struct agent *agent)
{
	const char *name = agent->client->name;

	return arena_printf(agent->init->arena,
	    "# %s in a sandbox.  After a change of this file:\n"
	    "#     sbxc build -o %s/%s.bin %s/%s.sbx\n"
	    "sbx 1\n\n"
	    "profile my-%s extends %s {\n"
	    "    about \"%s: the profile %s, and what is here\"\n"
	    "%s%s%s"
	    "    # allow read  ~/another/project\n"
	    "    # allow network domain { \"registry.npmjs.org\"  "
	    "\"github.com\" }\n"
	    "}\n",
	    agent->client->title, agent->init->configuration, name,
	    agent->init->configuration, name, name, name, agent->client->title,
	    name, agent->moved, configuration_rules(agent), agent->needs.rules);
}

/* For the agent, which sees but an error of some call. */
static const char *
instruction(const struct agent *agent)
{
	return arena_printf(agent->init->arena,
	    "You and your commands run in a sandbox of sbx. What its policy "
	    "does not allow is missing, read-only or refused, and trying again "
	    "changes nothing: tell the user what was denied and what for, and "
	    "that they can allow it in %s/%s.sbx.",
	    agent->init->configuration, agent->client->name);
}

/* Lines that refuse another place of the agent's than that of this policy. */
static const char *
variable_checks(const struct agent *agent)
{
	struct arena *arena = agent->init->arena;
	const char *name = agent->client->name, *lines = "";

	for (size_t i = 0; i < CLIENT_STATE_MAX; i++) {
		const char *variable = agent->client->moved[i].variable;
		const char *value = variable != NULL ? getenv(variable) : NULL;

		if (variable == NULL)
			break;
		value = shell_word(arena, value != NULL ? value : "");
		lines = arena_printf(arena,
		    "%s[ \"${%s-}\" = %s ] || fail '%s is another one than "
		    "when this was set up'\n",
		    lines, variable, *value == '\0' ? "''" : value, variable);
	}
	return arena_printf(arena,
	    "fail()\n{\n"
	    "\techo \"%s-sbx: $1: 'sbxc init %s --undo' and 'sbxc init %s' "
	    "set it up anew\" >&2\n"
	    "\texit 125\n}\n%s",
	    name, name, name, lines);
}

/* Where the agent is, its command says at each start: an update may move it. */
static const char *
launcher_text(const struct agent *agent, const char *blob)
{
	struct arena *arena = agent->init->arena;
	const struct client *client = agent->client;
	const char *words = "";

	if (client->arguments != NULL)
		words = arena_printf(arena, " %s", client->arguments);
	if (client->instruct != NULL)
		words = arena_printf(arena, "%s \\\n    %s%s", words,
		    client->instruct, shell_word(arena, instruction(agent)));
	return arena_printf(arena,
	    "#!/bin/sh\n"
	    "# %s in a sandbox, in the project of the current directory.\n"
	    "# Written by 'sbxc init %s'; 'sbxc init %s --undo' removes it.\n"
	    "%s"
	    "program=$(command -v %s) || fail 'there is no %s in PATH'\n"
	    "explain=\n"
	    "[ \"${1-}\" != --explain ] || { explain=$1; shift; }\n"
	    "exec %s $explain -w auto %s -- \\\n    \"$program\"%s \"$@\"\n",
	    client->title, client->name, client->name, variable_checks(agent),
	    client->name, client->name, shell_word(arena, agent->init->sbxrun),
	    shell_word(arena, blob), words);
}

/* Whether a directory is one of $PATH. */
static bool
is_in_path(const char *directory)
{
	const char *path = getenv("PATH");
	size_t len = strlen(directory);

	for (; path != NULL && *path != '\0';
	     path += strcspn(path, ":"), path += *path == ':') {
		if (strcspn(path, ":") == len &&
		    strncmp(path, directory, len) == 0)
			return true;
	}
	return false;
}

static const char *
after_text(const struct agent *agent)
{
	const struct client *client = agent->client;
	const char *home = agent->init->home, *secret = client->secret;
	struct arena *arena = agent->init->arena;
	bool found = is_in_path(arena_printf(arena, "%s/.local/bin", home));

	if (secret != NULL && getenv(secret) == NULL)
		secret = NULL;
	return arena_printf(arena,
	    "start it with: %s%s-sbx\n%s%s%s%s%s%s'%s' by itself: %s",
	    found ? "" : arena_printf(arena, "%s/.local/bin/", home),
	    client->name,
	    found ? "" :
		    "~/.local/bin is not in PATH here: log in again, or "
		    "export PATH=\"$HOME/.local/bin:$PATH\"\n",
	    secret == NULL ? "" : secret,
	    secret == NULL ? "" :
			     " is kept from it: sign in inside, or hand it on, "
			     "see sbx-profiles(7)\n",
	    agent->variable == NULL ? "" : agent->variable,
	    agent->variable == NULL ? "" : " is honoured as it is now\n",
	    agent->init->shell ? "" : "NOT CONFINED is ", client->name,
	    agent->init->shell ?
		"its commands are confined, its own tools and MCP servers are "
		"not" :
		client->bare != NULL ? client->bare :
				       "see the warning above");
}

/* What a variable has moved is to be where the policy lets it be written. */
static bool
is_given_its_places(const struct agent *agent)
{
	const struct blocks *none = NULL;
	struct subject subject;

	if (agent->variable == NULL)
		return true;
	if (subjects_bind(agent->init->options, &agent->init->blob, &none, 1,
		&subject) != EXIT_CLEAN)
		return false;
	for (size_t i = 0; i < CLIENT_STATE_MAX; i++) {
		const char *below = agent->client->state[i].path;
		const char *words[] = { "write", "" };
		struct access access;

		if (below == NULL)
			break;
		words[1] = client_place(agent->init->arena, agent->client,
		    agent->init->home, below);
		if (access_parse(&subject.places, words, countof(words),
			&access) == NULL &&
		    verdict_of(&subject, &access).allowed)
			continue;
		complain("%s leads to '%s', which the policy keeps from "
			 "commands: unset it, or choose another place",
		    agent->variable, words[1]);
		return false;
	}
	return true;
}

enum exit_status
init_agent(struct init *init)
{
	const struct client *client = client_find(init->what);
	struct agent agent = { .init = init, .client = client };
	const char *blob, *launcher, *path, *sbxsh = init_sbxsh(init);
	enum exit_status status;

	path = program_in_path(init->arena, client->name);
	if (path == NULL) {
		complain("'%s' is not in PATH: install %s first", client->name,
		    client->title);
		return EXIT_TROUBLE;
	}
	status = needs_bind(&agent.needs, init, client->name);
	if (status != EXIT_CLEAN)
		return status;
	needs_program(&agent.needs, path);
	agent.moved = client_moved_rules(init->arena, client, init->home,
	    &agent.variable);
	if (agent.moved == NULL) {
		complain("no policy can name where %s leads", agent.variable);
		return EXIT_TROUBLE;
	}
	/* Inside, it becomes the real shell. */
	if (client->shell.file != NULL && sbxsh != NULL)
		needs_program(&agent.needs, sbxsh);
	init->client = client;
	if (client->shell.file != NULL && !init_shell(init, &init->shell))
		return EXIT_TROUBLE;
	blob = init_policy(init, client->name, policy_text(&agent));
	launcher = arena_printf(init->arena, "%s/.local/bin/%s-sbx", init->home,
	    client->name);
	if (blob == NULL || !is_given_its_places(&agent) ||
	    change_add(&init->changes, launcher, launcher_text(&agent, blob),
		0755, true) == NULL)
		return EXIT_TROUBLE;
	init->trial[0] = path;
	init->trial[1] = "--version";
	init->after = after_text(&agent);
	return EXIT_CLEAN;
}
