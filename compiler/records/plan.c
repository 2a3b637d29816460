/*
 * The plan of `sbxrun -n` in words.  First comes one screen: what the command may
 * write, run, read and reach, in a few lines, of which none says more than the
 * rules below; a place is left out if a wider rule gives as much.  Then come all
 * rules, each with what enforces it.
 */
#include "compiler/records/records.h"

#include <string.h>

enum {
	COLUMN = 12, /* where the text of a heading begins */
	WIDTH = 79,
	ROWS = 3, /* lines that one heading may take */
};

/* A rule about a place. */
struct row {
	const struct json_t *rule;
	const char *path, *state, *class;
	bool gives;
	uint8_t rights;
};

struct plan {
	const struct json_t *record;
	const char *home; /* or NULL */
	struct row *rows;
	size_t count;
};

static bool
is_word(const char *text, const char *word)
{
	return text != NULL && strcmp(text, word) == 0;
}

static const char *
or_empty(const char *text)
{
	return text != NULL ? text : "";
}

static uint8_t
rights_of(const struct json_t *rights)
{
	uint8_t set = 0;

	for (size_t i = 0; i < json_count(rights); i++) {
		const char *right = json_text_at(json_item(rights, i));

		set |= is_word(right, "read") ? SBX_READ :
		    is_word(right, "write")   ? SBX_WRITE :
		    is_word(right, "exec")    ? SBX_EXEC :
						0;
	}
	return set;
}

static void
read_rows(struct arena *arena, struct plan *plan)
{
	const struct json_t *rules = json_member(plan->record, "rules");

	plan->count = json_count(rules);
	plan->rows = arena_alloc(arena, (plan->count + 1) * sizeof *plan->rows);
	for (size_t i = 0; i < plan->count; i++) {
		const struct json_t *rule = json_item(rules, i);

		plan->rows[i] = (struct row){
			.rule = rule,
			.path = or_empty(json_text(rule, "path")),
			.state = json_text(rule, "state"),
			.class = json_text(rule, "class"),
			.gives = strncmp(or_empty(json_text(rule, "rule")),
				     "allow", 5) == 0,
			.rights = rights_of(json_member(rule, "rights")),
		};
	}
}

/* Whether a directory holds a path; it is the path, too. */
static bool
covers(const char *directory, const char *path)
{
	size_t len = strlen(directory);

	return strcmp(directory, "/") == 0 ||
	    (strncmp(directory, path, len) == 0 &&
		(path[len] == '/' || path[len] == '\0'));
}

/* --- the items of one heading --------------------------------------------- */

/* What does not fit is counted. */
struct list {
	struct out *out;
	size_t column, rows, count, more;
};

static void
list_begin(struct list *list, struct out *out, const char *heading)
{
	*list = (struct list){ .out = out, .column = COLUMN };
	out_column(out, heading, COLUMN);
}

static void
list_text(struct list *list, const char *text)
{
	size_t wanted = strlen(text) + (list->count > 0 ? 2 : 0);

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
	out_text(list->out, text);
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
		list_text(list, item->text);
}

/* Nothing if there are none. */
static void
list_number(struct list *list, size_t number, const char *what)
{
	struct out item;

	if (number == 0)
		return;
	out_init(&item, -1);
	out_print(&item, "%u %s", (unsigned)number, what);
	list_text(list, item.text);
}

static void
list_end(struct list *list, const char *nothing)
{
	list_number(list, list->more, "more");
	out_print(list->out, "%s\n", list->count > 0 ? "" : nothing);
}

/* --- the first screen: places --------------------------------------------- */

typedef bool choose(const struct plan *plan, const struct row *row);

static bool
is_given(const struct row *row, uint8_t right)
{
	return row->gives && (row->rights & right) != 0 &&
	    is_word(row->state, "ready");
}

/* Given, and not by another rule as well that reaches further; of two that say
 * the same the first one counts. */
