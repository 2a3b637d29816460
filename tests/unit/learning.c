/*
 * What --learn keeps of what a command wanted (runtime/explain/learn.c): what is
 * one wish, which names are counted for their directory, and what is done when
 * there is no more room.
 */
#include "runtime/base/out.h"
#include "runtime/explain/explain.h"
#include "tests/lib/tap.h"

static struct tap tap;
static struct learning learning;

static struct wanted
wish(uint8_t kind, const char *text)
{
	return (struct wanted){ .kind = kind,
		.text = text,
		.len = (uint32_t)strlen(text) };
}

static struct wanted *
add(struct wanted wanted)
{
	return learn_add(&learning, &wanted);
}

static struct wanted *
add_read(const char *path)
{
	return add(wish(SBX_DENIED_READ, path));
}

/* "PATH COUNT" of each that was wanted, with commas; a star for further names. */
static const char *
kept(void)
{
	static char text[4096];
	size_t used = 0;

	*text = '\0';
	for (uint32_t i = 0; i < learning.count; i++) {
		const struct wanted *at = &learning.wishes[i];

		if (at->count > 0)
			used += (size_t)snprintf(text + used,
			    sizeof text - used, "%s%s%s %u",
			    used > 0 ? ", " : "", at->text,
			    at->below ? "*" : "", at->count);
	}
	return text;
}

static void
is(const char *what, const char *wanted)
{
	if (!tap_ok(&tap, strcmp(kept(), wanted) == 0, "%s", what))
		printf("# '%s' instead of '%s'\n", kept(), wanted);
	learn_begin(&learning);
}

static void
check_same(void)
{
	tap_ok(&tap, add_read("/a/x") != NULL && add_read("/a/x") == NULL,
	    "a known one is not told again");
	tap_ok(&tap, add_read("/a/y") != NULL, "another one is");
	is("each is counted", "/a/x 2, /a/y 1");
	add_read("/");
	add_read("/x");
	add_read("/x");
	is("in the root directory", "/ 1, /x 2");
	add(wish(SBX_DENIED_CALL, ""));
	add(wish(SBX_DENIED_ADDRESS, "10.0.0.1"));
	add(wish(SBX_DENIED_ADDRESS, "10.0.0.1"));
	is("what has no path", " 1, 10.0.0.1 2");
}

/* What makes another wish of the same text. */
static void
check_other(void)
{
	struct wanted one = wish(SBX_DENIED_READ, "/a/x");
	struct wanted others[8];

	for (int i = 0; i < 8; i++)
		others[i] = one;
	others[0].kind = SBX_DENIED_WRITE;
	others[1].denied = true;
	others[2].makes = true;
	others[3].probe = true;
	others[4].port = 1;
	others[5].number = 1;
	others[6].args[SBX_DENIAL_ARGS - 1] = 1;
	others[7].text = "/a/xy";
	others[7].len = 5;
	add(one);
	for (int i = 0; i < 8; i++)
		tap_ok(&tap, add(others[i]) != NULL && add(others[i]) == NULL,
		    "another one %d", i);
	one.error = 13;
	add(one);
	is("an errno is none",
	    "/a/x 2, /a/x 2, /a/x 2, /a/x 2, /a/x 2, /a/x 2, /a/x 2, "
	    "/a/x 2, /a/xy 2");
}

static void
check_names(void)
{
	struct wanted *further;
	char name[32];
	bool all = true;

	for (int i = 0; i < LEARN_SIBLINGS; i++) {
		snprintf(name, sizeof name, "/d/%d", i);
		all &= add_read(name) != NULL;
	}
	tap_ok(&tap, all, "as many names as are kept apart");
	further = add_read("/d/x");
	tap_ok(&tap,
	    further != NULL && further->below &&
		strcmp(further->text, "/d") == 0,
	    "the first of further names is told as its directory");
	tap_ok(&tap, add_read("/d/y") == NULL && further->count == 2,
	    "the next one is counted there");
	tap_ok(&tap, add_read("/d/7") == NULL && further->count == 2,
	    "one that is known is not");
	tap_ok(&tap, add(wish(SBX_DENIED_WRITE, "/d/x")) != NULL,
	    "of each right alone");
	tap_ok(&tap, add_read("/e/x") != NULL, "and of each directory");
	learn_begin(&learning);
	for (int i = 0; i < 2 * LEARN_SIBLINGS; i++) {
		snprintf(name, sizeof name, "/%d", i);
		all &= add_read(name) != NULL;
	}
	tap_ok(&tap, all, "the root directory has any names");
	for (int i = 0; i < 2 * LEARN_SIBLINGS; i++) {
		struct wanted call = wish(SBX_DENIED_CALL, "/d/x");

		call.number = i;
		all &= add(call) != NULL;
	}
	tap_ok(&tap, all, "what has no path has no directory");
	learn_begin(&learning);
}

/* Fills what is left with directories of their own. */
static void
fill(void)
{
	char name[32];

	for (int i = 0; learning.count < LEARN_MAX; i++) {
		snprintf(name, sizeof name, "/f%d", i);
		add_read(name);
	}
}

static void
check_full(void)
{
	struct wanted *above;

	add_read("/d/x");
	fill();
	above = add_read("/d/e/y");
	tap_ok(&tap,
	    above != NULL && above->below && strcmp(above->text, "/d") == 0,
	    "without room the nearest directory is told");
	tap_ok(&tap, add_read("/d/z/y") == NULL && above->count == 2,
	    "and counted");
	tap_ok(&tap, learning.lost == 0, "nothing is lost");
	tap_ok(&tap,
	    add_read("/g/x") == NULL &&
		add(wish(SBX_DENIED_CALL, "/d/x")) == NULL &&
		learning.lost == 2,
	    "but what has none");
	learn_begin(&learning);
}

/* The bytes may be used up before the number is. */
static void
check_bytes(void)
{
	static char name[4000];
	uint32_t before;

	memset(name, 'n', sizeof name - 1);
	name[0] = '/';
	for (int i = 0; LEARN_TEXT - learning.used > sizeof name; i++) {
		snprintf(name + 1, 12, "%06d", i);
		name[7] = 'n';
		add_read(name);
	}
	before = learning.count;
	name[1] = 'x';
	name[LEARN_TEXT - learning.used] = '\0';
	tap_ok(&tap, add_read(name) == NULL && learning.lost == 1,
	    "a name that is one byte too long");
	name[LEARN_TEXT - learning.used - 1] = '\0';
	tap_ok(&tap,
	    add_read(name) != NULL && learning.count == before + 1 &&
		learning.used == LEARN_TEXT,
	    "and one that is not");
}

int
main(void)
{
	learn_begin(&learning);
	check_same();
	check_other();
	check_names();
	check_full();
	check_bytes();
	return tap_done(&tap);
}
