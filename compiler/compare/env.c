/*
 * The environment: which of the caller's variables are handed on.
 *
 * A variable that `set env` gives is the policy's own, whatever patterns say of
 * its name; so one that was set and is now handed on is wider, and one that is
 * set or not without ever being handed on is neither.  What sbxrun sets itself
 * (format/given.c) is left out: it follows from other rules.
 *
 * Names that rules spell out are asked about one by one.  The others are
 * infinite in number, so for each pattern that only one policy has the plainest
 * names that it matches, alone or with another pattern, are asked about.  If none
 * differs, other patterns may show that none can; else it is not decided.
 */
#include "compiler/compare/compare.h"
#include "compiler/compare/paths.h"
#include "compiler/query/why.h"
#include "format/model.h"

#include <stdlib.h>
#include <string.h>

/* How often a pattern is held to another one or to a name, and how many others
 * names are made of. */
enum { MOST_WORK = 1 << 22, MOST_OTHERS = 16 };

struct env_rule_pair {
	const char *pattern;
	bool allow, wild, undecided;
	bool there[SIDE_COUNT];
	enum verdict_by by;
	uint32_t index[SIDE_COUNT]; /* into the blob's rules */
	unsigned
	    denies[SIDE_COUNT]; /* of an allow: how many leave none of it */
};

struct environment {
	struct pass *pass;
	VEC(struct env_rule_pair) rules;
	struct map names; /* spelled out by a rule or `set env` */
	struct map asked; /* names that were asked about */
	size_t work;
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

/* How the sides differ in a name; CHANGE_END: not, or as sbxrun sets it. */
static enum change
name_change(const struct environment *environment, const struct access *access,
    struct verdict verdicts[SIDE_COUNT])
{
	const struct pass *pass = environment->pass;
	enum change change;

	for (unsigned side = 0; side < SIDE_COUNT; side++)
		verdicts[side] = pass_ask(pass, (enum side)side, access,
		    SBX_LEVEL_FULL, 0);
	change = handing_change(verdicts);
	return change != CHANGE_END && is_given_in_both(pass, access) ?
	    CHANGE_END :
	    change;
}

static void
name_note(struct environment *environment, const struct note_key *key,
    const struct access *access)
{
	struct difference *difference;

	if (pass_again(environment->pass, key))
		return;
	difference = pass_note_access(environment->pass, key, access,
	    SBX_LEVEL_FULL, 0);
	if (difference->change == CHANGE_WIDER &&
	    difference->says[SIDE_OLD].verdict.allowed)
		difference->reason = "the caller's own value is handed on";
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
	struct note_key key;
	enum change change;
	bool added;

	map_number(pass->scratch, &environment->asked, name, strlen(name),
	    &added);
	if (!added || !is_name(name))
		return;
	change = name_change(environment, &access, verdicts);
	if (change == CHANGE_END)
		return;
	key = env_key(environment, &access, verdicts, change);
	name_note(environment, &key, &access);
}

/* --- collecting ----------------------------------------------------------- */

static void
add_rule(struct environment *environment, struct map *known,
    const char *pattern, const char *except, bool allow, enum side side,
    enum verdict_by by, uint32_t index)
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
			.by = by,
		};
	environment->rules.items[number].there[side] = true;
	environment->rules.items[number].index[side] = index;
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
			    (enum side)side, BY_EVERYTHING, 0);
		for (uint32_t i = 0; i < blob->env_count; i++) {
			const struct sbx_env *rule = &blob->env[i];

			if (rule->platforms & pass->platforms)
				add_rule(environment, &known,
				    sbx_string(blob, rule->pattern),
				    sbx_string(blob, rule->except),
				    rule->effect == SBX_ALLOW, (enum side)side,
				    BY_ENV, i);
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
is_changed(const struct env_rule_pair *pair)
{
	return pair->there[SIDE_OLD] != pair->there[SIDE_NEW];
}

static struct note_key
pair_key(const struct env_rule_pair *pair)
{
	enum side side = pair->there[SIDE_NEW] ? SIDE_NEW : SIDE_OLD;

	return (struct note_key){
		.kind = DIFFERENCE_ENV,
		.change = pair->allow == (side == SIDE_NEW) ? CHANGE_WIDER :
							      CHANGE_NARROWER,
		.side = side,
		.by = pair->by,
		.rule = pair->index[side],
	};
}

/* Whether each name that one matches the other one does, too. */
static bool
lies_in(struct environment *environment, const struct env_rule_pair *inner,
    const struct env_rule_pair *outer)
{
	environment->work++;
	return name_lies_in(inner->pattern, strlen(inner->pattern),
	    outer->pattern, strlen(outer->pattern));
}

/* Whether some name may match both: what stands before their first stars and
 * behind their last ones does not differ. */
static bool
may_meet(struct environment *environment, const struct env_rule_pair *a,
    const struct env_rule_pair *b)
{
	const char *x = strrchr(a->pattern, '*') + 1;
	const char *y = strrchr(b->pattern, '*') + 1;
	size_t before = strcspn(a->pattern, "*");
	size_t behind = strlen(x), other = strlen(y);

	if (strcspn(b->pattern, "*") < before)
		before = strcspn(b->pattern, "*");
	if (other < behind)
		behind = other;
	environment->work++;
	return memcmp(a->pattern, b->pattern, before) == 0 &&
	    memcmp(x + strlen(x) - behind, y + other - behind, behind) == 0;
}

static void
count_denies(struct environment *environment, struct env_rule_pair *pair)
{
	for (size_t i = 0; i < environment->rules.count; i++) {
		const struct env_rule_pair *other =
		    &environment->rules.items[i];

		if (other->allow || !lies_in(environment, pair, other))
			continue;
		for (unsigned side = 0; side < SIDE_COUNT; side++)
			pair->denies[side] += other->there[side];
	}
}

/* The sides on which a name that a deny matches may be allowed, but for it. */
static unsigned
allowing_sides(struct environment *environment,
    const struct env_rule_pair *deny, const struct env_rule_pair *allow)
{
	bool lies = lies_in(environment, allow, deny);
	unsigned sides = 0;

	if (!may_meet(environment, deny, allow))
		return 0;
	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		if (allow->there[side] &&
		    allow->denies[side] == (lies && deny->there[side]))
			sides |= 1u << side;
	}
	return sides;
}

