/*
 * The first screen of -n: what the command may write, run, read and reach, in
 * a few lines.  It says nothing that the rules below it do not say.  A place is
 * left out if a wider rule gives as much.
 */
#include "runtime/inspect/inspect.h"

#include <string.h>

enum {
	COLUMN = 12, /* where the text of a heading begins */
	WIDTH = 79,
	ROWS = 3, /* lines that one heading may take */
};

/* The items of one heading; what does not fit is counted. */
struct list {
	struct out *out;
	const struct plan *plan;
	uint32_t column, rows, count, more;
};

typedef bool choose(const struct plan *plan, uint32_t index);

static void
list_begin(struct list *list, struct out *out, const struct plan *plan,
    const char *heading)
{
	*list = (struct list){ .out = out, .plan = plan, .column = COLUMN };
	out_column(out, heading, COLUMN);
}

static void
list_text(struct list *list, const char *text, size_t len)
{
	uint32_t wanted = (uint32_t)len + (list->count > 0 ? 2 : 0);

	if (list->count > 0)
		out_text(list->out, ",");
	/* A comma may follow. */
	if (list->column + wanted >= WIDTH && list->column > COLUMN) {
		out_text(list->out, "\n");
		out_column(list->out, "", COLUMN);
		list->column = COLUMN;
		list->rows++;
	} else if (list->count > 0) {
		out_text(list->out, " ");
	}
	out_bytes(list->out, text, len);
	list->column += wanted;
	list->count++;
}

/* Adds an item, or counts it if there is no room: some is kept for the count. */
static void
list_add(struct list *list, const struct out *item)
{
	enum { COUNT_ROOM = 16 };
	bool last = list->rows == ROWS - 1;

	if (list->more > 0 ||
	    (last && list->column + item->used + 2 + COUNT_ROOM > WIDTH))
		list->more++;
	else
		list_text(list, item->text, item->used);
}

static void
list_number(struct list *list, uint32_t number, const char *what)
{
	struct out item;

	out_init(&item, -1);
	out_print(&item, "%u %s", number, what);
	list_text(list, item.text, item.used);
}

static void
list_end(struct list *list, const char *nothing)
{
	if (list->more > 0)
		list_number(list, list->more, "more");
	out_text(list->out, list->count > 0 ? "" : nothing);
	out_text(list->out, "\n");
}

/* --- places --------------------------------------------------------------- */

static bool
is_given(const struct plan *plan, uint32_t index, uint8_t right)
{
	const struct sbx_rule *rule = &plan->binding->rules[index];

	return rule->effect == SBX_ALLOW && (rule->rights & right) != 0 &&
	    outcome_state(plan->binding, plan->outcomes, index) == RULE_READY;
}

/* Whether another rule gives at least `rights` there; of two that say the same
 * the first one counts. */
static bool
is_wider(const struct plan *plan, uint32_t index, uint8_t rights)
{
	const struct sbx_rule *rules = plan->binding->rules;
	struct sbx_place at = rules[index].at;

	for (uint32_t i = 0; i < plan->binding->rule_count; i++) {
		if (i == index || !sbx_covers(rules[i].at, at) ||
		    !is_given(plan, i, rights))
			continue;
		if (rules[i].at.len < at.len || i < index ||
		    (rules[index].rights & rights) == 0)
			return true;
	}
	return false;
}

static bool
is_written(const struct plan *plan, uint32_t index)
{
	return is_given(plan, index, SBX_WRITE) &&
	    !is_wider(plan, index, SBX_WRITE);
}

static bool
is_run(const struct plan *plan, uint32_t index)
{
	return is_given(plan, index, SBX_EXEC) &&
	    !is_wider(plan, index, SBX_EXEC);
}

static bool
is_read_only(const struct plan *plan, uint32_t index)
{
	return is_given(plan, index, SBX_READ) &&
	    (plan->binding->rules[index].rights & (SBX_WRITE | SBX_EXEC)) ==
	    0 &&
	    !is_wider(plan, index, SBX_READ);
}

/* A denial that takes something away from what is allowed around it. */
static bool
is_taken(const struct plan *plan, uint32_t index, uint8_t right)
{
	const struct sbx_rule *rule = &plan->binding->rules[index];

	return rule->effect != SBX_ALLOW && (rule->rights & right) != 0 &&
	    plan->binding->sites[index].state == RULE_READY &&
	    plan_class(plan, index) == PLAN_OTHER;
}

static bool
is_hidden(const struct plan *plan, uint32_t index)
{
	return is_taken(plan, index, SBX_READ);
}

static bool
is_kept(const struct plan *plan, uint32_t index)
{
	return is_taken(plan, index, SBX_WRITE) && !is_hidden(plan, index);
}

/* Below the home directory with "~", as people write it. */
static void
out_short(struct out *out, const struct plan *plan, struct sbx_place at)
{
	struct sbx_place home = plan->binding->anchors[SBX_ANCHOR_HOME];

	if (!plan->binding->bound[SBX_ANCHOR_HOME] || home.len == 0 ||
	    !sbx_covers(home, at)) {
		out_place(out, at);
		return;
	}
	out_text(out, "~");
	out_shown(out, at.path + home.len, at.len - home.len);
}

static bool
has_any(const struct plan *plan, choose *is_listed)
{
	for (uint32_t i = 0; i < plan->binding->rule_count; i++) {
		if (is_listed(plan, i))
			return true;
	}
	return false;
}

