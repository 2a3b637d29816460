/*
 * What the parser makes of a text: statements as lines, one for each, in a
 * form that is easy to read; and which files are read for it.
 */
#include "compiler/language/ast.h"
#include "compiler/read/read.h"
#include "compiler/report/report.h"
#include "tests/lib/tap.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct bench {
	struct arena *arena;
	struct sources sources;
	struct diags diags;
	struct ast_stmt *stmts;
};

static void
bench_init(struct bench *bench)
{
	bench->arena = arena_new();
	sources_init(&bench->sources, bench->arena);
	diags_init(&bench->diags, bench->arena, &bench->sources);
}

static void
parse_text(struct bench *bench, const char *text, size_t size)
{
	bench_init(bench);
	bench->stmts = ast_parse(&bench->sources, &bench->diags,
	    sources_add(&bench->sources, "t.sbx", text, size,
		(struct loc){ 0, 0 }));
}

/* The codes of all diagnostics, in the order in which they were found. */
static const char *
codes(const struct bench *bench)
{
	const char *text = "";

	for (size_t i = 0; i < bench->diags.records.count; i++)
		text = arena_printf(bench->arena, "%s%s%s", text,
		    i == 0 ? "" : " ",
		    diag_code(bench->diags.records.items[i].id) + 3);
	return text;
}

static void
put_atom(FILE *stream, const struct ast_atom *atom)
{
	static const char marks[] = {
		[AST_WORD] = 'w',
		[AST_PATH] = 'p',
		[AST_PATTERN] = '*',
		[AST_GROUP] = '@',
		[AST_NUMBER] = 'n',
		[AST_RANGE] = '-',
		[AST_STRING] = 's',
	};

	fprintf(stream, " %c:%s", marks[atom->kind], atom->text);
}

static void
put_list(FILE *stream, const char *name, const struct ast_list *list)
{
	if (list->first == NULL)
		return;
	fprintf(stream, " %s", name);
	for (const struct ast_atom *atom = list->first; atom != NULL;
	     atom = atom->next)
		put_atom(stream, atom);
}

static void
put_stmts(FILE *stream, const struct ast_stmt *stmts, int depth)
{
	static const char *const kinds[] = {
		[AST_VERSION] = "sbx",
		[AST_INCLUDE] = "include",
		[AST_LET] = "let",
		[AST_PARAM] = "param",
		[AST_GROUP_DEF] = "group",
		[AST_PROFILE] = "profile",
		[AST_USE] = "use",
		[AST_ABOUT] = "about",
		[AST_RULE] = "rule",
		[AST_REQUIRE] = "require",
		[AST_LIMIT] = "limit",
		[AST_SET] = "set",
		[AST_ON] = "on",
	};

	for (; stmts != NULL; stmts = stmts->next) {
		fprintf(stream, "%*s%s", depth, "", kinds[stmts->kind]);
		if (stmts->kind == AST_RULE)
			fprintf(stream, "%s %c", stmts->drop ? " drop" : "",
			    "ADP"[stmts->effect]);
		if (stmts->name != NULL)
			put_atom(stream, stmts->name);
		if (stmts->parent != NULL)
			fprintf(stream, " < %s", stmts->parent->text);
		put_list(stream, "|", &stmts->words);
		put_list(stream, "=", &stmts->objects);
		put_list(stream, "-", &stmts->exclusions);
		fputc('\n', stream);
		put_stmts(stream, stmts->body, depth + 1);
		put_stmts(stream, stmts->included, depth + 1);
	}
}

/* Compares the tree and the codes of the diagnostics; releases the bench. */
static void
expect(struct tap *tap, struct bench *bench, const char *name,
    const char *wanted, const char *wanted_codes)
{
	char *got = NULL;
	size_t size;
	FILE *stream = open_memstream(&got, &size);

	put_stmts(stream, bench->stmts, 0);
	fclose(stream);
	tap_ok(tap, strcmp(codes(bench), wanted_codes) == 0,
	    "%s: codes '%s', got '%s'", name, wanted_codes, codes(bench));
	if (!tap_ok(tap, strcmp(got, wanted) == 0, "%s", name))
		printf("# wanted:\n%s\n# got:\n%s\n", wanted, got);
	free(got);
	arena_release(bench->arena);
}

