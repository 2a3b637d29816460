/*
 * The files by which programs look up names, in the view.
 *
 * Where names lead out of a network of the sandbox's own, its resolver listens
 * on 127.0.0.1.  Files of ours that fit this cover those of the machine:
 * /etc/resolv.conf, and /etc/hosts, in which only the lines about this machine
 * are left, since the addresses in the others lead nowhere inside.  On many
 * machines /etc/resolv.conf is a link into /run, which a view does not show:
 * then our file lies where the link leads.
 */
#include "runtime/apply/mounts.h"

#include "format/model.h"
#include "runtime/base/files.h"
#include "runtime/base/out.h"

#include <string.h>

/* Of the longest file of hosts that is looked at; what is about the machine
 * itself stands first. */
enum { TEXT_SIZE = 16 << 10 };

typedef void fill_text(char text[TEXT_SIZE]);

/* --- their texts ---------------------------------------------------------- */

static void
fill_resolver(char text[TEXT_SIZE])
{
	strcpy(text,
	    "# sbxrun: names that the policy allows\n"
	    "nameserver 127.0.0.1\n");
}

static bool
is_loopback(const char *line)
{
	line += strspn(line, " \t");
	return strncmp(line, "127.", 4) == 0 || strncmp(line, "::1", 3) == 0;
}

static void
fill_hosts(char text[TEXT_SIZE])
{
	char *kept = text, *line = text, *next;

	file_read(AT_FDCWD, "/etc/hosts", text, TEXT_SIZE);
	for (; (next = strchr(line, '\n')) != NULL; line = next) {
		next++;
		if (!is_loopback(line))
			continue;
		memmove(kept, line, (size_t)(next - line));
		kept += next - line;
	}
	*kept = '\0';
	if (kept == text)
		strcpy(text, "127.0.0.1 localhost\n");
}

static const struct {
	struct sbx_place at;
	fill_text *fill;
} known[NAME_FILES] = {
	{ { "/etc/resolv.conf", 16 }, fill_resolver },
	{ { "/etc/hosts", 10 }, fill_hosts },
};

/* --- their places --------------------------------------------------------- */

void
name_files_none(struct name_files *files)
{
	for (int i = 0; i < NAME_FILES; i++)
		files->of[i] = (struct followed){ .fd = -1 };
}

/* What is denied stays so: without its file a program asks 127.0.0.1 anyway. */
static bool
is_masked(const struct mount_tree *tree, struct sbx_place at)
{
	const struct mounting *there = mounts_find(tree, at);

	if (there == NULL)
		there = mounts_around(tree, at);
	return there != NULL && there->kind == MOUNT_MASK;
}

static bool
may_read(const struct mount_tree *tree, struct sbx_place at)
{
	return rule_index_allows(tree->binding->index, SBX_READ, at);
}

/* A rule about the name alone is one where its links lead. */
static void
add(struct mount_tree *tree, int index)
{
	struct followed found = follow(tree->arena, known[index].at);

	if (found.fd < 0)
		return;
	close(found.fd);
	if ((!may_read(tree, known[index].at) && !may_read(tree, found.at)) ||
	    is_masked(tree, found.at))
		return;
	found.fd = -1;
	mounts_add(tree, found.at, found.at)->kind = MOUNT_NAMES;
	tree->name_files.of[index] = found;
}

void
name_files_add(struct mount_tree *tree)
{
	if (!sbx_ways_names(tree->binding->blob, KERNEL_WHERE))
		return;
	for (int i = 0; i < NAME_FILES; i++)
		add(tree, i);
}

static int
index_of(const struct mount_tree *tree, struct sbx_place at)
{
	int index = NAME_FILES - 1;

	while (index > 0 &&
	    sbx_place_compare(tree->name_files.of[index].at, at) != 0)
		index--;
	return index;
}

/* --- their mounts --------------------------------------------------------- */

enum { ATTRIBUTES = MOUNT_ALWAYS | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC };

/* In the root, until the file is mounted: the kernel mounts nothing that has no
 * name. */
static const char own_name[] = ".sbx-names";

static int
make_file(int directory, fill_text *fill)
{
	char text[TEXT_SIZE];
	int fd = openat(directory, own_name,
	    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	size_t len;

	fill(text);
	len = strlen(text);
	if (fd >= 0 && write(fd, text, len) == (ssize_t)len)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int
in_root(const struct mount_tree *tree, fill_text *fill)
{
	int fd = make_file(tree->root, fill), mount;

	if (fd < 0)
		return -1;
	mount = copy_mount_as(fd, "", 0, ATTRIBUTES);
	close(fd);
	return mount;
}

/*
 * Where the root is the machine's, on a tmpfs that is there for a moment.  A
 * mount is copied only from where it is attached, and the old /proc is out of
 * sight by now.
 */
static int
apart(fill_text *fill)
{
	int root = new_mount("tmpfs", "mode", "0755", MOUNT_ALWAYS);
	int fd, mount = -1;

	if (root < 0)
		return -1;
	if (attach_mount(root, AT_FDCWD, "/proc") == 0) {
		fd = make_file(root, fill);
		if (fd >= 0) {
			mount = copy_mount_as(fd, "", 0, ATTRIBUTES);
			close(fd);
		}
		if (syscall(SYS_umount2, "/proc", 2 /* MNT_DETACH */) != 0)
			refuse("/proc", "cannot unmount what lies over it",
			    errno);
	}
	close(root);
	return mount;
}

int
name_file_mount(struct mount_tree *tree, const struct mounting *mounting)
{
	fill_text *fill = known[index_of(tree, mounting->at)].fill;

	return tree->mounts[0].at.len == 0 ? apart(fill) : in_root(tree, fill);
}

void
name_file_mounted(struct mount_tree *tree, const struct mounting *mounting,
    int mount)
{
	tree->name_files.of[index_of(tree, mounting->at)].fd = mount;
	unlinkat(tree->root, own_name, 0);
}

void
name_files_allow(const struct name_files *files, int ruleset)
{
	struct landlock_path_beneath_attr rule = {
		.allowed_access = 1 << 2 /* LANDLOCK_ACCESS_FS_READ_FILE */,
	};

	for (int i = 0; i < NAME_FILES; i++) {
		rule.parent_fd = files->of[i].fd;
		if (rule.parent_fd < 0)
			continue;
		if (landlock_add_rule(ruleset, LANDLOCK_RULE_PATH_BENEATH,
			&rule) != 0)
			refuse(known[i].at.path, "cannot allow to read it",
			    errno);
		close(rule.parent_fd);
	}
}
