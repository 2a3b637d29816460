/*
 * When a command's end is explained by the policy, in one line on a terminal
 * (runtime/watch/hint.c): it was not found where the caller's PATH leads, and no
 * rule lets it be.
 */
#include "runtime/watch/hint.h"
#include "runtime/base/out.h"
#include "runtime/base/path.h"
#include "runtime/explain/trail.h"
#include "tests/lib/tap.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOT_EXECUTED = 126 << 8, NOT_FOUND = 127 << 8, FAILED = 1 << 8 };

static struct tap tap;
static char top[] = "/var/tmp/sbx-hint-XXXXXX";
static bool terminal = true, leads = true;

int
isatty(int fd)
{
	return fd == STDERR_FILENO && terminal;
}

/* No link is on the way. */
bool
trail_follow(struct path *path, bool last)
{
	(void)path;
	return leads && last;
}

bool
decision_is_refusal(const struct proxy_event *event)
{
	return event->verdict != PROXY_ALLOWED;
}

static void
make_file(const char *name, mode_t mode)
{
	char path[128];
	int fd;

	snprintf(path, sizeof path, "%s/%s", top, name);
	fd = open(path, O_WRONLY | O_CREAT, mode);
	tap_must(fd >= 0 && close(fd) == 0, path);
}

/* --- a program ------------------------------------------------------------ */

static struct supervision supervision;

static bool
is_hidden(const char *path, const char *name, int status)
{
	char variable[256];
	char *variables[] = { NULL, NULL, NULL };
	char *command[] = { (char *)(uintptr_t)name, NULL };
	char **kept = environ;
	bool is;

	variables[0] = (char *)(uintptr_t) "PATHS=/";
	if (path != NULL) {
		snprintf(variable, sizeof variable, "PATH=%s", path);
		variables[1] = variable;
	}
	supervision.command = name != NULL ? command : NULL;
	environ = variables;
	is = hint_is_hidden(&supervision, status);
	environ = kept;
	return is;
}

static void
check_program(void)
{
	char path[128], both[160];

	snprintf(path, sizeof path, "%s/bin", top);
	snprintf(both, sizeof both, ":relative::/nonexistent:%s:", path);
	tap_ok(&tap, is_hidden(path, "tool", NOT_FOUND), "it was not found");
	tap_ok(&tap, is_hidden(path, "tool", NOT_EXECUTED), "or not executed");
	tap_ok(&tap, is_hidden(both, "tool", NOT_FOUND),
	    "in one of several directories");
	tap_ok(&tap, !is_hidden(path, "tool", FAILED), "it ran and failed");
	tap_ok(&tap, !is_hidden(path, "tool", 0), "it ran");
	tap_ok(&tap, !is_hidden(path, "tool", 9), "it was killed");
	tap_ok(&tap, !is_hidden(path, NULL, NOT_FOUND), "an unknown command");
	tap_ok(&tap, !is_hidden(path, "none", NOT_FOUND), "it is nowhere");
	tap_ok(&tap, !is_hidden(path, "text", NOT_FOUND), "it is no program");
	tap_ok(&tap, !is_hidden(path, "sub", NOT_FOUND), "nor a directory");
	tap_ok(&tap, !is_hidden(NULL, "tool", NOT_FOUND), "without a PATH");
	tap_ok(&tap, !is_hidden("relative", "tool", NOT_FOUND),
	    "a relative directory");
	tap_ok(&tap, !is_hidden(path, "./tool", NOT_FOUND), "a relative path");
	strcat(path, "/tool");
	tap_ok(&tap, is_hidden("/nonexistent", path, NOT_FOUND),
	    "a path from the root");
	leads = false;
	tap_ok(&tap, !is_hidden("", path, NOT_FOUND), "one that leads nowhere");
	leads = true;
	memset(both, 'x', sizeof both - 1);
	both[0] = '/';
	both[sizeof both - 1] = '\0';
	tap_ok(&tap, !is_hidden(both, "tool", NOT_FOUND),
	    "a directory that is not there");
}

/* --- a rule --------------------------------------------------------------- */

