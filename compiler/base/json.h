/*
 * JSON, written and read.  A tree is built top down: an object or array that is
 * put into another belongs to it, and json_write() writes and frees the root.
 * Texts may hold any bytes: what is no UTF-8 becomes U+FFFD.  Running out of
 * memory ends the program as in arena.h.
 */
#ifndef SBX_JSON_H
#define SBX_JSON_H

#include "compiler/base/arena.h"

#include <stdbool.h>
#include <stdio.h>

struct json_t; /* the library's */

struct json_t *json_root(void); /* an empty object */

/* Into an object, or with a key of NULL to the end of an array.  A text of NULL
 * puts nothing. */
void json_put_text(struct json_t *into, const char *key, const char *text);
void json_put_number(struct json_t *into, const char *key, uint64_t number);
void json_put_bool(struct json_t *into, const char *key, bool value);
struct json_t *json_put_object(struct json_t *into, const char *key);
struct json_t *json_put_array(struct json_t *into, const char *key);

/* Indented, in the order in which it was put, and a newline. */
void json_write(struct json_t *root, FILE *stream);

/* One text with its quotes, for a writer that has a layout of its own. */
void json_print_text(const char *text, FILE *stream);

/* The tree of a text, for json_release(); NULL if it is no JSON. */
struct json_t *json_read(const char *text);
void json_release(struct json_t *root);

/* Of an object, which may be NULL or something else: the text of a key or NULL,
 * its number or 0, and any value or NULL.  They belong to the tree. */
const char *json_text(const struct json_t *object, const char *key);
uint64_t json_number(const struct json_t *object, const char *key);
const struct json_t *json_member(const struct json_t *object, const char *key);

#endif
