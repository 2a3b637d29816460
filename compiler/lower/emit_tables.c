/*
 * The tables of a blob: from the policy's lists to sorted records.  Only what
 * holds on Linux goes in; macOS has the text of sbpl.c.
 */
#include "compiler/lower/lower.h"

#include "compiler/policy/kind.h"
#include "format/blob.h"

#include <stdlib.h>
#include <string.h>

#define COMPARE(x, y) \
	do { \
		if ((x) != (y)) \
			return (x) < (y) ? -1 : 1; \
	} while (0)

void
emit_anchor(struct emitter *emitter, uint16_t anchor)
{
	if (anchor < SBX_MAX_ANCHORS)
		emitter->anchors_used |= UINT64_C(1) << anchor;
}

static void
emit_meta(struct emitter *emitter)
{
	const struct policy *policy = emitter->policy;
	struct sbx_meta *meta = section_new(emitter, SBX_SECTION_META, 1,
	    sizeof *meta);
	struct origin net = { .via = NULL };

	meta->profile = emit_string(emitter, policy->profile);
	meta->about = emit_string(emitter, policy->about);
	meta->writer = emit_string(emitter,
	    policy->writer != NULL ? policy->writer : SBX_WRITER);
	if (policy_has_blanket(policy, BLANKET_EVERYTHING, SBX_ON_LINUX))
		meta->flags |= SBX_EVERYTHING;
	if (policy_has_blanket(policy, BLANKET_SIGNAL, SBX_ON_LINUX))
		meta->flags |= SBX_SIGNAL_ANYWHERE;
	if (policy_has_blanket(policy, BLANKET_ABSTRACT, SBX_ON_LINUX))
		meta->flags |= SBX_ABSTRACT_ANYWHERE;
	if (policy_denies_spawn(policy, SBX_ON_LINUX))
		meta->flags |= SBX_NO_SPAWN;
	meta->level = (uint8_t)policy->level;
	meta->landlock = (uint8_t)policy->landlock;
	meta->language = (uint8_t)policy->language;
	meta->net = (uint8_t)policy_net(policy, SBX_ON_LINUX, &net);
	meta->level_source = emit_origin(emitter, &policy->level_origin);
	meta->landlock_source = emit_origin(emitter, &policy->landlock_origin);
	meta->net_source = emit_origin(emitter, &net);
}

static void
emit_anchors(struct emitter *emitter)
{
	const struct policy *policy = emitter->policy;
	size_t count = SBX_ANCHOR_PARAM + policy->params.count;
	struct sbx_anchor *anchors = section_new(emitter, SBX_SECTION_ANCHORS,
	    count, sizeof *anchors);

	for (size_t i = 0; i < count; i++) {
		anchors[i].name = emit_string(emitter,
		    policy_anchor_name(policy, (uint16_t)i));
		anchors[i].flags = emitter->anchors_used >> i & 1 ?
		    SBX_ANCHOR_USED :
		    0;
		anchors[i].source = SBX_NO_SOURCE;
		if (i >= SBX_ANCHOR_PARAM)
			anchors[i].source = emit_origin(emitter,
			    &policy->params.items[i - SBX_ANCHOR_PARAM].origin);
	}
}

/*
 * Path rules in the order of the blob, and whatever their platforms are.  Two
 * that differ only in where they were written are one; on each platform the
 * first position is kept, and the others leave no trace.
 */
static int
path_rule_compare(const void *a, const void *b)
{
	const struct path_rule *x = a, *y = b;
	int order = target_compare(x->at, y->at);

	if (order == 0)
		order = glob_compare(x->glob, y->glob);
	if (order != 0)
		return order;
	COMPARE(x->effect, y->effect);
	COMPARE(x->rights, y->rights);
	COMPARE(x->exclusion_count, y->exclusion_count);
	for (uint16_t i = 0; i < x->exclusion_count && order == 0; i++)
		order = target_compare(x->exclusions[i], y->exclusions[i]);
	return order;
}

struct placed_rule {
	struct path_rule rule;
	struct position position;
};

static int
placed_rule_compare(const void *a, const void *b)
{
	const struct placed_rule *x = a, *y = b;
	int order = path_rule_compare(&x->rule, &y->rule);

	return order != 0 ? order :
			    position_compare(&x->position, &y->position);
}

static const struct target *
sorted_exclusions(struct emitter *emitter, const struct path_rule *rule)
{
	struct target *exclusions = arena_alloc(emitter->arena,
	    rule->exclusion_count * sizeof *exclusions + 1);

	if (rule->exclusion_count > 0)
		memcpy(exclusions, rule->exclusions,
		    rule->exclusion_count * sizeof *exclusions);
	qsort(exclusions, rule->exclusion_count, sizeof *exclusions,
	    targets_compare);
	return exclusions;
}

