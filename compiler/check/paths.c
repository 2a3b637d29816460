/*
 * Checks of path rules: what another rule says already, and what one takes
 * away.  Which rules cover another is asked of grants.c.
 *
 * Rules of different anchors are never compared: where a parameter or the
 * workspace lies is known when the loader binds it.
 */
#include "compiler/check/check.h"

#include "compiler/tables/tables.h"
#include "format/model.h"
#include "format/text.h"

#include <string.h>

static const struct path_rule *
path_rule(const struct checker *checker, size_t index)
{
	return &checker->policy->paths.items[index];
}

/* --- facts ---------------------------------------------------------------- */

/* The right that an allow is written for: read comes with the others. */
static uint8_t
main_right(const struct path_rule *rule)
{
	return rule->rights == SBX_READ ?
	    SBX_READ :
	    rule->rights & SBX_RIGHTS & (uint8_t)~SBX_READ;
}

/*
 * What the rule before says of a rule with the same glob: rules at one place
 * are around each other, the strongest first.
 */
static void
judge_glob(struct checker *checker, size_t index)
{
	uint32_t around = checker->grants.coverages[index].around;
	const struct path_rule *rule = path_rule(checker, index), *other;
	struct path_fact *fact = &checker->facts[index];
	bool allow = rule->effect == SBX_ALLOW;
	uint8_t rights = rule->rights;

	if (around == 0)
		return;
	other = path_rule(checker, around - 1);
	if (allow && other->effect != SBX_ALLOW)
		rights = main_right(rule);
	if (rule->glob != other->glob ||
	    target_compare(rule->at, other->at) != 0 ||
	    (rights & ~other->rights) != 0 ||
	    (rule->origin.platforms & ~other->origin.platforms) != 0 ||
	    (other->exclusion_count > 0 && !same_exclusions(rule, other)))
		return;
	if (!allow && fact->within == 0)
		fact->within = around;
	else if (allow && other->effect == SBX_ALLOW && fact->given_by == 0)
		fact->given_by = around;
	else if (allow && other->effect != SBX_ALLOW && fact->denied_by == 0)
		fact->denied_by = around;
}

void
paths_judge(struct checker *checker)
{
	const struct grants *grants = &checker->grants;
	size_t count = checker->policy->paths.count;

	grants_init(&checker->grants, checker->policy);
	checker->facts = arena_alloc(checker->arena,
	    (count + 1) * sizeof *checker->facts);
	for (size_t i = 0; i < count; i++) {
		const struct path_rule *rule = path_rule(checker, i);
		struct path_fact *fact = &checker->facts[i];

		if (rule->effect == SBX_ALLOW) {
			/* Another allow does not stage. */
			if ((rule->rights & SBX_STAGED) == 0)
				fact->given_by = grants_cover(grants, i,
				    COVER_ALLOW, rule->rights);
			/* At a lower level such an allow would count. */
			fact->denied_by = grants_cover(grants, i,
			    grants_held(grants), main_right(rule));
		} else {
			fact->within = grants_cover(grants, i,
			    rule->effect == SBX_DENY ? COVER_DENY :
						       COVER_ANY_DENY,
			    rule->rights);
		}
		if (rule->glob != NULL)
			judge_glob(checker, i);
	}
}

/* --- reports, one for each object that was written ------------------------ */

/* What a check asks of one rule: 0, or 1 + the index of the other rule. */
typedef uint32_t path_question(const struct checker *checker, size_t index);

static bool
is_same_place(const struct checker *checker, size_t a, size_t b)
{
	return target_compare(path_rule(checker, a)->at,
		   path_rule(checker, b)->at) == 0 &&
	    path_rule(checker, a)->glob == path_rule(checker, b)->glob;
}

/*
 * Finds the objects of the user's own rules for all of whose paths the answer
 * is yes: an object that is a set is worth a word only if all of it is.
 * Returns the end of the object that begins at *index, or 0 when there is none
 * left; *other is the answer for its first path.
 */
static size_t
next_object(const struct checker *checker, path_question *question,
    size_t *index, uint32_t *other)
{
	size_t count = checker->policy->paths.count, end;

	for (; *index < count; *index = end) {
		const struct origin *origin =
		    &path_rule(checker, *index)->origin;
		bool all = origin->own;

		*other = all ? question(checker, *index) : 0;
		for (end = *index; end < count &&
		     path_rule(checker, end)->origin.loc.begin ==
			 origin->loc.begin;
		     end++)
			all = all && question(checker, end) != 0;
		if (all)
			return end;
	}
	return 0;
}

static const char *
path_text(const struct checker *checker, const struct path_rule *rule)
{
	return path_rule_text(checker->policy, rule, NULL);
}

static void
note_path(struct checker *checker, struct diag *diag, uint32_t other)
{
	const struct path_rule *rule = path_rule(checker, other - 1);

	diag_note(diag, rule->origin.loc, "'%s' of '%s' is here",
	    path_text(checker, rule), rule->origin.via);
}