static void
test_shapes(struct tap *tap)
{
	static const struct {
		const char *name, *text, *tree, *codes;
	} cases[] = {
		{ "rules",
		    "sbx 1\ngroup g {\n"
		    "allow network full\n"
		    "deny read { ${credentials} \"/b c\"\n\n # x\n ~ }"
		    "  except ~/.x\n"
		    "drop prefer deny write /a except { /a/b /a/c }\n"
		    "allow network connect tcp { 443 8000-8080 }\n"
		    "deny syscalls { @mount io_uring_setup }\n"
		    "deny env { *_TOKEN LC_* \"limit\" }\n}\n",
		    "sbx | n:1\ngroup w:g\n"
		    " rule A | w:network w:full\n"
		    " rule D | w:read = p:${credentials} p:/b c p:~ - p:~/.x\n"
		    " rule drop P | w:write = p:/a - p:/a/b p:/a/c\n"
		    " rule A | w:network w:connect w:tcp = n:443 -:8000-8080\n"
		    " rule D | w:syscalls = @:mount w:io_uring_setup\n"
		    " rule D | w:env = *:*_TOKEN *:LC_* s:limit\n",
		    "" },
		{ "other statements",
		    "sbx 1\nlet a = { /x ${b}/y }\nlet b = ~\n"
		    "param d # x\nprofile p extends q {\n"
		    "\tabout \"a \\\"b\\\"\\n\"\n"
		    "use g\nrequire level standard\nrequire landlock 4\n"
		    "limit file-size 50MiB\nlimit core none\nset env CI = 1\n"
		    "set env limit = ${tmp}/c\nset env X=\"a=b\"\n}",
		    "sbx | n:1\nlet w:a = p:/x p:${b}/y\nlet w:b = p:~\n"
		    "param w:d\nprofile w:p < q\n about s:a \"b\"\n\n use w:g\n"
		    " require | w:level w:standard\n"
		    " require | w:landlock n:4\n limit | w:file-size n:50MiB\n"
		    " limit | w:core w:none\n set w:CI | w:env = n:1\n"
		    " set w:limit | w:env = p:${tmp}/c\n"
		    " set w:X | w:env = s:a=b\n",
		    "" },
		{ "blocks",
		    "sbx 1\nprofile p {\n"
		    "on linux { require landlock 4 }\n"
		    "on linux macos {\non x86_64 { allow everything } }\n"
		    "on macos { }\non macos {\n}\n}\n",
		    "sbx | n:1\nprofile w:p\n on = w:linux\n"
		    "  require | w:landlock n:4\n on = w:linux w:macos\n"
		    "  on = w:x86_64\n   rule A | w:everything\n"
		    " on = w:macos\n on = w:macos\n",
		    "" },
		{ "line ends and a mark",
		    "\xef\xbb\xbf\r\n# x\r\nsbx 1\r\n"
		    "profile p {\r\nallow read {\r\n/a\r\n}\r\n}",
		    "sbx | n:1\nprofile w:p\n rule A | w:read = p:/a\n", "" },
		{ "faults leave their neighbours",
		    "sbx 1\nprofile p {\n"
		    "allow read /a\nalow read {\n/b\n}\nallow read /c /d\n"
		    "on linux { allow }\ndeny read { /e } /f\nallow read "
		    "/g\n}\n"
		    "let x /y\nparam z\n",
		    "sbx | n:1\nprofile w:p\n rule A | w:read = p:/a\n"
		    " on = w:linux\n rule A | w:read = p:/g\nparam w:z\n",
		    "0102 0101 0101 0101 0101" },
		{ "a faulty head hides nothing in its block",
		    "sbx 1\n"
		    "profile p extnds q {\nalow read /x\n}\nparam z\n",
		    "sbx | n:1\nparam w:z\n", "0101 0102" },
		{ "a brace that is the fault itself",
		    "sbx 1\n"
		    "param z {\n/a\n}\nparam y\n",
		    "sbx | n:1\nparam w:y\n", "0101" },
		{ "an open block loses nothing before it",
		    "sbx 1\nparam z\n"
		    "profile p {\n",
		    "sbx | n:1\nparam w:z\n", "0107" },
		{ "misplaced statements are taken out",
		    "sbx 1\nallow read /x\n"
		    "profile p {\non linux {\nlet x = /y\nuse g\n}\n}\n",
		    "sbx | n:1\nprofile w:p\n on = w:linux\n  use w:g\n",
		    "0109 0109" },
		{ "a later version stops everything", "sbx 2\nfoo bar }\n", "",
		    "0702" },
		{ "a later version after blank lines", "\n#\nsbx 1000000\n", "",
		    "0702" },
		{ "no version, but a policy", "param x\nalow\n", "param w:x\n",
		    "0701 0102" },
		{ "no policy at all", "%PDF-1.4 {{{\n", "", "0701" },
		{ "no policy, and no token", ";;\n", "", "0701" },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		struct bench bench;

		parse_text(&bench, cases[i].text, strlen(cases[i].text));
		expect(tap, &bench, cases[i].name, cases[i].tree,
		    cases[i].codes);
	}
}

