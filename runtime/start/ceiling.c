/*
 * The ceiling: a policy of the machine's owner, which no other goes beyond.  It is
 * root's, in a directory of root's, and nobody else may write either.  Whatever is
 * wrong with it ends every run.
 *
 * Where a user namespace has no number for root, the owner cannot be seen; there it is
 * enough that this process could not have written it.  Inside a sandbox of ours that
 * keeps the file from us the sandbox outside holds, which was made under it.
 */
#include "runtime/start/start.h"

#include "format/cut.h"
#include "format/protocol.h"
#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPTIONS SBX_CEILING_DIRECTORY "/options"

enum {
	ROOM = 1 << 18, /* beside the bytes of both, for pairs and filters */
	OPTIONS_SIZE = 1 << 16,
};

static bool
is_inside(void)
{
	return syscall(SYS_ioprio_set, SBX_INSIDE_WHICH, 0, 0) != 0 &&
	    errno == SBX_INSIDE_ERRNO;
}

/* The directory or the file: a descriptor, or -1, if there is none. */
static int
open_ceiling(int directory, const char *name, int flags)
{
	int fd = openat(directory, name, flags | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 || errno == ENOENT || (errno == EACCES && is_inside()))
		return fd;
	refuse(directory < 0 ? name : SBX_CEILING,
	    "the ceiling of this machine cannot be read", errno);
}

static int
open_directory(void)
{
	return open_ceiling(AT_FDCWD, SBX_CEILING_DIRECTORY,
	    O_PATH | O_DIRECTORY);
}

