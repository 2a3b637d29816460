/*
 * The small commands of sbxc, profiles and explain; and reading a policy that
 * others ask about.
 */
#include "compiler/command/commands.h"

#include "compiler/query/query.h"

#include <string.h>

enum exit_status
subject_read(const struct options *options, const char *path,
    struct sbx_blob *blob, const struct blocks **blocks)
{
	struct operand operand = { .state = OPERAND_UNREAD };
	enum exit_status status;

	operand_read(options, path, &operand);
	if (operand.state == OPERAND_FAULTY)
		options_print(options, &operand.compilation.diags);
	*blob = operand.blob;
	*blocks = operand.compilation.blocks;
	if (operand.state != OPERAND_GOOD)
		return operand.state == OPERAND_FAULTY || operand.unclean ?
		    EXIT_POLICY :
		    EXIT_TROUBLE;
	/* What sbxrun applies, and asks about, it hands over without text. */
	if (operand.compiled && options->denials == NULL &&
	    vouch(options->arena, path, blob) == VOUCH_CHANGED)
		return EXIT_POLICY;
	status = extra_apply(options, &operand);
	*blob = operand.blob;
	return status;
}

/* --- profiles ------------------------------------------------------------- */

/* Words of `text` in lines of at most 79 columns, all but the first
 * indented. */
static void
print_wrapped(const char *text, int indent)
{
	int column = indent;

	while (*text != '\0') {
		int len = (int)strcspn(text, " ");

		if (column > indent && column + 1 + len > 79) {
			printf("\n%*s", indent, "");
			column = indent;
		}
		column += printf("%s%.*s", column > indent ? " " : "", len,
		    text);
		text += len;
		text += strspn(text, " ");
	}
	putchar('\n');
}

static const char *
about_of(const struct ast_stmt *profile)
{
	const char *about = "";

	for (const struct ast_stmt *stmt = profile->body; stmt != NULL;
	     stmt = stmt->next) {
		if (stmt->kind == AST_ABOUT)
			about = stmt->name->text;
	}
	return about;
}

static void
print_profile(const struct ast_stmt *profile)
{
	printf("%-17s ", profile->name->text);
	print_wrapped(about_of(profile), 18);
}

static bool
path_ends(const char *path, const char *end)
{
	size_t len = strlen(path), end_len = strlen(end);

	return len >= end_len && strcmp(path + len - end_len, end) == 0;
}

/* What the user's own say of themselves; each is a line, good or not. */
static void
print_own(const struct options *options, const char *name)
{
	struct compilation compilation;
	const char *path = named_file(options->arena, name);
	bool shadowed = named_is_shipped(options->arena, name);
	const char *about = "";

	compilation_init(&compilation, options->arena);
	if (path_ends(path, ".sbx") && compilation_open(&compilation, path)) {
		for (const struct ast_stmt *stmt = compilation.stmts;
		     stmt != NULL && *about == '\0'; stmt = stmt->next) {
			if (stmt->kind == AST_PROFILE)
				about = about_of(stmt);
		}
	}
	printf("%-17s ", name);
	print_wrapped(shadowed ? arena_printf(options->arena,
				     "(%s has the name of a shipped profile, "
				     "which @%s is: rename it)",
				     path, name) :
				 arena_printf(options->arena, "%s%s(%s)", about,
				     *about != '\0' ? " " : "", path),
	    18);
}

enum exit_status
command_profiles(struct options *options)
{
	enum exit_status status = operands_require(options, 0, "");
	struct words own = { .list.count = 0 };
	const char *name;

	if (status != EXIT_CLEAN)
		return status;
	for (size_t i = 0; (name = builtin_name(i)) != NULL; i++) {
		struct compilation compilation;

		compilation_init(&compilation, options->arena);
		compilation_open_shipped(&compilation, name);
		for (const struct ast_stmt *stmt = compilation.stmts;
		     stmt != NULL; stmt = stmt->next) {
			if (stmt->kind == AST_PROFILE)
				print_profile(stmt);
		}
	}
	named_list(options->arena, &own);
	for (size_t i = 0; i < own.list.count; i++)
		print_own(options, own.list.items[i]);
	return EXIT_CLEAN;
}

/* --- explain -------------------------------------------------------------- */

static void
explain(struct arena *arena, enum diag_id id)
{
	printf("%s: %s (%s, %s)\n\n%s\n", diag_code(id), diag_title(id),
	    severity_word(diag_severity(id)), diag_name(arena, id),
	    diag_explain(id));
}

enum exit_status
command_explain(struct options *options)
{
	enum exit_status status = operands_require(options, 1, "CODE");
	enum diag_id id;

	if (status != EXIT_CLEAN)
		return status;
	if (strcmp(options->operands.list.items[0], "all") == 0) {
		for (int i = 0; i < DIAG_END; i++) {
			if (i > 0)
				putchar('\n');
			explain(options->arena, (enum diag_id)i);
		}
		return EXIT_CLEAN;
	}
	id = diag_find(options->operands.list.items[0]);
	if (id == DIAG_END)
		return misused("'%s' is no code of a diagnostic; 'sbxc explain "
			       "all' lists them",
		    options->operands.list.items[0]);
	explain(options->arena, id);
	return EXIT_CLEAN;
}
