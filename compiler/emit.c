/*
 * The blob writer: bookkeeping and nothing else.
 *
 * All tables are filled three times.  The first run collects the strings, which
 * are sorted and placed; the second collects the source positions, whose order
 * is that of their strings; the third fills the records for good.  So
 * the bytes depend on what the policy says and not on the order in which files
 * were read.  The last step reads the result back through sbx_verify().
 */
#include "compiler/emit.h"

#include "compiler/bug.h"
#include "compiler/landlock.h"
#include "format/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRITER "sbxc " PACKAGE_VERSION

struct emit_string {
	const char *text; /* interned */
	uint32_t offset;
};

struct emitter {
	const struct policy *policy;
	const struct filter_set *filters;
	struct arena *arena;
	bool collecting;
	/* Open addressing by the interned pointer; a power of two slots. */
	struct emit_string *strings;
	size_t string_slots, string_count;
	VEC(struct sbx_source) sources;
	uint64_t anchors_used; /* bit per anchor: SBX_MAX_ANCHORS is 64 */
	struct {
		void *data;
		size_t size;
	} sections[SBX_SECTION_END];
};

/* A section of `count` zeroed records. */
static void *
section_new(struct emitter *emitter, enum sbx_section_kind kind, size_t count,
    size_t record)
{
	void *data = arena_alloc(emitter->arena, count * record + 1);

	emitter->sections[kind].data = data;
	emitter->sections[kind].size = count * record;
	return data;
}

/* --- strings -------------------------------------------------------------- */

static struct emit_string *
string_slot(const struct emitter *emitter, const char *text)
{
	size_t slot = ((uintptr_t)text >> 3) * (size_t)0x9e3779b97f4a7c15;

	for (slot >>= 20;; slot++) {
		struct emit_string *string =
		    &emitter->strings[slot & (emitter->string_slots - 1)];

		if (string->text == NULL || string->text == text)
			return string;
	}
}

static void
strings_grow(struct emitter *emitter)
{
	struct emit_string *old = emitter->strings;
	size_t slots = emitter->string_slots;

	if (emitter->string_count * 2 < slots)
		return;
	emitter->string_slots = slots ? slots * 2 : 256;
	emitter->strings = arena_alloc(emitter->arena,
	    emitter->string_slots * sizeof *old);
	for (size_t i = 0; i < slots; i++) {
		if (old[i].text != NULL)
			*string_slot(emitter, old[i].text) = old[i];
	}
}

/* The offset of a string; NULL is "".  While collecting, adds it. */
static uint32_t
emit_string(struct emitter *emitter, const char *text)
{
	struct emit_string *string;

	if (text == NULL)
		text = "";
	text = arena_intern(emitter->arena, text, strlen(text));
	strings_grow(emitter);
	string = string_slot(emitter, text);
	if (emitter->collecting && string->text == NULL) {
		string->text = text;
		emitter->string_count++;
	}
	return string->offset;
}

static int
string_compare(const void *a, const void *b)
{
	const struct emit_string *const *x = a, *const *y = b;

	return strcmp((*x)->text, (*y)->text);
}

/* Gives every collected string its offset, and writes the section. */
static void
strings_place(struct emitter *emitter)
{
	struct emit_string **sorted = arena_alloc(emitter->arena,
	    emitter->string_count * sizeof *sorted);
	size_t count = 0, size = 0;
	char *bytes;

	for (size_t i = 0; i < emitter->string_slots; i++) {
		if (emitter->strings[i].text != NULL)
			sorted[count++] = &emitter->strings[i];
	}
	qsort(sorted, count, sizeof *sorted, string_compare);
	for (size_t i = 0; i < count; i++) {
		sorted[i]->offset = (uint32_t)size;
		size += strlen(sorted[i]->text) + 1;
	}
	bytes = section_new(emitter, SBX_SECTION_STRINGS, size, 1);
	for (size_t i = 0; i < count; i++)
		strcpy(bytes + sorted[i]->offset, sorted[i]->text);
}

/* --- source positions ----------------------------------------------------- */

static int
source_compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	/* file, line, column, via: a record is four integers in that order. */
	for (int i = 0; i < 4; i++) {
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	}
	return 0;
}

