/*
 * What has to be known of a kind of rule, in one entry of one table.  Each room
 * loops over the table or asks the entry of the rule that it has, and names no
 * kind itself.  The entries are in compiler/kinds/, above all rooms that ask
 * them, since they use what those rooms offer.
 *
 * A function that is NULL means what stands in parentheses.
 */
#ifndef SBX_KIND_H
#define SBX_KIND_H

#include "compiler/policy/expand.h"
#include "format/names.h"

#include <stdio.h>

struct access;
struct builder;
struct checker;
struct emitter;
struct pass;
struct places;
struct remedy;
struct restorer;
struct subject;
struct why;

/* The object of a rule, as it is written after the words. */
struct rule_object {
	enum ast_atom_kind kind;
	const char *text; /* of a group without the '@'; may be `digits` */
	char digits[SBX_NAME_SIZE + 32];
};

/* What a rule speaks of, for rules_judge(): numbers of one name. */
struct rule_span {
	const char *name; /* interned, or NULL */
	uint16_t low, high;
	bool part; /* not the whole rule: one of several spans beside it */
	bool wide; /* the rule covers more, see covers() */
};
struct rule_spans {
	VEC(struct rule_span) list;
};

/* A member of a record. */
struct record_field {
	uint8_t offset, size;
};

/* The record of a blob that holds such a rule. */
struct record_layout {
	size_t size;
	size_t platforms, source;
	struct record_field order[8]; /* by which they are sorted */
};

#define RECORD_FIELD(type, field) \
	{ \
		offsetof(type, field), sizeof(((type *)NULL)->field) \
	}
#define RECORD_LAYOUT(type) \
	.size = sizeof(type), .platforms = offsetof(type, platforms), \
	.source = offsetof(type, source)

/* A way to ask about one access: "connect tcp 443". */
struct access_form {
	const char *word;
	const char *second; /* a word between it and the object, or NULL; "":
	                     * there is no object */
	uint8_t detail;
};

/* How the differences of a kind are told. */
struct difference_words {
	const char *word, *title;
	const char *silence; /* what a policy says that has no such rule */
};

struct rule_kind {
	enum rule_kind_id id;

	/* --- statements to rules ----------------------------------------- */
	const char *noun;    /* "a port": what goes after the words, or NULL */
	bool has_exclusions; /* such a rule may end with `except` */

	/* Adds the rules of a statement to a list (one for each object). */
	void (*expand)(struct expansion *expansion, const struct ast_stmt *stmt,
	    const struct item *base, const struct ast_atom *atom,
	    struct item_list *list);
	/* Reads one object; false after reporting. */
	bool (*resolve)(struct scope *scope, const struct ast_atom *atom,
	    struct rule *rule);
	/* Whether rules with the same words have the same object (they do). */
	bool (*equals)(const struct rule *a, const struct rule *b);
	/* The same number for rules that are equal (0). */
	uint64_t (*hash)(const struct rule *rule);
	/* Whether the one may be meant where the other is written (equals). */
	bool (*resembles)(const struct rule *a, const struct rule *b);

	/* --- mistakes ----------------------------------------------------- */
	/* `allow everything` leaves such a rule its effect. */
	bool holds_beside_everything;
	/* Adds the span of a whole rule, then those of its parts, if it has
	 * such (the rule is not judged). */
	void (*spans)(struct arena *arena, const struct rule *rule,
	    struct rule_spans *spans);
	/* Whether a wide rule covers all of another. */
	bool (*covers)(const struct rule *wide, const struct rule *rule);
	/* Whether another check says why the rule says nothing (no). */
	bool (*is_moot)(const struct checker *checker, const struct rule *rule);

	/* --- rules as they are written ----------------------------------- */
	/* (nothing goes after the words) */
	void (*object)(const struct rule *rule, struct rule_object *object);
	/* The whole rule of a policy (effect, words, object). */
	const char *(
	    *text)(const struct policy *policy, const struct rule *rule);
	/* The whole rule of a blob (the same). */
	void (*show)(FILE *stream, const struct sbx_blob *blob,
	    const void *record);
	/* Adds a statement that says the rule (effect, words, object). */
	void (*state)(struct builder *builder, const struct rule *rule);

	/* --- rules and the records of a blob ----------------------------- */
	enum sbx_section_kind section; /* that has such a record for each */
	const char *section_name;
	struct record_layout record;
	/* The record of a rule, but for platforms and source; and back, but for
	 * the origin.  Strings are those of the blob, or interned. */
	void (*fill)(struct emitter *emitter, const struct rule *rule,
	    void *record);
	void (*read)(struct arena *arena, const struct sbx_blob *blob,
	    const void *record, struct rule *rule);
	/* What is left to do when all records have been read back. */
	void (*restore)(struct restorer *restorer);

	/* --- questions about one access ----------------------------------- */
	/* (nobody asks) */
	const struct access_form *forms; /* up to one without a word */
	const char *usage;
	/* Puts the object into the access; NULL or what is wrong with it. */
	const char *(*ask)(const struct places *places, const char *object,
	    struct access *access);
	/* Prints the object of an access. */
	void (*show_access)(FILE *stream, const struct access *access);
	struct verdict (*verdict)(const struct subject *subject,
	    const struct access *access);
	/* What becomes of an access that is allowed, in a word ("allowed"). */
	const char *(*outcome)(const struct why *why);
	/* Says why: the rule that decided, and what is to be known about it. */
	void (*answer)(const struct why *why);
	/* What enforces a denial at a level, or NULL for nothing. */
	const char *(*enforcer)(const struct why *why, enum sbx_level level);
	/* The smallest change of the policy that allows it. */
	void (*remedy)(struct remedy *remedy);

	/* --- differences between two policies ----------------------------- */
	struct difference_words difference;
	void (*compare)(struct pass *pass);
};

extern const struct rule_kind *const rule_kinds[KIND_END];

/* Whether two rules say the same. */
bool rule_equals(const struct rule *a, const struct rule *b);

/* The kind whose records are in a section, or NULL. */
const struct rule_kind *rule_kind_of_section(uint32_t section);

/* A string of a blob: interned, or without an arena as it lies there. */
const char *record_string(struct arena *arena, const struct sbx_blob *blob,
    uint32_t offset);

/* "deny network connect tcp 443", in the policy's arena. */
const char *rule_text(const struct policy *policy, const struct rule *rule);

#endif
