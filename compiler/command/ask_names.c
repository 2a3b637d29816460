/*
 * Names of hosts that sbx-proxy asks about while the command runs: see
 * format/protocol.h.  Who is asked is the person at the terminal or a program, once
 * for each name, one name after the other.
 *
 * Nothing of a question is believed but that it has the form of a name: the proxy
 * reads what the command sends.
 */
#include "compiler/command/ask.h"
#include "compiler/query/why.h"

#include "format/model.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NAMES_MAX = 100 /* of one run: a person is not to be worn out */ };

/* What can be answered, by a word to a program and by a letter to a person. */
enum word { NO, ONCE, SESSION, ALWAYS, NEVER, SILENT, WORDS, NOBODY };

static const struct {
	const char *word, *about;
	bool changes; /* the policy */
} words[WORDS] = {
	[NO] = { "no", NULL, false },
	[ONCE] = { "once", "this once", false },
	[SESSION] = { "session", "as long as this runs", false },
	[ALWAYS] = { "always", "always: write it there", true },
	[NEVER] = { "never", "never: write a deny there", true },
	[SILENT] = { NULL, "no, nor ask about other names", false },
};

/* --- a person ------------------------------------------------------------- */

static enum word
ask_person(const struct asking *asking, const struct sbx_question *question,
    const char *rule)
{
	char letters[WORDS], typed;
	const char *opens;
	bool late;

	ask_settle(asking);
	ask_letters(letters, WORDS);
	ask_policy(asking, "allow", rule, false, &opens);
	/* Colours and characters as they were, in a line of its own. */
	dprintf(asking->terminal,
	    "\033[0m\033(B\r\nsbxrun: the command waits for %s, port %u, which "
	    "no rule is about\n%sallow %s?\n",
	    question->name, question->port, opens, rule);
	for (int i = ONCE; i < WORDS; i++)
		dprintf(asking->terminal, "  %c  %s\n", letters[i],
		    words[i].about);
	dprintf(asking->terminal, "  anything else: no\n> ");
	typed = ask_answer(asking, SBX_ASK_TIME, &late);
	for (int i = ONCE; i < WORDS; i++) {
		if (typed == letters[i])
			return (enum word)i;
	}
	return late ? NOBODY : NO;
}

/* --- a program ------------------------------------------------------------ */

static const char *
describe(const struct asking *asking, const struct sbx_question *question,
    const char *rule)
{
	struct arena *arena = asking->arena;
	const char *text, *opens;

	ask_policy(asking, "allow", rule, false, &opens);
	text = arena_printf(arena,
	    "{\"sbx\":1,\"event\":\"question\",\"name\":\"%s\",\"port\":%u,"
	    "\"rule\":%s,\"policy\":%s,\"opens\":%s,\"seconds\":%d,"
	    "\"answers\":[\"no\"",
	    question->name, question->port,
	    json_quoted(arena, arena_printf(arena, "allow %s", rule)),
	    json_quoted(arena,
		asking->target != NULL ? asking->target : "@default"),
	    json_quoted(arena, opens), SBX_ASK_TIME);
	for (int i = ONCE; i < WORDS; i++) {
		if (words[i].word != NULL &&
		    (!words[i].changes || asking->always))
			text = arena_printf(arena, "%s,\"%s\"", text,
			    words[i].word);
	}
	return arena_printf(arena, "%s]}\n", text);
}

