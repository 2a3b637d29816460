/*
 * Names of system calls, their numbers on each machine and their groups.
 *
 * No number stands in this tree but for the few calls that are younger than
 * libseccomp (tables/newer.def): a name is resolved by libseccomp, for the
 * machine that the filter is for and not for the one that compiles.  It gives
 * negative "pseudo" numbers to what a machine lacks, and -1 to what it has
 * never heard of; both are "none" here and never reach a filter.
 *
 * The list of all names is the group @known, whose strings are static; a test
 * holds it against everything that libseccomp can name.
 */
#include "compiler/tables/tables.h"

#include "compiler/base/base.h"
#include "format/blob.h"

#include <seccomp.h>

#include <linux/audit.h>
#include <string.h>

struct group {
	const char *name;
	const char *const *members; /* NULL-terminated */
};

/* A system call that libseccomp does not know. */
struct newer {
	const char *name;
	int numbers[2]; /* in the order of arches */
};

const struct arch arches[] = {
#define ARCH(text, native, compat, library, bit, limit) \
	{ \
		.name = text, \
		.audit = native, \
		.compat_audit = compat, \
		.scmp = library, \
		.platforms = bit, \
		.number_limit = limit, \
	},
#include "compiler/tables/arches.def"
#undef ARCH
};
const size_t arch_count = countof(arches);

const struct arch *
arch_find(const char *name)
{
	for (size_t i = 0; i < arch_count; i++) {
		if (strcmp(arches[i].name, name) == 0)
			return &arches[i];
	}
	return NULL;
}

static const struct group groups[] = {
#define GROUP(text, about, ...) \
	{ text, (const char *const[]){ __VA_ARGS__, NULL } },
#include "compiler/tables/groups.def"
#undef GROUP
};

static const struct newer newer[] = {
#define NEWER(text, x86_64, aarch64) { text, { x86_64, aarch64 } },
#include "compiler/tables/newer.def"
#undef NEWER
};
_Static_assert(countof(arches) == countof(newer->numbers),
    "newer.def has a column for each machine");

static const struct newer *
newer_find(const char *name)
{
	for (size_t i = 0; i < countof(newer); i++) {
		if (strcmp(newer[i].name, name) == 0)
			return &newer[i];
	}
	return NULL;
}

int
syscall_number(const struct arch *arch, const char *name)
{
	int number = seccomp_syscall_resolve_name_arch(arch->scmp, name);
	const struct newer *call;

	if (number >= 0)
		return number;
	call = newer_find(name);
	return call != NULL ? call->numbers[arch - arches] : -1;
}

static const char *const *
known_names(void)
{
	const char *const *names = syscall_group("known");

	if (names == NULL)
		bug("groups.def has no @known");
	return names;
}

bool
syscall_is_known(const char *name)
{
	const char *const *known = known_names();

	while (*known != NULL && strcmp(*known, name) != 0)
		known++;
	return *known != NULL;
}

const char *const *
syscall_group(const char *name)
{
	for (size_t i = 0; i < countof(groups); i++) {
		if (strcmp(groups[i].name, name) == 0)
			return groups[i].members;
	}
	return NULL;
}

const char *
syscall_nearest(const char *name, bool group)
{
	const char *const *known = known_names();
	const char *names[countof(groups)];
	size_t count = 0;

	if (!group) {
		while (known[count] != NULL)
			count++;
		return nearest_name(name, known, count);
	}
	for (; count < countof(groups); count++)
		names[count] = groups[count].name;
	return nearest_name(name, names, count);
}

void
syscall_names(const struct arch *arch, const char **names)
{
	memset(names, 0, arch->number_limit * sizeof *names);
	for (const char *const *known = known_names(); *known != NULL;
	     known++) {
		int number = syscall_number(arch, *known);

		if (number >= 0 && (uint32_t)number < arch->number_limit &&
		    names[number] == NULL)
			names[number] = *known;
	}
}
