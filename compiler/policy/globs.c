/*
 * `glob "..."`: from the text of a policy to a place and a pattern below it.
 *
 *	glob "${workspace}/src/?.d/local"
 *	      \______________/\________/
 *	      place            pattern
 */
#include "compiler/policy/kind.h"

#include <string.h>

enum { LONGEST_NAME = 255 }; /* NAME_MAX of every file system that matters */

/* What a path begins with that is no part of a pattern: "${name}", "~". */
static const char *
skip_anchor(const char *text)
{
	const char *end = strncmp(text, "${", 2) == 0 ? strchr(text, '}') :
	    text[0] == '~'                            ? text :
							NULL;

	return end == NULL ? text : end + 1;
}

static bool
report_bad(struct scope *scope, const struct ast_atom *atom,
    const char *message, const char *help)
{
	struct diag *diag = diag_add(scope->diags, DIAG_BAD_GLOB, atom->loc,
	    "%s", message);

	diag_help(diag, "%s", help);
	return false;
}

static bool
check_characters(struct scope *scope, const struct ast_atom *atom,
    const char *path)
{
	const char *odd = strpbrk(path, "[]{}\\");

	if (odd == NULL)
		return true;
	return report_bad(scope, atom,
	    arena_printf(scope->arena, "'%c' has no meaning in a glob", *odd),
	    "there are '*' and '?' within a name, and '**' for directories; "
	    "several globs stand in a list");
}

/* One part of a pattern; `last` is the part before it, or NULL. */
static bool
check_part(struct scope *scope, const struct ast_atom *atom, const char *part,
    size_t len, const char *last)
{
	const char *stars = strstr(part, "**");

	if (stars == NULL || stars >= part + len)
		return true;
	if (len != 2)
		return report_bad(scope, atom, "'**' is only a part of a name",
		    "'*' is for parts of a name, '/**/' for directories");
	if (part[len] == '\0')
		return report_bad(scope, atom, "'**' stands at the end",
		    "leave it out: a place means its whole tree");
	if (last != NULL && strncmp(last, "**/", 3) == 0)
		return report_bad(scope, atom, "'**' stands twice in a row",
		    "once is any number of directories");
	return true;
}

/* The shortest name that a part of a pattern means. */
static size_t
shortest_name(const char *part, size_t len)
{
	size_t shortest = 0;

	for (size_t i = 0; i < len; i++)
		shortest += part[i] != '*';
	return shortest;
}

static bool
check_pattern(struct scope *scope, const struct ast_atom *atom,
    const char *pattern)
{
	const char *last = NULL;
	bool idle = false;
	size_t count = 0, len;

	for (const char *part = pattern + 1;; part += len + 1) {
		len = strcspn(part, "/");
		if (!check_part(scope, atom, part, len, last))
			return false;
		idle |= shortest_name(part, len) > LONGEST_NAME;
		last = part;
		count++;
		if (part[len] == '\0')
			break;
	}
	if (count > SBX_MAX_GLOB)
		return report_bad(scope, atom,
		    arena_printf(scope->arena,
			"the pattern has %zu parts, and %d are the most", count,
			SBX_MAX_GLOB),
		    "directories before the first wildcard do not count");
	if (idle)
		diag_add(scope->diags, DIAG_IDLE_GLOB, atom->loc,
		    "the glob matches nothing: no name is longer than %d bytes",
		    LONGEST_NAME);
	return true;
}

static bool
keep_plain(struct scope *scope, const struct ast_atom *atom)
{
	struct diag *diag = diag_add(scope->diags, DIAG_PLAIN_GLOB, atom->loc,
	    "the glob has no wildcard in it");

	diag_help(diag,
	    "write the path without 'glob': it is then also covered where it "
	    "is made later");
	return true;
}

bool
glob_split(struct scope *scope, const struct ast_atom *atom,
    struct ast_atom *place, const char **pattern)
{
	const char *path = skip_anchor(atom->text), *wild;

	*place = *atom;
	place->kind = AST_PATH;
	*pattern = NULL;
	/* What begins in no known way is reported as the path that it is. */
	if (path[0] != '/' && path[0] != '\0')
		return true;
	if (!path_check(scope, atom, path) ||
	    !check_characters(scope, atom, path))
		return false;
	wild = strpbrk(path, "*?");
	if (wild == NULL)
		return keep_plain(scope, atom);
	while (*wild != '/')
		wild--;
	if (!check_pattern(scope, atom, wild))
		return false;
	*pattern = arena_intern(scope->arena, wild, strlen(wild));
	place->text = wild == atom->text ?
	    "/" :
	    arena_strndup(scope->arena, atom->text,
		(size_t)(wild - atom->text));
	return true;
}

bool
glob_touches(const char *pattern, const char *below)
{
	struct sbx_glob glob;
	uint64_t states;

	if (!sbx_glob_parse(pattern, &glob))
		return false;
	states = sbx_glob_start(&glob);
	while (
	    *below == '/' && states != 0 && !sbx_glob_matches(&glob, states)) {
		size_t len = strcspn(below + 1, "/");

		states = sbx_glob_step(&glob, states, below + 1, len);
		below += len + 1;
	}
	return states != 0;
}

int
glob_compare(const char *a, const char *b)
{
	return strcmp(a == NULL ? "" : a, b == NULL ? "" : b);
}
