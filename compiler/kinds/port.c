/*
 * Rules about TCP ports: `allow network connect tcp 443`.
 */
#include "compiler/kinds/kinds.h"

#include "compiler/check/check.h"
#include "compiler/compare/compare.h"
#include "compiler/lower/lower.h"
#include "compiler/policy/kind.h"
#include "compiler/query/why.h"

#include "format/model.h"

#include <stdlib.h>
#include <string.h>

/* --- statements ----------------------------------------------------------- */

static bool
port_resolve(struct scope *scope, const struct ast_atom *atom,
    struct rule *rule)
{
	uint16_t *low = &rule->port.low, *high = &rule->port.high;

	if (atom->kind != AST_NUMBER && atom->kind != AST_RANGE) {
		diag_help(diag_add(scope->diags, DIAG_WRONG_OBJECT, atom->loc,
			      "expected a port, found '%s'",
			      atom_text(scope, atom)),
		    "a port is a number or a range, as in 443 or 8000-8080; "
		    "a host is 'network domain NAME' or 'network connect "
		    "ADDRESS:PORT'");
		return false;
	}
	return host_ports_read(scope, atom, atom->text, low, high) &&
	    (rule->detail < SBX_HOST_TCP || rule->effect != SBX_ALLOW ||
		host_ports_free(scope, atom, *low, *high));
}

static bool
port_equals(const struct rule *a, const struct rule *b)
{
	return a->port.low == b->port.low && a->port.high == b->port.high;
}

static uint64_t
port_hash(const struct rule *rule)
{
	return (uint64_t)rule->port.low << 16 | rule->port.high;
}

static bool
port_resembles(const struct rule *a, const struct rule *b)
{
	return a->detail == b->detail && a->port.low <= b->port.high &&
	    b->port.low <= a->port.high;
}

static void
port_object(const struct rule *rule, struct rule_object *object)
{
	bool range = rule->port.low != rule->port.high;

	object->kind = range ? AST_RANGE : AST_NUMBER;
	object->text = object->digits;
	snprintf(object->digits, sizeof object->digits, range ? "%u-%u" : "%u",
	    (unsigned)rule->port.low, (unsigned)rule->port.high);
}

static void
port_spans(struct arena *arena, const struct rule *rule,
    struct rule_spans *spans)
{
	*arena_push(arena, &spans->list) = (struct rule_span){
		.low = rule->port.low,
		.high = rule->port.high,
	};
}

/* --- records -------------------------------------------------------------- */

static void
port_fill(struct emitter *emitter, const struct rule *rule, void *record)
{
	struct sbx_port *port = record;

	(void)emitter;
	port->low = rule->port.low;
	port->high = rule->port.high;
	port->effect = (uint8_t)rule->effect;
	port->op = rule->detail;
}

static void
port_show(FILE *stream, const struct sbx_blob *blob, const void *record)
{
	const struct sbx_port *port = record;

	(void)blob;
	fprintf(stream, "%s %s %u", effect_word(port->effect),
	    what_words(KIND_PORT, port->op), (unsigned)port->low);
	if (port->high != port->low)
		fprintf(stream, "-%u", (unsigned)port->high);
}

/* --- questions ------------------------------------------------------------ */

static const char *
port_ask(const struct places *places, const char *object, struct access *access)
{
	char *end;
	long port = strtol(object, &end, 10);

	access->port = (uint16_t)port;
	if (*end != '\0' && strpbrk(object, ".[") != NULL &&
	    access->detail == SBX_CONNECT_TCP) {
		access->kind = KIND_ENDPOINT;
		access->detail = 0;
		return rule_kinds[KIND_ENDPOINT]->ask(places, object, access);
	}
	if (object[0] >= '0' && object[0] <= '9' && *end == '\0' &&
	    (object[0] != '0' || object[1] == '\0') && port <= UINT16_MAX)
		return NULL;
	return arena_printf(places->arena, "'%s' is no port", object);
}

