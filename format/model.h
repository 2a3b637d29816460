/* What a blob means: one answer for both programs. */
#ifndef SBX_FORMAT_MODEL_H
#define SBX_FORMAT_MODEL_H

#include "format/blob.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- model.c ----------------------------------------------------------- */

/*
 * The model: who may do what under a policy whose anchors are bound.
 *
 * There is one verdict function for each kind of object, and everybody asks
 * it: sbxc why, the loader when it decides what to hand to Landlock, and the
 * tests that hold it against the kernel.  Nothing here touches the machine.
 *
 * Paths are absolute and normal: no "//", "." or ".." and no slash at the end.
 * The root directory is the empty string, so that every path P is below a
 * place A exactly if P starts with A and goes on with '/' or ends.
 */

struct sbx_place {
	const char *path;
	uint32_t len;
};

/* A path rule whose place is bound. */
struct sbx_rule {
	struct sbx_place at;
	const struct sbx_place *exclusions;
	uint32_t source; /* index into the blob's sources */
	uint16_t exclusion_count;
	uint8_t effect; /* enum sbx_effect */
	uint8_t rights; /* enum sbx_right */
};

/*
 * Whether a path rule holds at a level.  Below level full there are no masks:
 * to deny writing in a tree that may be written, Landlock would have to take
 * the making of files away from the directories above.  `deny` pays that price;
 * `prefer deny write` does not, and holds at level full alone.
 */
static inline bool
sbx_path_holds(const struct sbx_path *path, enum sbx_level level)
{
	return level == SBX_LEVEL_FULL || path->effect != SBX_PREFER_DENY ||
	    path->rights != SBX_WRITE;
}

/*
 * The first `stage write` on a machine, or NULL.  With one, sbxrun keeps all that
 * changes in the workspace apart, whichever rule lets it be written.
 */
const struct sbx_path *sbx_stage_rule(const struct sbx_blob *blob,
    uint8_t platforms);

enum sbx_reason {
	SBX_BECAUSE_NOTHING, /* no rule allows it */
	SBX_BECAUSE_ALLOWED,
	SBX_BECAUSE_DENIED,
};

#define SBX_NO_RULE UINT32_MAX

struct sbx_verdict {
	enum sbx_reason reason;
	/* The deciding rule: an index into the rules that were given, or into
	 * the blob's ports or variables.  SBX_NO_RULE: none of them decided. */
	uint32_t rule;
	bool preferred; /* a `prefer deny` decided */
};

static inline bool
sbx_verdict_allows(struct sbx_verdict verdict)
{
	return verdict.reason == SBX_BECAUSE_ALLOWED;
}

/* The place of a path that ends with a zero byte; the root of "". */
struct sbx_place sbx_place_of(const char *path);

/* Whether path is the place or below it. */
bool sbx_covers(struct sbx_place place, struct sbx_place path);

/* What is behind /tmp, or /var/tmp, in a path, which at level full is that of the
 * scratch directory; NULL if it is in neither. */
const char *sbx_tmp_rest(struct sbx_place path);

/* Whether the rule applies to path: below its place and in none of its
 * exclusions. */
bool sbx_rule_covers(const struct sbx_rule *rule, struct sbx_place path);

/*
 * Whether one right (SBX_READ, SBX_WRITE or SBX_EXEC) is given at path: some
 * allow covers it and no deny does.  The deciding rule is the first deny, or
 * else the allow with the longest place.
 */
struct sbx_verdict sbx_path_verdict(const struct sbx_rule *rules, size_t count,
    uint8_t right, struct sbx_place path);

/*
 * Whether the right, though given at the directory `path`, is denied somewhere
 * below it, so that Landlock, which has no denials, can only hand it to the
 * directory's entries one by one.  Then, at level standard, the directory is
 * not listed (read) and nothing is made, renamed or removed directly in it
 * (write).
 */