/* An earlier rule that says the same of the same place. */
static uint32_t
is_duplicate(const struct checker *checker, size_t index)
{
	const struct path_fact *fact = &checker->facts[index];
	const struct path_rule *rule = path_rule(checker, index), *other;
	uint32_t found = rule->effect == SBX_ALLOW ? fact->given_by :
						     fact->within;

	if (found == 0)
		return 0;
	other = path_rule(checker, found - 1);
	return is_same_place(checker, index, found - 1) &&
		other->effect == rule->effect && other->rights == rule->rights ?
	    found :
	    0;
}

static uint32_t
is_shadowed(const struct checker *checker, size_t index)
{
	const struct path_fact *fact = &checker->facts[index];

	return fact->denied_by == 0 && is_duplicate(checker, index) == 0 ?
	    fact->given_by :
	    0;
}

static uint32_t
is_within(const struct checker *checker, size_t index)
{
	return is_duplicate(checker, index) == 0 ?
	    checker->facts[index].within :
	    0;
}

static uint32_t
is_denied_here(const struct checker *checker, size_t index)
{
	uint32_t other = checker->facts[index].denied_by;

	return other != 0 && is_same_place(checker, index, other - 1) ? other :
									0;
}

static uint32_t
is_denied_above(const struct checker *checker, size_t index)
{
	return is_denied_here(checker, index) == 0 ?
	    checker->facts[index].denied_by :
	    0;
}

/* A rule of another profile or group, which can be dropped only. */
static bool
is_inherited(const struct path_rule *rule, const struct path_rule *other)
{
	return rule->origin.via != other->origin.via;
}

/* The deny as it would spare the place of an allow. */
static void
help_cut_out(struct checker *checker, struct diag *diag,
    const struct path_rule *rule, const struct path_rule *deny)
{
	const char *better = path_rule_text(checker->policy, deny, &rule->at);

	if (rule->glob != NULL)
		diag_help(diag, "deny beats allow, and 'except' takes no glob");
	else if (is_inherited(rule, deny))
		diag_help(diag, "deny beats allow: 'drop %s', then '%s'",
		    path_text(checker, deny), better);
	else
		diag_help(diag, "deny beats allow: cut it out with '%s'",
		    better);
}

static void
help_denied_here(struct checker *checker, struct diag *diag,
    const struct path_rule *rule, const struct path_rule *deny)
{
	if (is_inherited(rule, deny))
		diag_help(diag, "'drop %s' takes back the inherited rule",
		    path_text(checker, deny));
	else
		diag_help(diag, "deny beats allow: delete one of the two");
}

static void
help_allowed(struct checker *checker, struct diag *diag,
    const struct path_rule *rule, const struct path_rule *other)
{
	(void)checker;
	(void)other;
	if (rule->exclusion_count > 0)
		diag_help(diag,
		    "its 'except' takes nothing away while the other rule "
		    "stands");
}

/* One check: what is asked of a rule, and what is said around its text. */
static const struct comparison {
	enum diag_id id;
	path_question *question;
	const char *before, *after;
	void (*help)(struct checker *checker, struct diag *diag,
	    const struct path_rule *rule, const struct path_rule *other);
} comparisons[] = {
	{ DIAG_DUPLICATE_RULE, is_duplicate, "duplicate rule ", "", NULL },
	{ DIAG_COVERED_RULE, is_shadowed, "", " is allowed already",
	    help_allowed },
	{ DIAG_USELESS_DENY, is_within, "", " is denied already", NULL },
	{ DIAG_ALLOW_DENIED, is_denied_here, "",
	    " has no effect: the same is denied", help_denied_here },
	{ DIAG_ALLOW_INSIDE_DENY, is_denied_above, "",
	    " has no effect: it lies in what is denied", help_cut_out },
};

void
check_path(struct checker *checker)
{
	const struct comparison *comparison = comparisons;
	size_t index = 0, end;
	uint32_t other;

	while (comparison->id != checker->id)
		comparison++;
	for (; (end = next_object(checker, comparison->question, &index,
		    &other)) != 0;
	     index = end) {
		const struct path_rule *rule = path_rule(checker, index);
		struct diag *diag = check_report(checker, rule->origin.loc,
		    "%s'%s'%s", comparison->before,
		    path_object_text(checker->policy, index, end),
		    comparison->after);

		if (comparison->help != NULL)
			comparison->help(checker, diag, rule,
			    path_rule(checker, other - 1));
		note_path(checker, diag, other);
	}
}

/* --- what no level can hold ----------------------------------------------- */

static uint32_t
is_plain_deny(const struct checker *checker, size_t index)
{
	return path_rule(checker, index)->effect == SBX_DENY ?
	    (uint32_t)index + 1 :
	    0;
}

