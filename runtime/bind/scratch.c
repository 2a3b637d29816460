/*
 * The scratch directory, ${tmp}, kept between runs: TOP/WORKSPACE/PROFILE.
 *
 * TOP is /tmp/sbx-UID.  Anybody may write in /tmp, so another user may have
 * taken that name; then it is /tmp/sbx-UID-RANDOM, the first such directory
 * that is ours.  Nobody can take a name that is not known, nor give a directory
 * away.
 *
 * WORKSPACE is a digest of its path.  PROFILE is one of the profile's name and
 * of where the policy comes from: what a narrow policy lets a command leave
 * behind, a command under a wider one would believe.  It does not change when
 * the policy is edited, so that caches stay warm.
 *
 * In a sandbox at level standard TOP cannot be written.  Then it is a directory
 * of the outer sandbox's scratch directory.
 */
#include "runtime/bind/bind.h"

#include "runtime/base/files.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	NAME_LEN = 16, /* hexadecimal digits of the workspace's digest */
	NAME_SIZE = 64,
};

static const int place_flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

/* Shuts a directory to others and opens it to us.  By its name in /proc, since
 * fchmod(2) takes no such descriptor. */
static bool
mend_mode(int fd, mode_t mode)
{
	char link[DESCRIPTOR_PATH_SIZE];

	if ((mode & 07777) == 0700)
		return true;
	descriptor_path(link, fd);
	return chmod(link, 0700) == 0;
}

/* Closes what is not ours, or cannot be had; -1 then, with EEXIST or the
 * error. */
static int
check_owner(int fd)
{
	struct stat status;
	int error;

	if (fd < 0)
		return -1;
	if (fstat(fd, &status) != 0)
		error = errno;
	else if (status.st_uid != geteuid())
		error = EEXIST;
	else if (!mend_mode(fd, status.st_mode))
		error = errno;
	else
		return fd;
	close(fd);
	errno = error;
	return -1;
}

/* Opens a directory of ours, making it if wanted; -1 and errno: EEXIST if the
 * name was taken by something else, ENOENT if it is missing. */
static int
open_own(int parent, const char *name, bool make)
{
	int fd = openat(parent, name, place_flags);

	if (fd < 0 && errno == ENOENT && make) {
		if (mkdirat(parent, name, 0700) != 0 && errno != EEXIST)
			return -1;
		fd = openat(parent, name, place_flags);
	}
	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
		errno = EEXIST;
	return check_owner(fd);
}

/* --- the top -------------------------------------------------------------- */

static void
put_top(struct out *out, char *buffer, uint32_t size)
{
	out_into(out, buffer, size);
	out_print(out, "sbx-%u", geteuid());
}

/* The first by name of our own directories sbx-UID-RANDOM; "": there is
 * none. */
static void
find_other_name(int tmp, char name[NAME_SIZE])
{
	int fd = openat(tmp, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), own;
	struct directory directory;
	const struct entry *entry;
	char prefix[NAME_SIZE];
	struct out out;

	name[0] = '\0';
	put_top(&out, prefix, sizeof prefix);
	out_text(&out, "-");
	directory_begin(&directory, fd);
	while (fd >= 0 && (entry = directory_next(&directory)) != NULL) {
		if (strncmp(entry->name, prefix, strlen(prefix)) != 0 ||
		    strlen(entry->name) >= NAME_SIZE ||
		    (name[0] != '\0' && strcmp(entry->name, name) > 0))
			continue;
		own = open_own(tmp, entry->name, false);
		if (own < 0)
			continue;
		close(own);
		strcpy(name, entry->name);
	}
	if (fd >= 0)
		close(fd);
}

static int
open_other_top(int tmp, char name[NAME_SIZE], bool make)
{
	uint8_t random[8];
	struct out out;

	find_other_name(tmp, name);
	if (name[0] != '\0' || !make)
		return name[0] != '\0' ? open_own(tmp, name, false) : -1;
	if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
		return -1;
	put_top(&out, name, NAME_SIZE);
	out_text(&out, "-");
	for (size_t i = 0; i < sizeof random; i++) {
		char digits[] = { "0123456789abcdef"[random[i] >> 4],
			"0123456789abcdef"[random[i] & 15], '\0' };

		out_text(&out, digits);
	}
	return open_own(tmp, name, true);
}

