/*
 * See answers.h.  An argument with "://" names a host, and so do those of a
 * program that takes one: ssh HOST, nc HOST PORT, psql -h HOST -p PORT.  What is
 * taken has no byte but those of names and addresses; it is a guess, for the text
 * of a remedy alone.  A port is one that the command line states, or of a URL of
 * the web; of others the user knows it: see ~/.ssh/config, PGPORT.
 */
#include "runtime/listen/answers.h"

#include "format/text.h"
#include "runtime/base/out.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { LINE_SIZE = 4096, NAME_MAX_LEN = 253 };

static const struct {
	const char *name;
	uint16_t port;
} schemes[] = {
	{ "https", 443 },
	{ "http", 80 },
	{ "wss", 443 },
	{ "ws", 80 },
};

/* Where a program's command line has a host and a port. */
enum form {
	HOST,         /* ssh -p PORT USER@HOST */
	HOST_PORT,    /* nc HOST PORT */
	HOST_COLON,   /* curl HOST:PORT/PATH */
	HOST_OPTIONS, /* psql -h HOST -p PORT */
};

static const struct taker {
	const char *name;
	enum form form;
	char port_option;
	const char *host; /* without such an option */
} takers[] = {
	{ "ssh", HOST, 'p', NULL },
	{ "sftp", HOST, 'P', NULL },
	{ "scp", HOST, 'P', NULL },
	{ "getent", HOST, '\0', NULL },
	{ "nc", HOST_PORT, '\0', NULL },
	{ "telnet", HOST_PORT, '\0', NULL },
	{ "curl", HOST_COLON, '\0', NULL },
	{ "wget", HOST_COLON, '\0', NULL },
	{ "psql", HOST_OPTIONS, 'p', NULL },
	{ "redis-cli", HOST_OPTIONS, 'p', "127.0.0.1" },
	{ "mysql", HOST_OPTIONS, 'P', NULL },
};

/* The arguments, each of which ends with a NUL; one is cut where the text is. */
struct line {
	const char *first, *end;
};

static bool
is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static bool
is_of_name(char byte)
{
	return is_digit(byte) ||
	    ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z') || byte == '.' ||
	    byte == '-';
}

static size_t
name_length(const char *text)
{
	size_t len = 0;

	while (is_of_name(text[len]))
		len++;
	return len;
}

/* A name with a dot in it that ends in no number, an address of IPv4, or this
 * host. */
static bool
is_host(const char *text, size_t len)
{
	static const char local[] = "localhost";
	size_t dots = 0, digits = 0;

	if (len == sizeof local - 1 && memcmp(text, local, len) == 0)
		return true;
	for (size_t i = 0; i < len; i++) {
		dots += text[i] == '.';
		digits += is_digit(text[i]);
	}
	if (len == 0 || len > NAME_MAX_LEN || dots == 0 || *text == '.' ||
	    *text == '-' || text[len - 1] == '.')
		return false;
	return digits + dots == len ? dots == 3 : !is_digit(text[len - 1]);
}

/* A port that ends with the text, or before a path; 0: it is none. */
static uint16_t
port_of(const char *text)
{
	uint64_t port;
	size_t len = strcspn(text, "/?#");

	return sbx_decimal_read(text, text + len, &port) == text + len &&
		len > 0 && port <= UINT16_MAX ?
	    (uint16_t)port :
	    0;
}

static bool
keep(struct sbx_denial *denial, const char *host, size_t len, uint16_t port)
{
	if (!is_host(host, len))
		return false;
	memcpy(denial->path, host, len);
	denial->path[len] = '\0';
	denial->port = port;
	return true;
}

static uint16_t
port_of_scheme(const char *argument, size_t len)
{
	for (size_t i = 0; i < countof(schemes); i++) {
		size_t size = strlen(schemes[i].name);

		if (len >= size &&
		    memcmp(argument + len - size, schemes[i].name, size) == 0 &&
		    (len == size || !is_of_name(argument[len - size - 1])))
			return schemes[i].port;
	}
	return 0;
}

