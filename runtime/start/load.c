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
#include <sys/stat.h>
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

/* A name that stays in its directory. */
static void
check_name(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
	size_t len = strlen(name);

	if (len == 0 || len > PROFILE_NAME_MAX || strspn(name, allowed) != len)
		refuse(name, "no name of a profile", 0);
}

/* A policy of the user's own: its text, or where there is none its blob; NULL if
 * there is neither.  With `surely`, it must be possible to tell. */
static const char *
own_file(struct arena *arena, const char *name, bool surely)
{
	static const char *const ends[] = { ".sbx", ".bin" };
	char buffer[PASSWD_LINE];
	const char *home = passwd_home(buffer, sizeof buffer);
	char *path = arena_take(arena, 1, SBX_MAX_PATH + 1);
	struct stat status;
	struct out out;

	for (size_t i = 0; home != NULL && home[0] == '/' && i < 2; i++) {
		out_into(&out, path, SBX_MAX_PATH + 1);
		out_print(&out, "%s" SBX_OWN_CONFIG "/%s%s", home, name,
		    ends[i]);
		if (out.full)
			return NULL;
		if (lstat(path, &status) == 0) {
			if (!S_ISLNK(status.st_mode))
				return path;
			refuse(path,
			    "it is a link: commands are kept from this place, "
			    "and not from where it leads; put the policy here",
			    0);
		}
		/* What cannot be looked for may be there. */
		if (surely && errno != ENOENT && errno != ENOTDIR)
			refuse(path,
			    "cannot tell whether there is a policy of yours",
			    errno);
	}
	return NULL;
}

/* Who has put a policy there expects it to be taken. */
static void
refuse_shadow(struct arena *arena, const char *name)
{
	const char *own = own_file(arena, name, false);

	if (own != NULL)
		refuse(own,
		    "it has the name of a shipped profile: give it another one",
		    0);
}

bool
policy_is_own(struct arena *arena, const char *name)
{
	return own_file(arena, name, true) != NULL;
}

/* The file of a policy, opened.  What comes with sbx is looked for first, so that
 * its names mean the same for everybody. */
static int
find_policy(const char *name, struct arena *arena, const char **file,
    struct policy_place *place)
{
	char profile[PROFILE_PATH];
	struct out out;
	int fd;

	*file = name;
	if (name[0] == '@') {
		check_name(name + 1);
		out_into(&out, profile, PROFILE_PATH);
		out_print(&out, "%s/%s.bin", SBX_PROFILE_DIR, name + 1);
		*file = path_of(arena_copy(arena, place_of(profile)));
	}
	fd = open_policy(*file, place->path);
	if (fd >= 0 && name[0] == '@')
		refuse_shadow(arena, name + 1);
	if (fd < 0 && errno == ENOENT && name[0] == '@') {
		const char *own = own_file(arena, name + 1, true);

		if (own != NULL) {
			*file = own;
			fd = open_policy(own, place->path);
		} else {
			errno = ENOENT;
		}
	}
	if (fd < 0)
		refuse_policy(name, SBX_PROFILE_DIR, errno);
	return fd;
}

/* Reads up to where so many bytes are there, or the file ends. */
static void
read_to(const char *name, int fd, struct policy_file *loaded, size_t size)
{
	ssize_t len = 1;

	while (loaded->size < size && len != 0) {
		len = read(fd, loaded->bytes + loaded->size,
		    size - loaded->size);
		if (len < 0 && errno != EINTR)
			refuse(name, "cannot read the policy", errno);
		if (len > 0)
			loaded->size += (size_t)len;
	}
}

