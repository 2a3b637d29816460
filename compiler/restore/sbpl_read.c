/*
 * From the macOS profile back to the rules that it was written for.  A blob
 * keeps tables for Linux alone, so this text is all that it has of macOS.
 *
 * It is no reader of the profile language: it knows the shapes that sbpl.c
 * writes.  What follows from a rule (the second spelling of a place, the pins
 * above a deny) is passed over.  It may be wrong about a text that somebody
 * else wrote, so restore.c writes the whole text again from what was read, and
 * compares.
 */
#include "compiler/restore/sbpl_read.h"

#include "compiler/lower/lower.h"
#include "format/model.h"

#include <stdlib.h>
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

/* Takes a text in which each '$' stands for a string between quotes. */
static bool
take_form(struct reader *reader, const char *form, const char **strings)
{
	const char *before = reader->at;

	for (; *form != '\0'; form++) {
		if (*form == '$')
			*strings = take_quoted(reader);
		if (*form == '$' ? *strings++ == NULL :
				   *reader->at++ != *form) {
			reader->at = before;
			return false;
		}
	}
	return true;
}

/* --- what goes with the default ------------------------------------------- */

static bool
head_fits(struct reader *reader, struct sbpl_blankets blankets, size_t *len)
{
	struct sbpl_text *text = &reader->sbpl.text;

	text->used = 0;
	sbpl_add_head(&reader->sbpl, blankets);
	*len = text->used;
	return strncmp(reader->at, text->bytes, *len) == 0;
}

