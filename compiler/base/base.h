/* Memory, tables, names, files, JSON. */
#ifndef SBX_COMPILER_BASE_BASE_H
#define SBX_COMPILER_BASE_BASE_H

#include "format/blob.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* --- arena.c ----------------------------------------------------------- */

/*
 * Memory that is released all at once.  The compiler builds trees and tables
 * and never takes one node back, so nothing but the arena is ever freed and no
 * error path has anything to clean up.
 */

struct arena;

/* Never NULL: running out of memory ends the program with exit status 3. */
struct arena *arena_new(void);

/* An arena that is released earlier.  What is interned in it is the parent's,
 * so that one text has one address in both. */
struct arena *arena_child(struct arena *parent);

void arena_release(struct arena *arena);

/* What running out of memory does. */
void arena_exhausted(void) __attribute__((noreturn));

/* Zeroed memory, aligned for any type. */
void *arena_alloc(struct arena *arena, size_t size);

/* A NUL-terminated copy of len bytes. */
char *arena_strndup(struct arena *arena, const char *text, size_t len);

char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3), nonnull(2)));

/*
 * The one copy of this text: equal texts give equal pointers, so that names
 * are compared with ==.
 */
const char *arena_intern(struct arena *arena, const char *text, size_t len);

/*
 * Room for one more element of a growing array: `items` points to the array's
 * pointer, which may move.  Returns the new, zeroed element.
 */
#define arena_push(arena, vec) \
	((vec)->items = arena_grow((arena), (vec)->items, (vec)->count, \
	     sizeof *(vec)->items), \
	    &(vec)->items[(vec)->count++])
void *arena_grow(struct arena *arena, void *items, size_t count, size_t size);

/* A growing array of T, for arena_push(). */
#define VEC(T) \
	struct { \
		T *items; \
		size_t count; \
	}

/* --- bug.c ------------------------------------------------------------- */

void bug(const char *format, ...)
    __attribute__((noreturn, format(printf, 1, 2)));

/* --- complain.c -------------------------------------------------------- */

/* What sbxc ends with. */
enum exit_status {
	EXIT_CLEAN,
	EXIT_POLICY, /* the policy is at fault; why: denied */
	EXIT_TROUBLE =
	    3, /* a file is missing, no memory, no room on the disk */
	/* Called wrongly: of sbxrun, whose command has all others. */
	EXIT_USAGE = 125,
};