static void
port_show_access(FILE *stream, const struct access *access)
{
	fprintf(stream, "%u", access->port);
}

/*
 * Whether a rule about a service is what answers for its port: a service of the
 * host is at that port of 127.0.0.1, and at level standard a server whose port
 * is published listens on the host's.
 */
static bool
service_verdict(const struct subject *subject, const struct access *access,
    struct verdict *verdict)
{
	const struct access service = {
		.kind = KIND_PORT,
		.detail = (uint8_t)(access->detail + SBX_HOST_TCP),
		.port = access->port,
	};

	if (subject->places.blob->meta->net != SBX_NET_SELECTED ||
	    (access->detail == SBX_LISTEN_TCP &&
		subject->level == SBX_LEVEL_FULL))
		return false;
	*verdict = rule_kinds[KIND_PORT]->verdict(subject, &service);
	return verdict->allowed;
}

static struct verdict
port_verdict(const struct subject *subject, const struct access *access)
{
	const struct sbx_blob *blob = subject->places.blob;
	struct sbx_verdict model;
	struct verdict verdict;

	/* Nothing listens on port 0, in no network. */
	if (sbx_net_is_own(blob->meta->net) &&
	    access->detail == SBX_CONNECT_TCP && access->port == 0)
		return (struct verdict){ .source = SBX_NO_SOURCE,
			.unenforced = subject->level == SBX_LEVEL_NONE };
	if (sbx_net_is_own(blob->meta->net) && access->detail < SBX_HOST_TCP)
		return service_verdict(subject, access, &verdict) ?
		    verdict :
		    network_inside(subject);
	model = sbx_port_verdict(blob, subject->arch->platforms, access->detail,
	    access->port);
	verdict = verdict_begin(model);
	if (model.rule != SBX_NO_RULE) {
		verdict.by = BY_PORT;
		verdict.rule = model.rule;
		verdict.source = blob->ports[model.rule].source;
	} else if (model.reason != SBX_BECAUSE_NOTHING &&
	    !sbx_net_is_own(blob->meta->net)) {
		verdict.by = BY_NETWORK;
		verdict.source = blob->meta->net_source;
	}
	if (sbx_net_is_own(blob->meta->net))
		return network_at_level(subject, verdict);
	/* Landlock holds the ports, from ABI 4 on: the filter before. */
	if (verdict.allowed && blob->meta->net == SBX_NET_PORTS &&
	    verdict_abi(subject) < 4) {
		verdict.allowed = false;
		verdict.by = BY_OLD_KERNEL;
	}
	verdict.unenforced = !verdict.allowed &&
	    subject->level == SBX_LEVEL_NONE;
	return verdict;
}

static void
say_denied(const struct why *why)
{
	if (why->access->port == 0)
		return;
	fprintf(why->stream,
	    "    but it needs level standard and Landlock ABI 4: at level "
	    "%s%s no socket opens\n",
	    level_word(why->subject->level),
	    why->subject->level < SBX_LEVEL_STANDARD ? "" : " without that");
}

static void
say_service(const struct why *why)
{
	bool listens = why->access->detail == SBX_LISTEN_TCP;

	fprintf(why->stream, "    but on 127.0.0.1%s alone%s\n",
	    listens ? " or ::1" : "",
	    listens ? ", which are the host's (level standard)" :
		      ", where the host's service is");
}

static void
say_inside(const struct why *why)
{
	if (why->subject->level == SBX_LEVEL_STANDARD) {
		fputs("    but only inside: sbxrun connects the sandbox's own "
		      "servers, on the loopback device of the host (level "
		      "standard)\n",
		    why->stream);
		return;
	}
	fprintf(why->stream,
	    "    but only inside: the sandbox has a network of its own, from "
	    "which %s (level full)\n",
	    why->blob->meta->net == SBX_NET_LOOPBACK ?
		"nothing leads out" :
		"only hosts that rules name are reached");
	if (why->blob->meta->net == SBX_NET_SELECTED &&
	    why->access->detail == SBX_CONNECT_TCP)
		fprintf(why->stream,
		    "    of a host ask 'domain NAME:%u' or 'connect "
		    "ADDRESS:%u'\n",
		    (unsigned)why->access->port, (unsigned)why->access->port);
}

