/* See question.h. */
#include "tests/model/questions/question.h"

#include "compiler/policy/kind.h"
#include "compiler/tables/tables.h"

#include <string.h>

static size_t
below(struct asker *asker, size_t limit)
{
	return chance_below(asker->chance, limit);
}

#define ANY(asker, table) (table)[below((asker), countof(table))]

/* Any rule of a kind, or NULL. */
static const struct rule *
any_rule(struct asker *asker, enum rule_kind_id kind)
{
	const struct rule_list *rules = &asker->plain->policy->rules[kind];

	return rules->count > 0 ? &rules->items[below(asker, rules->count)] :
				  NULL;
}

/* --- what has a path ------------------------------------------------------ */

static bool
plain_of_path(const struct plain *plain, const struct question *question)
{
	return plain_path(plain, question->detail, question->name);
}

static bool
plain_of_socket(const struct plain *plain, const struct question *question)
{
	return plain_socket(plain, question->name);
}

static bool
plain_of_agent(const struct plain *plain, const struct question *question)
{
	(void)question;
	return plain_agent(plain);
}

static bool
plain_of_unseen(const struct plain *plain, const struct question *question)
{
	return plain_unseen(plain, question->name);
}

static struct question
place_question(struct asker *asker, const char *word)
{
	const char *path =
	    asker->spots.list.items[below(asker, asker->spots.list.count)];

	return (struct question){
		.words = { word, path },
		.count = 2,
		.name = strcmp(path, "/") == 0 ? "" : path,
	};
}

static struct question
ask_path(struct asker *asker)
{
	static const struct {
		const char *word;
		uint8_t right;
	} rights[] = {
		{ "read", SBX_READ },
		{ "write", SBX_WRITE },
		{ "exec", SBX_EXEC },
	};
	size_t right = below(asker, countof(rights));
	struct question question = place_question(asker, rights[right].word);

	question.detail = rights[right].right;
	question.plain = plain_of_path;
	return question;
}

static struct question
ask_socket(struct asker *asker)
{
	struct question question = place_question(asker, "socket");

	question.plain = plain_of_socket;
	if (below(asker, 10) == 0) {
		question.words[1] = "${ssh-agent}";
		question.plain = plain_of_agent;
	}
	return question;
}

static struct question
ask_unseen(struct asker *asker)
{
	static const char *const parts[] = { "", "/hooks", "/hooks/pre-push",
		"/hooks/pre-push.sample", "/config", "/config.worktree",
		"/config/x", "/commondir", "/modules/m", "/modules/m/hooks",
		"/modules/m/config", "/worktrees/w/commondir", "/HEAD",
		"/rebase-merge/git-rebase-todo", "/rebase-merge",
		"/modules/a/b/config", "/worktrees/w/modules/m/hooks/x",
		"/refs/replace/a", "/info/exclude", "/branches/x/y" };
	struct question question = place_question(asker, "unseen");
	const struct rule *rule = any_rule(asker, KIND_WATCH);

	if (rule != NULL && below(asker, 2) == 0) {
		question.name = arena_printf(asker->arena, "%s%s%s",
		    plain_bind(asker->plain, rule->path.at),
		    below(asker, 5) == 0 ? "" : "/.git", ANY(asker, parts));
		question.words[1] = question.name[0] != '\0' ? question.name :
							       "/";
	}
	question.plain = plain_of_unseen;
	return question;
}

/* --- the network ---------------------------------------------------------- */

static bool
plain_of_port(const struct plain *plain, const struct question *question)
{
	return plain_port(plain, (enum sbx_port_op)question->detail,
	    question->port);
}

static bool
plain_of_domain(const struct plain *plain, const struct question *question)
{
	return plain_domain(plain, question->name, question->port,
	    question->detail != 0);
}

static bool
plain_of_endpoint(const struct plain *plain, const struct question *question)
{
	return plain_endpoint(plain, question->address, question->port);
}

/* A bound of some rule, or what is next to one. */
static uint16_t
any_port(struct asker *asker, uint16_t low, uint16_t high)
{
	static const uint16_t usual[] = { 1, 22, 80, 443, 444, 8080, 65535 };
	const uint16_t near[] = { low, high, (uint16_t)(low - 1),
		(uint16_t)(high + 1) };

	return low != 0 && below(asker, 4) > 0 ? ANY(asker, near) :
						 ANY(asker, usual);
}

static struct question
ask_port(struct asker *asker)
{
	static const char *const words[] = {
		[SBX_CONNECT_TCP] = "connect",
		[SBX_LISTEN_TCP] = "listen",
		[SBX_HOST_TCP] = "host",
		[SBX_PUBLISH_TCP] = "publish",
	};
	const struct rule *rule = any_rule(asker, KIND_PORT);
	struct question question = {
		.detail = (uint8_t)below(asker, countof(words)),
		.count = 3,
		.plain = plain_of_port,
	};

	if (rule != NULL && below(asker, 3) > 0)
		question.detail = rule->detail;
	question.port = rule == NULL ?
	    any_port(asker, 0, 0) :
	    any_port(asker, rule->port.low, rule->port.high);
	question.words[0] = words[question.detail];
	question.words[1] = "tcp";
	question.words[2] = arena_printf(asker->arena, "%u",
	    (unsigned)question.port);
	return question;
}

