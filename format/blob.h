/* The bytes of a blob, and facts that both programs share. */
#ifndef SBX_FORMAT_BLOB_H
#define SBX_FORMAT_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many elements an array has whose size is known. */
#define countof(array) (sizeof(array) / sizeof *(array))

/*
 * The policy blob: what sbxc writes and sbxrun applies.
 *
 *	+--------------------+ 0
 *	| struct sbx_header  |
 *	+--------------------+ 32
 *	| struct sbx_section | one per section, sorted by kind
 *	| ...                |
 *	+--------------------+ 8-aligned
 *	| section bytes      | each 8-aligned, in table order, zero padding
 *	| ...                |
 *	+--------------------+ header.size
 *	| the policy as text | header.text_size bytes, for people
 *	+--------------------+
 *
 * The text is what the rest was compiled from: sbxc compiles it again, and
 * compares.  sbxrun does not read it.
 *
 * All integers are little-endian and of fixed width; padding is zero.  Strings
 * are offsets into SBX_SECTION_STRINGS, whose first byte is NUL, so that
 * offset 0 is the empty string.  Paths are symbolic: an anchor (an index into
 * SBX_SECTION_ANCHORS) and a suffix, which is "" or starts with '/'.
 *
 * This file is the only definition; sbx-blob(5) describes it for people and a
 * test compares the two.  Untrusted bytes are read through sbx_verify() alone.
 */

/*
 * In the manner of PNG: a byte with the top bit set, the name, and the line
 * ends that text-mode transfers damage.
 */
#define SBX_MAGIC "\x89SBX\r\n\x1a\n"

/* The format that this tree writes, the oldest reader that may read it, and the
 * oldest format that this tree reads. */
enum { SBX_FORMAT = 4, SBX_FORMAT_MIN_READER = 4, SBX_FORMAT_OLDEST = 4 };

/* Bounds that every reader may rely on after sbx_verify(). */
enum {
	SBX_MAX_SIZE = 4 * 1024 * 1024, /* bytes of a blob */
	SBX_MAX_SECTIONS = 64,
	SBX_MAX_RULES = 32768, /* path rules, and exclusions */
	SBX_MAX_ANCHORS = 64,  /* five built in, the rest parameters */
	SBX_MAX_NAME = 64,     /* bytes of a profile's or a parameter's name */
	SBX_MAX_PATH = 4095,   /* bytes of a suffix or of a bound anchor */
	SBX_MAX_INSNS = 4096,  /* of one program: the kernel's BPF_MAXINSNS */
	SBX_MAX_PROGRAMS = 32,
	SBX_MAX_ABI = 64,  /* Landlock ABI rows */
	SBX_MAX_GLOB = 32, /* parts of a pattern: names between slashes */
	SBX_MAX_WATCHES = 256,
	SBX_MAX_SOCKETS = 256,
	SBX_MAX_NAMES = 4096, /* rules about names of hosts */
	SBX_MAX_ENDPOINTS = 1024,
	SBX_MAX_WAYS = 64, /* out of a network of its own: format/ways.c */
};

struct sbx_header {
	uint8_t magic[8];
	uint16_t version;    /* SBX_FORMAT of the writer */
	uint16_t min_reader; /* a reader of an older format must refuse */
	uint32_t size;       /* up to the text, in bytes: what sbxrun reads */
	uint32_t sum;        /* of all other bytes up to there: checksum.c */
	uint32_t section_count;
	uint32_t text_size;
	uint32_t reserved; /* zero */
};

enum sbx_section_kind {
	SBX_SECTION_META = 1,
	SBX_SECTION_STRINGS,
	SBX_SECTION_ANCHORS,
	SBX_SECTION_PATHS,
	SBX_SECTION_EXCLUSIONS,
	SBX_SECTION_PORTS,
	SBX_SECTION_LIMITS,
	SBX_SECTION_ENV,
	SBX_SECTION_SET,
	SBX_SECTION_LANDLOCK,
	SBX_SECTION_PROGRAMS,
	SBX_SECTION_BPF,
	SBX_SECTION_SYSCALLS,
	SBX_SECTION_SOURCES,
	SBX_SECTION_WATCHES,
	SBX_SECTION_SOCKETS,
	SBX_SECTION_NAMES,
	SBX_SECTION_ENDPOINTS,
	SBX_SECTION_PROXY,
	SBX_SECTION_END, /* one more than the last known kind */
};