/* The index of a position; a place that is none has none. */
static uint32_t
emit_source(struct emitter *emitter, struct loc loc, const char *via)
{
	struct position at;
	struct sbx_source key, *found;

	if (loc.end == 0)
		return SBX_NO_SOURCE;
	at = sources_position(emitter->policy->sources, loc);
	key = (struct sbx_source){
		.file = emit_string(emitter, at.source ? at.source->name : ""),
		.line = at.line,
		.column = at.column,
		.via = emit_string(emitter, via),
	};
	if (emitter->collecting) {
		*arena_push(emitter->arena, &emitter->sources) = key;
		return 0;
	}
	found = bsearch(&key, emitter->sources.items, emitter->sources.count,
	    sizeof key, source_compare);
	return (uint32_t)(found - emitter->sources.items);
}

static uint32_t
emit_origin(struct emitter *emitter, const struct origin *origin)
{
	return emit_source(emitter, origin->loc, origin->via);
}

/* Sorts records and drops equal ones; returns how many are left. */
static size_t
sort_unique(void *records, size_t count, size_t size,
    int (*compare)(const void *, const void *))
{
	char *bytes = records;
	size_t kept = 0;

	/* Not even an empty array may be NULL to qsort(3). */
	if (count == 0)
		return 0;
	qsort(records, count, size, compare);
	for (size_t i = 0; i < count; i++) {
		if (kept > 0 && compare(bytes + (kept - 1) * size,
		    bytes + i * size) == 0)
			continue;
		memmove(bytes + kept++ * size, bytes + i * size, size);
	}
	return kept;
}

static void
sort_section(struct emitter *emitter, enum sbx_section_kind kind, size_t size,
    int (*compare)(const void *, const void *))
{
	size_t count = emitter->sections[kind].size / size;

	count = sort_unique(emitter->sections[kind].data, count, size, compare);
	emitter->sections[kind].size = count * size;
}

/*
 * While collecting, positions hold offset 0 for every string, so equal ones
 * cannot be told yet: they are filled in again, sorted, before the second run.
 */
static void
sources_place(struct emitter *emitter)
{
	emitter->sections[SBX_SECTION_SOURCES].data = emitter->sources.items;
	emitter->sections[SBX_SECTION_SOURCES].size =
	    emitter->sources.count * sizeof *emitter->sources.items;
	sort_section(emitter, SBX_SECTION_SOURCES,
	    sizeof *emitter->sources.items, source_compare);
	emitter->sources.count = emitter->sections[SBX_SECTION_SOURCES].size /
	    sizeof *emitter->sources.items;
}

/* --- records -------------------------------------------------------------- */

#define COMPARE(x, y) \
	do { \
		if ((x) != (y)) \
			return (x) < (y) ? -1 : 1; \
	} while (0)

static void
use_anchor(struct emitter *emitter, uint16_t anchor)
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
	meta->writer = emit_string(emitter, WRITER);
	if (policy_has_freedom(policy, FREEDOM_EVERYTHING, SBX_ON_LINUX))
		meta->flags |= SBX_EVERYTHING;
	if (policy_has_freedom(policy, FREEDOM_SIGNAL, SBX_ON_LINUX))
		meta->flags |= SBX_SIGNAL_ANYWHERE;
	if (policy_has_freedom(policy, FREEDOM_ABSTRACT, SBX_ON_LINUX))
		meta->flags |= SBX_ABSTRACT_ANYWHERE;
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
		    SBX_ANCHOR_USED : 0;
		anchors[i].source = SBX_NO_SOURCE;
		if (i >= SBX_ANCHOR_PARAM)
			anchors[i].source = emit_origin(emitter,
			    &policy->params.items[i - SBX_ANCHOR_PARAM].origin);
	}
}

/*
 * Path rules in the order of the blob.  Two that differ only in where they
 * were written are one; the first position is kept.
 */
static int
target_compare(const struct target *a, const struct target *b)
{
	COMPARE(a->anchor, b->anchor);
	return sbx_place_compare(
	    (struct sbx_place){ a->suffix, (uint32_t)strlen(a->suffix) },
	    (struct sbx_place){ b->suffix, (uint32_t)strlen(b->suffix) });
}

