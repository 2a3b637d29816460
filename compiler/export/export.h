/*
 * Policies for other programs: `sbxc export`.  What a target cannot say is a
 * loss, which names the rule; with a loss nothing is written, unless the user
 * asks for that.  A target may refuse more than the policy does, or, if the user
 * wants it all the same, less; it never does so without a word.
 */
#ifndef SBX_EXPORT_H
#define SBX_EXPORT_H

#include "compiler/base/map.h"
#include "compiler/lower/filter.h"
#include "compiler/policy/policy.h"

#include <stdio.h>

struct subject;

enum target_bit {
	TARGET_OCI_SECCOMP = 1,
	TARGET_BWRAP = 2,
	TARGET_SYSTEMD = 4,
	TARGET_DOCKER = 8,
	TARGET_ALL = 15,
};

enum loss_kind {
	LOSS_NONE,
	LOSS_WEAKER,   /* the target lets more through than the policy */
	LOSS_NARROWER, /* it lets less through, or does not set something */
};

/* Rules of one statement, or those of one shipped group, that are lost for the
 * same reason. */
struct loss {
	enum loss_kind kind;
	struct origin origin; /* of the first */
	const char *rule;     /* its text */
	const char *why;
	size_t count;
};

struct exporter {
	struct arena *arena;
	const struct policy *policy;
	const struct arch *arch;
	enum sbx_net net; /* what the policy gives on this machine */
	bool everything;
	enum target_bit target;
	/* The policy where it is to run; of targets that bind all places. */
	const struct subject *subject;
	struct map known;
	VEC(struct loss) losses;
};

struct export_target {
	const char *name;
	enum target_bit bit;
	bool has_paths;  /* all parameters must be bound */
	bool has_places; /* so must the workspace and the home directory */
	/* What is lost with path rules, which depends on all of them. */
	void (*paths)(struct exporter *exporter);
	void (*write)(const struct exporter *exporter, FILE *stream);
};

/* The target of a name, or NULL. */
const struct export_target *export_target_find(const char *name);

/* Finds what is lost, and reports it. */
struct exporter export_prepare(const struct policy *policy,
    const struct export_target *target, const struct subject *subject,
    struct diags *diags);

/* Adds a loss. */
void loss_add(struct exporter *exporter, enum loss_kind kind,
    const struct rule *rule, const char *why);
void loss_add_path(struct exporter *exporter, enum loss_kind kind,
    const struct path_rule *rule, const char *why);

/* The same of what no rule says, but every policy means. */
void loss_add_own(struct exporter *exporter, const char *why);

/* The limit of a kind, or NULL. */
const struct rule *export_limit(const struct exporter *exporter,
    enum sbx_limit_kind kind);

/* Whether a rule holds on the machine that is written for. */
bool export_wants(const struct exporter *exporter, const struct origin *origin);

/* The filter for a kind of place (enum sbx_program_flag). */
void export_filter(const struct exporter *exporter, uint32_t flags,
    struct filter *filter);

/* See the table of losses. */
void losses_find(struct exporter *exporter);
/* A line for each loss. */
void losses_print(const struct exporter *exporter, FILE *stream,
    const char *prefix);

void oci_paths(struct exporter *exporter);
void oci_write(const struct exporter *exporter, FILE *stream);
/* The same filter for a kind of place (enum sbx_program_flag). */
void oci_write_filter(const struct exporter *exporter, uint32_t flags,
    FILE *stream);
void bwrap_paths(struct exporter *exporter);
void bwrap_write(const struct exporter *exporter, FILE *stream);
void systemd_paths(struct exporter *exporter);
void systemd_write(const struct exporter *exporter, FILE *stream);

void docker_write(const struct exporter *exporter, FILE *stream);

/* What is the same in all scripts: view.sh finds what is to be mounted, the
 * others have their program do it. */
extern const char view_script[];
extern const char bwrap_script[];
extern const char docker_script[];

#endif
