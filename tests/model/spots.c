/* See spots.h. */
#include "tests/model/spots.h"

#include <string.h>

enum { EXAMPLES = 6 }; /* of the names that a wildcard may stand for */

static const char *
anchor(const struct spots *spots, uint16_t id)
{
	return spots->bind(spots->context, (struct target){ "", id });
}

/* Whether a path has a part that is none: "", "." or "..". */
static bool
is_odd(const char *path)
{
	while (*path == '/') {
		size_t len = strcspn(++path, "/");

		if (len == strspn(path, ".") && len <= 2)
			return true;
		path += len;
	}
	return *path != '\0';
}

void
spots_add(struct spots *spots, const char *path)
{
	if (strcmp(path, "/") == 0 || (path[0] == '/' && !is_odd(path)))
		*arena_push(spots->arena, &spots->list) = path;
}

/* A path in other letters is another path, whatever the volume thinks. */
static const char *
other_case(struct spots *spots, const char *path)
{
	char *other = arena_strndup(spots->arena, path, strlen(path));

	for (char *at = other; *at != '\0'; at++) {
		if (*at >= 'a' && *at <= 'z')
			*at = (char)(*at - 'a' + 'A');
	}
	return other;
}

void
spots_add_around(struct spots *spots, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return;
	spots_add(spots, path);
	spots_add(spots, arena_printf(spots->arena, "%s/in", path));
	spots_add(spots, arena_printf(spots->arena, "%s/in/deep", path));
	spots_add(spots, arena_printf(spots->arena, "%sbeside", path));
	spots_add(spots, other_case(spots, path));
	while (slash > path) {
		spots_add(spots,
		    arena_strndup(spots->arena, path, (size_t)(slash - path)));
		do {
			slash--;
		} while (slash > path && *slash != '/');
	}
}

/* Names for the wildcards of a pattern, the `choice`-th of each.  The last are
 * such that nothing matches. */
static const char *
example(struct spots *spots, const char *pattern, size_t choice)
{
	static const char *const any[EXAMPLES] = { "", "/d", "/d/e.f", "/.d",
		"/\xc3\xa9/d", "/d" };
	static const char *const star[EXAMPLES] = { "", "x", ".y", "+",
		"\xf0\x9f\x98\x80", "m/n" };
	static const char *const one[EXAMPLES] = { "q", ".", "*", "(",
		"\xe2\x82\xac", "/" };
	const char *text = "";

	for (; *pattern != '\0'; pattern++) {
		bool directories = strncmp(pattern, "/**", 3) == 0;

		if (directories || *pattern == '*' || *pattern == '?')
			text = arena_printf(spots->arena, "%s%s", text,
			    directories         ? any[choice] :
				*pattern == '*' ? star[choice] :
						  one[choice]);
		else
			text = arena_printf(spots->arena, "%s%c", text,
			    *pattern);
		pattern += directories ? 2 : 0;
	}
	return text;
}

/* A path that a pattern would match if what it has of regular expressions were
 * not quoted. */
static const char *
unquoted(struct spots *spots, const char *path)
{
	char *other = arena_strndup(spots->arena, path, strlen(path));
	char *to = other;

	for (const char *at = path; *at != '\0'; at++) {
		if (strchr("+$^", *at) == NULL)
			*to++ = *at == '.' ? 'q' : *at;
	}
	*to = '\0';
	return other;
}

/* What a rule that begins at a path speaks of, and what it does not. */
static void
add_glob_places(struct spots *spots, const char *pattern, const char *at)
{
	static const char *const links[] = { "/etc", "/tmp", "/var" };
	const char *rest = strchr(pattern + 1, '/');

	for (size_t i = 0; i < EXAMPLES; i++) {
		const char *path = arena_printf(spots->arena, "%s%s", at,
		    example(spots, pattern, i));

		spots_add_around(spots, path);
		spots_add(spots, unquoted(spots, path));
		spots_add(spots, arena_printf(spots->arena, "%sz", path));
	}
	/* The same behind another path that something is allowed in. */
	spots_add(spots,
	    arena_printf(spots->arena, "%s/else%s%s",
		anchor(spots, SBX_ANCHOR_WORKSPACE), at,
		example(spots, pattern, 1)));
	spots_add(spots,
	    arena_printf(spots->arena, "/srv/else%s%s", at,
		example(spots, pattern, 1)));
	for (size_t i = 0; *at == '\0' && i < 3; i++)
		spots_add_around(spots,
		    arena_printf(spots->arena, "/private%s%s", links[i],
			rest == NULL ? "" : example(spots, rest, i)));
}

/* A place of a rule, and where it would be if it were taken for a link. */
static const char *
add_target(struct spots *spots, struct target at)
{
	const char *path = spots->bind(spots->context, at);

	spots_add_around(spots, path);
	spots_add(spots,
	    arena_printf(spots->arena, "%s/private%s", anchor(spots, at.anchor),
		at.suffix));
	return path;
}

static void
add_rule(struct spots *spots, const struct path_rule *rule)
{
	const char *at = add_target(spots, rule->at);

	if (rule->glob != NULL)
		add_glob_places(spots, rule->glob, at);
	for (uint16_t i = 0; i < rule->exclusion_count; i++)
		add_target(spots, rule->exclusions[i]);
}

void
spots_collect(struct spots *spots, const struct policy *policy)
{
	static const enum rule_kind_id kinds[] = { KIND_SOCKET, KIND_WATCH };
	size_t anchors = SBX_ANCHOR_PARAM + policy->params.count;

	for (uint16_t i = SBX_ANCHOR_WORKSPACE; i < anchors; i++)
		spots_add_around(spots, anchor(spots, i));
	for (size_t i = 0; i < policy->paths.count; i++)
		add_rule(spots, &policy->paths.items[i]);
	for (size_t k = 0; k < countof(kinds); k++) {
		const struct rule_list *rules = &policy->rules[kinds[k]];

		for (size_t i = 0; i < rules->count; i++) {
			struct target at = rules->items[i].path.at;

			if (at.anchor != SBX_NO_ANCHOR)
				add_target(spots, at);
		}
	}
}
