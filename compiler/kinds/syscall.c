/*
 * Rules about system calls and their groups: `deny syscalls @mount`.  What they
 * come to is in the filters; the blob's table of calls is for people, and has a
 * record for each call that some rule or the baseline decides about.
 */
#include "compiler/kinds/kinds.h"

#include "compiler/check/check.h"
#include "compiler/query/why.h"
#include "compiler/tables/tables.h"
#include "format/model.h"

#include <stdlib.h>
#include <string.h>

static bool
syscall_resolve(struct scope *scope, const struct ast_atom *atom,
    struct rule *rule)
{
	bool group = atom->kind == AST_GROUP;
	const char *near;
	struct diag *diag;

	if (!group && atom->kind != AST_WORD) {
		diag_add(scope->diags, DIAG_WRONG_OBJECT, atom->loc,
		    "expected a system call or a @group, found '%s'",
		    atom->text);
		return false;
	}
	rule->syscall.name = atom->text;
	rule->syscall.group = group;
	if (group ? syscall_group(atom->text) != NULL :
		    syscall_is_known(atom->text))
		return true;
	diag = diag_add(scope->diags, DIAG_UNKNOWN_SYSCALL, atom->loc,
	    "unknown system call%s '%s'", group ? " group" : "",
	    atom_text(scope, atom));
	near = diags_may_guess(scope->diags) ?
	    syscall_nearest(atom->text, group) :
	    NULL;
	if (!group && syscall_group(atom->text) != NULL)
		diag_help(diag, "did you mean the group '@%s'?", atom->text);
	else if (near != NULL)
		diag_help(diag, "did you mean '%s%s'?", group ? "@" : "", near);
	return false;
}

static bool
syscall_resembles(const struct rule *a, const struct rule *b)
{
	return a->syscall.name == b->syscall.name;
}

static bool
syscall_equals(const struct rule *a, const struct rule *b)
{
	return a->syscall.group == b->syscall.group && syscall_resembles(a, b);
}

static uint64_t
syscall_hash(const struct rule *rule)
{
	return hash_name(rule->syscall.name);
}

static void
syscall_object(const struct rule *rule, struct rule_object *object)
{
	object->kind = rule->syscall.group ? AST_GROUP : AST_WORD;
	object->text = rule->syscall.name;
}

/* A group is named by its name, or by those of all of its calls. */
static void
syscall_spans(struct arena *arena, const struct rule *rule,
    struct rule_spans *spans)
{
	const char *const *member, *text;

	if (!rule->syscall.group) {
		*arena_push(arena, &spans->list) = (struct rule_span){
			.name = rule->syscall.name,
		};
		return;
	}
	text = arena_printf(arena, "@%s", rule->syscall.name);
	*arena_push(arena, &spans->list) = (struct rule_span){
		.name = arena_intern(arena, text, strlen(text)),
	};
	for (member = syscall_group(rule->syscall.name); *member != NULL;
	     member++)
		*arena_push(arena, &spans->list) = (struct rule_span){
			.name = arena_intern(arena, *member, strlen(*member)),
			.part = true,
		};
}

static void
syscall_show(FILE *stream, const struct sbx_blob *blob, const void *record)
{
	const struct sbx_syscall *call = record;

	if (call->source != SBX_NO_SOURCE && decider_names_call(blob, call))
		fputs(call->verdict == SBX_SYSCALL_ALLOW ? "allow syscalls " :
							   "deny syscalls ",
		    stream);
	show_text(stream, sbx_string(blob, call->reason));
}

/* --- questions ------------------------------------------------------------ */

/* "(2,1,0)", in decimal or with 0x; NULL or what is wrong. */
static const char *
parse_arguments(const struct places *places, const char *text,
    struct access *access)
{
	char *end = NULL;

	do {
		unsigned long long value = strtoull(++text, &end, 0);

		if (end == text || *text < '0' || *text > '9' ||
		    value > UINT32_MAX || access->arg_count == ACCESS_MAX_ARGS)
			break;
		access->args[access->arg_count++] = (uint32_t)value;
		text = end;
	} while (*text == ',');
	if (*text == ')' && text[1] == '\0' && text[-1] != ',')
		return NULL;
	return arena_printf(places->arena,
	    "the arguments of '%s' are up to %d numbers of 32 bits, as in "
	    "socket(2,1,0)",
	    access->name, ACCESS_MAX_ARGS);
}

static const char *
syscall_ask(const struct places *places, const char *object,
    struct access *access)
{
	const char *nearest, *open = strchr(object, '(');

