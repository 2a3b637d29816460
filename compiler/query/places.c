/*
 * A blob's symbolic paths bound as text, for questions about a policy: the
 * workspace is a directory that was named, and nothing is looked up on disk.
 * The loader binds the same anchors by opening them, so that symbolic links
 * count there and not here, unless this machine is asked
 * (places_ask_machine()).
 *
 * What has no path before the loader runs, the scratch directory above all, is
 * bound to its own name ("/tmp/sbx-UID/${tmp}"), which no file has.
 */
#include "compiler/query/why.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Takes out "//", "." and ".." and the slash at the end. */
static struct sbx_place
normalise(const struct places *places, const char *path)
{
	char *clean = arena_strndup(places->arena, path, strlen(path));
	char *end = clean;

	while (*path != '\0') {
		size_t len;

		path += strspn(path, "/");
		len = strcspn(path, "/");
		if (len == 2 && path[0] == '.' && path[1] == '.') {
			while (end > clean && *--end != '/')
				;
		} else if (len > 0 && !(len == 1 && path[0] == '.')) {
			*end++ = '/';
			memcpy(end, path, len);
			end += len;
		}
		path += len;
	}
	*end = '\0';
	return sbx_place_of(clean);
}

static struct sbx_place
absolute(const struct places *places, const char *path)
{
	if (path[0] != '/')
		path = arena_printf(places->arena, "%s/%s", places->cwd.path,
		    path);
	return places->here ? here_follow(places->arena, path).place :
			      normalise(places, path);
}

static const char *
anchor_name(const struct places *places, uint32_t anchor)
{
	return sbx_string(places->blob, places->blob->anchors[anchor].name);
}

static void
bind_home(struct places *places, const char *home)
{
	const struct passwd *entry = home == NULL ? getpwuid(getuid()) : NULL;
	struct sbx_place *bound = &places->anchors[SBX_ANCHOR_HOME];

	if (home == NULL)
		home = getenv("HOME");
	if (entry != NULL && entry->pw_dir[0] == '/') {
		places->other_home = normalise(places, entry->pw_dir);
		places->has_other_home = true;
		if (home == NULL || home[0] == '\0')
			home = places->other_home.path;
	}
	if (home == NULL || home[0] == '\0')
		return;
	*bound = absolute(places, home);
	places->named[SBX_ANCHOR_HOME] = false;
	if (places->has_other_home &&
	    sbx_place_compare(*bound, places->other_home) == 0)
		places->has_other_home = false;
}

void
places_init(struct places *places, struct arena *arena,
    const struct sbx_blob *blob, const char *workspace, const char *home)
{
	char cwd[SBX_MAX_PATH + 1];
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	*places = (struct places){ .arena = arena, .blob = blob };
	places_reset_index(places);
	if (getcwd(cwd, sizeof cwd) == NULL)
		cwd[0] = '\0';
	places->cwd = normalise(places, cwd);
	places->anchors[SBX_ANCHOR_ROOT] = sbx_place_of("");
	for (uint32_t i = SBX_ANCHOR_WORKSPACE; i < blob->anchor_count; i++) {
		places->anchors[i] = sbx_place_of(
		    arena_printf(arena, "/${%s}", anchor_name(places, i)));
		places->named[i] = true;
	}
	places->anchors[SBX_ANCHOR_TMP] = sbx_place_of(
	    arena_printf(arena, "/tmp/sbx-%u/${tmp}", (unsigned)getuid()));
	places->anchors[SBX_ANCHOR_WORKSPACE] = workspace != NULL ?
	    absolute(places, workspace) :
	    places->cwd;
	places->named[SBX_ANCHOR_WORKSPACE] = false;
	places->agent = sbx_place_of("/${ssh-agent}");
	if (runtime != NULL && runtime[0] == '/') {
		places->anchors[SBX_ANCHOR_RUNTIME] = normalise(places,
		    runtime);
		places->named[SBX_ANCHOR_RUNTIME] = false;
	}
	bind_home(places, home);
}

