/*
 * The log of sbxrun: a table of its runs, and the chain over its lines.  How a line
 * is made stands in runtime/watch/log.c: each ends with a SHA-256 of all that stands
 * before it and of the one of the line before, or of 64 zeros.
 */
#include "compiler/records/records.h"

#include "compiler/base/base.h"
#include "format/text.h"
#include "runtime/base/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	WIDTH = 80,
	POLICY_WIDTH = 14,
	INDENT = 8,
};

struct policy_line {
	const char *digest, *profile;
};

struct log_file {
	struct arena *arena;
	const struct log_query *query;
	const char *path;
	FILE *stream;
	size_t number; /* of the line */
	bool head;     /* the head of the table was printed */
	enum exit_status status;
	VEC(struct policy_line) policies;
	struct out out;
};

/* --- what is asked for ---------------------------------------------------- */

static const char *
policy_of(const struct log_file *log, const struct json_t *record)
{
	const char *digest = json_text(record, "digest");
	const char *name = json_text(record, "policy"), *slash;

	for (size_t i = log->policies.count; digest != NULL && i-- > 0;) {
		if (strcmp(log->policies.items[i].digest, digest) == 0)
			return log->policies.items[i].profile;
	}
	slash = name != NULL ? strrchr(name, '/') : NULL;
	return slash != NULL ? slash + 1 : name != NULL ? name : "-";
}

static bool
is_event(const struct json_t *record, const char *event)
{
	const char *text = json_text(record, "event");

	return text != NULL && strcmp(text, event) == 0;
}

static bool
is_refusal(const struct json_t *decision)
{
	const char *verdict = json_text(decision, "verdict");

	return verdict != NULL && strcmp(verdict, "allowed") != 0 &&
	    strcmp(verdict, "failed") != 0 &&
	    strcmp(verdict, "no such name") != 0;
}

static bool
has_denial(const struct json_t *record)
{
	const struct json_t *network = json_member(record, "network");

	for (size_t i = 0; i < json_count(network); i++) {
		if (is_refusal(json_item(network, i)))
			return true;
	}
	return is_event(record, "refused") ||
	    json_count(json_member(record, "denials")) > 0;
}

/* The words of a command; who ran none has made a session. */
static void
put_command(struct out *out, const struct json_t *record)
{
	const struct json_t *command = json_member(record, "command");

	if (json_count(command) == 0) {
		out_text(out, "(session ");
		put_shown(out, record, "session");
		out_text(out, ")");
	}
	for (size_t i = 0; i < json_count(command); i++) {
		const char *word = json_text_at(json_item(command, i));

		out_text(out, i > 0 ? " " : "");
		if (word != NULL)
			out_shown(out, word, strlen(word));
	}
	if (json_number(record, "words_left_out") > 0)
		out_text(out, " ...");
}

static bool
is_named(const struct log_file *log, const struct json_t *record)
{
	const char *wanted = log->query->policy;
	const char *digest = json_text(record, "digest");
	const char *name = json_text(record, "policy");

	return strcmp(policy_of(log, record), wanted) == 0 ||
	    (name != NULL && strcmp(name, wanted) == 0) ||
	    (digest != NULL &&
		(strcmp(digest, wanted) == 0 ||
		    (strncmp(digest, "sha256:", 7) == 0 &&
			strncmp(digest + 7, wanted, strlen(wanted)) == 0 &&
			strlen(wanted) >= 8)));
}

static bool
is_wanted(const struct log_file *log, const struct json_t *record)
{
	const struct log_query *query = log->query;
	char text[4096];
	struct out command;

	if (query->policy != NULL && !is_named(log, record))
		return false;
	if (query->denied && !has_denial(record))
		return false;
	if (json_seconds(record, "start") < query->since)
		return false;
	if (query->command == NULL)
		return true;
	out_into(&command, text, sizeof text);
	put_command(&command, record);
	return strstr(text, query->command) != NULL;
}

/* --- the table ------------------------------------------------------------ */

/* A line of at most 80 columns; a character is taken for one. */
static void
print_line(struct out *out, const char *text)
{
	size_t at = 0, len = strlen(text);
	int column = 0;

	while (at < len) {
		uint32_t character;
		size_t size = utf8_decode(text + at, len - at, &character);
		int width = size > 0 ? character_width(character) : 1;

		if (column + width > WIDTH - 3 && len - at > 3) {
			out_bytes(out, text, at);
			out_text(out, "...\n");
			return;
		}
		column += width;
		at += size > 0 ? size : 1;
	}
	out_text(out, text);
	out_text(out, "\n");
}

