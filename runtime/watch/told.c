/*
 * What changed at the places that are watched, and who is told: some lines on
 * stderr, and a record each in the receipt.
 */
#include "runtime/watch/tripwire.h"

#include "runtime/base/json.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/bind/bind.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LINES_EACH = 3, /* about what one rule watches */
	LINES_ALL = 10,
	LOOK_SECONDS = 10,
	EARLY_SECONDS = 2, /* who asks to end may not wait */
};

enum change { SAME, MADE, CHANGED, REMOVED, REPLACED, CHANGE_END };

static const char *const change_words[CHANGE_END] = {
	[MADE] = "made",
	[CHANGED] = "changed",
	[REMOVED] = "removed",
	[REPLACED] = "replaced",
};

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

	if (tripwire->log != NULL)
		log_changed(tripwire->log, change_words[change], at, setting);
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
say_change(struct tripwire *tripwire, enum change change,
    const struct seen *seen, const struct out *name)
{
	struct out out;

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
	if (name->text[0] != '\0')
		out_print(&out, ": %s", name->text);
	else if (change != REMOVED && S_ISLNK(seen->mode))
		out_text(&out, ", which is a link");
	out_text(&out, "\n");
	out_flush(&out);
}

static void
tell(struct tripwire *tripwire, const struct wire *wire, enum change change,
    const struct seen *seen, const struct git_setting *setting)
{
	struct out name;

	out_init(&name, -1);
	put_setting(&name, setting);
	record(tripwire, wire, change, seen->at, name.text);
	say_change(tripwire, change, seen, &name);
}

/* The settings that one text has and the other one has not. */
static bool
tell_new(struct tripwire *tripwire, const struct wire *wire,
    const struct seen *seen, const char *old, const char *new)
{
	/* Git says once where the tree of a submodule is. */
	const struct git_settings none = {
		.submodule = seen->other && *old == '\0',
	};
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

static void
tell_blind(struct tripwire *tripwire, const struct wire *wire,
    enum change change, const struct seen *before, const struct seen *seen)
{
	struct git_blind *blind;
	struct out text;

	if (change == REMOVED)
		return;
	if (change == REPLACED || !S_ISREG(seen->mode)) {
		tell(tripwire, wire, change, seen, NULL);
		return;
	}
	blind = arena_take(tripwire->arena, 1, sizeof *blind);
	git_blind_again(tripwire, wire, before, seen, blind);
	if (blind->news == 0)
		return;
	out_init(&text, -1);
	out_text(&text, blind->what);
	out_shown(&text, blind->first, strlen(blind->first));
	if (blind->what[0] != '\0' && blind->news > 1)
		out_print(&text, ", and %u more", blind->news - 1);
	record(tripwire, wire, change, seen->at, "");
	say_change(tripwire, change, seen, &text);
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
	/* It is as it was when it was told. */
	tripwire->told = wire->early.first != NULL &&
	    change_of(seen_find(&wire->early, NULL, after), after) == SAME;
	if (after->part == SBX_GIT_INDEX || after->part == SBX_GIT_REFS)
		tell_blind(tripwire, wire, change, before, after);
	else if (after->part == SBX_GIT_SETTINGS && change != REPLACED)
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

void
tripwire_say_rest(const struct tripwire *tripwire)
{
	struct out out;

	out_init(&out, STDERR_FILENO);
	out_print(&out, "sbxrun: %s changed %u more watched names\n",
	    tripwire->who, tripwire->unsaid);
	out_flush(&out);
}

bool
tripwire_is_late(struct tripwire *tripwire)
{
	tripwire->late = tripwire->late || look_is_late(&tripwire->until);
	return tripwire->late;
}

static void
say_late(void)
{
	struct out out;

	out_init(&out, STDERR_FILENO);
	out_print(&out,
	    "sbxrun: warning: what is watched was looked at for %u s, and not "
	    "all of it\n",
	    LOOK_SECONDS);
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

/* A tree of which nothing was there, such as what an agent installs at its first
 * start, is one line.  False if its names are to be told. */
static bool
tell_tree(struct tripwire *tripwire, const struct wire *wire,
    const struct sight *now)
{
	const struct seen *before = wire->before.first;
	unsigned count = 0;
	struct out out;

	if (now->more || before == NULL || !is_absent(before) ||
	    before->next != NULL ||
	    sbx_place_compare(before->at, wire->what.at) != 0)
		return false;
	for (const struct seen *seen = now->first; seen != NULL;
	     seen = seen->next)
		count += seen->error == 0 && !S_ISDIR(seen->mode);
	if (count <= LINES_EACH || tripwire->lines == LINES_ALL ||
	    tripwire->quiet)
		return false;
	if (wire->early.all == now->all)
		return true;
	tripwire->lines++;
	out_init(&out, STDERR_FILENO);
	out_print(&out, "sbxrun: %s made ", tripwire->who);
	put_place(&out, tripwire, wire->what.at);
	out_print(&out, ", with %u files\n", count);
	out_flush(&out);
	return true;
}

/* The names that are in one of two looks; which of a large tree are kept is not
 * always the same. */
void
tripwire_tell_wire(struct tripwire *tripwire, struct wire *wire, bool early)
{
	const struct seen *hint = wire->before.first;
	struct wire now = { .watch = wire->watch, .what = wire->what };
	struct look_from *from = tripwire_from(tripwire, tripwire->now,
	    wire->from);
	struct arena *arena = tripwire->arena;
	uint32_t used = arena->used;
	bool large, quiet = tripwire->quiet;

	tripwire->lines_each = 0;
	now.what.until = tripwire->until;
	if (is_still_absent(tripwire, wire))
		return;
	look_keep_names(&tripwire->before[wire->from], from);
	look(tripwire->arena, &now.what, from, &now.before);
	large = wire->before.more || now.before.more;
	tripwire->quiet |= tell_tree(tripwire, wire, &now.before);
	for (const struct seen *seen = now.before.first; seen != NULL;
	     seen = seen->next) {
		const struct seen *before = seen_find(&wire->before, hint,
		    seen);

		if (before != NULL || !large)
			compare(tripwire, wire, before, seen);
		hint = before != NULL ? before->next : hint;
	}
	tripwire->quiet = quiet;
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
	if (now.before.cut && !tripwire_is_late(tripwire) && !tripwire->quiet)
		say_cut(tripwire, wire);
	arena_cut(arena, used);
}

static void
look_again(struct tripwire *tripwire, bool early)
{
	clock_now(&tripwire->until);
	tripwire->until.tv_sec += early ? EARLY_SECONDS : LOOK_SECONDS;
	tripwire->late = false;
	for (uint32_t i = 0; i < tripwire->count; i++)
		tripwire_tell_wire(tripwire, &tripwire->wires[i], early);
	tripwire->told = false;
	tripwire_end_looks(tripwire, tripwire->now);
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
tripwire_tell(struct tripwire *tripwire, struct receipt *receipt,
    struct receipt *log)
{
	tripwire->receipt = receipt;
	tripwire->log = log;
	/* Never block on a stderr that nobody reads. */
	tripwire->quiet = !stderr_takes_more();
	look_again(tripwire, false);
	if (tripwire->unsaid > 0)
		tripwire_say_rest(tripwire);
	if (tripwire->late && !tripwire->quiet)
		say_late();
	/* What nobody could read is told once more. */
	if (!tripwire->quiet)
		unfinished_end(&tripwire->unfinished);
}
