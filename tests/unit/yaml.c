/*
 * YAML and JSON as a second front end.  Every good policy of tests/golden/ok and every
 * shipped profile is written as YAML, as JSON and as text again, and read: the
 * statements are the same, and the blob is but for lines and columns.  So is
 * the blob of a .yaml twin that was written by hand.
 */
#include "compiler/query/query.h"
#include "compiler/read/read.h"
#include "compiler/report/report.h"
#include "compiler/write/write.h"
#include "grammar/grammar.h"
#include "tests/lib/tap.h"

#include <dirent.h>
#include <unistd.h>

struct text {
	char *bytes;
	size_t size;
};

static struct text
text_read(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct text text = { NULL, 0 };
	FILE *stream = open_memstream(&text.bytes, &text.size);
	int c;

	if (file == NULL || stream == NULL) {
		perror(path);
		exit(99);
	}
	while ((c = getc(file)) != EOF)
		putc(c, stream);
	fclose(file);
	fclose(stream);
	return text;
}

/* --- statements ----------------------------------------------------------- */

static bool
same_atom(const struct ast_atom *a, const struct ast_atom *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return a->kind == b->kind && strcmp(a->text, b->text) == 0;
}

static bool
same_list(const struct ast_list *a, const struct ast_list *b)
{
	const struct ast_atom *x = a->first, *y = b->first;

	while (x != NULL && same_atom(x, y)) {
		x = x->next;
		y = y->next;
	}
	return x == NULL && y == NULL;
}

/* The first statement of `a` that `b` has not, or NULL; files that are
 * included are not looked at. */
static const struct ast_stmt *
differs(const struct ast_stmt *a, const struct ast_stmt *b)
{
	const struct ast_stmt *inner;

	for (; a != NULL && b != NULL; a = a->next, b = b->next) {
		if (a->kind != b->kind || a->effect != b->effect ||
		    a->drop != b->drop || !same_atom(a->name, b->name) ||
		    !same_atom(a->parent, b->parent) ||
		    !same_atom(a->from, b->from) ||
		    !same_list(&a->words, &b->words) ||
		    !same_list(&a->objects, &b->objects) ||
		    !same_list(&a->exclusions, &b->exclusions))
			return a;
		inner = differs(a->body, b->body);
		if (inner != NULL)
			return inner;
	}
	return a != NULL ? a : b;
}

/* --- compiling ------------------------------------------------------------ */

struct bench {
	struct compilation compilation;
	struct image image;
	struct sbx_blob blob;
	bool parsed, compiled;
};

/* Blobs hold the name of the file, which is not what is compared. */
static void
bench_parse(struct bench *bench, const char *shown, struct text text)
{
	struct compilation *compilation = &bench->compilation;
	struct source *source;

	memset(bench, 0, sizeof *bench);
	compilation_init(compilation, arena_new());
	source = sources_add(&compilation->sources, shown, text.bytes,
	    text.size, (struct loc){ 0, 0 });
	source->name = "twin.sbx";
	compilation->file = source;
	compilation->stmts = ast_parse(&compilation->sources,
	    &compilation->diags, source);
	bench->parsed = compilation->diags.errors == 0;
}

static void
bench_compile(struct bench *bench)
{
	bench->compiled = bench->parsed &&
	    compile(&bench->compilation, NULL, &bench->image) &&
	    sbx_verify(bench->image.bytes, bench->image.size, &bench->blob) ==
		SBX_BLOB_OK;
}

static void
bench_done(struct bench *bench)
{
	if (!bench->parsed || bench->compilation.diags.errors > 0)
		diags_print(&bench->compilation.diags, stdout, REPORT_TEXT,
		    false);
	arena_release(bench->compilation.arena);
}

