/*
 * Words in commands for a shell, which people and agents paste.
 */
#include "compiler/base/base.h"

#include <string.h>

#define LETTERS \
	"abcdefghijklmnopqrstuvwxyz" \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

const char *
shell_word(struct arena *arena, const char *word)
{
	const char *text = "", *quote;

	if (*word != '\0' && strspn(word, LETTERS "/._-+@%:,=") == strlen(word))
		return word;
	while ((quote = strchr(word, '\'')) != NULL) {
		text = arena_printf(arena, "%s%.*s'\\''", text,
		    (int)(quote - word), word);
		word = quote + 1;
	}
	return arena_printf(arena, "'%s%s'", text, word);
}

bool
shell_is_safe(const char *path)
{
	return path[0] == '/' &&
	    strspn(path, LETTERS "._/+@~-") == strlen(path);
}
