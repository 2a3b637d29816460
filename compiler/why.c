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

static void
say_head(const struct why *why, bool allowed, const char *what)
{
	fprintf(why->stream, "%s: %s ", allowed ? "allowed" : "denied", what);
}

/* "    FILE:LINE:COL: " before a rule; say_rule_end() follows it. */
static void
say_rule(const struct why *why, const char *label, uint32_t source)
{
	fprintf(why->stream, "    %s", label);
	show_source(why->stream, why->places.view, source);
	fputs(": ", why->stream);
}

static void
say_rule_end(const struct why *why, uint8_t where, uint32_t source)
{
	const char *via = show_via(why->places.view, source);

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
	enum sbx_level floor = why->places.view->meta->level;

	if (why->level < needs) {
		fprintf(why->stream, "    enforced by: nothing at level %s; "
		    "it takes level %s\n", level_word(why->level),
		    level_word(needs));
		return;
	}
	fprintf(why->stream, "    enforced by: %s (level %s)\n", what,
	    level_word(why->level));
	if (floor < needs)
		fprintf(why->stream, "    but the policy also runs at level "
		    "%s, where nothing enforces it: 'require level %s'\n",
		    level_word(floor), level_word(needs));
}

static bool
allows_everything(const struct why *why)
{
	if ((why->places.view->meta->flags & SBX_EVERYTHING) == 0)
		return false;
	fputs("    the policy allows everything\n", why->stream);
	return true;
}

/* --- paths ---------------------------------------------------------------- */

static bool
speaks_of(const struct sbx_rule *rule, uint8_t right, struct sbx_place path)
{
	return (rule->rights & right) != 0 && sbx_rule_covers(rule, path);
}

/* The rule that the verdict names: of all with that source and effect the one
 * with the longest place.  `count` if no rule decided. */
static size_t
deciding_rule(const struct place_rules *rules, struct sbx_verdict verdict,
    uint8_t right, struct sbx_place path)
{
	bool allows = sbx_verdict_allows(verdict);
	size_t best = rules->count;

	for (size_t i = 0; i < rules->count; i++) {
		const struct sbx_rule *rule = &rules->rules[i];

		if (rule->source != verdict.source ||
		    (rule->effect == SBX_ALLOW) != allows ||
		    !speaks_of(rule, right, path))
			continue;
		if (best == rules->count ||
		    rule->at.len > rules->rules[best].at.len)
			best = i;
	}
	return best;
}

static void
say_path_rule(const struct why *why, const char *label,
    const struct sbx_path *path)
{
	say_rule(why, label, path->source);
	show_path_rule(why->stream, why->places.view, path);
	say_rule_end(why, path->where, path->source);
}

