/*
 * What the file system of this machine says of a path: where its links lead,
 * and whether something is there.  Nothing is opened but programs, to see what
 * runs them.
 */
#include "compiler/query/why.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { MAX_LINKS = 40 }; /* as the kernel has it */

struct walk {
	struct arena *arena;
	struct followed *followed;
	char path[2 * SBX_MAX_PATH];
	size_t len;
	unsigned links;
	bool lost; /* a name was not there, or there were too many links */
	bool asks; /* for another process */
};

static void walk_path(struct walk *walk, const char *path);

/* --- /proc/self ----------------------------------------------------------- */

/* What follows "/proc/self", or the thread's name for it; NULL if the path does
 * not begin so. */
static const char *
own_rest(const char *path)
{
	static const char *const names[] = { "/proc/self",
		"/proc/thread-self" };
	static const char task[] = "/task/";

	for (size_t i = 0; i < countof(names); i++) {
		size_t len = strlen(names[i]);

		if (strncmp(path, names[i], len) != 0 ||
		    (path[len] != '/' && path[len] != '\0'))
			continue;
		path += len;
		if (strncmp(path, task, strlen(task)) == 0) {
			len = strlen(task);
			path += len + strspn(path + len, "0123456789");
		}
		return path;
	}
	return NULL;
}

static enum here_opens
opens_of(const char *rest)
{
	static const char descriptors[] = "/fd/", namespaces[] = "/ns/";
	const char *name = rest + strlen(descriptors);

	if (strcmp(rest, "/exe") == 0)
		return HERE_PROGRAM;
	if (strncmp(rest, namespaces, strlen(namespaces)) == 0)
		return rest[strlen(namespaces)] != '\0' &&
			strchr(rest + strlen(namespaces), '/') == NULL ?
		    HERE_NAMESPACE :
		    HERE_PLACE;
	if (strncmp(rest, descriptors, strlen(descriptors)) != 0 ||
	    *name == '\0' || name[strspn(name, "0123456789")] != '\0')
		return HERE_PLACE;
	return name[0] <= '2' && name[1] == '\0' ? HERE_STREAM :
						   HERE_DESCRIPTOR;
}

/* Whether the walk is at a link that leads elsewhere for the process that is
 * going to ask. */
static bool
walk_stays(const struct walk *walk)
{
	const char *rest = walk->asks ? own_rest(walk->path) : NULL;

	return rest != NULL && (*rest == '\0' || opens_of(rest) != HERE_PLACE);
}

/* --- the walk ------------------------------------------------------------- */

static void
walk_up(struct walk *walk)
{
	while (walk->len > 0 && walk->path[--walk->len] != '/')
		;
	walk->path[walk->len] = '\0';
}

/* By '..', which takes a directory to leave. */
static void
walk_out(struct walk *walk)
{
	struct sbx_place left = {
		arena_strndup(walk->arena, walk->path, walk->len),
		(uint32_t)walk->len,
	};
	struct stat status;

	if (walk->len > 0 &&
	    (stat(walk->path, &status) == -1 || !S_ISDIR(status.st_mode)))
		walk->lost = true;
	if (walk->len > 0)
		*arena_push(walk->arena, &walk->followed->left) = left;
	walk_up(walk);
}

static void
walk_link(struct walk *walk, const char *target)
{
	struct sbx_place link = {
		arena_strndup(walk->arena, walk->path, walk->len),
		(uint32_t)walk->len,
	};

	*arena_push(walk->arena, &walk->followed->links) = link;
	if (++walk->links > MAX_LINKS) {
		walk->lost = true;
		return;
	}
	walk_up(walk);
	if (target[0] == '/') {
		walk->len = 0;
		walk->path[0] = '\0';
	}
	walk_path(walk, target);
}

static void
walk_name(struct walk *walk, const char *name, size_t len)
{
	char target[SBX_MAX_PATH + 1];
	struct stat status;
	ssize_t size;

	if (len == 0 || (len == 1 && name[0] == '.'))
		return;
	if (len == 2 && name[0] == '.' && name[1] == '.') {
		walk_out(walk);
		return;
	}
	if (walk->len + len + 2 > sizeof walk->path) {
		walk->lost = true;
		return;
	}
	walk->path[walk->len++] = '/';
	memcpy(walk->path + walk->len, name, len);
	walk->len += len;
	walk->path[walk->len] = '\0';
	if (walk->lost || walk_stays(walk))
		return;
	size = readlink(walk->path, target, sizeof target - 1);
	if (size > 0) {
		target[size] = '\0';
		walk_link(walk,
		    arena_strndup(walk->arena, target, (size_t)size));
	} else if (lstat(walk->path, &status) == -1) {
		walk->lost = true;
	}
}

static void
walk_path(struct walk *walk, const char *path)
{
	while (*path != '\0') {
		size_t len = strcspn(path, "/");

		walk_name(walk, path, len);
		path += len;
		path += strspn(path, "/");
	}
}

static struct followed
follow(struct arena *arena, const char *path, bool asks)
{
	struct followed followed = { .there = false };
	const char *rest;
	struct walk walk;

	walk.arena = arena;
	walk.followed = &followed;
	walk.path[0] = '\0';
	walk.len = 0;
	walk.links = 0;
	walk.lost = false;
	walk.asks = asks;
	walk_path(&walk, path);
	followed.place = (struct sbx_place){
		arena_strndup(arena, walk.path, walk.len),
		(uint32_t)walk.len,
	};
	followed.there = !walk.lost;
	rest = asks ? own_rest(walk.path) : NULL;
	followed.own = rest != NULL;
	followed.opens = rest != NULL ? opens_of(rest) : HERE_PLACE;
	return followed;
}

