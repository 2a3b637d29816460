/* See doctor.h: the agents that are installed here, and their places. */
#include "compiler/query/show.h"
#include "compiler/setup/clients.h"
#include "compiler/setup/doctor.h"
#include "compiler/setup/program.h"

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
	const char *object = spelled_path(doctor->arena, real);

	if (!doctor_allows(doctor, "exec", real))
		doctor_find(doctor, FINDING_NOTE, client->name,
		    arena_printf(doctor->arena,
			"%s is %s, which the policy does not let run; its "
			"commands can be confined all the same",
			client->title, shown_text(doctor->arena, real)),
		    object == NULL ?
			NULL :
			arena_printf(doctor->arena,
			    "add to the policy, to confine it as a whole: "
			    "allow exec %s",
			    object));
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

void
doctor_agents(struct doctor *doctor)
{
	for (size_t i = 0; i < client_count && doctor->home != NULL; i++) {
		const char *path = program_in_path(doctor->arena,
		    clients[i].program);

		if (path != NULL)
			say_agent(doctor, &clients[i], path);
	}
}
