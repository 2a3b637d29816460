/*
 * `sbxc show --html POLICY`: a picture of a policy, on standard output; of a file
 * with several profiles each in a tab, and of one with groups alone its text.
 */
#include "compiler/command/commands.h"
#include "compiler/query/query.h"

#include <string.h>

static enum exit_status
read_one(const struct options *options, const char *profile,
    struct sbx_blob *blob)
{
	struct options own = *options;
	const struct blocks *blocks;

	if (profile != NULL)
		own.profile = profile;
	return subject_read(&own, options->operands.list.items[0], blob,
	    &blocks);
}

/* All of them are read before anything is written. */
static enum exit_status
show(const struct options *options, const struct profile_names *names,
    const struct sources *sources)
{
	const char *const *profiles = names->names.items;
	size_t count = names->names.count;
	struct sbx_blob *blobs = arena_alloc(options->arena,
	    (count + 1) * sizeof *blobs);
	enum exit_status status = EXIT_CLEAN;

	for (size_t i = 0; i < count && status == EXIT_CLEAN; i++)
		status = read_one(options, profiles[i], &blobs[i]);
	if (status != EXIT_CLEAN)
		return status;
	page_begin(stdout,
	    count == 1 ? sbx_string(&blobs[0], blobs[0].meta->profile) :
			 path_name(options->operands.list.items[0]));
	if (count == 0)
		puts("<h1>Groups alone</h1>\n<p class=\"dim\">No profile is "
		     "defined here; files that include this one use its "
		     "groups.</p>");
	if (count > 1)
		page_tabs(stdout, profiles, count);
	for (size_t i = 0; i < count; i++) {
		if (count > 1)
			page_tab(stdout, i);
		page_policy(stdout, options->arena, &blobs[i], sources, NULL);
	}
	if (count > 1)
		page_tabs_end(stdout);
	if (sources != NULL)
		page_sources(stdout, sources, count == 0);
	page_end(stdout);
	return status;
}

enum exit_status
command_show(struct options *options)
{
	enum exit_status status = operands_require(options, 1, "a policy");
	struct compilation compilation;
	struct profile_names names = { 0 };
	bool read;

	if (status == EXIT_CLEAN && !options->html)
		status = misused("show draws a page: add --html; 'sbxc dump' "
				 "prints text");
	if (status != EXIT_CLEAN)
		return status;
	read = profiles_read(options, options->operands.list.items[0], &names,
	    &compilation);
	if (!read || options->profile != NULL) {
		names = (struct profile_names){ 0 };
		*arena_push(options->arena, &names.names) = options->profile;
	}
	return show(options, &names, read ? &compilation.sources : NULL);
}
