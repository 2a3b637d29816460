/*
 * The user's settings of git lead on to other files: parts of them that are
 * included, for some repositories or for all, and lists of what is ignored.  git
 * ends where it may not read one that is there, or goes on without a name.  So
 * whoever may read the settings may read the files that they name, and the rule
 * that opens the settings opens those.  git itself decides which of them count.
 *
 * Below level full a rule is about a file and not about its name, and git would
 * end once the settings were saved anew, as by `git config --global` outside.  So
 * the command gets a copy, in a directory that it may read whole and not write
 * (SBX_OWN_STATE), which each run brings up to date; the variable that names it
 * comes in the place of both files of a user, so the copy begins with the other.
 * Settings that would mean something else elsewhere are not copied.
 *
 * A denial of such a file holds.  Settings that a command may have written lead
 * nowhere: else one run would choose what the next one may read.
 */
#include "runtime/base/out.h"
#include "runtime/bind/bind.h"
#include "runtime/bind/binder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a longer file says behind this is not followed. */
enum { TEXT_SIZE = 64 << 10 };

struct includes {
	struct binder *binder;
	struct sbx_place home;
	/* Settings, as git names them: links count where a relative path
	 * begins. */
	uint32_t count, opened;
	bool moving; /* it says where it lies: a path begins at it */
	struct sbx_place named[GIT_INCLUDES_MAX];
	char text[TEXT_SIZE];
};

static void
add_named(struct includes *includes, struct sbx_place named)
{
	for (uint32_t i = 0; i < includes->count; i++) {
		if (sbx_place_compare(includes->named[i], named) == 0)
			return;
	}
	if (includes->count < GIT_INCLUDES_MAX)
		includes->named[includes->count++] = named;
}

/* The path of a setting; of no length: it is none, or one of another user's home.
 * A relative one begins at the directory of its file, or `from` has no length. */
static struct sbx_place
lead(struct includes *includes, struct sbx_place from, const char *path)
{
	static const struct sbx_place nowhere = { "", 0 };
	struct arena *arena = includes->binder->arena;
	size_t len = strlen(path);

	if (len + from.len + includes->home.len + 1 > SBX_MAX_PATH)
		return nowhere;
	if (path[0] == '/')
		return arena_copy(arena,
		    (struct sbx_place){ path, (uint32_t)len });
	if (path[0] == '~')
		return path[1] != '/' ?
		    nowhere :
		    arena_join(arena, includes->home,
			(struct sbx_place){ path + 1, (uint32_t)len - 1 });
	if (from.len == 0)
		return nowhere;
	while (from.path[from.len - 1] != '/')
		from.len--;
	return arena_join(arena, from,
	    (struct sbx_place){ path, (uint32_t)len });
}

static bool
may_read(const struct binder *binder, struct sbx_place at)
{
	return sbx_verdict_allows(verdict_so_far(binder, SBX_READ, at));
}

/* A file that the command can read by a name as it stands in the settings. */
static void
open_file(struct includes *includes, const struct sbx_path *path,
    struct sbx_place named)
{
	struct binder *binder = includes->binder;
	struct followed found = follow_given(binder->arena, named.path);
	struct stat status;

	if (found.fd < 0)
		return;
	if (fstat(found.fd, &status) != 0 || !S_ISREG(status.st_mode) ||
	    (found.link_count == 0 && may_read(binder, found.at)) ||
	    includes->opened == GIT_INCLUDES_MAX) {
		close(found.fd);
		return;
	}
	includes->opened++;
	allow_found(binder, path, &found);
	if (binder->request->level != SBX_LEVEL_FULL &&
	    !may_read(binder, found.at))
		warn_about(named.path,
		    "the settings of git name this file and the policy denies "
		    "it, so git fails at this level",
		    0);
}

/* Whether the text is the user's, and of no command; false: there is none. */
static bool
read_settings(struct includes *includes, const struct followed *found)
{
	struct binder *binder = includes->binder;
	struct stat status;
	ssize_t len = 0;
	size_t used = 0;
	int fd;

	if (found->fd < 0 || is_planted(binder, found) ||
	    commands_choose(binder, found->at) ||
	    sbx_verdict_allows(verdict_so_far(binder, SBX_WRITE, found->at)) ||
	    !may_read(binder, found->at))
		return false;
	fd = open_place(found->at, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    status.st_uid == geteuid()) {
		while (used < TEXT_SIZE &&
		    (len = read(fd, includes->text + used, TEXT_SIZE - used)) >
			0)
			used += (size_t)len;
	}
	close(fd);
	includes->text[used < TEXT_SIZE ? used : TEXT_SIZE - 1] = '\0';
	return used > 0 && len >= 0;
}

static void
follow_settings(struct includes *includes, const struct sbx_path *path,
    struct sbx_place named)
{
	static const struct sbx_place nowhere = { "", 0 };
	const char *text = includes->text;
	struct git_settings settings = { .begin = text,
		.at = text,
		.end = text + strlen(text) };
	struct git_setting setting;
	char value[1024];

