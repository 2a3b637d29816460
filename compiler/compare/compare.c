/*
 * See compare.h.  Each part looks for its kind of difference in one pass, on
 * one machine and in one binding; here passes are made, and what they find is
 * kept once.
 */
#include "compiler/compare/paths.h"

#include "compiler/base/base.h"
#include "compiler/policy/kind.h"
#include "compiler/query/query.h"

#include <stdlib.h>
#include <string.h>

/* --- subjects ------------------------------------------------------------- */

static const struct arch *
arch_of(uint8_t platforms)
{
	size_t i = 0;

	while ((arches[i].platforms & platforms) == 0)
		i++;
	return &arches[i];
}

struct subject
comparison_subject(const struct comparison *comparison,
    const struct difference *difference, enum side side, struct arena *arena)
{
	const struct binding *binding = difference->binding != NULL ?
	    difference->binding :
	    binding_usual(0);
	struct subject subject = binding_subject(comparison, binding, side,
	    arena);

	subject.arch = arch_of(difference->platforms);
	subject.level = difference->level;
	subject.enforced = true;
	subject.cut = difference->cut;
	subject.abi = difference->abi;
	return subject;
}

size_t
common_levels(const struct comparison *comparison,
    enum sbx_level levels[SBX_LEVEL_END])
{
	unsigned floor = SBX_LEVEL_MINIMAL;
	size_t count = 0;

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		if (comparison->blobs[side]->meta->level > floor)
			floor = comparison->blobs[side]->meta->level;
	}
	for (unsigned level = SBX_LEVEL_FULL; level >= floor; level--)
		levels[count++] = (enum sbx_level)level;
	return count;
}

/* --- notes ---------------------------------------------------------------- */

/* What a change of the policies is where the pass looks. */
static enum change
change_there(const struct pass *pass, uint32_t change)
{
	if (!pass->cut || change > CHANGE_NARROWER)
		return (enum change)change;
	return change == CHANGE_WIDER ? CHANGE_MAYBE_WIDER :
					CHANGE_MAYBE_NARROWER;
}

struct difference *
pass_known(const struct pass *pass, const struct note_key *key)
{
	size_t number = map_number_find(&pass->notes->keys, key, sizeof *key);
	struct note_key there = *key;

	if (number == SIZE_MAX) {
		there.change = change_there(pass, key->change);
		number = map_number_find(&pass->notes->keys, &there,
		    sizeof there);
	}
	if (number == SIZE_MAX)
		return NULL;
	return &pass->comparison->differences
		    .items[pass->notes->differences.items[number]];
}

bool
pass_said(const struct pass *pass, const struct note_key *key)
{
	const struct difference *difference = pass_known(pass, key);

	return difference != NULL &&
	    (difference->platforms & pass->platforms) == pass->platforms;
}

bool
pass_again(const struct pass *pass, const struct note_key *key)
{
	struct difference *difference = pass_known(pass, key);

	if (difference == NULL)
		return false;
	if (difference->kind == DIFFERENCE_PATH &&
	    difference->binding == pass->binding &&
	    difference->level == pass->level && difference->cut == pass->cut &&
	    difference->platforms == pass->platforms)
		difference->more++;
	difference->platforms |= pass->platforms;
	return true;
}

/* Notes one more; the text of `what` and of the rules must live on.  Returns
 * it where it is kept until the next is noted. */
static struct difference *
pass_note(struct pass *pass, const struct note_key *key,
    const struct difference *difference)
{
	struct comparison *comparison = pass->comparison;
	struct note_key there = *key;
	struct difference *kept;
	bool added;

	there.change = change_there(pass, key->change);
	map_number(comparison->arena, &pass->notes->keys, &there, sizeof there,
	    &added);
	if (!added)
		bug("a difference is noted twice");
	*arena_push(comparison->arena, &pass->notes->differences) =
	    (uint32_t)comparison->differences.count;
	kept = arena_push(comparison->arena, &comparison->differences);
	*kept = *difference;
	kept->kind = (enum difference_kind)key->kind;
	kept->change = (enum change)there.change;
	kept->cut = pass->cut;
	kept->cause = (enum side)key->side;
	kept->by = (enum verdict_by)key->by;
	kept->rule = key->rule;
	kept->platforms = pass->platforms;
	return kept;
}

