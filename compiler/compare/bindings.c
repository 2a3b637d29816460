/*
 * Ways to place the anchors in which two policies are compared: some that
 * people know, and those that layouts.c makes.
 */
#include "compiler/compare/paths.h"

#include <string.h>

/*
 * Whether one rule covers what another is about depends on how the anchors
 * lie to each other.  A difference is reported under the first of these
 * bindings that shows it; they spare most searches and are easy to explain.
 */
static const struct binding usual[] = {
	{ NULL, "/home/user/project", "/home/user", NULL, NULL, NULL, NULL,
	    NULL, NULL },
	{ "the workspace is the home directory", "/home/user", "/home/user",
	    NULL, NULL, NULL, NULL, NULL, NULL },
	{ "the workspace lies outside of the home directory", "/srv/project",
	    "/home/user", NULL, NULL, NULL, NULL, NULL, NULL },
	{ "the workspace holds the home directory", "/home", "/home/user", NULL,
	    NULL, NULL, NULL, NULL, NULL },
	{ "$HOME is not the home of the password entry", "/home/user/project",
	    "/home/user", "/home/entry", NULL, NULL, NULL, NULL, NULL },
	{ "the parameters are the workspace", "/home/user/project",
	    "/home/user", NULL, "/home/user/project", NULL, NULL, NULL, NULL },
	{ "the parameters are the home directory", "/home/user/project",
	    "/home/user", NULL, "/home/user", NULL, NULL, NULL, NULL },
};

static const char runtime_usual[] = "/run/user/1000";

const struct binding *
binding_usual(size_t number)
{
	return number < countof(usual) ? &usual[number] : NULL;
}

const struct binding *
binding_two_homes(void)
{
	size_t i = 0;

	while (usual[i].other_home == NULL)
		i++;
	return &usual[i];
}

const struct binding *
binding_other_user(void)
{
	static const struct binding other = {
		.about = "the home directory is another one",
		.workspace = "/home/user/project",
		.home = "/home/other",
	};

	return &other;
}

bool
binding_names_home(const struct sbx_blob *blob)
{
	const char *home = usual[0].home;
	size_t len = strlen(home);

	for (uint32_t i = 0; i < blob->path_count; i++) {
		const char *path = sbx_string(blob, blob->paths[i].suffix);

		if (blob->paths[i].anchor == SBX_ANCHOR_ROOT &&
		    strncmp(path, home, len) == 0 &&
		    (path[len] == '/' || path[len] == '\0'))
			return true;
	}
	return false;
}

bool
binding_is_useful(const struct comparison *comparison,
    const struct binding *binding)
{
	return binding->params == NULL ||
	    comparison->blobs[SIDE_OLD]->anchor_count > SBX_ANCHOR_PARAM ||
	    comparison->blobs[SIDE_NEW]->anchor_count > SBX_ANCHOR_PARAM;
}

struct subject
binding_subject(const struct comparison *comparison,
    const struct binding *binding, enum side side, struct arena *arena)
{
	const struct sbx_blob *blob = comparison->blobs[side];
	struct subject subject = { .level = SBX_LEVEL_FULL };
	struct places *places = &subject.places;
	const struct bound_param *param = binding->own;

	if (comparison->bound[side] != NULL) {
		subject = *comparison->bound[side];
		for (; param != NULL && param->name != NULL; param++)
			places_define(places, param->name, param->path);
		return subject;
	}
	places_init(places, arena, blob, binding->workspace, binding->home);
	places_bind(places, SBX_ANCHOR_RUNTIME,
	    binding->runtime != NULL ? binding->runtime : runtime_usual);
	if (binding->agent != NULL)
		places->agent = sbx_place_of(binding->agent);
	if (binding->scratch != NULL)
		places_bind(places, SBX_ANCHOR_TMP, binding->scratch);
	for (uint16_t i = SBX_ANCHOR_PARAM;
	     binding->params != NULL && i < blob->anchor_count; i++)
		places_bind(places, i, binding->params);
	for (; param != NULL && param->name != NULL; param++)
		places_define(places, param->name, param->path);
	places_define_all(places, &comparison->definitions);
	if (binding->other_home != NULL)
		places_bind_other_home(places, binding->other_home);
	return subject;
}

/* --- apart ---------------------------------------------------------------- */

/* Whether a policy watches a place by its path that begins with this name. */
static bool
is_watched(const struct comparison *comparison, const char *name)
{
	size_t len = strlen(name);

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		const struct sbx_blob *blob = comparison->blobs[side];

		for (uint32_t i = 0; i < blob->watch_count; i++) {
			const char *path = sbx_string(blob,
			    blob->watches[i].suffix);

			if (blob->watches[i].anchor == SBX_ANCHOR_ROOT &&
			    strncmp(path, name, len) == 0 &&
			    (path[len] == '/' || path[len] == '\0'))
				return true;
		}
	}
	return false;
}

static bool
watches_below(const struct comparison *comparison, uint16_t anchor)
{
	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		const struct sbx_blob *blob = comparison->blobs[side];

		for (uint32_t i = 0; i < blob->watch_count; i++) {
			if (blob->watches[i].anchor == anchor)
				return true;
		}
	}
	return false;
}

const struct binding *
binding_apart(struct comparison *comparison)
{
	struct arena *arena = comparison->arena;
	struct binding *binding = arena_alloc(arena, sizeof *binding);
	const char *home = "/home", *other = "/srv";

	for (unsigned i = 1; is_watched(comparison, home); i++)
		home = arena_printf(arena, "/home%u", i);
	for (unsigned i = 1; is_watched(comparison, other); i++)
		other = arena_printf(arena, "/srv%u", i);
	*binding = (struct binding){
		.about = "the anchors lie apart",
		.workspace = arena_printf(arena, "%s/project", other),
		.home = arena_printf(arena, "%s/user", home),
	};
	if (watches_below(comparison, SBX_ANCHOR_RUNTIME))
		binding->runtime = arena_printf(arena, "%s/runtime", other);
	return binding;
}

/* --- where anchors may lie ------------------------------------------------ */

static bool
lies_in_any(const char *path, const char *const *directories)
{
	for (; *directories != NULL; directories++) {
		if (path_lies_in(path, *directories))
			return true;
	}
	return false;
}

bool
binding_is_param_place(const char *path)
{
	static const char *const never[] = { "/dev", "/proc", "/sys", NULL };

	return *path == '/' && !lies_in_any(path, never);
}

/* sbxrun refuses a workspace in the directory that it keeps in /tmp. */
bool
binding_is_work_place(const char *path)
{
	static const char *const system[] = {
		"/bin",
		"/boot",
		"/dev",
		"/etc",
		"/lib",
		"/lib32",
		"/lib64",
		"/libx32",
		"/proc",
		"/run",
		"/sbin",
		"/sys",
		"/usr",
		"/var/cache",
		"/var/lib",
		"/var/log",
		"/var/run",
		"/var/spool",
		NULL,
	};

	return *path == '/' && !lies_in_any(path, system) &&
	    strcmp(path, "/tmp") != 0 && strcmp(path, "/var") != 0 &&
	    strcmp(path, "/var/tmp") != 0 && strncmp(path, "/tmp/sbx-", 9) != 0;
}
