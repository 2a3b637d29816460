/*
 * What becomes of a command line: what is set, nothing beside it, or the word
 * that is refused.
 */
#include "runtime/base/options.h"
#include "runtime/base/kernel.h"
#include "tests/lib/tap.h"

#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#define countof(array) (sizeof(array) / sizeof *(array))
#define HEX \
	"0123456789abcdefABCDEF0123456789abcdefABCDEF0123456" \
	"789abcdefABCD"

enum { WORDS_MAX = 8, REFUSED = 125, SAID_MAX = 512 };
enum kind { FLAG, TEXT, NUMBER, SECONDS };

/* A number is said if it is not -1; the time if it is not what it is anyway. */
static const struct {
	const char *name;
	size_t offset;
	enum kind kind;
} members[] = {
#define MEMBER(member, kind) \
	{ \
#member, offsetof(struct options, member), kind \
	}
	MEMBER(policy, TEXT),
	MEMBER(workspace, TEXT),
	MEMBER(expect, TEXT),
	MEMBER(level, NUMBER),
	MEMBER(status_fd, NUMBER),
	MEMBER(log, TEXT),
	MEMBER(plan, FLAG),
	MEMBER(brief, FLAG),
	MEMBER(explain, FLAG),
	MEMBER(explain_live, FLAG),
	MEMBER(explain_all, FLAG),
	MEMBER(explain_agent, FLAG),
	MEMBER(explain_thorough, FLAG),
	MEMBER(explain_file, TEXT),
	MEMBER(learn, TEXT),
	MEMBER(verbose, FLAG),
	MEMBER(self_test, FLAG),
	MEMBER(doctor, FLAG),
	MEMBER(status, FLAG),
	MEMBER(clean, FLAG),
	MEMBER(session, TEXT),
	MEMBER(sessions, FLAG),
	MEMBER(end, FLAG),
	MEMBER(check, FLAG),
	MEMBER(with_parent, FLAG),
	MEMBER(idle, SECONDS),
	MEMBER(keep, NUMBER),
	MEMBER(join, NUMBER),
	MEMBER(own_session, FLAG),
	MEMBER(json, FLAG),
	MEMBER(accept_none, FLAG),
	MEMBER(allow_full_access, FLAG),
#undef MEMBER
};

