/*
 * What the loader reads of the caller's user namespace: in processes that are
 * in one, with the map of a case.
 */
#include "runtime/base/kernel.h"
#include "tests/lib/tap.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ORDINARY = 23917, HIDES = 1, COUNTS = 2, FAILED = 100 };

/* Who is outside may map any user. */
static bool
write_map(pid_t child, const char *text)
{
	char path[64];
	bool written;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/uid_map", (int)child);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	written = fd >= 0 &&
	    write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return written;
}

/* What a process says of itself that is this user, or, in a namespace, that
 * one inside. */
__attribute__((noreturn)) static void
say(int socket, uid_t user, const char *map, uid_t inside)
{
	char byte = 0;

	if (user != 0 && setresuid(user, user, user) != 0)
		_exit(FAILED);
	if (map != NULL && unshare(CLONE_NEWUSER) != 0)
		_exit(FAILED);
	if (write(socket, &byte, 1) != 1 || read(socket, &byte, 1) != 1 ||
	    (map != NULL && *map != '\0' &&
		setresuid(inside, inside, inside) != 0))
		_exit(FAILED);
	_exit((machine_hides_owners() ? HIDES : 0) |
	    (machine_counts_processes() ? COUNTS : 0));
}

static int
ask(uid_t user, const char *map, uid_t inside)
{
	int ends[2], status = 0;
	char byte;
	pid_t child;

	fflush(stdout);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return FAILED;
	child = fork();
	if (child == 0) {
		close(ends[0]);
		say(ends[1], user, map, inside);
	}
	close(ends[1]);
	/* One without its map ends by itself. */
	if (read(ends[0], &byte, 1) == 1 &&
	    (map == NULL || *map == '\0' || write_map(child, map)) &&
	    write(ends[0], &byte, 1) != 1)
		kill(child, SIGKILL);
	close(ends[0]);
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
}

#define TEN \
	"100 100 1\n102 102 1\n104 104 1\n106 106 1\n" \
	"108 108 1\n110 110 1\n112 112 1\n114 114 1\n" \
	"116 116 1\n118 118 1\n"
#define OTHER_TEN \
	"200 200 1\n202 202 1\n204 204 1\n206 206 1\n" \
	"208 208 1\n210 210 1\n212 212 1\n214 214 1\n" \
	"216 216 1\n218 218 1\n"

static const struct {
	const char *what;
	uid_t user;
	const char *map; /* NULL: that of the test; "": none yet */
	uid_t inside;
	int said;
} cases[] = {
	{ "an ordinary user", ORDINARY, NULL, 0, COUNTS },
	{ "root", 0, NULL, 0, 0 },
	{ "an ordinary user in a namespace without a map", ORDINARY, "", 0,
	    HIDES | COUNTS },
	{ "root as itself", 0, "0 0 1", 0, HIDES },
	{ "root as another one", 0, "7 0 1", 7, HIDES | COUNTS },
	{ "somebody as root", 0, "0 23917 1", 0, HIDES | COUNTS },
	{ "somebody as root, in the second line", 0, "7 0 1\n0 23917 1", 0,
	    HIDES },
	{ "all", 0, "0 0 65536", 0, 0 },
	{ "all but the last", 0, "0 0 65534", 0, HIDES },
	{ "the last one alone", 0, "0 0 1\n65534 65534 1", 0, 0 },
	{ "from the next one on", 0, "0 0 1\n65535 65535 9", 0, HIDES },
	{ "many up to it", 0, "0 0 1\n60000 60000 5535", 0, 0 },
	/* The kernel writes 33 bytes a line. */
	{ "more lines than are read, of which any may be the last one's", 0,
	    "0 0 1\n" TEN OTHER_TEN "65534 65534 1", 0, 0 },
	{ "as many as are read", 0, "0 0 1\n" TEN "300 300 1", 0, HIDES },
};

int
main(void)
{
	struct tap tap = { 0 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int said;

		/* Nobody else is another user, or maps one. */
		if (geteuid() != 0 && cases[i].user != geteuid())
			continue;
		said = ask(geteuid() == 0 ? cases[i].user : 0, cases[i].map,
		    cases[i].inside);
		if (said == FAILED)
			tap_skip(&tap, "there are no namespaces of users",
			    "the map: %s", cases[i].what);
		else if (!tap_ok(&tap, said == cases[i].said, "the map: %s",
			     cases[i].what))
			printf("# %d\n", said);
	}
	if (geteuid() != 0)
		tap_ok(&tap, ask(0, NULL, 0) == COUNTS, "the test's own user");
	return tap_done(&tap);
}