static void
put_end(char *text, size_t size, const struct json_t *record)
{
	uint64_t signal = json_number(record, "signal");

	if (!is_event(record, "end"))
		snprintf(text, size, "%s",
		    is_event(record, "killed")      ? "killed" :
			is_event(record, "refused") ? "refused" :
						      "?");
	else if (json_flag(record, "timeout"))
		snprintf(text, size, "timeout");
	else if (signal != 0)
		snprintf(text, size, "SIG%s",
		    sigabbrev_np((int)signal) != NULL ?
			sigabbrev_np((int)signal) :
			"?");
	else
		snprintf(text, size, "%u",
		    (unsigned)json_number(record, "exit"));
}

static void
put_wall(char *text, size_t size, const struct json_t *record)
{
	double wall = json_seconds(record, "wall");

	if (json_member(record, "wall") == NULL)
		snprintf(text, size, "-");
	else if (wall < 1000)
		snprintf(text, size, wall < 100 ? "%.2fs" : "%.0fs", wall);
	else
		snprintf(text, size, "%.0fm", wall / 60);
}

/* What came of it, in one more line. */
static void
put_details(struct out *out, const struct json_t *record)
{
	static const struct {
		const char *list, *head, *first, *second;
	} parts[] = {
		{ "denials", "denied", "right", "object" },
		{ "denials", NULL, "call", NULL },
		{ "network", "refused", "name", NULL },
		{ "changed", "", "change", "path" },
		{ "reached", "limit", NULL, NULL },
	};

	if (is_event(record, "refused")) {
		put_shown(out, record, "error");
		return;
	}
	for (size_t i = 0; i < countof(parts); i++) {
		const struct json_t *list = json_member(record, parts[i].list);

		for (size_t j = 0; j < json_count(list); j++) {
			const struct json_t *item = json_item(list, j);
			const char *first = parts[i].first != NULL ?
			    json_text(item, parts[i].first) :
			    json_text_at(item);

			if (first == NULL ||
			    (strcmp(parts[i].list, "network") == 0 &&
				!is_refusal(item)))
				continue;
			out_text(out, out->used > 0 ? ", " : "");
			out_text(out,
			    parts[i].head != NULL ? parts[i].head : "denied");
			out_text(out,
			    parts[i].head == NULL || *parts[i].head != '\0' ?
				" " :
				"");
			out_shown(out, first, strlen(first));
			if (parts[i].second != NULL) {
				out_text(out, " ");
				put_shown(out, item, parts[i].second);
			}
		}
	}
}

static void
print_run(struct log_file *log, const struct json_t *record)
{
	time_t start = (time_t)json_seconds(record, "start");
	char when[32] = "?", end[16], wall[16], text[2048], details[2048];
	struct out row, more;
	struct tm tm;

	if (localtime_r(&start, &tm) != NULL)
		strftime(when, sizeof when, "%m-%d %H:%M:%S", &tm);
	put_end(end, sizeof end, record);
	put_wall(wall, sizeof wall, record);
	if (!log->head)
		out_text(&log->out,
		    "STARTED           TIME END      POLICY         COMMAND\n");
	log->head = true;
	out_into(&row, text, sizeof text);
	out_column(&row, when, 15);
	for (size_t i = strlen(wall); i < 7; i++)
		out_text(&row, " ");
	out_text(&row, wall);
	out_text(&row, " ");
	out_column(&row, end, 8);
	out_text(&row, " ");
	out_init(&more, -1);
	out_shown(&more, policy_of(log, record),
	    strnlen(policy_of(log, record), POLICY_WIDTH));
	out_column(&row, more.text, POLICY_WIDTH);
	out_text(&row, " ");
	put_command(&row, record);
	print_line(&log->out, text);
	out_into(&row, text, sizeof text);
	out_into(&more, details, sizeof details);
	put_details(&more, record);
	if (more.used == 0)
		return;
	out_column(&row, "", INDENT);
	out_text(&row, details);
	print_line(&log->out, text);
}

static void
keep_policy(struct log_file *log, const struct json_t *record)
{
	const char *digest = json_text(record, "digest");
	const char *profile = json_text(record, "profile");

	if (digest != NULL && profile != NULL)
		*arena_push(log->arena, &log->policies) = (struct policy_line){
			arena_strndup(log->arena, digest, strlen(digest)),
			arena_strndup(log->arena, profile, strlen(profile)),
		};
}

static void
show_line(struct log_file *log, const char *line, size_t len)
{
	const char *fault;
	size_t at;
	struct json_t *record;

	log->number++;
	record = json_read_line(log->arena, line, len, &at, &fault);
	if (record == NULL || json_text(record, "event") == NULL) {
		complain("%s:%zu: this line is damaged", log->path,
		    log->number);
		log->status = EXIT_TROUBLE;
	} else if (is_event(record, "policy")) {
		keep_policy(log, record);
	} else if (is_wanted(log, record)) {
		if (!log->query->json)
			print_run(log, record);
		else {
			out_bytes(&log->out, line, len);
			out_text(&log->out, "\n");
		}
	}
	if (record != NULL)
		json_release(record);
}