bool sbx_path_is_split(const struct sbx_rule *rules, size_t count,
    uint8_t right, struct sbx_place path);

/*
 * The right of a bound rule about sockets: a socket rule is an sbx_rule with
 * this right, at its place, without exclusions.
 */
enum { SBX_CONNECT = 8 };

/*
 * Whether the rules about sockets let the command connect to one at path; they
 * count before those about paths.  Where none of them speaks of it, it may
 * connect where it may write (SBX_WRITE): nobody is let into a directory's
 * services by being let read there.
 */
static inline struct sbx_verdict
sbx_socket_verdict(const struct sbx_rule *sockets, size_t count,
    struct sbx_place path)
{
	return sbx_path_verdict(sockets, count, SBX_CONNECT, path);
}

/*
 * The verdict on a TCP port (enum sbx_port_op).  Without a rule, the network as
 * a whole is allowed or denied.  Where the sandbox is in the host's network, a
 * service of the host is reached by its port, and one inside is published by
 * listening.
 */
struct sbx_verdict sbx_port_verdict(const struct sbx_blob *blob,
    uint8_t platforms, uint8_t op, uint16_t port);

/* Whether a variable of the caller's environment is handed on. */
/* Whether a list of names with a blank between has a name. */
bool sbx_env_excepts(const char *except, const char *name, size_t len);

struct sbx_verdict sbx_env_verdict(const struct sbx_blob *blob,
    uint8_t platforms, const char *name, size_t len);

/* Shell-like match of the whole text where only '*' is special; linear space,
 * at most len(pattern) * len(text) steps. */
bool sbx_pattern_match(const char *pattern, const char *text, size_t len);

/* Path order: byte order, but '/' before every other byte, so that a tree is
 * contiguous and follows its root. */
int sbx_place_compare(struct sbx_place a, struct sbx_place b);

/* --- addresses.c ------------------------------------------------------- */

enum { SBX_ADDRESS_SIZE = 16, SBX_ADDRESS_BITS = 128 };

/* Of the addresses that the sandbox's resolver hands out, one for each name:
 * 198.18.0.0/15, which RFC 2544 keeps for benchmarks; and with the same bits at
 * the end 100::/64, which RFC 6666 keeps for what leads nowhere. */
#define SBX_FAKE_NET 0xc6120000u
enum { SBX_FAKE_PREFIX = 15, SBX_FAKE_V6_PREFIX = 64 };
extern const uint8_t sbx_fake_v6[SBX_ADDRESS_SIZE];

/* Whether it is one of them; its last bits, or NULL, are that of IPv4. */
bool sbx_address_is_fake(const uint8_t address[SBX_ADDRESS_SIZE],
    uint32_t *fake);

/* Whether the first `prefix` bits of both are the same. */
bool sbx_address_covers(const uint8_t net[SBX_ADDRESS_SIZE], uint8_t prefix,
    const uint8_t address[SBX_ADDRESS_SIZE]);

/* Whether no bit is set beyond the prefix. */
bool sbx_address_is_net(const uint8_t net[SBX_ADDRESS_SIZE], uint8_t prefix);

bool sbx_address_is_v4(const uint8_t address[SBX_ADDRESS_SIZE]);

/*
 * Whether a network has an address of the machine itself or of the resolver's
 * own range, or is all of one family: then no rule may name it.
 */
bool sbx_address_is_reserved(const uint8_t net[SBX_ADDRESS_SIZE],
    uint8_t prefix);

/* Whether a name may lead to it without the word `private`. */
bool sbx_address_is_public(const uint8_t address[SBX_ADDRESS_SIZE]);

/* Whether it is link-local or of a cloud's metadata: no name may lead to it,
 * not even with that word. */
bool sbx_address_is_metadata(const uint8_t address[SBX_ADDRESS_SIZE]);

/* The number-th network of such addresses; NULL at the end. */
const uint8_t *sbx_address_metadata(size_t number, uint8_t *prefix);

