/*
 * A policy bound to a made-up tree of directories: any rules, globs, exceptions
 * and anchors, with links in every place, and some that others could have made.
 *
 * What comes of it is held against the same question answered without any of
 * the loader's code: each path is resolved by realpath(3), and each glob is
 * matched against each name in the tree.  A right that the binding gives at
 * some place must be given there by an allow and denied by no rule.  Without
 * links in the tree, where nothing can have been planted, it must also give
 * what the rules do.
 */
#define FUZZ_NO_TEXTS
#include "runtime/base/out.h"
#include "runtime/bind/bind.h"
#include "tests/fuzz/bind_tree.h"
#include "tests/fuzz/fuzz.h"

#include "format/model.h"

#include <setjmp.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RULES = 10, EXCLUSIONS = 2, SOCKETS = 3, TEXT = 16384 };

/* A policy in memory, as it would come from a verified blob. */
struct made {
	struct sbx_blob blob;
	struct sbx_meta meta;
	struct sbx_anchor anchors[SBX_ANCHOR_PARAM + 1];
	struct sbx_path paths[RULES];
	struct sbx_exclusion exclusions[RULES * EXCLUSIONS];
	struct sbx_socket sockets[SOCKETS];
	struct sbx_source source;
	char strings[TEXT];
};

struct trial {
	struct made made;
	struct options options;
	struct bind_request request;
	const struct binding *binding;
	struct nodes nodes;
	char workspace[TREE_PATH], parameter[TREE_PATH + 2], home[TREE_PATH];
	bool linked;
};

/* The arena is what the loader has: one, zeroed. */
static struct arena arena;
static jmp_buf refused;

void __wrap_refuse(const char *subject, const char *text, int error)
    __attribute__((noreturn));
void __wrap_refuse_at(const struct sbx_blob *blob, uint32_t source,
    const char *text, int error) __attribute__((noreturn));
void __wrap_warn_at(const struct sbx_blob *blob, uint32_t source,
    const char *text, int error);
void __wrap_warn_about(const char *subject, const char *text, int error);
void __asan_on_error(void);
int LLVMFuzzerInitialize(int *argc, char ***argv);

void
__wrap_refuse(const char *subject, const char *text, int error)
{
	(void)subject;
	(void)error;
	must(text != NULL, "a refusal without a reason");
	longjmp(refused, 1);
}

void
__wrap_refuse_at(const struct sbx_blob *blob, uint32_t source, const char *text,
    int error)
{
	(void)blob;
	(void)source;
	__wrap_refuse(NULL, text, error);
}

void
__wrap_warn_at(const struct sbx_blob *blob, uint32_t source, const char *text,
    int error)
{
	(void)blob;
	(void)source;
	(void)text;
	(void)error;
}

void
__wrap_warn_about(const char *subject, const char *text, int error)
{
	(void)subject;
	(void)text;
	(void)error;
}

/* What is found is written outside. */
void
__asan_on_error(void)
{
	tree_leave();
}

static void
hold(bool held, const char *what)
{
	if (held)
		return;
	tree_leave();
	must(false, what);
}

/* --- the policy ----------------------------------------------------------- */

static uint32_t
add_string(struct made *made, const char *text)
{
	uint32_t at = made->blob.strings_size;
	size_t len = strlen(text) + 1;

	hold(at + len <= sizeof made->strings, "too many strings");
	memcpy(made->strings + at, text, len);
	made->blob.strings_size += (uint32_t)len;
	return at;
}

static uint32_t
draw_suffix(struct made *made, struct input *input, uint16_t anchor)
{
	char path[TREE_PATH];

	input_path(input, path, anchor == SBX_ANCHOR_ROOT, false);
	return path[0] == '\0' ? 0 : add_string(made, path);
}

static uint16_t
draw_anchor(struct made *made, struct input *input)
{
	static const uint16_t anchors[] = { SBX_ANCHOR_WORKSPACE,
		SBX_ANCHOR_HOME, SBX_ANCHOR_ROOT, SBX_ANCHOR_PARAM,
		SBX_ANCHOR_WORKSPACE, SBX_ANCHOR_TMP, SBX_ANCHOR_RUNTIME };
	uint16_t anchor =
	    anchors[input_below(input, sizeof anchors / sizeof *anchors)];

	made->anchors[anchor].flags = SBX_ANCHOR_USED;
	return anchor;
}

