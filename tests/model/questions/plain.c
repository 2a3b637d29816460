/* See plain.h. */
#include "tests/model/questions/plain.h"

#include "compiler/tables/tables.h"

#include <string.h>

/* --- rules ---------------------------------------------------------------- */

bool
plain_holds(const struct plain *plain, const struct origin *origin)
{
	return (origin->platforms & plain->layout->platforms) != 0;
}

/* The net and what is allowed as a whole are one setting for all of Linux. */
static bool
holds_whole(const struct plain *plain, const struct origin *origin)
{
	uint8_t all = plain->layout->platforms & SBX_ON_LINUX ? SBX_ON_LINUX :
								SBX_ON_MACOS;

	return (origin->platforms & all) == all;
}

bool
plain_has(const struct plain *plain, enum blanket_kind kind, bool allow)
{
	const struct rule_list *rules = &plain->policy->rules[KIND_BLANKET];

	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->items[i];

		if (rule->detail == kind &&
		    (rule->effect == SBX_ALLOW) == allow &&
		    holds_whole(plain, &rule->origin))
			return true;
	}
	return false;
}

bool
plain_is_open(const struct plain *plain, enum blanket_kind kind)
{
	return (plain_has(plain, kind, true) ||
		   plain_has(plain, BLANKET_EVERYTHING, true)) &&
	    !plain_has(plain, kind, false);
}

struct plain
plain_make(struct arena *arena, const struct policy *policy,
    const struct layout *layout)
{
	struct plain plain = {
		.arena = arena,
		.policy = policy,
		.layout = layout,
	};

	plain.everything = plain_has(&plain, BLANKET_EVERYTHING, true);
	plain.net = plain_net(&plain);
	return plain;
}

/* --- paths ---------------------------------------------------------------- */

static const char *
join(const struct plain *plain, const char *anchor, const char *suffix)
{
	return arena_printf(plain->arena, "%s%s", anchor, suffix);
}

const char *
plain_bind(const struct plain *plain, struct target at)
{
	return join(plain, plain->layout->anchors[at.anchor], at.suffix);
}

/* Whether a path is a place or below it. */
static bool
covers(const char *place, const char *path)
{
	size_t len = strlen(place);

	return strncmp(place, path, len) == 0 &&
	    (path[len] == '/' || path[len] == '\0');
}

