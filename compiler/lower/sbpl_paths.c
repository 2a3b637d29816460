/*
 * The path rules of the macOS profile: see sbpl.c for their order and why
 * places above a deny are pinned.
 */
#include "compiler/lower/lower.h"
#include "compiler/policy/kind.h"

#include <stdlib.h>
#include <string.h>

/* A place as the kernel of macOS may see it: the second spelling, or NULL.
 * These three are symbolic links to what has the same name in /private. */
static const char *
second_spelling(struct arena *arena, struct target at)
{
	static const char *const links[] = { "/etc", "/tmp", "/var" };

	if (at.anchor != SBX_ANCHOR_ROOT)
		return NULL;
	for (size_t i = 0; i < countof(links); i++) {
		size_t len = strlen(links[i]);

		if (strncmp(at.suffix, links[i], len) == 0 &&
		    (at.suffix[len] == '/' || at.suffix[len] == '\0'))
			return arena_printf(arena, "/private%s", at.suffix);
	}
	return NULL;
}

/* The functions of which the filters of places are made.  `subpath` alone
 * misses the making of its root. */
static const char place_functions[] =
    "(define (in anchor rest) (string-append (param anchor) rest))\n"
    "(define (tree at) (require-any (literal at) (subpath at)))\n";

/* A parameter's value may hold what means something in a regular expression. */
static const char glob_function[] =
    "(define (matches anchor rest)\n"
    " (regex (string-append \"^\" (regex-quote (param anchor)) rest)))\n";

static void
add_path(struct sbpl *sbpl, struct target at)
{
	struct sbpl_text *text = &sbpl->text;

	if (at.anchor == SBX_ANCHOR_ROOT) {
		text_add_quoted(text, *at.suffix != '\0' ? at.suffix : "/");
		return;
	}
	text_add(text, *at.suffix != '\0' ? "(in \"" : "(param \"");
	text_add(text, sbpl->params[at.anchor]);
	text_add(text, "\"");
	if (*at.suffix != '\0') {
		text_add(text, " ");
		text_add_quoted(text, at.suffix);
	}
	text_add(text, ")");
}

static void
add_filter(struct sbpl *sbpl, const char *filter, struct target at)
{
	text_add(&sbpl->text, "\n (");
	text_add(&sbpl->text, filter);
	text_add(&sbpl->text, " ");
	add_path(sbpl, at);
	text_add(&sbpl->text, ")");
}

/* The filters of one place and all below it. */
static void
add_tree(struct sbpl *sbpl, struct target at)
{
	const char *second = second_spelling(sbpl->policy->arena, at);

	add_filter(sbpl, "tree", at);
	if (second != NULL) {
		at.suffix = second;
		add_filter(sbpl, "tree", at);
	}
}

/* --- globs ---------------------------------------------------------------- */

/* Adds what means the text, byte for byte, in a regular expression. */
static void
add_literal(struct sbpl_text *text, const char *string)
{
	for (; *string != '\0'; string++) {
		if (strchr("\\^$.|?*+()[]{}", *string) != NULL)
			text_add(text, "\\");
		text_add(text, (const char[]){ *string, '\0' });
	}
}

/* '*' and '?' stop at a slash, and "**" is any directories or none.  A name has
 * a byte at least, so a '*' for a whole name does not match "/" in "/". */
static const struct wildcard_words {
	const char *glob, *regex;
	bool whole; /* it stands for a whole name */
} wildcards[] = {
	{ "/**", "(/.*)?", false },
	{ "*", "[^/]+", true },
	{ "*", "[^/]*", false },
	{ "?", "[^/]", false },
};

/* The wildcard at `at` in a pattern, which begins with a slash, or NULL. */
static const struct wildcard_words *
wildcard_at(const char *at)
{
	bool whole = *at == '*' && at[-1] == '/' &&
	    (at[1] == '/' || at[1] == '\0');

	for (size_t i = 0; i < countof(wildcards); i++) {
		const struct wildcard_words *words = &wildcards[i];

		if (strncmp(at, words->glob, strlen(words->glob)) == 0 &&
		    (whole || !words->whole))
			return words;
	}
	return NULL;
}

