/*
 * From a resolved policy to the statements that say it: one profile, each rule
 * with one object and its position, settings first.  What does not hold on all
 * platforms stands in `on` blocks at the end.
 *
 * The language cannot say `glob` of a place whose own name holds what is a
 * wildcard in a pattern; a `let` gives such a place a name.
 */
#include "compiler/restore/restore.h"

#include "compiler/tables/words.h"
#include "grammar/token.h"

#include <string.h>

struct builder {
	struct arena *arena;
	const struct policy *policy;
	struct ast_body bodies[SBX_ON_ALL + 1]; /* by where */
	struct map places; /* from the text of a place to its name */
	size_t place_count;
};

static struct ast_atom *
atom_new(struct builder *builder, enum ast_atom_kind kind, const char *text)
{
	return ast_atom(builder->arena, kind, (struct loc){ 0 }, text,
	    strlen(text));
}

static struct ast_atom *
path_atom(struct builder *builder, const char *text)
{
	struct ast_atom *atom = atom_new(builder, AST_PATH, text);

	atom->quoted = strpbrk(text, "*?[") != NULL;
	return atom;
}

static void
add_word(struct builder *builder, struct ast_stmt *stmt, const char *word)
{
	ast_list_add(&stmt->words, atom_new(builder, AST_WORD, word));
}

/* A new statement at the end of what holds on these platforms. */
static struct ast_stmt *
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

/* `words` are those of a form in tables/words.def. */
static struct ast_stmt *
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

static void
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
add_limits(struct builder *builder)
{
	for (size_t i = 0; i < builder->policy->limits.count; i++) {
		const struct limit_rule *rule =
		    &builder->policy->limits.items[i];
		const struct limit_word *limit = limit_of_kind(rule->kind);

		add_pair(builder, AST_LIMIT, &rule->origin, limit->word,
		    atom_new(builder, AST_NUMBER,
			limit_value_text(builder->arena, limit, rule->value)));
	}
}

/* The name of an anchor and text, of which the language takes the former. */
static const char *
value_text(const struct builder *builder, const struct set_rule *rule)
{
	const char *text = rule->text;

	if (rule->anchor == SBX_NO_ANCHOR || rule->anchor == SBX_ANCHOR_ROOT)
		return text;
	if (*text == '\0' || *text == '/')
		return policy_target_text(builder->policy,
		    (struct target){ text, rule->anchor });
	return arena_printf(builder->arena, "${%s}%s",
	    policy_anchor_name(builder->policy, rule->anchor), text);
}

static void
add_set(struct builder *builder)
{
	for (size_t i = 0; i < builder->policy->set.count; i++) {
		const struct set_rule *rule = &builder->policy->set.items[i];
		struct ast_stmt *stmt = stmt_add(builder, AST_SET,
		    &rule->origin);
		const char *text = value_text(builder, rule);
		enum ast_atom_kind kind =
		    token_value(builder->arena, text)->kind;

		add_word(builder, stmt, "env");
		stmt->name = atom_new(builder, AST_WORD, rule->name);
		/* The text of a group has no '@', and this value has. */
		ast_list_add(&stmt->objects,
		    atom_new(builder, kind == AST_GROUP ? AST_STRING : kind,
			text));
	}
}

/* --- rules ---------------------------------------------------------------- */

static void
add_blankets(struct builder *builder)
{
	static const char *const words[BLANKET_END] = {
#define BLANKET(text, kind) [kind] = text,
#include "compiler/tables/words.def"
	};

	for (size_t i = 0; i < builder->policy->blankets.count; i++) {
		const struct blanket_rule *rule =
		    &builder->policy->blankets.items[i];

		rule_add(builder, &rule->origin, rule->effect,
		    words[rule->kind]);
	}
}

static void
add_env(struct builder *builder)
{
	for (size_t i = 0; i < builder->policy->env.count; i++) {
		const struct env_rule *rule = &builder->policy->env.items[i];
		struct ast_stmt *stmt = rule_add(builder, &rule->origin,
		    rule->effect, "env");

		ast_list_add(&stmt->objects,
		    atom_new(builder,
			strchr(rule->pattern, '*') != NULL ? AST_PATTERN :
							     AST_WORD,
			rule->pattern));
	}
}

