/*
 * `sbxc staged`: what a stage changed, and applying it.  sbxrun starts it, confined,
 * with the stage and the workspace open: see runtime/inspect/staged.c.
 *
 *	staged list                     descriptor 3: all stages
 *	staged diff NAME [PATH...]      3: the stage, 4: the workspace, if it is there
 *	staged apply NAME [PATH...]
 *	staged discard NAME             4: all stages
 */
#include "compiler/command/commands.h"
#include "compiler/query/query.h"
#include "compiler/stage/stage.h"

#include "format/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STAGE = 3, WORKSPACE, STAGES = WORKSPACE, PATHS_FROM = 2 };

/* --- text that commands chose --------------------------------------------- */

/* What is no visible character is written in bytes, as sbxrun does. */
static void
put_shown(FILE *stream, const char *text, size_t len)
{
	while (len > 0) {
		uint32_t character;
		size_t size = utf8_decode(text, len, &character);
		bool plain = size > 0 &&
		    (character == '\n' || character == '\t' ||
			!utf8_is_hidden(character));

		size += size == 0;
		for (size_t i = 0; i < size; i++)
			fprintf(stream, plain ? "%c" : "\\x%02x",
			    (unsigned char)text[i]);
		text += size;
		len -= size;
	}
}

/* A name may hold a newline, which would begin a line of ours. */
static void
put_name(FILE *stream, const char *name)
{
	for (size_t len; *name != '\0'; name += len) {
		len = strcspn(name, "\n\t");
		put_shown(stream, name, len);
		if (len > 0)
			continue;
		fputs(*name == '\n' ? "\\n" : "\\t", stream);
		len = 1;
	}
}

/* --- list ----------------------------------------------------------------- */

struct tally {
	uint64_t changes, bytes;
};

static void
count(void *context, const struct stage_change *change)
{
	struct tally *tally = context;

	if (change->kind == STAGE_SAME)
		return;
	tally->changes++;
	if (change->kind != STAGE_DELETED && S_ISREG(change->new.st_mode))
		tally->bytes += (uint64_t)change->new.st_size;
}

static const char *
age(struct arena *arena, int64_t begun)
{
	int64_t minutes = ((int64_t)time(NULL) - begun / 1000000000) / 60;

	return minutes < 2 * 60 ?
	    arena_printf(arena, "%lldm",
		(long long)(minutes < 0 ? 0 : minutes)) :
	    minutes < 2 * 24 * 60 ?
	    arena_printf(arena, "%lldh", (long long)(minutes / 60)) :
	    arena_printf(arena, "%lldd", (long long)(minutes / (24 * 60)));
}

