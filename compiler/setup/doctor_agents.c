/* See setup.h: the agents that are installed here, and their places. */
#include "compiler/base/base.h"
#include "compiler/query/why.h"
#include "compiler/setup/setup.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *
closed_state(struct doctor *doctor, const struct client *client)
{
	for (int i = 0; i < CLIENT_STATE_MAX && client->state[i].path; i++) {
		const char *place = client_place(doctor->arena, client,
		    doctor->home, client->state[i].path);

		if (!doctor_allows(doctor, "write", place))
			return place;
	}
	return NULL;
}

/* How many filters a process has by its status; -1: it does not say. */
static long
filters_of(const char *status)
{
	const char *at = status != NULL ? strstr(status, "\nSeccomp_filters:") :
					  NULL;

	return at == NULL ? -1 :
			    strtol(at + strlen("\nSeccomp_filters:"), NULL, 10);
}

/* What may be run to be tried: a program of the user's or of root's that nobody
 * else can change, outside of the project. */
static bool
is_to_be_tried(const struct doctor *doctor, const char *path)
{
	const char *real = needs_real(doctor->arena, path);
	struct stat status;

	return *path == '/' && stat(real, &status) == 0 &&
	    S_ISREG(status.st_mode) && access(real, X_OK) == 0 &&
	    (status.st_uid == geteuid() || status.st_uid == 0) &&
	    (status.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
	    !path_lies_in(path, doctor->workspace) &&
	    !path_lies_in(real, doctor->workspace);
}

/* Starts a command by the shell of an agent's settings, and looks whether the
 * kernel says that it has more filters than sbxc. */
static void
try_shell(struct doctor *doctor, const struct client *client)
{
	struct arena *arena = doctor->arena;
	const char *path = client_place(arena, client, doctor->home,
	    client->shell.file);
	const char *text = change_look(arena, path), *shell = NULL;
	struct json_t *root = text != NULL ? json_read(text) : NULL;
	const char *words[] = { "/bin/sh", "-c", "cat /proc/self/status",
		NULL };
	struct ran bare = program_run(arena, words, "/", -1), ran;

	shell = json_text(client->shell.object == NULL ?
		root :
		json_member(root, client->shell.object),
	    client->shell.key);
	if (shell == NULL || !is_to_be_tried(doctor, shell)) {
		doctor_find(doctor, FINDING_FIX, client->name,
		    shell == NULL ?
			arena_printf(arena,
			    "%s names no shell (%s), so commands of plain "
			    "'%s' are not confined",
			    shown_text(arena, path), client->shell.key,
			    client->name) :
			arena_printf(arena,
			    "the shell that %s names was not tried: %s",
			    shown_text(arena, path), shown_text(arena, shell)),
		    arena_printf(arena, "sbxc init %s --undo; sbxc init %s",
			client->name, client->name));
		json_release(root);
		return;
	}
	words[0] = arena_printf(arena, "%s", shell);
	json_release(root);
	ran = program_run(arena, words, "/", -1);
	if (ran.status == 0 && filters_of(ran.out) > filters_of(bare.out))
		doctor_find(doctor, FINDING_GOOD, client->name,
		    arena_printf(arena,
			"commands of plain '%s' are confined: one was tried",
			client->name),
		    NULL);
	else
		doctor_find(doctor, FINDING_FIX, client->name,
		    arena_printf(arena,
			ran.status == 0 ?
			    "commands of plain '%s' are NOT confined: %s "
			    "starts them bare" :
			    "commands of plain '%s' fail: %s: %.*s",
			client->name, shown_text(arena, words[0]),
			(int)strcspn(ran.err, "\n"), ran.err),
		    ran.status == 0 ?
			arena_printf(arena, "sbxc init %s --undo; sbxc init %s",
			    client->name, client->name) :
			NULL);
}

/* What `sbxc init` has set up. */
static void
say_set_up(struct doctor *doctor, const struct client *client)
{
	struct arena *arena = doctor->arena;
	const char *secret = client->secret;

	doctor_find(doctor, FINDING_GOOD, client->name,
	    arena_printf(arena, "%s is set up: %s-sbx starts it confined",
		client->title, client->name),
	    NULL);
	if (secret != NULL && getenv(secret) != NULL)
		doctor_find(doctor, FINDING_NOTE, client->name,
		    arena_printf(arena,
			"%s is kept from it unless its policy hands it on: "
			"sign in inside, or see what would hand it on",
			secret),
		    arena_printf(arena, "sbxc why %s/%s.sbx env %s",
			shell_word(arena, doctor->configuration), client->name,
			secret));
	if (client->shell.file != NULL)
		try_shell(doctor, client);
}

static void
say_agent(struct doctor *doctor, const struct client *client, const char *path)
{
	const char *real = needs_real(doctor->arena, path);
	const char *closed = closed_state(doctor, client);
	const char *record = arena_printf(doctor->arena, "%s/init/%s.json",
	    doctor->configuration, client->name);

	if (access(record, F_OK) == 0)
		say_set_up(doctor, client);
	else if (!doctor_allows(doctor, "exec", real))
		doctor_find(doctor, FINDING_NOTE, client->name,
		    arena_printf(doctor->arena,
			"%s is %s, which this policy does not let run",
			client->title, shown_text(doctor->arena, real)),
		    arena_printf(doctor->arena, "sbxc init %s", client->name));
	else if (closed != NULL)
		doctor_find(doctor, FINDING_NOTE, client->name,
		    arena_printf(doctor->arena,
			"%s is installed; as a whole it wants the profile "
			"'%s', because it writes to %s",
			client->title, client->name, closed),
		    arena_printf(doctor->arena, "sbxc init %s", client->name));
	else
		doctor_find(doctor, FINDING_GOOD, client->name,
		    arena_printf(doctor->arena,
			"%s is installed, and the policy gives it its state",
			client->title),
		    NULL);
}

/* --- MCP servers ---------------------------------------------------------- */

static size_t
count_bare(const struct doctor *doctor, const struct json_t *of)
{
	const struct json_t *all = json_member(of, "mcpServers");
	const char *name = NULL;
	size_t count = 0;

	while (all != NULL && (name = json_key(all, name)) != NULL) {
		const struct json_t *server = json_member(all, name);

		count += json_text(server, "command") != NULL &&
		    !server_is_confined(server, doctor->sbxrun,
			doctor->configuration);
	}
	return count;
}

static void
say_servers(struct doctor *doctor, const char *path)
{
	const char *text = change_look(doctor->arena, path), *name = NULL;
	struct json_t *root = text != NULL ? json_read(text) : NULL;
	const struct json_t *projects = json_member(root, "projects");
	size_t count = count_bare(doctor, root);

	while (projects != NULL && (name = json_key(projects, name)) != NULL)
		count += count_bare(doctor, json_member(projects, name));
	json_release(root);
	if (count > 0)
		doctor_find(doctor, FINDING_NOTE, "mcp",
		    arena_printf(doctor->arena,
			"%zu server%s of %s run%s unconfined where the agent "
			"does",
			count, count == 1 ? "" : "s",
			shown_text(doctor->arena, path), count == 1 ? "s" : ""),
		    arena_printf(doctor->arena, "sbxc init mcp %s",
			shell_word(doctor->arena, path)));
}

void
doctor_agents(struct doctor *doctor)
{
	for (size_t i = 0; i < client_count && doctor->home != NULL; i++) {
		const char *path = program_in_path(doctor->arena,
		    clients[i].name);

		if (path != NULL)
			say_agent(doctor, &clients[i], path);
	}
	for (size_t i = 0; i < client_count && doctor->home != NULL; i++) {
		if (clients[i].servers != NULL)
			say_servers(doctor,
			    client_place(doctor->arena, &clients[i],
				doctor->home, clients[i].servers));
	}
	say_servers(doctor,
	    arena_printf(doctor->arena, "%s/.mcp.json", doctor->workspace));
}
