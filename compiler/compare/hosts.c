/*
 * Hosts by names and by addresses.  What a policy says changes at few spots,
 * and it is enough to ask there.
 *
 * Names form a tree.  Two names are judged alike if the same rules name them or
 * one above them; so each name that a rule has stands for itself, a name below
 * it that no rule has for all other ones there, and one that lies below none
 * for the rest.  The networks of two policies lie in each other or apart, so a
 * verdict changes where a network begins or has just ended.  Of ports it is
 * each that some rule about this host has, or where its range begins or has
 * just ended.
 */
#include "compiler/compare/compare.h"

#include "compiler/query/why.h"
#include "format/model.h"

#include <stdlib.h>
#include <string.h>

enum { PORT_COUNT = UINT16_MAX + 1 };

struct ports {
	VEC(uint32_t) list;
};

/* The rules of both sides about one name, by their ports. */
struct name_rules {
	const char *name;
	struct ports ports;
};

/* The spots of one kind of host, and the ports to ask about. */
struct hosts {
	struct pass *pass;
	enum sbx_level levels[SBX_LEVEL_END];
	size_t level_count;
	struct ports common; /* whatever the host is */
	struct map names;    /* the numbers of what follows */
	VEC(struct name_rules) rules;
};

/* Rules about hosts decide where the network is of the sandbox's own; where
 * both sides are in the host's, or in none, its ports say all. */
static bool
hosts_begin(struct hosts *hosts, struct pass *pass)
{
	bool some = false;

	for (unsigned side = 0; side < SIDE_COUNT; side++)
		some |= pass->comparison->blobs[side]->meta->net ==
		    SBX_NET_SELECTED;
	hosts->pass = pass;
	hosts->level_count = common_levels(pass->comparison, hosts->levels);
	return some;
}

static void
add_port(const struct hosts *hosts, struct ports *ports, uint32_t port)
{
	if (port > 0 && port < PORT_COUNT)
		*arena_push(hosts->pass->scratch, &ports->list) = port;
}

static void
add_ports(const struct hosts *hosts, struct ports *ports,
    const struct ports *more)
{
	for (size_t i = 0; i < more->list.count; i++)
		add_port(hosts, ports, more->list.items[i]);
}

static void
add_range(const struct hosts *hosts, struct ports *ports, uint16_t low,
    uint16_t high)
{
	add_port(hosts, ports, low);
	add_port(hosts, ports, high + 1u);
}

/* In the host's network the rules about ports count. */
static void
add_port_rules(struct hosts *hosts)
{
	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		const struct sbx_blob *blob =
		    hosts->pass->comparison->blobs[side];

		for (uint32_t i = 0; i < blob->port_count; i++) {
			if (blob->ports[i].op == SBX_CONNECT_TCP)
				add_range(hosts, &hosts->common,
				    blob->ports[i].low, blob->ports[i].high);
		}
	}
}

static int
port_compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Sorts them, and leaves each once. */
static void
ports_sort(struct ports *ports)
{
	uint32_t *items = ports->list.items;
	size_t kept = 0;

	if (ports->list.count == 0)
		return;
	qsort(items, ports->list.count, sizeof *items, port_compare);
	for (size_t i = 1; i < ports->list.count; i++) {
		if (items[i] != items[kept])
			items[++kept] = items[i];
	}
	ports->list.count = kept + 1;
}

/* --- one access ----------------------------------------------------------- */

/* The rule that came or went: a deny of the side that refuses, else the allow
 * of the one that lets through. */
static struct note_key
host_key(const struct access *access, const struct verdict verdicts[SIDE_COUNT],
    enum change change)
{
	enum side allows = change == CHANGE_WIDER ? SIDE_NEW : SIDE_OLD;
	bool denied = verdicts[!allows].by >= BY_RULE &&
	    verdicts[allows].by != BY_EVERYTHING;
	enum side side = denied ? !allows : allows;

	return (struct note_key){
		.kind = access->kind,
		.change = change,
		.side = side,
		.by = verdicts[side].by,
		.detail = access->detail,
		.rule = verdicts[side].by >= BY_RULE ? verdicts[side].rule : 0,
	};
}

/* Whether the sides differ. */
static bool
ask_host(const struct hosts *hosts, const struct access *access,
    enum sbx_level level)
{
	struct verdict verdicts[SIDE_COUNT];
	struct note_key key;