__attribute__((noreturn)) static void
be_program(const struct asking *asking, int input, int output)
{
	/* All that it starts is ended with it. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	if (dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0)
		execl(asking->program, asking->program, (char *)NULL);
	complain("cannot run '%s': %s", asking->program, strerror(errno));
	_exit(127);
}

static int64_t
milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* What it prints up to its end, which is that of all that it started; false: there
 * was more, or no end in time. */
static bool
hear(int output, pid_t pid, char *text, size_t size)
{
	const int64_t end = milliseconds() + SBX_ASK_TIME * 1000;
	struct pollfd wait[] = {
		{ .fd = output, .events = POLLIN },
		{ .fd = (int)syscall(SYS_pidfd_open, pid, 0),
		    .events = POLLIN },
	};
	size_t used = 0;
	ssize_t got = 1;

	while (got != 0 && used < size) {
		int64_t left = end - milliseconds();

		if (left <= 0 || poll(wait, 2, (int)left) == 0)
			break;
		if (wait[1].revents != 0) {
			kill(-pid, SIGKILL);
			close(wait[1].fd);
			wait[1].fd = -1;
			wait[1].revents = 0;
		}
		if (wait[0].revents == 0)
			continue;
		got = read(output, text + used, size - used);
		if (got < 0)
			break;
		used += (size_t)got;
	}
	if (wait[1].fd >= 0)
		close(wait[1].fd);
	if (got != 0 || used == size)
		return false;
	used -= used > 0 && text[used - 1] == '\n';
	text[used] = '\0';
	return true;
}

static enum word
ask_program(const struct asking *asking, const struct sbx_question *question,
    const char *rule)
{
	const char *text = describe(asking, question, rule);
	int to[2], from[2], status = -1;
	char said[16];
	bool heard;
	pid_t pid;

	if (pipe(to) != 0 || pipe(from) != 0)
		return NOBODY;
	pid = fork();
	if (pid == 0) {
		close(to[1]);
		close(from[0]);
		be_program(asking, to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	/* It fits into the pipe, or it is not read: 64 KiB. */
	heard = pid > 0 && strlen(text) < 60000 &&
	    write(to[1], text, strlen(text)) == (ssize_t)strlen(text);
	close(to[1]);
	heard = heard && hear(from[0], pid, said, sizeof said);
	close(from[0]);
	if (pid > 0 && !heard) {
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (!heard || status != 0)
		return NOBODY;
	for (int i = NO; i < WORDS; i++) {
		if (words[i].word != NULL &&
		    (!words[i].changes || asking->always) &&
		    strcmp(said, words[i].word) == 0)
			return (enum word)i;
	}
	return NOBODY;
}

/* --- questions ------------------------------------------------------------ */

static bool
is_question(const struct sbx_question *question)
{
	char name[SBX_NAME_SIZE];
	size_t len = strnlen(question->name, sizeof question->name);

	return len < sizeof question->name &&
	    sbx_name_normal(question->name, len, name) &&
	    strcmp(name, question->name) == 0 && question->port > 0 &&
	    question->port <= UINT16_MAX;
}

/* As `sbxc allow` and a record write it. */
static const char *
rule_about(const struct asking *asking, const struct sbx_question *question)
{
	return sbx_port_is_web((uint16_t)question->port) ?
	    arena_printf(asking->arena, "network domain %s", question->name) :
	    arena_printf(asking->arena, "network domain %s:%u", question->name,
		question->port);
}

/* As sbx-proxy is to take it. */
static uint32_t
settle(struct asking *asking, enum word word, const char *rule)
{
	bool denies = word == NEVER;
	const char *text;

	if (words[word].changes &&
	    !ask_policy(asking, denies ? "deny" : "allow", rule, true, &text)) {
		complain("%s", text);
		word = NO;
	} else if (words[word].changes && asking->program == NULL) {
		dprintf(asking->terminal, "%s", text);
	}
	asking->silent |= word == SILENT;
	if (word == ONCE)
		return SBX_ANSWER_ONCE;
	if (word == SESSION || word == ALWAYS)
		return SBX_ANSWER_SESSION;
	/* Nor in the end. */
	*arena_push(asking->arena, &asking->refused.list) = rule;
	return SBX_ANSWER_NO;
}

/* Nobody is there for what waits already, either. */
static void
give_up(const struct asking *asking)
{
	struct sbx_question question;

	while (recv(asking->names, &question, sizeof question, MSG_DONTWAIT) ==
	    sizeof question)
		send(asking->names,
		    &(struct sbx_reply){ question.number, SBX_ANSWER_NONE },
		    sizeof(struct sbx_reply), MSG_NOSIGNAL);
}

bool
ask_name(struct asking *asking)
{
	struct sbx_question question;
	struct sbx_reply reply = { .answer = SBX_ANSWER_NO };
	const char *rule;
	enum word word;
	ssize_t got;

	do {
		got = recv(asking->names, &question, sizeof question, 0);
	} while (got < 0 && errno == EINTR);
	if (got != sizeof question || !is_question(&question))
		return false;
	reply.number = question.number;
	if (asking->asked++ == NAMES_MAX) {
		complain("%d names were asked about: others are refused "
			 "without a question",
		    NAMES_MAX);
		asking->silent = true;
	}
	if (!asking->silent) {
		rule = rule_about(asking, &question);
		word = asking->program != NULL ?
		    ask_program(asking, &question, rule) :
		    ask_person(asking, &question, rule);
		if (word == NOBODY) {
			*arena_push(asking->arena,
			    &asking->refused.list) = rule;
			reply.answer = SBX_ANSWER_NONE;
			give_up(asking);
		} else {
			reply.answer = settle(asking, word, rule);
		}
	}
	return send(asking->names, &reply, sizeof reply, MSG_NOSIGNAL) ==
	    sizeof reply;
}