/* The scratch directory is made when a command runs, and not for -n. */
static void
add_scratch(struct list *list)
{
	const struct binding *binding = list->plan->binding;
	struct out item;

	if (!binding->scratch_missing || !binding->bound[SBX_ANCHOR_TMP])
		return;
	out_init(&item, -1);
	out_place(&item, binding->anchors[SBX_ANCHOR_TMP]);
	list_add(list, &item);
}

static void
print_places(struct out *out, const struct plan *plan, const char *heading,
    choose *is_listed)
{
	static const struct sbx_place devices = { "/dev", 4 };
	const struct binding *binding = plan->binding;
	uint32_t count = 0;
	struct list list;
	struct out item;

	list_begin(&list, out, plan, heading);
	if (is_listed == is_written)
		add_scratch(&list);
	for (uint32_t i = 0; i < binding->rule_count; i++) {
		struct sbx_place at = binding->rules[i].at;

		if (!is_listed(plan, i))
			continue;
		if (sbx_covers(devices, at) && at.len > devices.len) {
			count++;
			continue;
		}
		out_init(&item, -1);
		out_short(&item, plan, at);
		list_add(&list, &item);
	}
	if (count > 0) {
		out_init(&item, -1);
		out_print(&item, "%u devices", count);
		list_add(&list, &item);
	}
	list_end(&list, "nothing");
}

static void
print_denied(struct out *out, const struct plan *plan, choose *is_listed)
{
	if (has_any(plan, is_listed))
		print_places(out, plan, "  but not", is_listed);
}

/* --- the rest ------------------------------------------------------------- */

static void
print_reach(struct out *out, const struct plan *plan)
{
	const struct sbx_blob *blob = plan->blob;
	struct list list;
	struct out item;

	list_begin(&list, out, plan, "reach");
	out_init(&item, -1);
	out_print(&item, "network: %s", plan_network(plan));
	list_add(&list, &item);
	for (uint32_t i = 0; i < blob->port_count; i++) {
		const struct sbx_port *port = &blob->ports[i];

		if ((port->platforms & KERNEL_WHERE) == 0)
			continue;
		out_init(&item, -1);
		plan_port_words(&item, port);
		out_print(&item, " %u", port->low);
		if (port->high != port->low)
			out_print(&item, "-%u", port->high);
		list_add(&list, &item);
	}
	for (uint32_t i = 0; i < blob->name_count; i++) {
		if ((blob->names[i].platforms & KERNEL_WHERE) == 0 ||
		    blob->names[i].effect != SBX_ALLOW)
			continue;
		out_init(&item, -1);
		plan_name(&item, blob, &blob->names[i]);
		list_add(&list, &item);
	}
	if (blob->endpoint_count > 0)
		list_number(&list, blob->endpoint_count, "rules on addresses");
	if (plan->binding->socket_count > 0)
		list_number(&list, plan->binding->socket_count,
		    "rules on sockets");
	list_end(&list, "nothing");
}

static void
print_end(struct out *out, const struct plan *plan)
{
	const struct sbx_limit *limit = NULL;
	struct list list;
	struct out item;

	list_begin(&list, out, plan, "limits");
	while ((limit = limit_next(plan->blob, limit)) != NULL) {
		out_init(&item, -1);
		out_limit(&item, limit);
		list_add(&list, &item);
	}
	list_end(&list, "none");
}

/* What somebody who trusts this has to know: each is said of rules below. */
static void
print_gaps(struct out *out, const struct plan *plan)
{
	uint32_t uncovered = 0, snapshots = 0, waived = 0;
	struct list list;

	for (uint32_t i = 0; i < plan->binding->rule_count; i++) {
		uncovered += plan_class(plan, i) == PLAN_UNCOVERED;
		waived += plan->binding->sites[i].state == RULE_WAIVED;
	}
	for (uint32_t i = 0; i < plan->binding->glob_count; i++)
		snapshots += plan->binding->globs[i].state == RULE_READY;
	list_begin(&list, out, plan, "gaps");
	if (plan->row == NULL)
		list_number(&list, plan->binding->rule_count,
		    "rules on files NOT ENFORCED at this level");
	if (waived > 0)
		list_number(&list, waived, "denials need level full");
	if (uncovered > 0)
		list_number(&list, uncovered,
		    "denials of what is not there yet");
	if (snapshots > 0)
		list_number(&list, snapshots,
		    "patterns hold for what matches now");
	if (plan->why_no_listener != NULL)
		list_text(&list, "no listener", strlen("no listener"));
	if (plan->why_no_sockets != NULL)
		list_text(&list, "no sockets", strlen("no sockets"));
	list_end(&list, "none");
}

static void
print_variables(struct out *out, const struct plan *plan)
{
	out_column(out, "env", COLUMN);
	out_print(out, "%u variables, %u of the caller's kept back\n",
	    plan->environment->count, plan->environment->dropped);
	if (plan->blob->watch_count == 0)
		return;
	out_column(out, "watched", COLUMN);
	out_print(out,
	    "%u rules: sbxrun says when a file appears that runs later\n",
	    plan->blob->watch_count);
}

void
plan_print_brief(struct out *out, const struct plan *plan)
{
	if (plan_allows_everything(plan)) {
		out_text(out, "NOTHING is confined but by limits\n");
	} else {
		print_places(out, plan, "may write", is_written);
		print_denied(out, plan, is_kept);
		print_places(out, plan, "may run", is_run);
		print_places(out, plan, "may read", is_read_only);
		print_denied(out, plan, is_hidden);
		print_reach(out, plan);
		print_gaps(out, plan);
	}
	print_end(out, plan);
	print_variables(out, plan);
}
