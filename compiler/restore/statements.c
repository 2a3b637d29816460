/*
 * From a resolved policy to the statements that say it: one profile, each rule
 * with one object and its position, settings first.  What does not hold on all
 * platforms stands in `on` blocks at the end.
 */
#include "compiler/restore/builder.h"

#include "compiler/restore/restore.h"

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
	const char *position = origin->from == NULL ?
	    NULL :
	    position_text(builder->arena, origin->from);

	if (position != NULL) {
		stmt->from = atom_new(builder, AST_STRING, position);
		stmt->from->quoted = true;
	}
	ast_body_add(&builder->bodies[origin->platforms & SBX_ON_ALL], stmt);
	return stmt;
}

struct ast_stmt *
rule_add(struct builder *builder, const struct origin *origin,
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
add_params(struct builder *builder)
{
	for (size_t i = 0; i < builder->policy->params.count; i++) {
		const struct param *param = &builder->policy->params.items[i];

		stmt_add(builder, AST_PARAM, &param->origin)->name =
		    atom_new(builder, AST_WORD, param->name);
	}
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
	stmt = rule_add(builder, &rule->origin, rule->effect,
	    what_words(rule->kind, rule->detail));
	if (kind->object == NULL)
		return;
	kind->object(rule, &object);
	ast_list_add(&stmt->objects,
	    atom_new(builder, object.kind, object.text));
}

static void
add_rules(struct builder *builder, enum rule_kind_id kind)
{
	const struct rule_list *rules = &builder->policy->rules[kind];

	for (size_t i = 0; i < rules->count; i++)
		add_rule(builder, &rules->items[i]);
}

/* --- the whole ------------------------------------------------------------ */

static void
add_blocks(struct builder *builder)
{
	static const struct {
		uint8_t bits;
		const char *word;
	} platform_words[] = {
		{ SBX_ON_LINUX, "linux" },
		{ SBX_ON_LINUX_X86_64, "x86_64" },
		{ SBX_ON_LINUX_AARCH64, "aarch64" },
		{ SBX_ON_MACOS, "macos" },
	};
	static const uint8_t order[] = {
		SBX_ON_LINUX,
		SBX_ON_LINUX_X86_64,
		SBX_ON_LINUX_AARCH64,
		SBX_ON_LINUX_X86_64 | SBX_ON_MACOS,
		SBX_ON_LINUX_AARCH64 | SBX_ON_MACOS,
		SBX_ON_MACOS,
	};
	static const struct origin everywhere = { .platforms = SBX_ON_ALL };

	for (size_t i = 0; i < countof(order); i++) {
		uint8_t platforms = order[i], left = platforms;
		struct ast_stmt *stmt;

		if (builder->bodies[platforms].first == NULL)
			continue;
		stmt = stmt_add(builder, AST_ON, &everywhere);
		stmt->body = builder->bodies[platforms].first;
		for (size_t j = 0; j < countof(platform_words); j++) {
			if ((platform_words[j].bits & ~left) != 0)
				continue;
			left &= (uint8_t)~platform_words[j].bits;
			ast_list_add(&stmt->objects,
			    atom_new(builder, AST_WORD,
				platform_words[j].word));
		}
	}
}

static void
add_statements(struct builder *builder)
{
	const struct policy *policy = builder->policy;
	static const struct origin nowhere = { .platforms = SBX_ON_ALL };

	if (*policy->about != '\0')
		stmt_add(builder, AST_ABOUT, &nowhere)->name = atom_new(builder,
		    AST_STRING, policy->about);
	add_requires(builder);
	add_params(builder);
	/* What is allowed as a whole, settings, rules, and paths at the end. */
	add_rules(builder, KIND_BLANKET);
	for (int kind = KIND_END; kind-- > 0;) {
		if (kind != KIND_BLANKET)
			add_rules(builder, (enum rule_kind_id)kind);
	}
	for (size_t i = 0; i < policy->paths.count; i++) {
		struct rule rule = { .path = policy->paths.items[i] };

		rule.kind = KIND_PATH;
		add_rule(builder, &rule);
	}
	add_blocks(builder);
}

struct ast_stmt *
policy_statements(const struct policy *policy, const char *made_from)
{
	struct builder builder = {
		.arena = policy->arena,
		.policy = policy,
	};
	struct ast_stmt *version = ast_stmt(policy->arena, AST_VERSION,
	    (struct loc){ 0 });
	struct ast_stmt *profile = ast_stmt(policy->arena, AST_PROFILE,
	    (struct loc){ 0 });

	add_statements(&builder);
	ast_list_add(&version->words,
	    atom_new(&builder, AST_NUMBER,
		arena_printf(policy->arena, "%d", policy->language)));
	profile->name = atom_new(&builder, AST_WORD, policy->profile);
	profile->from = atom_new(&builder, AST_STRING, made_from);
	profile->from->quoted = true;
	profile->body = builder.bodies[SBX_ON_ALL].first;
	version->next = profile;
	return version;
}
