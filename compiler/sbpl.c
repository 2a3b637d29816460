/*
 * The whole policy as a macOS sandbox profile.  There the last rule that
 * matches decides, so the order does the work of "deny beats allow":
 *
 *	(version 1) (deny default)
 *	what every process needs		tables/sbpl.def
 *	the network, port by port
 *	every allow, then every deny		sorted, each list in any order
 *	no renaming of what lies above a deny
 *
 * A rule holds where one of its filters does, and a list in any order may as
 * well be one rule: so there is one for each effect and set of rights, and two
 * functions for what each of its filters repeats.  It matters because the
 * loader on Linux reads and checks this text too, at every start.
 *
 * The kernel compares names of files, not the files: to rename a directory
 * above a denied place would carry the place away from its rule, hence the
 * last part; and it compares them after following symbolic links, hence both
 * /tmp and /private/tmp.
 *
 * Anchors are parameters, which the loader gives as -D NAME=VALUE; one that is
 * not given makes the profile fail to load.  All other text of the user's
 * stands in strings, where only '"' and '\' mean something.
 */
#include "compiler/emit.h"
#include "format/model.h"

#include <stdlib.h>
#include <string.h>

#define countof(array) (sizeof(array) / sizeof *(array))

/* A growing text.  It stops just above what a blob can hold: emit_blob() then
 * refuses the policy. */
struct text {
	struct arena *arena;
	char *bytes;
	size_t used, room;
};

struct sbpl {
	struct text text;
	const struct policy *policy;
	const char *params[SBX_MAX_ANCHORS]; /* by anchor */
	size_t anchor_count;
};

static void
text_add_bytes(struct text *text, const char *bytes, size_t len)
{
	if (text->used > SBX_MAX_SIZE)
		return;
	if (len >= text->room - text->used) {
		size_t room = (text->used + len + 1) * 2;
		char *grown = arena_alloc(text->arena, room);

		if (text->used > 0)
			memcpy(grown, text->bytes, text->used);
		text->bytes = grown;
		text->room = room;
	}
	memcpy(text->bytes + text->used, bytes, len);
	text->used += len;
	text->bytes[text->used] = '\0';
}

static void
text_add(struct text *text, const char *string)
{
	text_add_bytes(text, string, strlen(string));
}

static void
text_add_quoted(struct text *text, const char *string)
{
	text_add(text, "\"");
	while (*string != '\0') {
		size_t plain = strcspn(string, "\"\\");

		text_add_bytes(text, string, plain);
		string += plain;
		if (*string != '\0') {
			text_add(text, "\\");
			text_add_bytes(text, string++, 1);
		}
	}
	text_add(text, "\"");
}

/* --- parameters ----------------------------------------------------------- */

/* Upper case, with '_' for what is neither letter nor digit. */
static char *
param_spell(struct arena *arena, const char *name)
{
	char *spelled = arena_strndup(arena, name, strlen(name));

	for (char *at = spelled; *at != '\0'; at++) {
		if (*at >= 'a' && *at <= 'z')
			*at = (char)(*at - 'a' + 'A');
		else if (!((*at >= 'A' && *at <= 'Z') ||
			     (*at >= '0' && *at <= '9')))
			*at = '_';
	}
	return spelled;
}

static bool
param_is_taken(const struct sbpl *sbpl, const char *name)
{
	for (size_t i = 0; i < sbpl->anchor_count; i++) {
		if (strcmp(sbpl->params[i], name) == 0)
			return true;
	}
	return false;
}

/* `data-set` and `data_set` are two parameters: the second gets a number. */
static void
params_name(struct sbpl *sbpl)
{
	const struct policy *policy = sbpl->policy;
	size_t count = SBX_ANCHOR_PARAM + policy->params.count;

	for (size_t i = 0; i < count && i < SBX_MAX_ANCHORS; i++) {
		char *plain = param_spell(policy->arena,
		    policy_anchor_name(policy, (uint16_t)i));
		char *name = plain;

		for (int n = 2; param_is_taken(sbpl, name); n++)
			name = arena_printf(policy->arena, "%s_%d", plain, n);
		sbpl->params[sbpl->anchor_count++] = name;
	}
}

