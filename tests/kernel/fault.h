/*
 * Between the parts of fault.c: one run of the loader.
 */
#ifndef SBX_TESTS_FAULT_H
#define SBX_TESTS_FAULT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	MAX_NUMBER = 512,
	MAX_PROCESSES = 128,
	MAX_CALLS = 8192,
};

struct call {
	int process, number, time;
	uint64_t site; /* who makes it, as fault_site() says */
	bool tried;
};

struct process {
	pid_t pid; /* 0: over, or not there yet */
	bool counted, is_command, failing;
	int times[MAX_NUMBER];
};

/* One run: what is to fail, and what was seen. */
struct run {
	const char *begin; /* counted is from a file whose name ends so; "":
			    * from the start of the program */
	struct call fault; /* process -1: nothing */
	int error;
	bool follows; /* what is executed is counted, too */
	bool hit, hung, began;
	int status;
	struct process processes[MAX_PROCESSES];
	int process_count;
	struct call *calls; /* where they are written down, or NULL */
	int call_count;
	char said[4096];
	char stuck[512]; /* if it hung: in which calls */
};

/* Carries a run out: what it says on standard error is kept. */
void trace(char **command, struct run *run);

/* Which place of a program makes the call before which it is stopped: the same
 * number for the same functions that have called each other, in one run.  Without
 * frame pointers it is less sure: then there are more places. */
uint64_t fault_site(pid_t pid, uint64_t stack);

/* Ends the program, with errno. */
void die(const char *what) __attribute__((noreturn));

#endif
