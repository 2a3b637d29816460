/*
 * The operations of the probe, in tables by what they are about, and what they
 * share.
 */
#ifndef SBX_TEST_PROBE_H
#define SBX_TEST_PROBE_H

#include <stddef.h>
#include <sys/types.h>

#define countof(array) (sizeof(array) / sizeof *(array))

enum { MAX_WORDS = 64 };

/* How an operation ended: 0, an errno, or one of these. */
enum {
	SAID = -1,        /* the operation printed its own line */
	SIGNALLED = -256, /* minus the signal's number */
};

/* Tries an operation, of which the words are; returns how it ended. */
typedef int try_function(char **words, int count);

struct operation {
	const char *name; /* NULL ends a table */
	int least, most;  /* words after the name */
	try_function *run;
};

extern const struct operation file_operations[];
extern const struct operation socket_operations[];
extern const struct operation interface_operations[];
extern const struct operation process_operations[];
extern const struct operation other_operations[];
extern const struct operation object_operations[];
extern const struct operation listener_operations[];
extern const struct operation metadata_operations[];
extern const struct operation spawn_operations[];
extern const struct operation internet_operations[];

struct name {
	const char *name;
	unsigned long value;
};

/* The value of a name, or the number that a word is. */
unsigned long look_up(const struct name *names, size_t count, const char *word);

#define LOOK_UP(names, word) look_up((names), countof(names), (word))

__attribute__((noreturn)) void misuse(const char *what, const char *word);

unsigned long number(const char *word);

const char *errno_name(int error);

/* One write for a line, at once: the next operation may be our last. */
void say(const char *line);

int result(long value);

/* Closes what a successful call opened. */
int opened(long fd);

/* The words parent, init and self, or a number. */
pid_t process(const char *word);

int wait_for(pid_t pid);

/* Runs an operation in a child; errno values fit into an exit status. */
int in_child(try_function *tried, char **words, int count);

/* A child that sleeps until it is killed, for others to act upon. */
pid_t sleeper(void);

void put_to_rest(pid_t pid);

#endif
