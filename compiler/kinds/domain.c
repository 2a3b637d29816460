/*
 * Hosts by their names: `allow network domain github.com`.
 *
 *	github.com		the host, on ports 80 and 443
 *	github.com:22		the host on that port
 *	*.npmjs.org		all names below, not npmjs.org itself
 *	db.corp.example private	which may have an address that is not public
 *
 *	github.com { GET /acme/x }	such requests alone
 *	api.github.com with secret gh as env GH_TOKEN
 *
 * `private`, requests and the secret are for all names of the statement.  There is
 * a rule for each name and request.
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

/* Whether the atom is the method of a request: a path follows. */
static bool
is_method(const struct ast_stmt *stmt, const struct ast_atom *atom)
{
	const struct ast_atom *next = object_next(stmt, atom);

	return (atom->kind == AST_WORD || atom->kind == AST_PATTERN) &&
	    next != NULL && next->kind == AST_PATH;
}

/* Whether the statement has the word; false after reporting what it cannot go
 * with. */
static bool
read_private(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct ast_atom *atom, uint8_t *flags)
{
	const struct ast_atom *word = NULL;
	struct diag *diag;

	for (; atom != NULL; atom = object_next(stmt, atom)) {
		if (is_private(atom))
			word = atom;
	}
	if (word == NULL)
		return true;
	*flags = SBX_NAME_PRIVATE;
	if (stmt->effect == SBX_ALLOW)
		return true;
	diag = diag_add(expansion->diags, DIAG_WRONG_EFFECT, word->loc,
	    "'private' goes with an allow: a deny is for every "
	    "address of the name");
	diag_help(diag, "delete the word");
	return false;
}

/* --- secrets -------------------------------------------------------------- */

static const char use_form[] = "'with secret NAME' or 'with secret NAME as env "
			       "VARIABLE'";

/* `with secret NAME`, `with secret NAME as env VARIABLE`. */
static bool
read_use(struct expansion *expansion, const struct ast_stmt *stmt,
    struct rule *rule)
{
	static const char *const wanted[] = { "secret", NULL, "as", "env",
		NULL };
	const struct ast_atom *atom = stmt->use.first, *given[5] = { NULL };
	size_t count = 0;

	if (atom == NULL)
		return true;
	for (; atom != NULL; atom = atom->next, count++) {
		if (count < countof(wanted) &&
		    (wanted[count] == NULL ||
			strcmp(atom->text, wanted[count]) == 0)) {
			given[count] = atom;
			continue;
		}
		diag_help(diag_add(expansion->diags, DIAG_BAD_USE, atom->loc,
			      "unknown word '%s' after 'with'", atom->text),
		    "it is %s", use_form);
		return false;
	}
	if (count != 2 && count != countof(wanted)) {
		diag_help(diag_add(expansion->diags, DIAG_BAD_USE,
			      stmt->use.last->loc,
			      "there is more to be said "
			      "after '%s'",
			      stmt->use.last->text),
		    "it is %s", use_form);
		return false;
	}
	if (rule->effect != SBX_ALLOW || !word_is_name(given[1]->text)) {
		diag_help(diag_add(expansion->diags, DIAG_BAD_USE,
			      given[1]->loc,
			      rule->effect != SBX_ALLOW ?
				  "a deny uses no secret" :
				  "'%s' is no name of a secret",
			      given[1]->text),
		    rule->effect != SBX_ALLOW ?
			"delete 'with'; a secret is used where an allow says "
			"so" :
			"a letter, then letters, digits, '-' and '_'");
		return false;
	}
	rule->domain.secret = given[1]->text;
	if (given[4] == NULL)
		return true;
	rule->domain.variable = given[4]->text;
	return object_variable(&expansion->scope, given[4], false);
}

/* --- requests ------------------------------------------------------------- */

static bool
read_request(struct expansion *expansion, const struct ast_atom *method,
    const struct ast_atom *path, struct rule *rule)
{
	struct diags *diags = expansion->diags;
	struct sbx_request normal;
	enum sbx_request_fault fault;
	struct diag *diag;

	if (!sbx_request_is_method(method->text)) {
		diag_help(diag_add(diags, DIAG_BAD_REQUEST, method->loc,
			      "'%s' before '%s' is no method", method->text,
			      path->text),
		    "a request is a method and a path: GET %s, * %s, git-read "
		    "%s",
		    path->text, path->text, path->text);
		return false;
	}
	fault = sbx_request_pattern_fault(path->text);
	if (fault != SBX_REQUEST_NONE) {
		diag = diag_add(diags, DIAG_BAD_REQUEST, path->loc,
		    "no rule can have the path '%s': %s", path->text,
		    sbx_request_fault_text(fault));
		if (sbx_request_read(&normal, "GET", 3, path->text,
			strlen(path->text)) == SBX_REQUEST_NONE &&
		    sbx_request_pattern_fault(normal.path) == SBX_REQUEST_NONE)
			diag_did_you_mean(diag, normal.path);
		else
			diag_help(diag,
			    "as a server has it, without a query; '*' is "
			    "within "
			    "a part, '**' a part of its own");
		return false;
	}
	rule->origin.loc = (struct loc){ method->loc.begin, path->loc.end };
	rule->domain.method = method->text;
	rule->domain.path = path->text;
	return true;
}

