/*
 * Policies as text.  What sbxc makes of one is kept, a file for each path, profile
 * and list of rules, with the digest of each file that went into it:
 *
 *	~/.local/state/sbx/compiled/KEY     format/protocol.h
 *
 * A command can write nothing there.  It is used again if all these files hold
 * the same bytes; times are not believed, since a command that may write a text
 * can change it through a mapping that was made before.
 */
#include "runtime/start/start.h"

#include "format/protocol.h"
#include "format/verify.h"
#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	PATIENCE = 60000, /* milliseconds, of a machine that does much else */
	TRIES = 3,        /* if a file changes meanwhile */
	NAME_SIZE = 33,   /* of what is kept */
	KEY_SIZE = 64 << 10,
	KEPT_MAX = 128,        /* policies, some 100 KB each */
	SOURCE_MAX = 16 << 20, /* bytes: sbxc reads no longer file */
};

struct making {
	const struct options *options;
	struct arena *arena;
	struct policy_file *loaded;
	bool rules; /* those of the command line are added to a blob */
	int kept;   /* the directory, or -1 */
	char name[NAME_SIZE];
	struct path sbxc;
	int program; /* that sbxc; -1: there is none */
	struct sbx_compiled head;
	struct sbx_compiled_file *files;
	const char *paths;
};

/* --- files as they are now ------------------------------------------------ */

static int64_t
nanoseconds(struct timespec time)
{
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Whether a file that is open has these bytes. */
static bool
holds(int fd, const char *digest)
{
	char now[SHA256_HEX + 1] = "", *bytes;
	struct stat status;
	size_t size, used = 0;
	ssize_t len = 1;

	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
	    status.st_size > SOURCE_MAX)
		return false;
	size = (size_t)status.st_size + 1;
	bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes == MAP_FAILED)
		return false;
	while (used < size && len > 0) {
		len = read(fd, bytes + used, size - used);
		used += len > 0 ? (size_t)len : 0;
	}
	if (len == 0)
		sha256_hex(bytes, used, now);
	munmap(bytes, size);
	return len == 0 && memcmp(now, digest, SHA256_HEX) == 0;
}

