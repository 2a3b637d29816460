/*
 * The arena, and places in the texts that were read.
 */
#include "compiler/base/base.h"
#include "compiler/report/report.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <stdalign.h>
#include <string.h>
#include <unistd.h>

static void
test_arena(struct tap *tap)
{
	struct arena *arena = arena_new();
	size_t sizes[] = { 1, 7, 4096, 100000, 3, 5 << 20, 1, 0 };
	unsigned char *all[8];
	bool zero = true, aligned = true, apart = true;

	for (size_t i = 0; i < 8; i++) {
		all[i] = arena_alloc(arena, sizes[i]);
		aligned &= (uintptr_t)all[i] % alignof(max_align_t) == 0;
		for (size_t j = 0; j < sizes[i]; j++)
			zero &= all[i][j] == 0;
		memset(all[i], (int)i + 1, sizes[i]);
	}
	for (size_t i = 0; i < 8; i++) {
		for (size_t j = 0; j < sizes[i]; j++)
			apart &= all[i][j] == i + 1;
	}
	tap_ok(tap, zero, "memory is zero");
	tap_ok(tap, aligned, "memory is aligned");
	tap_ok(tap, apart, "pieces of memory do not overlap");
	tap_ok(tap, strcmp(arena_strndup(arena, "abcdef", 3), "abc") == 0,
	    "a copy ends after its length");
	tap_ok(tap,
	    strcmp(arena_printf(arena, "%s-%05d", "x", 42), "x-00042") == 0,
	    "arena_printf");
	arena_release(arena);
}

static void
test_intern(struct tap *tap)
{
	enum { COUNT = 20000 };
	struct arena *arena = arena_new();
	static const char *first[COUNT];
	bool same = true, right = true;
	char name[32];

	for (int i = 0; i < COUNT; i++) {
		int len = snprintf(name, sizeof name, "name%d", i);

		first[i] = arena_intern(arena, name, (size_t)len);
	}
	for (int i = 0; i < COUNT; i++) {
		int len = snprintf(name, sizeof name, "name%d", i);

		same &= arena_intern(arena, name, (size_t)len) == first[i];
		right &= strcmp(first[i], name) == 0;
	}
	tap_ok(tap, same, "equal texts are interned once");
	tap_ok(tap, right, "interned texts keep their bytes");
	tap_ok(tap, arena_intern(arena, "name1x", 5) == first[1],
	    "interning looks at len bytes only");
	tap_ok(tap,
	    arena_intern(arena, "a\0b", 3) != arena_intern(arena, "a\0c", 3),
	    "a NUL does not end a text");
	tap_ok(tap, *arena_intern(arena, "", 0) == '\0', "the empty text");
	arena_release(arena);
}

static void
test_vector(struct tap *tap)
{
	struct arena *arena = arena_new();
	VEC(int) numbers = { NULL, 0 };
	bool zero = true, right = true;

	for (int i = 0; i < 1000; i++) {
		int *number = arena_push(arena, &numbers);

		zero &= *number == 0;
		*number = i;
		arena_alloc(arena, 1); /* so that growing must move it */
	}
	for (int i = 0; i < 1000; i++)
		right &= numbers.items[i] == i;
	tap_ok(tap, zero && numbers.count == 1000, "new elements are zero");
	tap_ok(tap, right, "an array keeps its elements when it grows");
	arena_release(arena);
}

static void
at(struct tap *tap, const struct sources *sources, const struct source *source,
    uint32_t offset, uint32_t line, uint32_t column)
{
	struct loc loc = { source->base + offset, source->base + offset };
	struct position got = sources_position(sources, loc);

	tap_ok(tap,
	    got.file == source->shown && got.line == line &&
		got.column == column,
	    "%s+%u is %u:%u, got %u:%u", source->shown, offset, line, column,
	    got.line, got.column);
}

