/*
 * The policies of a test file, compiled, and bound where the file says.
 */
#include "compiler/cases/cases.h"

#include "compiler/tables/tables.h"

#include <string.h>

/* --- loading -------------------------------------------------------------- */

/* A path in a test file is relative to that file. */
static const char *
beside(struct test_file *file, const char *path)
{
	const char *slash = strrchr(file->source->path, '/');

	if (path[0] == '/' || path[0] == '@' || slash == NULL)
		return path;
	return arena_printf(file->arena, "%.*s/%s",
	    (int)(slash - file->source->path), file->source->path, path);
}

/* The text is read like a file beside the test file, so that it can include
 * files there. */
static void
text_open(const struct test_subjects *subjects,
    const struct test_policy *policy, struct compilation *compilation)
{
	const struct test_file *file = subjects->file;
	const char *shown = arena_printf(file->arena, "%s(text)",
	    file->source->shown);
	struct source *source;

	options_start(subjects->options, compilation);
	source = sources_add(&compilation->sources, shown, policy->text,
	    strlen(policy->text), (struct loc){ 0 });
	source->name = "text.sbx";
	source->path = file->source->path;
	compilation_parse(compilation, source);
}

bool
test_has_profile(const struct test_subjects *subjects,
    struct test_loaded *loaded)
{
	const struct test_policy *policy = loaded->policy;
	struct diags *diags = &loaded->operand.compilation.diags;
	const struct diag *found = diags->records.items;

	if (loaded->operand.state != OPERAND_FAULTY ||
	    subjects->options->profile != NULL || policy->profile == NULL ||
	    diags->records.count != 1 || found->id != DIAG_UNKNOWN_PROFILE)
		return true;
	loaded->reported = true;
	diag_help(diag_add(&subjects->file->diags, found->id,
		      policy->profile_loc, "%s", found->message),
	    "%s", found->help);
	return false;
}

static void
load(const struct test_subjects *subjects, struct test_loaded *loaded)
{
	const struct test_policy *policy = loaded->policy;
	struct options options = *subjects->options;
	const char *path;

	if (options.profile == NULL)
		options.profile = policy->profile;
	if (policy->text == NULL) {
		path = beside(subjects->file, policy->path);
		operand_read(&options, path, &loaded->operand);
		if (loaded->operand.state == OPERAND_GOOD &&
		    loaded->operand.compiled &&
		    vouch(options.arena, path, &loaded->operand.blob) ==
			VOUCH_CHANGED)
			loaded->operand.state = OPERAND_UNREAD;
		return;
	}
	text_open(subjects, policy, &loaded->operand.compilation);
	operand_compile(&options, &loaded->operand);
}

struct test_loaded *
test_load(struct test_subjects *subjects, const struct test_policy *policy)
{
	struct arena *arena = subjects->file->arena;
	struct test_loaded *loaded;

	for (size_t i = 0; i < subjects->loaded.count; i++) {
		if (subjects->loaded.items[i]->policy == policy)
			return subjects->loaded.items[i];
	}
	loaded = arena_alloc(arena, sizeof *loaded);
	loaded->policy = policy;
	load(subjects, loaded);
	*arena_push(arena, &subjects->loaded) = loaded;
	return loaded;
}

/* --- binding -------------------------------------------------------------- */

struct binder {
	const struct options *options;
	struct test_file *file;
	const struct test_given *given;
	struct subject *subject;
};

/* The anchor of a directory under `given`, or 0. */
static uint16_t
anchor_of(const struct sbx_blob *blob, const char *name)
{
	static const uint16_t anchors[] = {
		SBX_ANCHOR_WORKSPACE,
		SBX_ANCHOR_HOME,
		SBX_ANCHOR_RUNTIME,
	};

	for (size_t i = 0; i < countof(anchors); i++) {
		if (strcmp(anchor_word(anchors[i]), name) == 0)
			return anchors[i];
	}
	return places_param(blob, name);
}

static void
report_key(const struct binder *binder, const struct test_directory *directory)
{
	static const char *const known[] = {
		"workspace",
		"home",
		"runtime",
		"level",
		"landlock",
		"platform",
		"arch",
	};
	const struct sbx_blob *blob = binder->subject->places.blob;
	const char *names[countof(known) + SBX_MAX_ANCHORS];
	const struct yaml_node key = {
		.kind = YAML_TEXT,
		.loc = directory->name_loc,
		.text = directory->name,
	};
	size_t count = countof(known);

	memcpy(names, known, sizeof known);
	for (uint32_t i = SBX_ANCHOR_PARAM; i < blob->anchor_count; i++)
		names[count++] = sbx_string(blob, blob->anchors[i].name);
	yaml_report_key(&binder->file->diags, &key, names, count);
}

