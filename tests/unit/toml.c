/*
 * The tree that is made of a TOML text: each value as a line, and what is
 * refused with the place where.
 */
#include "compiler/read/read.h"
#include "tests/lib/tap.h"

#include <stdlib.h>
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
	read->root = toml_read(&read->sources, &read->diags,
	    sources_add(&read->sources, "t.toml", text, strlen(text),
		(struct loc){ 0, 0 }));
}

/* {a=<x>,b=[1]}: a text that was in quotes stands in angles. */
static void
put(FILE *stream, const struct yaml_node *node)
{
	if (node->kind == YAML_TEXT) {
		fprintf(stream, node->plain ? "%s" : "<%s>", node->text);
		return;
	}
	fputc(node->kind == YAML_MAP ? '{' : '[', stream);
	for (const struct yaml_node *each = node->first; each != NULL;
	     each = each->next) {
		if (each != node->first)
			fputc(',', stream);
		if (node->kind == YAML_MAP)
			fprintf(stream, "%s=", each->key->text);
		put(stream, each);
	}
	fputc(node->kind == YAML_MAP ? '}' : ']', stream);
}

static const struct {
	const char *text, *tree;
} good[] = {
	{ "", "{}" },
	{ "# nothing", "{}" },
	{ "a = 1", "{a=1}" },
	{ "a=1 # x\r\n\r\nb = \"x\"\r\n", "{a=1,b=<x>}" },
	{ "\xef\xbb\xbf"
	  "a = true",
	    "{a=true}" },
	{ "a.b.c = 1\na.b.d = 2\na . e = 3", "{a={b={c=1,d=2},e=3}}" },
	{ "'a.b'.\"c d\" = 1", "{a.b={c d=1}}" },
	{ "\"\" = 1", "{=1}" },
	{ "1-2_x = 1", "{1-2_x=1}" },
	{ "[a]\nb = 1\n[c.d]\ne = 2\n[c]\nf = 3", "{a={b=1},c={d={e=2},f=3}}" },
	{ "[ a . 'b' ]\nc = 1", "{a={b={c=1}}}" },
	{ "[[a]]\nb=1\n[[a]]\nb=2\n[a.c]\nd=3\n[[a.e]]\n[[a.e]]",
	    "{a=[{b=1},{b=2,c={d=3},e=[{},{}]}]}" },
	{ "[a]\nb.c = 1\n[a.b.d]\ne = 2", "{a={b={c=1,d={e=2}}}}" },
	{ "a = [ 1, 'x', [ ], { b = 1 }, ]", "{a=[1,<x>,[],{b=1}]}" },
	{ "a = [ # one\n\n 1 # two\n , # three\n 2 ]", "{a=[1,2]}" },
	{ "a = { }\nb = { c.d = 1, c.e = [ { } ] }",
	    "{a={},b={c={d=1,e=[{}]}}}" },
	{ "a = \"\\\"\\\\\\t\xc3\xa9\"", "{a=<\"\\\t\xc3\xa9>}" },
	{ "a = 'C:\\x'", "{a=<C:\\x>}" },
	{ "a = \"\"\"\nx\n\"y\" \\\n\n   z\"\"\"", "{a=<x\n\"y\" z>}" },
	{ "a = '''x''y'''''\nb = \"\"\"\"\"\"\"\"", "{a=<x''y''>,b=<\"\">}" },
	{ "a = [ +1, -0.5e+3, 0xdead_BEEF ]", "{a=[+1,-0.5e+3,0xdead_BEEF]}" },
	{ "a = 1979-05-27T07:32:00.9-07:00\nc = 1979-05-27 \nd = 07:32:00",
	    "{a=1979-05-27T07:32:00.9-07:00,c=1979-05-27,d=07:32:00}" },
};