/* Its descriptor, or -1 and errno. */
static int
open_top(char name[NAME_SIZE], bool make)
{
	int tmp = openat(AT_FDCWD, "/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC),
	    top;
	struct out out;

	if (tmp < 0)
		return -1;
	put_top(&out, name, NAME_SIZE);
	top = open_own(tmp, name, make);
	if (top < 0 && errno == EEXIST) {
		top = open_other_top(tmp, name, make);
		if (top < 0 && !make)
			errno = ENOENT;
	}
	close(tmp);
	return top;
}

/* --- below ---------------------------------------------------------------- */

__attribute__((noreturn)) static void
refuse_scratch(const char *path, int error)
{
	if (error == EEXIST)
		refuse(path,
		    "this is not a scratch directory of yours: remove it", 0);
	refuse(path, "cannot open the scratch directory", error);
}

/* Whether to go on without: it is missing and not to be made; or it may not be
 * made, as in a sandbox at level standard, where open_nested() helps. */
static bool
is_no_fault(bool make, int error)
{
	return error == (make ? EACCES : ENOENT);
}

/* Goes on to a directory below, and closes the one above; -1: without it. */
static int
enter(int parent, struct out *path, const char *name, bool make)
{
	int fd = -1;

	out_print(path, "/%s", name);
	if (parent < 0)
		return -1;
	fd = open_own(parent, name, make);
	if (fd < 0 && !is_no_fault(make, errno))
		refuse_scratch(path->text, errno);
	close(parent);
	return fd;
}

/* TOP/WORKSPACE; its path goes into `path`. */
static int
open_workspace(struct out *path, struct sbx_place workspace, bool make)
{
	char digest[SHA256_HEX + 1], name[NAME_SIZE] = "";
	int top = open_top(name, make);
	int error = errno;

	out_print(path, "/tmp/%s", name);
	if (top < 0 && !is_no_fault(make, error))
		refuse_scratch(path->text, error);
	sha256_hex(workspace.path, workspace.len, digest);
	digest[NAME_LEN] = '\0';
	return enter(top, path, digest, make);
}

void
scratch_key(char key[SCRATCH_KEY_SIZE], const char *profile, const char *origin)
{
	char digest[SHA256_HEX + 1], text[2 * SBX_MAX_PATH];
	struct out out;

	out_into(&out, text, sizeof text);
	out_print(&out, "%s\n%s", profile, origin);
	sha256_hex(text, out.used, digest);
	memcpy(key, digest, SCRATCH_KEY_SIZE - 1);
	key[SCRATCH_KEY_SIZE - 1] = '\0';
}

bool
scratch_holds(struct sbx_place directory)
{
	static const char tmp[] = "/tmp/";
	char name[NAME_SIZE];
	struct out out;
	char next;

	put_top(&out, name, sizeof name);
	if (directory.len < sizeof tmp - 1 + out.used ||
	    memcmp(directory.path, tmp, sizeof tmp - 1) != 0 ||
	    memcmp(directory.path + sizeof tmp - 1, name, out.used) != 0)
		return false;
	if (directory.len == sizeof tmp - 1 + out.used)
		return true;
	next = directory.path[sizeof tmp - 1 + out.used];
	return next == '/' || next == '-';
}

/* TOP and its directories hold what commands must not write: sessions, the
 * scratch of others, what was a project. */
bool
scratch_within(struct sbx_place directory)
{
	static const char tmp[] = "/tmp";
	uint32_t slashes = 0;

	if (sbx_covers(directory, (struct sbx_place){ tmp, sizeof tmp - 1 }))
		return true;
	if (!scratch_holds(directory))
		return false;
	for (uint32_t i = 0; i < directory.len; i++)
		slashes += directory.path[i] == '/';
	/* /tmp/TOP/WORKSPACE/PROFILE is a command's own. */
	return slashes < 4;
}

/*
 * Inside of a sandbox at level standard only the scratch directory of that
 * sandbox can be written.  The caller names it, and is not believed for more:
 * it has to be a scratch directory of ours, by the name that the kernel gives
 * it.
 */
static int
open_nested(struct out *path, struct sbx_place workspace, const char *key,
    const char *tmp)
{
	char link[DESCRIPTOR_PATH_SIZE], outer[SCRATCH_PATH_SIZE] = "";
	char digest[SHA256_HEX + 1], text[2 * SBX_MAX_PATH];
	int fd = tmp != NULL ? openat(AT_FDCWD, tmp, place_flags) : -1;
	struct out name;

	descriptor_path(link, fd);
	if (fd < 0 || readlink(link, outer, sizeof outer - 1) < 0 ||
	    strlen(outer) + SCRATCH_KEY_SIZE >= sizeof outer ||
	    !scratch_holds(place_of(outer)))
		refuse_scratch(path->text, EACCES);
	/* It sets the mode, so not before it is known what this is. */
	fd = check_owner(fd);
	if (fd < 0)
		refuse_scratch(path->text, errno);
	out_into(&name, text, sizeof text);
	out_print(&name, "%s\n", key);
	out_place(&name, workspace);
	sha256_hex(text, name.used, digest);
	digest[SCRATCH_KEY_SIZE - 1] = '\0';
	out_into(path, path->text, SCRATCH_PATH_SIZE);
	out_text(path, outer);
	fd = enter(fd, path, digest, true);
	if (fd < 0)
		refuse_scratch(path->text, EACCES);
	return fd;
}

bool
scratch_path(char path[SCRATCH_PATH_SIZE], struct sbx_place workspace,
    const char *key, bool make, const char *outer)
{
	struct out out;
	int fd;

	out_into(&out, path, SCRATCH_PATH_SIZE);
	fd = enter(open_workspace(&out, workspace, make), &out, key, make);
	if (fd < 0 && make)
		fd = open_nested(&out, workspace, key, outer);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int
scratch_top(void)
{
	char name[NAME_SIZE];

	return open_top(name, false);
}

bool
scratch_has(int top, struct sbx_place workspace, const char *key)
{
	char digest[SHA256_HEX + 1], path[2 * NAME_SIZE];
	struct out out;

	if (top < 0)
		return false;
	sha256_hex(workspace.path, workspace.len, digest);
	digest[NAME_LEN] = '\0';
	out_into(&out, path, sizeof path);
	out_print(&out, "%s/%s", digest, key);
	return faccessat(top, path, F_OK, 0) == 0;
}

bool
scratch_remembers(struct sbx_place directory)
{
	int top = scratch_top();
	bool known = false;

	for (; top >= 0 && directory.len > 0 && !known;
	     directory = place_parent(directory))
		known = scratch_has(top, directory, "");
	if (top >= 0)
		close(top);
	return known;
}

int
scratch_open(char path[SCRATCH_PATH_SIZE], struct sbx_place workspace)
{
	struct out out;

	out_into(&out, path, SCRATCH_PATH_SIZE);
	return open_workspace(&out, workspace, false);
}

/* /run/user/UID, where pam_systemd(8) has made it; -1 where it is not ours
 * alone.  XDG_RUNTIME_DIR is not asked: the environment is not believed. */
static int
open_runtime(void)
{
	char path[NAME_SIZE];
	struct stat status;
	struct out out;
	int fd;

	out_into(&out, path, sizeof path);
	out_print(&out, "/run/user/%u", geteuid());
	fd = openat(AT_FDCWD, path, place_flags);
	if (fd < 0 ||
	    (fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
		(status.st_mode & 077) == 0))
		return fd;
	close(fd);
	return -1;
}

/* A directory of the user's, which is gone when nobody needs it: of one name
 * there, or of another one in TOP. */
static int
open_passing(const char *there, const char *in_top, bool make)
{
	char name[NAME_SIZE];
	int parent = open_runtime(), fd, error;

	fd = parent >= 0 ? open_own(parent, there, make) : -1;
	if (fd < 0) {
		if (parent >= 0)
			close(parent);
		parent = open_top(name, make);
		fd = parent >= 0 ? open_own(parent, in_top, make) : -1;
	}
	error = errno;
	if (parent >= 0)
		close(parent);
	errno = error;
	return fd;
}

int
scratch_sessions(bool make)
{
	return open_passing("sbx", "sessions", make);
}

/* A directory of the user's, into which nobody writes that `others` has not. */
static int
open_private(int parent, const char *name, mode_t others)
{
	struct stat status;
	int fd = openat(parent, name, place_flags);

	if (fd < 0 && errno == ENOENT &&
	    (mkdirat(parent, name, 0700) == 0 || errno == EEXIST))
		fd = openat(parent, name, place_flags);
	if (fd < 0 ||
	    (fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
		(status.st_mode & ~others & 022) == 0))
		return fd;
	close(fd);
	return -1;
}

/* In $HOME, where no policy lets a command write (SBX_OWN_STATE); -1: it is not
 * to be had.  Records may lie there even if another user may write ~/.local, who
 * can at most lose them: what policies let commands write is /tmp, mostly. */
int
scratch_state(const char *name, mode_t others)
{
	static const char *const way[] = { ".local", "state", "sbx" };
	const char *home = getenv("HOME");
	int fd = home != NULL && *home == '/' ?
	    openat(AT_FDCWD, home, O_PATH | O_DIRECTORY | O_CLOEXEC) :
	    -1;

	for (size_t i = 0; i <= countof(way) && fd >= 0; i++) {
		int parent = fd;

		fd = open_private(parent, i < countof(way) ? way[i] : name,
		    i < 2 ? others : 0);
		close(parent);
	}
	return fd;
}

int
scratch_runs(void)
{
	int fd = scratch_state("runs", 022);

	return fd >= 0 ? fd : open_passing("sbx-runs", "runs", true);
}
