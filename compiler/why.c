/*
 * See why.h.  Each answer has the same parts, one a line:
 *
 *	denied: write /src/app/.git/hooks/x
 *	    team.sbx:9:5: deny write ${workspace}/.git/hooks  (team-build)
 *	    also: ...			the other rules that speak of it
 *	    enforced by: ...		at the level in question
 *	    to allow it: ...
 */
#include "compiler/why.h"
#include "compiler/show.h"
#include "compiler/words.h"

#include <string.h>

/* How many rules an answer names beside the deciding one, and how many
 * directories it lists. */
enum { WHY_MAX_ALSO = 4, WHY_MAX_SPLIT = 4 };

/* A question on its way through this file. */
struct why {
	FILE *stream;
	const struct subject *subject;
	const struct sbx_view *view;
	const struct access *access;
	struct verdict verdict;
};

/* "    FILE:LINE:COL: " before a rule; say_rule_end() follows it. */
static void
say_rule(const struct why *why, const char *label, uint32_t source)
{
	fprintf(why->stream, "    %s", label);
	show_source(why->stream, why->view, source);
	fputs(": ", why->stream);
}

static void
say_rule_end(const struct why *why, uint8_t where, uint32_t source)
{
	const char *via = show_via(why->view, source);

	show_where(why->stream, where);
	if (via != NULL) {
		fputs("  (", why->stream);
		show_text(why->stream, via);
		putc(')', why->stream);
	}
	putc('\n', why->stream);
}

/* What the level in question leaves open, and whether it may be that one. */
static void
say_enforcer(const struct why *why, enum sbx_level needs, const char *what)
{
	enum sbx_level floor = why->view->meta->level;

	if (why->subject->level < needs) {
		fprintf(why->stream, "    enforced by: nothing at level %s; "
		    "it takes level %s\n", level_word(why->subject->level),
		    level_word(needs));
		return;
	}
	fprintf(why->stream, "    enforced by: %s (level %s)\n", what,
	    level_word(why->subject->level));
	if (floor < needs)
		fprintf(why->stream, "    but the policy also runs at level "
		    "%s, where nothing enforces it: 'require level %s'\n",
		    level_word(floor), level_word(needs));
}

/* --- paths ---------------------------------------------------------------- */

static void
say_path_rule(const struct why *why, const char *label,
    const struct sbx_path *path)
{
	say_rule(why, label, path->source);
	show_path_rule(why->stream, why->view, path);
	say_rule_end(why, path->where, path->source);
}

/* The other rules that cover the path, allows and denies alike. */
static void
say_others(const struct why *why, const struct place_rules *rules,
    const struct sbx_path *decided)
{
	size_t said = 0, left = 0;

	for (size_t i = 0; i < rules->count; i++) {
		if (rules->paths[i] == decided ||
		    (rules->rules[i].rights & why->access->detail) == 0 ||
		    !sbx_rule_covers(&rules->rules[i], why->access->path))
			continue;
		if (said < WHY_MAX_ALSO) {
			say_path_rule(why, "also: ", rules->paths[i]);
			said++;
		} else {
			left++;
		}
	}
	if (left > 0)
		fprintf(why->stream, "    also: %zu more rules\n", left);
}

/* The directory that holds a path; the root for the root. */
static struct sbx_place
parent_of(struct sbx_place path)
{
	while (path.len > 0 && path.path[--path.len] != '/')
		;
	return path;
}

struct split_list {
	struct sbx_place directories[WHY_MAX_SPLIT];
	size_t count; /* all, also those that are not kept */
};

/* The directories above the path, from the innermost out, whose entries
 * Landlock has to be given one by one. */
static void
find_splits(const struct place_rules *rules, uint8_t right,
    struct sbx_place path, struct split_list *list)
{
	list->count = 0;
	while (path.len > 0) {
		path = parent_of(path);
		if (!sbx_path_is_split(rules->rules, rules->count, right,
			path))
			continue;
		if (list->count < WHY_MAX_SPLIT)
			list->directories[list->count] = path;
		list->count++;
	}
}

