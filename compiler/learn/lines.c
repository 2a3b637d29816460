/*
 * The lines of a draft: a statement for each need that becomes a rule, with a
 * comment that says whose it was; and for the others a comment.
 *
 * Programs have the names that a command gives them: a comment has
 * none of their characters that could end it, or begin an order to sbxc.
 */
#include "compiler/learn/learn.h"
#include "compiler/query/why.h"
#include "compiler/tables/tables.h"

#include <stdlib.h>
#include <string.h>

enum { RULES_MAX = 200 };
enum { PROGRAMS = 3, PROGRAM_MAX = 15, KEPT = 12, OBJECT_MAX = 160 };

static bool
is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z') || (c != '\0' && strchr("._+-", c) != NULL);
}

const char *
lines_plain(struct arena *arena, const char *text, size_t max)
{
	size_t len = strlen(text);
	char *plain = arena_strndup(arena, text, len < max ? len : max);

	for (char *at = plain; *at != '\0'; at++) {
		if (*at < ' ' || *at > '~')
			*at = '?';
	}
	return len <= max ? plain : arena_printf(arena, "%s...", plain);
}

static const char *
program_word(struct arena *arena, const char *name)
{
	char *word = arena_strndup(arena, name, strnlen(name, PROGRAM_MAX));

	for (char *at = word; *at != '\0'; at++) {
		if (!is_word(*at))
			*at = '?';
	}
	return *word != '\0' ? word : "?";
}

