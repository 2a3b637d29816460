/*
 * A command that exists, and is not in the view of level full: to whoever typed
 * its name "command not found" alone would be a riddle.
 */
#include "runtime/apply/mounts.h"

#include "runtime/base/out.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const char *
path_variable(char **variables)
{
	for (; *variables != NULL; variables++) {
		if (strncmp(*variables, "PATH=", 5) == 0)
			return *variables + 5;
	}
	return "";
}

static const char *
keep(struct arena *arena, const char *path)
{
	return arena_copy(arena, sbx_place_of(path)).path;
}

/* Relative directories and names are left out: what they mean depends on where
 * one is, and no rule can name them. */
const char *
elsewhere_find(struct arena *arena, const char *name, char **variables)
{
	size_t name_len = strlen(name);
	char path[SBX_MAX_PATH + 1];

	if (strchr(name, '/') != NULL)
		return *name == '/' && name_len < sizeof path &&
			access(name, X_OK) == 0 ?
		    keep(arena, name) :
		    NULL;
	for (const char *dir = path_variable(variables); *dir != '\0';) {
		size_t len = strcspn(dir, ":");

		if (*dir == '/' && name_len > 0 &&
		    len + name_len + 2 <= sizeof path) {
			memcpy(path, dir, len);
			path[len] = '/';
			memcpy(path + len + 1, name, name_len + 1);
			if (access(path, X_OK) == 0)
				return keep(arena, path);
		}
		dir += len + (dir[len] == ':');
	}
	return NULL;
}

/* The program that a script begins with: "#!/usr/bin/perl -w". */
static size_t
read_interpreter(const char *file, char *text, size_t size)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t got = fd >= 0 ? read(fd, text, size - 1) : -1;
	size_t begin = 2;

	if (fd >= 0)
		close(fd);
	if (got < 3 || text[0] != '#' || text[1] != '!')
		return 0;
	text[got] = '\0';
	begin += strspn(text + begin, " \t");
	got = (ssize_t)strcspn(text + begin, " \t\r\n");
	memmove(text, text + begin, (size_t)got);
	return (size_t)got;
}

void
elsewhere_say(const char *name, const char *fault, const char *place)
{
	char interpreter[256];
	size_t len = 0;
	struct out out;

	out_init(&out, -1);
	out_text(&out, fault);
	/* Where it is there, what runs it is not. */
	if (strchr(name, '/') != NULL && access(name, F_OK) == 0) {
		len = read_interpreter(name, interpreter, sizeof interpreter);
		place = NULL;
	}
	if (len > 0) {
		out_text(&out, ": ");
		out_shown(&out, interpreter, len);
	}
	if (place != NULL) {
		out_text(&out, "; outside it is ");
		out_shown(&out, place, strlen(place));
		out_text(&out,
		    ", which the policy does not show: 'allow exec ");
		out_shown(&out, place, strlen(place));
		out_text(&out, "' would, unless something denies it");
	}
	say(name, out.text, 0);
}
