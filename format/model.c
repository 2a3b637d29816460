/*
 * See model.h.  A path right is given where some allow covers the path and no
 * deny does; everything else here is looking for the rule to name.
 */
#include "format/model.h"

/* How many bytes two texts have in common from the front, eight at a time:
 * paths that are compared mostly begin alike. */
static inline uint32_t
common(const char *a, const char *b, uint32_t len)
{
	uint64_t x, y;
	uint32_t i = 0;

	while (len - i >= 8) {
		__builtin_memcpy(&x, a + i, 8);
		__builtin_memcpy(&y, b + i, 8);
		/* The lowest byte is the first. */
		if (x != y)
			return i + (uint32_t)__builtin_ctzll(x ^ y) / 8;
		i += 8;
		/* The last step may begin in what is known to be the same. */
		if (i < len && len - i < 8)
			i = len - 8;
	}
	while (i < len && a[i] == b[i])
		i++;
	return i;
}

struct sbx_place
sbx_place_of(const char *path)
{
	struct sbx_place place = { path, 0 };

	while (path[place.len] != '\0')
		place.len++;
	return place;
}

bool
sbx_covers(struct sbx_place place, struct sbx_place path)
{
	if (place.len > path.len ||
	    (place.len < path.len && path.path[place.len] != '/'))
		return false;
	return common(place.path, path.path, place.len) == place.len;
}

const char *
sbx_tmp_rest(struct sbx_place path)
{
	static const struct sbx_place places[] = {
		{ "/tmp", 4 },
		{ "/var/tmp", 8 },
	};

	for (size_t i = 0; i < countof(places); i++) {
		if (sbx_covers(places[i], path))
			return path.path + places[i].len;
	}
	return NULL;
}

bool
sbx_rule_covers(const struct sbx_rule *rule, struct sbx_place path)
{
	if (!sbx_covers(rule->at, path))
		return false;
	for (uint16_t i = 0; i < rule->exclusion_count; i++) {
		if (sbx_covers(rule->exclusions[i], path))
			return false;
	}
	return true;
}

const struct sbx_path *
sbx_stage_rule(const struct sbx_blob *blob, uint8_t platforms)
{
	for (uint32_t i = 0; i < blob->path_count; i++) {
		const struct sbx_path *path = &blob->paths[i];

		if ((path->rights & SBX_STAGED) != 0 &&
		    (path->platforms & platforms) != 0)
			return path;
	}
	return NULL;
}

/* Takes a rule that applies into account; true if nothing can change the
 * verdict any more. */
static bool
verdict_add(struct sbx_verdict *verdict, size_t rule, uint8_t effect)
{
	verdict->rule = (uint32_t)rule;
	verdict->reason = effect == SBX_ALLOW ? SBX_BECAUSE_ALLOWED :
						SBX_BECAUSE_DENIED;
	verdict->preferred = effect == SBX_PREFER_DENY;
	return effect != SBX_ALLOW;
}

struct sbx_verdict
sbx_path_verdict(const struct sbx_rule *rules, size_t count, uint8_t right,
    struct sbx_place path)
{
	struct sbx_verdict verdict = { .rule = SBX_NO_RULE };

	for (size_t i = 0; i < count; i++) {
		const struct sbx_rule *rule = &rules[i];

		if ((rule->rights & right) == 0 || !sbx_rule_covers(rule, path))
			continue;
		if (rule->effect == SBX_ALLOW && verdict.rule != SBX_NO_RULE &&
		    rule->at.len <= rules[verdict.rule].at.len)
			continue;
		if (verdict_add(&verdict, i, rule->effect))
			break;
	}
	return verdict;
}

/*
 * A right that is given at the directory ends below it only where a deny or an
 * exclusion begins, and not at each of those: what one rule leaves out another
 * may give.  So it is enough to ask at these places.
 */
static bool
ends_at(const struct sbx_rule *rules, size_t count, uint8_t right,
    struct sbx_place path, struct sbx_place cut)
{
	return cut.len > path.len && sbx_covers(path, cut) &&
	    !sbx_verdict_allows(sbx_path_verdict(rules, count, right, cut));
}

bool
sbx_path_is_split(const struct sbx_rule *rules, size_t count, uint8_t right,
    struct sbx_place path)
{
	if (!sbx_verdict_allows(sbx_path_verdict(rules, count, right, path)))
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct sbx_rule *rule = &rules[i];

		if ((rule->rights & right) == 0)
			continue;
		if (rule->effect != SBX_ALLOW &&
		    ends_at(rules, count, right, path, rule->at))
			return true;
		for (uint16_t j = 0; j < rule->exclusion_count; j++) {
			if (ends_at(rules, count, right, path,
				rule->exclusions[j]))
				return true;
		}
	}
	return false;
}