static void
add_pattern(struct sbpl_text *text, const char *pattern)
{
	while (*pattern != '\0') {
		const struct wildcard_words *words = wildcard_at(pattern);

		if (words != NULL) {
			text_add(text, words->regex);
			pattern += strlen(words->glob);
		} else {
			add_literal(text, (const char[]){ *pattern++, '\0' });
		}
	}
}

/* A filter of what matches a pattern; with all that lies in it, or without. */
static void
add_regex(struct sbpl *sbpl, struct target at, const char *pattern, bool tree)
{
	struct sbpl_text rest = { .arena = sbpl->policy->arena };
	struct sbpl_text *text = &sbpl->text;

	if (at.anchor == SBX_ANCHOR_ROOT)
		text_add(&rest, "^");
	add_literal(&rest, at.suffix);
	add_pattern(&rest, pattern);
	text_add(&rest, tree ? "(/.*)?$" : "$");
	text_add(text,
	    at.anchor == SBX_ANCHOR_ROOT ? "\n (regex " : "\n (matches ");
	if (at.anchor != SBX_ANCHOR_ROOT) {
		text_add_quoted(text, sbpl->params[at.anchor]);
		text_add(text, " ");
	}
	text_add_quoted(text, rest.bytes);
	text_add(text, ")");
}

/* The first part of a pattern at the root may mean one of the links. */
static void
add_root_links(struct sbpl *sbpl, const char *pattern, bool tree)
{
	static const char *const links[] = { "etc", "tmp", "var" };
	size_t len = strcspn(pattern + 1, "/");

	if (strncmp(pattern, "/**", 3) == 0)
		return;
	for (size_t i = 0; i < countof(links); i++) {
		struct target at = { .anchor = SBX_ANCHOR_ROOT };

		if (!sbx_name_match(pattern + 1, len, links[i], 3))
			continue;
		at.suffix = arena_printf(sbpl->policy->arena, "/private/%s",
		    links[i]);
		add_regex(sbpl, at, pattern + 1 + len, tree);
	}
}

static void
add_glob(struct sbpl *sbpl, struct target at, const char *pattern, bool tree)
{
	const char *second = second_spelling(sbpl->policy->arena, at);

	add_regex(sbpl, at, pattern, tree);
	if (at.anchor == SBX_ANCHOR_ROOT && *at.suffix == '\0')
		add_root_links(sbpl, pattern, tree);
	if (second != NULL) {
		at.suffix = second;
		add_regex(sbpl, at, pattern, tree);
	}
}

/* --- path rules ----------------------------------------------------------- */

static const struct right_words {
	uint8_t right;
	const char *operations;
} right_words[] = {
	{ SBX_READ, " file-read* file-map-executable" },
	{ SBX_WRITE, " file-write* file-ioctl" },
	{ SBX_EXEC, " process-exec*" },
};

static void
add_operations(struct sbpl *sbpl, uint8_t rights)
{
	for (size_t i = 0; i < countof(right_words); i++) {
		if (rights & right_words[i].right)
			text_add(&sbpl->text, right_words[i].operations);
	}
}

static void
add_rule_head(struct sbpl *sbpl, const struct path_rule *rule)
{
	text_add(&sbpl->text, rule->effect == SBX_ALLOW ? "(allow" : "(deny");
	add_operations(sbpl, rule->rights);
}

/* The filters of what a rule speaks of, without its exclusions. */
static void
add_places(struct sbpl *sbpl, const struct path_rule *rule)
{
	if (rule->glob != NULL)
		add_glob(sbpl, rule->at, rule->glob, true);
	else
		add_tree(sbpl, rule->at);
}

