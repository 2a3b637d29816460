/*
 * Everything in a verified blob as text, one record a line, in the order of
 * the file.  The words are those of the language, so that a dump reads like
 * the policy with its profiles, groups and sets expanded; the place where a
 * rule was written is at the end of its line.  The same blob gives the same
 * text on every machine: the golden files of tests/golden/ok are dumps.
 */
#include "compiler/lower/lower.h"
#include "compiler/query/query.h"
#include "compiler/query/why.h"
#include "compiler/tables/tables.h"

#include <inttypes.h>
#include <string.h>

/* Ends the line of a record: its platforms, and where it was written. */
static void
dump_end(FILE *stream, const struct sbx_blob *blob, uint8_t platforms,
    uint32_t source)
{
	const char *via = show_via(blob, source);

	show_platforms(stream, platforms);
	if (source != SBX_NO_SOURCE) {
		fputs("  # ", stream);
		show_source(stream, blob, source);
	}
	if (via != NULL) {
		putc(' ', stream);
		show_text(stream, via);
	}
	putc('\n', stream);
}

static void
dump_text(FILE *stream, const struct sbx_blob *blob, const char *word,
    uint32_t text)
{
	fprintf(stream, "%s ", word);
	show_text(stream, sbx_string(blob, text));
	putc('\n', stream);
}

static void
dump_meta(FILE *stream, const struct sbx_blob *blob)
{
	static const char *const nets[SBX_NET_END] = {
		[SBX_NET_NONE] = "none",
		[SBX_NET_PORTS] = "ports",
		[SBX_NET_FULL] = "full",
		[SBX_NET_LOOPBACK] = "loopback",
		[SBX_NET_SELECTED] = "selected",
	};
	static const char *const blankets[] = {
		"allow everything",
		"allow signal anywhere",
		"allow abstract anywhere",
		"deny spawn",
	};
	const struct sbx_meta *meta = blob->meta;

	dump_text(stream, blob, "profile", meta->profile);
	dump_text(stream, blob, "about", meta->about);
	dump_text(stream, blob, "writer", meta->writer);
	fprintf(stream, "language %u\n", meta->language);
	fprintf(stream, "require level %s", level_word(meta->level));
	dump_end(stream, blob, SBX_ON_ALL, meta->level_source);
	if (meta->landlock != 0) {
		fprintf(stream, "require landlock %u", meta->landlock);
		dump_end(stream, blob, SBX_ON_ALL, meta->landlock_source);
	}
	fprintf(stream, "network %s", nets[meta->net]);
	dump_end(stream, blob, SBX_ON_ALL, meta->net_source);
	for (size_t i = 0; i < countof(blankets); i++) {
		if (meta->flags & 1u << i)
			fprintf(stream, "%s\n", blankets[i]);
	}
}

static void
dump_anchors(FILE *stream, const struct sbx_blob *blob)
{
	for (uint32_t i = SBX_ANCHOR_WORKSPACE; i < blob->anchor_count; i++) {
		const struct sbx_anchor *anchor = &blob->anchors[i];

		fputs(i < SBX_ANCHOR_PARAM ? "anchor " : "param ", stream);
		show_text(stream, sbx_string(blob, anchor->name));
		if ((anchor->flags & SBX_ANCHOR_USED) == 0)
			fputs(" (unused)", stream);
		dump_end(stream, blob, SBX_ON_ALL, anchor->source);
	}
}

/* The rules of a kind, which lie in one section. */
static void
dump_rules(FILE *stream, const struct sbx_blob *blob,
    const struct rule_kind *kind)
{
	const struct record_layout *layout = &kind->record;
	uint32_t count, source;
	const char *record = sbx_records(blob, kind->section, &count);

	for (; count-- > 0; record += layout->size) {
		memcpy(&source, record + layout->source, sizeof source);
		kind->show(stream, blob, record);
		dump_end(stream, blob, (uint8_t)record[layout->platforms],
		    source);
	}
}

/* One line per row of masks, in hexadecimal, aligned. */
static void
dump_landlock(FILE *stream, const struct sbx_blob *blob)
{
	static const char *const heads[] = {
		"fs",
		"net",
		"scoped",
		"list",
		"read",
		"write",
		"exec",
		"file",
		"connect",
		"bind",
		"flags",
	};

	if (blob->landlock_count == 0)
		return;
	fputs("landlock abi", stream);
	for (size_t i = 0; i < countof(heads); i++)
		fprintf(stream, " %7s", heads[i]);
	putc('\n', stream);
	for (uint32_t i = 0; i < blob->landlock_count; i++) {
		const struct sbx_landlock *row = &blob->landlock[i];
		const uint64_t masks[countof(heads)] = {
			row->handled_fs,
			row->handled_net,
			row->scoped,
			row->list,
			row->read,
			row->write,
			row->exec,
			row->file,
			row->connect_tcp,
			row->bind_tcp,
			row->restrict_flags,
		};

		fprintf(stream, "landlock %3u", row->abi);
		for (size_t j = 0; j < countof(masks); j++)
			fprintf(stream, " %7" PRIx64, masks[j]);
		putc('\n', stream);
	}
}