static int
path_rule_compare(const void *a, const void *b)
{
	const struct path_rule *x = a, *y = b;
	int order = target_compare(&x->at, &y->at);

	if (order != 0)
		return order;
	COMPARE(x->effect, y->effect);
	COMPARE(x->rights, y->rights);
	COMPARE(x->origin.where, y->origin.where);
	COMPARE(x->hole_count, y->hole_count);
	for (uint16_t i = 0; i < x->hole_count && order == 0; i++)
		order = target_compare(&x->holes[i], &y->holes[i]);
	return order;
}

struct placed_rule {
	struct path_rule rule;
	uint32_t source;
};

static int
placed_rule_compare(const void *a, const void *b)
{
	const struct placed_rule *x = a, *y = b;
	int order = path_rule_compare(&x->rule, &y->rule);

	if (order == 0)
		COMPARE(x->source, y->source);
	return order;
}

static int
holes_compare(const void *a, const void *b)
{
	return target_compare(a, b);
}

static const struct target *
sorted_holes(struct emitter *emitter, const struct path_rule *rule)
{
	struct target *holes = arena_alloc(emitter->arena,
	    rule->hole_count * sizeof *holes + 1);

	if (rule->hole_count > 0)
		memcpy(holes, rule->holes, rule->hole_count * sizeof *holes);
	qsort(holes, rule->hole_count, sizeof *holes, holes_compare);
	return holes;
}

static size_t
sorted_rules(struct emitter *emitter, struct placed_rule **sorted)
{
	const struct policy *policy = emitter->policy;
	struct placed_rule *rules = arena_alloc(emitter->arena,
	    (policy->paths.count + 1) * sizeof *rules);
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < policy->paths.count; i++) {
		struct placed_rule *placed = &rules[count];

		placed->rule = policy->paths.items[i];
		if ((placed->rule.origin.where & SBX_ON_LINUX) == 0)
			continue;
		placed->rule.holes = sorted_holes(emitter, &placed->rule);
		placed->source = emit_origin(emitter, &placed->rule.origin);
		count++;
	}
	qsort(rules, count, sizeof *rules, placed_rule_compare);
	for (size_t i = 0; i < count; i++) {
		if (kept == 0 || path_rule_compare(&rules[kept - 1].rule,
		    &rules[i].rule) != 0)
			rules[kept++] = rules[i];
	}
	*sorted = rules;
	return kept;
}

static void
emit_paths(struct emitter *emitter)
{
	struct placed_rule *rules;
	size_t count = sorted_rules(emitter, &rules), hole_count = 0;
	struct sbx_path *paths = section_new(emitter, SBX_SECTION_PATHS, count,
	    sizeof *paths);
	struct sbx_hole *holes;

	for (size_t i = 0; i < count; i++)
		hole_count += rules[i].rule.hole_count;
	holes = section_new(emitter, SBX_SECTION_HOLES, hole_count,
	    sizeof *holes);
	hole_count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct path_rule *rule = &rules[i].rule;

		paths[i] = (struct sbx_path){
			.suffix = emit_string(emitter, rule->at.suffix),
			.anchor = rule->at.anchor,
			.effect = (uint8_t)rule->effect,
			.rights = rule->rights,
			.first_hole = (uint32_t)hole_count,
			.hole_count = rule->hole_count,
			.where = rule->origin.where & SBX_ON_LINUX,
			.source = rules[i].source,
		};
		use_anchor(emitter, rule->at.anchor);
		for (uint16_t j = 0; j < rule->hole_count; j++) {
			holes[hole_count++] = (struct sbx_hole){
				.suffix = emit_string(emitter,
				    rule->holes[j].suffix),
				.anchor = rule->holes[j].anchor,
			};
			use_anchor(emitter, rule->holes[j].anchor);
		}
	}
}

/* The other tables are compared as the integers they consist of. */
static int
port_compare(const void *a, const void *b)
{
	const struct sbx_port *x = a, *y = b;

	COMPARE(x->op, y->op);
	COMPARE(x->low, y->low);
	COMPARE(x->high, y->high);
	COMPARE(x->effect, y->effect);
	COMPARE(x->where, y->where);
	COMPARE(x->source, y->source);
	return 0;
}