static struct question
ask_domain(struct asker *asker)
{
	const struct rule *rule = any_rule(asker, KIND_DOMAIN);
	const char *base = rule != NULL ? rule->domain.name : "example.org";
	const char *const near[] = {
		base,
		base,
		arena_printf(asker->arena, "a.%s", base),
		arena_printf(asker->arena, "b.a.%s", base),
		arena_printf(asker->arena, "a%s", base),
		strchr(base, '.') + 1,
		"nowhere.test",
	};
	struct question question = {
		.detail = below(asker, 4) == 0,
		.plain = plain_of_domain,
		.port = rule == NULL || rule->domain.port == 0 ?
		    any_port(asker, 0, 0) :
		    any_port(asker, rule->domain.port, rule->domain.port),
	};

	question.name = ANY(asker, near);
	if (strchr(question.name, '.') == NULL)
		question.name = base;
	if (question.port == 0)
		question.port = 443;
	question.words[question.count++] = "domain";
	if (question.detail)
		question.words[question.count++] = "private";
	question.words[question.count++] = arena_printf(asker->arena, "%s:%u",
	    question.name, (unsigned)question.port);
	return question;
}

/* An address of a rule's network, or one that is next to it. */
static struct question
ask_endpoint(struct asker *asker)
{
	static const char *const usual[] = { "10.0.0.5", "10.2.3.4", "1.1.1.1",
		"192.168.1.1", "fd00::1", "fd00::2", "2001:db8::1" };
	const struct rule *rule = any_rule(asker, KIND_ENDPOINT);
	struct question question = {
		.count = 2,
		.plain = plain_of_endpoint,
		.port = rule == NULL ?
		    any_port(asker, 0, 0) :
		    any_port(asker, rule->endpoint.low, rule->endpoint.high),
	};
	const char *text = ANY(asker, usual);
	struct host_net host = { 0 };

	if (question.port == 0)
		question.port = 443;
	host_net_parse(text, strlen(text), &host);
	memcpy(question.address, host.address, sizeof question.address);
	question.words[0] = "connect";
	question.words[1] = arena_printf(asker->arena,
	    strchr(text, ':') != NULL ? "[%s]:%u" : "%s:%u", text,
	    (unsigned)question.port);
	return question;
}

/* --- the rest ------------------------------------------------------------- */

static bool
plain_of_env(const struct plain *plain, const struct question *question)
{
	return plain_env(plain, question->name);
}

static bool
plain_of_spawn(const struct plain *plain, const struct question *question)
{
	(void)question;
	return plain_spawn(plain);
}

static bool
plain_of_call(const struct plain *plain, const struct question *question)
{
	return plain_call(plain, &plain_calls[question->port]);
}

static struct question
ask_env(struct asker *asker)
{
	static const char *const usual[] = { "PATH", "HOME", "LC_ALL", "CI",
		"A", "AB", "AXB", "ABC", "X_TOKEN", "_TOKEN", "LANG", "x\ty",
		"MY VAR", "SSH_AUTH_SOCK", "MY_TOKEN_", "LC_", "SBX",
		"SBX_LEVEL", "SBX_SESSION", "HTTPS_PROXY", "no_proxy" };
	static const char *const stars[] = { "", "Q", "_q", "AB" };
	const struct rule *rule = any_rule(asker, KIND_ENV);
	const struct rule *set = any_rule(asker, KIND_SET);
	const char *name = ANY(asker, usual), *pattern = NULL;

	if (set != NULL && below(asker, 4) == 0)
		name = set->set.name;
	else if (rule != NULL && below(asker, 2) == 0)
		pattern = rule->env.pattern;
	if (pattern != NULL)
		name = "";
	for (; pattern != NULL && *pattern != '\0'; pattern++)
		name = *pattern == '*' ?
		    arena_printf(asker->arena, "%s%s", name,
			ANY(asker, stars)) :
		    arena_printf(asker->arena, "%s%c", name, *pattern);
	/* The scratch directory has a word to say about this one. */
	if (*name == '\0' || strcmp(name, "TMPDIR") == 0)
		name = "TMP";
	return (struct question){
		.words = { "env", name },
		.count = 2,
		.name = name,
		.plain = plain_of_env,
	};
}

static struct question
ask_spawn(struct asker *asker)
{
	(void)asker;
	return (struct question){
		.words = { "spawn" },
		.count = 1,
		.plain = plain_of_spawn,
	};
}

static struct question
ask_call(struct asker *asker)
{
	size_t call = below(asker, plain_call_count);

	return (struct question){
		.words = { "syscall", plain_calls[call].name },
		.count = 2,
		.plain = plain_of_call,
		.port = (uint16_t)call,
	};
}

/* Of files, a filter of system calls knows nothing. */
static bool
question_happens(const struct asker *asker, const struct question *question)
{
	struct plain plain = *asker->plain;

	plain.held = true;
	return question->plain == plain_of_path &&
	    (plain.layout->level < SBX_LEVEL_STANDARD ||
		plain_of_path(&plain, question));
}

