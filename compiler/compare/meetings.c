/*
 * Layouts of the anchors in which two policies differ because of a rule about
 * sockets.
 *
 * A rule about sockets counts before those about paths, and where none covers,
 * who may write may connect.  So a deny that one policy lacks makes a difference
 * where the other one allows the socket, or writing, and an allow where the
 * other one has none and lets nobody write, or denies writing.  Each such rule
 * is asked about with each of the rules that it may meet so (quest.h), until a
 * layout is found; there the verdict function has the last word.
 */
#include "compiler/compare/bindings.h"

#include <string.h>

/* How many spots are looked at for one change, and steps taken for it. */
enum { MOST_WORK = 1 << 20 };

struct meetings {
	struct pass *pass;
	const struct rules *rules;
	struct forest forest;
	enum change change; /* that is looked for now */
	bool *said;         /* see struct quest */
	size_t work, unsettled, last;
};

static bool
is_in_question(const struct meetings *meetings, const struct merged_rule *rule)
{
	return rule_changed(rule, SBX_CONNECT) &&
	    rule_change(rule, SBX_CONNECT) == meetings->change;
}

/* Whether a difference that is known was decided by the rule. */
static bool
is_known(const struct meetings *meetings, const struct merged_rule *rule)
{
	const struct comparison *comparison = meetings->pass->comparison;
	enum side side = rule_side(rule, SBX_CONNECT);

	for (size_t i = 0; i < comparison->differences.count; i++) {
		const struct difference *difference =
		    &comparison->differences.items[i];
		const struct verdict *verdict = &difference->says[side].verdict;

		if (difference->kind == DIFFERENCE_SOCKET &&
		    difference->change == meetings->change &&
		    verdict->by == BY_RULE + KIND_SOCKET &&
		    verdict->rule == rule->index[side])
			return true;
	}
	return false;
}

/* Whether the policies differ there, in that layout. */
static bool
layout_differs(struct meetings *meetings, const struct layout *layout)
{
	struct pass *pass = meetings->pass;
	struct arena *before = pass->scratch;
	const char *path = *layout->path != '\0' ? layout->path : "/";
	bool differs;

	pass->scratch = arena_new();
	pass_begin(pass,
	    binding_make(pass->comparison->arena, &meetings->forest, layout));
	differs = compare_socket_at(pass,
	    (struct sbx_place){ path, (uint32_t)strlen(path) });
	arena_release(pass->scratch);
	pass->scratch = before;
	return differs;
}

static enum found
pair_settle(struct meetings *meetings, const struct quest *quest)
{
	struct arena *arena = arena_new();
	struct layout layout;
	enum found found = FOUND_NO_END;

	meetings->work += meetings->forest.with_holes.count;
	if (meetings->work <= MOST_WORK)
		found = quest_run(arena, quest, &layout, &meetings->work);
	if (found == FOUND_LAYOUT && !layout_differs(meetings, &layout))
		found = FOUND_NO_END;
	arena_release(arena);
	return found;
}

/* With each rule that makes so what the quest's rule needs. */
static enum found
all_settle(struct meetings *meetings, struct quest quest, uint8_t required,
    uint8_t forbidden)
{
	const struct forest *forest = &meetings->forest;
	enum found found = FOUND_NONE;

	quest.aim = (struct rule_aim){ forbidden, required };
	for (uint32_t i = 0; i < forest->holders.count && found == FOUND_NONE;
	     i++) {
		const struct holder *giver = &forest->holders.items[i];

		quest.giver = i;
		meetings->work++;
		if ((rule_facts(giver->rule, SBX_CONNECT) & required) != 0 &&
		    !quest_forbids(&quest, giver->rule))
			found = pair_settle(meetings, &quest);
	}
	return found;
}

