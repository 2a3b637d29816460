/* How rules become part of a policy; what each kind of rule has. */
#ifndef SBX_COMPILER_POLICY_KIND_H
#define SBX_COMPILER_POLICY_KIND_H

#include "compiler/base/base.h"
#include "compiler/policy/policy.h"
#include "compiler/tables/tables.h"
#include "format/model.h"

#include <stdio.h>

/* --- scope.c ----------------------------------------------------------- */

/*
 * Names and the paths that they stand for: the anchors that the loader binds,
 * the built-in sets, `let` and `param`.  Names are per compilation.
 */

/* A path and the platforms where the name that gave it has it. */
struct place {
	struct target at;
	uint8_t platforms;
};

struct place_list {
	VEC(struct place) places;
};

enum symbol_kind {
	SYMBOL_ANCHOR,
	SYMBOL_SET,
	SYMBOL_LET,
	SYMBOL_PARAM,
	SYMBOL_AGENT, /* of ssh: a socket that the environment names */
};

struct symbol {
	enum symbol_kind kind;
	const char *name;
	const struct ast_stmt *stmt; /* of a let or a param */
	const char *via;             /* the profile or group that holds it */
	struct place_list places;    /* once `done` */
	uint16_t anchor;
	bool busy, done, bound;
	const struct ast_atom *next; /* that may need another let */
	struct symbol *waiting;      /* that needs this one */
};

struct scope {
	struct arena *arena;
	struct sources *sources;
	struct diags *diags;
	struct policy *policy;
	struct map symbols;
	VEC(const char *) names; /* for "did you mean" */
	struct definitions predefined;
	size_t places; /* that names and rules stood for so far */
};

void scope_init(struct scope *scope, struct policy *policy,
    struct diags *diags);

/* Declares a `let` or a `param`; reports a name that is taken. */
void scope_declare(struct scope *scope, const struct ast_stmt *stmt,
    const char *via);

/* Makes a parameter an anchor of the policy, if it is not one yet. */
void scope_bind(struct scope *scope, struct symbol *param);
void scope_bind_name(struct scope *scope, const char *name);

/* Works out every `let`, used or not, so that its mistakes are reported. */
void scope_settle(struct scope *scope);

/*
 * Adds the paths that an object stands for on some platforms.  Returns false
 * after reporting; a set that is empty there adds nothing and is reported.
 */
bool scope_paths(struct scope *scope, const struct ast_atom *atom,
    uint8_t platforms, struct place_list *list);

/*
 * Splits "${name}rest" or "~/rest" at the front of a text.  Returns the rest
 * and the symbol, which is NULL where the text begins with neither; or NULL
 * after reporting an unknown or unclosed name.
 */
const char *scope_split(struct scope *scope, const struct ast_atom *atom,
    struct symbol **symbol);

/* What a statement says of where it was written; NULL if it says nothing, or
 * after reporting what is no place. */
const struct position *scope_position(struct scope *scope,
    const struct ast_stmt *stmt);

/* --- objects.c --------------------------------------------------------- */

/*
 * From the words and atoms of one statement to the things that they mean:
 * forms of rules, variables, limits, values, platforms.  Each function reports
 * what is wrong with an object and then returns false.
 */

/*
 * What a rule speaks of.  *objects is the first atom after its words; it may
 * stand among the words of the statement or among its objects.
 */
const struct what *object_what(struct scope *scope, const struct ast_stmt *stmt,
    const struct ast_atom **objects);

/* The atoms of a statement one after the other: words, then objects. */
const struct ast_atom *object_next(const struct ast_stmt *stmt,
    const struct ast_atom *atom);
const struct ast_atom *object_first(const struct ast_stmt *stmt);

/* An atom as it was written. */
const char *atom_text(struct scope *scope, const struct ast_atom *atom);

/* A decimal number that ends at `stop`; false if it is none or too large. */
bool number_read(const char *text, const char *stop, uint64_t *value);

/* The number of a port, which is part of an atom's text. */
bool object_port(struct scope *scope, const struct ast_atom *atom,
    const char *text, size_t len, uint16_t *port);

