/*
 * The tripwire: the supervisor looks at what the policy watches before the
 * command starts and after everything of it has ended, and tells what changed,
 * on stderr and in the receipt.  It keeps nothing from happening.
 *
 * Both looks are the supervisor's own, by path and as its user: nothing that
 * the command can write is believed.
 *
 * Who asks sbxrun to end may kill it soon after.  So the first such signal has
 * what changed told at once, and until all is told, the first look is on disk:
 * the next run, or --doctor, tells what a run that was killed could not.
 */
#include "runtime/watch/tripwire.h"

#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/bind/bind.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	HOMES = 2,
	LEADS_MAX = 64, /* places that others lead to */
	LOOKS_MORE = 3, /* beside those of anchors: the other home, the
	                 * repository, and the root */
};

/* --- before --------------------------------------------------------------- */

static void
read_settings(struct arena *arena, struct wire *wire)
{
	enum { TEXTS_MAX = 128 << 10 }; /* of the rest, that it changed */
	uint32_t i = 0;
	uint64_t bytes = 0;

	if (wire->watch->form != SBX_WATCH_GIT)
		return;
	wire->settings = arena_take(arena, wire->before.count,
	    sizeof *wire->settings);
	for (const struct seen *seen = wire->before.first; seen != NULL;
	     seen = seen->next, i++) {
		if (seen->part != SBX_GIT_SETTINGS)
			continue;
		bytes += seen->size <= LOOK_MAX_SETTINGS ? seen->size : 0;
		if (bytes <= TEXTS_MAX)
			wire->settings[i] = look_settings(arena, seen);
	}
}

struct look_from *
tripwire_from(const struct tripwire *tripwire, struct look_from *from,
    uint32_t index)
{
	const struct binding *binding = tripwire->binding;

	if (from[index].opened)
		return &from[index];
	if (index == tripwire->blob->anchor_count + LOOKS_MORE - 1)
		from[index] = (struct look_from){ .fd = -1, .opened = true };
	else
		look_begin(&from[index],
		    index == tripwire->blob->anchor_count ?
			binding->other_home :
			index > tripwire->blob->anchor_count ?
			binding->git :
			binding->anchors[index]);
	return &from[index];
}

void
tripwire_end_looks(const struct tripwire *tripwire, struct look_from *from)
{
	for (uint32_t i = 0; i < tripwire->blob->anchor_count + LOOKS_MORE;
	     i++) {
		look_end(&from[i]);
		if (from == tripwire->now)
			from[i] = (struct look_from){ .opened = false };
	}
}

static void
add_wire(struct tripwire *tripwire, const struct sbx_watch *watch,
    struct sbx_place anchor, uint32_t from)
{
	const char *suffix = sbx_string(tripwire->blob, watch->suffix);
	struct wire *wire = &tripwire->wires[tripwire->count++];
	struct arena *arena = tripwire->arena;
	bool repository = from > tripwire->blob->anchor_count;

	*wire = (struct wire){
		.watch = watch,
		.from = from,
		.what = {
			.form = repository ? LOOK_GIT_DIRECTORY : watch->form,
			.pattern = sbx_string(tripwire->blob, watch->glob),
			.key = tripwire->key,
		},
	};
	wire->what.at = repository ?
	    anchor :
	    arena_join(arena, anchor, sbx_place_of(suffix));
	look(arena, &wire->what,
	    tripwire_from(tripwire, tripwire->before, from), &wire->before);
	read_settings(arena, wire);
}

/* --- what leads on -------------------------------------------------------- */

/* The path, with its links followed as far as there is something. */
static struct sbx_place
led_to(struct arena *arena, const char *path)
{
	struct path real;
	struct out name;
	ssize_t len = -1;
	int fd = openat(AT_FDCWD, path, O_PATH | O_CLOEXEC);

	out_init(&name, -1);
	out_print(&name, "/proc/self/fd/%u", (unsigned)fd);
	if (fd >= 0) {
		len = readlink(name.text, real.text, sizeof real.text - 1);
		close(fd);
	} else if (strstr(path, "/..") == NULL && strlen(path) < SBX_MAX_PATH) {
		len = (ssize_t)strlen(path);
		memcpy(real.text, path, (size_t)len);
	}
	if (len <= 1 || len >= SBX_MAX_PATH || real.text[0] != '/')
		return (struct sbx_place){ NULL, 0 };
	real.text[len] = '\0';
	return arena_copy(arena,
	    (struct sbx_place){ real.text, (uint32_t)len });
}

