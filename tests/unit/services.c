/*
 * Where services may listen (runtime/bind/services.c): in no place where programs
 * and what belongs to them lie, and in every other one.
 */
#include "runtime/bind/bind.h"

#include "runtime/base/kernel.h"
#include "tests/lib/tap.h"

#include <sys/socket.h>

#define countof(array) (sizeof(array) / sizeof *(array))
#define HOME "/home/somebody"
#define SCRATCH "/tmp/sbx-1/scratch"

static struct sbx_place
place(const char *path)
{
	return (struct sbx_place){ path, (uint32_t)strlen(path) };
}

/* What one allow shows; the descriptor is that of what is there, or -1. */
struct shown {
	const char *path;
	uint8_t rights;
	int fd;
	enum rule_state state;
	bool homeless;
};

static bool
shows(const struct shown *shown, bool written)
{
	static struct arena arena;
	struct sbx_rule rule = { .at = place(shown->path),
		.effect = SBX_ALLOW,
		.rights = shown->rights };
	struct site site = { .fd = shown->fd, .state = shown->state };
	struct binding binding = { .rules = &rule,
		.sites = &site,
		.rule_count = 1,
		.scratch = place(SCRATCH) };

	arena.used = 0;
	binding.anchors[SBX_ANCHOR_HOME] = place(HOME);
	binding.bound[SBX_ANCHOR_HOME] = !shown->homeless;
	binding.index = rule_index_make(&arena, &rule, 1);
	return bind_shows_services(&binding, written);
}

static bool
is_read(const char *path)
{
	return shows(&(struct shown){ .path = path,
			 .rights = SBX_READ,
			 .fd = -1,
			 .state = RULE_READY },
	    false);
}

/* Each of them, what is in it, and what only begins alike. */
static void
places(struct tap *tap)
{
	static const char *const quiet[] = { "/bin", "/dev", "/etc",
		"/gnu/store", "/home/linuxbrew/.linuxbrew", "/lib", "/lib32",
		"/lib64", "/libx32", "/nix/store", "/opt", "/proc", "/sbin",
		"/sys", "/usr", "/var/cache", "/var/lib/aspell",
		"/var/lib/dpkg", "/var/lib/texmf", HOME "/.cache/node",
		HOME "/.cargo", HOME "/.config/git", HOME "/.m2", HOME "/.pip",
		HOME "/.vim", HOME "/.yarn" };
	static const char *const others[] = { "/run", "/var", "/var/lib",
		"/home", "/gnu", "/nix", "/home/linuxbrew", HOME "/.cache",
		HOME "/.config", HOME, "/srv", "", "/.cargo",
		"/home/other/.cargo", HOME "/usr" };
	char path[64];

	for (size_t i = 0; i < countof(quiet); i++) {
		snprintf(path, sizeof path, "%s/in/it", quiet[i]);
		tap_ok(tap, !is_read(quiet[i]) && !is_read(path),
		    "nothing listens in %s", quiet[i]);
		snprintf(path, sizeof path, "%s-other", quiet[i]);
		tap_ok(tap, is_read(path), "but in %s", path);
	}
	for (size_t i = 0; i < countof(others); i++)
		tap_ok(tap, is_read(others[i]), "somebody may in '%s'",
		    others[i]);
}

static void
kinds(struct tap *tap)
{
	int file = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	int directory = open("/", O_PATH | O_CLOEXEC);
	int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const struct {
		const char *name;
		struct shown shown;
		bool read, written;
	} cases[] = {
		{ "what is read", { "/a", SBX_READ, -1, RULE_READY, false },
		    true, false },
		{ "what is written",
		    { "/a", SBX_READ | SBX_WRITE, -1, RULE_READY, false },
		    false, true },
		{ "no right", { "/a", 0, -1, RULE_READY, false }, false,
		    false },
		{ "what is not there",
		    { "/a", SBX_READ, -1, RULE_ABSENT, false }, false, false },
		{ "a directory",
		    { "/a", SBX_READ, directory, RULE_READY, false }, true,
		    false },
		{ "a file", { "/a", SBX_READ, file, RULE_READY, false }, false,
		    false },
		{ "a socket", { "/a", SBX_READ, server, RULE_READY, false },
		    true, false },
		{ "a toolchain",
		    { HOME "/go", SBX_READ | SBX_EXEC, -1, RULE_READY, false },
		    false, false },
		{ "all of home",
		    { HOME, SBX_READ | SBX_EXEC, -1, RULE_READY, false }, true,
		    false },
		{ "a toolchain elsewhere",
		    { "/go", SBX_READ | SBX_EXEC, -1, RULE_READY, false }, true,
		    false },
		{ "without a home",
		    { HOME "/.cargo", SBX_READ, -1, RULE_READY, true }, true,
		    false },
		{ "the scratch directory",
		    { SCRATCH, SBX_READ | SBX_WRITE, -1, RULE_READY, false },
		    false, false },
		{ "beside it",
		    { SCRATCH "2", SBX_READ | SBX_WRITE, -1, RULE_READY,
			false },
		    false, true },
	};

	for (size_t i = 0; i < countof(cases); i++)
		tap_ok(tap,
		    shows(&cases[i].shown, false) == cases[i].read &&
			shows(&cases[i].shown, true) == cases[i].written,
		    "%s", cases[i].name);
	close(file);
	close(directory);
	close(server);
}

/* A denial is none, and does not hide what is allowed after it. */
static void
several(struct tap *tap)
{
	static struct arena arena;
	struct sbx_rule rules[] = {
		{ .at = place("/a"), .effect = SBX_DENY, .rights = SBX_READ },
		{ .at = place("/usr"),
		    .effect = SBX_ALLOW,
		    .rights = SBX_READ },
		{ .at = place("/b"), .effect = SBX_ALLOW, .rights = SBX_READ },
	};
	struct site sites[] = { { .fd = -1, .state = RULE_READY },
		{ .fd = -1, .state = RULE_READY },
		{ .fd = -1, .state = RULE_READY } };
	struct binding binding = { .rules = rules, .sites = sites };

	for (uint32_t count = 0; count <= countof(rules); count++) {
		binding.rule_count = count;
		binding.index = rule_index_make(&arena, rules, count);
		tap_ok(tap,
		    bind_shows_services(&binding, false) ==
			(count == countof(rules)),
		    "of %u rules", (unsigned)count);
	}
}

int
main(void)
{
	struct tap tap = { 0 };

	places(&tap);
	kinds(&tap);
	several(&tap);
	return tap_done(&tap);
}