/* A reader that does not know a critical section refuses the blob. */
enum { SBX_CRITICAL = 1 };

struct sbx_section {
	uint32_t kind;
	uint32_t flags;
	uint32_t offset; /* from the start of the file, a multiple of 8 */
	uint32_t size;   /* bytes without padding */
};

/* Which machines a record is for: set bits of `where`, never zero. */
enum sbx_platform {
	SBX_ON_LINUX_X86_64 = 1,
	SBX_ON_LINUX_AARCH64 = 2,
	SBX_ON_MACOS = 4,
	SBX_ON_LINUX = SBX_ON_LINUX_X86_64 | SBX_ON_LINUX_AARCH64,
	SBX_ON_ALL = SBX_ON_LINUX | SBX_ON_MACOS,
};

enum sbx_effect { SBX_ALLOW, SBX_DENY, SBX_PREFER_DENY, SBX_EFFECT_END };

/*
 * The path rights.  In an allow rule the set is closed upwards: write and exec
 * come with read.  In a deny rule it is what is taken away: denying read takes
 * all three.  `stage write`, which is an allow of write in the workspace, has one
 * more bit, which is no right.
 */
enum sbx_right {
	SBX_READ = 1,
	SBX_WRITE = 2,
	SBX_EXEC = 4,
	SBX_RIGHTS = 7,
	SBX_STAGED = 8,
};

enum sbx_level {
	SBX_LEVEL_NONE,
	SBX_LEVEL_MINIMAL,
	SBX_LEVEL_STANDARD,
	SBX_LEVEL_FULL,
	SBX_LEVEL_END,
};

enum sbx_net {
	SBX_NET_NONE,
	SBX_NET_PORTS,
	SBX_NET_FULL,
	SBX_NET_LOOPBACK, /* a network of its own */
	SBX_NET_SELECTED, /* the same, and single ways out of it */
	SBX_NET_END,
};

enum sbx_meta_flag {
	SBX_EVERYTHING = 1, /* allow everything: no Landlock, no filter */
	SBX_SIGNAL_ANYWHERE = 2,
	SBX_ABSTRACT_ANYWHERE = 4,
	SBX_NO_SPAWN = 8, /* deny spawn: one process, and threads */
	SBX_CUT = 16,     /* by a ceiling: see format/cut.c; in no file */
	SBX_META_FLAGS = 31,
};

/* Whether the sandbox has a network of its own, which level full gives. */
static inline bool
sbx_net_is_own(unsigned net)
{
	return net == SBX_NET_LOOPBACK || net == SBX_NET_SELECTED;
}

struct sbx_meta {
	uint32_t profile;      /* string: the profile's name */
	uint32_t about;        /* string */
	uint32_t writer;       /* string: "sbxc VERSION" */
	uint32_t flags;        /* enum sbx_meta_flag */
	uint8_t level;         /* enum sbx_level: the floor */
	uint8_t landlock;      /* least Landlock ABI, 0 = any */
	uint8_t net;           /* enum sbx_net */
	uint8_t language;      /* N of the statement `sbx N` */
	uint32_t level_source; /* index into sources, or SBX_NO_SOURCE */
	uint32_t landlock_source;
	uint32_t net_source;
};

#define SBX_NO_SOURCE UINT32_MAX

enum sbx_anchor_id {
	SBX_ANCHOR_ROOT, /* "/"; its bound path is the empty string */
	SBX_ANCHOR_WORKSPACE,
	SBX_ANCHOR_HOME,
	SBX_ANCHOR_TMP,
	SBX_ANCHOR_RUNTIME,
	SBX_ANCHOR_PARAM, /* the first parameter */
};

enum { SBX_ANCHOR_USED = 1 }; /* some record refers to it */

struct sbx_anchor {
	uint32_t name; /* string: "workspace" ... or a parameter's name */
	uint32_t flags;
	uint32_t source; /* of a parameter's declaration */
	uint32_t reserved;
};

/*
 * Sorted by anchor, then suffix in path order ('/' before every byte).  A rule
 * with a pattern (format/glob.c) speaks of what matches it below its place, and
 * of what lies in that.
 */
struct sbx_path {
	uint32_t suffix; /* string */
	uint16_t anchor;
	uint8_t effect; /* enum sbx_effect */
	uint8_t rights; /* enum sbx_right */
	uint32_t first_exclusion;
	uint16_t exclusion_count;
	uint8_t platforms; /* enum sbx_platform */
	uint8_t ceiling;   /* 1: it is a rule of the ceiling */
	uint32_t source;
	uint32_t glob; /* string: a pattern; 0: none */
};