/* Whether a translator or a tunnel takes it to an address of IPv4 that may be
 * of that kind, too: NAT64 of what is not public, 6to4, Teredo. */
bool sbx_address_is_wrapped(const uint8_t address[SBX_ADDRESS_SIZE]);

/* The verdict on a TCP port of an address, by the rules of section ENDPOINTS;
 * verdict.rule is an index into them. */
struct sbx_verdict sbx_endpoint_verdict(const struct sbx_blob *blob,
    uint8_t platforms, const uint8_t address[SBX_ADDRESS_SIZE], uint16_t port);

/* --- given.c ----------------------------------------------------------- */

/* What a variable is about; in the order in which the loader sets them. */
enum sbx_given_by {
	SBX_GIVEN_SCRATCH, /* where the scratch directory is */
	SBX_GIVEN_PROXY,   /* where the proxy of format/ways.c is */
	SBX_GIVEN_TRUST,   /* whom to believe where TLS is ended */
	SBX_GIVEN_GIT,     /* where the copy of the user's settings of git is */
	SBX_GIVEN_AGENT,   /* where the socket of the agent of ssh is */
	SBX_GIVEN_PROFILE, /* what the sandbox is, for messages */
	SBX_GIVEN_LEVEL,
	SBX_GIVEN_SESSION,
};

struct sbx_given {
	const char *name;
	const char *value; /* empty: it is known when the sandbox starts */
	enum sbx_given_by by;
};

enum { SBX_GIVEN_COUNT = 26 };

extern const struct sbx_given sbx_given[SBX_GIVEN_COUNT];

/* The variable of a name, or NULL. */
const struct sbx_given *sbx_given_find(const char *name);

/* Whether it is set wherever a policy runs on these platforms.  Not so of the
 * agent, the session and the settings of git: they depend on the run. */
bool sbx_given_holds(const struct sbx_given *given, const struct sbx_blob *blob,
    uint8_t platforms);

/*
 * A variable that the policy sets to a place of the home, in what it lets the
 * command write: where that is not there, the command cannot make it, and the
 * variable leads to the same name in the scratch directory.  The path below the
 * home that has to be there, or NULL: the variable stays as it is.
 */
const char *sbx_set_opened(const struct sbx_blob *blob,
    const struct sbx_set *set, uint8_t platforms);

/* Whether a place below the home is one of the caches of the set of that name. */
bool sbx_is_cache(const char *below);

/* Whether it is set even if the policy sets it to something else. */
static inline bool
sbx_given_overrides(const struct sbx_given *given)
{
	return given->by >= SBX_GIVEN_AGENT;
}

/* --- glob.c ------------------------------------------------------------ */

/* A pattern taken apart; points into its text. */
struct sbx_glob {
	const char *parts[SBX_MAX_GLOB];
	uint32_t lens[SBX_MAX_GLOB];
	uint32_t count;
	uint64_t any; /* bit i: part i is "**" */
};

_Static_assert(SBX_MAX_GLOB < 63, "a bit for each part, and one more");

/* Whether a pattern is in the one form that blobs hold, as sbx-blob(5) has it.
 * If so, takes it apart. */
bool sbx_glob_parse(const char *text, struct sbx_glob *glob);

/* Whether a name, without slashes, is what one part other than "**" means. */
bool sbx_name_match(const char *part, size_t part_len, const char *name,
    size_t len);

/* The states at the pattern's place; those one name further; 0: nothing below
 * can match. */
uint64_t sbx_glob_start(const struct sbx_glob *glob);
uint64_t sbx_glob_step(const struct sbx_glob *glob, uint64_t states,
    const char *name, size_t len);

static inline bool
sbx_glob_matches(const struct sbx_glob *glob, uint64_t states)
{
	return (states >> glob->count & 1) != 0;
}

/* The only name that can come next, as an index of a part, or -1 if several
 * can. */
