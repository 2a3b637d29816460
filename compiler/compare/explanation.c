/*
 * What a policy says of an access, in its own words: the rule behind a verdict.
 */
#include "compiler/compare/parts.h"
#include "compiler/query/show.h"
#include "compiler/tables/words.h"

#include <stdlib.h>
#include <string.h>

static void
show_syscall(FILE *stream, const struct sbx_blob *blob,
    const struct sbx_syscall *call)
{
	const char *reason = sbx_string(blob, call->reason);

	if (call->source == SBX_NO_SOURCE)
		fputs("the language's own baseline: ", stream);
	else if (reason[0] == '@' ||
	    strcmp(reason, sbx_string(blob, call->name)) == 0)
		fputs(call->verdict == SBX_SYSCALL_DENY ? "deny syscalls " :
							  "allow syscalls ",
		    stream);
	else
		fputs("the rules about ", stream);
	show_text(stream, reason);
}

static void
show_network(FILE *stream, const struct sbx_blob *blob,
    const struct verdict *verdict)
{
	if (blob->meta->net == SBX_NET_LOOPBACK)
		fputs("allow network loopback", stream);
	else
		fprintf(stream, "%s network full",
		    effect_word(verdict->allowed ? SBX_ALLOW : SBX_DENY));
}

static void
show_explanation(FILE *stream, const struct sbx_blob *blob,
    const struct verdict *verdict)
{
	switch (verdict->by) {
	case BY_NOTHING:
		break;
	case BY_EVERYTHING:
		fputs("allow everything", stream);
		break;
	case BY_PATH:
		show_path_rule(stream, blob, &blob->paths[verdict->rule]);
		show_platforms(stream, blob->paths[verdict->rule].platforms);
		break;
	case BY_PORT:
		fprintf(stream, "%s network ",
		    effect_word(blob->ports[verdict->rule].effect));
		show_ports(stream, &blob->ports[verdict->rule]);
		show_platforms(stream, blob->ports[verdict->rule].platforms);
		break;
	case BY_NETWORK:
		show_network(stream, blob, verdict);
		break;
	case BY_OLD_KERNEL:
		fputs("no TCP socket opens below Landlock ABI 4", stream);
		break;
	case BY_ENV:
		fprintf(stream, "%s env ",
		    effect_word(blob->env[verdict->rule].effect));
		show_text(stream,
		    sbx_string(blob, blob->env[verdict->rule].pattern));
		show_platforms(stream, blob->env[verdict->rule].platforms);
		break;
	case BY_SET:
		show_set(stream, blob, &blob->set[verdict->rule]);
		show_platforms(stream, blob->set[verdict->rule].platforms);
		break;
	case BY_SYSCALL:
		show_syscall(stream, blob, &blob->syscalls[verdict->rule]);
		break;
	case BY_SCRATCH:
		fputs("TMPDIR leads to the scratch directory", stream);
		break;
	case BY_MACHINE:
		fputs("no such system call", stream);
		break;
	}
}

const char *
explanation_text(struct arena *arena, const struct sbx_blob *blob,
    const struct access *access, const struct verdict *verdict)
{
	char *text = NULL;
	const char *result;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (stream == NULL)
		arena_exhausted();
	/* A call without a record is one that every policy leaves open, or that
	 * no policy does. */
	if (access->kind != ACCESS_SYSCALL || verdict->by != BY_SYSCALL ||
	    verdict->rule < blob->syscall_count)
		show_explanation(stream, blob, verdict);
	if (fclose(stream) != 0)
		arena_exhausted();
	result = size > 0 ? arena_strndup(arena, text, size) : NULL;
	free(text);
	return result;
}

const char *
path_explanation(struct arena *arena, const struct sbx_blob *blob,
    const struct sbx_path *path)
{
	const struct access access = { .kind = ACCESS_PATH };
	const struct verdict verdict = {
		.by = BY_PATH,
		.rule = (uint32_t)(path - blob->paths),
	};

	return explanation_text(arena, blob, &access, &verdict);
}
