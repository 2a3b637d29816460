/* One setting of a text, in whatever form most programs have them. */
#include "format/text.h"

/* Behind the word that a text begins with; NULL: it does not. */
static const char *
behind(const char *text, const char *word)
{
	for (; *word != '\0'; text++, word++) {
		if (*text != *word)
			return NULL;
	}
	return text;
}

static const char *
skip(const char *text, const char *bytes)
{
	const char *byte = bytes;

	while (*byte != '\0') {
		if (*text == *byte) {
			text++;
			byte = bytes;
		} else {
			byte++;
		}
	}
	return text;
}

bool
text_has_setting(const char *text, const char *word, const char *usual)
{
	for (; *text != '\0'; text++) {
		const char *value = behind(text, word);

		if (value == NULL)
			continue;
		if (usual == NULL)
			return true;
		value = skip(value, " \t");
		if (*value != '=' && *value != ':')
			continue;
		if (behind(skip(value + 1, " \t\"'"), usual) == NULL)
			return true;
	}
	return false;
}
