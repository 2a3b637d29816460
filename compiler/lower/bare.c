/*
 * What a machine's filters have before any policy is looked at: a name and the
 * baseline's verdict for each number, and the numbers of the calls that the
 * tables name.  To look that up takes as long as all else that a filter takes
 * which was made before, so the profiles of a file share it.
 */
#include "compiler/lower/lower.h"

#include <errno.h>
#include <string.h>

void
entries_set(struct filter_entry *entries, const struct arch *arch,
    const char *name, bool group, const struct filter_entry *verdict)
{
	const char *const single[] = { name, NULL };
	const char *const *members = group ? syscall_group(name) : single;

	for (; members != NULL && *members != NULL; members++) {
		int number = syscall_number(arch, *members);
		struct filter_entry *entry;

		if (number < 0 || (uint32_t)number >= arch->number_limit)
			continue;
		entry = &entries[number];
		entry->action = verdict->action;
		entry->loc = verdict->loc;
		entry->from = verdict->from;
		entry->reason = verdict->reason;
	}
}

static struct filter_entry *
make_entries(struct arena *arena, const struct arch *arch)
{
	uint32_t limit = arch->number_limit;
	const char **names = arena_alloc(arena, limit * sizeof *names);
	struct filter_entry *entries = arena_alloc(arena,
	    limit * sizeof *entries);

	syscall_names(arch, names);
	for (uint32_t i = 0; i < limit; i++) {
		entries[i].number = i;
		entries[i].name = names[i];
		entries[i].action = names[i] != NULL ? FILTER_ALLOW :
						       FILTER_DENY(ENOSYS);
	}
	for (size_t i = 0; i < baseline_count; i++) {
		const char *name = baseline[i].name;
		bool group = *name == '@';

		entries_set(entries, arch, name + group, group,
		    &(struct filter_entry){
			.action = FILTER_DENY((uint32_t)baseline[i].error),
			.reason = name,
		    });
	}
	return entries;
}

/* The calls and the rules are both sorted by name. */
static struct bare_call *
make_arguments(struct arena *arena, const struct arch *arch)
{
	struct bare_call *calls = arena_alloc(arena,
	    argument_call_count * sizeof *calls);
	size_t rule = 0;

	for (size_t i = 0; i < argument_call_count; i++) {
		const char *name = argument_calls[i].name;

		while (rule < argument_rule_count &&
		    strcmp(argument_rules[rule].name, name) < 0)
			rule++;
		calls[i].number = syscall_number(arch, name);
		calls[i].rules = &argument_rules[rule];
	}
	return calls;
}

void
bare_make(struct arena *arena, const struct arch *arch,
    struct bare_machine *bare)
{
	bare->entries = make_entries(arena, arch);
	bare->arguments = make_arguments(arena, arch);
	bare->trapped = arena_alloc(arena,
	    trapped_call_count * sizeof *bare->trapped);
	for (size_t i = 0; i < trapped_call_count; i++)
		bare->trapped[i] = syscall_number(arch, trapped_calls[i].name);
}
