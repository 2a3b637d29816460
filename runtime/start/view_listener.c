/*
 * Whether level full has a listener: where the view shows places in which
 * services of the host may listen, on kernels whose Landlock does not hold such
 * sockets yet.
 */
#include "runtime/start/start.h"

#include "runtime/apply/apply.h"
#include "runtime/apply/mounts.h"
#include "runtime/bind/bind.h"

/* Where the rules are if the scratch directory is seen as /tmp. */
static const struct sbx_rule *
move_sockets(struct arena *arena, const struct binding *anchored)
{
	struct sbx_place scratch = anchored->anchors[SBX_ANCHOR_TMP];
	struct sbx_rule *moved = arena_take(arena, anchored->socket_count,
	    sizeof *moved);

	for (uint32_t i = 0; i < anchored->socket_count; i++) {
		moved[i] = anchored->sockets[i];
		if (scratch.len > 0)
			moved[i].at = bind_move(arena, moved[i].at, scratch,
			    place_tmp);
	}
	return moved;
}

void
listener_open(struct supervision *supervision,
    const struct sbx_program *program, const struct binding *binding)
{
	struct listening *listening = &supervision->listening;

	listen_open(listening);
	listening->answers = true;
	listening->abstract = (binding->blob->meta->flags &
				  SBX_ABSTRACT_ANYWHERE) != 0;
	listening->set_id = (program->flags & SBX_PROGRAM_SET_ID) != 0;
	listening->servers = &supervision->servers;
	listening->sockets = binding->sockets;
	listening->socket_count = binding->socket_count;
}

void
view_listener_prepare(struct supervision *supervision, struct arena *arena,
    const struct binding *anchored, const struct machine *machine)
{
	struct listening *listening = &supervision->listening;
	const struct sbx_program *program = program_for(anchored->blob, machine,
	    (struct sbx_circumstances){
		.level = SBX_LEVEL_FULL,
		.listener = true,
	    });

	if ((program->flags & SBX_PROGRAM_LISTENER) == 0 ||
	    machine->landlock_abi >= 9)
		return;
	listener_open(supervision, program, anchored);
	listening->view = true;
	listening->moved_sockets = move_sockets(arena, anchored);
}

void
view_listener_settle(struct listening *listening, const struct plan *plan)
{
	listening->own_network = plan->network != NETWORK_OUTER;
	if (plan->level == SBX_LEVEL_FULL)
		return;
	listen_forget(listening);
	*listening = (struct listening){ .on = false };
}

/* Whether rules shut sockets that the command could make. */
static bool
denies_sockets(const struct binding *binding)
{
	for (uint32_t i = 0; i < binding->socket_count; i++) {
		if (binding->sockets[i].effect != SBX_ALLOW)
			return true;
	}
	return false;
}

/*
 * Where the policy opens the host's network, connect(2) is the kernel's, and a
 * filter with a listener opens no AF_UNIX sockets at all.  That is right where
 * services may listen in what is only to be read, but not beside every writable
 * directory.
 */
static bool
connects(const struct plan *plan)
{
	uint8_t net = plan->blob->meta->net;

	return net == SBX_NET_NONE || sbx_net_is_own(net);
}

void
view_listener_choose(struct listening *listening, struct plan *plan)
{
	struct listen_obstacles obstacles = { NULL, NULL, false };
	bool needed, wanted;
	const char *why;

	if (!listening->view || !listening->answers)
		return;
	needed = bind_shows_services(plan->binding, false);
	wanted = needed ||
	    (connects(plan) &&
		(denies_sockets(plan->binding) ||
		    bind_shows_services(plan->binding, true)));
	if (wanted)
		obstacles = listen_obstacles();
	why = obstacles.copying;
	/*
	 * A listener that cannot copy descriptors refuses every connection.
	 * Where there is no network, that is all that it has to do; in one of
	 * the sandbox's own it would refuse those of the internet, too.
	 */
	if (wanted && obstacles.listening == NULL &&
	    obstacles.copying != NULL &&
	    plan->blob->meta->net == SBX_NET_NONE) {
		plan->why_no_sockets = why;
		why = NULL;
	}
	if (why != NULL && needed)
		refuse("services may listen in places that are only to be "
		       "read, and sbxrun cannot see what the command "
		       "connects to; -l standard does without",
		    why, 0);
	plan->why_no_listener = why;
	if (wanted && why == NULL) {
		if (listening->own_network)
			servers_open(listening->servers);
		return;
	}
	listening->answers = false;
	if (listening->explaining != NULL)
		return;
	listen_forget(listening);
	listening->on = false;
}