static uint32_t
draw_glob(struct made *made, struct input *input)
{
	static const char *const globs[] = { "/*", "/**/.env", "/**/*.env",
		"/*/a", "/*/**/b", "/**/.git/a", "/?", "/**/b/*", "/.*" };
	size_t which = input_below(input, 2 * sizeof globs / sizeof *globs);

	if (which >= sizeof globs / sizeof *globs)
		return 0;
	return add_string(made, globs[which]);
}

static void
draw_rule(struct made *made, struct input *input)
{
	static const uint8_t given[] = { 1, 3, 5, 7 }, taken[] = { 7, 2, 4, 6 };
	struct sbx_path *path = &made->paths[made->blob.path_count++];

	*path = (struct sbx_path){
		.effect = (uint8_t)input_below(input, SBX_EFFECT_END),
		.first_exclusion = made->blob.exclusion_count,
		.platforms = SBX_ON_ALL,
	};
	path->rights = path->effect == SBX_ALLOW ?
	    given[input_below(input, sizeof given)] :
	    taken[input_below(input, sizeof taken)];
	path->anchor = draw_anchor(made, input);
	path->suffix = draw_suffix(made, input, path->anchor);
	path->glob = draw_glob(made, input);
	path->exclusion_count = (uint16_t)input_below(input, EXCLUSIONS + 1);
	for (uint16_t i = 0; i < path->exclusion_count; i++) {
		struct sbx_exclusion *exclusion =
		    &made->exclusions[made->blob.exclusion_count++];

		exclusion->anchor = draw_anchor(made, input);
		exclusion->suffix = draw_suffix(made, input, exclusion->anchor);
	}
}

static void
draw_socket(struct made *made, struct input *input)
{
	struct sbx_socket *rule = &made->sockets[made->blob.socket_count++];

	*rule = (struct sbx_socket){
		.form = SBX_SOCKET_PLACE,
		.effect = (uint8_t)input_below(input, 2),
		.platforms = SBX_ON_ALL,
	};
	rule->anchor = draw_anchor(made, input);
	rule->suffix = draw_suffix(made, input, rule->anchor);
}

static struct made *sorted; /* for qsort(3) */

static int
compare_paths(const void *a, const void *b)
{
	const struct sbx_path *one = a, *two = b;

	if (one->anchor != two->anchor)
		return one->anchor < two->anchor ? -1 : 1;
	return sbx_place_compare(place_of(sorted->strings + one->suffix),
	    place_of(sorted->strings + two->suffix));
}

static void
draw_policy(struct made *made, struct input *input)
{
	static const char *const names[] = { "root", "workspace", "home", "tmp",
		"runtime", "p" };
	size_t count = input_below(input, RULES) + 1;

	*made = (struct made){ 0 };
	made->blob = (struct sbx_blob){
		.meta = &made->meta,
		.strings = made->strings,
		.strings_size = 1,
		.anchors = made->anchors,
		.anchor_count = SBX_ANCHOR_PARAM + 1,
		.paths = made->paths,
		.exclusions = made->exclusions,
		.sockets = made->sockets,
		.sources = &made->source,
		.source_count = 1,
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		made->anchors[i].name = add_string(made, names[i]);
	while (count-- > 0)
		draw_rule(made, input);
	for (count = input_below(input, SOCKETS + 1); count-- > 0;)
		draw_socket(made, input);
	sorted = made;
	qsort(made->paths, made->blob.path_count, sizeof *made->paths,
	    compare_paths);
}

/* --- what the rules say, asked in another way ------------------------------ */

/* The place of an anchor as the binding has it: what is tested is what becomes
 * of the rules. */
static bool
place_found(const struct trial *trial, struct sbx_place anchor, uint32_t suffix,
    char found[PATH_MAX])
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%.*s%s", (int)anchor.len, anchor.path,
	    trial->made.strings + suffix);
	if (realpath(path[0] == '\0' ? "/" : path, found) == NULL)
		return false;
	if (strcmp(found, "/") == 0)
		found[0] = '\0';
	return true;
}

