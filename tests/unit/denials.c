/*
 * The distinct denials of --explain: what is counted together, in which order it
 * is kept, and what is said when there is no more room.
 */
#include "runtime/base/unsteady.h"
#include "runtime/explain/explain.h"
#include "tests/lib/tap.h"

#include <string.h>

static struct tap tap;
static struct explaining explaining;
static const struct sbx_blob blob;

bool
unsteady_place(struct sbx_place at)
{
	(void)at;
	return false;
}

/* A denial of a kind, in `count` calls. */
static struct sbx_denial
denial(enum sbx_denied kind, const char *path)
{
	struct sbx_denial made = { .kind = kind, .source = SBX_NO_SOURCE };

	snprintf(made.path, sizeof made.path, "%s", path);
	return made;
}

static bool
add(struct sbx_denial made)
{
	return explain_add(&explaining, &made) != NULL;
}

static bool
add_read(const char *path)
{
	return add(denial(SBX_DENIED_READ, path));
}

/* "PATH COUNT NAMES" of each, with commas. */
static const char *
kept(void)
{
	static char text[4096];
	size_t used = 0;

	*text = '\0';
	for (uint32_t i = 0; i < explaining.count; i++) {
		const struct sbx_denial *at = &explaining.denials[i];

		used += (size_t)snprintf(text + used, sizeof text - used,
		    "%s%s %u %u", i > 0 ? ", " : "", at->path, at->count,
		    at->names);
	}
	return text;
}

static void
is(const char *what, const char *wanted)
{
	if (!tap_ok(&tap, strcmp(kept(), wanted) == 0, "%s", what))
		printf("# '%s' instead of '%s'\n", kept(), wanted);
	explaining.count = 0;
}

static void
check_same(void)
{
	struct sbx_denial one = denial(SBX_DENIED_READ, "/a/x");

	tap_ok(&tap, add(one) && !add(one), "a known one is not told again");
	one.source = 7;
	one.count = 3;
	add(one);
	tap_ok(&tap, explaining.denials->source == 7,
	    "a rule that comes to be known is kept");
	one.source = 8;
	add(one);
	tap_ok(&tap, explaining.denials->source == 7, "and stays");
	one.probe = 1;
	add(one);
	add(denial(SBX_DENIED_WRITE, "/a/x"));
	is("another kind, or a look, is another one",
	    "/a/x 8 0, /a/x 3 0, /a/x 1 0");
}

/* What has a number, or a host, and no path. */
static void
check_others(void)
{
	struct sbx_denial call = denial(SBX_DENIED_CALL, "");
	struct sbx_denial host = denial(SBX_DENIED_NAME, "one.example");
	struct sbx_denial port = denial(SBX_DENIED_CONNECT, "");

	for (int i = 0; i < 4; i++) {
		call.number = i / 2;
		call.args[SBX_DENIAL_ARGS - 1] = (uint32_t)i / 3;
		add(call);
	}
	is("calls with other numbers or arguments", " 2 0,  1 0,  1 0");
	for (int i = 0; i < 4; i++) {
		host.port = (uint16_t)(i / 2);
		host.verdict = (uint8_t)(i / 3);
		add(host);
	}
	snprintf(host.path, sizeof host.path, "two.example");
	add(host);
	is("hosts with other ports, verdicts or names",
	    "one.example 2 0, one.example 1 0, one.example 1 0, "
	    "two.example 1 0");
	for (int i = 0; i < 20; i++) {
		port.port = (uint16_t)(i / 2);
		add(port);
	}
	tap_ok(&tap, explaining.count == 10, "ports are no names");
	explaining.count = 0;
}

