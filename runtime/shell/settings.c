/*
 * What the user has chosen for sbxsh: a file of lines such as
 *
 *	policy  ~/.config/sbx/team.bin
 *	limit   timeout=20m
 *
 * It is ~/.config/sbx/shell, in the home directory of the user's line in
 * /etc/passwd, or /etc/sbx/shell.  The environment does not say where: that of
 * an agent may have been set by a project.
 */
#include "runtime/shell/shell.h"

#include "runtime/base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- where it is ---------------------------------------------------------- */

static char *
find_home(void)
{
	char line[PASSWD_LINE];
	const char *home = NULL;

#ifdef SBX_TESTING
	home = getenv("SBX_TEST_HOME");
#endif
	if (home == NULL)
		home = passwd_home(line, sizeof line);
	return home != NULL && home[0] == '/' ? strdup(home) : NULL;
}

/* --- whether it is to be believed ----------------------------------------- */

static bool
lies_in(const char *file, const char *directory)
{
	size_t len = strlen(directory);

	return strncmp(file, directory, len) == 0 &&
	    (file[len] == '/' || file[len] == '\0');
}

/* Whether sbxrun remembers that the directory was the top of a project, in
 * /tmp/sbx-UID/DIGEST/project: a command may have removed its `.git`. */
static bool
was_top(const char *directory)
{
	enum { DIGITS = 16 };
	char digest[SHA256_HEX + 1], pattern[64];
	glob_t found;
	int result;

	sha256_hex(directory, strlen(directory), digest);
	snprintf(pattern, sizeof pattern, "/tmp/sbx-%u*/%.*s/project",
	    geteuid(), DIGITS, digest);
	result = glob(pattern, GLOB_NOSORT, NULL, &found);
	if (result == 0)
		globfree(&found);
	return result != GLOB_NOMATCH;
}

/* Whether `-w auto` could take it for the top.  What is called `.git` may be
 * anything: a command may have made it. */
static bool
may_be_top(const char *directory)
{
	char name[PATH_MAX + 8];
	struct stat status;

	snprintf(name, sizeof name, "%s/.git", directory);
	return lstat(name, &status) == 0 || errno != ENOENT ||
	    was_top(directory);
}

/*
 * Whether a command may change what lies at a place: in the current directory, or
 * in one above it that could be the workspace.  The home directory and what is
 * above it are no workspace but where they are the current directory, and there
 * it is the policy that keeps ~/.config.
 */
static bool
lies_in_workspace(const char *place, const char *home)
{
	char at[PATH_MAX], kept[PATH_MAX + 16];

	if (getcwd(at, sizeof at) == NULL || strcmp(at, "/") == 0)
		return false; /* there is no workspace */
	if (home != NULL && lies_in(home, at)) {
		snprintf(kept, sizeof kept, "%s/.config", home);
		return lies_in(place, at) && !lies_in(home, place) &&
		    !lies_in(place, kept);
	}
	if (lies_in(place, at))
		return true;
	for (;;) {
		*strrchr(at, '/') = '\0';
		if (at[0] == '\0' || (home != NULL && lies_in(home, at)))
			return false;
		if (lies_in(place, at) && may_be_top(at))
			return true;
	}
}

/* Puts what a link says in the place of its path up to `len`. */
static void
replace_link(char path[PATH_MAX], size_t len)
{
	char target[PATH_MAX], whole[3 * PATH_MAX];
	char rest[PATH_MAX];
	ssize_t size;

	strcpy(rest, path + len);
	path[len] = '\0';
	size = readlink(path, target, sizeof target - 1);
	if (size <= 0)
		refuse(125, path, "cannot tell where it leads", errno);
	target[size] = '\0';
	*strrchr(path, '/') = '\0';
	snprintf(whole, sizeof whole, "%s/%s%s", target[0] == '/' ? "" : path,
	    target, rest);
	if (strlen(whole) >= PATH_MAX)
		refuse(125, target, "cannot tell where it leads", ENAMETOOLONG);
	strcpy(path, whole);
}

/* Where a path lies whose last name is no link, or is the link that is looked at;
 * its directory is in `real`. */
