/*
 * Hosts by their addresses: `allow network connect 10.0.0.5:5432`.
 *
 *	10.2.0.0/16:443		each address of a network, on a port
 *	10.2.0.0/16:{ 80 443 }	on several
 *	[fd00::1]:8000-8080	IPv6, as in a URL
 *
 * A deny may leave the port out and then is for all of them.
 */
#include "compiler/kinds/kinds.h"

#include "compiler/base/base.h"
#include "compiler/compare/compare.h"
#include "compiler/lower/lower.h"
#include "compiler/policy/kind.h"
#include "compiler/query/why.h"
#include "format/model.h"

#include <arpa/inet.h>
#include <string.h>

/* --- statements ----------------------------------------------------------- */

/* `10.2.0.0/16:` before a list of ports. */
static bool
has_ports_behind(const struct ast_stmt *stmt, const struct ast_atom *atom)
{
	size_t len = strlen(atom->text);

	return atom == stmt->words.last && stmt->objects.first != NULL &&
	    len > 0 && atom->text[len - 1] == ':';
}

/* A word that may have been meant to be `tcp`; reports it. */
static bool
is_address_word(struct expansion *expansion, const struct ast_atom *atom)
{
	static const char *const words[] = { "tcp" };
	const char *near;
	struct diag *diag;

	if (atom->kind != AST_WORD || strpbrk(atom->text, ".:/") != NULL)
		return true;
	diag = diag_add(expansion->diags, DIAG_UNKNOWN_WORD, atom->loc,
	    "unknown word '%s' after 'connect'", atom->text);
	near = nearest_name(atom->text, words, countof(words));
	if (near != NULL)
		diag_did_you_mean(diag, near);
	else
		diag_help(diag,
		    "expected 'tcp' and a port, or an address and a port; "
		    "other protocols take 'network full'");
	return false;
}

static void
endpoint_expand(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct item *base, const struct ast_atom *atom,
    struct item_list *list)
{
	const struct ast_atom *address = NULL;

	if (!is_address_word(expansion, atom))
		return;
	for (; atom != NULL; atom = object_next(stmt, atom)) {
		struct item item = *base;

		if (has_ports_behind(stmt, atom)) {
			address = atom;
			continue;
		}
		item.rule.origin.loc = atom->loc;
		if (host_address_read(&expansion->scope,
			address != NULL ? address : atom,
			address != NULL ? atom : NULL, &item.rule))
			item_add(expansion, list, &item);
	}
}

static bool
endpoint_equals(const struct rule *a, const struct rule *b)
{
	return a->endpoint.prefix == b->endpoint.prefix &&
	    a->endpoint.low == b->endpoint.low &&
	    a->endpoint.high == b->endpoint.high &&
	    memcmp(a->endpoint.address, b->endpoint.address,
		SBX_ADDRESS_SIZE) == 0;
}

static uint64_t
endpoint_hash(const struct rule *rule)
{
	uint64_t halves[2];

	memcpy(halves, rule->endpoint.address, sizeof halves);
	return halves[0] ^ halves[1] << 1 ^ rule->endpoint.prefix ^
	    (uint64_t)rule->endpoint.low << 32 ^
	    (uint64_t)rule->endpoint.high << 16;
}

static bool
endpoint_resembles(const struct rule *a, const struct rule *b)
{
	uint8_t prefix = a->endpoint.prefix < b->endpoint.prefix ?
	    a->endpoint.prefix :
	    b->endpoint.prefix;

	return sbx_address_covers(a->endpoint.address, prefix,
		   b->endpoint.address) &&
	    a->endpoint.low <= b->endpoint.high &&
	    b->endpoint.low <= a->endpoint.high;
}

/* --- rules as they are written -------------------------------------------- */

static int
put_address(const struct rule *rule, char *text, size_t size)
{
	const uint8_t *address = rule->endpoint.address;
	unsigned prefix = rule->endpoint.prefix;
	bool v4 = prefix >= 96 && sbx_address_is_v4(address);
	char host[INET6_ADDRSTRLEN], mask[8] = "";

	if (prefix < SBX_ADDRESS_BITS)
		snprintf(mask, sizeof mask, "/%u", v4 ? prefix - 96 : prefix);
	inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? address + 12 : address, host,
	    sizeof host);
	return snprintf(text, size, v4 ? "%s%s" : "[%s%s]", host, mask);
}

static void
endpoint_object(const struct rule *rule, struct rule_object *object)
{
	unsigned low = rule->endpoint.low, high = rule->endpoint.high;
	int used = put_address(rule, object->digits, sizeof object->digits);
	char *end = object->digits + used;
	size_t left = sizeof object->digits - (size_t)used;

	if (low == high)
		snprintf(end, left, ":%u", low);
	else if (rule->effect == SBX_ALLOW || low != 1 || high != UINT16_MAX)
		snprintf(end, left, ":%u-%u", low, high);
	object->kind = AST_WORD;
	object->text = object->digits;
}

