/*
 * See kind.h.  A path is normal as it stands in the policy: nothing is removed
 * or followed in silence.
 */
#include "compiler/policy/kind.h"

#include <string.h>

bool
atom_is_plain(const struct scope *scope, const struct ast_atom *atom)
{
	const struct source *source = sources_find(scope->sources, atom->loc);
	size_t len = strlen(atom->text);

	return source != NULL && atom->loc.end - atom->loc.begin == len &&
	    memcmp(source->text + (atom->loc.begin - source->base), atom->text,
		len) == 0;
}

struct loc
atom_part(const struct scope *scope, const struct ast_atom *atom,
    const char *part, size_t len)
{
	struct loc loc = atom->loc;

	if (atom_is_plain(scope, atom)) {
		loc.begin += (uint32_t)(part - atom->text);
		loc.end = loc.begin + (uint32_t)len;
	}
	return loc;
}

/* The first thing in a path that is not normal, as words; NULL if nothing. */
static const char *
path_fault(const char *path, const char **part, size_t *len)
{
	for (const char *at = path; *at != '\0'; at += 1 + *len) {
		*len = strcspn(at + 1, "/");
		*part = at + 1;
		if (*len == 0) {
			*part = at;
			*len = at[1] == '/' ? 2 : 1;
			return at[1] == '/' ? "'//'" : "a slash at the end";
		}
		if (*len == 1 && at[1] == '.')
			return "'.'";
		if (*len == 2 && at[1] == '.' && at[2] == '.')
			return "'..'";
	}
	return NULL;
}

/* The path without its empty and "." parts, or NULL if it has a "..". */
static const char *
path_tidy(struct arena *arena, const char *path)
{
	char *tidy = arena_strndup(arena, path, strlen(path)), *to = tidy;

	for (const char *at = path; *at != '\0';) {
		size_t len = strcspn(at + 1, "/");

		if (len == 2 && at[1] == '.' && at[2] == '.')
			return NULL;
		if (len > 1 || (len == 1 && at[1] != '.')) {
			memmove(to, at, len + 1);
			to += len + 1;
		}
		at += 1 + len;
	}
	*to = '\0';
	return tidy;
}

static void
report_fault(struct scope *scope, const struct ast_atom *atom, const char *path,
    const char *fault, struct loc loc)
{
	struct diag *diag = diag_add(scope->diags, DIAG_UNNORMAL_PATH, loc,
	    "the path has %s in it", fault);
	const char *tidy = path_tidy(scope->arena, path);
	int head = (int)(path - atom->text);

	if (strcmp(fault, "a slash at the end") == 0)
		diag->message = "the path has a slash at the end";
	if (tidy == NULL)
		diag_help(diag,
		    "write the path that is meant: where '..' leads depends on "
		    "symbolic links");
	else if (head >= 0 && (size_t)head <= strlen(atom->text))
		diag_help(diag, "did you mean '%.*s%s'?", head, atom->text,
		    head == 0 && *tidy == '\0' ? "/" : tidy);
}

bool
path_check(struct scope *scope, const struct ast_atom *atom, const char *path)
{
	const char *part, *fault;
	size_t len;

	if (strlen(path) > SBX_MAX_PATH) {
		diag_add(scope->diags, DIAG_PATH_BYTES, atom->loc,
		    "the path is %zu bytes long, and %d is the most",
		    strlen(path), SBX_MAX_PATH);
		return false;
	}
	for (part = path; *part != '\0'; part++) {
		unsigned char byte = (unsigned char)*part;

		if (byte >= ' ')
			continue;
		diag_add(scope->diags, DIAG_PATH_BYTES, atom->loc,
		    "the path has the control character 0x%02x in it", byte);
		return false;
	}
	fault = path_fault(path, &part, &len);
	if (fault == NULL)
		return true;
	report_fault(scope, atom, path, fault,
	    atom_part(scope, atom, part, len));
	return false;
}

void
path_warn_wildcard(struct scope *scope, const struct ast_atom *atom)
{
	struct diag *diag;

	if (!atom->quoted || strpbrk(atom->text, "*?[") == NULL)
		return;
	diag = diag_add(scope->diags, DIAG_LITERAL_WILDCARD, atom->loc,
	    "this is a file whose name holds '%c', not a pattern",
	    *strpbrk(atom->text, "*?["));
	diag_help(diag, "a pattern is: glob \"%s\"", atom->text);
}

/* In quotes these are characters of a name. */
static bool
is_wildcard(const struct ast_atom *atom)
{
	return atom->kind == AST_PATTERN ||
	    (strpbrk(atom->text, "*?[") != NULL && !atom->quoted);
}

bool
path_is_place(struct scope *scope, const struct ast_atom *atom)
{
	struct diag *diag;

	if (atom->kind == AST_GLOB) {
		diag = diag_add(scope->diags, DIAG_WRONG_OBJECT, atom->loc,
		    "a glob is an object of a rule, and nothing else");
		diag_help(diag, "a 'let' and an 'except' hold places");
		return false;
	}
	if (!is_wildcard(atom))
		return true;
	diag = diag_add(scope->diags, DIAG_WILDCARD, atom->loc,
	    "wildcards in a path: '%s'", atom->text);
	diag_help(diag,
	    "a directory means its whole tree; a rule may say 'glob \"...\"'; "
	    "a path in quotes is taken as it is");
	return false;
}
