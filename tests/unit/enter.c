/*
 * Into a session (runtime/session/enter.c): how a stream is opened again in the
 * view, where a directory of outside is there, what a process is known by, and
 * in which order rights are taken away.
 */
#include "runtime/session/enter.h"
#include "runtime/apply/confine.h"
#include "tests/lib/tap.h"

#include <sys/stat.h>

static struct tap tap;
static char top[] = "/var/tmp/sbx-enter-XXXXXX";

/* --- what takes rights away ----------------------------------------------- */

/* What was done, a word each, and what fails. */
static char done[128];
static const char *fails = "";
static int listener_made = -1;

static const char *
step(const char *word)
{
	strcat(strcat(done, word), " ");
	return strcmp(fails, word) == 0 ? word : NULL;
}

const char *
limit_resources(const struct sbx_blob *blob, enum sbx_level level,
    uint32_t held, uint64_t tasks)
{
	(void)blob;
	return step(level == SBX_LEVEL_FULL && held == 6 && tasks == 0 ?
		"limits" :
		"other-limits");
}

const char *
give_up_permitted(enum sbx_level level)
{
	return step(
	    level == SBX_LEVEL_FULL ? "capabilities" : "other-capabilities");
}

const char *
restrict_files(uint32_t flags, int ruleset)
{
	return step(flags == 8 && ruleset == 77 ? "files" : "other-files");
}

const char *
filter_calls(const struct sbx_insn *bpf, const struct sbx_program *program,
    int *listener)
{
	(void)bpf;
	*listener = listener_made;
	return step(program->count == GUARD_GROUP ? "group" : "terminal");
}

const char *
session_ask(int socket, enum session_kind kind, int fd)
{
	return step(
	    socket == 78 && kind == SESSION_LISTENER && fd == listener_made ?
		"listener" :
		"other-listener");
}

const char *
offer_text(const struct offer *offer, struct offer_text text)
{
	return (const char *)offer->head + text.at;
}

static void
is(const char *what, const char *wanted, const char *got)
{
	if (!tap_ok(&tap, strcmp(wanted, got) == 0, "%s", what))
		printf("# '%s' instead of '%s'\n", got, wanted);
}

static void
restricts(const char *what, const char *fault, bool guarded, bool listens,
    const char *wanted)
{
	struct offer_head head = { .held = 6, .restrict_flags = 8 };
	struct offer offer = { .head = &head };
	const char *said;

	offer.descriptors[OFFER_RULESET] = 77;
	for (uint32_t i = 0; i < GUARD_END; i++)
		head.filters[i].count = i;
	listener_made = listens ? open("/", O_PATH | O_CLOEXEC) : -1;
	fails = fault;
	*done = '\0';
	said = enter_restricted(&offer, 78, guarded);
	is(what, wanted, done);
	tap_ok(&tap, strcmp(said == NULL ? "" : said, fault) == 0,
	    "%s: what is said", what);
	tap_ok(&tap, !listens || fcntl(listener_made, F_GETFD) < 0,
	    "%s: no listener stays", what);
}

static void
check_order(void)
{
	restricts("all", "", false, false,
	    "limits capabilities files terminal ");
	restricts("guarded", "", true, false,
	    "limits capabilities files group ");
	restricts("a listener", "", true, true,
	    "limits capabilities files group listener ");
	restricts("which is not sent", "listener", true, true,
	    "limits capabilities files group listener ");
	restricts("no limits", "limits", true, false, "limits ");
	restricts("capabilities stay", "capabilities", true, false,
	    "limits capabilities ");
	restricts("files stay", "files", true, false,
	    "limits capabilities files ");
	restricts("no filter", "group", true, false,
	    "limits capabilities files group ");
}

/* --- streams -------------------------------------------------------------- */

static void
must(bool held, const char *what)
{
	if (!held) {
		perror(what);
		exit(1);
	}
}

static int
opened(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	must(fd >= 0, path);
	return fd;
}

/* A stream that is opened again by its path: its flags then, or -1. */
static int
reopened(int fd, const char *path)
{
	return enter_stream(fd, path) == NULL ? fcntl(fd, F_GETFL) : -1;
}

static void
keeps(const char *what, const char *path, int before, int after)
{
	const int looked = O_ACCMODE | O_APPEND | O_DIRECT | O_NONBLOCK |
	    O_SYNC;
	int fd = opened(path, before), flags = reopened(fd, path) & looked;

	if (!tap_ok(&tap, flags == after, "%s", what))
		printf("# flags %o\n", (unsigned)flags);
	close(fd);
}