/* What becomes of it at the least level at which the policy runs. */
static void
say_lower(const struct why *why)
{
	struct subject subject = *why->subject;
	enum sbx_level lowest = why->blob->meta->level, level = lowest;

	for (; level < SBX_LEVEL_FULL; level++) {
		subject.level = level;
		if (verdict_of(&subject, why->access).allowed)
			break;
	}
	if (level == lowest)
		return;
	fprintf(why->stream,
	    "    but the policy also runs at level %s, where no socket opens: "
	    "'require level %s'\n",
	    level_word(lowest), level_word(level));
}

static void
say_loopback(const struct why *why)
{
	if (!why->verdict.allowed) {
		say_denied(why);
		return;
	}
	if (why->verdict.by == BY_PORT)
		say_service(why);
	else
		say_inside(why);
	say_lower(why);
}

static void
port_answer(const struct why *why)
{
	struct verdict rule = why->verdict;

	/* An old kernel keeps a port shut that this rule opens. */
	if (rule.by == BY_OLD_KERNEL)
		rule.by = BY_PORT;
	why_say_decider(why, &rule);
	if (why->verdict.allowed && why->access->detail == SBX_LISTEN_TCP &&
	    why->access->port < 1024 && why->access->port > 0)
		fputs("    but ports below 1024 mostly take the rights of a "
		      "superuser, which nobody has inside\n",
		    why->stream);
	if (sbx_net_is_own(why->blob->meta->net) &&
	    why->access->detail >= SBX_HOST_TCP)
		network_say(why);
	else if (sbx_net_is_own(why->blob->meta->net))
		say_loopback(why);
	else if (why->verdict.by == BY_OLD_KERNEL ||
	    (why->verdict.allowed && why->blob->meta->net == SBX_NET_PORTS))
		fputs("    but on a kernel without Landlock ABI 4 (Linux 6.7), "
		      "or below level standard, no TCP socket opens\n",
		    why->stream);
}

/* Nobody else is in a network of its own. */
static const char *
port_outcome(const struct why *why)
{
	return why->verdict.by == BY_NETWORK &&
		sbx_net_is_own(why->blob->meta->net) &&
		why->access->detail == SBX_CONNECT_TCP ?
	    "inside" :
	    "allowed";
}

/* Lifts the denies of a port; whether something allows it. */
static bool
lift_ports(struct remedy *remedy, enum sbx_port_op op)
{
	const struct access *access = remedy->access;
	const struct sbx_blob *blob = remedy->blob;
	bool given = blob->meta->net == SBX_NET_FULL;

	for (uint32_t i = 0; i < blob->port_count; i++) {
		const struct sbx_port *rule = &blob->ports[i];

		if ((rule->platforms & remedy->subject->arch->platforms) == 0 ||
		    rule->op != op || access->port < rule->low ||
		    access->port > rule->high)
			continue;
		if (rule->effect == SBX_ALLOW)
			given = true;
		else
			remedy_lift(remedy, rule->source,
			    record_text(remedy->arena, blob, &kind_port, rule));
	}
	return given;
}

/* Who listens often wants no more than to find its own programs. */
static void
add_port(struct remedy *remedy, enum sbx_port_op op)
{
	const struct sbx_blob *blob = remedy->blob;

	remedy_add(remedy, REMEDY_ADD, "allow network %s tcp %u",
	    port_op_word(op), remedy->access->port);
	if (op == SBX_LISTEN_TCP && blob->meta->net == SBX_NET_NONE &&
	    blob->port_count == 0)
		remedy_add(remedy, REMEDY_HINT,
		    "'allow network loopback', if only programs of the same "
		    "sandbox are to connect");
}

