/* See json.h: the only file that knows the library. */
#include "compiler/base/json.h"

#include "compiler/base/utf8.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 2 };

/* Everything the library makes may be NULL for want of memory alone: keys are
 * ours and texts are cleaned. */
static json_t *
must(json_t *value)
{
	if (value == NULL)
		arena_exhausted();
	return value;
}

static void
must_store(int status)
{
	if (status != 0)
		arena_exhausted();
}

/* A copy with each byte that belongs to no character replaced by U+FFFD. */
static json_t *
text_cleaned(const char *text, size_t len)
{
	char *clean = malloc(3 * len + 1);
	size_t used = 0;
	json_t *value;

	if (clean == NULL)
		arena_exhausted();
	while (len > 0) {
		uint32_t character;
		size_t size = utf8_decode(text, len, &character);

		memcpy(clean + used, size > 0 ? text : "\xef\xbf\xbd",
		    size > 0 ? size : 3);
		used += size > 0 ? size : 3;
		text += size > 0 ? size : 1;
		len -= size > 0 ? size : 1;
	}
	value = must(json_stringn(clean, used));
	free(clean);
	return value;
}

static json_t *
text_value(const char *text)
{
	size_t len = strlen(text);
	json_t *value = json_stringn(text, len);

	return value != NULL ? value : text_cleaned(text, len);
}

struct json_t *
json_root(void)
{
	return must(json_object());
}

void
json_put_text(struct json_t *object, const char *key, const char *text)
{
	if (text != NULL)
		must_store(json_object_set_new(object, key, text_value(text)));
}

void
json_put_number(struct json_t *object, const char *key, uint64_t number)
{
	must_store(json_object_set_new(object, key,
	    must(json_integer((json_int_t)number))));
}

void
json_put_bool(struct json_t *object, const char *key, bool value)
{
	must_store(json_object_set_new(object, key, json_boolean(value)));
}

struct json_t *
json_put_object(struct json_t *object, const char *key)
{
	json_t *value = must(json_object());

	must_store(json_object_set_new(object, key, value));
	return value;
}

struct json_t *
json_put_array(struct json_t *object, const char *key)
{
	json_t *value = must(json_array());

	must_store(json_object_set_new(object, key, value));
	return value;
}

void
json_add_text(struct json_t *array, const char *text)
{
	must_store(json_array_append_new(array, text_value(text)));
}

struct json_t *
json_add_object(struct json_t *array)
{
	json_t *value = must(json_object());

	must_store(json_array_append_new(array, value));
	return value;
}

/* A write error stays with the stream, whose owner looks. */
void
json_write(struct json_t *root, FILE *stream)
{
	(void)json_dumpf(root, stream, JSON_INDENT(INDENT));
	putc('\n', stream);
	json_decref(root);
}
