/* Sockets by path where Landlock holds them: see lower.c. */
#include "runtime/apply/mounts.h"

#include "format/blob.h"
#include "runtime/base/out.h"
#include "runtime/bind/bind.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static void
open_socket(const struct lowering *what, const struct sbx_rule *rule,
    struct sbx_place at)
{
	struct landlock_path_beneath_attr attr = {
		.allowed_access = SBX_LANDLOCK_RESOLVE_UNIX,
		.parent_fd = open_place(at, O_PATH),
	};

	/* Nothing is there, so nothing can be connected to. */
	if (attr.parent_fd < 0 && !is_shortage(errno))
		return;
	if (attr.parent_fd < 0 ||
	    landlock_add_rule(what->ruleset, LANDLOCK_RULE_PATH_BENEATH,
		&attr) != 0)
		refuse_at(what->binding->blob, rule->source,
		    "Landlock refused the rule", errno);
	close(attr.parent_fd);
}

void
lower_sockets(struct arena *arena, const struct lowering *what)
{
	const struct binding *binding = what->binding;
	bool moved = what->masked && binding->scratch.len > 0;

	if ((what->row->handled_fs & SBX_LANDLOCK_RESOLVE_UNIX) == 0)
		return;
	for (uint32_t i = 0; i < binding->socket_count; i++) {
		const struct sbx_rule *rule = &binding->sockets[i];
		struct sbx_verdict verdict =
		    sbx_socket_verdict(binding->sockets, binding->socket_count,
			rule->at);

		if (rule->effect == SBX_ALLOW && sbx_verdict_allows(verdict) &&
		    !bind_socket_is_split(binding, rule->at))
			open_socket(what, rule,
			    moved ? bind_move(arena, rule->at, binding->scratch,
					place_tmp) :
				    rule->at);
	}
}