/* The name of a variable; a pattern of names if `stars`. */
bool object_variable(struct scope *scope, const struct ast_atom *atom,
    bool stars);

bool object_limit(struct scope *scope, const struct limit_word *limit,
    const struct ast_atom *atom, uint64_t *value);

/* The value of `set env`: an anchor, if any, and the text after it. */
bool object_value(struct scope *scope, const struct ast_atom *atom,
    struct rule *rule);

/* The bits of an `on` block's platforms, or 0. */
uint8_t object_platforms(struct scope *scope, const struct ast_stmt *stmt);

/*
 * What resolve.c, rules.c and settings.c share while a profile is expanded:
 * the rules found so far, each with the block that holds it, so that `drop`
 * can tell what was inherited.
 */

/* Rules that add up. */
struct item {
	struct rule rule;
	bool dropped;
	int layer; /* of the chain: 1 is the eldest parent */
	const struct block *block;
};

struct item_index;

struct item_list {
	VEC(struct item) list;
};

/* Statements that replace each other: of each kind and key one stands. */
enum setting_kind {
	SETTING_LIMIT, /* key: enum sbx_limit_kind */
	SETTING_SET,   /* name */
	SETTING_ABOUT,
	SETTING_LEVEL,
	SETTING_LANDLOCK,
};

struct setting {
	struct origin origin;
	struct position position; /* of it */
	enum setting_kind kind;
	unsigned key;
	const char *name; /* of a variable, else "" */
	const char *text;
	uint64_t value;
	uint16_t anchor;
	bool none; /* limit X none, drop set env X */
	const struct block *block;
	int layer, depth; /* a later layer wins, then the lesser depth */
	uint8_t stands;   /* the platforms that no stronger one takes */
	size_t order;
};

/* A statement that waits for the end of its layer. */
struct pending_drop {
	const struct ast_stmt *stmt;
	const struct block *block;
	uint8_t platforms;
};

/* `drop use GROUP`, see uses.c. */
struct use_drop {
	const struct ast_stmt *stmt;
	const struct block *block;
	uint8_t platforms;
	int layer;
	bool hit;                   /* some use is passed over */
	const struct ast_stmt *own; /* a use of the same block */
	struct use_drop *next;      /* of the same group */
};

struct uses {
	enum {
		EXPAND_ALL,
		COLLECT_OWN,    /* drops of uses in the profile of the layer */
		COLLECT_GROUPS, /* and those in its groups */
	} pass;
	bool some; /* there are drops to be collected */
	VEC(struct use_drop *) drops;
	struct map by_name; /* of the group: the last drop */
	int last_layer;     /* that has one, or 0 */
};

struct expansion {
	struct arena *arena;
	struct sources *sources;
	struct diags *diags;
	struct policy *policy;
	struct scope scope;
	struct blocks *blocks;
	struct item_list items;
	struct item_index *again; /* of them, by place; NULL: not asked yet */
	bool repeats;             /* what is added may be there already */
	size_t resembled; /* items that a drop was compared with in vain */
	VEC(struct setting) settings; /* in the order of the text */
	VEC(struct pending_drop) drops;
	struct uses uses;
	VEC(struct block *) gathered; /* in the order of their use */
	int layer;
	int dropping;      /* the last layer that a drop took from, or 0 */
	size_t exclusions; /* of all rules */
	bool full;         /* too many rules: reported once */
};

/* Where a statement stands. */
struct context {
	struct block *block;
	uint8_t platforms;
	int depth;  /* 0: the profile; 1: a group that it uses ... */
	bool again; /* this group was expanded by an earlier layer too */
	bool there; /* and all that it said then still stands */
};

/* The origin of what a statement gives; a position that is none is reported. */
struct origin context_origin(struct expansion *expansion,
    const struct context *context, const struct ast_stmt *stmt, struct loc loc);

/* rules.c: adds what a rule says to the items. */
void expand_rule(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context);

/* drop.c: takes back what the drops of this layer name. */
void expand_drops(struct expansion *expansion);

/* uses.c: notes a drop; the platforms on which a use counts; reports drops of
 * what is not inherited. */
void use_drop_note(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context);
uint8_t use_platforms(struct expansion *expansion, const struct ast_stmt *use,
    const struct context *context);