static bool
is_widest(const struct plan *plan, const struct row *row, uint8_t right)
{
	if (!is_given(row, right))
		return false;
	for (size_t i = 0; i < plan->count; i++) {
		const struct row *other = &plan->rows[i];

		if (other != row && is_given(other, right) &&
		    covers(other->path, row->path) &&
		    (strcmp(other->path, row->path) != 0 || other < row))
			return false;
	}
	return true;
}

static bool
is_written(const struct plan *plan, const struct row *row)
{
	return is_widest(plan, row, SBX_WRITE);
}

static bool
is_run(const struct plan *plan, const struct row *row)
{
	return is_widest(plan, row, SBX_EXEC);
}

static bool
is_read_only(const struct plan *plan, const struct row *row)
{
	return (row->rights & (SBX_WRITE | SBX_EXEC)) == 0 &&
	    is_widest(plan, row, SBX_READ);
}

/* A denial that takes something away from what is allowed around it. */
static bool
is_taken(const struct row *row)
{
	return !row->gives && is_word(row->state, "ready") &&
	    is_word(row->class, "other");
}

static bool
is_hidden(const struct plan *plan, const struct row *row)
{
	(void)plan;
	return is_taken(row) && (row->rights & SBX_READ) != 0;
}

static bool
is_kept(const struct plan *plan, const struct row *row)
{
	return is_taken(row) && (row->rights & SBX_WRITE) != 0 &&
	    !is_hidden(plan, row);
}

/* Below the home directory with "~", as people write it. */
static void
put_short(struct out *out, const struct plan *plan, const char *path)
{
	if (plan->home != NULL && strcmp(plan->home, "/") != 0 &&
	    covers(plan->home, path)) {
		out_text(out, "~");
		path += strlen(plan->home);
	}
	out_shown(out, path, strlen(path));
}

/* The scratch directory is made when a command runs, and not for -n. */
static void
add_scratch(struct list *list, const struct plan *plan)
{
	const char *tmp = json_text(json_member(plan->record, "anchors"),
	    "tmp");
	struct out item;

	if (!json_flag(plan->record, "scratch_missing") || tmp == NULL)
		return;
	out_init(&item, -1);
	out_shown(&item, tmp, strlen(tmp));
	list_add(list, &item);
}

/* Nothing at all if `optional` and there is no such place. */
static void
put_places(struct out *out, const struct plan *plan, const char *heading,
    choose *is_listed, bool optional)
{
	size_t devices = 0;
	struct list list;
	struct out item;

	for (size_t i = 0; i < plan->count && optional; i++)
		optional = !is_listed(plan, &plan->rows[i]);
	if (optional)
		return;
	list_begin(&list, out, heading);
	if (is_listed == is_written)
		add_scratch(&list, plan);
	for (size_t i = 0; i < plan->count; i++) {
		const struct row *row = &plan->rows[i];

		if (!is_listed(plan, row))
			continue;
		if (strncmp(row->path, "/dev/", 5) == 0) {
			devices++;
			continue;
		}
		out_init(&item, -1);
		put_short(&item, plan, row->path);
		list_add(&list, &item);
	}
	if (devices > 0) {
		out_init(&item, -1);
		out_print(&item, "%u devices", (unsigned)devices);
		list_add(&list, &item);
	}
	list_end(&list, "nothing");
}

/* --- the first screen: the rest ------------------------------------------- */

static void
put_range(struct out *out, const struct json_t *port)
{
	unsigned low = (unsigned)json_number(port, "low");
	unsigned high = (unsigned)json_number(port, "high");

	put_shown(out, port, "rule");
	out_print(out, " %u", low);
	if (high != low)
		out_print(out, "-%u", high);
}

