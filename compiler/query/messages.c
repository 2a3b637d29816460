/*
 * See messages.h.  Programs say it in many ways, and most have three things in
 * common: strerror(3) or the name of an errno stands in the line, names are in
 * quotes or between colons, and a path is absolute or stands right before the
 * error.
 *
 *	cat: /etc/shadow: Permission denied
 *	mkdir: cannot create directory ‘a/b’: Read-only file system
 *	Error: EACCES: permission denied, open '/root/x'
 *
 * Where a line has the error and no name, the lines around it are asked.
 */
#include "compiler/query/message_lines.h"
#include "compiler/query/message_words.h"

#include "format/blob.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { AROUND = 4 /* lines */, LINE_MENTIONS = 24 };

struct reading {
	struct arena *arena;
	struct mentions *mentions;
	struct message_lines lines;
	size_t found; /* mentions of the line that is read */
	const struct message_line *at;
	enum message_error error;
	bool writes, runs, directory, guesses;
};

/* --- mentions ------------------------------------------------------------- */

static void
add(struct reading *reading, enum mention_kind kind, const char *name,
    size_t len, uint16_t port)
{
	struct mentions *mentions = reading->mentions;

	if (len == 0 || len >= SBX_MAX_PATH ||
	    reading->found == LINE_MENTIONS ||
	    mentions->list.count == MESSAGES_MAX_MENTIONS)
		return;
	for (size_t i = mentions->list.count - reading->found;
	     i < mentions->list.count; i++) {
		const struct mention *known = &mentions->list.items[i];

		if (known->kind == kind && strlen(known->name) == len &&
		    memcmp(known->name, name, len) == 0)
			return;
	}
	*arena_push(reading->arena, &mentions->list) = (struct mention){
		.kind = kind,
		.error = reading->error,
		.writes = reading->writes,
		.runs = reading->runs,
		.directory = reading->directory,
		.guessed = reading->guesses,
		.port = port,
		.line = reading->at->number,
		.name = arena_strndup(reading->arena, name, len),
		.text = reading->at->text,
	};
	reading->found++;
}

/* What comes after a path in a message: "/a/b.c:12:5", "/a/b)". */
static size_t
path_length(const char *path)
{
	size_t len = strcspn(path, " \t:;,()[]{}<>|\"'`\\*?=&");

	while (len > 1 && path[len - 1] == '.')
		len--;
	return len;
}

static bool
begins_path(const char *text)
{
	return *text == '/' || strncmp(text, "~/", 2) == 0 ||
	    strncmp(text, "./", 2) == 0 || strncmp(text, "../", 3) == 0;
}

/* --- places --------------------------------------------------------------- */

/* The quotes of programs and of locales; the first is also an apostrophe. */
static const struct {
	const char *open, *close;
} quotes[] = {
	{ "'", "'" },
	{ "\"", "\"" },
	{ "`", "`" },
	{ "`", "'" },
	{ "\342\200\230", "\342\200\231" },
	{ "\342\200\234", "\342\200\235" },
};

static const char *
quoted(const char *text, size_t *len, const char **rest)
{
	for (size_t i = 0; i < countof(quotes); i++) {
		size_t open = strlen(quotes[i].open);
		const char *end;

		if (strncmp(text, quotes[i].open, open) != 0)
			continue;
		end = strstr(text + open, quotes[i].close);
		if (end == NULL)
			continue;
		*len = (size_t)(end - text) - open;
		*rest = end + strlen(quotes[i].close);
		return text + open;
	}
	return NULL;
}

/* `absolute`: in a line without an error, anything else may stand in quotes. */
static void
add_quoted(struct reading *reading, const char *text, bool absolute)
{
	const char *before = " ";

	while (*text != '\0') {
		const char *rest, *name;
		size_t len;

		name = isalnum((unsigned char)*before) ?
		    NULL :
		    quoted(text, &len, &rest);
		before = text;
		text = name != NULL ? rest : text + 1;
		if (name != NULL && (!absolute || begins_path(name)))
			add(reading, MENTION_PLACE, name, len, 0);
	}
}

/* "/bin/sh: 1: cannot create x: ..." begins with the one who speaks. */
static bool
is_speaker(const char *path, const char *error)
{
	const char *end = path + path_length(path);

	return *end == ':' && end[1] == ' ' && end + 2 != error;
}

