/*
 * Any bytes at all as what a command printed: what is found in it are texts of a
 * bounded number and size, each on a line that is there, without what a
 * terminal obeys.
 */
#include "compiler/query/messages.h"
#include "format/blob.h"
#include "tests/fuzz/fuzz.h"

static void
check(const struct mention *mention, uint32_t lines)
{
	must(mention->kind < MENTION_END, "a kind that is none");
	must(mention->error < ERROR_END, "an error that is none");
	must(mention->line >= 1 && mention->line <= lines, "a line of nowhere");
	must(*mention->name != '\0' && strlen(mention->name) < SBX_MAX_PATH,
	    "a name of no size");
	must(strlen(mention->text) <= MESSAGES_MAX_LINE, "a line too long");
	must(strchr(mention->text, 0x1b) == NULL &&
		strchr(mention->text, '\n') == NULL,
	    "a line that is not plain");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	struct mentions mentions = { .before = 0 };
	char *text = malloc(size > 0 ? size : 1);
	uint32_t lines = 1;

	must(text != NULL, "no memory");
	if (size > 0)
		memcpy(text, data, size);
	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	messages_read(arena, text, size, &mentions);
	must(mentions.list.count <= MESSAGES_MAX_MENTIONS, "too many");
	for (size_t i = 0; i < mentions.list.count; i++)
		check(&mentions.list.items[i], lines);
	free(text);
	arena_release(arena);
	return 0;
}
