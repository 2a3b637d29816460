/*
 * The ways out of a network of the sandbox's own (SBX_NET_SELECTED), in the
 * order in which the loader makes their sockets and the proxy serves them.  The
 * order is part of what the two have agreed on.
 */
#include "format/model.h"

/* The ports of one kind of way, and what has been found before. */
struct ports {
	uint64_t words[(UINT16_MAX + 1) / 64]; /* a bit for each */
	size_t count; /* beyond SBX_MAX_WAYS it is not counted on */
};

struct listing {
	const struct sbx_blob *blob;
	uint8_t platforms;
	struct sbx_way *ways;
	size_t count;
};

/* The next port of the set from `port` on, or beyond UINT16_MAX.  The loader
 * asks at every launch, so what is empty is passed over. */
static uint32_t
ports_next(const struct ports *ports, uint32_t port)
{
	while (port <= UINT16_MAX) {
		uint64_t word = ports->words[port / 64] >> port % 64;

		if (word & 1)
			return port;
		port = word == 0 ? (port / 64 + 1) * 64 : port + 1;
	}
	return port;
}

static bool
ports_have(const struct ports *ports, uint16_t port)
{
	return ports->words[port / 64] >> port % 64 & 1;
}

static void
ports_add(struct ports *ports, uint16_t low, uint16_t high)
{
	for (uint32_t port = low; port <= high; port++) {
		if (ports->count > SBX_MAX_WAYS)
			return;
		if (ports_have(ports, (uint16_t)port))
			continue;
		ports->words[port / 64] |= UINT64_C(1) << port % 64;
		ports->count++;
	}
}

static void
way_add(struct listing *listing, enum sbx_way_kind kind, uint16_t port)
{
	if (listing->count < SBX_MAX_WAYS)
		listing->ways[listing->count] = (struct sbx_way){
			.kind = (uint8_t)kind,
			.port = port,
		};
	listing->count++;
}

static void
ways_add(struct listing *listing, enum sbx_way_kind kind,
    const struct ports *ports)
{
	if (ports->count > SBX_MAX_WAYS) {
		listing->count += ports->count;
		return;
	}
	for (uint32_t port = ports_next(ports, 0); port <= UINT16_MAX;
	     port = ports_next(ports, port + 1))
		way_add(listing, kind, (uint16_t)port);
}

static bool
add_names(const struct listing *listing, struct ports *ports)
{
	const struct sbx_blob *blob = listing->blob;
	bool some = false;

	for (uint32_t i = 0; i < blob->name_count; i++) {
		const struct sbx_name *rule = &blob->names[i];

		if (rule->effect != SBX_ALLOW ||
		    (rule->platforms & listing->platforms) == 0)
			continue;
		some = true;
		if (rule->port != 0) {
			ports_add(ports, rule->port, rule->port);
			continue;
		}
		ports_add(ports, 80, 80);
		ports_add(ports, 443, 443);
	}
	return some;
}

static void
add_endpoints(const struct listing *listing, struct ports *ports)
{
	const struct sbx_blob *blob = listing->blob;

	for (uint32_t i = 0; i < blob->endpoint_count; i++) {
		const struct sbx_endpoint *rule = &blob->endpoints[i];

		if (rule->effect == SBX_ALLOW &&
		    (rule->platforms & listing->platforms) != 0)
			ports_add(ports, rule->low, rule->high);
	}
}

static bool
has_proxy(const struct listing *listing)
{
	const struct sbx_blob *blob = listing->blob;

	for (uint32_t i = 0; i < blob->proxy_count; i++) {
		if ((blob->proxies[i].platforms & listing->platforms) != 0)
			return true;
	}
	return false;
}

/* The ports of an operation that are allowed and not denied.  Where too many
 * are allowed, nobody asks what is denied. */
static void
add_services(struct listing *listing, enum sbx_way_kind kind,
    enum sbx_port_op op, const struct ports *except)
{
	const struct sbx_blob *blob = listing->blob;
	struct ports ports = { .count = 0 };

	for (uint32_t i = 0; i < blob->port_count; i++) {
		const struct sbx_port *rule = &blob->ports[i];

		if (rule->op == op && rule->effect == SBX_ALLOW &&
		    (rule->platforms & listing->platforms) != 0)
			ports_add(&ports, rule->low, rule->high);
	}
	if (ports.count > SBX_MAX_WAYS) {
		listing->count += ports.count;
		return;
	}
	for (uint32_t port = ports_next(&ports, 0); port <= UINT16_MAX;
	     port = ports_next(&ports, port + 1)) {
		if ((except == NULL || !ports_have(except, (uint16_t)port)) &&
		    sbx_verdict_allows(sbx_port_verdict(blob,
			listing->platforms, (uint8_t)op, (uint16_t)port)))
			way_add(listing, kind, (uint16_t)port);
	}
}

size_t
sbx_ways(const struct sbx_blob *blob, uint8_t platforms,
    struct sbx_way ways[SBX_MAX_WAYS])
{
	struct listing listing = {
		.blob = blob,
		.platforms = platforms,
		.ways = ways,
	};
	struct ports ports = { .count = 0 };
	bool names;

	if (blob->meta->net != SBX_NET_SELECTED)
		return 0;
	names = add_names(&listing, &ports);
	add_endpoints(&listing, &ports);
	if (names) {
		way_add(&listing, SBX_WAY_RESOLVER, SBX_RESOLVER_PORT);
		way_add(&listing, SBX_WAY_RESOLVER_TCP, SBX_RESOLVER_PORT);
	}
	if (names || has_proxy(&listing))
		way_add(&listing, SBX_WAY_PROXY, SBX_PROXY_PORT);
	ways_add(&listing, SBX_WAY_PORT, &ports);
	add_services(&listing, SBX_WAY_HOST, SBX_HOST_TCP, &ports);
	add_services(&listing, SBX_WAY_PUBLISH, SBX_PUBLISH_TCP, NULL);
	return listing.count;
}

bool
sbx_ways_proxy(const struct sbx_blob *blob, uint8_t platforms)
{
	const struct listing listing = { .blob = blob, .platforms = platforms };

	if (blob->meta->net != SBX_NET_SELECTED)
		return false;
	return sbx_ways_names(blob, platforms) || has_proxy(&listing);
}

bool
sbx_ways_names(const struct sbx_blob *blob, uint8_t platforms)
{
	if (blob->meta->net != SBX_NET_SELECTED)
		return false;
	for (uint32_t i = 0; i < blob->name_count; i++) {
		const struct sbx_name *rule = &blob->names[i];

		if (rule->effect == SBX_ALLOW &&
		    (rule->platforms & platforms) != 0)
			return true;
	}
	return false;
}

bool
sbx_way_is_reserved(uint16_t port)
{
	return port == SBX_RESOLVER_PORT || port == SBX_PROXY_PORT;
}
