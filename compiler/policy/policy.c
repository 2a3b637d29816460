/*
 * Questions about a resolved policy that more than one stage asks.
 */
#include "compiler/policy/policy.h"

#include "compiler/tables/tables.h"

#include <stdlib.h>
#include <string.h>

struct rule *
policy_add(struct policy *policy, enum rule_kind_id kind,
    const struct origin *origin, enum sbx_effect effect)
{
	struct rule *rule = arena_push(policy->arena, &policy->rules[kind]);

	rule->kind = kind;
	rule->origin = *origin;
	rule->effect = effect;
	return rule;
}

/*
 * The platforms on which the blanket rule is given and not taken: `everything`
 * gives all of them.  A preferred denial denies, since a filter always can.
 */
static uint8_t
blanket_platforms(const struct policy *policy, enum blanket_kind kind)
{
	const struct rule_list *blankets = &policy->rules[KIND_BLANKET];
	uint8_t given = 0, taken = 0;

	for (size_t i = 0; i < blankets->count; i++) {
		const struct rule *rule = &blankets->items[i];

		if (rule->effect == SBX_ALLOW &&
		    (rule->detail == kind ||
			rule->detail == BLANKET_EVERYTHING))
			given |= rule->origin.platforms;
		else if (rule->effect != SBX_ALLOW && rule->detail == kind)
			taken |= rule->origin.platforms;
	}
	return given & (uint8_t)~taken;
}

bool
policy_has_blanket(const struct policy *policy, enum blanket_kind kind,
    uint8_t platforms)
{
	return (platforms & ~blanket_platforms(policy, kind)) == 0;
}

/* Everybody may spawn, so that there is nothing to allow. */
bool
policy_denies_spawn(const struct policy *policy, uint8_t platforms)
{
	const struct rule_list *blankets = &policy->rules[KIND_BLANKET];
	uint8_t taken = 0;

	for (size_t i = 0; i < blankets->count; i++) {
		const struct rule *rule = &blankets->items[i];

		if (rule->detail == BLANKET_SPAWN)
			taken |= rule->origin.platforms;
		else if (rule->detail == BLANKET_EVERYTHING &&
		    rule->effect == SBX_ALLOW)
			platforms &= (uint8_t)~rule->origin.platforms;
	}
	return platforms != 0 && (platforms & ~taken) == 0;
}

struct position
policy_position(const struct policy *policy, const struct origin *origin)
{
	const struct source *source;
	struct position position;

	if (origin->from != NULL)
		return *origin->from;
	source = sources_find(policy->sources, origin->loc);
	position = sources_position(policy->sources, origin->loc);
	position.file = source != NULL ? source->name : "";
	position.via = origin->via != NULL ? origin->via : "";
	return position;
}

/* The one of two origins whose position comes first; `a` may be NULL. */
static const struct origin *
origin_least(const struct policy *policy, const struct origin *a,
    const struct origin *b)
{
	struct position x, y;

	if (a == NULL)
		return b;
	x = policy_position(policy, a);
	y = policy_position(policy, b);
	return position_compare(&x, &y) <= 0 ? a : b;
}

struct origin
policy_spawn_origin(const struct policy *policy, uint8_t platforms)
{
	const struct rule_list *blankets = &policy->rules[KIND_BLANKET];
	const struct origin *least = NULL;

	for (size_t i = 0; i < blankets->count; i++) {
		const struct rule *rule = &blankets->items[i];

		if (rule->detail == BLANKET_SPAWN &&
		    (rule->origin.platforms & platforms) != 0)
			least = origin_least(policy, least, &rule->origin);
	}
	return least != NULL ? *least : (struct origin){ .platforms = 0 };
}

/* What a rule about the network has to be. */
struct wanted {
	enum {
		WANT_BLANKET,
		WANT_PORTS, /* of the host's network */
		WANT_HOSTS, /* out of a network of its own */
	} what;
	enum blanket_kind blanket;
	bool allow;
	uint8_t platforms;
};

/* The kinds of rules about the network. */
static const enum rule_kind_id network_kinds[] = {
	KIND_BLANKET,
	KIND_PORT,
	KIND_DOMAIN,
	KIND_ENDPOINT,
	KIND_PROXY,
};

