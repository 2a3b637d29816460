/*
 * What `sbxc why --denials` answers about a denial: the rule that decided, where
 * it is, and the steps that would allow it.  Nothing is asked of this machine.
 */
#include "compiler/query/query.h"
#include "compiler/read/read.h"
#include "format/protocol.h"
#include "tests/lib/tap.h"

#include <errno.h>

enum { SOCKET = 41, EXECVE = 59, INET = 2, STREAM = 1 };

static const struct advice_case {
	const char *rules;
	struct sbx_denial denial;
	const char *answer; /* "rule (place): step; step" */
} cases[] = {
	/* A question for a name, of which nobody knows for whom. */
	{ "allow network loopback",
	    { .kind = SBX_DENIED_ADDRESS,
		.source = SBX_NO_SOURCE,
		.port = 53,
		.program = "npm",
		.path = "192.0.2.1" },
	    ": use registries; the hosts of all package managers, where "
	    "others publish what they like, and it may be sent to" },
	{ "allow network loopback",
	    { .kind = SBX_DENIED_ADDRESS,
		.source = SBX_NO_SOURCE,
		.port = 53,
		.program = "npm install",
		.path = "192.0.2.1" },
	    ": use registries; the hosts of all package managers, where "
	    "others publish what they like, and it may be sent to" },
	{ "allow network loopback",
	    { .kind = SBX_DENIED_ADDRESS,
		.source = SBX_NO_SOURCE,
		.port = 53,
		.program = "npmx",
		.path = "192.0.2.1" },
	    ": 'allow network domain NAME', of the host whose name it looked "
	    "up "
	    "[no help]" },
	{ "allow network loopback",
	    { .kind = SBX_DENIED_ADDRESS,
		.source = SBX_NO_SOURCE,
		.port = 53,
		.program = "np",
		.path = "192.0.2.1" },
	    ": 'allow network domain NAME', of the host whose name it looked "
	    "up "
	    "[no help]" },
	{ "allow network loopback",
	    { .kind = SBX_DENIED_ADDRESS,
		.source = SBX_NO_SOURCE,
		.port = 443,
		.program = "npm",
		.path = "192.0.2.1" },
	    ": allow network connect 192.0.2.1:443" },
	{ "allow network loopback",
	    { .kind = SBX_DENIED_ADDRESS,
		.source = SBX_NO_SOURCE,
		.port = 53,
		.program = "npm",
		.path = "2001:db8::1" },
	    ": use registries; the hosts of all package managers, where "
	    "others publish what they like, and it may be sent to" },
	{ "allow network domain a.example",
	    { .kind = SBX_DENIED_NAME,
		.source = SBX_NO_SOURCE,
		.port = 443,
		.program = "npm",
		.path = "b.example" },
	    ": allow network domain b.example" },
	{ "allow read /usr",
	    { .kind = SBX_DENIED_CALL,
		.source = SBX_NO_SOURCE,
		.number = SOCKET,
		.args = { INET, STREAM, 0 },
		.program = "npm",
		.path = "" },
	    "network: use registries; the hosts of all package managers, "
	    "where others publish what they like, and it may be sent to" },
	{ "allow read /usr",
	    { .kind = SBX_DENIED_CALL,
		.source = SBX_NO_SOURCE,
		.number = SOCKET,
		.args = { INET, STREAM, 0 },
		.program = "curl",
		.port = 443,
		.path = "a.example" },
	    ": allow network domain a.example" },
	{ "allow read /usr",
	    { .kind = SBX_DENIED_CALL,
		.source = SBX_NO_SOURCE,
		.number = SOCKET,
		.args = { INET, STREAM, 0 },
		.program = "psql",
		.path = "localhost" },
	    "network: 'allow network host tcp PORT', with the service's "
	    "own port for PORT, which the command line does not say [no "
	    "help]" },
	{ "allow read /usr",
	    { .kind = SBX_DENIED_CALL,
		.source = SBX_NO_SOURCE,
		.number = SOCKET,
		.args = { INET, STREAM, 0 },
		.program = "psql",
		.port = 5432,
		.path = "127.0.0.1" },
	    ": allow network host tcp 5432" },
	{ "allow read /usr",
	    { .kind = SBX_DENIED_CALL,
		.source = SBX_NO_SOURCE,
		.number = SOCKET,
		.args = { INET, STREAM, 0 },
		.program = "getent",
		.path = "a.example" },
	    ": allow network domain a.example" },
	{ "deny spawn",
	    { .kind = SBX_DENIED_CALL,
		.source = SBX_NO_SOURCE,
		.number = EXECVE,
		.program = "sh",
		.path = "" },
	    "deny spawn (p.sbx:3:6): take away: deny spawn at p.sbx:3:6" },
	/* Paths. */
	{ "allow write /srv\ndeny read /srv/x",
	    { .kind = SBX_DENIED_READ,
		.source = SBX_NO_SOURCE,
		.program = "cat",
		.path = "/srv/x" },
	    "deny read /srv/x (p.sbx:4:11): take away: deny read /srv/x "
	    "at p.sbx:4:11" },
	{ "allow read /usr",
	    { .kind = SBX_DENIED_READ,
		.source = SBX_NO_SOURCE,
		.names = 3,
		.program = "ls",
		.path = "/srv/d/*" },
	    ": allow read /srv/d" },
	{ "allow read /usr",
	    { .kind = SBX_DENIED_WRITE,
		.source = SBX_NO_SOURCE,
		.replaced = 1,
		.program = "sed",
		.path = "/srv/d/file" },
	    ": allow write /srv/d" },
	/* It is allowed, but a rule makes it impossible there. */
	{ "allow write /srv\ndeny write /srv/x",
	    { .kind = SBX_DENIED_WRITE,
		.source = 1,
		.program = "touch",
		.path = "/srv/new" },
	    "deny write /srv/x: level full; below it nothing can be made "
	    "or removed beside a place that a rule denies, unless it says "
	    "'prefer deny' [allowed]" },
	{ "allow read /usr",
	    { .kind = SBX_DENIED_LISTEN,
		.source = SBX_NO_SOURCE,
		.port = 8080,
		.program = "node",
		.path = "" },
	    ": allow network listen tcp 8080; 'allow network loopback', "
	    "if only programs of the same sandbox are to connect" },
	{ "allow network domain a.example",
	    { .kind = SBX_DENIED_HOST,
		.source = SBX_NO_SOURCE,
		.port = 5432,
		.program = "psql",
		.path = "127.0.0.1" },
	    ": allow network host tcp 5432" },
};