	if (open != NULL)
		object = arena_strndup(places->arena, object,
		    (size_t)(open - object));
	access->name = object;
	if (object[0] == '@')
		return arena_printf(places->arena,
		    "'%s' is a group; ask about one system call", object);
	if (syscall_is_known(object))
		return open != NULL ? parse_arguments(places, open, access) :
				      NULL;
	nearest = syscall_nearest(object, false);
	return arena_printf(places->arena,
	    nearest == NULL ? "unknown system call '%s'" :
			      "unknown system call '%s'; did you mean '%s'?",
	    object, nearest);
}

static void
syscall_show_access(FILE *stream, const struct access *access)
{
	show_text(stream, access->name);
	for (unsigned i = 0; i < access->arg_count; i++)
		fprintf(stream, access->args[i] > 0xffff ? "%s%#x" : "%s%u",
		    i == 0 ? "(" : ",", access->args[i]);
	if (access->arg_count > 0)
		putc(')', stream);
}

/* What the filter says whatever the arguments: those that filters look at are
 * families, types and protocols of sockets; what else there is the blob's
 * record knows. */
static void
filter_ask(const struct subject *subject, const struct sbx_program *program,
    int number, struct verdict *verdict)
{
	const struct sbx_insn *insns = subject->places.blob->bpf +
	    program->first;
	bool denied = false;

	if (!bpf_is_loadable(insns, program->count)) {
		verdict->answer = (uint32_t)FILTER_KILL;
		return;
	}
	for (uint64_t i = 0; i < 16 * 8 * 8; i++) {
		struct syscall_data data = {
			.number = number,
			.audit = subject->arch->audit,
			.args = { i & 15, i >> 4 & 7, i >> 7 & 7 },
		};
		uint32_t answer = bpf_run_loaded(insns, &data);

		if (answer == FILTER_ALLOW || answer == FILTER_NOTIFY) {
			verdict->allowed = true;
			verdict->depends |= answer == FILTER_NOTIFY;
			if (!denied && answer == FILTER_NOTIFY)
				verdict->answer = answer;
		} else {
			denied = true;
			verdict->answer = answer;
		}
	}
	verdict->depends |= verdict->allowed && denied;
}

static void
filter_ask_args(const struct subject *subject,
    const struct sbx_program *program, int number, const struct access *access,
    struct verdict *verdict)
{
	struct syscall_data data = {
		.number = number,
		.audit = subject->arch->audit,
	};
	const struct sbx_insn *insns = subject->places.blob->bpf +
	    program->first;

	for (unsigned i = 0; i < access->arg_count; i++)
		data.args[i] = access->args[i];
	verdict->answer = bpf_is_loadable(insns, program->count) ?
	    bpf_run_loaded(insns, &data) :
	    (uint32_t)FILTER_KILL;
	verdict->depends = verdict->answer == FILTER_NOTIFY;
	verdict->allowed = verdict->answer == FILTER_ALLOW || verdict->depends;
}

static struct verdict
syscall_verdict(const struct subject *subject, const struct access *access)
{
	const struct sbx_blob *blob = subject->places.blob;
	struct verdict verdict = { .source = SBX_NO_SOURCE };
	const struct sbx_syscall *call;
	int number = syscall_number(subject->arch, access->name);
	const struct sbx_program *program = verdict_program(subject);

	if (number < 0) {
		verdict.by = BY_MACHINE;
		return verdict;
	}
	if (program != NULL && access->arg_count > 0)
		filter_ask_args(subject, program, number, access, &verdict);
	else if (program != NULL)
		filter_ask(subject, program, number, &verdict);
	else
		verdict.allowed = true;
	call = verdict_syscall(blob, subject->arch, access->name);
	if (call != NULL) {
		verdict.rule = (uint32_t)(call - blob->syscalls);
		verdict.by = BY_SYSCALL;
		verdict.source = call->source;
		verdict.depends |= verdict.allowed && access->arg_count == 0 &&
		    call->verdict == SBX_SYSCALL_ARGS;
	}
	verdict.unenforced = !verdict.allowed &&
	    subject->level == SBX_LEVEL_NONE;
	return verdict;
}

/* --- calls that the supervisor answers ------------------------------------ */

/* Whether the filter hands a call to a supervisor that is there, on a kernel of
 * an ABI.  The arguments that count are flags of open(2), which are no mode. */