static void
emit_ports(struct emitter *emitter)
{
	const struct policy *policy = emitter->policy;
	struct sbx_port *ports = section_new(emitter, SBX_SECTION_PORTS,
	    policy->ports.count, sizeof *ports);
	size_t count = 0;

	for (size_t i = 0; i < policy->ports.count; i++) {
		const struct port_rule *rule = &policy->ports.items[i];

		if ((rule->origin.where & SBX_ON_LINUX) == 0)
			continue;
		ports[count++] = (struct sbx_port){
			.low = rule->low,
			.high = rule->high,
			.effect = (uint8_t)rule->effect,
			.op = (uint8_t)rule->op,
			.where = rule->origin.where & SBX_ON_LINUX,
			.source = emit_origin(emitter, &rule->origin),
		};
	}
	emitter->sections[SBX_SECTION_PORTS].size = count * sizeof *ports;
	sort_section(emitter, SBX_SECTION_PORTS, sizeof *ports, port_compare);
}

static int
limit_compare(const void *a, const void *b)
{
	const struct sbx_limit *x = a, *y = b;

	COMPARE(x->kind, y->kind);
	COMPARE(x->where, y->where);
	COMPARE(x->value, y->value);
	COMPARE(x->source, y->source);
	return 0;
}

static void
emit_limits(struct emitter *emitter)
{
	const struct policy *policy = emitter->policy;
	struct sbx_limit *limits = section_new(emitter, SBX_SECTION_LIMITS,
	    policy->limits.count, sizeof *limits);
	size_t count = 0;

	for (size_t i = 0; i < policy->limits.count; i++) {
		const struct limit_rule *rule = &policy->limits.items[i];

		if ((rule->origin.where & SBX_ON_LINUX) == 0)
			continue;
		limits[count++] = (struct sbx_limit){
			.value = rule->value,
			.source = emit_origin(emitter, &rule->origin),
			.kind = (uint16_t)rule->kind,
			.where = rule->origin.where & SBX_ON_LINUX,
		};
	}
	emitter->sections[SBX_SECTION_LIMITS].size = count * sizeof *limits;
	sort_section(emitter, SBX_SECTION_LIMITS, sizeof *limits,
	    limit_compare);
}

static int
env_compare(const void *a, const void *b)
{
	const struct sbx_env *x = a, *y = b;

	COMPARE(x->pattern, y->pattern);
	COMPARE(x->effect, y->effect);
	COMPARE(x->where, y->where);
	COMPARE(x->source, y->source);
	return 0;
}

static void
emit_env(struct emitter *emitter)
{
	const struct policy *policy = emitter->policy;
	struct sbx_env *env = section_new(emitter, SBX_SECTION_ENV,
	    policy->env.count, sizeof *env);
	size_t count = 0;

	for (size_t i = 0; i < policy->env.count; i++) {
		const struct env_rule *rule = &policy->env.items[i];

		if ((rule->origin.where & SBX_ON_LINUX) == 0)
			continue;
		env[count++] = (struct sbx_env){
			.pattern = emit_string(emitter, rule->pattern),
			.source = emit_origin(emitter, &rule->origin),
			.effect = (uint8_t)rule->effect,
			.where = rule->origin.where & SBX_ON_LINUX,
		};
	}
	emitter->sections[SBX_SECTION_ENV].size = count * sizeof *env;
	sort_section(emitter, SBX_SECTION_ENV, sizeof *env, env_compare);
}

static int
set_compare(const void *a, const void *b)
{
	const struct sbx_set *x = a, *y = b;

	COMPARE(x->name, y->name);
	COMPARE(x->where, y->where);
	COMPARE(x->anchor, y->anchor);
	COMPARE(x->text, y->text);
	COMPARE(x->source, y->source);
	return 0;
}

