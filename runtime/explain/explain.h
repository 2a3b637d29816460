/* --explain: what was denied, and what would allow it. */
#ifndef SBX_RUNTIME_EXPLAIN_EXPLAIN_H
#define SBX_RUNTIME_EXPLAIN_EXPLAIN_H

#include "format/blob.h"
#include "format/model.h"
#include "format/protocol.h"
#include "runtime/base/files.h"
#include "runtime/bind/bind.h"
#include "runtime/network/network.h"

#include <stdbool.h>
#include <stddef.h>

/* --- learn.c ----------------------------------------------------------- */

/*
 * --learn: what the command wanted, whether the policy allows it or not.  Each
 * distinct right at a place is kept once, in the supervisor's own memory, and
 * written when all has ended (watch/receipt.h).  sbxc drafts a policy of it.
 *
 * A command may want as many names as it likes.  So the names of one directory
 * are kept apart up to a number, and the further ones are counted for the
 * directory; and when there is no more room, all are counted for the nearest
 * directory that is known.
 */

enum {
	LEARN_MAX = 1 << 14,  /* that are kept apart */
	LEARN_TEXT = 8 << 20, /* bytes of their names */
	LEARN_SIBLINGS = 64,  /* names of one directory */
};

/* One right at one place. */
struct wanted {
	uint8_t kind; /* enum sbx_denied */
	bool denied;
	bool makes; /* the name is made, replaced or removed */
	bool probe; /* it was only looked for */
	bool below; /* further names in the directory `text` */
	uint16_t port;
	int32_t number; /* of a system call that the filter refused */
	int32_t error;  /* errno that it got, as far as that can be told */
	uint32_t args[SBX_DENIAL_ARGS];
	uint32_t names; /* of a directory: that are kept apart */
	uint32_t count; /* of calls; 0: it is only a directory that has names */
	uint32_t next;  /* 1 + the next one of its list */
	uint32_t len;
	const char *text;               /* a path outside, or an address */
	char program[SBX_PROGRAM_SIZE]; /* the first that wanted it */
};

struct learning {
	uint32_t count;
	uint32_t used; /* bytes of the texts */
	uint64_t lost; /* calls of which nothing was kept */
	struct wanted *wishes;
	char *texts;
	uint32_t *lists; /* by hash: 1 + an index */
};

/* Makes room; refuses (125) if there is none. */
void learn_begin(struct learning *learning);

/* Counts what is wanted, whose text is copied.  If it is new, returns it, so that the
 * caller can tell which program had it. */
struct wanted *learn_add(struct learning *learning,
    const struct wanted *wanted);

/*
 * --explain: the supervisor looks at the system calls of the command, tells
 * from the policy which of them are denied, and keeps each distinct denial
 * once.
 *
 *	the command: open("x")  --filter-->  waits
 *	the supervisor: reads "x", asks the model, notes  --answer-->  goes on
 *
 * It reports and never decides.  A call that the policy's filter allows goes on
 * in the kernel, whatever was seen; one that the filter refuses gets from here
 * the errno that it would have got there.
 *
 * The kernel does not tell what it denied.  So a denial is what the model
 * denies and what would have worked outside: the place exists, and its mode
 * lets this user do it.  Nothing that the command names is opened for that, but
 * with O_PATH.
 */

enum { NAME_SERVERS = 53 }; /* their port */

struct explaining {
	const struct sbx_blob *blob;
	/* As sbxc can find it: @NAME, or an absolute path; "": it cannot. */
	const char *policy;
	const struct binding *binding; /* as it is outside */
	bool view;                     /* level full */
	struct sbx_place scratch;      /* which is /tmp there, or no path */
	bool scoped;   /* Landlock keeps signals and abstract sockets inside */
	bool bound;    /* the command has servers of abstract names */
	bool session;  /* it was bound when the session was made */
	bool live;     /* each is told when it is found */
	bool thorough; /* =all: no call is left unlooked at */
	bool splits; /* below full, some denial takes rights from directories */
	int helper;  /* sbxc, O_PATH; -1: there is none to be trusted */
	/* The command's filter, from the moment when it has one; so many
	 * instructions at its beginning are not the policy's. */
	const struct sbx_insn *filter;
	uint32_t guard;
	uint32_t count; /* of the denials */
	uint32_t more;  /* calls that were denied when there was no more room */
	uint32_t unread; /* calls whose words could not be read */
	struct sbx_denial *denials;
	uint32_t wrote; /* files, the last of which are kept if their size has
	                 * a limit */
	struct path *written;      /* NULL: it has none */
	struct learning *learning; /* --learn; NULL: nothing is learned */
};

/* Room for denials, in the supervisor's own memory. */
void explain_begin(struct explaining *explaining, const struct sbx_blob *blob);

/* By which rules it judges; the binding is made outside and does not change. */
void explain_bind(struct explaining *explaining, const struct binding *binding,
    bool view);

/* Counts a denial: a new one, one that is known, or one whose names are too
 * many to be kept apart.  Returns it if it is new. */
const struct sbx_denial *explain_add(struct explaining *explaining,
    const struct sbx_denial *denial);

/* Keeps the place of a file that the command writes; and when all has ended, adds
 * one that is as large as a file may be. */
