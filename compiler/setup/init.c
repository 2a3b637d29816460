/*
 * `sbxc init`: a policy and the settings with which a client starts its commands
 * confined, or a policy for a project.  It shows what it would write, asks,
 * writes, tries it, and takes all of it back if that fails.
 */
#include "compiler/base/base.h"
#include "compiler/setup/setup.h"
#include "format/protocol.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- policies ------------------------------------------------------------- */

bool
init_compile(const struct init *init, const char *text, struct image *image)
{
	struct compilation *compilation = arena_alloc(init->arena,
	    sizeof *compilation);
	bool good;

	compilation_init(compilation, init->arena);
	compilation_parse(compilation,
	    sources_add(&compilation->sources, "policy.sbx", text, strlen(text),
		(struct loc){ 0 }));
	good = compile(compilation, NULL, image);
	if (!good)
		options_print(init->options, &compilation->diags);
	return good;
}

const char *
init_configuration(struct arena *arena, const char *home)
{
	const char *configuration = arena_printf(arena, "%s" SBX_OWN_CONFIG,
	    home);
	const char *parent = arena_strndup(arena, configuration,
	    (size_t)(strrchr(configuration, '/') - configuration));
	/* Who made a link of it is the user, whose settings these are. */
	char *real = realpath(parent, NULL);

	if (real != NULL)
		configuration = arena_printf(arena, "%s%s", real,
		    strrchr(configuration, '/'));
	free(real);
	return configuration;
}

const char *
init_free_name(const struct init *init, const char *name)
{
	const char *free_name = name;
	struct stat status;

	/* A source without a blob is one that --undo has kept. */
	for (int i = 2; lstat(arena_printf(init->arena, "%s/%s.bin",
				  init->configuration, free_name),
			    &status) == 0;
	     i++)
		free_name = arena_printf(init->arena, "%s-%d", name, i);
	return free_name;
}

const char *
init_policy(struct init *init, const char *name, const char *text)
{
	const char *source = arena_printf(init->arena, "%s/%s.sbx",
	    init->configuration, name);
	const char *path = arena_printf(init->arena, "%s/%s.bin",
	    init->configuration, name);
	const char *old;
	struct file_change *change;
	struct image image;
	struct stat status;

	/* What --undo has kept, because the user had changed it. */
	old = change_read(init->arena, source, &status);
	if (old == NULL && errno != 0)
		return NULL;
	if (!init_compile(init, old != NULL ? old : text, &image) ||
	    sbx_verify(image.bytes, image.size, &init->blob) != SBX_BLOB_OK)
		return NULL;
	if (old != NULL)
		printf("use    %s, which is there\n", source);
	else if (change_add(&init->changes, source, text, 0644, true) == NULL)
		return NULL;
	change = change_add(&init->changes, path, "", 0644, true);
	if (change == NULL)
		return NULL;
	change->bytes = (const char *)image.bytes;
	change->size = image.size;
	change->made = true;
	return path;
}

enum { TRIAL_DEPTH_MAX = 64 }; /* of directories that are removed */

/* --- trying --------------------------------------------------------------- */

static bool
run_test(struct init *init, const char *policy, int fd)
{
	const char *words[] = { init->sbxrun, "--self-test", policy, NULL };
	struct ran ran = program_run(init->arena, words, NULL, fd);

	if (ran.status == 0)
		return true;
	complain("'sbxrun --self-test' fails: %s%s", ran.out, ran.err);
	return false;
}

/* Removes what the program has left there.  No link is followed and the program's
 * directories are entered by descriptors, so that nothing else can go. */
static void
trial_remove(int at, const char *name, int depth)
{
	int fd = openat(at, name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	if (directory == NULL && fd >= 0)
		close(fd);
	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(fd, entry->d_name, 0) != 0 &&
		    depth < TRIAL_DEPTH_MAX)
			trial_remove(fd, entry->d_name, depth + 1);
	}
	if (directory != NULL)
		closedir(directory);
	if (unlinkat(at, name, AT_REMOVEDIR) != 0 && depth == 0)
		complain("'%s' is left: %s", name, strerror(errno));
}