/* --- garbage -------------------------------------------------------------- */

enum { GARBAGE = 1 << 20 };

static void
garbage(struct tap *tap, const char *start, const char *piece, size_t piece_len)
{
	size_t size = strlen(start);
	char *text = malloc(size + GARBAGE), *printed = NULL;
	size_t printed_size;
	struct bench bench;

	memcpy(text, start, size);
	for (size_t i = 0; i < GARBAGE; i++)
		text[size + i] = piece[i % piece_len];
	parse_text(&bench, text, size + GARBAGE);
	FILE *stream = open_memstream(&printed, &printed_size);
	diags_print(&bench.diags, stream, REPORT_TEXT, false);
	fclose(stream);
	tap_ok(tap,
	    bench.diags.errors > 0 && bench.diags.errors <= DIAG_MAX + 1 &&
		printed_size < 32768,
	    "garbage: %zu errors, %zu bytes printed", bench.diags.errors,
	    printed_size);
	free(printed);
	free(text);
	arena_release(bench.arena);
}

static void
test_garbage(struct tap *tap)
{
	static const char *const pieces[] = {
		"{",
		"{\n",
		"}\n",
		"\"",
		"\"\n",
		"\"\" ",
		"a",
		"a ",
		"a\n",
		"/",
		"/ ",
		"${",
		"\\\n",
		"deny read {\n",
		"on linux {\n",
		"profile p {\n",
		"on linux { ",
		"allow read { /x\n",
		";\n",
		"= ",
		"@",
		"sbx 1\n",
		"prefer ",
		"{ /a } ",
		"\xff",
		"\xff\n",
		"a very long list of words that are not statements\n",
	};
	static const char *const starts[] = {
		"",
		"sbx 1\n",
		"sbx 1\nprofile p {\n",
		"sbx 1\nprofile p {\nallow read {\n",
	};
	char noise[4096];

	for (size_t i = 0; i < countof(starts); i++) {
		for (size_t j = 0; j < countof(pieces); j++)
			garbage(tap, starts[i], pieces[j], strlen(pieces[j]));
		garbage(tap, starts[i], "\0", 1);
	}
	srand(1);
	for (size_t i = 0; i < sizeof noise; i++)
		noise[i] = (char)(rand() >> 7);
	garbage(tap, "", noise, sizeof noise);
	for (size_t i = 0; i < sizeof noise; i++)
		noise[i] = rand() % 40 ? (char)(' ' + rand() % 95) : '\n';
	garbage(tap, "sbx 1\n", noise, sizeof noise);
}

/* --- includes ------------------------------------------------------------- */

static void
put_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	if (file == NULL || fputs(text, file) == EOF || fclose(file) == EOF)
		abort();
}

static void
parse_file(struct bench *bench, const char *path)
{
	struct source *source;

	bench_init(bench);
	*arena_push(bench->arena, &bench->sources.include_dirs) = "i";
	source = sources_read(&bench->sources, path, "main.sbx",
	    (struct loc){ 0, 0 });
	if (source == NULL)
		abort();
	bench->stmts = ast_parse(&bench->sources, &bench->diags, source);
}

/* "shown=name" of all files that were read. */
static const char *
files(const struct bench *bench)
{
	const char *text = "";

	for (size_t i = 0; i < bench->sources.files.count; i++) {
		const struct source *file = bench->sources.files.items[i];

		text = arena_printf(bench->arena, "%s%s%s=%s", text,
		    i == 0 ? "" : " ", file->shown, file->name);
	}
	return text;
}

static void
expect_files(struct tap *tap, struct bench *bench, const char *name,
    const char *wanted)
{
	const char *got = files(bench);

	if (!tap_ok(tap, strcmp(got, wanted) == 0, "%s", name))
		printf("# wanted: %s\n# got: %s\n", wanted, got);
}

