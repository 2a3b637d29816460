/* See init.h: an agent as a whole, by a command that starts it confined. */
#include "compiler/base/shell.h"
#include "compiler/query/show.h"
#include "compiler/setup/clients.h"
#include "compiler/setup/init.h"
#include "compiler/setup/program.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct agent {
	struct init *init;
	const struct client *client;
	const char *program; /* without links */
	struct subject subject;
	const char *rules; /* more than the profile has */
};

static const char *
real_path(struct arena *arena, const char *path)
{
	char *real = realpath(path, NULL);
	const char *copy = real == NULL ?
	    path :
	    arena_strndup(arena, real, strlen(real));

	free(real);
	return copy;
}

static bool
may_run(const struct agent *agent, const char *path)
{
	const char *words[] = { "exec", path };
	struct access access;

	if (access_parse(&agent->subject.places, words, countof(words),
		&access) != NULL)
		return false;
	access.outside = true;
	return verdict_of(&agent->subject, &access).allowed;
}

/* What a program of npm's belongs to is the outermost node_modules; one in a
 * directory bin belongs to what holds that. */
static const char *
tree_of(struct arena *arena, const char *path)
{
	const char *modules = strstr(path, "/node_modules/");
	const char *slash = strrchr(path, '/'), *bin;

	if (modules != NULL)
		return arena_printf(arena, "%.*s/node_modules",
		    (int)(modules - path), path);
	bin = slash - path > 4 && strncmp(slash - 4, "/bin", 4) == 0 ?
	    slash - 4 :
	    slash;
	return arena_printf(arena, "%.*s", (int)(bin - path), path);
}

static void
need(struct agent *agent, const char *path)
{
	struct arena *arena = agent->init->arena;
	const char *tree, *spelled;

	if (may_run(agent, path))
		return;
	tree = tree_of(arena, path);
	spelled = spelled_path(arena, tree);
	if (spelled != NULL && strchr(tree + 1, '/') != NULL)
		agent->rules = arena_printf(arena, "%s    allow exec  %s\n",
		    agent->rules, spelled);
}

/* Scripts of npm's say `#!/usr/bin/env node`. */
static void
need_interpreter(struct agent *agent)
{
	struct arena *arena = agent->init->arena;
	const char *interpreter = here_interpreter(arena, agent->program);
	const char *node;

	if (interpreter == NULL ||
	    strcmp(interpreter + strlen(interpreter) - 3, "env") != 0)
		return;
	node = program_in_path(arena, "node");
	if (node != NULL)
		need(agent, real_path(arena, node));
}

static enum exit_status
bind_profile(struct agent *agent)
{
	const struct options *options = agent->init->options;
	struct operand operand;
	const struct blocks *none = NULL;
	enum exit_status status;

	operand_read(options,
	    arena_printf(agent->init->arena, "@%s", agent->client->profile),
	    &operand);
	if (operand.state != OPERAND_GOOD)
		return EXIT_TROUBLE;
	/* The subject keeps the blob. */
	agent->init->blob = operand.blob;
	status = subjects_bind(options, &agent->init->blob, &none, 1,
	    &agent->subject);
	if (status == EXIT_CLEAN)
		places_ask_machine(&agent->subject.places);
	return status;
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
	    "%s"
	    "    # allow read  ~/another/project\n"
	    "    # allow network domain { \"registry.npmjs.org\"  "
	    "\"github.com\" }\n"
	    "}\n",
	    agent->client->title, agent->init->configuration, name,
	    agent->init->configuration, name, name, agent->client->profile,
	    agent->client->title, agent->client->profile, agent->rules);
}

static const char *
launcher_text(const struct agent *agent, const char *blob)
{
	struct arena *arena = agent->init->arena;
	const char *arguments = agent->client->arguments;

	return arena_printf(arena,
	    "#!/bin/sh\n"
	    "# %s in a sandbox, in the project of the current directory.\n"
	    "# Written by 'sbxc init %s'; 'sbxc init %s --undo' removes it.\n"
	    "exec %s -w auto %s -- \\\n    %s%s%s \"$@\"\n",
	    agent->client->title, agent->client->name, agent->client->name,
	    shell_word(arena, agent->init->sbxrun), shell_word(arena, blob),
	    shell_word(arena, agent->program), arguments != NULL ? " " : "",
	    arguments != NULL ? arguments : "");
}

enum exit_status
init_agent(struct init *init)
{
	struct agent agent = { .init = init, .rules = "" };
	const char *blob, *launcher, *path;
	enum exit_status status;

	agent.client = client_find(init->what);
	path = program_in_path(init->arena, agent.client->program);
	if (path == NULL) {
		complain("'%s' is not in PATH: install %s first",
		    agent.client->program, agent.client->title);
		return EXIT_TROUBLE;
	}
	agent.program = real_path(init->arena, path);
	status = bind_profile(&agent);
	if (status != EXIT_CLEAN)
		return status;
	need(&agent, agent.program);
	need_interpreter(&agent);
	blob = init_policy(init, agent.client->name, policy_text(&agent));
	launcher = arena_printf(init->arena, "%s/.local/bin/%s-sbx", init->home,
	    agent.client->name);
	if (blob == NULL ||
	    change_add(&init->changes, launcher, launcher_text(&agent, blob),
		0755, true) == NULL)
		return EXIT_TROUBLE;
	init->trial[0] = agent.program;
	init->trial[1] = "--version";
	init->state = agent.client->state;
	init->after = arena_printf(init->arena, "start it with: %s", launcher);
	return EXIT_CLEAN;
}
