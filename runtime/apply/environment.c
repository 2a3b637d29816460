#include "runtime/apply/environment.h"

#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <string.h>

static bool
has_name(const char *variable, const char *name, size_t len)
{
	return strncmp(variable, name, len) == 0 && variable[len] == '=';
}

/*
 * A caller can give a variable twice.  Some programs take the first of them and
 * some the last, so all of them go.
 */
static void
set_variable(struct environment *environment, char *variable)
{
	size_t len = strcspn(variable, "=");
	uint32_t kept = 0;

	for (uint32_t i = 0; i < environment->count; i++) {
		char *other = environment->variables[i];

		if (!has_name(other, variable, len))
			environment->variables[kept++] = other;
	}
	environment->variables[kept++] = variable;
	environment->count = kept;
}

/* NAME=VALUE in the arena; values may be longer than paths. */
static char *
join_variable(struct arena *arena, const char *name, struct sbx_place anchor,
    const char *text)
{
	size_t name_len = strlen(name), text_len = strlen(text);
	char *variable = arena_take(arena, 1,
	    name_len + 1 + anchor.len + text_len + 1);
	char *at = variable;

	memcpy(at, name, name_len);
	at += name_len;
	*at++ = '=';
	memcpy(at, anchor.path, anchor.len);
	memcpy(at + anchor.len, text, text_len + 1);
	return variable;
}

static void
keep_allowed(struct environment *environment, const struct sbx_blob *blob,
    char **callers)
{
	for (; *callers != NULL; callers++) {
		size_t len = strcspn(*callers, "=");

		if (!sbx_verdict_allows(
			sbx_env_verdict(blob, KERNEL_WHERE, *callers, len))) {
			environment->dropped++;
			continue;
		}
		environment->variables[environment->count++] = *callers;
	}
}

void
environment_build(struct environment *environment, struct arena *arena,
    const struct binding *binding, char **callers)
{
	static const struct sbx_place nothing = { "", 0 };
	const struct sbx_blob *blob = binding->blob;
	size_t count = 0;

	while (callers[count] != NULL)
		count++;
	/* And TMPDIR, and the NULL. */
	environment->variables = arena_take(arena, count + blob->set_count + 2,
	    sizeof(char *));
	keep_allowed(environment, blob, callers);
	if (blob->anchors[SBX_ANCHOR_TMP].flags & SBX_ANCHOR_USED)
		set_variable(environment,
		    join_variable(arena, "TMPDIR",
			binding->anchors[SBX_ANCHOR_TMP], ""));
	for (uint32_t i = 0; i < blob->set_count; i++) {
		const struct sbx_set *set = &blob->set[i];
		struct sbx_place at = nothing;

		if ((set->platforms & KERNEL_WHERE) == 0)
			continue;
		if (set->anchor != SBX_NO_ANCHOR) {
			if (!binding->bound[set->anchor])
				continue;
			at = binding->anchors[set->anchor];
		}
		set_variable(environment,
		    join_variable(arena, sbx_string(blob, set->name), at,
			sbx_string(blob, set->text)));
	}
	environment->variables[environment->count] = NULL;
}

const char *
environment_get(const struct environment *environment, const char *name)
{
	size_t len = strlen(name);

	for (uint32_t i = 0; i < environment->count; i++) {
		if (has_name(environment->variables[i], name, len))
			return environment->variables[i] + len + 1;
	}
	return NULL;
}
