/*
 * Hosts by their names: `allow network domain github.com`.
 *
 *	github.com		the host, on ports 80 and 443
 *	github.com:22		the host on that port
 *	*.npmjs.org		all names below, not npmjs.org itself
 *	db.corp.example private	which may have an address that is not public
 *
 * `private` is a word of the statement and is for all its names.
 */
#include "compiler/kinds/kinds.h"

#include "compiler/lower/emitter.h"
#include "compiler/policy/host.h"
#include "compiler/query/show.h"
#include "compiler/restore/builder.h"
#include "compiler/restore/restorer.h"
#include "grammar/token.h"

#include <string.h>

static const char private_word[] = "private";

/* --- statements ----------------------------------------------------------- */

static bool
is_private(const struct ast_atom *atom)
{
	return atom->kind == AST_WORD && !atom->quoted &&
	    strcmp(atom->text, private_word) == 0;
}

/* Whether the statement has the word; false after reporting what it cannot go
 * with. */
static bool
read_private(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct ast_atom *atom, uint8_t *flags)
{
	const struct ast_atom *word = NULL;
	size_t names = 0;
	struct diag *diag;

	for (; atom != NULL; atom = object_next(stmt, atom)) {
		if (is_private(atom))
			word = atom;
		else
			names++;
	}
	if (word == NULL)
		return true;
	*flags = SBX_NAME_PRIVATE;
	if (stmt->effect != SBX_ALLOW) {
		diag = diag_add(expansion->diags, DIAG_WRONG_EFFECT, word->loc,
		    "'private' goes with an allow: a deny is for every "
		    "address of the name");
		diag_help(expansion->diags, diag, "delete the word");
	} else if (names == 0) {
		diag = diag_add(expansion->diags, DIAG_NO_OBJECT, word->loc,
		    "'private' is for the names beside it");
		diag_help(expansion->diags, diag,
		    "a host that is called so is written \"private\"");
	}
	return stmt->effect == SBX_ALLOW && names > 0;
}

static void
domain_expand(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct item *base, const struct ast_atom *atom,
    struct item_list *list)
{
	uint8_t flags = 0;

	if (!read_private(expansion, stmt, atom, &flags))
		return;
	for (; atom != NULL; atom = object_next(stmt, atom)) {
		struct item item = *base;

		if (is_private(atom))
			continue;
		item.rule.origin.loc = atom->loc;
		item.rule.domain.flags = flags;
		if (host_name_read(&expansion->scope, atom, &item.rule))
			item_add(expansion, list, &item);
	}
}

static bool
domain_equals(const struct rule *a, const struct rule *b)
{
	return a->domain.name == b->domain.name &&
	    a->domain.port == b->domain.port &&
	    a->domain.flags == b->domain.flags;
}

static uint64_t
domain_hash(const struct rule *rule)
{
	return hash_name(rule->domain.name) ^ (uint64_t)rule->domain.port << 8 ^
	    rule->domain.flags;
}

static bool
domain_resembles(const struct rule *a, const struct rule *b)
{
	return a->domain.name == b->domain.name;
}

/* --- rules as they are written -------------------------------------------- */

static void
domain_object(const struct rule *rule, struct rule_object *object)
{
	int used = snprintf(object->digits, sizeof object->digits, "%s%s",
	    rule->domain.flags & SBX_NAME_BELOW ? "*." : "", rule->domain.name);

	if (rule->domain.port != 0)
		snprintf(object->digits + used,
		    sizeof object->digits - (size_t)used, ":%u",
		    (unsigned)rule->domain.port);
	object->kind = AST_STRING;
	object->text = object->digits;
}

static const char *
domain_text(const struct policy *policy, const struct rule *rule)
{
	struct rule_object object;

	domain_object(rule, &object);
	return arena_printf(policy->arena, "%s %s %s%s",
	    effect_word(rule->effect), what_words(KIND_DOMAIN, 0), object.text,
	    rule->domain.flags & SBX_NAME_PRIVATE ? " private" : "");
}

/* As the scanner reads it; quoted, where it would read another thing. */
static struct ast_atom *
name_atom(struct builder *builder, const char *text)
{
	struct ast_atom *atom = token_object(builder->arena, text, NULL);
	bool quoted = atom == NULL || atom->kind == AST_STRING ||
	    strcmp(text, private_word) == 0;

	atom = atom_new(builder, quoted ? AST_STRING : atom->kind, text);
	atom->quoted = quoted;
	return atom;
}

static void
domain_state(struct builder *builder, const struct rule *rule)
{
	struct ast_stmt *stmt = rule_add(builder, &rule->origin, rule->effect,
	    what_words(KIND_DOMAIN, 0));
	struct rule_object object;

	domain_object(rule, &object);
	ast_list_add(&stmt->objects, name_atom(builder, object.text));
	if (rule->domain.flags & SBX_NAME_PRIVATE)
		ast_list_add(&stmt->objects,
		    atom_new(builder, AST_WORD, private_word));
}

/* --- records -------------------------------------------------------------- */

static void
domain_fill(struct emitter *emitter, const struct rule *rule, void *record)
{
	struct sbx_name *name = record;

	name->name = emit_string(emitter, rule->domain.name);
	name->port = rule->domain.port;
	name->flags = rule->domain.flags;
	name->effect = (uint8_t)rule->effect;
}

static void
domain_read(struct arena *arena, const struct sbx_blob *blob,
    const void *record, struct rule *rule)
{
	const struct sbx_name *name = record;

	rule->effect = (enum sbx_effect)name->effect;
	rule->domain.name = record_string(arena, blob, name->name);
	rule->domain.port = name->port;
	rule->domain.flags = name->flags;
}

static void
domain_show(FILE *stream, const struct sbx_blob *blob, const void *record)
{
	struct rule rule = { .kind = KIND_DOMAIN };
	struct rule_object object;

	domain_read(NULL, blob, record, &rule);
	domain_object(&rule, &object);
	fprintf(stream, "%s %s ", effect_word(rule.effect),
	    what_words(KIND_DOMAIN, 0));
	show_text(stream, object.text);
	if (rule.domain.flags & SBX_NAME_PRIVATE)
		fprintf(stream, " %s", private_word);
}

static void
domain_restore(struct restorer *restorer)
{
	restorer_share_hosts(restorer, KIND_DOMAIN);
}

const struct rule_kind kind_domain = {
	.id = KIND_DOMAIN,
	.noun = "the name of a host",
	.expand = domain_expand,
	.equals = domain_equals,
	.hash = domain_hash,
	.resembles = domain_resembles,
	.object = domain_object,
	.text = domain_text,
	.show = domain_show,
	.state = domain_state,
	.section = SBX_SECTION_NAMES,
	.section_name = "the rules about names of hosts",
	.record = {
		RECORD_LAYOUT(struct sbx_name),
		.order = {
			RECORD_FIELD(struct sbx_name, name),
			RECORD_FIELD(struct sbx_name, flags),
			RECORD_FIELD(struct sbx_name, port),
			RECORD_FIELD(struct sbx_name, effect),
			RECORD_FIELD(struct sbx_name, source),
		},
	},
	.fill = domain_fill,
	.read = domain_read,
	.restore = domain_restore,
	.difference = {
		.word = "domain",
		.title = "names of hosts",
		.explain = "Hosts that may be reached by their names.",
	},
};
