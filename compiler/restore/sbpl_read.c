/*
 * From the macOS profile back to the rules that it was written for.  A blob
 * keeps tables for Linux alone, so this text is all that it has of macOS.
 *
 * It is no reader of the profile language: it knows the shapes that sbpl.c
 * writes, and what follows from a rule (the second spelling of a place, the
 * pins above a deny) is written again and passed over.  It may be wrong about
 * a text that somebody else wrote, so restore.c writes the whole text again
 * from what was read, and compares.
 */
#include "compiler/restore/sbpl_read.h"

#include "compiler/lower/sbpl_paths.h"
#include "format/glob.h"

#include <string.h>

struct reader {
	struct policy *policy;
	struct sbpl sbpl; /* names of parameters; its text is scratch */
	const char *at;
};

static bool
take(struct reader *reader, const char *text)
{
	size_t len = strlen(text);

	if (strncmp(reader->at, text, len) != 0)
		return false;
	reader->at += len;
	return true;
}

/* A string between quotes, without its escapes; NULL if there is none. */
static const char *
take_quoted(struct reader *reader)
{
	const char *end = reader->at + 1;
	char *plain, *to;

	if (*reader->at != '"')
		return NULL;
	while (*end != '"' && *end != '\0')
		end += *end == '\\' && end[1] != '\0' ? 2 : 1;
	if (*end == '\0')
		return NULL;
	plain = to = arena_strndup(reader->policy->arena, reader->at + 1,
	    (size_t)(end - reader->at - 1));
	for (const char *from = plain; *from != '\0'; from++) {
		from += *from == '\\';
		*to++ = *from;
	}
	*to = '\0';
	reader->at = end + 1;
	return plain;
}

/* --- what goes with the default ------------------------------------------- */

static bool
head_fits(struct reader *reader, struct sbpl_blankets blankets, size_t *len)
{
	struct text *text = &reader->sbpl.text;

	text->used = 0;
	sbpl_add_head(&reader->sbpl, blankets);
	*len = text->used;
	return strncmp(reader->at, text->bytes, *len) == 0;
}

/* Of the few that there are the longest one: others begin like it. */
static bool
take_head(struct reader *reader, struct sbpl_blankets *blankets)
{
	size_t longest = 0, len;

	for (unsigned i = 0; i < 4 * SBX_NET_END; i++) {
		struct sbpl_blankets tried = {
			.everything = i & 1,
			.signal = i >> 1 & 1,
			.net = (enum sbx_net)(i >> 2),
		};

		/* With everything there is the whole network, or none. */
		if (tried.everything && tried.net != SBX_NET_FULL &&
		    tried.net != SBX_NET_NONE)
			continue;
		if (!head_fits(reader, tried, &len) || len <= longest)
			continue;
		longest = len;
		*blankets = tried;
	}
	reader->at += longest;
	return longest > 0;
}

/* --- ports ---------------------------------------------------------------- */

static void
take_port_list(struct reader *reader, const struct port_words *words,
    bool *open, bool value)
{
	const char *before = reader->at;

	while (take(reader, " (") && take(reader, words->filter) &&
	    take(reader, " tcp \"*:")) {
		unsigned port = 0;

		if (take(reader, "*"))
			memset(open, value, SBPL_PORTS);
		for (; *reader->at >= '0' && *reader->at <= '9' &&
		     port < SBPL_PORTS;
		     reader->at++)
			port = port * 10 + (unsigned)(*reader->at - '0');
		if (port < SBPL_PORTS && port > 0)
			open[port] = value;
		if (!take(reader, "\")"))
			return;
		before = reader->at;
	}
	reader->at = before;
}

static bool
take_port_rule(struct reader *reader, enum sbx_port_op op, bool allow,
    bool *open)
{
	const struct port_words *words = &sbpl_port_words[op];
	const char *before = reader->at;

	if (take(reader, allow ? "(allow " : "(deny ") &&
	    take(reader, words->operations)) {
		take_port_list(reader, words, open, allow);
		if (take(reader, ")\n"))
			return true;
	}
	reader->at = before;
	return false;
}

