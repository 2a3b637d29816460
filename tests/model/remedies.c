/*
 * What `sbxc why` offers against a denial, tried: random policies are asked random
 * questions, each offer is applied to the text, and the new text must compile
 * and allow what was asked.  What is offered against none of them is an allow
 * that shows credentials.
 *
 *	tests/model/remedies [COUNT [SEED]]
 *
 * Half of the questions are about no machine, and half about a small tree that
 * is made for them, with links, and names that a policy has to quote.
 */
#include "compiler/query/query.h"
#include "compiler/query/why.h"
#include "compiler/read/read.h"
#include "compiler/report/report.h"
#include "tests/lib/chance.h"
#include "tests/lib/tap.h"

#include <inttypes.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COUNT = 3000, MAX_LINES = 48, LINE = 1024, RULES = 7 };

struct text {
	char lines[MAX_LINES][LINE];
	unsigned count;
};

struct world {
	char root[64]; /* of the tree that is made */
	bool here;
	bool denies_call; /* the policy in the making has one */
	struct chance chance;
};

#define ANY(world, table) \
	(table)[chance_below(&(world)->chance, countof(table))]

/* @ stands for the tree. */
static const char *const places[] = {
	"@/w",
	"@/w/.git",
	"@/w/.git/hooks",
	"@/w/gone",
	"@/w/gone/x",
	"@/w/link",
	"@/w/link/x",
	"@/w/a*b",
	"@/w/a{b",
	"@/w/with blank",
	"@/w/quote\"d",
	"@/w/back\\\\slash",
	"@/w/a;b,c=d#e$f",
	"@/w/\xc3\xa4",
	"@/out",
	"@/out/deep",
	"@/out/new/file.txt",
	"@/out/x.lock",
	"@/out/a?b",
	"@/out/${x}",
	"@/home",
	"@/home/.ssh/id",
	"@/home/.bashrc",
	"@/home/.gitconfig.lock",
	"@/home/.parallel/tmp",
	"@/home/.cache/tool",
	"@/home/.config/tool/x.json",
	"@/home/src",
	"@/home/src/x",
	"/etc/passwd",
	"/usr/bin/env",
	"/",
};

static const char *const variables[] = {
	"HOME",
	"GITHUB_TOKEN",
	"AWS_KEY",
	"allow",
	"a.b",
	"with blank",
	"9",
	"LC_ALL",
	"X",
	"a#b",
};
static const char *const patterns[] = { "*_TOKEN", "AWS_*", "*", "X", "LC_*" };
static const char *const calls[] = { "mount", "ptrace", "bpf", "read",
	"setns" };
static const char *const rights[] = { "read", "write", "exec" };
static const char *const parents[] = { "", "", "", " extends workspace-write",
	" extends coding", " extends read-only" };

__attribute__((format(printf, 2, 3))) static void
add(struct text *text, const char *format, ...)
{
	va_list arguments;

	if (text->count == MAX_LINES)
		abort();
	va_start(arguments, format);
	vsnprintf(text->lines[text->count++], LINE, format, arguments);
	va_end(arguments);
}

static const char *
place_in(const struct world *world, const char *place, char *path)
{
	if (place[0] != '@')
		return place;
	snprintf(path, LINE, "%s%s", world->root, place + 1);
	return path;
}

/* In quotes, which every path may have; a glob of some in the same directory. */
static void
add_path_rule(struct world *world, struct text *text)
{
	static const char *const effects[] = { "allow", "allow", "deny",
		"prefer deny" };
	const char *effect = ANY(world, effects), *right = ANY(world, rights);
	char path[LINE], hole[LINE], quoted[LINE];
	const char *at = place_in(world, ANY(world, places), path);
	size_t len = 0;

	for (const char *c = at; *c != '\0'; c++) {
		if (*c == '"')
			quoted[len++] = '\\';
		quoted[len++] = *c;
	}
	quoted[len] = '\0';
	if (chance_percent(&world->chance, 15))
		add(text, "%s %s glob \"%s/%s\"", effect, right, world->root,
		    chance_percent(&world->chance, 50) ? "w/*" : "out/**/x*");
	else if (chance_percent(&world->chance, 25))
		add(text, "%s %s \"%s\" except { \"%s\" }", effect, right,
		    quoted, place_in(world, "@/w/.git/hooks/keep", hole));
	else
		add(text, "%s %s \"%s\"", effect, right, quoted);
}

