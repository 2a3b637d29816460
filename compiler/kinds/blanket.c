/*
 * Blanket rules, which have words and no object: `allow network full`.  In the
 * blob they have no table: for Linux its meta record holds what they come to,
 * and for macOS the text.
 */
#include "compiler/kinds/kinds.h"

#include "compiler/compare/parts.h"
#include "compiler/restore/restorer.h"

static void
blanket_expand(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct item *base, const struct ast_atom *atom,
    struct item_list *list)
{
	struct item item = *base;
	struct diag *diag;

	if (atom != NULL) {
		diag_add(expansion->diags, DIAG_WRONG_OBJECT, atom->loc,
		    "nothing goes after '%s', found '%s'",
		    what_words(KIND_BLANKET, item.rule.detail), atom->text);
		return;
	}
	if (item.rule.detail == BLANKET_EVERYTHING &&
	    stmt->effect != SBX_ALLOW) {
		diag = diag_add(expansion->diags, DIAG_WRONG_EFFECT,
		    object_first(stmt)->loc, "'everything' cannot be denied");
		diag_help(expansion->diags, diag,
		    "what is not allowed is denied: delete this line");
		return;
	}
	if (stmt->words.first != NULL)
		item.rule.origin.loc = (struct loc){
			stmt->words.first->loc.begin,
			stmt->words.last->loc.end,
		};
	item_add(expansion, list, &item);
}

static void
blanket_spans(struct arena *arena, const struct rule *rule,
    struct rule_spans *spans)
{
	(void)rule;
	*arena_push(arena, &spans->list) = (struct rule_span){ .low = 0 };
}

/* --- back from a blob ----------------------------------------------------- */

/* What goes with the default on one platform. */
struct blankets {
	uint8_t platforms;
	bool everything, signal, abstract, denied;
	enum sbx_net net;
	uint32_t source; /* of what is said about the network */
};

/* The same for another platform is one rule for both. */
static void
blanket_add(struct restorer *restorer, const struct blankets *blankets,
    enum sbx_effect effect, enum blanket_kind kind, uint32_t source)
{
	struct rule_list *rules = &restorer->policy->rules[KIND_BLANKET];
	struct origin origin = restorer_origin(restorer, blankets->platforms,
	    source);

	for (size_t i = 0; i < rules->count; i++) {
		struct rule *rule = &rules->items[i];

		if (rule->detail != kind || rule->effect != effect)
			continue;
		rule->origin.platforms |= blankets->platforms;
		return;
	}
	policy_add(restorer->policy, KIND_BLANKET, &origin, effect)->detail =
	    (uint8_t)kind;
}

/* Beside it only what is preferred may be denied. */
static void
say_everything(struct restorer *restorer, const struct blankets *blankets)
{
	bool network = blankets->net == SBX_NET_FULL;

	blanket_add(restorer, blankets, SBX_ALLOW, BLANKET_EVERYTHING,
	    network ? blankets->source : SBX_NO_SOURCE);
	if (!network)
		blanket_add(restorer, blankets, SBX_PREFER_DENY,
		    BLANKET_NETWORK, blankets->source);
	if (!blankets->signal)
		blanket_add(restorer, blankets, SBX_PREFER_DENY, BLANKET_SIGNAL,
		    SBX_NO_SOURCE);
	if (!blankets->abstract)
		blanket_add(restorer, blankets, SBX_PREFER_DENY,
		    BLANKET_ABSTRACT, SBX_NO_SOURCE);
}