/* A rule for each request, or one for all of them. */
static void
add_requests(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct item *named, const struct ast_atom *atom,
    struct item_list *list)
{
	bool any = false;

	for (; atom != NULL; atom = object_next(stmt, atom)) {
		struct item item = *named;

		if (!is_method(stmt, atom))
			continue;
		any = true;
		if (read_request(expansion, atom, object_next(stmt, atom),
			&item.rule))
			item_add(expansion, list, &item);
		atom = object_next(stmt, atom);
	}
	if (!any)
		item_add(expansion, list, named);
}

/* TLS is what keeps it from who listens on the way. */
static bool
is_secret_there(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct rule *rule)
{
	if (rule->domain.secret == NULL || rule->domain.port != 80)
		return true;
	diag_help(diag_add(expansion->diags, DIAG_BAD_USE, stmt->use.loc,
		      "a secret goes through TLS alone, and port 80 has none"),
	    "name another port, or none: that is 443");
	return false;
}

static void
domain_expand(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct item *base, const struct ast_atom *first,
    struct item_list *list)
{
	struct item named = *base;
	const struct ast_atom *atom = first;
	size_t names = 0;

	if (!read_private(expansion, stmt, first, &named.rule.domain.flags) ||
	    !read_use(expansion, stmt, &named.rule))
		return;
	for (; atom != NULL; atom = object_next(stmt, atom)) {
		struct item item = named;

		if (is_method(stmt, atom)) {
			atom = object_next(stmt, atom);
			continue;
		}
		if (is_private(atom))
			continue;
		names++;
		item.rule.origin.loc = atom->loc;
		if (host_name_read(&expansion->scope, atom, &item.rule) &&
		    is_secret_there(expansion, stmt, &item.rule))
			add_requests(expansion, stmt, &item, first, list);
	}
	if (names == 0)
		diag_help(diag_add(expansion->diags, DIAG_NO_OBJECT, first->loc,
			      "'%s' is for the names beside it", first->text),
		    "a host that is called so is written \"%s\"", first->text);
}

