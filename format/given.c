/*
 * The variables that the loader sets by itself in the command's environment,
 * beside those of `set env`.  The compiler knows them from here, too, so that
 * what it says of a variable is what the command finds.
 */
#include "format/model.h"

/*
 * Names work without those about a proxy, but some programs look for one alone.
 * Loopback is the sandbox's own, and nothing else may be named as reached
 * without it: programs would try to go there directly, and fail.  Those about
 * the sandbox prove nothing, since anybody can set a variable; format/protocol.h
 * does.
 */
const struct sbx_given sbx_given[SBX_GIVEN_COUNT] = {
#define PROXY "http://127.0.0.1:3128"
#define DIRECT "localhost,127.0.0.1,::1"
	{ "TMPDIR", "", SBX_GIVEN_SCRATCH },
	{ "HTTP_PROXY", PROXY, SBX_GIVEN_PROXY },
	{ "HTTPS_PROXY", PROXY, SBX_GIVEN_PROXY },
	{ "ALL_PROXY", PROXY, SBX_GIVEN_PROXY },
	{ "NO_PROXY", DIRECT, SBX_GIVEN_PROXY },
	{ "http_proxy", PROXY, SBX_GIVEN_PROXY },
	{ "https_proxy", PROXY, SBX_GIVEN_PROXY },
	{ "all_proxy", PROXY, SBX_GIVEN_PROXY },
	{ "no_proxy", DIRECT, SBX_GIVEN_PROXY },
	{ "NODE_USE_ENV_PROXY", "1", SBX_GIVEN_PROXY },
	{ "RSYNC_PROXY", "127.0.0.1:3128", SBX_GIVEN_PROXY },
	{ "SSL_CERT_FILE", "", SBX_GIVEN_TRUST },
	{ "CURL_CA_BUNDLE", "", SBX_GIVEN_TRUST },
	{ "REQUESTS_CA_BUNDLE", "", SBX_GIVEN_TRUST },
	{ "PIP_CERT", "", SBX_GIVEN_TRUST },
	{ "GIT_SSL_CAINFO", "", SBX_GIVEN_TRUST },
	{ "CARGO_HTTP_CAINFO", "", SBX_GIVEN_TRUST },
	{ "AWS_CA_BUNDLE", "", SBX_GIVEN_TRUST },
	{ "NODE_EXTRA_CA_CERTS", "", SBX_GIVEN_TRUST },
	{ "DENO_CERT", "", SBX_GIVEN_TRUST },
	{ "WGETRC", "", SBX_GIVEN_TRUST },
	{ "GIT_CONFIG_GLOBAL", "", SBX_GIVEN_GIT },
	{ "SSH_AUTH_SOCK", "", SBX_GIVEN_AGENT },
	{ "SBX", "", SBX_GIVEN_PROFILE },
	{ "SBX_LEVEL", "", SBX_GIVEN_LEVEL },
	{ "SBX_SESSION", "", SBX_GIVEN_SESSION },
#undef PROXY
#undef DIRECT
};

_Static_assert(SBX_PROXY_PORT == 3128, "the variables name this port");

static size_t
length(const char *text)
{
	size_t len = 0;

	while (text[len] != '\0')
		len++;
	return len;
}

const struct sbx_given *
sbx_given_find(const char *name)
{
	size_t len = length(name);

	/* A name without a star is a pattern of itself alone. */
	for (size_t i = 0; i < SBX_GIVEN_COUNT; i++) {
		if (sbx_pattern_match(sbx_given[i].name, name, len))
			return &sbx_given[i];
	}
	return NULL;
}

bool
sbx_given_holds(const struct sbx_given *given, const struct sbx_blob *blob,
    uint8_t platforms)
{
	if ((platforms & SBX_ON_LINUX) == 0)
		return false;
	switch (given->by) {
	case SBX_GIVEN_SCRATCH:
		return (blob->anchors[SBX_ANCHOR_TMP].flags &
			   SBX_ANCHOR_USED) != 0;
	case SBX_GIVEN_PROXY:
		return sbx_ways_proxy(blob, platforms);
	case SBX_GIVEN_PROFILE:
	case SBX_GIVEN_LEVEL:
		return true;
	case SBX_GIVEN_TRUST:
		for (uint32_t i = 0; i < blob->name_count; i++) {
			const struct sbx_name *rule = &blob->names[i];

			if ((rule->secret != 0 || rule->path != 0) &&
			    (rule->platforms & platforms) != 0)
				return true;
		}
		return false;
	case SBX_GIVEN_GIT:
	case SBX_GIVEN_AGENT:
	case SBX_GIVEN_SESSION:
		break;
	}
	return false;
}

static struct sbx_place
text_place(const char *text)
{
	return (struct sbx_place){ text, (uint32_t)length(text) };
}

bool
sbx_is_cache(const char *below)
{
	static const char *const caches[] = {
#define CACHE(where, path) (path) + 1,
#include "format/caches.def"
#undef CACHE
	};
	const struct sbx_place at = text_place(below);

	for (size_t i = 0; i < countof(caches); i++) {
		struct sbx_place cache = text_place(caches[i]);

		if (cache.len == at.len && sbx_covers(cache, at))
			return true;
	}
	return false;
}

/* The longest allow to write, at an anchor, that covers what is below it; else the
 * longest of something in that. */
static const char *
opened_over(const struct sbx_blob *blob, uint16_t anchor, const char *below,
    uint8_t platforms)
{
	const struct sbx_place at = text_place(below);
	const char *opened = NULL;
	bool over = false;

	for (uint32_t i = 0; i < blob->path_count; i++) {
		const struct sbx_path *path = &blob->paths[i];
		struct sbx_place rule;
		bool covers;

		if (path->anchor != anchor || path->effect != SBX_ALLOW ||
		    path->glob != 0 || path->ceiling != 0 ||
		    (path->rights & SBX_WRITE) == 0 ||
		    (path->platforms & platforms) == 0)
			continue;
		rule = text_place(sbx_string(blob, path->suffix));
		covers = sbx_covers(rule, at);
		if (!covers && (over || !sbx_covers(at, rule)))
			continue;
		if (opened == NULL || covers != over ||
		    rule.len > text_place(opened).len)
			opened = rule.path;
		over |= covers;
	}
	return opened;
}

const char *
sbx_set_opened(const struct sbx_blob *blob, const struct sbx_set *set,
    uint8_t platforms)
{
	const char *opened;

	if (set->anchor != SBX_ANCHOR_HOME ||
	    (set->platforms & platforms) == 0 ||
	    opened_over(blob, SBX_ANCHOR_TMP, "", platforms) == NULL)
		return NULL;
	opened = opened_over(blob, SBX_ANCHOR_HOME, sbx_string(blob, set->text),
	    platforms);
	return opened != NULL && opened[0] != '\0' ? opened : NULL;
}