int sbx_glob_only(const struct sbx_glob *glob, uint64_t states);

/* The path, or the nearest to `place` of the directories above it, that the
 * pattern below the place matches; its len is 0 if there is none. */
struct sbx_place sbx_glob_find(const struct sbx_glob *glob,
    struct sbx_place place, struct sbx_place path);

/* --- sort.c ------------------------------------------------------------ */

/* Whether the element that `a` stands for belongs before that of `b`. */
typedef bool sbx_sort_before(const void *context, uint32_t a, uint32_t b);

/*
 * Sorts numbers that stand for elements; equal ones keep their order.  `spare`
 * has room for as many.  At most n log n comparisons, n where all is in
 * order already.
 */
void sbx_sort(uint32_t *numbers, uint32_t count, uint32_t *spare,
    sbx_sort_before *before, const void *context);

/* --- index.c ----------------------------------------------------------- */

struct sbx_index {
	const void *records;
	size_t size;          /* of one record */
	uint32_t count;       /* of those that are in the index */
	uint32_t *sorted;     /* their numbers, in path order */
	uint32_t *outer;      /* beside: the position around it, or 0 */
	sbx_sort_before *tie; /* orders records at one place; NULL: none */
	const void *tie_context;
	uint32_t last; /* where the path that was asked for before was found */
};

/*
 * Sorts, and links each record to the one around it.  Before that everything
 * but `outer` and `last` is set; `sorted` has the numbers of the records that
 * are meant, `outer` has room for as many.  Records at one place keep the order
 * in which they are given, unless there is a `tie`; then the one before is
 * around the one after it.
 */
void sbx_index_make(struct sbx_index *index);

/* The same, of all records from 0 to `count`: `sorted` is room, too. */
void sbx_index_make_all(struct sbx_index *index);

/* The position of the last record that covers the path, the nearest to it; 0 if
 * none does.  Cheapest for paths that are asked for in path order. */
uint32_t sbx_index_find(struct sbx_index *index, struct sbx_place path);

/* Whether a record is at the place or below it. */
bool sbx_index_reaches(const struct sbx_index *index, struct sbx_place place);

/* The records at the place and below it: sorted[first] up to sorted[end - 1].
 * Takes time for each of them. */
struct sbx_range {
	uint32_t first, end;
};
struct sbx_range sbx_index_within(const struct sbx_index *index,
    struct sbx_place place);

/* --- names.c ----------------------------------------------------------- */

/*
 * Names of hosts.  The compiler, the proxy and the tests ask the same
 * functions, so that what `sbxc why` says is what happens.
 *
 * A rule names one host, or with SBX_NAME_BELOW all names below one: "*.x" is
 * for a.x and a.b.x, and not for x.  A deny wins over every allow, and without
 * a port it is for all ports.
 */

enum {
	SBX_NAME_SIZE = 254, /* with the NUL at its end */
	SBX_LABEL_MAX = 63,
};

/*
 * The one spelling of a name: lower case, without the one dot that may end it.
 * False for what is not a host name: other characters than letters, digits,
 * '-' and '_', labels that are empty, too long or have a '-' at an end, and an
 * address in any spelling, which its last label shows: 127.1, 0x7f000001.
 */
bool sbx_name_normal(const char *text, size_t len, char name[SBX_NAME_SIZE]);

struct sbx_name_verdict {
	bool allowed;
	bool is_private; /* addresses that are not public are allowed, too */
	bool by_port;    /* some rule that allows it names the port */
	uint32_t rule;   /* of blob->names; UINT32_MAX: no rule is about it */
};

/* The verdict on a TCP port of a name in its normal spelling: whether some request
 * may be made there. */
struct sbx_name_verdict sbx_name_verdict(const struct sbx_blob *blob,
    uint8_t platforms, const char *name, uint16_t port);

/* What a rule without a port allows. */
bool sbx_port_is_web(uint16_t port);