	for (unsigned side = 0; side < SIDE_COUNT; side++)
		verdicts[side] = pass_ask(hosts->pass, (enum side)side, access,
		    level, 0);
	if (verdicts[SIDE_OLD].allowed == verdicts[SIDE_NEW].allowed)
		return false;
	key = host_key(access, verdicts,
	    verdicts[SIDE_NEW].allowed ? CHANGE_WIDER : CHANGE_NARROWER);
	if (!pass_again(hosts->pass, &key))
		pass_note_access(hosts->pass, &key, access, level, 0);
	return true;
}

/* --- names ---------------------------------------------------------------- */

static const struct name_rules *
rules_of_name(const struct hosts *hosts, const char *name)
{
	size_t number = map_number_find(&hosts->names, name, strlen(name));

	return number == SIZE_MAX ? NULL : &hosts->rules.items[number];
}

/* A name below another one, or below none, that no rule has; NULL where names
 * have become too long for one. */
static const char *
fresh_name(const struct hosts *hosts, const char *above)
{
	struct arena *arena = hosts->pass->comparison->arena;
	const char *name = *above != '\0' ?
	    arena_printf(arena, "www.%s", above) :
	    "example.net";

	for (unsigned i = 1; rules_of_name(hosts, name) != NULL; i++)
		name = *above != '\0' ?
		    arena_printf(arena, "w%u.%s", i, above) :
		    arena_printf(arena, "example%u.net", i);
	return strlen(name) < SBX_NAME_SIZE ? name : NULL;
}

/* What may have an address that is not public may have one that is, so that is
 * asked only where the other question shows nothing. */
static void
ask_name_port(const struct hosts *hosts, const char *name, uint16_t port)
{
	struct access access = {
		.kind = KIND_DOMAIN,
		.name = name,
		.port = port,
	};

	for (size_t level = 0; level < hosts->level_count; level++) {
		access.detail = 0;
		if (ask_host(hosts, &access, hosts->levels[level]))
			continue;
		access.detail = SBX_NAME_PRIVATE;
		ask_host(hosts, &access, hosts->levels[level]);
	}
}

/* The ports that count for a name; what decides at another one does so at one of
 * these, too. */
static struct ports
ports_of_name(const struct hosts *hosts, const char *name)
{
	struct ports ports = { 0 };

	add_ports(hosts, &ports, &hosts->common);
	for (const char *at = name; at != NULL; at = strchr(at, '.')) {
		const struct name_rules *rules;

		at += *at == '.';
		rules = rules_of_name(hosts, at);
		if (rules != NULL)
			add_ports(hosts, &ports, &rules->ports);
	}
	ports_sort(&ports);
	return ports;
}

/* --- requests ------------------------------------------------------------- */

struct asked {
	const char *method, *target;
};

/* Requests that show what rules say, each once. */
struct requests {
	VEC(struct asked) list;
	VEC(const char *) secrets;
	struct map seen;
};

static void
add_request(const struct hosts *hosts, struct requests *requests,
    const char *method, const char *target)
{
	struct arena *arena = hosts->pass->comparison->arena;
	const char *key = arena_printf(arena, "%s %s", method, target);
	bool added;

	map_number(hosts->pass->scratch, &requests->seen, key, strlen(key),
	    &added);
	if (added)
		*arena_push(hosts->pass->scratch,
		    &requests->list) = (struct asked){ method, target };
}

/* A path that the pattern matches: where no other pattern has these letters, one
 * that matches all that this one does matches it, too. */
static const char *
sample_path(const struct hosts *hosts, const char *pattern, const char *parts)
{
	struct arena *arena = hosts->pass->comparison->arena;
	const char *path = "";

	while (*pattern != '\0') {
		size_t len = strcspn(pattern, "*");

		if (strncmp(pattern + len, "**", 2) == 0) {
			len -= *parts == '\0' && len > 0;
			path = arena_printf(arena, "%s%.*s%s", path, (int)len,
			    pattern, parts);
			pattern += len + strspn(pattern + len, "/") + 2;
			continue;
		}
		path = arena_printf(arena, "%s%.*s%s", path, (int)len, pattern,
		    pattern[len] == '*' ? "zq" : "");
		pattern += len + (pattern[len] == '*');
	}
	return *path != '\0' ? path : "/";
}