/* One line on standard error: "sbxc: ...". */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for a wrong command line; returns EXIT_USAGE. */
enum exit_status misused(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* --- input.c ----------------------------------------------------------- */

/*
 * Opens a regular file, or standard input for "-"; -1 with errno.  Another kind
 * of file is opened only by the name of a descriptor, so that nobody can make
 * sbxc wait for a pipe that they have put into a directory.
 */
int input_open(const char *path);

/* strerror(3) for what input_open() says. */
const char *input_strerror(int error);

/* Reads up to `size` bytes; less means the end, -1 an error. */
ssize_t input_read(int fd, void *bytes, size_t size);

/*
 * Reads and verifies a blob ("-" is standard input) into the arena.  False
 * after complaining; errno is EBADMSG if what was read is no blob.
 */
bool input_blob(struct arena *arena, const char *path, struct sbx_blob *blob);

/*
 * Whether the file begins like a blob.  It can still be read from its start: if
 * it is a pipe, a temporary file with the same contents replaces its
 * descriptor.
 */
bool input_is_blob(const char *path);

/* --- json.c ------------------------------------------------------------ */

/*
 * JSON, written and read.  A tree is built from the top: an object or array
 * belongs to the one that it is put into, and json_write() writes and frees the
 * root.  Texts may hold any bytes: those that are not UTF-8 become U+FFFD.
 * When memory runs out the program ends as in arena.c.
 */

struct json_t; /* the library's */

struct json_t *json_root(void); /* an empty object */

/* These put a value into an object or, if the key is NULL, at the end of an
 * array.  A text that is NULL is left out. */
void json_put_text(struct json_t *into, const char *key, const char *text);
void json_put_number(struct json_t *into, const char *key, uint64_t number);
void json_put_bool(struct json_t *into, const char *key, bool value);
struct json_t *json_put_object(struct json_t *into, const char *key);
struct json_t *json_put_array(struct json_t *into, const char *key);

/* Writes the tree indented, in the order in which it was built, and a
 * newline. */
void json_write(struct json_t *root, FILE *stream);

/* Parses a text; json_release() frees the tree.  NULL if it is no JSON. */
struct json_t *json_read(const char *text);

/* The same for a line of a text; if it is no JSON, *fault says why and *at where,
 * in bytes.  One that is no object is none. */
struct json_t *json_read_line(struct arena *arena, const char *line, size_t len,
    size_t *at, const char **fault);
void json_release(struct json_t *root);

/* What an object has under a key: a text or NULL, a number or 0, any value or
 * NULL.  They belong to the tree.  `object` may be NULL or another kind of
 * value, which has nothing. */
const char *json_text(const struct json_t *object, const char *key);
uint64_t json_number(const struct json_t *object, const char *key);
double json_seconds(const struct json_t *object, const char *key);
bool json_flag(const struct json_t *object, const char *key);
const struct json_t *json_member(const struct json_t *object, const char *key);

/* The elements of an array; anything else has none. */
size_t json_count(const struct json_t *array);
const struct json_t *json_item(const struct json_t *array, size_t index);

/* A value that is a text, or NULL; whether a member is true. */
const char *json_text_at(const struct json_t *value);
bool json_true_at(const struct json_t *object, const char *key);

/* The object under a key, which is made if nothing is there; NULL if something
 * else is. */
struct json_t *json_edit(struct json_t *object, const char *key);

/* Puts a copy of a value into the array under a key, before the element of that
 * index, or at the end if there is none. */
void json_insert(struct json_t *object, const char *key, size_t index,
    const struct json_t *value);

/* What leads from one tree to another: {"at": [KEY ...], "before": VALUE, "after":
 * VALUE} for each member that differs, without "before" if it is new and without
 * "after" if it is gone.  Arrays differ as a whole.  Put into the array `into`. */
void json_edits(struct json_t *into, const struct json_t *before,
    const struct json_t *after);

/* Takes such edits back from a tree that others have changed since.  A member that
 * was new and is not what it was made stays; false, with the tree half done, if one
 * that replaced another is not. */
bool json_take_back(struct json_t *root, const struct json_t *edits);

/* The key after another one (NULL: the first), or NULL. */
const char *json_key(const struct json_t *object, const char *after);

/* A tree as a text with the indentation of another one, which may be NULL; and
 * one text as JSON writes it. */
const char *json_print(struct arena *arena, const struct json_t *root,
    const char *like);
const char *json_quoted(struct arena *arena, const char *text);

/* --- map.c ------------------------------------------------------------- */

/*
 * The hash table.  Keys are either names, which are interned, so that two are
 * equal if their addresses are, or any bytes.  A map has keys of one kind.
 * Each key has a value and a number: the first key has 0, the next one 1.  A
 * zeroed map is empty.
 */

struct map_key {
	const void *bytes; /* a name, or a copy of the bytes */
	size_t size;
	uint64_t hash;
	void *value;
};

struct map {
	VEC(struct map_key) keys; /* by number */
	uint32_t *slots;          /* 1 + number, or 0 */
	size_t capacity;          /* of slots, a power of two */
};

/* A number for a name, or for NULL; it differs from run to run. */
uint64_t hash_name(const void *name);

/* The value of a name, or NULL. */
void *map_find(const struct map *map, const void *name);

/* Binds a name, which is not NULL, to a value; replaces what was there. */
void map_put(struct arena *arena, struct map *map, const void *name,
    void *value);

/* The number of these bytes, which are copied if they are new; *added says
 * whether they were. */
size_t map_number(struct arena *arena, struct map *map, const void *bytes,
    size_t size, bool *added);

/* The number of these bytes, or SIZE_MAX if they are not there. */
size_t map_number_find(const struct map *map, const void *bytes, size_t size);

/* --- names.c ----------------------------------------------------------- */

/*
 * "Did you mean": the name among the known ones that a mistyped name is
 * closest to.
 */

/*
 * The candidate nearest to text, or NULL if none is near enough to be what was
 * meant.  NULL candidates are skipped; on a tie the first wins.
 */
const char *nearest_name(const char *text, const char *const *candidates,
    size_t count);

/* No suggestion is made for a longer name. */
enum { NAME_MAX_LEN = 64 };

/* Whether a name has the form of one: a letter, then letters, digits, '-' and
 * '_', at most NAME_MAX_LEN in all.  It may still be a keyword: see
 * word_is_name(). */
bool name_is_good(const char *name, size_t len);

/* --- output.c ---------------------------------------------------------- */

/* A text that is written to a stream. */
struct memory {
	FILE *stream;
	char *bytes;
	size_t size;
};
void memory_open(struct memory *memory);
/* Closes it; the text, of memory->size bytes and a zero byte. */
char *memory_close(struct memory *memory, struct arena *arena);

struct stat;

struct output {
	const char *path;
	const void *bytes;
	size_t size;
	const struct stat
	    *like;  /* what it replaces: owner and mode stay; or NULL */
	bool stays; /* no link is followed, whatever was read */
};

/*
 * Writes each file under a temporary name beside its place, and renames all of
 * them when all are written.  On failure nothing is left, errno is set and
 * *failed is the path at fault.  What exists and is no regular file (/dev/null,
 * a pipe that is read) is written in place.  A symbolic link is replaced, since
 * anybody who may write the directory could have made it, unless its file was
 * read (`like`, and not `stays`) or it is one of the system's.
 */
bool outputs_write(const struct output *outputs, size_t count,
    const char **failed);

/* Writes all of it, however many write(2) it takes; false and errno if it
 * cannot. */
bool write_whole(int fd, const char *bytes, size_t size);

/* --- path.c ------------------------------------------------------------ */

struct arena;

/* What is behind the last slash, or all of it; points into the path. */
const char *path_name(const char *path);

/* Whether it is the directory, or below it. */
bool path_lies_in(const char *path, const char *directory);

/* "out/team" of "out/team.sbx": without the last dot of its name and what is
 * behind it.  A name that only begins with a dot has none to lose. */
const char *path_stem(struct arena *arena, const char *path);

/* --- shell.c ----------------------------------------------------------- */

/* A word as a shell takes it: in single quotes, if it needs them. */
const char *shell_word(struct arena *arena, const char *word);

/* Whether an absolute path means the same to every shell, with quotes and
 * without.  A command is offered for no other one: whoever chose the name may
 * want it to be run. */
bool shell_is_safe(const char *path);

/* --- width.c ----------------------------------------------------------- */

/*
 * How wide characters are on a terminal.
 */

/* Columns of a character that is not hidden: 0, 1 or 2. */
int character_width(uint32_t character);

#endif
