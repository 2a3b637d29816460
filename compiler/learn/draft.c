/*
 * See learn.h.  A draft begins as a profile without rules: that is compiled, the
 * wishes are compared with it, and what is left becomes rules.  The whole is
 * compiled then, and a rule that a check warns of becomes a comment.
 */
#include "compiler/base/base.h"
#include "compiler/learn/learn.h"
#include "compiler/read/read.h"

#include "format/verify.h"

#include <stdlib.h>
#include <string.h>

enum { COMMANDS = 5, COMMAND_MAX = 66 };

/* Profiles that are tried, the narrowest first; what a wider one costs, in
 * rules. */
static const struct candidate {
	const char *name;
	size_t cost;
} candidates[] = {
	{ "workspace-write", 0 },
	{ "coding", 1 },
	{ "coding-online", 2 },
};

bool
draft_may_extend(const char *name)
{
	size_t len = strlen(name);
	const char *file;

	if (strcmp(name, "full-access") == 0 || strcmp(name, "groups") == 0)
		return false;
	for (size_t i = 0; (file = builtin_name(i)) != NULL; i++) {
		if (strncmp(file, name, len) == 0 &&
		    strcmp(file + len, ".sbx") == 0)
			return true;
	}
	return strcmp(name, "none") == 0;
}

bool
draft_compile(const struct draft *draft, const char *text,
    struct compilation *compilation, struct sbx_blob *blob)
{
	struct image image;
	struct source *source;

	compilation_init(compilation, draft->arena);
	source = sources_add(&compilation->sources, draft->shown, text,
	    strlen(text), (struct loc){ 0 });
	if (source == NULL)
		return false;
	compilation_parse(compilation, source);
	return compile(compilation, draft->name, &image) &&
	    sbx_verify(image.bytes, image.size, blob) == SBX_BLOB_OK;
}

/* --- the profile without rules -------------------------------------------- */

/* What a draft begins with that extends nothing. */
struct start {
	bool toolchains, dotfiles;
};

static const char *
body(struct arena *arena, const char *extends, struct start start)
{
	if (strcmp(extends, "none") != 0)
		return "";
	return arena_printf(arena,
	    "    use system\n%s%s"
	    "    use credentials\n    use secret-variables\n"
	    "    use scratch-caches\n    use runs-later\n    use limits\n"
	    "    allow write ${workspace}\n    allow exec ${workspace}\n"
	    "    allow env *\n",
	    start.toolchains ? "    use toolchains\n" : "",
	    start.dotfiles ? "    use dotfiles\n" : "");
}

static const char *
head(const struct draft *draft, const char *extends)
{
	bool none = strcmp(extends, "none") == 0;

	return arena_printf(draft->arena,
	    "sbx 1\n%s\nprofile %s%s%s {\n    about \"drafted from %zu run%s; "
	    "to be reviewed\"\n",
	    none ? "include \"groups.sbx\"\n" : "", draft->name,
	    none ? "" : " extends ", none ? "" : extends,
	    draft->records->runs.count,
	    draft->records->runs.count == 1 ? "" : "s");
}

static void
find_needs(struct draft *draft, const char *extends, const char *statements,
    struct needs *needs)
{
	struct compilation compilation;
	struct base *base = arena_alloc(draft->arena, sizeof *base);

	base->name = extends;
	if (!draft_compile(draft,
		arena_printf(draft->arena, "%s%s}\n", head(draft, extends),
		    statements),
		&compilation, &base->blob))
		bug("the profile '%s' does not compile", extends);
	needs_find(needs, draft->arena, base, draft->records);
	needs_fold(needs);
}

/* What a policy lacks; what was only looked for weighs less, but many tools look
 * before they read. */
static size_t
count_open(const struct needs *needs)
{
	enum { RULE = 4, PROBE = 1 };
	size_t count = 0;

	for (size_t i = 0; i < needs->list.count; i++) {
		const struct need *need = &needs->list.items[i];

		if (need->reason == NULL)
			count += need->probe ? PROBE : RULE;
	}
	return count;
}

/* A group is used if it is about something that was wanted. */
static const char *
start_alone(struct draft *draft)
{
	struct start start = { .toolchains = false };
	bool *const groups[] = { &start.toolchains, &start.dotfiles };
	const char *statements = body(draft->arena, "none", start);
	struct needs tried;

	find_needs(draft, "none", statements, &draft->needs);
	for (size_t i = 0; i < countof(groups); i++) {
		*groups[i] = true;
		find_needs(draft, "none", body(draft->arena, "none", start),
		    &tried);
		if (count_open(&tried) >= count_open(&draft->needs)) {
			*groups[i] = false;
			continue;
		}
		draft->needs = tried;
		statements = body(draft->arena, "none", start);
	}
	return statements;
}