static bool
is_current(const struct making *making)
{
	for (uint32_t i = 0; i < making->head.file_count; i++) {
		const struct sbx_compiled_file *file = &making->files[i];
		int fd = open(making->paths + file->path,
		    O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		bool same = fd < 0 ?
		    file->absent && (errno == ENOENT || errno == ENOTDIR) :
		    !file->absent && holds(fd, file->digest);

		if (fd >= 0)
			close(fd);
		if (!same)
			return false;
	}
	return true;
}

/* --- where it is kept ----------------------------------------------------- */

/* Its name says what it was made of, but for what the files are. */
static void
name_it(struct making *making)
{
	const struct options *options = making->options;
	char *text = arena_take(making->arena, 1, KEY_SIZE);
	char digest[SHA256_HEX + 1];
	struct out key;

	out_into(&key, text, KEY_SIZE);
	if (making->rules) {
		sha256_hex(making->loaded->bytes, making->loaded->size, digest);
		out_print(&key, "rules %s", digest);
		for (uint32_t i = 0; i < options->rule_count; i++) {
			out_text(&key,
			    options->rules[i].denies ? "deny" : "allow");
			out_bytes(&key, options->rules[i].text,
			    strlen(options->rules[i].text) + 1);
		}
	} else {
		out_print(&key, "text %s", making->loaded->place.path);
		out_bytes(&key, "", 1);
		if (options->profile != NULL)
			out_text(&key, options->profile);
	}
	if (key.full)
		refuse("--allow", "the rules are too long", 0);
	sha256_hex(text, key.used, digest);
	memcpy(making->name, digest, NAME_SIZE - 1);
	making->name[NAME_SIZE - 1] = '\0';
}

/* --- what was made -------------------------------------------------------- */

static bool
read_at(int fd, void *bytes, size_t size, size_t offset)
{
	return pread(fd, bytes, size, (off_t)offset) == (ssize_t)size;
}

/* Reads what format/protocol.h describes; false if it is none. */
static bool
read_made(struct making *making, int fd)
{
	struct sbx_compiled *head = &making->head;
	size_t files, at = sizeof *head;
	struct stat status;
	char *paths;

	if (fstat(fd, &status) != 0 || !read_at(fd, head, sizeof *head, 0) ||
	    memcmp(head->magic, SBX_COMPILED_MAGIC, sizeof head->magic) != 0 ||
	    head->file_count > SBX_COMPILED_FILES_MAX ||
	    head->path_size > SBX_COMPILED_PATHS_MAX ||
	    head->blob_size > SBX_MAX_SIZE)
		return false;
	files = head->file_count * sizeof *making->files;
	if ((uint64_t)status.st_size !=
	    sizeof *head + files + head->path_size + head->blob_size)
		return false;
	making->files = arena_take(making->arena, head->file_count + 1,
	    sizeof *making->files);
	making->paths = paths = arena_take(making->arena, 1,
	    head->path_size + 1);
	if (!read_at(fd, making->files, files, at) ||
	    !read_at(fd, paths, head->path_size, at + files))
		return false;
	for (uint32_t i = 0; i < head->file_count; i++) {
		if (making->files[i].path >= head->path_size)
			return false;
	}
	return true;
}

static bool
take_blob(struct making *making, int fd)
{
	const struct sbx_compiled *head = &making->head;
	struct policy_file *loaded = making->loaded;
	const struct sbx_header *header = (const void *)loaded->bytes;
	size_t at = sizeof *head + head->file_count * sizeof *making->files +
	    head->path_size;

	loaded->size = head->blob_size;
	if (!loaded->whole && loaded->size > sizeof *header &&
	    read_at(fd, loaded->bytes, sizeof *header, at) &&
	    header->size < loaded->size)
		loaded->size = header->size;
	return read_at(fd, loaded->bytes, loaded->size, at);
}

static bool
find_kept(struct making *making, const struct sbx_compiler *compiler)
{
	int fd = making->kept < 0 ?
	    -1 :
	    openat(making->kept, making->name,
		O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct sbx_blob blob;
	struct stat status;
	bool good;

	if (fd < 0)
		return false;
	/* What a disk has damaged is compiled again. */
	good = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    own_is_private(&status) && read_made(making, fd) &&
	    memcmp(&making->head.compiler, compiler, sizeof *compiler) == 0 &&
	    is_current(making) && take_blob(making, fd) &&
	    sbx_verify(making->loaded->bytes, making->loaded->size, &blob) ==
		SBX_BLOB_OK;
	close(fd);
	return good;
}

/* The oldest go; of a rule that was tried once nobody asks again. */
static void
prune(int kept)
{
	struct directory directory;
	const struct entry *entry;
	char oldest[256];
	struct stat status;
	struct timespec time;
	unsigned count;

	do {
		int fd = openat(kept, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd < 0)
			return;
		count = 0;
		directory_begin(&directory, fd);
		while ((entry = directory_next(&directory)) != NULL) {
			if (strlen(entry->name) >= sizeof oldest ||
			    fstatat(kept, entry->name, &status,
				AT_SYMLINK_NOFOLLOW) != 0 ||
			    !S_ISREG(status.st_mode))
				continue;
			if (count++ > 0 &&
			    nanoseconds(status.st_mtim) >= nanoseconds(time))
				continue;
			time = status.st_mtim;
			strcpy(oldest, entry->name);
		}
		close(fd);
	} while (count > KEPT_MAX && unlinkat(kept, oldest, 0) == 0);
}

/* Copies it behind a head of ours; nothing is lost if that fails. */
static void
keep(struct making *making, int made, const struct sbx_compiler *compiler)
{
	char name[NAME_SIZE + 16], bytes[16 << 10];
	struct out out;
	ssize_t len;
	bool good;
	int fd;

	if (making->kept < 0)
		return;
	out_into(&out, name, sizeof name);
	out_print(&out, "%s-%u", making->name, (unsigned)getpid());
	unlinkat(making->kept, name, 0);
	fd = openat(making->kept, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	making->head.compiler = *compiler;
	good = write(fd, &making->head, sizeof making->head) ==
		sizeof making->head &&
	    lseek(made, sizeof making->head, SEEK_SET) >= 0;
	while (good && (len = read(made, bytes, sizeof bytes)) != 0)
		good = len > 0 && write(fd, bytes, (size_t)len) == len;
	close(fd);
	if (!good ||
	    syscall(SYS_renameat2, making->kept, name, making->kept,
		making->name, 0) != 0)
		unlinkat(making->kept, name, 0);
	prune(making->kept);
}

/* --- compiling ------------------------------------------------------------ */

/* Who may write sbxc decides what it makes of a policy. */
static struct sbx_compiler
find_compiler(struct making *making)
{
	struct sbx_compiler none = { 0 };
	struct stat status;

	making->program = helper_path(&making->sbxc) != NULL ?
	    helper_open(making->sbxc.text) :
	    -1;
	if (making->program < 0 || fstat(making->program, &status) != 0)
		return none;
	/* Those of root look like anybody's in some namespaces; there, sbxc lies
	 * beside this sbxrun, as the user has chosen it. */
	if ((status.st_mode & S_IWOTH) != 0)
		refuse(making->sbxc.text, "others may write this program", 0);
	return (struct sbx_compiler){
		.device = status.st_dev,
		.inode = status.st_ino,
		.size = (uint64_t)status.st_size,
		.modified = nanoseconds(status.st_mtim),
		.changed = nanoseconds(status.st_ctim),
	};
}

struct words {
	char *list[16 + 2 * OPTIONS_MAX_RULES];
	size_t count;
};

static void
add(struct words *words, const char *word)
{
	memcpy(&words->list[words->count++], &word, sizeof word);
}

/* What of the environment says how its messages look. */
static void
fill_variables(struct words *variables)
{
	static const char *const names[] = { "TERM=", "NO_COLOR=",
		"CLICOLOR_FORCE=" };

	for (char **at = environ; *at != NULL; at++) {
		for (size_t i = 0; i < countof(names); i++) {
			if (strncmp(*at, names[i], strlen(names[i])) == 0 &&
			    variables->count < 8)
				add(variables, *at);
		}
	}
	add(variables, "ASAN_OPTIONS=detect_leaks=0");
	add(variables, NULL);
}

static void
fill_words(const struct making *making, struct words *words)
{
	const struct options *options = making->options;

	add(words, "sbxc");
	add(words, "build");
	add(words, "--record");
	for (uint32_t i = 0; making->rules && i < options->rule_count; i++) {
		add(words, options->rules[i].denies ? "--deny" : "--allow");
		add(words, options->rules[i].text);
	}
	if (!making->rules && options->profile != NULL) {
		add(words, "-p");
		add(words, options->profile);
	}
	add(words, "--");
	add(words,
	    making->rules ? "/proc/self/fd/3" : making->loaded->place.path);
	add(words, NULL);
}

__attribute__((noreturn)) static void
refuse_without(const struct making *making)
{
	struct out text;

	out_init(&text, -1);
	out_print(&text, "%s needs sbxc, which is not at ",
	    making->rules ? "a rule of the command line" :
			    "it is a text, and to compile it");
	out_shown(&text, making->sbxc.text, making->sbxc.len);
	refuse(making->rules ? "--allow" : making->options->policy, text.text,
	    0);
}

static void
run_compiler(struct making *making, int made)
{
	enum { POLICY_AT_FAULT = 1 };
	struct words words = { .count = 0 }, variables = { .count = 0 };
	int status;
	struct helper_call call = {
		.program = making->program,
		.words = words.list,
		.variables = variables.list,
		.in = -1,
		.out = made,
		.err = STDERR_FILENO,
		.policy = -1,
		.patience = PATIENCE,
	};

	fill_words(making, &words);
	fill_variables(&variables);
	if (making->rules)
		call.policy = helper_file(making->loaded->bytes,
		    making->loaded->size);
	if (making->rules && call.policy < 0)
		refuse(NULL, "cannot make a file in memory", errno);
	status = helper_run(&call);
	if (status != 0 && status != POLICY_AT_FAULT)
		refuse(making->options->policy,
		    "sbxc could not compile it; see above", 0);
	if (status != 0)
		refuse(making->options->policy,
		    making->rules ? "a rule of --allow or --deny does not go "
				    "with it; see above" :
				    "it does not compile",
		    0);
	if (call.policy >= 0)
		close(call.policy);
}

static void
compile(struct making *making, const struct sbx_compiler *compiler)
{
	int made, tries = 0;

	if (making->program < 0)
		refuse_without(making);
	do {
		if (tries++ == TRIES)
			refuse(making->options->policy,
			    "it changes while it is compiled", 0);
		made = helper_file("", 0);
		if (made < 0)
			refuse(NULL, "cannot make a file in memory", errno);
		run_compiler(making, made);
		if (!read_made(making, made))
			refuse(making->sbxc.text,
			    "it is no sbxc of this version", 0);
	} while (!is_current(making));
	keep(making, made, compiler);
	if (!take_blob(making, made))
		refuse(making->options->policy, "cannot read what sbxc made",
		    errno);
	close(made);
}

/* The first file is the text, which has been looked at. */
static void
trust_files(const struct making *making)
{
	const struct policy_place **link = &making->loaded->place.next;

	for (uint32_t i = 1; i < making->head.file_count; i++) {
		const struct sbx_compiled_file *file = &making->files[i];
		const char *path = making->paths + file->path;
		struct policy_place *place = arena_take(making->arena, 1,
		    sizeof *place);
		int fd;

		place->text = true;
		place->absent = file->absent != 0;
		*link = place;
		link = &place->next;
		if (place->absent) {
			memcpy(place->path, path,
			    strnlen(path, SBX_MAX_PATH) + 1);
			continue;
		}
		fd = open(path, O_PATH | O_CLOEXEC);
		if (fd < 0)
			refuse(path, "cannot open it", errno);
		trust_policy(path, path, fd, place);
		close(fd);
	}
	*link = NULL;
}

static struct making *
make(const struct options *options, struct arena *arena,
    struct policy_file *loaded, bool rules)
{
	struct making *making = arena_take(arena, 1, sizeof *making);
	struct sbx_compiler compiler;

	making->options = options;
	making->arena = arena;
	making->loaded = loaded;
	making->rules = rules;
	compiler = find_compiler(making);
	making->kept = own_state("compiled");
	name_it(making);
	if (making->program < 0 || !find_kept(making, &compiler))
		compile(making, &compiler);
	if (making->program >= 0)
		close(making->program);
	if (making->kept >= 0)
		close(making->kept);
	return making;
}

void
compiled_load(const struct options *options, struct arena *arena,
    struct policy_file *loaded)
{
	const struct making *making = make(options, arena, loaded, false);

	loaded->place.text = true;
	trust_files(making);
}

void
compiled_add_rules(const struct options *options, struct arena *arena,
    struct policy_file *loaded)
{
	make(options, arena, loaded, true);
}
