/*
 * Texts in one virtual space.  A text of n bytes takes n + 1 places, so that
 * its end has a place too; the space starts at 1, so that {0, 0} is no place.
 * Where the lines begin is noted once, when a text is added, and so is the
 * number of characters at every SOURCE_BLOCK bytes: a position is asked for
 * each rule, and a line may hold thousands of them.
 */
#include "compiler/report/report.h"

#include "compiler/base/base.h"
#include "format/text.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void
sources_init(struct sources *sources, struct arena *arena)
{
	*sources = (struct sources){ .arena = arena };
}

/* The first place that is still free. */
static uint32_t
sources_end(const struct sources *sources)
{
	if (sources->files.count == 0)
		return 1;
	const struct source *last =
	    sources->files.items[sources->files.count - 1];
	return last->base + last->size + 1;
}

static void
find_lines(struct source *source, struct arena *arena)
{
	uint32_t count = 1;

	for (uint32_t i = 0; i < source->size; i++)
		count += source->text[i] == '\n';
	uint32_t *lines = arena_alloc(arena, count * sizeof *lines);
	count = 1;
	for (uint32_t i = 0; i < source->size; i++) {
		if (source->text[i] == '\n')
			lines[count++] = i + 1;
	}
	source->lines = lines;
	source->line_count = count;
}

/* Every byte but 10xxxxxx begins a character. */
static uint32_t
begins_character(char byte)
{
	return (byte & 0xc0) != 0x80;
}

static void
count_characters(struct source *source, struct arena *arena)
{
	uint32_t *characters = arena_alloc(arena,
	    (source->size / SOURCE_BLOCK + 1) * sizeof *characters);
	uint32_t count = 0;

	for (uint32_t i = 0; i <= source->size; i++) {
		if (i % SOURCE_BLOCK == 0)
			characters[i / SOURCE_BLOCK] = count;
		count += begins_character(source->text[i]);
	}
	source->characters = characters;
}

/* How many characters begin before a byte of the text. */
static uint32_t
characters_before(const struct source *source, uint32_t offset)
{
	uint32_t block = offset / SOURCE_BLOCK;
	uint32_t count = source->characters[block];

	for (uint32_t i = block * SOURCE_BLOCK; i < offset; i++)
		count += begins_character(source->text[i]);
	return count;
}

static bool
has_room(const struct sources *sources, size_t size)
{
	return size <= SOURCE_MAX_SIZE &&
	    sources->files.count < SOURCE_MAX_FILES &&
	    sources_end(sources) + size <= SOURCE_MAX_TOTAL;
}

const char *
source_name(struct arena *arena, const char *name)
{
	size_t len = strlen(name), size, to = 0;
	char *clean = arena_strndup(arena, name, len);

	for (size_t from = 0; from < len; from += size) {
		uint32_t character;

		size = utf8_decode(name + from, len - from, &character);
		if (size == 0 || utf8_is_hidden(character)) {
			clean[to++] = '?';
			size += size == 0;
			continue;
		}
		memmove(clean + to, name + from, size);
		to += size;
	}
	return arena_intern(arena, clean, to);
}

/* Text is the arena's, or static. */
static struct source *
add(struct sources *sources, struct source given, const char *text, size_t size)
{
	struct arena *arena = sources->arena;

	if (!has_room(sources, size)) {
		errno = EFBIG;
		return NULL;
	}
	struct source *source = arena_alloc(arena, sizeof *source);
	*source = given;
	source->shown = arena_intern(arena, given.shown, strlen(given.shown));
	source->name = source_name(arena, given.name);
	source->text = text;
	source->size = (uint32_t)size;
	source->base = sources_end(sources);
	const struct source *parent = sources_find(sources, given.included_at);
	source->depth = parent != NULL ? parent->depth + 1 : 0;
	find_lines(source, arena);
	count_characters(source, arena);
	*arena_push(arena, &sources->files) = source;
	return source;
}

struct source *
sources_add(struct sources *sources, const char *shown, const char *text,
    size_t size, struct loc included_at)
{
	struct source given = {
		.shown = shown,
		.name = shown,
		.included_at = included_at,
		.builtin = strncmp(shown, "sbx:", 4) == 0,
	};

	return add(sources, given, arena_strndup(sources->arena, text, size),
	    size);
}