	while (git_setting_any(&settings, &setting)) {
		enum git_lead kind = git_setting_leads(&setting, value);
		struct sbx_place at;

		if (kind == GIT_LEAD_NONE || kind == GIT_LEAD_HOOKS ||
		    kind == GIT_LEAD_TREE)
			continue;
		includes->moving |= kind == GIT_LEAD_SETTINGS &&
		    value[0] != '/' && value[0] != '~';
		at = lead(includes, kind == GIT_LEAD_SETTINGS ? named : nowhere,
		    value);
		if (at.len == 0)
			continue;
		open_file(includes, path, at);
		if (kind == GIT_LEAD_SETTINGS)
			add_named(includes, at);
	}
}

/* The rule that lets the command read a file, if there is one. */
static const struct sbx_path *
rule_of(const struct binder *binder, struct sbx_place at)
{
	struct sbx_verdict verdict = verdict_so_far(binder, SBX_READ, at);

	return sbx_verdict_allows(verdict) ? binder->sites[verdict.rule].path :
					     NULL;
}

/* Whether a file in a directory has a text already. */
static bool
has_text(struct arena *arena, int directory, const char *name, const char *text)
{
	uint32_t used = arena->used;
	char *now = arena_take(arena, TEXT_SIZE + SBX_MAX_PATH, 1);
	bool same = file_read(directory, name, now, TEXT_SIZE + SBX_MAX_PATH) &&
	    strcmp(now, text) == 0;

	arena_cut(arena, used);
	return same;
}

static bool
put_text(int directory, const char *name, struct sbx_place text)
{
	char other[32];
	struct out out;
	bool put;
	int fd;

	out_into(&out, other, sizeof other);
	out_print(&out, "%s.%u", name, (unsigned)getpid());
	unlinkat(directory, other, 0);
	fd = openat(directory, other,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	put = fd >= 0 && write(fd, text.path, text.len) == (ssize_t)text.len &&
	    syscall(SYS_renameat2, directory, other, directory, name, 0) == 0;
	if (fd >= 0 && !put)
		unlinkat(directory, other, 0);
	if (fd >= 0)
		close(fd);
	return put;
}

/* What git reads instead of the files of a user: the text that was read last. */
static void
copy_settings(struct includes *includes, const struct sbx_path *path)
{
	static const struct sbx_place name = { "/config", 7 };
	struct binder *binder = includes->binder;
	size_t size = strlen(includes->text) + SBX_MAX_PATH, used;
	char *text = arena_take(binder->arena, (uint32_t)size, 1);
	char link[DESCRIPTOR_PATH_SIZE], directory[SBX_MAX_PATH + 1];
	int fd = scratch_state("git", 0);
	struct followed found;
	struct out out;
	ssize_t len;

	if (fd < 0)
		return;
	out_into(&out, text, size);
	out_text(&out, "[include]\n\tpath = ~/.config/git/config\n");
	out_text(&out, includes->text);
	used = out.used;
	descriptor_path(link, fd);
	len = readlink(link, directory, sizeof directory - 1);
	if (len > 0 &&
	    (has_text(binder->arena, fd, name.path + 1, text) ||
		put_text(fd, name.path + 1,
		    (struct sbx_place){ text, (uint32_t)used }))) {
		directory[len] = '\0';
		found = follow_given(binder->arena, directory);
		if (found.fd >= 0 && found.link_count == 0) {
			binder->made.git_copy = arena_join(binder->arena,
			    found.at, name);
			allow_found(binder, path, &found);
		}
	}
	close(fd);
}

/* Whether what was read would mean the same in another file. */
static bool
may_be_copied(const struct includes *includes, const struct followed *found)
{
	const struct binder *binder = includes->binder;
	struct stat status;

	return binder->request->level < SBX_LEVEL_FULL && !binder->planned &&
	    !includes->moving && strstr(includes->text, "gitdir:.") == NULL &&
	    strstr(includes->text, "gitdir/i:.") == NULL &&
	    getenv("GIT_CONFIG_GLOBAL") == NULL &&
	    getenv("XDG_CONFIG_HOME") == NULL &&
	    fstat(found->fd, &status) == 0 &&
	    status.st_size == (off_t)strlen(includes->text);
}

void
bind_git_includes(struct binder *binder)
{
	static const struct sbx_place files[] = {
		{ "/.gitconfig", 11 },
		{ "/.config/git/config", 19 },
	};
	struct includes *includes;
	const struct sbx_path *path = NULL;

	if (!binder->made.bound[SBX_ANCHOR_HOME])
		return;
	includes = arena_take(binder->arena, 1, sizeof *includes);
	includes->binder = binder;
	includes->home = binder->made.anchors[SBX_ANCHOR_HOME];
	for (size_t i = 0; i < countof(files); i++)
		add_named(includes,
		    arena_join(binder->arena, includes->home, files[i]));
	for (uint32_t i = 0; i < includes->count; i++) {
		struct sbx_place named = includes->named[i];
		struct followed found = follow_given(binder->arena, named.path);

		if (read_settings(includes, &found)) {
			path = i < countof(files) || path == NULL ?
			    rule_of(binder, found.at) :
			    path;
			includes->moving = false;
			follow_settings(includes, path, named);
			if (i == 0 && path != NULL &&
			    may_be_copied(includes, &found))
				copy_settings(includes, path);
		}
		if (found.fd >= 0)
			close(found.fd);
	}
}
