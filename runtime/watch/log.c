/*
 * The log: a line for each run, at the end of a file that no command sees.  It is
 * the last record of the receipt, which a chain ties to the line before:
 *
 *	{"sbx":1,"event":"policy","before":"B","digest":"D",...,"back":"P","chain":"H"}
 *	{"sbx":1,"event":"end",...,"digest":"D",...,"back":"P","chain":"H"}
 *
 * H is the SHA-256 of the line before's H (of 64 zeros in the first one) and of what
 * stands before `","chain"` in this one.  P is where the last line of a policy
 * begins, and B where the one before that does.  So whoever adds a line reads the
 * end of the file alone: H goes on from there, and P and B lead to the policies that
 * it has.
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
#include "runtime/base/out.h"
#include "runtime/listen/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	PATIENCE = 5000, /* milliseconds */
	OFFSET = 12,     /* hexadecimal digits */
	POLICIES = 64,   /* that are looked through */
	ROOM = 64 << 10, /* what must be free on the disk before a run */
	REST = 16 << 10, /* of a record: for what comes behind a list */
};

static const char back_key[] = ",\"back\":\"", chain_key[] = "\",\"chain\":\"",
		  line_end[] = "\"}\n",
		  zeros[] = "0000000000000000"
			    "0000000000000000"
			    "0000000000000000"
			    "0000000000000000";

enum {
	TAIL = sizeof back_key + OFFSET + sizeof chain_key + SHA256_HEX +
	    sizeof line_end - 3,
};

static const uint64_t nowhere = (UINT64_C(1) << 4 * OFFSET) - 1;

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
take_setting(struct run_log *log, struct arena *arena, char *text)
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
			refuse("~" SBX_OWN_CONFIG "/log",
			    "it has an absolute path, 'required', 'no-args', "
			    "or nothing",
			    0);
	}
}

