/*
 * sbxrun at a terminal, as TAP: a person's keys and what should come of them,
 * at levels standard and full, and in a session.  An interactive bash runs on a terminal of its
 * own, sbxrun in it, and what the screen shows is looked through in its order.
 *
 * $SBXRUN is the loader, $SBXC the compiler.
 */
#include "tests/lib/tap.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct screen {
	struct tap *tap;
	int fd;
	pid_t pid;
	const char *level;
	size_t used;
	char seen[65536];
};

static char base[] = "/tmp/sbx-terminal-XXXXXX";

static void
nap(long milliseconds)
{
	struct timespec time = {
		milliseconds / 1000,
		milliseconds % 1000 * 1000000,
	};

	if (nanosleep(&time, NULL) != 0)
		perror("nanosleep");
}

/* Waits until the text is shown, and forgets all up to its end. */
static bool
shows(struct screen *screen, const char *text)
{
	struct pollfd wait = { .fd = screen->fd, .events = POLLIN };
	char *at;

	while ((at = strstr(screen->seen, text)) == NULL) {
		ssize_t got = -1;

		if (screen->used + 1 < sizeof screen->seen &&
		    poll(&wait, 1, 60000) > 0)
			got = read(screen->fd, screen->seen + screen->used,
			    sizeof screen->seen - screen->used - 1);
		if (got <= 0)
			return false;
		for (ssize_t i = 0; i < got; i++) {
			char *byte = &screen->seen[screen->used + (size_t)i];

			*byte = *byte == '\0' ? ' ' : *byte;
		}
		screen->used += (size_t)got;
		screen->seen[screen->used] = '\0';
	}
	at += strlen(text);
	screen->used -= (size_t)(at - screen->seen);
	memmove(screen->seen, at, screen->used + 1);
	return true;
}

/* Milliseconds that a shell has to act on what was typed, on a busy machine. */
enum { TYPING = 1000 };

static void
type(const struct screen *screen, const char *keys)
{
	size_t len = strlen(keys);

	if (write(screen->fd, keys, len) != (ssize_t)len)
		perror("write");
	nap(TYPING);
}

/* What is there instead, as comments. */
static void
tell(const struct screen *screen)
{
	fputs("# ", stdout);
	for (size_t i = 0; i < screen->used; i++) {
		unsigned char byte = (unsigned char)screen->seen[i];

		if (byte == '\n')
			fputs("\n# ", stdout);
		else if (byte >= ' ' && byte < 0x7f)
			putchar(byte);
		else if (byte != '\r')
			printf("\\x%02x", byte);
	}
	putchar('\n');
}

static void
expect(struct screen *screen, const char *name, const char *keys,
    const char *text)
{
	type(screen, keys);
	if (!tap_ok(screen->tap, shows(screen, text), "%s: %s", screen->level,
		name))
		tell(screen);
}

/* Waits until the shell has given the terminal to a job. */
static void
await_job(const struct screen *screen)
{
	for (int i = 0; i < 600 && tcgetpgrp(screen->fd) == screen->pid; i++)
		nap(100);
}

static void
start(struct screen *screen, struct tap *tap, const char *level,
    char *const argv[])
{
	memset(screen, 0, sizeof *screen);
	screen->tap = tap;
	screen->level = level;
	screen->pid = forkpty(&screen->fd, NULL, NULL, NULL);
	if (screen->pid == 0) {
		setenv("PS1", "$ ", 1);
		setenv("TERM", "xterm", 1);
		setenv("HOME", base, 1);
		setenv("LEVEL", level, 1);
		setenv("BASE", base, 1);
		if (chdir(base) == 0 && chdir("work") == 0)
			execvp(argv[0], argv);
		_exit(99);
	}
}

static void
resize(const struct screen *screen, unsigned short rows)
{
	struct winsize size = { .ws_row = rows, .ws_col = 77 };

	ioctl(screen->fd, TIOCSWINSZ, &size);
	nap(200);
}

/* Says "go" when it begins, and "on" each time when it goes on: a key for a job
 * that is not there yet would be one for the shell. */
#define JOB \
	"perl -e '$| = 1; $SIG{CONT} = sub { print qq(o) . qq(n\\n) }; " \
	"print qq(g) . qq(o\\n); sleep 97 while 1'\n"

static void
test_job(struct screen *screen)
{
	expect(screen, "a command starts", "sbx " JOB, "go\r");
	expect(screen, "^Z stops the job", "\x1a", "Stopped");
	expect(screen, "it goes on", "fg\n", "on\r");
	expect(screen, "^C ends it", "\x03", "$ ");
	expect(screen, "with its status", "echo st=$?\n", "st=130");
	expect(screen, "another one starts",
	    "sbx sh -c 'echo g\"\"o; exec cat'\n", "go\r");
	expect(screen, "it reads from the terminal", "hello\n",
	    "hello\r\nhello");
	expect(screen, "and stops", "\x1a", "Stopped");
	type(screen, "bg\n");
	/* Else fg may come before what reads in the background is stopped. */
	expect(screen, "and again, in the background",
	    "until jobs | grep -q Stopped; do sleep .1; done; echo st\"\"ill\n",
	    "still\r");
	type(screen, "fg\n");
	await_job(screen);
	expect(screen, "and goes on", "again\n", "again\r\nagain");
	type(screen, "\x04");
	expect(screen, "to the end", "echo st=$?\n", "st=0");
	type(screen, "sbx sleep 60 &\n");
	expect(screen, "a signal for sbxrun",
	    "kill -TERM $!; wait $!; echo st=$?\n", "st=143");
}

