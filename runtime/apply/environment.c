#include "runtime/apply/environment.h"

#include "format/ways.h"
#include "runtime/base/kernel.h"

#include <string.h>

static bool
has_name(const char *variable, const char *name, size_t len)
{
	return strncmp(variable, name, len) == 0 && variable[len] == '=';
}

/*
 * A caller can give a variable twice.  Some programs take the first of them and
 * some the last, so all of them go.
 */
static void
set_variable(struct environment *environment, char *variable)
{
	size_t len = strcspn(variable, "=");
	uint32_t kept = 0;

	for (uint32_t i = 0; i < environment->count; i++) {
		char *other = environment->variables[i];

		if (!has_name(other, variable, len))
			environment->variables[kept++] = other;
	}
	environment->variables[kept++] = variable;
	environment->count = kept;
}

static size_t
variable_size(const char *name, struct sbx_place anchor, const char *text)
{
	return strlen(name) + 1 + anchor.len + strlen(text) + 1;
}

/* NAME=VALUE at *room, which then is behind it; values may be longer than
 * paths. */
static char *
join_variable(char **room, const char *name, struct sbx_place anchor,
    const char *text)
{
	size_t name_len = strlen(name), text_len = strlen(text);
	char *variable = *room;
	char *at = variable;

	memcpy(at, name, name_len);
	at += name_len;
	*at++ = '=';
	memcpy(at, anchor.path, anchor.len);
	memcpy(at + anchor.len, text, text_len + 1);
	*room = at + anchor.len + text_len + 1;
	return variable;
}

static void
keep_allowed(struct environment *environment, const struct sbx_blob *blob,
    char *const *callers)
{
	for (; *callers != NULL; callers++) {
		size_t len = strcspn(*callers, "=");

		if (!sbx_verdict_allows(
			sbx_env_verdict(blob, KERNEL_WHERE, *callers, len))) {
			environment->dropped++;
			continue;
		}
		environment->variables[environment->count++] = *callers;
	}
}

static const struct sbx_place nowhere = { "", 0 };

/* The place at which the value of a `set` begins; false if it has none here. */
static bool
find_anchor(const struct environment_rules *rules, const struct sbx_set *set,
    struct sbx_place *at)
{
	*at = nowhere;
	if ((set->platforms & KERNEL_WHERE) == 0)
		return false;
	if (set->anchor == SBX_NO_ANCHOR)
		return true;
	*at = rules->anchors[set->anchor];
	return rules->bound[set->anchor];
}

/*
 * Names work without these, but some programs look for a proxy alone.  Loopback
 * is the sandbox's own, and nothing else may be named here: programs would try
 * to go there directly, and fail.
 */
static const struct {
	const char *name, *value;
} proxied[] = {
#define PROXY "http://127.0.0.1:3128"
#define DIRECT "localhost,127.0.0.1,::1"
	{ "HTTP_PROXY", PROXY },
	{ "HTTPS_PROXY", PROXY },
	{ "ALL_PROXY", PROXY },
	{ "NO_PROXY", DIRECT },
	{ "http_proxy", PROXY },
	{ "https_proxy", PROXY },
	{ "all_proxy", PROXY },
	{ "no_proxy", DIRECT },
	{ "NODE_USE_ENV_PROXY", "1" },
	{ "RSYNC_PROXY", "127.0.0.1:3128" },
#undef PROXY
#undef DIRECT
};

_Static_assert(SBX_PROXY_PORT == 3128, "the variables name this port");

enum { PROXIED_COUNT = sizeof proxied / sizeof *proxied };

static size_t
proxied_count(const struct environment_rules *rules)
{
	return sbx_ways_proxy(rules->blob, KERNEL_WHERE) ? PROXIED_COUNT : 0;
}

static bool
sets_scratch(const struct environment_rules *rules)
{
	return (rules->blob->anchors[SBX_ANCHOR_TMP].flags & SBX_ANCHOR_USED) !=
	    0;
}

