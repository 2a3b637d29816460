/*
 * The plan as JSON, for programs: the whole document of `-n --json`, and the
 * part of it that the receipt of a run keeps.
 */
#include "format/cut.h"
#include "format/model.h"
#include "runtime/base/json.h"
#include "runtime/inspect/inspect.h"

#include <string.h>
#include <unistd.h>

enum { TAIL = 2048 }; /* bytes for what follows the lists of a receipt */

/* --- Landlock ------------------------------------------------------------- */

enum mask { IN_FS, IN_NET, IN_SCOPE };

static const struct landlock_line {
	const char *name;
	enum mask mask;
	uint8_t bit, abi;
} landlock_lines[] = {
#define FS(name, bit, abi, file, kind, help) { #name, IN_FS, bit, abi },
#define NET(name, bit, abi, op, help) { #name, IN_NET, bit, abi },
#define SCOPE(name, bit, abi, blanket, help) { #name, IN_SCOPE, bit, abi },
#define FLAG(name, bit, abi, help)
#include "format/landlock.def"
#undef FS
#undef NET
#undef SCOPE
#undef FLAG
};

enum { LANDLOCK_LINES = countof(landlock_lines) };

static bool
row_has(const struct sbx_landlock *row, const struct landlock_line *line)
{
	const uint64_t masks[] = {
		[IN_FS] = row->handled_fs,
		[IN_NET] = row->handled_net,
		[IN_SCOPE] = row->scoped,
	};

	return (masks[line->mask] >> line->bit & 1) != 0;
}

/* The name of a right, in lower case. */
static void
put_right(struct out *json, const char *key, const char *name)
{
	char lower[32];
	size_t len = strlen(name);

	for (size_t i = 0; i < len; i++)
		lower[i] = name[i] == '_' ? '_' : (char)(name[i] | 0x20);
	json_bytes(json, key, lower, len);
}

/* The rights that the policy's newest row has and this kernel lacks. */
static void
put_dropped(struct out *json, const struct plan *plan)
{
	uint32_t count = plan->blob->landlock_count;

	json_list(json, "dropped");
	for (int i = 0; i < LANDLOCK_LINES && plan->row != NULL; i++) {
		const struct landlock_line *line = &landlock_lines[i];

		if (!row_has(&plan->blob->landlock[count - 1], line) ||
		    row_has(plan->row, line))
			continue;
		json_object(json, NULL);
		put_right(json, "right", line->name);
		json_number(json, "abi", line->abi);
		json_object_end(json);
	}
	json_list_end(json);
}

/* --- rules and limits ----------------------------------------------------- */

static void
put_rule(struct out *json, const struct plan *plan, uint32_t index)
{
	const struct site *site = &plan->binding->sites[index];
	struct out words;

	out_init(&words, -1);
	plan_words(&words, site->path);
	json_string(json, "rule", words.text);
	if (site->state == RULE_UNBOUND || site->state == RULE_WAIVED) {
		out_init(&words, -1);
		plan_place(&words, plan, site->path);
		json_string(json, "path", words.text);
	} else {
		json_place(json, "path", plan->binding->rules[index].at);
	}
	out_init(&words, -1);
	plan_enforcer(&words, plan, index);
	json_string(json, "by", words.text);
	json_source(json, plan->blob, site->path->source);
}

static const char *const states[] = {
	[RULE_READY] = "ready",
	[RULE_ABSENT] = "absent",
	[RULE_PLANTED] = "planted",
	[RULE_UNBOUND] = "unbound",
	[RULE_WAIVED] = "waived",
};

/* What the document says of a rule beside what the receipt says. */
static void
put_rule_state(struct out *json, const struct plan *plan, uint32_t index)
{
	static const char *const classes[] = {
		[PLAN_PLAIN] = "plain",
		[PLAN_OTHER] = "other",
		[PLAN_UNCOVERED] = "uncovered",
		[PLAN_SKIPPED] = "skipped",
	};
	uint8_t rights = plan->binding->sites[index].path->rights;
	const struct sbx_rule *rule = &plan->binding->rules[index];

	json_list(json, "rights");
	if (rights & SBX_READ)
		json_string(json, NULL, "read");
	if (rights & SBX_WRITE)
		json_string(json, NULL, "write");
	if (rights & SBX_EXEC)
		json_string(json, NULL, "exec");
	json_list_end(json);
	json_string(json, "class", classes[plan_class(plan, index)]);
	json_list(json, "except");
	for (uint16_t i = 0; i < rule->exclusion_count; i++)
		json_place(json, NULL, rule->exclusions[i]);
	json_list_end(json);
	json_string(json, "state",
	    states[outcome_state(plan->binding, plan->outcomes, index)]);
	if (plan->row == NULL)
		return;
	json_bool(json, "covered", plan->outcomes[index].covered);
	json_bool(json, "split", plan->outcomes[index].split);
	json_number(json, "grants", plan->outcomes[index].grants);
}

