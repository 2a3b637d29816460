/*
 * What a seccomp filter cannot say, in a table: the first line that fits a rule
 * counts, and a rule that no line fits is said.  A denial in the network is no
 * loss: either the network is closed, or the policy is in error.
 */
#include "compiler/export/export.h"
#include "compiler/policy/kind.h"

#include <string.h>

enum when {
	IN_EACH_CASE,
	NET_CLOSED, /* not all of the host's network is open */
	SOME_NAMES, /* the rule is not about all variables */
};

enum { ANY = 255 };

static const struct loss_row {
	enum rule_kind_id kind;
	uint8_t detail; /* or ANY */
	uint8_t effect; /* SBX_ALLOW, SBX_DENY or ANY */
	enum when when;
	enum loss_kind loss;
	const char *why;
} rows[] = {
	{ KIND_PORT, ANY, SBX_ALLOW, NET_CLOSED, LOSS_NARROWER,
	    "it has no rules about ports, so no internet socket opens" },
	{ KIND_DOMAIN, ANY, SBX_ALLOW, NET_CLOSED, LOSS_NARROWER,
	    "it knows no names of hosts, so nothing leads out" },
	{ KIND_ENDPOINT, ANY, SBX_ALLOW, NET_CLOSED, LOSS_NARROWER,
	    "it has no rules about addresses, so none opens" },
	{ KIND_PROXY, ANY, SBX_ALLOW, NET_CLOSED, LOSS_NARROWER,
	    "it starts no proxy, so nothing leads out" },
	{ KIND_SOCKET, ANY, SBX_ALLOW, IN_EACH_CASE, LOSS_NARROWER,
	    "it cannot tell sockets apart by their paths, so no AF_UNIX socket "
	    "opens" },
	{ KIND_BLANKET, BLANKET_ABSTRACT, SBX_ALLOW, IN_EACH_CASE,
	    LOSS_NARROWER, "no AF_UNIX socket opens" },
	{ KIND_BLANKET, BLANKET_SPAWN, SBX_DENY, IN_EACH_CASE, LOSS_WEAKER,
	    "the filter is there before the command is executed, so it cannot "
	    "deny that" },
	{ KIND_BLANKET, BLANKET_LOOPBACK, SBX_ALLOW, NET_CLOSED, LOSS_NARROWER,
	    "a filter does not know in which network it runs, so no internet "
	    "socket opens" },
	{ KIND_WATCH, ANY, ANY, IN_EACH_CASE, LOSS_WEAKER,
	    "nobody is told what has changed" },
	{ KIND_ENV, ANY, ANY, SOME_NAMES, LOSS_WEAKER,
	    "a filter does not know variables, and withholds none" },
	{ KIND_SET, ANY, ANY, IN_EACH_CASE, LOSS_NARROWER,
	    "a filter sets no variables" },
	{ KIND_LIMIT, ANY, ANY, IN_EACH_CASE, LOSS_WEAKER,
	    "a filter limits nothing" },
};

static bool
when_holds(const struct exporter *exporter, const struct rule *rule,
    enum when when)
{
	switch (when) {
	case NET_CLOSED:
		return exporter->net != SBX_NET_FULL;
	case SOME_NAMES:
		return rule->effect != SBX_ALLOW ||
		    strcmp(rule->env.pattern, "*") != 0 ||
		    *rule->env.except != '\0';
	case IN_EACH_CASE:
		break;
	}
	return true;
}

static const struct loss_row *
row_find(const struct exporter *exporter, const struct rule *rule)
{
	uint8_t effect = rule->effect == SBX_ALLOW ? SBX_ALLOW : SBX_DENY;

	for (size_t i = 0; i < countof(rows); i++) {
		const struct loss_row *row = &rows[i];

		if (row->kind == rule->kind &&
		    (row->detail == ANY || row->detail == rule->detail) &&
		    (row->effect == ANY || row->effect == effect) &&
		    when_holds(exporter, rule, row->when))
			return row;
	}
	return NULL;
}

static bool
wants(const struct exporter *exporter, const struct origin *origin)
{
	return (origin->platforms & exporter->arch->platforms) != 0;
}