static void
test_shell(struct screen *screen)
{
	type(screen, "sbx bash --norc --noprofile -i\n");
	expect(screen, "a shell inside", "echo in\"\"ner\n", "inner\r");
	expect(screen, "its job starts", JOB, "go\r");
	expect(screen, "its job stops", "\x1a", "Stopped");
	expect(screen, "and is known", "jobs\n", "Stopped ");
	expect(screen, "and goes on", "fg\n", "on\r");
	type(screen, "\x03");
	expect(screen, "and ends by ^C", "echo st=$?\n", "st=130");
	expect(screen, "the shell stops as a whole", "suspend -f\n", "Stopped");
	type(screen, "fg\n");
	await_job(screen);
	expect(screen, "and goes on", "echo b\"\"ack\n", "back\r");
	expect(screen, "a trap is set",
	    "trap 'echo win\"\"ched' WINCH; echo tr\"\"ap\n", "trap\r");
	resize(screen, 33);
	expect(screen, "a change of size is told", "\n", "winched\r");
	expect(screen, "and seen", "stty size\n", "33 77");
	type(screen, "exit 9\n");
	expect(screen, "the shell's status", "echo st=$?\n", "st=9");
}

/*
 * The time goes on while the job is stopped, by a person or by the command,
 * which can get there without a signal of its own: it makes itself a background
 * job.  What it has started runs on meanwhile.
 */
static void
test_time(struct screen *screen)
{
	/* The shell tells of a job's end once: here, or before. */
	static const char ended[] =
	    "while jobs | grep -qE 'Stopped|Running'; do "
	    "sleep .2; done; jobs\n";

	expect(screen, "a job with little time starts", "late " JOB, "go\r");
	expect(screen, "it stops", "\x1a", "Stopped");
	expect(screen, "and ends in time", ended, "Exit 124");
	expect(screen, "a command gives the terminal away and reads",
	    "late perl -MPOSIX -e 'if (fork == 0) { $SIG{TTOU} = q(IGNORE); "
	    "setpgid(0, 0); tcsetpgrp(0, $$); sleep 97; } "
	    "sleep 1; sysread STDIN, $x, 1; sleep 97' $BASE\n",
	    "Stopped");
	expect(screen, "and ends in time", ended, "Exit 124");
	expect(screen, "with all that it started",
	    "echo left=$(pgrep -fc \"perl.*$BASE\")\n", "left=0");
}

/* A terminal that goes away takes what runs on it along. */
static void
test_hangup(struct tap *tap, const char *level)
{
	static struct screen screen;
	char sbxrun[128], policy[128];
	char *argv[] = { sbxrun, (char *)"-l", (char *)level, policy,
		(char *)"--", (char *)"sh", (char *)"-c",
		(char *)"echo g\"\"o; sleep 61; sleep 61", NULL };
	pid_t ended = 0;

	snprintf(sbxrun, sizeof sbxrun, "%s/sbxrun", base);
	snprintf(policy, sizeof policy, "%s/terminal.bin", base);
	start(&screen, tap, level, argv);
	shows(&screen, "go");
	close(screen.fd);
	for (int i = 0; i < 600 && ended == 0; i++) {
		nap(100);
		ended = waitpid(screen.pid, NULL, WNOHANG);
	}
	if (ended == 0)
		kill(screen.pid, SIGKILL);
	tap_ok(tap, ended == screen.pid, "%s: a hangup ends it", level);
}

static bool
has_ended(pid_t pid)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) ==
	    0 &&
	    info.si_pid == pid;
}

static void
test_level(struct tap *tap, const char *level)
{
	static struct screen screen;
	char *argv[] = { (char *)"bash", (char *)"--norc",
		(char *)"--noprofile", (char *)"-i", NULL };

	start(&screen, tap, level, argv);
	shows(&screen, "$ ");
	type(&screen,
	    "case $LEVEL in session) how='--session t'$$ late=--session\\ "
	    "l$$;; "
	    "*) how=\"-l $LEVEL\" late=$how;; esac\n");
	type(&screen,
	    "alias sbx=\"$BASE/sbxrun $how $BASE/terminal.bin --\"\n");
	test_job(&screen);
	test_shell(&screen);
	type(&screen, "alias late=\"$BASE/sbxrun $late $BASE/late.bin --\"\n");
	test_time(&screen);
	type(&screen,
	    "[ $LEVEL != session ] || { $BASE/sbxrun $how --end; "
	    "$BASE/sbxrun $late --end; }; exit\n");
	for (int i = 0; i < 100 && !has_ended(screen.pid); i++)
		nap(100);
	kill(screen.pid, SIGKILL);
	waitpid(screen.pid, NULL, 0);
	close(screen.fd);
}

static bool
prepare(void)
{
	static const char script[] =
	    "mkdir \"$BASE/work\" && cp \"$SBXRUN\" \"$BASE/sbxrun\" && "
	    "printf 'sbx 1\\nprofile terminal extends workspace-write {\\n"
	    "    limit timeout 600s\\n}\\nprofile late extends terminal {\\n"
	    "    limit timeout 8s\\n}\\n' >\"$BASE/policy.sbx\" && "
	    "for p in terminal late; do \"$SBXC\" \"$BASE/policy.sbx\" "
	    "-p $p -o \"$BASE/$p.bin\" || exit; done";

	return mkdtemp(base) != NULL && chmod(base, 0755) == 0 &&
	    setenv("BASE", base, 1) == 0 && system(script) == 0;
}

int
main(void)
{
	struct tap tap = { 0, 0 };
	int status;

	if (!prepare())
		return 99;
	test_level(&tap, "standard");
	test_hangup(&tap, "standard");
	if (tap_has_full(&tap)) {
		test_level(&tap, "full");
		test_hangup(&tap, "full");
		test_level(&tap, "session");
	}
	status = tap_done(&tap);
	if (system("rm -rf \"$BASE\"") != 0)
		return 99;
	return status;
}
