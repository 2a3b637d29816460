/*
 * The machines that filters are made for, and the system calls that they have.
 */
#ifndef SBX_SYSCALLS_H
#define SBX_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One machine: a line of tables/arches.def. */
struct arch {
	const char *name;      /* "x86_64" */
	uint32_t audit;        /* AUDIT_ARCH_* */
	uint32_t compat_audit; /* its 32-bit machine: every call is ENOSYS */
	uint32_t scmp;         /* SCMP_ARCH_* */
	uint8_t platforms;     /* its bit of enum sbx_platform */
	uint32_t number_limit; /* system calls from here on answer ENOSYS */
};

extern const struct arch arches[];
extern const size_t arch_count;

/* The machine of this name, or NULL. */
const struct arch *arch_find(const char *name);

/*
 * Names.  The number of a system call on a machine, or -1 where it has none;
 * whether any machine has it; the members of a group, NULL-terminated, or NULL
 * if there is no such group; the nearest known name of either kind.
 */
int syscall_number(const struct arch *arch, const char *name);
bool syscall_is_known(const char *name);
const char *const *syscall_group(const char *name);
const char *syscall_nearest(const char *name, bool group);

/* The names of all numbers below arch->number_limit, NULL where none is. */
void syscall_names(const struct arch *arch, const char **names);

#endif
