/*
 * One way in which two policies differ, and the words for it.
 */
#include "compiler/compare/compare.h"
#include "compiler/policy/kind.h"
#include "compiler/tables/tables.h"

#include <string.h>

/* Of what is no rule. */
static const struct difference_words settings[DIFFERENCE_END] = {
	[DIFFERENCE_LEVEL] = { "level", "level", "no level is required" },
	[DIFFERENCE_LANDLOCK] = { "landlock", "Landlock",
	    "no Landlock ABI is required" },
	[DIFFERENCE_STRENGTH] = { "strength", "strength of a deny", NULL },
	[DIFFERENCE_PARAM] = { "parameter", "parameters",
	    "has no such parameter" },
	[DIFFERENCE_ABOUT] = { "about", "about", "says nothing" },
	[DIFFERENCE_MACOS] = { "macos", "macOS", NULL },
};

static const struct difference_words *
words_of(enum difference_kind kind)
{
	return (int)kind < KIND_END ? &rule_kinds[kind]->difference :
				      &settings[kind];
}

const char *
change_word(enum change change)
{
	static const char *const words[CHANGE_END] = {
		[CHANGE_WIDER] = "wider",
		[CHANGE_NARROWER] = "narrower",
		[CHANGE_NEUTRAL] = "neutral",
		[CHANGE_MAYBE_WIDER] = "maybe-wider",
		[CHANGE_MAYBE_NARROWER] = "maybe-narrower",
	};

	return words[change];
}

const char *
difference_word(enum difference_kind kind)
{
	return words_of(kind)->word;
}

const char *
difference_title(enum difference_kind kind)
{
	return words_of(kind)->title;
}

const char *
difference_noun(enum difference_kind kind)
{
	static const char *const nouns[DIFFERENCE_END] = {
		[DIFFERENCE_PATH] = "path",
		[DIFFERENCE_PORT] = "port",
		[DIFFERENCE_SYSCALL] = "call",
		[DIFFERENCE_ENV] = "variable",
		[DIFFERENCE_SET] = "variable",
		[DIFFERENCE_LIMIT] = "limit",
		[DIFFERENCE_WATCH] = "watched place",
		[DIFFERENCE_SOCKET] = "socket",
		[DIFFERENCE_DOMAIN] = "name",
		[DIFFERENCE_ENDPOINT] = "address",
	};

	return nouns[kind] != NULL ? nouns[kind] : "setting";
}

/* "read, write and exec ~/.netrc". */
static const char *
rights_text(struct arena *arena, const struct difference *difference)
{
	static const char *const words[] = { "read", "write", "exec" };
	const char *path = strchr(difference->what, ' '), *text = "";
	uint8_t rights = difference->rights | difference->access.detail;
	unsigned left = (unsigned)__builtin_popcount(rights);

	for (unsigned i = 0; i < countof(words); i++) {
		if ((rights >> i & 1) == 0)
			continue;
		left--;
		text = arena_printf(arena, "%s%s%s", text, words[i],
		    left > 1      ? ", " :
			left == 1 ? " and " :
				    "");
	}
	return arena_printf(arena, "%s%s", text, path);
}

const char *
difference_text(struct arena *arena, const struct difference *difference)
{
	const char *noun = difference_noun(difference->kind);
	const char *text = difference->rights != 0 ?
	    rights_text(arena, difference) :
	    difference->what;

	if (difference->more > 0)
		text = arena_printf(arena, "%s and %zu more %s%s%s", text,
		    difference->more, noun,
		    noun[strlen(noun) - 1] == 's' ? "e" : "",
		    difference->more == 1 ? "" : "s");
	if (difference->block != NULL)
		text = arena_printf(arena, "%s: %s%s", difference->block, text,
		    difference->others != NULL ? difference->others : "");
	return difference->reason == NULL ?
	    text :
	    arena_printf(arena, "%s: %s", text, difference->reason);
}

const char *
difference_condition(struct arena *arena, const struct difference *difference)
{
	return difference->binding == NULL ||
		difference->binding->about == NULL ?
	    "" :
	    arena_printf(arena, ", where %s", difference->binding->about);
}