/* The rules of one class, as many as there is room for. */
static void
put_rules(struct out *json, const struct plan *plan, const char *key,
    enum plan_class class, uint32_t room)
{
	char missing_key[32];
	uint32_t missing = 0;

	json_list(json, key);
	for (uint32_t i = 0; i < plan->binding->rule_count; i++) {
		struct json_mark mark = json_mark(json);

		if (plan_class(plan, i) != class)
			continue;
		json_object(json, NULL);
		put_rule(json, plan, i);
		json_object_end(json);
		missing += !json_keep(json, mark, room);
	}
	json_list_end(json);
	strcpy(missing_key, key);
	strcat(missing_key, "_missing");
	if (missing > 0)
		json_number(json, missing_key, missing);
}

static void
put_glob(struct out *json, const struct plan *plan, const struct glob *glob)
{
	struct out words;

	out_init(&words, -1);
	plan_words(&words, glob->path);
	json_object(json, NULL);
	json_string(json, "rule", words.text);
	out_init(&words, -1);
	plan_place(&words, plan, glob->path);
	if (glob->state == RULE_READY)
		json_place(json, "below", glob->at);
	else
		json_string(json, "below", words.text);
	if (glob->name != NULL) {
		json_string(json, "as", glob->name);
		json_string(json, "of", words.text);
	}
	json_string(json, "glob", sbx_string(plan->blob, glob->path->glob));
	json_string(json, "state", states[glob->state]);
	json_number(json, "matches", glob->matches);
	out_init(&words, -1);
	plan_glob_enforcer(&words, plan, glob);
	json_string(json, "by", words.text);
	json_source(json, plan->blob, glob->path->source);
	json_object_end(json);
}

static void
put_globs(struct out *json, const struct plan *plan, uint32_t room)
{
	json_list(json, "globs");
	for (uint32_t i = 0; i < plan->binding->glob_count; i++) {
		struct json_mark mark = json_mark(json);

		put_glob(json, plan, &plan->binding->globs[i]);
		json_keep(json, mark, room);
	}
	json_list_end(json);
}

static void
put_limits(struct out *json, const struct plan *plan, uint32_t room)
{
	const struct sbx_limit *limit = NULL;

	json_list(json, "limits");
	while ((limit = limit_next(plan->blob, limit)) != NULL) {
		struct json_mark mark = json_mark(json);

		json_object(json, NULL);
		json_string(json, "limit", limit_name(limit->kind));
		json_number(json, "value", limit->value);
		json_string(json, "by", plan_limit_enforcer(plan, limit->kind));
		json_source(json, plan->blob, limit->source);
		json_object_end(json);
		json_keep(json, mark, room);
	}
	for (uint16_t kind = 0; kind < SBX_LIMIT_END; kind++) {
		struct json_mark mark = json_mark(json);

		if (plan->chosen[kind].lifted) {
			/* A limit that a person has lifted has no value. */
			json_object(json, NULL);
			json_string(json, "limit", limit_name(kind));
			json_string(json, "value", NULL);
			json_string(json, "by", "lifted");
			json_source(json, plan->blob, SOURCE_COMMAND_LINE);
			json_object_end(json);
			json_keep(json, mark, room);
		}
	}
	json_list_end(json);
}

/* What the run is of, and what it is given as a whole. */
/* What the command line adds to the policy. */
static void
put_extra(struct out *json, const struct plan *plan)
{
	if (plan->extra_count == 0)
		return;
	json_list(json, "added");
	for (uint32_t i = 0; i < plan->extra_count; i++) {
		struct out rule;

		out_init(&rule, -1);
		out_print(&rule, "%s ",
		    plan->extra[i].denies ? "deny" : "allow");
		out_text(&rule, plan->extra[i].text);
		json_bytes(json, NULL, rule.text, rule.used);
	}
	json_list_end(json);
}