static const struct {
	const char *text, *piece; /* where the mistake is */
	enum diag_id id;
} bad[] = {
	{ "a", "", DIAG_TOML_SYNTAX },
	{ "a = ", "", DIAG_TOML_SYNTAX },
	{ "a = b", "b", DIAG_TOML_SYNTAX },
	{ "a = \nb = 1", "\n", DIAG_TOML_SYNTAX },
	{ "= 1", "=", DIAG_TOML_SYNTAX },
	{ "a = 1 b = 2", "b", DIAG_TOML_SYNTAX },
	{ "a = \"x\ny\"", "\n", DIAG_TOML_SYNTAX },
	{ "a = 'x", "", DIAG_TOML_SYNTAX },
	{ "a = \"\\x41\"", "x", DIAG_TOML_SYNTAX },
	{ "a = \"\\u0041\"", "u", DIAG_TOML_SYNTAX },
	{ "a. = 1", "=", DIAG_TOML_SYNTAX },
	{ "[a", "", DIAG_TOML_SYNTAX },
	{ "[a] b = 1", "b", DIAG_TOML_SYNTAX },
	{ "[]", "]", DIAG_TOML_SYNTAX },
	{ "[[a]", "]", DIAG_TOML_SYNTAX },
	{ "a = [ 1 2 ]", "2", DIAG_TOML_SYNTAX },
	{ "a = [ 1", "", DIAG_TOML_SYNTAX },
	{ "a = { b = 1, }", "}", DIAG_TOML_SYNTAX },
	{ "a = { b = 1\n}", "\n", DIAG_TOML_SYNTAX },
	{ "a = .5", ".", DIAG_TOML_SYNTAX },
	{ "a = infinity", "infinity", DIAG_TOML_SYNTAX },
	{ "a = 1\na = 2", "a", DIAG_YAML_DUPLICATE },
	{ "a = 1\n'a' = 2", "a", DIAG_YAML_DUPLICATE },
	{ "[a]\n[a]", "a", DIAG_YAML_DUPLICATE },
	{ "a = 1\n[a]", "a", DIAG_YAML_DUPLICATE },
	{ "a.b = 1\n[a.b]", "b", DIAG_YAML_DUPLICATE },
	{ "a = {}\na.b = 1", "a", DIAG_YAML_DUPLICATE },
	{ "a = {}\n[a.b]", "a", DIAG_YAML_DUPLICATE },
	{ "a = []\n[[a]]", "a", DIAG_YAML_DUPLICATE },
	{ "[a]\n[[a]]", "a", DIAG_YAML_DUPLICATE },
	{ "[[a]]\n[a]", "a", DIAG_YAML_DUPLICATE },
	{ "a = { b = 1, b = 2 }", "b", DIAG_YAML_DUPLICATE },
	{ "a = \"\xff\"", "\xff", DIAG_END },
	{ "a = \"\a\"", "\a", DIAG_END },
};

static void
try_good(struct tap *tap, size_t i)
{
	struct read read;
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	read_text(&read, good[i].text);
	if (read.root != NULL)
		put(stream, read.root);
	fclose(stream);
	tap_ok(tap, strcmp(text, good[i].tree) == 0, "good %zu", i);
	free(text);
	arena_release(read.arena);
}

/* The last piece of the text that reads so is where the mistake is. */
static void
try_bad(struct tap *tap, size_t i)
{
	const char *text = bad[i].text, *piece = bad[i].piece, *at = NULL;
	const struct diag *diag;
	struct read read;

	read_text(&read, text);
	diag = read.diags.records.items;
	for (const char *found = text; (found = strstr(found, piece)) != NULL;
	     found += *found != '\0') {
		at = found;
		if (*found == '\0')
			break;
	}
	tap_ok(tap,
	    read.root == NULL && read.diags.errors == 1 &&
		(bad[i].id == DIAG_END ||
		    (diag->id == bad[i].id &&
			diag->loc.begin ==
			    read.sources.files.items[0]->base +
				(size_t)(at - text))),
	    "bad %zu", i);
	arena_release(read.arena);
}

/* A text of so many pieces. */
static void
try_bound(struct tap *tap, const char *name, const char *piece, size_t count)
{
	size_t len = strlen(piece);
	char *text = malloc(len * count + 1);
	struct read read;

	for (size_t i = 0; i < count; i++)
		memcpy(text + i * len, piece, len);
	text[len * count] = '\0';
	read_text(&read, text);
	tap_ok(tap,
	    read.root == NULL && read.diags.errors == 1 &&
		read.diags.records.items[0].id == DIAG_YAML_BOUNDS,
	    "%s", name);
	arena_release(read.arena);
	free(text);
}

int
main(void)
{
	struct tap tap = { 0 };

	for (size_t i = 0; i < countof(good); i++)
		try_good(&tap, i);
	for (size_t i = 0; i < countof(bad); i++)
		try_bad(&tap, i);
	try_bound(&tap, "arrays in arrays",
	    "a=[[[[[[[[[[[[[[[[[[[[[[[["
	    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
	    1);
	try_bound(&tap, "tables in tables", "a={a={a={a={a={a={", 12);
	try_bound(&tap, "parts of a key", "a.a.a.a.", 20);
	return tap_done(&tap);
}
