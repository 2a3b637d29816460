/*
 * The last step: becoming the command.
 */
#ifndef SBX_EXECUTE_H
#define SBX_EXECUTE_H

#include "runtime/apply/environment.h"

/*
 * Executes argv[0] as execvp(3) would, looked for in the sandbox's PATH, from
 * inside the sandbox.  argv[-1] may be overwritten.  Does not return: ends with
 * 127 if the command is not found, 126 if it cannot be executed.  The key is
 * that of `deny spawn` (spawn.h), or 0; `elsewhere` is where the command is
 * outside (elsewhere.h), or NULL.
 */
void execute(char **argv, struct environment *environment, uint64_t key,
    const char *elsewhere) __attribute__((noreturn));

/* The same without an end: returns an errno.  `dirs` is the PATH, or NULL.
 * execute_fault() puts it in words; it looks at the sandbox's files. */
int execute_try(char **argv, char **variables, const char *dirs);
const char *execute_fault(const char *name, int error);

#endif
