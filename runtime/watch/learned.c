/*
 * See receipt.h.  Several runs may end at once: the file is locked while one
 * writes, each record is one write(2) at its end, and has the name of its run.
 */
#include "runtime/watch/receipt.h"

#include "format/text.h"
#include "runtime/base/files.h"
#include "runtime/base/json.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	LEARNED_FORM = 1,
	FILE_MAX = 12 << 20, /* sbxc reads up to 16 MiB */
	COMMAND_ROOM = 8 << 10,
	PATIENCE = 2000, /* milliseconds */
};

/* --- the file ------------------------------------------------------------- */

/* Whether the command may write a place, or rename a directory above it. */
static bool
is_reached(const struct binding *binding, struct sbx_place at)
{
	for (; at.len > 0; at = place_parent(at)) {
		if (rule_index_allows(binding->index, SBX_WRITE, at))
			return true;
	}
	return false;
}

/* What the file has already must be such records, to the end of a line. */
static void
check_records(int fd, const char *path)
{
	static const char begins[] = "{\"sbx\":1,\"event\":\"";
	char name[DESCRIPTOR_PATH_SIZE], text[sizeof begins] = "", end = '\n';
	struct stat status;
	int again;

	if (fstat(fd, &status) != 0 || status.st_size == 0)
		return;
	if (status.st_size > FILE_MAX)
		refuse(path, "this file is full: learn into another one", 0);
	descriptor_path(name, fd);
	again = open(name, O_RDONLY | O_CLOEXEC);
	if (again < 0 ||
	    pread(again, text, sizeof begins - 1, 0) != sizeof begins - 1 ||
	    pread(again, &end, 1, status.st_size - 1) != 1 ||
	    strcmp(text, begins) != 0)
		refuse(path, "there is something else in this file", 0);
	if (end != '\n')
		refuse(path,
		    "the last line of this file is cut: remove it first", 0);
	close(again);
}

void
learned_open(struct receipt *receipt, const char *path,
    const struct binding *binding)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	struct path file = { .len = 0 };

	if (receipt->way.at.len <= SBX_MAX_PATH) {
		memcpy(file.text, receipt->way.at.path, receipt->way.at.len);
		path_cut(&file, receipt->way.at.len);
	}
	if (!path_push(&file, name, strlen(name)))
		refuse(path, "cannot open the log", ENAMETOOLONG);
	if (is_reached(binding, (struct sbx_place){ file.text, file.len }))
		refuse(path,
		    "the policy lets the command write there: --learn needs a "
		    "file elsewhere",
		    0);
	/* Level full may have turned out not to be there. */
	if (receipt->sinks[1] >= 0)
		return;
	/* Whoever learns has mostly not thought of a place for this file. */
	receipt->unopened =
	    "cannot open this file for --learn; name one that you may write "
	    "and the command may not, such as ~/learned";
	receipt_open_log(receipt, receipt->way.fd < 0 ? path : file.text);
	check_records(receipt->sinks[1], path);
}

/* --- records -------------------------------------------------------------- */

/* receipt_begin() without the time, which would be half of a record. */
static struct out *
begin(struct receipt *receipt, const char *event)
{
	struct out *json = &receipt->json, run;

	out_init(&run, -1);
	out_seconds(&run, receipt->time);
	out_print(&run, "-%u", (unsigned)receipt->pid);
	out_into(json, receipt->text, sizeof receipt->text);
	json_document(json, event);
	json_string(json, "run", run.text);
	return json;
}

static bool
send_record(struct receipt *receipt)
{
	return receipt_end(receipt) && receipt_send(receipt);
}

/* A name that is no UTF-8 is no text of JSON: it is written in hexadecimal
 * digits, too. */
static void
put_path(struct out *json, const char *path, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	uint32_t character;
	size_t at = 0, step = 1;

	json_bytes(json, "path", path, len);
	while (at < len && step > 0) {
		step = utf8_decode(path + at, len - at, &character);
		at += step;
	}
	if (at == len)
		return;
	json_string(json, "bytes", "");
	/* Into the empty text. */
	json->used--;
	for (at = 0; at < len; at++) {
		const unsigned char byte = (unsigned char)path[at];
		const char pair[] = { digits[byte >> 4], digits[byte & 15] };

		out_bytes(json, pair, sizeof pair);
	}
	out_text(json, "\"");
}

/* The words of the command, as they were given: for people. */
static void
put_command(struct out *json, char *const *command)
{
	struct out text;
	char room[COMMAND_ROOM];

	out_into(&text, room, sizeof room);
	for (; *command != NULL; command++) {
		if (text.used > 0)
			out_text(&text, " ");
		out_text(&text, *command);
	}
	json_string(json, "command", room);
}