struct followed
here_follow(struct arena *arena, const char *path)
{
	return follow(arena, path, false);
}

struct followed
here_ask(struct arena *arena, const char *path)
{
	return follow(arena, path, true);
}

/* A link at its end is followed unless `flags` is AT_SYMLINK_NOFOLLOW. */
static bool
look(struct sbx_place place, struct stat *status, int flags)
{
	char path[2 * SBX_MAX_PATH];

	if (place.len >= sizeof path)
		return false;
	memcpy(path, place.path, place.len);
	path[place.len] = '\0';
	return fstatat(AT_FDCWD, path, status, flags) == 0;
}

static bool
look_at(struct sbx_place place, struct stat *status)
{
	return look(place, status, AT_SYMLINK_NOFOLLOW);
}

bool
here_has(struct sbx_place place)
{
	struct stat status;

	return place.len == 0 || look_at(place, &status);
}

static bool
is_directory(struct sbx_place place)
{
	struct stat status;

	return place.len == 0 ||
	    (look(place, &status, 0) && S_ISDIR(status.st_mode));
}

bool
here_is_device(struct sbx_place place)
{
	struct stat status;

	return place.len > 0 && look_at(place, &status) &&
	    (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode));
}

bool
here_is_socket(struct sbx_place place)
{
	struct stat status;

	return place.len > 0 && look_at(place, &status) &&
	    S_ISSOCK(status.st_mode);
}

bool
here_has_mode(struct sbx_place place, uint8_t right, bool bare)
{
	char path[2 * SBX_MAX_PATH] = "/";
	struct stat status;
	int mode = right == SBX_READ ? R_OK : right == SBX_WRITE ? W_OK : X_OK;

	if (place.len >= sizeof path)
		return true;
	if (place.len > 0)
		memcpy(path, place.path, place.len);
	if (stat(path, &status) != 0)
		return errno != EACCES;
	/* Entered is what may be searched, and this is about programs. */
	if (right == SBX_EXEC && !S_ISREG(status.st_mode))
		return true;
	if (bare && geteuid() == 0)
		return ((status.st_mode >> (status.st_uid == 0 ? 6 :
						   status.st_gid == getegid() ?
								 3 :
								 0)) &
			   (mode_t)mode) != 0;
	return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 ||
	    errno != EACCES;
}

bool
here_is_file(struct sbx_place place)
{
	struct stat status;

	if (place.len == 0)
		return false;
	return look(place, &status, 0) ? !S_ISDIR(status.st_mode) :
					 errno == ENOTDIR;
}

bool
here_is_fuse(struct sbx_place place)
{
	enum { FUSE = 0x65735546 };
	char path[SBX_MAX_PATH + 1] = "/";
	struct statfs status;

	place = here_nearest(place);
	if (place.len > 0)
		memcpy(path, place.path, place.len);
	path[place.len > 0 ? place.len : 1] = '\0';
	return statfs(path, &status) == 0 && status.f_type == FUSE;
}

bool
here_is_shared(struct sbx_place place)
{
	struct stat status;

	return look(place, &status, 0) && S_ISDIR(status.st_mode) &&
	    (status.st_mode & S_IWOTH) != 0;
}

struct sbx_place
here_nearest(struct sbx_place place)
{
	while (!is_directory(place)) {
		while (place.len > 0 && place.path[--place.len] != '/')
			;
	}
	return place;
}

bool
here_runs(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
	    (status.st_mode & 0111) != 0;
}

/* --- interpreters --------------------------------------------------------- */

/* As much as the kernel looks at for program headers, see elf(5). */
enum { MAX_HEADERS = 64 };

/* Of an ELF file of 64 bits, as all machines have that sbxrun runs on. */
static ssize_t
read_linker(int file, const Elf64_Ehdr *elf, char *text, size_t size)
{
	Elf64_Phdr header;

	for (unsigned i = 0; i < elf->e_phnum && i < MAX_HEADERS; i++) {
		off_t at = (off_t)(elf->e_phoff + i * sizeof header);

		if (pread(file, &header, sizeof header, at) !=
		    (ssize_t)sizeof header)
			return -1;
		if (header.p_type != PT_INTERP)
			continue;
		return header.p_filesz < size ?
		    pread(file, text, header.p_filesz, (off_t)header.p_offset) :
		    -1;
	}
	return -1;
}

static const char *
find_interpreter(struct arena *arena, int file)
{
	char text[SBX_MAX_PATH + 1] = "";
	const char *at = text;
	Elf64_Ehdr elf;
	ssize_t size = pread(file, text, sizeof text - 1, 0);

	if (size > 2 && memcmp(text, "#!", 2) == 0) {
		text[size] = '\0';
		at += 2 + strspn(text + 2, " \t");
	} else if (size >= (ssize_t)sizeof elf &&
	    memcmp(text, ELFMAG, SELFMAG) == 0 &&
	    text[EI_CLASS] == ELFCLASS64) {
		memcpy(&elf, text, sizeof elf);
		size = read_linker(file, &elf, text, sizeof text);
		text[size > 0 ? size : 0] = '\0';
	} else {
		return NULL;
	}
	return *at == '/' ? arena_strndup(arena, at, strcspn(at, " \t\r\n")) :
			    NULL;
}

const char *
here_interpreter(struct arena *arena, const char *path)
{
	const char *found;
	int file;

	if (!here_runs(path))
		return NULL;
	file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file == -1)
		return NULL;
	found = find_interpreter(arena, file);
	close(file);
	return found;
}
