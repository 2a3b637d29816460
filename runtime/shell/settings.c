#include "runtime/shell/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- where it is ---------------------------------------------------------- */

/* The home directory in a line of /etc/passwd, if the line is the user's. */
static char *
home_in_line(char *line)
{
	enum { UID = 2, HOME = 5 };
	char *fields[HOME + 1] = { NULL }, *end;

	for (size_t i = 0; i <= HOME; i++)
		fields[i] = strsep(&line, ":");
	if (fields[HOME] == NULL ||
	    strtoul(fields[UID], &end, 10) != (unsigned long)getuid() ||
	    end == fields[UID] || *end != '\0' || fields[HOME][0] != '/')
		return NULL;
	return fields[HOME];
}

static char *
find_home(void)
{
	FILE *file = fopen("/etc/passwd", "re");
	char *line = NULL, *home = NULL;
	size_t size = 0;

#ifdef SBX_TESTING
	if (getenv("SBX_TEST_HOME") != NULL)
		home = getenv("SBX_TEST_HOME");
#endif
	while (file != NULL && home == NULL && getline(&line, &size, file) > 0)
		home = home_in_line(line);
	if (home != NULL)
		home = strdup(home);
	free(line);
	if (file != NULL)
		fclose(file);
	return home;
}

/* --- whether it is to be believed ----------------------------------------- */

/* The directory of the project that the current directory is in, as far as a
 * `.git` tells; else that itself. */
static bool
find_project(char path[PATH_MAX])
{
	char name[PATH_MAX + 8], at[PATH_MAX];
	struct stat status;

	if (getcwd(path, PATH_MAX) == NULL)
		return false;
	strcpy(at, path);
	while (at[0] != '\0') {
		snprintf(name, sizeof name, "%s/.git", at);
		if (lstat(name, &status) == 0) {
			strcpy(path, at);
			break;
		}
		*strrchr(at, '/') = '\0';
	}
	return true;
}

static bool
lies_in(const char *file, const char *directory)
{
	size_t len = strlen(directory);

	return len > 1 && strncmp(file, directory, len) == 0 &&
	    file[len] == '/';
}

/* Whether a command could have written the file.  The home directory as a whole
 * is no project; there it is the policy that keeps ~/.config. */
static void
check_place(const char *file, const char *home)
{
	char real[PATH_MAX], project[PATH_MAX];

	if (realpath(file, real) == NULL)
		refuse(125, file, "cannot tell where it lies", errno);
	if (!find_project(project) ||
	    (home != NULL &&
		(strcmp(project, home) == 0 || lies_in(home, project))))
		return;
	if (lies_in(real, project))
		refuse(125, file,
		    "it lies in the workspace, where a command may change it",
		    0);
}

static FILE *
open_settings(const char *path, const char *home)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat status;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return NULL;
	if (fd < 0 || fstat(fd, &status) != 0)
		refuse(125, path, "cannot read the settings", errno);
	if (!S_ISREG(status.st_mode) ||
	    (status.st_uid != geteuid() && status.st_uid != 0) ||
	    (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		refuse(125, path,
		    "others may write it: make it yours, chmod go-w", 0);
	check_place(path, home);
	return fdopen(fd, "r");
}

/* --- what it says --------------------------------------------------------- */

static const struct keyword {
	const char *name;
	const char *option; /* of sbxrun; NULL: see below */
	size_t offset;
} keywords[] = {
	{ "policy", NULL, offsetof(struct settings, policy) },
	{ "session", NULL, offsetof(struct settings, session) },
	{ "shell", NULL, offsetof(struct settings, shell) },
	{ "explain", NULL, 0 },
	{ "level", "--level", 0 },
	{ "limit", "--limit", 0 },
	{ "define", "--define", 0 },
	{ "expect", "--expect", 0 },
	{ "log", "--log", 0 },
	{ "idle", "--idle", 0 },
};

enum { KEYWORDS = sizeof keywords / sizeof *keywords };

/* A value of the user's: ~/ is the home directory. */
static const char *
copy_value(const char *value, const char *home)
{
	char *copy;

	if (strncmp(value, "~/", 2) != 0 || home == NULL)
		return strdup(value);
	copy = malloc(strlen(home) + strlen(value));
	if (copy != NULL)
		sprintf(copy, "%s%s", home, value + 1);
	return copy;
}

/* An option that says what to print, or nothing. */
static void
apply_explain(struct settings *settings, const char *value)
{
	if (strcmp(value, "yes") == 0)
		words_add(&settings->options, "--explain");
	else if (strcmp(value, "no") != 0)
		refuse(125, "explain", "yes or no", 0);
}

static void
apply(struct settings *settings, const struct keyword *keyword,
    const char *value)
{
	if (value == NULL)
		refuse(125, keyword->name, "no memory", 0);
	if (strcmp(keyword->name, "explain") == 0) {
		apply_explain(settings, value);
		return;
	}
	if (keyword->option == NULL) {
		*(const char **)((char *)settings + keyword->offset) = value;
		return;
	}
	words_add(&settings->options, keyword->option);
	words_add(&settings->options, value);
}

static void
read_line(struct settings *settings, char *line, const char *path,
    const char *home)
{
	char *name = strtok(line, " \t\r\n");
	char *value = strtok(NULL, "\r\n");

	if (name == NULL || name[0] == '#')
		return;
	if (value != NULL) {
		value += strspn(value, " \t");
		for (size_t len = strlen(value);
		     len > 0 && strchr(" \t", value[len - 1]) != NULL; len--)
			value[len - 1] = '\0';
	}
	for (size_t i = 0; i < KEYWORDS; i++) {
		if (strcmp(name, keywords[i].name) != 0)
			continue;
		if (value == NULL || *value == '\0')
			refuse(125, path, "a word without a value", 0);
		apply(settings, &keywords[i], copy_value(value, home));
		return;
	}
	refuse(125, name, "no such setting; see sbxsh(1)", 0);
}

void
settings_read(struct settings *settings)
{
	char own[PATH_MAX], *line = NULL, *home = find_home();
	const char *path = "/etc/sbx/shell";
	FILE *file = NULL;
	size_t size = 0;

	settings->policy = "@agent";
	settings->session = "auto";
	if (home != NULL) {
		snprintf(own, sizeof own, "%s/.config/sbx/shell", home);
		file = open_settings(own, home);
	}
	if (file != NULL)
		path = own;
	else
		file = open_settings(path, home);
	if (file == NULL)
		return;
	while (getline(&line, &size, file) > 0)
		read_line(settings, line, path, home);
	if (ferror(file))
		refuse(125, path, "cannot read the settings", errno);
	free(line);
	fclose(file);
}
