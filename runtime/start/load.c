/*
 * The policy file: found, read, verified.
 */
#include "runtime/start/start.h"

#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/bind/bind.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#ifndef SBX_PROFILE_DIR
#define SBX_PROFILE_DIR "/usr/local/share/sbx/profiles"
#endif

enum {
	PROFILE_NAME_MAX = 64,
	PROFILE_PATH = sizeof SBX_PROFILE_DIR + PROFILE_NAME_MAX + 8
};

/*
 * Opens a policy whose name has no links and no dots, so that it is its path.
 * To walk any other way to it takes longer than to open and read it.
 */
static int
open_plain(const char *name, char path[SBX_MAX_PATH + 1])
{
	static const struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
		.resolve = RESOLVE_NO_SYMLINKS,
	};
	size_t len, used = 0;
	long cwd = 0;

	if (name[0] == '.' && name[1] == '/' && name[2] != '/')
		name += 2;
	len = strnlen(name, SBX_MAX_PATH + 1);
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

/* Opens a policy by any name; the path is "" if it is not known.  Nobody is
 * waited for who would write to a named pipe. */
static int
open_policy(const char *name, char path[SBX_MAX_PATH + 1])
{
	int fd = open_plain(name, path);

	if (fd >= 0)
		return fd;
	path[0] = '\0';
	return open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/* SBX_PROFILE_DIR/NAME.bin, for a name that stays in that directory. */
static const char *
profile_file(const char *name, char path[PROFILE_PATH])
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
	size_t len = strlen(name);
	struct out out;

	if (len == 0 || len > PROFILE_NAME_MAX || strspn(name, allowed) != len)
		refuse(name, "no name of a profile", 0);
	out_into(&out, path, PROFILE_PATH);
	out_print(&out, "%s/%s.bin", SBX_PROFILE_DIR, name);
	return path;
}

static void
read_whole(const char *name, int fd, struct policy_file *loaded)
{
	ssize_t len;

	/* It is trusted now: a pipe of the caller's is waited for. */
	if (fcntl(fd, F_SETFL, 0) != 0)
		refuse(name, "cannot read the policy", errno);
	do {
		len = read(fd, loaded->bytes + loaded->size,
		    sizeof loaded->bytes - loaded->size);
		if (len > 0)
			loaded->size += (size_t)len;
	} while (len > 0 || (len < 0 && errno == EINTR));
	if (len < 0)
		refuse(name, "cannot read the policy", errno);
}

/* A policy that was not compiled has no NUL; a blob has. */
static bool
is_text(const struct policy_file *loaded)
{
	return loaded->size > 0 &&
	    memchr(loaded->bytes, 0, loaded->size) == NULL;
}

void
load_policy(const char *name, const char *expect, struct policy_file *loaded,
    struct sbx_blob *blob)
{
	char digest[SHA256_HEX + 1], profile[PROFILE_PATH];
	const char *file = name[0] == '@' ? profile_file(name + 1, profile) :
					    name;
	enum sbx_blob_error error;
	int fd = open_policy(file, loaded->path);

	if (fd < 0)
		refuse_policy(name, SBX_PROFILE_DIR, errno);
	trust_policy(name, file, fd, loaded);
	read_whole(name, fd, loaded);
	close(fd);
	if (expect != NULL) {
		sha256_hex(loaded->bytes, loaded->size, digest);
		if (strcasecmp(digest, expect) != 0)
			refuse(name, "its SHA-256 is not the expected one", 0);
	}
	error = sbx_verify(loaded->bytes, loaded->size, blob);
	if (error == SBX_BLOB_MAGIC && is_text(loaded))
		refuse(name, "it is text: compile it with sbxc first", 0);
	if (error != SBX_BLOB_OK)
		refuse(name, sbx_blob_strerror(error), 0);
}

bool
policy_is(const char *name, const void *bytes, size_t size,
    struct policy_file *loaded)
{
	char profile[PROFILE_PATH];
	const char *file = name[0] == '@' ? profile_file(name + 1, profile) :
					    name;
	int fd = open_policy(file, loaded->path);

	if (fd < 0)
		refuse_policy(name, SBX_PROFILE_DIR, errno);
	loaded->size = 0;
	read_whole(name, fd, loaded);
	close(fd);
	return loaded->size == size && memcmp(loaded->bytes, bytes, size) == 0;
}
