/*
 * What every policy gets of system calls: the baseline, which denies some, and
 * the calls that are decided by their arguments.
 */
#ifndef SBX_BASELINE_H
#define SBX_BASELINE_H

#include "compiler/base/map.h"

#include <stdbool.h>

/* Values of SECCOMP_RET_*, as the program returns them. */
enum {
	FILTER_ALLOW = 0x7fff0000,
	FILTER_ERRNO = 0x00050000,  /* | errno of the target machine */
	FILTER_NOTIFY = 0x7fc00000, /* sbxrun's supervisor answers the call */
	FILTER_KILL = (int)0x80000000,
};
#define FILTER_DENY(error) (FILTER_ERRNO | (error))

/* Whether an argument's low 32 bits, masked, equal a value.  seccomp sees 64
 * bits, but the kernel uses only 32 of an int argument, so the high half must
 * not matter. */
struct filter_test {
	uint8_t arg;
	uint32_t mask, value;
};

/* If all tests hold, the action is taken. */
struct filter_clause {
	struct filter_test tests[3];
	uint8_t test_count;
	uint32_t action;
};

/* Circumstances in which an argument rule counts. */
enum circumstance {
	IN_ANY_CASE = 0,
	WITH_INTERNET = 1,    /* all of a network is open: whichever it is */
	WITH_TCP = 2,         /* it allows ports, and Landlock holds them */
	WITH_UNIX = 4,        /* something confines AF_UNIX sockets */
	WITH_NETLINK = 8,     /* something confines route netlink */
	WITHOUT_LISTEN = 16,  /* the policy allows no port to listen on */
	WITHOUT_UNSHARE = 32, /* namespaces may not be made */
	WITH_VIEW = 64,       /* level full: mounts and namespaces of its own */
	WITHOUT_VIEW = 128,   /* a level below */
	WITH_CONNECT = 256,   /* the supervisor connects AF_UNIX sockets */
	WITH_LISTEN = WITH_CONNECT, /* and knows which servers are inside */
	WITH_METADATA = 512, /* the supervisor changes modes, owners, times */
	WITH_OBJECTS = 1024, /* the supervisor makes System V's objects */
	WITHOUT_OBJECTS = 2048, /* a level below full, and it does not */
	WITH_WATCHING = 8192,   /* the supervisor adds watches of inotify */
	WITH_UNNAMED = 4096,    /* the supervisor makes unnamed files */
	WITH_ANSWERS = 16384,   /* the supervisor answers some calls */
	WITH_GROUP_BIT = 32768, /* and gives directories the set-group-ID bit */
};

/* A call that its arguments decide, and what it gets if no clause holds. */
struct argument_call {
	const char *name;
	uint16_t when; /* enum circumstance, all of them */
	bool lifted;   /* an `allow syscalls` of the call lifts it */
	uint32_t otherwise;
	const char *reason;
};

struct argument_rule {
	const char *name;
	uint16_t when;
	struct filter_clause clause;
};

/* A call that `deny spawn` denies, unless its clause holds. */
struct spawn_call {
	const char *name;
	int error;
	struct filter_clause clause;
};
extern const struct spawn_call spawn_calls[];
extern const size_t spawn_call_count;

/* A call that is handed to the supervisor where it would be open, or where an
 * argument rule says so. */
struct trapped_call {
	const char *name;
	uint16_t when;
	bool in_part;
	bool lifted; /* an `allow syscalls` of the call keeps it open */
};

extern const struct trapped_call trapped_calls[];
extern const size_t trapped_call_count;
extern const struct argument_call argument_calls[];
extern const size_t argument_call_count;
extern const struct argument_rule argument_rules[];
extern const size_t argument_rule_count;

/* What every policy denies, tables/baseline.def; no call stands in two
 * lines. */
struct baseline_entry {
	const char *name; /* "@group" or a call */
	int error;
};
extern const struct baseline_entry baseline[];
extern const size_t baseline_count;

/*
 * What `allow syscalls` can lift: each call as arena_intern() has it, with the
 * entry of the baseline that holds it, "@group" or the call, or the reason why
 * its arguments decide.
 */
void baseline_calls(struct arena *arena, struct map *entries);
/* The same of one call; NULL: there is nothing to lift. */
const char *baseline_entry_of(struct arena *arena, const char *call);

/* What else decides about a call, by its arguments: "network", "namespaces" or
 * "terminals and file systems"; NULL: nothing that `allow syscalls` does not
 * lift. */
const char *baseline_arguments(const char *call);

#endif