/* The workspace of a stage in the list is opened by its path: only to look. */
static void
list_one(const struct options *options, int stages, const char *name,
    struct json_t *into)
{
	struct arena *arena = arena_child(options->arena);
	int directory = openat(stages, name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stage stage;
	struct tally tally = { 0 };
	const struct stage_visitor visitor = { .visit = count,
		.context = &tally };

	if (directory < 0 || !stage_load(&stage, arena, name, directory, -1))
		goto end;
	stage.workspace = open(stage.path,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	stage_walk(&stage, &visitor);
	if (into != NULL) {
		struct json_t *one = json_put_object(into, NULL);

		json_put_text(one, "name", name);
		json_put_text(one, "workspace", stage.path);
		json_put_number(one, "begun",
		    (uint64_t)(stage.about.begun / 1000000000));
		json_put_number(one, "changes", tally.changes);
		json_put_number(one, "bytes", tally.bytes);
	} else {
		printf("%-24s %5s %8llu %10llu  ", name,
		    age(arena, stage.about.begun),
		    (unsigned long long)tally.changes,
		    (unsigned long long)tally.bytes);
		put_name(stdout, stage.path);
		putchar('\n');
	}
	if (stage.workspace >= 0)
		close(stage.workspace);
	if (stage.upper >= 0)
		close(stage.upper);
end:
	if (directory >= 0)
		close(directory);
	arena_release(arena);
}

static enum exit_status
list(const struct options *options)
{
	struct json_t *root = options->format == REPORT_JSON ? json_root() :
							       NULL;
	struct json_t *stages = NULL;
	DIR *stream = fdopendir(dup(STAGE));
	const struct dirent *entry;
	bool any = false;

	if (stream == NULL) {
		complain("cannot read the stages: %s; 'sbxrun --staged' starts "
			 "this",
		    strerror(errno));
		return EXIT_TROUBLE;
	}
	if (root != NULL) {
		json_put_number(root, "sbx", 1);
		stages = json_put_array(root, "stages");
	}
	while ((entry = readdir(stream)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		if (!any && root == NULL)
			printf("%-24s %5s %8s %10s  %s\n", "STAGE", "AGE",
			    "CHANGES", "BYTES", "WORKSPACE");
		any = true;
		list_one(options, STAGE, entry->d_name, stages);
	}
	closedir(stream);
	if (root != NULL)
		json_write(root, stdout);
	else if (!any)
		puts("nothing is staged; sbxrun --stage CMD does that");
	return EXIT_CLEAN;
}

/* --- diff ----------------------------------------------------------------- */

struct changes {
	const struct options *options;
	struct arena *arena;
	const char *const *paths;
	size_t count;
	VEC(struct stage_change) list;
};

static bool
is_asked(const struct changes *changes, const char *path)
{
	for (size_t i = 0; i < changes->count; i++) {
		if (path_lies_in(path, changes->paths[i]))
			return true;
	}
	return changes->count == 0;
}

static void
gather(void *context, const struct stage_change *change)
{
	struct changes *changes = context;

	if (change->kind != STAGE_SAME && is_asked(changes, change->path))
		*arena_push(changes->arena, &changes->list) = *change;
}

static const char *const words[] = {
	[STAGE_DELETED] = "deleted",
	[STAGE_ADDED] = "new",
	[STAGE_CHANGED] = "changed",
	[STAGE_MODE] = "mode",
	[STAGE_UNFIT] = "special",
};

static void
print_change(FILE *stream, const struct stage_change *change)
{
	fprintf(stream, "%-8s ", words[change->kind]);
	put_name(stream, change->path);
	if (change->kind == STAGE_DELETED && S_ISDIR(change->old.st_mode))
		fprintf(stream, "/ (%llu files)",
		    (unsigned long long)change->files);
	else if (change->kind != STAGE_DELETED && S_ISDIR(change->new.st_mode))
		putc('/', stream);
	if (change->target != NULL) {
		fputs(" -> ", stream);
		put_name(stream, change->target);
	}
	if (change->kind == STAGE_MODE ||
	    (change->kind == STAGE_CHANGED && S_ISREG(change->new.st_mode) &&
		((change->old.st_mode ^ change->new.st_mode) & 0777) != 0))
		fprintf(stream, " (mode %03o, was %03o)",
		    change->new.st_mode & 0777, change->old.st_mode & 0777);
	if (change->kind == STAGE_UNFIT)
		fputs(" (never applied)", stream);
	else if (change->watched)
		fputs(" (watched: applied only by name)", stream);
	putc('\n', stream);
}

/* A file of one of the layers that diff(1) inherits: a regular one, or nothing. */
static const char *
layer_file(const struct changes *changes, int top, const char *path)
{
	const char *slash = strrchr(path, '/');
	int parent = stage_open_parent(top, path);
	int fd = parent < 0 ? -1 :
			      openat(parent, slash != NULL ? slash + 1 : path,
				  O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	struct stat status;

	if (parent >= 0)
		close(parent);
	if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		return "/dev/null";
	return arena_printf(changes->arena, "/dev/fd/%d", fd);
}

/* A line of diff(1)'s own, whatever the name is. */
static const char *
label(struct arena *arena, char side, const char *path)
{
	char *text = arena_printf(arena, "%c/%s", side, path);

	for (char *at = text; *at != '\0'; at++) {
		if (*at == '\n' || *at == '\t')
			*at = '?';
	}
	return text;
}

static __attribute__((noreturn)) void
execute_diff(const struct changes *changes, const struct stage *stage,
    const struct stage_change *change, int out)
{
	struct arena *arena = changes->arena;
	const char *old = change->kind == STAGE_ADDED ?
	    "/dev/null" :
	    layer_file(changes, stage->workspace, change->path);
	const char *new = change->kind == STAGE_DELETED ?
	    "/dev/null" :
	    layer_file(changes, stage->upper, change->path);
	const char *const command[] = { "diff", "-u", "--label",
		label(arena, 'a', change->path), "--label",
		label(arena, 'b', change->path), old, new, NULL };

	dup2(out, STDOUT_FILENO);
	/* The system's first: a PATH may begin in the workspace, as with a virtual
	 * environment, where a command may have put one that shows less. */
	execv("/usr/bin/diff", (char *const *)command);
	execvp("diff", (char *const *)command);
	complain("cannot run diff: %s", strerror(errno));
	_exit(EXIT_TROUBLE);
}

/* What diff(1) prints holds what commands wrote. */
static bool
print_text(FILE *out, const struct changes *changes, const struct stage *stage,
    const struct stage_change *change)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	FILE *stream;
	int ends[2], status = 0;
	pid_t pid;

	fflush(stdout);
	if (pipe2(ends, O_CLOEXEC) != 0 || (pid = fork()) < 0) {
		complain("cannot run diff: %s", strerror(errno));
		return false;
	}
	if (pid == 0)
		execute_diff(changes, stage, change, ends[1]);
	close(ends[1]);
	stream = fdopen(ends[0], "r");
	while (stream != NULL && (len = getline(&line, &size, stream)) >= 0)
		put_shown(out, line, (size_t)len);
	free(line);
	if (stream != NULL)
		fclose(stream);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	/* 1: they differ. */
	return WIFEXITED(status) && WEXITSTATUS(status) <= 1;
}

static void
put_json(const struct changes *changes, const struct stage *stage)
{
	struct json_t *root = json_root(), *list;

	json_put_number(root, "sbx", 1);
	json_put_text(root, "stage", stage->name);
	json_put_text(root, "workspace", stage->path);
	list = json_put_array(root, "changes");
	for (size_t i = 0; i < changes->list.count; i++) {
		const struct stage_change *change = &changes->list.items[i];
		struct json_t *one = json_put_object(list, NULL);

		json_put_text(one, "path", change->path);
		json_put_text(one, "change", words[change->kind]);
		if (change->target != NULL)
			json_put_text(one, "target", change->target);
		json_put_bool(one, "watched", change->watched);
		if (change->kind != STAGE_DELETED)
			json_put_number(one, "size",
			    (uint64_t)change->new.st_size);
		if (change->kind == STAGE_DELETED &&
		    S_ISDIR(change->old.st_mode))
			json_put_number(one, "files", change->files);
	}
	json_write(root, stdout);
}

static bool
has_text(const struct stage_change *change)
{
	switch (change->kind) {
	case STAGE_DELETED:
		return S_ISREG(change->old.st_mode);
	case STAGE_ADDED:
	case STAGE_CHANGED:
		return S_ISREG(change->new.st_mode);
	case STAGE_MODE:
	case STAGE_SAME:
	case STAGE_UNFIT:
		break;
	}
	return false;
}

/* A part of a page: a line about a change, or its text. */
static bool
put_part(const struct changes *changes, const struct stage *stage,
    const struct stage_change *change, const char *element, bool whole)
{
	bool good = true;
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (stream == NULL)
		arena_exhausted();
	if (whole)
		good = print_text(stream, changes, stage, change);
	else
		print_change(stream, change);
	fclose(stream);
	printf("<%s>", element);
	page_text(stdout, text);
	printf("</%s>\n", element);
	free(text);
	return good;
}

/* The text is folded, below what can be seen of all. */
static bool
put_card(const struct changes *changes, const struct stage *stage,
    const struct stage_change *change)
{
	bool graver = change->kind == STAGE_DELETED ||
	    change->kind == STAGE_UNFIT || change->watched;
	bool good;

	printf("<div class=\"f%s\">", graver ? " wider" : "");
	good = put_part(changes, stage, change, "code", false);
	if (has_text(change)) {
		fputs("<details><summary class=\"dim\">text</summary>", stdout);
		good &= put_part(changes, stage, change, "pre", true);
		fputs("</details>\n", stdout);
	}
	fputs("</div>\n", stdout);
	return good;
}

/* All names first, and of these what is gone: nobody reads to the end of a long
 * text. */
static enum exit_status
diff(const struct options *options, const struct stage *stage,
    const char *const *paths, size_t count)
{
	struct changes changes = {
		.options = options,
		.arena = options->arena,
		.paths = paths,
		.count = count,
	};
	const struct stage_visitor visitor = { .visit = gather,
		.context = &changes };
	bool good = stage_walk(stage, &visitor);

	if (options->format == REPORT_JSON) {
		put_json(&changes, stage);
		return good ? EXIT_CLEAN : EXIT_TROUBLE;
	}
	if (options->html) {
		page_begin(stdout, "what a stage changed");
		fputs("<h1>", stdout);
		page_text(stdout, shown_text(options->arena, stage->path));
		fputs("</h1>\n", stdout);
	}
	if (changes.list.count == 0 && good)
		puts("nothing was changed");
	for (int deleted = 1; deleted >= 0; deleted--) {
		for (size_t i = 0; i < changes.list.count; i++) {
			const struct stage_change *change =
			    &changes.list.items[i];

			if ((change->kind == STAGE_DELETED) != deleted)
				continue;
			if (options->html)
				good &= put_card(&changes, stage, change);
			else
				print_change(stdout, change);
		}
	}
	if (options->html) {
		page_end(stdout);
		return good ? EXIT_CLEAN : EXIT_TROUBLE;
	}
	for (size_t i = 0; i < changes.list.count; i++) {
		const struct stage_change *change = &changes.list.items[i];

		if (!has_text(change))
			continue;
		putchar('\n');
		good &= print_text(stdout, &changes, stage, change);
	}
	return good ? EXIT_CLEAN : EXIT_TROUBLE;
}

/* --- apply, discard ------------------------------------------------------- */

static enum exit_status
apply(const struct options *options, const struct stage *stage,
    const char *const *paths, size_t count)
{
	struct stage_applied applied;
	bool good = stage_apply(stage, paths, count, options->force, &applied);

	if (!good)
		return EXIT_TROUBLE;
	if (count > 0 && applied.applied + applied.left == 0) {
		complain(
		    "nothing is staged at these paths: 'sbxrun --staged=%s "
		    "diff' prints all",
		    stage->name);
		return EXIT_TROUBLE;
	}
	printf("%llu applied, %llu left in the stage\n",
	    (unsigned long long)applied.applied,
	    (unsigned long long)applied.left);
	return applied.left > 0 ? EXIT_POLICY : EXIT_CLEAN;
}

/* `about` goes last: what is left by a kill can be discarded again. */
static enum exit_status
discard(const char *name)
{
	static const char *const parts[] = { "upper", "work", "watched",
		"applied", "linked", "met", "about" };

	for (size_t i = 0; i < countof(parts); i++) {
		if (!stage_remove(STAGE, parts[i])) {
			complain("cannot remove '%s' of stage '%s': %s",
			    parts[i], name, strerror(errno));
			return EXIT_TROUBLE;
		}
	}
	if (unlinkat(STAGES, name, AT_REMOVEDIR) != 0) {
		complain("cannot remove stage '%s': %s", name, strerror(errno));
		return EXIT_TROUBLE;
	}
	printf("stage '%s' is discarded\n", name);
	return EXIT_CLEAN;
}

/* As the walk names it: diff prints a '/' behind a directory, and shells begin
 * with "./". */
static const char *
walked_path(struct arena *arena, const char *path)
{
	size_t len;

	while (strncmp(path, "./", 2) == 0)
		path += 1 + strspn(path + 1, "/");
	len = strlen(path);
	while (len > 0 && path[len - 1] == '/')
		len--;
	return arena_strndup(arena, path, len);
}

/* Directories are open as deep as the walk is in. */
static void
open_many(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

enum exit_status
command_staged(struct options *options)
{
	struct words *operands = &options->operands;
	const char **list_of = operands->list.items;
	const char *verb = operands->list.count > 0 ? list_of[0] : "list";
	bool known = strcmp(verb, "diff") == 0 || strcmp(verb, "apply") == 0 ||
	    strcmp(verb, "discard") == 0;
	struct stage stage;

	if (fcntl(STAGE, F_SETFD, FD_CLOEXEC) != 0)
		return misused("'sbxrun --staged' starts this");
	(void)fcntl(WORKSPACE, F_SETFD, FD_CLOEXEC);
	open_many();
	if (strcmp(verb, "list") == 0)
		return list(options);
	if (!known || operands->list.count < PATHS_FROM)
		return misused("'%s' is none of list, diff, apply and discard; "
			       "sbxrun --staged=NAME diff",
		    verb);
	if (strcmp(verb, "discard") == 0)
		return operands->list.count > PATHS_FROM ?
		    misused("discard takes no paths; 'diff' shows them") :
		    discard(list_of[1]);
	if (!stage_load(&stage, options->arena, list_of[1], STAGE,
		fcntl(WORKSPACE, F_GETFD) >= 0 ? WORKSPACE : -1))
		return EXIT_TROUBLE;
	for (size_t i = PATHS_FROM; i < operands->list.count; i++)
		list_of[i] = walked_path(options->arena, list_of[i]);
	return (strcmp(verb, "diff") == 0 ? diff : apply)(options, &stage,
	    list_of + PATHS_FROM, operands->list.count - PATHS_FROM);
}