static void
put_reach(struct out *out, const struct json_t *plan)
{
	const struct json_t *ports = json_member(plan, "ports");
	const struct json_t *hosts = json_member(plan, "hosts");
	size_t addresses = 0;
	struct list list;
	struct out item;

	list_begin(&list, out, "reach");
	out_init(&item, -1);
	out_text(&item, "network: ");
	put_shown(&item, plan, "network");
	list_add(&list, &item);
	for (size_t i = 0; i < json_count(ports); i++) {
		out_init(&item, -1);
		put_range(&item, json_item(ports, i));
		list_add(&list, &item);
	}
	for (size_t i = 0; i < json_count(hosts); i++) {
		const struct json_t *host = json_item(hosts, i);
		const char *rule = json_text(host, "rule");

		addresses += is_word(rule, "allow network connect") ||
		    is_word(rule, "deny network connect");
		if (!is_word(rule, "allow network domain"))
			continue;
		out_init(&item, -1);
		put_shown(&item, host, "object");
		list_add(&list, &item);
	}
	list_number(&list, addresses, "rules on addresses");
	list_number(&list, json_count(json_member(plan, "sockets")),
	    "rules on sockets");
	list_end(&list, "nothing");
}

/* What somebody who trusts this has to know: each is said of rules below. */
static void
put_gaps(struct out *out, const struct plan *plan)
{
	const struct json_t *globs = json_member(plan->record, "globs");
	const struct json_t *calls = json_member(plan->record, "syscalls");
	size_t uncovered = 0, snapshots = 0, waived = 0;
	struct list list;

	for (size_t i = 0; i < plan->count; i++) {
		uncovered += is_word(plan->rows[i].class, "uncovered");
		waived += is_word(plan->rows[i].state, "waived");
	}
	for (size_t i = 0; i < json_count(globs); i++)
		snapshots += is_word(json_text(json_item(globs, i), "state"),
		    "ready");
	list_begin(&list, out, "gaps");
	if (json_number(plan->record, "landlock_abi") == 0)
		list_number(&list, plan->count,
		    "rules on files NOT ENFORCED at this level");
	list_number(&list, waived, "denials need level full");
	list_number(&list, uncovered, "denials of what is not there yet");
	list_number(&list, snapshots, "patterns hold for what matches now");
	if (json_text(calls, "why_no_listener") != NULL)
		list_text(&list, "no listener");
	if (json_text(calls, "why_no_sockets") != NULL)
		list_text(&list, "no sockets");
	list_end(&list, "none");
}

static const struct limit_word *
limit_word_of(const struct json_t *limit)
{
	const char *name = json_text(limit, "limit");

	return name != NULL ? limit_find(name) : NULL;
}

static void
put_ends(struct printing *printing, const struct json_t *plan)
{
	const struct json_t *limits = json_member(plan, "limits");
	struct list list;
	struct out item;

	list_begin(&list, &printing->out, "limits");
	for (size_t i = 0; i < json_count(limits); i++) {
		const struct json_t *limit = json_item(limits, i);
		const struct limit_word *word = limit_word_of(limit);

		if (word == NULL || is_word(json_text(limit, "by"), "lifted"))
			continue;
		out_init(&item, -1);
		out_print(&item, "%s %s", word->word,
		    limit_value_text(printing->arena, word,
			json_number(limit, "value")));
		list_add(&list, &item);
	}
	list_end(&list, "none");
}

static void
put_counts(struct out *out, const struct json_t *environment,
    const char *between)
{
	out_print(out, "env%s%u variables, %u of the caller's kept back\n",
	    between, (unsigned)json_number(environment, "handed_on"),
	    (unsigned)json_number(environment, "kept_back"));
}