/* A place taken out of one path rule by `except`. */
struct sbx_exclusion {
	uint32_t suffix;
	uint16_t anchor;
	uint16_t reserved;
};

enum sbx_port_op {
	SBX_CONNECT_TCP,
	SBX_LISTEN_TCP,
	SBX_HOST_TCP,    /* a service of the host, on 127.0.0.1 inside */
	SBX_PUBLISH_TCP, /* one inside, on 127.0.0.1 of the host */
	SBX_PORT_OP_END,
};

struct sbx_port {
	uint16_t low, high; /* inclusive, host byte order */
	uint8_t effect;
	uint8_t op; /* enum sbx_port_op */
	uint8_t platforms;
	uint8_t reserved;
	uint32_t source;
	uint32_t reserved2;
};

enum sbx_limit_kind {
	SBX_LIMIT_FILE_SIZE,  /* bytes: RLIMIT_FSIZE */
	SBX_LIMIT_PROCESSES,  /* RLIMIT_NPROC */
	SBX_LIMIT_OPEN_FILES, /* RLIMIT_NOFILE */
	SBX_LIMIT_CPU_TIME,   /* seconds: RLIMIT_CPU */
	SBX_LIMIT_MEMORY,     /* bytes: RLIMIT_AS */
	SBX_LIMIT_CORE,       /* bytes: RLIMIT_CORE */
	SBX_LIMIT_STACK,      /* bytes: RLIMIT_STACK */
	SBX_LIMIT_TIMEOUT,    /* seconds: of the whole run */
	SBX_LIMIT_OUTPUT,     /* bytes: of each output stream */
	SBX_LIMIT_END,
};

struct sbx_limit {
	uint64_t value;
	uint32_t source;
	uint16_t kind;
	uint8_t platforms;
	uint8_t ceiling; /* 1: there is one; --limit may only lower it */
};

/* Which variables of the caller are handed on: `*` matches any bytes. */
struct sbx_env {
	uint32_t pattern; /* string */
	uint32_t source;
	uint8_t effect;
	uint8_t platforms;
	uint16_t ceiling; /* 1: it is a rule of the ceiling */
	uint32_t
	    except; /* string: names that it is not about, a blank between */
};

/*
 * `watch PATH` and `watch git PATH`: places that the loader looks at before and
 * after the command (format/watch.c says which).  One with a pattern is about
 * what matches it below its place, at each of the two looks.
 */
enum sbx_watch_form { SBX_WATCH_TREE, SBX_WATCH_GIT, SBX_WATCH_END };

struct sbx_watch {
	uint32_t suffix;
	uint32_t source;
	uint16_t anchor;
	uint8_t form; /* enum sbx_watch_form */
	uint8_t platforms;
	uint32_t glob; /* string: a pattern; 0: none, as for git */
};

#define SBX_NO_ANCHOR UINT16_MAX

/*
 * `allow socket PATH`: AF_UNIX sockets that the command may connect to, at the
 * place and below it, whatever the rules about paths say.  The agent of ssh has
 * no place but the one that SSH_AUTH_SOCK of the caller names: no anchor, and
 * no suffix.
 */
enum sbx_socket_form { SBX_SOCKET_PLACE, SBX_SOCKET_SSH_AGENT, SBX_SOCKET_END };

enum sbx_socket_flag {
	SBX_SOCKET_UNCONFINED = 1, /* what is asked for there is done outside */
	SBX_SOCKET_CEILING = 2,    /* it is a rule of the ceiling */
};

struct sbx_socket {
	uint32_t suffix;
	uint32_t source;
	uint16_t anchor; /* SBX_NO_ANCHOR: of the agent */
	uint8_t form;    /* enum sbx_socket_form */
	uint8_t effect;
	uint8_t platforms;
	uint8_t flags; /* enum sbx_socket_flag */
	uint16_t reserved;
};

/*
 * A host by its name, sorted by name in byte order.  Names are normal: see
 * format/model.h, which has the verdict.
 */
enum sbx_name_flag {
	SBX_NAME_BELOW = 1,   /* the names below it, and not itself: "*.x" */
	SBX_NAME_PRIVATE = 2, /* it may have an address that is not public */
	SBX_NAME_FLAGS = 3,
};