const char *
difference_says(const struct difference *difference, enum side side)
{
	const struct explanation *says = &difference->says[side];

	if (says->text != NULL)
		return says->text;
	if (!difference->witnessed || difference->kind == DIFFERENCE_WATCH)
		return words_of(difference->kind)->silence;
	if (difference->kind != DIFFERENCE_SYSCALL)
		return "no rule allows it";
	return says->verdict.allowed ?
	    "no rule denies it" :
	    "it does not go with the rules about the network";
}

/* Where a binding has a parameter, or NULL. */
static const char *
param_place(const struct binding *binding, const char *name)
{
	const struct bound_param *param = binding->own;

	while (param != NULL && param->name != NULL) {
		if (strcmp(param->name, name) == 0)
			return param->path;
		param++;
	}
	return binding->params;
}

/* The options for the parameters of a policy that the one before has not. */
static const char *
add_params(const struct comparison *comparison, const struct binding *binding,
    enum side side, const char *text)
{
	const struct sbx_blob *blob = comparison->blobs[side];

	for (uint32_t i = SBX_ANCHOR_PARAM; i < blob->anchor_count; i++) {
		const char *name = sbx_string(blob, blob->anchors[i].name);
		const char *path = param_place(binding, name);

		if (path != NULL &&
		    (side == SIDE_OLD ||
			places_param(comparison->blobs[SIDE_OLD], name) == 0))
			text = arena_printf(comparison->arena, "%s -D %s=%s",
			    text, name, path);
	}
	return text;
}

const char *
difference_options(const struct comparison *comparison,
    const struct difference *difference)
{
	const struct binding *binding = difference->binding;
	struct arena *arena = comparison->arena;
	const char *text = "--model";

	/* No option says what the password entry and the environment say, or
	 * has an older Landlock at level full. */
	if (binding != NULL &&
	    (binding->other_home != NULL || binding->runtime != NULL ||
		binding->scratch != NULL || binding->agent != NULL))
		return NULL;
	if (difference->abi != 0 && difference->level != SBX_LEVEL_STANDARD)
		return NULL;
	/* If the user has bound them, they are as they are. */
	if (binding != NULL && binding->workspace != NULL)
		text = arena_printf(arena, "-w %s --home %s",
		    binding->workspace, binding->home);
	for (unsigned side = 0; binding != NULL && side < SIDE_COUNT; side++)
		text = add_params(comparison, binding, (enum side)side, text);
	/* Landlock of this ABI, or of the newest. */
	if (difference->level != SBX_LEVEL_FULL)
		text = arena_printf(arena, "%s -l %s", text,
		    difference->abi == 0 ?
			level_word(difference->level) :
			arena_printf(arena, "landlock=%d", difference->abi));
	for (size_t i = 0; i < arch_count; i++) {
		if (difference->platforms == arches[i].platforms)
			text = arena_printf(arena, "%s --arch %s", text,
			    arches[i].name);
	}
	return text;
}

/* A path of the policies may have met what is only an example. */
static bool
meets_example(const struct comparison *comparison,
    const struct difference *difference)
{
	return difference->binding != NULL &&
	    difference->binding->about == NULL && comparison->names_home;
}

bool
difference_is_anywhere(const struct comparison *comparison,
    const struct difference *difference)
{
	const struct binding *binding = difference->binding;

	return difference->level == SBX_LEVEL_FULL && difference->abi == 0 &&
	    (difference->platforms & SBX_ON_LINUX) == SBX_ON_LINUX &&
	    (binding == NULL ||
		(binding->about == NULL && binding->own == NULL)) &&
	    !meets_example(comparison, difference);
}

const char *
difference_where(const struct comparison *comparison,
    const struct difference *difference)
{
	struct arena *arena = comparison->arena;
	const char *text = "";

	if (meets_example(comparison, difference))
		text = arena_printf(arena, ", where the home directory is %s",
		    difference->binding->home);
	if (difference->level != SBX_LEVEL_FULL)
		text = arena_printf(arena, "%s, at level %s", text,
		    level_word(difference->level));
	if (difference->abi > 0)
		text = arena_printf(arena, "%s, with Landlock ABI %d", text,
		    difference->abi);
	if ((difference->platforms & SBX_ON_LINUX) != SBX_ON_LINUX)
		text = arena_printf(arena, "%s, on %s", text,
		    platform_text(difference->platforms));
	return *text != '\0' ? text + 2 : NULL;
}