void use_drops_report(struct expansion *expansion);

/* rules.c: the items of a rule or of a drop. */
void rule_items(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context, struct item_list *list);

/* Adds an item to a list; reports one too many. */
void item_add(struct expansion *expansion, struct item_list *list,
    const struct item *item);

/* settings.c: notes a limit, set, about or require; decides which stand. */
void expand_limit(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context);
void expand_set(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context);
void expand_about(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context);
void expand_require(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context);
void expand_settings(struct expansion *expansion);

/* unused.c: reports names and groups of the file that nothing speaks of. */
void report_unused(struct expansion *expansion, const struct ast_stmt *stmts);

/* --- exclusions.c ------------------------------------------------------ */

struct exclusion {
	struct place place;
	const struct ast_atom *atom;
	bool used; /* it is below one of the rule's paths, or may be */
};

struct exclusions {
	struct expansion *expansion;
	VEC(struct exclusion) list; /* in the order of the text */
	struct exclusion **sorted;  /* the same, by place */
	uint8_t platforms;          /* that all of them are for */
};

/* Reads those of a statement for some platforms; false after reporting. */
bool exclusions_read(struct exclusions *exclusions, struct expansion *expansion,
    const struct ast_stmt *stmt, uint8_t platforms);

/* Whether some exclusion is not for all of these platforms. */
bool exclusions_differ(const struct exclusions *exclusions, uint8_t platforms);

/* Gives a rule its exclusions; false if one of them swallows its path. */
bool exclusions_cut(struct exclusions *exclusions, struct path_rule *rule);

/* Reports those that cut nothing out of any path of the statement. */
void exclusions_report(const struct exclusions *exclusions,
    const struct ast_stmt *stmt);

/* --- globs.c ----------------------------------------------------------- */

/*
 * Splits an AST_GLOB: *place becomes the atom of the place, *pattern interned,
 * or NULL where there is no wildcard, which is warned of.  False after
 * reporting.
 */
bool glob_split(struct scope *scope, const struct ast_atom *atom,
    struct ast_atom *place, const char **pattern);

/* Whether a pattern speaks of a path below its place, of what lies in that or
 * of what it lies in. */
bool glob_touches(const char *pattern, const char *below);

/* Orders patterns; NULL, which is none, comes first. */
int glob_compare(const char *a, const char *b);

/* --- host.c ------------------------------------------------------------ */

/* "github.com", "*.npmjs.org:8080": into rule->domain; adds to its flags. */
bool host_name_read(struct scope *scope, const struct ast_atom *atom,
    struct rule *rule);

/* "10.0.0.5:5432"; or, with an object for the ports, "10.0.0.5:": into
 * rule->endpoint. */
bool host_address_read(struct scope *scope, const struct ast_atom *atom,
    const struct ast_atom *ports, struct rule *rule);

/* One port. */
bool host_port_read(struct scope *scope, const struct ast_atom *atom,
    uint16_t *port);
/* "443" or "8000-8080" within the text of an atom. */
bool host_ports_read(struct scope *scope, const struct ast_atom *atom,
    const char *text, uint16_t *low, uint16_t *high);

/* Whether none of the ports is one of the sandbox's own; reports it. */
bool host_ports_free(struct scope *scope, const struct ast_atom *atom,
    uint16_t low, uint16_t high);

/*
 * An address, with "/BITS" behind it or not, in brackets or not; false if the
 * text is none.  What lies beyond the prefix is kept.
 */
struct host_net {
	uint8_t address[16];
	uint8_t prefix; /* of 128 bits */
};
bool host_net_parse(const char *text, size_t len, struct host_net *net);

/* The host in a URL, or NULL. */
const char *host_of_url(struct arena *arena, const char *text);

/* --- idna.c ------------------------------------------------------------ */

/*
 * "b\u00fccher.example" as "xn--bcher-kva.example"; NULL for a text that is no
 * UTF-8 or too long.  Letters are taken as they are: capitals beyond ASCII are
 * not lowered, nor is anything composed.
 */
const char *idna_to_ascii(struct arena *arena, const char *name);

