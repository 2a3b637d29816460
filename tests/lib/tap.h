/*
 * The Test Anything Protocol for tests written in C: one line a case, the plan
 * at the end, so that a test that dies early is seen to have died.
 */
#ifndef SBX_TAP_H
#define SBX_TAP_H

#include <dirent.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tap {
	unsigned count, failed;
};

__attribute__((format(printf, 3, 0))) static inline void
tap_line(struct tap *tap, bool held, const char *format, va_list args)
{
	tap->count++;
	tap->failed += !held;
	printf("%sok %u - ", held ? "" : "not ", tap->count);
	vprintf(format, args);
}

#ifdef __GLIBC__
/* What malloc(3) gives is no zeros, so that what nobody sets is seen. */
__attribute__((constructor)) static inline void
tap_perturb(void)
{
	mallopt(M_PERTURB, 0x5a);
}
#endif

/* One case; returns whether it held. */
__attribute__((format(printf, 3, 4))) static inline bool
tap_ok(struct tap *tap, bool held, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tap_line(tap, held, format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	return held;
}

/* A case that cannot be tried here: a failure where SBX_MUST_RUN=1. */
__attribute__((format(printf, 3, 4))) static inline void
tap_skip(struct tap *tap, const char *why, const char *format, ...)
{
	const char *must = getenv("SBX_MUST_RUN");
	bool allowed = must == NULL || strcmp(must, "1") != 0;
	va_list args;

	va_start(args, format);
	tap_line(tap, allowed, format, args);
	va_end(args);
	printf(" # %s%s\n", allowed ? "SKIP " : "", why);
	fflush(stdout);
}

/* Whether the machine gives level full, by its own word; a skip if not. */
static inline bool
tap_has_full(struct tap *tap)
{
	const char *sbxrun = getenv("SBXRUN");
	char command[512], said[4096];
	FILE *stream;
	size_t len = 0;

	snprintf(command, sizeof command, "'%s' --status --json",
	    sbxrun != NULL ? sbxrun : "sbxrun");
	stream = popen(command, "r");
	if (stream != NULL) {
		len = fread(said, 1, sizeof said - 1, stream);
		pclose(stream);
	}
	said[len] = '\0';
	if (strstr(said, "\"level\":\"full\"") != NULL)
		return true;
	tap_skip(tap, "this machine does not give it", "level full");
	return false;
}

/* What a test needs to be made before it can ask anything. */
static inline void
tap_must(bool done, const char *what)
{
	if (!done) {
		perror(what);
		exit(1);
	}
}

/* How many descriptors are open, and always three more: to compare with. */
static inline int
tap_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	int count = 0;

	while (directory != NULL && readdir(directory) != NULL)
		count++;
	closedir(directory);
	return count;
}

/* As many rounds as are asked for, of the usual count: $TEST_ROUNDS per cent,
 * but one at least. */
static inline unsigned
tap_rounds(unsigned count)
{
	const char *percent = getenv("TEST_ROUNDS");
	unsigned long long rounds = count;

	if (percent != NULL && *percent != '\0')
		rounds = rounds * strtoul(percent, NULL, 10) / 100;
	return rounds > 0 ? (unsigned)rounds : 1;
}

/* The plan; returns the exit status. */
static inline int
tap_done(const struct tap *tap)
{
	printf("1..%u\n", tap->count);
	return tap->failed != 0;
}

#endif