/* Whether some wire sees a place already. */
static bool
is_wired(const struct tripwire *tripwire, uint8_t form, struct sbx_place at)
{
	for (uint32_t i = 0; i < tripwire->count; i++) {
		const struct look_at *what = &tripwire->wires[i].what;
		const struct sbx_watch *watch = tripwire->wires[i].watch;

		if (what->form == form ? sbx_place_compare(what->at, at) == 0 :
					 what->form == watch->form &&
			    sbx_watch_covers(watch, what->pattern, what->at,
				at))
			return true;
		if (what->form == SBX_WATCH_TREE && *what->pattern == '\0' &&
		    sbx_covers(what->at, at))
			return true;
	}
	return false;
}

/* Also watches what `path` leads to, which stands in `directory`. */
static void
add_lead(struct tripwire *tripwire, const struct sbx_watch *watch, uint8_t form,
    struct sbx_place directory, const char *path)
{
	struct arena *arena = tripwire->arena;
	const struct sbx_place *anchors = tripwire->binding->anchors;
	struct sbx_place at;
	struct path text;
	struct wire *wire;

	if (path[0] == '~' && path[1] == '/') {
		directory = anchors[SBX_ANCHOR_HOME];
		path += 2;
	}
	while (path[0] == '.' && path[1] == '/')
		path += 2;
	if (path[0] == '/')
		directory.len = 0;
	if (directory.len > 0)
		memcpy(text.text, directory.path, directory.len);
	path_cut(&text, directory.len);
	if (*path == '\0' || tripwire->leads == LEADS_MAX ||
	    !path_push(&text, path + (path[0] == '/'),
		strlen(path) - (path[0] == '/')))
		return;
	at = led_to(arena, text.text);
	if (at.len == 0 || is_wired(tripwire, form, at))
		return;
	tripwire->leads++;
	wire = &tripwire->wires[tripwire->count++];
	*wire = (struct wire){
		.watch = watch,
		.from = tripwire->blob->anchor_count + LOOKS_MORE - 1,
		.what = {
			.form = form,
			.at = at,
			.pattern = "",
			.key = tripwire->key,
		},
	};
	look(arena, &wire->what,
	    tripwire_from(tripwire, tripwire->before, wire->from),
	    &wire->before);
	read_settings(arena, wire);
}

/* Where settings lead.  A relative path of hooks begins at the top of the work
 * tree, that of other settings beside these. */
static void
follow_settings(struct tripwire *tripwire, const struct wire *wire,
    const struct seen *seen, const char *text)
{
	struct git_settings settings = { .begin = text,
		.at = text,
		.end = text + strlen(text) };
	struct sbx_place top = wire->what.form == SBX_WATCH_GIT ?
	    wire->what.at :
	    tripwire->binding->anchors[SBX_ANCHOR_WORKSPACE];
	struct git_setting setting;
	char path[1024];

	/* What is harmless leads nowhere, and takes longer to tell. */
	while (git_setting_any(&settings, &setting)) {
		switch (git_setting_leads(&setting, path)) {
		case GIT_LEAD_SETTINGS:
			add_lead(tripwire, wire->watch, LOOK_SETTINGS,
			    place_parent(seen->at), path);
			break;
		case GIT_LEAD_HOOKS:
		case GIT_LEAD_REVIEW:
			add_lead(tripwire, wire->watch, SBX_WATCH_TREE, top,
			    path);
			break;
		case GIT_LEAD_TREE:
		case GIT_LEAD_CONTENT:
		case GIT_LEAD_NONE:
			break;
		}
	}
}

/* A `.git` that is a file, or a link; and the common directory of a work tree. */
static void
follow_repository(struct tripwire *tripwire, const struct wire *wire,
    const struct seen *seen, const char *before)
{
	const char *text = look_settings(tripwire->arena, seen);
	size_t len = strlen(before);
	struct path path;

	if (text == NULL || strncmp(text, before, len) != 0)
		return;
	text += len;
	len = strcspn(text, "\n");
	if (len == 0 || len >= sizeof path.text)
		return;
	memcpy(path.text, text, len);
	path.text[len] = '\0';
	add_lead(tripwire, wire->watch, LOOK_GIT_DIRECTORY,
	    place_parent(seen->at), path.text);
}

static bool
is_named(const struct seen *seen, const char *name)
{
	size_t len = strlen(name);

	return seen->at.len >= len &&
	    memcmp(seen->at.path + seen->at.len - len, name, len) == 0;
}

