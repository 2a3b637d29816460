/* The plan as text, for people: all of it for -n, one line for -v. */
#include "runtime/inspect/inspect.h"

#include "format/model.h"
#include "runtime/base/kernel.h"

#include <string.h>
#include <unistd.h>

static void
show(struct out *out, const char *text)
{
	out_shown(out, text, strlen(text));
}

static void
show_string(struct out *out, const struct plan *plan, uint32_t offset)
{
	show(out, sbx_string(plan->blob, offset));
}

static void
print_source(struct out *out, const struct plan *plan, uint32_t source)
{
	out_text(out, "  [");
	out_source(out, plan->blob, source);
	out_text(out, "]\n");
}

static void
print_anchors(struct out *out, const struct plan *plan)
{
	const struct sbx_blob *blob = plan->blob;

	for (uint32_t i = SBX_ANCHOR_WORKSPACE; i < blob->anchor_count; i++) {
		const char *name = sbx_string(blob, blob->anchors[i].name);

		if (!plan->binding->bound[i])
			continue;
		show(out, name);
		for (size_t len = strlen(name); len < 12; len++)
			out_text(out, " ");
		out_place(out, plan->binding->anchors[i]);
		if (i == SBX_ANCHOR_TMP && plan->binding->scratch_missing)
			out_text(out, "  (made at the first run)");
		out_text(out, "\n");
		if (i == SBX_ANCHOR_WORKSPACE && plan->binding->git.len > 0) {
			out_text(out, "  repository ");
			out_place(out, plan->binding->git);
			out_text(out, "\n");
		}
	}
}

static void
print_rules(struct out *out, const struct plan *plan)
{
	const struct binding *binding = plan->binding;

	for (uint32_t i = 0; i < binding->rule_count; i++) {
		const struct site *site = &binding->sites[i];
		const struct sbx_rule *rule = &binding->rules[i];

		plan_words(out, site->path);
		out_text(out, " ");
		if (site->state == RULE_UNBOUND || site->state == RULE_WAIVED)
			plan_place(out, plan, site->path);
		else
			out_place(out, rule->at);
		for (uint16_t j = 0; j < rule->exclusion_count; j++) {
			out_text(out, " except ");
			out_place(out, rule->exclusions[j]);
		}
		out_text(out, "  -- ");
		plan_enforcer(out, plan, i);
		print_source(out, plan, site->path->source);
	}
}

/* What matches is among the rules, place by place. */
static void
print_globs(struct out *out, const struct plan *plan)
{
	const struct binding *binding = plan->binding;

	for (uint32_t i = 0; i < binding->glob_count; i++) {
		const struct glob *glob = &binding->globs[i];
		const struct sbx_path *path = glob->path;

		plan_words(out, path);
		out_text(out, " glob ");
		if (glob->state != RULE_READY)
			plan_place(out, plan, path);
		else
			out_shown(out, glob->at.path, glob->at.len);
		if (glob->name != NULL) {
			out_print(out, " as %s of ", glob->name);
			plan_place(out, plan, path);
		}
		show_string(out, plan, path->glob);
		out_text(out, "  -- ");
		plan_glob_enforcer(out, plan, glob);
		print_source(out, plan, path->source);
	}
}

static void
print_watches(struct out *out, const struct plan *plan)
{
	const struct sbx_blob *blob = plan->blob;

	for (uint32_t i = 0; i < blob->watch_count; i++) {
		const struct sbx_watch *watch = &blob->watches[i];

		if ((watch->platforms & KERNEL_WHERE) == 0)
			continue;
		out_text(out, plan_watch_words(watch));
		out_text(out, " ");
		plan_watch_place(out, plan, watch);
		print_source(out, plan, watch->source);
	}
}

static void
print_network(struct out *out, const struct plan *plan)
{
	const struct sbx_blob *blob = plan->blob;

	out_print(out, "network %s  -- %s", plan_wanted_network(plan),
	    plan_network_enforcer(plan));
	print_source(out, plan, blob->meta->net_source);
	for (uint32_t i = 0; i < blob->port_count; i++) {
		const struct sbx_port *port = &blob->ports[i];

		if ((port->platforms & KERNEL_WHERE) == 0)
			continue;
		plan_port_words(out, port);
		out_print(out, " %u", port->low);
		if (port->high != port->low)
			out_print(out, "-%u", port->high);
		print_source(out, plan, port->source);
	}
	plan_print_hosts(out, plan);
	plan_print_sockets(out, plan);
}

