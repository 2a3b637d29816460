#include "tests/model/properties/model.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef __x86_64__
#define HERE SBX_ON_LINUX_X86_64
#else
#define HERE SBX_ON_LINUX_AARCH64
#endif

static void
route_up(struct route *route)
{
	char *slash = strrchr(route->at, '/');

	if (slash != NULL)
		*slash = '\0';
}

void
route_follow(struct route *route, const char *path)
{
	char rest[2 * PATH_SIZE], target[PATH_SIZE], longer[2 * PATH_SIZE];
	bool lost = false;
	size_t len;

	*route = (struct route){ .link_count = 0 };
	snprintf(rest, sizeof rest, "%s", path);
	for (char *next = rest; *(next += strspn(next, "/")) != '\0';) {
		char *name = next;
		ssize_t got;

		len = strcspn(next, "/");
		next += len;
		if (len == 2 && memcmp(name, "..", 2) == 0) {
			route_up(route);
			continue;
		}
		snprintf(longer, sizeof longer, "%s/%.*s", route->at, (int)len,
		    name);
		print_path(route->at, "%s", longer);
		got = lost ? -1 :
			     readlink(route->at, target, sizeof target - 1);
		lost |= got < 0 && errno != EINVAL;
		if (got < 0)
			continue;
		/* A loop of links leads nowhere, like what is not there. */
		if (route->link_count == MAX_LINKS) {
			lost = true;
			continue;
		}
		target[got] = '\0';
		print_path(route->links[route->link_count++], "%s", route->at);
		if (target[0] == '/')
			route->at[0] = '\0';
		else
			route_up(route);
		snprintf(longer, sizeof longer, "%s%s", target, next);
		memcpy(rest, longer, sizeof rest);
		next = rest;
	}
}

struct sbx_place
spot_of(const char *path)
{
	return (struct sbx_place){ path, (uint32_t)strlen(path) };
}

static struct sbx_place
model_place(const struct model *model, const char *path)
{
	return spot_of(arena_strndup(model->arena, path, strlen(path)));
}

bool
model_gives(const struct model *model, uint8_t right, const char *path)
{
	return sbx_verdict_allows(
	    sbx_path_verdict(model->rules, model->count, right, spot_of(path)));
}

/* What commands may write: the workspace, and what some rule lets them. */
static void
model_suspect(struct model *model, const struct place_rules *texts,
    const char *workspace)
{
	struct route route;

	model->suspects = arena_alloc(model->arena,
	    (texts->count + 1) * sizeof *model->suspects);
	model->suspects[model->suspect_count++] = model_place(model, workspace);
	for (size_t i = 0; i < texts->count; i++) {
		const struct sbx_rule *text = &texts->rules[i];

		if (text->effect != SBX_ALLOW ||
		    (text->rights & SBX_WRITE) == 0)
			continue;
		route_follow(&route, text->at.path);
		model->suspects[model->suspect_count++] = model_place(model,
		    route.at);
	}
}

/* Whether one of the links lies in a directory that commands may write. */
static bool
model_planted(const struct model *model, const struct route *route)
{
	for (size_t i = 0; i < route->link_count; i++) {
		char directory[PATH_SIZE];

		print_path(directory, "%s", route->links[i]);
		*strrchr(directory, '/') = '\0';
		for (size_t j = 0; j < model->suspect_count; j++) {
			if (sbx_covers(model->suspects[j], spot_of(directory)))
				return true;
		}
	}
	return false;
}

/* Adds a rule; what denies by way of a link also keeps the link in place, and
 * a link to an exclusion is one too.  A planted link allows nothing, neither by a
 * rule nor by an exclusion. */
static void
model_add(struct model *model, const struct sbx_rule *text)
{
	struct sbx_rule *rule = &model->rules[model->count++];
	struct sbx_place *exclusions = arena_alloc(model->arena,
	    (text->exclusion_count * (1u + MAX_LINKS) + 1) *
		sizeof *exclusions);
	struct route route;

	*rule = *text;
	rule->exclusions = exclusions;
	rule->exclusion_count = 0;
	for (uint16_t i = 0; i < text->exclusion_count; i++) {
		route_follow(&route, text->exclusions[i].path);
		if (rule->effect != SBX_ALLOW && model_planted(model, &route))
			continue;
		exclusions[rule->exclusion_count++] = model_place(model,
		    route.at);
		for (size_t j = 0; j < route.link_count; j++)
			exclusions[rule->exclusion_count++] = model_place(model,
			    route.links[j]);
	}
	route_follow(&route, text->at.path);
	rule->at = model_place(model, route.at);
	/* What allows a place that is not there grants nothing, see sbx(5). */
	if (rule->effect == SBX_ALLOW &&
	    (!exists(route.at) || model_planted(model, &route)))
		rule->rights = 0;
	for (size_t i = 0; i < route.link_count && rule->effect != SBX_ALLOW;
	     i++)
		model->rules[model->count++] = (struct sbx_rule){
			.at = model_place(model, route.links[i]),
			.source = rule->source,
			.effect = rule->effect,
			.rights = SBX_WRITE,
		};
}

void
model_bind(struct model *model, const struct world *world, struct arena *arena,
    const struct sbx_blob *blob)
{
	struct place_rules texts;
	struct places places;
	struct route workspace, home, parameter;

	route_follow(&workspace, world->workspace);
	route_follow(&home, world->home);
	route_follow(&parameter, world->parameter);
	places_init(&places, arena, blob, workspace.at, home.at);
	*model = (struct model){ .arena = arena };
	model->defined = places_define(&places, "p", parameter.at);
	places_rules(&places, HERE, &texts);
	places_rules_at(&texts,
	    is_full(world) ? SBX_LEVEL_FULL : SBX_LEVEL_STANDARD);
	model->rules = arena_alloc(arena,
	    (texts.count + 1) * (MAX_LINKS + 1) * sizeof *model->rules);
	model_suspect(model, &texts, workspace.at);
	for (size_t i = 0; i < texts.count; i++)
		model_add(model, &texts.rules[i]);
}

bool
is_below(const char *path, struct sbx_place place)
{
	size_t len = strlen(path);

	return place.len > len && strncmp(place.path, path, len) == 0 &&
	    place.path[len] == '/';
}