/* The rules of Linux, sorted. */
static size_t
place_all(struct emitter *emitter, struct placed_rule *rules)
{
	const struct policy *policy = emitter->policy;
	size_t count = 0;

	for (size_t i = 0; i < policy->paths.count; i++) {
		struct placed_rule *placed = &rules[count];

		placed->rule = policy->paths.items[i];
		placed->rule.origin.platforms &= SBX_ON_LINUX;
		if (placed->rule.origin.platforms == 0)
			continue;
		placed->rule.exclusions = sorted_exclusions(emitter,
		    &placed->rule);
		placed->position = policy_position(policy,
		    &placed->rule.origin);
		count++;
	}
	qsort(rules, count, sizeof *rules, placed_rule_compare);
	return count;
}

static void
place_rules(struct emitter *emitter)
{
	struct placed_rule *rules = arena_alloc(emitter->arena,
	    (emitter->policy->paths.count + 1) * sizeof *rules);
	struct placed_rule *last = NULL;
	size_t count = place_all(emitter, rules), kept = 0;
	uint8_t taken = 0;

	for (size_t i = 0; i < count; i++) {
		struct placed_rule placed = rules[i];

		if (last == NULL ||
		    path_rule_compare(&last->rule, &placed.rule) != 0)
			taken = 0;
		placed.rule.origin.platforms &= (uint8_t)~taken;
		if (placed.rule.origin.platforms == 0)
			continue;
		if (taken != 0 &&
		    position_compare(&last->position, &placed.position) == 0)
			last->rule.origin.platforms |=
			    placed.rule.origin.platforms;
		else
			*(last = &rules[kept++]) = placed;
		taken |= placed.rule.origin.platforms;
	}
	emitter->placed = rules;
	emitter->placed_count = kept;
}

static void
emit_paths(struct emitter *emitter)
{
	size_t count = emitter->placed_count, exclusion_count = 0;
	const struct placed_rule *rules = emitter->placed;
	struct sbx_path *paths = section_new(emitter, SBX_SECTION_PATHS, count,
	    sizeof *paths);
	struct sbx_exclusion *exclusions;

	for (size_t i = 0; i < count; i++)
		exclusion_count += rules[i].rule.exclusion_count;
	exclusions = section_new(emitter, SBX_SECTION_EXCLUSIONS,
	    exclusion_count, sizeof *exclusions);
	exclusion_count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct path_rule *rule = &rules[i].rule;

		paths[i] = (struct sbx_path){
			.suffix = emit_string(emitter, rule->at.suffix),
			.anchor = rule->at.anchor,
			.effect = (uint8_t)rule->effect,
			.rights = rule->rights,
			.first_exclusion = (uint32_t)exclusion_count,
			.exclusion_count = rule->exclusion_count,
			.platforms = rule->origin.platforms,
			.source = emit_position(emitter, &rules[i].position),
			.glob = emit_string(emitter, rule->glob),
		};
		emit_anchor(emitter, rule->at.anchor);
		for (uint16_t j = 0; j < rule->exclusion_count; j++) {
			exclusions[exclusion_count++] = (struct sbx_exclusion){
				.suffix = emit_string(emitter,
				    rule->exclusions[j].suffix),
				.anchor = rule->exclusions[j].anchor,
			};
			emit_anchor(emitter, rule->exclusions[j].anchor);
		}
	}
}

/* The rules of a kind for Linux. */
static void
emit_rules(struct emitter *emitter, const struct rule_kind *kind,
    const struct rule_list *rules)
{
	const struct record_layout *layout = &kind->record;
	char *records = section_new(emitter, kind->section, rules->count,
	    layout->size);
	char *record = records;

	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->items[i];
		uint32_t source;

		if ((rule->origin.platforms & SBX_ON_LINUX) == 0)
			continue;
		kind->fill(emitter, rule, record);
		source = emit_origin(emitter, &rule->origin);
		memcpy(record + layout->source, &source, sizeof source);
		record[layout->platforms] = rule->origin.platforms &
		    SBX_ON_LINUX;
		record += layout->size;
	}
	emitter->sections[kind->section].size = (size_t)(record - records);
	section_sort(emitter, kind->section, layout);
}

static void
emit_landlock(struct emitter *emitter)
{
	const struct sbx_meta *meta = emitter->sections[SBX_SECTION_META].data;
	struct sbx_landlock *rows;

	if (meta->flags & SBX_EVERYTHING)
		return;
	rows = section_new(emitter, SBX_SECTION_LANDLOCK, SBX_LANDLOCK_LAST_ABI,
	    sizeof *rows);
	for (uint32_t abi = 1; abi <= SBX_LANDLOCK_LAST_ABI; abi++)
		rows[abi - 1] = sbx_landlock_row(abi, meta);
}

/* --- filters -------------------------------------------------------------- */

