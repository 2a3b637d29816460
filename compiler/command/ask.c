/*
 * `sbxc ask`: what `sbxrun --ask` becomes.  Runs sbxrun, and when all of the command
 * has ended, asks the person at the terminal about what was denied.
 *
 * By then nothing of the sandbox is there that could answer.  What it left behind
 * is on the screen and in the terminal's queue: so the queue is emptied before each
 * question, and the letters of the answers are drawn anew each time.
 *
 * Nothing is asked about what a rule denies, nor where no single rule would help.
 */
#include "compiler/command/commands.h"
#include "compiler/query/why.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum {
	ROUNDS_MAX = 16,
	QUESTIONS_MAX = 12,    /* in one round */
	PATIENCE = 120 * 1000, /* milliseconds */
	REPORT_MAX = 16 << 20, /* bytes that are read */
};

struct question {
	const char *rule; /* as `sbxc allow` takes it */
	const char *right, *object, *program;
};

struct asking {
	struct arena *arena;
	const char
	    *target; /* the policy that `allow` changes; NULL: the default */
	const char *const *command; /* sbxrun and its words */
	size_t command_count;
	int terminal;
	struct termios modes; /* before the first run */
	bool has_modes;
	struct words
	    allowed; /* rules that the next run has beside the policy */
	struct words refused; /* that are not asked about again */
	VEC(struct question) questions;
};

static const char allow[] = "allow ";

/* --- running it ----------------------------------------------------------- */

static volatile pid_t child;

/* Who knows our number means the command.  Keys of the terminal reach it without
 * us. */
static void
pass_on(int number)
{
	if (child > 0)
		kill(child, number);
}

static void
stay(int number)
{
	(void)number;
}

static void
set_signals(bool running)
{
	static const struct {
		int number;
		void (*handler)(int);
	} signals[] = {
		{ SIGINT, stay },
		{ SIGQUIT, stay },
		{ SIGTERM, pass_on },
		{ SIGHUP, pass_on },
		{ SIGUSR1, pass_on },
		{ SIGUSR2, pass_on },
	};

	for (size_t i = 0; i < countof(signals); i++) {
		struct sigaction action = {
			.sa_handler = running ? signals[i].handler : SIG_DFL,
		};

		sigaction(signals[i].number, &action, NULL);
	}
}

static __attribute__((noreturn)) void
execute(const struct asking *asking, int report)
{
	size_t count = 0,
	       room = asking->command_count + 2 * asking->allowed.list.count +
	    4;
	const char **words = arena_alloc(asking->arena, room * sizeof *words);

	words[count++] = asking->command[0];
	words[count++] = "--status-fd";
	words[count++] = arena_printf(asking->arena, "%d", report);
	for (size_t i = 0; i < asking->allowed.list.count; i++) {
		words[count++] = "--allow";
		words[count++] = asking->allowed.list.items[i];
	}
	for (size_t i = 1; i < asking->command_count; i++)
		words[count++] = asking->command[i];
	words[count] = NULL;
	set_signals(false);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	fcntl(report, F_SETFD, 0);
	execv(words[0], (char *const *)words);
	complain("cannot run '%s': %s", words[0], strerror(errno));
	_exit(125);
}