static void
check_rules(void)
{
	static const struct {
		const char *what, *suffix;
		uint8_t effect, rights;
		bool bound, hidden;
	} cases[] = {
		{ "a rule for the directory", "/bin", SBX_ALLOW,
		    SBX_READ | SBX_EXEC, true, false },
		{ "for the program", "/bin/tool", SBX_ALLOW, SBX_EXEC, true,
		    false },
		{ "for all", "", SBX_ALLOW, SBX_EXEC, true, false },
		{ "for another", "/bin/tools", SBX_ALLOW, SBX_EXEC, true,
		    true },
		{ "to read", "/bin", SBX_ALLOW, SBX_READ, true, true },
		{ "that denies", "/bin", SBX_DENY, SBX_EXEC, true, true },
		{ "of a place that is not there", "/bin", SBX_ALLOW, SBX_EXEC,
		    false, true },
	};
	char path[128];

	snprintf(path, sizeof path, "%s/bin", top);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct sbx_path rule = {
			.effect = cases[i].effect,
			.rights = cases[i].rights,
			.anchor = SBX_ANCHOR_HOME,
		};
		struct sbx_blob blob = {
			.paths = &rule,
			.path_count = 1,
			.strings = cases[i].suffix,
		};
		struct binding anchored = { .blob = &blob };

		anchored.anchors[SBX_ANCHOR_HOME] = (struct sbx_place){ top,
			(uint32_t)strlen(top) };
		anchored.bound[SBX_ANCHOR_HOME] = cases[i].bound;
		supervision.anchored = &anchored;
		tap_ok(&tap,
		    is_hidden(path, "tool", NOT_FOUND) == cases[i].hidden, "%s",
		    cases[i].what);
	}
}

/* --- what is said --------------------------------------------------------- */

static const char kept_from[] =
    "sbxrun: the policy keeps the command from this program; with --explain "
    "sbxrun says by which line, and what to change\n";
static const char refused[] =
    "sbxrun: the policy refused what is named above; with --explain sbxrun "
    "says by which line, and what to change\n";

static void
says(const char *what, int status, bool hidden, const char *line)
{
	int kept = dup(STDERR_FILENO), said = memfd_create("said", 0);
	char text[512] = "";

	tap_must(kept >= 0 && said >= 0 && dup2(said, STDERR_FILENO) >= 0,
	    "said");
	hint_tell(&supervision, status, hidden);
	tap_must(dup2(kept, STDERR_FILENO) >= 0 && close(kept) == 0, "stderr");
	tap_must(pread(said, text, sizeof text - 1, 0) >= 0, "said");
	close(said);
	if (!tap_ok(&tap, strcmp(text, line) == 0, "%s", what))
		printf("# %s\n", text);
}

static void
check_told(void)
{
	static struct explaining explaining;
	struct decisions *decisions = &supervision.network.decisions;

	says("a program that is hidden", NOT_FOUND, true, kept_from);
	says("nothing was refused", FAILED, false, "");
	decisions->count = 1;
	decisions->all[0].event.verdict = PROXY_ALLOWED;
	says("a connection was allowed", FAILED, false, "");
	decisions->count = 2;
	decisions->all[1].event.verdict = PROXY_NO_RULE;
	says("one was refused", FAILED, false, refused);
	says("and the command did not care", 0, false, "");
	supervision.why_untraced = "there is a reason";
	says("it cannot be explained", FAILED, false, "");
	supervision.why_untraced = NULL;
	supervision.listening.explaining = &explaining;
	says("it is explained", FAILED, false, "");
	supervision.listening.explaining = NULL;
	terminal = false;
	says("nobody reads it", FAILED, false, "");
}

int
main(void)
{
	static const struct sbx_blob none;
	struct binding anchored = { .blob = &none };
	char command[64], path[64];

	tap_must(mkdtemp(top) != NULL, top);
	snprintf(path, sizeof path, "%s/bin", top);
	tap_must(mkdir(path, 0755) == 0, path);
	make_file("bin/tool", 0755);
	make_file("bin/text", 0644);
	strcat(path, "/sub");
	tap_must(mkdir(path, 0755) == 0, path);
	supervision.anchored = &anchored;
	check_program();
	check_rules();
	check_told();
	snprintf(command, sizeof command, "rm -rf '%s'", top);
	tap_must(system(command) == 0, command);
	return tap_done(&tap);
}
