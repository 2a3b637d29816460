/*
 * From a resolved policy to the text of it that a blob has: one profile that
 * needs no other, with a line for each rule and object, sorted, and where each
 * was written.  What profiles, groups, sets and `let` were is gone.  What does
 * not hold on all platforms stands in `on` blocks at the end.
 */
#include "compiler/policy/kind.h"

#include "compiler/write/write.h"

#include <stdlib.h>
#include <string.h>

struct ast_atom *
atom_new(struct builder *builder, enum ast_atom_kind kind, const char *text)
{
	return ast_atom(builder->arena, kind, (struct loc){ 0 }, text,
	    strlen(text));
}

void
add_word(struct builder *builder, struct ast_stmt *stmt, const char *word)
{
	ast_list_add(&stmt->words, atom_new(builder, AST_WORD, word));
}

struct ast_stmt *
stmt_add(struct builder *builder, enum ast_kind kind,
    const struct origin *origin)
{
	struct ast_stmt *stmt = ast_stmt(builder->arena, kind,
	    (struct loc){ 0 });
	struct position position = policy_position(builder->policy, origin);
	const char *mark = position_text(builder->arena, &position);

	if (mark != NULL) {
		stmt->from = atom_new(builder, AST_STRING, mark);
		stmt->from->quoted = true;
	}
	ast_body_add(&builder->bodies[origin->platforms & SBX_ON_ALL], stmt);
	return stmt;
}

struct ast_stmt *
stmt_add_rule(struct builder *builder, const struct origin *origin,
    enum sbx_effect effect, const char *words)
{
	struct ast_stmt *stmt = stmt_add(builder, AST_RULE, origin);

	stmt->effect = effect;
	while (*words != '\0') {
		size_t len = strcspn(words, " ");

		add_word(builder, stmt,
		    arena_strndup(builder->arena, words, len));
		words += len + (words[len] == ' ');
	}
	return stmt;
}

/* --- settings ------------------------------------------------------------- */

void
add_pair(struct builder *builder, enum ast_kind kind,
    const struct origin *origin, const char *word, struct ast_atom *value)
{
	struct ast_stmt *stmt = stmt_add(builder, kind, origin);

	add_word(builder, stmt, word);
	ast_list_add(&stmt->words, value);
}

static void
add_requires(struct builder *builder)
{
	const struct policy *policy = builder->policy;

	if (policy->level_origin.loc.end != 0)
		add_pair(builder, AST_REQUIRE, &policy->level_origin, "level",
		    atom_new(builder, AST_WORD, level_word(policy->level)));
	if (policy->landlock != 0)
		add_pair(builder, AST_REQUIRE, &policy->landlock_origin,
		    "landlock",
		    atom_new(builder, AST_NUMBER,
			arena_printf(builder->arena, "%d", policy->landlock)));
}

static void
add_rule(struct builder *builder, const struct rule *rule)
{
	const struct rule_kind *kind = rule_kinds[rule->kind];
	struct rule_object object;
	struct ast_stmt *stmt;

	if (kind->state != NULL) {
		kind->state(builder, rule);
		return;
	}
	stmt = stmt_add_rule(builder, &rule->origin, rule->effect,
	    what_words(rule->kind, rule->detail));
	if (kind->object == NULL)
		return;
	kind->object(rule, &object);
	ast_list_add(&stmt->objects,
	    atom_new(builder, object.kind, object.text));
}

/* --- the whole ------------------------------------------------------------ */

static void
add_statements(struct builder *builder)
{
	const struct policy *policy = builder->policy;

	for (int kind = 0; kind < KIND_END; kind++) {
		const struct rule_list *rules = &policy->rules[kind];

		for (size_t i = 0; i < rules->count; i++)
			add_rule(builder, &rules->items[i]);
	}
	for (size_t i = 0; i < policy->paths.count; i++) {
		struct rule rule = { .path = policy->paths.items[i] };

		rule.kind = KIND_PATH;
		add_rule(builder, &rule);
	}
}

struct line {
	const char *text;
	uint8_t platforms;
};

struct lines {
	VEC(struct line) list;
};

static int
line_compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return strcmp(x->text, y->text);
}