uint32_t
pass_text(struct pass *pass, const char *text)
{
	bool added;

	return 1 +
	    (uint32_t)map_number(pass->comparison->arena, &pass->notes->texts,
		text, strlen(text), &added);
}

bool
anchors_equal(const struct sbx_blob *old, uint16_t a,
    const struct sbx_blob *new, uint16_t b)
{
	if (a == SBX_NO_ANCHOR || b == SBX_NO_ANCHOR)
		return a == b;
	return strcmp(sbx_string(old, old->anchors[a].name),
		   sbx_string(new, new->anchors[b].name)) == 0;
}

struct verdict
pass_ask(const struct pass *pass, enum side side, const struct access *access,
    enum sbx_level level, int abi)
{
	struct subject subject = pass->subjects[side];

	subject.level = level;
	subject.abi = abi;
	return verdict_of(&subject, access);
}

static bool
has_path(const struct access *access)
{
	return access->kind == KIND_PATH || access->kind == KIND_WATCH ||
	    access->kind == KIND_SOCKET;
}

/* The path as it is spelled in any binding of this kind. */
static const char *
access_spell(const struct pass *pass, enum side side, struct access access)
{
	if (has_path(&access)) {
		const char *text = places_spell(&pass->subjects[side].places,
		    access.path);

		access.path = sbx_place_of(text);
	}
	return access_text(pass->comparison->arena, &access);
}

struct difference *
pass_note_access(struct pass *pass, const struct note_key *key,
    const struct access *access, enum sbx_level level, int abi)
{
	struct arena *arena = pass->comparison->arena;
	struct difference difference = {
		.what = access_spell(pass, (enum side)key->side, *access),
		.witnessed = true,
		.access = *access,
		.level = level,
		.abi = abi,
		.binding = has_path(access) ? pass->binding : NULL,
	};

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		struct explanation *says = &difference.says[side];

		says->verdict = pass_ask(pass, (enum side)side, access, level,
		    abi);
		says->text = explanation_text(arena,
		    pass->comparison->blobs[side], &says->verdict);
		says->source = says->verdict.source;
	}
	return pass_note(pass, key, &difference);
}

void
pass_note_setting(struct pass *pass, enum difference_kind kind,
    enum change change, const char *what,
    const struct explanation says[SIDE_COUNT])
{
	struct arena *arena = pass->comparison->arena;
	enum side side = says[SIDE_NEW].text != NULL ? SIDE_NEW : SIDE_OLD;
	struct difference difference = {
		.what = what,
		.level = SBX_LEVEL_FULL,
		.says = { says[SIDE_OLD], says[SIDE_NEW] },
	};
	struct note_key key = {
		.kind = kind,
		.change = change,
		.side = side,
		.text = pass_text(pass,
		    arena_printf(arena, "%s\n%s\n%s", what,
			says[SIDE_OLD].text != NULL ? says[SIDE_OLD].text : "",
			says[SIDE_NEW].text != NULL ? says[SIDE_NEW].text :
						      "")),
	};

	if (!pass_again(pass, &key))
		pass_note(pass, &key, &difference);
}

/* --- passes --------------------------------------------------------------- */

static bool
records_are_uniform(const struct sbx_blob *blob, const struct rule_kind *kind)
{
	uint32_t count = 0;
	const char *record = kind->section == 0 ?
	    NULL :
	    sbx_records(blob, kind->section, &count);

	for (; count > 0; count--, record += kind->record.size) {
		if ((record[kind->record.platforms] & SBX_ON_LINUX) !=
		    SBX_ON_LINUX)
			return false;
	}
	return true;
}