static void
print_scopes(struct out *out, const struct plan *plan)
{
	for (int i = 0; i < PLAN_SCOPES; i++) {
		const char *by = plan_scope_enforcer(plan, &plan_scopes[i]);

		out_text(out, plan_scopes[i].name);
		if (by == NULL)
			out_text(out, " anywhere\n");
		else
			out_print(out, " inside only  -- %s\n", by);
	}
}

static void
print_system_calls(struct out *out, const struct plan *plan)
{
	out_print(out, "syscalls %u denied, %u decided by arguments  -- %s",
	    plan_count_calls(plan, SBX_SYSCALL_DENY),
	    plan_count_calls(plan, SBX_SYSCALL_ARGS),
	    plan_calls_enforcer(plan));
	if (plan->program != NULL)
		out_print(out, ", %u instructions", plan->program->count);
	if (plan_answers(plan))
		out_text(out, "; sbxrun answers for some");
	if (plan->why_no_listener != NULL)
		out_print(out, "; sbxrun answers for NONE: %s",
		    plan->why_no_listener);
	if (plan->why_no_sockets != NULL)
		out_print(out, ", but connects NO sockets: %s",
		    plan->why_no_sockets);
	out_text(out, "\n");
}

static void
print_limits(struct out *out, const struct plan *plan)
{
	const struct sbx_limit *limit = NULL;

	while ((limit = limit_next(plan->blob, limit)) != NULL) {
		out_print(out, "limit %s %lu  -- %s", limit_name(limit->kind),
		    limit->value, plan_limit_enforcer(plan, limit->kind));
		print_source(out, plan, limit->source);
	}
	for (uint16_t kind = 0; kind < SBX_LIMIT_END; kind++) {
		if (!plan->chosen[kind].lifted)
			continue;
		out_print(out, "limit %s none  -- lifted", limit_name(kind));
		print_source(out, plan, SOURCE_COMMAND_LINE);
	}
}

/* Whether a variable about the home leads elsewhere, see sbx_set_opened(). */
static bool
leads_to_scratch(const struct plan *plan, const struct sbx_set *set,
    const char *value)
{
	struct sbx_place home = plan->binding->anchors[SBX_ANCHOR_HOME];

	return sbx_set_opened(plan->blob, set, KERNEL_WHERE) != NULL &&
	    (strncmp(value, home.path, home.len) != 0 ||
		strcmp(value + home.len, sbx_string(plan->blob, set->text)) !=
		    0);
}

static void
print_environment(struct out *out, const struct plan *plan)
{
	const struct environment *environment = plan->environment;
	const struct sbx_blob *blob = plan->blob;

	out_print(out, "env %u variables, %u of the caller's kept back\n",
	    environment->count, environment->dropped);
	for (uint32_t i = 0; i < blob->set_count; i++) {
		const char *name = sbx_string(blob, blob->set[i].name);
		const char *value = environment_get(environment, name);

		if (value == NULL)
			continue;
		out_text(out, "set env ");
		show(out, name);
		out_text(out, " = ");
		show(out, value);
		if (leads_to_scratch(plan, &blob->set[i], value))
			out_text(out,
			    "  -- in the scratch directory, for what "
			    "it names in the home is not there");
		print_source(out, plan, blob->set[i].source);
	}
}

/* The level, with the ABI where Landlock is used. */
static void
print_level(struct out *out, const struct plan *plan, const char *between)
{
	out_text(out, level_name(plan->level));
	if (plan->row != NULL)
		out_print(out, "%s(Landlock ABI %u)", between,
		    (unsigned)plan->machine->landlock_abi);
}

