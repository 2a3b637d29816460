/*
 * Which rules of a policy decided no case.  A rule is what is written at one
 * place of a text, even if it expands to several.
 */
#include "compiler/cases/cases.h"
#include "compiler/query/why.h"

#include <string.h>

/* A place where something is written, and the rules that come from it. */
struct covered {
	struct verdict first; /* as if the first of them had decided */
	uint32_t count;
	bool decided, own;
};

struct coverage {
	FILE *stream;
	struct arena *arena;
	const struct sbx_blob *blob;
	struct covered *sources; /* beside those of the blob */
	size_t all, decided, own, own_decided;
	size_t others; /* limits and variables, which decide no access */
};

/* The first source of a place.  A place has several, one after the other, if
 * several blocks hold what is written there. */
static uint32_t
first_source(const struct sbx_blob *blob, uint32_t source)
{
	while (source > 0 &&
	    blob->sources[source - 1].file == blob->sources[source].file &&
	    blob->sources[source - 1].line == blob->sources[source].line &&
	    blob->sources[source - 1].column == blob->sources[source].column)
		source--;
	return source;
}

static void
note_rule(struct coverage *coverage, enum verdict_by by, uint32_t rule,
    uint32_t source)
{
	const struct sbx_blob *blob = coverage->blob;
	struct covered *covered;

	if (source == SBX_NO_SOURCE)
		return;
	source = first_source(blob, source);
	covered = &coverage->sources[source];
	if (covered->count++ > 0)
		return;
	covered->first = (struct verdict){
		.by = by,
		.rule = rule,
		.source = source,
	};
	covered->own = strncmp(sbx_string(blob, blob->sources[source].file),
			   "sbx:", 4) != 0;
}

/* The rules of a kind that decides about accesses. */
static void
note_kind(struct coverage *coverage, const struct rule_kind *kind)
{
	const struct sbx_blob *blob = coverage->blob;
	uint32_t count, source;
	const char *record;

	if (kind->section == 0)
		return;
	record = sbx_records(blob, kind->section, &count);
	if (kind->verdict == NULL)
		coverage->others += count;
	for (uint32_t i = 0; kind->verdict != NULL && i < count; i++) {
		memcpy(&source,
		    record + i * kind->record.size + kind->record.source,
		    sizeof source);
		/* A rule about the network has records of system calls, too. */
		if (kind->id != KIND_SYSCALL ||
		    decider_names_call(blob, &blob->syscalls[i]))
			note_rule(coverage, BY_RULE + kind->id, i, source);
	}
}

static void
note_cases(struct coverage *coverage, const struct test_results *results)
{
	for (size_t i = 0; i < results->list.count; i++) {
		const struct test_result *result = &results->list.items[i];
		uint32_t source = result->verdict.source;

		if (result->bound == NULL ||
		    result->bound->subject.places.blob != coverage->blob ||
		    result->verdict.by == BY_SET || source == SBX_NO_SOURCE)
			continue;
		coverage->sources[first_source(coverage->blob, source)]
		    .decided = true;
	}
}

static void
count_rules(struct coverage *coverage)
{
	for (uint32_t i = 0; i < coverage->blob->source_count; i++) {
		const struct covered *covered = &coverage->sources[i];

		if (covered->count == 0)
			continue;
		coverage->all++;
		coverage->decided += covered->decided;
		coverage->own += covered->own;
		coverage->own_decided += covered->own && covered->decided;
	}
}

/* If no rule is the policy's own, as in a shipped one, all are listed. */
static void
say_rules(const struct coverage *coverage)
{
	for (uint32_t i = 0; i < coverage->blob->source_count; i++) {
		const struct covered *covered = &coverage->sources[i];

		if (covered->count == 0 || covered->decided ||
		    (!covered->own && coverage->own > 0))
			continue;
		fprintf(coverage->stream, "%s: not covered: %s",
		    show_source_text(coverage->arena, coverage->blob, i),
		    decider_text(coverage->arena, coverage->blob,
			&covered->first));
		if (covered->count > 1)
			fprintf(coverage->stream, " and %u more",
			    covered->count - 1);
		putc('\n', coverage->stream);
	}
}

static unsigned
percent(size_t part, size_t whole)
{
	return whole == 0 ? 100 : (unsigned)(100 * part / whole);
}

static void
say_totals(const struct coverage *coverage)
{
	const struct sbx_blob *blob = coverage->blob;
	FILE *stream = coverage->stream;

	fprintf(stream,
	    "coverage of %s: ", sbx_string(blob, blob->meta->profile));
	if (coverage->own > 0)
		fprintf(stream, "%zu of its own %zu rules (%u%%), ",
		    coverage->own_decided, coverage->own,
		    percent(coverage->own_decided, coverage->own));
	fprintf(stream, "%zu of all %zu (%u%%)", coverage->decided,
	    coverage->all, percent(coverage->decided, coverage->all));
	if (coverage->others > 0)
		fprintf(stream,
		    "; %zu limits and variables that are set are not asked",
		    coverage->others);
	putc('\n', stream);
}

void
test_coverage(FILE *stream, const struct test_results *results)
{
	for (size_t i = 0; i < results->subjects.loaded.count; i++) {
		const struct operand *operand =
		    &results->subjects.loaded.items[i]->operand;
		struct coverage coverage = {
			.stream = stream,
			.arena = results->subjects.file->arena,
			.blob = &operand->blob,
		};

		if (operand->state != OPERAND_GOOD)
			continue;
		coverage.sources = arena_alloc(coverage.arena,
		    (operand->blob.source_count + 1) *
			sizeof *coverage.sources);
		for (int id = 0; id < KIND_END; id++)
			note_kind(&coverage, rule_kinds[id]);
		note_rule(&coverage, BY_NETWORK, 0,
		    coverage.blob->meta->net_source);
		note_cases(&coverage, results);
		count_rules(&coverage);
		say_rules(&coverage);
		say_totals(&coverage);
	}
}
