/*
 * What a policy says of an access, in its own words: the rule behind a verdict.
 */
#include "compiler/compare/compare.h"
#include "compiler/query/why.h"

struct shown {
	const struct sbx_blob *blob;
	const struct verdict *verdict;
};

static void
write_call(FILE *stream, const struct sbx_blob *blob,
    const struct sbx_syscall *call)
{
	if (call->source == SBX_NO_SOURCE)
		fputs("the language's own baseline: ", stream);
	else if (!decider_names_call(blob, call))
		fputs("the rules about ", stream);
}

static void
write_explanation(FILE *stream, const void *what)
{
	const struct shown *shown = what;
	const struct sbx_blob *blob = shown->blob;
	const struct verdict *verdict = shown->verdict;

	if (verdict->by == BY_SYSCALL)
		write_call(stream, blob, &blob->syscalls[verdict->rule]);
	else if (verdict->by == BY_OLD_KERNEL)
		fputs("no TCP socket opens below Landlock ABI 4", stream);
	else if (verdict->by == BY_NO_PATHS)
		fputs("no socket opens by its path below level standard",
		    stream);
	else if (verdict->by == BY_SCRATCH)
		fputs("TMPDIR leads to the scratch directory", stream);
	else if (verdict->by == BY_AGENT)
		fputs("SSH_AUTH_SOCK leads to the agent", stream);
	else if (verdict->by == BY_SBXRUN)
		fputs("sbxrun sets it itself", stream);
	else if (verdict->by == BY_MACHINE)
		fputs("no such system call", stream);
	decider_show(stream, blob, verdict);
	show_platforms(stream, decider_platforms(blob, verdict));
}

const char *
explanation_text(struct arena *arena, const struct sbx_blob *blob,
    const struct verdict *verdict)
{
	const struct shown shown = { blob, verdict };
	const char *text = show_to_text(arena, write_explanation, &shown);

	return *text != '\0' ? text : NULL;
}

const char *
path_explanation(struct arena *arena, const struct sbx_blob *blob,
    const struct sbx_path *path)
{
	const struct verdict verdict = {
		.by = BY_PATH,
		.rule = (uint32_t)(path - blob->paths),
	};

	return explanation_text(arena, blob, &verdict);
}