static void
put_brief(struct printing *printing, const struct plan *plan)
{
	size_t watches = json_count(json_member(plan->record, "watches"));
	struct out *out = &printing->out;

	if (json_flag(plan->record, "everything")) {
		out_text(out, "NOTHING is confined but by limits\n");
	} else {
		put_places(out, plan, "may write", is_written, false);
		put_places(out, plan, "  but not", is_kept, true);
		put_places(out, plan, "may run", is_run, false);
		put_places(out, plan, "may read", is_read_only, false);
		put_places(out, plan, "  but not", is_hidden, true);
		put_reach(out, plan->record);
		put_gaps(out, plan);
	}
	put_ends(printing, plan->record);
	put_counts(out, json_member(plan->record, "environment"), "         ");
	if (watches == 0)
		return;
	out_column(out, "watched", COLUMN);
	out_print(out,
	    "%u rules: sbxrun says when a file appears that runs later\n",
	    (unsigned)watches);
}

/* --- rule by rule --------------------------------------------------------- */

/* "  -- landlock  [team.sbx:3:4]". */
static void
put_enforcer(struct out *out, const struct json_t *rule)
{
	out_text(out, "  -- ");
	put_shown(out, rule, "by");
	put_source(out, rule);
}

static void
put_rules(struct out *out, const struct plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct json_t *rule = plan->rows[i].rule;
		const struct json_t *except = json_member(rule, "except");

		put_shown(out, rule, "rule");
		out_text(out, " ");
		put_shown(out, rule, "path");
		for (size_t j = 0; j < json_count(except); j++) {
			const char *path = json_text_at(json_item(except, j));

			out_text(out, " except ");
			out_shown(out, or_empty(path), strlen(or_empty(path)));
		}
		put_enforcer(out, rule);
	}
}

/* What matches is among the rules, place by place. */
static void
put_globs(struct out *out, const struct json_t *globs)
{
	for (size_t i = 0; i < json_count(globs); i++) {
		const struct json_t *glob = json_item(globs, i);
		const char *below = json_text(glob, "below");

		put_shown(out, glob, "rule");
		out_text(out, " glob ");
		/* The pattern begins with a slash. */
		if (!is_word(below, "/"))
			put_shown(out, glob, "below");
		if (json_text(glob, "as") != NULL) {
			out_text(out, " as ");
			put_shown(out, glob, "as");
			out_text(out, " of ");
			put_shown(out, glob, "of");
		}
		put_shown(out, glob, "glob");
		put_enforcer(out, glob);
	}
}

/* Rules in two parts, with what enforces each or without. */
static void
put_each(struct out *out, const struct json_t *rules, const char *object)
{
	for (size_t i = 0; i < json_count(rules); i++) {
		const struct json_t *rule = json_item(rules, i);

		put_shown(out, rule, "rule");
		out_text(out, " ");
		put_shown(out, rule, object);
		if (json_text(rule, "by") != NULL)
			put_enforcer(out, rule);
		else
			put_source(out, rule);
	}
}

static void
put_network(struct out *out, const struct json_t *plan)
{
	const struct json_t *network = json_member(plan, "network_rule");
	const struct json_t *ports = json_member(plan, "ports");
	const struct json_t *scopes = json_member(plan, "scopes");

	out_text(out, "network ");
	put_shown(out, network, "wanted");
	put_enforcer(out, network);
	for (size_t i = 0; i < json_count(ports); i++) {
		put_range(out, json_item(ports, i));
		put_source(out, json_item(ports, i));
	}
	put_each(out, json_member(plan, "hosts"), "object");
	put_each(out, json_member(plan, "sockets"), "path");
	for (size_t i = 0; i < json_count(scopes); i++) {
		const struct json_t *scope = json_item(scopes, i);
		bool open = json_text(scope, "by") == NULL;

		put_shown(out, scope, "scope");
		out_text(out, open ? " anywhere" : " inside only  -- ");
		put_shown(out, scope, "by");
		out_text(out, "\n");
	}
}

