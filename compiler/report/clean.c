/*
 * Text that a reviewer sees as the compiler reads it: UTF-8 without control
 * characters, and without characters that are invisible or change the direction
 * of the text.
 */
#include "compiler/report/report.h"

#include "format/text.h"

#include <string.h>

/* A text with one such fault often has many; a few of them are enough. */
enum { UNCLEAN_MAX = 5 };

/*
 * What is wrong with the character at an offset, or NULL; *size is its size.
 */
static const char *
unclean(const struct source *source, struct arena *arena, uint32_t offset,
    size_t *size)
{
	const char *text = source->text + offset;
	uint32_t character;

	*size = utf8_decode(text, source->size - offset, &character);
	if (*size == 0) {
		*size = 1;
		return arena_printf(arena, "the byte 0x%02x is not UTF-8",
		    (unsigned char)*text);
	}
	if (character == '\n' || character == '\t' ||
	    (character == '\r' && text[1] == '\n') ||
	    !utf8_is_hidden(character))
		return NULL;
	return arena_printf(arena,
	    character < ' ' ? "control character U+%04X" :
			      "invisible character U+%04X",
	    (unsigned)character);
}

/* Whether any byte of it is neither printable ASCII nor a newline. */
static bool
is_plain(const char *text, size_t size)
{
	unsigned odd = 0;

	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];

		odd |= (unsigned)((c < ' ' && c != '\n') | (c >= 0x7f));
	}
	return odd == 0;
}

bool
text_is_clean(const struct source *source, struct diags *diags)
{
	uint32_t offset = source_bom(source);
	int found = 0;
	size_t size;

	if (is_plain(source->text, source->size))
		return true;
	if (source->size >= sizeof SBX_MAGIC - 1 &&
	    memcmp(source->text, SBX_MAGIC, sizeof SBX_MAGIC - 1) == 0) {
		struct loc loc = { source->base, source->base + 1 };

		diag_help(diag_add(diags, DIAG_BAD_BYTE, loc,
			      "this is a compiled policy, not a text"),
		    "'sbxc dump' and 'sbxc why' read it");
		return false;
	}
	while (offset < source->size && found < UNCLEAN_MAX) {
		const char *what = unclean(source, diags->arena, offset, &size);
		uint32_t begin = source->base + offset;

		offset += (uint32_t)size;
		if (what == NULL)
			continue;
		struct loc loc = { begin, begin + (uint32_t)size };
		diag_add(diags, DIAG_BAD_BYTE, loc, "%s", what);
		found++;
		while (offset < source->size && source->text[offset] != '\n')
			offset++;
	}
	return found == 0;
}

bool
bytes_are_clean(const char *bytes, size_t len)
{
	size_t at = 0;

	while (at < len) {
		uint32_t character;
		size_t size = utf8_decode(bytes + at, len - at, &character);

		if (size == 0 ||
		    (character != '\n' && character != '\t' &&
			utf8_is_hidden(character)))
			return false;
		at += size;
	}
	return true;
}

const char blob_unclean[] =
    "it holds text with invisible characters or such that are no UTF-8";

bool
blob_is_clean(const struct sbx_blob *blob)
{
	for (uint32_t at = 0; at < blob->strings_size;) {
		size_t len = strlen(blob->strings + at);

		if (!bytes_are_clean(blob->strings + at, len))
			return false;
		at += (uint32_t)len + 1;
	}
	return true;
}
