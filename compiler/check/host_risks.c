/*
 * Hosts that belong to more people than the one who is meant (hosts.def): an
 * own rule that opens one is told of, unless denies take back all of what it
 * opens of it.  A deny of a part, such as one port or one name below a shared
 * host, leaves the rest to be told.
 *
 * The denies are in a map by what they say, so that a host that a rule opens is
 * asked about with its name and those above it, however many denies there are.
 */
#include "compiler/check/check.h"

#include "format/blob.h"
#include "format/model.h"

#include <string.h>

struct known_host {
	const char *name;
	enum { SHARED_HOST, DROP_HOST, FORGE_HOST, METADATA_HOST } kind;
};

static const struct known_host known_hosts[] = {
#define SHARED(text) { text, SHARED_HOST },
#define DROP(text) { text, DROP_HOST },
#define FORGE(text) { text, FORGE_HOST },
#define METADATA(text) { text, METADATA_HOST },
#include "compiler/tables/hosts.def"
};

/* Whether the name, or a name below it, is such a host; of one that is shared,
 * names that anybody can have. */
static bool
is_known(const char *name, bool below, const struct known_host *host)
{
	if (host->kind == SHARED_HOST)
		return below &&
		    (strcmp(name, host->name) == 0 ||
			host_is_below(host->name, name) ||
			host_is_below(name, host->name));
	return below ? host_is_below(host->name, name) :
		       strcmp(name, host->name) == 0;
}

static const char *const whats[] = {
	[SHARED_HOST] = "where everybody can have a name",
	[DROP_HOST] = "where everybody can leave data, and fetch it",
	[FORGE_HOST] = "where whoever has an account can push",
	[METADATA_HOST] = "which gives out the machine's credentials",
};

const char *
risk_of_host(const char *name, bool *gives_keys)
{
	for (size_t i = 0; i < countof(known_hosts); i++) {
		const struct known_host *host = &known_hosts[i];

		if (!is_known(name, false, host))
			continue;
		*gives_keys = host->kind == METADATA_HOST;
		return whats[host->kind];
	}
	return NULL;
}

/* --- what denies take back ------------------------------------------------ */

/* By a name, whether it is about those below it, and a port, or 0 for all: the
 * platforms where that is denied. */
struct taken {
	struct map by;
	VEC(uint8_t) platforms;
	uint8_t open; /* where nothing enforces a deny */
	uint8_t shut; /* where the whole network is denied */
};

struct taken_key {
	char bytes[SBX_NAME_SIZE + 3];
	size_t size;
};

static struct taken_key
key_make(const char *name, bool below, uint16_t port)
{
	struct taken_key key = { .size = 3 + strlen(name) };

	key.bytes[0] = (char)below;
	memcpy(key.bytes + 1, &port, 2);
	memcpy(key.bytes + 3, name, key.size - 3);
	return key;
}

static void
take(struct arena *arena, struct taken *taken, const struct rule *deny)
{
	const struct taken_key key = key_make(deny->domain.name,
	    deny->domain.flags & SBX_NAME_BELOW, deny->domain.port);
	bool added;
	size_t number = map_number(arena, &taken->by, key.bytes, key.size,
	    &added);

	if (added)
		*arena_push(arena, &taken->platforms) = 0;
	taken->platforms.items[number] |= deny->origin.platforms;
}

static struct taken
taken_find(const struct checker *checker)
{
	const struct rule_list *rules = &checker->policy->rules[KIND_DOMAIN];
	struct taken taken = { .open = 0 };

	for (size_t i = 0; i < rules->count; i++) {
		if (rules->items[i].effect != SBX_ALLOW &&
		    rules->items[i].domain.path == NULL)
			take(checker->arena, &taken, &rules->items[i]);
	}
	for (uint8_t bit = 1; bit <= SBX_ON_MACOS; bit <<= 1) {
		const struct platform_fact *fact = &checker->on[bit];

		if (fact->everything || fact->net == SBX_NET_FULL)
			taken.open |= bit;
		else if (fact->net == SBX_NET_NONE)
			taken.shut |= bit;
	}
	return taken;
}

static uint8_t
taken_by(const struct taken *taken, const char *name, bool below, uint16_t port)
{
	const struct taken_key key = key_make(name, below, port);
	size_t number = map_number_find(&taken->by, key.bytes, key.size);

	return number == SIZE_MAX ? 0 : taken->platforms.items[number];
}