static void
put_run(struct out *json, const struct plan *plan)
{
	char digest[96] = "sha256:";

	strcat(digest, plan->digest);
	json_bytes(json, "policy", plan->policy,
	    strnlen(plan->policy, SBX_MAX_PATH));
	json_string(json, "digest", digest);
	json_string(json, "profile",
	    sbx_string(plan->blob, plan->blob->meta->profile));
	put_extra(json, plan);
	if ((plan->blob->meta->flags & SBX_CUT) != 0)
		json_string(json, "ceiling", SBX_CEILING);
	json_bool(json, "everything", plan_allows_everything(plan));
	json_string(json, "level", level_name(plan->level));
	json_string(json, "why_not_full", plan->why_not_full);
	json_number(json, "landlock_abi",
	    plan->row == NULL ? 0 : (uint64_t)plan->machine->landlock_abi);
	if (plan->binding->bound[SBX_ANCHOR_WORKSPACE])
		json_place(json, "workspace",
		    plan->binding->anchors[SBX_ANCHOR_WORKSPACE]);
	if (plan->binding->git.len > 0)
		json_place(json, "repository", plan->binding->git);
	json_string(json, "network", plan_network(plan));
	put_dropped(json, plan);
}

void
plan_record(struct out *json, const struct plan *plan)
{
	put_run(json, plan);
	put_limits(json, plan, json->size / 2);
	put_globs(json, plan, json->size / 3);
	put_rules(json, plan, "rules", PLAN_OTHER, json->size / 4);
	put_rules(json, plan, "uncovered", PLAN_UNCOVERED, json->size / 6);
	put_rules(json, plan, "skipped", PLAN_SKIPPED, TAIL);
	json_number(json, "hard_linked", plan->hard_linked);
}

/* --- what the document has beside ----------------------------------------- */

static void
put_watches(struct out *json, const struct plan *plan)
{
	const struct sbx_blob *blob = plan->blob;

	json_list(json, "watches");
	for (uint32_t i = 0; i < blob->watch_count; i++) {
		const struct sbx_watch *watch = &blob->watches[i];
		struct out place;

		if ((watch->platforms & KERNEL_WHERE) == 0)
			continue;
		out_init(&place, -1);
		plan_watch_place(&place, plan, watch);
		json_object(json, NULL);
		json_string(json, "rule", plan_watch_words(watch));
		json_string(json, "path", place.text);
		json_source(json, blob, watch->source);
		json_object_end(json);
	}
	json_list_end(json);
}

static void
put_mechanisms(struct out *json, const struct plan *plan)
{
	const struct {
		const char *name;
		bool used;
	} mechanisms[] = {
		{ "landlock", plan->row != NULL },
		{ "seccomp", plan->program != NULL },
		{ "namespaces", plan->level == SBX_LEVEL_FULL },
		{ "cgroup", plan->held != 0 },
		{ "pid_max", plan->pid_max },
	};

	json_list(json, "mechanisms");
	for (size_t i = 0; i < countof(mechanisms); i++) {
		if (mechanisms[i].used)
			json_string(json, NULL, mechanisms[i].name);
	}
	json_list_end(json);
}

static void
put_anchors(struct out *json, const struct plan *plan)
{
	const struct sbx_blob *blob = plan->blob;

	json_object(json, "anchors");
	for (uint32_t i = SBX_ANCHOR_WORKSPACE; i < blob->anchor_count; i++) {
		if (plan->binding->bound[i])
			json_place(json,
			    sbx_string(blob, blob->anchors[i].name),
			    plan->binding->anchors[i]);
	}
	json_object_end(json);
	if (plan->binding->scratch.path != NULL)
		json_place(json, "scratch", plan->binding->scratch);
	json_bool(json, "scratch_missing", plan->binding->scratch_missing);
}