/* Its status, as a shell says it. */
static int
run_once(const struct asking *asking, int report)
{
	int status = 0;

	fflush(stdout);
	child = fork();
	if (child == 0)
		execute(asking, report);
	if (child < 0) {
		complain("cannot fork: %s", strerror(errno));
		return 125;
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	child = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* --- what was denied ------------------------------------------------------ */

static bool
is_listed(const struct words *words, const char *text)
{
	for (size_t i = 0; i < words->list.count; i++) {
		if (strcmp(words->list.items[i], text) == 0)
			return true;
	}
	return false;
}

static bool
is_asked(const struct asking *asking, const char *rule)
{
	for (size_t i = 0; i < asking->questions.count; i++) {
		if (strcmp(asking->questions.items[i].rule, rule) == 0)
			return true;
	}
	return is_listed(&asking->allowed, rule) ||
	    is_listed(&asking->refused, rule);
}

/* One rule that alone makes it work; what takes back a deny is none. */
static void
add_question(struct asking *asking, const struct json_t *record)
{
	const struct json_t *fixes = json_member(record, "fix");
	const char *fix = json_text_at(json_item(fixes, 0));
	const char *where = json_text_at(
	    json_item(json_member(record, "where"), 0));
	struct arena *arena = asking->arena;

	if (!json_true_at(record, "fixed") || json_true_at(record, "probe") ||
	    json_count(fixes) != 1 || fix == NULL || where == NULL ||
	    strcmp(where, "policy") != 0 ||
	    strncmp(fix, allow, sizeof allow - 1) != 0 ||
	    asking->questions.count == QUESTIONS_MAX)
		return;
	fix = arena_intern(arena, fix + sizeof allow - 1,
	    strlen(fix) - (sizeof allow - 1));
	if (is_asked(asking, fix))
		return;
	*arena_push(arena, &asking->questions) = (struct question){
		.rule = fix,
		.right = arena_printf(arena, "%s", json_text(record, "right")),
		.object = arena_printf(arena, "%s",
		    json_text(record, "object")),
		/* The command chooses that name, and it goes to a terminal. */
		.program = shown_text(arena, json_text(record, "program")),
	};
}

static void
read_report(struct asking *asking, int report)
{
	char *text = arena_alloc(asking->arena, REPORT_MAX);
	ssize_t size = pread(report, text, REPORT_MAX, 0);
	const char *line = text, *end = text + (size > 0 ? size : 0);

	asking->questions.count = 0;
	while (line < end) {
		const char *next = memchr(line, '\n', (size_t)(end - line));
		size_t at;
		const char *fault, *event;
		struct json_t *record;

		if (next == NULL)
			break;
		record = json_read_line(asking->arena, line,
		    (size_t)(next - line), &at, &fault);
		event = json_text(record, "event");
		if (event != NULL && strcmp(event, "denied") == 0)
			add_question(asking, record);
		json_release(record);
		line = next + 1;
	}
}

/* --- asking --------------------------------------------------------------- */

/* Different letters, but y and n, which everybody types. */
static void
draw_letters(char *letters, size_t count)
{
	static const char alphabet[] = "abcdefghijklmopqrstuvwxz";
	unsigned char random;

	for (size_t i = 0; i < count;) {
		if (getrandom(&random, 1, 0) != 1)
			abort();
		letters[i] = alphabet[random % (sizeof alphabet - 1)];
		i += memchr(letters, letters[i], i) == NULL;
	}
}

/* As it was before the command, which may have left it without lines or without an
 * end of them, and shows what is typed. */
static void
settle_terminal(const struct asking *asking)
{
	struct termios modes = asking->modes;

	modes.c_lflag |= ICANON | ECHO | ECHOE | ISIG;
	modes.c_iflag |= ICRNL;
	modes.c_oflag |= OPOST | ONLCR;
	if (asking->has_modes)
		tcsetattr(asking->terminal, TCSANOW, &modes);
}

/* The letter that was typed alone on a line, else 0: so is no answer in time. */
static char
answer(int terminal)
{
	struct pollfd wait = { .fd = terminal, .events = POLLIN };
	char line[64];
	ssize_t len;
	int ready;

	fflush(stdout);
	tcflush(terminal, TCIFLUSH);
	do {
		ready = poll(&wait, 1, PATIENCE);
	} while (ready < 0 && errno == EINTR);
	len = ready > 0 ? read(terminal, line, sizeof line) : 0;
	tcflush(terminal, TCIFLUSH);
	if (ready == 0)
		dprintf(terminal, "\nno answer: refused\n");
	return len == 2 && line[1] == '\n' ? line[0] : '\0';
}

/* sbxc allow RULE, which shows what that opens; writes it with `yes`. */
static bool
run_allow(const struct asking *asking, const char *rule, bool yes)
{
	const char *words[8] = { "sbxc", "allow" };
	size_t count = 2;
	int status = 0, null;
	pid_t pid;

	if (yes)
		words[count++] = "--yes";
	if (asking->target != NULL) {
		words[count++] = "--for";
		words[count++] = asking->target;
	}
	words[count++] = "--";
	words[count++] = rule;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		null = open("/dev/null", O_RDWR);
		dup2(null, STDIN_FILENO);
		dup2(asking->terminal, STDOUT_FILENO);
		/* Without --yes it ends with "nothing was written". */
		dup2(yes ? asking->terminal : null, STDERR_FILENO);
		execv("/proc/self/exe", (char *const *)words);
		_exit(EXIT_TROUBLE);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void
ask(struct asking *asking, const struct question *question)
{
	enum { NEXT, ALWAYS, LETTERS };
	char letters[LETTERS], typed;

	draw_letters(letters, LETTERS);
	dprintf(asking->terminal, "\nsbxrun: %s was denied: %s %s\n",
	    question->program, question->right, question->object);
	run_allow(asking, question->rule, false);
	dprintf(asking->terminal,
	    "allow %s?\n"
	    "  %c  in the next run of this command\n"
	    "  %c  always: write it there\n"
	    "  anything else: no\n> ",
	    question->rule, letters[NEXT], letters[ALWAYS]);
	typed = answer(asking->terminal);
	if (typed == letters[ALWAYS] &&
	    !run_allow(asking, question->rule, true))
		typed = '\0';
	*arena_push(asking->arena,
	    typed != '\0' && memchr(letters, typed, LETTERS) != NULL ?
		&asking->allowed.list :
		&asking->refused.list) = question->rule;
}

static bool
wants_again(const struct asking *asking)
{
	char letter;

	draw_letters(&letter, 1);
	dprintf(asking->terminal,
	    "\nsbxrun: run it again? What it did it may do twice.\n"
	    "  %c  yes\n  anything else: no\n> ",
	    letter);
	return answer(asking->terminal) == letter;
}

/* Whether there is something new, and it is to be run with that. */
static bool
ask_all(struct asking *asking, int report)
{
	size_t before = asking->allowed.list.count;

	read_report(asking, report);
	/* In another job's time nobody is asked. */
	if (tcgetpgrp(asking->terminal) != getpgrp())
		return false;
	settle_terminal(asking);
	for (size_t i = 0; i < asking->questions.count; i++)
		ask(asking, &asking->questions.items[i]);
	return asking->allowed.list.count > before && wants_again(asking);
}

enum exit_status
command_ask(struct options *options)
{
	const struct words *operands = &options->operands;
	struct asking asking = {
		.arena = options->arena,
		.target = options->target,
		.command = operands->list.items,
		.command_count = operands->list.count,
		.terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY),
	};
	int status = 125, report;

	if (asking.command_count == 0 || asking.terminal < 0)
		return misused("'sbxrun --ask' starts this, at a terminal");
	asking.has_modes = tcgetattr(asking.terminal, &asking.modes) == 0;
	for (int round = 0; round < ROUNDS_MAX; round++) {
		report = memfd_create("sbxc-ask", MFD_CLOEXEC);
		if (report < 0) {
			complain("cannot make a file: %s", strerror(errno));
			return EXIT_TROUBLE;
		}
		set_signals(true);
		status = run_once(&asking, report);
		set_signals(false);
		if (!ask_all(&asking, report))
			break;
		close(report);
	}
	return (enum exit_status)status;
}