/* Whether a rule allows it, so that a level is what it lacks. */
static bool
allows_service(const struct sbx_blob *blob, const struct verdict *verdict)
{
	return verdict->by == BY_PORT &&
	    blob->ports[verdict->rule].effect == SBX_ALLOW;
}

static void
port_remedy(struct remedy *remedy)
{
	const struct sbx_blob *blob = remedy->blob;
	const struct verdict *verdict = remedy->verdict;
	enum sbx_port_op op = remedy->access->detail;

	if (op == SBX_CONNECT_TCP && remedy->access->port == 0 &&
	    sbx_net_is_own(blob->meta->net)) {
		remedy_add(remedy, REMEDY_NONE,
		    "no rule names port 0; nothing listens there");
		return;
	}
	/* Level full, or a newer kernel, is what is missing there. */
	if ((sbx_net_is_own(blob->meta->net) &&
		(op < SBX_HOST_TCP || allows_service(blob, verdict))) ||
	    verdict->by == BY_OLD_KERNEL)
		return;
	if (op >= SBX_HOST_TCP &&
	    (blob->meta->net == SBX_NET_PORTS ||
		blob->meta->net == SBX_NET_FULL))
		op -= SBX_HOST_TCP;
	if (blob->meta->net == SBX_NET_NONE &&
	    blob->meta->net_source != SBX_NO_SOURCE) {
		remedy_add(remedy, REMEDY_NONE,
		    "'deny network full' hides in a compiled policy what it "
		    "allows beside that: ask again without that line");
		return;
	}
	if (lift_ports(remedy, op))
		return;
	if (op == SBX_HOST_TCP && sbx_way_is_reserved(remedy->access->port))
		remedy_add(remedy, REMEDY_NONE,
		    "the sandbox's own resolver or proxy listens there");
	else if (remedy->access->port != 0)
		add_port(remedy, op);
	else if (op == SBX_LISTEN_TCP && blob->meta->net == SBX_NET_NONE &&
	    blob->port_count == 0)
		remedy_add(remedy, REMEDY_ADD, "allow network loopback");
	else
		remedy_add(remedy, REMEDY_NONE, "no rule names port 0; %s",
		    op == SBX_LISTEN_TCP ?
			"let the program listen on a port that one names" :
			"nothing listens there");
}

static const struct access_form port_forms[] = {
	{ "connect", "tcp", SBX_CONNECT_TCP },
	{ "listen", "tcp", SBX_LISTEN_TCP },
	{ "host", "tcp", SBX_HOST_TCP },
	{ "publish", "tcp", SBX_PUBLISH_TCP },
	{ NULL, NULL, 0 },
};

const struct rule_kind kind_port = {
	.id = KIND_PORT,
	.noun = "a port",
	.resolve = port_resolve,
	.equals = port_equals,
	.hash = port_hash,
	.resembles = port_resembles,
	.object = port_object,
	.show = port_show,
	.spans = port_spans,
	.is_moot = port_is_moot,
	.section = SBX_SECTION_PORTS,
	.section_name = "the port rules",
	.record = {
		RECORD_LAYOUT(struct sbx_port),
		.order = {
			RECORD_FIELD(struct sbx_port, op),
			RECORD_FIELD(struct sbx_port, low),
			RECORD_FIELD(struct sbx_port, high),
			RECORD_FIELD(struct sbx_port, effect),
			RECORD_FIELD(struct sbx_port, source),
		},
	},
	.fill = port_fill,
	.forms = port_forms,
	.usage = "connect|listen|host|publish tcp PORT",
	.ask = port_ask,
	.show_access = port_show_access,
	.verdict = port_verdict,
	.outcome = port_outcome,
	.answer = port_answer,
	.enforcer = network_enforcer,
	.remedy = port_remedy,
	.difference = {
		.word = "port",
		.title = "ports",
	},
	.compare = compare_ports,
};