static bool
is_answered(const struct why *why, const struct trapped_call *call,
    uint32_t abi)
{
	enum { UNNAMED = 020000000 };
	const struct arch *arch = why->subject->arch;
	const struct sbx_program *program = sbx_program_select(why->blob,
	    &(struct sbx_circumstances){
		.arch = arch->audit,
		.level = SBX_LEVEL_STANDARD,
		.landlock_abi = abi,
		.listener = true,
	    });
	struct syscall_data data = {
		.number = syscall_number(arch, call->name),
		.audit = arch->audit,
	};

	for (unsigned i = 0; i < countof(data.args); i++)
		data.args[i] = call->in_part ? UNNAMED : 0;
	return program != NULL &&
	    bpf_is_loadable(why->blob->bpf + program->first, program->count) &&
	    bpf_run_loaded(why->blob->bpf + program->first, &data) ==
	    FILTER_NOTIFY;
}

/* By which rules it answers. */
static const char *
answer_text(uint16_t part)
{
	static const struct {
		uint16_t part;
		const char *text;
	} texts[] = {
		{ WITH_CONNECT, "what may be written can be connected to" },
		{ WITH_METADATA, "for what may be written, and nothing else" },
		{ WITH_OWNERS,
		    "to groups of the user's, of what may be written" },
		{ WITH_WATCHING, "what may be read can be watched" },
		{ WITH_OBJECTS, "the sandbox has objects of its own" },
		{ WITH_UNNAMED,
		    "a file without a name in /tmp is made in ${tmp}" },
	};
	size_t i = 0;

	while (i + 1 < countof(texts) && texts[i].part != part)
		i++;
	return texts[i].text;
}

/* The newest Landlock, or the oldest. */
static void
say_supervisor(const struct why *why)
{
	for (size_t i = 0; i < trapped_call_count; i++) {
		const struct trapped_call *call = &trapped_calls[i];
		bool always;

		if (strcmp(call->name, why->access->name) != 0 ||
		    (!why->all_levels &&
			why->subject->level != SBX_LEVEL_STANDARD))
			continue;
		always = is_answered(why, call, UINT32_MAX);
		if (always || is_answered(why, call, 1))
			fprintf(why->stream,
			    "    but sbxrun answers it%s: %s (level "
			    "standard)\n",
			    always ? "" : ", without Landlock ABI 9",
			    answer_text(call->when));
	}
}

static void
syscall_answer(const struct why *why)
{
	const struct sbx_syscall *call = why->verdict.by == BY_SYSCALL ?
	    &why->blob->syscalls[why->verdict.rule] :
	    NULL;
	/* Of the baseline, which lifts it where Landlock keeps it inside. */
	bool traces = call != NULL && call->source == SBX_NO_SOURCE &&
	    strcmp(sbx_string(why->blob, call->reason), "@process-access") == 0;

	/* Nothing to call: not so much denied as absent. */
	if (why->verdict.by == BY_MACHINE) {
		fprintf(why->stream, "    %s has no such system call\n",
		    why->subject->arch->name);
		return;
	}
	if (call == NULL)
		fputs("    no rule speaks of it\n", why->stream);
	else if (call->source == SBX_NO_SOURCE)
		fprintf(why->stream, "    the language's own baseline: %s\n",
		    decider_text(why->subject->places.arena, why->blob,
			&why->verdict));
	else
		why_say_decider(why, &why->verdict);
	if (traces && why->verdict.allowed)
		fputs("    but not at level minimal, where Landlock does not "
		      "keep it inside\n",
		    why->stream);
	else if (why->verdict.depends)
		fputs("    but it depends on the arguments\n", why->stream);
	if (why->verdict.allowed)
		say_supervisor(why);
	why_say_filter(why);
}

static const char *
syscall_enforcer(const struct why *why, enum sbx_level level)
{
	const char *error = show_errno(why->verdict.answer & 0xffff);

	if (level < SBX_LEVEL_MINIMAL)
		return NULL;
	return error == NULL ? "the filter, which kills" :
			       arena_printf(why->subject->places.arena,
				   "the filter, which answers %s", error);
}

/* A network of its own is enough for servers and their clients, and --explain
 * sees in it which hosts are wanted beside. */
static bool
is_opened_inside(const struct remedy *remedy)
{
	enum { INET = 2, INET6 = 10, STREAM = 1, TYPES = 15 };
	const struct access *access = remedy->access;
	const struct sbx_meta *meta = remedy->blob->meta;

	return access->arg_count >= 2 &&
	    (access->args[0] == INET || access->args[0] == INET6) &&
	    (access->args[1] & TYPES) == STREAM && meta->net == SBX_NET_NONE &&
	    meta->net_source == SBX_NO_SOURCE &&
	    remedy->subject->level == SBX_LEVEL_FULL;
}

/* Which rule opens a socket that a program asks for, which has not said the
 * name or the port yet.  Datagrams look names up, as far as anybody knows. */
