/* What is wrong or risky in a policy. */
#ifndef SBX_COMPILER_CHECK_CHECK_H
#define SBX_COMPILER_CHECK_CHECK_H

#include "compiler/policy/kind.h"
#include "compiler/policy/policy.h"
#include "format/model.h"

/* --- certificate.c ----------------------------------------------------- */

/*
 * The enforcement certificate: what of a resolved policy would not be enforced
 * somewhere else, rule by rule, known before it is run there.
 *
 *	landlock=N     level standard on a kernel with Landlock ABI N
 *	level=LEVEL    that level on a kernel with all that this sbxc knows
 *	macos          the sandbox profile of `sbxc dump -O sbpl`
 *
 * Three things can happen to a rule, and each has its code:
 *
 *	open    what the policy closes is open there: an error
 *	shut    what the policy opens is shut there: a warning
 *	weaker  it holds, with an exception or at a price: a note
 *
 * What is only preferred is never an error.
 */

struct enforcer {
	const char *text; /* as the user wrote it */
	bool macos;
	enum sbx_level level; /* on Linux */
	int landlock;         /* ABI; 0 below level standard */
};

/* Reads the word of --target; false if it is none. */
bool enforcer_read(const char *text, struct enforcer *enforcer);

/* Adds what the rules come to there. */
void certify(const struct policy *policy, const struct enforcer *enforcer,
    struct diags *diags);

/* Sets the codes that only certify() gives. */
void certificate_codes(bool codes[DIAG_END]);

/* --- grants.c ---------------------------------------------------------- */

enum { PLATFORM_COUNT = 3, RIGHT_COUNT = 3 };

/* Which rules are asked about. */
enum cover {
	COVER_ALLOW,
	COVER_DENY,
	COVER_ANY_DENY,
	COVER_HELD_DENY, /* but for `prefer deny write`, see sbx_path_holds() */
	COVER_END,
};

/* What covers the place of a rule: the rule itself, and those around it.  Rules
 * are 1 + an index into the policy's paths; 0 is none. */
struct coverage {
	uint32_t around;    /* the nearest other rule that covers its place */
	uint32_t excepting; /* the nearest rule that has exclusions */
	/* The outermost rule without exclusions, for each platform and right:
	 * [3 * platform + right]. */
	uint32_t by[COVER_END][PLATFORM_COUNT * RIGHT_COUNT];
};

struct grants {
	const struct policy *policy;
	struct sbx_index *of;       /* for each anchor; numbers are those of
	                              * the policy's paths */
	struct coverage *coverages; /* beside the policy's paths */
};

void grants_init(struct grants *grants, const struct policy *policy);

/* A rule of those around rule `index` which together have all of these rights
 * wherever the rule applies; 0 if they do not. */
uint32_t grants_cover(const struct grants *grants, size_t index,
    enum cover cover, uint8_t rights);

/* The denies that hold at every level that the policy may run at, from standard
 * on. */
enum cover grants_held(const struct grants *grants);

/* Whether denies take a right at a place on all of these platforms, at all
 * levels that the policy may run at, standard and full. */
bool grants_denied(const struct grants *grants, uint8_t platforms,
    uint8_t right, struct target at);

/* The outermost rule that allows one of the rights at a place on one of the
 * platforms, whatever is denied; NULL if there is none. */
const struct path_rule *grants_allow(const struct grants *grants,
    uint8_t platforms, uint8_t rights, struct target at);

/* Whether the rule applies to a place: it lies there or above, and none of its
 * exclusions does. */
bool rule_applies(const struct path_rule *rule, struct target at);

bool same_exclusions(const struct path_rule *a, const struct path_rule *b);

/* --- check.c ----------------------------------------------------------- */

/*
 * The checks.  Each is one function that looks at a resolved policy, changes
 * nothing, and reports one kind of mistake.
 */

/* Runs the table of checks over a resolved policy. */
void check_policy(const struct policy *policy, struct diags *diags);

/* What is found out about one path rule: 1 + the index of another one in
 * policy->paths, or 0. */
struct path_fact {
	uint32_t given_by;  /* an allow: another allow gives all of it */
	uint32_t denied_by; /* an allow: a deny takes its right everywhere */
	uint32_t within;    /* a deny: another deny takes all of it */
};

/* What is found about a rule of another kind: 1 + the index of another rule of
 * its list, or 0. */
struct rule_fact {
	uint32_t
	    within; /* a rule of that effect, or a stronger one, has it all */
	uint32_t denied; /* an allow: a deny has it all */
};

/* What the blanket rules and the ports come to on one platform. */
struct platform_fact {
	bool everything;
	enum sbx_net net;
	struct origin net_origin;
};

struct checker {
	const struct policy *policy;
	struct diags *diags;
	struct arena *arena;
	enum diag_id id;         /* of the check that runs */
	struct path_fact *facts; /* one for each of policy->paths */
	struct grants grants;    /* those that cover a path */
	struct platform_fact on[SBX_ON_MACOS + 1]; /* by its bit */
	uint8_t named; /* the platforms where names of hosts are allowed */
	struct rule_fact *rule_facts[KIND_END]; /* once they are asked for */
	struct map baseline; /* calls that it denies, to its entries */
	uint16_t *reached;   /* kinds of risks, for each of policy->paths */
};