static void
put_network(struct out *json, const struct plan *plan)
{
	const struct sbx_blob *blob = plan->blob;
	struct out words;

	json_object(json, "network_rule");
	json_string(json, "wanted", plan_wanted_network(plan));
	json_string(json, "by", plan_network_enforcer(plan));
	json_source(json, blob, blob->meta->net_source);
	json_object_end(json);
	json_list(json, "ports");
	for (uint32_t i = 0; i < blob->port_count; i++) {
		const struct sbx_port *port = &blob->ports[i];

		if ((port->platforms & KERNEL_WHERE) == 0)
			continue;
		out_init(&words, -1);
		plan_port_words(&words, port);
		json_object(json, NULL);
		json_string(json, "rule", words.text);
		json_number(json, "low", port->low);
		json_number(json, "high", port->high);
		json_source(json, blob, port->source);
		json_object_end(json);
	}
	json_list_end(json);
	plan_put_hosts(json, plan);
	plan_put_sockets(json, plan);
	json_list(json, "scopes");
	for (int i = 0; i < PLAN_SCOPES; i++) {
		json_object(json, NULL);
		json_string(json, "scope", plan_scopes[i].name);
		json_string(json, "by",
		    plan_scope_enforcer(plan, &plan_scopes[i]));
		json_object_end(json);
	}
	json_list_end(json);
}

static void
put_system_calls(struct out *json, const struct plan *plan)
{
	const struct sbx_program *program = plan->program;

	json_object(json, "syscalls");
	json_number(json, "denied", plan_count_calls(plan, SBX_SYSCALL_DENY));
	json_number(json, "by_arguments",
	    plan_count_calls(plan, SBX_SYSCALL_ARGS));
	if (program != NULL) {
		json_number(json, "program",
		    (uint64_t)(program - plan->blob->programs));
		json_number(json, "instructions", program->count);
		json_bool(json, "listener", plan_answers(plan));
	}
	if (plan->why_no_listener != NULL)
		json_string(json, "why_no_listener", plan->why_no_listener);
	if (plan->why_no_sockets != NULL)
		json_string(json, "why_no_sockets", plan->why_no_sockets);
	json_string(json, "by", plan_calls_enforcer(plan));
	json_object_end(json);
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
put_environment(struct out *json, const struct plan *plan)
{
	const struct sbx_blob *blob = plan->blob;

	json_object(json, "environment");
	json_number(json, "handed_on", plan->environment->count);
	json_number(json, "kept_back", plan->environment->dropped);
	json_list(json, "set");
	for (uint32_t i = 0; i < blob->set_count; i++) {
		const char *name = sbx_string(blob, blob->set[i].name);
		const char *value = environment_get(plan->environment, name);

		if (value == NULL)
			continue;
		json_object(json, NULL);
		json_string(json, "name", name);
		json_string(json, "value", value);
		json_bool(json, "scratch",
		    leads_to_scratch(plan, &blob->set[i], value));
		json_source(json, blob, blob->set[i].source);
		json_object_end(json);
	}
	json_list_end(json);
	json_object_end(json);
}

void
plan_print_json(const struct plan *plan)
{
	struct out json;

	out_init(&json, STDOUT_FILENO);
	json_document(&json, "plan");
	put_run(&json, plan);
	put_mechanisms(&json, plan);
	/* In a network of the sandbox's own all ports are open. */
	json_list(&json, "handled");
	for (int i = 0; i < LANDLOCK_LINES && plan->row != NULL; i++) {
		const struct landlock_line *line = &landlock_lines[i];

		if (row_has(plan->row, line) &&
		    (line->mask != IN_NET || plan->network != NETWORK_LOOPBACK))
			put_right(&json, NULL, line->name);
	}
	json_list_end(&json);
	put_anchors(&json, plan);
	json_list(&json, "rules");
	for (uint32_t i = 0; i < plan->binding->rule_count; i++) {
		json_object(&json, NULL);
		put_rule(&json, plan, i);
		put_rule_state(&json, plan, i);
		json_object_end(&json);
	}
	json_list_end(&json);
	put_globs(&json, plan, 0);
	put_network(&json, plan);
	put_system_calls(&json, plan);
	put_watches(&json, plan);
	put_limits(&json, plan, 0);
	put_environment(&json, plan);
	json_number(&json, "hard_linked", plan->hard_linked);
	json_object_end(&json);
	out_text(&json, "\n");
	out_flush(&json);
}