static void
add_rule_filter(struct sbpl *sbpl, const struct path_rule *rule)
{
	struct sbpl_text *text = &sbpl->text;

	if (rule->exclusion_count == 0) {
		add_places(sbpl, rule);
		return;
	}
	text_add(text, "\n (require-all (require-any");
	add_places(sbpl, rule);
	text_add(text, ") (require-not (require-any");
	for (uint16_t i = 0; i < rule->exclusion_count; i++)
		add_tree(sbpl, rule->exclusions[i]);
	text_add(text, ")))");
}

/* Allows before denies, and together what makes one rule of the profile. */
static int
path_rule_group(const struct path_rule *a, const struct path_rule *b)
{
	int order = (a->effect != SBX_ALLOW) - (b->effect != SBX_ALLOW);

	return order != 0 ? order :
			    (a->rights & SBX_RIGHTS) - (b->rights & SBX_RIGHTS);
}

/* Equal rules, and only they, compare equal; those that differ in where they hold,
 * or in how a deny is meant, are equal here. */
static int
rule_compare(const struct path_rule *a, const struct path_rule *b)
{
	int order = path_rule_group(a, b);

	if (order == 0)
		order = target_compare(a->at, b->at);
	if (order == 0)
		order = glob_compare(a->glob, b->glob);
	if (order == 0)
		order = a->exclusion_count - b->exclusion_count;
	for (uint16_t i = 0; order == 0 && i < a->exclusion_count; i++)
		order = target_compare(a->exclusions[i], b->exclusions[i]);
	return order;
}

static int
path_rule_compare(const void *x, const void *y)
{
	return rule_compare(*(const struct path_rule *const *)x,
	    *(const struct path_rule *const *)y);
}

struct path_rules {
	VEC(const struct path_rule *) rules;
	bool globs; /* of them, some are below an anchor */
};

/* What is said twice is written once. */
static void
path_rules_unique(struct path_rules *paths)
{
	const struct path_rule **rules = paths->rules.items;
	size_t kept = 0;

	for (size_t i = 0; i < paths->rules.count; i++) {
		if (kept == 0 || rule_compare(rules[kept - 1], rules[i]) != 0)
			rules[kept++] = rules[i];
	}
	paths->rules.count = kept;
}

static void
path_rules_collect(const struct policy *policy, struct path_rules *paths)
{
	for (size_t i = 0; i < policy->paths.count; i++) {
		const struct path_rule *rule = &policy->paths.items[i];

		if ((rule->origin.platforms & SBX_ON_MACOS) == 0)
			continue;
		*arena_push(policy->arena, &paths->rules) = rule;
		paths->globs |= rule->glob != NULL &&
		    rule->at.anchor != SBX_ANCHOR_ROOT;
	}
	if (paths->rules.count > 1)
		qsort(paths->rules.items, paths->rules.count,
		    sizeof *paths->rules.items, path_rule_compare);
	path_rules_unique(paths);
}

static void
add_path_rules(struct sbpl *sbpl, const struct path_rules *paths)
{
	const struct path_rule *last = NULL;

	for (size_t i = 0; i < paths->rules.count; i++) {
		const struct path_rule *rule = paths->rules.items[i];

		if (last == NULL || path_rule_group(last, rule) != 0) {
			text_add(&sbpl->text, last != NULL ? ")\n" : "");
			add_rule_head(sbpl, rule);
		}
		add_rule_filter(sbpl, rule);
		last = rule;
	}
	text_add(&sbpl->text, last != NULL ? ")\n" : "");
}

/* --- sockets -------------------------------------------------------------- */

/* launchd names the agent's socket, and no parameter does. */
static const char socket_family[] =
    "(allow system-socket (socket-domain AF_UNIX))\n";
static const char agent[] =
    "\n (regex "
    "\"^/private/tmp/com\\\\.apple\\\\.launchd\\\\.[^/]+/Listeners$\")";

struct sockets {
	const struct rule **items;
	size_t count;
};

