/*
 * The log: a line for each run, at the end of a file that no command sees.  It is
 * the last record of the receipt (log_record.c), which a chain ties to the line
 * before:
 *
 *	{"sbx":1,"event":"policy","digest":"D",...,"chain":"H"}
 *	{"sbx":1,"event":"end",...,"digest":"D",...,"chain":"H"}
 *
 * H is the SHA-256 of what stands before `,"chain"` in this line and of the line
 * before's H, or 64 zeros.  A policy has a line before the first of its runs.
 *
 * The file is opened for each line, so it can be moved away at any time, and locked
 * while one is added.  The supervisor does that; while the command runs it keeps the
 * beginning of the line in a file of its own (unfinished.c), and the next run makes a
 * line of it if it was killed.  What is refused before there is a supervisor is
 * written at that moment; the processes inside leave their last words in a page that
 * they share with it.
 */
#include "runtime/watch/receipt.h"

#include "runtime/base/files.h"
#include "runtime/base/json.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	PATIENCE = 5000, /* milliseconds */
	ROOM = 64 << 10, /* what must be free on the disk before a run */
	KEPT = SHA256_HEX + sizeof((struct run_log *)NULL)->policy_line +
	    sizeof((struct run_log *)NULL)->head_text + 512,
};

static const char chain_key[] = ",\"chain\":\"", line_end[] = "\"}\n",
		  zeros[] = "0000000000000000"
			    "0000000000000000"
			    "0000000000000000"
			    "0000000000000000";

enum { TAIL = sizeof chain_key + SHA256_HEX + sizeof line_end - 2 };

static const char state_name[] = "~" SBX_OWN_STATE "/log";

static const char *
shown_name(const struct run_log *log)
{
	return log->path != NULL ? log->path : state_name;
}

/* Either the run is refused, or nobody hears more of the log than this. */
static void
do_without(struct run_log *log, const char *text, int error)
{
	struct out out;

	log->on = false;
	if (log->required)
		refuse(shown_name(log), text, error);
	out_init(&out, -1);
	out_print(&out, "nothing is written of this run: %s", text);
	warn_about(shown_name(log), out.text, error);
}

/* --- the setting ---------------------------------------------------------- */

/* A line with a slash is the file's name, the others are words. */
static void
take_setting(struct run_log *log, struct arena *arena, const char *name,
    char *text)
{
	char *line;

	while ((line = strsep(&text, "\n")) != NULL) {
		if (*line == '/')
			log->path = path_of(arena_copy(arena, place_of(line)));
		else if (strcmp(line, "required") == 0)
			log->required = true;
		else if (strcmp(line, "no-args") == 0)
			log->brief = true;
		else if (*line != '\0')
			refuse(name,
			    "it has an absolute path, 'required', 'no-args', "
			    "or nothing",
			    0);
	}
}

/*
 * What cannot be read may say that a log is required.  But inside a sandbox, where
 * what is denied is no matter of the file's mode, nobody may look: what runs there is
 * a line of the one outside.
 */
static bool
is_absent(const char *home, const char *path)
{
	return errno == ENOENT || errno == ENOTDIR ||
	    (errno == EACCES &&
		(faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0 ||
		    faccessat(AT_FDCWD, home, X_OK, AT_EACCESS) != 0));
}

static bool
find_setting(struct run_log *log, struct arena *arena)
{
	char buffer[PASSWD_LINE], path[SBX_MAX_PATH + 1], text[2048];
	const char *home = passwd_home(buffer, sizeof buffer);
	struct stat status;
	struct out out;
	int fd, directory;

	if (home == NULL)
		return false;
	out_into(&out, path, sizeof path);
	out_print(&out, "%s" SBX_OWN_CONFIG "/log", home);
	fd = open(path,
	    O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && is_absent(home, path))
		return false;
	if (fd < 0)
		refuse(path, "cannot read this setting", errno);
	close(fd);
	directory = open(home, O_PATH | O_DIRECTORY | O_CLOEXEC);
	directory = directory < 0 ? -1 : own_enter(directory, ".config");
	directory = directory < 0 ? -1 : own_enter(directory, "sbx");
	if (directory < 0 || fstatat(directory, "log", &status, 0) != 0 ||
	    !S_ISREG(status.st_mode) || !own_is_private(&status))
		refuse(path,
		    "this setting is to be yours alone, but others may write "
		    "it or a directory above it, or a link leads to it",
		    0);
	if (!file_read(directory, "log", text, sizeof text) ||
	    strlen(text) == sizeof text - 1)
		refuse(path, "this setting is too long", 0);
	close(directory);
	take_setting(log, arena, path, text);
	return true;
}

