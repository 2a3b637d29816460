/*
 * A policy as it is on macOS.  The tables of a blob are for Linux, and its text
 * for macOS is none that the model reads: so the rules for macOS are made those
 * of a blob of their own.
 */
#include "compiler/cases/cases.h"

#include "compiler/lower/lower.h"

/* Whether a rule is for macOS; then it is made one for Linux. */
static bool
origin_turn(struct origin *origin)
{
	bool here = origin->platforms & SBX_ON_MACOS;

	origin->platforms = SBX_ON_LINUX;
	return here;
}

const struct sbx_blob *
macos_blob(struct arena *arena, const struct operand *operand)
{
	const struct policy *from = operand->compiled ?
	    blob_policy(arena, &operand->blob) :
	    operand->compilation.policy;
	struct sbx_blob *blob = arena_alloc(arena, sizeof *blob);
	struct filter_set filters = { 0 };
	struct sources sources;
	struct diags diags;
	struct policy policy;
	struct image image;
	enum sbx_blob_error error;

	if (from == NULL)
		return NULL;
	sources_init(&sources, arena);
	diags_init(&diags, arena, &sources);
	policy = *from;
	policy.paths.items = NULL;
	policy.paths.count = 0;
	for (size_t i = 0; i < from->paths.count; i++) {
		struct path_rule rule = from->paths.items[i];

		if (origin_turn(&rule.origin))
			*arena_push(policy.arena, &policy.paths) = rule;
	}
	for (int kind = 0; kind < KIND_END; kind++) {
		policy.rules[kind] = (struct rule_list){ NULL, 0 };
		for (size_t i = 0; i < from->rules[kind].count; i++) {
			struct rule rule = from->rules[kind].items[i];

			if (origin_turn(&rule.origin))
				*arena_push(policy.arena,
				    &policy.rules[kind]) = rule;
		}
	}
	filters_build(&policy, &filters);
	if (!emit_image(&policy, &filters, "", &diags, &image))
		return NULL;
	error = sbx_verify(image.bytes, image.size, blob);
	/* Only a network namespace has so few ways out. */
	return error == SBX_BLOB_OK || error == SBX_BLOB_WAYS ? blob : NULL;
}
