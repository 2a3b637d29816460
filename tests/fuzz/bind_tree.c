#include "tests/fuzz/bind_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_ENTRIES = 24, MOST_NAMES = 3, DEEPEST = 12 };

/* Kept open: the root outside and the directory there, and the root inside. */
enum { OUTSIDE = 500, BACK = 501, INSIDE = 502 };

static const char *const tops[] = { "/w", "/h", "/h2", "/srv", "/run" };

static void
need(bool held, const char *what)
{
	if (held)
		return;
	tree_leave();
	perror(what);
	abort();
}

/* --- inputs --------------------------------------------------------------- */

uint8_t
input_byte(struct input *input)
{
	if (input->left == 0)
		return 0;
	input->left--;
	return *input->at++;
}

size_t
input_below(struct input *input, size_t limit)
{
	return input_byte(input) % limit;
}

void
input_path(struct input *input, char path[TREE_PATH], bool absolute, bool dots)
{
	static const char *const names[] = { "a", "b", "c", ".git", ".env",
		"k.env", ".ssh", "d", "..", "." };
	size_t count = input_below(input, MOST_NAMES + 1), used = 0;
	size_t known = sizeof names / sizeof *names - (dots ? 0 : 2);

	path[0] = '\0';
	if (absolute)
		used = (size_t)snprintf(path, TREE_PATH, "%s",
		    tops[input_below(input, sizeof tops / sizeof *tops)]);
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(path + used, TREE_PATH - used, "/%s",
		    names[input_below(input, known)]);
}

/* --- in and out ----------------------------------------------------------- */

static bool
write_file(const char *path, const char *text)
{
	int fd = open(path,
	    O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0644);
	bool good = fd >= 0 &&
	    write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

/* Root needs no user namespace, and may then have files of several users. */
static bool
own_namespaces(void)
{
	char map[64];
	unsigned uid = getuid();

	if (uid == 0 && unshare(CLONE_NEWNS) == 0)
		return true;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return false;
	snprintf(map, sizeof map, "0 %u 1", uid);
	return write_file("/proc/self/uid_map", map);
}

bool
tree_begin(void)
{
	int inside, outside, back;

	if (own_namespaces() &&
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	    (outside = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)) >= 0 &&
	    (back = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) >= 0 &&
	    mount("none", "/mnt", "tmpfs", 0, "mode=755") == 0 &&
	    mkdir("/mnt/proc", 0755) == 0 &&
	    mount("/proc", "/mnt/proc", NULL, MS_BIND | MS_REC, NULL) == 0 &&
	    (inside = open("/mnt", O_PATH | O_DIRECTORY | O_CLOEXEC)) >= 0 &&
	    dup3(outside, OUTSIDE, O_CLOEXEC) >= 0 &&
	    dup3(back, BACK, O_CLOEXEC) >= 0 &&
	    dup3(inside, INSIDE, O_CLOEXEC) >= 0) {
		close(outside);
		close(inside);
		close(back);
		return true;
	}
	perror("no file system for the fuzzer");
	return false;
}

static void
go(int root)
{
	if (fchdir(root) < 0 || chroot(".") < 0)
		abort();
}

void
tree_enter(void)
{
	go(INSIDE);
}

void
tree_leave(void)
{
	go(OUTSIDE);
	(void)!fchdir(BACK);
}

/* --- what is in it -------------------------------------------------------- */

static void
make_above(const char *path)
{
	char text[TREE_PATH];
	char *slash = text;

	snprintf(text, sizeof text, "%s", path);
	while ((slash = strchr(slash + 1, '/')) != NULL) {
		*slash = '\0';
		/* There may be something else already. */
		(void)!mkdir(text, 0755);
		*slash = '/';
	}
}

static void
make_link(struct input *input, const char *path)
{
	char target[TREE_PATH];
	bool absolute = input_below(input, 2) == 0;

	input_path(input, target, absolute, true);
	(void)!symlink(absolute   ? target :
		target[0] == '\0' ? "." :
				    target + 1,
	    path);
}

static void
make_entry(struct input *input)
{
	enum { DIRECTORY, FILE_OF_OURS, LINK, LINK_TOO, PIPE, OWNER, MODE };
	char path[TREE_PATH];
	size_t kind = input_below(input, MODE + 1);

	input_path(input, path, true, false);
	make_above(path);
	/* What cannot be made is not: two entries may say the same. */
	if (kind == DIRECTORY)
		(void)!mkdir(path, 0755);
	else if (kind == FILE_OF_OURS)
		(void)!write_file(path, "x");
	else if (kind == LINK || kind == LINK_TOO)
		make_link(input, path);
	else if (kind == PIPE)
		(void)!mkfifo(path, 0600);
	else if (kind == OWNER)
		(void)!lchown(path, 1000, 1000);
	else
		(void)!fchmodat(AT_FDCWD, path,
		    input_below(input, 2) ? 0777 : 01777, 0);
}

void
tree_make(struct input *input)
{
	static const char *const fixed[] = { "/w", "/h", "/h2", "/srv", "/run",
		"/tmp", "/etc" };
	size_t count = input_below(input, MOST_ENTRIES + 1);
	char line[80];

	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		need(mkdir(fixed[i], 0755) == 0, fixed[i]);
	need(chmod("/tmp", 01777) == 0, "/tmp");
	snprintf(line, sizeof line, "u:x:%u:0::/h%s:/bin/sh\n", getuid(),
	    input_below(input, 2) ? "2" : "");
	need(write_file("/etc/passwd", line), "/etc/passwd");
	while (count-- > 0)
		make_entry(input);
}

static int
remove_node(const char *path, const struct stat *status, int flag,
    struct FTW *walk)
{
	(void)status;
	(void)flag;
	return walk->level == 0 ? 0 : remove(path);
}

static bool
is_ours(const char *name)
{
	return strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
	    strcmp(name, "proc") != 0;
}

void
tree_clear(void)
{
	DIR *dir = opendir("/");
	struct dirent *entry;
	char path[TREE_PATH + 2];

	need(dir != NULL, "/");
	while ((entry = readdir(dir)) != NULL) {
		if (!is_ours(entry->d_name))
			continue;
		snprintf(path, sizeof path, "/%s", entry->d_name);
		nftw(path, remove_node, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
		need(remove(path) == 0, path);
	}
	closedir(dir);
}

static void
list_below(struct nodes *nodes, const char *directory, size_t depth)
{
	DIR *dir = opendir(directory[0] == '\0' ? "/" : directory);
	struct dirent *entry;

	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL && nodes->count < NODES_MAX) {
		struct node *node = &nodes->of[nodes->count];

		if (!is_ours(entry->d_name))
			continue;
		if (snprintf(node->path, sizeof node->path, "%s/%s", directory,
			entry->d_name) >= TREE_PATH)
			continue;
		nodes->count++;
		node->link = entry->d_type == DT_LNK;
		node->directory = entry->d_type == DT_DIR;
		if (node->directory && depth < DEEPEST)
			list_below(nodes, node->path, depth + 1);
	}
	closedir(dir);
}

void
tree_list(struct nodes *nodes)
{
	nodes->count = 0;
	list_below(nodes, "", 0);
}
