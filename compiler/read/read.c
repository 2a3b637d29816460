/*
 * Reading a policy: the text is checked to be clean, the grammar makes
 * statements of it, those in the wrong place are taken out, and then the files
 * that it includes are read in turn.
 *
 * A file is read once, however often it is included.  Which files were read is
 * known to `struct sources` alone, so that this also holds for files that
 * resolve.c adds later, such as the shipped profiles.
 */
#include "compiler/read/read.h"
#include "compiler/base/base.h"
#include "compiler/report/report.h"
#include "format/blob.h"
#include "grammar/policy.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { BUILTIN_MAX = 32 };

static bool
check_lines(const struct source *source, struct diags *diags)
{
	for (uint32_t i = 0; i < source->line_count; i++) {
		uint32_t begin = source->lines[i];
		uint32_t end = i + 1 < source->line_count ?
		    source->lines[i + 1] - 1 :
		    source->size;

		if (end - begin <= PARSER_MAX_LINE)
			continue;
		begin += source->base + PARSER_MAX_LINE;
		diag_add(diags, DIAG_LONG_LINE, (struct loc){ begin, begin },
		    "the line is %u bytes long, and %d is the most",
		    (unsigned)(end - source->lines[i]), PARSER_MAX_LINE);
		return false;
	}
	return true;
}

/* --- statements in their places ------------------------------------------- */

enum context { IN_FILE, IN_PROFILE, IN_GROUP, IN_ON };

#define BIT(kind) (1u << (kind))

enum {
	RULES = BIT(AST_RULE) | BIT(AST_USE) | BIT(AST_REQUIRE) |
	    BIT(AST_LIMIT) | BIT(AST_SET) | BIT(AST_ON),
	DECLARATIONS = BIT(AST_LET) | BIT(AST_PARAM),
};

static const struct {
	unsigned holds;
	const char *name;
} contexts[] = {
	[IN_FILE] = { DECLARATIONS | BIT(AST_INCLUDE) | BIT(AST_GROUP_DEF) |
		BIT(AST_PROFILE),
	    "at the level of the file" },
	[IN_PROFILE] = { DECLARATIONS | RULES | BIT(AST_ABOUT),
	    "in a profile" },
	[IN_GROUP] = { DECLARATIONS | RULES, "in a group" },
	[IN_ON] = { RULES, "in an 'on' block" },
};

static void
report_misplaced(struct diags *diags, const struct source *source,
    const struct ast_stmt *stmt, enum context context)
{
	const char *word = source->text + (stmt->loc.begin - source->base);
	size_t len = strspn(word, "abcdefghijklmnopqrstuvwxyz");
	struct loc loc = { stmt->loc.begin, stmt->loc.begin + (uint32_t)len };
	struct diag *diag;

	if (diags->errors >= DIAG_MAX)
		return;
	if (stmt->kind == AST_VERSION) {
		diag_add(diags, DIAG_MISPLACED, loc,
		    "'sbx' can only be the first statement of a file");
		return;
	}
	if (len == 0)
		diag = diag_add(diags, DIAG_MISPLACED, loc,
		    "this statement cannot stand %s", contexts[context].name);
	else
		diag = diag_add(diags, DIAG_MISPLACED, loc,
		    "'%.*s' cannot stand %s", (int)len, word,
		    contexts[context].name);
	if (context == IN_FILE)
		diag_help(diag,
		    "put it into a profile: 'profile NAME { ... }'");
	else if (BIT(stmt->kind) & contexts[IN_FILE].holds)
		diag_help(diag, "put it %s", contexts[IN_FILE].name);
}

/*
 * Takes out what cannot stand where it stands, and the version statement that
 * has done its work.  Depth is bounded by the grammar.
 */
static struct ast_stmt *
keep_placed(struct diags *diags, const struct source *source,
    struct ast_stmt *stmts, enum context context)
{
	struct ast_stmt *first = NULL, **link = &first;

	for (struct ast_stmt *stmt = stmts; stmt != NULL; stmt = stmt->next) {
		bool version = stmt->kind == AST_VERSION &&
		    context == IN_FILE && stmt == stmts;

		if (!version && !(BIT(stmt->kind) & contexts[context].holds)) {
			report_misplaced(diags, source, stmt, context);
			continue;
		}
		stmt->body = keep_placed(diags, source, stmt->body,
		    stmt->kind == AST_PROFILE       ? IN_PROFILE :
			stmt->kind == AST_GROUP_DEF ? IN_GROUP :
						      IN_ON);
		*link = stmt;
		link = &stmt->next;
	}
	*link = NULL;
	return first;
}