static void
say_blankets(struct restorer *restorer, const struct blankets *blankets)
{
	uint32_t source = blankets->source;

	if (blankets->everything) {
		say_everything(restorer, blankets);
		return;
	}
	if (blankets->signal)
		blanket_add(restorer, blankets, SBX_ALLOW, BLANKET_SIGNAL,
		    SBX_NO_SOURCE);
	if (blankets->abstract)
		blanket_add(restorer, blankets, SBX_ALLOW, BLANKET_ABSTRACT,
		    SBX_NO_SOURCE);
	if (blankets->net == SBX_NET_FULL)
		blanket_add(restorer, blankets, SBX_ALLOW, BLANKET_NETWORK,
		    source);
	else if (blankets->net == SBX_NET_LOOPBACK)
		blanket_add(restorer, blankets, SBX_ALLOW, BLANKET_LOOPBACK,
		    source);
	else if (blankets->denied)
		blanket_add(restorer, blankets, SBX_DENY, BLANKET_NETWORK,
		    source);
}

/* Abstract sockets are Linux's: what is said of them is for macOS too, unless
 * that would be a rule of its own, which something else might exclude. */
static void
macos_blankets(const struct restorer *restorer, struct blankets *part)
{
	const struct sbpl_blankets *text = &restorer->macos.blankets;

	if (text->everything != part->everything || text->net != part->net)
		part->abstract = text->everything;
	part->everything = text->everything;
	part->signal = text->signal;
	part->net = text->net;
	part->denied = part->denied && text->net == SBX_NET_NONE;
	part->source = SBX_NO_SOURCE;
}

static void
blanket_restore(struct restorer *restorer)
{
	const struct sbx_meta *meta = restorer->blob->meta;
	struct blankets linux_part = {
		.platforms = SBX_ON_LINUX,
		.everything = meta->flags & SBX_EVERYTHING,
		.signal = meta->flags & SBX_SIGNAL_ANYWHERE,
		.abstract = meta->flags & SBX_ABSTRACT_ANYWHERE,
		.denied = meta->net == SBX_NET_NONE &&
		    meta->net_source != SBX_NO_SOURCE,
		.net = (enum sbx_net)meta->net,
		.source = meta->net_source,
	};
	struct blankets macos_part = linux_part;

	say_blankets(restorer, &linux_part);
	if (restorer->has_macos)
		macos_blankets(restorer, &macos_part);
	macos_part.platforms = SBX_ON_MACOS;
	say_blankets(restorer, &macos_part);
}

/* --- differences ---------------------------------------------------------- */

/* The network is compared with the ports. */
static void
blanket_compare(struct pass *pass)
{
	static const struct {
		uint32_t flag;
		const char *rule, *what;
	} scopes[] = {
		{ SBX_SIGNAL_ANYWHERE, "allow signal anywhere",
		    "signals to processes outside" },
		{ SBX_ABSTRACT_ANYWHERE, "allow abstract anywhere",
		    "abstract sockets of processes outside" },
	};

	for (size_t i = 0; i < countof(scopes); i++) {
		struct explanation says[SIDE_COUNT];
		bool open[SIDE_COUNT];

		for (unsigned side = 0; side < SIDE_COUNT; side++) {
			uint32_t flags =
			    pass->comparison->blobs[side]->meta->flags;
			bool everything = flags & SBX_EVERYTHING;

			open[side] = everything || (flags & scopes[i].flag);
			says[side] = (struct explanation){
				.text = everything ? "allow everything" :
				    open[side]     ? scopes[i].rule :
						     NULL,
				.source = SBX_NO_SOURCE,
			};
		}
		if (open[SIDE_OLD] != open[SIDE_NEW])
			pass_note_setting(pass, DIFFERENCE_BLANKET,
			    open[SIDE_NEW] ? CHANGE_WIDER : CHANGE_NARROWER,
			    scopes[i].what, says);
	}
}

const struct rule_kind kind_blanket = {
	.id = KIND_BLANKET,
	.expand = blanket_expand,
	.spans = blanket_spans,
	.restore = blanket_restore,
	.difference = {
		.word = "scope",
		.title = "scopes",
		.explain = "Signals and abstract sockets beyond the sandbox.",
		.silence = "no rule allows it",
	},
	.compare = blanket_compare,
};