/* --- item_index.c ------------------------------------------------------ */

struct item_index {
	bool places;     /* equal are those of one place in the text alone */
	struct map keys; /* its numbers are the indices of `first` */
	VEC(uint32_t) first; /* 1 + the number of an item, or 0 */
	VEC(uint32_t) next;  /* by number: the one after it, as above */
};

/* Adds the items of the list that are not in the index yet. */
void item_index_fill(struct arena *arena, struct item_index *index,
    const struct item_list *items);

/* Where the first item is noted that may equal this one; NULL: there is none.
 * The next one is noted in next.items[number of the item]. */
uint32_t *item_index_find(const struct item_index *index,
    const struct item *item);

/*
 * What has to be known of a kind of rule, in one entry of one table.  Each room
 * loops over the table or asks the entry of the rule that it has, and names no
 * kind itself.  The entries are in compiler/kinds/, above all rooms that ask
 * them, since they use what those rooms offer.
 *
 * A function that is NULL means what stands in parentheses.
 */

struct access;
struct builder;
struct checker;
struct emitter;
struct pass;
struct places;
struct remedy;
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
	struct record_field order[12]; /* by which they are sorted */
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
	                     * there is no object; "*": any word */
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
	bool has_use;        /* and with `with` */

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
	/* The whole rule of a blob. */
	void (*show)(FILE *stream, const struct sbx_blob *blob,
	    const void *record);
	/* Adds a statement that says the rule (effect, words, object). */
	void (*state)(struct builder *builder, const struct rule *rule);

	/* --- rules and the records of a blob ----------------------------- */
	enum sbx_section_kind section; /* that has such a record for each */
	const char *section_name;
	struct record_layout record;
	/* The record of a rule, but for platforms and source. */
	void (*fill)(struct emitter *emitter, const struct rule *rule,
	    void *record);

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

/* "deny network connect tcp 443", in the policy's arena. */
const char *rule_text(const struct policy *policy, const struct rule *rule);

/* --- path.c ------------------------------------------------------------ */

/*
 * The text of a path: what is wrong with it, and where in the source.
 */

/* Whether a path is normal: "" or "/a/b".  If not, reports it. */
bool path_check(struct scope *scope, const struct ast_atom *atom,
    const char *path);

/* Whether an object names a place, and is no glob and no text with wildcards;
 * reports it if not. */
bool path_is_place(struct scope *scope, const struct ast_atom *atom);

/* Warns of a pattern in quotes without `glob` before it: the rule is then about
 * a file of that name, which is not there. */
void path_warn_wildcard(struct scope *scope, const struct ast_atom *atom);

/* Some bytes of an atom's text, or the whole atom where it was quoted. */
struct loc atom_part(const struct scope *scope, const struct ast_atom *atom,
    const char *part, size_t len);

/* Whether the atom stands in the source as its text is, without quotes. */
bool atom_is_plain(const struct scope *scope, const struct ast_atom *atom);

/* --- statements.c ------------------------------------------------------ */

/*
 * The text of a resolved policy, and what a kind of rule needs to say one of its
 * rules.
 */
struct builder {
	struct arena *arena;
	const struct policy *policy;
	struct ast_body bodies[SBX_ON_ALL + 1]; /* by where */
};

/* The policy's arena has it.  It compiles to what the policy compiles to, and
 * the policy that it resolves to has the same text. */
const char *policy_canonical(const struct policy *policy);

struct ast_atom *atom_new(struct builder *builder, enum ast_atom_kind kind,
    const char *text);

void add_word(struct builder *builder, struct ast_stmt *stmt, const char *word);

/* A new statement at the end of what holds on these platforms. */
struct ast_stmt *stmt_add(struct builder *builder, enum ast_kind kind,
    const struct origin *origin);

/* The same of a rule; `words` are those of a form in tables/words.def. */
struct ast_stmt *stmt_add_rule(struct builder *builder,
    const struct origin *origin, enum sbx_effect effect, const char *words);

/* The same of a word and its value: `limit timeout 300s`. */
void add_pair(struct builder *builder, enum ast_kind kind,
    const struct origin *origin, const char *word, struct ast_atom *value);

#endif
