/*
 * A text in its canonical layout.
 *
 * The layout itself is in sbx.c.
 */
#include "compiler/write/write.h"

#include "compiler/base/base.h"
#include "grammar/grammar.h"

#include <stdlib.h>
#include <string.h>

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* A change of layout must not lose a rule. */
static bool
same_but_for_blanks(struct fmt_text a, struct fmt_text b)
{
	size_t i = 0, j = 0;

	for (;; i++, j++) {
		while (i < a.size && is_blank(a.bytes[i]))
			i++;
		while (j < b.size && is_blank(b.bytes[j]))
			j++;
		if (i == a.size || j == b.size)
			return i == a.size && j == b.size;
		if (a.bytes[i] != b.bytes[j])
			return false;
	}
}

struct fmt_text
fmt_text(struct arena *arena, const struct ast_stmt *stmts,
    const struct source *source)
{
	uint32_t bom = source_bom(source);
	struct fmt_text before = { source->text + bom, source->size - bom };
	struct fmt_text after;
	struct memory memory;

	memory_open(&memory);
	write_sbx_source(memory.stream, stmts, source);
	after.bytes = memory_close(&memory, arena);
	after.size = memory.size;
	if (!same_but_for_blanks(before, after))
		bug("the layout of %s would lose something", source->shown);
	return after;
}

size_t
fmt_long_line(struct fmt_text text)
{
	const char *at = text.bytes, *end = text.bytes + text.size;

	for (size_t line = 1; at < end; line++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		if (newline - at > PARSER_MAX_LINE)
			return line;
		at = newline + 1;
	}
	return 0;
}