/* Rules of the user's own are told one by one, inherited ones by the group that
 * they come from. */
static void
add(struct exporter *exporter, enum loss_kind kind, const struct origin *origin,
    const struct rule *rule, const char *why)
{
	struct {
		const char *via, *why;
		uint64_t loc;
	} key;
	struct loss *loss;
	size_t number;
	bool added;

	if (!wants(exporter, origin))
		return;
	memset(&key, 0, sizeof key);
	key.via = origin->via;
	key.why = why;
	if (origin->own)
		key.loc = (uint64_t)origin->loc.begin << 32 | origin->loc.end;
	number = map_number(exporter->arena, &exporter->known, &key, sizeof key,
	    &added);
	if (!added) {
		exporter->losses.items[number].count++;
		return;
	}
	loss = arena_push(exporter->arena, &exporter->losses);
	*loss = (struct loss){
		.kind = kind,
		.origin = *origin,
		.rule = rule != NULL ? rule_text(exporter->policy, rule) : NULL,
		.why = why,
		.count = 1,
	};
}

/* Whether all files are open to everything, so that nothing is lost. */
static bool
is_open(const struct exporter *exporter)
{
	uint8_t rights = 0;

	for (size_t i = 0; i < exporter->policy->paths.count; i++) {
		const struct path_rule *rule =
		    &exporter->policy->paths.items[i];

		if (!wants(exporter, &rule->origin))
			continue;
		if (rule->effect != SBX_ALLOW)
			return false;
		if (rule->at.anchor == SBX_ANCHOR_ROOT &&
		    *rule->at.suffix == '\0' && rule->glob == NULL &&
		    rule->exclusion_count == 0)
			rights |= rule->rights;
	}
	return rights == SBX_RIGHTS;
}

static void
find_paths(struct exporter *exporter)
{
	const struct policy *policy = exporter->policy;

	for (size_t i = 0; i < policy->paths.count; i++) {
		struct rule rule = { .path = policy->paths.items[i],
			.kind = KIND_PATH };

		add(exporter, LOSS_WEAKER, &rule.path.origin, &rule,
		    "a seccomp filter sees no paths, and denies no file");
	}
}

static void
find(struct exporter *exporter)
{
	const struct policy *policy = exporter->policy;

	for (size_t kind = 0; kind < KIND_END; kind++) {
		const struct rule_list *list = &policy->rules[kind];

		for (size_t i = 0; i < list->count; i++) {
			const struct loss_row *row = row_find(exporter,
			    &list->items[i]);

			if (row != NULL)
				add(exporter, row->loss, &list->items[i].origin,
				    &list->items[i], row->why);
		}
	}
	if (policy->landlock > 0)
		add(exporter, LOSS_WEAKER, &policy->landlock_origin, NULL,
		    "it applies no Landlock");
	if (!is_open(exporter))
		find_paths(exporter);
}

/* The way out is the rule itself: whoever accepts the loss says --lossy. */
static void
report(const struct exporter *exporter, struct diags *diags)
{
	for (size_t i = 0; i < exporter->losses.count; i++) {
		const struct loss *loss = &exporter->losses.items[i];
		const char *more = loss->count == 1 ?
		    "" :
		    arena_printf(exporter->arena, ", and %zu more of '%s'",
			loss->count - 1, loss->origin.via);

		diag_add(diags,
		    loss->kind == LOSS_WEAKER ? DIAG_EXPORT_WEAKER :
						DIAG_EXPORT_NARROWER,
		    loss->origin.loc, "oci-seccomp cannot say '%s'%s: %s",
		    loss->rule != NULL ? loss->rule : "require landlock", more,
		    loss->why);
	}
}

struct exporter
export_prepare(const struct policy *policy, const struct arch *arch,
    struct diags *diags)
{
	struct exporter exporter = {
		.arena = policy->arena,
		.policy = policy,
		.arch = arch,
		.net = policy_net(policy, arch->platforms, NULL),
		.everything = policy_has_blanket(policy, BLANKET_EVERYTHING,
		    arch->platforms),
	};

	if (!exporter.everything) {
		find(&exporter);
		report(&exporter, diags);
	}
	return exporter;
}