struct sbx_name {
	uint32_t name; /* string; of "*.x" it is "x" */
	uint32_t source;
	uint16_t port; /* 0: of an allow 80 and 443, of a deny every port */
	uint8_t effect;
	uint8_t flags; /* enum sbx_name_flag */
	uint8_t platforms;
	uint8_t reserved[3];
	/* Strings; 0: there is none.  Method and path stand together: the rule is
	 * about such requests of HTTP alone (format/requests.c). */
	uint32_t method, path;
	uint32_t secret;   /* that may be used there, by an allow */
	uint32_t variable; /* by which the command knows it */
};

/* Hosts by their addresses (format/addresses.c). */
struct sbx_endpoint {
	uint8_t address[16]; /* in network order; IPv4 as ::ffff:a.b.c.d; what
	                      * lies beyond the prefix is zero */
	uint32_t source;
	uint16_t low, high; /* TCP ports, inclusive */
	uint8_t prefix;     /* bits of 128: 10.2.0.0/16 has 112 */
	uint8_t effect;
	uint8_t platforms;
	uint8_t reserved[5];
};

/* The user's own proxy: on a machine all records name one. */
struct sbx_proxy {
	uint32_t suffix; /* string: of a socket's path */
	uint32_t source;
	uint16_t anchor; /* of a socket; SBX_NO_ANCHOR: TCP on 127.0.0.1 */
	uint16_t port;   /* then; of a socket 0 */
	uint8_t platforms;
	uint8_t reserved[3];
};

/* `set env NAME = VALUE`: the value is the bound anchor, if any, then text. */
struct sbx_set {
	uint32_t name;
	uint32_t text;
	uint32_t source;
	uint16_t anchor; /* or SBX_NO_ANCHOR */
	uint8_t platforms;
	uint8_t reserved;
};

/*
 * What the loader hands to Landlock on a kernel that reports `abi`: it takes
 * the row with the greatest abi not above the kernel's.  The masks of the four
 * kinds of access are already cut to what the row handles.  READ_DIR stands
 * alone because a rule on a directory also lists everything below it.
 */
struct sbx_landlock {
	uint32_t abi;
	uint32_t restrict_flags; /* of landlock_restrict_self(2) */
	uint64_t handled_fs;
	uint64_t handled_net;
	uint64_t scoped;
	uint64_t list; /* READ_DIR */
	uint64_t read;
	uint64_t write;
	uint64_t exec;
	uint64_t file; /* rights that are valid on what is not a directory */
	uint64_t connect_tcp;
	uint64_t bind_tcp;
};

/* One complete seccomp filter; the loader picks one and changes nothing. */
enum sbx_program_flag {
	SBX_PROGRAM_FULL = 1,    /* for level full, else for the levels below */
	SBX_PROGRAM_UNIX = 2,    /* AF_UNIX sockets open */
	SBX_PROGRAM_NETLINK = 4, /* route netlink opens */
	SBX_PROGRAM_TCP = 8,    /* TCP opens because Landlock holds the ports */
	SBX_PROGRAM_TRACE = 16, /* Landlock keeps ptrace(2) inside */
	SBX_PROGRAM_LOOPBACK = 32, /* for a network namespace of its own */
	SBX_PROGRAM_LISTENER = 64, /* the supervisor answers some calls */
	SBX_PROGRAM_SET_ID = 128,  /* the policy lets files have set-ID bits */
	SBX_PROGRAM_FLAGS = 255,
};

/*
 * Among the programs of its machine, of its kind of level and for the network
 * that it has made (SBX_PROGRAM_LOOPBACK or not) the loader takes the one with
 * the greatest min_abi not above the kernel's Landlock ABI, which counts as 0
 * at the levels below standard, where Landlock is not applied.  Those with
 * SBX_PROGRAM_LISTENER come before the others where the supervisor can listen,
 * and do not count where it cannot.
 */
struct sbx_program {
	uint32_t arch; /* AUDIT_ARCH_* */
	uint32_t flags;
	uint32_t min_abi;
	uint32_t first; /* index into SBX_SECTION_BPF */
	uint32_t count;
	uint32_t reserved;
};

/* The kernel's struct sock_filter, whose bytes go to seccomp(2) in place. */
struct sbx_insn {
	uint16_t code;
	uint8_t jt, jf;
	uint32_t k;
};

