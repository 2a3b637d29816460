/*
 * The command's own terminal, where a person is asked while it runs: a pseudo
 * terminal, from and to which bytes are passed.  While a question stands none are.
 * So nothing of the sandbox can write over the question, read or type its answer, or
 * change how the person's terminal works; it may go on meanwhile, or be stopped,
 * which matters to nobody.
 *
 *	person's terminal <-- raw --> sbxc <--> master | slave <-- sbxrun, the command
 */
#include "compiler/command/ask.h"
#include "compiler/query/why.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int
ask_terminal_open(const struct asking *asking)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct winsize size;

	if (master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0 &&
	    tcsetattr(master, TCSANOW, &asking->modes) == 0 &&
	    fcntl(master, F_SETFL, O_RDWR | O_NONBLOCK) == 0) {
		if (ioctl(asking->terminal, TIOCGWINSZ, &size) == 0)
			ioctl(master, TIOCSWINSZ, &size);
		return master;
	}
	complain("names are not asked about, as there is no terminal for the "
		 "command: %s",
	    strerror(errno));
	if (master >= 0)
		close(master);
	return -1;
}

/* Of the standard streams those that lead to the terminal; a log that one leads to
 * stays. */
bool
ask_terminal_enter(int master)
{
	const char *name = ptsname(master);
	struct stat status;
	int fd;

	if (name == NULL || setsid() < 0)
		return false;
	fd = open(name, O_RDWR | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, TIOCSCTTY, 0) != 0)
		return false;
	for (int i = 0; i <= STDERR_FILENO; i++) {
		if (fstat(i, &status) == 0 && S_ISCHR(status.st_mode) &&
		    isatty(i) && dup2(fd, i) != i)
			return false;
	}
	return true;
}

/* --- relaying ------------------------------------------------------------- */

static volatile sig_atomic_t changed;

static void
note_change(int number)
{
	(void)number;
	changed = 1;
}

static void
set_raw(const struct asking *asking)
{
	struct termios raw = asking->modes;

	cfmakeraw(&raw);
	tcsetattr(asking->terminal, TCSADRAIN, &raw);
}

static void
put_all(int fd, const char *bytes, ssize_t len)
{
	while (len > 0) {
		ssize_t done = write(fd, bytes, (size_t)len);

		if (done < 0 && errno != EINTR)
			return;
		bytes += done > 0 ? done : 0;
		len -= done > 0 ? done : 0;
	}
}

/* What the command has written; false: all of it. */
static bool
show(const struct asking *asking, int master)
{
	char bytes[4096];
	ssize_t len = read(master, bytes, sizeof bytes);

	put_all(asking->terminal, bytes, len);
	return len > 0;
}

/* What was typed, and what there was no room for. */
struct typed {
	char bytes[1024];
	ssize_t len, done;
};

static void
type(struct typed *typed, int master)
{
	ssize_t done = write(master, typed->bytes + typed->done,
	    (size_t)(typed->len - typed->done));

	typed->done += done > 0 ? done : 0;
	if (typed->done >= typed->len || (done < 0 && errno != EAGAIN))
		typed->len = typed->done = 0;
}

void
ask_terminal_relay(struct asking *asking, int master, pid_t process)
{
	enum { PERSON, COMMAND, NAMES, END, ALL };
	struct typed typed = { .len = 0 };
	struct pollfd wait[ALL] = {
		[PERSON] = { .fd = asking->terminal },
		[COMMAND] = { .fd = master },
		[NAMES] = { .fd = asking->names, .events = POLLIN },
		[END] = { .fd = (int)syscall(SYS_pidfd_open, process, 0),
		    .events = POLLIN },
	};
	const struct sigaction note = { .sa_handler = note_change };

	sigaction(SIGWINCH, &note, NULL);
	sigaction(SIGCONT, &note, NULL);
	set_raw(asking);
	while (wait[END].fd >= 0 && wait[END].revents == 0) {
		struct winsize size;

		wait[PERSON].events = typed.len == 0 ? POLLIN : 0;
		wait[COMMAND].events = POLLIN | (typed.len > 0 ? POLLOUT : 0);
		if (poll(wait, ALL, -1) < 0) {
			for (int i = 0; i < ALL; i++)
				wait[i].revents = 0;
		}
		if (changed) {
			changed = 0;
			set_raw(asking);
			if (ioctl(asking->terminal, TIOCGWINSZ, &size) == 0)
				ioctl(master, TIOCSWINSZ, &size);
		}
		if (wait[PERSON].revents != 0) {
			typed.len = read(asking->terminal, typed.bytes,
			    sizeof typed.bytes);
			/* It was hung up. */
			if (typed.len <= 0)
				wait[PERSON].fd = -1;
		}
		if (typed.len > 0)
			type(&typed, master);
		/* Nobody has it open: the end comes. */
		if ((wait[COMMAND].revents & (POLLIN | POLLHUP)) != 0 &&
		    !show(asking, master) && (wait[COMMAND].revents & POLLHUP))
			wait[COMMAND].fd = -1;
		if (wait[NAMES].revents != 0) {
			if (!ask_name(asking))
				wait[NAMES].fd = -1;
			set_raw(asking);
		}
	}
	while (show(asking, master))
		continue;
	if (wait[END].fd >= 0)
		close(wait[END].fd);
	signal(SIGWINCH, SIG_DFL);
	signal(SIGCONT, SIG_DFL);
	tcsetattr(asking->terminal, TCSADRAIN, &asking->modes);
}