static void
take_ports(struct reader *reader, enum sbx_net net, struct sbpl_rules *rules)
{
	for (int op = 0; op < SBX_PORT_OP_END; op++) {
		bool *open = arena_alloc(reader->policy->arena, SBPL_PORTS);

		memset(open, net == SBX_NET_FULL, SBPL_PORTS);
		rules->open[op] = open;
		if (net != SBX_NET_FULL)
			take_port_rule(reader, (enum sbx_port_op)op, true,
			    open);
		take_port_rule(reader, (enum sbx_port_op)op, false, open);
		if (net != SBX_NET_FULL)
			open[0] = false;
	}
}

/* --- paths ---------------------------------------------------------------- */

static bool
anchor_find(const struct reader *reader, const char *name, uint16_t *anchor)
{
	for (size_t i = 0; name != NULL && i < reader->sbpl.anchor_count; i++) {
		if (strcmp(reader->sbpl.params[i], name) != 0)
			continue;
		*anchor = (uint16_t)i;
		return true;
	}
	return false;
}

static const char *
interned(const struct reader *reader, const char *text, size_t len)
{
	return arena_intern(reader->policy->arena, text, len);
}

/* "/x", (in "WORKSPACE" "/x") or (param "WORKSPACE"). */
static bool
take_path(struct reader *reader, struct target *at)
{
	bool below = take(reader, "(in ");
	bool bare = !below && take(reader, "(param ");
	const char *suffix = "";

	at->anchor = SBX_ANCHOR_ROOT;
	if ((below || bare) &&
	    !anchor_find(reader, take_quoted(reader), &at->anchor))
		return false;
	if (below && !take(reader, " "))
		return false;
	if (!bare)
		suffix = take_quoted(reader);
	if (suffix == NULL || ((below || bare) && !take(reader, ")")))
		return false;
	if (!below && strcmp(suffix, "/") == 0)
		suffix = "";
	at->suffix = interned(reader, suffix, strlen(suffix));
	return true;
}

/*
 * The path and the pattern behind a regular expression: literals are escaped,
 * so that what stands bare is a wildcard.  The pattern begins at the slash
 * before the first one.
 */
static bool
regex_split(const struct reader *reader, const char *regex,
    struct path_rule *rule)
{
	static const struct {
		const char *regex, *glob;
	} tokens[] = {
		{ "(/.*)?", "/**" },
		{ "[^/]*", "*" },
		{ "[^/]", "?" },
	};
	char *plain = arena_strndup(reader->policy->arena, regex,
		 strlen(regex)),
	     *to = plain, *glob = NULL, *slash = plain;
	struct sbx_glob parsed;

	while (strcmp(regex, "(/.*)?$") != 0) {
		size_t i = 0;

		while (i < countof(tokens) &&
		    strncmp(regex, tokens[i].regex, strlen(tokens[i].regex)) !=
			0)
			i++;
		if (i < countof(tokens)) {
			if (glob == NULL)
				glob = *tokens[i].glob == '/' ? to : slash;
			to = stpcpy(to, tokens[i].glob);
			regex += strlen(tokens[i].regex);
			continue;
		}
		regex += *regex == '\\';
		if (*regex == '\0')
			return false;
		if (*regex == '/')
			slash = to;
		*to++ = *regex++;
	}
	*to = '\0';
	if (glob == NULL || !sbx_glob_parse(glob, &parsed))
		return false;
	rule->glob = interned(reader, glob, (size_t)(to - glob));
	rule->at.suffix = interned(reader, plain, (size_t)(glob - plain));
	return true;
}