/* Each as often as it stands here; of macOS only the first ones are asked. */
struct question
question_make(struct asker *asker)
{
	static struct question (*const makers[])(struct asker *) = {
		ask_path,
		ask_path,
		ask_path,
		ask_path,
		ask_path,
		ask_path,
		ask_path,
		ask_path,
		ask_path,
		ask_path,
		ask_socket,
		ask_env,
		ask_unseen,
		ask_port,
		ask_domain,
		ask_endpoint,
		ask_call,
		ask_spawn,
	};
	enum { ON_MACOS = 11 };
	bool macos = asker->plain->layout->platforms == SBX_ON_MACOS;
	struct question question =
	    makers[below(asker, macos ? ON_MACOS : countof(makers))](asker);

	question.allowed = question.plain(asker->plain, &question);
	question.happens = question.allowed ||
	    question_happens(asker, &question);
	return question;
}

bool
question_is_path(const struct question *question)
{
	return question->plain == plain_of_path;
}

const char *
question_text(struct arena *arena, const struct question *question)
{
	const char *text = question->allowed ? "allow" : "deny";

	for (size_t i = 0; i < question->count; i++)
		text = arena_printf(arena, "%s %s", text, question->words[i]);
	return text;
}

/* --- where ---------------------------------------------------------------- */

static const char *
bind_spot(const void *plain, struct target at)
{
	return plain_bind(plain, at);
}

void
asker_make(struct asker *asker, struct arena *arena, struct chance *chance,
    const struct plain *plain)
{
	*asker = (struct asker){
		.arena = arena,
		.chance = chance,
		.plain = plain,
		.spots = {
			.arena = arena,
			.bind = bind_spot,
			.context = plain,
		},
	};
	spots_add(&asker->spots, "/");
	spots_add(&asker->spots, "/nowhere/at/all");
	if (plain->layout->other_home != NULL)
		spots_add_around(&asker->spots, plain->layout->other_home);
	spots_collect(&asker->spots, plain->policy);
}

/* The anchors apart, in each other, at each other and among the constants. */
static const char *const places[][SBX_ANCHOR_PARAM + 1] = {
	{ "", "/home/ada/src/app", "/home/ada", "/tmp/sbx/${tmp}",
	    "/run/user/1000", "/params" },
	{ "", "/srv", "/home/ada", "/tmp/sbx/${tmp}", "/srv/a/b", "/srv/a" },
	{ "", "/home/ada", "/home/ada", "/tmp/sbx/${tmp}", "/home/ada/x",
	    "/home/ada/x/y" },
	{ "", "/home/ada/x/y", "/srv", "/tmp/sbx/${tmp}", "/run/user/0",
	    "/srv/with blank" },
	{ "", "/srv/a*b", "/srv/a", "/tmp/sbx/${tmp}", "/etc/x",
	    "/home/q\"\\t" },
	{ "", "/tmp/x", "/tmp/x/h", "/tmp/sbx/${tmp}", "/tmp/x/r", "/var" },
	{ "", "/srv/\xc3\xa9", "/srv/\xc3\xa9/h", "/tmp/sbx/${tmp}", "/usr/x",
	    "/srv/\xc3\xa9/h" },
};

static void
bind_params(struct arena *arena, struct layout *layout,
    const struct policy *policy, const char *at)
{
	for (size_t i = 0; i < policy->params.count; i++)
		layout->anchors[SBX_ANCHOR_PARAM + i] = i == 0 ?
		    at :
		    arena_printf(arena, "%s/%zu", at, i);
}

struct layout
layout_make(struct arena *arena, struct chance *chance,
    const struct policy *policy)
{
	static const char *const homes[] = { "/home/entry", "/srv/a", "/home",
		"/srv" };
	const char *const *row = places[chance_below(chance, countof(places))];
	enum sbx_level least = policy->level > SBX_LEVEL_MINIMAL ?
	    policy->level :
	    SBX_LEVEL_MINIMAL;
	struct layout layout = {
		.platforms = arches[chance_below(chance, arch_count)].platforms,
		.level = (enum sbx_level)(
		    least + chance_below(chance, SBX_LEVEL_FULL - least + 1)),
	};
	int oldest = layout.level == SBX_LEVEL_FULL ? 4 : 1;

	for (size_t i = 0; i < SBX_ANCHOR_PARAM; i++)
		layout.anchors[i] = row[i];
	bind_params(arena, &layout, policy, row[SBX_ANCHOR_PARAM]);
	if (chance_percent(chance, 25))
		layout.other_home = homes[chance_below(chance, countof(homes))];
	if (layout.other_home != NULL &&
	    strcmp(layout.other_home, layout.anchors[SBX_ANCHOR_HOME]) == 0)
		layout.other_home = NULL;
	if (chance_percent(chance, 15))
		layout.platforms = SBX_ON_MACOS;
	if (policy->landlock > oldest)
		oldest = policy->landlock;
	layout.abi = oldest + (int)chance_below(chance, (size_t)(11 - oldest));
	return layout;
}