/* --- includes ------------------------------------------------------------- */

/* One `include` statement while its file is looked for. */
struct include {
	struct sources *sources;
	struct diags *diags;
	const struct source *from;
	struct ast_stmt *stmt;
	const char *spelled;
};

/* The directory part of a path, with its slash, and then a name. */
static const char *
beside(struct arena *arena, const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	if (name[0] == '/' || slash == NULL)
		return name;
	return arena_printf(arena, "%.*s%s", (int)(slash + 1 - path), path,
	    name);
}

/* A file that was read already, by its inode or, if it is built in, by name. */
static struct source *
find_read(const struct include *include, const struct stat *st,
    const char *builtin)
{
	for (size_t i = 0; i < include->sources->files.count; i++) {
		struct source *source = include->sources->files.items[i];

		if (st != NULL ?
			source->path != NULL && source->device == st->st_dev &&
			    source->inode == st->st_ino :
			source->builtin && builtin != NULL &&
			    strcmp(source->shown, builtin) == 0)
			return source;
	}
	return NULL;
}

/* A file that was read already: nothing to do, unless it is being read. */
static void
include_again(const struct include *include, const struct source *top)
{
	const char *text = top->shown;
	const struct source *source = include->from;

	for (; source != NULL && source != top;
	     source = sources_find(include->sources, source->included_at))
		text = arena_printf(include->sources->arena, "%s -> %s",
		    source->shown, text);
	if (source == top)
		diag_add(include->diags, DIAG_INCLUDE_CYCLE,
		    include->stmt->name->loc,
		    "the include leads back to itself: %s -> %s", top->shown,
		    text);
}

static bool
has_room(const struct include *include)
{
	struct loc loc = include->stmt->name->loc;

	if (include->from->depth >= SOURCE_MAX_DEPTH) {
		diag_add(include->diags, DIAG_INCLUDE_BOUNDS, loc,
		    "includes are nested more than %d deep", SOURCE_MAX_DEPTH);
		return false;
	}
	if (include->sources->files.count >= SOURCE_MAX_FILES) {
		diag_add(include->diags, DIAG_INCLUDE_BOUNDS, loc,
		    "more than %d files are read", SOURCE_MAX_FILES);
		return false;
	}
	return true;
}

static void
report_unreadable(const struct include *include, const char *path, int error)
{
	struct loc loc = include->stmt->name->loc;

	if (error == EFBIG)
		diag_add(include->diags, DIAG_INCLUDE_BOUNDS, loc,
		    "'%s' is longer than %d MiB, or all files are longer than "
		    "%d MiB",
		    path, SOURCE_MAX_SIZE >> 20, SOURCE_MAX_TOTAL >> 20);
	else
		diag_add(include->diags, DIAG_INCLUDE_FILE, loc,
		    "cannot read '%s': %s", path, input_strerror(error));
}

/* Reads a file in place of the statement: from disk, or what is built in. */
static void
include_new(const struct include *include, const char *path, const char *name,
    const char *text, size_t size)
{
	struct sources *sources = include->sources;
	struct source *source;

	if (!has_room(include))
		return;
	source = text != NULL ?
	    sources_add(sources, path, text, size, include->stmt->loc) :
	    sources_read(sources, path, name, include->stmt->loc);
	if (source == NULL)
		report_unreadable(include, path, errno);
	else
		include->stmt->included = ast_parse(sources, include->diags,
		    source);
}

/* Returns false if there is no such file, so that the search goes on. */
static bool
include_file(const struct include *include, const char *path, const char *name)
{
	struct stat st;
	struct source *known;

	if (stat(path, &st) == -1) {
		if (errno == ENOENT || errno == ENOTDIR) {
			*arena_push(include->sources->arena,
			    &include->sources->absent) = path;
			return false;
		}
		report_unreadable(include, path, errno);
		return true;
	}
	known = find_read(include, &st, NULL);
	if (known == NULL) {
		include_new(include, path, name, NULL, 0);
		return true;
	}
	*arena_push(include->sources->arena,
	    &include->sources->again) = (struct again){ path, known };
	include_again(include, known);
	return true;
}