/* Those that had it most come first. */
static int
compare_programs(const void *a, const void *b)
{
	const struct need_program *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* "git 3x, node 1x and 2 more, in 2 of 3 runs". */
static const char *
whose(struct arena *arena, const struct needs *needs, struct need *need)
{
	const char *text = "";
	size_t count = need->programs.count, runs = needs->records->runs.count;

	if (count > 1)
		qsort(need->programs.items, count, sizeof *need->programs.items,
		    compare_programs);
	for (size_t i = 0; i < count && i < PROGRAMS; i++)
		text = arena_printf(arena, "%s%s%s %llux", text,
		    i > 0 ? ", " : "",
		    program_word(arena, need->programs.items[i].name),
		    (unsigned long long)need->programs.items[i].count);
	if (count == 0)
		text = arena_printf(arena, "%llux",
		    (unsigned long long)need->count);
	if (count > PROGRAMS)
		text = arena_printf(arena, "%s and %zu more", text,
		    count - PROGRAMS);
	if (runs > 1)
		text = arena_printf(arena, "%s, in %zu of %zu runs", text,
		    need->runs.count, runs);
	return text;
}

/* --- statements ----------------------------------------------------------- */

static const char *
domain_statement(struct arena *arena, const char *name)
{
	for (const char *at = name; *at != '\0'; at++) {
		if (!is_word(*at) && *at != ':')
			return NULL;
	}
	return arena_printf(arena, "allow network domain \"%s\"", name);
}

static const char *
statement_of(struct arena *arena, const struct need *need)
{
	const char *object = need->object;

	switch (need->kind) {
	case WISH_READ:
	case WISH_WRITE:
	case WISH_EXEC:
		object = spelled_path(arena, object);
		return object == NULL ? NULL :
					arena_printf(arena, "allow %-5s %s",
					    wish_word(need->kind), object);
	case WISH_CONNECT:
	case WISH_LISTEN:
		return arena_printf(arena,
		    strcmp(object, loopback) == 0 ? "allow network %s" :
						    "allow network connect %s",
		    object);
	case WISH_CALL:
		return arena_printf(arena, "allow syscalls %s", object);
	case WISH_DOMAIN:
		return domain_statement(arena, object);
	case WISH_SOCKET: /* is no rule */
	case WISH_KINDS:
		break;
	}
	return NULL;
}

/* What is only in a comment. */
static const char *
words_of(struct arena *arena, const struct need *need)
{
	return arena_printf(arena, "%s %s", wish_word(need->kind),
	    lines_plain(arena, shown_text(arena, need->object), OBJECT_MAX));
}

static void
add_line(struct draft_lines *lines, const struct needs *needs,
    struct need *need)
{
	struct draft_line line = {
		.statement = need->reason == NULL ?
		    statement_of(lines->arena, need) :
		    NULL,
		.whose = whose(lines->arena, needs, need),
		.reason = need->reason,
		.need = need,
	};

	if (line.statement == NULL && line.reason == NULL)
		line.reason = "no policy can name it";
	for (size_t i = 0; i < lines->list.count && line.reason == NULL; i++) {
		const struct draft_line *other = &lines->list.items[i];

		if (other->reason == NULL &&
		    strcmp(other->statement, line.statement) == 0)
			return;
	}
	*arena_push(lines->arena, &lines->list) = line;
}

void
lines_make(struct draft_lines *lines, struct needs *needs)
{
	size_t rules = 0;

	lines->arena = needs->arena;
	for (size_t i = 0; i < needs->list.count; i++) {
		struct need *need = &needs->list.items[i];

		if (need->reason == NULL && !need->probe &&
		    rules++ >= RULES_MAX)
			need->reason = "there are too many for a draft";
		add_line(lines, needs, need);
	}
}

size_t
lines_count(const struct draft_lines *lines)
{
	size_t count = 0;

	for (size_t i = 0; i < lines->list.count; i++)
		count += lines->list.items[i].reason == NULL &&
		    !lines->list.items[i].need->probe;
	return count;
}

/* --- text ----------------------------------------------------------------- */

static const char single_file[] =
    "sbx: ignore SBX0612 -- it was written in place: ";

static void
write_statements(struct draft_lines *lines, FILE *stream, size_t before)
{
	for (size_t i = 0; i < lines->list.count; i++) {
		struct draft_line *line = &lines->list.items[i];

		if (line->reason != NULL || line->need->probe)
			continue;
		if (line->need->make_first)
			fputs("    # Make it before: a rule for what is not "
			      "there grants nothing.\n",
			    stream);
		line->begin = before + (size_t)ftell(stream);
		fprintf(stream, "    %s  # %s%s\n", line->statement,
		    line->single ? single_file : "", line->whose);

		line->end = before + (size_t)ftell(stream);
	}
}

size_t
lines_kept(const struct draft_lines *lines, const char **first)
{
	size_t count = 0;

	*first = NULL;
	for (size_t i = 0; i < lines->list.count; i++) {
		const struct draft_line *line = &lines->list.items[i];

		if (line->reason == NULL || line->need->probe)
			continue;
		count++;
		if (*first == NULL && line->need->kind < WISH_SOCKET)
			*first = words_of(lines->arena, line->need);
	}
	return count;
}

static const char *
margin(const struct draft_lines *lines)
{
	return lines->brief ? "" : "    # ";
}

static void
write_more(const struct draft_lines *lines, FILE *stream, size_t count)
{
	if (count > KEPT)
		fprintf(stream, "%s  and %zu more\n", margin(lines),
		    count - KEPT);
}

static void
write_kept(const struct draft_lines *lines, FILE *stream)
{
	size_t count = 0;

	for (size_t i = 0; i < lines->list.count; i++) {
		const struct draft_line *line = &lines->list.items[i];

		if (line->reason == NULL || line->need->probe)
			continue;
		if (count == 0)
			fprintf(stream, "%sWanted, and no rule:\n",
			    margin(lines));
		if (count++ < KEPT)
			fprintf(stream, "%s  %s (%s): %s\n", margin(lines),
			    words_of(lines->arena, line->need), line->whose,
			    lines_plain(lines->arena, line->reason,
				OBJECT_MAX));
	}
	write_more(lines, stream, count);
}

static void
write_probes(const struct draft_lines *lines, FILE *stream)
{
	size_t count = 0;

	for (size_t i = 0; i < lines->list.count; i++) {
		const struct draft_line *line = &lines->list.items[i];

		if (!line->need->probe)
			continue;
		if (count == 0)
			fprintf(stream,
			    "%sOnly looked for, whether it is there:\n",
			    margin(lines));
		if (count++ < KEPT)
			fprintf(stream, "%s  %s (%s)\n", margin(lines),
			    words_of(lines->arena, line->need), line->whose);
	}
	write_more(lines, stream, count);
}

static void
write_notes(FILE *stream, const void *lines)
{
	write_kept(lines, stream);
	write_probes(lines, stream);
}

const char *
lines_notes(const struct draft_lines *lines)
{
	return show_to_text(lines->arena, write_notes, lines);
}

const char *
lines_text(struct draft_lines *lines, size_t before)
{
	struct memory memory;

	memory_open(&memory);
	write_statements(lines, memory.stream, before);
	if (!lines->brief)
		fputs(lines_notes(lines), memory.stream);
	return memory_close(&memory, lines->arena);
}

bool
lines_drop_reported(struct draft_lines *lines, const struct diags *diags,
    uint32_t base)
{
	bool dropped = false;

	for (size_t i = 0; i < diags->records.count; i++) {
		const struct diag *diag = &diags->records.items[i];

		for (size_t j = 0; j < lines->list.count; j++) {
			struct draft_line *line = &lines->list.items[j];

			if (line->reason != NULL || diag->suppressed != NULL ||
			    line->need->probe ||
			    diag->loc.begin < base + line->begin ||
			    diag->loc.begin >= base + line->end)
				continue;
			line->single = diag->id == DIAG_SINGLE_FILE &&
			    !line->single;
			if (!line->single)
				line->reason = arena_printf(lines->arena,
				    "%s [%s]", diag->message,
				    diag_code(diag->id));
			dropped = true;
		}
	}
	return dropped;
}