static bool
domain_equals(const struct rule *a, const struct rule *b)
{
	return a->domain.name == b->domain.name &&
	    a->domain.port == b->domain.port &&
	    a->domain.flags == b->domain.flags &&
	    a->domain.method == b->domain.method &&
	    a->domain.path == b->domain.path &&
	    a->domain.secret == b->domain.secret &&
	    a->domain.variable == b->domain.variable;
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

/* What stands behind the words; only a plain word stands before a list. */
static void
put_names(FILE *stream, const struct rule *rule)
{
	bool is_private = rule->domain.flags & SBX_NAME_PRIVATE;
	bool listed = is_private || (rule->domain.flags & SBX_NAME_BELOW);
	struct rule_object object;

	domain_object(rule, &object);
	if (rule->domain.path != NULL && listed)
		fputs("{ ", stream);
	show_text(stream, object.text);
	if (is_private)
		fprintf(stream, " %s", private_word);
	if (rule->domain.path != NULL)
		fprintf(stream, listed ? " %s %s }" : " { %s %s }",
		    rule->domain.method, rule->domain.path);
	if (rule->domain.secret != NULL)
		fprintf(stream, " with secret %s", rule->domain.secret);
	if (rule->domain.variable != NULL)
		fprintf(stream, " as env %s", rule->domain.variable);
}

static void
write_names(FILE *stream, const void *rule)
{
	put_names(stream, rule);
}

static const char *
domain_text(const struct policy *policy, const struct rule *rule)
{
	return arena_printf(policy->arena, "%s %s %s",
	    effect_word(rule->effect), what_words(KIND_DOMAIN, 0),
	    show_to_text(policy->arena, write_names, rule));
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
add_use(struct builder *builder, struct ast_stmt *stmt, const struct rule *rule)
{
	const char *const words[] = { "secret", rule->domain.secret, "as",
		"env", rule->domain.variable };
	size_t count = rule->domain.variable != NULL ? 5 : 2;

	for (size_t i = 0; i < count; i++)
		ast_list_add(&stmt->use, atom_new(builder, AST_WORD, words[i]));
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
	if (rule->domain.path != NULL) {
		bool star = strcmp(rule->domain.method, "*") == 0;

		ast_list_add(&stmt->objects,
		    atom_new(builder, star ? AST_PATTERN : AST_WORD,
			rule->domain.method));
		ast_list_add(&stmt->objects,
		    atom_new(builder, AST_PATH, rule->domain.path));
	}
	if (rule->domain.secret != NULL)
		add_use(builder, stmt, rule);
}

/* --- records -------------------------------------------------------------- */

static uint32_t
string_or_none(struct emitter *emitter, const char *text)
{
	return text != NULL ? emit_string(emitter, text) : 0;
}

static void
domain_fill(struct emitter *emitter, const struct rule *rule, void *record)
{
	struct sbx_name *name = record;

	name->name = emit_string(emitter, rule->domain.name);
	name->port = rule->domain.port;
	name->flags = rule->domain.flags;
	name->effect = (uint8_t)rule->effect;
	name->method = string_or_none(emitter, rule->domain.method);
	name->path = string_or_none(emitter, rule->domain.path);
	name->secret = string_or_none(emitter, rule->domain.secret);
	name->variable = string_or_none(emitter, rule->domain.variable);
}

static const char *
text_or_none(const struct sbx_blob *blob, uint32_t text)
{
	return text != 0 ? sbx_string(blob, text) : NULL;
}

static void
domain_show(FILE *stream, const struct sbx_blob *blob, const void *record)
{
	const struct sbx_name *name = record;
	struct rule rule = { .kind = KIND_DOMAIN };

	rule.domain.name = sbx_string(blob, name->name);
	rule.domain.port = name->port;
	rule.domain.flags = name->flags;
	rule.domain.method = text_or_none(blob, name->method);
	rule.domain.path = text_or_none(blob, name->path);
	rule.domain.secret = text_or_none(blob, name->secret);
	rule.domain.variable = text_or_none(blob, name->variable);
	fprintf(stream, "%s %s ", effect_word(name->effect),
	    what_words(KIND_DOMAIN, 0));
	put_names(stream, &rule);
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

/* "https://NAME/PATH": the part of the name becomes the object. */
static const char *
ask_url(const struct places *places, const char *object, struct access *access)
{
	static const char scheme[] = "https://", plain[] = "http://";
	bool tls = strncmp(object, scheme, strlen(scheme)) == 0;
	const char *host = object + strlen(tls ? scheme : plain), *path;

	if (!tls && strncmp(object, plain, strlen(plain)) != 0) {
		host = object;
		tls = true;
	}
	path = host + strcspn(host, "/?#");
	access->port = tls ? 443 : 80;
	access->target = *path == '/' ?
	    path :
	    arena_printf(places->arena, "/%s", path);
	return arena_strndup(places->arena, host, (size_t)(path - host));
}

/* "NAME" or "NAME:PORT"; what a rule without a port allows is asked with
 * 443. */
static const char *
domain_ask(const struct places *places, const char *object,
    struct access *access)
{
	const char *colon;
	size_t len;
	char name[SBX_NAME_SIZE];
	uint64_t port;

	access->port = 443;
	if (access->detail >= ASK_REQUEST)
		object = ask_url(places, object, access);
	colon = strrchr(object, ':');
	len = colon != NULL ? (size_t)(colon - object) : strlen(object);
	port = access->port;

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
	bool tls = access->port == 443;

	if (access->detail < ASK_REQUEST)
		fprintf(stream, "%s:%u", access->name, (unsigned)access->port);
	else if (tls || access->port == 80)
		fprintf(stream, "%s://%s%s", tls ? "https" : "http",
		    access->name, access->target);
	else
		fprintf(stream, "https://%s:%u%s", access->name,
		    (unsigned)access->port, access->target);
}

/* --- verdicts ------------------------------------------------------------- */

static struct sbx_request
request_of(const struct access *access)
{
	const char *method = access->detail == ASK_SECRET ? "GET" :
							    access->word;
	struct sbx_request request;

	sbx_request_read(&request, method, strlen(method), access->target,
	    strlen(access->target));
	return request;
}

/* What the rules about names say. */
static struct sbx_name_verdict
ask_names(const struct sbx_blob *blob, uint8_t platforms,
    const struct access *access)
{
	struct sbx_request request;
	struct sbx_name_verdict verdict;

	if (access->detail < ASK_REQUEST)
		return sbx_name_verdict(blob, platforms, access->name,
		    access->port);
	request = request_of(access);
	verdict = sbx_request_verdict(blob, platforms, access->name,
	    access->port, &request);
	if (access->detail != ASK_SECRET || !verdict.allowed)
		return verdict;
	verdict.rule = access->port == 80 ?
	    UINT32_MAX :
	    sbx_request_secret(blob, platforms, access->name, access->port,
		&request, access->word);
	verdict.allowed = verdict.rule != UINT32_MAX;
	return verdict;
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
	model = ask_names(blob, subject->arch->platforms, access);
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

/* The secret that may go with an access, or NULL. */
static const char *
secret_of(const struct why *why, const struct sbx_request *request)
{
	const struct sbx_blob *blob = why->blob;
	uint8_t platforms = why->subject->arch->platforms;

	for (uint32_t i = 0; i < blob->name_count && why->access->port != 80;
	     i++) {
		const char *secret = sbx_string(blob, blob->names[i].secret);

		if (blob->names[i].secret != 0 &&
		    sbx_request_secret(blob, platforms, why->access->name,
			why->access->port, request, secret) != UINT32_MAX)
			return secret;
	}
	return NULL;
}

/* What is to be known where requests are looked at. */
static void
say_requests(const struct why *why)
{
	const struct access *access = why->access;
	bool asks = access->detail >= ASK_REQUEST;
	struct sbx_request request;
	const char *secret;

	if (access->detail == SBX_NAME_PRIVATE ||
	    !sbx_name_is_ended(why->blob, why->subject->arch->platforms,
		access->name, access->port))
		return;
	if (asks)
		request = request_of(access);
	if (asks && request.fault != SBX_REQUEST_NONE)
		fprintf(why->stream,
		    "    servers may read this request in another way: %s\n",
		    sbx_request_fault_text(request.fault));
	if (!why->verdict.allowed)
		return;
	if (!asks)
		fprintf(why->stream,
		    "    but each request is looked at; ask 'request GET "
		    "https://%s/'\n",
		    access->name);
	secret = secret_of(why, asks ? &request : NULL);
	if (secret != NULL)
		fprintf(why->stream,
		    "    with secret %s, which the command may use there and "
		    "cannot read\n",
		    secret);
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
	say_requests(why);
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
	while (verdict = ask_names(&blob, platforms, access),
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

/* What a rule that allows it says behind the name. */
static const char *
rest_of(struct arena *arena, const struct access *access)
{
	struct sbx_request request;

	if (access->detail == ASK_SECRET)
		return arena_printf(arena, " with secret %s", access->word);
	if (access->detail != ASK_REQUEST)
		return access->detail == SBX_NAME_PRIVATE ? " private" : "";
	request = request_of(access);
	if (request.fault != SBX_REQUEST_NONE)
		return arena_printf(arena, " { %s /** }", access->word);
	return arena_printf(arena,
	    strpbrk(request.path, "!$&'()") != NULL ? " { %s \"%s\" }" :
						      " { %s %s }",
	    access->word, request.path);
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
	if (access->detail == ASK_SECRET && access->port == 80) {
		remedy_add(remedy, REMEDY_NONE,
		    "a secret goes through TLS alone");
		return;
	}
	remedy_add(remedy, REMEDY_ADD, "allow %s %s%s%s%s%s",
	    what_words(KIND_DOMAIN, 0), quote, access->name,
	    web ? "" :
		  arena_printf(remedy->arena, ":%u", (unsigned)access->port),
	    quote, rest_of(remedy->arena, access));
	if (whom != NULL)
		remedy_add(remedy, REMEDY_OPENS, "%s, %s", access->name, whom);
}

static const struct access_form domain_forms[] = {
	{ "domain", NULL, 0 },
	{ "domain", "private", SBX_NAME_PRIVATE },
	{ "request", "*", ASK_REQUEST },
	{ "secret", "*", ASK_SECRET },
	{ NULL, NULL, 0 },
};

/* --- checks --------------------------------------------------------------- */

const struct rule_kind kind_domain = {
	.id = KIND_DOMAIN,
	.noun = "the name of a host",
	.has_use = true,
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
			RECORD_FIELD(struct sbx_name, method),
			RECORD_FIELD(struct sbx_name, path),
			RECORD_FIELD(struct sbx_name, secret),
			RECORD_FIELD(struct sbx_name, variable),
			RECORD_FIELD(struct sbx_name, source),
		},
	},
	.fill = domain_fill,
	.forms = domain_forms,
	.usage = "domain [private] NAME[:PORT], request METHOD URL, or secret NAME "
		 "URL",
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