/* The other rules that cover the path, allows and denies alike. */
static void
say_others(const struct why *why, const struct place_rules *rules,
    size_t decided, uint8_t right, struct sbx_place path)
{
	size_t said = 0, left = 0;

	for (size_t i = 0; i < rules->count; i++) {
		if (i == decided || rules->paths[i] == rules->paths[decided] ||
		    !speaks_of(&rules->rules[i], right, path))
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
	struct arena *arena = why->places.arena;
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
	if (why->level == SBX_LEVEL_FULL) {
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
	say_enforcer(why, SBX_LEVEL_STANDARD, arena_printf(why->places.arena,
	    "Landlock, which is given the entries of %s one by one",
	    split_text(why, &splits)));
}

/* Which directories are split shows when the sandbox starts. */
static void
say_split_globs(const struct why *why, uint8_t right, struct sbx_place path)
{
	const struct sbx_view *view = why->places.view;

	for (uint32_t i = 0; i < view->path_count; i++) {
		const struct sbx_path *rule = &view->paths[i];

		if (rule->glob == 0 || rule->effect == SBX_ALLOW ||
		    (rule->rights & right) == 0 ||
		    (rule->where & why->arch->where) == 0 ||
		    !places_glob_reaches(&why->places, rule, parent_of(path)))
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
	if (why->level != SBX_LEVEL_STANDARD)
		return;
	say_split_globs(why, right, path);
	if (right != SBX_EXEC &&
	    sbx_path_is_split(rules->rules, rules->count, right, path))
		fprintf(why->stream, "    but %s: a rule below it denies "
		    "(level %s)\n", right == SBX_READ ? "it is not listed" :
		    "nothing is made, renamed or removed directly in it",
		    level_word(why->level));
	if (path.len == 0 ||
	    !sbx_path_is_split(rules->rules, rules->count, right, parent))
		return;
	fprintf(why->stream, "    but only if it is there when the sandbox "
	    "starts: the entries of %.*s are granted one by one (level %s)\n",
	    parent.len > 0 ? (int)parent.len : 1,
	    parent.len > 0 ? parent.path : "/", level_word(why->level));
}

/* The answer takes the path for one that matches; the loader looks. */
static void
say_glob(const struct why *why, const struct sbx_path *rule)
{
	if (rule->glob != 0 && why->level >= SBX_LEVEL_STANDARD)
		fputs("    but only for what is there when the sandbox "
		    "starts: later matches of a glob are not covered\n",
		    why->stream);
}

static void
say_path_remedy(const struct why *why, struct sbx_verdict verdict,
    uint8_t right, struct sbx_place path)
{
	fputs("    to allow it: ", why->stream);
	if (verdict.reason == SBX_BECAUSE_NOTHING)
		fprintf(why->stream, "allow %s ",
		    show_rights(SBX_ALLOW, right));
	else
		fputs("take the rule away, or end it with: except ",
		    why->stream);
	show_text(why->stream, places_spell(&why->places, path));
	putc('\n', why->stream);
}

bool
why_path(const struct why *why, uint8_t right, struct sbx_place path)
{
	struct place_rules rules;
	struct sbx_verdict verdict;
	size_t decided;
	bool allowed;

	places_rules_for(&why->places, why->arch->where, path, &rules);
	verdict = sbx_path_verdict(rules.rules, rules.count, right, path);
	allowed = sbx_verdict_allows(verdict) ||
	    (why->places.view->meta->flags & SBX_EVERYTHING) != 0;
	say_head(why, allowed, show_rights(SBX_ALLOW, right));
	show_text(why->stream, path.len > 0 ? path.path : "/");
	putc('\n', why->stream);
	if (allows_everything(why))
		return true;
	decided = deciding_rule(&rules, verdict, right, path);
	if (decided < rules.count) {
		say_path_rule(why, "", rules.paths[decided]);
		if (!allowed)
			say_others(why, &rules, decided, right, path);
	} else {
		fputs("    no rule allows it\n", why->stream);
	}
	if (allowed) {
		if (decided < rules.count)
			say_glob(why, rules.paths[decided]);
		say_split_effects(why, &rules, right, path);
		return true;
	}
	say_path_enforcer(why, &rules, right, path);
	if (decided < rules.count)
		say_glob(why, rules.paths[decided]);
	say_path_remedy(why, verdict, right, path);
	return false;
}

/* --- ports ---------------------------------------------------------------- */

static void
say_port_rule(const struct why *why, struct sbx_verdict verdict,
    enum sbx_port_op op, uint16_t port)
{
	const struct sbx_view *view = why->places.view;

	for (uint32_t i = 0; i < view->port_count; i++) {
		const struct sbx_port *rule = &view->ports[i];

		if (rule->source != verdict.source || rule->op != op ||
		    (rule->where & why->arch->where) == 0 || port < rule->low ||
		    port > rule->high)
			continue;
		say_rule(why, "", rule->source);
		fprintf(why->stream, "%s network ",
		    show_effect(rule->effect));
		show_ports(why->stream, rule);
		say_rule_end(why, rule->where, rule->source);
		return;
	}
	if (verdict.source == SBX_NO_SOURCE) {
		fputs("    no rule allows it\n", why->stream);
		return;
	}
	say_rule(why, "", verdict.source);
	fprintf(why->stream, "%s network full",
	    show_effect(sbx_verdict_allows(verdict) ? SBX_ALLOW : SBX_DENY));
	say_rule_end(why, SBX_ON_ALL, verdict.source);
}

/* Any port is open, in a network that has nobody else in it. */
static bool
why_loopback(const struct why *why, enum sbx_port_op op, uint16_t port)
{
	const struct sbx_meta *meta = why->places.view->meta;
	bool allowed = why->level == SBX_LEVEL_FULL;

	say_head(why, allowed, show_port_op(op));
	fprintf(why->stream, "tcp %u\n", port);
	say_rule(why, "", meta->net_source);
	fputs("allow network loopback", why->stream);
	say_rule_end(why, SBX_ON_ALL, meta->net_source);
	if (!allowed) {
		fprintf(why->stream, "    but it needs level full: at level "
		    "%s no socket opens\n", level_word(why->level));
		return false;
	}
	fputs("    but only inside: the sandbox has a network of its own, "
	    "from which nothing leads out (level full)\n", why->stream);
	if (meta->level < SBX_LEVEL_FULL)
		fprintf(why->stream, "    but the policy also runs at level "
		    "%s, where no socket opens: 'require level full'\n",
		    level_word(meta->level));
	return true;
}

bool
why_port(const struct why *why, enum sbx_port_op op, uint16_t port)
{
	const struct sbx_view *view = why->places.view;
	struct sbx_verdict verdict = sbx_port_verdict(view, why->arch->where, op,
	    port);
	bool ports = view->meta->net == SBX_NET_PORTS;
	bool allowed = sbx_verdict_allows(verdict) ||
	    (view->meta->flags & SBX_EVERYTHING) != 0;

	if (view->meta->net == SBX_NET_LOOPBACK &&
	    (view->meta->flags & SBX_EVERYTHING) == 0)
		return why_loopback(why, op, port);
	say_head(why, allowed, show_port_op(op));
	fprintf(why->stream, "tcp %u\n", port);
	if (allows_everything(why))
		return true;
	say_port_rule(why, verdict, op, port);
	if (allowed && ports) {
		fputs("    but on a kernel without Landlock ABI 4 (Linux 6.7) "
		    "no TCP socket opens\n", why->stream);
		return true;
	}
	if (allowed)
		return true;
	say_enforcer(why, SBX_LEVEL_MINIMAL, ports ?
	    "Landlock from ABI 4 on, else the filter, which opens no TCP "
	    "socket" : "the filter, which opens no TCP socket");
	if (verdict.reason == SBX_BECAUSE_NOTHING)
		fprintf(why->stream, "    to allow it: allow network %s tcp "
		    "%u\n", show_port_op(op), port);
	return false;
}

/* --- variables ------------------------------------------------------------ */

/* `set env` needs no permission: the value is the policy's own. */
static bool
say_set(const struct why *why, const char *name)
{
	const struct sbx_view *view = why->places.view;

	for (uint32_t i = 0; i < view->set_count; i++) {
		const struct sbx_set *set = &view->set[i];

		if ((set->where & why->arch->where) == 0 ||
		    strcmp(sbx_string(view, set->name), name) != 0)
			continue;
		say_head(why, true, "env");
		show_text(why->stream, name);
		putc('\n', why->stream);
		say_rule(why, "", set->source);
		fputs("set env ", why->stream);
		show_text(why->stream, name);
		fputs(" = ", why->stream);
		if (set->anchor == SBX_NO_ANCHOR)
			show_text(why->stream, sbx_string(view, set->text));
		else
			show_place(why->stream, view, set->anchor, set->text);
		say_rule_end(why, set->where, set->source);
		return true;
	}
	return false;
}

static void
say_env_rule(const struct why *why, struct sbx_verdict verdict,
    const char *name)
{
	const struct sbx_view *view = why->places.view;

	for (uint32_t i = 0; i < view->env_count; i++) {
		const struct sbx_env *rule = &view->env[i];
		const char *pattern = sbx_string(view, rule->pattern);

		if (rule->source != verdict.source ||
		    (rule->where & why->arch->where) == 0 ||
		    (rule->effect == SBX_ALLOW) !=
			sbx_verdict_allows(verdict) ||
		    !sbx_pattern_match(pattern, name, strlen(name)))
			continue;
		say_rule(why, "", rule->source);
		fprintf(why->stream, "%s env ", show_effect(rule->effect));
		show_text(why->stream, pattern);
		say_rule_end(why, rule->where, rule->source);
		return;
	}
	fputs("    no rule allows it\n", why->stream);
}

bool
why_env(const struct why *why, const char *name)
{
	const struct sbx_view *view = why->places.view;
	struct sbx_verdict verdict = sbx_env_verdict(view, why->arch->where, name,
	    strlen(name));
	bool allowed = sbx_verdict_allows(verdict);

	if (say_set(why, name))
		return true;
	say_head(why, allowed, "env");
	show_text(why->stream, name);
	putc('\n', why->stream);
	if (allowed && verdict.source == SBX_NO_SOURCE &&
	    allows_everything(why))
		return true;
	say_env_rule(why, verdict, name);
	if (allowed)
		return true;
	say_enforcer(why, SBX_LEVEL_NONE, "sbxrun, which does not hand it on");
	if (verdict.reason == SBX_BECAUSE_NOTHING) {
		fputs("    to allow it: allow env ", why->stream);
		show_text(why->stream, name);
		putc('\n', why->stream);
	}
	return false;
}

/* --- system calls --------------------------------------------------------- */

static const struct sbx_syscall *
syscall_record(const struct why *why, const char *name)
{
	const struct sbx_view *view = why->places.view;

	for (uint32_t i = 0; i < view->syscall_count; i++) {
		if ((view->syscalls[i].where & why->arch->where) &&
		    strcmp(sbx_string(view, view->syscalls[i].name), name) ==
			0)
			return &view->syscalls[i];
	}
	return NULL;
}

/* Whether a program may be the one that the loader takes. */
static bool
is_candidate(const struct why *why, const struct sbx_program *program)
{
	bool full = why->level == SBX_LEVEL_FULL;
	bool loopback = full &&
	    why->places.view->meta->net == SBX_NET_LOOPBACK;

	return program->arch == why->arch->audit &&
	    ((program->flags & SBX_PROGRAM_FULL) != 0) == full &&
	    ((program->flags & SBX_PROGRAM_LOOPBACK) != 0) == loopback;
}

static uint32_t
filter_answer(const struct why *why, const struct sbx_program *program,
    int number, const uint64_t args[3])
{
	struct syscall_data data = {
		.number = number,
		.audit = why->arch->audit,
		.args = { args[0], args[1], args[2] },
	};
	bool ok;

	return bpf_run(why->places.view->bpf + program->first, program->count,
	    &data, &ok, NULL);
}

/* What the filters say of a system call, whatever its arguments and whichever
 * of them the loader takes. */
struct answers {
	bool some_allow, some_deny;
	uint32_t denial;
};

static void
answers_add(const struct why *why, const struct sbx_program *program,
    int number, struct answers *answers)
{
	/* The arguments that filters look at: families, types and protocols of
	 * sockets; what else there is the blob's table knows. */
	for (uint64_t i = 0; i < 16 * 8 * 8; i++) {
		const uint64_t args[3] = { i & 15, i >> 4 & 7, i >> 7 & 7 };
		uint32_t answer = filter_answer(why, program, number, args);

		if (answer == FILTER_ALLOW) {
			answers->some_allow = true;
		} else {
			answers->some_deny = true;
			answers->denial = answer;
		}
	}
}

static struct answers
answers_collect(const struct why *why, int number)
{
	const struct sbx_view *view = why->places.view;
	struct answers answers = { false, false, 0 };

	for (uint32_t i = 0; i < view->program_count; i++) {
		if (is_candidate(why, &view->programs[i]))
			answers_add(why, &view->programs[i], number, &answers);
	}
	if (!answers.some_allow && !answers.some_deny)
		answers.some_allow = view->program_count == 0;
	return answers;
}

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
	const struct sbx_view *view = why->places.view;

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

/* Nothing to call: not so much denied as absent. */
static bool
say_absent(const struct why *why, const char *name)
{
	say_head(why, false, "syscall");
	show_text(why->stream, name);
	fprintf(why->stream, "\n    %s has no such system call\n",
	    why->arch->name);
	return false;
}

static void
say_syscall_denial(const struct why *why, const struct sbx_syscall *call,
    uint32_t denial)
{
	const char *error = show_errno(denial & 0xffff);

	say_enforcer(why, SBX_LEVEL_MINIMAL, error != NULL ?
	    arena_printf(why->places.arena, "the filter, which answers %s",
		error) : "the filter, which kills");
	if (call != NULL && call->source == SBX_NO_SOURCE &&
	    is_named(why->places.view, call))
		fprintf(why->stream, "    to allow it: allow syscalls %s\n",
		    sbx_string(why->places.view, call->name));
}

bool
why_syscall(const struct why *why, const char *name)
{
	const struct sbx_syscall *call = syscall_record(why, name);
	int number = syscall_number(why->arch, name);
	struct answers answers;
	bool depends;

	if (number < 0)
		return say_absent(why, name);
	answers = answers_collect(why, number);
	depends = answers.some_allow && (answers.some_deny ||
	    (call != NULL && call->verdict == SBX_SYSCALL_ARGS));
	say_head(why, answers.some_allow, "syscall");
	show_text(why->stream, name);
	putc('\n', why->stream);
	if (allows_everything(why))
		return true;
	if (call != NULL)
		say_syscall_record(why, call);
	else
		fputs("    no rule speaks of it\n", why->stream);
	if (depends)
		fputs(call != NULL && strcmp(sbx_string(why->places.view,
		    call->reason), "@process-access") == 0 ?
		    "    but not at level minimal, where Landlock does not "
		    "keep it inside\n" :
		    "    but it depends on the arguments\n", why->stream);
	if (!answers.some_allow)
		say_syscall_denial(why, call, answers.denial);
	return answers.some_allow;
}
