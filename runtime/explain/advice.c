/*
 * See explain.h.  The denials have paths that the command chose.  So the process
 * that reads them can write nothing but its answer, has no capabilities, and is
 * ended after some seconds; and its answer is text of a fixed size, which is
 * printed as what it is.
 */
#include "runtime/explain/explain.h"

#include "format/blob.h"
#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum {
	PATIENCE = 10000, /* milliseconds */
	POLICY = 3,       /* where sbxc finds the policy */
	WORDS_MAX = 16 + 2 * SBX_MAX_ANCHORS,
	TEXT_SIZE = 64 << 10,
};

/* --- which program -------------------------------------------------------- */

static const char *
place_of_helper(struct path *path)
{
	ssize_t len = readlink("/proc/self/exe", path->text,
	    sizeof path->text - 1);

	if (len <= 0)
		return NULL;
	path_cut(path, (uint32_t)len);
	path_cut(path,
	    place_parent((struct sbx_place){ path->text, path->len }).len);
	return path_push(path, "sbxc", 4) ? path->text : NULL;
}

void
advice_open(struct explaining *explaining)
{
	struct path path;
	struct sbx_place at;
	int found;

	if (place_of_helper(&path) == NULL)
		return;
	at = (struct sbx_place){ path.text, path.len };
	if (rule_index_allows(explaining->binding->index, SBX_WRITE, at) ||
	    rule_index_allows(explaining->binding->index, SBX_WRITE,
		place_parent(at)))
		return;
	found = open(path.text, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (found < 0)
		return;
	/* The policy will be put in that place, over whatever is there. */
	explaining->helper = fcntl(found, F_DUPFD_CLOEXEC, POLICY + 1);
	close(found);
}

/* --- the process ---------------------------------------------------------- */

/* The words of a command line, in room of their own. */
struct words {
	char *words[WORDS_MAX];
	size_t count;
	struct out out, home, runtime;
	char text[TEXT_SIZE], paths[2][SBX_MAX_PATH + 32];
};

static void
add(struct words *words, const char *a, const char *b, struct sbx_place c)
{
	if (words->count + 1 >= WORDS_MAX)
		return;
	words->words[words->count++] = words->text + words->out.used;
	out_text(&words->out, a);
	out_text(&words->out, b);
	out_bytes(&words->out, c.path, c.len);
	out_bytes(&words->out, "", 1);
}

static void
add_anchors(struct words *words, const struct explaining *explaining)
{
	static const struct sbx_place root = { "/", 1 }, equals = { "=", 1 };
	const struct binding *binding = explaining->binding;
	const struct sbx_blob *blob = explaining->blob;

	for (uint32_t i = 1; i < blob->anchor_count; i++) {
		struct sbx_place at = binding->anchors[i].len > 0 ?
		    binding->anchors[i] :
		    root;
		const char *name = sbx_string(blob, blob->anchors[i].name);

		if (!binding->bound[i])
			continue;
		if (i == SBX_ANCHOR_WORKSPACE)
			add(words, "--workspace=", "", at);
		else if (i >= SBX_ANCHOR_PARAM) {
			add(words, "--define=", name, equals);
			/* The path follows the sign of equality at once. */
			words->out.used--;
			out_bytes(&words->out, at.path, at.len);
			out_bytes(&words->out, "", 1);
		}
	}
}

/* A variable of the environment; without the anchor it is one of no meaning. */
static void
fill_variable(struct out *out, const struct explaining *explaining,
    const char *name, int anchor)
{
	const struct binding *binding = explaining->binding;

	if (!binding->bound[anchor])
		return;
	out_text(out, name);
	out_text(out, path_of(binding->anchors[anchor]));
}

static void
fill_words(struct words *words, const struct explaining *explaining,
    enum sbx_level level)
{
	static const struct sbx_place none = { "", 0 };
	struct sbx_place scratch = explaining->binding->scratch;

	words->count = 0;
	out_into(&words->out, words->text, sizeof words->text);
	add(words, "sbxc", "", none);
	add(words, "why", "", none);
	add(words, "--denials=", scratch.len > 0 ? "" : "-", scratch);
	add(words, "--level=", level_name(level), none);
	add_anchors(words, explaining);
	add(words, "/proc/self/fd/3", "", none);
	words->words[words->count] = NULL;
	out_into(&words->home, words->paths[0], sizeof words->paths[0]);
	out_into(&words->runtime, words->paths[1], sizeof words->paths[1]);
	fill_variable(&words->home, explaining, "HOME=", SBX_ANCHOR_HOME);
	fill_variable(&words->runtime, explaining,
	    "XDG_RUNTIME_DIR=", SBX_ANCHOR_RUNTIME);
}

/* It writes nowhere but to what it has open, and to nobody: of all that this
 * Landlock can take away, reading and executing files are left. */
static bool
keep_from_writing(void)
{
	static const struct sbx_meta nothing = { .net = SBX_NET_NONE };
	int abi = landlock_create_ruleset(NULL, 0,
	    LANDLOCK_CREATE_RULESET_VERSION);
	struct sbx_landlock row = sbx_landlock_row(abi > 0 ? (uint32_t)abi : 0,
	    &nothing);
	const struct landlock_ruleset_attr attr = {
		.handled_access_fs = row.handled_fs &
		    ~(row.list | row.read | row.exec),
		.handled_access_net = row.handled_net,
		.scoped = row.scoped,
	};
	int ruleset = landlock_create_ruleset(&attr, sizeof attr, 0);

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ruleset >= 0 &&
	    landlock_restrict_self(ruleset, 0) == 0;
}

__attribute__((noreturn)) static void
be_helper(const struct explaining *explaining, struct words *words,
    const int files[3])
{
	/* In a session it has another number than its /proc says, with which the
	 * search for leaks of an sbxc with sanitizers cannot deal. */
	char leaks[] = "ASAN_OPTIONS=detect_leaks=0";
	char *variables[] = { leaks, words->home.text, words->runtime.text,
		NULL };
	static const char *const none = "/dev/null";
	sigset_t all;
	int null = open(none, O_WRONLY | O_CLOEXEC);

	sigemptyset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (dup2(files[0], STDIN_FILENO) < 0 ||
	    dup2(files[1], STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0 || !keep_from_writing())
		_exit(EXIT_REFUSED);
	/* None of them is as low. */
	if (files[2] == POLICY ? fcntl(POLICY, F_SETFD, 0) != 0 :
				 dup2(files[2], POLICY) < 0)
		_exit(EXIT_REFUSED);
	syscall(SYS_execveat, explaining->helper, "", words->words, variables,
	    AT_EMPTY_PATH);
	_exit(EXIT_REFUSED);
}

static int
file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("sbx", MFD_CLOEXEC);
	const char *at = bytes;

	while (fd >= 0 && size > 0) {
		ssize_t len = write(fd, at, size);

		if (len <= 0) {
			close(fd);
			return -1;
		}
		at += len;
		size -= (size_t)len;
	}
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd < 0 ? fd : above_standard(fd);
}

/* Whether it ended well, and in time. */
static bool
wait_for(pid_t helper)
{
	struct pollfd wait = {
		.fd = (int)syscall(SYS_pidfd_open, helper, 0),
		.events = POLLIN,
	};
	int status = -1;

	if (wait.fd < 0 || poll(&wait, 1, PATIENCE) != 1)
		kill(helper, SIGKILL);
	if (wait.fd >= 0)
		close(wait.fd);
	while (waitpid(helper, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static const struct sbx_advice *
read_answer(int fd, uint32_t count)
{
	size_t size = count * sizeof(struct sbx_advice);
	struct stat status;
	void *answer;

	if (fstat(fd, &status) != 0 || (size_t)status.st_size != size)
		return NULL;
	answer = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	return answer == MAP_FAILED ? NULL : answer;
}

static const struct sbx_advice *
ask(const struct explaining *explaining, struct words *words,
    const int files[3])
{
	pid_t helper;

	if (files[0] < 0 || files[1] < 0 || files[2] < 0)
		return NULL;
	helper = fork();
	if (helper == 0)
		be_helper(explaining, words, files);
	return helper > 0 && wait_for(helper) ?
	    read_answer(files[1], explaining->count) :
	    NULL;
}

const struct sbx_advice *
advice_ask(const struct explaining *explaining, enum sbx_level level)
{
	const struct sbx_blob *blob = explaining->blob;
	const struct sbx_advice *answer;
	struct words words;
	int files[3];

	if (explaining->helper < 0 || explaining->count == 0)
		return NULL;
	fill_words(&words, explaining, level);
	files[0] = file_of(explaining->denials,
	    explaining->count * sizeof *explaining->denials);
	files[1] = file_of("", 0);
	files[2] = file_of(blob->base, blob->size);
	answer = words.out.full ? NULL : ask(explaining, &words, files);
	for (int i = 0; i < 3; i++) {
		if (files[i] >= 0)
			close(files[i]);
	}
	return answer;
}