static bool
is_excluded(const struct trial *trial, const struct sbx_path *path,
    const char *at)
{
	const struct binding *binding = trial->binding;
	char found[PATH_MAX];

	for (uint16_t i = 0; i < path->exclusion_count; i++) {
		const struct sbx_exclusion *exclusion =
		    &trial->made.exclusions[path->first_exclusion + i];

		if (binding->bound[exclusion->anchor] &&
		    place_found(trial, binding->anchors[exclusion->anchor],
			exclusion->suffix, found) &&
		    sbx_covers(place_of(found), place_of(at)))
			return true;
		if (exclusion->anchor == SBX_ANCHOR_HOME &&
		    binding->has_other_home &&
		    place_found(trial, binding->other_home, exclusion->suffix,
			found) &&
		    sbx_covers(place_of(found), place_of(at)))
			return true;
	}
	return false;
}

/* Whether a name in the tree matches and lies in no other match, which stands
 * for all that lies in it. */
static bool
is_match(const struct sbx_glob *glob, const char *top, const char *node)
{
	struct sbx_place first = sbx_glob_find(glob, place_of(top),
	    place_of(node));
	char above[PATH_MAX];

	if (first.len != strlen(node))
		return false;
	for (size_t len = strlen(top) + 1; len < first.len; len++) {
		struct sbx_place match;

		if (node[len] != '/')
			continue;
		memcpy(above, node, len);
		above[len] = '\0';
		match = sbx_glob_find(glob, place_of(top), place_of(above));
		if (match.len == len)
			return false;
	}
	return true;
}

static bool
glob_covers(const struct trial *trial, const struct sbx_path *path,
    const char *top, const char *at)
{
	struct sbx_glob glob;
	char found[PATH_MAX];

	hold(sbx_glob_parse(trial->made.strings + path->glob, &glob),
	    "a pattern of ours is none");
	for (size_t i = 0; i < trial->nodes.count; i++) {
		const char *node = trial->nodes.of[i].path;

		if (!sbx_covers(place_of(top), place_of(node)) ||
		    strcmp(top, node) == 0 || !is_match(&glob, top, node) ||
		    is_excluded(trial, path, node) ||
		    realpath(node, found) == NULL)
			continue;
		if (sbx_covers(place_of(found), place_of(at)))
			return true;
	}
	return false;
}

static bool
covers_at(const struct trial *trial, const struct sbx_path *path,
    struct sbx_place anchor, const char *at)
{
	char found[PATH_MAX];

	if (!place_found(trial, anchor, path->suffix, found))
		return false;
	if (path->glob != 0)
		return glob_covers(trial, path, found, at);
	return sbx_covers(place_of(found), place_of(at));
}

static bool
covers(const struct trial *trial, const struct sbx_path *path, const char *at)
{
	const struct binding *binding = trial->binding;
	bool covered;

	if (!binding->bound[path->anchor] ||
	    !sbx_path_holds(path, trial->request.level) ||
	    is_excluded(trial, path, at))
		return false;
	covered = covers_at(trial, path, binding->anchors[path->anchor], at);
	if (!covered && path->effect != SBX_ALLOW &&
	    path->anchor == SBX_ANCHOR_HOME && binding->has_other_home)
		covered = covers_at(trial, path, binding->other_home, at);
	return covered;
}

static bool
expected(const struct trial *trial, uint8_t right, const char *at)
{
	bool allowed = false;

	for (uint32_t i = 0; i < trial->made.blob.path_count; i++) {
		const struct sbx_path *path = &trial->made.paths[i];

		if ((path->rights & right) == 0 || !covers(trial, path, at))
			continue;
		if (path->effect != SBX_ALLOW)
			return false;
		allowed = true;
	}
	return allowed;
}

/* --- what came of it ------------------------------------------------------ */