static void
find_place(const char *path, bool is_link, char real[PATH_MAX])
{
	size_t len = strlen(real);
	const char *name = strrchr(path, '/');

	if (!is_link && realpath(path, real) == NULL)
		refuse(125, path, "cannot tell where it lies", errno);
	if (!is_link)
		return;
	if (len + strlen(name) >= PATH_MAX)
		refuse(125, path, "cannot tell where it lies", ENAMETOOLONG);
	strcpy(strcmp(real, "/") == 0 ? real : real + len, name);
}

/* Looks at each place on the way up to the first link, which gets replaced; false
 * if there is none. */
static bool
check_way(const char *file, char path[PATH_MAX], const char *home)
{
	char real[PATH_MAX] = "/";
	struct stat status;
	bool ended = false;

	for (size_t len = 1; !ended; len++) {
		char end = path[len];

		ended = end == '\0';
		if (end != '/' && !ended)
			continue;
		path[len] = '\0';
		if (lstat(path, &status) != 0)
			refuse(125, file, "cannot tell where it lies", errno);
		find_place(path, S_ISLNK(status.st_mode), real);
		if (lies_in_workspace(real, home))
			refuse(125, file,
			    "it lies in the workspace, where a command may "
			    "change it",
			    0);
		path[len] = end;
		if (S_ISLNK(status.st_mode)) {
			replace_link(path, len);
			return true;
		}
	}
	return false;
}

/* Refuses a file that a command could have written, or led here. */
static void
check_file(const char *file, const char *home)
{
	enum { LINKS_MAX = 40 }; /* as in the kernel's path walk */
	char path[PATH_MAX], real_home[PATH_MAX];
	int links = 0;

	if (home != NULL && realpath(home, real_home) != NULL)
		home = real_home;
	if (file[0] != '/' || strlen(file) >= sizeof path)
		refuse(125, file, "cannot tell where it lies", 0);
	strcpy(path, file);
	while (check_way(file, path, home)) {
		if (++links > LINKS_MAX)
			refuse(125, file, "cannot tell where it lies", ELOOP);
	}
}