/* --- places --------------------------------------------------------------- */

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

static void
add_path(struct sbpl *sbpl, struct target at)
{
	struct text *text = &sbpl->text;

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

/* --- path rules ----------------------------------------------------------- */

static void
add_operations(struct sbpl *sbpl, uint8_t rights)
{
	static const struct {
		uint8_t right;
		const char *operations;
	} table[] = {
		{ SBX_READ, " file-read* file-map-executable" },
		{ SBX_WRITE, " file-write* file-ioctl" },
		{ SBX_EXEC, " process-exec*" },
	};

	for (size_t i = 0; i < countof(table); i++) {
		if (rights & table[i].right)
			text_add(&sbpl->text, table[i].operations);
	}
}

static void
add_rule_head(struct sbpl *sbpl, const struct path_rule *rule)
{
	text_add(&sbpl->text, rule->effect == SBX_ALLOW ? "(allow" : "(deny");
	add_operations(sbpl, rule->rights);
}

static void
add_rule_filter(struct sbpl *sbpl, const struct path_rule *rule)
{
	struct text *text = &sbpl->text;

	if (rule->hole_count == 0) {
		add_tree(sbpl, rule->at);
		return;
	}
	text_add(text, "\n (require-all (require-any");
	add_tree(sbpl, rule->at);
	text_add(text, ") (require-not (require-any");
	for (uint16_t i = 0; i < rule->hole_count; i++)
		add_tree(sbpl, rule->holes[i]);
	text_add(text, ")))");
}

static int
target_compare(struct target a, struct target b)
{
	if (a.anchor != b.anchor)
		return a.anchor < b.anchor ? -1 : 1;
	return sbx_place_compare(
	    (struct sbx_place){ a.suffix, (uint32_t)strlen(a.suffix) },
	    (struct sbx_place){ b.suffix, (uint32_t)strlen(b.suffix) });
}

/* Allows before denies, and together what makes one rule of the profile. */
static int
path_rule_group(const struct path_rule *a, const struct path_rule *b)
{
	int order = (a->effect != SBX_ALLOW) - (b->effect != SBX_ALLOW);

	return order != 0 ? order : a->rights - b->rights;
}

/* Equal rules, and only they, compare equal. */
static int
path_rule_compare(const void *x, const void *y)
{
	const struct path_rule *a = *(const struct path_rule *const *)x;
	const struct path_rule *b = *(const struct path_rule *const *)y;
	int order = path_rule_group(a, b);

	if (order == 0)
		order = target_compare(a->at, b->at);
	if (order == 0)
		order = a->hole_count - b->hole_count;
	for (uint16_t i = 0; order == 0 && i < a->hole_count; i++)
		order = target_compare(a->holes[i], b->holes[i]);
	return order;
}

struct path_rules {
	VEC(const struct path_rule *) rules;
};

static void
path_rules_collect(const struct policy *policy, struct path_rules *paths)
{
	for (size_t i = 0; i < policy->paths.count; i++) {
		const struct path_rule *rule = &policy->paths.items[i];

		if (rule->origin.where & SBX_ON_MACOS)
			*arena_push(policy->arena, &paths->rules) = rule;
	}
	if (paths->rules.count > 1)
		qsort(paths->rules.items, paths->rules.count,
		    sizeof *paths->rules.items, path_rule_compare);
}

static void
add_path_rules(struct sbpl *sbpl, const struct path_rules *paths)
{
	const struct path_rule *last = NULL;

	for (size_t i = 0; i < paths->rules.count; i++) {
		const struct path_rule *rule = paths->rules.items[i];

		if (last != NULL && path_rule_compare(&last, &rule) == 0)
			continue;
		if (last == NULL)
			text_add(&sbpl->text, place_functions);
		if (last == NULL || path_rule_group(last, rule) != 0) {
			text_add(&sbpl->text, last != NULL ? ")\n" : "");
			add_rule_head(sbpl, rule);
		}
		add_rule_filter(sbpl, rule);
		last = rule;
	}
	text_add(&sbpl->text, last != NULL ? ")\n" : "");
}

/* --- no renaming above a deny --------------------------------------------- */

struct targets {
	VEC(struct target) at;
};

static int
qsort_target_compare(const void *a, const void *b)
{
	return target_compare(*(const struct target *)a,
	    *(const struct target *)b);
}

static void
denied_collect(const struct policy *policy, const struct path_rules *paths,
    struct targets *denied)
{
	for (size_t i = 0; i < paths->rules.count; i++) {
		const struct path_rule *rule = paths->rules.items[i];
		struct target at = rule->at;

		if (rule->effect == SBX_ALLOW)
			continue;
		*arena_push(policy->arena, &denied->at) = at;
		at.suffix = second_spelling(policy->arena, at);
		if (at.suffix != NULL)
			*arena_push(policy->arena, &denied->at) = at;
	}
	if (denied->at.count > 1)
		qsort(denied->at.items, denied->at.count,
		    sizeof *denied->at.items, qsort_target_compare);
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

/* All pins are one rule, which there is only if there is a pin: without a
 * filter it would speak of every file. */
static void
add_pin(struct sbpl *sbpl, bool *opened, const char *filter, struct target at)
{
	if (!*opened)
		text_add(&sbpl->text, "(deny file-write-unlink");
	*opened = true;
	add_filter(sbpl, filter, at);
}

/* Pins what is above a place, below its anchor; not its first `done` bytes. */
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
 * Pins every directory above a denied place, down from its anchor.  In path
 * order an ancestor that was pinned before is one that the place before has
 * too, so each is written once.
 */
static void
add_pins(struct sbpl *sbpl, const struct path_rules *paths)
{
	struct targets denied = { 0 };
	bool opened = false;

	denied_collect(sbpl->policy, paths, &denied);
	for (size_t i = 0; i < denied.at.count; i++) {
		struct target at = denied.at.items[i];
		const struct target *last = i > 0 ? &denied.at.items[i - 1] : NULL;
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
	text_add(&sbpl->text, opened ? ")\n" : "");
}

/* --- ports ---------------------------------------------------------------- */

enum { PORT_COUNT = 65536 };

struct port_words {
	const char *operations;
	const char *filter;
};

static const struct port_words port_words[SBX_PORT_OP_END] = {
	[SBX_CONNECT_TCP] = { "network-outbound", "remote" },
	[SBX_LISTEN_TCP] = { "network-bind network-inbound", "local" },
};

/* Sets open[] to what the rules say; returns how many ports are open. */
static size_t
ports_collect(const struct policy *policy, enum sbx_port_op op, bool all,
    bool open[PORT_COUNT])
{
	size_t count = 0;

	memset(open, all, PORT_COUNT);
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < policy->ports.count; i++) {
			const struct port_rule *rule = &policy->ports.items[i];
			bool allow = rule->effect == SBX_ALLOW;

			if (rule->op == op && allow == (pass == 0) &&
			    (rule->origin.where & SBX_ON_MACOS))
				memset(open + rule->low, allow,
				    (size_t)rule->high - rule->low + 1);
		}
	}
	for (size_t port = 0; port < PORT_COUNT; port++)
		count += open[port];
	return count;
}

static void
add_port_head(struct sbpl *sbpl, bool allow, const struct port_words *words)
{
	text_add(&sbpl->text, allow ? "(allow " : "(deny ");
	text_add(&sbpl->text, words->operations);
}

static void
add_port(struct sbpl *sbpl, const struct port_words *words, const char *port)
{
	struct text *text = &sbpl->text;

	text_add(text, " (");
	text_add(text, words->filter);
	text_add(text, " tcp \"*:");
	text_add(text, port);
	text_add(text, "\")");
}

/* One rule with the ports that are open, or with those that are not. */
static void
add_port_list(struct sbpl *sbpl, const struct port_words *words,
    const bool open[PORT_COUNT], bool allow)
{
	bool opened = false;

	for (size_t port = 0; port < PORT_COUNT; port++) {
		char number[8];

		if (open[port] != allow)
			continue;
		if (!opened)
			add_port_head(sbpl, allow, words);
		opened = true;
		snprintf(number, sizeof number, "%zu", port);
		add_port(sbpl, words, number);
	}
	text_add(&sbpl->text, opened ? ")\n" : "");
}

/*
 * A filter takes one port or all of them, no range: the ports one by one, or
 * all of them and then what is left out one by one, whichever is shorter.
 * `all`: they are open already.
 */
static void
add_ports(struct sbpl *sbpl, enum sbx_port_op op, bool all)
{
	const struct port_words *words = &port_words[op];
	bool *open = arena_alloc(sbpl->policy->arena, PORT_COUNT);
	size_t count = ports_collect(sbpl->policy, op, all, open);
	bool single = !all && count <= PORT_COUNT / 2;

	if (!single && !all) {
		add_port_head(sbpl, true, words);
		add_port(sbpl, words, "*");
		text_add(&sbpl->text, ")\n");
	}
	add_port_list(sbpl, words, open, single);
}

/* --- the whole ------------------------------------------------------------ */

static void
add_base(struct sbpl *sbpl, enum sbx_net net)
{
	enum { ALWAYS = SBX_NET_NONE, NETWORK = SBX_NET_PORTS,
		OPEN = SBX_NET_FULL };
	static const struct {
		enum sbx_net when;
		const char *text;
	} rows[] = {
#define SBPL(when_, text_) { (enum sbx_net)(when_), text_ },
#include "compiler/tables/sbpl.def"
#undef SBPL
	};

	for (size_t i = 0; i < countof(rows); i++) {
		if (rows[i].when > net)
			continue;
		text_add(&sbpl->text, rows[i].text);
		text_add(&sbpl->text, "\n");
	}
}

static void
add_head(struct sbpl *sbpl, bool everything)
{
	text_add(&sbpl->text, "(version 1)\n; parameters:");
	for (size_t i = SBX_ANCHOR_WORKSPACE; i < sbpl->anchor_count; i++) {
		text_add(&sbpl->text, " ");
		text_add(&sbpl->text, sbpl->params[i]);
	}
	text_add(&sbpl->text, everything ? "\n(allow default)\n" :
					   "\n(deny default)\n");
}

/* What goes with the default: all that a process needs, or what is taken. */
static void
add_freedoms(struct sbpl *sbpl, bool everything, enum sbx_net net)
{
	bool signal = policy_has_freedom(sbpl->policy, FREEDOM_SIGNAL,
	    SBX_ON_MACOS);

	if (!everything) {
		add_base(sbpl, net);
		if (signal)
			text_add(&sbpl->text, "(allow signal)\n");
		return;
	}
	if (!signal)
		text_add(&sbpl->text,
		    "(deny signal)\n(allow signal (target same-sandbox))\n");
	if (net != SBX_NET_FULL)
		text_add(&sbpl->text, "(deny network*)\n");
}

char *
sbpl_text(const struct policy *policy)
{
	struct sbpl sbpl = {
		.text.arena = policy->arena, .policy = policy,
	};
	bool everything = policy_has_freedom(policy, FREEDOM_EVERYTHING,
	    SBX_ON_MACOS);
	enum sbx_net net = policy_net(policy, SBX_ON_MACOS, NULL);
	struct path_rules paths = { 0 };

	params_name(&sbpl);
	path_rules_collect(policy, &paths);
	add_head(&sbpl, everything);
	add_freedoms(&sbpl, everything, net);
	for (int op = 0; net != SBX_NET_NONE && op < SBX_PORT_OP_END; op++)
		add_ports(&sbpl, (enum sbx_port_op)op, net == SBX_NET_FULL);
	add_path_rules(&sbpl, &paths);
	add_pins(&sbpl, &paths);
	return sbpl.text.bytes;
}