static bool
find_setting(struct run_log *log, struct arena *arena)
{
	char buffer[PASSWD_LINE], path[SBX_MAX_PATH + 1], text[2048];
	const char *home = passwd_home(buffer, sizeof buffer);
	struct stat status;
	struct out out;
	int fd, directory;

	out_into(&out, path, sizeof path);
	out_print(&out, "%s" SBX_OWN_CONFIG "/log", home != NULL ? home : "");
	fd = home == NULL ?
	    -1 :
	    open(path,
		O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	/* Inside a sandbox nobody may look; what runs there is that one's. */
	if (fd < 0 && home != NULL && errno != ENOENT && errno != ENOTDIR &&
	    errno != EACCES)
		refuse(path, "cannot read this setting", errno);
	if (fd < 0)
		return false;
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
	take_setting(log, arena, text);
	return true;
}

/* Who has started this run: later it may be gone, or may not be looked at. */
static void
find_parent(struct run_log *log)
{
	char path[40], text[SBX_MAX_PATH + 1];
	struct out out;
	ssize_t len;

	log->by_pid = getppid();
	out_into(&out, path, sizeof path);
	out_print(&out, "/proc/%u/exe", (unsigned)log->by_pid);
	len = readlink(path, text, SBX_MAX_PATH);
	if (len > 0) {
		text[len] = '\0';
		log->by = path_of(arena_copy(log->arena,
		    (struct sbx_place){ text, (uint32_t)len }));
	}
	out_into(&out, path, sizeof path);
	out_print(&out, "/proc/%u/comm", (unsigned)log->by_pid);
	file_read(AT_FDCWD, path, log->by_name, sizeof log->by_name);
	log->by_name[strcspn(log->by_name, "\n")] = '\0';
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
		find_parent(log);
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

struct chain {
	uint64_t size; /* of the file */
	uint64_t back;
	bool torn; /* the last line has no end */
	char hash[SHA256_HEX + 1];
};

static void
put_offset(struct out *out, uint64_t offset)
{
	char digits[OFFSET + 1] = "";

	for (int i = 0; i < OFFSET; i++)
		digits[i] =
		    "0123456789abcdef"[offset >> 4 * (OFFSET - 1 - i) & 15];
	out_text(out, digits);
}

static uint64_t
read_offset(const char *digits)
{
	char text[OFFSET + 1] = "", *end;
	uint64_t offset;

	memcpy(text, digits, OFFSET);
	offset = strtoull(text, &end, 16);
	return *end == '\0' ? offset : nowhere;
}

/* The last line may have been cut, or be somebody else's: then the chain begins
 * anew, which is found by who verifies it. */
static void
read_chain(int fd, const struct stat *status, struct chain *chain)
{
	char text[TAIL];
	const char *key = text + sizeof back_key - 1 + OFFSET;
	const char *hash = key + sizeof chain_key - 1;

	*chain = (struct chain){ .size = (uint64_t)status->st_size,
		.back = nowhere };
	memcpy(chain->hash, zeros, sizeof zeros);
	if (status->st_size == 0)
		return;
	if (status->st_size < TAIL ||
	    pread(fd, text, TAIL, status->st_size - TAIL) != TAIL) {
		chain->torn = true;
		return;
	}
	chain->torn = text[TAIL - 1] != '\n';
	if (memcmp(text, back_key, sizeof back_key - 1) != 0 ||
	    memcmp(key, chain_key, sizeof chain_key - 1) != 0 ||
	    memcmp(hash + SHA256_HEX, line_end, sizeof line_end - 1) != 0)
		return;
	chain->back = read_offset(text + sizeof back_key - 1);
	memcpy(chain->hash, hash, SHA256_HEX);
}

/* In the text before the line there is room for a hash. */
static void
seal(struct out *line, struct chain *chain)
{
	out_text(line, back_key);
	put_offset(line, chain->back);
	memcpy(line->text - SHA256_HEX, chain->hash, SHA256_HEX);
	sha256_hex(line->text - SHA256_HEX, SHA256_HEX + line->used,
	    chain->hash);
	out_text(line, chain_key);
	out_text(line, chain->hash);
	out_text(line, line_end);
}

static const char policy_begin[] =
    "{\"sbx\":1,\"event\":\"policy\",\"before\":\"";
static const char digest_key[] = "\",\"digest\":\"sha256:";

/* Whether the file has the line of this digest. */
static bool
has_policy(int fd, uint64_t back, const char *digest)
{
	enum {
		BEFORE = sizeof policy_begin - 1,
		KEY = BEFORE + OFFSET,
		DIGEST = KEY + sizeof digest_key - 1,
		SIZE = DIGEST + SHA256_HEX
	};
	char text[SIZE];

	for (int i = 0; i < POLICIES && back != nowhere; i++) {
		if (pread(fd, text, SIZE, (off_t)back) != SIZE ||
		    memcmp(text, policy_begin, BEFORE) != 0 ||
		    memcmp(text + KEY, digest_key, DIGEST - KEY) != 0)
			return false;
		if (memcmp(text + DIGEST, digest, SHA256_HEX) == 0)
			return true;
		back = read_offset(text + BEFORE);
	}
	return false;
}

static void
put_policy(struct run_log *log, struct out *line, struct chain *chain)
{
	const struct sbx_blob *blob = log->blob;
	const struct sbx_limit *limit = NULL;
	struct out text;

	out_into(line, log->policy_line + SHA256_HEX,
	    sizeof log->policy_line - SHA256_HEX);
	out_text(line, policy_begin);
	put_offset(line, chain->back);
	out_print(line, "%s%s\"", digest_key, log->digest);
	json_string(line, "profile", sbx_string(blob, blob->meta->profile));
	json_bool(line, "everything",
	    (blob->meta->flags & SBX_EVERYTHING) != 0);
	json_string(line, "floor",
	    level_name((enum sbx_level)blob->meta->level));
	json_list(line, "limits");
	while ((limit = limit_next(blob, limit)) != NULL) {
		out_init(&text, -1);
		out_limit(&text, limit);
		json_string(line, NULL, text.text);
	}
	json_list_end(line);
	chain->back = chain->size + chain->torn;
	seal(line, chain);
}

/* All of it, or nothing. */
static bool
write_lines(int fd, const struct chain *chain, const struct out *policy,
    const struct out *line)
{
	static char newline[] = "\n";
	struct iovec parts[] = {
		{ newline, chain->torn },
		{ policy->text, policy->used },
		{ line->text, line->used },
	};
	size_t size = chain->torn + policy->used + line->used;
	ssize_t written;
	int error;

	/* Of the caller's limit on files an error is to tell, and no signal. */
	signal(SIGXFSZ, SIG_IGN);
	written = writev(fd, parts, 3);
	error = errno;

	if (written == (ssize_t)size)
		return true;
	if (written > 0 && ftruncate(fd, (off_t)chain->size) != 0)
		return false;
	errno = written < 0 ? error : ENOSPC;
	return false;
}

/* Adds a record, which stands behind the room for a hash and has no end yet. */
static void
append(struct run_log *log, struct out *line, bool with_policy)
{
	struct out policy = { .text = log->policy_line };
	const char *fault = NULL;
	struct chain chain;
	struct stat status;
	int fd = open_log(log, &status, &fault);

	if (fd >= 0) {
		read_chain(fd, &status, &chain);
		if (with_policy && log->blob != NULL &&
		    log->digest[0] != '\0' &&
		    !has_policy(fd, chain.back, log->digest))
			put_policy(log, &policy, &chain);
		seal(line, &chain);
		if (write_lines(fd, &chain, &policy, line))
			fault = NULL;
		else
			fault = "cannot write the log";
	}
	if (fault != NULL)
		warn_about(shown_name(log), fault, errno);
	if (fd >= 0)
		close(fd);
}

static void
begin_line(struct run_log *log, struct out *line, const char *text, size_t len)
{
	out_into(line, log->line + SHA256_HEX, sizeof log->line - SHA256_HEX);
	out_bytes(line, text, len);
}

static void
append_record(struct receipt *receipt)
{
	struct run_log *log = &receipt->log;
	struct out line;

	/* Without the end of the object and of the line. */
	begin_line(log, &line, receipt->text, receipt->json.used - 2);
	append(log, &line, true);
}

/* --- what is known of a run ----------------------------------------------- */

static void
put_command(struct out *json, const struct run_log *log)
{
	enum { REST_OF_HEAD = 10 << 10 };
	char *const *word = log->command;
	uint64_t more = 0;

	if (word == NULL)
		return;
	json_list(json, "command");
	for (; *word != NULL; word++) {
		struct json_mark mark = json_mark(json);

		if (more > 0 || (log->brief && word != log->command)) {
			more++;
			continue;
		}
		json_string(json, NULL, *word);
		more += !json_keep(json, mark, REST_OF_HEAD);
	}
	json_list_end(json);
	if (more > 0)
		json_number(json, "words_left_out", more);
}

static void
put_added(struct out *json, const struct options *options)
{
	if (options->rule_count == 0)
		return;
	json_list(json, "added");
	for (uint32_t i = 0; i < options->rule_count; i++) {
		const struct extra_rule *rule = &options->rules[i];
		struct json_mark mark = json_mark(json);
		char text[512];
		struct out out;

		out_into(&out, text, sizeof text);
		out_print(&out, "%s %s", rule->denies ? "deny" : "allow",
		    rule->text);
		json_string(json, NULL, text);
		json_keep(json, mark, 5 << 10);
	}
	json_list_end(json);
}

/* A text of it, with a bound, or nothing. */
static void
put_known(struct out *json, const char *key, const char *text)
{
	if (text != NULL && *text != '\0')
		json_bytes(json, key, text, strnlen(text, SBX_MAX_PATH / 4));
}

/* What is the same at the beginning and at the end of a run. */
static void
compose(struct receipt *receipt)
{
	struct run_log *log = &receipt->log;
	struct out *json = &log->head;
	char buffer[PASSWD_LINE], cwd[SBX_MAX_PATH + 1] = "";
	char digest[] =
	    "sha256:"
	    "0000000000000000000000000000000000000000000000000000000000000000";

	if (log->bytes != NULL && log->digest[0] == '\0')
		sha256_hex(log->bytes, log->size, log->digest);
	out_into(json, log->head_text, sizeof log->head_text);
	json_object(json, NULL);
	json_seconds(json, "start", receipt->time);
	json_string(json, "user", passwd_user(buffer, sizeof buffer));
	json_number(json, "uid", getuid());
	put_known(json, "by", log->by);
	put_known(json, "by_name", log->by_name);
	json_number(json, "by_pid", (uint64_t)log->by_pid);
	put_known(json, "session", log->session);
	put_command(json, log);
	if (current_path(cwd, sizeof cwd) > 0)
		put_known(json, "directory", cwd);
	put_known(json, "policy", log->policy);
	memcpy(digest + 7, log->digest, SHA256_HEX);
	if (log->digest[0] != '\0')
		json_string(json, "digest", digest);
	put_added(json, log->options);
	put_known(json, "level", log->level);
	if (log->options->staging)
		json_string(json, "stage",
		    log->options->stage != NULL ? log->options->stage : "");
	if (log->workspace.len > 0 && log->workspace.len < SBX_MAX_PATH / 4)
		json_place(json, "workspace", log->workspace);
}

void
log_put_head(struct receipt *receipt)
{
	const struct out *head = &receipt->log.head;

	if (head->used < 2)
		return;
	out_text(&receipt->json, ",");
	out_bytes(&receipt->json, head->text + 1, head->used - 1);
}

/* --- runs that were killed ------------------------------------------------ */

/* What is kept is the name of the log, and the line as far as it is known. */
static bool
is_of(const struct run_log *log, const char *text, size_t len)
{
	char key[SHA256_HEX + 1];

	sha256_hex(log->place.path, log->place.len, key);
	return len > SHA256_HEX + sizeof back_key &&
	    memcmp(text, key, SHA256_HEX) == 0 && text[SHA256_HEX] == '{' &&
	    memchr(text, '\n', len) == NULL;
}

static void
tell_killed(struct run_log *log)
{
	struct unfinished_list list;
	char text[SHA256_HEX + sizeof log->head_text + 512];
	struct out line;
	size_t len;

	unfinished_open(&list, own_state("logging"));
	while (unfinished_next(&list, &len)) {
		if (len >= sizeof text ||
		    pread(list.run.fd, text, len, 0) != (ssize_t)len)
			continue;
		len = strnlen(text, len);
		if (!is_of(log, text, len))
			continue;
		unlinkat(list.run.directory, list.run.name, 0);
		begin_line(log, &line, text + SHA256_HEX, len - SHA256_HEX);
		append(log, &line, false);
	}
	unfinished_close(&list, &log->pending);
}

void
log_keep(struct receipt *receipt)
{
	struct run_log *log = &receipt->log;
	struct out kept;
	char key[SHA256_HEX + 1], *text;
	enum { SIZE = SHA256_HEX + sizeof log->head_text + 512 };

	compose(receipt);
	if (!log->on)
		return;
	tell_killed(log);
	receipt_begin(receipt, "killed");
	log_put_head(receipt);
	sha256_hex(log->place.path, log->place.len, key);
	text = arena_take(log->arena, 1, SIZE);
	out_into(&kept, text, SIZE);
	out_text(&kept, key);
	out_bytes(&kept, receipt->text, receipt->json.used);
	if (!unfinished_begin(&log->pending, text, kept.used + 1) &&
	    log->required)
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

void
log_changed(struct receipt *receipt, const char *change, struct sbx_place at,
    const char *setting)
{
	struct run_log *log = &receipt->log;
	struct out *json = &log->changes;
	struct json_mark mark;

	if (json->text == NULL) {
		out_into(json, log->changes_text, sizeof log->changes_text);
		json_list(json, NULL);
	}
	mark = json_mark(json);
	json_object(json, NULL);
	json_string(json, "change", change);
	json_place(json, "path", at);
	if (*setting != '\0')
		json_string(json, "setting", setting);
	json_object_end(json);
	log->more_changes += !json_keep(json, mark, 16);
}

/* A list without an end, if there is something in it. */
static void
put_list(struct out *json, const char *key, const struct out *list)
{
	if (list->used < 2)
		return;
	json_list(json, key);
	out_bytes(json, list->text + 1, list->used - 1);
	json_list_end(json);
}

static void
put_changes(struct receipt *receipt)
{
	struct run_log *log = &receipt->log;
	struct out *json = &receipt->json;

	put_list(json, "changed", &log->changes);
	if (log->more_changes > 0)
		json_number(json, "changed_more", log->more_changes);
}

static void
put_network(struct out *json, const struct decisions *decisions)
{
	uint64_t more = decisions->beyond;

	if (decisions->count == 0)
		return;
	json_list(json, "network");
	for (uint32_t i = 0; i < decisions->count; i++) {
		const struct decision *decision = &decisions->all[i];
		struct json_mark mark = json_mark(json);

		json_object(json, NULL);
		json_string(json, "name", decision->event.name);
		json_number(json, "port", decision->event.port);
		json_string(json, "verdict",
		    decision_verdict(&decision->event));
		json_number(json, "count", decision->times);
		json_object_end(json);
		more += !json_keep(json, mark, REST);
	}
	json_list_end(json);
	if (more > 0)
		json_number(json, "network_more", more);
	if (decisions->shared)
		json_bool(json, "network_shared", true);
}

/* With --explain, all that it found; else the calls that the supervisor has
 * refused. */
static void
put_denials(struct out *json, const struct ending *ending)
{
	const struct explaining *explaining = ending->explaining;
	const uint32_t *refused = ending->refused;
	uint64_t more = explaining != NULL ? explaining->more : 0;
	struct json_mark begin = json_mark(json);
	uint32_t empty;

	json_list(json, "denials");
	empty = json->used;
	for (uint32_t i = 0; explaining != NULL && i < explaining->count; i++) {
		struct json_mark mark = json_mark(json);

		json_object(json, NULL);
		explained_put(json, explaining, &explaining->denials[i]);
		json_object_end(json);
		more += !json_keep(json, mark, REST / 2);
	}
	for (uint32_t i = 0; explaining == NULL && i < ANSWERS_MAX; i++) {
		if (refused[i] == 0)
			continue;
		json_object(json, NULL);
		json_string(json, "call", answer_name(i));
		json_number(json, "count", refused[i]);
		json_object_end(json);
	}
	if (json->used == empty)
		json_drop(json, begin);
	else
		json_list_end(json);
	if (more > 0)
		json_number(json, "denials_more", more);
}

static void
put_limit(void *of, uint16_t kind, const char *text)
{
	(void)text;
	json_string(of, NULL, limit_name(kind));
}

static void
put_limits(struct out *json, const struct ending *ending)
{
	struct out list;

	out_init(&list, -1);
	json_list(&list, NULL);
	if (ending->relay->streams[0].cut + ending->relay->streams[1].cut > 0)
		put_limit(&list, SBX_LIMIT_OUTPUT, NULL);
	ending_limits(ending->blob, ending->status, ending->late, ending->usage,
	    put_limit, &list);
	put_list(json, "reached", &list);
}

void
log_put_lists(struct receipt *receipt, const struct ending *ending)
{
	put_limits(&receipt->json, ending);
	put_changes(receipt);
	put_network(&receipt->json, ending->decisions);
	put_denials(&receipt->json, ending);
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
	compose(receipt);
	receipt_begin(receipt, "refused");
	log_put_head(receipt);
	json_string(&receipt->json, "error", text);
	receipt_end(receipt);
	append_record(receipt);
	unfinished_end(&log->pending);
}
