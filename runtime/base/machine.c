/*
 * What the machine offers, and the level that follows from it.
 */
#include "runtime/base/kernel.h"

#include "format/text.h"
#include "runtime/base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* Below this ABI the filter of level full would allow what Landlock does not
 * restrict yet. */
enum { FULL_LEAST_ABI = 4 };

#ifdef SBX_TESTING
/*
 * The test build, which is never installed, can pretend to run on an older
 * kernel: a variable caps the ABI or takes a mechanism away.  Another pretends a
 * newer ABI, whose rights are said instead of granted.
 */
void
machine_pretend_ruleset(struct landlock_ruleset_attr *attr)
{
	static const char said[] = "test: a newer right is handled\n";
	static const uint64_t known = 0xffff;

	if ((attr->handled_access_fs & ~known) != 0 &&
	    write(STDERR_FILENO, said, sizeof said - 1) < 0)
		abort();
	attr->handled_access_fs &= known;
}

int
machine_pretend_rule(const struct landlock_path_beneath_attr *rule)
{
	static const char said[] = "test: a newer right is granted: ";
	char link[DESCRIPTOR_PATH_SIZE], path[SBX_MAX_PATH + 1];
	ssize_t len;

	descriptor_path(link, rule->parent_fd);
	len = readlink(link, path, sizeof path - 1);
	if (len < 0)
		return -1;
	path[len++] = '\n';
	return write(STDERR_FILENO, said, sizeof said - 1) > 0 &&
		write(STDERR_FILENO, path, (size_t)len) > 0 ?
	    0 :
	    -1;
}

static void
machine_pretend(struct machine *machine)
{
	const char *abi = getenv("SBX_TEST_ABI"),
		   *newer = getenv("SBX_TEST_NEWER_ABI");

	if (newer != NULL)
		machine->landlock_abi = atoi(newer);
	if (abi != NULL && atoi(abi) < machine->landlock_abi)
		machine->landlock_abi = atoi(abi);
	if (machine->landlock_abi == 0)
		machine->landlock_error = EOPNOTSUPP;
	if (getenv("SBX_TEST_NO_SECCOMP") != NULL)
		machine->seccomp = false;
	if (getenv("SBX_TEST_NO_NAMESPACES") != NULL)
		machine->namespaces = false;
}
#endif

void
machine_probe(struct machine *machine)
{
	uint32_t action = SECCOMP_RET_ERRNO;

	machine->landlock_abi = landlock_create_ruleset(NULL, 0,
	    LANDLOCK_CREATE_RULESET_VERSION);
	machine->landlock_error = machine->landlock_abi < 0 ? errno : 0;
	if (machine->landlock_abi < 0)
		machine->landlock_abi = 0;
	machine->namespaces = true;
	machine->seccomp = seccomp(SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
#ifdef SBX_TESTING
	machine_pretend(machine);
#endif
}

enum sbx_level
machine_level(const struct machine *machine)
{
	if (!machine->seccomp)
		return SBX_LEVEL_NONE;
	if (machine->namespaces && machine->landlock_abi >= FULL_LEAST_ABI)
		return SBX_LEVEL_FULL;
	return machine->landlock_abi > 0 ? SBX_LEVEL_STANDARD :
					   SBX_LEVEL_MINIMAL;
}

/* The first line of the map is "INSIDE OUTSIDE COUNT", and root is the least
 * that can be inside. */
bool
machine_counts_processes(void)
{
	char text[64];
	const char *stop;
	uint64_t outside;

	if (geteuid() != 0)
		return true;
	if (!file_read(AT_FDCWD, "/proc/self/uid_map", text, sizeof text))
		return false;
	stop = text + strspn(text, " ");
	if (*stop++ != '0')
		return false;
	stop += strspn(stop, " ");
	return sbx_decimal_read(stop, text + strlen(text), &outside) != NULL &&
	    outside != 0;
}

/* The next number of /proc/self/uid_map, and where it ends; NULL after the
 * last. */
static const char *
next_number(const char *text, uint64_t *number)
{
	text += strspn(text, " \n");
	return sbx_decimal_read(text, text + strlen(text), number);
}

/* A line of the map is "INSIDE OUTSIDE COUNT"; what has no room in the buffer
 * may be any line.  Before somebody writes the map it is empty, and hides all. */
static bool
hides(uint64_t user)
{
	enum { INSIDE, OUTSIDE, COUNT, FIELDS };
	char text[512];
	const char *at = text;
	uint64_t line[FIELDS];

	if (!file_read(AT_FDCWD, "/proc/self/uid_map", text, sizeof text) ||
	    strlen(text) == sizeof text - 1)
		return false;
	for (unsigned field = 0; *at != '\0'; field = (field + 1) % FIELDS) {
		at = next_number(at, &line[field]);
		if (at == NULL)
			return false;
		at += strspn(at, " \n");
		if (field == COUNT && line[INSIDE] <= user &&
		    user - line[INSIDE] < line[COUNT])
			return false;
	}
	return true;
}

bool
machine_hides_owners(void)
{
	return hides(OVERFLOW_UID);
}

bool
machine_hides_root(void)
{
	return hides(0);
}

const char *
level_name(enum sbx_level level)
{
	static const char *const names[] = {
		[SBX_LEVEL_NONE] = "none",
		[SBX_LEVEL_MINIMAL] = "minimal",
		[SBX_LEVEL_STANDARD] = "standard",
		[SBX_LEVEL_FULL] = "full",
	};

	return names[level];
}