/* Where a port of a name, or of all names below it, is denied. */
static uint8_t
taken_at(const struct taken *taken, const char *name, bool below, uint16_t port)
{
	uint8_t platforms = 0;

	for (; name != NULL; name = strchr(name, '.'), below = true) {
		name += *name == '.';
		platforms |= taken_by(taken, name, below, port) |
		    taken_by(taken, name, below, 0);
	}
	return (uint8_t)((platforms & ~taken->open) | taken->shut);
}

/* Whether denies take back all that a rule opens of a host that is known to
 * it. */
static bool
is_taken(const struct taken *taken, const struct rule *rule,
    const struct known_host *host)
{
	/* Without a port an allow is for these. */
	static const uint16_t web_ports[] = { 80, 443 };
	bool web = rule->domain.port == 0, below = host->kind == SHARED_HOST;
	const uint16_t *ports = web ? web_ports : &rule->domain.port;
	uint8_t platforms = rule->origin.platforms;
	const char *name = host->name;

	/* What lies below both is what lies below the longer one. */
	if (below && host_is_below(rule->domain.name, name))
		name = rule->domain.name;
	for (size_t i = 0; i < (web ? countof(web_ports) : 1); i++) {
		if ((platforms & ~taken_at(taken, name, below, ports[i])) != 0)
			return false;
	}
	return true;
}

/* --- what is told --------------------------------------------------------- */

static void
report_known(struct checker *checker, const struct rule *rule,
    const struct known_host *host)
{
	static const char *const helps[] = {
		[SHARED_HOST] = "name the hosts that are meant",
		[DROP_HOST] = "delete it, unless nothing secret can be read",
		[FORGE_HOST] = "let the command read no token of anybody's",
		[METADATA_HOST] = "delete it",
	};

	diag_help(
	    check_report(checker, rule->origin.loc, "'%s' leads to %s, %s%s",
		rule_text(checker->policy, rule), host->name, whats[host->kind],
		rule->domain.secret != NULL ? ": the secret goes there" : ""),
	    "%s",
	    host->kind == FORGE_HOST && rule->domain.secret != NULL ?
		"name the requests, as in { GET /acme/**  git-read /acme/* }" :
		helps[host->kind]);
}

void
check_known_host(struct checker *checker)
{
	const struct rule_list *rules = &checker->policy->rules[KIND_DOMAIN];
	bool forges = checker->id == DIAG_FORGE_HOST;
	struct taken taken;

	/* More than a blob may have is an error, and nothing else is said. */
	if (rules->count > SBX_MAX_NAMES)
		return;
	taken = taken_find(checker);
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->items[i];

		if (rule->effect != SBX_ALLOW || !rule->origin.own ||
		    (rule->domain.path != NULL && i > 0 &&
			rule[-1].domain.path != NULL &&
			rule[-1].domain.name == rule->domain.name))
			continue;
		for (size_t j = 0; j < countof(known_hosts); j++) {
			const struct known_host *host = &known_hosts[j];

			/* A part of it is one's own. */
			if ((host->kind == FORGE_HOST) != forges ||
			    (forges && rule->domain.path != NULL &&
				strcmp(rule->domain.path, "/**") != 0) ||
			    !is_known(rule->domain.name,
				rule->domain.flags & SBX_NAME_BELOW, host) ||
			    is_taken(&taken, rule, host))
				continue;
			report_known(checker, rule, host);
			break;
		}
	}
}

/* Whoever writes *.example.com may have meant example.com, too. */
void
check_host_apex(struct checker *checker, const struct rule *rule)
{
	const struct rule_list *rules = &checker->policy->rules[KIND_DOMAIN];

	if (rule->effect != SBX_ALLOW || !rule->origin.own ||
	    rule->domain.path != NULL ||
	    (rule->domain.flags & SBX_NAME_BELOW) == 0)
		return;
	for (size_t i = 0; i < rules->count; i++) {
		if (rules->items[i].domain.name == rule->domain.name &&
		    (rules->items[i].domain.flags & SBX_NAME_BELOW) == 0)
			return;
	}
	diag_help(check_report(checker, rule->origin.loc,
		      "'*.%s' is not for %s itself", rule->domain.name,
		      rule->domain.name),
	    "name it, too, if it is needed; 'deny network domain %s' says "
	    "that it is not",
	    rule->domain.name);
}
