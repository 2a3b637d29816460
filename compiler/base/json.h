/*
 * JSON, written and read.  A tree is built from the top: an object or array
 * belongs to the one that it is put into, and json_write() writes and frees the
 * root.  Texts may hold any bytes: those that are not UTF-8 become U+FFFD.
 * When memory runs out the program ends as in arena.h.
 */
#ifndef SBX_COMPILER_BASE_JSON_H
#define SBX_COMPILER_BASE_JSON_H

#include "compiler/base/arena.h"

#include <stdbool.h>
#include <stdio.h>

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

#endif
