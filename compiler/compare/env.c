/*
 * The environment: which of the caller's variables are handed on.
 *
 * A variable that `set env` gives is the policy's own, whatever patterns say of
 * its name; so one that was set and is now handed on is wider, and one that is
 * set or not without ever being handed on is neither.  What sbxrun sets itself
 * (format/given.c) is left out: it follows from other rules.
 *
 * Names that rules spell out are asked about one by one.  The others are
 * infinite in number, so for each pattern that only one policy has the names
 * that patterns can tell apart are found (paths.h) and asked about.
 */
#include "compiler/compare/compare.h"
#include "compiler/compare/paths.h"
#include "compiler/query/why.h"
#include "format/model.h"

#include <stdlib.h>
#include <string.h>

struct env_rule_pair {
	const char *pattern;
	bool allow, wild;
	bool there[SIDE_COUNT];
};

struct environment {
	struct pass *pass;
	VEC(struct env_rule_pair) rules;
	struct map names; /* spelled out by a rule or `set env` */
	struct map asked; /* names that were asked about */
};

enum handing { HANDED_OFF, HANDED_SET, HANDED_ON };

static enum handing
handing_of(const struct verdict *verdict)
{
	if (verdict->by == BY_SET)
		return HANDED_SET;
	return verdict->allowed ? HANDED_ON : HANDED_OFF;
}

/* The change from one to the other; CHANGE_END: none.  Another value than the
 * caller's is neither more nor less. */
static enum change
handing_change(const struct verdict verdicts[SIDE_COUNT])
{
	enum handing old = handing_of(&verdicts[SIDE_OLD]);
	enum handing new = handing_of(&verdicts[SIDE_NEW]);

	if (old == new)
		return CHANGE_END;
	if (new == HANDED_ON)
		return CHANGE_WIDER;
	return old == HANDED_ON && new == HANDED_OFF ? CHANGE_NARROWER :
						       CHANGE_NEUTRAL;
}

/* Whether sbxrun sets the variable in both sandboxes, whatever rules say. */
static bool
is_given_in_both(const struct pass *pass, const struct access *access)
{
	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		struct subject subject = pass->subjects[side];

		subject.policy_alone = false;
		if (verdict_of(&subject, access).by > BY_SBXRUN ||
		    verdict_of(&subject, access).by < BY_SCRATCH)
			return false;
	}
	return true;
}

static bool
is_name(const char *name)
{
	return *name != '\0' && strpbrk(name, "=*") == NULL;
}

static struct note_key
env_key(struct environment *environment, const struct access *access,
    const struct verdict verdicts[SIDE_COUNT], enum change change)
{
	enum side allows = change == CHANGE_WIDER ? SIDE_NEW : SIDE_OLD;
	enum side side = !allows;

	if (change == CHANGE_NEUTRAL)
		return (struct note_key){
			.kind = DIFFERENCE_SET,
			.change = change,
			.side = verdicts[SIDE_NEW].by == BY_SET,
			.by = BY_SET,
			.text = pass_text(environment->pass, access->name),
		};
	if (verdicts[side].by == BY_NOTHING)
		side = allows;
	return (struct note_key){
		.kind = DIFFERENCE_ENV,
		.change = change,
		.side = side,
		.by = verdicts[side].by,
		.rule = verdicts[side].rule,
	};
}

/* Asks about one name and notes what differs. */
static void
ask_name(struct environment *environment, const char *name)
{
	struct pass *pass = environment->pass;
	struct access access = {
		.kind = KIND_ENV,
		.name = arena_strndup(pass->comparison->arena, name,
		    strlen(name)),
	};
	struct verdict verdicts[SIDE_COUNT];
	struct difference *difference;
	struct note_key key;
	enum change change;
	bool added;

	map_number(pass->scratch, &environment->asked, name, strlen(name),
	    &added);
	if (!added || !is_name(name))
		return;
	for (unsigned side = 0; side < SIDE_COUNT; side++)
		verdicts[side] = pass_ask(pass, (enum side)side, &access,
		    SBX_LEVEL_FULL, 0);
	change = handing_change(verdicts);
	if (change == CHANGE_END || is_given_in_both(pass, &access))
		return;
	key = env_key(environment, &access, verdicts, change);
	if (pass_again(pass, &key))
		return;
	difference = pass_note_access(pass, &key, &access, SBX_LEVEL_FULL, 0);
	if (change == CHANGE_WIDER && verdicts[SIDE_OLD].allowed)
		difference->reason = "the caller's own value is handed on";
}