/* Takes the longest head that fits, since one may begin like another. */
static bool
take_head(struct reader *reader, struct sbpl_blankets *blankets)
{
	size_t longest = 0, len;

	for (unsigned i = 0; i < 8 * SBX_NET_END; i++) {
		struct sbpl_blankets tried = {
			.everything = i & 1,
			.signal = i >> 1 & 1,
			.spawn = !(i >> 2 & 1),
			.net = (enum sbx_net)(i >> 3),
		};

		/* With everything there is the whole network, or none. */
		if (tried.everything &&
		    (!tried.spawn ||
			(tried.net != SBX_NET_FULL &&
			    tried.net != SBX_NET_NONE)))
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

/* The rule that opens ports, or the one that closes them, if it is there. */
static void
take_port_rule(struct reader *reader, enum sbx_port_op op, bool allow,
    bool *open)
{
	const struct port_words *words = &sbpl_port_words[op];
	struct arena *arena = reader->policy->arena;
	const char *filter = arena_printf(arena, " (%s tcp $)", words->filter);
	const char *before = reader->at, *port;

	if (!take(reader,
		arena_printf(arena, "(%s %s", allow ? "allow" : "deny",
		    words->operations)))
		return;
	while (take_form(reader, filter, &port)) {
		unsigned long number = strncmp(port, "*:", 2) == 0 ?
		    strtoul(port + 2, NULL, 10) :
		    0;

		if (strcmp(port, "*:*") == 0)
			memset(open, allow, SBPL_PORTS);
		else if (number < SBPL_PORTS)
			open[number] = allow;
	}
	if (!take(reader, ")\n"))
		reader->at = before;
}

static void
take_ports(struct reader *reader, enum sbx_net net, struct sbpl_rules *rules)
{
	for (int op = 0; op < SBPL_PORT_OPS; op++) {
		bool *open = arena_alloc(reader->policy->arena, SBPL_PORTS);

		memset(open, net == SBX_NET_FULL, SBPL_PORTS);
		rules->open[op] = open;
		if (net != SBX_NET_FULL)
			take_port_rule(reader, (enum sbx_port_op)op, true,
			    open);
		take_port_rule(reader, (enum sbx_port_op)op, false, open);
		open[0] = net == SBX_NET_FULL;
	}
}

/* --- paths ---------------------------------------------------------------- */

static bool
anchor_find(const struct reader *reader, const char *name, uint16_t *anchor)
{
	for (size_t i = 0; i < reader->sbpl.anchor_count; i++) {
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

static const struct wildcard_words *
wildcard_find(const char *regex)
{
	for (size_t i = 0; i < SBPL_WILDCARDS; i++) {
		const char *word = sbpl_wildcards[i].regex;

		if (strncmp(regex, word, strlen(word)) == 0)
			return &sbpl_wildcards[i];
	}
	return NULL;
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
	char *plain = arena_strndup(reader->policy->arena, regex,
		 strlen(regex)),
	     *to = plain, *glob = NULL, *slash = plain;
	struct sbx_glob parsed;

	while (strcmp(regex, "(/.*)?$") != 0) {
		const struct wildcard_words *words = wildcard_find(regex);

		if (words != NULL) {
			if (glob == NULL)
				glob = *words->glob == '/' ? to : slash;
			to = stpcpy(to, words->glob);
			regex += strlen(words->regex);
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

/* What sbpl_paths.c writes for a place stands at `from`, whole. */
static bool
take_again(struct reader *reader, const char *from,
    const struct path_rule *rule)
{
	struct sbpl_text *text = &reader->sbpl.text;

	text->used = 0;
	sbpl_add_places(&reader->sbpl, rule);
	reader->at = from;
	return take(reader, text->bytes);
}

static bool
take_places(struct reader *reader, struct path_rule *rule)
{
	static const struct {
		const char *form;
		bool anchored, glob;
	} forms[] = {
		{ "\n (tree $)", false, false },
		{ "\n (tree (in $ $))", true, false },
		{ "\n (tree (param $))", true, false },
		{ "\n (regex $)", false, true },
		{ "\n (matches $ $)", true, true },
	};
	const char *from = reader->at, *strings[] = { "", "" }, *rest;
	size_t i = 0;

	while (i < countof(forms) && !take_form(reader, forms[i].form, strings))
		i++;
	if (i == countof(forms))
		return false;
	rule->at.anchor = SBX_ANCHOR_ROOT;
	rule->glob = NULL;
	rest = strings[forms[i].anchored];
	if (forms[i].anchored &&
	    !anchor_find(reader, strings[0], &rule->at.anchor))
		return false;
	if (forms[i].glob) {
		if (!forms[i].anchored && *rest++ != '^')
			return false;
		if (!regex_split(reader, rest, rule))
			return false;
	} else {
		if (!forms[i].anchored && strcmp(rest, "/") == 0)
			rest = "";
		rule->at.suffix = interned(reader, rest, strlen(rest));
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

/* --- sockets -------------------------------------------------------------- */

static bool
take_socket(struct reader *reader, enum sbx_effect effect,
    struct sbpl_rules *rules)
{
	struct rule *rule = arena_push(reader->policy->arena, &rules->sockets);
	struct path_rule place = { .rights = 0 };

	*rule = (struct rule){ .kind = KIND_SOCKET };
	rule->effect = effect;
	rule->origin.platforms = SBX_ON_MACOS;
	rule->path.at = (struct target){
		interned(reader, "", 0),
		SBX_NO_ANCHOR,
	};
	if (take(reader, sbpl_agent))
		return true;
	if (!take_places(reader, &place) || place.glob != NULL)
		return false;
	rule->path.at = place.at;
	return true;
}

static bool
take_sockets(struct reader *reader, struct sbpl_rules *rules)
{
	static const struct {
		const char *head;
		enum sbx_effect effect;
	} forms[] = {
		{ "(allow network-outbound", SBX_ALLOW },
		{ "(deny network-outbound", SBX_DENY },
	};

	if (!take(reader, sbpl_socket_family))
		return true;
	for (size_t i = 0; i < countof(forms); i++) {
		if (!take(reader, forms[i].head))
			continue;
		while (!take(reader, ")\n")) {
			if (!take_socket(reader, forms[i].effect, rules))
				return false;
		}
	}
	return true;
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
	good = take_sockets(&reader, rules);
	while (good && take_rules(&reader, rules, &good))
		;
	return good;
}
