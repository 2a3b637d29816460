/*
 * Anchors: where the workspace, home, the scratch directory and the parameters
 * lie on this machine, for this user and this call.
 */
#include "runtime/bind/bind.h"

#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/bind/missing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct sbx_place nothing = { "", 0 };

enum { PASSWD_LINE = 4096 }; /* the longest that is read */

static void
bind_anchor(struct binding *binding, uint32_t anchor, struct sbx_place at)
{
	binding->anchors[anchor] = at;
	binding->bound[anchor] = true;
}

/* The kernel's own name for where we are: absolute and without links. */
static struct sbx_place
current_directory(struct binding *binding)
{
	char cwd[SBX_MAX_PATH + 1];

	if (current_path(cwd, sizeof cwd) < 0)
		refuse("the current directory", "no such workspace", errno);
	if (cwd[0] != '/')
		refuse("the current directory",
		    "it lies outside the root "
		    "directory",
		    0);
	return arena_join(&binding->arena, place_of(cwd), nothing);
}

static struct sbx_place
given_directory(struct binding *binding, const char *given)
{
	struct resolved found = resolve_given(&binding->arena, given);
	int fd;

	if (found.fd < 0)
		refuse(given, "no such workspace", found.error);
	fd = openat(found.fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		refuse(given, "the workspace is no directory one can enter",
		    errno);
	close(fd);
	close(found.fd);
	return found.at;
}

static void
bind_workspace(struct binding *binding, const char *given)
{
	struct sbx_place at = given ? given_directory(binding, given) :
				      current_directory(binding);

	if (at.len == 0)
		refuse("/",
		    "the root directory is no workspace; choose one "
		    "with -w",
		    0);
	bind_anchor(binding, SBX_ANCHOR_WORKSPACE, at);
}

/* The next field of a line, up to ':' or the line's end. */
static char *
next_field(char **line)
{
	char *field = *line;

	if (field != NULL) {
		*line = strchr(field, ':');
		if (*line != NULL)
			*(*line)++ = '\0';
	}
	return field;
}

/* The home directory in a line of /etc/passwd, if the line is the user's. */
static const char *
home_in_line(char *line, unsigned long uid)
{
	char *id, *home, *end;

	/* name:password:uid:gid:comment:home:shell */
	next_field(&line);
	next_field(&line);
	id = next_field(&line);
	next_field(&line);
	next_field(&line);
	home = next_field(&line);
	if (home == NULL || strtoul(id, &end, 10) != uid || end == id ||
	    *end != '\0')
		return NULL;
	return home;
}

/*
 * The home directory of the user's line in /etc/passwd, in `buffer`, or NULL.
 * A user who has none there (a directory service) has only $HOME.
 */
static const char *
passwd_home(char *buffer, size_t size)
{
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	unsigned long uid = getuid();
	const char *home = NULL;
	bool torn = false; /* the line's beginning did not fit and is gone */
	size_t used = 0;
	ssize_t len;

	while (fd >= 0 && home == NULL &&
	    (len = read(fd, buffer + used, size - 1 - used)) > 0) {
		char *line = buffer, *end;

		used += (size_t)len;
		buffer[used] = '\0';
		while (home == NULL && (end = strchr(line, '\n')) != NULL) {
			*end = '\0';
			home = torn ? NULL : home_in_line(line, uid);
			torn = false;
			line = end + 1;
		}
		used -= (size_t)(line - buffer);
		if (home == NULL)
			memmove(buffer, line, used);
		if (used == size - 1) {
			torn = true;
			used = 0;
		}
	}
	if (fd >= 0)
		close(fd);
	return home;
}

static bool
bind_home_path(struct binding *binding, const char *path, struct sbx_place *at)
{
	struct resolved found;

	if (path == NULL || path[0] != '/' || strlen(path) > SBX_MAX_PATH)
		return false;
	found = resolve_given(&binding->arena, path);
	if (found.fd >= 0)
		close(found.fd);
	*at = found.at;
	return true;
}

/*
 * ~ is $HOME where the policy allows; where it denies it is also the home of
 * the password entry, so that a changed variable uncovers nothing.
 */
static void
bind_home(struct binding *binding)
{
	char buffer[PASSWD_LINE];
	const char *home = getenv("HOME");
	const char *named = passwd_home(buffer, sizeof buffer);
	struct sbx_place at, other;

	if (bind_home_path(binding, home, &at))
		bind_anchor(binding, SBX_ANCHOR_HOME, at);
	if (named == NULL || (home != NULL && strcmp(home, named) == 0) ||
	    !bind_home_path(binding, named, &other))
		return;
	if (!binding->bound[SBX_ANCHOR_HOME])
		bind_anchor(binding, SBX_ANCHOR_HOME, other);
	binding->other_home = other;
	binding->has_other_home = sbx_place_compare(other,
				      binding->anchors[SBX_ANCHOR_HOME]) != 0;
}

static void
bind_tmp(struct binding *binding, bool make)
{
	char path[SCRATCH_PATH_SIZE];

	binding->scratch_missing = !scratch_path(path,
	    binding->anchors[SBX_ANCHOR_WORKSPACE], make);
	bind_anchor(binding, SBX_ANCHOR_TMP,
	    arena_join(&binding->arena, place_of(path), nothing));
}

static void
bind_runtime(struct binding *binding)
{
	const char *given = getenv("XDG_RUNTIME_DIR");
	struct sbx_place at;

	if (bind_home_path(binding, given, &at))
		bind_anchor(binding, SBX_ANCHOR_RUNTIME, at);
}

static const char *
definition_of(const struct options *options, const char *name)
{
	for (uint32_t i = 0; i < options->definition_count; i++) {
		const struct definition *definition = &options->definitions[i];

		if (strncmp(definition->text, name, definition->name_len) ==
			0 &&
		    name[definition->name_len] == '\0')
			return definition->text + definition->name_len + 1;
	}
	return NULL;
}

static void
bind_parameter(struct binding *binding, const struct options *options,
    uint32_t anchor)
{
	const char *name = sbx_string(binding->blob,
	    binding->blob->anchors[anchor].name);
	const char *value = definition_of(options, name);
	struct resolved found;

	if (value == NULL)
		refuse(name,
		    "the policy needs this parameter: give it with "
		    "-D NAME=PATH",
		    0);
	if (value[0] == '\0')
		refuse(name, "the parameter's path is empty", 0);
	found = resolve_given(&binding->arena, value);
	if (found.fd < 0)
		refuse(name, "the parameter's path leads nowhere", found.error);
	close(found.fd);
	bind_anchor(binding, anchor, found.at);
}

/* A misspelt -D would leave the user with another policy than was meant. */
static void
refuse_unknown_definitions(const struct binding *binding,
    const struct options *options)
{
	const struct sbx_blob *blob = binding->blob;

	for (uint32_t i = 0; i < options->definition_count; i++) {
		const struct definition *given = &options->definitions[i];
		bool known = false;

		for (uint32_t j = SBX_ANCHOR_PARAM; j < blob->anchor_count;
		     j++) {
			const char *name = sbx_string(blob,
			    blob->anchors[j].name);

			known |= strlen(name) == given->name_len &&
			    memcmp(name, given->text, given->name_len) == 0;
		}
		if (!known)
			refuse_definition(given, blob);
	}
}

void
bind_anchors(struct binding *binding, const struct sbx_blob *blob,
    const struct options *options)
{
	binding->blob = blob;
	binding->described = options->plan || options->verbose ||
	    options->log != NULL || options->status_fd >= 0;
	refuse_unknown_definitions(binding, options);
	bind_anchor(binding, SBX_ANCHOR_ROOT, nothing);
	/* Always: -v and the scratch directory's name need it. */
	bind_workspace(binding, options->workspace);
	if (blob->anchors[SBX_ANCHOR_HOME].flags & SBX_ANCHOR_USED)
		bind_home(binding);
	if (blob->anchors[SBX_ANCHOR_TMP].flags & SBX_ANCHOR_USED)
		bind_tmp(binding, !options->plan);
	if (blob->anchors[SBX_ANCHOR_RUNTIME].flags & SBX_ANCHOR_USED)
		bind_runtime(binding);
	for (uint32_t i = SBX_ANCHOR_PARAM; i < blob->anchor_count; i++)
		bind_parameter(binding, options, i);
}
