/*
 * The whole policy as a macOS sandbox profile.  There the last rule that
 * matches decides, so the order does the work of "deny beats allow":
 *
 *	(version 1) (deny default)
 *	what every process needs		tables/sbpl.def
 *	the network, port by port
 *	every allow, then every deny		sorted, each list in any order
 *	no renaming of what lies above a deny or an exception
 *
 * A rule holds where one of its filters does, and a list in any order may as
 * well be one rule: so there is one for each effect and set of rights, and two
 * functions for what each of its filters repeats.
 *
 * The kernel compares names of files, not the files: to rename a directory
 * above a denied place would carry the place away from its rule, and one above
 * an exception into what the rule allows, hence the last part; and it compares
 * them after following symbolic links, hence both /tmp and /private/tmp.
 *
 * Anchors are parameters, which the loader gives as -D NAME=VALUE; one that is
 * not given makes the profile fail to load.  All other text of the user's
 * stands in strings, where only '"' and '\' mean something.
 */
#include "compiler/lower/lower.h"

#include <string.h>

enum { PORTS = 65536, PORT_OPS = SBX_LISTEN_TCP + 1 };

/* The part before the ports and paths. */
struct blankets {
	bool everything, signal, spawn;
	enum sbx_net net;
};

static void
text_add_bytes(struct sbpl_text *text, const char *bytes, size_t len)
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

void
text_add(struct sbpl_text *text, const char *string)
{
	text_add_bytes(text, string, strlen(string));
}

void
text_add_quoted(struct sbpl_text *text, const char *string)
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

/* --- ports ---------------------------------------------------------------- */

static const struct port_words {
	const char *operations, *filter;
} port_words[PORT_OPS] = {
	[SBX_CONNECT_TCP] = { "network-outbound", "remote" },
	[SBX_LISTEN_TCP] = { "network-bind network-inbound", "local" },
};

/* Sets open[] to what the rules for macOS allow; `all`: every port is open
 * before.  Returns how many are open. */
static size_t
open_ports(const struct policy *policy, enum sbx_port_op op, bool all,
    bool open[PORTS])
{
	const struct rule_list *ports = &policy->rules[KIND_PORT];
	size_t count = 0;

	memset(open, all, PORTS);
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < ports->count; i++) {
			const struct rule *rule = &ports->items[i];
			bool allow = rule->effect == SBX_ALLOW;

			if (rule->detail == op && allow == (pass == 0) &&
			    (rule->origin.platforms & SBX_ON_MACOS))
				memset(open + rule->port.low, allow,
				    (size_t)rule->port.high - rule->port.low +
					1);
		}
	}
	for (size_t port = 0; port < PORTS; port++)
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
	struct sbpl_text *text = &sbpl->text;

	text_add(text, " (");
	text_add(text, words->filter);
	text_add(text, " tcp \"*:");
	text_add(text, port);
	text_add(text, "\")");
}

/* One rule with the ports that are open, or with those that are not. */
static void
add_port_list(struct sbpl *sbpl, const struct port_words *words,
    const bool open[PORTS], bool allow)
{
	bool opened = false;

	for (size_t port = 0; port < PORTS; port++) {
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
	bool *open = arena_alloc(sbpl->policy->arena, PORTS);
	size_t count = open_ports(sbpl->policy, op, all, open);
	bool single = !all && count <= PORTS / 2;

	if (!single && !all) {
		add_port_head(sbpl, true, words);
		add_port(sbpl, words, "*");
		text_add(&sbpl->text, ")\n");
	}
	add_port_list(sbpl, words, open, single);
}

/*
 * macOS has no network namespaces: the host's own services on these addresses
 * are reached too, and of what leads out of a network of its own the proxy
 * alone, which listens there.
 */
static void
add_loopback(struct sbpl *sbpl)
{
	text_add(&sbpl->text,
	    "(allow network-outbound (remote ip \"localhost:*\"))\n"
	    "(allow network-bind network-inbound"
	    " (local ip \"localhost:*\"))\n");
}

/* --- the whole ------------------------------------------------------------ */

static void
add_base(struct sbpl *sbpl, enum sbx_net net)
{
	enum {
		ALWAYS = SBX_NET_NONE,
		NETWORK = SBX_NET_PORTS,
		OPEN = SBX_NET_FULL
	};
	static const struct {
		enum sbx_net when;
		const char *text;
	} rows[] = {
#define SBPL(when_, text_) { (enum sbx_net)(when_), text_ },
#include "compiler/tables/sbpl.def"
#undef SBPL
	};

	for (size_t i = 0; i < countof(rows); i++) {
		if (rows[i].when != SBX_NET_NONE &&
		    (rows[i].when > net || sbx_net_is_own((uint8_t)net)))
			continue;
		text_add(&sbpl->text, rows[i].text);
		text_add(&sbpl->text, "\n");
	}
}

/* What belongs to the default: either all that a process needs, or what is
 * denied. */
static void
add_blankets(struct sbpl *sbpl, struct blankets blankets)
{
	if (!blankets.everything) {
		add_base(sbpl, blankets.net);
		if (blankets.signal)
			text_add(&sbpl->text, "(allow signal)\n");
		if (!blankets.spawn)
			text_add(&sbpl->text, "(deny process-fork)\n");
		return;
	}
	if (!blankets.signal)
		text_add(&sbpl->text,
		    "(deny signal)\n(allow signal (target same-sandbox))\n");
	if (blankets.net != SBX_NET_FULL)
		text_add(&sbpl->text, "(deny network*)\n");
}

static struct sbpl
sbpl_start(const struct policy *policy)
{
	struct sbpl sbpl = {
		.text.arena = policy->arena,
		.policy = policy,
	};

	params_name(&sbpl);
	return sbpl;
}

char *
sbpl_text(const struct policy *policy)
{
	struct sbpl sbpl = sbpl_start(policy);
	struct blankets blankets = {
		.everything = policy_has_blanket(policy, BLANKET_EVERYTHING,
		    SBX_ON_MACOS),
		.signal = policy_has_blanket(policy, BLANKET_SIGNAL,
		    SBX_ON_MACOS),
		.spawn = !policy_denies_spawn(policy, SBX_ON_MACOS),
		.net = policy_net(policy, SBX_ON_MACOS, NULL),
	};
	bool all = blankets.net == SBX_NET_FULL;

	text_add(&sbpl.text, "(version 1)\n; parameters:");
	for (size_t i = SBX_ANCHOR_WORKSPACE; i < sbpl.anchor_count; i++) {
		text_add(&sbpl.text, " ");
		text_add(&sbpl.text, sbpl.params[i]);
	}
	text_add(&sbpl.text,
	    blankets.everything ? "\n(allow default)\n" : "\n(deny default)\n");
	add_blankets(&sbpl, blankets);
	if (sbx_net_is_own((uint8_t)blankets.net))
		add_loopback(&sbpl);
	if (all || blankets.net == SBX_NET_PORTS)
		for (int op = 0; op < PORT_OPS; op++)
			add_ports(&sbpl, (enum sbx_port_op)op, all);
	sbpl_add_paths(&sbpl);
	return sbpl.text.bytes;
}