static void
add_rule(struct world *world, struct text *text)
{
	unsigned low = 1 + (unsigned)chance_below(&world->chance, 60);

	switch (chance_below(&world->chance, 8)) {
	case 0:
		add(text, "%s network %s tcp %u-%u",
		    chance_percent(&world->chance, 60) ? "allow" : "deny",
		    chance_percent(&world->chance, 50) ? "connect" : "listen",
		    low, low + 20);
		break;
	case 1:
		add(text, "%s env %s",
		    chance_percent(&world->chance, 40) ? "allow" : "deny",
		    ANY(world, patterns));
		break;
	case 2:
		/* Of two that deny the same, a blob names one. */
		if (!world->denies_call)
			add(text, "deny syscalls %s", ANY(world, calls));
		world->denies_call = true;
		break;
	case 3:
		if (chance_percent(&world->chance, 15))
			add(text, "%s",
			    chance_percent(&world->chance, 50) ?
				"deny network full" :
				"allow network loopback");
		break;
	default:
		add_path_rule(world, text);
	}
}

static void
make_text(struct world *world, struct text *text)
{
	unsigned rules = (unsigned)chance_below(&world->chance, RULES);

	text->count = 0;
	world->denies_call = false;
	add(text, "sbx 1");
	add(text, "profile p%s {", ANY(world, parents));
	while (rules-- > 0)
		add_rule(world, text);
}

/* --- asking --------------------------------------------------------------- */

struct asked {
	struct subject subject;
	struct sbx_blob blob;
	struct access access;
	struct verdict verdict;
};

static bool
compile_text(struct arena *arena, const struct text *text, bool loud,
    struct sbx_blob *blob)
{
	struct compilation *compilation = arena_alloc(arena,
	    sizeof *compilation);
	char *bytes = NULL;
	size_t size;
	FILE *stream = open_memstream(&bytes, &size);
	struct source *source;
	struct image image;
	bool good;

	for (unsigned i = 0; i < text->count; i++)
		fprintf(stream, "%s\n", text->lines[i]);
	fputs("}\n", stream);
	fclose(stream);
	compilation_init(compilation, arena);
	source = sources_add(&compilation->sources, "own.sbx",
	    arena_strndup(arena, bytes, size), size, (struct loc){ 0, 0 });
	compilation->file = source;
	compilation->stmts = ast_parse(&compilation->sources,
	    &compilation->diags, source);
	good = compile(compilation, "p", &image) &&
	    sbx_verify(image.bytes, image.size, blob) == SBX_BLOB_OK;
	if (!good && loud) {
		printf("# does not compile:\n%s", bytes);
		diags_print(&compilation->diags, stdout, REPORT_GCC, false);
	}
	free(bytes);
	return good;
}

static bool
ask(const struct world *world, struct arena *arena, const char *const *words,
    struct asked *asked)
{
	size_t count = strcmp(words[0], "connect") == 0 ||
		strcmp(words[0], "listen") == 0 ?
	    3 :
	    2;
	char workspace[LINE], home[LINE];

	asked->subject = (struct subject){
		.arch = &arches[0],
		.level = SBX_LEVEL_FULL,
	};
	place_in(world, "@/w", workspace);
	place_in(world, "@/home", home);
	places_init(&asked->subject.places, arena, &asked->blob, workspace,
	    home);
	places_bind_other_home(&asked->subject.places, home);
	if (world->here)
		places_ask_machine(&asked->subject.places);
	if (access_parse(&asked->subject.places, words, count,
		&asked->access) != NULL)
		return false;
	asked->verdict = verdict_of(&asked->subject, &asked->access);
	return true;
}