static enum found
holder_settle(struct meetings *meetings, uint32_t self)
{
	const struct merged_rule *rule =
	    meetings->forest.holders.items[self].rule;
	enum side side = rule_side(rule, SBX_CONNECT), other = !side;
	struct quest quest = {
		.forest = &meetings->forest,
		.rules = meetings->rules,
		.right = SBX_CONNECT,
		.said = meetings->said,
		.self = self,
		.giver = NO_HOLDER,
	};
	enum found found;

	if (!rule->allow) {
		found = all_settle(meetings, quest, ALLOWS(other),
		    DENIES(other));
		return found != FOUND_NONE ?
		    found :
		    all_settle(meetings, quest, WRITES(other),
			DENIES(other) | KEEPS(other));
	}
	quest.aim.forbidden = DENIES(side) | ALLOWS(other) | WRITES(other);
	found = pair_settle(meetings, &quest);
	return found != FOUND_NONE ? found :
				     all_settle(meetings, quest, KEEPS(other),
					 DENIES(side) | ALLOWS(other));
}

static void
rule_settle(struct meetings *meetings, size_t rule)
{
	uint32_t holder = meetings->forest.holder_of[rule];

	for (; holder != NO_HOLDER;
	     holder = meetings->forest.holders.items[holder].next) {
		enum found found = holder_settle(meetings, holder);

		if (found == FOUND_NONE)
			continue;
		if (found == FOUND_NO_END) {
			meetings->unsettled++;
			meetings->last = rule;
		}
		meetings->said[rule] = found == FOUND_LAYOUT;
		return;
	}
}

static void
unsettled_note(const struct meetings *meetings)
{
	struct pass *pass = meetings->pass;
	const struct merged_rule *rule =
	    &meetings->rules->items[meetings->last];
	struct explanation says[SIDE_COUNT] = {
		{ .source = SBX_NO_SOURCE },
		{ .source = SBX_NO_SOURCE },
	};
	const struct verdict verdict = {
		.by = BY_RULE + KIND_SOCKET,
		.rule = rule->index[rule->side],
	};

	if (meetings->unsettled == 0)
		return;
	says[rule->side].text = explanation_text(pass->comparison->arena,
	    pass->comparison->blobs[rule->side], &verdict);
	says[rule->side].source = rule->path->source;
	pass_note_setting(pass, DIFFERENCE_SOCKET,
	    meetings->change == CHANGE_WIDER ? CHANGE_MAYBE_WIDER :
					       CHANGE_MAYBE_NARROWER,
	    arena_printf(pass->comparison->arena,
		"connect to sockets, by %zu rule%s, where the anchors lie in "
		"a way that was not looked at",
		meetings->unsettled, meetings->unsettled == 1 ? "" : "s"),
	    says);
}

static void
change_settle(struct meetings *meetings, enum change change)
{
	const struct rules *rules = meetings->rules;

	meetings->change = change;
	meetings->work = meetings->unsettled = 0;
	for (size_t i = 0; i < rules->count; i++)
		meetings->said[i] = is_in_question(meetings,
					&rules->items[i]) &&
		    is_known(meetings, &rules->items[i]);
	for (size_t i = 0; i < rules->count; i++) {
		if (is_in_question(meetings, &rules->items[i]) &&
		    !meetings->said[i])
			rule_settle(meetings, i);
	}
	unsettled_note(meetings);
}

void
compare_meetings(struct pass *pass)
{
	struct arena *arena = arena_new();
	struct rules *rules = rules_merge(pass, arena);
	struct meetings meetings = {
		.pass = pass,
		.rules = rules,
		.forest = { .arena = arena },
	};
	size_t paths = rules->count;
	bool changed = false;

	rules_merge_sockets(pass, arena, rules);
	for (size_t i = paths; i < rules->count; i++)
		changed |= rule_changed(&rules->items[i], SBX_CONNECT);
	if (changed) {
		meetings.said = arena_alloc(arena, rules->count);
		forest_plant(&meetings.forest, pass, rules);
		/* What the user has bound has been compared as it lies. */
		changed = !meetings.forest.bound ||
		    meetings.forest.slot_count > SLOT_PARAM;
	}
	if (changed)
		change_settle(&meetings, CHANGE_WIDER);
	if (changed && !pass->comparison->wider_only)
		change_settle(&meetings, CHANGE_NARROWER);
	pass_begin(pass, binding_usual(0));
	arena_release(arena);
}