static void
check_rules(const struct trial *trial)
{
	const struct binding *binding = trial->binding;
	const struct made *made = &trial->made;
	char found[PATH_MAX];

	for (uint32_t i = 0; i < binding->rule_count; i++) {
		const struct site *site = &binding->sites[i];
		const struct sbx_rule *rule = &binding->rules[i];

		/* What sbx keeps for itself is denied by no rule of it. */
		if (site->path->source == SBX_NO_SOURCE &&
		    (site->path->rights & SBX_WRITE) != 0 &&
		    rule->effect == SBX_DENY)
			continue;
		hold(site->path >= made->paths &&
			site->path < made->paths + made->blob.path_count,
		    "a rule that the policy does not have");
		hold((rule->rights & ~site->path->rights & ~SBX_WRITE) == 0,
		    "a rule says more than the policy");
		if (site->fd < 0 || rule->at.len == 0)
			continue;
		hold(realpath(path_of(rule->at), found) != NULL &&
			strlen(found) == rule->at.len &&
			memcmp(found, rule->at.path, rule->at.len) == 0,
		    "an allowed place has a link on its way");
	}
}

static void
check_nodes(struct trial *trial)
{
	const struct binding *binding = trial->binding;

	tree_list(&trial->nodes);
	for (size_t i = 0; i < trial->nodes.count; i++)
		trial->linked |= trial->nodes.of[i].link;
	for (size_t i = 0; i < trial->nodes.count; i++) {
		const char *at = trial->nodes.of[i].path;

		if (trial->nodes.of[i].link)
			continue;
		for (uint8_t right = SBX_READ; right <= SBX_EXEC; right <<= 1) {
			bool given = sbx_verdict_allows(
			    sbx_path_verdict(binding->rules,
				binding->rule_count, right, place_of(at)));
			bool meant = expected(trial, right, at);

			hold(!given || meant, "more is given than was meant");
			hold(!meant || given || trial->linked,
			    "less is given than was meant");
		}
	}
}

/* --- the trial ------------------------------------------------------------ */

static void
draw_options(struct trial *trial, struct input *input)
{
	char path[TREE_PATH];
	uint8_t bits = input_byte(input);

	trial->options = (struct options){ .level = -1, .status_fd = -1 };
	trial->options.plan = bits & 1;
	trial->options.verbose = bits & 2;
	if (bits & 4) {
		input_path(input, trial->workspace, true, true);
		trial->options.workspace = trial->workspace;
	}
	input_path(input, path, true, false);
	snprintf(trial->parameter, sizeof trial->parameter, "p=%s", path);
	trial->options.definitions[0] = (struct definition){
		.text = trial->parameter,
		.name_len = 1,
	};
	trial->options.definition_count = 1;
	snprintf(trial->home, sizeof trial->home, "/h");
	if (bits & 8)
		input_path(input, trial->home, true, false);
	setenv("HOME", trial->home, 1);
	setenv("XDG_RUNTIME_DIR", "/run", 1);
	unsetenv("TMPDIR");
	trial->request = (struct bind_request){
		.blob = &trial->made.blob,
		.options = &trial->options,
		.rules = true,
		.level = bits & 16 ? SBX_LEVEL_STANDARD : SBX_LEVEL_FULL,
		.owners = { -1, -1 },
		.scratch = "0123456789ab",
	};
}

static void
try(struct trial *trial)
{
	struct binder *binder;

	if (setjmp(refused) != 0)
		return;
	binder = bind_begin(&arena, &trial->request);
	trial->binding = bind_finish(binder, &trial->request);
	check_rules(trial);
	check_nodes(trial);
}

/* Replay where there are no mounts skips; a fuzzer has to find something. */
static bool
is_ready(void)
{
	static int ready = -1;

	if (ready < 0)
		ready = tree_begin();
	return ready != 0;
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return is_ready() ? 0 : 1;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct trial trial;
	struct input input = { data, size };
	int first;

	if (!is_ready())
		return 0;
	trial.linked = false;
	first = dup(2);
	memset(&arena, 0, offsetof(struct arena, bytes) + arena.used);
	tree_enter();
	draw_options(&trial, &input);
	tree_make(&input);
	draw_policy(&trial.made, &input);
	if (chdir("/w") == 0)
		try(&trial);
	tree_clear();
	tree_leave();
	/* What a refusal leaves open. */
	syscall(SYS_close_range, first, 499, 0);
	return 0;
}