static bool
write_start(struct receipt *receipt, const struct learned *learned)
{
	const struct explaining *explaining = learned->explaining;
	struct out *json = begin(receipt, "learn");

	json_number(json, "learn", LEARNED_FORM);
	json_string(json, "profile",
	    sbx_string(explaining->blob, explaining->blob->meta->profile));
	json_string(json, "level",
	    level_name(explaining->view ? SBX_LEVEL_FULL : SBX_LEVEL_STANDARD));
	put_command(json, learned->command);
	return send_record(receipt);
}

static bool
write_anchors(struct receipt *receipt, const struct explaining *explaining)
{
	const struct binding *binding = explaining->binding;
	const struct sbx_blob *blob = explaining->blob;

	for (uint32_t i = 1; i < blob->anchor_count; i++) {
		const struct sbx_place *at = &binding->anchors[i];
		struct out *json;

		if (!binding->bound[i])
			continue;
		json = begin(receipt, "anchor");
		json_string(json, "name",
		    sbx_string(blob, blob->anchors[i].name));
		put_path(json, at->len > 0 ? at->path : "/",
		    at->len > 0 ? at->len : 1);
		if (!send_record(receipt))
			return false;
	}
	return true;
}

static void
put_errno(struct out *json, int32_t error)
{
	static const struct {
		int number;
		const char *name;
	} names[] = {
		{ EACCES, "EACCES" },
		{ EPERM, "EPERM" },
		{ ENOENT, "ENOENT" },
		{ EROFS, "EROFS" },
		{ EAFNOSUPPORT, "EAFNOSUPPORT" },
		{ ENOSYS, "ENOSYS" },
	};

	for (size_t i = 0; i < countof(names); i++) {
		if (names[i].number == error) {
			json_string(json, "errno", names[i].name);
			return;
		}
	}
	json_number(json, "errno", (uint64_t)error);
}

static void
put_object(struct out *json, const struct wanted *wish)
{
	if (wish->kind <= SBX_DENIED_SOCKET) {
		put_path(json, wish->len > 0 ? wish->text : "/",
		    wish->len > 0 ? wish->len : 1);
		return;
	}
	if (wish->kind != SBX_DENIED_CALL) {
		json_string(json, "address", wish->text);
		json_number(json, "port", wish->port);
		return;
	}
	json_number(json, "arch", KERNEL_ARCH);
	json_number(json, "number", (uint64_t)wish->number);
	json_number(json, "arg0", wish->args[0]);
	json_number(json, "arg1", wish->args[1]);
}

static bool
write_wish(struct receipt *receipt, const struct wanted *wish)
{
	static const char *const words[SBX_DENIED_END] = {
		"read",
		"write",
		"exec",
		"socket",
		"connect",
		"listen",
		"call",
	};
	struct out *json = begin(receipt, "wanted");

	json_string(json, "right", words[wish->kind]);
	put_object(json, wish);
	if (wish->below)
		json_bool(json, "below", true);
	if (wish->makes)
		json_bool(json, "makes", true);
	if (wish->probe)
		json_bool(json, "probe", true);
	json_bool(json, "allowed", !wish->denied);
	if (wish->error != 0)
		put_errno(json, wish->error);
	json_number(json, "count", wish->count);
	json_string(json, "program", wish->program);
	return send_record(receipt);
}

static bool
write_wishes(struct receipt *receipt, const struct learning *learning)
{
	for (uint32_t i = 0; i < learning->count; i++) {
		if (learning->wishes[i].count > 0 &&
		    !write_wish(receipt, &learning->wishes[i]))
			return false;
	}
	return true;
}

static bool
write_end(struct receipt *receipt, const struct learned *learned)
{
	struct out *json = begin(receipt, "learned");

	json_number(json, "status",
	    learned->late ? EXIT_TIMEOUT :
		WIFSIGNALED(learned->status) ?
			    128U + (unsigned)WTERMSIG(learned->status) :
			    (unsigned)WEXITSTATUS(learned->status));
	json_number(json, "lost", learned->explaining->learning->lost);
	json_number(json, "unread", learned->explaining->unread);
	return send_record(receipt);
}

void
learned_write(struct receipt *receipt, const struct learned *learned)
{
	const struct explaining *explaining = learned->explaining;

	/* Without it, it goes on all the same. */
	file_lock(receipt->sinks[1], PATIENCE);
	if (!write_start(receipt, learned) ||
	    !write_anchors(receipt, explaining) ||
	    !write_wishes(receipt, explaining->learning)) {
		warn_about("--learn", "records are lost", errno);
		return;
	}
	receipt_network(receipt, explaining->blob, learned->decisions);
	if (!write_end(receipt, learned))
		warn_about("--learn", "the last record is lost", errno);
	flock(receipt->sinks[1], LOCK_UN);
	if (explaining->learning->lost > 0)
		warn_about("--learn",
		    "there were more names than it has room for", 0);
}