/* Inherited denies are not the user's words: the floor below them is. */
static void
report_floor(struct checker *checker)
{
	const struct policy *policy = checker->policy;

	for (size_t i = 0; i < policy->paths.count; i++) {
		struct diag *diag;

		if (is_plain_deny(checker, i) == 0 ||
		    path_rule(checker, i)->origin.own)
			continue;
		diag = check_report(checker, policy->level_origin.loc,
		    "level '%s' does not enforce the inherited '%s'",
		    level_word(policy->level),
		    path_text(checker, path_rule(checker, i)));
		diag_help(diag,
		    "'require level standard', or drop the denies of files");
		note_path(checker, diag, (uint32_t)i + 1);
		return;
	}
}

void
check_path_unenforceable(struct checker *checker)
{
	const struct policy *policy = checker->policy;
	size_t index = 0, end;
	uint32_t other;

	if (policy->level_origin.loc.end == 0 ||
	    policy->level > SBX_LEVEL_MINIMAL)
		return;
	if (policy->level_origin.own)
		report_floor(checker);
	for (; (end = next_object(checker, is_plain_deny, &index, &other)) != 0;
	     index = end) {
		const struct path_rule *rule = path_rule(checker, index);
		struct diag *diag = check_report(checker, rule->origin.loc,
		    "level '%s' does not enforce '%s'",
		    level_word(policy->level),
		    path_object_text(checker->policy, index, end));

		diag_help(diag,
		    "'require level standard', or write 'prefer %s'",
		    path_object_text(checker->policy, index, end));
		diag_note(diag, policy->level_origin.loc,
		    "the level is required here");
	}
}

/* --- what is only preferred ----------------------------------------------- */

static bool
is_watched_by(const struct path_rule *rule, const struct rule *watch)
{
	const struct target *at = &watch->path.at;
	const struct sbx_watch form = { .form = watch->detail };
	const char *pattern = watch->path.glob;
	struct sbx_place place = sbx_place_of(at->suffix);
	struct sbx_place path = sbx_place_of(rule->at.suffix);

	if (at->anchor != rule->at.anchor ||
	    (rule->origin.platforms & ~watch->origin.platforms) != 0)
		return false;
	if (pattern == NULL)
		return sbx_watch_covers(&form, "", place, path);
	if (rule->glob != NULL)
		return pattern == rule->glob &&
		    target_compare(*at, rule->at) == 0;
	return sbx_watch_covers(&form, pattern, place, path);
}

static uint32_t
is_unwatched(const struct checker *checker, size_t index)
{
	const struct path_rule *rule = path_rule(checker, index);
	const struct rule_list *watches = &checker->policy->rules[KIND_WATCH];

	if (rule->effect != SBX_PREFER_DENY || rule->rights != SBX_WRITE ||
	    (rule->origin.platforms & SBX_ON_LINUX) == 0)
		return 0;
	for (size_t i = 0; i < watches->count; i++) {
		if (is_watched_by(rule, &watches->items[i]))
			return 0;
	}
	return (uint32_t)index + 1;
}

/* At level standard it keeps nothing, nor at any level what is not there. */
void
check_path_unwatched(struct checker *checker)
{
	size_t index = 0, end;
	uint32_t other;

	for (; (end = next_object(checker, is_unwatched, &index, &other)) != 0;
	     index = end) {
		const char *text = path_object_text(checker->policy, index,
		    end);
		struct diag *diag = check_report(checker,
		    path_rule(checker, index)->origin.loc,
		    "nothing reports what '%s' does not keep", text);

		diag_help(diag, "add 'watch%s'",
		    text + strlen("prefer deny write"));
	}
}

/* --- letters that look alike ---------------------------------------------- */

static bool
is_alike(uint32_t character)
{
	return (character >= 0x370 && character < 0x590) ||
	    (character >= 0xff21 && character < 0xff5b) ||
	    (character >= 0x1d400 && character < 0x1d800);
}

/* Whether one name of the path mixes ASCII with letters that look the same. */
static bool
is_mixed(const char *path)
{
	size_t len = strlen(path), size;
	bool plain = false, alike = false;

	for (size_t i = 0; i < len; i += size) {
		uint32_t character;

		size = utf8_decode(path + i, len - i, &character);
		if (size == 0)
			return false;
		if (character == '/')
			plain = alike = false;
		plain |= (character | 0x20) >= 'a' && (character | 0x20) <= 'z';
		alike |= is_alike(character);
		if (plain && alike)
			return true;
	}
	return false;
}

static uint32_t
has_mixed(const struct checker *checker, size_t index)
{
	const struct path_rule *rule = path_rule(checker, index);

	return is_mixed(rule->at.suffix) ||
		(rule->glob != NULL && is_mixed(rule->glob)) ?
	    (uint32_t)index + 1 :
	    0;
}

void
check_path_letters(struct checker *checker)
{
	size_t index = 0, end;
	uint32_t other;

	for (; (end = next_object(checker, has_mixed, &index, &other)) != 0;
	     index = end)
		diag_help(check_report(checker,
			      path_rule(checker, index)->origin.loc,
			      "a name in '%s' mixes letters that look alike",
			      path_object_text(checker->policy, index, end)),
		    "write it in letters of one script");
}