void explain_wrote(struct explaining *explaining, const struct path *path);
void explain_sizes(struct explaining *explaining);

/* Whether it has a path, or the name or address of a host. */
bool explain_has_path(const struct sbx_denial *denial);
bool explain_has_host(const struct sbx_denial *denial);

/* Adds what was refused in the network. */
void explain_network(struct explaining *explaining,
    const struct decisions *decisions);

/* Of one in the network, what that part has of it: its verdict in words, and the
 * rule that would allow it, if one would. */
void explain_host_fill(struct sbx_denial *denial);

/* "sbxrun: denied: ..." on stderr. */
void explain_say(const struct explaining *explaining,
    const struct sbx_denial *denial);

/* The words of a kind: "read", "call" and so on. */
const char *explain_word(const struct sbx_denial *denial);

/* What it is about: a place as the language spells it, from the anchor that says
 * most, "github.com:22", "tcp 8080", "number 41" for a system call. */
void explain_object(struct out *out, const struct explaining *explaining,
    const struct sbx_denial *denial);

/* --- advice.c ---------------------------------------------------------- */

/*
 * What would allow what was denied.  To find that takes heap, texts and the
 * tables of the language, so sbxc is asked, which gives the answers of `sbxc
 * why`.  Without it there is no advice.
 */

/* Finds sbxc, before the command starts: it is the one that was installed with
 * this sbxrun, and only if the command cannot write there. */
void advice_open(struct explaining *explaining);

struct advice {
	const struct sbx_advice *all; /* beside the denials; NULL: no answer */
	const char *words;            /* without a NUL, and not to be trusted */
	size_t size;
};

/* Asks about all denials. */
struct advice advice_ask(const struct explaining *explaining,
    const struct sbx_explained *head);

/* --- judge.c ----------------------------------------------------------- */

/* What is done at a path. */
enum act {
	ACT_READ,
	ACT_WRITE,  /* what is there */
	ACT_CREATE, /* the same, or it is made */
	ACT_MAKE,   /* what is not there */
	ACT_MAKE_DIRECTORY,
	ACT_FILL,    /* a directory that is there already, as for mkdir -p */
	ACT_REPLACE, /* a name, by another file */
	ACT_REMOVE,
	ACT_UNLINK, /* the same, unless it is a directory */
	ACT_CHANGE, /* modes, owners, times */
	ACT_RUN,
	ACT_LOOK, /* whether it is there */
	ACT_CONNECT,
	ACT_END,
};

struct asked {
	enum act act;
	bool no_follow;   /* of the last name, if that is a link */
	bool fresh;       /* it fails where something is there */
	bool dots;        /* the last name is "." or ".." */
	struct path path; /* absolute and normal, as the command sees it */
	bool wanted; /* judge(): it works, or would without the policy; then */
	bool makes;  /* the path, outside, is a name that comes or goes */
};

/* False: it is not denied, or would fail without the policy, too.  Fills in the
 * kind, the path, the source and what follows from the act. */
bool judge(const struct explaining *explaining, struct asked *asked,
    struct sbx_denial *denial);

/* The same for a socket that the supervisor has refused to connect to, though
 * the policy lets the command write there. */
bool judge_server(const struct asked *asked, struct sbx_denial *denial);

/* The same for a TCP port, in a network that the policy opens by port. */
bool judge_port(const struct explaining *explaining, uint8_t op, uint16_t port,
    struct sbx_denial *denial);

/* The same for the address of a host, from a network of the sandbox's own. */
bool judge_endpoint(const struct explaining *explaining,
    const uint8_t address[SBX_ADDRESS_SIZE], uint16_t port,
    struct sbx_denial *denial);

/* --- traced.c ---------------------------------------------------------- */

/*
 * The filter of a command that is explained.
 */

/*
 * Of which calls that only look at a place it hears.  realpath(3) makes one for
 * each directory of a path, and a compiler calls that for each header: most of
 * all calls of a build, which tell less than what is opened afterwards.
 */
enum traced_looks {
	TRACED_NONE, /* below full, where nothing denies them */
	TRACED_MOST, /* not those of realpath(3) */
	TRACED_ALL,
};
enum traced_looks traced_looks(const struct explaining *explaining, bool view);

/*
 * Installs the policy's filter so that the supervisor hears of the calls of
 * format/observed.def and of those that the filter refuses; nothing opens that
 * the policy closes.  Returns the listener; refuses (125) where that cannot be.
 */
int traced_install(struct arena *arena, const struct sbx_blob *blob,
    const struct sbx_program *program, enum traced_looks looks);

/* --- trail.c ----------------------------------------------------------- */

/* Adds a path as text: "." and ".." are taken away, and links do not count,
 * which is so where nothing is followed by "..".  False if it is too long. */
bool trail_push(struct path *path, const char *names);

/* Whether the last name is "." or "..": nothing can be made or moved there. */
bool trail_ends_in_dots(const char *text);

/* Follows an absolute, normal path in place; `last`: also where its last name
 * is a link.  False if it comes into /proc or round in circles. */
bool trail_follow(struct path *path, bool last);

/* Whether a place is /proc, or in it. */
bool trail_is_proc(struct sbx_place at);

#endif
