/* See export.h. */
#include "compiler/export/export.h"
#include "compiler/query/verdict.h"

#include <string.h>

static const struct export_target targets[] = {
	{ "oci-seccomp", TARGET_OCI_SECCOMP, false, false, oci_paths,
	    oci_write },
	{ "bwrap", TARGET_BWRAP, true, false, bwrap_paths, bwrap_write },
	{ "docker", TARGET_DOCKER, true, false, bwrap_paths, docker_write },
	{ "systemd", TARGET_SYSTEMD, true, true, systemd_paths, systemd_write },
};

const struct export_target *
export_target_find(const char *name)
{
	for (size_t i = 0; i < countof(targets); i++) {
		if (strcmp(targets[i].name, name) == 0)
			return &targets[i];
	}
	return NULL;
}

bool
export_wants(const struct exporter *exporter, const struct origin *origin)
{
	return (origin->platforms & exporter->arch->platforms) != 0;
}

const struct rule *
export_limit(const struct exporter *exporter, enum sbx_limit_kind kind)
{
	const struct rule_list *list = &exporter->policy->rules[KIND_LIMIT];

	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i].detail == kind &&
		    export_wants(exporter, &list->items[i].origin))
			return &list->items[i];
	}
	return NULL;
}

void
export_filter(const struct exporter *exporter, uint32_t flags,
    struct filter *filter)
{
	struct policy policy = *exporter->policy;
	const struct rule_list *all = &exporter->policy->rules[KIND_BLANKET];
	struct rule_list *kept = &policy.rules[KIND_BLANKET];

	/* The command is executed under the filter; see the losses. */
	*kept = (struct rule_list){ NULL, 0 };
	for (size_t i = 0; i < all->count; i++) {
		if (all->items[i].detail != BLANKET_SPAWN)
			*arena_push(exporter->arena, kept) = all->items[i];
	}
	filter_alone(&policy, exporter->arch, flags, filter);
}

/* The way out is the rule itself: whoever accepts the loss says --lossy. */
static void
report(const struct exporter *exporter, const struct export_target *target,
    struct diags *diags)
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
		    loss->origin.loc, "%s cannot say '%s'%s: %s", target->name,
		    loss->rule != NULL ? loss->rule : "require landlock", more,
		    loss->why);
	}
}

struct exporter
export_prepare(const struct policy *policy, const struct export_target *target,
    const struct subject *subject, struct diags *diags)
{
	const struct arch *arch = subject->arch;
	struct exporter exporter = {
		.arena = policy->arena,
		.policy = policy,
		.arch = arch,
		.target = target->bit,
		.subject = subject,
	};

	exporter.net = policy_net(policy, arch->platforms, NULL);
	exporter.everything = policy_has_blanket(policy, BLANKET_EVERYTHING,
	    arch->platforms);
	if (exporter.everything)
		return exporter;
	losses_find(&exporter);
	target->paths(&exporter);
	report(&exporter, target, diags);
	return exporter;
}