/* Of the text all but its numbers after ':', which are line and column. */
static bool
same_lines(const struct sbx_blob *a, const struct sbx_blob *b)
{
	static const char digits[] = "0123456789";
	uint32_t i = 0, j = 0;

	while (i < a->text_size && j < b->text_size) {
		if (a->text[i] != b->text[j])
			return false;
		i++;
		j++;
		if (a->text[i - 1] != ':')
			continue;
		while (i < a->text_size && strchr(digits, a->text[i]) != NULL)
			i++;
		while (j < b->text_size && strchr(digits, b->text[j]) != NULL)
			j++;
	}
	return i == a->text_size && j == b->text_size;
}

/* All sections but the places of the rules, and of these and of the text all
 * but line and column. */
static bool
same_blob(const struct bench *a, const struct bench *b)
{
	const uint8_t *x = a->image.bytes, *y = b->image.bytes;
	const struct sbx_header *header = (const void *)x;
	const struct sbx_section *sections = (const void *)(header + 1);

	if (memcmp(x, y, offsetof(struct sbx_header, sum)) != 0 ||
	    memcmp(sections, y + sizeof *header,
		header->section_count * sizeof *sections) != 0)
		return false;
	for (uint32_t i = 0; i < header->section_count; i++) {
		if (sections[i].kind != SBX_SECTION_SOURCES &&
		    memcmp(x + sections[i].offset, y + sections[i].offset,
			sections[i].size) != 0)
			return false;
	}
	for (uint32_t i = 0; i < a->blob.source_count; i++) {
		if (a->blob.sources[i].file != b->blob.sources[i].file ||
		    a->blob.sources[i].via != b->blob.sources[i].via)
			return false;
	}
	return same_lines(&a->blob, &b->blob);
}

/* --- there and back ------------------------------------------------------- */

enum form { SBX, YAML, JSON, FORMS };

static struct text
write_form(enum form form, const struct ast_stmt *stmts)
{
	struct text text = { NULL, 0 };
	FILE *stream = open_memstream(&text.bytes, &text.size);

	if (form == SBX)
		write_sbx(stream, stmts);
	else if (form == YAML)
		write_yaml(stream, stmts);
	else
		write_json(stream, stmts);
	fclose(stream);
	return text;
}

static const char *const shown_as[] = { "t.sbx", "t.yaml", "t.json" };

/* Whether a text says what the statements of `bench` say. */
static void
try_form(struct tap *tap, struct bench *bench, const char *name, enum form form,
    bool compiles)
{
	struct text text = write_form(form, bench->compilation.stmts);
	struct bench again;
	const struct ast_stmt *stmt;

	bench_parse(&again, shown_as[form], text);
	stmt = differs(bench->compilation.stmts, again.compilation.stmts);
	tap_ok(tap, again.parsed && stmt == NULL, "%.*s as %s: same statements",
	    (int)strcspn(name, "\n"), name, shown_as[form] + 2);
	if (stmt != NULL || !again.parsed)
		printf("# kind %d\n%s\n", stmt == NULL ? -1 : (int)stmt->kind,
		    text.bytes);
	if (compiles) {
		bench_compile(&again);
		tap_ok(tap, again.compiled && same_blob(bench, &again),
		    "%s as %s: same blob", name, shown_as[form] + 2);
	}
	bench_done(&again);
	free(text.bytes);
}

static void
try_twin(struct tap *tap, struct bench *bench, const char *path)
{
	struct text text = text_read(path);
	struct bench twin;

	bench_parse(&twin, path, text);
	bench_compile(&twin);
	tap_ok(tap, twin.compiled && same_blob(bench, &twin),
	    "%s is the twin of its .sbx", path);
	bench_done(&twin);
	free(text.bytes);
}