/* `error`: where it stands in the text, or NULL. */
static void
add_paths(struct reading *reading, const char *text, const char *error)
{
	const char *begin = text, *before = " ";

	for (; *text != '\0'; before = text, text++) {
		if (!begins_path(text) || isalnum((unsigned char)*before) ||
		    strchr("/.~_-", *before) != NULL ||
		    (*before == ':' && text[1] == '/'))
			continue;
		if (text > begin || !is_speaker(text, error))
			add(reading, MENTION_PLACE, text, path_length(text), 0);
		text += path_length(text) - 1;
	}
}

/* "cat: a b: Permission denied": what stands before the error, as a whole and
 * its last word. */
static void
add_before(struct reading *reading, const char *text, const char *end)
{
	const char *begin, *word;

	for (begin = end; begin > text; begin--) {
		if (begin[-1] == ' ' && begin > text + 1 && begin[-2] == ':')
			break;
	}
	for (word = end; word > begin && word[-1] != ' '; word--)
		;
	add(reading, MENTION_PLACE, begin, (size_t)(end - begin), 0);
	add(reading, MENTION_PLACE, word,
	    path_length(word) < (size_t)(end - word) ? path_length(word) :
						       (size_t)(end - word),
	    0);
}

/* "sh: 0: cannot open ../a b: Permission denied": a name with blanks in it goes
 * on to the error. */
static void
add_blanks(struct reading *reading, const char *text, const char *end)
{
	reading->guesses = true;
	for (; text < end; text++) {
		if (begins_path(text) && text[-1] == ' ' &&
		    memchr(text, ' ', (size_t)(end - text)) != NULL)
			add(reading, MENTION_PLACE, text, (size_t)(end - text),
			    0);
	}
	reading->guesses = false;
}

/* "sh: 1: foo: not found", "exec: \"foo\": executable file not found". */
static void
add_program(struct reading *reading, const char *text, const char *error)
{
	const char *end = error, *begin;

	static const char *const fillers[] = { " command", " executable file" };

	for (size_t i = 0; i < countof(fillers); i++) {
		size_t len = strlen(fillers[i]);

		if ((size_t)(end - text) > len &&
		    strncmp(end - len - 1, fillers[i], len) == 0)
			end -= len + 1;
	}
	while (end > text && strchr(": \"", end[-1]) != NULL)
		end--;
	begin = end;
	while (begin > text && strchr(": \"'", begin[-1]) == NULL)
		begin--;
	if (end > begin && memchr(begin, '/', (size_t)(end - begin)) == NULL)
		add(reading, MENTION_PROGRAM, begin, (size_t)(end - begin), 0);
}

/* --- hosts ---------------------------------------------------------------- */

static bool
is_host(const char *word, size_t len)
{
	size_t dots = 0, letters = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)word[i];

		if (!isalnum(byte) && byte != '-' && byte != '.' && byte != '_')
			return false;
		dots += byte == '.';
		letters += isalpha(byte) != 0;
	}
	if (len == 0 || len > 253 || dots == 0 || word[0] == '.' ||
	    word[len - 1] == '.')
		return false;
	/* "1.2.3.4", or a name whose last part is none of numbers. */
	return letters == 0 ? dots == 3 :
			      isalpha((unsigned char)word[len - 1]) != 0;
}

/* ":443", " port 443", ", port=443"; of PostgreSQL '" (127.0.0.1), port 5432'. */
static uint16_t
port_after(const char *text)
{
	static const char *const words[] = { ":", " port ", "), port ",
		"\", port ", "', port=", "\", port=" };

	for (size_t i = 0; i < countof(words); i++) {
		size_t len = strlen(words[i]);
		unsigned long port;

		if (strncmp(text, words[i], len) != 0 ||
		    !isdigit((unsigned char)text[len]))
			continue;
		port = strtoul(text + len, NULL, 10);
		return port <= UINT16_MAX ? (uint16_t)port : 0;
	}
	return 0;
}

static uint16_t
port_of_scheme(const char *text, const char *host)
{
	static const struct {
		const char *scheme;
		uint16_t port;
	} schemes[] = { { "https://", 443 }, { "http://", 80 },
		{ "ssh://", 22 }, { "git://", 9418 } };

	for (size_t i = 0; i < countof(schemes); i++) {
		size_t len = strlen(schemes[i].scheme);

		if ((size_t)(host - text) >= len &&
		    memcmp(host - len, schemes[i].scheme, len) == 0)
			return schemes[i].port;
	}
	return 0;
}

