#include "runtime/load.h"

#include "runtime/kernel.h"
#include "runtime/missing.h"
#include "runtime/out.h"
#include "runtime/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef SBX_PROFILE_DIR
#define SBX_PROFILE_DIR "/usr/local/share/sbx/profiles"
#endif

enum { PROFILE_NAME_MAX = 64 };

/*
 * Whether somebody else may change or replace what this is: its owner, unless
 * that is us or root; its group, unless that is one of our own, as systems with
 * a group for each user make them; everybody, unless a sticky bit keeps them to
 * what is theirs.
 */
static bool
others_may_write(const struct stat *status)
{
	uid_t self = geteuid();

	if (status->st_uid != self && status->st_uid != 0)
		return true;
	if (S_ISDIR(status->st_mode) && (status->st_mode & S_ISVTX))
		return false;
	return (status->st_mode & S_IWOTH) != 0 ||
	    ((status->st_mode & S_IWGRP) != 0 && status->st_gid != 0 &&
		(status->st_gid != getegid() || status->st_gid != self));
}

/*
 * A name without links and dots is the policy's path.  Else the kernel is asked
 * for it, which takes longer than to open and read the policy does.
 */
static int
open_plain(const char *name, char path[SBX_MAX_PATH + 1])
{
	static const struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NOCTTY,
		.resolve = RESOLVE_NO_SYMLINKS,
	};
	size_t len = strnlen(name, SBX_MAX_PATH + 1), used = 0;
	long cwd = 0;

	if (len == 0 || name[0] == '.' || strstr(name, "/.") != NULL ||
	    strstr(name, "//") != NULL)
		return -1;
	if (name[0] != '/') {
		cwd = current_path(path, SBX_MAX_PATH);
		if (cwd < 1 || path[0] != '/')
			return -1;
		used = (size_t)cwd - 1;
		if (used > 1)
			path[used++] = '/';
	}
	if (used + len > SBX_MAX_PATH)
		return -1;
	memcpy(path + used, name, len + 1);
	return openat2(AT_FDCWD, name, &how);
}

/* Fills in the path if it is known. */
static int
open_policy(const char *name, char path[SBX_MAX_PATH + 1])
{
	int fd = open_plain(name, path);

	if (fd >= 0)
		return fd;
	path[0] = '\0';
	return open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

/* SBX_PROFILE_DIR/NAME.bin, for a name that stays in that directory. */
static int
open_profile(const char *name, char known[SBX_MAX_PATH + 1])
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
	char path[sizeof SBX_PROFILE_DIR + PROFILE_NAME_MAX + 8];
	size_t len = strlen(name);

	if (len == 0 || len > PROFILE_NAME_MAX || strspn(name, allowed) != len)
		refuse(name, "no name of a profile", 0);
	strcpy(path, SBX_PROFILE_DIR "/");
	strcat(path, name);
	strcat(path, ".bin");
	return open_policy(path, known);
}

/* By way of "/proc/self/fd/N". */
static void
ask_path(int fd, char path[SBX_MAX_PATH + 1])
{
	char link[32] = "/proc/self/fd/", digits[12];
	size_t at = sizeof digits - 1;
	ssize_t len;

	digits[at] = '\0';
	do {
		digits[--at] = (char)('0' + fd % 10);
		fd /= 10;
	} while (fd > 0);
	strcat(link, digits + at);
	len = readlink(link, path, SBX_MAX_PATH);
	path[len > 0 ? len : 0] = '\0';
}

/*
 * Whoever may write the policy, or a directory above it, decides what it says.
 * What is no file, a pipe say, is the caller's own doing.
 */
static void
refuse_foreign(const char *name, int fd, char path[SBX_MAX_PATH + 1])
{
	char parent[SBX_MAX_PATH + 1];
	struct stat status;

	if (fstat(fd, &status) != 0)
		refuse(name, "cannot look at the policy", errno);
	if (!S_ISREG(status.st_mode)) {
		path[0] = '\0';
		return;
	}
	if (others_may_write(&status))
		refuse(name, "others may write this policy: make it yours, "
		    "chmod go-w", 0);
	if (path[0] == '\0')
		ask_path(fd, path);
	strcpy(parent, path);
	for (char *slash; (slash = strrchr(parent, '/')) != NULL;) {
		*slash = '\0';
		if (stat(slash == parent ? "/" : parent, &status) == 0 &&
		    others_may_write(&status))
			refuse(slash == parent ? "/" : parent, "others may "
			    "replace the policy in this directory: keep it "
			    "where only you can write", 0);
	}
}

static void
read_whole(const char *name, int fd, struct blob_bytes *blob)
{
	ssize_t len;

	do {
		len = read(fd, blob->bytes + blob->size,
		    sizeof blob->bytes - blob->size);
		if (len > 0)
			blob->size += (size_t)len;
	} while (len > 0 || (len < 0 && errno == EINTR));
	if (len < 0)
		refuse(name, "cannot read the policy", errno);
}

/* Policies are taken for blobs and the other way round; blobs hold NULs. */
static bool
is_text(const struct blob_bytes *blob)
{
	return blob->size > 0 && memchr(blob->bytes, 0, blob->size) == NULL;
}

void
load_policy(const char *name, const char *expect, struct blob_bytes *blob,
    struct sbx_view *view)
{
	char digest[SHA256_HEX + 1];
	enum sbx_blob_error error;
	int fd = name[0] == '@' ? open_profile(name + 1, blob->path) :
				  open_policy(name, blob->path);

	if (fd < 0)
		refuse_policy(name, SBX_PROFILE_DIR, errno);
	refuse_foreign(name, fd, blob->path);
	read_whole(name, fd, blob);
	close(fd);
	if (expect != NULL) {
		sha256_hex(blob->bytes, blob->size, digest);
		if (strcasecmp(digest, expect) != 0)
			refuse(name, "its SHA-256 is not the expected one", 0);
	}
	error = sbx_verify(blob->bytes, blob->size, view);
	if (error == SBX_BLOB_MAGIC && is_text(blob))
		refuse(name, "it is text: compile it with sbxc first", 0);
	if (error != SBX_BLOB_OK)
		refuse(name, sbx_blob_strerror(error), 0);
}
