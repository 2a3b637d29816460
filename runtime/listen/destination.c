/*
 * See destination.h.  An argument with "://" names a host, and so does that of a
 * program that takes one: ssh HOST, nc HOST PORT.  What is taken has no byte but
 * those of names and addresses; it is a guess, for the text of a remedy alone.
 */
#include "runtime/listen/destination.h"

#include "format/decimal.h"
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
	{ "ssh", 22 },
	{ "git", 9418 },
	{ "ftp", 21 },
	{ "wss", 443 },
	{ "ws", 80 },
	{ "postgres", 5432 },
	{ "postgresql", 5432 },
	{ "mysql", 3306 },
	{ "redis", 6379 },
	{ "amqp", 5672 },
	{ "mongodb", 27017 },
},
  takers[] = {
	  { "ssh", 22 },
	  { "sftp", 22 },
	  { "scp", 22 },
	  { "nc", 0 },
	  { "telnet", 23 },
	  { "getent", 0 },
	  { "psql", 5432 },
	  { "redis-cli", 6379 },
	  { "mysql", 3306 },
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

static uint16_t
port_of(const char *text)
{
	uint64_t port;

	return sbx_decimal_read(text, text + strlen(text), &port) != NULL &&
		port <= UINT16_MAX ?
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

/* "https://user@host:443/path", "option=https://host". */
static bool
take_url(const char *argument, struct sbx_denial *denial)
{
	const char *mark = strstr(argument, "://"), *host, *user;
	uint16_t port = 0;
	size_t len;

	if (mark == NULL)
		return false;
	for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
		size_t size = strlen(schemes[i].name);

		if ((size_t)(mark - argument) >= size &&
		    memcmp(mark - size, schemes[i].name, size) == 0 &&
		    ((size_t)(mark - argument) == size ||
			!is_of_name(mark[-(ptrdiff_t)size - 1]))) {
			port = schemes[i].port;
			break;
		}
	}
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
take_host(const char *argument, uint16_t port, struct sbx_denial *denial)
{
	const char *user = strchr(argument, '@');
	const char *host = user != NULL ? user + 1 : argument;
	size_t len = name_length(host);

	return (host[len] == '\0' || host[len] == ':') &&
	    keep(denial, host, len, port);
}

static bool
takes_host(const struct sbx_denial *denial, uint16_t *port)
{
	for (size_t i = 0; i < sizeof takers / sizeof *takers; i++) {
		if (strcmp(takers[i].name, denial->program) == 0) {
			*port = takers[i].port;
			return true;
		}
	}
	return false;
}

/* The arguments, each of which ends with a NUL; one is cut where the text is. */
static bool
take(const char *line, const char *end, bool urls, struct sbx_denial *denial)
{
	uint16_t port = 0;

	if (!urls && !takes_host(denial, &port))
		return false;
	while (line < end) {
		const char *next = line + strlen(line) + 1;

		if (urls ? take_url(line, denial) :
			   take_host(line, port, denial)) {
			if (denial->port == 0 && next < end)
				denial->port = port_of(next);
			return true;
		}
		line = next;
	}
	return false;
}

void
destination_guess(const struct caller *caller, struct sbx_denial *denial)
{
	char path[64], line[LINE_SIZE + 1];
	struct out out;
	const char *first, *end;
	int fd;
	ssize_t len;

	out_into(&out, path, sizeof path);
	out_print(&out, "/proc/%u/cmdline", caller->call.thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	len = read(fd, line, LINE_SIZE);
	close(fd);
	if (len <= 0)
		return;
	line[len] = '\0';
	end = line + len;
	first = line + strlen(line) + 1;
	if (!take(first, end, true, denial))
		take(first, end, false, denial);
}
