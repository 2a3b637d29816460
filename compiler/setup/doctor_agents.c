/* See setup.h: the agents that are installed here, and their places. */
#include "compiler/base/base.h"
#include "compiler/query/why.h"
#include "compiler/setup/setup.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *
real_program(struct doctor *doctor, const char *path)
{
	char *real = realpath(path, NULL);
	const char *copy = real == NULL ?
	    path :
	    arena_strndup(doctor->arena, real, strlen(real));

	free(real);
	return copy;
}

static const char *
closed_state(struct doctor *doctor, const struct client *client)
{
	for (int i = 0; i < CLIENT_STATE_MAX && client->state[i].path; i++) {
		const char *place = arena_printf(doctor->arena, "%s/%s",
		    doctor->home, client->state[i].path);

		if (!doctor_allows(doctor, "write", place))
			return place;
	}
	return NULL;
}

static void
say_agent(struct doctor *doctor, const struct client *client, const char *path)
{
	const char *real = real_program(doctor, path);
	const char *closed = closed_state(doctor, client);
	const char *profile = client->profile;

	if (!doctor_allows(doctor, "exec", real))
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
			client->title, profile, closed),
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
	static const char *const files[] = { ".claude.json",
		".gemini/settings.json" };

	for (size_t i = 0; i < client_count && doctor->home != NULL; i++) {
		const char *path = program_in_path(doctor->arena,
		    clients[i].program);

		if (path != NULL)
			say_agent(doctor, &clients[i], path);
	}
	for (size_t i = 0; i < countof(files) && doctor->home != NULL; i++)
		say_servers(doctor,
		    arena_printf(doctor->arena, "%s/%s", doctor->home,
			files[i]));
	say_servers(doctor,
	    arena_printf(doctor->arena, "%s/.mcp.json", doctor->workspace));
}
