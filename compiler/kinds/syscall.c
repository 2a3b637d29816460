/*
 * Rules about system calls and their groups: `deny syscalls @mount`.  What they
 * come to is in the filters; the blob's table of calls is for people, and has a
 * record for each call that some rule or the baseline decides about.
 */
#include "compiler/kinds/kinds.h"

#include "compiler/restore/restorer.h"
#include "compiler/tables/syscalls.h"

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
	near = syscall_nearest(atom->text, group);
	if (!group && syscall_group(atom->text) != NULL)
		diag_help(scope->diags, diag, "did you mean the group '@%s'?",
		    atom->text);
	else if (near != NULL)
		diag_help(scope->diags, diag, "did you mean '%s%s'?",
		    group ? "@" : "", near);
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

/* --- back from a blob ----------------------------------------------------- */

/* What one call of the table says of the rule that decided about it. */
struct call_rule {
	uint32_t reason, source;
	uint8_t verdict, platforms;
};

static int
call_rule_compare(const void *a, const void *b)
{
	const struct call_rule *x = a, *y = b;

	if (x->verdict != y->verdict)
		return x->verdict < y->verdict ? -1 : 1;
	if (x->reason != y->reason)
		return x->reason < y->reason ? -1 : 1;
	return x->source < y->source ? -1 : x->source > y->source;
}

/* Not the baseline, nor what the network rules say of sockets. */
static bool
is_of_rule(const struct sbx_blob *blob, const struct sbx_syscall *call)
{
	return call->source != SBX_NO_SOURCE &&
	    call->verdict != SBX_SYSCALL_ARGS &&
	    (blob->strings[call->reason] == '@' ||
		strcmp(sbx_string(blob, call->reason),
		    sbx_string(blob, call->name)) == 0);
}

static void
call_add(struct restorer *restorer, const struct call_rule *call)
{
	const char *reason = restorer_string(restorer, call->reason);
	bool group = *reason == '@';
	/* No deny may stand beside `allow everything`. */
	struct origin origin = restorer_origin(restorer,
	    restorer->macos.blankets.everything ?
		call->platforms :
		restorer_platforms(call->platforms),
	    call->source);
	struct rule *rule = policy_add(restorer->policy, KIND_SYSCALL, &origin,
	    call->verdict == SBX_SYSCALL_DENY ? SBX_DENY : SBX_ALLOW);

	rule->syscall.name = arena_intern(restorer->arena, reason + group,
	    strlen(reason + group));
	rule->syscall.group = group;
	if (group ? syscall_group(reason + 1) == NULL :
		    !syscall_is_known(reason))
		restorer_fault(restorer,
		    "it speaks of a system call that this "
		    "sbxc does not know");
}

/* A rule is where it decides; a call that two rules name has one of them. */
static void
syscall_restore(struct restorer *restorer)
{
	const struct sbx_blob *blob = restorer->blob;
	struct call_rule *calls = arena_alloc(restorer->arena,
	    blob->syscall_count * sizeof *calls);
	size_t count = 0, kept = 0;

	for (uint32_t i = 0; i < blob->syscall_count; i++) {
		const struct sbx_syscall *call = &blob->syscalls[i];

		if (is_of_rule(blob, call))
			calls[count++] = (struct call_rule){
				call->reason,
				call->source,
				call->verdict,
				call->platforms,
			};
	}
	if (count > 1)
		qsort(calls, count, sizeof *calls, call_rule_compare);
	for (size_t i = 0; i < count; i++) {
		if (kept > 0 &&
		    call_rule_compare(&calls[kept - 1], &calls[i]) == 0)
			calls[kept - 1].platforms |= calls[i].platforms;
		else
			calls[kept++] = calls[i];
	}
	for (size_t i = 0; i < kept; i++)
		call_add(restorer, &calls[i]);
}

const struct rule_kind kind_syscall = {
	.noun = "a system call or a @group",
	.resolve = syscall_resolve,
	.equals = syscall_equals,
	.resembles = syscall_resembles,
	.object = syscall_object,
	.spans = syscall_spans,
	.restore = syscall_restore,
};
