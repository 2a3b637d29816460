/*
 * Any bytes at all read as records of runs: no crash, and either runs or an
 * error.  What is drafted of them compiles without a warning, has the layout of
 * `sbxc fmt`, and never gives a key: whoever wrote the records may have wanted
 * that.
 */
#include "compiler/learn/learn.h"
#include "compiler/read/read.h"
#include "compiler/report/report.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/kept_programs.h"

/*
 * A draft is compiled some ten times, of which few texts are new: most have the
 * same few rules, or none.  What compiled without a word is kept, since those who
 * compile it look at nothing but the image then.
 */
enum { IMAGES_MAX = 500 };

static struct {
	struct arena *arena;
	struct map texts;
	VEC(struct image) images; /* without bytes: not known to be good */
} kept;

static void
kept_begin(void)
{
	kept_programs_begin();
	if (kept.arena != NULL && kept.images.count < IMAGES_MAX)
		return;
	if (kept.arena != NULL)
		arena_release(kept.arena);
	memset(&kept, 0, sizeof kept);
	kept.arena = arena_new();
}

bool __real_compile(struct compilation *compilation, const char *profile,
    struct image *image);
bool __wrap_compile(struct compilation *compilation, const char *profile,
    struct image *image);
bool
__wrap_compile(struct compilation *compilation, const char *profile,
    struct image *image)
{
	const struct source *file = compilation->file;
	struct image *known;
	bool added;
	size_t number = map_number(kept.arena, &kept.texts, file->text,
	    file->size, &added);

	if (added)
		arena_push(kept.arena, &kept.images);
	known = &kept.images.items[number];
	if (known->bytes != NULL) {
		*image = *known;
		return true;
	}
	if (!__real_compile(compilation, profile, image))
		return false;
	if (compilation->diags.records.count == 0) {
		void *copy = arena_alloc(kept.arena, image->size);

		memcpy(copy, image->bytes, image->size);
		*known = (struct image){ copy, image->size };
	}
	return true;
}

static void
print_diags(const struct records *records)
{
	char *text = NULL;
	size_t printed = 0;
	FILE *stream = open_memstream(&text, &printed);

	must(stream != NULL, "no stream");
	diags_print(&records->diags, stream, REPORT_TEXT, false);
	fclose(stream);
	must(printed < 256 << 10, "too much is printed");
	free(text);
}

static void
check_text(const struct draft *draft)
{
	struct compilation compilation;
	struct sbx_blob blob;
	struct fmt_text again;

	must(memchr(draft->text.bytes, '\0', draft->text.size) == NULL,
	    "a draft with a NUL");
	must(draft_compile(draft, draft->text.bytes, &compilation, &blob),
	    "a draft that does not compile");
	must(compilation.diags.warnings == 0, "a draft that is warned of");
	again = fmt_text(draft->arena, compilation.stmts, compilation.file);
	must(again.size == draft->text.size &&
		memcmp(again.bytes, draft->text.bytes, again.size) == 0,
	    "a draft in another layout");
}

/* What must not come of any records. */
static void
check_denied(const struct draft *draft)
{
	static const char *const questions[][2] = {
		{ "read", "~/.ssh/id_rsa" },
		{ "read", "~/.aws/credentials" },
		{ "write", "~/.netrc" },
		{ "syscall", "mount" },
	};
	const struct base base = { .blob = draft->blob };
	struct subject subject = run_subject(&base,
	    draft->records->runs.items[0], draft->arena);

	for (size_t i = 0; i < countof(questions); i++) {
		struct access access;

		must(access_parse(&subject.places, questions[i], 2, &access) ==
			NULL,
		    "a question that is none");
		must(!verdict_of(&subject, &access).allowed,
		    "a draft that gives credentials");
	}
}

static void
check_draft(struct arena *arena, const struct records *records,
    const char *extends)
{
	struct draft draft = {
		.arena = arena,
		.records = records,
		.name = "drafted",
		.extends = extends,
	};

	draft_make(&draft);
	check_text(&draft);
	check_denied(&draft);
	must(*draft_tests(&draft, "drafted.sbx") == '#', "no tests");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	struct records records;
	const struct source *source;

	kept_begin();
	records_init(&records, arena);
	source = sources_add(&records.sources, "fuzz.jsonl",
	    size > 0 ? (const char *)data : "", size, (struct loc){ 0 });
	if (source != NULL) {
		records_parse(&records, source);
		must(records.runs.count > 0 || records.diags.errors > 0,
		    "no run and no error");
		print_diags(&records);
	}
	if (records.runs.count > 0)
		check_draft(arena, &records, size % 2 == 0 ? NULL : "none");
	arena_release(arena);
	return 0;
}