static void
check_owner(const char *path, int fd)
{
	struct stat status;

	if (fstat(fd, &status) != 0)
		refuse(path, "the ceiling of this machine cannot be read",
		    errno);
	if (status.st_uid == 0 && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return;
	if (status.st_uid == OVERFLOW_UID &&
	    (machine_hides_root() || machine_hides_owners()) &&
	    (status.st_mode & S_IWOTH) == 0 &&
	    faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
		return;
	refuse(path,
	    "it is the ceiling of this machine, so it has to be root's, and "
	    "nobody else's to write",
	    0);
}

/* --- what options may be given --------------------------------------------- */

/* The next line that says something; NULL: there is none. */
static char *
next_line(char **text)
{
	char *line;

	while ((line = strsep(text, "\n")) != NULL) {
		if (*line != '\0' && *line != '#')
			return line;
	}
	return NULL;
}

static void
obey(struct sandbox *sandbox, const char *line)
{
	const struct options *options = &sandbox->options;
	bool broken;

	if (strcmp(line, "require log") == 0) {
		broken = options->command != NULL && !options->plan &&
		    !options->self_test && !sandbox->receipt.log.on;
		sandbox->receipt.log.required = true;
	} else if (strncmp(line, "require digest ", 15) == 0 &&
	    strlen(line) == 15 + SHA256_HEX) {
		sandbox->digests = true;
		broken = false;
	} else if (strcmp(line, "forbid allow") == 0) {
		broken = false;
		for (uint32_t i = 0; i < options->rule_count; i++)
			broken |= !options->rules[i].denies;
	} else if (strcmp(line, "forbid full-access") == 0) {
		broken = options->allow_full_access;
	} else if (strcmp(line, "forbid accept-none") == 0) {
		broken = options->accept_none;
	} else if (strcmp(line, "forbid secret-programs") == 0) {
		sandbox->no_secret_programs = true;
		broken = false;
	} else {
		refuse(OPTIONS,
		    "a line is neither 'require log', 'require digest SHA256' "
		    "nor 'forbid allow', 'forbid full-access', 'forbid "
		    "accept-none' or 'forbid secret-programs'",
		    0);
	}
	if (broken)
		refuse(OPTIONS, line, 0);
}

/* The text of the owner's word on options in the arena; NULL: there is none. */
static char *
read_options(struct arena *arena)
{
	int directory = open_directory(), fd = -1;
	char *text = NULL;
	struct stat status;

	if (directory >= 0)
		fd = open_ceiling(directory, "options",
		    O_RDONLY | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0) {
		check_owner(SBX_CEILING_DIRECTORY, directory);
		check_owner(OPTIONS, fd);
		if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
		    status.st_size >= OPTIONS_SIZE)
			refuse(OPTIONS, "it is no file, or too long", 0);
		text = arena_take(arena, (size_t)status.st_size + 1, 1);
		if (read(fd, text, (size_t)status.st_size) != status.st_size)
			refuse(OPTIONS, "it cannot be read", errno);
		close(fd);
	}
	if (directory >= 0)
		close(directory);
	return text;
}

void
ceiling_obey(struct sandbox *sandbox)
{
	char *text = read_options(&sandbox->arena), *line;

	while (text != NULL && (line = next_line(&text)) != NULL)
		obey(sandbox, line);
}

void
ceiling_check_digest(struct sandbox *sandbox, const char *digest)
{
	char *text, *line;

	if (!sandbox->digests)
		return;
	text = read_options(&sandbox->arena);
	while (text != NULL && (line = next_line(&text)) != NULL) {
		if (strncmp(line, "require digest ", 15) == 0 &&
		    strcasecmp(line + 15, digest) == 0)
			return;
	}
	refuse(OPTIONS, "require digest: none of these is the policy's", 0);
}

/* --- the policy -------------------------------------------------------------- */

bool
ceiling_is_there(void)
{
	int directory = open_directory();
	int fd = directory < 0 ?
	    -1 :
	    open_ceiling(directory, SBX_CEILING_NAME, O_PATH);

	if (directory >= 0)
		close(directory);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void
read_ceiling(struct arena *arena, int fd, struct sbx_blob *ceiling)
{
	struct stat status;
	enum sbx_blob_error error = SBX_BLOB_SIZE;
	struct out text;
	uint8_t *bytes;

	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		refuse(SBX_CEILING,
		    "the ceiling of this machine is no regular file", 0);
	if (status.st_size > 0 && status.st_size <= SBX_MAX_SIZE) {
		bytes = arena_take(arena, (size_t)status.st_size, 1);
		if (read(fd, bytes, (size_t)status.st_size) != status.st_size)
			refuse(SBX_CEILING,
			    "the ceiling of this machine cannot be read",
			    errno);
		error = sbx_verify(bytes, (size_t)status.st_size, ceiling);
		if (error == SBX_BLOB_OK &&
		    (ceiling->meta->flags & SBX_CUT) != 0)
			error = SBX_BLOB_META;
	}
	if (error == SBX_BLOB_OK)
		return;
	out_init(&text, -1);
	out_print(&text,
	    "the ceiling of this machine: %s; root makes it anew: "
	    "cd " SBX_CEILING_DIRECTORY " && sbxc ceiling.sbx -o ceiling.bin",
	    sbx_blob_strerror(error));
	refuse(SBX_CEILING, text.text, 0);
}

static void
cut(struct arena *arena, const struct sbx_blob *ceiling,
    struct policy_file *loaded, struct sbx_blob *blob)
{
	struct machine machine;
	struct sbx_cut_fault fault;
	size_t size = (size_t)blob->size + ceiling->size + ROOM, used;
	const struct sbx_blob policy = *blob;
	enum sbx_blob_error error;
	struct out text;
	uint32_t before;
	uint8_t *room;

	if (size > SBX_MAX_SIZE)
		size = SBX_MAX_SIZE;
	room = arena_take(arena, size, 1);
	before = arena->used;
	machine_probe(&machine);
	used = sbx_cut(
	    &(struct sbx_cut_request){
		.policy = &policy,
		.ceiling = ceiling,
		.directory = SBX_CEILING_DIRECTORY "/",
		.arch = KERNEL_ARCH,
		.landlock_abi = (uint32_t)machine.landlock_abi,
		.platform = KERNEL_WHERE,
	    },
	    room, size, &fault);
	if (used == 0 && fault.source < policy.source_count)
		refuse_at(&policy, fault.source, fault.text, 0);
	if (used == 0 && fault.source != SBX_NO_SOURCE)
		refuse_at(ceiling, fault.source - policy.source_count,
		    fault.text, 0);
	if (used == 0)
		refuse(SBX_CEILING, fault.text, 0);
	/* What was not written to is as it was. */
	arena->used = before - (uint32_t)(size - used);
	error = sbx_verify(room, used, blob);
	if (error != SBX_BLOB_OK) {
		out_init(&text, -1);
		out_print(&text,
		    "no sandbox can have what it leaves of the "
		    "policy: %s",
		    sbx_blob_strerror(error));
		refuse(SBX_CEILING, text.text, 0);
	}
	loaded->applied = room;
	loaded->size = used;
}

/* Whether there is one. */
static bool
find_ceiling(struct arena *arena, struct sbx_blob *ceiling)
{
	int directory = open_directory(), fd = -1;

	if (directory < 0)
		return false;
	fd = open_ceiling(directory, SBX_CEILING_NAME,
	    O_RDONLY | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0) {
		check_owner(SBX_CEILING_DIRECTORY, directory);
		check_owner(SBX_CEILING, fd);
		read_ceiling(arena, fd, ceiling);
		close(fd);
	}
	close(directory);
	return fd >= 0;
}

/* A session stays what it was; so commands must not go into one that was made under
 * another ceiling. */
void
ceiling_check_session(struct arena *arena, const char *name,
    const struct sbx_blob *blob)
{
	char own[SBX_CUT_NAME];
	struct sbx_blob ceiling;

	if (!find_ceiling(arena, &ceiling))
		return;
	sbx_cut_name(&ceiling, own);
	if ((blob->meta->flags & SBX_CUT) == 0 ||
	    strcmp(sbx_string(blob, blob->meta->writer), own) != 0)
		refuse(name,
		    "the session was made under another ceiling than that of "
		    "the machine now: end it with --end",
		    0);
}

void
ceiling_apply(struct arena *arena, struct policy_file *loaded,
    struct sbx_blob *blob)
{
	struct sbx_blob ceiling;

	if (find_ceiling(arena, &ceiling))
		cut(arena, &ceiling, loaded, blob);
}