/* (regex "^...$"), or (matches "WORKSPACE" "...$"). */
static bool
take_glob(struct reader *reader, struct path_rule *rule)
{
	bool below = take(reader, "\n (matches ");
	const char *regex;

	rule->at.anchor = SBX_ANCHOR_ROOT;
	if (!below && !take(reader, "\n (regex "))
		return false;
	if (below &&
	    (!anchor_find(reader, take_quoted(reader), &rule->at.anchor) ||
		!take(reader, " ")))
		return false;
	regex = take_quoted(reader);
	if (regex == NULL || (!below && *regex++ != '^'))
		return false;
	return regex_split(reader, regex, rule) && take(reader, ")");
}

/* What sbpl_paths.c writes for a place stands at `from`, whole. */
static bool
take_again(struct reader *reader, const char *from,
    const struct path_rule *rule)
{
	struct text *text = &reader->sbpl.text;

	text->used = 0;
	sbpl_add_places(&reader->sbpl, rule);
	reader->at = from;
	return take(reader, text->bytes);
}

static bool
take_places(struct reader *reader, struct path_rule *rule)
{
	const char *from = reader->at;

	rule->glob = NULL;
	if (take(reader, "\n (tree ")) {
		if (!take_path(reader, &rule->at))
			return false;
	} else if (!take_glob(reader, rule)) {
		return false;
	}
	return take_again(reader, from, rule);
}

static bool
take_exclusions(struct reader *reader, struct path_rule *rule)
{
	VEC(struct target) exclusions = { 0 };
	struct path_rule exclusion = { .rights = 0 };

	while (!take(reader, ")))")) {
		if (!take_places(reader, &exclusion) ||
		    exclusion.glob != NULL || exclusions.count == UINT16_MAX)
			return false;
		*arena_push(reader->policy->arena, &exclusions) = exclusion.at;
	}
	rule->exclusions = exclusions.items;
	rule->exclusion_count = (uint16_t)exclusions.count;
	return exclusions.count > 0;
}

static bool
take_filter(struct reader *reader, struct path_rule *rule)
{
	rule->exclusions = NULL;
	rule->exclusion_count = 0;
	if (!take(reader, "\n (require-all (require-any"))
		return take_places(reader, rule);
	return take_places(reader, rule) &&
	    take(reader, ") (require-not (require-any") &&
	    take_exclusions(reader, rule);
}

/* The operations behind an effect: not those of the pins. */
static bool
take_rights(struct reader *reader, struct path_rule *rule)
{
	rule->rights = 0;
	for (size_t i = 0; i < SBPL_RIGHTS; i++) {
		if (take(reader, sbpl_right_words[i].operations))
			rule->rights |= sbpl_right_words[i].right;
	}
	return rule->rights != 0;
}

/* Rules of one effect and set of rights; false if there is no other. */
static bool
take_rules(struct reader *reader, struct sbpl_rules *rules, bool *good)
{
	struct path_rule rule = {
		.origin = { .loc = { 0, 1 }, .platforms = SBX_ON_MACOS },
	};
	const char *before = reader->at;

	if (take(reader, "(allow"))
		rule.effect = SBX_ALLOW;
	else if (take(reader, "(deny"))
		rule.effect = SBX_DENY;
	if (before == reader->at || !take_rights(reader, &rule)) {
		reader->at = before;
		return false;
	}
	while (*good && !take(reader, ")\n")) {
		*good = take_filter(reader, &rule);
		if (*good)
			*arena_push(reader->policy->arena,
			    &rules->paths) = rule;
	}
	return *good;
}

bool
sbpl_read(struct policy *policy, const char *text, struct sbpl_rules *rules)
{
	struct reader reader = {
		.policy = policy,
		.sbpl = sbpl_start(policy),
		.at = text,
	};
	bool good = true;

	memset(rules, 0, sizeof *rules);
	if (!take_head(&reader, &rules->blankets))
		return false;
	take_ports(&reader, rules->blankets.net, rules);
	if (take(&reader, sbpl_place_functions))
		take(&reader, sbpl_glob_function);
	while (take_rules(&reader, rules, &good))
		;
	return good;
}