/* The blob of a profile of these rules; false if there is an error. */
static bool
compile_rules(struct arena *arena, const char *rules, struct sbx_blob *blob)
{
	struct compilation compilation;
	struct source *source;
	struct image image;
	char *text = arena_printf(arena, "sbx 1\nprofile p {\n%s\n}\n", rules);

	compilation_init(&compilation, arena);
	source = sources_add(&compilation.sources, "p.sbx", text, strlen(text),
	    (struct loc){ 0, 0 });
	compilation_parse(&compilation, source);
	compilation.file = source;
	return compile(&compilation, NULL, &image) &&
	    sbx_verify(image.bytes, image.size, blob) == SBX_BLOB_OK;
}

static bool
answer(const struct subject *subject, const struct sbx_denial *denial,
    struct sbx_advice *advice)
{
	struct sbx_explained head = { .count = 1 };
	struct denials denials;
	FILE *from = tmpfile();
	bool good = from != NULL && fwrite(&head, sizeof head, 1, from) == 1 &&
	    fwrite(denial, sizeof *denial, 1, from) == 1;

	if (!good)
		return false;
	rewind(from);
	good = denials_read(subject, from, &denials);
	if (good)
		*advice = denials.advice[0];
	fclose(from);
	return good;
}

static const char *
advice_text(struct arena *arena, const struct sbx_advice *advice)
{
	const char *text = arena_printf(arena, "%s%s%s%s:", advice->rule,
	    *advice->source != '\0' ? " (" : "", advice->source,
	    *advice->source != '\0' ? ")" : "");

	for (uint32_t i = 0; i < advice->count; i++)
		text = arena_printf(arena, "%s%s %s", text, i > 0 ? ";" : "",
		    advice->steps[i]);
	return arena_printf(arena, "%s%s", text,
	    advice->works       ? "" :
		advice->allowed ? " [allowed]" :
				  " [no help]");
}

static void
try_case(struct tap *tap, const struct advice_case *test)
{
	struct arena *arena = arena_new();
	struct subject subject = { .arch = &arches[0],
		.level = SBX_LEVEL_FULL,
		.enforced = true };
	struct sbx_advice advice;
	struct sbx_blob blob;
	const char *text = "no answer";

	if (compile_rules(arena, test->rules, &blob)) {
		places_init(&subject.places, arena, &blob, "/w", "/h");
		if (answer(&subject, &test->denial, &advice))
			text = advice_text(arena, &advice);
	}
	if (!tap_ok(tap, strcmp(text, test->answer) == 0, "%s, %s: %s",
		test->denial.program, test->denial.path, test->answer))
		printf("# got: %s\n", text);
	arena_release(arena);
}

/* A record that no supervisor writes ends the answers. */
static void
try_bad(struct tap *tap)
{
	struct sbx_denial kind = { .kind = SBX_DENIED_END };
	struct sbx_denial path = { .kind = SBX_DENIED_READ };
	const struct sbx_denial *const bad[] = { &kind, &path };
	struct subject subject = { .level = SBX_LEVEL_FULL };
	struct sbx_advice advice;

	subject.places.arena = arena_new();
	memset(path.path, 'x', sizeof path.path);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		errno = 0;
		tap_ok(tap,
		    !answer(&subject, bad[i], &advice) && errno == EINVAL,
		    i == 0 ? "an unknown kind" : "a path without an end");
	}
	arena_release(subject.places.arena);
}

int
main(void)
{
	struct tap tap = { 0 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		try_case(&tap, &cases[i]);
	try_bad(&tap);
	return tap_done(&tap);
}
