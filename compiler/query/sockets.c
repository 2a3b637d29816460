/*
 * Rules about sockets where they are bound, and what they say.
 */
#include "compiler/query/why.h"

#include <sys/socket.h>

struct sbx_rule
places_socket(const struct places *places, const struct sbx_socket *socket,
    bool other_home)
{
	const struct sbx_path path = {
		.suffix = socket->suffix,
		.anchor = socket->anchor,
		.effect = socket->effect,
	};
	struct sbx_rule rule = {
		.at = places->agent,
		.source = socket->source,
		.effect = socket->effect,
	};

	if (socket->form == SBX_SOCKET_PLACE)
		rule = places_rule(places, &path, other_home);
	rule.rights = SBX_CONNECT;
	return rule;
}

bool
places_socket_has_other(const struct places *places,
    const struct sbx_socket *socket)
{
	const struct sbx_path path = {
		.anchor = socket->anchor,
		.effect = socket->effect,
	};

	return socket->form == SBX_SOCKET_PLACE &&
	    places_rule_has_other(places, &path);
}

/* Whether a rule opens a socket, and the loader skips it here. */
static bool
is_skipped(const struct subject *subject, const struct sbx_socket *socket)
{
	return socket->effect == SBX_ALLOW &&
	    (socket->platforms & subject->arch->platforms) != 0 &&
	    places_socket_fault(&subject->places, socket) != NULL;
}

/* What the rules about sockets say; its rule is an index into the blob's. */
static struct sbx_verdict
model_verdict(const struct subject *subject, struct sbx_place path)
{
	const struct places *places = &subject->places;
	const struct sbx_blob *blob = places->blob;
	struct sbx_rule *rules = arena_alloc(places->arena,
	    2u * blob->socket_count * sizeof *rules);
	uint32_t *numbers = arena_alloc(places->arena,
	    2u * blob->socket_count * sizeof *numbers);
	struct sbx_verdict model;
	size_t count = 0;

	for (uint32_t i = 0; i < blob->socket_count; i++) {
		const struct sbx_socket *socket = &blob->sockets[i];

		if ((socket->platforms & subject->arch->platforms) == 0 ||
		    is_skipped(subject, socket))
			continue;
		numbers[count] = i;
		rules[count++] = places_socket(places, socket, false);
		if (!places_socket_has_other(places, socket))
			continue;
		numbers[count] = i;
		rules[count++] = places_socket(places, socket, true);
	}
	model = sbx_socket_verdict(rules, count, path);
	if (model.rule != SBX_NO_RULE)
		model.rule = numbers[model.rule];
	return model;
}

/* Whether a stream socket of AF_UNIX is made at all, which the filter that sbxrun
 * takes here decides. */
static bool
socket_is_made(const struct subject *subject)
{
	const struct access access = {
		.kind = KIND_SYSCALL,
		.name = "socket",
		.arg_count = 3,
		.args = { AF_UNIX, SOCK_STREAM, 0 },
	};

	return subject->program == NULL || verdict_of(subject, &access).allowed;
}

/* Where the policy opens the network of the host, the view holds what it shows
 * to be written, and neither sbxrun nor Landlock sees who listens there. */
bool
socket_is_unwatched(const struct subject *subject)
{
	const struct sbx_program *program = subject->program;

	return subject->level == SBX_LEVEL_FULL && program != NULL &&
	    (program->flags & SBX_PROGRAM_UNIX) != 0 &&
	    (program->flags & SBX_PROGRAM_LISTENER) == 0 &&
	    verdict_abi(subject) < 9 &&
	    subject->places.blob->meta->net != SBX_NET_NONE &&
	    !sbx_net_is_own(subject->places.blob->meta->net);
}

struct verdict
socket_verdict(const struct subject *subject, const struct access *access)
{
	struct sbx_verdict model = model_verdict(subject, access->path);
	/* Who answers connect(2) goes by all rules, at each level. */
	struct subject ruled = *subject;
	struct verdict verdict;

	ruled.enforced = false;
	verdict = model.rule == SBX_NO_RULE ? path_verdict(&ruled, access) :
					      verdict_begin(model);

	if (model.rule != SBX_NO_RULE) {
		verdict.by = BY_RULE + KIND_SOCKET;
		verdict.rule = model.rule;
		verdict.source =
		    subject->places.blob->sockets[model.rule].source;
	}
	/* It has no path that a rule about paths could speak of. */
	if (verdict.allowed &&
	    places_is_no_agent(&subject->places, access->path))
		verdict = (struct verdict){ .source = SBX_NO_SOURCE };
	/* The filter cannot see a path, and nothing else is there. */
	if (verdict.allowed && subject->level == SBX_LEVEL_MINIMAL) {
		verdict.allowed = false;
		verdict.by = BY_NO_PATHS;
	}
	if (verdict.allowed && !socket_is_made(subject)) {
		verdict.allowed = false;
		verdict.by = BY_SHUT;
	}
	/* A server that listens when one asks is one of outside. */
	if (verdict.allowed && verdict.by == BY_PATH &&
	    subject->level >= SBX_LEVEL_STANDARD && access->followed != NULL &&
	    here_is_socket(access->path) && !socket_is_unwatched(subject)) {
		verdict.allowed = false;
		verdict.by = BY_OUTSIDE;
	}
	verdict.unenforced = !verdict.allowed &&
	    subject->level == SBX_LEVEL_NONE;
	return verdict;
}

bool
subject_has_agent(const struct subject *subject)
{
	return sbx_verdict_allows(
	    model_verdict(subject, subject->places.agent));
}

void
why_say_no_agent(const struct why *why)
{
	const struct sbx_blob *blob = why->blob;

	for (uint32_t i = 0; i < blob->socket_count; i++) {
		const struct sbx_socket *socket = &blob->sockets[i];

		if (!is_skipped(why->subject, socket))
			continue;
		why_say_rule(why,
		    arena_printf(why->subject->places.arena,
			"%s, so that this grants nothing: ",
			places_socket_fault(&why->subject->places, socket)),
		    socket->source);
		rule_kinds[KIND_SOCKET]->show(why->stream, blob, socket);
		why_say_rule_end(why, socket->platforms, socket->source);
	}
}

bool
remedy_agent(struct remedy *remedy)
{
	if (remedy->subject->places.agent_fault == NULL)
		return false;
	remedy_add(remedy, REMEDY_NONE,
	    "the rule is there; it takes an agent of ssh that SSH_AUTH_SOCK "
	    "names");
	return true;
}
