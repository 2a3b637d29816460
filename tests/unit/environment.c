/*
 * The environment of a command (runtime/apply/environment.c): which of the caller's
 * variables it gets, what is set beside them, what wins, and that it all lies in
 * the room that was asked for.
 */
#include "runtime/apply/apply.h"

#include "runtime/base/kernel.h"
#include "tests/lib/tap.h"

#define countof(array) (sizeof(array) / sizeof *(array))
#define PROXY "http://127.0.0.1:3128"
#define DIRECT "localhost,127.0.0.1,::1"

enum { TEXT_MAX = 2048, MARK = 0x5a, BEHIND = 64 };

static struct tap tap;
static char strings[256];
static uint32_t strings_used = 1;
static struct sbx_meta meta;
static struct sbx_anchor anchors[SBX_MAX_ANCHORS];
static struct sbx_env env[8];
static struct sbx_set sets[8];
static struct sbx_blob blob = { .meta = &meta,
	.strings = strings,
	.anchors = anchors,
	.env = env,
	.set = sets };
static struct sbx_place places[SBX_MAX_ANCHORS];
static bool bound[SBX_MAX_ANCHORS];
static struct environment_rules rules = { .blob = &blob,
	.anchors = places,
	.bound = bound };
static struct environment environment;

static uint32_t
string(const char *text)
{
	uint32_t at = strings_used;

	strcpy(strings + at, text);
	strings_used += (uint32_t)strlen(text) + 1;
	return at;
}

static void
allow(const char *pattern, uint8_t effect, uint8_t platforms)
{
	env[blob.env_count++] = (struct sbx_env){ .pattern = string(pattern),
		.effect = effect,
		.platforms = platforms };
}

static void
set(const char *name, const char *text, uint16_t anchor, uint8_t platforms)
{
	sets[blob.set_count++] = (struct sbx_set){ .name = string(name),
		.text = string(text),
		.anchor = anchor,
		.platforms = platforms };
}

static void
begin(void)
{
	strings_used = 1;
	meta = (struct sbx_meta){ .profile = string("p") };
	memset(anchors, 0, sizeof anchors);
	memset(bound, 0, sizeof bound);
	blob.env_count = blob.set_count = blob.proxy_count = 0;
	rules.agent = (struct sbx_place){ "", 0 };
	rules.level = rules.session = NULL;
	places[SBX_ANCHOR_HOME] = (struct sbx_place){ "/home/a/b", 7 };
	places[SBX_ANCHOR_TMP] = (struct sbx_place){ "/tmp/x", 6 };
}

/* All variables, with blanks; or what is wrong. */
static const char *
made_of(const char *const *callers)
{
	static char text[TEXT_MAX];
	static _Alignas(char *) char room[2 * TEXT_MAX];
	size_t size = environment_room(&rules, (char *const *)callers),
	       used = 0;

	memset(room, MARK, sizeof room);
	environment = (struct environment){ 0 };
	environment_fill(&environment, room, &rules, (char *const *)callers);
	for (size_t i = size; i < size + BEHIND; i++) {
		if (room[i] != MARK)
			return "it is written behind its room";
	}
	if (environment.variables[environment.count] != NULL)
		return "it does not end";
	*text = '\0';
	for (uint32_t i = 0; i < environment.count; i++)
		used += (size_t)snprintf(text + used, sizeof text - used,
		    "%s%s", i == 0 ? "" : " ", environment.variables[i]);
	return text;
}

static void
is(const char *what, const char *const *callers, const char *wanted,
    uint32_t dropped)
{
	const char *got = made_of(callers);

	if (!tap_ok(&tap,
		strcmp(got, wanted) == 0 && environment.dropped == dropped,
		"%s", what))
		printf("# '%s', %u\n# instead of '%s', %u\n", got,
		    (unsigned)environment.dropped, wanted, (unsigned)dropped);
}

static void
callers(void)
{
	static const char *const given[] = { "A=1", "AB=2", "B=3", "A=4",
		"EMPTY=", "ODD", NULL },
				 *const none[] = { NULL };

	begin();
	is("nothing", none, "SBX=p", 0);
	is("nothing is allowed", given, "SBX=p", 6);
	allow("A", SBX_ALLOW, 0xff);
	is("one, twice", given, "A=1 A=4 SBX=p", 4);
	allow("EMPTY", SBX_ALLOW, 0xff);
	allow("B", SBX_ALLOW, 0);
	is("an empty one, and one for another machine", given,
	    "A=1 A=4 EMPTY= SBX=p", 3);
	allow("A*", SBX_ALLOW, 0xff);
	allow("AB", SBX_DENY, 0xff);
	is("a pattern with a denial", given, "A=1 A=4 EMPTY= SBX=p", 3);
	tap_ok(&tap,
	    strcmp(environment_get(&environment, "A"), "1") == 0 &&
		strcmp(environment_get(&environment, "EMPTY"), "") == 0 &&
		environment_get(&environment, "E") == NULL &&
		environment_get(&environment, "EMPTYS") == NULL &&
		environment_get(&environment, "B") == NULL,
	    "a variable is found");
	meta.flags = SBX_EVERYTHING;
	is("everything that is not denied", given,
	    "A=1 B=3 A=4 EMPTY= ODD SBX=p", 1);
}