static void
bind_directory(const struct binder *binder,
    const struct test_directory *directory)
{
	struct places *places = &binder->subject->places;
	uint16_t anchor = anchor_of(places->blob, directory->name);
	bool home = anchor == SBX_ANCHOR_HOME;
	struct sbx_place place;
	const char *fault;

	if (anchor == 0) {
		report_key(binder, directory);
		return;
	}
	if (strchr(home ? "/" : "/~$", directory->path[0]) == NULL)
		fault = home ? "it begins with '/'" :
			       "it begins with '/', '~/' or '${name}'";
	else
		fault = places_find(places, directory->path, &place);
	if (fault == NULL)
		places_bind(places, anchor, place.len > 0 ? place.path : "/");
	else
		diag_add(&binder->file->diags, DIAG_TEST_GIVEN, directory->loc,
		    "'%s' is no directory: %s", directory->path, fault);
}

/* sbxrun refuses a policy below its level or ABI, so there is no answer. */
static void
check_floor(const struct binder *binder)
{
	const struct sbx_meta *meta = binder->subject->places.blob->meta;
	const struct test_given *given = binder->given;

	if (given->level_loc.end != 0 && given->level < meta->level)
		diag_add(&binder->file->diags, DIAG_TEST_GIVEN,
		    given->level_loc,
		    "the policy requires level %s: it does not run at %s",
		    level_word(meta->level), level_word(given->level));
	if (given->abi != 0 && given->abi < meta->landlock)
		diag_add(&binder->file->diags, DIAG_TEST_GIVEN, given->abi_loc,
		    "the policy requires Landlock ABI %d: it does not run with "
		    "%d",
		    meta->landlock, given->abi);
}

/* Cases that name no machine are about x86_64, wherever they are asked; in the
 * kernel they can only be tried on this one. */
static const struct arch *
arch_asked(const struct binder *binder)
{
	const struct options here = { .arch = NULL };

	if (binder->given->arch != NULL)
		return binder->given->arch;
	return binder->options->live ? options_arch(&here) : &arches[0];
}

static void
bind(const struct binder *binder)
{
	/* The rules stand in a blob of their own (macos.c). */
	static const struct arch macos = {
		.name = "macos",
		.platforms = SBX_ON_LINUX,
	};
	const struct test_given *given = binder->given;
	struct places *places = &binder->subject->places;

	binder->subject->arch = given->macos ? &macos : arch_asked(binder);
	binder->subject->abi = given->abi;
	/* Only the loader knows the user and the name of this directory. */
	places_bind(places, SBX_ANCHOR_TMP, "/tmp/sbx/${tmp}");
	for (size_t i = 0; i < given->directories.count; i++)
		bind_directory(binder, &given->directories.items[i]);
	/* The command line comes last. */
	places_define_all(places, &binder->options->definitions);
	check_floor(binder);
}

static struct test_bound *
bound_find(struct test_subjects *subjects, const struct test_loaded *loaded,
    const struct test_case *test, enum sbx_level level)
{
	for (size_t i = 0; i < subjects->bound.count; i++) {
		struct test_bound *bound = subjects->bound.items[i];

		if (bound->loaded == loaded && bound->given == test->given &&
		    bound->level == level)
			return bound;
	}
	return NULL;
}

/* The blob that is asked; there is one for macOS, which is made once.  NULL
 * after reporting that there is none. */
static const struct sbx_blob *
blob_asked(const struct test_subjects *subjects, struct test_loaded *loaded,
    const struct test_case *test)
{
	if (!test->given->macos)
		return &loaded->operand.blob;
	if (loaded->macos == NULL)
		loaded->macos = macos_blob(subjects->file->arena,
		    &loaded->operand);
	if (loaded->macos == NULL)
		diag_add(&subjects->file->diags, DIAG_TEST_GIVEN, test->loc,
		    "the rules for macOS cannot be read");
	return loaded->macos;
}

static void
bound_fill(const struct test_subjects *subjects, struct test_bound *bound,
    const struct sbx_blob *blob)
{
	struct test_file *file = subjects->file;
	const struct binder binder = {
		.options = subjects->options,
		.file = file,
		.given = bound->given,
		.subject = &bound->subject,
	};
	size_t errors = file->diags.errors;

	places_init(&bound->subject.places, file->arena, blob, "/", "/");
	bind(&binder);
	bound->subject.level = bound->level;
	bound->good = file->diags.errors == errors;
}

struct test_bound *
test_bind(struct test_subjects *subjects, const struct test_case *test,
    enum sbx_level level)
{
	struct arena *arena = subjects->file->arena;
	struct test_loaded *loaded = test_load(subjects, test->policy);
	struct test_bound *bound = bound_find(subjects, loaded, test, level);
	const struct sbx_blob *blob;

	if (bound != NULL)
		return bound;
	bound = arena_alloc(arena, sizeof *bound);
	*bound = (struct test_bound){
		.loaded = loaded,
		.given = test->given,
		.level = level,
	};
	blob = blob_asked(subjects, loaded, test);
	if (blob != NULL)
		bound_fill(subjects, bound, blob);
	*arena_push(arena, &subjects->bound) = bound;
	return bound;
}