static void
emit_programs(struct emitter *emitter)
{
	const struct filter_set *filters = emitter->filters;
	size_t count = filters->programs.count, total = 0;
	struct sbx_program *programs = section_new(emitter,
	    SBX_SECTION_PROGRAMS, count, sizeof *programs);
	struct sbx_insn *insns;

	for (size_t i = 0; i < count; i++)
		total += filters->programs.items[i].count;
	insns = section_new(emitter, SBX_SECTION_BPF, total, sizeof *insns);
	total = 0;
	for (size_t i = 0; i < count; i++) {
		const struct filter *filter = &filters->filters.items[i];
		const struct bpf_program *program = &filters->programs.items[i];

		programs[i] = (struct sbx_program){
			.arch = filter->arch->audit,
			.flags = filter->flags,
			.min_abi = filter->min_abi,
			.first = (uint32_t)total,
			.count = (uint32_t)program->count,
		};
		memcpy(insns + total, program->insns,
		    program->count * sizeof *insns);
		total += program->count;
	}
}

static int
syscall_compare(const void *a, const void *b)
{
	const struct sbx_syscall *x = a, *y = b;

	COMPARE(x->name, y->name);
	COMPARE(x->platforms, y->platforms);
	COMPARE(x->verdict, y->verdict);
	COMPARE(x->error, y->error);
	COMPARE(x->source, y->source);
	COMPARE(x->reason, y->reason);
	return 0;
}

static bool
syscall_same(const struct sbx_syscall *a, const struct sbx_syscall *b)
{
	return a->name == b->name && a->verdict == b->verdict &&
	    a->error == b->error && a->source == b->source &&
	    a->reason == b->reason;
}

static struct sbx_syscall
syscall_record(struct emitter *emitter, const struct filter_entry *entry)
{
	const struct origin origin = { .loc = entry->loc, .from = entry->from };
	struct position position = policy_position(emitter->policy, &origin);
	struct sbx_syscall record = {
		.name = emit_string(emitter, entry->name),
		.reason = emit_string(emitter, entry->reason),
	};

	/* The reason says more than the profile or group. */
	position.via = "";
	record.source = emit_position(emitter, &position);
	if (entry->clause_count > 0)
		record.verdict = SBX_SYSCALL_ARGS;
	else if (entry->action != FILTER_ALLOW)
		record.verdict = SBX_SYSCALL_DENY;
	if ((entry->action & 0xffff0000) == FILTER_ERRNO)
		record.error = entry->action & 0xffff;
	return record;
}

/* Machines that agree on a call share its entry. */
static size_t
merge_machines(struct sbx_syscall *calls, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		size_t same = kept;

		while (same > 0 && calls[same - 1].name == calls[i].name &&
		    !syscall_same(&calls[same - 1], &calls[i]))
			same--;
		if (same > 0 && calls[same - 1].name == calls[i].name)
			calls[same - 1].platforms |= calls[i].platforms;
		else
			calls[kept++] = calls[i];
	}
	return kept;
}

/* The plainest variant of its machine. */
static bool
is_plain(const struct filter *filter)
{
	return filter->flags == 0 && filter->min_abi == 0;
}

/* What each call gets, from the plainest variant of each machine. */
static void
emit_syscalls(struct emitter *emitter)
{
	const struct filter_set *filters = emitter->filters;
	struct sbx_syscall *calls;
	size_t count = 0;

	for (size_t i = 0; i < filters->filters.count; i++) {
		if (is_plain(&filters->filters.items[i]))
			count += filters->filters.items[i].entry_count;
	}
	calls = section_new(emitter, SBX_SECTION_SYSCALLS, count,
	    sizeof *calls);
	count = 0;
	for (size_t i = 0; i < filters->filters.count; i++) {
		const struct filter *filter = &filters->filters.items[i];

		if (!is_plain(filter))
			continue;
		for (size_t j = 0; j < filter->entry_count; j++) {
			const struct filter_entry *entry = &filter->entries[j];

			if (entry->name == NULL ||
			    (entry->clause_count == 0 &&
				entry->action == FILTER_ALLOW &&
				entry->loc.end == 0))
				continue;
			calls[count] = syscall_record(emitter, entry);
			calls[count++].platforms = filter->arch->platforms;
		}
	}
	qsort(calls, count, sizeof *calls, syscall_compare);
	count = merge_machines(calls, count);
	emitter->sections[SBX_SECTION_SYSCALLS].size = count * sizeof *calls;
}

/* --- all of them ---------------------------------------------------------- */

void
emit_tables(struct emitter *emitter)
{
	if (emitter->placed == NULL)
		place_rules(emitter);
	emit_paths(emitter);
	for (int id = 0; id < KIND_END; id++) {
		if (rule_kinds[id]->fill != NULL)
			emit_rules(emitter, rule_kinds[id],
			    &emitter->policy->rules[id]);
	}
	emit_programs(emitter);
	emit_syscalls(emitter);
	emit_meta(emitter);
	emit_landlock(emitter); /* of what the meta record says */
	emit_anchors(emitter);  /* last: which are used is known now */
}
