/*
 * What a target cannot say, in a table: the first line that fits a rule counts,
 * and a rule that no line fits is said.  A denial in the network is no loss: either the
 * network is closed, or the policy is in error.
 */
#include "compiler/export/export.h"
#include "compiler/policy/kind.h"

#include <string.h>

enum when {
	IN_EACH_CASE,
	NET_CLOSED, /* not all of the host's network is open */
	PATTERN,    /* the rule is about more than one variable */
	SOME_NAMES, /* the rule is not about all variables */
};

enum { ANY = 255 };

static const struct loss_row {
	unsigned targets;
	enum rule_kind_id kind;
	uint8_t detail; /* or ANY */
	uint8_t effect; /* SBX_ALLOW, SBX_DENY or ANY */
	enum when when;
	enum loss_kind loss;
	const char *why;
} rows[] = {
	{ TARGET_ALL, KIND_PORT, ANY, SBX_ALLOW, NET_CLOSED, LOSS_NARROWER,
	    "it has no rules about ports, so no internet socket opens" },
	{ TARGET_ALL, KIND_DOMAIN, ANY, SBX_ALLOW, NET_CLOSED, LOSS_NARROWER,
	    "it knows no names of hosts, so nothing leads out" },
	{ TARGET_ALL, KIND_ENDPOINT, ANY, SBX_ALLOW, NET_CLOSED, LOSS_NARROWER,
	    "it has no rules about addresses, so none opens" },
	{ TARGET_ALL, KIND_PROXY, ANY, SBX_ALLOW, NET_CLOSED, LOSS_NARROWER,
	    "it starts no proxy, so nothing leads out" },
	{ TARGET_ALL, KIND_SOCKET, ANY, SBX_ALLOW, IN_EACH_CASE, LOSS_NARROWER,
	    "it cannot tell sockets apart by their paths, so no AF_UNIX socket "
	    "opens" },
	{ TARGET_ALL, KIND_BLANKET, BLANKET_ABSTRACT, SBX_ALLOW, IN_EACH_CASE,
	    LOSS_NARROWER, "no AF_UNIX socket opens" },
	{ TARGET_ALL, KIND_BLANKET, BLANKET_SPAWN, SBX_DENY, IN_EACH_CASE,
	    LOSS_WEAKER,
	    "the filter is there before the command is executed, so it cannot "
	    "deny that" },
	{ TARGET_OCI_SECCOMP, KIND_BLANKET, BLANKET_LOOPBACK, SBX_ALLOW,
	    NET_CLOSED, LOSS_NARROWER,
	    "a filter does not know in which network it runs, so no internet "
	    "socket opens" },
	{ TARGET_BWRAP | TARGET_DOCKER, KIND_BLANKET, BLANKET_SIGNAL, SBX_ALLOW,
	    IN_EACH_CASE, LOSS_NARROWER,
	    "the processes outside are not to be seen" },
	{ TARGET_ALL, KIND_WATCH, ANY, ANY, IN_EACH_CASE, LOSS_WEAKER,
	    "nobody is told what has changed" },
	{ TARGET_OCI_SECCOMP, KIND_ENV, ANY, ANY, SOME_NAMES, LOSS_WEAKER,
	    "a filter does not know variables, and withholds none" },
	{ TARGET_OCI_SECCOMP, KIND_SET, ANY, ANY, IN_EACH_CASE, LOSS_NARROWER,
	    "a filter sets no variables" },
	{ TARGET_BWRAP, KIND_LIMIT, SBX_LIMIT_PROCESSES, ANY, IN_EACH_CASE,
	    LOSS_WEAKER, "the kernel would count all processes of the user" },
	{ TARGET_BWRAP | TARGET_SYSTEMD | TARGET_DOCKER, KIND_LIMIT,
	    SBX_LIMIT_OUTPUT, ANY, IN_EACH_CASE, LOSS_WEAKER,
	    "nothing counts what is written" },
	{ TARGET_SYSTEMD, KIND_ENV, ANY, SBX_ALLOW, IN_EACH_CASE, LOSS_NARROWER,
	    "a service has variables of its own" },
	{ TARGET_SYSTEMD, KIND_ENV, ANY, SBX_DENY, PATTERN, LOSS_WEAKER,
	    "it takes whole names of variables away, and no patterns" },
	{ TARGET_DOCKER, KIND_LIMIT, SBX_LIMIT_TIMEOUT, ANY, IN_EACH_CASE,
	    LOSS_WEAKER, "it stops no container after a time" },
	{ TARGET_OCI_SECCOMP, KIND_LIMIT, ANY, ANY, IN_EACH_CASE, LOSS_WEAKER,
	    "a filter limits nothing" },
};