static const struct {
	const char *words[WORDS_MAX], *said;
} cases[] = {
	{ { "p.bin", "--", "x" }, "policy=p.bin command=x" },
	{ { "p.bin", "--", "x", "--", "-n" }, "policy=p.bin command=x,--,-n" },
	{ { "p.bin", "-c", "x y" }, "policy=p.bin command=/bin/sh,-c,x y" },
	{ { "-w", "d", "p.bin", "--", "x" },
	    "policy=p.bin workspace=d command=x" },
	{ { "-wd", "p.bin", "--", "x" }, "policy=p.bin workspace=d command=x" },
	{ { "--workspace=d", "p.bin", "--", "x" },
	    "policy=p.bin workspace=d command=x" },
	{ { "-D", "A=b", "-DC=d", "p.bin", "--", "x" },
	    "policy=p.bin define=A,C command=x" },
	{ { "-n", "p.bin" }, "policy=p.bin plan" },
	{ { "-nv", "p.bin", "--", "x" },
	    "policy=p.bin plan verbose command=x" },
	{ { "-n=summary", "p.bin" }, "policy=p.bin plan brief" },
	{ { "--dry-run=summary", "p.bin" }, "policy=p.bin plan brief" },
	{ { "--dry-run", "p.bin" }, "policy=p.bin plan" },
	{ { "-n", "--json", "p.bin" }, "policy=p.bin plan json" },
	{ { "-l", "auto", "p.bin", "--", "x" }, "policy=p.bin command=x" },
	{ { "-l", "minimal", "p.bin", "--", "x" },
	    "policy=p.bin level=1 command=x" },
	{ { "-l", "standard", "p.bin", "--", "x" },
	    "policy=p.bin level=2 command=x" },
	{ { "-l", "full", "-l", "auto", "p.bin", "--", "x" },
	    "policy=p.bin command=x" },
	{ { "-lfull", "p.bin", "--", "x" }, "policy=p.bin level=3 command=x" },
	{ { "--accept=none", "p.bin", "--", "x" },
	    "policy=p.bin accept_none command=x" },
	{ { "--allow-full-access", "p.bin", "--", "x" },
	    "policy=p.bin allow_full_access command=x" },
	{ { "--expect", "sha256:" HEX, "p.bin", "--", "x" },
	    "policy=p.bin expect=" HEX " command=x" },
	{ { "-v", "p.bin", "--", "x" }, "policy=p.bin verbose command=x" },
	{ { "--explain", "p.bin", "--", "x" },
	    "policy=p.bin explain command=x" },
	{ { "--explain=live", "p.bin", "--", "x" },
	    "policy=p.bin explain explain_live command=x" },
	{ { "--explain=all", "p.bin", "--", "x" },
	    "policy=p.bin explain explain_all explain_thorough command=x" },
	{ { "--explain=agent", "p.bin", "--", "x" },
	    "policy=p.bin explain explain_agent explain_thorough command=x" },
	{ { "--explain=./f", "p.bin", "--", "x" },
	    "policy=p.bin explain explain_thorough explain_file=./f "
	    "command=x" },
	{ { "--learn", "f", "p.bin", "--", "x" },
	    "policy=p.bin learn=f command=x" },
	{ { "--status-fd=3", "p.bin", "--", "x" },
	    "policy=p.bin status_fd=3 command=x" },
	{ { "--log=f", "p.bin", "--", "x" }, "policy=p.bin log=f command=x" },
	{ { "--pass-fd=3", "--pass-fd=9", "p.bin", "--", "x" },
	    "policy=p.bin passed=3,9 command=x" },
	{ { "--status" }, "status" },
	{ { "--status", "--json" }, "status json" },
	{ { "--doctor" }, "doctor" },
	{ { "--doctor", "--json", "p.bin" }, "policy=p.bin doctor json" },
	{ { "--self-test" }, "policy=@workspace-write self_test" },
	{ { "--self-test", "--json", "p.bin" }, "policy=p.bin self_test json" },
	{ { "--clean", "-w", "d" }, "workspace=d clean" },
	{ { "--sessions" }, "sessions" },
	{ { "--sessions", "--json" }, "sessions json" },
	{ { "--session", "a", "--", "x" }, "session=a command=x" },
	{ { "--session=A-z_0.9", "p.bin", "-c", "x" },
	    "policy=p.bin session=A-z_0.9 command=/bin/sh,-c,x" },
	{ { "--session=auto", "p.bin", "--", "x" },
	    "policy=p.bin session=auto own_session command=x" },
	{ { "--session=" HEX, "--", "x" }, "session=" HEX " command=x" },
	{ { "--session=a", "--end" }, "session=a end" },
	{ { "--session=a", "--check" }, "session=a check" },
	{ { "--session=a", "--with-parent", "p.bin", "--", "x" },
	    "policy=p.bin session=a with_parent command=x" },
	{ { "--session=a", "--explain", "p.bin", "--", "x" },
	    "policy=p.bin explain session=a command=x" },
	{ { "--idle=none", "p.bin", "--", "x" },
	    "policy=p.bin idle=0 command=x" },
	{ { "--idle=1s", "p.bin", "--", "x" },
	    "policy=p.bin idle=1 command=x" },
	{ { "--idle=2m", "p.bin", "--", "x" },
	    "policy=p.bin idle=120 command=x" },
	{ { "--idle=3h", "p.bin", "--", "x" },
	    "policy=p.bin idle=10800 command=x" },
	{ { "--idle=2147483647s", "p.bin", "--", "x" },
	    "policy=p.bin idle=2147483647 command=x" },
	{ { "--keep=3", "p.bin" }, "policy=p.bin keep=3" },
	{ { "--keep=3", "p.bin", "--", "x" }, "policy=p.bin keep=3 command=x" },
	{ { "--join=3", "--", "x" }, "join=3 command=x" },
	{ { "--join=2147483647", "--", "x" }, "join=2147483647 command=x" },
	{ { "./p", "--", "x" }, "policy=./p command=x" },
	{ { "/dev/fd/4", "-c", "x" }, "policy=/dev/fd/4 command=/bin/sh,-c,x" },
	{ { "--", "x" }, "command=x" },
	{ { "-c", "x" }, "command=/bin/sh,-c,x" },
	{ { "-v", "x", "-v", "--", "y" }, "verbose command=x,-v,--,y" },
	{ { "sh", "-c", "x" }, "command=sh,-c,x" },
	{ { "./p", "-c", "x" }, "command=./p,-c,x" },
	{ { "-n" }, "plan" },
	/* What is refused, by the word that it is about or what is said. */
	{ { NULL }, "no command" },
	{ { "p", "--", "x" }, "a policy or a command?" },
	{ { "p\033x", "--", "x" }, "is @p\\x1bx or ./p\\x1bx" },
	{ { "p.bin" }, "no command" },
	{ { "p.bin", "--" }, "no command after" },
	{ { "p.bin", "-n" }, "options come before the policy" },
	{ { "p.bin", "x" }, "expected '--'" },
	{ { "p.bin", "-c" }, "exactly one string" },
	{ { "p.bin", "-c", "x", "y" }, "exactly one string" },
	{ { "--idl=1s", "p.bin", "--", "x" }, "did you mean --idle?" },
	{ { "--idlex=1s", "p.bin", "--", "x" }, "unknown option" },
	{ { "-x", "p.bin", "--", "x" }, "unknown option" },
	{ { "-vx", "p.bin", "--", "x" }, "unknown option" },
	{ { "--verbose=1", "p.bin", "--", "x" }, "takes no value" },
	{ { "-w" }, "needs a value" },
	{ { "--log" }, "needs a value" },
	{ { "-n=x", "p.bin" }, "only 'summary'" },
	{ { "-l", "none", "p.bin", "--", "x" }, "no such level" },
	{ { "-D", "A", "p.bin", "--", "x" }, "NAME=PATH" },
	{ { "-D", "=a", "p.bin", "--", "x" }, "NAME=PATH" },
	{ { "--accept=all", "p.bin", "--", "x" }, "only 'none'" },
	{ { "--expect=sha256:" HEX "0", "p.bin", "--", "x" },
	    "64 hexadecimal" },
	{ { "--expect=sha256:0", "p.bin", "--", "x" }, "64 hexadecimal" },
	{ { "--expect=sha256:" HEX "g", "p.bin", "--", "x" },
	    "64 hexadecimal" },
	{ { "--expect=" HEX, "p.bin", "--", "x" }, "64 hexadecimal" },
	{ { "-w", "", "p.bin", "--", "x" }, "--workspace: its value is empty" },
	{ { "--clean", "-w", "" }, "--workspace: its value is empty" },
	{ { "-D", "a=", "p.bin", "--", "x" }, "NAME=PATH" },
	{ { "--log=", "p.bin", "--", "x" }, "is empty" },
	{ { "-n=", "p.bin" }, "is empty" },
	{ { "", "--", "x" }, "is an empty name" },
	{ { "--explain=", "p.bin", "--", "x" }, "is empty" },
	{ { "--explain=lives", "p.bin", "--", "x" }, "--explain takes" },
	{ { "--status-fd=2", "p.bin", "--", "x" }, "above 2" },
	{ { "--status-fd=3x", "p.bin", "--", "x" }, "above 2" },
	{ { "--pass-fd=2147483648", "p.bin", "--", "x" }, "above 2" },
	{ { "--keep=0", "p.bin" }, "above 2" },
	{ { "--join=", "--", "x" }, "is empty" },
	{ { "--session=", "--", "x" }, "is empty" },
	{ { "--session=.a", "--", "x" }, "a session's name" },
	{ { "--session=-a", "--", "x" }, "a session's name" },
	{ { "--session=a/b", "--", "x" }, "a session's name" },
	{ { "--session=" HEX "0", "--", "x" }, "a session's name" },
	{ { "--idle=0s", "p.bin", "--", "x" }, "--idle needs" },
	{ { "--idle=1", "p.bin", "--", "x" }, "--idle needs" },
	{ { "--idle=1d", "p.bin", "--", "x" }, "--idle needs" },
	{ { "--idle=1sx", "p.bin", "--", "x" }, "--idle needs" },
	{ { "--idle=s", "p.bin", "--", "x" }, "--idle needs" },
	{ { "--idle=2147483648s", "p.bin", "--", "x" }, "--idle needs" },
	{ { "--idle=35791395m", "p.bin", "--", "x" }, "--idle needs" },
	/* What does not go together. */
	{ { "--json", "p.bin", "--", "x" }, "--json: goes with" },
	{ { "--json", "--clean" }, "--json: goes with" },
	{ { "--status", "--clean" }, "do not go together" },
	{ { "--status", "--self-test" }, "do not go together" },
	{ { "--sessions", "--clean" }, "do not go together" },
	{ { "--session=a", "--end", "--check" }, "do not go together" },
	{ { "--end" }, "need --session" },
	{ { "--join=3", "--check" }, "need --session" },
	{ { "--session=a", "--keep=3", "p.bin" }, "do not go together" },
	{ { "--session=a", "--join=3", "--", "x" }, "do not go together" },
	{ { "--keep=3", "--join=4", "--", "x" }, "do not go together" },
	{ { "--session=a", "-n", "p.bin" }, "does not go with -n" },
	{ { "--keep=3", "-n", "p.bin" }, "does not go with -n" },
	{ { "--join=3", "-n", "p.bin" }, "does not go with -n" },
	{ { "--session=a", "--self-test" }, "does not go with -n" },
	{ { "--session=a", "--status" }, "does not go with -n" },
	{ { "--session=a", "--clean" }, "does not go with -n" },
	{ { "--session=a", "--sessions" }, "does not go with -n" },
	{ { "--with-parent", "p.bin", "--", "x" }, "goes with --session" },
	{ { "--explain", "-n", "p.bin" }, "goes with a command" },
	{ { "--explain", "--self-test" }, "goes with a command" },
	{ { "--explain", "--keep=3", "p.bin" }, "goes with a command" },
	{ { "--explain", "--status" }, "goes with a command" },
	{ { "--explain", "--clean" }, "goes with a command" },
	{ { "--explain", "--sessions" }, "goes with a command" },
	{ { "--explain", "--session=a", "--end" }, "goes with a command" },
	{ { "--learn=f", "-n", "p.bin" }, "goes with a command" },
	{ { "--learn=f", "--self-test" }, "goes with a command" },
	{ { "--learn=f", "--status" }, "goes with a command" },
	{ { "--learn=f", "--session=a", "p.bin", "--", "x" },
	    "does not go with sessions" },
	{ { "--learn=f", "--join=3", "--", "x" }, "does not go with sessions" },
	{ { "--learn=f", "--keep=3", "p.bin" }, "does not go with sessions" },
	{ { "--doctor", "p.bin", "--", "x" }, "--doctor takes no command" },
	{ { "--doctor", "-n" }, "does not go with -n" },
	{ { "--doctor", "--session=a" }, "does not go with -n" },
	{ { "--self-test", "p.bin", "x" }, "--self-test takes no command" },
	{ { "--self-test", "-n" }, "does not go with -n" },
	{ { "--self-test", "-w", "d" }, "does not go with -n" },
	{ { "--status", "p.bin" }, "--status takes no policy" },
	{ { "--clean", "p.bin" }, "--clean takes no policy" },
	{ { "--sessions", "p.bin" }, "--sessions takes no policy" },
	{ { "--session=a", "--end", "p.bin" }, "take no policy" },
	{ { "-n", "--log=f", "p.bin" }, "no receipt" },
	{ { "-n", "--status-fd=3", "p.bin" }, "no receipt" },
};