static void
add_syscalls(struct builder *builder)
{
	for (size_t i = 0; i < builder->policy->syscalls.count; i++) {
		const struct syscall_rule *rule =
		    &builder->policy->syscalls.items[i];
		struct ast_stmt *stmt = rule_add(builder, &rule->origin,
		    rule->effect, "syscalls");

		ast_list_add(&stmt->objects,
		    atom_new(builder, rule->group ? AST_GROUP : AST_WORD,
			rule->name));
	}
}

static void
add_ports(struct builder *builder)
{
	static const char *const words[SBX_PORT_OP_END] = {
#define PORT_OP(text, op) [op] = text,
#include "compiler/tables/words.def"
	};

	for (size_t i = 0; i < builder->policy->ports.count; i++) {
		const struct port_rule *rule = &builder->policy->ports.items[i];
		bool range = rule->high != rule->low;
		struct ast_stmt *stmt = rule_add(builder, &rule->origin,
		    rule->effect, words[rule->op]);

		ast_list_add(&stmt->objects,
		    atom_new(builder, range ? AST_RANGE : AST_NUMBER,
			arena_printf(builder->arena, range ? "%u-%u" : "%u",
			    (unsigned)rule->low, (unsigned)rule->high)));
	}
}

/* --- paths ---------------------------------------------------------------- */

static bool
is_taken(const struct builder *builder, const char *name)
{
	for (size_t i = 0; i < builder->policy->params.count; i++) {
		if (strcmp(builder->policy->params.items[i].name, name) == 0)
			return true;
	}
	return false;
}

/* The name of a `let` for a place that no pattern can begin with. */
static const char *
place_name(struct builder *builder, const char *place)
{
	static const struct origin nowhere = { .platforms = SBX_ON_ALL };
	const char *key = arena_intern(builder->arena, place, strlen(place));
	char *name = map_find(&builder->places, key);
	struct ast_stmt *stmt;

	if (name != NULL)
		return name;
	do {
		name = arena_printf(builder->arena, "place-%zu",
		    ++builder->place_count);
	} while (is_taken(builder, name));
	map_put(builder->arena, &builder->places, key, name);
	stmt = stmt_add(builder, AST_LET, &nowhere);
	stmt->name = atom_new(builder, AST_WORD, name);
	ast_list_add(&stmt->objects, path_atom(builder, place));
	return name;
}

static struct ast_atom *
object_atom(struct builder *builder, const struct path_rule *rule)
{
	const char *place = policy_target_text(builder->policy, rule->at);
	const char *text;

	if (rule->glob == NULL)
		return path_atom(builder, place);
	if (strpbrk(rule->at.suffix, "*?[]{}\\") != NULL ||
	    strlen(rule->at.suffix) + strlen(rule->glob) > SBX_MAX_PATH)
		place = arena_printf(builder->arena, "${%s}",
		    place_name(builder, place));
	text = arena_printf(builder->arena, "%s%s",
	    strcmp(place, "/") == 0 ? "" : place, rule->glob);
	return atom_new(builder, AST_GLOB, text);
}

/* The words that together give or take these rights; one, unless the blob was
 * made by somebody else. */
static void
add_path(struct builder *builder, const struct path_rule *rule)
{
	static const struct {
		const char *word;
		uint8_t allow, deny;
	} words[] = {
#define RIGHT(text, gives, takes) { text, gives, takes },
#include "compiler/tables/words.def"
	};
	uint8_t left = rule->rights;

	for (size_t i = countof(words); i-- > 0 && left != 0;) {
		uint8_t bits = rule->effect == SBX_ALLOW ? words[i].allow :
							   words[i].deny;
		struct ast_atom *object;
		struct ast_stmt *stmt;

		if ((bits & ~rule->rights) != 0 || (bits & left) == 0 ||
		    (rule->effect != SBX_ALLOW && rule->rights == SBX_RIGHTS &&
			bits != SBX_RIGHTS))
			continue;
		left &= (uint8_t)~bits;
		object = object_atom(builder, rule);
		stmt = rule_add(builder, &rule->origin, rule->effect,
		    words[i].word);
		ast_list_add(&stmt->objects, object);
		for (uint16_t j = 0; j < rule->exclusion_count; j++)
			ast_list_add(&stmt->exclusions,
			    path_atom(builder,
				policy_target_text(builder->policy,
				    rule->exclusions[j])));
	}
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
	add_blankets(builder);
	add_limits(builder);
	add_set(builder);
	add_env(builder);
	add_syscalls(builder);
	add_ports(builder);
	for (size_t i = 0; i < policy->paths.count; i++)
		add_path(builder, &policy->paths.items[i]);
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