static bool
when_holds(const struct exporter *exporter, const struct rule *rule,
    enum when when)
{
	switch (when) {
	case NET_CLOSED:
		return exporter->net != SBX_NET_FULL;
	case PATTERN:
		return strchr(rule->env.pattern, '*') != NULL;
	case SOME_NAMES:
		return rule->effect != SBX_ALLOW ||
		    strcmp(rule->env.pattern, "*") != 0;
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

		if ((row->targets & exporter->target) != 0 &&
		    row->kind == rule->kind &&
		    (row->detail == ANY || row->detail == rule->detail) &&
		    (row->effect == ANY || row->effect == effect) &&
		    when_holds(exporter, rule, row->when))
			return row;
	}
	return NULL;
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

	if (!export_wants(exporter, origin))
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

void
loss_add(struct exporter *exporter, enum loss_kind kind,
    const struct rule *rule, const char *why)
{
	add(exporter, kind, &rule->origin, rule, why);
}

void
loss_add_own(struct exporter *exporter, const char *why)
{
	*arena_push(exporter->arena, &exporter->losses) = (struct loss){
		.kind = LOSS_WEAKER,
		.origin = { .loc = exporter->policy->profile_loc,
		    .via = exporter->policy->profile,
		    .platforms = exporter->arch->platforms,
		    .own = true },
		.rule = arena_printf(exporter->arena, "profile %s",
		    exporter->policy->profile),
		.why = why,
		.count = 1,
	};
	/* The numbers of both go together. */
	map_number(exporter->arena, &exporter->known, &why, sizeof why,
	    &(bool){ false });
}

void
loss_add_path(struct exporter *exporter, enum loss_kind kind,
    const struct path_rule *path, const char *why)
{
	struct rule rule = { .path = *path, .kind = KIND_PATH };

	add(exporter, kind, &path->origin, &rule, why);
}

void
losses_find(struct exporter *exporter)
{
	const struct policy *policy = exporter->policy;

	for (size_t kind = 0; kind < KIND_END; kind++) {
		const struct rule_list *list = &policy->rules[kind];

		for (size_t i = 0; i < list->count; i++) {
			const struct loss_row *row = row_find(exporter,
			    &list->items[i]);

			if (row != NULL)
				loss_add(exporter, row->loss, &list->items[i],
				    row->why);
		}
	}
	if (policy->landlock > 0)
		add(exporter, LOSS_WEAKER, &policy->landlock_origin, NULL,
		    "it applies no Landlock");
}

void
losses_print(const struct exporter *exporter, FILE *stream, const char *prefix)
{
	for (size_t i = 0; i < exporter->losses.count; i++) {
		const struct loss *loss = &exporter->losses.items[i];
		struct position position = policy_position(exporter->policy,
		    &loss->origin);

		fprintf(stream, "%s%s:%u:%u: ", prefix, position.file,
		    position.line, position.column);
		if (loss->rule != NULL)
			fprintf(stream, "%s", loss->rule);
		else
			fputs("the requirement", stream);
		if (loss->count > 1)
			fprintf(stream, ", and %zu more", loss->count - 1);
		fprintf(stream, ": %s: %s\n",
		    loss->kind == LOSS_WEAKER ? "weaker" : "narrower",
		    loss->why);
	}
}
