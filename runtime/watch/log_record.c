/*
 * What the last record of a run says beside how it ended: who ran what, where, under
 * which policy, and what came of it.  The log has that record (log.c), and so has the
 * receipt.
 */
#include "runtime/watch/receipt.h"

#include "runtime/base/files.h"
#include "runtime/base/json.h"
#include "runtime/base/out.h"
#include "runtime/listen/listen.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
	REST = 16 << 10, /* of a record: for what comes behind a list */
};

/* --- who ran what --------------------------------------------------------- */

/* Who has started this run: later it may be gone, or may not be looked at. */
void
log_find_parent(struct run_log *log)
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

/* What is the same for a digest, and stands once in a log: without its end. */
static void
put_policy(struct run_log *log)
{
	const struct sbx_blob *blob = log->blob;
	const struct sbx_limit *limit = NULL;
	struct out record, text, *line = &record;

	out_into(line, log->policy_line, sizeof log->policy_line);
	out_text(line, LOG_POLICY);
	out_text(line, log->digest);
	out_text(line, "\"");
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
}

/* What is the same at the beginning and at the end of a run. */
void
log_compose(struct receipt *receipt)
{
	struct run_log *log = &receipt->log;
	struct out *json = &log->head;
	char buffer[PASSWD_LINE], cwd[SBX_MAX_PATH + 1] = "";
	char digest[] =
	    "sha256:"
	    "0000000000000000000000000000000000000000000000000000000000000000";

	if (log->bytes != NULL && log->digest[0] == '\0')
		sha256_hex(log->bytes, log->size, log->digest);
	if (log->blob != NULL && log->digest[0] != '\0')
		put_policy(log);
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
	put_known(json, "stage", log->stage);
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

/* --- what came of it ------------------------------------------------------ */

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
		if (decision_is_connection(&decision->event)) {
			json_number(json, "sent", decision->event.sent);
			json_number(json, "received", decision->event.received);
		}
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