/* Whether all that is not a system call is the same on every machine. */
static bool
is_uniform(const struct comparison *comparison)
{
	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		for (int id = 0; id < KIND_END; id++) {
			if (id != KIND_SYSCALL &&
			    !records_are_uniform(comparison->blobs[side],
				rule_kinds[id]))
				return false;
		}
	}
	return true;
}

void
pass_begin(struct pass *pass, const struct binding *binding)
{
	pass->binding = pass->comparison->bound[SIDE_OLD] != NULL &&
		binding->own == NULL ?
	    NULL :
	    binding;
	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		struct subject *subject = &pass->subjects[side];

		*subject = binding_subject(pass->comparison, binding,
		    (enum side)side, pass->scratch);
		subject->arch = arch_of(pass->platforms);
		subject->level = pass->level;
		subject->enforced = true;
		subject->cut = pass->cut;
	}
}

void
compare_places(struct pass *pass, const struct rules *rules,
    const struct binding *binding)
{
	pass->scratch = arena_new();
	pass_begin(pass, binding);
	compare_paths(pass, rules);
	if (pass->level == SBX_LEVEL_FULL && !pass->cut)
		compare_sockets(pass);
	arena_release(pass->scratch);
	pass->scratch = NULL;
}

/* In all bindings, at the level of the pass. */
static void
compare_bindings(struct pass *pass, struct rules *rules)
{
	struct comparison *comparison = pass->comparison;
	const struct binding *binding;

	for (size_t i = 0; (binding = binding_usual(i)) != NULL; i++) {
		if ((i == 0 || comparison->bound[SIDE_OLD] == NULL) &&
		    binding->other_home == NULL &&
		    binding_is_useful(comparison, binding))
			compare_places(pass, rules, binding);
	}
	if (comparison->names_home && comparison->bound[SIDE_OLD] == NULL)
		compare_places(pass, rules, binding_other_user());
	compare_layouts(pass, rules);
}

/* Whether both policies run at a level and a rule of one does not hold there
 * that does at level full, or if no search is cut short. */
static bool
is_weaker_at(const struct comparison *comparison, enum sbx_level level,
    bool cut)
{
	const struct subject all = {
		.level = cut ? level : SBX_LEVEL_FULL,
	};
	const struct subject some = { .level = level, .cut = cut };
	bool weaker = false;

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		const struct sbx_blob *blob = comparison->blobs[side];

		if (blob->meta->level > level)
			return false;
		for (uint32_t i = 0; i < blob->path_count; i++)
			weaker |= verdict_path_holds(&all, &blob->paths[i]) &&
			    !verdict_path_holds(&some, &blob->paths[i]);
	}
	return weaker;
}

/* Paths once more, where some rules do not hold; what differs at level full is
 * known by then.  About sockets sbxrun goes by all rules there, too. */
static void
compare_weaker(struct pass *pass, enum sbx_level level, bool cut)
{
	struct arena *arena;

	if (!is_weaker_at(pass->comparison, level, cut))
		return;
	arena = arena_new();
	pass->level = level;
	pass->cut = cut;
	compare_bindings(pass, rules_merge(pass, arena));
	pass->level = SBX_LEVEL_FULL;
	pass->cut = false;
	arena_release(arena);
}

static void
compare_platforms(struct pass *pass)
{
	struct comparison *comparison = pass->comparison;
	struct arena *arena = arena_new();
	struct rules *rules = rules_merge(pass, arena);

	compare_bindings(pass, rules);
	pass->scratch = arena;
	pass_begin(pass, binding_usual(0));
	for (int id = 0; id < KIND_END; id++) {
		if (rule_kinds[id]->compare != NULL)
			rule_kinds[id]->compare(pass);
	}
	compare_settings(pass);
	/* A watch has no exclusion, so it covers least where nothing meets. */
	if (comparison->bound[SIDE_OLD] == NULL) {
		pass_begin(pass, binding_apart(comparison));
		rule_kinds[KIND_WATCH]->compare(pass);
	}
	compare_weaker(pass, SBX_LEVEL_STANDARD, false);
	compare_weaker(pass, SBX_LEVEL_FULL, true);
	compare_weaker(pass, SBX_LEVEL_STANDARD, true);
	compare_strengths(pass, rules);
	arena_release(arena);
}