/* The verdict on one system call, sorted by name; those absent are allowed. */
enum sbx_syscall_verdict {
	SBX_SYSCALL_ALLOW,
	SBX_SYSCALL_DENY,
	SBX_SYSCALL_ARGS, /* decided by its arguments */
	SBX_SYSCALL_END,
};

struct sbx_syscall {
	uint32_t name;
	uint32_t source; /* SBX_NO_SOURCE: the language's own baseline */
	uint8_t verdict;
	uint8_t platforms;
	uint16_t error;  /* errno of a denial */
	uint32_t reason; /* string: the group or words that said so */
};

/* Where a rule was written: sorted, so independent of the order of includes. */
struct sbx_source {
	uint32_t file; /* string */
	uint32_t line, column;
	uint32_t via; /* string: the profile or group that holds the rule */
};

#define SBX_ASSERT_SIZE(type, size) \
	_Static_assert(sizeof(struct type) == (size), "size of struct " #type)
SBX_ASSERT_SIZE(sbx_header, 32);
SBX_ASSERT_SIZE(sbx_section, 16);
SBX_ASSERT_SIZE(sbx_meta, 32);
SBX_ASSERT_SIZE(sbx_anchor, 16);
SBX_ASSERT_SIZE(sbx_path, 24);
SBX_ASSERT_SIZE(sbx_exclusion, 8);
SBX_ASSERT_SIZE(sbx_port, 16);
SBX_ASSERT_SIZE(sbx_limit, 16);
SBX_ASSERT_SIZE(sbx_env, 16);
SBX_ASSERT_SIZE(sbx_set, 16);
SBX_ASSERT_SIZE(sbx_watch, 16);
SBX_ASSERT_SIZE(sbx_socket, 16);
SBX_ASSERT_SIZE(sbx_name, 32);
SBX_ASSERT_SIZE(sbx_endpoint, 32);
SBX_ASSERT_SIZE(sbx_proxy, 16);
SBX_ASSERT_SIZE(sbx_landlock, 88);
SBX_ASSERT_SIZE(sbx_program, 24);
SBX_ASSERT_SIZE(sbx_insn, 8);
SBX_ASSERT_SIZE(sbx_syscall, 16);
SBX_ASSERT_SIZE(sbx_source, 16);
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
    "blobs are read in place, so only little-endian hosts are served");

/* Why a byte string is not a policy: SBX_BLOB_ERROR(name, sentence). */
#define SBX_BLOB_ERRORS(X) \
	X(OK, "the blob is well formed") \
	X(SHORT, "it is too short to hold a header") \
	X(MAGIC, "it is not a compiled policy") \
	X(VERSION, \
	    "it was written for another format: compile it again, or " \
	    "update sbxrun") \
	X(SIZE, \
	    "its length differs from the length it states: it was cut " \
	    "off or added to") \
	X(SUM, "its checksum does not match: it was damaged") \
	X(TABLE, "its section table is malformed") \
	X(CRITICAL, "it needs a feature that this reader does not know") \
	X(MISSING, "a section that every policy has is missing") \
	X(STRING, "a string lies outside the string section") \
	X(NAME, "a profile or a parameter has a name that no policy can give") \
	X(RESERVED, "a reserved field is not zero") \
	X(META, "its meta section is malformed") \
	X(ANCHOR, "an anchor is malformed or unknown") \
	X(PATH, "a path rule is malformed") \
	X(PORT, "a port rule is malformed") \
	X(LIMIT, "a limit is malformed") \
	X(ENV, "an environment rule is malformed") \
	X(WATCH, "a watched place is malformed") \
	X(SOCKET, "a rule about a socket is malformed") \
	X(HOST, "a rule about a host's name is malformed") \
	X(ENDPOINT, "a rule about an address is malformed") \
	X(PROXY, "a proxy is malformed") \
	X(WAYS, "its network has more ways out than a sandbox can have") \
	X(LANDLOCK, "its Landlock table is not what its policy implies") \
	X(PROGRAM, "a filter program is malformed") \
	X(SYSCALL, "a system call entry is malformed") \
	X(SOURCE, "a source position is malformed")

enum sbx_blob_error {
#define SBX_X(name, sentence) SBX_BLOB_##name,
	SBX_BLOB_ERRORS(SBX_X)
#undef SBX_X
};

/*
 * Checked pointers into the bytes given to sbx_verify(), valid as long as
 * those bytes are.  A section that is absent has count 0.
 */
