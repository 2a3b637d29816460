/*
 * Patterns of paths: what a path rule with `glob` speaks of below its place.
 *
 *	*	any characters of a name: none too, and a leading dot too
 *	?	one character of a name
 *	**	as a whole part: any number of directories, none too
 *
 * A name is bytes to Linux.  A character is one of UTF-8, well formed, and each
 * byte that is in none is a character by itself.
 *
 * A path is matched name by name.  A set of states says which parts of the
 * pattern may come next, so that a walk knows of each directory whether
 * anything below it can match at all.  Bit i: part i is next; the bit after
 * the last part: what was read so far matches.
 */
#include "format/model.h"
#include "format/text.h"

static bool
is_any(const char *part, uint32_t len)
{
	return len == 2 && part[0] == '*' && part[1] == '*';
}

static bool
is_wild(const char *part, uint32_t len)
{
	while (len-- > 0) {
		if (part[len] == '*' || part[len] == '?')
			return true;
	}
	return false;
}

/* Not ".", "..", nor with two stars in a row, unless that is all of it. */
static bool
is_part(const char *part, uint32_t len)
{
	if (len == 0 ||
	    (part[0] == '.' && (len == 1 || (len == 2 && part[1] == '.'))))
		return false;
	for (uint32_t i = 0; i + 1 < len; i++) {
		if (part[i] == '*' && part[i + 1] == '*')
			return len == 2;
	}
	return true;
}

static bool
add_part(struct sbx_glob *glob, const char *part, uint32_t len)
{
	uint32_t index = glob->count;

	if (index == SBX_MAX_GLOB || !is_part(part, len))
		return false;
	if (is_any(part, len)) {
		if (index > 0 && (glob->any >> (index - 1) & 1) != 0)
			return false;
		glob->any |= UINT64_C(1) << index;
	}
	glob->parts[index] = part;
	glob->lens[index] = len;
	glob->count++;
	return true;
}

bool
sbx_glob_parse(const char *text, struct sbx_glob *glob)
{
	uint32_t at = 0;

	glob->count = 0;
	glob->any = 0;
	while (text[at] == '/') {
		uint32_t from = ++at;

		while (text[at] != '/' && text[at] != '\0')
			at++;
		if (at > SBX_MAX_PATH ||
		    !add_part(glob, text + from, at - from))
			return false;
	}
	/* Without a wildcard in it the first part belongs to the place, and a
	 * place means what lies in it. */
	return text[at] == '\0' && glob->count > 0 &&
	    is_wild(glob->parts[0], glob->lens[0]) &&
	    (glob->any >> (glob->count - 1) & 1) == 0;
}

/* The end of the character at an offset; what is no UTF-8 is a character a
 * byte. */
static size_t
next_character(const char *name, size_t len, size_t at)
{
	uint32_t character;
	size_t size = utf8_decode(name + at, len - at, &character);

	return at + (size == 0 ? 1 : size);
}

bool
sbx_name_match(const char *part, size_t part_len, const char *name, size_t len)
{
	size_t next = 0, at = 0, star = SIZE_MAX, mark = 0;

	/* As sbx_pattern_match(): one point of return is enough. */
	while (at < len) {
		if (next < part_len && part[next] == '*') {
			star = ++next;
			mark = at;
		} else if (next < part_len && part[next] == '?') {
			next++;
			at = next_character(name, len, at);
		} else if (next < part_len && part[next] == name[at]) {
			next++;
			at++;
		} else if (star != SIZE_MAX) {
			next = star;
			at = mark = next_character(name, len, mark);
		} else {
			return false;
		}
	}
	while (next < part_len && part[next] == '*')
		next++;
	return next == part_len;
}

/* Parts that may stand for nothing may be passed over; no two are in a row. */
static uint64_t
pass_over(const struct sbx_glob *glob, uint64_t states)
{
	return states | (states & glob->any) << 1;
}

uint64_t
sbx_glob_start(const struct sbx_glob *glob)
{
	return pass_over(glob, 1);
}

uint64_t
sbx_glob_step(const struct sbx_glob *glob, uint64_t states, const char *name,
    size_t len)
{
	uint64_t next = states & glob->any;

	states &= (UINT64_C(1) << glob->count) - 1;
	for (states &= ~glob->any; states != 0; states &= states - 1) {
		unsigned i = (unsigned)__builtin_ctzll(states);

		if (sbx_name_match(glob->parts[i], glob->lens[i], name, len))
			next |= UINT64_C(2) << i;
	}
	return pass_over(glob, next);
}

int
sbx_glob_only(const struct sbx_glob *glob, uint64_t states)
{
	int i;

	states &= (UINT64_C(1) << glob->count) - 1;
	if (states == 0 || (states & (states - 1)) != 0)
		return -1;
	i = __builtin_ctzll(states);
	return is_wild(glob->parts[i], glob->lens[i]) ? -1 : i;
}

struct sbx_place
sbx_glob_find(const struct sbx_glob *glob, struct sbx_place place,
    struct sbx_place path)
{
	uint64_t states = sbx_glob_start(glob);
	uint32_t at = place.len;

	if (!sbx_covers(place, path))
		return (struct sbx_place){ "", 0 };
	while (states != 0 && at < path.len) {
		uint32_t from = ++at;

		while (at < path.len && path.path[at] != '/')
			at++;
		states = sbx_glob_step(glob, states, path.path + from,
		    at - from);
		if (sbx_glob_matches(glob, states))
			return (struct sbx_place){ path.path, at };
	}
	return (struct sbx_place){ "", 0 };
}
