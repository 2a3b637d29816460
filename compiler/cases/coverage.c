/* See test_coverage.h. */
#include "compiler/cases/coverage.h"
#include "compiler/query/decider.h"
#include "compiler/query/show.h"

#include <string.h>

/* A place where something is written, and the first record that came of it. */
struct covered {
	struct verdict first; /* as if it had decided */
	uint32_t more;        /* records beside it */
	bool there, decided, own;
};

struct coverage {
	const struct sbx_blob *blob;
	struct covered *sources; /* beside those of the view */
	size_t set_and_limits;
};

/* One place has several sources if several blocks hold what is written there;
 * they stand side by side.  The first of them. */
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
	struct covered *covered;

	if (source == SBX_NO_SOURCE)
		return;
	source = first_source(coverage->blob, source);
	covered = &coverage->sources[source];
	if (covered->there) {
		covered->more++;
		return;
	}
	covered->there = true;
	covered->first = (struct verdict){
		.by = by,
		.rule = rule,
		.source = source,
	};
	covered->own = strncmp(sbx_string(coverage->blob,
				   coverage->blob->sources[source].file),
			   "sbx:", 4) != 0;
}

static void
note_rules(struct coverage *coverage)
{
	const struct sbx_blob *blob = coverage->blob;

	for (uint32_t i = 0; i < blob->path_count; i++)
		note_rule(coverage, BY_PATH, i, blob->paths[i].source);
	for (uint32_t i = 0; i < blob->port_count; i++)
		note_rule(coverage, BY_PORT, i, blob->ports[i].source);
	note_rule(coverage, BY_NETWORK, 0, blob->meta->net_source);
	for (uint32_t i = 0; i < blob->env_count; i++)
		note_rule(coverage, BY_ENV, i, blob->env[i].source);
	for (uint32_t i = 0; i < blob->syscall_count; i++) {
		/* A rule about the network has records of calls, too. */
		if (decider_names_call(blob, &blob->syscalls[i]))
			note_rule(coverage, BY_SYSCALL, i,
			    blob->syscalls[i].source);
	}
}

/* Limits, and what is set, are no accesses. */
static void
note_others(struct coverage *coverage)
{
	const struct sbx_blob *blob = coverage->blob;

	coverage->set_and_limits = (size_t)blob->limit_count + blob->set_count;
}

static void
note_cases(struct coverage *coverage, const struct test_results *results)
{
	for (size_t i = 0; i < results->list.count; i++) {
		const struct test_result *result = &results->list.items[i];
		uint32_t source = result->verdict.source;

		if (result->bound == NULL ||
		    &result->bound->loaded->operand.blob != coverage->blob ||
		    result->verdict.by == BY_SET || source == SBX_NO_SOURCE)
			continue;
		coverage->sources[first_source(coverage->blob, source)]
		    .decided = true;
	}
}

struct totals {
	size_t all, decided, own, own_decided;
};

static struct totals
totals_of(const struct coverage *coverage)
{
	struct totals totals = { 0 };

	for (uint32_t i = 0; i < coverage->blob->source_count; i++) {
		const struct covered *covered = &coverage->sources[i];

		if (!covered->there)
			continue;
		totals.all++;
		totals.decided += covered->decided;
		totals.own += covered->own;
		totals.own_decided += covered->own && covered->decided;
	}
	return totals;
}

static void
say_rule(FILE *stream, const struct test_results *results,
    const struct coverage *coverage, const struct covered *covered,
    const char *prefix)
{
	struct arena *arena = results->subjects.file->arena;

	fprintf(stream, "%s%s: not covered: %s", prefix,
	    show_source_text(arena, coverage->blob, covered->first.source),
	    decider_text(arena, coverage->blob, &covered->first));
	if (covered->more > 0)
		fprintf(stream, " and %u more", covered->more);
	putc('\n', stream);
}

static unsigned
percent(size_t part, size_t whole)
{
	return whole == 0 ? 100 : (unsigned)(100 * part / whole);
}

static void
say_totals(FILE *stream, const struct coverage *coverage,
    const struct totals *totals, const char *prefix)
{
	const char *profile = sbx_string(coverage->blob,
	    coverage->blob->meta->profile);

	fprintf(stream, "%scoverage of %s: ", prefix, profile);
	if (totals->own > 0)
		fprintf(stream, "%zu of its own %zu rules (%u%%), ",
		    totals->own_decided, totals->own,
		    percent(totals->own_decided, totals->own));
	fprintf(stream, "%zu of all %zu (%u%%)", totals->decided, totals->all,
	    percent(totals->decided, totals->all));
	if (coverage->set_and_limits > 0)
		fprintf(stream,
		    "; %zu limits and variables that are set are "
		    "not asked",
		    coverage->set_and_limits);
	putc('\n', stream);
}

static void
cover(FILE *stream, const struct test_results *results,
    const struct test_loaded *loaded, const char *prefix)
{
	struct coverage coverage = { .blob = &loaded->operand.blob };
	struct totals totals;

	coverage.sources = arena_alloc(results->subjects.file->arena,
	    (loaded->operand.blob.source_count + 1) * sizeof *coverage.sources);
	note_rules(&coverage);
	note_others(&coverage);
	note_cases(&coverage, results);
	totals = totals_of(&coverage);
	/* Of a policy without rules of its own all are listed: a shipped one. */
	for (uint32_t i = 0; i < loaded->operand.blob.source_count; i++) {
		const struct covered *covered = &coverage.sources[i];

		if (covered->there && !covered->decided &&
		    (covered->own || totals.own == 0))
			say_rule(stream, results, &coverage, covered, prefix);
	}
	say_totals(stream, &coverage, &totals, prefix);
}

void
test_coverage(FILE *stream, const struct test_results *results,
    const char *prefix)
{
	for (size_t i = 0; i < results->subjects.loaded.count; i++) {
		if (results->subjects.loaded.items[i]->operand.state ==
		    OPERAND_GOOD)
			cover(stream, results,
			    results->subjects.loaded.items[i], prefix);
	}
}