static void
test_positions(struct tap *tap)
{
	static const char text[] = "ab\n\ncd\xc3\xa9"
				   "f\r\nx";
	static const char marked[] = "\xef\xbb\xbfsbx 1\n\xe6\x97\xa5z\n";
	struct arena *arena = arena_new();
	struct loc none = { 0, 0 };
	struct sources sources;

	sources_init(&sources, arena);
	tap_ok(tap, sources_find(&sources, (struct loc){ 5, 6 }) == NULL,
	    "no file, no place");
	struct source *a = sources_add(&sources, "a", text, sizeof text - 1,
	    none);
	struct source *empty = sources_add(&sources, "empty", "", 0,
	    (struct loc){ a->base, a->base + 2 });
	struct source *b = sources_add(&sources, "sbx:b", marked,
	    sizeof marked - 1, (struct loc){ empty->base, empty->base });
	at(tap, &sources, a, 0, 1, 1);
	at(tap, &sources, a, 2, 1, 3); /* the newline ends its own line */
	at(tap, &sources, a, 3, 2, 1);
	at(tap, &sources, a, 4, 3, 1);
	at(tap, &sources, a, 6, 3, 3);
	at(tap, &sources, a, 7, 3, 3); /* inside the e with its accent */
	at(tap, &sources, a, 8, 3, 4);
	at(tap, &sources, a, 11, 4, 1);
	at(tap, &sources, a, 12, 4, 2); /* the end */
	at(tap, &sources, empty, 0, 1, 1);
	at(tap, &sources, b, 3, 1, 1); /* the mark has no column */
	at(tap, &sources, b, 7, 1, 5);
	at(tap, &sources, b, 12, 2, 2);
	tap_ok(tap,
	    sources_find(&sources, none) == NULL &&
		sources_position(&sources, none).file == NULL,
	    "no place is in no source");
	tap_ok(tap, a->base > 0, "the first byte of all is a place");
	tap_ok(tap,
	    sources_find(&sources, (struct loc){ b->base + b->size + 1, 0 }) ==
		NULL,
	    "behind the last source there is none");
	tap_ok(tap, a->depth == 0 && empty->depth == 1 && b->depth == 2,
	    "depth counts the includes");
	tap_ok(tap, b->builtin && !a->builtin, "sbx: marks a built-in text");
	arena_release(arena);
}

static void
test_bounds(struct tap *tap)
{
	struct arena *arena = arena_new();
	char *large = calloc(1, SOURCE_MAX_SIZE + 1);
	struct loc none = { 0, 0 };
	struct sources sources;
	int count = 0;

	sources_init(&sources, arena);
	errno = 0;
	tap_ok(tap,
	    sources_add(&sources, "l", large, SOURCE_MAX_SIZE + 1, none) ==
		    NULL &&
		errno == EFBIG,
	    "one byte too long");
	while (count < 100 &&
	    sources_add(&sources, "l", large, SOURCE_MAX_SIZE, none) != NULL)
		count++;
	tap_ok(tap, count == SOURCE_MAX_TOTAL / SOURCE_MAX_SIZE - 1,
	    "%d files of the greatest size fit into the total", count);
	for (count = 0;
	     count < 1000 && sources_add(&sources, "s", "", 0, none) != NULL;
	     count++)
		continue;
	tap_ok(tap, sources.files.count == SOURCE_MAX_FILES,
	    "the number of files is bounded");
	free(large);
	arena_release(arena);
}

static void
test_read(struct tap *tap)
{
	char path[] = "/tmp/sbx-test-XXXXXX";
	struct arena *arena = arena_new();
	struct loc none = { 0, 0 };
	struct sources sources;
	struct source *source;
	int fd = mkstemp(path);
	int ends[2];

	sources_init(&sources, arena);
	tap_ok(tap, fd != -1 && write(fd, "sbx 1\n\0x", 8) == 8,
	    "a file to read");
	source = sources_read(&sources, path, "name", none);
	tap_ok(tap,
	    source != NULL && source->size == 8 &&
		memcmp(source->text, "sbx 1\n\0x", 9) == 0 &&
		strcmp(source->shown, path) == 0 &&
		strcmp(source->name, "name") == 0 && source->inode != 0,
	    "a file is read whole, with a NUL behind it");
	tap_ok(tap,
	    ftruncate(fd, SOURCE_MAX_SIZE + 1) == 0 &&
		sources_read(&sources, path, "x", none) == NULL &&
		errno == EFBIG,
	    "a file that is too long");
	unlink(path);
	tap_ok(tap,
	    sources_read(&sources, path, "x", none) == NULL && errno == ENOENT,
	    "a file that is not there");
	tap_ok(tap,
	    sources_read(&sources, "/", "x", none) == NULL && errno == EISDIR,
	    "a directory");
	tap_ok(tap,
	    sources_read(&sources, "/dev/zero", "x", none) == NULL &&
		strcmp(input_strerror(errno), strerror(errno)) != 0,
	    "a device is no file");
	tap_ok(tap,
	    pipe(ends) == 0 && write(ends[1], "sbx 1", 5) == 5 &&
		close(ends[1]) == 0 && dup2(ends[0], STDIN_FILENO) == 0,
	    "a pipe as standard input");
	source = sources_read(&sources, "-", "-", none);
	tap_ok(tap,
	    source != NULL && source->size == 5 &&
		strcmp(source->shown, "<stdin>") == 0,
	    "standard input is read");
	close(fd);
	arena_release(arena);
}

int
main(void)
{
	struct tap tap = { 0, 0 };

	test_arena(&tap);
	test_intern(&tap);
	test_vector(&tap);
	test_positions(&tap);
	test_bounds(&tap);
	test_read(&tap);
	return tap_done(&tap);
}