/* --- the whole ------------------------------------------------------------ */

static bool
macos_differs(struct arena *arena, const struct sbx_blob *old,
    const struct sbx_blob *new)
{
	const struct policy *a, *b;

	/* There may be none. */
	if (old->text_size == new->text_size &&
	    (old->text_size == 0 ||
		memcmp(old->text, new->text, old->text_size) == 0))
		return false;
	a = blob_policy(arena, old);
	b = blob_policy(arena, new);
	return a != NULL && b != NULL &&
	    strcmp(sbpl_text(a), sbpl_text(b)) != 0;
}

/* What cannot be compared, and is not the same though all else is: most of
 * what differs on Linux differs there, too. */
static void
compare_macos(struct pass *pass)
{
	const struct sbx_blob *old = pass->comparison->blobs[SIDE_OLD];
	const struct sbx_blob *new = pass->comparison->blobs[SIDE_NEW];
	const struct explanation says[SIDE_COUNT] = {
		{ .source = SBX_NO_SOURCE },
		{ .source = SBX_NO_SOURCE },
	};

	pass->platforms = SBX_ON_LINUX;
	for (size_t i = 0; i < pass->comparison->differences.count; i++) {
		if (pass->comparison->differences.items[i].change !=
		    CHANGE_NEUTRAL)
			return;
	}
	if (macos_differs(pass->comparison->arena, old, new))
		pass_note_setting(pass, DIFFERENCE_MACOS, CHANGE_NEUTRAL,
		    "the profile for macOS, which is not compared", says);
}

static int
difference_order(const void *a, const void *b)
{
	const struct difference *x = a, *y = b;
	int order = (x->change > y->change) - (x->change < y->change);

	if (order == 0)
		order = (x->kind > y->kind) - (x->kind < y->kind);
	if (order == 0)
		order = (x->cause > y->cause) - (x->cause < y->cause);
	if (order == 0) {
		uint32_t left = x->says[x->cause].source;
		uint32_t right = y->says[y->cause].source;

		order = (left > right) - (left < right);
	}
	if (order == 0)
		order = strcmp(x->what, y->what);
	return order;
}

void
comparison_count(struct comparison *comparison)
{
	memset(comparison->counts, 0, sizeof comparison->counts);
	for (size_t i = 0; i < comparison->differences.count; i++)
		comparison->counts[comparison->differences.items[i].change]++;
}

void
compare(struct comparison *comparison)
{
	struct notes notes = { 0 };
	struct pass pass = {
		.comparison = comparison,
		.notes = &notes,
		.level = SBX_LEVEL_FULL,
	};
	bool uniform = is_uniform(comparison);

	comparison->names_home = binding_names_home(
				     comparison->blobs[SIDE_OLD]) ||
	    binding_names_home(comparison->blobs[SIDE_NEW]);
	for (size_t i = 0; i < arch_count; i++) {
		const struct arch *arch = &arches[i];

		if (comparison->arch != NULL && comparison->arch != arch)
			continue;
		pass.platforms = uniform ? SBX_ON_LINUX : arch->platforms;
		if (!uniform || i == 0 || comparison->arch != NULL)
			compare_platforms(&pass);
		pass.platforms = arch->platforms;
		pass.scratch = arena_new();
		pass_begin(&pass, binding_usual(0));
		compare_syscalls(&pass);
		arena_release(pass.scratch);
	}
	compare_implied(comparison);
	if (comparison->arch == NULL)
		compare_macos(&pass);
	if (comparison->differences.count > 1)
		qsort(comparison->differences.items,
		    comparison->differences.count,
		    sizeof *comparison->differences.items, difference_order);
	comparison_count(comparison);
}