static bool
wants_names(const struct records *records)
{
	for (size_t i = 0; i < records->runs.count; i++) {
		const struct run *run = records->runs.items[i];

		for (size_t j = 0; j < run->wishes.count; j++) {
			if (run->wishes.items[j].kind == WISH_DOMAIN)
				return true;
		}
	}
	return false;
}

static void
choose_nearest(struct draft *draft)
{
	bool online = wants_names(draft->records);
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < countof(candidates); i++) {
		struct needs tried;
		size_t cost;

		/* The others keep tools from going online. */
		if (online && i + 1 < countof(candidates))
			continue;
		find_needs(draft, candidates[i].name, "", &tried);
		cost = needs_count(&tried) + candidates[i].cost;
		if (cost >= best)
			continue;
		best = cost;
		draft->needs = tried;
		draft->extends = candidates[i].name;
	}
}

/* --- the text ------------------------------------------------------------- */

static bool
is_known(const struct records *records, size_t run)
{
	for (size_t i = 0; i < run; i++) {
		if (records->runs.items[i]->command ==
		    records->runs.items[run]->command)
			return true;
	}
	return false;
}

static const char *
comment(const struct draft *draft)
{
	const struct records *records = draft->records;
	const char *text = arena_printf(draft->arena,
	    "# Drafted by sbxc learn; read each rule before you use it.  It "
	    "is made of:\n");
	size_t said = 0, more = 0;

	for (size_t i = 0; i < records->runs.count; i++) {
		const struct run *run = records->runs.items[i];

		if (run->command == NULL || is_known(records, i))
			continue;
		if (said++ == COMMANDS) {
			more++;
			said--;
			continue;
		}
		text = arena_printf(draft->arena, "%s#   $ %s\n", text,
		    lines_plain(draft->arena, run->command, COMMAND_MAX));
	}
	return more == 0 ? text :
			   arena_printf(draft->arena,
			       "%s#   and %zu more commands\n", text, more);
}

/* Compiles until no rule is reported any more; each time one is dropped.  False:
 * what stands around the rules does not compile as it is here. */
static bool
settle(struct draft *draft, const char *before, const char *after)
{
	struct compilation compilation;
	const char *text;
	bool good;

	do {
		text = arena_printf(draft->arena, "%s%s%s", before,
		    lines_text(&draft->lines, strlen(before)), after);
		good = draft_compile(draft, text, &compilation, &draft->blob);
	} while (lines_drop_reported(&draft->lines, &compilation.diags,
	    compilation.file->base));
	draft->text = (struct fmt_text){ text, strlen(text) };
	return good;
}

void
draft_make(struct draft *draft)
{
	struct compilation compilation;
	const char *statements = "", *before;
	struct source *source;

	draft->shown = "draft.sbx";
	if (draft->extends == NULL)
		choose_nearest(draft);
	else if (strcmp(draft->extends, "none") == 0)
		statements = start_alone(draft);
	else
		find_needs(draft, draft->extends, "", &draft->needs);
	lines_make(&draft->lines, &draft->needs);
	before = arena_printf(draft->arena, "%s%s%s", comment(draft),
	    head(draft, draft->extends), statements);
	if (!settle(draft, before, "}\n"))
		bug("a draft of so few rules does not compile");
	compilation_init(&compilation, draft->arena);
	source = sources_add(&compilation.sources, "draft.sbx",
	    draft->text.bytes, draft->text.size, (struct loc){ 0 });
	compilation.stmts = ast_parse_alone(&compilation.sources,
	    &compilation.diags, source);
	draft->text = fmt_text(draft->arena, compilation.stmts, source);
}

/* --- a policy that is there ----------------------------------------------- */

static const struct ast_stmt *
find_profile(const struct ast_stmt *stmts, const char *name)
{
	const struct ast_stmt *found = NULL;

	for (; stmts != NULL; stmts = stmts->next) {
		if (stmts->kind == AST_PROFILE &&
		    (name == NULL || strcmp(stmts->name->text, name) == 0))
			found = stmts;
	}
	return found;
}

bool
draft_update(struct draft *draft, const struct operand *operand)
{
	const struct source *source = operand->compilation.file;
	const struct ast_stmt *profile =
	    find_profile(operand->compilation.stmts, draft->name);
	const char *end = profile != NULL ? ast_block_end(source, profile) :
					    NULL;
	size_t before;

	if (end == NULL)
		return false;
	while (end > source->text && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	if (end > source->text && end[-1] != '\n')
		return false;
	before = (size_t)(end - source->text);
	draft->shown = source->name;
	draft->lines.brief = true;
	draft->base.blob = operand->blob;
	needs_find(&draft->needs, draft->arena, &draft->base, draft->records);
	needs_fold(&draft->needs);
	lines_make(&draft->lines, &draft->needs);
	/* A copy of a shipped profile is one no more once it is changed. */
	return settle(draft, arena_strndup(draft->arena, source->text, before),
	    end);
}
