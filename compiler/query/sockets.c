/* See sockets.h. */
#include "compiler/query/sockets.h"

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

		if ((socket->platforms & subject->arch->platforms) == 0)
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
	/* The filter cannot see a path, and nothing else is there. */
	if (verdict.allowed && subject->level == SBX_LEVEL_MINIMAL) {
		verdict.allowed = false;
		verdict.by = BY_NO_PATHS;
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
