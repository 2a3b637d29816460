/*
 * The ceiling of this machine (format/cut.h), asked beside a policy: what it does not
 * allow no change of the policy opens, so nothing is offered then.
 */
#include "compiler/query/query.h"
#include "compiler/query/why.h"
#include "format/cut.h"

#include <string.h>
#include <unistd.h>

const struct subject *
ceiling_read(const struct options *options, const struct subject *subject)
{
	struct subject *ceiling;
	struct sbx_blob *blob;

	if (access(SBX_CEILING, F_OK) != 0)
		return NULL;
	blob = arena_alloc(options->arena, sizeof *blob);
	if (!operand_blob(options->arena, SBX_CEILING, blob))
		return NULL;
	ceiling = arena_alloc(options->arena, sizeof *ceiling);
	*ceiling = *subject;
	ceiling->program = NULL;
	places_init(&ceiling->places, options->arena, blob, options->workspace,
	    options->home);
	ceiling->places.finds = subject->places.finds;
	if (subject->places.here)
		places_ask_machine(&ceiling->places);
	return ceiling;
}

const char *
ceiling_denies(const struct subject *ceiling, const struct access *access)
{
	struct arena *arena = ceiling->places.arena;
	const struct sbx_blob *blob = ceiling->places.blob;
	struct verdict verdict = verdict_of(ceiling, access);
	const char *rule, *source;

	if (verdict.allowed)
		return NULL;
	rule = decider_text(arena, blob, &verdict);
	if (rule == NULL || verdict.source == SBX_NO_SOURCE)
		return SBX_CEILING ": no rule allows it";
	source = show_source_text(arena, blob, verdict.source);
	/* A text beside it has no directory in its name. */
	return arena_printf(arena, "%s%s: %s",
	    strchr(source, '/') == NULL && strncmp(source, "sbx:", 4) != 0 ?
		SBX_CEILING_DIRECTORY "/" :
		"",
	    source, rule);
}