static void refused(void *of, const char *text);

void
log_begin(struct receipt *receipt, struct arena *arena,
    const struct options *options)
{
	struct run_log *log = &receipt->log;

	log->arena = arena;
	log->options = options;
	log->command = options->command;
	log->directory = -1;
	log->pending = (struct unfinished){ .directory = -1, .fd = -1 };
	if (options->plan || options->self_test || options->doctor ||
	    (options->command == NULL && options->keep < 0))
		return;
	log->required = log->path != NULL;
	log->on = find_setting(log, arena) || options->log != NULL;
	if (options->log != NULL) {
		log->path = options->log;
		log->required = true;
	}
	log->brief |= options->log_brief;
	receipt_name(receipt);
	if (log->on || options->status_fd >= 0)
		log_find_parent(log);
	if (log->on)
		refuse_tells(refused, receipt);
}

/* --- the file ------------------------------------------------------------- */

/* The directory, before links on the way have been judged. */
static void
find_directory(struct run_log *log)
{
	int fd;

	if (log->directory >= 0)
		return;
	log->name = "log";
	if (log->path == NULL) {
		fd = own_state(NULL);
		log->way.error = fd < 0 ? errno : 0;
	} else {
		log->way = receipt_way(log->arena, log->path, &log->name);
		fd = log->way.fd;
	}
	if (fd >= 0)
		log->directory = above_standard(fd);
}

/* The same file as before, unless it was moved away meanwhile. */
static bool
is_moved(const struct run_log *log, const struct stat *status)
{
	struct stat now;

	return fstatat(log->directory, log->name, &now, AT_SYMLINK_NOFOLLOW) !=
	    0 ||
	    now.st_ino != status->st_ino || now.st_dev != status->st_dev;
}

/* Open and locked; or -1, and *fault with errno or 0. */
static int
open_log(const struct run_log *log, struct stat *status, const char **fault)
{
	enum { TRIES = 100 };

	for (int i = 0; i < TRIES; i++) {
		int fd = openat(log->directory, log->name,
		    O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW |
			O_NOCTTY | O_NONBLOCK,
		    0600);

		*fault = "cannot open the log";
		if (fd < 0)
			return -1;
		fd = above_standard(fd);
		errno = 0;
		*fault = "the log is not a regular file";
		if (fstat(fd, status) != 0 || !S_ISREG(status->st_mode)) {
			close(fd);
			return -1;
		}
		*fault = "another process has held the lock of the log for "
			 "five seconds";
		if (!file_lock(fd, PATIENCE)) {
			close(fd);
			errno = 0;
			return -1;
		}
		if (fstat(fd, status) == 0 && !is_moved(log, status))
			return fd;
		close(fd);
	}
	*fault = "the log is moved away all the time";
	errno = 0;
	return -1;
}

/* Before the command starts: whether a line can be added when it has ended. */
static const char *
find_room(int fd, const struct stat *status)
{
	enum { KEEP_SIZE = 1 }; /* FALLOC_FL_KEEP_SIZE */
	static const char begin[] = "{\"sbx\":1,\"event\":\"";
	char text[sizeof begin] = "";

	errno = 0;
	if (status->st_size > 0 &&
	    (pread(fd, text, sizeof begin - 1, 0) != sizeof begin - 1 ||
		memcmp(text, begin, sizeof begin - 1) != 0))
		return "there is something else in this file";
	if (syscall(SYS_fallocate, fd, KEEP_SIZE, status->st_size, ROOM) == 0 ||
	    (errno != ENOSPC && errno != EDQUOT && errno != EFBIG))
		return NULL;
	return "there is no room for a line";
}

/* Where it is, whatever it was called. */
static void
find_place(struct run_log *log)
{
	char link[DESCRIPTOR_PATH_SIZE];
	struct path *path = arena_take(log->arena, 1, sizeof *path);
	ssize_t len;

	descriptor_path(link, log->directory);
	len = readlink(link, path->text, sizeof path->text - 1);
	path_cut(path, len > 1 ? (uint32_t)len : 0);
	if (!path_push(path, log->name, strlen(log->name)))
		refuse(shown_name(log), "cannot open the log", ENAMETOOLONG);
	log->place = (struct sbx_place){ path->text, path->len };
}

