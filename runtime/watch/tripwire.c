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
#include "runtime/base/json.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/bind/bind.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LINES_EACH = 3, /* about what one rule watches */
	LINES_ALL = 10,
	HOMES = 2,
	LEADS_MAX = 64, /* places that others lead to */
	LOOKS_MORE = 3, /* beside those of anchors: the other home, the
	                 * repository, and the root */
};

/* A place, with what was there. */
struct wire {
	const struct sbx_watch *watch;
	struct look_at what;
	uint32_t from; /* an index below */
	struct sight before;
	const char *
	    *settings;      /* beside the names: the texts of some, or NULL */
	struct sight early; /* what was told when sbxrun was asked to end */
};

struct tripwire {
	struct arena *arena;
	const struct sbx_blob *blob;
	const struct binding *binding; /* of anchors */
	uint32_t count;
	struct wire *wires;
	/* The directories of the anchors, the other home and the repository of the
	 * workspace, then and now. */
	struct look_from *before, *now;
	struct unfinished unfinished; /* this run, on disk */
	bool early;                   /* it was told once before the end */
	uint64_t key;
	uint32_t leads; /* wires that others led to */
	/* While it tells: */
	const char *who;
	struct receipt *receipt;
	bool told;      /* a line said it before */
	bool quiet;     /* nobody reads stderr */
	bool lost;      /* a record of the receipt could not be written */
	uint32_t lines; /* that were printed, of all and of the present rule */
	uint32_t lines_each;
	uint32_t unsaid; /* changes without a line */
};

enum change { SAME, MADE, CHANGED, REMOVED, REPLACED, CHANGE_END };

