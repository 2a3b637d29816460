/*
 * The rule behind a verdict, as the language writes it.
 */
#include "compiler/query/why.h"
#include "compiler/tables/tables.h"

#include <string.h>

bool
decider_names_call(const struct sbx_blob *blob, const struct sbx_syscall *call)
{
	const char *reason = sbx_string(blob, call->reason);

	return reason[0] == '@' ||
	    strcmp(reason, sbx_string(blob, call->name)) == 0;
}

static void
show_network(FILE *stream, enum sbx_net net)
{
	/* The sum of all rules about hosts: any of them makes it. */
	if (net == SBX_NET_SELECTED) {
		fputs("a network of its own", stream);
		return;
	}
	fprintf(stream, "%s network %s",
	    effect_word(net == SBX_NET_NONE ? SBX_DENY : SBX_ALLOW),
	    net == SBX_NET_LOOPBACK ? "loopback" : "full");
}

/* The record that decided, or NULL. */
static const char *
record_of(const struct sbx_blob *blob, const struct verdict *verdict,
    const struct rule_kind **kind)
{
	const char *records;
	uint32_t count;

	if (verdict->by < BY_RULE)
		return NULL;
	*kind = rule_kinds[verdict->by - BY_RULE];
	records = sbx_records(blob, (*kind)->section, &count);
	return records + verdict->rule * (*kind)->record.size;
}

void
decider_show(FILE *stream, const struct sbx_blob *blob,
    const struct verdict *verdict)
{
	const struct rule_kind *kind;
	const char *record = record_of(blob, verdict, &kind);

	if (record != NULL)
		kind->show(stream, blob, record);
	else if (verdict->by == BY_SPAWN)
		fputs("deny spawn", stream);
	else if (verdict->by == BY_NETWORK)
		show_network(stream, (enum sbx_net)blob->meta->net);
	else if (verdict->by == BY_EVERYTHING)
		fputs("allow everything", stream);
}

struct shown {
	const struct sbx_blob *blob;
	const struct verdict *verdict;
};

static void
write_rule(FILE *stream, const void *what)
{
	const struct shown *shown = what;

	decider_show(stream, shown->blob, shown->verdict);
}

const char *
decider_text(struct arena *arena, const struct sbx_blob *blob,
    const struct verdict *verdict)
{
	const struct shown shown = { blob, verdict };
	const char *text = show_to_text(arena, write_rule, &shown);

	return *text != '\0' ? text : NULL;
}

uint8_t
decider_platforms(const struct sbx_blob *blob, const struct verdict *verdict)
{
	const struct rule_kind *kind;
	const char *record = record_of(blob, verdict, &kind);

	/* A system call may have several records for one rule. */
	return record == NULL || verdict->by == BY_SYSCALL ?
	    SBX_ON_ALL :
	    (uint8_t)record[kind->record.platforms];
}

struct shown_record {
	const struct sbx_blob *blob;
	const struct rule_kind *kind;
	const void *record;
};

static void
write_record(FILE *stream, const void *what)
{
	const struct shown_record *shown = what;

	shown->kind->show(stream, shown->blob, shown->record);
}

const char *
record_text(struct arena *arena, const struct sbx_blob *blob,
    const struct rule_kind *kind, const void *record)
{
	const struct shown_record shown = { blob, kind, record };

	return show_to_text(arena, write_record, &shown);
}