static const char *
opener_of(const struct sbx_blob *blob, const struct access *access)
{
	enum {
		UNIX = 1,
		INET = 2,
		INET6 = 10,
		STREAM = 1,
		DGRAM = 2,
		TYPES = 15
	};
	uint32_t type = access->args[1] & TYPES;

	if (access->arg_count >= 2 && access->args[0] == UNIX)
		return type == DGRAM ?
		    "a stream socket; whom a datagram is for is not seen" :
		    "'allow socket PATH' and a network of names or none say "
		    "which servers may be connected to";
	if (access->arg_count < 2 ||
	    (access->args[0] != INET && access->args[0] != INET6) ||
	    (type != STREAM && type != DGRAM))
		return "'allow network ...' says which sockets open";
	if (type == DGRAM && blob->meta->net == SBX_NET_SELECTED)
		return "level full, where the names are looked up that 'allow "
		       "network domain NAME' names";
	return type == DGRAM ?
	    "'allow network domain NAME', which is looked up then, or 'allow "
	    "network full'" :
	    "'allow network domain NAME', of the host that it would connect "
	    "to, 'allow network connect tcp PORT', or for a server 'allow "
	    "network listen tcp PORT'";
}

static void
add_opener(struct remedy *remedy)
{
	if (is_opened_inside(remedy)) {
		remedy_add(remedy, REMEDY_ADD, "allow network loopback");
		remedy_add(remedy, REMEDY_HINT,
		    "for a host outside: 'allow network domain NAME'");
		return;
	}
	remedy_add(remedy, REMEDY_HINT, "%s",
	    opener_of(remedy->blob, remedy->access));
}

/* Who gets the call fails at the next step: a namespace of users takes files of
 * /proc that stay shut, and Landlock mounts nothing. */
static bool
needs_namespaces(const struct sbx_blob *blob, const struct sbx_syscall *call)
{
	const char *reason = sbx_string(blob, call->reason);
	bool clones = strcmp(sbx_string(blob, call->name), "clone") == 0;

	return call->source == SBX_NO_SOURCE &&
	    (strcmp(reason, clones ? "namespaces" : "@namespaces") == 0 ||
		strcmp(reason, "@mount") == 0);
}

static void
syscall_remedy(struct remedy *remedy)
{
	const struct sbx_blob *blob = remedy->blob;
	const struct sbx_syscall *call;
	const char *name;

	if (remedy->verdict->by != BY_SYSCALL)
		return;
	call = &blob->syscalls[remedy->verdict->rule];
	if (needs_namespaces(blob, call)) {
		remedy_add(remedy, REMEDY_NONE,
		    "nobody gets users, mounts or processes of their own "
		    "inside, whatever a policy says: run it outside of the "
		    "sandbox, or without a sandbox of its own (Chromium: "
		    "--no-sandbox)");
		return;
	}
	if (!decider_names_call(blob, call)) {
		if (strcmp(sbx_string(blob, call->reason), "network") == 0)
			add_opener(remedy);
		return;
	}
	name = sbx_string(blob, call->name);
	if (call->source != SBX_NO_SOURCE)
		remedy_lift(remedy, call->source,
		    arena_printf(remedy->arena, "deny syscalls %s",
			sbx_string(blob, call->reason)));
	/* Below a deny that goes lies the baseline. */
	if (call->source == SBX_NO_SOURCE ||
	    baseline_entry_of(remedy->arena, name) != NULL) {
		remedy_add(remedy, REMEDY_ADD, "allow syscalls %s", name);
		remedy_opens(remedy, risk_of_call(remedy->arena, name));
	}
}

static const struct access_form syscall_forms[] = {
	{ "syscall", NULL, 0 },
	{ NULL, NULL, 0 },
};

const struct rule_kind kind_syscall = {
	.id = KIND_SYSCALL,
	.noun = "a system call or a @group",
	.resolve = syscall_resolve,
	.equals = syscall_equals,
	.hash = syscall_hash,
	.resembles = syscall_resembles,
	.object = syscall_object,
	.spans = syscall_spans,
	.show = syscall_show,
	.section = SBX_SECTION_SYSCALLS,
	.section_name = "the system calls",
	.record = { RECORD_LAYOUT(struct sbx_syscall) },
	.forms = syscall_forms,
	.usage = "syscall NAME, or env NAME",
	.ask = syscall_ask,
	.show_access = syscall_show_access,
	.verdict = syscall_verdict,
	.answer = syscall_answer,
	.enforcer = syscall_enforcer,
	.remedy = syscall_remedy,
	.difference = {
		.word = "syscall",
		.title = "system calls",
	},
};
