/*
 * From the options of sbx_open() to the command line of sbxrun.
 */
#include "runtime/library/library.h"

#include "format/blob.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool
absolute_path(const char *text, char *path, size_t size)
{
	size_t used = 0, len = strlen(text);

	if (text[0] != '/') {
		if (getcwd(path, size) == NULL)
			return false;
		used = strlen(path);
	}
	if (len + 2 > size - used) {
		errno = ENAMETOOLONG;
		return false;
	}
	if (text[0] != '/' && len > 0)
		path[used++] = '/';
	memcpy(path + used, text, len + 1);
	return true;
}

/* A path stays the same when a command is started in another directory. */
static bool
add_path(struct words *words, const char *head, const char *text,
    struct sbx_error *error)
{
	char path[2 * STREAM_PATH];

	if (!absolute_path(text, path, sizeof path)) {
		error_set(error, SBX_ERROR_SYSTEM, text,
		    "its path cannot be told", errno);
		return false;
	}
	words_add(words, head, path);
	return true;
}

static bool
add_parameters(struct words *words, const char *const *parameters,
    struct sbx_error *error)
{
	for (; parameters != NULL && *parameters != NULL; parameters++) {
		const char *equals = strchr(*parameters, '=');
		char *name;
		bool added;

		if (equals == NULL || equals[1] == '\0') {
			error_set(error, SBX_ERROR_ARGUMENT, *parameters,
			    "a parameter needs NAME=PATH", 0);
			return false;
		}
		name = strndup(*parameters, (size_t)(equals - *parameters) + 1);
		if (name == NULL) {
			words->failed = true;
			return true;
		}
		words_add(words, "-D", "");
		added = add_path(words, name, equals + 1, error);
		free(name);
		if (!added)
			return false;
	}
	return true;
}

static bool
add_policy(struct words *words, const struct sbx_options *options,
    struct sbx_error *error)
{
	if (options->policy == NULL)
		words_add(words, "/dev/fd/4", "");
	else if (options->policy[0] == '@')
		words_add(words, options->policy, "");
	else
		return add_path(words, "", options->policy, error);
	return true;
}

bool
arguments_fill(struct words *words, const struct sbx_options *options,
    struct sbx_error *error)
{
	const char *workspace = options->workspace;

	if (workspace != NULL && *workspace == '\0') {
		error_set(error, SBX_ERROR_ARGUMENT, NULL,
		    "the workspace is an empty name", 0);
		return false;
	}
	words_add(words, "--workspace", "");
	if (!add_path(words, "", workspace != NULL ? workspace : "", error) ||
	    !add_parameters(words, options->parameters, error))
		return false;
	for (size_t i = 0; options->limits != NULL && options->limits[i]; i++)
		words_add(words, "--limit=", options->limits[i]);
	if (options->level != NULL)
		words_add(words, ARGUMENT_LEVEL, options->level);
	if (options->expect != NULL)
		words_add(words, "--expect=", options->expect);
	if (options->stage != NULL)
		words_add(words,
		    *options->stage != '\0' ? "--stage=" : "--stage",
		    options->stage);
	if (options->flags & SBX_ALLOW_FULL_ACCESS)
		words_add(words, "--allow-full-access", "");
	if (options->flags & SBX_ACCEPT_NONE)
		words_add(words, "--accept=none", "");
	if (!add_policy(words, options, error))
		return false;
	if (words->failed)
		error_set(error, SBX_ERROR_SYSTEM, NULL, "no memory", ENOMEM);
	return !words->failed;
}

/* --- the options ---------------------------------------------------------- */

/* What is behind the fields that this library knows has to be zero. */
bool
arguments_known(const void *given, size_t size, size_t known)
{
	const char *bytes = given;

	for (size_t i = known; i < size; i++) {
		if (bytes[i] != 0)
			return false;
	}
	return size >= known;
}

bool
arguments_check(const struct sbx_options *options, struct sbx_error *error)
{
	const unsigned flags = SBX_ALLOW_FULL_ACCESS | SBX_ACCEPT_NONE;
	const char *wrong = NULL;

	if (options == NULL || options->size < sizeof options->size ||
	    !arguments_known(options, options->size, sizeof *options))
		wrong = "the options are of another version of the library";
	else if ((options->policy == NULL) == (options->blob == NULL))
		wrong = "a policy is needed: its path, or its bytes";
	else if (options->blob_size > SBX_MAX_SIZE)
		wrong = "these bytes are no policy: there are too many";
	else if ((options->flags & ~flags) != 0)
		wrong = "an unknown flag";
	if (wrong != NULL)
		error_set(error, SBX_ERROR_ARGUMENT, NULL, wrong, 0);
	return wrong == NULL;
}

/* sbxrun takes it for the caller's own: it has no name, and a safe mode. */
int
arguments_keep(const struct sbx_options *options)
{
	int fd = memfd_create("policy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	size_t done = 0;

	fd = own_descriptor(fd);
	if (fd < 0)
		return -1;
	while (done < options->blob_size) {
		ssize_t len = write(fd, (const char *)options->blob + done,
		    options->blob_size - done);

		if (len < 0 && errno == EINTR)
			continue;
		if (len <= 0)
			break;
		done += (size_t)len;
	}
	if (done == options->blob_size && fchmod(fd, 0400) == 0 &&
	    fcntl(fd, F_ADD_SEALS,
		F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0)
		return fd;
	close(fd);
	return -1;
}