static bool
is_wanted(const struct wanted *wanted, const struct rule *rule)
{
	if ((rule->effect == SBX_ALLOW) != wanted->allow ||
	    (rule->origin.platforms & wanted->platforms) == 0)
		return false;
	if (rule->kind == KIND_BLANKET)
		return wanted->what == WANT_BLANKET &&
		    (rule->detail == wanted->blanket ||
			(wanted->allow && rule->detail == BLANKET_EVERYTHING));
	return wanted->what ==
	    (rule->kind == KIND_PORT && rule->detail < SBX_HOST_TCP ?
		    WANT_PORTS :
		    WANT_HOSTS);
}

/* The one of them with the first position, or NULL. */
static const struct origin *
find_wanted(const struct policy *policy, const struct wanted *wanted)
{
	const struct origin *least = NULL;

	for (size_t k = 0; k < countof(network_kinds); k++) {
		const struct rule_list *rules =
		    &policy->rules[network_kinds[k]];

		for (size_t i = 0; i < rules->count; i++) {
			if (is_wanted(wanted, &rules->items[i]))
				least = origin_least(policy, least,
				    &rules->items[i].origin);
		}
	}
	return least;
}

enum sbx_net
policy_net(const struct policy *policy, uint8_t platforms,
    struct origin *origin)
{
	/* One setting for every Linux, since a filter goes with it. */
	uint8_t all = platforms | (platforms & SBX_ON_LINUX ? SBX_ON_LINUX : 0);
	const struct {
		enum sbx_net net;
		bool blanket; /* it must hold on all of them */
		struct wanted wanted;
	} rows[] = {
		{ SBX_NET_FULL, true,
		    { WANT_BLANKET, BLANKET_NETWORK, true, platforms } },
		{ SBX_NET_NONE, false,
		    { WANT_BLANKET, BLANKET_NETWORK, false, platforms } },
		{ SBX_NET_SELECTED, false, { WANT_HOSTS, 0, true, all } },
		{ SBX_NET_LOOPBACK, true,
		    { WANT_BLANKET, BLANKET_LOOPBACK, true, platforms } },
		{ SBX_NET_PORTS, false, { WANT_PORTS, 0, true, platforms } },
	};

	for (size_t i = 0; i < countof(rows); i++) {
		const struct origin *found = NULL;

		if (!rows[i].blanket ||
		    policy_has_blanket(policy, rows[i].wanted.blanket,
			platforms))
			found = find_wanted(policy, &rows[i].wanted);
		if (found == NULL)
			continue;
		if (origin != NULL)
			*origin = *found;
		return rows[i].net;
	}
	if (origin != NULL)
		*origin = (struct origin){ 0 };
	return SBX_NET_NONE;
}

static int
ranked_compare(const void *a, const void *b)
{
	const struct ranked_syscall *x = a, *y = b;
	int order = x->rule->syscall.group - y->rule->syscall.group;

	if (order == 0)
		order = position_compare(&x->position, &y->position);
	return order != 0 ?
	    order :
	    strcmp(x->rule->syscall.name, y->rule->syscall.name);
}

void
policy_rank_syscalls(const struct policy *policy, bool allow, uint8_t platforms,
    struct ranked_syscalls *ranked)
{
	const struct rule_list *calls = &policy->rules[KIND_SYSCALL];

	for (size_t i = 0; i < calls->count; i++) {
		const struct rule *rule = &calls->items[i];

		if ((rule->effect == SBX_ALLOW) != allow ||
		    (rule->origin.platforms & platforms) == 0)
			continue;
		struct ranked_syscall *call = arena_push(policy->arena,
		    &ranked->rules);
		call->rule = rule;
		call->position = policy_position(policy, &rule->origin);
		/* A blob does not keep the profile or group of a system call,
		 * so it must not decide which rule is named. */
		call->position.via = "";
	}
	if (ranked->rules.count > 1)
		qsort(ranked->rules.items, ranked->rules.count,
		    sizeof *ranked->rules.items, ranked_compare);
}

const char *
policy_anchor_name(const struct policy *policy, uint16_t anchor)
{
	const char *name = anchor_word(anchor);

	if (name != NULL)
		return name;
	if (anchor == SBX_ANCHOR_ROOT)
		return "";
	return policy->params.items[anchor - SBX_ANCHOR_PARAM].name;
}

const char *
policy_target_text(const struct policy *policy, struct target target)
{
	if (target.anchor == SBX_ANCHOR_ROOT)
		return *target.suffix == '\0' ? "/" : target.suffix;
	if (target.anchor == SBX_ANCHOR_HOME)
		return arena_printf(policy->arena, "~%s", target.suffix);
	return arena_printf(policy->arena, "${%s}%s",
	    policy_anchor_name(policy, target.anchor), target.suffix);
}
