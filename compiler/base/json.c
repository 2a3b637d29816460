/* See base.h: the only file that knows the library. */
#include "compiler/base/base.h"

#include "format/text.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 2 };

/* --- building ------------------------------------------------------------- */

/* The library returns NULL only when memory runs out, because texts and keys
 * are cleaned. */
static json_t *
must(json_t *value)
{
	if (value == NULL)
		arena_exhausted();
	return value;
}

/* A copy with each byte that belongs to no character replaced by U+FFFD. */
static char *
text_cleaned(const char *text)
{
	size_t len = strlen(text);
	char *clean = malloc(3 * len + 1), *to = clean;

	if (clean == NULL)
		arena_exhausted();
	while (len > 0) {
		uint32_t character;
		size_t size = utf8_decode(text, len, &character);

		to = mempcpy(to, size > 0 ? text : "\xef\xbf\xbd",
		    size > 0 ? size : 3);
		text += size > 0 ? size : 1;
		len -= size > 0 ? size : 1;
	}
	*to = '\0';
	return clean;
}

static json_t *
text_value(const char *text)
{
	json_t *value = json_string(text);
	char *clean;

	if (value != NULL)
		return value;
	clean = text_cleaned(text);
	value = must(json_string(clean));
	free(clean);
	return value;
}

/* Puts a value into an object or, if the key is NULL, at the end of an array.
 * Returns the value. */
static json_t *
put(json_t *into, const char *key, json_t *value)
{
	char *clean;

	must(value);
	if (key == NULL) {
		if (json_array_append(into, value) != 0)
			arena_exhausted();
	} else if (json_object_set(into, key, value) != 0) {
		clean = text_cleaned(key);
		if (json_object_set(into, clean, value) != 0)
			arena_exhausted();
		free(clean);
	}
	json_decref(value);
	return value;
}

struct json_t *
json_root(void)
{
	return must(json_object());
}

void
json_put_text(struct json_t *into, const char *key, const char *text)
{
	if (text != NULL)
		put(into, key, text_value(text));
}

void
json_put_number(struct json_t *into, const char *key, uint64_t number)
{
	put(into, key, json_integer((json_int_t)number));
}

void
json_put_bool(struct json_t *into, const char *key, bool value)
{
	put(into, key, json_boolean(value));
}

struct json_t *
json_put_object(struct json_t *into, const char *key)
{
	return put(into, key, json_object());
}

struct json_t *
json_put_array(struct json_t *into, const char *key)
{
	return put(into, key, json_array());
}

/* --- writing -------------------------------------------------------------- */

/* The owner of the stream checks it for write errors. */
void
json_write(struct json_t *root, FILE *stream)
{
	(void)json_dumpf(root, stream, JSON_INDENT(INDENT));
	putc('\n', stream);
	json_decref(root);
}

/* --- reading -------------------------------------------------------------- */

struct json_t *
json_read(const char *text)
{
	return json_loads(text, JSON_REJECT_DUPLICATES, NULL);
}

struct json_t *
json_read_line(struct arena *arena, const char *line, size_t len, size_t *at,
    const char **fault)
{
	json_error_t error;
	json_t *value = json_loadb(line, len,
	    JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &error);

	*at = 0;
	*fault = "a line is an object of JSON";
	if (value == NULL) {
		*at = error.position > 0 ? (size_t)error.position - 1 : 0;
		*fault = arena_strndup(arena, error.text, strlen(error.text));
	} else if ((size_t)error.position != len) {
		*at = (size_t)error.position;
		*fault = "there is something behind the object";
	} else if (json_is_object(value)) {
		return value;
	}
	json_decref(value);
	if (*at >= len)
		*at = len > 0 ? len - 1 : 0;
	return NULL;
}

void
json_release(struct json_t *root)
{
	json_decref(root);
}

