/*
 * The tree that is made of a YAML text: where its texts stand, that they stay
 * texts, and the bounds.
 */
#include "compiler/read/read.h"
#include "tests/lib/tap.h"

#include <string.h>

struct read {
	struct arena *arena;
	struct sources sources;
	struct diags diags;
	struct yaml_node *root;
};

static void
read_text(struct read *read, const char *text)
{
	read->arena = arena_new();
	sources_init(&read->sources, read->arena);
	diags_init(&read->diags, read->arena, &read->sources);
	read->root = yaml_read(&read->sources, &read->diags,
	    sources_add(&read->sources, "t.yaml", text, strlen(text),
		(struct loc){ 0, 0 }));
}

/* Every text of the tree stands in the source at its place, unless it has
 * escapes. */
static void
try_places(struct tap *tap, const char *name, const char *text, size_t texts)
{
	struct read read;
	const struct yaml_node *stack[64], *node;
	size_t depth = 0, found = 0;

	read_text(&read, text);
	if (read.root != NULL)
		stack[depth++] = read.root;
	while (depth > 0) {
		node = stack[--depth];
		if (node->next != NULL)
			stack[depth++] = node->next;
		if (node->first != NULL)
			stack[depth++] = node->first;
		if (node->key != NULL)
			stack[depth++] = node->key;
		found += node->text != NULL && *node->text != '\0' &&
		    strlen(node->text) == node->loc.end - node->loc.begin &&
		    memcmp(node->text,
			read.sources.files.items[0]->text + node->loc.begin - 1,
			strlen(node->text)) == 0;
	}
	tap_ok(tap, found == texts, "places: %s (%zu of %zu)", name, found,
	    texts);
	arena_release(read.arena);
}

/* A text of so many lists inside each other, or of so many entries. */
static char *
repeat(const char *piece, size_t count, const char *end)
{
	size_t len = strlen(piece);
	char *text = malloc(len * count + strlen(end) + 1);

	for (size_t i = 0; i < count; i++)
		memcpy(text + i * len, piece, len);
	strcpy(text + len * count, end);
	return text;
}

static void
try_bound(struct tap *tap, const char *name, char *text, enum diag_id id)
{
	struct read read;

	read_text(&read, text);
	tap_ok(tap,
	    read.root == NULL && read.diags.errors == 1 &&
		read.diags.records.items[0].id == id,
	    "%s", name);
	arena_release(read.arena);
	free(text);
}

static void
try_reader(struct tap *tap)
{
	struct read read;

	try_places(tap, "ASCII", "a: b\nc:\n  - d\n  - \"e\"\n  - 'f'\n", 6);
	try_places(tap, "characters of several bytes",
	    "\xc3\xa4: \xe2\x82\xac\xe2\x82\xac\n"
	    "c: [ \xf0\x9f\x98\x80, \"x\xc3\xb6y\", z ]\n",
	    6);
	try_places(tap, "a byte order mark",
	    "\xef\xbb\xbf"
	    "a: [ b, c ]\n",
	    3);
	try_places(tap, "lines that end as in DOS", "a: b\r\nc:\r\n  - d\r\n",
	    4);
	try_places(tap, "JSON", "{\"a\":[\"b\",\"c\"],\"d\":1}", 5);
	read_text(&read, "a: yes\nb: ~\nc: 0777\nd: 1.0\ne: null\n");
	tap_ok(tap,
	    read.root != NULL &&
		strcmp(yaml_find(read.root, "a")->text, "yes") == 0 &&
		strcmp(yaml_find(read.root, "b")->text, "~") == 0 &&
		strcmp(yaml_find(read.root, "c")->text, "0777") == 0 &&
		strcmp(yaml_find(read.root, "d")->text, "1.0") == 0 &&
		strcmp(yaml_find(read.root, "e")->text, "null") == 0 &&
		yaml_find(read.root, "f") == NULL,
	    "texts stay texts");
	arena_release(read.arena);
	try_bound(tap, "a hundred thousand lists", repeat("[", 100000, ""),
	    DIAG_YAML_BOUNDS);
	try_bound(tap, "a hundred thousand maps", repeat("{a: ", 100000, ""),
	    DIAG_YAML_BOUNDS);
	try_bound(tap, "half a million texts", repeat("- a\n", 500000, ""),
	    DIAG_YAML_BOUNDS);
	try_bound(tap, "a key that stands twice among many",
	    repeat("a: b\n", 2, "c: d\ne: f\n"), DIAG_YAML_DUPLICATE);
}

int
main(void)
{
	struct tap tap = { 0 };

	try_reader(&tap);
	return tap_done(&tap);
}
