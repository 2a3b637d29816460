/*
 * `sbxc ask`: what `sbxrun --ask` becomes.  Runs sbxrun, in a terminal of its own,
 * and asks the person at the real one: about names while the command runs, and when
 * all of it has ended, about what else was denied.  With --program it only answers
 * about names, and sbxrun is its parent.
 *
 * Nothing of the sandbox reaches the real terminal while a question stands.  What it
 * left behind is on the screen and in the terminal's queue: so the queue is emptied
 * before each question, and the letters of the answers are drawn anew each time.
 *
 * Nothing is asked about what a rule denies, nor where no single rule would help.
 */
#include "compiler/command/ask.h"
#include "compiler/command/commands.h"
#include "compiler/query/why.h"
#include "compiler/setup/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	ROUNDS_MAX = 16,
	QUESTIONS_MAX = 12,    /* in one round */
	PATIENCE = 120,        /* seconds */
	REPORT_MAX = 16 << 20, /* bytes that are read */
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
execute(const struct asking *asking, int report, int master, int names)
{
	size_t count = 0,
	       room = asking->command_count + 2 * asking->allowed.list.count +
	    6;
	const char **words = arena_alloc(asking->arena, room * sizeof *words);

	words[count++] = asking->command[0];
	words[count++] = "--status-fd";
	words[count++] = arena_printf(asking->arena, "%d", report);
	if (names >= 0) {
		words[count++] = "--questions";
		words[count++] = arena_printf(asking->arena, "%d", names);
		fcntl(names, F_SETFD, 0);
	}
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
	/* Who would answer is gone then. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (master >= 0 && !ask_terminal_enter(master)) {
		complain("cannot enter the command's terminal: %s",
		    strerror(errno));
		_exit(125);
	}
	execv(words[0], (char *const *)words);
	complain("cannot run '%s': %s", words[0], strerror(errno));
	_exit(125);
}

/* Its status, as a shell says it. */
static int
run_once(struct asking *asking, int report)
{
	int master = asking->has_modes ? ask_terminal_open(asking) : -1;
	int status = 0, ends[2] = { -1, -1 };

	if (master >= 0 &&
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		complain("names are not asked about: %s", strerror(errno));
	asking->names = ends[0];
	fflush(stdout);
	child = fork();
	if (child == 0)
		execute(asking, report, master, ends[1]);
	close(ends[1]);
	if (child < 0) {
		complain("cannot fork: %s", strerror(errno));
		return 125;
	}
	if (master >= 0)
		ask_terminal_relay(asking, master, child);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	child = 0;
	close(asking->names);
	close(master);
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

void
ask_letters(char *letters, size_t count)
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
void
ask_settle(const struct asking *asking)
{
	struct termios modes = asking->modes;

	modes.c_lflag |= ICANON | ECHO | ECHOE | ISIG;
	modes.c_iflag |= ICRNL;
	modes.c_oflag |= OPOST | ONLCR;
	if (asking->has_modes)
		tcsetattr(asking->terminal, TCSANOW, &modes);
}

char
ask_answer(const struct asking *asking, int seconds, bool *late)
{
	struct pollfd wait = { .fd = asking->terminal, .events = POLLIN };
	char line[64];
	ssize_t len;
	int ready;

	fflush(stdout);
	tcflush(asking->terminal, TCIFLUSH);
	do {
		ready = poll(&wait, 1, seconds * 1000);
	} while (ready < 0 && errno == EINTR);
	len = ready > 0 ? read(asking->terminal, line, sizeof line) : 0;
	tcflush(asking->terminal, TCIFLUSH);
	if (ready == 0)
		dprintf(asking->terminal, "\nno answer: refused\n");
	if (late != NULL)
		*late = ready == 0;
	return len == 2 && line[1] == '\n' ? line[0] : '\0';
}

bool
ask_policy(const struct asking *asking, const char *effect, const char *rule,
    bool yes, const char **text)
{
	const char *words[8] = { "/proc/self/exe", "allow" };
	size_t count = 2;
	struct ran ran;

	if (yes)
		words[count++] = "--yes";
	if (asking->target != NULL) {
		words[count++] = "--for";
		words[count++] = asking->target;
	}
	words[count++] = "--";
	words[count++] = arena_printf(asking->arena, "%s %s", effect, rule);
	ran = program_run(asking->arena, words, NULL, -1);
	/* Without --yes it ends with "nothing was written". */
	*text = yes && ran.status != 0 ? ran.err : ran.out;
	return ran.status == 0;
}

/* Writes the rule, and says so. */
static bool
allow_always(const struct asking *asking, const char *rule)
{
	const char *text;
	bool written = ask_policy(asking, "allow", rule, true, &text);

	dprintf(asking->terminal, "%s", text);
	return written;
}

static void
ask(struct asking *asking, const struct question *question)
{
	enum { NEXT, ALWAYS, LETTERS };
	char letters[LETTERS], typed;
	const char *opens;

	ask_letters(letters, LETTERS);
	dprintf(asking->terminal, "\nsbxrun: %s was denied: %s %s\n",
	    *question->program != '\0' ? question->program : "something",
	    question->right, question->object);
	ask_policy(asking, "allow", question->rule, false, &opens);
	dprintf(asking->terminal,
	    "%sallow %s?\n"
	    "  %c  in the next run of this command\n"
	    "  %c  always: write it there\n"
	    "  anything else: no\n> ",
	    opens, question->rule, letters[NEXT], letters[ALWAYS]);
	typed = ask_answer(asking, PATIENCE, NULL);
	if (typed == letters[ALWAYS] && !allow_always(asking, question->rule))
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

	ask_letters(&letter, 1);
	dprintf(asking->terminal,
	    "\nsbxrun: run it again? What it did it may do twice.\n"
	    "  %c  yes\n  anything else: no\n> ",
	    letter);
	return ask_answer(asking, PATIENCE, NULL) == letter;
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
	ask_settle(asking);
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
		.program = options->program,
		.always = options->always,
		.names = options->asks != NULL ? atoi(options->asks) : -1,
	};
	int status = 125, report;

	if (asking.program != NULL) {
		signal(SIGPIPE, SIG_IGN);
		fcntl(asking.names, F_SETFD, FD_CLOEXEC);
		while (ask_name(&asking))
			continue;
		return EXIT_CLEAN;
	}
	asking.terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

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