void
plan_print(const struct plan *plan, bool brief)
{
	struct out out;

	out_init(&out, STDOUT_FILENO);
	out_text(&out, "policy      ");
	show_string(&out, plan, plan->blob->meta->profile);
	out_print(&out, "  sha256:%s\nlevel       ", plan->digest);
	if (plan_allows_everything(plan))
		out_text(&out, "none: everything is allowed");
	else
		print_level(&out, plan, "  ");
	out_text(&out, "\n");
	print_anchors(&out, plan);
	plan_print_brief(&out, plan);
	if (brief) {
		out_flush(&out);
		return;
	}
	out_text(&out, "\nrule by rule, and what enforces it:\n");
	if (!plan_allows_everything(plan)) {
		print_rules(&out, plan);
		print_globs(&out, plan);
		print_network(&out, plan);
		print_scopes(&out, plan);
		print_system_calls(&out, plan);
	}
	print_watches(&out, plan);
	print_limits(&out, plan);
	print_environment(&out, plan);
	out_flush(&out);
}

/* What these two limits mean depends on the machine. */
static void
say_limits(struct out *out, const struct plan *plan)
{
	const struct sbx_limit *limit = NULL;

	while ((limit = limit_next(plan->blob, limit)) != NULL) {
		if (limit->kind == SBX_LIMIT_PROCESSES ||
		    limit->kind == SBX_LIMIT_MEMORY)
			out_print(out, ", %s by %s", limit_name(limit->kind),
			    plan_limit_enforcer(plan, limit->kind));
		if (limit->source == SOURCE_COMMAND_LINE) {
			out_text(out, ", limit ");
			out_limit(out, limit);
			out_text(out, " [command line]");
		}
	}
	for (uint16_t kind = 0; kind < SBX_LIMIT_END; kind++) {
		if (plan->chosen[kind].lifted)
			out_print(out, ", limit %s none [command line]",
			    limit_name(kind));
	}
}

static void
print_workspace(struct out *out, const struct plan *plan)
{
	if (plan->binding->bound[SBX_ANCHOR_WORKSPACE])
		out_place(out, plan->binding->anchors[SBX_ANCHOR_WORKSPACE]);
	else
		out_text(out, "none");
}

/* As many words as a line takes. */
static void
show_command(struct out *out, char *const *command)
{
	enum { MOST = 64 };
	size_t used = 0;

	out_text(out, ", command");
	for (; *command != NULL && used < MOST; command++) {
		size_t len = strnlen(*command, MOST);

		out_text(out, " ");
		out_shown(out, *command, len);
		used += len + 1;
		if (len == MOST)
			break;
	}
	if (*command != NULL)
		out_text(out, " ...");
}

void
plan_summary(const struct plan *plan, char *const *command)
{
	struct out out;

	out_init(&out, STDERR_FILENO);
	out_text(&out, "sbxrun: ");
	show_string(&out, plan, plan->blob->meta->profile);
	if (plan_allows_everything(plan)) {
		out_text(&out, ": everything is allowed");
	} else {
		out_text(&out, ": level ");
		print_level(&out, plan, " ");
		out_print(&out, ", network %s", plan_network(plan));
	}
	if (plan->why_no_listener != NULL)
		out_print(&out, ", no listener (%s)", plan->why_no_listener);
	if (plan->why_no_sockets != NULL)
		out_print(&out, ", no sockets (%s)", plan->why_no_sockets);
	say_limits(&out, plan);
	for (uint32_t i = 0; i < plan->extra_count; i++) {
		const struct extra_rule *rule = &plan->extra[i];

		out_text(&out, rule->denies ? ", --deny " : ", --allow ");
		out_quote(&out);
		out_shown(&out, rule->text, strlen(rule->text));
		out_quote_end(&out);
	}
	out_text(&out, ", workspace ");
	print_workspace(&out, plan);
	if (plan->binding->git.len > 0) {
		out_text(&out, ", its repository ");
		out_place(&out, plan->binding->git);
	}
	if (command != NULL)
		show_command(&out, command);
	out_text(&out, "\n");
	out_flush(&out);
}

void
plan_say_default(const struct plan *plan)
{
	struct out out;

	if (isatty(STDERR_FILENO) != 1)
		return;
	out_init(&out, STDERR_FILENO);
	out_print(&out, "%ssbxrun: under %s, in ", "\x1b[2m", plan->policy);
	print_workspace(&out, plan);
	out_text(&out, "; sbxrun POLICY -- CMD chooses another\x1b[0m\n");
	out_flush(&out);
}