const char *
json_text(const struct json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

uint64_t
json_number(const struct json_t *object, const char *key)
{
	json_int_t number = json_integer_value(json_object_get(object, key));

	return number > 0 ? (uint64_t)number : 0;
}

double
json_seconds(const struct json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

bool
json_flag(const struct json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

const struct json_t *
json_member(const struct json_t *object, const char *key)
{
	return json_object_get(object, key);
}

size_t
json_count(const struct json_t *array)
{
	return json_array_size(array);
}

const struct json_t *
json_item(const struct json_t *array, size_t index)
{
	return json_array_get(array, index);
}

const char *
json_text_at(const struct json_t *value)
{
	return json_string_value(value);
}

bool
json_true_at(const struct json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

/* --- changing ------------------------------------------------------------- */

struct json_t *
json_edit(struct json_t *object, const char *key)
{
	json_t *member = json_object_get(object, key);

	if (member == NULL && json_is_object(object))
		return json_put_object(object, key);
	return json_is_object(member) ? member : NULL;
}

void
json_insert(struct json_t *object, const char *key, size_t index,
    const struct json_t *value)
{
	json_t *array = json_object_get(object, key), *copy;

	if (array == NULL)
		array = json_put_array(object, key);
	copy = must(json_deep_copy(value));
	if (index > json_array_size(array))
		index = json_array_size(array);
	if (json_array_insert_new(array, index, copy) != 0)
		arena_exhausted();
}

/* Puts an edit of the member under the last of `keys`. */
static void
put_edit(json_t *into, const json_t *keys, const json_t *before,
    const json_t *after)
{
	json_t *edit = json_put_object(into, NULL);

	put(edit, "at", json_deep_copy(keys));
	if (before != NULL)
		put(edit, "before", json_deep_copy(before));
	if (after != NULL)
		put(edit, "after", json_deep_copy(after));
}

static void
edit_members(json_t *into, json_t *keys, const json_t *before,
    const json_t *after)
{
	json_t *empty = must(json_object());
	const char *key = NULL;
	const json_t *is, *was;

	while ((key = json_key(after, key)) != NULL) {
		is = json_object_get(after, key);
		was = json_object_get(before, key);
		if (json_equal(was, is))
			continue;
		put(keys, NULL, text_value(key));
		/* Others may put more into an object that is new. */
		if (json_is_object(is) && was == NULL)
			put_edit(into, keys, NULL, empty);
		if (json_is_object(is) && (was == NULL || json_is_object(was)))
			edit_members(into, keys, was, is);
		else
			put_edit(into, keys, was, is);
		json_array_remove(keys, json_array_size(keys) - 1);
	}
	key = NULL;
	while ((key = json_key(before, key)) != NULL) {
		if (json_object_get(after, key) != NULL)
			continue;
		put(keys, NULL, text_value(key));
		put_edit(into, keys, json_object_get(before, key), NULL);
		json_array_remove(keys, json_array_size(keys) - 1);
	}
	json_decref(empty);
}

void
json_edits(struct json_t *into, const struct json_t *before,
    const struct json_t *after)
{
	json_t *keys = must(json_array());

	edit_members(into, keys, before, after);
	json_decref(keys);
}

static bool
take_back_one(json_t *root, const json_t *edit)
{
	const json_t *keys = json_object_get(edit, "at");
	json_t *before = json_object_get(edit, "before"), *of = root;
	const json_t *after = json_object_get(edit, "after"), *now;
	size_t count = json_array_size(keys);
	const char *key;

	if (count == 0)
		return false;
	for (size_t i = 0; i + 1 < count; i++)
		of = json_object_get(of, json_text_at(json_item(keys, i)));
	key = json_text_at(json_item(keys, count - 1));
	now = json_object_get(of, key);
	/* Whoever took out what it stands in has taken back the edit. */
	if (!json_is_object(of) || (now == NULL && after != NULL))
		return true;
	if (!json_equal(now, after) && !(now == NULL && after == NULL))
		return before == NULL;
	if (before == NULL)
		json_object_del(of, key);
	else if (json_object_set_new(of, key, must(json_deep_copy(before))) !=
	    0)
		arena_exhausted();
	return true;
}

bool
json_take_back(struct json_t *root, const struct json_t *edits)
{
	bool good = true;

	for (size_t i = json_count(edits); i-- > 0 && good;)
		good = take_back_one(root, json_item(edits, i));
	return good;
}

const char *
json_key(const struct json_t *object, const char *after)
{
	json_t *mutable = (json_t *)(uintptr_t)object;
	void *at = after == NULL ?
	    json_object_iter(mutable) :
	    json_object_iter_next(mutable, json_object_key_to_iter(after));

	return at != NULL ? json_object_iter_key(at) : NULL;
}

/* How far a text indents its first member. */
static size_t
indent_of(const char *like)
{
	const char *line = like != NULL ? strchr(like, '\n') : NULL;
	size_t indent = line != NULL ? strspn(line + 1, " ") : 0;

	return indent > 0 && indent <= JSON_MAX_INDENT ? indent : INDENT;
}

const char *
json_print(struct arena *arena, const struct json_t *root, const char *like)
{
	char *text = json_dumps(root, JSON_INDENT(indent_of(like)));
	const char *copy;

	must((json_t *)(void *)text);
	copy = arena_printf(arena, "%s\n", text);
	free(text);
	return copy;
}

const char *
json_quoted(struct arena *arena, const char *text)
{
	json_t *value = text_value(text);
	char *quoted = json_dumps(value, JSON_ENCODE_ANY);
	const char *copy;

	must((json_t *)(void *)quoted);
	copy = arena_strndup(arena, quoted, strlen(quoted));
	free(quoted);
	json_decref(value);
	return copy;
}