static FILE *
open_settings(const char *path, const char *home)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat status;
	FILE *file;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return NULL;
	if (fd < 0 || fstat(fd, &status) != 0)
		refuse(125, path, "cannot read the settings", errno);
	if (!S_ISREG(status.st_mode) ||
	    (status.st_uid != geteuid() && status.st_uid != 0) ||
	    (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		refuse(125, path,
		    "others may write it: make it yours, chmod go-w", 0);
	check_file(path, home);
	file = fdopen(fd, "r");
	if (file == NULL)
		refuse(125, path, "cannot read the settings", errno);
	return file;
}

/* --- what it says --------------------------------------------------------- */

static const struct keyword {
	const char *name;
	const char *option; /* of sbxrun; NULL: see below */
	size_t offset;
	const char *begins; /* the value, with one of these; NULL: anyhow */
} keywords[] = {
	{ "policy", NULL, offsetof(struct settings, policy), "/@" },
	{ "session", NULL, offsetof(struct settings, session), NULL },
	{ "shell", NULL, offsetof(struct settings, shell), "/" },
	{ "explain", NULL, 0, NULL },
	{ "stage", NULL, 0, NULL },
	{ "level", "--level", 0, NULL },
	{ "limit", "--limit", 0, NULL },
	{ "define", "--define", 0, NULL },
	{ "expect", "--expect", 0, NULL },
	{ "log", "--log", 0, "/" },
	{ "idle", "--idle", 0, NULL },
	/* Nobody is at a terminal there. */
	{ "ask", "--ask=", 0, "/" },
	{ "ask-always", NULL, 0, NULL },
};

enum { KEYWORDS = countof(keywords) };

/* A value of the user's: ~/ is the home directory. */
static char *
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

/* A file that is being read. */
struct source {
	const char *path, *home;
	unsigned line;
};

__attribute__((noreturn)) static void
refuse_line(const struct source *source, const char *name, const char *text)
{
	char subject[PATH_MAX + 96];

	snprintf(subject, sizeof subject, "%s:%u: %.64s", source->path,
	    source->line, name);
	refuse(125, subject, text, 0);
}

/* An option whose value may be left out has it in the same word. */
static char *
joined_word(const char *option, const char *value, const struct source *source)
{
	char *word = malloc(strlen(option) + strlen(value) + 1);

	if (word == NULL)
		refuse_line(source, option, "no memory");
	sprintf(word, "%s%s", option, value);
	return word;
}

static void
apply(struct settings *settings, const struct keyword *keyword, char *value,
    const struct source *source)
{
	if (value == NULL)
		refuse_line(source, keyword->name, "no memory");
	if (strcmp(keyword->name, "explain") == 0) {
		/* An option that says what to print, or nothing. */
		if (strcmp(value, "yes") == 0)
			words_add(&settings->options, "--explain");
		else if (strcmp(value, "agent") == 0)
			words_add(&settings->options, "--explain=agent");
		else if (strcmp(value, "no") != 0)
			refuse_line(source, "explain",
			    "it has to be yes, agent or no");
		free(value);
		return;
	}
	if (strcmp(keyword->name, "stage") == 0) {
		/* An option whose name may be left out. */
		if (strcmp(value, "yes") == 0)
			words_add(&settings->options, "--stage");
		else if (strcmp(value, "no") != 0)
			words_add(&settings->options,
			    joined_word("--stage=", value, source));
		free(value);
		return;
	}
	if (strcmp(keyword->name, "ask") == 0) {
		words_add(&settings->options,
		    joined_word(keyword->option, value, source));
		free(value);
		return;
	}
	if (strcmp(keyword->name, "ask-always") == 0) {
		if (strcmp(value, "yes") == 0)
			words_add(&settings->options, "--ask-always");
		else if (strcmp(value, "no") != 0)
			refuse_line(source, "ask-always",
			    "it has to be yes or no");
		free(value);
		return;
	}
	/* The last one holds. */
	if (keyword->option == NULL) {
		char **place = (char **)(void *)((char *)settings +
		    keyword->offset);

		free(*place);
		*place = value;
		return;
	}
	words_add(&settings->options, keyword->option);
	words_add(&settings->options, value);
}

/* A relative path would lead into the workspace. */
static void
check_value(const struct keyword *keyword, const char *value,
    const struct source *source)
{
	if (keyword->begins == NULL ||
	    strchr(keyword->begins, value[0]) != NULL ||
	    (source->home != NULL && strncmp(value, "~/", 2) == 0))
		return;
	refuse_line(source, keyword->name,
	    strchr(keyword->begins, '@') != NULL ?
		"it has to begin with /, ~/ or @" :
		"it has to begin with / or ~/");
}

static void
read_line(struct settings *settings, char *line, const struct source *source)
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
			refuse_line(source, name, "a word without a value");
		check_value(&keywords[i], value, source);
		apply(settings, &keywords[i], copy_value(value, source->home),
		    source);
		return;
	}
	refuse_line(source, name, "no such setting; see sbxsh(1)");
}

/* The user's own settings, or else the machine's; NULL: there are none. */
static FILE *
find_settings(struct source *source, char own[PATH_MAX])
{
	FILE *file = NULL;

	if (source->home != NULL) {
		snprintf(own, PATH_MAX, "%s" SBX_OWN_CONFIG "/shell",
		    source->home);
		file = open_settings(own, source->home);
	}
	if (file != NULL)
		source->path = own;
	else
		file = open_settings(source->path, source->home);
	return file;
}

static void
read_lines(struct settings *settings, FILE *file, struct source *source)
{
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, file) > 0) {
		source->line++;
		read_line(settings, line, source);
	}
	if (ferror(file))
		refuse(125, source->path, "cannot read the settings", errno);
	free(line);
	fclose(file);
	if (settings->policy[0] == '/')
		check_file(settings->policy, source->home);
}

void
settings_read(struct settings *settings)
{
	char own[PATH_MAX], *home = find_home();
	struct source source = { "/etc/sbx/shell", home, 0 };
	FILE *file;

	settings->policy = strdup("@agent");
	settings->session = strdup("auto");
	if (settings->policy == NULL || settings->session == NULL)
		refuse(125, source.path, "no memory", 0);
	file = find_settings(&source, own);
	if (file != NULL)
		read_lines(settings, file, &source);
	free(home);
}