/* Names of files and of classes look like hosts; these are never ones. */
static bool
is_other(const char *word, size_t len)
{
	static const char *const ends[] = { ".c", ".h", ".py", ".js", ".ts",
		".go", ".rs", ".java", ".json", ".txt", ".sh", ".mjs", ".lock",
		".so", ".toml", ".log", ".conf", ".cjs", ".html", ".gaierror",
		".client", ".error", ".exceptions" };

	for (size_t i = 0; i < len; i++) {
		if (isupper((unsigned char)word[i]) || word[i] == '_')
			return true;
	}
	for (size_t i = 0; i < countof(ends); i++) {
		size_t end = strlen(ends[i]);

		if (len > end && memcmp(word + len - end, ends[i], end) == 0)
			return true;
	}
	return word[len] == '(';
}

/* Whether what stands before says that a host follows. */
static bool
follows_word(const char *text, const char *word)
{
	static const char *const words[] = { "://", "@", "host='", "host=\"",
		"hostname: '", "Resolving ", "lookup " };

	for (size_t i = 0; i < countof(words); i++) {
		size_t len = strlen(words[i]);

		if ((size_t)(word - text) >= len &&
		    memcmp(word - len, words[i], len) == 0)
			return true;
	}
	return false;
}

static uint16_t
port_of(const char *text, const char *host, size_t len)
{
	uint16_t port = port_after(host + len);

	if (port == 0)
		port = port_of_scheme(text, host);
	if (port == 0 &&
	    (strncmp(text, "ssh:", 4) == 0 || (host > text && host[-1] == '@')))
		port = 22;
	return port;
}

/* `said`: what stands before the host must say that it is one. */
static void
add_hosts(struct reading *reading, const char *text, bool said)
{
	static const char outside[] =
	    " \t:/'\"`()[]{}<>,;=@\302\342\200\230\231";
	const char *at = text;

	while (*at != '\0') {
		size_t len = strcspn(at, outside);

		while (len > 1 && at[len - 1] == '.')
			len--;
		if (is_host(at, len) && !is_other(at, len) &&
		    (!said || follows_word(text, at)))
			add(reading, MENTION_HOST, at, len,
			    port_of(text, at, len));
		at += len > 0 ? len : 1;
	}
}

/* "127.0.0.1:5432", "localhost:5432": the port, or 0, and which host. */
static uint16_t
service_of(const char *text, const char **host)
{
	static const char *const hosts[] = { "127.0.0.1", "localhost", "::1",
		"[::1]" };

	for (size_t i = 0; i < countof(hosts); i++) {
		const char *at = strstr(text, hosts[i]);
		uint16_t port = at != NULL ? port_after(at + strlen(hosts[i])) :
					     0;

		*host = hosts[i];
		if (port != 0)
			return port;
	}
	*host = hosts[0];
	return 0;
}

/* Where nobody listened.  Python does not say where. */
static void
add_services(struct reading *reading, const char *text)
{
	const char *host;
	uint16_t port = service_of(text, &host);

	if (port != 0 || strpbrk(text, "/@") == NULL)
		add(reading, MENTION_SERVICE, host, strlen(host), port);
}

/* A socket that was not made; the port is that of a service of this machine, if
 * the line says one. */
static void
add_no_socket(struct reading *reading, const char *text)
{
	const char *host;

	add(reading, MENTION_CALL, "socket", 6, service_of(text, &host));
}

/* --- lines ---------------------------------------------------------------- */

/* "unshare failed: ", "ptrace: ", "socket(": a system call that was refused. */
static void
add_calls(struct reading *reading, const char *text)
{
	const char *const line = text, *host;
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
	static const char *const ends[] = { ":", "(", " failed", " syscall",
		" system call" };

	while (*text != '\0') {
		size_t len = strspn(text, letters);

		for (size_t i = 0; len >= 3 && len <= 24 && i < countof(ends);
		     i++) {
			if (strncmp(text + len, ends[i], strlen(ends[i])) == 0)
				add(reading, MENTION_CALL, text, len,
				    service_of(line, &host));
		}
		text += len > 0 ? len : 1;
	}
}

static void
add_places(struct reading *reading, const char *text, const char *error)
{
	const char *end = error;

	while (end > text && strchr(": (", end[-1]) != NULL)
		end--;
	add_quoted(reading, text, false);
	add_blanks(reading, text + (*text != '\0'), end);
	add_paths(reading, text, error);
	add_before(reading, text, end);
}

static void
ask_around(struct reading *reading, size_t index)
{
	size_t begin = index > AROUND ? index - AROUND : 0;

	for (size_t i = begin;
	     i < reading->lines.list.count && i <= index + AROUND; i++) {
		const char *text = reading->lines.list.items[i].text;

		if (i == index)
			continue;
		if (reading->error >= ERROR_NETWORK) {
			add_hosts(reading, text, true);
			continue;
		}
		reading->writes |= message_writes(text);
		add_quoted(reading, text, true);
		add_paths(reading, text, NULL);
	}
}

