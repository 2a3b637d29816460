/*
 * Anchors: where the workspace, home, the scratch directory and the parameters
 * lie on this machine, for this user and this call.
 */
#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/bind/bind.h"
#include "runtime/bind/binder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
set_anchor(struct binder *binder, uint32_t anchor, struct sbx_place at)
{
	binder->made.anchors[anchor] = at;
	binder->made.bound[anchor] = true;
}

/* Keeps the links that led to what the caller has named, to be judged. */
static void
note_given(struct binder *binder, const struct followed *found)
{
	if (found->link_count > 0)
		binder->given[binder->given_count++] = *found;
}

/* The kernel's own name for where we are: absolute and without links. */
static struct sbx_place
current_directory(struct binder *binder)
{
	char cwd[SBX_MAX_PATH + 1];

	if (current_path(cwd, sizeof cwd) < 0)
		refuse("the current directory", "no such workspace", errno);
	if (cwd[0] != '/')
		refuse("the current directory",
		    "it lies outside the root directory", 0);
	return arena_copy(binder->arena, place_of(cwd));
}

static struct sbx_place
given_directory(struct binder *binder, const char *given)
{
	struct followed found = follow_given(binder->arena, given);
	int fd;

	if (found.fd < 0)
		refuse(given, "no such workspace", found.error);
	fd = openat(found.fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		refuse(given, "the workspace is no directory one can enter",
		    errno);
	close(fd);
	close(found.fd);
	note_given(binder, &found);
	return found.at;
}

/* Who names no directory has not thought of where this is. */
static void
refuse_home(struct binder *binder, struct sbx_place at)
{
	const struct options *options = binder->request->options;
	const struct sbx_blob *blob = binder->blob;

	if (!options->in_home || options->plan || options->doctor ||
	    options->clean)
		return;
	for (uint32_t i = 0; i < blob->path_count; i++) {
		if (blob->paths[i].anchor == SBX_ANCHOR_WORKSPACE &&
		    blob->paths[i].effect == SBX_ALLOW &&
		    blob->paths[i].ceiling == 0)
			refuse(path_of(at),
			    "all of the home directory would be the "
			    "workspace: go into a project first, or say with "
			    "'-w .' that it is meant",
			    0);
	}
}

static void
bind_workspace(struct binder *binder)
{
	const char *given = binder->request->options->workspace;
	struct sbx_place at;

	if (given != NULL && strcmp(given, "none") == 0) {
		binder->made.anchors[SBX_ANCHOR_WORKSPACE] =
		    (struct sbx_place){ "", 0 };
		return;
	}
	at = given ? given_directory(binder, given) : current_directory(binder);
	if (at.len == 0)
		refuse("/",
		    "the root directory is no workspace; choose one with -w",
		    0);
	if (scratch_within(at))
		refuse(path_of(at),
		    "it is no workspace, for sbx keeps its own directory in "
		    "it; choose one with -w",
		    0);
	if (given == NULL)
		refuse_home(binder, at);
	set_anchor(binder, SBX_ANCHOR_WORKSPACE, at);
	if (binder->request->options->git != NULL)
		binder->made.git = place_of(binder->request->options->git);
}

/* --- home ----------------------------------------------------------------- */

/* The place that a variable or a file names, where there may be nothing. */
static bool
named_place(struct binder *binder, const char *path, struct sbx_place *at)
{
	struct followed found;

	if (path == NULL || path[0] != '/' || strlen(path) > SBX_MAX_PATH)
		return false;
	found = follow_given(binder->arena, path);
	if (found.fd >= 0)
		close(found.fd);
	note_given(binder, &found);
	*at = found.at;
	return true;
}

/* Whether the ceiling speaks of an anchor: then no variable chooses its place. */
static bool
is_ceilings(const struct sbx_blob *blob, uint16_t anchor)
{
	for (uint32_t i = 0; i < blob->path_count; i++) {
		if (blob->paths[i].ceiling != 0 &&
		    blob->paths[i].anchor == anchor)
			return true;
	}
	for (uint32_t i = 0; i < blob->socket_count; i++) {
		if ((blob->sockets[i].flags & SBX_SOCKET_CEILING) != 0 &&
		    blob->sockets[i].anchor == anchor)
			return true;
	}
	return false;
}

uint32_t
find_homes(struct binder *binder, struct sbx_place homes[HOMES_MAX])
{
	char buffer[PASSWD_LINE];
	const char *home = getenv("HOME");
	const char *named = passwd_home(buffer, sizeof buffer);
	uint32_t count = named_place(binder, home, &homes[0]) ? 1 : 0;

	if (named != NULL && (home == NULL || strcmp(home, named) != 0) &&
	    named_place(binder, named, &homes[count]) &&
	    (count == 0 || sbx_place_compare(homes[0], homes[1]) != 0))
		count++;
	if ((binder->blob->meta->flags & SBX_CUT) == 0 ||
	    !is_ceilings(binder->blob, SBX_ANCHOR_HOME))
		return count;
	if (named == NULL || named[0] != '/')
		refuse("/etc/passwd",
		    "the ceiling of this machine speaks of ~, and this user "
		    "has no home here",
		    0);
	if (count == HOMES_MAX) {
		struct sbx_place other = homes[0];

		homes[0] = homes[1];
		homes[1] = other;
	}
	return count;
}

/*
 * ~ is $HOME where the policy allows; where it denies it is also the home of
 * the password entry, so that a changed variable uncovers nothing.
 */
static void
bind_home(struct binder *binder)
{
	struct sbx_place homes[HOMES_MAX];
	uint32_t count = find_homes(binder, homes);

	if (count > 0)
		set_anchor(binder, SBX_ANCHOR_HOME, homes[0]);
	binder->made.has_other_home = count == HOMES_MAX;
	if (binder->made.has_other_home)
		binder->made.other_home = homes[1];
}

/* --- the others ----------------------------------------------------------- */

static void
bind_tmp(struct binder *binder)
{
	char path[SCRATCH_PATH_SIZE];

	binder->made.scratch_missing = !scratch_path(path,
	    binder->made.anchors[SBX_ANCHOR_WORKSPACE],
	    binder->request->scratch, !binder->request->options->plan,
	    getenv("TMPDIR"));
	binder->made.scratch = arena_copy(binder->arena, place_of(path));
	set_anchor(binder, SBX_ANCHOR_TMP, binder->made.scratch);
}

static void
bind_runtime(struct binder *binder)
{
	const char *named = getenv("XDG_RUNTIME_DIR");
	struct sbx_place at;
	struct out own;

	if ((binder->blob->meta->flags & SBX_CUT) != 0 &&
	    is_ceilings(binder->blob, SBX_ANCHOR_RUNTIME)) {
		out_init(&own, -1);
		out_print(&own, "/run/user/%u", (unsigned)geteuid());
		named = path_of(arena_copy(binder->arena, place_of(own.text)));
	}
	if (named_place(binder, named, &at))
		set_anchor(binder, SBX_ANCHOR_RUNTIME, at);
}

static bool
defines(const struct definition *definition, const char *name)
{
	return strncmp(definition->text, name, definition->name_len) == 0 &&
	    name[definition->name_len] == '\0';
}

static const char *
parameter_name(const struct binder *binder, uint32_t anchor)
{
	return sbx_string(binder->blob, binder->blob->anchors[anchor].name);
}

static void
bind_parameter(struct binder *binder, uint32_t anchor)
{
	const struct options *options = binder->request->options;
	const char *name = parameter_name(binder, anchor), *value = NULL;
	struct followed found;

	/* The last one counts, as it does for sbxc. */
	for (uint32_t i = 0; i < options->definition_count; i++) {
		const struct definition *given = &options->definitions[i];

		if (defines(given, name))
			value = given->text + given->name_len + 1;
	}
	if (value == NULL)
		refuse(name,
		    "the policy needs this parameter: give it with "
		    "-D NAME=PATH",
		    0);
	found = follow_given(binder->arena, value);
	if (found.fd < 0)
		refuse(name, "the parameter's path leads nowhere", found.error);
	close(found.fd);
	note_given(binder, &found);
	set_anchor(binder, anchor, found.at);
}

/* A misspelt -D would leave the user with another policy than was meant. */
static void
refuse_unknown_definitions(const struct binder *binder)
{
	const struct options *options = binder->request->options;

	for (uint32_t i = 0; i < options->definition_count; i++) {
		const struct definition *given = &options->definitions[i];
		bool known = false;

		for (uint32_t j = SBX_ANCHOR_PARAM;
		     j < binder->blob->anchor_count; j++)
			known |= defines(given, parameter_name(binder, j));
		if (!known)
			refuse_definition(given, binder->blob);
	}
}

static void
refuse_planted(struct binder *binder, const struct followed *found)
{
	for (uint32_t i = 0; i < found->link_count; i++) {
		const char *fault = given_fault(binder, found->links[i]);

		if (fault != NULL)
			refuse(found->links[i].path, fault, 0);
	}
}

void
bind_anchors(struct binder *binder)
{
	const struct sbx_blob *blob = binder->blob;

	refuse_unknown_definitions(binder);
	set_anchor(binder, SBX_ANCHOR_ROOT, (struct sbx_place){ "", 0 });
	/* Always: -v and the scratch directory's name need it. */
	bind_workspace(binder);
	if (blob->anchors[SBX_ANCHOR_HOME].flags & SBX_ANCHOR_USED)
		bind_home(binder);
	if (blob->anchors[SBX_ANCHOR_RUNTIME].flags & SBX_ANCHOR_USED)
		bind_runtime(binder);
	for (uint32_t i = SBX_ANCHOR_PARAM; i < blob->anchor_count; i++)
		bind_parameter(binder, i);
	/* To judge may find the homes again, which are judged by then. */
	uint32_t count = binder->given_count;

	for (uint32_t i = 0; i < count; i++)
		refuse_planted(binder, &binder->given[i]);
	binder->given_count = count;
	refuse_planted(binder, &binder->request->log);
	refuse_planted(binder, &binder->request->report);
	refuse_planted(binder, &binder->request->learned);
	/* Now: it is made, and says that the workspace has been one. */
	if (blob->anchors[SBX_ANCHOR_TMP].flags & SBX_ANCHOR_USED)
		bind_tmp(binder);
}