/* "/src/app and /src/app/.git", outermost first. */
static const char *
split_text(const struct why *why, const struct split_list *list)
{
	struct arena *arena = why->subject->places.arena;
	size_t i = list->count < WHY_MAX_SPLIT ? list->count : WHY_MAX_SPLIT;
	const char *text = "";
	bool more = list->count > i;

	while (i-- > 0) {
		struct sbx_place at = list->directories[i];
		const char *path = at.len > 0 ?
		    arena_strndup(arena, at.path, at.len) : "/";

		if (*text == '\0')
			text = path;
		else
			text = arena_printf(arena, "%s%s%s", text,
			    i == 0 && !more ? " and " : ", ", path);
	}
	return more ? arena_printf(arena, "%s and more", text) : text;
}

static void
say_path_enforcer(const struct why *why, const struct place_rules *rules,
    uint8_t right, struct sbx_place path)
{
	struct split_list splits;

	find_splits(rules, right, path, &splits);
	if (why->subject->level == SBX_LEVEL_FULL) {
		say_enforcer(why, SBX_LEVEL_STANDARD, splits.count == 0 ?
		    "the view, which does not hold it, and Landlock" :
		    "a mount over it, if it is there when the sandbox starts");
		return;
	}
	if (splits.count == 0) {
		say_enforcer(why, SBX_LEVEL_STANDARD,
		    "Landlock, which is given nothing there");
		return;
	}
	say_enforcer(why, SBX_LEVEL_STANDARD, arena_printf(why->subject->places.arena,
	    "Landlock, which is given the entries of %s one by one",
	    split_text(why, &splits)));
}

/* Which directories are split shows when the sandbox starts. */
static void
say_split_globs(const struct why *why, uint8_t right, struct sbx_place path)
{
	const struct sbx_view *view = why->view;

	for (uint32_t i = 0; i < view->path_count; i++) {
		const struct sbx_path *rule = &view->paths[i];

		if (rule->glob == 0 || rule->effect == SBX_ALLOW ||
		    (rule->rights & right) == 0 ||
		    (rule->where & why->subject->arch->where) == 0 ||
		    !places_glob_reaches(&why->subject->places, rule, parent_of(path)))
			continue;
		say_path_rule(why, "but restricted where a glob has matches "
		    "beside or below it: ", rule);
		return;
	}
}

/* What is allowed and still does not work quite as in an ordinary tree. */
static void
say_split_effects(const struct why *why, const struct place_rules *rules,
    uint8_t right, struct sbx_place path)
{
	struct sbx_place parent = parent_of(path);

	/* Nothing is split below, nor above, where masks do it. */
	if (why->subject->level != SBX_LEVEL_STANDARD)
		return;
	say_split_globs(why, right, path);
	if (right != SBX_EXEC &&
	    sbx_path_is_split(rules->rules, rules->count, right, path))
		fprintf(why->stream, "    but %s: a rule below it denies "
		    "(level %s)\n", right == SBX_READ ? "it is not listed" :
		    "nothing is made, renamed or removed directly in it",
		    level_word(why->subject->level));
	if (path.len == 0 ||
	    !sbx_path_is_split(rules->rules, rules->count, right, parent))
		return;
	fprintf(why->stream, "    but only if it is there when the sandbox "
	    "starts: the entries of %.*s are granted one by one (level %s)\n",
	    parent.len > 0 ? (int)parent.len : 1,
	    parent.len > 0 ? parent.path : "/", level_word(why->subject->level));
}

/* The answer takes the path for one that matches; the loader looks. */
static void
say_glob(const struct why *why, const struct sbx_path *rule)
{
	if (rule->glob != 0 && why->subject->level >= SBX_LEVEL_STANDARD)
		fputs("    but only for what is there when the sandbox "
		    "starts: later matches of a glob are not covered\n",
		    why->stream);
}

static void
say_path_remedy(const struct why *why)
{
	fputs("    to allow it: ", why->stream);
	if (why->verdict.by == BY_NOTHING)
		fprintf(why->stream, "allow %s ",
		    show_rights(SBX_ALLOW, why->access->detail));
	else
		fputs("take the rule away, or end it with: except ",
		    why->stream);
	show_text(why->stream, places_spell(&why->subject->places,
	    why->access->path));
	putc('\n', why->stream);
}

