/*
 * The user's own proxy: `allow network proxy unix ${runtime}/proxy.sock`, or
 * `allow network proxy tcp 3128` for one on 127.0.0.1.  What it lets through is
 * its own business, so there is one, and no deny.
 */
#include "compiler/kinds/kinds.h"

#include "compiler/compare/compare.h"
#include "compiler/lower/lower.h"
#include "compiler/policy/kind.h"
#include "compiler/query/why.h"

#include <string.h>

/* --- statements ----------------------------------------------------------- */

static void
socket_expand(struct expansion *expansion, const struct ast_atom *atom,
    const struct item *base, struct item_list *list)
{
	struct place_list places = { 0 };

	if (place_no_glob(expansion, atom, "network proxy unix",
		"name the path of one socket") &&
	    scope_paths(&expansion->scope, atom, base->rule.origin.platforms,
		&places))
		place_items(expansion, atom, &places, base, list);
}

static bool
is_allowed(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct ast_atom *atom)
{
	struct diag *diag;

	if (stmt->effect != SBX_ALLOW)
		diag = diag_add(expansion->diags, DIAG_WRONG_EFFECT, atom->loc,
		    "a proxy cannot be denied");
	else if (object_next(stmt, atom) != NULL)
		diag = diag_add(expansion->diags, DIAG_SAID_TWICE,
		    object_next(stmt, atom)->loc,
		    "a policy has one proxy of the user's");
	else
		return true;
	diag_help(diag,
	    stmt->effect != SBX_ALLOW ?
		"what is not allowed is denied: delete this line, or "
		"'drop' the inherited rule" :
		"keep the one that is to be used");
	return false;
}

static void
proxy_expand(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct item *base, const struct ast_atom *atom,
    struct item_list *list)
{
	struct item item = *base;

	if (!is_allowed(expansion, stmt, atom))
		return;
	item.rule.origin.loc = atom->loc;
	if (item.rule.detail == PROXY_UNIX)
		socket_expand(expansion, atom, &item, list);
	else if (host_port_read(&expansion->scope, atom, &item.rule.port.low))
		item_add(expansion, list, &item);
}

static bool
proxy_equals(const struct rule *a, const struct rule *b)
{
	return a->detail == PROXY_UNIX ? place_equals(a, b) :
					 a->port.low == b->port.low;
}

static uint64_t
proxy_hash(const struct rule *rule)
{
	return rule->detail == PROXY_UNIX ? place_hash(rule) : rule->port.low;
}

static bool
proxy_resembles(const struct rule *a, const struct rule *b)
{
	(void)a;
	(void)b;
	return true;
}

/* --- rules as they are written -------------------------------------------- */

static const char *
proxy_text(const struct policy *policy, const struct rule *rule)
{
	const char *words = what_words(KIND_PROXY, rule->detail);

	return rule->detail == PROXY_UNIX ?
	    arena_printf(policy->arena, "allow %s %s", words,
		policy_target_text(policy, rule->path.at)) :
	    arena_printf(policy->arena, "allow %s %u", words,
		(unsigned)rule->port.low);
}

static void
proxy_state(struct builder *builder, const struct rule *rule)
{
	struct ast_stmt *stmt = stmt_add_rule(builder, &rule->origin, SBX_ALLOW,
	    what_words(KIND_PROXY, rule->detail));

	if (rule->detail == PROXY_UNIX)
		ast_list_add(&stmt->objects,
		    place_atom(builder,
			policy_target_text(builder->policy, rule->path.at)));
	else
		ast_list_add(&stmt->objects,
		    atom_new(builder, AST_NUMBER,
			arena_printf(builder->arena, "%u",
			    (unsigned)rule->port.low)));
}

/* --- records -------------------------------------------------------------- */

static void
proxy_show(FILE *stream, const struct sbx_blob *blob, const void *record)
{
	const struct sbx_proxy *proxy = record;
	bool tcp = proxy->anchor == SBX_NO_ANCHOR;

	fprintf(stream, "allow %s ",
	    what_words(KIND_PROXY, tcp ? PROXY_TCP : PROXY_UNIX));
	if (tcp)
		fprintf(stream, "%u", (unsigned)proxy->port);
	else
		show_place(stream, blob, proxy->anchor, proxy->suffix);
}

static void
proxy_fill(struct emitter *emitter, const struct rule *rule, void *record)
{
	struct sbx_proxy *proxy = record;

	proxy->anchor = SBX_NO_ANCHOR;
	if (rule->detail == PROXY_TCP) {
		proxy->port = rule->port.low;
		return;
	}
	proxy->suffix = emit_string(emitter, rule->path.at.suffix);
	proxy->anchor = rule->path.at.anchor;
	emit_anchor(emitter, proxy->anchor);
}

const struct rule_kind kind_proxy = {
	.id = KIND_PROXY,
	.noun = "where the proxy listens",
	.expand = proxy_expand,
	.equals = proxy_equals,
	.hash = proxy_hash,
	.resembles = proxy_resembles,
	.text = proxy_text,
	.show = proxy_show,
	.state = proxy_state,
	.section = SBX_SECTION_PROXY,
	.section_name = "the user's own proxy",
	.record = {
		RECORD_LAYOUT(struct sbx_proxy),
		.order = {
			RECORD_FIELD(struct sbx_proxy, anchor),
			RECORD_FIELD(struct sbx_proxy, suffix),
			RECORD_FIELD(struct sbx_proxy, port),
			RECORD_FIELD(struct sbx_proxy, source),
		},
	},
	.fill = proxy_fill,
	.difference = {
		.word = "proxy",
		.title = "proxies",
		.silence = "no rule names one",
	},
	.compare = compare_proxies,
};