/* Whether other rules show that this one makes no difference; of names that
 * they spell out, each is asked about. */
static bool
is_vain(struct environment *environment, const struct env_rule_pair *pair)
{
	enum side side = (enum side)pair_key(pair).side;
	unsigned allowed = 0;

	for (size_t i = 0; i < environment->rules.count; i++) {
		const struct env_rule_pair *other =
		    &environment->rules.items[i];

		if (other == pair || !other->wild)
			continue;
		if (!pair->allow && other->allow) {
			allowed |= allowing_sides(environment, pair, other);
			continue;
		}
		if (pair->allow != other->allow && !other->there[side])
			continue;
		/* Of two that match the same, one is to be asked about. */
		if (lies_in(environment, pair, other) &&
		    (pair->allow != other->allow || other->there[!side] ||
			other < pair || !lies_in(environment, other, pair)))
			return true;
	}
	return !pair->allow && allowed != 3;
}

/* A name that a pattern matches with this for its stars. */
static const char *
sample(struct environment *environment, const struct env_rule_pair *pair,
    const char *star)
{
	const struct name_pattern pattern = {
		.text = pair->pattern,
		.len = strlen(pair->pattern),
	};

	return name_sample(environment->pass->scratch, &pattern, star);
}

/* Whether a name shows what the rule does; one where another rule decides is
 * kept in `second`. */
static bool
guess(struct environment *environment, const struct env_rule_pair *pair,
    const char *name, const char **second)
{
	const struct note_key key = pair_key(pair);
	const struct access access = { .kind = KIND_ENV, .name = name };
	struct verdict verdicts[SIDE_COUNT];

	environment->work += environment->rules.count;
	if (!is_name(name) ||
	    !sbx_pattern_match(pair->pattern, name, strlen(name)))
		return false;
	ask_name(environment, name);
	if (pass_said(environment->pass, &key))
		return true;
	if (name_change(environment, &access, verdicts) ==
	    (enum change)key.change)
		*second = name;
	return false;
}