static void
test_includes(struct tap *tap)
{
	struct bench bench;

	put_file("d/main.sbx",
	    "sbx 1\ninclude \"e/a.sbx\"\n"
	    "include \"b.sbx\"\ninclude \"./e/../b.sbx\"\n"
	    "include \"groups.sbx\"\n");
	put_file("d/e/a.sbx", "sbx 1\ninclude \"c.sbx\"\nparam a\n");
	put_file("d/e/c.sbx", "sbx 1\ninclude \"../b.sbx\"\n");
	put_file("d/b.sbx", "sbx 1\nparam b\n");
	put_file("i/only.sbx", "sbx 1\n");
	parse_file(&bench, "d/main.sbx");
	expect_files(tap, &bench, "includes are found beside their file, once",
	    "d/main.sbx=main.sbx d/e/a.sbx=e/a.sbx d/e/c.sbx=e/c.sbx "
	    "d/e/../b.sbx=e/../b.sbx sbx:groups.sbx=sbx:groups.sbx");
	tap_ok(tap,
	    bench.diags.errors == 0 &&
		bench.stmts->next->included->next->included->next->included
			->next->kind == AST_PARAM,
	    "an include holds the statements of its file");
	arena_release(bench.arena);

	put_file("d/main.sbx",
	    "sbx 1\ninclude \"only.sbx\"\n"
	    "include \"groups.sbx\"\ninclude \"./groups.sbx\"\n");
	put_file("d/groups.sbx", "sbx 1\n");
	parse_file(&bench, "d/main.sbx");
	expect_files(tap, &bench,
	    "then in -I; the name of a shipped file means that one",
	    "d/main.sbx=main.sbx i/only.sbx=only.sbx "
	    "sbx:groups.sbx=sbx:groups.sbx d/./groups.sbx=./groups.sbx");
	arena_release(bench.arena);
}

/* Shipped files must not read what lies about. */
static void
test_shipped(struct tap *tap)
{
	static const char text[] =
	    "sbx 1\ninclude \"only.sbx\"\n"
	    "include \"groups.sbx\"\ninclude \"groups.sbx\"\n";
	struct bench bench;

	put_file("groups.sbx", "sbx 1\n");
	put_file("only.sbx", "sbx 1\n");
	bench_init(&bench);
	*arena_push(bench.arena, &bench.sources.include_dirs) = ".";
	struct source *source = sources_add(&bench.sources, "sbx:x.sbx", text,
	    sizeof text - 1, (struct loc){ 0, 0 });
	ast_parse(&bench.sources, &bench.diags, source);
	expect_files(tap, &bench, "a shipped file includes shipped files only",
	    "sbx:x.sbx=sbx:x.sbx sbx:groups.sbx=sbx:groups.sbx");
	tap_ok(tap, strcmp(codes(&bench), "0703") == 0,
	    "a shipped file that includes another one: %s", codes(&bench));
	arena_release(bench.arena);
}

static void
test_include_bounds(struct tap *tap)
{
	struct bench bench;
	char text[300 * 32] = "sbx 1\n", name[32], line[64];

	put_file("d/main.sbx",
	    "sbx 1\ninclude \"main.sbx\"\n"
	    "include \"e/a.sbx\"\n");
	put_file("d/e/a.sbx", "sbx 1\ninclude \"../main.sbx\"\n");
	parse_file(&bench, "d/main.sbx");
	tap_ok(tap,
	    strcmp(codes(&bench), "0704 0704") == 0 &&
		strcmp(bench.diags.records.items[1].message,
		    "the include leads "
		    "back to itself: d/main.sbx -> d/e/a.sbx -> d/main.sbx") ==
		    0,
	    "a cycle is named with its chain");
	arena_release(bench.arena);

	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof name, "many/%d.sbx", i);
		snprintf(line, sizeof line, "include \"%d.sbx\"\n", i);
		put_file(name, "sbx 1\n");
		strcat(text, line);
	}
	put_file("many/main.sbx", text);
	parse_file(&bench, "many/main.sbx");
	tap_ok(tap,
	    bench.sources.files.count == SOURCE_MAX_FILES &&
		bench.diags.errors == 300 + 1 - SOURCE_MAX_FILES &&
		bench.diags.records.items[0].id == DIAG_INCLUDE_BOUNDS,
	    "the number of files is bounded, %zu errors", bench.diags.errors);
	arena_release(bench.arena);

	put_file("d/main.sbx",
	    "sbx 1\ninclude \"/dev/zero\"\n"
	    "include \".\"\ninclude \"nowhere.sbx\"\ninclude \"\"\n");
	parse_file(&bench, "d/main.sbx");
	tap_ok(tap, strcmp(codes(&bench), "0703 0703 0703 0703") == 0,
	    "includes that cannot be read: %s", codes(&bench));
	arena_release(bench.arena);
}

int
main(void)
{
	char dir[] = "/tmp/sbx-test-XXXXXX", command[64];
	struct tap tap = { 0, 0 };

	if (mkdtemp(dir) == NULL || chdir(dir) == -1 ||
	    mkdir("d", 0700) == -1 || mkdir("d/e", 0700) == -1 ||
	    mkdir("i", 0700) == -1 || mkdir("many", 0700) == -1)
		return 99;
	test_shapes(&tap);
	test_garbage(&tap);
	test_includes(&tap);
	test_shipped(&tap);
	test_include_bounds(&tap);
	snprintf(command, sizeof command, "rm -rf %s", dir);
	if (chdir("/") == -1 || system(command) != 0)
		return 99;
	return tap_done(&tap);
}
