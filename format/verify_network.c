/* See verify.h: hosts by their names and addresses, and the ways to them. */
#include "format/model.h"
#include "format/verify.h"

static bool
is_zero(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] != 0)
			return false;
	}
	return true;
}

/* In its one spelling; a tree of names is not that of a whole registry. */
static bool
is_host(const char *text, uint8_t flags)
{
	char normal[SBX_NAME_SIZE];
	size_t len = 0;
	bool dot = false;

	while (len < SBX_NAME_SIZE && text[len] != '\0')
		dot |= text[len++] == '.';
	return sbx_name_normal(text, len, normal) &&
	    sbx_name_compare(text, normal) == 0 &&
	    (dot || (flags & SBX_NAME_BELOW) == 0);
}

/* What is said of requests: both or none, as a text can say it. */
static bool
is_request(const struct sbx_blob *blob, const struct sbx_name *rule)
{
	const char *method = sbx_string(blob, rule->method);
	const char *path = sbx_string(blob, rule->path);

	if (rule->method == 0 && rule->path == 0)
		return true;
	return sbx_request_is_method(method) &&
	    sbx_request_pattern_fault(path) == SBX_REQUEST_NONE;
}

/* A name as scope.c reads one; a variable has no '='. */
static bool
is_use(const struct sbx_blob *blob, const struct sbx_name *rule)
{
	const char *secret = sbx_string(blob, rule->secret);
	const char *variable = sbx_string(blob, rule->variable);

	if (rule->secret == 0)
		return rule->variable == 0;
	if (rule->effect != SBX_ALLOW || !is_name(secret))
		return false;
	while (*variable > ' ' && *variable < 0x7f && *variable != '=')
		variable++;
	return *variable == '\0';
}

enum sbx_blob_error
check_name(const struct sbx_blob *blob, const void *record)
{
	const struct sbx_name *rule = record;

	if (!is_zero(rule->reserved, sizeof rule->reserved))
		return SBX_BLOB_RESERVED;
	if (!is_string(blob, rule->name) || !is_string(blob, rule->method) ||
	    !is_string(blob, rule->path) || !is_string(blob, rule->secret) ||
	    !is_string(blob, rule->variable))
		return SBX_BLOB_STRING;
	if (!is_request(blob, rule) || !is_use(blob, rule))
		return SBX_BLOB_HOST;
	if (rule->effect >= SBX_EFFECT_END || !is_where(rule->platforms) ||
	    (rule->flags & ~SBX_NAME_FLAGS) != 0 ||
	    (rule->effect != SBX_ALLOW &&
		(rule->flags & SBX_NAME_PRIVATE) != 0) ||
	    !is_host(sbx_string(blob, rule->name), rule->flags))
		return SBX_BLOB_HOST;
	/* The verdict looks for a name by halves. */
	if (rule > blob->names &&
	    sbx_name_compare(sbx_string(blob, rule[-1].name),
		sbx_string(blob, rule->name)) > 0)
		return SBX_BLOB_HOST;
	return is_source(blob, rule->source) ? SBX_BLOB_OK : SBX_BLOB_SOURCE;
}

enum sbx_blob_error
check_endpoint(const struct sbx_blob *blob, const void *record)
{
	const struct sbx_endpoint *rule = record;

	if (!is_zero(rule->reserved, sizeof rule->reserved))
		return SBX_BLOB_RESERVED;
	if (rule->effect >= SBX_EFFECT_END || !is_where(rule->platforms) ||
	    rule->low == 0 || rule->low > rule->high ||
	    rule->prefix > SBX_ADDRESS_BITS ||
	    !sbx_address_is_net(rule->address, rule->prefix) ||
	    (rule->effect == SBX_ALLOW &&
		sbx_address_is_reserved(rule->address, rule->prefix)))
		return SBX_BLOB_ENDPOINT;
	return is_source(blob, rule->source) ? SBX_BLOB_OK : SBX_BLOB_SOURCE;
}

/* One for each machine at most, though two rules may say so. */
static bool
is_alone(const struct sbx_blob *blob, const struct sbx_proxy *proxy)
{
	for (const struct sbx_proxy *other = blob->proxies; other < proxy;
	     other++) {
		if ((other->platforms & proxy->platforms) != 0 &&
		    (other->anchor != proxy->anchor ||
			other->suffix != proxy->suffix ||
			other->port != proxy->port))
			return false;
	}
	return true;
}

enum sbx_blob_error
check_proxy(const struct sbx_blob *blob, const void *record)
{
	const struct sbx_proxy *proxy = record;
	bool tcp = proxy->anchor == SBX_NO_ANCHOR;

	if (!is_zero(proxy->reserved, sizeof proxy->reserved))
		return SBX_BLOB_RESERVED;
	if (!is_where(proxy->platforms) || !is_alone(blob, proxy) ||
	    (proxy->port != 0) != tcp || (tcp && proxy->suffix != 0))
		return SBX_BLOB_PROXY;
	if (!is_source(blob, proxy->source))
		return SBX_BLOB_SOURCE;
	return tcp ? SBX_BLOB_OK :
		     check_place(blob, proxy->anchor, proxy->suffix);
}

/* No port that leads out is one of the sandbox's own, and none that is
 * published is a service of the host inside. */
static bool
is_good_way(const struct sbx_blob *blob, uint8_t machine,
    const struct sbx_way *way)
{
	if (way->kind <= SBX_WAY_PROXY)
		return true;
	return !sbx_way_is_reserved(way->port) &&
	    (way->kind != SBX_WAY_PUBLISH ||
		!sbx_verdict_allows(
		    sbx_port_verdict(blob, machine, SBX_HOST_TCP, way->port)));
}

/* The loader has room for so many sockets, and each has its own port. */
enum sbx_blob_error
check_ways(const struct sbx_blob *blob)
{
	static const uint8_t machines[] = {
		SBX_ON_LINUX_X86_64,
		SBX_ON_LINUX_AARCH64,
	};
	struct sbx_way ways[SBX_MAX_WAYS];

	for (size_t i = 0; i < sizeof machines; i++) {
		size_t count = sbx_ways(blob, machines[i], ways);

		if (count > SBX_MAX_WAYS)
			return SBX_BLOB_WAYS;
		for (size_t j = 0; j < count; j++) {
			if (!is_good_way(blob, machines[i], &ways[j]))
				return SBX_BLOB_WAYS;
		}
	}
	return SBX_BLOB_OK;
}
