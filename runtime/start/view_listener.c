/* See view_listener.h. */
#include "runtime/start/view_listener.h"

#include "runtime/apply/confine.h"
#include "runtime/bind/services.h"

void
view_listener_prepare(struct listening *listening, const struct sbx_blob *blob,
    const struct machine *machine)
{
	const struct sbx_program *program = program_for(blob, machine,
	    (struct sbx_circumstances){
		.level = SBX_LEVEL_FULL,
		.listener = true,
	    });

	if ((program->flags & SBX_PROGRAM_LISTENER) == 0 ||
	    machine->landlock_abi >= 9)
		return;
	listen_open(listening);
	listening->view = true;
	listening->answers = true;
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

void
view_listener_choose(struct listening *listening, const struct binding *binding)
{
	const char *why;

	if (!listening->view || !listening->answers)
		return;
	if (!bind_shows_services(binding)) {
		listening->answers = false;
		if (listening->explaining != NULL)
			return;
		listen_forget(listening);
		listening->on = false;
		return;
	}
	why = listen_obstacle();
	if (why != NULL)
		refuse("services may listen in places that are only to be "
		       "read, and sbxrun cannot see what the command "
		       "connects to",
		    why, 0);
}