static void
emit_set(struct emitter *emitter)
{
	const struct policy *policy = emitter->policy;
	struct sbx_set *set = section_new(emitter, SBX_SECTION_SET,
	    policy->set.count, sizeof *set);
	size_t count = 0;

	for (size_t i = 0; i < policy->set.count; i++) {
		const struct set_rule *rule = &policy->set.items[i];

		if ((rule->origin.where & SBX_ON_LINUX) == 0)
			continue;
		set[count++] = (struct sbx_set){
			.name = emit_string(emitter, rule->name),
			.text = emit_string(emitter, rule->text),
			.source = emit_origin(emitter, &rule->origin),
			.anchor = rule->anchor,
			.where = rule->origin.where & SBX_ON_LINUX,
		};
		use_anchor(emitter, rule->anchor);
	}
	emitter->sections[SBX_SECTION_SET].size = count * sizeof *set;
	sort_section(emitter, SBX_SECTION_SET, sizeof *set, set_compare);
}

static void
emit_landlock(struct emitter *emitter)
{
	const struct policy *policy = emitter->policy;
	struct origin net;
	struct landlock_freedoms freedoms = {
		.network = policy_net(policy, SBX_ON_LINUX, &net) ==
		    SBX_NET_FULL,
		.signal = policy_has_freedom(policy, FREEDOM_SIGNAL,
		    SBX_ON_LINUX),
		.abstract = policy_has_freedom(policy, FREEDOM_ABSTRACT,
		    SBX_ON_LINUX),
	};
	struct sbx_landlock *rows;

	if (policy_has_freedom(policy, FREEDOM_EVERYTHING, SBX_ON_LINUX))
		return;
	rows = section_new(emitter, SBX_SECTION_LANDLOCK, LANDLOCK_LAST_ABI,
	    sizeof *rows);
	for (uint32_t abi = 1; abi <= LANDLOCK_LAST_ABI; abi++)
		rows[abi - 1] = landlock_row(abi, freedoms);
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
	COMPARE(x->where, y->where);
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
	struct sbx_syscall record = {
		.name = emit_string(emitter, entry->name),
		.source = emit_source(emitter, entry->loc, NULL),
		.reason = emit_string(emitter, entry->reason),
	};

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
			calls[same - 1].where |= calls[i].where;
		else
			calls[kept++] = calls[i];
	}
	return kept;
}

/* What each call gets, from the plainest variant of each machine. */
static void
emit_syscalls(struct emitter *emitter)
{
	const struct filter_set *filters = emitter->filters;
	struct sbx_syscall *calls;
	size_t count = 0;

	for (size_t i = 0; i < filters->filters.count; i++)
		count += filters->filters.items[i].entry_count;
	calls = section_new(emitter, SBX_SECTION_SYSCALLS, count,
	    sizeof *calls);
	count = 0;
	for (size_t i = 0; i < filters->filters.count; i++) {
		const struct filter *filter = &filters->filters.items[i];

		if (filter->flags != 0 || filter->min_abi != 0)
			continue;
		for (size_t j = 0; j < filter->entry_count; j++) {
			const struct filter_entry *entry = &filter->entries[j];

			if (entry->name == NULL || (entry->clause_count == 0 &&
				entry->action == FILTER_ALLOW &&
				entry->loc.end == 0))
				continue;
			calls[count] = syscall_record(emitter, entry);
			calls[count++].where = filter->arch->where;
		}
	}
	qsort(calls, count, sizeof *calls, syscall_compare);
	count = merge_machines(calls, count);
	emitter->sections[SBX_SECTION_SYSCALLS].size = count * sizeof *calls;
}

/* --- the whole ------------------------------------------------------------ */

static void
emit_tables(struct emitter *emitter)
{
	emit_string(emitter, "");
	emit_paths(emitter);
	emit_ports(emitter);
	emit_limits(emitter);
	emit_env(emitter);
	emit_set(emitter);
	emit_landlock(emitter);
	emit_programs(emitter);
	emit_syscalls(emitter);
	emit_meta(emitter);
	emit_anchors(emitter); /* last: which are used is known now */
}

/* What a reader that does not know a section may not leave out. */
static uint32_t
section_flags(enum sbx_section_kind kind)
{
	return kind == SBX_SECTION_SYSCALLS || kind == SBX_SECTION_SOURCES ||
	    kind == SBX_SECTION_SBPL ? 0 : SBX_CRITICAL;
}

static bool
is_emitted(const struct emitter *emitter, uint32_t kind)
{
	return emitter->sections[kind].size > 0;
}

