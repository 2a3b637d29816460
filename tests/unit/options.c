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
	{ { "p", "--", "x" }, "policy=p command=x" },
	{ { "p", "--", "x", "--", "-n" }, "policy=p command=x,--,-n" },
	{ { "p", "-c", "x y" }, "policy=p command=/bin/sh,-c,x y" },
	{ { "-w", "d", "p", "--", "x" }, "policy=p workspace=d command=x" },
	{ { "-wd", "p", "--", "x" }, "policy=p workspace=d command=x" },
	{ { "--workspace=d", "p", "--", "x" },
	    "policy=p workspace=d command=x" },
	{ { "-D", "A=b", "-DC=d", "p", "--", "x" },
	    "policy=p define=A,C command=x" },
	{ { "-n", "p" }, "policy=p plan" },
	{ { "-nv", "p", "--", "x" }, "policy=p plan verbose command=x" },
	{ { "-n=summary", "p" }, "policy=p plan brief" },
	{ { "--dry-run=summary", "p" }, "policy=p plan brief" },
	{ { "--dry-run", "p" }, "policy=p plan" },
	{ { "-n", "--json", "p" }, "policy=p plan json" },
	{ { "-l", "auto", "p", "--", "x" }, "policy=p command=x" },
	{ { "-l", "minimal", "p", "--", "x" }, "policy=p level=1 command=x" },
	{ { "-l", "standard", "p", "--", "x" }, "policy=p level=2 command=x" },
	{ { "-l", "full", "-l", "auto", "p", "--", "x" },
	    "policy=p command=x" },
	{ { "-lfull", "p", "--", "x" }, "policy=p level=3 command=x" },
	{ { "--accept=none", "p", "--", "x" },
	    "policy=p accept_none command=x" },
	{ { "--allow-full-access", "p", "--", "x" },
	    "policy=p allow_full_access command=x" },
	{ { "--expect", "sha256:" HEX, "p", "--", "x" },
	    "policy=p expect=" HEX " command=x" },
	{ { "-v", "p", "--", "x" }, "policy=p verbose command=x" },
	{ { "--explain", "p", "--", "x" }, "policy=p explain command=x" },
	{ { "--explain=live", "p", "--", "x" },
	    "policy=p explain explain_live command=x" },
	{ { "--explain=all", "p", "--", "x" },
	    "policy=p explain explain_all explain_thorough command=x" },
	{ { "--explain=agent", "p", "--", "x" },
	    "policy=p explain explain_agent explain_thorough command=x" },
	{ { "--explain=./f", "p", "--", "x" },
	    "policy=p explain explain_thorough explain_file=./f command=x" },
	{ { "--learn", "f", "p", "--", "x" }, "policy=p learn=f command=x" },
	{ { "--status-fd=3", "p", "--", "x" },
	    "policy=p status_fd=3 command=x" },
	{ { "--log=f", "p", "--", "x" }, "policy=p log=f command=x" },
	{ { "--pass-fd=3", "--pass-fd=9", "p", "--", "x" },
	    "policy=p passed=3,9 command=x" },
	{ { "--status" }, "status" },
	{ { "--status", "--json" }, "status json" },
	{ { "--doctor" }, "doctor" },
	{ { "--doctor", "--json", "p" }, "policy=p doctor json" },
	{ { "--self-test" }, "policy=@workspace-write self_test" },
	{ { "--self-test", "--json", "p" }, "policy=p self_test json" },
	{ { "--clean", "-w", "d" }, "workspace=d clean" },
	{ { "--sessions" }, "sessions" },
	{ { "--sessions", "--json" }, "sessions json" },
	{ { "--session", "a", "--", "x" }, "session=a command=x" },
	{ { "--session=A-z_0.9", "p", "-c", "x" },
	    "policy=p session=A-z_0.9 command=/bin/sh,-c,x" },
	{ { "--session=auto", "p", "--", "x" },
	    "policy=p session=auto own_session command=x" },
	{ { "--session=" HEX, "--", "x" }, "session=" HEX " command=x" },
	{ { "--session=a", "--end" }, "session=a end" },
	{ { "--session=a", "--check" }, "session=a check" },
	{ { "--session=a", "--with-parent", "p", "--", "x" },
	    "policy=p session=a with_parent command=x" },
	{ { "--session=a", "--explain", "p", "--", "x" },
	    "policy=p explain session=a command=x" },
	{ { "--idle=none", "p", "--", "x" }, "policy=p idle=0 command=x" },
	{ { "--idle=1s", "p", "--", "x" }, "policy=p idle=1 command=x" },
	{ { "--idle=2m", "p", "--", "x" }, "policy=p idle=120 command=x" },
	{ { "--idle=3h", "p", "--", "x" }, "policy=p idle=10800 command=x" },
	{ { "--idle=2147483647s", "p", "--", "x" },
	    "policy=p idle=2147483647 command=x" },
	{ { "--keep=3", "p" }, "policy=p keep=3" },
	{ { "--keep=3", "p", "--", "x" }, "policy=p keep=3 command=x" },
	{ { "--join=3", "--", "x" }, "join=3 command=x" },
	{ { "--join=2147483647", "--", "x" }, "join=2147483647 command=x" },
	{ { "-", "--", "x" }, "policy=- command=x" },
	/* What is refused, by the word that it is about or what is said. */
	{ { NULL }, "no policy" },
	{ { "p" }, "no command" },
	{ { "p", "--" }, "no command after" },
	{ { "p", "-n" }, "options come before the policy" },
	{ { "p", "x" }, "expected '--'" },
	{ { "p", "-c" }, "exactly one string" },
	{ { "p", "-c", "x", "y" }, "exactly one string" },
	{ { "--", "x" }, "no policy before this" },
	{ { "-c", "x" }, "no policy before this" },
	{ { "--idl=1s", "p", "--", "x" }, "unknown option" },
	{ { "--idlex=1s", "p", "--", "x" }, "unknown option" },
	{ { "-x", "p", "--", "x" }, "unknown option" },
	{ { "-vx", "p", "--", "x" }, "unknown option" },
	{ { "--verbose=1", "p", "--", "x" }, "takes no value" },
	{ { "-w" }, "needs a value" },
	{ { "--log" }, "needs a value" },
	{ { "-n=x", "p" }, "only 'summary'" },
	{ { "-l", "none", "p", "--", "x" }, "no such level" },
	{ { "-D", "A", "p", "--", "x" }, "NAME=PATH" },
	{ { "-D", "=a", "p", "--", "x" }, "NAME=PATH" },
	{ { "--accept=all", "p", "--", "x" }, "only 'none'" },
	{ { "--expect=sha256:" HEX "0", "p", "--", "x" }, "64 hexadecimal" },
	{ { "--expect=sha256:0", "p", "--", "x" }, "64 hexadecimal" },
	{ { "--expect=sha256:" HEX "g", "p", "--", "x" }, "64 hexadecimal" },
	{ { "--expect=" HEX, "p", "--", "x" }, "64 hexadecimal" },
	{ { "-w", "", "p", "--", "x" }, "--workspace: its value is empty" },
	{ { "--clean", "-w", "" }, "--workspace: its value is empty" },
	{ { "-D", "a=", "p", "--", "x" }, "NAME=PATH" },
	{ { "--log=", "p", "--", "x" }, "is empty" },
	{ { "-n=", "p" }, "is empty" },
	{ { "", "--", "x" }, "the policy is an empty name" },
	{ { "--explain=", "p", "--", "x" }, "is empty" },
	{ { "--explain=lives", "p", "--", "x" }, "--explain takes" },
	{ { "--status-fd=2", "p", "--", "x" }, "above 2" },
	{ { "--status-fd=3x", "p", "--", "x" }, "above 2" },
	{ { "--pass-fd=2147483648", "p", "--", "x" }, "above 2" },
	{ { "--keep=0", "p" }, "above 2" },
	{ { "--join=", "--", "x" }, "is empty" },
	{ { "--session=", "--", "x" }, "is empty" },
	{ { "--session=.a", "--", "x" }, "a session's name" },
	{ { "--session=-a", "--", "x" }, "a session's name" },
	{ { "--session=a/b", "--", "x" }, "a session's name" },
	{ { "--session=" HEX "0", "--", "x" }, "a session's name" },
	{ { "--idle=0s", "p", "--", "x" }, "--idle needs" },
	{ { "--idle=1", "p", "--", "x" }, "--idle needs" },
	{ { "--idle=1d", "p", "--", "x" }, "--idle needs" },
	{ { "--idle=1sx", "p", "--", "x" }, "--idle needs" },
	{ { "--idle=s", "p", "--", "x" }, "--idle needs" },
	{ { "--idle=2147483648s", "p", "--", "x" }, "--idle needs" },
	{ { "--idle=35791395m", "p", "--", "x" }, "--idle needs" },
	/* What does not go together. */
	{ { "--json", "p", "--", "x" }, "--json: goes with" },
	{ { "--json", "--clean" }, "--json: goes with" },
	{ { "--status", "--clean" }, "do not go together" },
	{ { "--status", "--self-test" }, "do not go together" },
	{ { "--sessions", "--clean" }, "do not go together" },
	{ { "--session=a", "--end", "--check" }, "do not go together" },
	{ { "--end" }, "need --session" },
	{ { "--join=3", "--check" }, "need --session" },
	{ { "--session=a", "--keep=3", "p" }, "do not go together" },
	{ { "--session=a", "--join=3", "--", "x" }, "do not go together" },
	{ { "--keep=3", "--join=4", "--", "x" }, "do not go together" },
	{ { "--session=a", "-n", "p" }, "does not go with -n" },
	{ { "--keep=3", "-n", "p" }, "does not go with -n" },
	{ { "--join=3", "-n", "p" }, "does not go with -n" },
	{ { "--session=a", "--self-test" }, "does not go with -n" },
	{ { "--session=a", "--status" }, "does not go with -n" },
	{ { "--session=a", "--clean" }, "does not go with -n" },
	{ { "--session=a", "--sessions" }, "does not go with -n" },
	{ { "--with-parent", "p", "--", "x" }, "goes with --session" },
	{ { "--explain", "-n", "p" }, "goes with a command" },
	{ { "--explain", "--self-test" }, "goes with a command" },
	{ { "--explain", "--keep=3", "p" }, "goes with a command" },
	{ { "--explain", "--status" }, "goes with a command" },
	{ { "--explain", "--clean" }, "goes with a command" },
	{ { "--explain", "--sessions" }, "goes with a command" },
	{ { "--explain", "--session=a", "--end" }, "goes with a command" },
	{ { "--learn=f", "-n", "p" }, "goes with a command" },
	{ { "--learn=f", "--self-test" }, "goes with a command" },
	{ { "--learn=f", "--status" }, "goes with a command" },
	{ { "--learn=f", "--session=a", "p", "--", "x" },
	    "does not go with sessions" },
	{ { "--learn=f", "--join=3", "--", "x" }, "does not go with sessions" },
	{ { "--learn=f", "--keep=3", "p" }, "does not go with sessions" },
	{ { "--doctor", "p", "--", "x" }, "--doctor takes no command" },
	{ { "--doctor", "-n" }, "does not go with -n" },
	{ { "--doctor", "--session=a" }, "does not go with -n" },
	{ { "--self-test", "p", "x" }, "--self-test takes no command" },
	{ { "--self-test", "-n" }, "does not go with -n" },
	{ { "--self-test", "-w", "d" }, "does not go with -n" },
	{ { "--status", "p" }, "--status takes no policy" },
	{ { "--clean", "p" }, "--clean takes no policy" },
	{ { "--sessions", "p" }, "--sessions takes no policy" },
	{ { "--session=a", "--end", "p" }, "take no policy" },
	{ { "-n", "--log=f", "p" }, "no receipt" },
	{ { "-n", "--status-fd=3", "p" }, "no receipt" },
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
