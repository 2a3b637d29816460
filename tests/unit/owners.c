/*
 * Who could have made a link (runtime/bind/owners.c): by its owner, by who may
 * write the directories around it, and by the word of the supervisor where this
 * process does not see whose they are.
 */
#include "runtime/bind/bind.h"
#include "tests/lib/tap.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	USER = 1000, /* the user, and a group of the same number */
	OTHER = 2000,
	OVERFLOW = 65534,
	NO_LINE = -1,
};

static char base[] = "/tmp/sbx-owners-XXXXXX";

struct look {
	const char *what;
	uid_t user, owner; /* who asks; who has the link and its directories */
	gid_t group;       /* of who asks */
	gid_t gid;         /* of the directories */
	mode_t above, holder;
	int says; /* what the supervisor answers, or NO_LINE */
	bool asks, trusted;
};

static struct sbx_place
place(const char *path)
{
	return (struct sbx_place){ path, (uint32_t)strlen(path) };
}

static void
make(const struct look *look)
{
	if (fchownat(AT_FDCWD, base, look->owner, look->gid, 0) != 0 ||
	    chown("holder", look->owner, look->gid) != 0 ||
	    lchown("holder/link", look->owner, look->gid) != 0 ||
	    chmod(base, look->above) != 0 ||
	    chmod("holder", look->holder) != 0) {
		printf("Bail out! the directories of %s\n", look->what);
		exit(1);
	}
}

/* In a process of its own, which becomes the user. */
static void
ask(const struct look *look, struct owners *owners)
{
	char link[64];

	if (owners->ask >= 0)
		owners_use(owners);
	if (setegid(look->group) != 0 || seteuid(look->user) != 0)
		_exit(2);
	snprintf(link, sizeof link, "%s/holder/link", base);
	_exit(owners_trust(owners, place(link), place(base)));
}

static void
test_look(struct tap *tap, const struct look *look)
{
	char asked[SBX_MAX_PATH + 1], answer = (char)look->says;
	bool came = false;
	struct owners owners;
	int status;
	pid_t child;

	make(look);
	owners_none(&owners);
	if (look->says != NO_LINE)
		owners_open(&owners);
	fflush(stdout);
	child = fork();
	if (child == 0)
		ask(look, &owners);
	if (look->says != NO_LINE) {
		close(owners.ask);
		owners.ask = -1;
		while (recv(owners.answer, asked, sizeof asked, 0) > 0) {
			came = true;
			send(owners.answer, &answer, 1, MSG_NOSIGNAL);
		}
	}
	owners_close(&owners);
	waitpid(child, &status, 0);
	tap_ok(tap,
	    WIFEXITED(status) && WEXITSTATUS(status) == look->trusted &&
		came == look->asks,
	    "%s", look->what);
}

/* Of this user, whoever that is. */
static void
test_own(struct tap *tap)
{
	static const struct {
		const char *what;
		mode_t above, holder;
		bool trusted;
	} cases[] = {
		{ "nobody else may write", 0755, 0755, true },
		{ "all may write what holds it", 0755, 0777, false },
		{ "and be stopped by a sticky bit", 0755, 01777, false },
		{ "all may write what is above", 0777, 0755, false },
		{ "where a sticky bit keeps ours", 01777, 0755, true },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		test_look(tap,
		    &(struct look){
			.what = cases[i].what,
			.user = geteuid(),
			.owner = geteuid(),
			.group = getegid(),
			.gid = getegid(),
			.above = cases[i].above,
			.holder = cases[i].holder,
			.says = NO_LINE,
			.trusted = cases[i].trusted,
		    });
}

static void
test_others(struct tap *tap)
{
	static const struct look looks[] = {
		{ "a group of the user's own number may write", USER, USER,
		    USER, USER, 0755, 0775, NO_LINE, false, true },
		{ "one of that number that is not the user's", USER, USER,
		    OTHER, USER, 0755, 0775, NO_LINE, false, false },
		{ "the user's group of another number", USER, USER, OTHER,
		    OTHER, 0755, 0775, NO_LINE, false, false },
		{ "root's group", USER, USER, USER, 0, 0755, 0775, NO_LINE,
		    false, true },
		{ "root's link", USER, 0, USER, USER, 0755, 0755, NO_LINE,
		    false, true },
		{ "another user's", USER, OTHER, USER, USER, 0755, 0755,
		    NO_LINE, false, false },
		{ "with a supervisor: one's own", USER, USER, USER, USER, 0755,
		    0755, false, false, true },
		{ "with a supervisor: who looks like root", USER, 0, USER, USER,
		    0755, 0755, false, true, false },
		{ "and is", USER, 0, USER, USER, 0755, 0755, true, true, true },
		{ "with a supervisor: nobody's", OVERFLOW, OVERFLOW, OVERFLOW,
		    OVERFLOW, 0755, 0755, false, true, false },
		{ "which are one's own", OVERFLOW, OVERFLOW, OVERFLOW, OVERFLOW,
		    0755, 0755, true, true, true },
	};

	for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
		test_look(tap, &looks[i]);
}

int
main(void)
{
	struct tap tap = { 0 };

	if (mkdtemp(base) == NULL || chdir(base) != 0 ||
	    mkdir("holder", 0755) != 0 ||
	    symlink("elsewhere", "holder/link") != 0) {
		printf("Bail out! no directories\n");
		return 1;
	}
	test_own(&tap);
	/* Nobody else may become others. */
	if (geteuid() == 0)
		test_others(&tap);
	unlink("holder/link");
	rmdir("holder");
	rmdir(base);
	return tap_done(&tap);
}
