/*
 * What a rule about paths speaks of, in the spellings that tables of places
 * have: /root, /home/ada and all of /home are homes as ~ is, /run/user/1000 is
 * a ${runtime}, and a glob that ends with a bare '*' is its directory.
 */
#include "compiler/check/check.h"

#include <string.h>

/* Directories whose entries, or which themselves, an anchor may be bound to. */
static const struct alias {
	const char *directory;
	bool entries;
	uint16_t anchor;
} aliases[] = {
	{ "/root", false, SBX_ANCHOR_HOME },
	{ "/home", true, SBX_ANCHOR_HOME },
	{ "/Users", true, SBX_ANCHOR_HOME },
	{ "/run/user", true, SBX_ANCHOR_RUNTIME },
};

_Static_assert(countof(aliases) < MAX_SPELLINGS, "room for each");

/* A rule's place and its pattern, read name by name. */
struct cursor {
	const char *place, *pattern;
	bool guessed; /* a name was taken that the rule does not write */
};

/* The length of the first part of "/a/b", without the slash. */
static size_t
part_len(const char *path)
{
	return strcspn(path + 1, "/");
}

/* Takes one name, or any if it is NULL; false if the rule has another one there
 * or none. */
static bool
cursor_take(struct cursor *cursor, const char *name, size_t len)
{
	const char *part = *cursor->place != '\0' ? cursor->place :
						    cursor->pattern;
	size_t size;

	if (*part == '\0')
		return false;
	size = part_len(part);
	if (part == cursor->place) {
		cursor->place += size + 1;
		return name == NULL ||
		    (size == len && strncmp(part + 1, name, len) == 0);
	}
	cursor->guessed = true;
	/* It may stand for this name and for more. */
	if (size == 2 && strncmp(part + 1, "**", 2) == 0)
		return true;
	cursor->pattern += size + 1;
	return name == NULL || sbx_name_match(part + 1, size, name, len);
}

static bool
cursor_take_alias(struct cursor *cursor, const struct alias *alias)
{
	const char *directory = alias->directory;

	if (*cursor->place == '\0' && *cursor->pattern == '\0') {
		cursor->guessed = true;
		return true;
	}
	while (*directory != '\0') {
		size_t len = part_len(directory);

		if (!cursor_take(cursor, directory + 1, len))
			return false;
		directory += len + 1;
	}
	/* A rule about the directory is about each of its entries. */
	if (!alias->entries)
		return true;
	if (*cursor->place != '\0' || *cursor->pattern != '\0')
		return cursor_take(cursor, NULL, 0);
	cursor->guessed = true;
	return true;
}

/* The spelling of what is left of a rule.  Names before the first wildcard
 * belong to the place. */
static struct spelling
spelling_of(struct arena *arena, const struct cursor *cursor, uint16_t anchor)
{
	struct spelling spelling = { .at = { cursor->place, anchor } };
	const char *pattern = cursor->pattern;
	size_t plain = 0;

	while (pattern[plain] != '\0') {
		size_t len = part_len(pattern + plain);
		const char *wild = strpbrk(pattern + plain + 1, "*?");

		if (wild != NULL && wild <= pattern + plain + len)
			break;
		plain += len + 1;
	}
	if (plain > 0)
		spelling.at.suffix = arena_printf(arena, "%s%.*s",
		    cursor->place, (int)plain, pattern);
	pattern += plain;
	spelling.globbed = strcmp(pattern, "") != 0 &&
	    strcmp(pattern, "/*") != 0 && strcmp(pattern, "/**/*") != 0 &&
	    sbx_glob_parse(pattern, &spelling.glob);
	return spelling;
}

static bool
spelling_by(struct arena *arena, const struct path_rule *rule,
    const struct alias *alias, struct spelling *spelling)
{
	struct cursor cursor = {
		rule->at.suffix,
		rule->glob != NULL ? rule->glob : "",
		false,
	};

	if (!cursor_take_alias(&cursor, alias))
		return false;
	*spelling = spelling_of(arena, &cursor, alias->anchor);
	spelling->prefix = (uint32_t)(cursor.place - rule->at.suffix);
	spelling->unplaced = cursor.guessed;
	return true;
}

size_t
rule_spellings(struct arena *arena, const struct path_rule *rule,
    struct spelling spellings[MAX_SPELLINGS])
{
	const struct cursor whole = {
		rule->at.suffix,
		rule->glob != NULL ? rule->glob : "",
		false,
	};
	size_t count = 0;

	spellings[count++] = spelling_of(arena, &whole, rule->at.anchor);
	if (rule->at.anchor != SBX_ANCHOR_ROOT)
		return count;
	for (size_t i = 0; i < countof(aliases); i++)
		count += spelling_by(arena, rule, &aliases[i],
		    &spellings[count]);
	return count;
}

/* Whether a part of the pattern that may come next is just this name. */
static bool
is_named(const struct sbx_glob *glob, uint64_t states, const char *name,
    size_t len)
{
	states &= (UINT64_C(1) << glob->count) - 1;
	for (; states != 0; states &= states - 1) {
		unsigned i = (unsigned)__builtin_ctzll(states);

		if (glob->lens[i] == len &&
		    strncmp(glob->parts[i], name, len) == 0)
			return true;
	}
	return false;
}

/* Of what lies in a place a pattern speaks if it names the place: that "*.log"
 * of any directory is meant says nothing of this one. */
static enum reach
glob_reaches(const struct sbx_glob *glob, const char *below)
{
	uint64_t states = sbx_glob_start(glob);
	bool named = false;

	while (*below == '/' && states != 0) {
		size_t len = part_len(below);

		named = is_named(glob, states, below + 1, len);
		states = sbx_glob_step(glob, states, below + 1, len);
		below += len + 1;
		if (sbx_glob_matches(glob, states))
			return *below == '\0' ? REACH_AT : REACH_ABOVE;
	}
	return states != 0 && named ? REACH_INSIDE : REACH_NONE;
}

/* Asked for every rule and every risk: what both begin with is read once. */
enum reach
spelling_reaches(const struct spelling *spelling, struct target place)
{
	const char *at = spelling->at.suffix, *risk = place.suffix;

	if (spelling->at.anchor != place.anchor)
		return REACH_NONE;
	while (*at == *risk && *at != '\0') {
		at++;
		risk++;
	}
	if (*risk == '\0' && (*at == '\0' || *at == '/'))
		return *at == '\0' && !spelling->globbed ? REACH_AT :
							   REACH_INSIDE;
	if (*at != '\0' || *risk != '/')
		return REACH_NONE;
	if (!spelling->globbed)
		return REACH_ABOVE;
	return glob_reaches(&spelling->glob, risk);
}

bool
spelling_place(struct arena *arena, const struct path_rule *rule,
    const struct spelling *spelling, struct target place,
    struct target *written)
{
	*written = place;
	if (spelling->unplaced)
		return false;
	if (spelling->at.anchor != rule->at.anchor)
		*written = (struct target){
			arena_printf(arena, "%.*s%s", (int)spelling->prefix,
			    rule->at.suffix, place.suffix),
			rule->at.anchor,
		};
	return true;
}