void
log_open(struct receipt *receipt)
{
	struct run_log *log = &receipt->log;
	const char *fault;
	struct stat status;
	int fd, error;

	if (!log->on)
		return;
	log->judged = true;
	if (log->directory < 0) {
		do_without(log, "cannot open the log", log->way.error);
		return;
	}
	find_place(log);
	fd = open_log(log, &status, &fault);
	if (fd >= 0)
		fault = find_room(fd, &status);
	error = errno;
	if (fd >= 0)
		close(fd);
	if (fault != NULL) {
		do_without(log, fault, error);
		return;
	}
	log->shared = mmap(NULL, sizeof *log->shared, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (log->shared == MAP_FAILED)
		refuse(NULL, "there is not enough memory for sbxrun", errno);
}

struct followed
log_way(struct receipt *receipt)
{
	if (receipt->log.on)
		find_directory(&receipt->log);
	return receipt->log.way;
}

void
log_hide(struct receipt *receipt, const struct binding *binding)
{
	struct run_log *log = &receipt->log;

	if (!log->on ||
	    (binding != NULL &&
		!rule_index_allows(binding->index, SBX_READ, log->place) &&
		!rule_index_allows(binding->index, SBX_WRITE, log->place)))
		return;
	log->shared->seen = !log->required;
	do_without(log,
	    "the policy lets the command see the log; name a place for it "
	    "where the policy allows nothing",
	    0);
}

/* --- the chain ------------------------------------------------------------ */

/* The last line may have been cut, or be somebody else's: then the chain begins
 * anew, which is found by who verifies it.  False: it has no end. */
static bool
read_chain(int fd, const struct stat *status, char hash[SHA256_HEX + 1])
{
	char text[TAIL + 1] = "";
	const char *found = text + sizeof chain_key - 1;

	memcpy(hash, zeros, sizeof zeros);
	if (status->st_size == 0)
		return true;
	if (status->st_size < TAIL ||
	    pread(fd, text, TAIL, status->st_size - TAIL) != TAIL)
		return false;
	if (memcmp(text, chain_key, sizeof chain_key - 1) == 0 &&
	    strcmp(found + SHA256_HEX, line_end) == 0)
		memcpy(hash, found, SHA256_HEX);
	return text[TAIL - 1] == '\n';
}

/* Of the line that begins there. */
static void
seal(struct out *text, uint32_t begin, char hash[SHA256_HEX + 1])
{
	uint32_t end = text->used;

	out_text(text, hash);
	sha256_hex(text->text + begin, text->used - begin, hash);
	text->used = end;
	out_text(text, chain_key);
	out_text(text, hash);
	out_text(text, line_end);
}

/* Whether the file has the line of this policy.  Mostly it is near the beginning. */
static bool
has_policy(struct run_log *log, int fd, const char *policy)
{
	enum { SIZE = sizeof LOG_POLICY - 1 + SHA256_HEX };
	bool found = false;
	off_t at = 0;
	ssize_t len;

	while (!found &&
	    (len = pread(fd, log->lines, sizeof log->lines, at)) >= SIZE) {
		found = memmem(log->lines, (size_t)len, policy, SIZE) != NULL;
		at += len - SIZE + 1;
	}
	return found;
}

/* All of it, or nothing. */
static bool
write_lines(int fd, const struct stat *status, const struct out *text)
{
	ssize_t written;
	int error;

	/* Of the caller's limit on files an error is to tell, and no signal. */
	signal(SIGXFSZ, SIG_IGN);
	written = write(fd, text->text, text->used);
	error = errno;
	if (written == (ssize_t)text->used)
		return true;
	if (written > 0 && ftruncate(fd, status->st_size) != 0)
		return false;
	errno = written < 0 ? error : ENOSPC;
	return false;
}

/* Adds a record without an end, and before it the one of its policy, or "". */
static bool
append(struct run_log *log, const char *policy, const char *record, size_t len)
{
	char hash[SHA256_HEX + 1];
	const char *fault = NULL;
	struct stat status;
	struct out text;
	uint32_t begin;
	int fd = open_log(log, &status, &fault);
	bool with = fd >= 0 && *policy != '\0' && !has_policy(log, fd, policy);

	out_into(&text, log->lines, sizeof log->lines);
	if (fd >= 0) {
		if (!read_chain(fd, &status, hash))
			out_text(&text, "\n");
		begin = text.used;
		if (with) {
			out_text(&text, policy);
			seal(&text, begin, hash);
			begin = text.used;
		}
		out_bytes(&text, record, len);
		seal(&text, begin, hash);
		fault = write_lines(fd, &status, &text) ?
		    NULL :
		    "cannot write the log";
	}
	if (fault != NULL)
		warn_about(shown_name(log), fault, errno);
	if (fd >= 0)
		close(fd);
	return fault == NULL;
}

static void
append_record(struct receipt *receipt)
{
	struct run_log *log = &receipt->log;

	/* Without the end of the object and of the line. */
	append(log, log->policy_line, receipt->text, receipt->json.used - 2);
}

/* --- runs that were killed ------------------------------------------------ */

/* What is kept is the name of the log, then the policy's line and the run's as far
 * as they are known, each with a line end. */
static void
add_killed(struct run_log *log, const struct unfinished *run, char *text,
    const char *key)
{
	char *policy = text + SHA256_HEX, *record = strchr(policy, '\n');
	char *end = record != NULL ? strchr(record + 1, '\n') : NULL;

	if (memcmp(text, key, SHA256_HEX) != 0 || end == NULL ||
	    record[1] != '{' || end[1] != '\0')
		return;
	*record++ = '\0';
	/* Of one that could not be written, the next run tries to. */
	if (append(log, policy, record, (size_t)(end - record)))
		unlinkat(run->directory, run->name, 0);
}

static void
tell_killed(struct run_log *log, char text[KEPT + 1], const char *key)
{
	struct unfinished_list list;
	size_t len;

	unfinished_open(&list, own_state("logging"));
	while (unfinished_next(&list, &len)) {
		if (len > KEPT ||
		    pread(list.run.fd, text, len, 0) != (ssize_t)len)
			continue;
		text[len] = '\0';
		add_killed(log, &list.run, text, key);
	}
	unfinished_close(&list, &log->pending);
}

void
log_keep(struct receipt *receipt)
{
	struct run_log *log = &receipt->log;
	struct out kept;
	char key[SHA256_HEX + 1], *text;

	log_compose(receipt);
	if (!log->on)
		return;
	text = arena_take(log->arena, 1, KEPT + 1);
	sha256_hex(log->place.path, log->place.len, key);
	tell_killed(log, text, key);
	receipt_begin(receipt, "killed");
	log_put_head(receipt);
	out_into(&kept, text, KEPT);
	out_text(&kept, key);
	out_text(&kept, log->policy_line);
	out_text(&kept, "\n");
	out_bytes(&kept, receipt->text, receipt->json.used);
	out_text(&kept, "\n");
	if (!unfinished_begin(&log->pending, text, kept.used) && log->required)
		warn_about(shown_name(log),
		    "if sbxrun is killed, the log does not say so", errno);
}

/* --- lines ---------------------------------------------------------------- */

void
log_add(struct receipt *receipt)
{
	struct run_log *log = &receipt->log;

	if (!log->on || log->shared->seen)
		return;
	append_record(receipt);
	unfinished_end(&log->pending);
}

const char *
log_refusal(const struct receipt *receipt)
{
	const struct log_shared *shared = receipt->log.shared;

	return shared != NULL && shared->reason[0] != '\0' ? shared->reason :
							     NULL;
}

/* refuse() was called, in whichever process. */
static void
refused(void *of, const char *text)
{
	struct receipt *receipt = of;
	struct run_log *log = &receipt->log;

	if (log->inside && log->shared != NULL) {
		strncpy(log->shared->reason, text,
		    sizeof log->shared->reason - 1);
	}
	if (log->inside || !log->on)
		return;
	/* Here once, whatever else fails. */
	log->on = false;
	find_directory(log);
	if (log->directory < 0 || (log->way.link_count > 0 && !log->judged))
		return;
	log_compose(receipt);
	receipt_begin(receipt, "refused");
	log_put_head(receipt);
	json_string(&receipt->json, "error", text);
	receipt_end(receipt);
	append_record(receipt);
	unfinished_end(&log->pending);
}