/* Allows before denies, of which the last that matches decides. */
static int
socket_compare(const void *x, const void *y)
{
	const struct rule *a = *(const struct rule *const *)x;
	const struct rule *b = *(const struct rule *const *)y;
	int order = (a->effect != SBX_ALLOW) - (b->effect != SBX_ALLOW);

	return order != 0 ? order : target_compare(a->path.at, b->path.at);
}

static void
sockets_collect(const struct policy *policy, struct sockets *sockets)
{
	const struct rule_list *rules = &policy->rules[KIND_SOCKET];
	size_t count = 0, kept = 0;

	sockets->items = arena_alloc(policy->arena,
	    (rules->count + 1) * sizeof *sockets->items);
	for (size_t i = 0; i < rules->count; i++) {
		if (rules->items[i].origin.platforms & SBX_ON_MACOS)
			sockets->items[count++] = &rules->items[i];
	}
	qsort(sockets->items, count, sizeof *sockets->items, socket_compare);
	for (size_t i = 0; i < count; i++) {
		if (kept == 0 ||
		    socket_compare(&sockets->items[kept - 1],
			&sockets->items[i]) != 0)
			sockets->items[kept++] = sockets->items[i];
	}
	sockets->count = kept;
}

static void
add_socket(struct sbpl *sbpl, const struct rule *rule)
{
	if (rule->path.at.anchor == SBX_NO_ANCHOR)
		text_add(&sbpl->text, agent);
	else
		add_tree(sbpl, rule->path.at);
}

static void
add_sockets(struct sbpl *sbpl, const struct sockets *sockets)
{
	const struct rule *last = NULL;

	if (sockets->count > 0)
		text_add(&sbpl->text, socket_family);
	for (size_t i = 0; i < sockets->count; i++) {
		const struct rule *rule = sockets->items[i];

		if (last == NULL ||
		    (last->effect == SBX_ALLOW) !=
			(rule->effect == SBX_ALLOW)) {
			text_add(&sbpl->text, last != NULL ? ")\n" : "");
			text_add(&sbpl->text,
			    rule->effect == SBX_ALLOW ? "(allow" : "(deny");
			text_add(&sbpl->text, " network-outbound");
		}
		add_socket(sbpl, rule);
		last = rule;
	}
	text_add(&sbpl->text, last != NULL ? ")\n" : "");
}

/* --- no renaming of what lies above --------------------------------------- */

struct targets {
	VEC(struct target) at;
};

static void
targets_add(struct arena *arena, struct targets *targets, struct target at)
{
	*arena_push(arena, &targets->at) = at;
	at.suffix = second_spelling(arena, at);
	if (at.suffix != NULL)
		*arena_push(arena, &targets->at) = at;
}

/* Places that a rule would not speak of under another name: those that are
 * denied, and the exceptions of what is allowed. */
static void
named_collect(const struct policy *policy, const struct path_rules *paths,
    struct targets *named)
{
	for (size_t i = 0; i < paths->rules.count; i++) {
		const struct path_rule *rule = paths->rules.items[i];
		struct target at = rule->at;

		if (rule->effect == SBX_ALLOW) {
			for (uint16_t j = 0; j < rule->exclusion_count; j++)
				targets_add(policy->arena, named,
				    rule->exclusions[j]);
			continue;
		}
		/* Of a glob everything down to its place is above. */
		if (rule->glob != NULL)
			at.suffix = arena_printf(policy->arena, "%s/*",
			    at.suffix);
		targets_add(policy->arena, named, at);
	}
	if (named->at.count > 1)
		qsort(named->at.items, named->at.count, sizeof *named->at.items,
		    targets_compare);
}

/* How many bytes two suffixes share, up to the end of a name in both. */
static size_t
shared_prefix(const char *a, const char *b)
{
	size_t at = 0, shared = 0;

	for (;; at++) {
		bool a_ends = a[at] == '/' || a[at] == '\0';
		bool b_ends = b[at] == '/' || b[at] == '\0';

		if (a_ends && b_ends)
			shared = at;
		if (a[at] != b[at] || a[at] == '\0')
			return shared;
	}
}