/* "https://user@host:443/path", "option=https://host". */
static bool
take_url(const char *argument, struct sbx_denial *denial)
{
	const char *mark = strstr(argument, "://"), *host, *user;
	uint16_t port;
	size_t len;

	if (mark == NULL)
		return false;
	port = port_of_scheme(argument, (size_t)(mark - argument));
	host = mark + 3;
	user = host + strcspn(host, "@/?#");
	if (*user == '@')
		host = user + 1;
	len = name_length(host);
	if (host[len] == ':')
		port = port_of(host + len + 1);
	return keep(denial, host, len, port);
}

/* "user@host:path", "host". */
static bool
take_host(const char *argument, struct sbx_denial *denial)
{
	const char *user = strchr(argument, '@');
	const char *host = user != NULL ? user + 1 : argument;
	size_t len = name_length(host);

	return (host[len] == '\0' || host[len] == ':') &&
	    keep(denial, host, len, 0);
}

/* "host:port/path"; a word with dots alone may be a file. */
static bool
take_colon(const char *argument, struct sbx_denial *denial)
{
	size_t len = name_length(argument);
	uint16_t port = argument[len] == ':' ? port_of(argument + len + 1) : 0;

	return port != 0 && keep(denial, argument, len, port);
}

static const char *
next_of(const struct line *line, const char *argument)
{
	const char *next = argument + strlen(argument) + 1;

	return next < line->end ? next : NULL;
}

/* The value of "-p 1", "-p1", "--port 1" or "--port=1"; NULL: there is none. */
static const char *
value_of(const struct line *line, char letter, const char *word)
{
	const char *at = line->first < line->end ? line->first : NULL;
	size_t len = strlen(word);

	for (; letter != '\0' && at != NULL; at = next_of(line, at)) {
		if (at[0] != '-')
			continue;
		if (at[1] == letter)
			return at[2] != '\0' ? at + 2 : next_of(line, at);
		if (at[1] != '-' || strncmp(at + 2, word, len) != 0)
			continue;
		if (at[2 + len] == '=')
			return at + 2 + len + 1;
		if (at[2 + len] == '\0')
			return next_of(line, at);
	}
	return NULL;
}

static bool
take_argument(const struct taker *taker, const struct line *line,
    const char *argument, struct sbx_denial *denial)
{
	const char *next = next_of(line, argument);

	if (taker->form == HOST_COLON)
		return take_colon(argument, denial);
	if (!take_host(argument, denial))
		return false;
	if (taker->form == HOST_PORT && next != NULL)
		denial->port = port_of(next);
	return true;
}

static bool
take_options(const struct taker *taker, const struct line *line,
    struct sbx_denial *denial)
{
	const char *host = value_of(line, 'h', "host");

	if (host == NULL)
		host = taker->host;
	return host != NULL && host[name_length(host)] == '\0' &&
	    keep(denial, host, strlen(host), 0);
}

static void
take(const struct taker *taker, const struct line *line,
    struct sbx_denial *denial)
{
	const char *at = line->first < line->end ? line->first : NULL;
	const char *port = value_of(line, taker->port_option, "port");
	bool taken = false;

	if (taker->form == HOST_OPTIONS)
		taken = take_options(taker, line, denial);
	else
		for (; at != NULL && !taken; at = next_of(line, at))
			taken = take_argument(taker, line, at, denial);
	if (taken && port != NULL)
		denial->port = port_of(port);
}

static bool
take_urls(const struct line *line, struct sbx_denial *denial)
{
	const char *at = line->first < line->end ? line->first : NULL;

	for (; at != NULL; at = next_of(line, at)) {
		if (take_url(at, denial))
			return true;
	}
	return false;
}

void
destination_guess(const struct caller *caller, struct sbx_denial *denial)
{
	char path[64], text[LINE_SIZE + 1];
	struct out out;
	struct line line;
	int fd;
	ssize_t len;

	out_into(&out, path, sizeof path);
	out_print(&out, "/proc/%u/cmdline", caller->call.thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	len = read(fd, text, LINE_SIZE);
	close(fd);
	if (len <= 0)
		return;
	text[len] = '\0';
	line = (struct line){ text + strlen(text) + 1, text + len };
	if (take_urls(&line, denial))
		return;
	for (size_t i = 0; i < countof(takers); i++) {
		if (strcmp(takers[i].name, denial->program) == 0)
			take(&takers[i], &line, denial);
	}
}