static void
follow_seen(struct tripwire *tripwire, const struct wire *wire,
    const struct seen *seen, const char *text)
{
	bool git = wire->watch->form == SBX_WATCH_GIT;

	if (seen->error != 0)
		return;
	if (S_ISLNK(seen->mode))
		add_lead(tripwire, wire->watch,
		    git && is_named(seen, "/.git")     ? LOOK_GIT_DIRECTORY :
			seen->part == SBX_GIT_SETTINGS ? LOOK_SETTINGS :
							 SBX_WATCH_TREE,
		    (struct sbx_place){ NULL, 0 }, path_of(seen->at));
	else if (git && S_ISREG(seen->mode) && is_named(seen, "/.git"))
		follow_repository(tripwire, wire, seen, "gitdir: ");
	else if (git && S_ISREG(seen->mode) && is_named(seen, "/commondir"))
		follow_repository(tripwire, wire, seen, "");
	else if (text != NULL && !seen->other)
		follow_settings(tripwire, wire, seen, text);
}

/* Also watches the settings in a file below what a variable names. */
static void
follow_user(struct tripwire *tripwire, const struct sbx_watch *watch,
    const char *directory, const char *name)
{
	struct out path;

	out_init(&path, -1);
	out_text(&path, directory);
	out_text(&path, name);
	if (*directory == '/')
		add_lead(tripwire, watch, LOOK_SETTINGS,
		    (struct sbx_place){ NULL, 0 }, path.text);
}

/* Settings of the user and of the machine, which the command can mostly not write,
 * may lead git into the workspace. */
static void
follow_users(struct tripwire *tripwire)
{
	const char *home = getenv("HOME"), *config = getenv("XDG_CONFIG_HOME");
	const struct sbx_watch *watch = NULL;

	for (uint32_t i = 0; i < tripwire->count && watch == NULL; i++) {
		if (tripwire->wires[i].watch->form == SBX_WATCH_GIT)
			watch = tripwire->wires[i].watch;
	}
	if (watch == NULL)
		return;
	home = home != NULL ? home : "";
	follow_user(tripwire, watch, home, "/.gitconfig");
	if (config != NULL && *config != '\0')
		follow_user(tripwire, watch, config, "/git/config");
	else
		follow_user(tripwire, watch, home, "/.config/git/config");
	follow_user(tripwire, watch, "/etc", "/gitconfig");
}

/* Whether the rule before says the same: records are sorted, and differ by
 * their sources where two groups watch one place. */
static bool
is_double(const struct sbx_blob *blob, uint32_t index)
{
	const struct sbx_watch *watch = &blob->watches[index];

	return index > 0 && watch[-1].anchor == watch->anchor &&
	    watch[-1].suffix == watch->suffix &&
	    watch[-1].form == watch->form && watch[-1].glob == watch->glob &&
	    (watch[-1].platforms & KERNEL_WHERE) != 0;
}

static struct tripwire *
look_at_all(struct arena *arena, const struct binding *binding)
{
	const struct sbx_blob *blob = binding->blob;
	struct tripwire *tripwire;
	struct timespec now;

	tripwire = arena_take(arena, 1, sizeof *tripwire);
	tripwire->unfinished = (struct unfinished){ .directory = -1, .fd = -1 };
	tripwire->arena = arena;
	tripwire->who = "the command";
	tripwire->blob = blob;
	tripwire->binding = binding;
	time_now(CLOCK_REALTIME, &now);
	tripwire->since = now.tv_sec;
	/* Without randomness a sum could be made, and is still one. */
	if (getrandom(&tripwire->key, sizeof tripwire->key, GRND_NONBLOCK) < 0)
		tripwire->key = (uint64_t)getpid();
	tripwire->wires = arena_take(arena,
	    (size_t)HOMES * blob->watch_count + LEADS_MAX,
	    sizeof *tripwire->wires);
	tripwire->before = arena_take(arena, blob->anchor_count + LOOKS_MORE,
	    sizeof *tripwire->before);
	tripwire->now = arena_take(arena, blob->anchor_count + LOOKS_MORE,
	    sizeof *tripwire->now);
	for (uint32_t i = 0; i < blob->watch_count; i++) {
		const struct sbx_watch *watch = &blob->watches[i];

		if ((watch->platforms & KERNEL_WHERE) == 0 ||
		    is_double(blob, i))
			continue;
		if (binding->bound[watch->anchor])
			add_wire(tripwire, watch,
			    binding->anchors[watch->anchor], watch->anchor);
		/* A changed $HOME makes nothing unseen. */
		if (watch->anchor == SBX_ANCHOR_HOME && binding->has_other_home)
			add_wire(tripwire, watch, binding->other_home,
			    blob->anchor_count);
		/* It watches the `.git` of the workspace, which is elsewhere. */
		if (binding->git.len > 0 && watch->form == SBX_WATCH_GIT &&
		    watch->anchor == SBX_ANCHOR_WORKSPACE &&
		    *sbx_string(binding->blob, watch->suffix) == '\0')
			add_wire(tripwire, watch, binding->git,
			    blob->anchor_count + 1);
	}
	/* What another name leads to counts as the name does. */
	follow_users(tripwire);
	for (uint32_t i = 0; i < tripwire->count; i++) {
		const struct wire *wire = &tripwire->wires[i];
		uint32_t number = 0;

		for (const struct seen *seen = wire->before.first; seen != NULL;
		     seen = seen->next, number++)
			follow_seen(tripwire, wire, seen,
			    wire->settings != NULL ? wire->settings[number] :
						     NULL);
	}
	git_blind_open(tripwire);
	tripwire_end_looks(tripwire, tripwire->before);
	return tripwire;
}