/* --- collecting ----------------------------------------------------------- */

static void
add_rule(struct environment *environment, struct map *known,
    const char *pattern, const char *except, bool allow, enum side side)
{
	struct arena *arena = environment->pass->scratch;
	const char *key = arena_printf(arena, "%c%s %s", allow ? '+' : '-',
	    pattern, except);
	bool added;
	size_t number = map_number(arena, known, key, strlen(key), &added);

	if (added)
		*arena_push(arena,
		    &environment->rules) = (struct env_rule_pair){
			.pattern = pattern,
			.allow = allow,
			.wild = strchr(pattern, '*') != NULL,
		};
	environment->rules.items[number].there[side] = true;
	for (size_t len; *except != '\0';
	     except += len + (except[len] == ' ')) {
		len = strcspn(except, " ");
		map_number(arena, &environment->names, except, len, &added);
	}
	if (!environment->rules.items[number].wild)
		map_number(arena, &environment->names, pattern, strlen(pattern),
		    &added);
}

static void
collect(struct environment *environment)
{
	struct pass *pass = environment->pass;
	struct map known = { 0 };
	bool added;

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		const struct sbx_blob *blob = pass->comparison->blobs[side];

		if (blob->meta->flags & SBX_EVERYTHING)
			add_rule(environment, &known, "*", "", true,
			    (enum side)side);
		for (uint32_t i = 0; i < blob->env_count; i++) {
			const struct sbx_env *rule = &blob->env[i];

			if (rule->platforms & pass->platforms)
				add_rule(environment, &known,
				    sbx_string(blob, rule->pattern),
				    sbx_string(blob, rule->except),
				    rule->effect == SBX_ALLOW, (enum side)side);
		}
		for (uint32_t i = 0; i < blob->set_count; i++) {
			const char *name = sbx_string(blob, blob->set[i].name);

			if (blob->set[i].platforms & pass->platforms)
				map_number(pass->scratch, &environment->names,
				    name, strlen(name), &added);
		}
	}
}

/* --- patterns ------------------------------------------------------------- */

static bool
is_given(const char *name, size_t len)
{
	for (size_t i = 0; i < SBX_GIVEN_COUNT; i++) {
		if (strlen(sbx_given[i].name) == len &&
		    memcmp(sbx_given[i].name, name, len) == 0)
			return true;
	}
	return false;
}

/* A name that a rule spells out, that sbxrun may set, or that no variable
 * has. */
static bool
name_is_taken(const void *context, const char *name, size_t len)
{
	const struct environment *environment = context;

	return memchr(name, '=', len) != NULL ||
	    map_number_find(&environment->names, name, len) != SIZE_MAX ||
	    is_given(name, len);
}

/* Patterns that say the same need not be told apart. */
static unsigned
pair_group(const struct env_rule_pair *pair)
{
	return 1u + pair->allow + 2u * pair->there[SIDE_OLD] +
	    4u * pair->there[SIDE_NEW];
}

/* Whether the plainest names that a pattern matches are witnesses for it. */
static bool
guess(struct environment *environment, const struct env_rule_pair *pair,
    const char *star)
{
	const struct comparison *comparison = environment->pass->comparison;
	struct arena *arena = environment->pass->scratch;
	size_t before = comparison->differences.count;
	const struct difference *found;
	const struct sbx_blob *blob;
	const struct name_pattern pattern = {
		.text = pair->pattern,
		.len = strlen(pair->pattern),
	};

	ask_name(environment, name_sample(arena, &pattern, star));
	if (comparison->differences.count == before)
		return false;
	found = &comparison->differences.items[before];
	blob = comparison->blobs[found->cause];
	return found->by == BY_ENV &&
	    strcmp(sbx_string(blob, blob->env[found->rule].pattern),
		pair->pattern) == 0;
}