/* The size of a file is only a hint: it may be a pipe, or grow. */
static char *
read_text(struct arena *arena, int fd, const struct stat *st, size_t *size)
{
	size_t limit = SOURCE_MAX_SIZE + 1;

	if (S_ISREG(st->st_mode) && st->st_size > 0 &&
	    st->st_size < SOURCE_MAX_SIZE)
		limit = (size_t)st->st_size + 1;
	char *buffer = arena_alloc(arena, limit + 1);
	ssize_t got = input_read(fd, buffer, limit);
	if (got == (ssize_t)limit)
		errno = EFBIG;
	if (got < 0 || got == (ssize_t)limit)
		return NULL;
	*size = (size_t)got;
	return buffer;
}

uint32_t
source_bom(const struct source *source)
{
	return strncmp(source->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

const char *
source_first_line(const struct source *source)
{
	const char *text = source->text + source_bom(source);

	for (;;) {
		text += strspn(text, " \t\r\n");
		if (*text != '#')
			return text;
		text += strcspn(text, "\n");
	}
}

/* `sbx:` or "sbx" : and the same with sbx-test, at the start of a text or
 * behind what may stand before a key. */
static bool
has_key(const char *text)
{
	const char *at = text, *end;

	while ((at = strstr(at, "sbx")) != NULL) {
		bool starts = at == text ||
		    strchr(" \t\n{,\"'", at[-1]) != NULL;

		end = at + 3;
		if (strncmp(end, "-test", 5) == 0)
			end += 5;
		end += *end == '"' || *end == '\'';
		end += strspn(end, " \t");
		if (starts && *end == ':')
			return true;
		at += 3;
	}
	return false;
}

/* A policy begins with `sbx`, or it has a key of that name; a test file has
 * `sbx-test`. */
static bool
is_policy(const struct source *source)
{
	const char *line = source_first_line(source);

	return (strncmp(line, "sbx", 3) == 0 &&
		   strchr(" \t", line[3]) != NULL) ||
	    has_key(source->text);
}

struct source *
sources_read(struct sources *sources, const char *path, const char *name,
    struct loc included_at)
{
	int fd = input_open(path);
	struct source *source = NULL;
	struct stat st;

	if (fd == -1)
		return NULL;
	if (fstat(fd, &st) == 0) {
		size_t size;
		char *text = read_text(sources->arena, fd, &st, &size);
		struct source given = {
			.shown = strcmp(path, "-") == 0 ? "<stdin>" : path,
			.name = name,
			.path = arena_strndup(sources->arena, path,
			    strlen(path)),
			.included_at = included_at,
			.device = st.st_dev,
			.inode = st.st_ino,
		};

		if (text != NULL)
			source = add(sources, given, text, size);
		if (source != NULL)
			source->withheld = !is_policy(source);
	}
	int saved = errno;
	close(fd);
	errno = saved;
	return source;
}

const struct source *
sources_find(const struct sources *sources, struct loc loc)
{
	size_t low = 0, high = sources->files.count;

	if (loc.begin == 0)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct source *source = sources->files.items[middle];

		if (loc.begin < source->base)
			high = middle;
		else if (loc.begin - source->base > source->size)
			low = middle + 1;
		else
			return source;
	}
	return NULL;
}

void
source_line(const struct source *source, uint32_t line, const char **begin,
    const char **end)
{
	*begin = source->text + source->lines[line - 1];
	*end = source->text +
	    (line < source->line_count ? source->lines[line] - 1 :
					 source->size);
}

/* The line, from 0, that holds a byte of the text. */
static uint32_t
line_of(const struct source *source, uint32_t offset)
{
	uint32_t low = 0, high = source->line_count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (source->lines[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

struct position
sources_position(const struct sources *sources, struct loc loc)
{
	const struct source *source = sources_find(sources, loc);

	if (source == NULL)
		return (struct position){ 0 };
	uint32_t offset = loc.begin - source->base;
	uint32_t line = line_of(source, offset);
	uint32_t column = 1 + characters_before(source, offset) -
	    characters_before(source, source->lines[line]);
	/* The place may be inside a character, or behind a byte order mark. */
	if (source->size > offset && column > 1 &&
	    !begins_character(source->text[offset]))
		column--;
	if (line == 0 && offset >= 3 && source_bom(source) > 0)
		column--;
	return (struct position){
		.file = source->shown,
		.line = line + 1,
		.column = column,
	};
}
