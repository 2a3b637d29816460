/*
 * Modes, owners, times and extended attributes, which Landlock does not hold:
 * what the policy lets the command write it may change these of as well.
 *
 * The system calls differ in how they name a file and in where their values
 * are; a table says so.  The set-user-ID bit is the filter's: the mode is an
 * argument, and what it refuses does not come here.  The set-group-ID bit of a
 * directory only gives the group of the directory to what is made there.
 *
 * In a user namespace the kernel answers EINVAL for an owner that has no number
 * there, and programs expect EPERM.  The user's other groups have none either, and
 * all look like nobody's: so owners and groups are changed from outside at every
 * level.
 */
#include "runtime/base/files.h"
#include "runtime/listen/answers.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

enum {
	NAME_SIZE = 256,
	VALUE_SIZE = 65536,
	MICROSECONDS = 1000000,
	TEXT_SIZE = SBX_MAX_PATH + 1,
};

/* How a file is named: by a path; by a descriptor; by a path below one, and
 * flags. */
enum naming { BY_PATH, BY_LINK, BY_DESCRIPTOR, BELOW, BELOW_WITH_FLAGS };

enum change { MODE, OWNER, SECONDS, MICROS, NANOS, SET, SET_AT, REMOVE };

static const struct layout {
	int number;
	uint8_t naming; /* the first argument, or the first two */
	uint8_t flags;  /* which argument they are */
	uint8_t change;
	uint8_t value; /* the first argument of the values */
} layouts[] = {
	{ SYS_chmod, BY_PATH, 0, MODE, 1 },
	{ SYS_fchmod, BY_DESCRIPTOR, 0, MODE, 1 },
	{ SYS_fchmodat, BELOW, 0, MODE, 2 },
	{ SYS_fchmodat2, BELOW_WITH_FLAGS, 3, MODE, 2 },
	{ SYS_chown, BY_PATH, 0, OWNER, 1 },
	{ SYS_fchown, BY_DESCRIPTOR, 0, OWNER, 1 },
	{ SYS_lchown, BY_LINK, 0, OWNER, 1 },
	{ SYS_fchownat, BELOW_WITH_FLAGS, 4, OWNER, 2 },
	{ SYS_utime, BY_PATH, 0, SECONDS, 1 },
	{ SYS_utimes, BY_PATH, 0, MICROS, 1 },
	{ SYS_futimesat, BELOW, 0, MICROS, 2 },
	{ SYS_utimensat, BELOW_WITH_FLAGS, 3, NANOS, 2 },
	{ SYS_setxattr, BY_PATH, 0, SET, 1 },
	{ SYS_lsetxattr, BY_LINK, 0, SET, 1 },
	{ SYS_fsetxattr, BY_DESCRIPTOR, 0, SET, 1 },
	{ SYS_setxattrat, BELOW_WITH_FLAGS, 2, SET_AT, 3 },
	{ SYS_removexattr, BY_PATH, 0, REMOVE, 1 },
	{ SYS_lremovexattr, BY_LINK, 0, REMOVE, 1 },
	{ SYS_fremovexattr, BY_DESCRIPTOR, 0, REMOVE, 1 },
	{ SYS_removexattrat, BELOW_WITH_FLAGS, 2, REMOVE, 3 },
};

/* What the caller wants, read once. */
struct wish {
	int file; /* O_PATH */
	const uint64_t *args;
	bool now;
	struct timespec times[2];
	char name[NAME_SIZE];
	uint32_t size, flags;
	char *value;
};

static const struct layout *
layout_of(int number)
{
	for (size_t i = 0; i < countof(layouts); i++) {
		if (layouts[i].number == number)
			return &layouts[i];
	}
	return NULL;
}

/* --- the file ------------------------------------------------------------- */

static int
open_descriptor(const struct caller *caller, int fd)
{
	return fd == AT_FDCWD ? caller_directory(caller) :
				caller_descriptor(caller, fd);
}

/* Without a path it is the descriptor itself, which utimensat(2), futimesat(2)
 * and, with AT_EMPTY_PATH, newer kernels take for all. */
static int
open_below(const struct caller *caller, const struct layout *layout)
{
	const uint64_t *args = caller->call.args;
	int flags = layout->naming == BELOW ? 0 : (int)args[layout->flags];
	int directory = (int)args[0], error;
	char path[TEXT_SIZE];

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if (args[1] == 0 &&
	    (layout->change == NANOS || layout->change == MICROS ||
		(flags & AT_EMPTY_PATH)))
		return open_descriptor(caller, directory);
	error = caller_text(caller, args[1], path, sizeof path);
	if (error != 0)
		return error;
	if (*path == '\0' && (flags & AT_EMPTY_PATH))
		return open_descriptor(caller, directory);
	return place_open(caller, directory, path, flags);
}