static void
what_is_set(void)
{
	static const char *const given[] = { "A=1", "HOME=/h", "A=2",
		"TMPDIR=/t", "SSH_AUTH_SOCK=/s", "SBX=x", "SBX_LEVEL=y",
		"SBX_SESSION=z", NULL },
				 *const none[] = { NULL };

	begin();
	allow("*", SBX_ALLOW, 0xff);
	set("A", "ours", SBX_NO_ANCHOR, 0xff);
	set("AA", "", SBX_NO_ANCHOR, 0xff);
	set("B", "none", SBX_NO_ANCHOR, 0);
	set("HOME", "/sub", SBX_ANCHOR_HOME, 0xff);
	is("a set replaces each of the caller's", given,
	    "HOME=/h TMPDIR=/t SSH_AUTH_SOCK=/s SBX_LEVEL=y SBX_SESSION=z "
	    "A=ours AA= SBX=p",
	    0);
	bound[SBX_ANCHOR_HOME] = true;
	is("at an anchor", none, "A=ours AA= HOME=/home/a/sub SBX=p", 0);
	anchors[SBX_ANCHOR_TMP].flags = SBX_ANCHOR_USED;
	is("the scratch directory", given,
	    "SSH_AUTH_SOCK=/s SBX_LEVEL=y SBX_SESSION=z TMPDIR=/tmp/x A=ours "
	    "AA= HOME=/home/a/sub SBX=p",
	    0);
	rules.agent = (struct sbx_place){ "/agent/x", 6 };
	rules.level = "full";
	rules.session = "one";
	is("the agent, the level and the session", given,
	    "TMPDIR=/tmp/x A=ours AA= HOME=/home/a/sub SSH_AUTH_SOCK=/agent "
	    "SBX=p SBX_LEVEL=full SBX_SESSION=one",
	    0);
	set("TMPDIR", "/other", SBX_NO_ANCHOR, 0xff);
	set("SSH_AUTH_SOCK", "/other", SBX_NO_ANCHOR, 0xff);
	set("SBX", "other", SBX_NO_ANCHOR, 0xff);
	set("SBX_LEVEL", "other", SBX_NO_ANCHOR, 0xff);
	is("what a policy may set itself", none,
	    "A=ours AA= HOME=/home/a/sub TMPDIR=/other SSH_AUTH_SOCK=/agent "
	    "SBX=p SBX_LEVEL=full SBX_SESSION=one",
	    0);
}

static void
proxies(void)
{
	static const struct sbx_proxy proxy = { .anchor = SBX_NO_ANCHOR,
		.port = 1,
		.platforms = 0xff };
	static const char *const given[] = { "https_proxy=http://other",
		"PROXY=1", NULL };

	begin();
	allow("*", SBX_ALLOW, 0xff);
	blob.proxies = &proxy;
	blob.proxy_count = 1;
	is("no way out", given, "https_proxy=http://other PROXY=1 SBX=p", 0);
	meta.net = SBX_NET_SELECTED;
	set("ALL_PROXY", "ours", SBX_NO_ANCHOR, 0xff);
	is("a way out", given,
	    "PROXY=1 HTTP_PROXY=" PROXY " HTTPS_PROXY=" PROXY
	    " NO_PROXY=" DIRECT " http_proxy=" PROXY " https_proxy=" PROXY
	    " all_proxy=" PROXY " no_proxy=" DIRECT
	    " NODE_USE_ENV_PROXY=1 RSYNC_PROXY=127.0.0.1:3128 ALL_PROXY=ours "
	    "SBX=p",
	    0);
	/* As many as there can be. */
	anchors[SBX_ANCHOR_TMP].flags = SBX_ANCHOR_USED;
	rules.agent = (struct sbx_place){ "/agent", 6 };
	rules.level = "full";
	rules.session = "one";
	blob.set_count = 0;
	is("all at once", (const char *const[]){ "A=1", "B=2", NULL },
	    "A=1 B=2 TMPDIR=/tmp/x HTTP_PROXY=" PROXY " HTTPS_PROXY=" PROXY
	    " ALL_PROXY=" PROXY " NO_PROXY=" DIRECT " http_proxy=" PROXY
	    " https_proxy=" PROXY " all_proxy=" PROXY " no_proxy=" DIRECT
	    " NODE_USE_ENV_PROXY=1 RSYNC_PROXY=127.0.0.1:3128 "
	    "SSH_AUTH_SOCK=/agent SBX=p SBX_LEVEL=full SBX_SESSION=one",
	    0);
}

int
main(void)
{
	callers();
	what_is_set();
	proxies();
	return tap_done(&tap);
}