/* Asks about all names that tell the patterns apart and match this one. */
static void
ask_pattern(struct environment *environment, size_t rule)
{
	struct pass *pass = environment->pass;
	struct name_question question = {
		.must = SIZE_MAX,
		.taken = { name_is_taken, environment },
	};
	struct name_pattern *patterns = arena_alloc(pass->scratch,
	    (environment->rules.count + 1) * sizeof *patterns);
	struct name_classes classes;
	size_t count = 0;

	for (size_t i = 0; i < environment->rules.count; i++) {
		const struct env_rule_pair *pair = &environment->rules.items[i];

		if (i == rule)
			question.must = count;
		if (pair->wild)
			patterns[count++] = (struct name_pattern){
				.text = pair->pattern,
				.len = strlen(pair->pattern),
				.group = i == rule ? 0 : pair_group(pair),
			};
	}
	question.patterns = patterns;
	question.count = count;
	if (!name_classes(pass->scratch, &question, &classes)) {
		pass->comparison->fault =
		    "the patterns of variables combine in too many ways";
		return;
	}
	for (size_t i = 0; i < classes.list.count; i++)
		ask_name(environment, classes.list.items[i].name);
}

static bool
set_equal(const struct sbx_blob *old, const struct sbx_set *a,
    const struct sbx_blob *new, const struct sbx_set *b)
{
	return strcmp(sbx_string(old, a->name), sbx_string(new, b->name)) ==
	    0 &&
	    strcmp(sbx_string(old, a->text), sbx_string(new, b->text)) == 0 &&
	    anchors_equal(old, a->anchor, new, b->anchor);
}

/* Whether the other side sets the same. */
static bool
set_is_there(const struct pass *pass, const struct sbx_blob *blob,
    const struct sbx_set *set, const struct env_index *other, bool *named)
{
	uint32_t next = env_index_set(other, sbx_string(blob, set->name));

	*named = false;
	for (; next != 0; next = other->next_set[next - 1]) {
		const struct sbx_set *its = &other->blob->set[next - 1];

		if ((its->platforms & pass->platforms) == 0)
			continue;
		*named = true;
		if (set_equal(blob, set, other->blob, its))
			return true;
	}
	return false;
}

static bool
both_set(const struct pass *pass, const struct access *access)
{
	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		if (pass_ask(pass, (enum side)side, access, SBX_LEVEL_FULL, 0)
			.by != BY_SET)
			return false;
	}
	return true;
}

/* A variable that both set, to different values. */
static void
compare_values(struct environment *environment)
{
	struct pass *pass = environment->pass;
	const struct sbx_blob *new = pass->comparison->blobs[SIDE_NEW];

	for (uint32_t i = 0; i < new->set_count; i++) {
		const struct sbx_set *set = &new->set[i];
		struct access access = {
			.kind = KIND_ENV,
			.name = sbx_string(new, set->name),
		};
		struct note_key key = {
			.kind = DIFFERENCE_SET,
			.change = CHANGE_NEUTRAL,
			.side = SIDE_NEW,
			.by = BY_SET,
			.text = pass_text(pass, access.name),
		};
		bool named;

		if ((set->platforms & pass->platforms) == 0 ||
		    set_is_there(pass, new, set, pass->subjects[SIDE_OLD].env,
			&named) ||
		    !named || !both_set(pass, &access) ||
		    pass_again(pass, &key))
			continue;
		pass_note_access(pass, &key, &access, SBX_LEVEL_FULL, 0)
		    ->witnessed = false;
	}
}

void
compare_env(struct pass *pass)
{
	struct environment environment = { .pass = pass };

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		pass->subjects[side].env = env_index_new(pass->scratch,
		    pass->comparison->blobs[side]);
		pass->subjects[side].policy_alone = true;
	}
	collect(&environment);
	for (size_t i = 0; i < environment.names.keys.count; i++)
		ask_name(&environment, environment.names.keys.items[i].bytes);
	for (size_t i = 0; i < environment.rules.count; i++) {
		const struct env_rule_pair *pair = &environment.rules.items[i];

		if (pair->there[SIDE_OLD] != pair->there[SIDE_NEW] &&
		    pair->wild && !guess(&environment, pair, "X") &&
		    !guess(&environment, pair, ""))
			ask_pattern(&environment, i);
	}
	/* These depend on other rules, whatever is named. */
	for (size_t i = 0; i < SBX_GIVEN_COUNT; i++)
		ask_name(&environment, sbx_given[i].name);
	compare_values(&environment);
	/* They lie in the scratch memory of this pass. */
	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		pass->subjects[side].env = NULL;
		pass->subjects[side].policy_alone = false;
	}
}