/* "x86_64", or NULL for a machine that tables/arches.def does not know. */
static const char *
arch_name(uint32_t audit)
{
	for (size_t i = 0; i < arch_count; i++) {
		if (arches[i].audit == audit)
			return arches[i].name;
	}
	return NULL;
}

static uint32_t
dump_variant(const struct sbx_blob *blob, uint32_t index)
{
	uint32_t variant = 0;

	for (uint32_t i = 0; i < index; i++)
		variant += blob->programs[i].arch == blob->programs[index].arch;
	return variant;
}

uint32_t
dump_find(const struct sbx_blob *blob, struct dump_choice choice, uint32_t from)
{
	while (from < blob->program_count &&
	    ((choice.arch != 0 && choice.arch != blob->programs[from].arch) ||
		(choice.variant >= 0 &&
		    (uint32_t)choice.variant != dump_variant(blob, from))))
		from++;
	return from;
}

static void
dump_program(FILE *stream, const struct sbx_blob *blob, uint32_t index)
{
	static const struct {
		uint32_t flag;
		const char *name;
	} openings[] = {
		{ SBX_PROGRAM_UNIX, "unix" },
		{ SBX_PROGRAM_NETLINK, "netlink" },
		{ SBX_PROGRAM_TCP, "tcp" },
		{ SBX_PROGRAM_TRACE, "trace" },
		{ SBX_PROGRAM_LOOPBACK, "loopback" },
		{ SBX_PROGRAM_LISTENER, "listener" },
		{ SBX_PROGRAM_SET_ID, "set-id" },
	};
	const struct sbx_program *program = &blob->programs[index];
	const char *arch = arch_name(program->arch);

	fputs("program ", stream);
	if (arch != NULL)
		fputs(arch, stream);
	else
		fprintf(stream, "0x%08" PRIx32, program->arch);
	fprintf(stream,
	    " %" PRIu32 " level %s landlock %" PRIu32 " insns %" PRIu32,
	    dump_variant(blob, index),
	    program->flags & SBX_PROGRAM_FULL ? "full" : "below-full",
	    program->min_abi, program->count);
	for (size_t i = 0; i < countof(openings); i++) {
		if (program->flags & openings[i].flag)
			fprintf(stream, " %s", openings[i].name);
	}
	putc('\n', stream);
}

static void
dump_syscalls(FILE *stream, const struct sbx_blob *blob)
{
	static const char *const verdicts[SBX_SYSCALL_END] = {
		[SBX_SYSCALL_ALLOW] = "allow",
		[SBX_SYSCALL_DENY] = "deny",
		[SBX_SYSCALL_ARGS] = "args",
	};

	for (uint32_t i = 0; i < blob->syscall_count; i++) {
		const struct sbx_syscall *call = &blob->syscalls[i];
		const char *error = show_errno(call->error);
		const char *reason = sbx_string(blob, call->reason);

		fputs("syscall ", stream);
		show_text(stream, sbx_string(blob, call->name));
		fprintf(stream, " %s", verdicts[call->verdict]);
		if (error != NULL)
			fprintf(stream, " %s", error);
		else if (call->error != 0)
			fprintf(stream, " errno %u", call->error);
		if (*reason != '\0') {
			fputs(" because ", stream);
			show_text(stream, reason);
		}
		dump_end(stream, blob, call->platforms, call->source);
	}
}

static void
dump_programs(FILE *stream, const struct sbx_blob *blob)
{
	for (uint32_t i = 0; i < blob->program_count; i++)
		dump_program(stream, blob, i);
}

void
dump_blob(FILE *stream, const struct sbx_blob *blob)
{
	static void (*const dumps[SBX_SECTION_END])(FILE *,
	    const struct sbx_blob *) = {
		[SBX_SECTION_META] = dump_meta,
		[SBX_SECTION_ANCHORS] = dump_anchors,
		[SBX_SECTION_LANDLOCK] = dump_landlock,
		[SBX_SECTION_PROGRAMS] = dump_programs,
		[SBX_SECTION_SYSCALLS] = dump_syscalls,
	};

	for (uint32_t i = 0; i < SBX_SECTION_END; i++) {
		const struct rule_kind *kind = rule_kind_of_section(i);

		if (dumps[i] != NULL)
			dumps[i](stream, blob);
		else if (kind != NULL)
			dump_rules(stream, blob, kind);
	}
}

void
dump_bpf(FILE *stream, const struct sbx_blob *blob, struct dump_choice choice)
{
	uint32_t index = dump_find(blob, choice, 0);

	while (index < blob->program_count) {
		const struct sbx_program *program = &blob->programs[index];

		dump_program(stream, blob, index);
		bpf_print(stream, blob->bpf + program->first, program->count);
		index = dump_find(blob, choice, index + 1);
		if (index < blob->program_count)
			putc('\n', stream);
	}
}