static void
put_calls(struct out *out, const struct json_t *calls)
{
	const struct json_t *program = json_member(calls, "program");

	out_print(out, "syscalls %u denied, %u decided by arguments  -- ",
	    (unsigned)json_number(calls, "denied"),
	    (unsigned)json_number(calls, "by_arguments"));
	put_shown(out, calls, "by");
	if (program != NULL)
		out_print(out, ", %u instructions",
		    (unsigned)json_number(calls, "instructions"));
	if (json_flag(calls, "listener"))
		out_text(out, "; sbxrun answers for some");
	if (json_text(calls, "why_no_listener") != NULL)
		out_text(out, "; sbxrun answers for NONE: ");
	put_shown(out, calls, "why_no_listener");
	if (json_text(calls, "why_no_sockets") != NULL)
		out_text(out, ", but connects NO sockets: ");
	put_shown(out, calls, "why_no_sockets");
	out_text(out, "\n");
}

static void
put_limits(struct out *out, const struct json_t *limits)
{
	for (size_t i = 0; i < json_count(limits); i++) {
		const struct json_t *limit = json_item(limits, i);

		out_text(out, "limit ");
		put_shown(out, limit, "limit");
		if (is_word(json_text(limit, "by"), "lifted"))
			out_text(out, " none");
		else
			out_print(out, " %lu", json_number(limit, "value"));
		put_enforcer(out, limit);
	}
}

static void
put_environment(struct out *out, const struct json_t *environment)
{
	const struct json_t *set = json_member(environment, "set");

	put_counts(out, environment, " ");
	for (size_t i = 0; i < json_count(set); i++) {
		const struct json_t *variable = json_item(set, i);

		out_text(out, "set env ");
		put_shown(out, variable, "name");
		out_text(out, " = ");
		put_shown(out, variable, "value");
		if (json_flag(variable, "scratch"))
			out_text(out,
			    "  -- in the scratch directory, for what it names "
			    "in the home is not there");
		put_source(out, variable);
	}
}

/* --- all of it ------------------------------------------------------------ */

static void
put_anchors(struct out *out, const struct json_t *plan)
{
	const struct json_t *anchors = json_member(plan, "anchors");

	for (const char *name = json_key(anchors, NULL); name != NULL;
	     name = json_key(anchors, name)) {
		out_shown(out, name, strlen(name));
		for (size_t len = strlen(name); len < COLUMN; len++)
			out_text(out, " ");
		put_shown(out, anchors, name);
		if (strcmp(name, "tmp") == 0 &&
		    json_flag(plan, "scratch_missing"))
			out_text(out, "  (made at the first run)");
		out_text(out, "\n");
		if (strcmp(name, "workspace") == 0 &&
		    json_text(plan, "repository") != NULL) {
			out_text(out, "  repository ");
			put_shown(out, plan, "repository");
			out_text(out, "\n");
		}
	}
}

void
plan_show(struct printing *printing, const struct json_t *record)
{
	struct plan plan = {
		.record = record,
		.home = json_text(json_member(record, "anchors"), "home"),
	};
	unsigned abi = (unsigned)json_number(record, "landlock_abi");
	bool everything = json_flag(record, "everything");
	struct out *out = &printing->out;

	read_rows(printing->arena, &plan);
	out_column(out, "policy", COLUMN);
	put_shown(out, record, "profile");
	out_text(out, "  ");
	put_shown(out, record, "digest");
	out_text(out, "\n");
	out_column(out, "level", COLUMN);
	if (everything)
		out_text(out, "none: everything is allowed");
	else
		put_shown(out, record, "level");
	if (abi > 0 && !everything)
		out_print(out, "  (Landlock ABI %u)", abi);
	out_text(out, "\n");
	put_anchors(out, record);
	put_brief(printing, &plan);
	if (printing->brief)
		return;
	out_text(out, "\nrule by rule, and what enforces it:\n");
	if (!everything) {
		put_rules(out, &plan);
		put_globs(out, json_member(record, "globs"));
		put_network(out, record);
		put_calls(out, json_member(record, "syscalls"));
	}
	put_each(out, json_member(record, "watches"), "path");
	put_limits(out, json_member(record, "limits"));
	put_environment(out, json_member(record, "environment"));
}