struct sbx_blob {
	const uint8_t *base;
	uint32_t size;    /* up to the text */
	const char *text; /* NULL if it was not read; any bytes */
	uint32_t text_size;
	const struct sbx_meta *meta;
	const char *strings;
	const struct sbx_anchor *anchors;
	const struct sbx_path *paths;
	const struct sbx_exclusion *exclusions;
	const struct sbx_port *ports;
	const struct sbx_limit *limits;
	const struct sbx_env *env;
	const struct sbx_set *set;
	const struct sbx_landlock *landlock;
	const struct sbx_program *programs;
	const struct sbx_insn *bpf;
	const struct sbx_syscall *syscalls;
	const struct sbx_source *sources;
	const struct sbx_watch *watches;
	const struct sbx_socket *sockets;
	const struct sbx_name *names;
	const struct sbx_endpoint *endpoints;
	const struct sbx_proxy *proxies;
	uint32_t strings_size, anchor_count, path_count, exclusion_count,
	    port_count, limit_count, env_count, set_count, landlock_count,
	    program_count, bpf_count, syscall_count, source_count, watch_count,
	    socket_count, name_count, endpoint_count, proxy_count;
};

/*
 * Checks every byte of the blob that has a meaning, but for the text, which may
 * be absent: then `size` ends where it would begin.  Total: any bytes at all
 * give SBX_BLOB_OK and a filled view, or one of the errors and an unusable
 * view; SBX_BLOB_WAYS is looked for last, and what it refuses can be read, but
 * not loaded.  `base` must be 8-aligned.
 */
enum sbx_blob_error sbx_verify(const void *base, size_t size,
    struct sbx_blob *blob);

/* The records of a section of a verified blob; NULL and none if it is
 * absent. */
const void *sbx_records(const struct sbx_blob *blob, enum sbx_section_kind kind,
    uint32_t *count);

/* The sentence of an error, as the end of "sbxrun: FILE: ...". */
const char *sbx_blob_strerror(enum sbx_blob_error error);

/* What header.sum must be, of so many bytes, which begin with a header: its own
 * field counts as zero. */
uint32_t sbx_checksum(const void *blob, size_t size);

/* The string at a verified offset. */
static inline const char *
sbx_string(const struct sbx_blob *blob, uint32_t offset)
{
	return blob->strings + offset;
}

/* --- filter_run.c ------------------------------------------------------ */

/*
 * What a seccomp program answers to a system call.  The compiler asks its own
 * programs, and the supervisor that of the command, when it has to know what a
 * filter would have said without it.
 */

/* What a system call looks like to a filter: struct seccomp_data. */
struct syscall_data {
	int32_t number;
	uint32_t audit;
	uint64_t instruction_pointer;
	uint64_t args[6];
};

/* Runs a program that the kernel would load, and ends with its action.  The
 * second one counts instructions. */
uint32_t bpf_run_loaded(const struct sbx_insn *insns,
    const struct syscall_data *data);
uint32_t bpf_run_counted(const struct sbx_insn *insns,
    const struct syscall_data *data, size_t *steps);

/* Whether it can be run at all: it stays inside of itself and comes to an end.
 * The kernel asks for more before it loads a program. */
bool bpf_is_runnable(const struct sbx_insn *insns, size_t count);

/* --- landlock.c -------------------------------------------------------- */

/*
 * The rows of masks: what format/landlock.def says, for one ABI and one policy.
 * The compiler writes them into a blob, and the verifier holds a blob to them.
 */

enum {
	SBX_LANDLOCK_LAST_ABI = 10,   /* the newest that the table knows */
	SBX_LANDLOCK_LEAST_ROWS = 10, /* that every blob of format 1 has */
};

/* The one right that rules about sockets by path give, and no other rule. */
#define SBX_LANDLOCK_RESOLVE_UNIX (UINT64_C(1) << 16)

/* The row of an ABI of the table.  What the policy leaves open as a whole (the
 * network, signals, abstract sockets) is not handled. */
struct sbx_landlock sbx_landlock_row(uint32_t abi,
    const struct sbx_meta *policy);

/*
 * Whether a row is that.  For an ABI that the table does not know, a newer
 * compiler may have added rights that this reader does not know either; of the
 * others the row says what the last known row says.
 */
bool sbx_landlock_is_implied(const struct sbx_landlock *row,
    const struct sbx_meta *policy);

#endif