/* Whether some port of it is allowed, so that it has an address inside. */
bool sbx_name_is_known(const struct sbx_blob *blob, uint8_t platforms,
    const char *name);

/* Byte order, in which the names of a blob are sorted. */
int sbx_name_compare(const char *a, const char *b);

/* The rules about a name and a port, one after the other. */
struct sbx_name_walk {
	const struct sbx_blob *blob;
	const char *at; /* the name, then each one above it */
	uint32_t next;
	uint16_t port;
	uint8_t platforms;
	bool above;
};

struct sbx_name_walk sbx_name_walk(const struct sbx_blob *blob,
    uint8_t platforms, const char *name, uint16_t port);
/* The next rule, or UINT32_MAX. */
uint32_t sbx_name_next(struct sbx_name_walk *walk);

/* --- requests.c -------------------------------------------------------- */

/*
 * Requests of HTTP, by method and path.  What TLS hides is judged by the process
 * that ends it, and by `sbxc why`, with these functions.
 *
 * A path has one spelling, in which rules have it, too: escapes of what needs none
 * are undone, all others have capitals.  What two readers could understand in two
 * ways has a fault.  A rule about paths then allows nothing and denies everything.
 */

enum {
	SBX_REQUEST_PATH_SIZE = 4096, /* with the NUL at its end */
	SBX_METHOD_MAX = 32,
};

/* SBX_REQUEST_FAULT(name, sentence) */
#define SBX_REQUEST_FAULTS(X) \
	X(NONE, "it is well formed") \
	X(LONG, "it is too long") \
	X(METHOD, "the method is no word in capitals") \
	X(FORM, "it does not begin with '/'") \
	X(BYTE, "it has a character that belongs into no path") \
	X(ESCAPE, "it has an escape that is none, or that hides another one") \
	X(DOTS, "it has '.' or '..' for a part") \
	X(EMPTY, "it has two slashes in a row") \
	X(SEMICOLON, "it has a ';', which some servers take for an end")

enum sbx_request_fault {
#define SBX_X(name, sentence) SBX_REQUEST_##name,
	SBX_REQUEST_FAULTS(SBX_X)
#undef SBX_X
};

struct sbx_request {
	const char *method, *query; /* not ended by a NUL */
	size_t method_len, query_len;
	enum sbx_request_fault fault;
	char path[SBX_REQUEST_PATH_SIZE];
};

/* Of a method and a target, which is a path with a query or without one; both
 * stay where they are.  Returns the fault. */
enum sbx_request_fault sbx_request_read(struct sbx_request *request,
    const char *method, size_t method_len, const char *target, size_t len);

/* The sentence of a fault. */
const char *sbx_request_fault_text(enum sbx_request_fault fault);

/* Whether a rule may name the method: a word in capitals, "*", "git-read" or
 * "git-write"; and what is wrong with its path. */
bool sbx_request_is_method(const char *method);
enum sbx_request_fault sbx_request_pattern_fault(const char *path);

/* The verdict on a request to a name, which may have no rule itself. */
struct sbx_name_verdict sbx_request_verdict(const struct sbx_blob *blob,
    uint8_t platforms, const char *name, uint16_t port,
    const struct sbx_request *request);

/* The rule by which a secret may go with it, through TLS; UINT32_MAX: none.  The
 * verdict comes first. */
uint32_t sbx_request_secret(const struct sbx_blob *blob, uint8_t platforms,
    const char *name, uint16_t port, const struct sbx_request *request,
    const char *secret);

/* Whether some rule makes requests to a name to be looked at. */
bool sbx_name_is_ended(const struct sbx_blob *blob, uint8_t platforms,
    const char *name, uint16_t port);

/* --- select.c ---------------------------------------------------------- */