static void
add_rule(const struct hosts *hosts, struct requests *requests,
    const char *method, const char *path)
{
	static const char *const others[] = { "GET", "HEAD", "POST", "PATCH" };
	struct arena *arena = hosts->pass->comparison->arena;

	if (strncmp(method, "git-", 4) != 0)
		add_request(hosts, requests,
		    strcmp(method, "*") == 0 ? "PATCH" : method, path);
	else {
		add_request(hosts, requests, "POST",
		    arena_printf(arena, "%s/git-upload-pack", path));
		add_request(hosts, requests, "POST",
		    arena_printf(arena, "%s/git-receive-pack", path));
	}
	for (size_t i = 0; i < countof(others); i++)
		add_request(hosts, requests, others[i], path);
}

/* What the rules about a name say of requests, of one side. */
static void
add_requests(const struct hosts *hosts, enum side side, const char *name,
    uint16_t port, struct requests *requests)
{
	static const char *const parts[] = { "", "zq", "zq/zr",
		"zq/zr/zs/zt/zu/zv/zw/zx" };
	const struct sbx_blob *blob = hosts->pass->comparison->blobs[side];
	struct sbx_name_walk walk = sbx_name_walk(blob, hosts->pass->platforms,
	    name, port);
	uint32_t i;

	while ((i = sbx_name_next(&walk)) != UINT32_MAX) {
		const struct sbx_name *rule = &blob->names[i];
		const char *path = sbx_string(blob, rule->path);

		if (rule->secret != 0)
			*arena_push(hosts->pass->scratch, &requests->secrets) =
			    sbx_string(blob, rule->secret);
		for (size_t j = 0; rule->path != 0 && j < countof(parts); j++)
			add_rule(hosts, requests,
			    sbx_string(blob, rule->method),
			    sample_path(hosts, path, parts[j]));
	}
}

/* Where the rules of some side look at requests.  A secret is asked about even if
 * the name is new: what it gains is to be seen. */
static void
ask_requests(const struct hosts *hosts, const char *name, uint16_t port)
{
	struct requests requests = { 0 };
	struct access access = {
		.kind = KIND_DOMAIN,
		.name = name,
		.port = port,
	};

	for (unsigned side = 0; side < SIDE_COUNT; side++)
		add_requests(hosts, (enum side)side, name, port, &requests);
	if (requests.list.count == 0 && requests.secrets.count == 0)
		return;
	add_request(hosts, &requests, "GET", "/");
	for (size_t i = 0; i < requests.list.count; i++) {
		access.target = requests.list.items[i].target;
		access.word = requests.list.items[i].method;
		access.detail = ASK_REQUEST;
		ask_host(hosts, &access, hosts->levels[0]);
		access.detail = ASK_SECRET;
		for (size_t j = 0; j < requests.secrets.count; j++) {
			access.word = requests.secrets.items[j];
			ask_host(hosts, &access, hosts->levels[0]);
		}
	}
}

static void
ask_name(const struct hosts *hosts, const char *name)
{
	const struct ports ports = ports_of_name(hosts, name);

	/* 443 before 80: why asks about it if no port is given. */
	for (size_t i = ports.list.count; i-- > 0;) {
		ask_name_port(hosts, name, (uint16_t)ports.list.items[i]);
		ask_requests(hosts, name, (uint16_t)ports.list.items[i]);
	}
}

/* Every name once, though several rules of both sides have it. */
static void
add_names(struct hosts *hosts)
{
	struct arena *scratch = hosts->pass->scratch;

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		const struct sbx_blob *blob =
		    hosts->pass->comparison->blobs[side];

		for (uint32_t i = 0; i < blob->name_count; i++) {
			const char *name = sbx_string(blob,
			    blob->names[i].name);
			bool added;
			size_t number = map_number(scratch, &hosts->names, name,
			    strlen(name), &added);

			if (added)
				*arena_push(scratch, &hosts->rules) =
				    (struct name_rules){ .name = name };
			add_port(hosts, &hosts->rules.items[number].ports,
			    blob->names[i].port);
		}
	}
}

void
compare_domains(struct pass *pass)
{
	struct hosts *hosts = arena_alloc(pass->scratch, sizeof *hosts);

	if (!hosts_begin(hosts, pass))
		return;
	add_port_rules(hosts);
	/* A rule without a port is about these. */
	add_port(hosts, &hosts->common, 80);
	add_port(hosts, &hosts->common, 443);
	add_names(hosts);
	for (size_t i = 0; i < hosts->rules.count; i++) {
		const char *name = hosts->rules.items[i].name;
		const char *below = fresh_name(hosts, name);

		ask_name(hosts, name);
		if (below != NULL)
			ask_name(hosts, below);
	}
	ask_name(hosts, fresh_name(hosts, ""));
}