static int
open_file(const struct caller *caller, const struct layout *layout)
{
	const uint64_t *args = caller->call.args;
	char path[TEXT_SIZE];
	int error;

	if (layout->naming == BY_DESCRIPTOR)
		return caller_descriptor(caller, (int)args[0]);
	if (layout->naming >= BELOW)
		return open_below(caller, layout);
	error = caller_text(caller, args[0], path, sizeof path);
	if (error != 0)
		return error;
	return place_open(caller, AT_FDCWD, path,
	    layout->naming == BY_LINK ? AT_SYMLINK_NOFOLLOW : 0);
}

/* --- the values ----------------------------------------------------------- */

/* As pairs of integers; the second of each is a part of a second. */
static int
read_times(const struct caller *caller, uint64_t address, int64_t parts,
    struct wish *wish)
{
	int64_t pairs[4];
	int error = caller_read(caller, address, pairs, sizeof pairs);

	for (int i = 0; i < 2 && error == 0; i++) {
		wish->times[i].tv_sec = pairs[2 * i];
		wish->times[i].tv_nsec = pairs[2 * i + 1];
		if (parts == 0)
			continue;
		if (pairs[2 * i + 1] < 0 || pairs[2 * i + 1] >= parts)
			return -EINVAL;
		wish->times[i].tv_nsec *= 1000000000 / parts;
	}
	return error;
}

/* utime(2) has no parts. */
static int
read_seconds(const struct caller *caller, uint64_t address, struct wish *wish)
{
	int64_t seconds[2] = { 0, 0 };
	int error = caller_read(caller, address, seconds, sizeof seconds);

	for (int i = 0; i < 2; i++)
		wish->times[i].tv_sec = seconds[i];
	return error;
}

static int
read_name(const struct caller *caller, uint64_t address, struct wish *wish)
{
	int error = caller_text(caller, address, wish->name, sizeof wish->name);

	return error == -ENAMETOOLONG || (error == 0 && *wish->name == '\0') ?
	    -ERANGE :
	    error;
}

static int
read_value(const struct caller *caller, uint64_t address, uint64_t size,
    struct wish *wish)
{
	if (size > VALUE_SIZE)
		return -E2BIG;
	wish->size = (uint32_t)size;
	return size > 0 ? caller_read(caller, address, wish->value, size) : 0;
}

/* struct xattr_args of setxattrat(2). */
static int
read_value_at(const struct caller *caller, struct wish *wish)
{
	struct {
		uint64_t value;
		uint32_t size, flags;
	} args;
	int error;

	if (caller->call.args[5] != sizeof args)
		return -EINVAL;
	error = caller_read(caller, caller->call.args[4], &args, sizeof args);
	if (error != 0)
		return error;
	wish->flags = args.flags;
	return read_value(caller, args.value, args.size, wish);
}

static int
read_attribute(const struct caller *caller, const struct layout *layout,
    struct wish *wish)
{
	const uint64_t *args = wish->args;
	int error = read_name(caller, args[0], wish);

	if (error != 0 || layout->change == REMOVE)
		return error;
	if (layout->change == SET_AT)
		return read_value_at(caller, wish);
	wish->flags = (uint32_t)args[3];
	return read_value(caller, args[1], args[2], wish);
}

static int
read_values(const struct caller *caller, const struct layout *layout,
    struct wish *wish)
{
	uint64_t address = wish->args[0];

	switch ((enum change)layout->change) {
	case MODE:
	case OWNER:
		return 0;
	case SECONDS:
	case MICROS:
	case NANOS:
		wish->now = address == 0;
		if (wish->now)
			return 0;
		if (layout->change == SECONDS)
			return read_seconds(caller, address, wish);
		return read_times(caller, address,
		    layout->change == MICROS ? MICROSECONDS : 0, wish);
	case SET:
	case SET_AT:
	case REMOVE:
		return read_attribute(caller, layout, wish);
	}
	return -EPERM;
}

/* --- the change ----------------------------------------------------------- */

/*
 * Inside, a group of the user's without a number there is called as nobody's.  If
 * the user has one such group, it is that: what copies files gives them the group
 * that they seem to have.
 */