/* Of a blob, what is applied: that ends where its header says. */
static void
read_file(const char *name, int fd, struct policy_file *loaded)
{
	const struct sbx_header *header = (const void *)loaded->bytes;
	size_t size = sizeof loaded->bytes;
	struct stat status;

	loaded->size = 0;
	/* It is trusted now: a pipe of the caller's is waited for. */
	if (fcntl(fd, F_SETFL, 0) != 0)
		refuse(name, "cannot read the policy", errno);
	read_to(name, fd, loaded, sizeof *header);
	if (!loaded->whole && header->size < size &&
	    memcmp(header->magic, SBX_MAGIC, sizeof header->magic) == 0 &&
	    fstat(fd, &status) == 0 &&
	    (!S_ISREG(status.st_mode) ||
		(uint64_t)status.st_size ==
		    (uint64_t)header->size + header->text_size))
		size = header->size;
	read_to(name, fd, loaded, size);
}

/* A policy that was not compiled has no NUL; a blob has. */
static bool
is_text(const struct policy_file *loaded)
{
	return loaded->size > 0 &&
	    memchr(loaded->bytes, 0, loaded->size) == NULL;
}

/* The bytes of the blob. */
static void
read_policy(const struct options *options, struct arena *arena,
    struct policy_file *loaded, bool judged)
{
	const char *name = options->policy, *file;
	int fd = find_policy(name, arena, &file, &loaded->place);

	loaded->place.next = NULL;
	if (judged)
		trust_policy(name, file, fd, &loaded->place);
	read_file(name, fd, loaded);
	if (!is_text(loaded)) {
		if (options->rule_count > 0)
			compiled_add_rules(options, arena, loaded);
		close(fd);
		return;
	}
	if (!judged)
		trust_policy(name, file, fd, &loaded->place);
	close(fd);
	if (loaded->place.path[0] == '\0')
		refuse(name, "it is text: compile it with sbxc first", 0);
	compiled_load(options, arena, loaded);
	if (options->rule_count > 0)
		compiled_add_rules(options, arena, loaded);
}

void
load_policy(const struct options *options, struct arena *arena, char *digest,
    struct policy_file *loaded, struct sbx_blob *blob)
{
	const char *name = options->policy;
	enum sbx_blob_error error;

	loaded->whole |= digest != NULL || options->rule_count > 0;
	read_policy(options, arena, loaded, true);
	loaded->all = loaded->size;
	if (digest != NULL)
		sha256_hex(loaded->bytes, loaded->size, digest);
	if (options->expect != NULL && strcasecmp(digest, options->expect) != 0)
		refuse(name, "its SHA-256 is not the expected one", 0);
	error = sbx_verify(loaded->bytes, loaded->size, blob);
	if (error == SBX_BLOB_OK && (blob->meta->flags & SBX_CUT) != 0)
		error = SBX_BLOB_META;
	if (error != SBX_BLOB_OK)
		refuse(name, sbx_blob_strerror(error), 0);
	if (options->profile != NULL && !loaded->place.text &&
	    strcmp(options->profile, sbx_string(blob, blob->meta->profile)) !=
		0)
		refuse(name, "it holds another profile than that of -p", 0);
	loaded->size = blob->size;
	loaded->applied = loaded->bytes;
	ceiling_apply(arena, loaded, blob);
}

bool
policy_is(const struct options *options, struct arena *arena, const void *bytes,
    size_t size, struct policy_file *loaded)
{
	const struct sbx_header *header = (const void *)loaded->bytes;
	struct sbx_blob blob;

	loaded->whole = options->rule_count > 0;
	read_policy(options, arena, loaded, false);
	if (ceiling_is_there() &&
	    sbx_verify(loaded->bytes, loaded->size, &blob) == SBX_BLOB_OK) {
		loaded->size = blob.size;
		ceiling_apply(arena, loaded, &blob);
		return loaded->size == size &&
		    memcmp(loaded->applied, bytes, size) == 0;
	}
	/* What follows can only be its text. */
	return loaded->size >= size &&
	    memcmp(loaded->bytes, bytes, size) == 0 &&
	    (loaded->size == size || loaded->size - size == header->text_size);
}