/* Statements, each on a line. */
static void
add_lines(struct builder *builder, struct lines *lines, uint8_t platforms)
{
	struct memory memory;
	char *at, *end;

	memory_open(&memory);
	write_sbx_lines(memory.stream, builder->bodies[platforms].first);
	at = memory_close(&memory, builder->arena);
	for (; (end = strchr(at, '\n')) != NULL; at = end + 1)
		*arena_push(builder->arena, &lines->list) = (struct line){
			arena_strndup(builder->arena, at, (size_t)(end - at)),
			platforms,
		};
}

/* All of them, in an order that does not depend on theirs.  What was said for
 * some platforms, and again for others, is said once for all of these. */
static void
sort_lines(struct builder *builder, struct lines *lines)
{
	size_t kept = 0;

	for (uint8_t platforms = 1; platforms <= SBX_ON_ALL; platforms++)
		add_lines(builder, lines, platforms);
	if (lines->list.count > 0)
		qsort(lines->list.items, lines->list.count,
		    sizeof *lines->list.items, line_compare);
	for (size_t i = 0; i < lines->list.count; i++) {
		struct line *line = &lines->list.items[i];

		if (kept > 0 &&
		    line_compare(&lines->list.items[kept - 1], line) == 0)
			lines->list.items[kept - 1].platforms |=
			    line->platforms;
		else
			lines->list.items[kept++] = *line;
	}
	lines->list.count = kept;
}

static void
write_lines(FILE *stream, const struct lines *lines)
{
	static const char *const words[] = {
		[SBX_ON_ALL] = "",
		[SBX_ON_LINUX] = "linux",
		[SBX_ON_LINUX_X86_64] = "x86_64",
		[SBX_ON_LINUX_AARCH64] = "aarch64",
		[SBX_ON_LINUX_X86_64 | SBX_ON_MACOS] = "x86_64 macos",
		[SBX_ON_LINUX_AARCH64 | SBX_ON_MACOS] = "aarch64 macos",
		[SBX_ON_MACOS] = "macos",
	};

	for (uint8_t platforms = SBX_ON_ALL; platforms > 0; platforms--) {
		bool open = platforms == SBX_ON_ALL;

		for (size_t i = 0; i < lines->list.count; i++) {
			const struct line *line = &lines->list.items[i];

			if (line->platforms != platforms)
				continue;
			if (!open)
				fprintf(stream, "on %s {\n", words[platforms]);
			open = true;
			fprintf(stream, "%s%s\n",
			    platforms == SBX_ON_ALL ? "" : " ", line->text);
		}
		if (open && platforms != SBX_ON_ALL)
			fputs("}\n", stream);
	}
}

/* What has an order, parameters, or may be there once. */
static void
add_head(struct builder *builder)
{
	static const struct origin nowhere = { .platforms = SBX_ON_ALL };
	const struct policy *policy = builder->policy;

	if (*policy->about != '\0')
		stmt_add(builder, AST_ABOUT, &nowhere)->name = atom_new(builder,
		    AST_STRING, policy->about);
	add_requires(builder);
	for (size_t i = 0; i < builder->policy->params.count; i++) {
		const struct param *param = &builder->policy->params.items[i];

		stmt_add(builder, AST_PARAM, &param->origin)->name =
		    atom_new(builder, AST_WORD, param->name);
	}
}

const char *
policy_canonical(const struct policy *policy)
{
	struct builder builder = {
		.arena = policy->arena,
		.policy = policy,
	};
	struct lines lines = { 0 };
	struct memory memory;

	memory_open(&memory);
	fprintf(memory.stream, "sbx %d\nprofile %s from \"sbxc\" {\n",
	    policy->language, policy->profile);
	add_head(&builder);
	write_sbx_lines(memory.stream, builder.bodies[SBX_ON_ALL].first);
	builder.bodies[SBX_ON_ALL] = (struct ast_body){ NULL, NULL };
	add_statements(&builder);
	sort_lines(&builder, &lines);
	write_lines(memory.stream, &lines);
	fputs("}\n", memory.stream);
	return memory_close(&memory, policy->arena);
}
