/*
 * JSON text from a tree that is built top down.  An object or array that is
 * put into another belongs to it; json_write() writes and frees the root.
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

/* Into an object; a text of NULL puts nothing. */
void json_put_text(struct json_t *object, const char *key, const char *text);
void json_put_number(struct json_t *object, const char *key, uint64_t number);
void json_put_bool(struct json_t *object, const char *key, bool value);
struct json_t *json_put_object(struct json_t *object, const char *key);
struct json_t *json_put_array(struct json_t *object, const char *key);

/* To the end of an array. */
void json_add_text(struct json_t *array, const char *text);
struct json_t *json_add_object(struct json_t *array);

/* Indented, in the order in which it was put, and a newline. */
void json_write(struct json_t *root, FILE *stream);

#endif