static size_t
align8(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

static void
assemble(struct emitter *emitter, struct blob *blob)
{
	struct sbx_header header = {
		.version = SBX_FORMAT, .min_reader = SBX_FORMAT_MIN_READER
	};
	struct sbx_section *table;
	size_t size;
	uint8_t *bytes;

	memcpy(header.magic, SBX_MAGIC, sizeof header.magic);
	for (uint32_t kind = 1; kind < SBX_SECTION_END; kind++)
		header.section_count += is_emitted(emitter, kind);
	size = sizeof header + header.section_count * sizeof *table;
	for (uint32_t kind = 1; kind < SBX_SECTION_END; kind++)
		size += align8(emitter->sections[kind].size);
	header.size = (uint32_t)size;
	bytes = arena_alloc(emitter->arena, size);
	table = (void *)(bytes + sizeof header);
	size = sizeof header + header.section_count * sizeof *table;
	for (uint32_t kind = 1; kind < SBX_SECTION_END; kind++) {
		if (!is_emitted(emitter, kind))
			continue;
		*table++ = (struct sbx_section){
			.kind = kind,
			.flags = section_flags(kind),
			.offset = (uint32_t)size,
			.size = (uint32_t)emitter->sections[kind].size,
		};
		memcpy(bytes + size, emitter->sections[kind].data,
		    emitter->sections[kind].size);
		size += align8(emitter->sections[kind].size);
	}
	memcpy(bytes, &header, sizeof header);
	header.crc = sbx_checksum(bytes, size);
	memcpy(bytes, &header, sizeof header);
	*blob = (struct blob){ .bytes = bytes, .size = size };
}

/* The bounds of format/blob.h that a policy can pass. */
static bool
is_within_bounds(const struct emitter *emitter, struct diags *diags,
    size_t size)
{
	const struct policy *policy = emitter->policy;
	size_t holes = emitter->sections[SBX_SECTION_HOLES].size /
	    sizeof(struct sbx_hole);

	if (policy->paths.count > SBX_MAX_RULES || holes > SBX_MAX_RULES)
		diag_add(diags, DIAG_TOO_MANY_RULES, policy->profile_loc,
		    "profile '%s' has %zu path rules and %zu exceptions, the "
		    "bound is %d of each", policy->profile,
		    policy->paths.count, holes, SBX_MAX_RULES);
	else if (policy->params.count > SBX_MAX_ANCHORS - SBX_ANCHOR_PARAM)
		diag_add(diags, DIAG_TOO_MANY_RULES, policy->profile_loc,
		    "profile '%s' declares %zu parameters, the bound is %d",
		    policy->profile, policy->params.count,
		    SBX_MAX_ANCHORS - SBX_ANCHOR_PARAM);
	else if (size > SBX_MAX_SIZE)
		diag_add(diags, DIAG_TOO_MANY_RULES, policy->profile_loc,
		    "profile '%s' compiles to %zu bytes, the bound is %d",
		    policy->profile, size, SBX_MAX_SIZE);
	else
		return true;
	return false;
}

/* A blob that our own reader refuses is our bug, whatever the policy says. */
static void
read_back(const struct blob *blob)
{
	struct sbx_view view;
	enum sbx_blob_error error = sbx_verify(blob->bytes, blob->size, &view);

	if (error == SBX_BLOB_OK)
		return;
	bug("the blob that was written is not valid: %s",
	    sbx_blob_strerror(error));
}

bool
emit_blob(const struct policy *policy, const struct filter_set *filters,
    const char *sbpl, struct diags *diags, struct blob *blob)
{
	struct emitter emitter = {
		.policy = policy,
		.filters = filters,
		.arena = policy->arena,
		.collecting = true,
	};
	char *text;

	emit_tables(&emitter);
	strings_place(&emitter);
	/* Now that strings have offsets, positions can be compared. */
	emitter.sources.count = 0;
	emit_tables(&emitter);
	sources_place(&emitter);
	emitter.collecting = false;
	emit_tables(&emitter);
	text = section_new(&emitter, SBX_SECTION_SBPL, strlen(sbpl) + 1, 1);
	strcpy(text, sbpl);
	assemble(&emitter, blob);
	if (!is_within_bounds(&emitter, diags, blob->size))
		return false;
	read_back(blob);
	return true;
}