static void
make_question(struct world *world, char *buffer, const char *words[3])
{
	static const char *const ports[] = { "0", "1", "25", "443", "65535" };

	words[2] = NULL;
	switch (chance_below(&world->chance, 6)) {
	case 0:
		words[0] = chance_percent(&world->chance, 50) ? "connect" :
								"listen";
		words[1] = "tcp";
		words[2] = ANY(world, ports);
		break;
	case 1:
		words[0] = "env";
		words[1] = ANY(world, variables);
		break;
	case 2:
		words[0] = "syscall";
		words[1] = ANY(world, calls);
		break;
	default:
		words[0] = ANY(world, rights);
		words[1] = place_in(world, ANY(world, places), buffer);
	}
}

/* --- applying ------------------------------------------------------------- */

static void
add_exception(char *line, const char *object)
{
	char *end = strrchr(line, '}');

	if (strstr(line, " except {") != NULL && end != NULL)
		snprintf(end, LINE - (size_t)(end - line), "%s }", object);
	else
		snprintf(line + strlen(line), LINE - strlen(line),
		    " except { %s }", object);
}

/* What is to be typed is typed, to the letter; a name that no shell gets is made
 * as the words say. */
static void
make(const struct remedy *remedy, size_t step)
{
	struct arena *arena = arena_new();
	const char *words = remedy_words(arena, remedy, step);
	const char *path = remedy->steps.items[step].text;
	FILE *file;

	if (strncmp(words, "mkdir ", 6) == 0 ||
	    strncmp(words, "touch ", 6) == 0) {
		if (system(words) != 0)
			printf("# this fails: %s\n", words);
	} else if (strncmp(words, "make the directory ", 19) == 0) {
		mkdir(path, 0755);
	} else {
		file = fopen(path, "a");
		if (file != NULL)
			fclose(file);
	}
	arena_release(arena);
}

static void
unmake(const struct remedy *remedy)
{
	for (size_t i = 0; i < remedy->steps.count; i++) {
		enum remedy_do what = remedy->steps.items[i].what;

		if (what == REMEDY_MAKE || what == REMEDY_MAKE_EXCEPTED ||
		    what == REMEDY_MAKE_ABOVE)
			remove(remedy->steps.items[i].text);
	}
}

/* False if a step speaks of a place that is not in the text. */
static bool
apply(const struct remedy *remedy, struct text *text)
{
	for (size_t i = 0; i < remedy->steps.count; i++) {
		const struct remedy_step *step = &remedy->steps.items[i];
		const struct sbx_source *at = step->source != SBX_NO_SOURCE ?
		    &remedy->blob->sources[step->source] :
		    NULL;

		if (at != NULL && at->line > text->count)
			return false;
		if (step->what == REMEDY_REMOVE)
			text->lines[at->line - 1][0] = '\0';
		else if (step->what == REMEDY_EXCEPT)
			add_exception(text->lines[at->line - 1], step->text);
		else if (remedy_where(step) == SBX_ADVICE_SHELL)
			make(remedy, i);
		else if (step->what == REMEDY_ADD ||
		    (step->what == REMEDY_INSTEAD && *step->text != '\''))
			add(text, "%s", step->text);
	}
	return true;
}

struct tally {
	unsigned denied, offered, worked, bad;
};

static bool
ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), size = strlen(end);

	return len >= size && strcmp(text + len - size, end) == 0;
}

