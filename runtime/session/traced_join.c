/*
 * A command of a session that is explained: --explain.  The sbxrun that started
 * it hears of its calls, and not the keeper, so that it needs what the keeper
 * knows; that is in the offer.  The rules are those that were bound when the
 * session was made, since its view is as old.
 *
 * What the command leaves behind when it ends has its filter, too, and somebody
 * must answer as long as it runs.
 */
#include "runtime/session/session.h"

#include "runtime/apply/apply.h"
#include "runtime/apply/mounts.h"
#include "runtime/base/out.h"
#include "runtime/explain/explain.h"
#include "runtime/session/offer.h"

#include <errno.h>

static struct sbx_place *
read_places(struct arena *arena, const struct offer *offer)
{
	const struct offer_head *head = offer->head;
	const struct offer_text *from = (const void *)((const char *)head +
	    head->places_at);
	struct sbx_place *places = arena_take(arena, head->place_count,
	    sizeof *places);

	for (uint32_t i = 0; i < head->place_count; i++)
		places[i] = (struct sbx_place){ offer_text(offer, from[i]),
			from[i].len };
	return places;
}

/* Those about paths, and then those about sockets. */
static struct sbx_rule *
read_rules(struct arena *arena, const struct offer *offer,
    const struct sbx_place *places)
{
	const struct offer_head *head = offer->head;
	const struct offer_rule *from = (const void *)((const char *)head +
	    head->rules_at);
	uint32_t count = head->rule_count + head->socket_count;
	struct sbx_rule *rules = arena_take(arena, count, sizeof *rules);

	for (uint32_t i = 0; i < count; i++)
		rules[i] = (struct sbx_rule){
			.at = { offer_text(offer, from[i].at), from[i].at.len },
			.exclusions = places + from[i].exclusions,
			.exclusion_count = (uint16_t)from[i].exclusion_count,
			.source = from[i].source,
			.effect = (uint8_t)from[i].effect,
			.rights = (uint8_t)from[i].rights,
		};
	return rules;
}

/* joining->outside has the anchors already. */
static void
read_binding(struct joining *joining)
{
	const struct offer *offer = &joining->offer;
	const struct offer_head *head = offer->head;
	struct binding *outside = &joining->outside;
	const struct sbx_place *places = read_places(joining->arena, offer);
	const struct sbx_rule *rules = read_rules(joining->arena, offer,
	    places);

	if (head->scratch.len > 0)
		outside->scratch = outside->anchors[SBX_ANCHOR_TMP];
	outside->rules = rules;
	outside->rule_count = head->rule_count;
	outside->links = places + (head->place_count - head->link_count);
	outside->link_count = head->link_count;
	outside->sockets = rules + head->rule_count;
	outside->socket_count = head->socket_count;
	outside->index = rule_index_make(joining->arena, rules,
	    head->rule_count);
}

/* As the command has them, where the scratch directory is /tmp. */
static const struct sbx_rule *
move_sockets(struct joining *joining)
{
	const struct binding *outside = &joining->outside;
	struct sbx_rule *moved = arena_take(joining->arena,
	    outside->socket_count, sizeof *moved);

	for (uint32_t i = 0; i < outside->socket_count; i++) {
		moved[i] = outside->sockets[i];
		if (outside->scratch.len > 0)
			moved[i].at = bind_move(joining->arena, moved[i].at,
			    outside->scratch, place_tmp);
	}
	return moved;
}

/* In the host's network the keeper alone knows which servers are the
 * session's. */
static const char *
obstacle(const struct offer_head *head)
{
	if (head->listens && head->network == NETWORK_OUTER)
		return "the keeper of this session answers calls of its "
		       "commands, and a command can have one listener";
	return listen_obstacles().listening;
}

void
traced_join_prepare(struct joining *joining)
{
	const struct options *options = joining->options;
	const struct offer *offer = &joining->offer;
	struct supervision *supervision = &joining->supervision;
	struct explaining *explaining = &joining->explaining;
	struct listening *listening = &supervision->listening;

	if (!options->explain)
		return;
	supervision->why_untraced = obstacle(offer->head);
	if (supervision->why_untraced != NULL) {
		warn_about("--explain", supervision->why_untraced, 0);
		return;
	}
	read_binding(joining);
	explain_begin(explaining, &offer->blob);
	explaining->policy = offer_text(offer, offer->head->policy);
	if (explaining->policy[0] != '@' && explaining->policy[0] != '/')
		explaining->policy = "";
	explaining->session = true;
	explaining->live = options->explain_live;
	explaining->thorough = options->explain_thorough;
	explain_bind(explaining, &joining->outside, true);
	explaining->filter = offer->filters +
	    enter_filter(offer, !joining->watch.grouped)->first;
	explaining->guard = GUARD_SIZE;
	listen_open(listening);
	*listening = (struct listening){
		.on = true,
		.view = true,
		.answers = offer->head->listens != 0,
		.own_network = offer->head->network != NETWORK_OUTER,
		.explaining = explaining,
		.sockets = joining->outside.sockets,
		.moved_sockets = move_sockets(joining),
		.socket_count = joining->outside.socket_count,
		.moved = offer->head->moved != 0,
		.servers = &supervision->servers,
		.send = listening->send,
		.receive = listening->receive,
		.listener = -1,
	};
}

void
traced_join_restrict(struct joining *joining)
{
	const struct offer *offer = &joining->offer;
	const struct listening *listening = &joining->supervision.listening;
	const struct sbx_blob filters = { .bpf = offer->filters };
	const char *fault;
	int listener;

	/* By this the one who listens asks about sockets in there. */
	if (listening->answers)
		servers_open(listening->servers);
	fault = enter_confined(offer);
	if (fault != NULL)
		refuse(NULL, fault, errno);
	listener = traced_install(joining->arena, &filters,
	    enter_filter(offer, !joining->watch.grouped),
	    traced_looks(listening->explaining, true));
	listen_send(listening, listener, 0);
}