/*
 * What tells a program where it is, for its messages: SBX is the profile.  They
 * prove nothing, since anybody can set a variable; format/inside.h does.
 */
enum { ABOUT_COUNT = 3 };

struct about {
	const char *name, *value; /* a value of NULL: not to be set */
};

static void
find_about(const struct environment_rules *rules,
    struct about about[ABOUT_COUNT])
{
	about[0] = (struct about){ "SBX",
		sbx_string(rules->blob, rules->blob->meta->profile) };
	about[1] = (struct about){ "SBX_LEVEL", rules->level };
	about[2] = (struct about){ "SBX_SESSION", rules->session };
}

/* How many there can be: the caller's, those that are set, TMPDIR, the agent of
 * ssh, the NULL, those about a proxy, and those about the sandbox. */
static size_t
variable_room(const struct environment_rules *rules, char *const *callers)
{
	size_t count = 0;

	while (callers[count] != NULL)
		count++;
	return (count + rules->blob->set_count + 3 + PROXIED_COUNT +
		   ABOUT_COUNT) *
	    sizeof(char *);
}

size_t
environment_room(const struct environment_rules *rules, char *const *callers)
{
	const struct sbx_blob *blob = rules->blob;
	size_t size = variable_room(rules, callers);
	size_t sets = proxied_count(rules);
	struct about about[ABOUT_COUNT];
	struct sbx_place at;

	find_about(rules, about);
	for (size_t i = 0; i < ABOUT_COUNT; i++) {
		if (about[i].value != NULL)
			size += variable_size(about[i].name, nowhere,
			    about[i].value);
	}
	if (sets_scratch(rules))
		size += variable_size("TMPDIR", rules->anchors[SBX_ANCHOR_TMP],
		    "");
	if (rules->agent.len > 0)
		size += variable_size("SSH_AUTH_SOCK", rules->agent, "");
	for (size_t i = 0; i < sets; i++)
		size += variable_size(proxied[i].name, nowhere,
		    proxied[i].value);
	for (uint32_t i = 0; i < blob->set_count; i++) {
		const struct sbx_set *set = &blob->set[i];

		if (find_anchor(rules, set, &at))
			size += variable_size(sbx_string(blob, set->name), at,
			    sbx_string(blob, set->text));
	}
	return size;
}

void
environment_fill(struct environment *environment, void *room,
    const struct environment_rules *rules, char *const *callers)
{
	const struct sbx_blob *blob = rules->blob;
	char *text = (char *)room + variable_room(rules, callers);
	size_t sets = proxied_count(rules);
	struct about about[ABOUT_COUNT];
	struct sbx_place at;

	environment->variables = room;
	keep_allowed(environment, blob, callers);
	if (sets_scratch(rules))
		set_variable(environment,
		    join_variable(&text, "TMPDIR",
			rules->anchors[SBX_ANCHOR_TMP], ""));
	for (size_t i = 0; i < sets; i++)
		set_variable(environment,
		    join_variable(&text, proxied[i].name, nowhere,
			proxied[i].value));
	for (uint32_t i = 0; i < blob->set_count; i++) {
		const struct sbx_set *set = &blob->set[i];

		if (find_anchor(rules, set, &at))
			set_variable(environment,
			    join_variable(&text, sbx_string(blob, set->name),
				at, sbx_string(blob, set->text)));
	}
	if (rules->agent.len > 0)
		set_variable(environment,
		    join_variable(&text, "SSH_AUTH_SOCK", rules->agent, ""));
	find_about(rules, about);
	for (size_t i = 0; i < ABOUT_COUNT; i++) {
		if (about[i].value != NULL)
			set_variable(environment,
			    join_variable(&text, about[i].name, nowhere,
				about[i].value));
	}
	environment->variables[environment->count] = NULL;
}

const char *
environment_get(const struct environment *environment, const char *name)
{
	size_t len = strlen(name);

	for (uint32_t i = 0; i < environment->count; i++) {
		if (has_name(environment->variables[i], name, len))
			return environment->variables[i] + len + 1;
	}
	return NULL;
}