/* The shipped profiles cannot be compiled under another text. */
static void
try_policy(struct tap *tap, const char *path, bool compiles)
{
	struct text text = text_read(path);
	char twin[256];
	struct bench bench;

	bench_parse(&bench, path, text);
	if (compiles)
		bench_compile(&bench);
	tap_ok(tap, bench.parsed && bench.compiled == compiles, "%s", path);
	for (enum form form = SBX; form < FORMS && bench.parsed; form++)
		try_form(tap, &bench, path, form, compiles);
	snprintf(twin, sizeof twin, "%.*s.yaml", (int)strlen(path) - 4, path);
	if (access(twin, F_OK) == 0)
		try_twin(tap, &bench, twin);
	snprintf(twin, sizeof twin, "%.*s.json", (int)strlen(path) - 4, path);
	if (access(twin, F_OK) == 0)
		try_twin(tap, &bench, twin);
	bench_done(&bench);
	free(text.bytes);
}

/* What no policy of tests/golden/ok holds; some of it means nothing to resolve.c. */
static void
try_statements(struct tap *tap)
{
	static const char *const statements[] = {
		"deny syscalls ptrace",
		"deny syscalls { ptrace }",
		"allow env HOME",
		"allow env { HOME }",
		"allow env \"use\"",
		"allow env HOME PATH",
		"allow read",
		"allow nothing known",
		"allow read \"/a*\"",
		"allow read \"/a b\"",
		"allow read /a*",
		"allow read { \"/a b\" \"443\" \"a: b\" \"\" }",
		"allow read \"/a\\n\\t\\\"\\\\\"",
		"allow read ~",
		"deny read glob \"/a\" except { glob \"/b\" /c }",
		"deny read except word",
		"deny read { a b } except { c }",
		"drop prefer deny env A_*",
		"drop allow network full",
		"allow network full from \"a.sbx:1:1 (p)\"",
		"allow everything from \"a.sbx:1:1 (p)\"",
		"allow read /a except /b from \"a.sbx:1:1 (p)\"",
		"param a from \"a.sbx:1:1 (p)\"",
		"let a = word",
		"let a = { word }",
		"let a = { /a ${b} }",
		"limit core 0",
		"limit core \"0\" from \"a.sbx:1:1 (p)\"",
		"require landlock \"4\"",
		"set env A = \"1\"",
		"set env A = 1",
		"set env use = \"~/a b\"",
		"set env A = \"use\"",
		"set env A = true\nset env B = null\nset env A = \"\"",
		"set env A = 1 from \"a.sbx:1:1 (p)\"\nset env B = 2",
		"set env A = 1\nuse b\nset env C = 2\nset env A = 3",
		"set other A = 1\nset env A = 2",
		"about \"~/x: #1\"",
		"use a\nabout \"b\"",
		"on linux macos {\non x86_64 {\n}\n}",
	};

	for (size_t i = 0; i < countof(statements); i++) {
		char text[512];
		struct bench bench;

		snprintf(text, sizeof text, "sbx 1\nprofile p {\n%s\n}\n",
		    statements[i]);
		bench_parse(&bench, "t.sbx",
		    (struct text){ text, strlen(text) });
		tap_ok(tap, bench.parsed, "statement %zu", i);
		for (enum form form = SBX; form < FORMS; form++)
			try_form(tap, &bench, statements[i], form, false);
		bench_done(&bench);
	}
}

static void
try_order(struct tap *tap)
{
	char text[] =
	    "sbx 1\nlet a = /a\ninclude \"groups.sbx\"\nparam b\n"
	    "group g {\n}\nlet c = /c\nlet a = /d\ngroup g {\n}\n"
	    "include \"groups.sbx\"\ninclude \"groups.sbx\"\n"
	    "profile p extends q from \"a.bin\" {\n}\nparam e\nparam e\n";
	struct bench bench;

	bench_parse(&bench, "t.sbx", (struct text){ text, strlen(text) });
	for (enum form form = SBX; form < FORMS; form++)
		try_form(tap, &bench, "a file in no order", form, false);
	bench_done(&bench);
}

static int
is_policy(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 4 && strcmp(entry->d_name + len - 4, ".sbx") == 0;
}