/* How many bytes the first character has: one, if they are no UTF-8. */
static size_t
character(const char *text)
{
	static const struct {
		unsigned char low, high, second_low, second_high;
		size_t len;
	} kinds[] = {
		{ 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 },
		{ 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 },
		{ 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};
	const unsigned char *byte = (const unsigned char *)text;

	for (size_t i = 0; i < countof(kinds); i++) {
		size_t len = 2;

		if (byte[0] < kinds[i].low || byte[0] > kinds[i].high ||
		    byte[1] < kinds[i].second_low ||
		    byte[1] > kinds[i].second_high)
			continue;
		while (len < kinds[i].len && (byte[len] & 0xc0) == 0x80)
			len++;
		return len == kinds[i].len ? len : 1;
	}
	return 1;
}

/* Whether a pattern matches exactly the text up to `end`. */
static bool
matches(const char *pattern, const char *text, const char *end)
{
	if (strncmp(pattern, "/**", 3) == 0 &&
	    (pattern[3] == '/' || pattern[3] == '\0')) {
		if (matches(pattern + 3, text, end))
			return true;
		if (text == end || *text != '/')
			return false;
		for (text++; text < end && *text != '/';)
			text++;
		return matches(pattern, text, end);
	}
	if (*pattern == '*') {
		if (matches(pattern + 1, text, end))
			return true;
		return text < end && *text != '/' &&
		    matches(pattern, text + 1, end);
	}
	if (*pattern == '\0' || text == end)
		return *pattern == '\0' && text == end;
	if (*pattern == '?')
		return *text != '/' &&
		    matches(pattern + 1, text + character(text), end);
	return *pattern == *text && matches(pattern + 1, text + 1, end);
}

/* Whether a glob at a place matches the path, or a directory above it. */
static bool
glob_covers(const char *at, const char *pattern, const char *path)
{
	if (!covers(at, path))
		return false;
	path += strlen(at);
	for (const char *end = path; *end != '\0';) {
		do {
			end++;
		} while (*end != '/' && *end != '\0');
		if (matches(pattern, path, end))
			return true;
	}
	return false;
}

static bool
is_excluded(const struct plain *plain, const struct path_rule *rule,
    const char *path)
{
	const char *other = plain->layout->other_home;

	for (uint16_t i = 0; i < rule->exclusion_count; i++) {
		struct target at = rule->exclusions[i];

		if (covers(plain_bind(plain, at), path) ||
		    (at.anchor == SBX_ANCHOR_HOME && other != NULL &&
			covers(join(plain, other, at.suffix), path)))
			return true;
	}
	return false;
}

static bool
place_covers(const char *at, const char *glob, const char *path)
{
	return glob != NULL ? glob_covers(at, glob, path) : covers(at, path);
}

/* What is denied in ~ is denied in both homes. */
static bool
target_covers_path(const struct plain *plain, const struct path_rule *rule,
    const char *path)
{
	const char *other = plain->layout->other_home;

	return place_covers(plain_bind(plain, rule->at), rule->glob, path) ||
	    (rule->effect != SBX_ALLOW && rule->at.anchor == SBX_ANCHOR_HOME &&
		other != NULL &&
		place_covers(join(plain, other, rule->at.suffix), rule->glob,
		    path));
}

/* To keep writing out of a place takes a mask, or that nothing is made beside
 * it: a deny that is only preferred does not ask for the latter. */
static bool
is_given_up(const struct plain *plain, const struct path_rule *rule)
{
	return plain->layout->level < SBX_LEVEL_FULL &&
	    rule->effect == SBX_PREFER_DENY && rule->rights == SBX_WRITE;
}

static bool
paths_allow(const struct plain *plain, uint8_t right, const char *path,
    bool held)
{
	const struct policy *policy = plain->policy;
	bool allowed = false;

	if (plain->everything)
		return true;
	for (size_t i = 0; i < policy->paths.count; i++) {
		const struct path_rule *rule = &policy->paths.items[i];

		if (!plain_holds(plain, &rule->origin) ||
		    (held && is_given_up(plain, rule)) ||
		    (rule->rights & right) == 0 ||
		    !target_covers_path(plain, rule, path) ||
		    is_excluded(plain, rule, path))
			continue;
		if (rule->effect != SBX_ALLOW)
			return false;
		allowed = true;
	}
	return allowed;
}

bool
plain_path(const struct plain *plain, uint8_t right, const char *path)
{
	return paths_allow(plain, right, path, plain->held);
}

/* Where the agent's socket is nobody knows: in no place of a rule, but in the
 * root. */
static const char agent[] = "/${ssh-agent}";

/* What the rules about sockets say: 1, 0, or -1 for nothing. */
static int
socket_rules(const struct plain *plain, const char *path)
{
	const struct rule_list *rules = &plain->policy->rules[KIND_SOCKET];
	int said = -1;

	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->items[i];
		bool speaks = rule->path.at.anchor == SBX_NO_ANCHOR ?
		    path == agent :
		    target_covers_path(plain, &rule->path, path);

		if (!plain_holds(plain, &rule->origin) || !speaks)
			continue;
		if (rule->effect != SBX_ALLOW)
			return 0;
		said = 1;
	}
	return said;
}

bool
plain_socket(const struct plain *plain, const char *path)
{
	int said = socket_rules(plain, path);

	if (plain->everything)
		return true;
	if (plain->layout->level == SBX_LEVEL_MINIMAL)
		return false;
	/* sbxrun connects for the command, and asks the rules at each level. */
	return said >= 0 ? said : paths_allow(plain, SBX_WRITE, path, false);
}

bool
plain_agent(const struct plain *plain)
{
	return plain_socket(plain, agent);
}

/* --- watching ------------------------------------------------------------- */

static bool
is_sample(const char *path)
{
	size_t len = strlen(path);

	return len >= 7 && strcmp(path + len - 7, ".sample") == 0;
}

static bool
is_git_name(const char *path)
{
	static const char *const files[] = { "/config", "/config.worktree",
		"/commondir", "/rebase-merge/git-rebase-todo",
		"/rebase-merge/strategy", "/rebase-merge/strategy_opts",
		"/rebase-merge/gpg_sign_opt", "/rebase-apply/apply-opt",
		"/sequencer/opts", "/info/attributes", "/info/exclude",
		"/info/sparse-checkout", "/info/grafts", "/shallow" };
	static const char *const trees[] = { "/remotes", "/branches",
		"/refs/replace" };

	if (covers("/hooks", path))
		return strcmp(path, "/hooks") == 0 || !is_sample(path);
	for (size_t i = 0; i < countof(trees); i++) {
		if (covers(trees[i], path))
			return true;
	}
	for (size_t i = 0; i < countof(files); i++) {
		if (strcmp(path, files[i]) == 0)
			return true;
	}
	return false;
}

static bool
git_covers(const char *at, const char *path)
{
	const char *rest = path + strlen(at);

	if (!covers(at, path))
		return false;
	if (!covers("/.git", rest))
		return strcmp(rest, "/HEAD") == 0;
	rest += 5;
	if (*rest == '\0' || is_git_name(rest))
		return true;
	if (!covers("/modules", rest) && !covers("/worktrees", rest))
		return false;
	rest = strchr(rest + 1, '/');
	while (rest != NULL && (rest = strchr(rest + 1, '/')) != NULL) {
		if (is_git_name(rest))
			return true;
	}
	return false;
}