_Static_assert(SBX_HOST_TCP - SBX_CONNECT_TCP ==
	SBX_PUBLISH_TCP - SBX_LISTEN_TCP,
    "in the host's network the one is the other");

static bool
has_host_network(const struct sbx_blob *blob)
{
	return blob->meta->net == SBX_NET_PORTS ||
	    blob->meta->net == SBX_NET_FULL;
}

struct sbx_verdict
sbx_port_verdict(const struct sbx_blob *blob, uint8_t platforms, uint8_t op,
    uint16_t port)
{
	struct sbx_verdict verdict = { .rule = SBX_NO_RULE };
	bool closed;

	if (op >= SBX_HOST_TCP && has_host_network(blob))
		op -= SBX_HOST_TCP;
	/* `deny network full` beats every port that is allowed beside it; in a
	 * network of its own no port of anybody else's is reached. */
	closed = !has_host_network(blob) &&
	    (blob->meta->net != SBX_NET_SELECTED || op < SBX_HOST_TCP);
	if (blob->meta->net_source != SBX_NO_SOURCE && closed)
		verdict.reason = SBX_BECAUSE_DENIED;
	if (blob->meta->net == SBX_NET_FULL)
		verdict.reason = SBX_BECAUSE_ALLOWED;
	for (uint32_t i = 0; i < blob->port_count; i++) {
		const struct sbx_port *rule = &blob->ports[i];

		if ((rule->platforms & platforms) == 0 || rule->op != op ||
		    port < rule->low || port > rule->high ||
		    (closed && rule->effect == SBX_ALLOW))
			continue;
		if (verdict_add(&verdict, i, rule->effect))
			break;
	}
	return verdict;
}

bool
sbx_pattern_match(const char *pattern, const char *text, size_t len)
{
	const char *star = NULL, *end = pattern;
	size_t at = 0, mark = 0;

	/* Nearly all that does not match ends differently. */
	while (*end != '\0')
		end++;
	if (end > pattern && end[-1] != '*' &&
	    (len == 0 || end[-1] != text[len - 1]))
		return false;
	/*
	 * Greedy matching with one point of return: a later star makes the
	 * choices of an earlier one irrelevant.
	 */
	while (at < len) {
		if (*pattern == '*') {
			star = ++pattern;
			mark = at;
		} else if (*pattern == text[at] && *pattern != '\0') {
			pattern++;
			at++;
		} else if (star != NULL) {
			pattern = star;
			at = ++mark;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

bool
sbx_env_excepts(const char *except, const char *name, size_t len)
{
	size_t at = 0;

	for (bool same = true;; except++) {
		if (*except != ' ' && *except != '\0') {
			same = same && at < len && name[at] == *except;
			at++;
			continue;
		}
		if (same && at == len && len > 0)
			return true;
		if (*except == '\0')
			return false;
		same = true;
		at = 0;
	}
}

static struct sbx_verdict
env_verdict(const struct sbx_blob *blob, uint8_t platforms, uint16_t ceiling,
    const char *name, size_t len)
{
	struct sbx_verdict verdict = { .rule = SBX_NO_RULE };

	if (blob->meta->flags & SBX_EVERYTHING)
		verdict.reason = SBX_BECAUSE_ALLOWED;
	for (uint32_t i = 0; i < blob->env_count; i++) {
		const struct sbx_env *rule = &blob->env[i];

		if (rule->ceiling != ceiling ||
		    (rule->platforms & platforms) == 0 ||
		    !sbx_pattern_match(sbx_string(blob, rule->pattern), name,
			len) ||
		    sbx_env_excepts(sbx_string(blob, rule->except), name, len))
			continue;
		if (verdict_add(&verdict, i, rule->effect))
			break;
	}
	return verdict;
}

struct sbx_verdict
sbx_env_verdict(const struct sbx_blob *blob, uint8_t platforms,
    const char *name, size_t len)
{
	struct sbx_verdict own = env_verdict(blob, platforms, 0, name, len);
	struct sbx_verdict above;

	if (!sbx_verdict_allows(own) || (blob->meta->flags & SBX_CUT) == 0)
		return own;
	above = env_verdict(blob, platforms, 1, name, len);
	return sbx_verdict_allows(above) ? own : above;
}

static int
path_byte(struct sbx_place place, uint32_t at)
{
	if (at == place.len)
		return -1;
	return place.path[at] == '/' ? 0 : (uint8_t)place.path[at];
}

int
sbx_place_compare(struct sbx_place a, struct sbx_place b)
{
	uint32_t i = common(a.path, b.path, a.len < b.len ? a.len : b.len);

	return path_byte(a, i) - path_byte(b, i);
}
