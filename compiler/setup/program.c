/*
 * Other programs, run to their end: sbxrun above all.
 */
#include "compiler/setup/setup.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PRINTED_MAX = 4 << 20 };

int
program_memory(const void *bytes, size_t size)
{
	const char *at = bytes;
	int fd = memfd_create("sbxc", MFD_CLOEXEC);

	/* sbxrun takes no policy that others may write. */
	if (fd >= 0)
		fchmod(fd, 0600);
	while (fd >= 0 && size > 0) {
		ssize_t done = write(fd, at, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			close(fd);
			return -1;
		}
		at += done;
		size -= (size_t)done;
	}
	return fd;
}

static const char *
printed(struct arena *arena, int fd)
{
	struct stat status = { .st_size = 0 };
	size_t size, used = 0;
	char *text;

	fstat(fd, &status);
	size = status.st_size < PRINTED_MAX ? (size_t)status.st_size :
					      PRINTED_MAX;
	text = arena_alloc(arena, size + 1);
	while (used < size) {
		ssize_t got = pread(fd, text + used, size - used, (off_t)used);

		if (got <= 0)
			break;
		used += (size_t)got;
	}
	text[used] = '\0';
	close(fd);
	return text;
}

__attribute__((noreturn)) static void
execute(const char *const *words, const char *directory, int policy,
    const int streams[2])
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, 0) != 0 || dup2(streams[0], 1) != 1 ||
	    dup2(streams[1], 2) != 2)
		_exit(126);
	if (directory != NULL && chdir(directory) != 0)
		_exit(126);
	if (policy >= 0 && fcntl(policy, F_SETFD, 0) != 0)
		_exit(126);
	execv(words[0], (char *const *)words);
	_exit(127);
}

struct ran
program_run(struct arena *arena, const char *const *words,
    const char *directory, int policy)
{
	struct ran ran = { .status = -1, .out = "", .err = "" };
	int streams[] = { program_memory("", 0), program_memory("", 0) };
	pid_t pid = streams[0] < 0 || streams[1] < 0 ? -1 : fork();
	int status = 0;

	if (pid == 0)
		execute(words, directory, policy, streams);
	while (pid > 0 && waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			pid = -1;
	}
	if (pid > 0)
		ran.status = WIFEXITED(status) ? WEXITSTATUS(status) :
						 128 + WTERMSIG(status);
	if (streams[0] >= 0)
		ran.out = printed(arena, streams[0]);
	if (streams[1] >= 0)
		ran.err = printed(arena, streams[1]);
	return ran;
}

static bool
is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
	    access(path, X_OK) == 0;
}

/* No rule can name a path with "..", which stands in a PATH now and then. */
static const char *
without_dots(struct arena *arena, const char *directory)
{
	char *real = strstr(directory, "..") != NULL ?
	    realpath(directory, NULL) :
	    NULL;
	const char *copy = real == NULL ?
	    directory :
	    arena_strndup(arena, real, strlen(real));

	free(real);
	return copy;
}

const char *
program_in_path(struct arena *arena, const char *name)
{
	const char *path = getenv("PATH");

	if (strchr(name, '/') != NULL)
		return is_program(name) ? name : NULL;
	while (path != NULL && *path != '\0') {
		size_t len = strcspn(path, ":");
		const char *file = arena_printf(arena, "%s/%s",
		    without_dots(arena,
			arena_printf(arena, "%.*s", (int)len, path)),
		    name);

		if (len > 0 && is_program(file))
			return file;
		path += len + (path[len] == ':');
	}
	return NULL;
}

bool
program_is_static(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Phdr part = { .p_type = PT_INTERP };
	Elf64_Ehdr head;
	bool loads = true;

	/* What cannot be read is not known to be. */
	if (fd >= 0 && pread(fd, &head, sizeof head, 0) == sizeof head) {
		loads = head.e_phentsize != sizeof part;
		for (int i = 0; !loads && i < head.e_phnum; i++) {
			off_t at = (off_t)(head.e_phoff +
			    (unsigned)i * sizeof part);

			loads = pread(fd, &part, sizeof part, at) !=
				sizeof part ||
			    part.p_type == PT_INTERP;
		}
	}
	if (fd >= 0)
		close(fd);
	return !loads;
}