/* --- addresses ------------------------------------------------------------ */

/* The address behind the last one of a network; all zero behind the last. */
static void
behind(const struct sbx_endpoint *net, uint8_t address[SBX_ADDRESS_SIZE])
{
	memcpy(address, net->address, SBX_ADDRESS_SIZE);
	for (unsigned bit = net->prefix; bit-- > 0;) {
		uint8_t mask = (uint8_t)(0x80u >> bit % 8);

		address[bit / 8] ^= mask;
		if (address[bit / 8] & mask)
			return;
	}
}

/* Where a rule about this address begins, or has just ended. */
static struct ports
ports_of_address(const struct hosts *hosts,
    const uint8_t address[SBX_ADDRESS_SIZE])
{
	struct ports ports = { 0 };

	add_ports(hosts, &ports, &hosts->common);
	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		const struct sbx_blob *blob =
		    hosts->pass->comparison->blobs[side];

		for (uint32_t i = 0; i < blob->endpoint_count; i++) {
			const struct sbx_endpoint *rule = &blob->endpoints[i];

			if (sbx_address_covers(rule->address, rule->prefix,
				address))
				add_range(hosts, &ports, rule->low, rule->high);
		}
	}
	ports_sort(&ports);
	return ports;
}

static void
ask_address(const struct hosts *hosts, struct map *seen,
    const uint8_t address[SBX_ADDRESS_SIZE])
{
	struct access access = { .kind = KIND_ENDPOINT };
	struct ports ports;
	bool added;

	map_number(hosts->pass->scratch, seen, address, SBX_ADDRESS_SIZE,
	    &added);
	if (!added)
		return;
	ports = ports_of_address(hosts, address);
	memcpy(access.address, address, sizeof access.address);
	for (size_t level = 0; level < hosts->level_count; level++) {
		for (size_t i = 0; i < ports.list.count; i++) {
			access.port = (uint16_t)ports.list.items[i];
			ask_host(hosts, &access, hosts->levels[level]);
		}
	}
}

static void
ask_networks(const struct hosts *hosts)
{
	/* A host of the internet, and what stands before all networks. */
	static const uint8_t others[][SBX_ADDRESS_SIZE] = {
		{ [10] = 0xff, 0xff, 192, 0, 2, 1 },
		{ 0 },
	};
	struct map seen = { 0 };

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		const struct sbx_blob *blob =
		    hosts->pass->comparison->blobs[side];

		for (uint32_t i = 0; i < blob->endpoint_count; i++) {
			uint8_t address[SBX_ADDRESS_SIZE];

			ask_address(hosts, &seen, blob->endpoints[i].address);
			behind(&blob->endpoints[i], address);
			ask_address(hosts, &seen, address);
		}
	}
	for (size_t i = 0; i < countof(others); i++)
		ask_address(hosts, &seen, others[i]);
}

void
compare_endpoints(struct pass *pass)
{
	struct hosts *hosts = arena_alloc(pass->scratch, sizeof *hosts);

	if (!hosts_begin(hosts, pass))
		return;
	add_port_rules(hosts);
	add_port(hosts, &hosts->common, 1);
	ask_networks(hosts);
}

/* --- the user's own proxy ------------------------------------------------- */

void
compare_proxies(struct pass *pass)
{
	struct explanation says[SIDE_COUNT];
	const char *old, *new;

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		const struct sbx_blob *blob = pass->comparison->blobs[side];

		says[side] = (struct explanation){ .source = SBX_NO_SOURCE };
		for (uint32_t i = blob->proxy_count; i-- > 0;) {
			if ((blob->proxies[i].platforms & pass->platforms) == 0)
				continue;
			says[side].text = record_text(pass->comparison->arena,
			    blob, rule_kinds[KIND_PROXY], &blob->proxies[i]);
			says[side].source = blob->proxies[i].source;
		}
	}
	old = says[SIDE_OLD].text;
	new = says[SIDE_NEW].text;
	if (old != NULL && new != NULL && strcmp(old, new) == 0)
		return;
	/* Another proxy may let through what the first one did not. */
	if (old != NULL || new != NULL)
		pass_note_setting(pass, DIFFERENCE_PROXY,
		    new != NULL ? CHANGE_WIDER : CHANGE_NARROWER,
		    "network proxy", says);
}
