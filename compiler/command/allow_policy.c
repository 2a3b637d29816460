/*
 * Which text `sbxc allow` changes: see allow.c.
 */
#include "compiler/base/base.h"
#include "compiler/command/commands.h"
#include "compiler/read/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool
ends_with(const char *path, const char *end)
{
	size_t len = strlen(path), end_len = strlen(end);

	return len > end_len && strcmp(path + len - end_len, end) == 0;
}

static const struct ast_stmt *
extending(const struct compilation *compilation, const char *shipped)
{
	for (const struct ast_stmt *stmt = compilation->stmts; stmt != NULL;
	     stmt = stmt->next) {
		if (stmt->kind == AST_PROFILE && stmt->parent != NULL &&
		    strcmp(stmt->parent->text, shipped) == 0)
			return stmt;
	}
	return NULL;
}

/* One's own policy that extends a shipped one; false after complaining that there
 * are several. */
static bool
find_extending(struct allowing *allowing, const char *shipped)
{
	struct words names = { .list.count = 0 };
	const char *several = NULL;

	named_list(allowing->arena, &names);
	for (size_t i = 0; i < names.list.count; i++) {
		const char *path = named_file(allowing->arena,
		    names.list.items[i]);
		struct compilation compilation;
		const struct ast_stmt *profile;

		compilation_init(&compilation, allowing->arena);
		if (path == NULL || !ends_with(path, ".sbx") ||
		    !compilation_open(&compilation, path) ||
		    (profile = extending(&compilation, shipped)) == NULL)
			continue;
		several = allowing->text_path;
		allowing->text_path = path;
		allowing->profile = profile->name->text;
		if (several != NULL)
			break;
	}
	if (several == NULL)
		return true;
	misused("'%s' and '%s' extend %s: say with --for FILE which one is "
		"meant",
	    several, allowing->text_path, shipped);
	return false;
}

static bool
is_there(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0;
}

static const char *const text_ends[] = { ".sbx", ".yaml", ".yml" };

/* What a blob was made from, if that lies beside it; else NULL. */
static const char *
text_beside(struct arena *arena, const char *blob)
{
	for (size_t i = 0; i < countof(text_ends); i++) {
		/* The file beside it that has another end. */
		const char *path = arena_printf(arena, "%.*s%s",
		    (int)(strrchr(blob, '.') - blob), blob, text_ends[i]);

		if (is_there(path))
			return path;
	}
	return NULL;
}

static bool choose_file(struct allowing *allowing, const char *path);

/* The user's policy that extends a shipped one, which is made if need be.  The
 * one for commands without a policy extends coding. */
static bool
choose_shipped(struct allowing *allowing, const char *shipped)
{
	const char *directory = named_directory(allowing->arena);
	bool coding = strcmp(shipped, "coding") == 0;

	if (directory == NULL) {
		misused("there is no home directory for a policy");
		return false;
	}
	if (strcmp(shipped, "full-access") == 0 ||
	    strcmp(shipped, "groups") == 0) {
		misused("@%s cannot be extended: --for FILE names a text of "
			"yours",
		    shipped);
		return false;
	}
	if (!find_extending(allowing, shipped))
		return false;
	if (allowing->text_path != NULL)
		return choose_file(allowing, allowing->text_path);
	allowing->shipped = shipped;
	allowing->profile = coding &&
		named_file(allowing->arena, "default") == NULL ?
	    "default" :
	    arena_printf(allowing->arena, "my-%s", shipped);
	allowing->text_path = arena_printf(allowing->arena, "%s/%s.sbx",
	    directory, allowing->profile);
	if (!is_there(allowing->text_path))
		return true;
	misused("'%s' is there and does not extend %s: name the policy with "
		"--for FILE",
	    allowing->text_path, shipped);
	return false;
}

/* The name of a shipped profile that was compiled as it is; else NULL. */
static const char *
shipped_in(const struct allowing *allowing, const char *path)
{
	struct sbx_blob blob;
	const char *profile;

	if (!is_there(path) || !operand_blob(allowing->arena, path, &blob))
		return NULL;
	profile = sbx_string(&blob, blob.meta->profile);
	return named_is_shipped(allowing->arena, profile) ? profile : NULL;
}

static bool
choose_file(struct allowing *allowing, const char *path)
{
	char *real;

	if (ends_with(path, ".bin") &&
	    text_beside(allowing->arena, path) == NULL) {
		const char *shipped = shipped_in(allowing, path);

		if (shipped != NULL)
			return choose_shipped(allowing, shipped);
		misused("'%s' is a blob, and its text is not beside it: "
			"--for FILE.sbx names it",
		    path);
		return false;
	}
	allowing->text_path = ends_with(path, ".bin") ?
	    text_beside(allowing->arena, path) :
	    path;
	/* A link that leads to it stays one. */
	real = realpath(allowing->text_path, NULL);
	if (real == NULL) {
		complain_no_policy(allowing->arena, allowing->text_path);
		return false;
	}
	allowing->text_path = arena_strndup(allowing->arena, real,
	    strlen(real));
	free(real);
	for (size_t i = 0; i < countof(text_ends); i++) {
		if (ends_with(allowing->text_path, text_ends[i]))
			return true;
	}
	misused("'%s' ends in none of .sbx, .yaml and .yml: write the rule "
		"into it yourself",
	    path);
	return false;
}

bool
allowing_choose(struct allowing *allowing)
{
	const char *wanted = allowing->options->target;
	const char *named;

	if (wanted == NULL) {
		named = named_file(allowing->arena, "default");
		return named != NULL ? choose_file(allowing, named) :
				       choose_shipped(allowing, "coding");
	}
	if (wanted[0] != '@' || strpbrk(wanted, "./") != NULL)
		return choose_file(allowing, wanted);
	if (named_resolve(allowing->arena, wanted) == NULL)
		return false;
	if (named_is_shipped(allowing->arena, wanted + 1))
		return choose_shipped(allowing, wanted + 1);
	named = named_file(allowing->arena, wanted + 1);
	if (named != NULL)
		return choose_file(allowing, named);
	named_missing(allowing->arena, wanted + 1);
	return false;
}