struct tripwire *
tripwire_set(struct arena *arena, const struct binding *binding)
{
	struct tripwire *tripwire;

	if (binding->blob->watch_count == 0)
		return NULL;
	tripwire = look_at_all(arena, binding);
	/* Afterwards, so that nothing happens between the two looks. */
	tripwire_tell_killed(arena, &tripwire->unfinished);
	return tripwire;
}

void
tripwire_leave(struct tripwire *tripwire)
{
	struct arena *arena = tripwire->arena;
	uint32_t used = arena->used;
	struct tripwire *next = look_at_all(arena, tripwire->binding);

	next->unfinished = tripwire->unfinished;
	tripwire->unfinished = (struct unfinished){ .directory = -1, .fd = -1 };
	next->left = true;
	tripwire_keep(next);
	arena_cut(arena, used);
}

/* --- for a stage ---------------------------------------------------------- */

/* An entry is a form and a path, and a pattern; behind the last one is a NUL. */
static size_t
entry_size(const char *entry)
{
	size_t len = strlen(entry) + 1;

	return len + strlen(entry + len) + 1;
}

static bool
has_entry(const char *list, const char *entry)
{
	size_t size = entry_size(entry);

	for (; *list != '\0'; list += entry_size(list)) {
		if (entry_size(list) == size && memcmp(list, entry, size) == 0)
			return true;
	}
	return false;
}

void
tripwire_list(const struct tripwire *tripwire, struct arena *arena, int stage)
{
	enum { LIST_SIZE = 256 << 10, ENTRY = 2 * SBX_MAX_PATH };
	uint32_t used = arena->used;
	char *text = arena_take(arena, 1, LIST_SIZE), entry[ENTRY];
	struct out out, one;
	ssize_t old;
	int fd;

	/* An earlier run of this stage may have had another policy. */
	fd = openat(stage, "watched",
	    O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	old = fd < 0 ? -1 : read(fd, text, LIST_SIZE - 2);
	if (old < 0)
		refuse("--stage", "cannot read which places are watched",
		    errno);
	memset(text + old, 0, 2);
	out_into(&out, text + old, LIST_SIZE - 1 - (size_t)old);
	for (uint32_t i = 0; tripwire != NULL && i < tripwire->count; i++) {
		const struct look_at *what = &tripwire->wires[i].what;
		char form = what->form == SBX_WATCH_GIT ? SBX_STAGE_GIT :
							  SBX_STAGE_TREE;

		out_into(&one, entry, sizeof entry);
		out_bytes(&one, &form, 1);
		out_bytes(&one, path_of(what->at),
		    strlen(path_of(what->at)) + 1);
		out_bytes(&one, what->pattern, strlen(what->pattern) + 1);
		out.full |= one.full;
		if (!has_entry(text, entry))
			out_bytes(&out, entry, one.used);
	}
	if (out.full || write(fd, out.text, out.used) != (ssize_t)out.used) {
		int error = out.full ? 0 : errno;

		(void)!ftruncate(fd, old);
		refuse("--stage",
		    "cannot write down which places are watched, for "
		    "'--staged apply'",
		    error);
	}
	close(fd);
	arena_cut(arena, used);
}