static bool
include_builtin(const struct include *include)
{
	const char *shown = arena_printf(include->sources->arena, "sbx:%s",
	    include->spelled);
	size_t size;
	const char *text = builtin_text(include->spelled, &size);
	const struct source *known = find_read(include, NULL, shown);

	if (text == NULL)
		return false;
	if (known != NULL)
		include_again(include, known);
	else
		include_new(include, shown, shown, text, size);
	return true;
}

static void
report_missing(const struct include *include)
{
	const char *names[BUILTIN_MAX];
	size_t count = 0;
	struct diag *diag = diag_add(include->diags, DIAG_INCLUDE_FILE,
	    include->stmt->name->loc, "no file '%s' to include",
	    include->spelled);

	while (count < BUILTIN_MAX && builtin_name(count) != NULL) {
		names[count] = builtin_name(count);
		count++;
	}
	diag_did_you_mean(diag, nearest_name(include->spelled, names, count));
	if (diag->help == NULL)
		diag_help(diag,
		    include->from->builtin ?
			"a shipped file includes shipped files only" :
			"it is looked for beside the file, then in the "
			"directories of -I");
}

/* A shipped file must not pick up what lies around where sbxc is run. */
static bool
include_from_disk(const struct include *include)
{
	struct arena *arena = include->sources->arena;
	const char *path = include->from->path, *spelled = include->spelled;

	if (include->from->builtin || spelled[0] == '\0')
		return false;
	if (include_file(include,
		path == NULL ? spelled : beside(arena, path, spelled),
		beside(arena, include->from->name, spelled)))
		return true;
	for (size_t i = 0;
	     i < include->sources->include_dirs.count && spelled[0] != '/';
	     i++) {
		const char *dir = include->sources->include_dirs.items[i];

		if (include_file(include,
			arena_printf(arena, "%s/%s", dir, spelled), spelled))
			return true;
	}
	return false;
}

/* --- all of it ------------------------------------------------------------ */

static struct ast_stmt *
parse_text(struct sources *sources, struct diags *diags,
    const struct source *source)
{
	uint32_t skipped = source_bom(source);
	struct parser parser = {
		.diags = diags,
		.arena = sources->arena,
		.source = source,
		.place = source->base + skipped,
	};

	parser_start(&parser, source->text + skipped, source->size - skipped);
	sbx_yyparse(&parser);
	return keep_placed(diags, source, parser.body.first, IN_FILE);
}

struct ast_stmt *
ast_parse_alone(struct sources *sources, struct diags *diags,
    const struct source *source)
{
	if (source->withheld) {
		bool yaml = yaml_policy_is(source);
		bool blob = strncmp(source->text, SBX_MAGIC,
				sizeof SBX_MAGIC - 1) == 0;
		uint32_t at = source->base +
		    (uint32_t)(source_first_line(source) - source->text);
		struct diag *diag = diag_add(diags, DIAG_VERSION_MISSING,
		    (struct loc){ at, at }, "%s",
		    blob     ? "it is compiled, and no text" :
			yaml ? "the file has no key 'sbx'" :
			       "the first statement is not 'sbx 1'");

		/* Nothing of the text is in the message, see report.h. */
		diag_help(diag,
		    blob ? "name the text; 'sbxc dump -O sbx' prints it%s" :
			   "this sbxc reads policies that begin with 'sbx%s 1'",
		    yaml && !blob ? ":" : "");
		return NULL;
	}
	if (yaml_policy_is(source))
		return keep_placed(diags, source,
		    yaml_policy_read(sources, diags, source), IN_FILE);
	if (!text_is_clean(source, diags) || !check_lines(source, diags))
		return NULL;
	return parse_text(sources, diags, source);
}

struct ast_stmt *
ast_parse(struct sources *sources, struct diags *diags, struct source *source)
{
	struct ast_stmt *stmts = ast_parse_alone(sources, diags, source);

	for (struct ast_stmt *stmt = stmts; stmt != NULL; stmt = stmt->next) {
		struct include include = {
			.sources = sources,
			.diags = diags,
			.from = source,
			.stmt = stmt,
			.spelled = stmt->name != NULL ? stmt->name->text : "",
		};

		/* The name of a shipped file means that one, whatever lies
		 * beside; a command could have put it there. */
		if (stmt->kind == AST_INCLUDE && diags->errors < DIAG_MAX &&
		    !include_builtin(&include) && !include_from_disk(&include))
			report_missing(&include);
	}
	return stmts;
}