static gid_t
group_meant(const struct caller *caller, gid_t group)
{
	enum { NOBODY = 65534 };
	gid_t groups[64], meant = group;
	int count = group == NOBODY && group != getegid() &&
		caller->listening->view ?
	    getgroups(countof(groups), groups) :
	    0;

	for (int i = 0; i < count; i++) {
		if (groups[i] == getegid() || groups[i] == meant)
			continue;
		if (meant != group)
			return group;
		meant = groups[i];
	}
	return meant;
}

static int
change_mode(int file, mode_t mode)
{
	char link[DESCRIPTOR_PATH_SIZE];

	if (syscall(SYS_fchmodat2, file, "", mode, AT_EMPTY_PATH) == 0)
		return 0;
	if (errno != ENOSYS)
		return -1;
	/* Before Linux 6.6. */
	descriptor_path(link, file);
	return chmod(link, mode);
}

static int
change_attribute(const struct layout *layout, const struct wish *wish)
{
	char link[DESCRIPTOR_PATH_SIZE];

	descriptor_path(link, wish->file);
	if (layout->change == REMOVE)
		return removexattr(link, wish->name);
	return setxattr(link, wish->name, wish->value, wish->size,
	    (int)wish->flags);
}

static int
change(const struct caller *caller, const struct layout *layout,
    const struct wish *wish)
{
	switch ((enum change)layout->change) {
	case MODE:
		return change_mode(wish->file, (mode_t)wish->args[0]);
	case OWNER:
		return fchownat(wish->file, "", (uid_t)wish->args[0],
		    group_meant(caller, (gid_t)wish->args[1]), AT_EMPTY_PATH);
	case SECONDS:
	case MICROS:
	case NANOS:
		return (int)syscall(SYS_utimensat, wish->file, "",
		    wish->now ? NULL : wish->times, AT_EMPTY_PATH);
	case SET:
	case SET_AT:
	case REMOVE:
		return change_attribute(layout, wish);
	}
	errno = EPERM;
	return -1;
}

/*
 * Devices are everybody's, and what may be written there is what they pass on.
 * A terminal belongs to who uses it: script(1) and mesg(1) change its mode.
 * Pseudoterminals have the majors 136 to 143 (admin-guide/devices.txt).
 */
static bool
is_device_of_all(int file)
{
	struct stat status;

	if (fstat(file, &status) != 0 || S_ISBLK(status.st_mode))
		return true;
	return S_ISCHR(status.st_mode) &&
	    (major(status.st_rdev) < 136 || major(status.st_rdev) > 143);
}

/* What a process without capabilities may do: root's here has more of them. */
static bool
may_own(const struct caller *caller, const struct stat *status, uid_t owner,
    gid_t group)
{
	return caller_is_equal(caller) ||
	    (status->st_uid == geteuid() &&
		(owner == (uid_t)-1 || owner == status->st_uid) &&
		(group == (gid_t)-1 || group == status->st_gid ||
		    group == getegid()));
}

/* Root's may have fewer capabilities than this process.  The bit of a file would
 * lend whoever runs it the group. */
static bool
may_change(const struct caller *caller, const struct layout *layout,
    const struct wish *wish)
{
	struct stat status;

	if (layout->change == OWNER)
		return fstat(wish->file, &status) == 0 &&
		    may_own(caller, &status, (uid_t)wish->args[0],
			group_meant(caller, (gid_t)wish->args[1]));
	if (layout->change != MODE || (wish->args[0] & S_ISGID) == 0 ||
	    caller->listening->set_id)
		return caller_is_equal(caller);
	return fstat(wish->file, &status) == 0 && S_ISDIR(status.st_mode) &&
	    (caller_is_equal(caller) ||
		(status.st_uid == geteuid() && status.st_gid == getegid()));
}

static int
judge_wish(const struct caller *caller, const struct layout *layout,
    struct wish *wish)
{
	int error;

	wish->file = open_file(caller, layout);
	if (wish->file < 0)
		return wish->file;
	error = read_values(caller, layout, wish);
	if (error != 0)
		return error;
	return may_change(caller, layout, wish) &&
		!is_device_of_all(wish->file) &&
		place_is_writable(caller, wish->file) && caller_waits(caller) ?
	    0 :
	    -EPERM;
}

int
answer_metadata(const struct caller *caller)
{
	const struct layout *layout = layout_of(caller->call.number);
	char value[VALUE_SIZE];
	struct wish wish = { .value = value };
	int error;

	if (layout == NULL)
		return -EPERM;
	wish.args = caller->call.args + layout->value;
	error = judge_wish(caller, layout, &wish);
	if (error == 0 && change(caller, layout, &wish) != 0)
		error = -errno;
	if (wish.file >= 0)
		close(wish.file);
	return error;
}