static bool
has_place(const struct reading *reading)
{
	const struct mentions *mentions = reading->mentions;

	for (size_t i = mentions->list.count - reading->found;
	     i < mentions->list.count; i++) {
		if (begins_path(mentions->list.items[i].name))
			return true;
	}
	return false;
}

/* In the stack of calls that follows, or in the source that stands before. */
static bool
says_write_near(const struct reading *reading, size_t index)
{
	const struct message_line *lines = reading->lines.list.items;

	for (size_t i = index + 1;
	     i < reading->lines.list.count && i <= index + 2; i++) {
		if (message_has(lines[i].text, "at ") &&
		    message_has(lines[i].text, "OutputSt"))
			return true;
	}
	return index > 0 && message_has(lines[index - 1].text, "open(") &&
	    message_writes(lines[index - 1].text);
}

static bool
says_directory(const struct reading *reading, size_t index)
{
	for (size_t i = index > 2 ? index - 2 : 0; i <= index; i++) {
		const char *text = reading->lines.list.items[i].text;

		if (message_has(text, "mkdir") ||
		    message_has(text, "makedirs") ||
		    message_has(text, "directory '") ||
		    message_has(text, "create director"))
			return true;
	}
	return false;
}

/* "_socket.socket.__init__(...)" in the stack of calls before, or the words of
 * Java and Node.js. */
static bool
made_socket(const struct reading *reading, size_t index)
{
	static const char *const words[] = { "SocketException", "listen EACCES",
		"listen EPERM", "bind EACCES", "connect EACCES",
		"connect EPERM" };
	const struct message_line *lines = reading->lines.list.items;

	for (size_t i = 0; i < countof(words); i++) {
		if (message_has(lines[index].text, words[i]))
			return true;
	}
	for (size_t i = index > AROUND ? index - AROUND : 0; i < index; i++) {
		if (message_has(lines[i].text, "socket.socket"))
			return true;
	}
	return false;
}

/* Where to comes first, if the line says so. */
static void
add_socket(struct reading *reading, const char *text)
{
	if (message_has(text, "connect "))
		add_hosts(reading, text, false);
	add_no_socket(reading, text);
}

static void
read_network(struct reading *reading, size_t index)
{
	const char *text = reading->lines.list.items[index].text;
	enum message_error error = reading->error;

	if (error == ERROR_NOBODY_LISTENS) {
		add_services(reading, text);
		return;
	}
	/* The host was allowed, whichever it is. */
	if (error == ERROR_PROXY_FAILS) {
		add(reading, MENTION_PROXY, "502", 3, 0);
		return;
	}
	add_hosts(reading, text, false);
	if (error == ERROR_REFUSED_BY_US)
		return;
	if (reading->found == 0)
		ask_around(reading, index);
	/* Who says no name has at least wanted a socket. */
	if (reading->found == 0 && error == ERROR_NETWORK)
		add_no_socket(reading, text);
	else if (error == ERROR_PROXY_REFUSES)
		add(reading, MENTION_PROXY, "403", 3, 0);
}

static void
read_line(struct reading *reading, size_t index)
{
	const char *text = reading->lines.list.items[index].text;
	const char *error = message_error(text, &reading->error);

	if (error == NULL)
		return;
	reading->at = &reading->lines.list.items[index];
	reading->found = 0;
	reading->runs = message_runs(text);
	reading->directory = says_directory(reading, index);
	reading->writes = reading->error == ERROR_READ_ONLY ||
	    message_writes(text) || says_write_near(reading, index);
	if (reading->error >= ERROR_NETWORK) {
		read_network(reading, index);
		return;
	}
	if (reading->error == ERROR_ABSENT)
		add_program(reading, text, error);
	add_places(reading, text, error);
	if (!has_place(reading) && made_socket(reading, index))
		add_socket(reading, text);
	else if (!has_place(reading))
		ask_around(reading, index);
	if (reading->error == ERROR_DENIED)
		add_calls(reading, text);
}

void
messages_read(struct arena *arena, const char *text, size_t size,
    struct mentions *mentions)
{
	struct reading reading = { .arena = arena, .mentions = mentions };

	message_lines_read(&reading.lines, arena, text, size, mentions->before);
	for (size_t i = 0; i < reading.lines.list.count; i++)
		read_line(&reading, i);
}