static void
refuses(const char *what, int fd, const char *path, int error)
{
	const char *said;

	errno = 0;
	said = enter_stream(fd, path);
	tap_ok(&tap, said != NULL && errno == error, "%s", what);
	tap_ok(&tap, (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR,
	    "%s: it stays as it is", what);
}

static void
check_streams(void)
{
	int fd = opened("file", O_RDWR | O_CREAT), before, direct;
	char byte = 0;

	must(write(fd, "0123456789", 10) == 10 && symlink("file", "link") == 0,
	    "file");
	close(opened("other", O_RDWR | O_CREAT));
	keeps("a file is for reading alone", "file", O_RDWR, O_RDONLY);
	keeps("one for writing, too", "file", O_WRONLY, O_RDONLY);
	keeps("what appends", "file", O_RDWR | O_APPEND, O_APPEND);
	keeps("what does not wait", "file", O_RDONLY | O_NONBLOCK, O_NONBLOCK);
	direct = open("file", O_RDWR | O_DIRECT | O_CLOEXEC);
	if (direct >= 0) /* not every file system has that */
		keeps("what passes no cache", "file", O_RDWR | O_DIRECT,
		    O_DIRECT);
	close(direct);
	keeps("what is written at once is no matter", "file", O_RDWR | O_SYNC,
	    O_RDONLY);
	keeps("a null device stays as it is", "/dev/null", O_RDWR, O_RDWR);
	keeps("for writing", "/dev/null", O_WRONLY, O_WRONLY);
	keeps("for reading", "/dev/null", O_RDONLY, O_RDONLY);

	refuses("another file", fd, "other", ENOENT);
	refuses("one that is not there", fd, "gone", ENOENT);
	refuses("a link", fd, "link", ELOOP);
	refuses("a null device in its place", fd, "/dev/null", ENOENT);
	must(lseek(fd, 4, SEEK_SET) == 4, "lseek");
	before = opened("/", O_PATH);
	close(before);
	tap_ok(&tap,
	    reopened(fd, "file") >= 0 && read(fd, &byte, 1) == 1 && byte == '4',
	    "it goes on where it was");
	tap_ok(&tap, opened("/", O_PATH) == before, "nothing else stays open");
	close(before);
	close(fd);
	tap_ok(&tap, enter_stream(fd, "file") != NULL && errno == EBADF,
	    "what is closed");
}

/* --- directories ---------------------------------------------------------- */

/* Where a directory of outside is inside, in a buffer of some bytes. */
static const char *
inside(const char *scratch, const char *outside, size_t size)
{
	static struct {
		struct offer_head head;
		char text[64];
	} file;
	static char text[64];
	struct offer offer = { .head = &file.head };

	snprintf(file.text, sizeof file.text, "%s", scratch);
	file.head.scratch = (struct offer_text){ .at = (uint32_t)(file.text -
						     (char *)&file),
		.len = (uint32_t)strlen(scratch) };
	memset(text, '#', sizeof text);
	if (!enter_directory(&offer, outside, text, size))
		return "no";
	return text[size] == '#' ? text : "beyond the room";
}

static void
check_directories(void)
{
	is("another directory", "/w/d", inside("/s/x", "/w/d", 32));
	is("the scratch directory is /tmp", "/tmp", inside("/s/x", "/s/x", 32));
	is("what lies in it", "/tmp/d", inside("/s/x", "/s/x/d", 32));
	is("what begins so", "/s/xy", inside("/s/x", "/s/xy", 32));
	is("what it lies in", "/s", inside("/s/x", "/s", 32));
	is("without one", "/s/x", inside("", "/s/x", 32));
	is("the root directory", "/", inside("/s/x", "/", 32));
	is("as much as there is room for", "/w/d", inside("/s/x", "/w/d", 5));
	is("a byte more", "no", inside("/s/x", "/w/de", 5));
	is("as much in /tmp", "/tmp/d", inside("/s/x", "/s/x/d", 7));
	is("a byte more in /tmp", "no", inside("/s/x", "/s/x/de", 7));
}

/* --- tags ----------------------------------------------------------------- */

static uint64_t
tag(const char *target)
{
	uint64_t read;

	must(symlink(target, "tag") == 0, target);
	read = tag_of(AT_FDCWD, "tag");
	unlink("tag");
	return read;
}

static void
check_tags(void)
{
	struct stat status;

	must(stat("/proc/self/ns/uts", &status) == 0, "uts");
	tap_ok(&tap,
	    tag_of(AT_FDCWD, "/proc/self/ns/uts") == (uint64_t)status.st_ino,
	    "of a process");
	tap_ok(&tap, tag("uts:[4026531838]") == 4026531838, "a tag");
	tap_ok(&tap, tag("uts:4026531838") == 0, "no bracket");
	tap_ok(&tap, tag("uts:[x]") == 0, "no number");
	tap_ok(&tap, tag_of(AT_FDCWD, "gone") == 0, "no link");
}

int
main(void)
{
	must(mkdtemp(top) != NULL && chdir(top) == 0, top);
	check_order();
	check_streams();
	check_directories();
	check_tags();
	unlink("file");
	unlink("other");
	unlink("link");
	rmdir(top);
	return tap_done(&tap);
}