/* Where a filter is to run. */
struct sbx_circumstances {
	uint32_t arch; /* AUDIT_ARCH_* */
	enum sbx_level level;
	uint32_t landlock_abi; /* of the kernel; 0: none */
	bool loopback;         /* in a network of its own, with lo up */
	bool listener;         /* the supervisor can answer system calls */
};

/* The filter for these circumstances; NULL if the blob has none.  With a
 * listener, one that has calls to answer comes before one that has none. */
const struct sbx_program *sbx_program_select(const struct sbx_blob *blob,
    const struct sbx_circumstances *where);

/* The row of masks for a kernel's Landlock ABI; NULL if the blob has none. */
const struct sbx_landlock *sbx_landlock_select(const struct sbx_blob *blob,
    uint32_t abi);

/* --- watch.c ----------------------------------------------------------- */

enum sbx_git_part {
	SBX_GIT_FILE,
	SBX_GIT_SETTINGS, /* a file of which only some lines count */
	SBX_GIT_HOOKS,    /* a directory, without the samples */
	SBX_GIT_TREE,     /* a directory */
	SBX_GIT_LINES,    /* a file that says nothing without a line that is no
	                   * comment */
	SBX_GIT_HEAD,     /* makes a repository of the directory itself */
	SBX_GIT_INDEX,    /* changes count that hide others */
	SBX_GIT_REFS,     /* likewise */
};

/* A name in a git directory; those of submodules and of linked work trees, which
 * lie at any depth of the directories of the other list, have the same. */
struct sbx_git_name {
	const char *name; /* begins with a slash */
	uint8_t part;     /* enum sbx_git_part */
};

enum {
	SBX_GIT_NAMES = 20,
	SBX_GIT_TOLD = 18, /* of the first ones each change is told */
	SBX_GIT_OTHERS = 2,
};
extern const struct sbx_git_name sbx_git_names[SBX_GIT_NAMES];
extern const char *const sbx_git_others[SBX_GIT_OTHERS];

/* Whether a hook is one that git does not run. */
bool sbx_git_is_sample(const char *name, size_t len);

/* Whether a rule at a place speaks of a path; the pattern is "" for none. */
bool sbx_watch_covers(const struct sbx_watch *watch, const char *pattern,
    struct sbx_place at, struct sbx_place path);

/* --- ways.c ------------------------------------------------------------ */

enum {
	SBX_RESOLVER_PORT = 53,
	SBX_PROXY_PORT = 3128, /* where squid and its kin listen */
};

/* Each kind stands behind the one before it, its ports in ascending order. */
enum sbx_way_kind {
	SBX_WAY_RESOLVER,     /* UDP 127.0.0.1:53, if some name is allowed */
	SBX_WAY_RESOLVER_TCP, /* the same over TCP */
	SBX_WAY_PROXY,   /* TCP 127.0.0.1:3128, with names or a user's proxy */
	SBX_WAY_PORT,    /* TCP, any address: a port of names, of addresses, and
	                  * of the host's service of that number */
	SBX_WAY_HOST,    /* TCP 127.0.0.1: of the host's service alone */
	SBX_WAY_PUBLISH, /* TCP 127.0.0.1 of the host */
};

struct sbx_way {
	uint16_t port;
	uint8_t kind; /* enum sbx_way_kind */
};

/* How many there are; more than SBX_MAX_WAYS of a policy that has too many,
 * which no verified blob is. */
size_t sbx_ways(const struct sbx_blob *blob, uint8_t platforms,
    struct sbx_way ways[SBX_MAX_WAYS]);

/* Whether SBX_WAY_RESOLVER is among them: some name is allowed. */
bool sbx_ways_names(const struct sbx_blob *blob, uint8_t platforms);

/* Whether SBX_WAY_PROXY is among them: programs are then told of it. */
bool sbx_ways_proxy(const struct sbx_blob *blob, uint8_t platforms);

/* Whether a port inside is the resolver's or the proxy's, so that no rule may
 * name it. */
bool sbx_way_is_reserved(uint16_t port);

#endif
