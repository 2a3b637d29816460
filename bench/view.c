#include "bench/view.h"

#include "bench/plan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_MOUNTS = 1024, PATH_SIZE = 4096 };

/* A line of /proc/PID/mountinfo, see proc_pid_mountinfo(5). */
struct mount {
	char *device, *root, *at, *options, *type;
	char source[PATH_SIZE]; /* of a bind: the same outside */
};

struct view {
	FILE *steps, *words;
	uint32_t count;
	dev_t device; /* of the root */
	struct mount *inside, *outside;
	size_t inside_count, outside_count;
};

static void
die(const char *what)
{
	fprintf(stderr, "record: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void
write_padded(FILE *file, const char *text, uint32_t size)
{
	static const char zeros[8];
	size_t len = strlen(text);

	fwrite(text, 1, len, file);
	fwrite(zeros, 1, size - len, file);
}

/* Directories above a place bubblewrap makes by itself, and --dev all that we
 * show in /dev. */
static void
write_words(struct view *view, enum plan_step_kind kind, const char *at,
    const char *from, uint64_t attributes)
{
	const char *bind = (attributes & 1) == 0 ? "--bind" : "--ro-bind";

	if (view->words == NULL ||
	    (strncmp(at, "dev/", 4) == 0 && strcmp(at, "dev/pts") != 0 &&
		strcmp(at, "dev/shm") != 0))
		return;
	if (kind == STEP_LINK)
		fprintf(view->words, "--symlink\n%s\n/%s\n", from, at);
	else if (kind == STEP_BIND)
		fprintf(view->words, "%s\n%s\n/%s\n", bind, from, at);
	else if (kind == STEP_NEW && strcmp(from, "proc") == 0)
		fprintf(view->words, "--proc\n/%s\n", at);
	else if (kind == STEP_NEW && strcmp(from, "devpts") == 0)
		fputs("--dev\n/dev\n", view->words);
	else if (kind == STEP_NEW || kind == STEP_OWN)
		fprintf(view->words, "--tmpfs\n/%s\n", at);
}

static void
write_step(struct view *view, enum plan_step_kind kind, const char *at,
    const char *from, uint64_t attributes)
{
	struct plan_step step = {
		.attributes = attributes,
		.kind = kind,
		.at_size = (uint32_t)(strlen(at) / 8 + 1) * 8,
		.from_size = (uint32_t)(strlen(from) / 8 + 1) * 8,
	};

	fwrite(&step, sizeof step, 1, view->steps);
	write_padded(view->steps, at, step.at_size);
	write_padded(view->steps, from, step.from_size);
	write_words(view, kind, at, from, attributes);
	view->count++;
}

/* --- directories, files and links of the root itself ---------------------- */

static void walk(struct view *view, int directory, const char *path);

static void
walk_entry(struct view *view, int directory, const char *path,
    const struct dirent *entry)
{
	char at[PATH_SIZE], target[PATH_SIZE] = "";
	struct stat status;
	int fd;

	snprintf(at, sizeof at, "%s%s%s", path, *path ? "/" : "",
	    entry->d_name);
	if (entry->d_type == DT_LNK) {
		if (readlinkat(directory, entry->d_name, target,
			sizeof target - 1) < 0)
			die(at);
		write_step(view, STEP_LINK, at, target, 0);
		return;
	}
	write_step(view, entry->d_type == DT_DIR ? STEP_DIRECTORY : STEP_FILE,
	    at, "", 0);
	if (entry->d_type != DT_DIR ||
	    fstatat(directory, entry->d_name, &status, 0) != 0 ||
	    status.st_dev != view->device)
		return;
	fd = openat(directory, entry->d_name, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		die(at);
	walk(view, fd, at);
}

static void
walk(struct view *view, int directory, const char *path)
{
	DIR *entries = fdopendir(directory);

	if (entries == NULL)
		die(path);
	for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
		if (strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			walk_entry(view, directory, path, entry);
	}
	closedir(entries);
}

/* --- mounts --------------------------------------------------------------- */

static size_t
read_mounts(pid_t pid, struct mount *mounts)
{
	char path[64], *line = NULL, *state = NULL;
	size_t count = 0, size = 0;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/mountinfo", (int)pid);
	file = fopen(path, "r");
	if (file == NULL)
		die(path);
	while (count < MAX_MOUNTS && getline(&line, &size, file) > 0) {
		struct mount *mount = &mounts[count++];

		strtok_r(line, " ", &state);
		strtok_r(NULL, " ", &state);
		mount->device = strtok_r(NULL, " ", &state);
		mount->root = strtok_r(NULL, " ", &state);
		mount->at = strtok_r(NULL, " ", &state);
		mount->options = strtok_r(NULL, " ", &state);
		while (strcmp(strtok_r(NULL, " ", &state), "-") != 0)
			;
		mount->type = strtok_r(NULL, " ", &state);
		line = NULL;
	}
	fclose(file);
	return count;
}

static uint64_t
attributes_of(const struct mount *mount)
{
	static const struct {
		const char *option;
		uint64_t attribute;
	} table[] = { { "ro", 1 }, { "nosuid", 2 }, { "nodev", 4 },
		{ "noexec", 8 } };
	char options[PATH_SIZE], *state = NULL;
	uint64_t attributes = 0;

	snprintf(options, sizeof options, "%s", mount->options);
	for (char *option = strtok_r(options, ",", &state); option != NULL;
	     option = strtok_r(NULL, ",", &state)) {
		for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
			if (strcmp(option, table[i].option) == 0)
				attributes |= table[i].attribute;
		}
	}
	return attributes;
}

/* What is behind a path's prefix, without the slash between; NULL if it does
 * not begin so. */
static const char *
behind(const char *path, const char *prefix)
{
	size_t len = strcmp(prefix, "/") == 0 ? 0 : strlen(prefix);

	if (strncmp(path, prefix, len) != 0 ||
	    (path[len] != '/' && path[len] != '\0'))
		return NULL;
	return path[len] == '/' ? path + len + 1 : path + len;
}

static void
join(char result[PATH_SIZE], const char *directory, const char *rest)
{
	bool root = strcmp(directory, "/") == 0;

	snprintf(result, PATH_SIZE, "%s%s%s", root ? "" : directory,
	    *rest || root ? "/" : "", rest);
}

/* Where the same is outside; the place itself if it is there too. */
static bool
find_source(struct view *view, struct mount *mount)
{
	bool found = false;

	for (size_t i = 0; i < view->outside_count; i++) {
		const struct mount *outside = &view->outside[i];
		const char *rest = behind(mount->root, outside->root);

		if (strcmp(outside->device, mount->device) != 0 ||
		    rest == NULL ||
		    (found && strcmp(mount->source, mount->at) == 0))
			continue;
		join(mount->source, outside->at, rest);
		found = true;
	}
	return found;
}

/* Came with the bind that it lies in, as it did outside. */
static bool
came_along(struct view *view, size_t index)
{
	const struct mount *mount = &view->inside[index];

	for (size_t i = 0; i < index; i++) {
		const struct mount *around = &view->inside[i];
		const char *rest = behind(mount->at, around->at);
		char source[PATH_SIZE];

		if (around->source[0] == '\0' || rest == NULL || *rest == '\0')
			continue;
		join(source, around->source, rest);
		for (size_t j = 0; j < view->outside_count; j++) {
			if (strcmp(source, mount->source) == 0 &&
			    strcmp(view->outside[j].at, source) == 0)
				return true;
		}
	}
	return false;
}

static void
write_mount(struct view *view, size_t index)
{
	struct mount *mount = &view->inside[index];
	uint64_t attributes = attributes_of(mount);
	const char *at = mount->at + 1;

	if (strcmp(mount->type, "devpts") == 0 &&
	    strcmp(mount->root, "/ptmx") == 0) {
		write_step(view, STEP_PTMX, at, "", 0);
	} else if (strcmp(mount->device, view->inside[0].device) == 0) {
		write_step(view, STEP_OWN, at, "", attributes & ~1ULL);
	} else if (!find_source(view, mount)) {
		write_step(view, STEP_NEW, at, mount->type, attributes);
	} else if (!came_along(view, index)) {
		write_step(view, STEP_BIND, at, mount->source, attributes);
	}
}

void
view_name(pid_t pid, dev_t device, ino_t inode, char *path, size_t size)
{
	static struct mount inside[MAX_MOUNTS];
	size_t count = read_mounts(pid, inside);
	struct stat status;
	char at[PATH_SIZE + 32];

	for (size_t i = 0; i <= count; i++) {
		snprintf(at, sizeof at, "/proc/%d/root%s", (int)pid,
		    i == 0 ? path : inside[i - 1].at);
		if (stat(at, &status) != 0 || status.st_dev != device ||
		    status.st_ino != inode)
			continue;
		if (i > 0)
			snprintf(path, size, "%s", inside[i - 1].at);
		return;
	}
	fprintf(stderr, "record: %s: a rule whose place is not in the view\n",
	    path);
	exit(1);
}

uint32_t
view_write(FILE *steps, FILE *words, pid_t pid)
{
	static struct mount inside[MAX_MOUNTS], outside[MAX_MOUNTS];
	struct view view = {
		.steps = steps,
		.words = words,
		.inside = inside,
		.outside = outside,
	};
	struct stat status;
	char path[64];
	int root;

	snprintf(path, sizeof path, "/proc/%d/root/", (int)pid);
	root = open(path, O_RDONLY | O_DIRECTORY);
	if (root < 0 || fstat(root, &status) != 0)
		die(path);
	view.device = status.st_dev;
	view.inside_count = read_mounts(pid, inside);
	view.outside_count = read_mounts(getpid(), outside);
	if (strcmp(inside[0].type, "tmpfs") != 0) {
		fputs("record: no plan for a view of the whole root\n", stderr);
		exit(1);
	}
	walk(&view, root, "");
	for (size_t i = 1; i < view.inside_count; i++)
		write_mount(&view, i);
	return view.count;
}
