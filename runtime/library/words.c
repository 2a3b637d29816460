/*
 * A list of words, for the command line of sbxrun; it owns them.
 */
#include "runtime/library/library.h"

#include <stdlib.h>
#include <string.h>

static bool
grow(struct words *words)
{
	size_t room = 2 * words->room + 16;
	char **list;

	if (words->count + 1 < words->room)
		return true;
	list = realloc(words->list, room * sizeof *list);
	if (list == NULL)
		return false;
	words->list = list;
	words->room = room;
	return true;
}

void
words_add(struct words *words, const char *head, const char *text)
{
	size_t head_len = strlen(head), text_len = strlen(text);
	char *word = malloc(head_len + text_len + 1);

	if (word == NULL || !grow(words)) {
		free(word);
		words->failed = true;
		return;
	}
	memcpy(word, head, head_len);
	memcpy(word + head_len, text, text_len + 1);
	words->list[words->count++] = word;
	words->list[words->count] = NULL;
}

void
words_free(struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->list[i]);
	free(words->list);
	*words = (struct words){ .list = NULL };
}
