/* See decider.h. */
#include "compiler/query/decider.h"
#include "compiler/query/show.h"
#include "compiler/tables/words.h"

#include <string.h>

bool
decider_names_call(const struct sbx_blob *blob, const struct sbx_syscall *call)
{
	const char *reason = sbx_string(blob, call->reason);

	return reason[0] == '@' ||
	    strcmp(reason, sbx_string(blob, call->name)) == 0;
}

static void
show_call(FILE *stream, const struct sbx_blob *blob,
    const struct sbx_syscall *call)
{
	if (call->source != SBX_NO_SOURCE && decider_names_call(blob, call))
		fputs(call->verdict == SBX_SYSCALL_ALLOW ? "allow syscalls " :
							   "deny syscalls ",
		    stream);
	show_text(stream, sbx_string(blob, call->reason));
}

static void
show_network(FILE *stream, enum sbx_net net)
{
	fprintf(stream, "%s network %s",
	    effect_word(net == SBX_NET_NONE ? SBX_DENY : SBX_ALLOW),
	    net == SBX_NET_LOOPBACK ? "loopback" : "full");
}

void
decider_show(FILE *stream, const struct sbx_blob *blob,
    const struct verdict *verdict)
{
	uint32_t rule = verdict->rule;

	switch (verdict->by) {
	case BY_PATH:
		show_path_rule(stream, blob, &blob->paths[rule]);
		break;
	case BY_PORT:
		show_port_rule(stream, &blob->ports[rule]);
		break;
	case BY_NETWORK:
		show_network(stream, (enum sbx_net)blob->meta->net);
		break;
	case BY_ENV:
		show_env_rule(stream, blob, &blob->env[rule]);
		break;
	case BY_SET:
		show_set(stream, blob, &blob->set[rule]);
		break;
	case BY_SYSCALL:
		show_call(stream, blob, &blob->syscalls[rule]);
		break;
	case BY_EVERYTHING:
		fputs("allow everything", stream);
		break;
	case BY_NOTHING:
	case BY_OLD_KERNEL:
	case BY_SCRATCH:
	case BY_MACHINE:
		break;
	}
}

struct shown {
	const struct sbx_blob *blob;
	const struct verdict *verdict;
};

static void
write_rule(FILE *stream, const void *what)
{
	const struct shown *shown = what;

	decider_show(stream, shown->blob, shown->verdict);
}

const char *
decider_text(struct arena *arena, const struct sbx_blob *blob,
    const struct verdict *verdict)
{
	const struct shown shown = { blob, verdict };
	const char *text = show_to_text(arena, write_rule, &shown);

	return *text != '\0' ? text : NULL;
}

uint8_t
decider_platforms(const struct sbx_blob *blob, const struct verdict *verdict)
{
	switch (verdict->by) {
	case BY_PATH:
		return blob->paths[verdict->rule].platforms;
	case BY_PORT:
		return blob->ports[verdict->rule].platforms;
	case BY_ENV:
		return blob->env[verdict->rule].platforms;
	case BY_SET:
		return blob->set[verdict->rule].platforms;
	case BY_NETWORK:
	case BY_SYSCALL:
	case BY_EVERYTHING:
	case BY_NOTHING:
	case BY_OLD_KERNEL:
	case BY_SCRATCH:
	case BY_MACHINE:
		break;
	}
	return SBX_ON_ALL;
}