static void
add(char said[SAID_MAX], const char *before, const char *text)
{
	size_t used = strlen(said), room = SAID_MAX - used;

	if (snprintf(said + used, room, "%s%s", before, text) >= (int)room)
		abort();
}

static void
add_member(char said[SAID_MAX], const struct options *options, size_t i)
{
	const void *member = (const char *)options + members[i].offset;
	const char *space = *said != '\0' ? " " : "";
	char value[SAID_MAX] = "";

	if (members[i].kind == FLAG && *(const bool *)member)
		snprintf(value, sizeof value, "%s", members[i].name);
	else if (members[i].kind == TEXT && *(char *const *)member != NULL)
		snprintf(value, sizeof value, "%s=%s", members[i].name,
		    *(char *const *)member);
	else if (members[i].kind == NUMBER && *(const int *)member != -1)
		snprintf(value, sizeof value, "%s=%d", members[i].name,
		    *(const int *)member);
	else if (members[i].kind == SECONDS &&
	    *(const uint64_t *)member != OPTIONS_IDLE)
		snprintf(value, sizeof value, "%s=%llu", members[i].name,
		    (unsigned long long)*(const uint64_t *)member);
	if (*value != '\0')
		add(said, space, value);
}

static void
describe(const struct options *options, char said[SAID_MAX])
{
	char text[SAID_MAX];

	*said = '\0';
	for (size_t i = 0; i < countof(members); i++)
		add_member(said, options, i);
	for (uint32_t i = 0; i < options->definition_count; i++) {
		snprintf(text, sizeof text, "%.*s",
		    (int)options->definitions[i].name_len,
		    options->definitions[i].text);
		add(said, i == 0 ? " define=" : ",", text);
	}
	for (uint32_t i = 0; i < options->passed_count; i++) {
		snprintf(text, sizeof text, "%d", options->passed[i]);
		add(said, i == 0 ? " passed=" : ",", text);
	}
	for (char **word = options->command; word != NULL && *word != NULL;
	     word++) {
		const char *first = *said != '\0' ? " command=" : "command=";

		add(said, word == options->command ? first : ",", *word);
	}
}