/* --- records -------------------------------------------------------------- */

static void
endpoint_fill(struct emitter *emitter, const struct rule *rule, void *record)
{
	struct sbx_endpoint *endpoint = record;

	(void)emitter;
	memcpy(endpoint->address, rule->endpoint.address, SBX_ADDRESS_SIZE);
	endpoint->prefix = rule->endpoint.prefix;
	endpoint->low = rule->endpoint.low;
	endpoint->high = rule->endpoint.high;
	endpoint->effect = (uint8_t)rule->effect;
}

static void
endpoint_show(FILE *stream, const struct sbx_blob *blob, const void *record)
{
	const struct sbx_endpoint *endpoint = record;
	struct rule rule = { .effect = (enum sbx_effect)endpoint->effect };
	struct rule_object object;

	(void)blob;
	memcpy(rule.endpoint.address, endpoint->address, SBX_ADDRESS_SIZE);
	rule.endpoint.prefix = endpoint->prefix;
	rule.endpoint.low = endpoint->low;
	rule.endpoint.high = endpoint->high;
	endpoint_object(&rule, &object);
	fprintf(stream, "%s %s %s", effect_word(rule.effect),
	    what_words(KIND_ENDPOINT, 0), object.text);
}

/* --- questions ------------------------------------------------------------ */

/* "10.0.0.0/8", "[fd00::/8]:443" */
static bool
is_network(const char *object)
{
	const char *start = object + (*object == '[');
	const char *slash = strchr(object, '/');
	struct host_net net;

	return slash != NULL && slash[1] >= '0' && slash[1] <= '9' &&
	    host_net_parse(start, (size_t)(slash - start), &net);
}

/* Why a text is no address with a port; what to ask instead. */
static const char *
address_fault(struct arena *arena, const char *object)
{
	const char *url = host_of_url(arena, object);
	bool bare = strchr(object, ':') != NULL && *object != '[';
	size_t len = strcspn(object, ":");
	char name[SBX_NAME_SIZE];
	struct host_net net;

	if (is_network(object))
		return arena_printf(arena,
		    "'%s' is a network; ask of one of its addresses, with a "
		    "port",
		    object);
	if (host_net_parse(object, strlen(object), &net))
		return arena_printf(arena,
		    "'%s' names no port; ask 'connect %s%s%s:443'", object,
		    bare ? "[" : "", object, bare ? "]" : "");
	if (url != NULL)
		return arena_printf(arena,
		    "'%s' is no address; ask 'domain %s'", object, url);
	if (sbx_name_normal(object, len, name))
		return arena_printf(arena,
		    "'%.*s' is no address; ask 'domain %s'", (int)len, object,
		    object);
	return arena_printf(arena,
	    "'%s' is no address with a port, as 10.0.0.5:5432 or "
	    "[fd00::1]:5432",
	    object);
}

/* "10.0.0.5:5432", "[fd00::1]:5432": one address, and a port. */
static const char *
endpoint_ask(const struct places *places, const char *object,
    struct access *access)
{
	const char *colon = strrchr(object, ':');
	struct host_net net;
	uint64_t port = 0;

	if (colon == NULL ||
	    !host_net_parse(object, (size_t)(colon - object), &net) ||
	    net.prefix != SBX_ADDRESS_BITS ||
	    !number_read(colon + 1, object + strlen(object), &port) ||
	    port == 0 || port > UINT16_MAX)
		return address_fault(places->arena, object);
	memcpy(access->address, net.address, sizeof access->address);
	access->port = (uint16_t)port;
	return NULL;
}

static void
endpoint_show_access(FILE *stream, const struct access *access)
{
	struct rule rule = { .effect = SBX_ALLOW };
	struct rule_object object;

	memcpy(rule.endpoint.address, access->address, sizeof access->address);
	rule.endpoint.prefix = SBX_ADDRESS_BITS;
	rule.endpoint.low = rule.endpoint.high = access->port;
	endpoint_object(&rule, &object);
	fputs(object.text, stream);
}

static bool
is_itself(const uint8_t address[SBX_ADDRESS_SIZE])
{
	static const struct host_net itself[] = {
		{ { [10] = 0xff, 0xff, 127 }, 104 },
		{ { [15] = 1 }, SBX_ADDRESS_BITS },
	};

	for (size_t i = 0; i < countof(itself); i++) {
		if (sbx_address_covers(itself[i].address, itself[i].prefix,
			address))
			return true;
	}
	return false;
}

/* A service of the host, which is brought to 127.0.0.1 alone, or one inside. */
static struct verdict
local_verdict(const struct subject *subject, const struct access *asked)
{
	static const uint8_t
	    here[SBX_ADDRESS_SIZE] = { [10] = 0xff, 0xff, 127, [15] = 1 };
	const struct access access = {
		.kind = KIND_PORT,
		.detail = SBX_CONNECT_TCP,
		.port = asked->port,
	};

	return memcmp(asked->address, here, sizeof here) == 0 ?
	    rule_kinds[KIND_PORT]->verdict(subject, &access) :
	    network_inside(subject);
}