/* In an empty directory as the workspace. */
static bool
run_trial(struct init *init, const char *policy, int fd)
{
	char workspace[] = "/var/tmp/sbxc-XXXXXX";
	const char *words[9] = { init->sbxrun, "-w", workspace, policy, "--" };
	struct ran ran;

	if (mkdtemp(workspace) == NULL) {
		complain("cannot make a directory to try in: %s",
		    strerror(errno));
		return false;
	}
	for (size_t i = 0; i < countof(init->trial) - 1; i++)
		words[5 + i] = init->trial[i];
	ran = program_run(init->arena, words, workspace, fd);
	trial_remove(AT_FDCWD, workspace, 0);
	if (ran.status == 0) {
		printf("tried in the sandbox: %s says %.*s\n", init->trial[0],
		    (int)strcspn(ran.out, "\n"), ran.out);
		return true;
	}
	complain("'%s %s' fails in the sandbox with %d: %s%s", init->trial[0],
	    init->trial[1] != NULL ? init->trial[1] : "", ran.status, ran.out,
	    ran.err);
	return false;
}

static bool
try_it(struct init *init)
{
	int fd;
	const char *policy;
	bool good;

	if (init->blob.base == NULL)
		return true;
	fd = program_memory(init->blob.base, init->blob.size);
	if (fd < 0)
		return false;
	policy = arena_printf(init->arena, "/proc/self/fd/%d", fd);
	good = run_test(init, policy, fd) &&
	    (init->trial[0] == NULL || run_trial(init, policy, fd));
	close(fd);
	if (good && init->attempt != NULL)
		init->attempt(init);
	return good;
}

/* What a policy allows counts only where something is there, so an agent that has
 * never run could keep nothing. */
static bool
make_place(struct init *init, const char *below, const char *text)
{
	const char *path = client_place(init->arena, init->client, init->home,
	    below);

	if (changes_make(&init->changes, path, text))
		return true;
	complain("cannot make '%s': %s", path, strerror(errno));
	return false;
}

static bool
make_state(struct init *init)
{
	const struct client *client = init->client;
	bool good = true;

	if (client == NULL)
		return true;
	for (int i = 0;
	     good && i < CLIENT_STATE_MAX && client->state[i].path != NULL; i++)
		good = make_place(init, client->state[i].path,
		    client->state[i].text);
	if (good && init->shell && client->shell.scratch != NULL)
		good = make_place(init, CLIENT_SCRATCH, NULL);
	return good;
}

/* --- all of it ------------------------------------------------------------ */

static void
say_after(const struct init *init)
{
	const char *undo = init->what == NULL ?
	    "" :
	    init->file == NULL ?
	    arena_printf(init->arena, "undo: sbxc init %s --undo\n",
		init->what) :
	    arena_printf(init->arena, "undo: sbxc init %s %s --undo\n",
		init->what, shell_word(init->arena, init->file));

	if (init->after != NULL)
		printf("%s\n", init->after);
	fputs(undo, stdout);
}

enum exit_status
init_apply(struct init *init)
{
	changes_show(&init->changes);
	if (!options_agree(init->options, "Write this?"))
		return EXIT_USAGE;
	/* Tried first: what does not work is never written. */
	fflush(stdout);
	if (!make_state(init)) {
		changes_revert(&init->changes);
		return EXIT_TROUBLE;
	}
	if (!try_it(init)) {
		changes_revert(&init->changes);
		complain("nothing was written");
		return EXIT_POLICY;
	}
	if (!changes_write(&init->changes))
		return EXIT_TROUBLE;
	printf("written: %zu files\n", init->changes.list.count);
	say_after(init);
	return EXIT_CLEAN;
}