/* Whether the name is another file's by now. */
static bool
is_moved(const struct log_file *log)
{
	struct stat now, open;

	return stat(log->path, &now) == 0 &&
	    fstat(fileno(log->stream), &open) == 0 &&
	    (now.st_ino != open.st_ino || now.st_dev != open.st_dev ||
		now.st_size < ftell(log->stream));
}

static FILE *
open_log(const char *path)
{
	int fd = input_open(path);
	FILE *stream = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (stream == NULL)
		complain("%s: %s", path, input_strerror(errno));
	return stream;
}

/* Waits for more; false: nobody reads on. */
static bool
wait_for_more(struct log_file *log)
{
	static const struct timespec moment = { .tv_nsec = 200000000 };

	out_flush(&log->out);
	nanosleep(&moment, NULL);
	clearerr(log->stream);
	if (!is_moved(log))
		return true;
	fclose(log->stream);
	log->number = 0;
	log->stream = open_log(log->path);
	return log->stream != NULL;
}

enum exit_status
log_show(struct arena *arena, const char *path, const struct log_query *query)
{
	struct log_file log = {
		.arena = arena,
		.query = query,
		.path = path,
		.stream = open_log(path),
	};
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	if (log.stream == NULL)
		return EXIT_TROUBLE;
	out_init(&log.out, STDOUT_FILENO);
	do {
		while ((len = getline(&line, &size, log.stream)) > 0) {
			/* Another process is about to write the rest. */
			if (line[len - 1] != '\n' && query->follow) {
				fseek(log.stream, -len, SEEK_CUR);
				break;
			}
			show_line(&log, line,
			    (size_t)len - (line[len - 1] == '\n'));
		}
	} while (query->follow && wait_for_more(&log));
	out_flush(&log.out);
	free(line);
	if (log.stream != NULL)
		fclose(log.stream);
	return log.status;
}

/* --- the chain ------------------------------------------------------------ */

static const char chain_key[] = ",\"chain\":\"";

enum {
	END = SHA256_HEX + sizeof "\"}\n" - 1,
	TAIL = sizeof chain_key - 1 + END,
};

struct chain {
	char hash[SHA256_HEX + 1]; /* of the line before */
	size_t lines, faults;
	bool found; /* the hash that was asked for */
};

/* What is wrong with a line, or NULL. */
static const char *
judge_line(struct arena *arena, struct chain *chain, const char *line,
    size_t len)
{
	char wanted[SHA256_HEX + 1], *text;
	const char *hash = line + len - END;
	bool good, begins;

	if (len < TAIL || strcmp(line + len - 3, "\"}\n") != 0 ||
	    memcmp(line + len - TAIL, chain_key, sizeof chain_key - 1) != 0)
		return "this is no whole line of a log";
	text = malloc(SHA256_HEX + len);
	if (text == NULL)
		arena_exhausted();
	len -= TAIL;
	memcpy(text, line, len);
	memcpy(text + len, chain->hash, SHA256_HEX);
	sha256_hex(text, SHA256_HEX + len, wanted);
	good = memcmp(hash, wanted, SHA256_HEX) == 0;
	memset(text + len, '0', SHA256_HEX);
	sha256_hex(text, SHA256_HEX + len, wanted);
	begins = memcmp(hash, wanted, SHA256_HEX) == 0;
	free(text);
	memcpy(chain->hash, hash, SHA256_HEX);
	if (good)
		return NULL;
	if (chain->lines == 1)
		return "the beginning is missing, or this line was changed";
	return begins ?
	    "a log begins anew here: what was before it is damaged" :
	    arena_printf(arena,
		"this is not what was written after line %zu: it was changed, "
		"or lines between them are missing",
		chain->lines - 1);
}

enum exit_status
log_verify(struct arena *arena, const char *path, const char *hash)
{
	FILE *stream = open_log(path);
	struct chain chain = { .lines = 0 };
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	if (stream == NULL)
		return EXIT_TROUBLE;
	memset(chain.hash, '0', SHA256_HEX);
	while ((len = getline(&line, &size, stream)) > 0) {
		const char *fault;

		chain.lines++;
		fault = judge_line(arena, &chain, line, (size_t)len);
		if (fault != NULL)
			printf("%s:%zu: %s\n", path, chain.lines, fault);
		chain.faults += fault != NULL;
		chain.found |= hash != NULL && strcmp(chain.hash, hash) == 0;
	}
	free(line);
	fclose(stream);
	if (hash != NULL && !chain.found)
		printf("%s: no line has the chain %s: the end is missing\n",
		    path, hash);
	if (chain.faults == 0 && (hash == NULL || chain.found))
		printf("%s: %zu lines, none changed or missing; the last has "
		       "the chain %s\n",
		    path, chain.lines, chain.hash);
	return chain.faults > 0 || (hash != NULL && !chain.found) ?
	    EXIT_POLICY :
	    EXIT_CLEAN;
}