static bool
watch_covers(const struct rule *rule, const char *at, const char *path)
{
	return rule->detail == SBX_WATCH_GIT ?
	    git_covers(at, path) :
	    place_covers(at, rule->path.glob, path);
}

bool
plain_unseen(const struct plain *plain, const char *path)
{
	const struct rule_list *rules = &plain->policy->rules[KIND_WATCH];
	const char *other = plain->layout->other_home;

	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->items[i];
		struct target at = rule->path.at;

		if (!plain_holds(plain, &rule->origin))
			continue;
		if (watch_covers(rule, plain_bind(plain, at), path) ||
		    (at.anchor == SBX_ANCHOR_HOME && other != NULL &&
			watch_covers(rule, join(plain, other, at.suffix),
			    path)))
			return false;
	}
	return true;
}

/* --- variables, processes and system calls -------------------------------- */

static bool
word_matches(const char *pattern, const char *text)
{
	if (*pattern == '*')
		return word_matches(pattern + 1, text) ||
		    (*text != '\0' && word_matches(pattern, text + 1));
	return *pattern == *text &&
	    (*pattern == '\0' || word_matches(pattern + 1, text + 1));
}

static bool
is_set(const struct plain *plain, const char *name)
{
	const struct rule_list *rules = &plain->policy->rules[KIND_SET];

	for (size_t i = 0; i < rules->count; i++) {
		if (plain_holds(plain, &rules->items[i].origin) &&
		    strcmp(rules->items[i].set.name, name) == 0)
			return true;
	}
	return false;
}

static bool
is_one_of(const char *const *names, const char *name)
{
	while (*names != NULL && strcmp(*names, name) != 0)
		names++;
	return *names != NULL;
}

/* Whether sbxrun sets a variable, or the policy does. */
static bool
is_set_inside(const struct plain *plain, const char *name)
{
	static const char *const always[] = { "SBX", "SBX_LEVEL", NULL };
	static const char *const proxied[] = { "HTTP_PROXY", "HTTPS_PROXY",
		"ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy",
		"all_proxy", "no_proxy", "NODE_USE_ENV_PROXY", "RSYNC_PROXY",
		NULL };

	if (is_set(plain, name))
		return true;
	return plain->layout->platforms != SBX_ON_MACOS &&
	    (is_one_of(always, name) ||
		(is_one_of(proxied, name) && plain_has_proxy(plain)));
}

bool
plain_env(const struct plain *plain, const char *name)
{
	const struct rule_list *rules = &plain->policy->rules[KIND_ENV];
	bool allowed = plain->everything;

	if (strcmp(name, "SSH_AUTH_SOCK") == 0 &&
	    socket_rules(plain, agent) == 1)
		return true;
	if (is_set_inside(plain, name))
		return !plain->callers;
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->items[i];

		if (!plain_holds(plain, &rule->origin) ||
		    !word_matches(rule->env.pattern, name))
			continue;
		if (rule->effect != SBX_ALLOW)
			return false;
		allowed = true;
	}
	return allowed;
}

bool
plain_spawn(const struct plain *plain)
{
	return plain->everything || !plain_has(plain, BLANKET_SPAWN, false);
}

bool
plain_call(const struct plain *plain, const struct plain_call *call)
{
	const struct rule_list *rules = &plain->policy->rules[KIND_SYSCALL];
	bool allowed = plain->everything || !call->denied;

	for (size_t i = 0; i < rules->count && !plain->everything; i++) {
		const struct rule *rule = &rules->items[i];
		const char *const *members = rule->syscall.group ?
		    syscall_group(rule->syscall.name) :
		    (const char *[]){ rule->syscall.name, NULL };

		if (!plain_holds(plain, &rule->origin))
			continue;
		while (*members != NULL && strcmp(*members, call->name) != 0)
			members++;
		if (*members != NULL && rule->effect != SBX_ALLOW)
			return false;
		allowed |= *members != NULL;
	}
	return allowed;
}

const struct plain_call plain_calls[] = {
	{ "mount", true },
	{ "umount2", true },
	{ "swapon", true },
	{ "add_key", true },
	{ "keyctl", true },
	{ "bpf", true },
	{ "userfaultfd", true },
	{ "vhangup", true },
	{ "setns", true },
	{ "quotactl", true },
	{ "getpid", false },
	{ "io_submit", false },
	{ "epoll_create1", false },
	{ "mbind", false },
	{ "memfd_create", false },
};
const size_t plain_call_count = countof(plain_calls);
