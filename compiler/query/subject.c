/*
 * Policies as operands: a text, YAML, a blob, or @NAME for a shipped profile.
 * A text is compiled in memory, so that all are asked as blobs are.
 */
#include "compiler/base/base.h"
#include "compiler/check/check.h"
#include "compiler/policy/policy.h"
#include "compiler/query/query.h"
#include "compiler/report/report.h"
#include "compiler/tables/tables.h"

#include <errno.h>
#include <string.h>

/* --- reading -------------------------------------------------------------- */

/* The profile that is wanted of a file: of one that defines no other, that. */
static const char *
profile_wanted(const struct options *options,
    const struct compilation *compilation)
{
	struct profile_names names = { 0 };

	if (options->has_choice)
		resolve_profiles(options->arena, compilation->stmts, &names);
	return names.names.count == 1 ? NULL : options->profile;
}

void
operand_compile(const struct options *options, struct operand *operand)
{
	struct image image;

	const char *profile = profile_wanted(options, &operand->compilation);

	operand->state = compile(&operand->compilation, profile, &image) &&
		sbx_verify(image.bytes, image.size, &operand->blob) ==
		    SBX_BLOB_OK ?
	    OPERAND_GOOD :
	    OPERAND_FAULTY;
}

static bool
must_be_clean(const char *path, const struct sbx_blob *blob)
{
	if (blob_is_clean(blob))
		return true;
	complain("'%s' does not do what its rules say: %s [%s]", path,
	    blob_unclean, diag_code(DIAG_BLOB_CHANGED));
	errno = EBADMSG;
	return false;
}

bool
operand_blob(struct arena *arena, const char *path, struct sbx_blob *blob)
{
	return input_blob(arena, path, blob) && must_be_clean(path, blob);
}

static void
blob_read(const struct options *options, const char *path,
    struct operand *operand)
{
	const char *profile;

	if (!input_blob(options->arena, path, &operand->blob))
		return;
	operand->unclean = !must_be_clean(path, &operand->blob);
	if (operand->unclean)
		return;
	profile = sbx_string(&operand->blob, operand->blob.meta->profile);
	if (options->profile == NULL || options->has_choice ||
	    strcmp(options->profile, profile) == 0)
		operand->state = OPERAND_GOOD;
	else
		complain("%s: it holds the profile '%s'", path, profile);
}

void
operand_read(const struct options *options, const char *path,
    struct operand *operand)
{
	operand->state = OPERAND_UNREAD;
	operand->compiled = path[0] != '@' && input_is_blob(path);
	if (operand->compiled)
		blob_read(options, path, operand);
	else if (options_open(options, path, &operand->compilation))
		operand_compile(options, operand);
}

/* --- binding -------------------------------------------------------------- */

/* A level, or as a target of `sbxc check`: standard, with that Landlock. */
static bool
level_choose(const struct options *options, struct subject *subject)
{
	const char *word = options->level;
	int found = word != NULL ? level_find(word) : SBX_LEVEL_FULL;
	struct enforcer enforcer;

	subject->level = (enum sbx_level)found;
	if (found >= 0)
		return true;
	if (strncmp(word, "landlock=", 9) == 0 &&
	    enforcer_read(word, &enforcer) &&
	    enforcer.level == SBX_LEVEL_STANDARD) {
		subject->level = enforcer.level;
		subject->abi = enforcer.landlock;
		return true;
	}
	misused("-l is full, standard, landlock=N, minimal or none, not '%s'",
	    word);
	return false;
}

static bool
has_parameter(const struct sbx_blob *blob, const struct blocks *blocks,
    const char *name)
{
	return places_param(blob, name) != 0 ||
	    (blocks != NULL && blocks_have_param(blocks, name));
}

bool
definitions_fit(const struct options *options, const struct sbx_blob *blobs,
    const struct blocks *const *blocks, size_t count)
{
	for (size_t i = 0; i < options->definitions.list.count; i++) {
		const struct definition *definition =
		    &options->definitions.list.items[i];

		size_t j = 0;

		while (j < count &&
		    !has_parameter(&blobs[j], blocks[j], definition->name))
			j++;
		if (j < count)
			continue;
		misused("-D %s=%s: %s parameter of that name", definition->name,
		    definition->value,
		    count == 1     ? "the policy has no" :
			count == 2 ? "neither policy has a" :
				     "none of the policies has a");
		return false;
	}
	return true;
}

enum exit_status
subjects_bind(const struct options *options, const struct sbx_blob *blobs,
    const struct blocks *const *blocks, size_t count, struct subject *subjects)
{
	struct subject subject = { .arch = options_arch(options) };

	if (subject.arch == NULL)
		subject.arch = &arches[0];
	if (!level_choose(options, &subject) ||
	    !definitions_fit(options, blobs, blocks, count))
		return EXIT_USAGE;
	for (size_t i = 0; i < count; i++) {
		struct places *places = &subjects[i].places;

		subjects[i] = subject;
		places_init(places, options->arena, &blobs[i],
		    options->workspace, options->home);
		places_define_all(places, &options->definitions);
	}
	return EXIT_CLEAN;
}
