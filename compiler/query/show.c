/*
 * Parts of a verified blob as the language writes them.  Text from a blob is
 * never printed as it is: anybody may have made the blob.
 */
#include "compiler/query/why.h"
#include "compiler/tables/tables.h"

#include "format/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Hidden characters, which may move the cursor or turn the direction of the
 * text round, are written as bytes; so is text that is no UTF-8. */
static bool
is_printable(const char *text, size_t *size)
{
	uint32_t character;

	*size = utf8_decode(text, strlen(text), &character);
	if (*size > 0 && !utf8_is_hidden(character))
		return true;
	if (*size == 0)
		*size = 1;
	return false;
}

static bool
is_plain(const char *text)
{
	for (size_t size; *text != '\0'; text += size) {
		if (!is_printable(text, &size) ||
		    strchr(" \"\\#'", *text) != NULL)
			return false;
	}
	return true;
}

void
show_quoted(FILE *stream, const char *text)
{
	putc('"', stream);
	for (size_t size; *text != '\0'; text += size) {
		if (is_printable(text, &size)) {
			if (*text == '"' || *text == '\\')
				putc('\\', stream);
			fwrite(text, 1, size, stream);
			continue;
		}
		for (size_t i = 0; i < size; i++)
			fprintf(stream, "\\x%02x", (uint8_t)text[i]);
	}
	putc('"', stream);
}

void
show_text(FILE *stream, const char *text)
{
	if (*text != '\0' && is_plain(text))
		fputs(text, stream);
	else
		show_quoted(stream, text);
}

/* What a word of the language that is a path ends at, or takes for something
 * else: the anchor is no part of `suffix`. */
static bool
needs_quotes(const char *suffix)
{
	for (; *suffix != '\0'; suffix++) {
		if (strchr("/._-+@%:", *suffix) == NULL &&
		    !(*suffix >= '0' && *suffix <= '9') &&
		    !(*suffix >= 'a' && *suffix <= 'z') &&
		    !(*suffix >= 'A' && *suffix <= 'Z') &&
		    (unsigned char)*suffix < 0x80)
			return true;
	}
	return false;
}

/* What follows an anchor, or all of an absolute path. */
static const char *
after_anchor(const char *path)
{
	const char *end = strncmp(path, "${", 2) == 0 ? strchr(path, '}') :
							NULL;

	if (end != NULL)
		return end + 1;
	return path[0] == '~' ? path + 1 : path;
}

static void
write_quoted(FILE *stream, const void *text)
{
	show_quoted(stream, text);
}

const char *
spelled_path(struct arena *arena, const char *path)
{
	const char *text = path;
	size_t size;

	if (strlen(path) > SBX_MAX_PATH ||
	    strstr(after_anchor(path), "${") != NULL)
		return NULL;
	for (; *text != '\0'; text += size) {
		if (!is_printable(text, &size))
			return NULL;
	}
	if (!needs_quotes(after_anchor(path)) && is_plain(path))
		return path;
	return show_to_text(arena, write_quoted, path);
}

/* An anchor as the language writes it, and what comes after it. */
static void
show_anchored(FILE *stream, const struct sbx_blob *blob, uint16_t anchor,
    const char *suffix, const char *glob)
{
	const char *name = sbx_string(blob, blob->anchors[anchor].name);
	char *text;
	int len;

	if (anchor == SBX_ANCHOR_ROOT)
		len = asprintf(&text, "%s%s",
		    *suffix == '\0' && *glob == '\0' ? "/" : suffix, glob);
	else if (anchor == SBX_ANCHOR_HOME)
		len = asprintf(&text, "~%s%s", suffix, glob);
	else
		len = asprintf(&text, "${%s}%s%s", name, suffix, glob);
	if (len < 0)
		arena_exhausted();
	if (*glob != '\0' || needs_quotes(suffix))
		show_quoted(stream, text);
	else
		show_text(stream, text);
	free(text);
}

void
show_place(FILE *stream, const struct sbx_blob *blob, uint16_t anchor,
    uint32_t suffix)
{
	show_anchored(stream, blob, anchor, sbx_string(blob, suffix), "");
}