static void
why_path(const struct why *why)
{
	const struct access *access = why->access;
	const struct sbx_path *decided = why->verdict.by == BY_PATH ?
	    &why->view->paths[why->verdict.rule] : NULL;
	struct place_rules rules;

	places_rules_for(&why->subject->places, why->subject->arch->where,
	    access->path, &rules);
	if (decided == NULL)
		fputs("    no rule allows it\n", why->stream);
	else
		say_path_rule(why, "", decided);
	if (decided != NULL && !why->verdict.allowed)
		say_others(why, &rules, decided);
	if (!why->verdict.allowed)
		say_path_enforcer(why, &rules, access->detail, access->path);
	if (decided != NULL)
		say_glob(why, decided);
	if (why->verdict.allowed)
		say_split_effects(why, &rules, access->detail, access->path);
	else
		say_path_remedy(why);
}

/* --- ports ---------------------------------------------------------------- */

static void
say_port_rule(const struct why *why)
{
	const struct sbx_port *rule = &why->view->ports[why->verdict.rule];
	const struct verdict *verdict = &why->verdict;

	if (verdict->source == SBX_NO_SOURCE) {
		fputs("    no rule allows it\n", why->stream);
		return;
	}
	say_rule(why, "", verdict->source);
	if (verdict->by == BY_NETWORK) {
		fprintf(why->stream, "%s network full",
		    show_effect(verdict->allowed ? SBX_ALLOW : SBX_DENY));
		say_rule_end(why, SBX_ON_ALL, verdict->source);
		return;
	}
	fprintf(why->stream, "%s network ", show_effect(rule->effect));
	show_ports(why->stream, rule);
	say_rule_end(why, rule->where, rule->source);
}

static void
why_loopback(const struct why *why)
{
	say_rule(why, "", why->verdict.source);
	fputs("allow network loopback", why->stream);
	say_rule_end(why, SBX_ON_ALL, why->verdict.source);
	if (!why->verdict.allowed) {
		fprintf(why->stream, "    but it needs level full: at level "
		    "%s no socket opens\n", level_word(why->subject->level));
		return;
	}
	fputs("    but only inside: the sandbox has a network of its own, "
	    "from which nothing leads out (level full)\n", why->stream);
	if (why->view->meta->level < SBX_LEVEL_FULL)
		fprintf(why->stream, "    but the policy also runs at level "
		    "%s, where no socket opens: 'require level full'\n",
		    level_word(why->view->meta->level));
}

static void
why_port(const struct why *why)
{
	bool ports = why->view->meta->net == SBX_NET_PORTS;

	if (why->view->meta->net == SBX_NET_LOOPBACK) {
		why_loopback(why);
		return;
	}
	say_port_rule(why);
	if (why->verdict.by == BY_OLD_KERNEL ||
	    (why->verdict.allowed && ports))
		fputs("    but on a kernel without Landlock ABI 4 (Linux 6.7), "
		    "or below level standard, no TCP socket opens\n",
		    why->stream);
	if (why->verdict.allowed)
		return;
	say_enforcer(why, SBX_LEVEL_MINIMAL, ports ?
	    "Landlock from ABI 4 on, else the filter, which opens no TCP "
	    "socket" : "the filter, which opens no TCP socket");
	if (why->verdict.by == BY_NOTHING)
		fprintf(why->stream, "    to allow it: allow network %s tcp "
		    "%u\n", show_port_op(why->access->detail),
		    why->access->port);
}

/* --- variables ------------------------------------------------------------ */

static void
say_set(const struct why *why)
{
	const struct sbx_set *set = &why->view->set[why->verdict.rule];

	say_rule(why, "", set->source);
	fputs("set env ", why->stream);
	show_text(why->stream, sbx_string(why->view, set->name));
	fputs(" = ", why->stream);
	if (set->anchor == SBX_NO_ANCHOR)
		show_text(why->stream, sbx_string(why->view, set->text));
	else
		show_place(why->stream, why->view, set->anchor, set->text);
	say_rule_end(why, set->where, set->source);
}

static void
say_env_rule(const struct why *why)
{
	const struct sbx_env *rule = &why->view->env[why->verdict.rule];

	say_rule(why, "", rule->source);
	fprintf(why->stream, "%s env ", show_effect(rule->effect));
	show_text(why->stream, sbx_string(why->view, rule->pattern));
	say_rule_end(why, rule->where, rule->source);
}