static void
check_random(void)
{
	add_read("/t/x.aB3dEf");
	tap_ok(&tap, !add_read("/t/x.Zq9Wpo"), "random names are one");
	is("with its length", "/t/x.XXXXXX 2 2");
	add_read("/t/x.aB3dEf");
	add_read("/t/x.Zq9Wpo");
	add_read("/t/x.Zq9Wpp");
	is("from then on it takes any", "/t/x.XXXXXX 3 3");
	add_read("/t/x.aaaaaa");
	add_read("/t/x.bbbaaa");
	is("three letters are no chance", "/t/x.aaaaaa 1 0, /t/x.bbbaaa 1 0");
	add_read("/t/x.aaaaaa");
	add_read("/t/x.bbbbaa");
	is("four are", "/t/x.XXXXXX 2 2");
	add_read("/t/x.aaaaaa");
	add_read("/t/y.bbbbbb");
	add_read("/t/x.bbbb.b");
	add_read("/t/x.ccccccc");
	add_read("/u/x.dddddd");
	is("another beginning, sign, length or directory",
	    "/t/x.aaaaaa 1 0, /t/y.bbbbbb 1 0, /t/x.bbbb.b 1 0, "
	    "/t/x.ccccccc 1 0, /u/x.dddddd 1 0");
	add_read("/t/x.bbbb.b");
	add_read("/t/x.aaaaaa");
	is("a sign in the first one", "/t/x.bbbb.b 1 0, /t/x.aaaaaa 1 0");
	for (const char *byte = "/:@[`{"; *byte != '\0'; byte++) {
		char path[] = "/t/aaaaa?";

		path[sizeof path - 2] = *byte;
		add_read("/t/bbbbbb");
		add_read(path);
		tap_ok(&tap, explaining.count == 2, "'%c' is no letter", *byte);
		explaining.count = 0;
	}
	add_read("/t/azAZ09");
	add_read("/t/09azAZ");
	is("letters and digits are", "/t/XXXXXX 2 2");
	add_read("/t/aaaaa");
	add_read("/t/bbbbb");
	is("too short a name", "/t/aaaaa 1 0, /t/bbbbb 1 0");
}

static void
check_directory(void)
{
	char path[32];

	add_read("/u/y");
	for (char name = 'a'; name <= 'h'; name++) {
		snprintf(path, sizeof path, "/t/%c", name);
		add_read(path);
	}
	add(denial(SBX_DENIED_WRITE, "/t/a"));
	add_read("/t/a");
	tap_ok(&tap, explaining.count == 10, "eight names are kept apart");
	tap_ok(&tap, !add_read("/t/i"), "the ninth is not told");
	tap_ok(&tap, !add_read("/t/j"), "nor is the tenth");
	is("they are one, in the place of the first",
	    "/u/y 1 0, /t/* 11 10, /t/a 1 0");
	add_read("/t/*");
	for (char name = 'a'; name <= 'f'; name++) {
		snprintf(path, sizeof path, "/t/%c", name);
		add_read(path);
	}
	is("a file that is called * is one of them",
	    "/t/* 1 0, /t/a 1 0, /t/b 1 0, /t/c 1 0, /t/d 1 0, /t/e 1 0, "
	    "/t/f 1 0");
	for (char name = 'a'; name <= 'g'; name++) {
		snprintf(path, sizeof path, "/t/%c", name);
		add_read(path);
	}
	add_read("/t/x.aaaaaa");
	add_read("/t/x.bbbbbb");
	add_read("/t/i");
	is("names that were one already count as many", "/t/* 10 10");
	add_read("/t/x.aaaaaa");
	add_read("/t/x.bbbbbb");
	for (char name = 'a'; name <= 'h'; name++) {
		snprintf(path, sizeof path, "/t/%c", name);
		add_read(path);
	}
	is("where these come first, too", "/t/* 10 10");
}

static void
check_room(void)
{
	char path[32];

	for (int i = 0; i < SBX_DENIALS_MAX; i++) {
		snprintf(path, sizeof path, "/%d/x", i);
		add_read(path);
	}
	tap_ok(&tap,
	    explaining.count == SBX_DENIALS_MAX && explaining.more == 0,
	    "all have room");
	tap_ok(&tap, !add_read("/one/more") && explaining.more == 1,
	    "one more is counted and not kept");
	tap_ok(&tap,
	    !add_read("/0/x") && explaining.more == 1 &&
		explaining.denials->count == 2,
	    "a known one is still counted");
	explaining.count = 0;
}

int
main(void)
{
	explain_begin(&explaining, &blob);
	check_same();
	check_others();
	check_random();
	check_directory();
	check_room();
	printf("1..%u\n", tap.count);
	return tap.failed > 0;
}
