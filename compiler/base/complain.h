/*
 * What sbxc says of itself and of its command line, and what it ends with.
 */
#ifndef SBX_COMPLAIN_H
#define SBX_COMPLAIN_H

/* What sbxc ends with. */
enum exit_status {
	EXIT_CLEAN,
	EXIT_POLICY,  /* the policy is at fault; why: denied */
	EXIT_USAGE,   /* called wrongly */
	EXIT_TROUBLE, /* a file is missing, no memory, no room on the disk */
};

/* One line on standard error: "sbxc: ...". */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same about a wrong command line; returns EXIT_USAGE. */
enum exit_status misused(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