static void
why_env(const struct why *why)
{
	/* `set env` needs no permission: the value is the policy's own. */
	if (why->verdict.by == BY_SET)
		say_set(why);
	else if (why->verdict.by == BY_ENV)
		say_env_rule(why);
	else
		fputs("    no rule allows it\n", why->stream);
	if (why->verdict.allowed)
		return;
	say_enforcer(why, SBX_LEVEL_NONE, "sbxrun, which does not hand it on");
	if (why->verdict.by == BY_NOTHING) {
		fputs("    to allow it: allow env ", why->stream);
		show_text(why->stream, why->access->name);
		putc('\n', why->stream);
	}
}

/* --- system calls --------------------------------------------------------- */

/* Whether the call was denied by its name or group, and not for what the
 * policy says of the network or of namespaces. */
static bool
is_named(const struct sbx_view *view, const struct sbx_syscall *call)
{
	const char *reason = sbx_string(view, call->reason);

	return reason[0] == '@' ||
	    strcmp(reason, sbx_string(view, call->name)) == 0;
}

static void
say_syscall_record(const struct why *why, const struct sbx_syscall *call)
{
	const struct sbx_view *view = why->view;

	if (call->source == SBX_NO_SOURCE) {
		fputs("    the language's own baseline: ", why->stream);
	} else {
		say_rule(why, "", call->source);
		if (is_named(view, call))
			fputs(call->verdict == SBX_SYSCALL_ALLOW ?
			    "allow syscalls " : "deny syscalls ", why->stream);
	}
	show_text(why->stream, sbx_string(view, call->reason));
	say_rule_end(why, SBX_ON_ALL, call->source);
}

static void
say_syscall_denial(const struct why *why, const struct sbx_syscall *call)
{
	const char *error = show_errno(why->verdict.answer & 0xffff);

	say_enforcer(why, SBX_LEVEL_MINIMAL, error != NULL ?
	    arena_printf(why->subject->places.arena,
		"the filter, which answers %s", error) :
	    "the filter, which kills");
	if (call != NULL && call->source == SBX_NO_SOURCE &&
	    is_named(why->view, call))
		fprintf(why->stream, "    to allow it: allow syscalls %s\n",
		    sbx_string(why->view, call->name));
}

static void
why_syscall(const struct why *why)
{
	const struct sbx_syscall *call = why->verdict.by == BY_SYSCALL ?
	    &why->view->syscalls[why->verdict.rule] : NULL;
	/* Of the baseline, which lifts it where Landlock keeps it inside. */
	bool traces = call != NULL && call->source == SBX_NO_SOURCE &&
	    strcmp(sbx_string(why->view, call->reason),
		"@process-access") == 0;

	/* Nothing to call: not so much denied as absent. */
	if (why->verdict.by == BY_MACHINE) {
		fprintf(why->stream, "    %s has no such system call\n",
		    why->subject->arch->name);
		return;
	}
	if (call != NULL)
		say_syscall_record(why, call);
	else
		fputs("    no rule speaks of it\n", why->stream);
	if (traces && why->verdict.allowed)
		fputs("    but not at level minimal, where Landlock does not "
		    "keep it inside\n", why->stream);
	else if (why->verdict.depends)
		fputs("    but it depends on the arguments\n", why->stream);
	if (!why->verdict.allowed)
		say_syscall_denial(why, call);
}

bool
why(FILE *stream, const struct subject *subject, const struct access *access)
{
	static void (*const answers[])(const struct why *) = {
		[ACCESS_PATH] = why_path,
		[ACCESS_PORT] = why_port,
		[ACCESS_SYSCALL] = why_syscall,
		[ACCESS_ENV] = why_env,
	};
	struct why why = {
		.stream = stream,
		.subject = subject,
		.view = subject->places.view,
		.access = access,
		.verdict = verdict_of(subject, access),
	};

	fputs(why.verdict.allowed ? "allowed: " : "denied: ", stream);
	access_show(stream, access);
	putc('\n', stream);
	if (why.verdict.by == BY_EVERYTHING)
		fputs("    the policy allows everything\n", stream);
	else
		answers[access->kind](&why);
	return why.verdict.allowed;
}