/* Adds a record of the check that runs. */
struct diag *check_report(struct checker *checker, struct loc loc,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* "'RULE' has no effect": what one says, and a help if it is not NULL. */
struct diag *rule_report(struct checker *checker, const struct rule *rule,
    const char *says, const char *help);

typedef void policy_check(struct checker *checker);
typedef void rule_check(struct checker *checker, const struct rule *rule);

/* rules.c */
policy_check check_rule, check_set_denied;
/* What the check that runs says of a rule beside another one, which says the
 * same, or more; of one that is denied. */
void report_within(struct checker *checker, const struct rule *rule,
    const struct rule *other);
void report_denied(struct checker *checker, const struct rule *rule,
    const struct rule *deny);
/* "'deny env X' of 'profile' is here", under a diagnostic. */
void note_rule(struct checker *checker, struct diag *diag,
    const struct rule *rule);

/* paths.c */
void paths_judge(struct checker *checker);
policy_check check_path, check_path_unenforceable, check_path_unwatched,
    check_path_letters;

/* risks.c */
void risks_judge(struct checker *checker);
policy_check check_risk, check_risk_hooks;
/*
 * What an allow of a right at a place, below ~ or absolute, would give away;
 * NULL for nothing but the place.  Of what lies in the place does not count
 * what `spared` says is denied.
 */
typedef bool risk_spared(const void *context, struct target place,
    enum sbx_right right);
const char *risk_of_place(struct arena *arena, struct target at, uint8_t right,
    risk_spared *spared, const void *context);
/* Whether it is about the whole machine or home: that is told once. */
bool risk_is_broad(struct arena *arena, const struct path_rule *rule);
/* What a path, below whatever anchor, gives away of a repository of git to whom
 * has such rights there, or NULL. */
const char *risk_of_git(const char *path, uint8_t rights);

/* sockets.c */
policy_check check_socket;
rule_check check_socket_idle;
/* Who does anything for the command at a socket that a rule lets it connect to
 * ("Docker"), or NULL.  What the policy denies does not count. */
const char *risk_of_socket(const struct policy *policy,
    const struct rule *rule);
/* The number-th place of risks.def where somebody does, NULL at the end, and
 * who it is; its platforms. */
const struct target *risk_escape(size_t number, const char **who,
    uint8_t *platforms);

/* leaks.c */
policy_check check_risk_write_exec, check_risk_secrets, check_risk_leak,
    check_risk_single_file;
/* Whether what is there is the sandbox's own, or no program. */
bool risk_is_own_ground(struct target at);

/* ports.c */
/* Whether the whole network is allowed where the rule holds. */
bool port_is_moot(const struct checker *checker, const struct rule *rule);
policy_check check_port_landlock;
rule_check check_port_full, check_port_deny_full, check_loopback_full,
    check_loopback_beside;

/* hosts.c */
policy_check check_host, check_hosts_beside, check_hosts_network_denied,
    check_host_metadata;
rule_check check_proxy_twice, check_host_published;
/* Whether the name lies below another one. */
bool host_is_below(const char *name, const char *above);

/* host_denies.c */
rule_check check_host_deny_open, check_host_deny_idle, check_published_way;
/* Nothing enforces a deny beside what is allowed at `origin`. */
void report_unheld(struct checker *checker, const struct rule *deny,
    const struct origin *origin, const char *because, const char *help);

/* host_risks.c */
policy_check check_known_host;
rule_check check_host_apex;
/* To whom an allow of a host would lead ("where whoever has an account can
 * push"), or NULL; whether that is who gives out the machine's credentials. */
const char *risk_of_host(const char *name, bool *gives_keys);

/* syscalls.c */
policy_check check_syscall_loader;
rule_check check_syscall_absent, check_syscall_macos, check_syscall_io_uring;

/* baseline.c */
rule_check check_syscall_idle, check_syscall_broad, check_syscall_ruling;
/* What an allow of a call opens that no rule confines, or NULL. */
const char *risk_of_call(struct arena *arena, const char *call);

/* --- spelling.c -------------------------------------------------------- */

enum { MAX_SPELLINGS = 5 };

struct spelling {
	struct target at;
	bool globbed;         /* it speaks of what `glob` matches below `at` */
	struct sbx_glob glob; /* points into the rule's text */
	/* What the rule writes before `at`, as in "/home/ada": so many bytes of
	 * its own place; or it cannot be told, because a pattern is there. */
	uint32_t prefix;
	bool unplaced;
};

/* Those of a rule, the one that is written first; how many. */
size_t rule_spellings(struct arena *arena, const struct path_rule *rule,
    struct spelling spellings[MAX_SPELLINGS]);

/* How a rule and a place meet. */
enum reach {
	REACH_NONE,
	REACH_INSIDE, /* the rule speaks of something in the place */
	REACH_AT,     /* of the place itself, and of all in it */
	REACH_ABOVE,  /* of a tree that the place lies in */
};
enum reach spelling_reaches(const struct spelling *spelling,
    struct target place);

/* A place that the spelling reaches as the rule itself would write it; false if
 * that cannot be told. */
bool spelling_place(struct arena *arena, const struct path_rule *rule,
    const struct spelling *spelling, struct target place,
    struct target *written);

#endif
