/*
 * Files of ours in the view, in place of the machine's.
 *
 * Those by which programs look up names:
 *
 * Where names lead out of a network of the sandbox's own, its resolver listens
 * on 127.0.0.1.  Files of ours that fit this cover those of the machine:
 * /etc/resolv.conf, and /etc/hosts, in which only the lines about this machine
 * are left, since the addresses in the others lead nowhere inside.  On many
 * machines /etc/resolv.conf is a link into /run, which a view does not show:
 * then our file lies where the link leads.
 *
 * And those of root's that a program believes only if they are root's or its
 * user's.  In a user namespace root's belong to nobody, and ssh ends where
 * /etc/ssh/ssh_config.d has one.  So these are copies, which are the user's.
 */
#include "runtime/apply/mounts.h"

#include "format/model.h"
#include "runtime/base/files.h"
#include "runtime/base/out.h"

#include <string.h>
#include <sys/stat.h>

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

/* What Fedora's ssh_config.d includes. */
#define CRYPTO_POLICY "/etc/crypto-policies/back-ends/openssh.config"

static void
fill_crypto_policy(char text[TEXT_SIZE])
{
	file_read(AT_FDCWD, CRYPTO_POLICY, text, TEXT_SIZE);
}

static const struct {
	struct sbx_place at;
	fill_text *fill; /* NULL: a directory, with copies of its files */
	bool owned;      /* wanted for its owner, and not for names */
} known[NAME_FILES] = {
	{ { "/etc/resolv.conf", 16 }, fill_resolver, false },
	{ { "/etc/hosts", 10 }, fill_hosts, false },
	{ { "/etc/ssh/ssh_config.d", 21 }, NULL, true },
	{ { CRYPTO_POLICY, sizeof CRYPTO_POLICY - 1 }, fill_crypto_policy,
	    true },
};

enum { ATTRIBUTES = MOUNT_ALWAYS | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC };

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

/* Whether a directory has files; what is none stands for itself. */
static bool
has_files(struct sbx_place at)
{
	struct directory directory;
	int fd = open_place(at, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
	bool has = fd < 0;

	if (fd >= 0) {
		directory_begin(&directory, fd);
		has = directory_next(&directory) != NULL;
		close(fd);
	}
	return has;
}

/* A rule about the name alone is one where its links lead. */
static void
add(struct mount_tree *tree, int index)
{
	struct followed found = follow(tree->arena, known[index].at);

	if (found.fd < 0)
		return;
	close(found.fd);
	if (known[index].fill == NULL && !has_files(found.at))
		return;
	if ((!may_read(tree, known[index].at) && !may_read(tree, found.at)) ||
	    is_masked(tree, found.at))
		return;
	found.fd = -1;
	mounts_add(tree, found.at, found.at)->kind = MOUNT_NAMES;
	tree->name_files.of[index] = found;
}

/* Where TLS is ended, its authority stands behind those of the machine. */
static void
add_trust(struct mount_tree *tree)
{
	struct name_files *files = &tree->name_files;
	struct mounting *mounting;

	if (files->roots.len == 0 || !may_read(tree, files->roots) ||
	    is_masked(tree, files->roots))
		return;
	mounting = mounts_add(tree, files->roots, files->bundle);
	mounting->kind = MOUNT_BIND;
	mounting->from = files->bundle;
	mounting->attributes = ATTRIBUTES;
}

void
name_files_add(struct mount_tree *tree)
{
	bool names = sbx_ways_names(tree->binding->blob, KERNEL_WHERE);

	for (int i = 0; i < NAME_FILES; i++) {
		/* Root's are root's where the user is root. */
		if (known[i].owned ? geteuid() != 0 : names)
			add(tree, i);
	}
	add_trust(tree);
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

/* False: it is longer than any settings, or cannot be read. */
static bool
copy_bytes(int from, int to)
{
	enum { LONGEST = 1 << 20 };
	char bytes[TEXT_SIZE];
	size_t copied = 0;
	ssize_t len = -1;

	while (from >= 0 && copied < LONGEST &&
	    (len = read(from, bytes, sizeof bytes)) > 0) {
		if (write(to, bytes, (size_t)len) != len)
			return false;
		copied += (size_t)len;
	}
	return len == 0;
}

/* A copy of one file; what is none, or is denied, is left out. */
static void
copy_file(struct mount_tree *tree, int to, struct sbx_place directory,
    const char *name)
{
	static const struct sbx_place slash = { "/", 1 };
	struct sbx_place at = arena_join(tree->arena,
	    arena_join(tree->arena, directory, slash), sbx_place_of(name));
	struct followed found = follow(tree->arena, at);
	struct stat status;
	int from, fd;

	if (found.fd < 0)
		return;
	close(found.fd);
	if (!may_read(tree, at) || !may_read(tree, found.at) ||
	    is_masked(tree, found.at) || lstat(found.at.path, &status) != 0 ||
	    !S_ISREG(status.st_mode))
		return;
	fd = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		refuse(at.path, "cannot copy it for the view", errno);
	from = open_place(found.at, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (!copy_bytes(from, fd)) {
		warn_about(at.path,
		    "it is not in the view: it cannot be read, "
		    "or is longer than 1 MiB",
		    from < 0 ? errno : 0);
		unlinkat(to, name, 0);
	}
	if (from >= 0)
		close(from);
	close(fd);
}

/* A tmpfs with copies of a directory's files. */
static int
copies(struct mount_tree *tree, struct sbx_place at)
{
	static const struct mount_attributes shut = {
		.set = MOUNT_ATTR_RDONLY,
	};
	struct directory directory;
	const struct entry *entry;
	int from = open_place(at, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
	int mount;

	if (from < 0)
		return -1;
	mount = new_mount("tmpfs", "mode", "0755",
	    MOUNT_ALWAYS | MOUNT_ATTR_NOEXEC);
	directory_begin(&directory, from);
	while (mount >= 0 && (entry = directory_next(&directory)) != NULL)
		copy_file(tree, mount, at, entry->name);
	close(from);
	if (mount >= 0 && set_mount(mount, "", AT_EMPTY_PATH, &shut) != 0) {
		close(mount);
		return -1;
	}
	return mount;
}

int
name_file_mount(struct mount_tree *tree, struct mounting *mounting)
{
	fill_text *fill = known[index_of(tree, mounting->at)].fill;

	mounting->directory = fill == NULL;
	if (fill == NULL)
		return copies(tree, mounting->at);
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
	struct landlock_path_beneath_attr rule = { .parent_fd = -1 };

	for (int i = 0; i < NAME_FILES; i++) {
		rule.parent_fd = files->of[i].fd;
		rule.allowed_access = 1 << 2 /* LANDLOCK_ACCESS_FS_READ_FILE */;
		if (known[i].fill == NULL)
			rule.allowed_access |= 1
			    << 3 /* LANDLOCK_ACCESS_FS_READ_DIR */;
		if (rule.parent_fd < 0)
			continue;
		if (landlock_add_rule(ruleset, LANDLOCK_RULE_PATH_BENEATH,
			&rule) != 0)
			refuse(known[i].at.path, "cannot allow to read it",
			    errno);
		close(rule.parent_fd);
	}
}
