/* See init.c: an agent as a whole, by a command that starts it confined. */
#include "compiler/base/base.h"
#include "compiler/setup/setup.h"

#include <string.h>
#include <unistd.h>

struct agent {
	struct init *init;
	const struct client *client;
	const char *program; /* without links */
	struct needs needs;
};

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
	    "%s"
	    "    # allow read  ~/another/project\n"
	    "    # allow network domain { \"registry.npmjs.org\"  "
	    "\"github.com\" }\n"
	    "}\n",
	    agent->client->title, agent->init->configuration, name,
	    agent->init->configuration, name, name, agent->client->profile,
	    agent->client->title, agent->client->profile, agent->needs.rules);
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
	    "exec %s -w auto %s -- \\\n    %s%s \"$@\"\n",
	    client->title, client->name, client->name,
	    shell_word(arena, agent->init->sbxrun), shell_word(arena, blob),
	    shell_word(arena, agent->program), words);
}

static const char *
after_text(const struct agent *agent, const char *launcher)
{
	const struct client *client = agent->client;

	return arena_printf(agent->init->arena,
	    "start it with: %s\n%s'%s' by itself: %s", launcher,
	    agent->init->shell ? "" : "NOT CONFINED is ", client->program,
	    agent->init->shell ? "its commands are confined, its own tools and "
				 "MCP servers are not" :
		client->bare != NULL ? client->bare :
				       "see the warning above");
}

enum exit_status
init_agent(struct init *init)
{
	struct agent agent = { .init = init };
	const char *blob, *launcher, *path, *sbxsh = init_sbxsh(init);
	enum exit_status status;

	agent.client = client_find(init->what);
	path = program_in_path(init->arena, agent.client->program);
	if (path == NULL) {
		complain("'%s' is not in PATH: install %s first",
		    agent.client->program, agent.client->title);
		return EXIT_TROUBLE;
	}
	agent.program = needs_real(init->arena, path);
	status = needs_bind(&agent.needs, init, agent.client->profile);
	if (status != EXIT_CLEAN)
		return status;
	needs_program(&agent.needs, path);
	/* Inside, it becomes the real shell. */
	if (agent.client->shell.file != NULL && sbxsh != NULL)
		needs_program(&agent.needs, sbxsh);
	if (agent.client->shell.file != NULL &&
	    !init_shell(init, &agent.client->shell, &init->shell))
		return EXIT_TROUBLE;
	blob = init_policy(init, agent.client->name, policy_text(&agent));
	launcher = arena_printf(init->arena, "%s/.local/bin/%s-sbx", init->home,
	    agent.client->name);
	if (blob == NULL ||
	    change_add(&init->changes, launcher, launcher_text(&agent, blob),
		0755, true) == NULL)
		return EXIT_TROUBLE;
	init->trial[0] = agent.program;
	init->trial[1] = "--version";
	init->client = agent.client;
	init->after = after_text(&agent, launcher);
	return EXIT_CLEAN;
}
