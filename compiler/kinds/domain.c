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

#include "compiler/check/check.h"
#include "compiler/compare/compare.h"
#include "compiler/lower/lower.h"
#include "compiler/policy/kind.h"
#include "compiler/query/why.h"
#include "format/model.h"
#include "grammar/grammar.h"

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
		diag_help(diag, "delete the word");
	} else if (names == 0) {
		diag = diag_add(expansion->diags, DIAG_NO_OBJECT, word->loc,
		    "'private' is for the names beside it");
		diag_help(diag,
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
	struct ast_atom *atom = token_object(builder->arena, text);
	bool quoted = atom == NULL || atom->kind == AST_STRING ||
	    strcmp(text, private_word) == 0;

	atom = atom_new(builder, quoted ? AST_STRING : atom->kind, text);
	atom->quoted = quoted;
	return atom;
}

static void
domain_state(struct builder *builder, const struct rule *rule)
{
	struct ast_stmt *stmt = stmt_add_rule(builder, &rule->origin,
	    rule->effect, what_words(KIND_DOMAIN, 0));
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
domain_show(FILE *stream, const struct sbx_blob *blob, const void *record)
{
	const struct sbx_name *name = record;
	struct rule rule = { .kind = KIND_DOMAIN };
	struct rule_object object;

	rule.domain.name = sbx_string(blob, name->name);
	rule.domain.port = name->port;
	rule.domain.flags = name->flags;
	domain_object(&rule, &object);
	fprintf(stream, "%s %s ", effect_word(name->effect),
	    what_words(KIND_DOMAIN, 0));
	show_text(stream, object.text);
	if (rule.domain.flags & SBX_NAME_PRIVATE)
		fprintf(stream, " %s", private_word);
}

/* --- questions ------------------------------------------------------------ */

/* Why a text is no name; what to ask instead. */
static const char *
name_fault(struct arena *arena, const char *object, size_t len)
{
	const char *url = host_of_url(arena, object);
	struct host_net net;

	if (url != NULL)
		return arena_printf(arena,
		    "'%s' is not a host name; ask 'domain %s'", object, url);
	if (strncmp(object, "*.", 2) == 0)
		return arena_printf(arena,
		    "'%s' stands for many names: ask of one of them", object);
	if (host_net_parse(object, len, &net))
		return arena_printf(arena,
		    "'%.*s' is an address; ask 'connect %s%s'", (int)len,
		    object, object, object[len] == '\0' ? ":443" : "");
	return arena_printf(arena, "'%.*s' is not a host name", (int)len,
	    object);
}

/* "NAME" or "NAME:PORT"; what a rule without a port allows is asked with
 * 443. */
static const char *
domain_ask(const struct places *places, const char *object,
    struct access *access)
{
	const char *colon = strrchr(object, ':');
	size_t len = colon != NULL ? (size_t)(colon - object) : strlen(object);
	char name[SBX_NAME_SIZE];
	uint64_t port = 443;

	if (strchr(object, '/') != NULL || !sbx_name_normal(object, len, name))
		return name_fault(places->arena, object, len);
	if (colon != NULL &&
	    (!number_read(colon + 1, object + strlen(object), &port) ||
		port == 0 || port > UINT16_MAX))
		return arena_printf(places->arena,
		    "'%s' is no port: it is a number, as in %s:443", colon + 1,
		    name);
	access->name = arena_printf(places->arena, "%s", name);
	access->port = (uint16_t)port;
	return NULL;
}

static void
domain_show_access(FILE *stream, const struct access *access)
{
	fprintf(stream, "%s:%u", access->name, (unsigned)access->port);
}

/* The user's own proxy, where no name is allowed: it is then asked about all. */
static bool
proxy_decides(const struct subject *subject, struct verdict *verdict)
{
	const struct sbx_blob *blob = subject->places.blob;
	uint8_t platforms = subject->arch->platforms;
	struct sbx_way ways[SBX_MAX_WAYS] = { { 0 } };
	uint32_t proxy = 0;

	while (proxy < blob->proxy_count &&
	    (blob->proxies[proxy].platforms & platforms) == 0)
		proxy++;
	if (proxy == blob->proxy_count ||
	    (sbx_ways(blob, platforms, ways) > 0 &&
		ways[0].kind == SBX_WAY_RESOLVER))
		return false;
	*verdict = (struct verdict){
		.allowed = true,
		.by = BY_RULE + KIND_PROXY,
		.rule = proxy,
		.source = blob->proxies[proxy].source,
	};
	return true;
}

static struct verdict
domain_verdict(const struct subject *subject, const struct access *access)
{
	const struct sbx_blob *blob = subject->places.blob;
	struct sbx_name_verdict model;
	struct verdict verdict;

	if (network_decides(subject, access->port, &verdict))
		return verdict;
	if (proxy_decides(subject, &verdict))
		return network_at_level(subject, verdict);
	model = sbx_name_verdict(blob, subject->arch->platforms, access->name,
	    access->port);
	verdict = (struct verdict){
		.allowed = model.allowed,
		.source = SBX_NO_SOURCE,
	};
	/* An address that is not public is for a rule that says so. */
	if (model.allowed && access->detail == SBX_NAME_PRIVATE &&
	    !model.is_private)
		verdict.allowed = false;
	else if (model.rule != UINT32_MAX) {
		verdict.by = BY_RULE + KIND_DOMAIN;
		verdict.rule = model.rule;
		verdict.source = blob->names[model.rule].source;
		verdict.preferred = blob->names[model.rule].effect ==
		    SBX_PREFER_DENY;
	}
	return network_at_level(subject, verdict);
}

static void
domain_answer(const struct why *why)
{
	why_say_decider(why, &why->verdict);
	if (why->verdict.allowed && why->verdict.by == BY_RULE + KIND_PROXY)
		fputs("    but this proxy decides alone what it lets through, "
		      "for tools that heed HTTPS_PROXY\n",
		    why->stream);
	else
		network_say(why);
	if (why->verdict.allowed && why->access->detail == 0 &&
	    why->verdict.by == BY_RULE + KIND_DOMAIN &&
	    (why->blob->names[why->verdict.rule].flags & SBX_NAME_PRIVATE) == 0)
		fputs("    where its addresses are public: others take the "
		      "word 'private'\n",
		    why->stream);
}

/* Lifts the denies of a name and a port; whether something allows it. */
static bool
lift_names(struct remedy *remedy)
{
	const struct access *access = remedy->access;
	struct sbx_blob blob = *remedy->blob;
	uint8_t platforms = remedy->subject->arch->platforms;
	struct sbx_name *names = arena_alloc(remedy->arena,
	    blob.name_count * sizeof *names + 1);
	struct sbx_name_verdict verdict;

	if (blob.name_count > 0)
		memcpy(names, blob.names, blob.name_count * sizeof *names);
	blob.names = names;
	/* Without the deny that decided, the next one does. */
	while (verdict = sbx_name_verdict(&blob, platforms, access->name,
		   access->port),
	    !verdict.allowed && verdict.rule != UINT32_MAX) {
		remedy_lift(remedy, names[verdict.rule].source,
		    record_text(remedy->arena, remedy->blob, &kind_domain,
			&remedy->blob->names[verdict.rule]));
		names[verdict.rule].platforms &= (uint8_t)~platforms;
	}
	return verdict.allowed &&
	    (verdict.is_private || access->detail != SBX_NAME_PRIVATE);
}

/* Why no rule is offered for the name, or NULL. */
static const char *
fault_of(const struct remedy *remedy)
{
	const struct access *access = remedy->access;

	if (strcmp(access->name, "localhost") == 0)
		return arena_printf(remedy->arena,
		    "that is the sandbox itself; a service of the host is "
		    "'allow network host tcp %u'",
		    (unsigned)access->port);
	if (sbx_way_is_reserved(access->port))
		return arena_printf(remedy->arena,
		    "port %u is the sandbox's own resolver or proxy",
		    (unsigned)access->port);
	return NULL;
}

static void
domain_remedy(struct remedy *remedy)
{
	const struct access *access = remedy->access;
	const char *quote = strcmp(access->name, private_word) == 0 ? "\"" : "";
	bool web = access->port == 80 || access->port == 443;
	bool gives_keys = false;
	const char *whom = risk_of_host(access->name, &gives_keys);
	const char *fault = fault_of(remedy);

	if (gives_keys) {
		remedy_add(remedy, REMEDY_NONE,
		    "it gives out the machine's credentials");
		return;
	}
	if (!network_remedy(remedy) || lift_names(remedy))
		return;
	if (fault != NULL) {
		remedy_add(remedy, REMEDY_NONE, "%s", fault);
		return;
	}
	remedy_add(remedy, REMEDY_ADD, "allow %s %s%s%s%s%s",
	    what_words(KIND_DOMAIN, 0), quote, access->name,
	    web ? "" :
		  arena_printf(remedy->arena, ":%u", (unsigned)access->port),
	    quote, access->detail == SBX_NAME_PRIVATE ? " private" : "");
	if (whom != NULL)
		remedy_add(remedy, REMEDY_OPENS, "%s, %s", access->name, whom);
}

static const struct access_form domain_forms[] = {
	{ "domain", NULL, 0 },
	{ "domain", "private", SBX_NAME_PRIVATE },
	{ NULL, NULL, 0 },
};

/* --- checks --------------------------------------------------------------- */

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
	.forms = domain_forms,
	.usage = "domain [private] NAME[:PORT]",
	.ask = domain_ask,
	.show_access = domain_show_access,
	.verdict = domain_verdict,
	.answer = domain_answer,
	.enforcer = network_enforcer,
	.remedy = domain_remedy,
	.difference = {
		.word = "domain",
		.title = "names of hosts",
	},
	.compare = compare_domains,
};
