/*
 * Files as input, and compiled policies among them.
 */
#include "compiler/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An errno that no call here gives. */
enum { NO_FILE = EMEDIUMTYPE };

/* The descriptor that a path names, as the paths of a shell's `<(...)` do; or
 * -1. */
static int
path_descriptor(const char *path)
{
	static const char *const directories[] = { "/dev/fd/",
		"/proc/self/fd/" };

	if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdin") == 0)
		return STDIN_FILENO;
	for (size_t i = 0; i < countof(directories); i++) {
		size_t len = strlen(directories[i]);

		if (strncmp(path, directories[i], len) == 0 &&
		    path[len] != '\0' && strlen(path + len) <= 6 &&
		    path[len + strspn(path + len, "0123456789")] == '\0')
			return (int)strtol(path + len, NULL, 10);
	}
	return -1;
}

/* What was handed over as a descriptor may be a pipe, and then it is waited
 * for.  A pipe in a directory could have been put there by anybody. */
static bool
accept_kind(int fd, const char *path)
{
	struct stat status;
	int flags;

	if (fstat(fd, &status) != 0)
		return false;
	if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
		return true;
	errno = NO_FILE;
	if (path_descriptor(path) < 0)
		return false;
	flags = fcntl(fd, F_GETFL);
	return flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0;
}

int
input_open(const char *path)
{
	int fd, error;

	if (strcmp(path, "-") == 0)
		return dup(STDIN_FILENO);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || accept_kind(fd, path))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

const char *
input_strerror(int error)
{
	return error == NO_FILE ?
	    "it is no regular file; a pipe is to be named - or /dev/fd/N" :
	    strerror(error);
}

ssize_t
input_read(int fd, void *bytes, size_t size)
{
	size_t used = 0;

	while (used < size) {
		ssize_t got = read(fd, (char *)bytes + used, size - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		used += (size_t)got;
	}
	return (ssize_t)used;
}

bool
input_blob(struct arena *arena, const char *path, struct sbx_blob *blob)
{
	/* One byte more than a blob may have shows that it has too many. */
	void *bytes = arena_alloc(arena, SBX_MAX_SIZE + 1);
	enum sbx_blob_error error;
	ssize_t size = -1;
	int fd = input_open(path);

	if (fd >= 0)
		size = input_read(fd, bytes, SBX_MAX_SIZE + 1);
	if (size < 0)
		complain("cannot read '%s': %s", path, input_strerror(errno));
	if (fd >= 0)
		close(fd);
	if (size < 0)
		return false;
	error = sbx_verify(bytes, (size_t)size, blob);
	if (error == SBX_BLOB_OK)
		return true;
	complain("%s: %s", path, sbx_blob_strerror(error));
	errno = EBADMSG;
	return false;
}

/* Makes a descriptor seekable: a pipe's contents go into a file. */
static bool
descriptor_keep(int fd)
{
	char buffer[65536];
	FILE *copy;
	ssize_t got;

	if (lseek(fd, 0, SEEK_CUR) >= 0 || errno != ESPIPE)
		return true;
	copy = tmpfile();
	if (copy == NULL)
		return false;
	while ((got = input_read(fd, buffer, sizeof buffer)) > 0)
		fwrite(buffer, 1, (size_t)got, copy);
	if (got == 0 && fflush(copy) == 0 && !ferror(copy) &&
	    lseek(fileno(copy), 0, SEEK_SET) == 0)
		got = dup2(fileno(copy), fd) == fd ? 1 : -1;
	fclose(copy);
	return got == 1;
}

bool
input_is_blob(const char *path)
{
	char magic[sizeof SBX_MAGIC - 1];
	int given = path_descriptor(path), fd = -1;
	bool keep = strcmp(path, "-") == 0;
	off_t start = 0;
	bool is_blob;

	if (given < 0 || descriptor_keep(given))
		fd = input_open(path);
	if (fd < 0)
		return false;
	if (keep)
		start = lseek(fd, 0, SEEK_CUR);
	is_blob = input_read(fd, magic, sizeof magic) == sizeof magic &&
	    memcmp(magic, SBX_MAGIC, sizeof magic) == 0;
	if (keep)
		lseek(fd, start, SEEK_SET);
	close(fd);
	return is_blob;
}
