/*
 * What sbxc says about itself and about its command line, and its exit
 * statuses.
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

/* The same for a wrong command line; returns EXIT_USAGE. */
enum exit_status misused(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