void
show_glob(FILE *stream, const struct sbx_blob *blob, uint16_t anchor,
    uint32_t suffix, uint32_t glob)
{
	if (glob != 0)
		fputs("glob ", stream);
	show_anchored(stream, blob, anchor, sbx_string(blob, suffix),
	    sbx_string(blob, glob));
}

void
show_path_rule(FILE *stream, const struct sbx_blob *blob,
    const struct sbx_path *rule)
{
	if ((rule->rights & SBX_STAGED) != 0)
		fputs("stage write ", stream);
	else
		fprintf(stream, "%s %s ", effect_word(rule->effect),
		    rights_word(rule->effect, rule->rights));
	show_glob(stream, blob, rule->anchor, rule->suffix, rule->glob);
	for (uint16_t i = 0; i < rule->exclusion_count; i++) {
		const struct sbx_exclusion *exclusion =
		    &blob->exclusions[rule->first_exclusion + i];

		fputs(i == 0 ? " except " : " ", stream);
		if (i == 0 && rule->exclusion_count > 1)
			fputs("{ ", stream);
		show_place(stream, blob, exclusion->anchor, exclusion->suffix);
	}
	if (rule->exclusion_count > 1)
		fputs(" }", stream);
}

struct shown_path {
	const struct sbx_blob *blob;
	const struct sbx_path *rule;
};

static void
write_path_rule(FILE *stream, const void *what)
{
	const struct shown_path *shown = what;

	show_path_rule(stream, shown->blob, shown->rule);
}

const char *
shown_rule(struct arena *arena, const struct sbx_blob *blob,
    const struct sbx_path *rule)
{
	const struct shown_path shown = { blob, rule };

	return show_to_text(arena, write_path_rule, &shown);
}

void
show_platforms(FILE *stream, uint8_t platforms)
{
	static const struct {
		uint8_t bits;
		const char *name;
	} names[] = {
		{ SBX_ON_LINUX_X86_64, "x86_64" },
		{ SBX_ON_LINUX_AARCH64, "aarch64" },
		{ SBX_ON_MACOS, "macos" },
	};

	/* The rules of a blob are for Linux; macOS has a profile of its own. */
	if ((platforms & SBX_ON_LINUX) == SBX_ON_LINUX)
		return;
	fputs(" on", stream);
	for (size_t i = 0; i < countof(names); i++) {
		if ((platforms & names[i].bits) != names[i].bits)
			continue;
		fprintf(stream, " %s", names[i].name);
		platforms &= (uint8_t)~names[i].bits;
	}
}

void
show_source(FILE *stream, const struct sbx_blob *blob, uint32_t source)
{
	const struct sbx_source *at;

	if (source == SBX_NO_SOURCE) {
		fputs("(built in)", stream);
		return;
	}
	at = &blob->sources[source];
	show_text(stream, sbx_string(blob, at->file));
	fprintf(stream, ":%u:%u", at->line, at->column);
}

const char *
show_via(const struct sbx_blob *blob, uint32_t source)
{
	const char *via;

	if (source == SBX_NO_SOURCE)
		return NULL;
	via = sbx_string(blob, blob->sources[source].via);
	return *via != '\0' ? via : NULL;
}

const char *
show_errno(uint16_t error)
{
	/* strerrorname_np() knows the host's numbers; those that filters
	 * return are the same on all machines that sbx serves. */
	return error != 0 ? strerrorname_np(error) : NULL;
}

const char *
show_to_text(struct arena *arena, show_writer *write, const void *what)
{
	struct memory memory;

	memory_open(&memory);
	write(memory.stream, what);
	return memory_close(&memory, arena);
}

static void
write_text(FILE *stream, const void *what)
{
	show_text(stream, what);
}

const char *
shown_text(struct arena *arena, const char *text)
{
	return show_to_text(arena, write_text, text);
}

struct shown_place {
	const struct sbx_blob *blob;
	uint32_t source;
};

static void
write_source(FILE *stream, const void *what)
{
	const struct shown_place *place = what;

	show_source(stream, place->blob, place->source);
}

const char *
show_source_text(struct arena *arena, const struct sbx_blob *blob,
    uint32_t source)
{
	const struct shown_place place = { blob, source };

	return show_to_text(arena, write_source, &place);
}