/* In a child, since what is refused ends it; whether it is. */
static bool
parse(const char *const words[WORDS_MAX], char said[SAID_MAX])
{
	int ends[2], status = 0;
	ssize_t len;
	pid_t child;

	*said = '\0';
	fflush(stdout);
	if (pipe(ends) != 0)
		return false;
	child = fork();
	if (child == 0) {
		static char own[] = "sbxrun";
		char *argv[WORDS_MAX + 2] = { own };
		struct options options = { .words = NULL };

		dup2(ends[1], STDERR_FILENO);
		for (size_t i = 0; i < WORDS_MAX && words[i] != NULL; i++)
			argv[i + 1] = strdup(words[i]);
		options_parse(&options, argv);
		describe(&options, said);
		_exit(write(ends[1], said, strlen(said)) < 0);
	}
	close(ends[1]);
	len = read(ends[0], said, SAID_MAX - 1);
	said[len > 0 ? len : 0] = '\0';
	close(ends[0]);
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == REFUSED;
}

int
main(void)
{
	struct tap tap = { 0 };

	for (size_t i = 0; i < countof(cases); i++) {
		char said[SAID_MAX], line[SAID_MAX] = "";
		bool refused = parse(cases[i].words, said);

		for (size_t j = 0; j < WORDS_MAX && cases[i].words[j]; j++)
			add(line, " ", cases[i].words[j]);
		if (!tap_ok(&tap,
			refused ? strstr(said, cases[i].said) != NULL :
				  strcmp(said, cases[i].said) == 0,
			"sbxrun%s", line))
			printf("# %s\n", said);
	}
	return tap_done(&tap);
}