/* All pins are one rule.  Without a filter the rule would apply to every file,
 * so it is opened with the first pin. */
static void
open_pins(struct sbpl *sbpl, bool *opened)
{
	if (!*opened)
		text_add(&sbpl->text, "(deny file-write-unlink");
	*opened = true;
}

static void
add_pin(struct sbpl *sbpl, bool *opened, const char *filter, struct target at)
{
	open_pins(sbpl, opened);
	add_filter(sbpl, filter, at);
}

/* Pins what is above a place and below its anchor, except in its first `done`
 * bytes. */
static void
add_pins_above(struct sbpl *sbpl, bool *opened, struct target at, size_t done)
{
	const char *suffix = at.suffix, *slash = suffix;

	while (*slash != '\0' && (slash = strchr(slash + 1, '/')) != NULL) {
		size_t len = (size_t)(slash - suffix);

		if (len <= done || sbpl->text.used > SBX_MAX_SIZE)
			continue;
		at.suffix = arena_strndup(sbpl->policy->arena, suffix, len);
		add_pin(sbpl, opened, "literal", at);
	}
}

/*
 * Pins what is above the matches of a glob and below its place, up to the first
 * "**": the directories that it stands for can be any, and to keep all of them
 * from being renamed would not do.
 */
static void
add_glob_pins(struct sbpl *sbpl, bool *opened, const struct path_rule *rule)
{
	const char *slash = rule->glob;

	if (rule->effect == SBX_ALLOW || slash == NULL)
		return;
	while (strncmp(slash, "/**", 3) != 0 &&
	    (slash = strchr(slash + 1, '/')) != NULL) {
		open_pins(sbpl, opened);
		add_glob(sbpl, rule->at,
		    arena_strndup(sbpl->policy->arena, rule->glob,
			(size_t)(slash - rule->glob)),
		    false);
	}
}

/*
 * Pins every directory above such a place, down from its anchor.  In path
 * order an ancestor that was pinned before is one that the place before has
 * too, so each is written once.
 */
static void
add_pins(struct sbpl *sbpl, const struct path_rules *paths)
{
	struct targets named = { 0 };
	bool opened = false;

	named_collect(sbpl->policy, paths, &named);
	for (size_t i = 0; i < named.at.count; i++) {
		struct target at = named.at.items[i];
		const struct target *last = i > 0 ? &named.at.items[i - 1] :
						    NULL;
		bool fresh = last == NULL || last->anchor != at.anchor;
		size_t done = fresh ? 0 :
				      shared_prefix(last->suffix, at.suffix);

		if (fresh && at.anchor != SBX_ANCHOR_ROOT) {
			struct target anchor = { "", at.anchor };

			add_pin(sbpl, &opened, "path-ancestors", anchor);
			add_pin(sbpl, &opened, "literal", anchor);
		}
		/* The place before is an ancestor itself, and not pinned. */
		if (!fresh && last->suffix[done] == '\0' && done > 0)
			done--;
		add_pins_above(sbpl, &opened, at, done);
	}
	for (size_t i = 0; i < paths->rules.count; i++)
		add_glob_pins(sbpl, &opened, paths->rules.items[i]);
	text_add(&sbpl->text, opened ? ")\n" : "");
}

void
sbpl_add_paths(struct sbpl *sbpl)
{
	struct path_rules paths = { 0 };
	struct sockets sockets = { 0 };

	path_rules_collect(sbpl->policy, &paths);
	sockets_collect(sbpl->policy, &sockets);
	if (paths.rules.count + sockets.count > 0)
		text_add(&sbpl->text, place_functions);
	if (paths.globs)
		text_add(&sbpl->text, glob_function);
	add_sockets(sbpl, &sockets);
	add_path_rules(sbpl, &paths);
	add_pins(sbpl, &paths);
}