/* Whether the steps hold what they may not. */
static bool
shows_secrets(const struct remedy *remedy)
{
	for (size_t i = 0; i < remedy->steps.count; i++) {
		const char *text = remedy->steps.items[i].text;

		if (remedy->steps.items[i].what != REMEDY_ADD ||
		    strncmp(text, "allow ", 6) != 0)
			continue;
		if (strstr(text, "/.ssh") != NULL || ends_with(text, " /"))
			return true;
		if (strncmp(text, "allow write ", 12) == 0 &&
		    (strstr(text, "/.bashrc") != NULL ||
			ends_with(text, " ~") || strstr(text, "/etc/") != NULL))
			return true;
	}
	return false;
}

static void
complain_of(const struct text *text, const char *const *words, const char *what,
    const struct remedy *remedy)
{
	printf("# %s: %s %s %s\n", what, words[0], words[1],
	    words[2] != NULL ? words[2] : "");
	for (unsigned i = 0; i < text->count; i++)
		printf("#     %s\n", text->lines[i]);
	remedy_print(stdout, remedy);
}

static void
try_question(struct world *world, struct tally *tally)
{
	struct arena *arena = arena_new();
	struct asked asked, again;
	struct remedy remedy;
	struct text text;
	char buffer[LINE];
	const char *words[3];
	const char *fault = NULL;

	make_text(world, &text);
	make_question(world, buffer, words);
	if (!compile_text(arena, &text, false, &asked.blob) ||
	    !ask(world, arena, words, &asked) || asked.verdict.allowed) {
		arena_release(arena);
		return;
	}
	tally->denied++;
	remedy = remedy_find(&asked.subject, &asked.access, &asked.verdict);
	if (shows_secrets(&remedy))
		fault = "a rule gives away what it must not";
	if (!apply(&remedy, &text))
		fault = "a step is about no line of the text";
	else if (remedy_works(&remedy) &&
	    !compile_text(arena, &text, true, &again.blob))
		fault = "what is offered does not compile";
	else if (remedy_works(&remedy) && ++tally->offered &&
	    ask(world, arena, words, &again) && !again.verdict.allowed)
		fault = "what is offered does not help";
	else if (remedy_works(&remedy))
		tally->worked++;
	if (fault != NULL) {
		tally->bad++;
		complain_of(&text, words, fault, &remedy);
	}
	unmake(&remedy);
	arena_release(arena);
}

static bool
make_tree(struct world *world)
{
	static const char *const directories[] = { "@/w", "@/w/.git",
		"@/w/.git/hooks", "@/out", "@/out/deep", "@/home", "@/home/src",
		"@/home/.ssh", "@/home/.cache", "@/w/with blank" };
	char path[LINE];

	strcpy(world->root, "/tmp/sbx-remedies-XXXXXX");
	if (mkdtemp(world->root) == NULL)
		return false;
	for (size_t i = 0; i < countof(directories); i++) {
		if (mkdir(place_in(world, directories[i], path), 0755) == -1)
			return false;
	}
	return symlink("../out", place_in(world, "@/w/link", path)) == 0;
}

static void
remove_tree(const struct world *world)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf %s", world->root);
	if (system(command) != 0)
		puts("# the tree stays behind");
}

int
main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : tap_rounds(COUNT);
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	struct world world = { .here = false };
	struct tap tap = { 0, 0 };

	if (!tap_ok(&tap, make_tree(&world), "a tree to ask about"))
		return tap_done(&tap);
	for (int here = 0; here < 2; here++) {
		struct tally tally = { 0, 0, 0, 0 };

		world.here = here != 0;
		for (unsigned i = 0; i < count / 2; i++) {
			world.chance.state = seed++;
			try_question(&world, &tally);
		}
		tap_ok(&tap,
		    tally.bad == 0 && tally.worked == tally.offered &&
			tally.offered > count / 20,
		    "%s: of %u denials %u have an offer, and %u work",
		    here ? "this machine" : "the model", tally.denied,
		    tally.offered, tally.worked);
	}
	remove_tree(&world);
	return tap_done(&tap);
}
