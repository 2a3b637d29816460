/*
 * See explain.h.  The denials have paths that the command chose.  So sbxc reads
 * them confined (base/helper.c), and its answer is text, which is printed as what it
 * is.
 */
#include "runtime/explain/explain.h"

#include "format/blob.h"
#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <sys/mman.h>
#include <sys/stat.h>

enum {
	PATIENCE = 10000, /* milliseconds */
	WORDS_MAX = 16 + 2 * SBX_MAX_ANCHORS,
	TEXT_SIZE = 64 << 10,
};

/* --- which program -------------------------------------------------------- */

void
advice_open(struct explaining *explaining)
{
	struct path path;
	struct sbx_place at;

	if (helper_path(&path) == NULL)
		return;
	at = (struct sbx_place){ path.text, path.len };
	if (rule_index_allows(explaining->binding->index, SBX_WRITE, at) ||
	    rule_index_allows(explaining->binding->index, SBX_WRITE,
		place_parent(at)))
		return;
	explaining->helper = helper_open(path.text);
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
	if (explaining->policy != NULL && *explaining->policy != '\0')
		add(words, "--for=", explaining->policy, none);
	add_anchors(words, explaining);
	add(words, "/proc/self/fd/3", "", none);
	words->words[words->count] = NULL;
	out_into(&words->home, words->paths[0], sizeof words->paths[0]);
	out_into(&words->runtime, words->paths[1], sizeof words->paths[1]);
	fill_variable(&words->home, explaining, "HOME=", SBX_ANCHOR_HOME);
	fill_variable(&words->runtime, explaining,
	    "XDG_RUNTIME_DIR=", SBX_ANCHOR_RUNTIME);
}

static struct advice
read_answer(int fd, uint32_t count)
{
	enum { WORDS_SIZE_MAX = 1 << 20 };
	size_t size = count * sizeof(struct sbx_advice);
	struct stat status;
	void *answer;

	if (fstat(fd, &status) != 0 || (size_t)status.st_size < size ||
	    (size_t)status.st_size > size + WORDS_SIZE_MAX)
		return (struct advice){ .all = NULL };
	answer = mmap(NULL, (size_t)status.st_size + 1, PROT_READ, MAP_PRIVATE,
	    fd, 0);
	if (answer == MAP_FAILED)
		return (struct advice){ .all = NULL };
	return (struct advice){ answer, (const char *)answer + size,
		(size_t)status.st_size - size };
}

static struct advice
ask(const struct explaining *explaining, struct words *words,
    const int files[3])
{
	/* In a session it has another number than its /proc says, with which the
	 * search for leaks of an sbxc with sanitizers cannot deal. */
	char leaks[] = "ASAN_OPTIONS=detect_leaks=0";
	char *variables[] = { leaks, words->home.text, words->runtime.text,
		NULL };
	const struct helper_call call = {
		.program = explaining->helper,
		.words = words->words,
		.variables = variables,
		.in = files[0],
		.out = files[1],
		.err = -1,
		.policy = files[2],
		.patience = PATIENCE,
	};

	if (files[0] < 0 || files[1] < 0 || files[2] < 0 ||
	    helper_run(&call) != 0)
		return (struct advice){ .all = NULL };
	return read_answer(files[1], explaining->count);
}

/* What it is told: the head, then the denials. */
static int
question_file(const struct explaining *explaining,
    const struct sbx_explained *head)
{
	int fd = helper_file(head, sizeof *head);
	size_t size = explaining->count * sizeof *explaining->denials;

	for (uint32_t i = 0; i < explaining->count; i++)
		explain_host_fill(&explaining->denials[i]);
	if (fd >= 0 &&
	    pwrite(fd, explaining->denials, size, sizeof *head) !=
		(ssize_t)size) {
		close(fd);
		return -1;
	}
	return fd;
}

struct advice
advice_ask(const struct explaining *explaining,
    const struct sbx_explained *head)
{
	const struct sbx_blob *blob = explaining->blob;
	struct advice advice = { .all = NULL };
	struct words words;
	int files[3];

	if (explaining->helper < 0)
		return advice;
	fill_words(&words, explaining,
	    explaining->view ? SBX_LEVEL_FULL : SBX_LEVEL_STANDARD);
	files[0] = question_file(explaining, head);
	files[1] = helper_file("", 0);
	files[2] = helper_file(blob->base, blob->size);
	if (!words.out.full)
		advice = ask(explaining, &words, files);
	for (int i = 0; i < 3; i++) {
		if (files[i] >= 0)
			close(files[i]);
	}
	return advice;
}