/* Names that another pattern matches, too. */
static bool
guess_both(struct environment *environment, const struct env_rule_pair *pair,
    const struct env_rule_pair *other, const char **second)
{
	static const char *const stars[] = { "", "X" };

	for (size_t i = 0; i < countof(stars); i++) {
		const char *its = sample(environment, other, stars[i]);
		const char *own = sample(environment, pair, stars[i]);

		if (guess(environment, pair, its, second) ||
		    guess(environment, pair, sample(environment, pair, its),
			second) ||
		    guess(environment, pair, sample(environment, other, own),
			second))
			return true;
	}
	return false;
}

static bool
guess_all(struct environment *environment, const struct env_rule_pair *pair,
    const char **second)
{
	static const char *const stars[] = { "X", "", "0", "ZQ_" };
	size_t others = 0;

	for (size_t i = 0; i < countof(stars); i++) {
		if (guess(environment, pair,
			sample(environment, pair, stars[i]), second))
			return true;
	}
	for (size_t i = 0; i < environment->rules.count; i++) {
		const struct env_rule_pair *other =
		    &environment->rules.items[i];

		if (other == pair || !other->wild ||
		    !may_meet(environment, pair, other))
			continue;
		if (others++ == MOST_OTHERS)
			break;
		if (guess_both(environment, pair, other, second))
			return true;
	}
	return false;
}

static void
ask_pattern(struct environment *environment, struct env_rule_pair *pair)
{
	struct arena *arena = environment->pass->comparison->arena;
	const struct note_key key = pair_key(pair);
	const char *second = NULL;
	struct access access = { .kind = KIND_ENV };

	if (pass_said(environment->pass, &key) ||
	    (environment->pass->comparison->wider_only &&
		key.change != CHANGE_WIDER))
		return;
	pair->undecided = environment->work > MOST_WORK;
	if (pair->undecided || is_vain(environment, pair) ||
	    guess_all(environment, pair, &second))
		return;
	pair->undecided = second == NULL;
	if (second == NULL)
		return;
	access.name = arena_strndup(arena, second, strlen(second));
	name_note(environment, &key, &access);
}

/* Of the rules that were not settled, one stands for all. */
static void
undecided_note(const struct environment *environment, enum change change)
{
	struct pass *pass = environment->pass;
	struct arena *arena = pass->comparison->arena;
	struct explanation says[SIDE_COUNT] = {
		{ .source = SBX_NO_SOURCE },
		{ .source = SBX_NO_SOURCE },
	};
	size_t count = 0;

	for (size_t i = environment->rules.count; i-- > 0;) {
		const struct env_rule_pair *pair = &environment->rules.items[i];
		const struct note_key key = pair_key(pair);
		const struct sbx_blob *blob = pass->comparison->blobs[key.side];

		if (!pair->undecided || key.change != change ||
		    pass_said(pass, &key))
			continue;
		count++;
		says[0] = says[1] =
		    (struct explanation){ .source = SBX_NO_SOURCE };
		if (pair->by == BY_EVERYTHING)
			continue;
		says[key.side].text = record_text(arena, blob,
		    rule_kinds[KIND_ENV], &blob->env[key.rule]);
		says[key.side].source = blob->env[key.rule].source;
	}
	if (count > 0)
		pass_note_setting(pass, DIFFERENCE_ENV,
		    change == CHANGE_WIDER ? CHANGE_MAYBE_WIDER :
					     CHANGE_MAYBE_NARROWER,
		    arena_printf(arena,
			"env, by %zu rule%s, where patterns meet: no name was "
			"found that shows it",
			count, count == 1 ? "" : "s"),
		    says);
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
		struct env_rule_pair *pair = &environment.rules.items[i];

		if (pair->allow && pair->wild)
			count_denies(&environment, pair);
	}
	for (size_t i = 0; i < environment.rules.count; i++) {
		struct env_rule_pair *pair = &environment.rules.items[i];

		if (is_changed(pair) && pair->wild)
			ask_pattern(&environment, pair);
	}
	undecided_note(&environment, CHANGE_WIDER);
	undecided_note(&environment, CHANGE_NARROWER);
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