static void
try_directory(struct tap *tap, const char *path, bool compiles)
{
	struct dirent **entries;
	int count;

	if (chdir(path) != 0 ||
	    (count = scandir(".", &entries, is_policy, alphasort)) < 0) {
		perror(path);
		exit(99);
	}
	tap_ok(tap, count >= 6, "%s holds %d policies", path, count);
	for (int i = 0; i < count; i++) {
		try_policy(tap, entries[i]->d_name, compiles);
		free(entries[i]);
	}
	free(entries);
}

/* --- objects -------------------------------------------------------------- */

/* What an object is in .sbx it is in YAML, and what is none is none. */
static void
try_object(struct tap *tap, const char *object)
{
	char text[256];
	struct bench bench;
	const struct ast_atom *atom = NULL, *alone;
	bool is_one;

	snprintf(text, sizeof text,
	    "sbx 1\nprofile p {\n    allow read {\n%s\n}\n}\n", object);
	bench_parse(&bench, "t.sbx", (struct text){ text, strlen(text) });
	if (bench.parsed)
		atom = bench.compilation.stmts->next->body->objects.first;
	is_one = atom != NULL && atom->next == NULL && !atom->quoted;
	alone = token_object(bench.compilation.arena, object);
	/* A keyword is an object in quotes only. */
	if (alone != NULL && alone->kind == AST_STRING)
		tap_ok(tap, !is_one && word_is_keyword(object),
		    "'%s' is a keyword", object);
	else
		tap_ok(tap,
		    (alone != NULL) == is_one &&
			(alone == NULL || alone->kind == atom->kind),
		    "'%s': %s", object, alone != NULL ? "one object" : "none");
	arena_release(bench.compilation.arena);
}

static void
try_objects(struct tap *tap)
{
	static const char *const objects[] = {
		"/",
		"/a",
		"/a b",
		"/a,",
		"/a,b",
		"/a;b",
		"~",
		"~/x",
		"~x",
		"${a}",
		"${a}/b",
		"${a}b",
		"${a",
		"${}",
		"${a}${b}",
		"$a",
		"${a b}",
		"/${a}",
		"/${a",
		"/a{b}",
		"/a=b",
		"a=b",
		"/a*",
		"/a?",
		"/a[b]",
		"/a\"b",
		"/a#b",
		"a#b",
		"/\xc3\xa4",
		"\xc3\xa4",
		"*",
		"*_TOKEN",
		"LC_*",
		"a*b@c",
		"a/b",
		"a@b",
		"@",
		"@a",
		"@a/b",
		"@a b",
		"@*",
		"443",
		"0",
		"300s",
		"4MiB",
		"4M1B",
		"1-2",
		"1-",
		"-1",
		"1-2-3",
		"1-a",
		"a-1",
		"1.0",
		".5",
		"0x1f",
		"yes",
		"null",
		"true",
		"%x",
		"a:b",
		":",
		"a,b",
		"a;b",
		"`a`",
		"'a'",
		"!a",
		"&a",
		"|",
		">",
		"a>b",
		"use",
		"allow",
		"from",
		"glob",
		"except",
		"a\\b",
		"+x",
		"-",
		"--x",
		"_",
		"a\tb",
		"(a)",
		"<a>",
		"^",
		"a|b",
		"{}",
		"[]",
		"a{b",
	};

	for (size_t i = 0; i < countof(objects); i++)
		try_object(tap, objects[i]);
}

int
main(void)
{
	const char *srcdir = getenv("srcdir");
	struct tap tap = { 0 };
	char path[4096];

	srcdir = srcdir != NULL ? srcdir : ".";
	try_objects(&tap);
	try_statements(&tap);
	try_order(&tap);
	snprintf(path, sizeof path, "%s/tests/golden/ok", srcdir);
	try_directory(&tap, path, true);
	snprintf(path, sizeof path, "%s/profiles", srcdir);
	try_directory(&tap, path, false);
	return tap_done(&tap);
}