static struct verdict
endpoint_verdict(const struct subject *subject, const struct access *access)
{
	const struct sbx_blob *blob = subject->places.blob;
	struct sbx_verdict model;
	struct verdict verdict;

	if (sbx_net_is_own(blob->meta->net) && is_itself(access->address))
		return local_verdict(subject, access);
	if (network_decides(subject, access->port, &verdict))
		return verdict;
	model = sbx_endpoint_verdict(blob, subject->arch->platforms,
	    access->address, access->port);
	verdict = verdict_begin(model);
	if (model.rule != SBX_NO_RULE) {
		verdict.by = BY_RULE + KIND_ENDPOINT;
		verdict.rule = model.rule;
		verdict.source = blob->endpoints[model.rule].source;
	}
	return network_at_level(subject, verdict);
}

static void
endpoint_answer(const struct why *why)
{
	why_say_decider(why, &why->verdict);
	network_say(why);
}

/* As of a port: nobody else is in a network of its own. */
static const char *
endpoint_outcome(const struct why *why)
{
	return why->verdict.by == BY_NETWORK &&
		sbx_net_is_own(why->blob->meta->net) &&
		is_itself(why->access->address) ?
	    "inside" :
	    "allowed";
}

static bool
lift_endpoints(struct remedy *remedy)
{
	const struct access *access = remedy->access;
	const struct sbx_blob *blob = remedy->blob;
	bool given = false;

	for (uint32_t i = 0; i < blob->endpoint_count; i++) {
		const struct sbx_endpoint *rule = &blob->endpoints[i];

		if ((rule->platforms & remedy->subject->arch->platforms) == 0 ||
		    access->port < rule->low || access->port > rule->high ||
		    !sbx_address_covers(rule->address, rule->prefix,
			access->address))
			continue;
		if (rule->effect == SBX_ALLOW)
			given = true;
		else
			remedy_lift(remedy, rule->source,
			    record_text(remedy->arena, blob, &kind_endpoint,
				rule));
	}
	return given;
}

static void
endpoint_remedy(struct remedy *remedy)
{
	const struct access *access = remedy->access;

	if (is_itself(access->address) &&
	    sbx_net_is_own(remedy->blob->meta->net)) {
		remedy_add(remedy, REMEDY_NONE,
		    "at level full a server inside is reached there, and one "
		    "of the host by 'allow network host tcp %u'",
		    (unsigned)access->port);
		return;
	}
	/* A rule about the port would lead there as well. */
	if (sbx_address_is_metadata(access->address)) {
		remedy_add(remedy, REMEDY_NONE,
		    "a cloud gives out the machine's credentials there");
		return;
	}
	if (!network_remedy(remedy) || lift_endpoints(remedy))
		return;
	if (sbx_address_is_reserved(access->address, SBX_ADDRESS_BITS))
		remedy_add(remedy, REMEDY_NONE,
		    "no rule can name that address");
	else if (sbx_way_is_reserved(access->port))
		remedy_add(remedy, REMEDY_NONE,
		    "port %u is the sandbox's own resolver or proxy",
		    (unsigned)access->port);
	else
		remedy_add(remedy, REMEDY_ADD, "allow network %s",
		    access_text(remedy->arena, access));
}

static const struct access_form endpoint_forms[] = {
	{ "connect", NULL, 0 },
	{ NULL, NULL, 0 },
};

const struct rule_kind kind_endpoint = {
	.id = KIND_ENDPOINT,
	.noun = "an address and a port",
	.expand = endpoint_expand,
	.equals = endpoint_equals,
	.hash = endpoint_hash,
	.resembles = endpoint_resembles,
	.object = endpoint_object,
	.show = endpoint_show,
	.section = SBX_SECTION_ENDPOINTS,
	.section_name = "the rules about addresses",
	.record = {
		RECORD_LAYOUT(struct sbx_endpoint),
		.order = {
			{ 0, 8 },
			{ 8, 8 },
			RECORD_FIELD(struct sbx_endpoint, prefix),
			RECORD_FIELD(struct sbx_endpoint, low),
			RECORD_FIELD(struct sbx_endpoint, high),
			RECORD_FIELD(struct sbx_endpoint, effect),
			RECORD_FIELD(struct sbx_endpoint, source),
		},
	},
	.fill = endpoint_fill,
	.forms = endpoint_forms,
	.usage = "connect ADDRESS:PORT",
	.ask = endpoint_ask,
	.show_access = endpoint_show_access,
	.verdict = endpoint_verdict,
	.answer = endpoint_answer,
	.outcome = endpoint_outcome,
	.enforcer = network_enforcer,
	.remedy = endpoint_remedy,
	.difference = {
		.word = "address",
		.title = "addresses",
	},
	.compare = compare_endpoints,
};