/* The anchor of this name, or 0: the root has no name. */
static uint16_t
anchor_find(const struct sbx_blob *blob, const char *name, size_t len)
{
	for (uint16_t i = SBX_ANCHOR_WORKSPACE; i < blob->anchor_count; i++) {
		const char *known = sbx_string(blob, blob->anchors[i].name);

		if (strncmp(known, name, len) == 0 && known[len] == '\0')
			return i;
	}
	return 0;
}

uint16_t
places_param(const struct sbx_blob *blob, const char *name)
{
	uint16_t anchor = anchor_find(blob, name, strlen(name));

	return anchor >= SBX_ANCHOR_PARAM ? anchor : 0;
}

bool
places_define(struct places *places, const char *name, const char *path)
{
	uint16_t anchor = places_param(places->blob, name);

	if (anchor != 0)
		places_bind(places, anchor, path);
	return anchor != 0;
}

void
places_define_all(struct places *places, const struct definitions *definitions)
{
	for (size_t i = 0; i < definitions->list.count; i++)
		places_define(places, definitions->list.items[i].name,
		    definitions->list.items[i].value);
}

void
places_bind(struct places *places, uint16_t anchor, const char *path)
{
	places->anchors[anchor] = absolute(places, path);
	places->named[anchor] = false;
	places_reset_index(places);
}

void
places_bind_other_home(struct places *places, const char *path)
{
	places->other_home = absolute(places, path);
	places->has_other_home = sbx_place_compare(places->other_home,
				     places->anchors[SBX_ANCHOR_HOME]) != 0;
	places_reset_index(places);
}

/* An absolute path for what people type; its links are not followed yet. */
static const char *
raw_path(const struct places *places, const char *text, const char **raw)
{
	const char *rest = text;
	uint32_t anchor;

	if (text[0] == '~' && (text[1] == '/' || text[1] == '\0')) {
		anchor = SBX_ANCHOR_HOME;
		rest = text + 1;
	} else if (strncmp(text, "${", 2) == 0) {
		rest = strchr(text, '}');
		if (rest == NULL || (rest[1] != '/' && rest[1] != '\0'))
			return "'${name}' ends with '}', then '/' or nothing";
		anchor = anchor_find(places->blob, text + 2,
		    (size_t)(rest - text - 2));
		if (anchor == 0)
			return "the policy has no parameter of that name";
		rest++;
	} else {
		*raw = text[0] == '/' ? text :
					arena_printf(places->arena, "%s/%s",
					    places->cwd.path, text);
		return text[0] == '\0' ? "the path is empty" : NULL;
	}
	*raw = arena_printf(places->arena, "%s/%s",
	    places->anchors[anchor].path, rest);
	return NULL;
}

const char *
places_find(const struct places *places, const char *text,
    struct sbx_place *place)
{
	const char *raw, *fault = raw_path(places, text, &raw);

	if (fault == NULL)
		*place = places->here ? here_ask(places->arena, raw).place :
					normalise(places, raw);
	return fault;
}

const struct followed *
places_followed(const struct places *places, const char *text)
{
	struct followed *followed = arena_alloc(places->arena,
	    sizeof *followed);
	const char *raw;

	if (raw_path(places, text, &raw) != NULL)
		return NULL;
	*followed = here_ask(places->arena, raw);
	return followed;
}

uint16_t
places_anchor(const struct places *places, struct sbx_place place)
{
	uint16_t best = SBX_ANCHOR_ROOT;

	for (uint16_t i = 0; i < places->blob->anchor_count; i++) {
		if (sbx_covers(places->anchors[i], place) &&
		    places->anchors[i].len > places->anchors[best].len)
			best = i;
	}
	return best;
}

const char *
places_spell(const struct places *places, struct sbx_place place)
{
	uint16_t best = places_anchor(places, place);
	const char *rest;

	rest = place.path + places->anchors[best].len;
	if (best == SBX_ANCHOR_ROOT &&
	    sbx_place_compare(places->agent, place) == 0)
		return place.path + 1;
	if (best == SBX_ANCHOR_ROOT)
		return place.len > 0 ? place.path : "/";
	if (best == SBX_ANCHOR_HOME)
		return arena_printf(places->arena, "~%s", rest);
	return arena_printf(places->arena, "${%s}%s", anchor_name(places, best),
	    rest);
}