static const char *const change_words[CHANGE_END] = {
	[MADE] = "made",
	[CHANGED] = "changed",
	[REMOVED] = "removed",
	[REPLACED] = "replaced",
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

static struct look_from *
look_from(const struct tripwire *tripwire, struct look_from *from,
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

static void
end_looks(const struct tripwire *tripwire, struct look_from *from)
{
	for (uint32_t i = 0; i < tripwire->blob->anchor_count + LOOKS_MORE; i++)
		look_end(&from[i]);
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
	    arena_join(arena, anchor,
		(struct sbx_place){ suffix, (uint32_t)strlen(suffix) });
	look(arena, &wire->what, look_from(tripwire, tripwire->before, from),
	    &wire->before);
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
	int fd = open(path, O_PATH | O_CLOEXEC);

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
	    look_from(tripwire, tripwire->before, wire->from), &wire->before);
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

	while (git_setting_next(&settings, &setting)) {
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

/* What another name leads to counts as the name does. */
static void
follow_leads(struct tripwire *tripwire)
{
	for (uint32_t i = 0; i < tripwire->count; i++) {
		const struct wire *wire = &tripwire->wires[i];
		uint32_t number = 0;

		for (const struct seen *seen = wire->before.first; seen != NULL;
		     seen = seen->next, number++)
			follow_seen(tripwire, wire, seen,
			    wire->settings != NULL ? wire->settings[number] :
						     NULL);
	}
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

/* Whether it watches the `.git` of the workspace, which is elsewhere. */
static bool
watches_repository(const struct binding *binding, const struct sbx_watch *watch)
{
	return binding->git.len > 0 && watch->form == SBX_WATCH_GIT &&
	    watch->anchor == SBX_ANCHOR_WORKSPACE &&
	    *sbx_string(binding->blob, watch->suffix) == '\0';
}

struct tripwire *
tripwire_set(struct arena *arena, const struct binding *binding)
{
	const struct sbx_blob *blob = binding->blob;
	struct tripwire *tripwire;

	if (blob->watch_count == 0)
		return NULL;
	tripwire = arena_take(arena, 1, sizeof *tripwire);
	tripwire->unfinished = (struct unfinished){ -1, -1, "" };
	tripwire_tell_killed(arena, true);
	tripwire->arena = arena;
	tripwire->who = "the command";
	tripwire->blob = blob;
	tripwire->binding = binding;
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
		if (watches_repository(binding, watch))
			add_wire(tripwire, watch, binding->git,
			    blob->anchor_count + 1);
	}
	follow_leads(tripwire);
	end_looks(tripwire, tripwire->before);
	return tripwire;
}

/* --- what changed --------------------------------------------------------- */

static bool
is_absent(const struct seen *seen)
{
	return seen == NULL || seen->error == ENOENT || seen->error == ENOTDIR;
}

/* A directory matters for what is in it, and for what is none any more. */
static enum change
change_of(const struct seen *before, const struct seen *after)
{
	if (is_absent(before) && is_absent(after))
		return SAME;
	if (is_absent(before))
		return S_ISDIR(after->mode) && after->error == 0 ? SAME : MADE;
	if (is_absent(after))
		return S_ISDIR(before->mode) ? SAME : REMOVED;
	if (before->error != after->error)
		return CHANGED;
	if ((before->mode & S_IFMT) != (after->mode & S_IFMT))
		return REPLACED;
	if (S_ISDIR(after->mode))
		return SAME;
	return before->device == after->device &&
		before->inode == after->inode && before->size == after->size &&
		before->mode == after->mode &&
		before->changed == after->changed ?
	    SAME :
	    CHANGED;
}

/* --- telling -------------------------------------------------------------- */

static void
put_words(struct out *out, struct git_words words)
{
	out_shown(out, words.text, words.len < 64 ? words.len : 64);
}

/* "core.fsmonitor"; empty if no name can be told. */
static void
put_setting(struct out *out, const struct git_setting *setting)
{
	struct git_words section, key;

	/* A line that goes on in the next may mean more than its key says. */
	if (setting == NULL ||
	    memchr(setting->line.text, '\n', setting->line.len) != NULL)
		return;
	section = git_section_name(setting);
	key = git_key(setting);
	if (section.len == 0 || key.len == 0)
		return;
	put_words(out, section);
	out_text(out, ".");
	put_words(out, key);
}

static void
put_place(struct out *out, const struct tripwire *tripwire, struct sbx_place at)
{
	struct sbx_place workspace = { NULL, 0 };

	if (tripwire->binding != NULL)
		workspace = tripwire->binding->anchors[SBX_ANCHOR_WORKSPACE];

	if (workspace.len > 0 && sbx_covers(workspace, at) &&
	    at.len > workspace.len)
		out_shown(out, at.path + workspace.len + 1,
		    at.len - workspace.len - 1);
	else
		out_place(out, at);
}

static void
put_wire(struct out *out, const struct tripwire *tripwire,
    const struct wire *wire)
{
	const char *pattern = wire->what.pattern;

	put_place(out, tripwire, wire->what.at);
	out_shown(out, pattern, strlen(pattern));
}

static void
record(struct tripwire *tripwire, const struct wire *wire, enum change change,
    struct sbx_place at, const char *setting)
{
	struct receipt *receipt = tripwire->receipt;

	if (receipt == NULL || tripwire->lost)
		return;
	receipt_begin(receipt, "changed");
	json_string(&receipt->json, "change", change_words[change]);
	json_place(&receipt->json, "path", at);
	json_string(&receipt->json, "setting",
	    *setting != '\0' ? setting : NULL);
	json_source(&receipt->json, tripwire->blob, wire->watch->source);
	tripwire->lost = !receipt_end(receipt) || !receipt_send(receipt);
	if (tripwire->lost)
		warn_about("receipt", "a record of a change is lost", errno);
}

static void
tell(struct tripwire *tripwire, const struct wire *wire, enum change change,
    const struct seen *seen, const struct git_setting *setting)
{
	struct out out, name;

	out_init(&name, -1);
	put_setting(&name, setting);
	record(tripwire, wire, change, seen->at, name.text);
	if (tripwire->quiet || tripwire->told)
		return;
	if (tripwire->lines == LINES_ALL ||
	    tripwire->lines_each == LINES_EACH) {
		tripwire->unsaid++;
		return;
	}
	tripwire->lines++;
	tripwire->lines_each++;
	out_init(&out, STDERR_FILENO);
	out_print(&out, "sbxrun: %s %s ", tripwire->who, change_words[change]);
	put_place(&out, tripwire, seen->at);
	if (name.text[0] != '\0')
		out_print(&out, ": %s", name.text);
	else if (change != REMOVED && S_ISLNK(seen->mode))
		out_text(&out, ", which is a link");
	out_text(&out, "\n");
	out_flush(&out);
}

/* The settings that one text has and the other one has not. */
static bool
tell_new(struct tripwire *tripwire, const struct wire *wire,
    const struct seen *seen, const char *old, const char *new)
{
	const struct git_settings none = { .submodule = seen->other };
	struct git_settings settings = none, others = none;
	struct git_setting setting;
	bool told = false;

	settings.begin = settings.at = new;
	settings.end = new + strlen(new);
	others.begin = others.at = old;
	others.end = old + strlen(old);
	while (git_setting_next(&settings, &setting)) {
		if (git_settings_have(others, &setting))
			continue;
		tell(tripwire, wire, CHANGED, seen, &setting);
		told = true;
	}
	return told;
}

/* Of a file of settings only those count that may lead to a program. */
static void
tell_settings(struct tripwire *tripwire, const struct wire *wire,
    const struct seen *after, const char *before)
{
	const char *text = is_absent(after) ?
	    "" :
	    look_settings(tripwire->arena, after);

	if (text == NULL || before == NULL) {
		tell(tripwire, wire, CHANGED, after, NULL);
		return;
	}
	if (!tell_new(tripwire, wire, after, before, text))
		tell_new(tripwire, wire, after, text, before);
}

/* --- after ---------------------------------------------------------------- */

/* The same name in another look, which mostly stands where it stood. */
static const struct seen *
seen_find(const struct sight *sight, const struct seen *hint,
    const struct seen *name)
{
	if (hint != NULL && sbx_place_compare(hint->at, name->at) == 0)
		return hint;
	for (hint = sight->first; hint != NULL; hint = hint->next) {
		if (sbx_place_compare(hint->at, name->at) == 0)
			return hint;
	}
	return NULL;
}

/* The text that a file of settings had; "" if there was no file. */
static const char *
former_settings(const struct wire *wire, const struct seen *before)
{
	const struct seen *seen = wire->before.first;
	uint32_t i = 0;

	if (is_absent(before))
		return "";
	for (; seen != before; seen = seen->next)
		i++;
	return wire->settings != NULL ? wire->settings[i] : NULL;
}

/* Whether it is as it was when it was told. */
static bool
was_told(const struct wire *wire, const struct seen *after)
{
	return wire->early.first != NULL &&
	    change_of(seen_find(&wire->early, NULL, after), after) == SAME;
}

static void
compare(struct tripwire *tripwire, const struct wire *wire,
    const struct seen *before, const struct seen *after)
{
	enum change change = change_of(before, after);

	if (change == SAME)
		return;
	/* Another branch of what was a repository. */
	if (after->part == SBX_GIT_HEAD && change == CHANGED)
		return;
	/* A new linked work tree has such a file. */
	if (before == NULL && after->other && after->part == SBX_GIT_FILE &&
	    wire->watch->form == SBX_WATCH_GIT &&
	    strcmp(after->at.path + after->at.len - strlen("/commondir"),
		"/commondir") == 0)
		return;
	tripwire->told = was_told(wire, after);
	if (after->part == SBX_GIT_SETTINGS && change != REPLACED)
		tell_settings(tripwire, wire, after,
		    former_settings(wire, before));
	else
		tell(tripwire, wire, change, after, NULL);
}

static void
say_cut(struct tripwire *tripwire, const struct wire *wire)
{
	struct out out;

	out_init(&out, STDERR_FILENO);
	out_text(&out, "sbxrun: warning: ");
	put_wire(&out, tripwire, wire);
	out_print(&out,
	    ": only %u names are watched here, %u directories deep\n",
	    LOOK_MAX_ALL, LOOK_MAX_DEPTH);
	out_flush(&out);
}

/* Of a large tree it is only known that something in it is not as it was. */
static void
tell_more(struct tripwire *tripwire, const struct wire *wire)
{
	struct out out;

	record(tripwire, wire, CHANGED, wire->what.at, "");
	if (tripwire->quiet || tripwire->told)
		return;
	if (tripwire->lines == LINES_ALL) {
		tripwire->unsaid++;
		return;
	}
	tripwire->lines++;
	out_init(&out, STDERR_FILENO);
	out_print(&out, "sbxrun: %s changed something in ", tripwire->who);
	put_wire(&out, tripwire, wire);
	out_text(&out, "\n");
	out_flush(&out);
}

static void
say_rest(const struct tripwire *tripwire)
{
	struct out out;

	out_init(&out, STDERR_FILENO);
	out_print(&out, "sbxrun: %s changed %u more watched names\n",
	    tripwire->who, tripwire->unsaid);
	out_flush(&out);
}

/* Whether nothing was there, and the directory in which it would be has not
 * changed since. */
static bool
is_still_absent(const struct tripwire *tripwire, const struct wire *wire)
{
	const struct look_from *from = &tripwire->before[wire->from];
	const struct seen *seen = wire->before.first;
	bool absent = wire->before.all == 1 && seen != NULL &&
	    seen->error == ENOENT && seen->at.len > from->len &&
	    strchr(seen->at.path + from->len + 1, '/') == NULL;

	return (absent || look_lacks(from, wire->what.at)) &&
	    look_is_same(from, &tripwire->now[wire->from]);
}

/* The names that are in one of two looks; which of a large tree are kept is not
 * always the same. */
static void
tell_wire(struct tripwire *tripwire, struct wire *wire, bool early)
{
	const struct seen *hint = wire->before.first;
	struct wire now = { .watch = wire->watch, .what = wire->what };
	struct look_from *from = look_from(tripwire, tripwire->now, wire->from);
	struct arena *arena = tripwire->arena;
	uint32_t used = arena->used;
	bool large;

	tripwire->lines_each = 0;
	if (is_still_absent(tripwire, wire))
		return;
	look(tripwire->arena, &wire->what, from, &now.before);
	large = wire->before.more || now.before.more;
	for (const struct seen *seen = now.before.first; seen != NULL;
	     seen = seen->next) {
		const struct seen *before = seen_find(&wire->before, hint,
		    seen);

		if (before != NULL || !large)
			compare(tripwire, wire, before, seen);
		hint = before != NULL ? before->next : hint;
	}
	hint = now.before.first;
	for (const struct seen *seen = wire->before.first;
	     seen != NULL && !large; seen = seen->next) {
		const struct seen *same = seen_find(&now.before, hint, seen);

		tripwire->told = wire->early.first != NULL &&
		    is_absent(seen_find(&wire->early, NULL, seen));
		if (same == NULL && !now.before.shut && !is_absent(seen) &&
		    !S_ISDIR(seen->mode))
			tell(tripwire, wire, REMOVED, seen, NULL);
		hint = same != NULL ? same->next : hint;
	}
	tripwire->told = wire->early.more && wire->early.sum == now.before.sum;
	if (large && wire->before.sum != now.before.sum)
		tell_more(tripwire, wire);
	if (early) {
		wire->early = now.before;
		return;
	}
	if (now.before.cut && !tripwire->quiet)
		say_cut(tripwire, wire);
	arena_cut(arena, used);
}

static void
look_again(struct tripwire *tripwire, bool early)
{
	for (uint32_t i = 0; i < tripwire->count; i++)
		tell_wire(tripwire, &tripwire->wires[i], early);
	tripwire->told = false;
	end_looks(tripwire, tripwire->now);
	memset(tripwire->now, 0,
	    (tripwire->blob->anchor_count + LOOKS_MORE) *
		sizeof *tripwire->now);
}

void
tripwire_tell_early(struct tripwire *tripwire)
{
	struct pollfd wait = { .fd = STDERR_FILENO, .events = POLLOUT };

	/* The records of the receipt are left to the end: the first one may not
	 * be written yet. */
	if (tripwire->early || poll(&wait, 1, 0) <= 0)
		return;
	tripwire->early = true;
	look_again(tripwire, true);
}

void
tripwire_tell(struct tripwire *tripwire, struct receipt *receipt)
{
	tripwire->receipt = receipt;
	/* Never block on a stderr that nobody reads. */
	tripwire->quiet = !stderr_takes_more();
	look_again(tripwire, false);
	if (tripwire->unsaid > 0)
		say_rest(tripwire);
	/* What nobody could read is told once more. */
	if (!tripwire->quiet)
		unfinished_end(&tripwire->unfinished);
}

/* --- on disk -------------------------------------------------------------- */

/*
 * The structures as they are in memory, each followed by what it points to, for
 * the same sbxrun to read.
 */
struct image_head {
	uint32_t wire_size, seen_size, watch_size;
	uint32_t pid, count, len;
};

struct image {
	char *at, *end;
};

static void
put(struct arena *arena, const void *bytes, size_t len)
{
	memcpy(arena_take(arena, len, 1), bytes, len);
}

static void
put_settings(struct arena *arena, const char *text)
{
	uint64_t len = text == NULL ? 0 : strlen(text) + 1;

	put(arena, &len, sizeof len);
	put(arena, text == NULL ? "" : text, len > 0 ? len : 1);
}

static void
put_sight(struct arena *arena, const struct wire *wire)
{
	uint32_t i = 0;

	for (const struct seen *seen = wire->before.first; seen != NULL;
	     seen = seen->next, i++) {
		put(arena, seen, sizeof *seen);
		put(arena, path_of(seen->at), seen->at.len + 1);
		if (wire->settings != NULL)
			put_settings(arena, wire->settings[i]);
	}
}

void
tripwire_keep(struct tripwire *tripwire)
{
	struct arena *arena = tripwire->arena;
	struct image_head *head = arena_take(arena, 1, sizeof *head);

	*head = (struct image_head){
		.wire_size = sizeof(struct wire),
		.seen_size = sizeof(struct seen),
		.watch_size = sizeof(struct sbx_watch),
		.pid = (uint32_t)getpid(),
		.count = tripwire->count,
	};
	for (uint32_t i = 0; i < tripwire->count; i++) {
		const struct wire *wire = &tripwire->wires[i];

		put(arena, wire, sizeof *wire);
		put(arena, wire->watch, sizeof *wire->watch);
		put(arena, path_of(wire->what.at), wire->what.at.len + 1);
		put(arena, wire->what.pattern, strlen(wire->what.pattern) + 1);
		put_sight(arena, wire);
	}
	arena_take(arena, 0, 1);
	head->len = (uint32_t)(arena->bytes + arena->used - (char *)head);
	unfinished_begin(&tripwire->unfinished, head, head->len);
}

/* As much as arena_take() gave; NULL beyond the end. */
static void *
get(struct image *image, size_t len)
{
	char *at = image->at;

	len = (len + 7) / 8 * 8;
	if (len > (size_t)(image->end - at))
		return NULL;
	image->at += len;
	return at;
}

static bool
get_place(struct image *image, struct sbx_place *place)
{
	if (place->len > SBX_MAX_PATH)
		return false;
	place->path = get(image, place->len + 1);
	return place->path != NULL && place->path[place->len] == '\0';
}

/* A text that ends where it does, as all of them do. */
static bool
get_text(struct image *image, const char **text)
{
	*text = image->at;
	return get(image,
		   strnlen(image->at, (size_t)(image->end - image->at)) + 1) !=
	    NULL;
}

static bool
get_settings(struct image *image, const char **text)
{
	const uint64_t *len = get(image, sizeof *len);

	if (len == NULL || *len > LOOK_MAX_SETTINGS + 1)
		return false;
	*text = get(image, *len > 0 ? *len : 1);
	if (*text == NULL || (*len > 0 && (*text)[*len - 1] != '\0'))
		return false;
	*text = *len > 0 ? *text : NULL;
	return true;
}

static bool
get_sight(struct arena *arena, struct image *image, struct wire *wire)
{
	bool texts = wire->settings != NULL;
	struct seen **end = &wire->before.first;

	if (wire->before.count > LOOK_MAX_NAMES)
		return false;
	if (texts)
		wire->settings = arena_take(arena, wire->before.count + 1,
		    sizeof *wire->settings);
	*end = NULL;
	for (uint32_t i = 0; i < wire->before.count; i++) {
		struct seen *seen = get(image, sizeof *seen);

		if (seen == NULL || !get_place(image, &seen->at) ||
		    (texts && !get_settings(image, &wire->settings[i])))
			return false;
		seen->next = NULL;
		*end = seen;
		end = &seen->next;
	}
	return true;
}

static bool
get_wire(struct arena *arena, struct image *image, struct wire *copy)
{
	struct wire *wire = get(image, sizeof *wire);

	if (wire == NULL)
		return false;
	wire->watch = get(image, sizeof *wire->watch);
	wire->from = 0;
	wire->early = (struct sight){ .first = NULL };
	if (wire->watch == NULL || wire->watch->form >= SBX_WATCH_END ||
	    !get_place(image, &wire->what.at) ||
	    !get_text(image, &wire->what.pattern) ||
	    !get_sight(arena, image, wire))
		return false;
	*copy = *wire;
	return true;
}

/* What another sbxrun wrote is not understood, and nothing is told of it. */
static bool
read_killed(struct tripwire *tripwire, int fd, size_t len)
{
	struct arena *arena = tripwire->arena;
	struct image_head *head = arena_take(arena, 1, len);
	struct image image = { .at = (char *)head, .end = (char *)head + len };

	if (len < sizeof *head || pread(fd, head, len, 0) != (ssize_t)len ||
	    head->wire_size != sizeof(struct wire) ||
	    head->seen_size != sizeof(struct seen) ||
	    head->watch_size != sizeof(struct sbx_watch) || head->len != len ||
	    head->count > len / sizeof(struct wire))
		return false;
	get(&image, sizeof *head);
	tripwire->wires = arena_take(arena, head->count,
	    sizeof *tripwire->wires);
	while (tripwire->count < head->count) {
		if (!get_wire(arena, &image, &tripwire->wires[tripwire->count]))
			return false;
		tripwire->count++;
	}
	return true;
}

static void
tell_killed(struct tripwire *tripwire, int fd, size_t len)
{
	/* By whole paths. */
	struct look_from from = { .fd = -1, .opened = true }, now = from;

	tripwire->before = &from;
	tripwire->now = &now;
	if (!read_killed(tripwire, fd, len))
		return;
	for (uint32_t i = 0; i < tripwire->count; i++)
		tell_wire(tripwire, &tripwire->wires[i], false);
	if (tripwire->unsaid > 0)
		say_rest(tripwire);
}

static void
say_too_much(void)
{
	struct out out;

	out_init(&out, STDERR_FILENO);
	out_text(&out,
	    "sbxrun: a run that was killed watched more than is compared "
	    "now: look yourself at what may run later\n");
	out_flush(&out);
}

void
tripwire_tell_killed(struct arena *arena, bool forget)
{
	enum {
		IMAGE_MAX = 1 << 20
	}; /* of the memory that this run needs, too */
	struct unfinished_list list;
	size_t len;

	unfinished_open(&list);
	while (unfinished_next(&list, &len)) {
		struct tripwire tripwire = {
			.arena = arena,
			.who = "a run that was killed, or somebody since,",
		};
		uint32_t used = arena->used;

		if (!stderr_takes_more())
			break;
		/* First: if this run ends over it, no other one does. */
		if (forget)
			unlinkat(list.run.directory, list.run.name, 0);
		if (len <= IMAGE_MAX)
			tell_killed(&tripwire, list.run.fd, len);
		else
			say_too_much();
		arena_cut(arena, used);
	}
	unfinished_close(&list);
}
