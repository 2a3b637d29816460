/* The plan in one line, for -v. */
#include "format/cut.h"
#include "runtime/inspect/inspect.h"

#include <string.h>
#include <unistd.h>

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
	const char *profile = sbx_string(plan->blob, plan->blob->meta->profile);
	struct out out;

	out_init(&out, STDERR_FILENO);
	out_text(&out, "sbxrun: ");
	out_shown(&out, profile, strlen(profile));
	if (plan_allows_everything(plan)) {
		out_text(&out, ": everything is allowed");
	} else {
		out_print(&out, ": level %s", level_name(plan->level));
		if (plan->row != NULL)
			out_print(&out, " (Landlock ABI %u)",
			    (unsigned)plan->machine->landlock_abi);
		out_print(&out, ", network %s", plan_network(plan));
	}
	if (plan->why_no_listener != NULL)
		out_print(&out, ", no listener (%s)", plan->why_no_listener);
	if (plan->why_no_sockets != NULL)
		out_print(&out, ", no sockets (%s)", plan->why_no_sockets);
	if ((plan->blob->meta->flags & SBX_CUT) != 0)
		out_text(&out, ", under " SBX_CEILING);
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
