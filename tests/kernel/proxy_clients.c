/* Who connects, asks and listens for what is told: see proxy.h. */
#include "tests/kernel/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

static int
dial_in(const struct stage *stage, int network, const char *text, uint16_t port)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct timeval limit = { .tv_sec = 60 };
	int fd = socket_in(stage, network, AF_INET, SOCK_STREAM);

	inet_pton(AF_INET, text, &v4.sin_addr);
	v4.sin_port = htons(port);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
	if (connect(fd, (void *)&v4, sizeof v4) == 0)
		return fd;
	close(fd);
	return -1;
}

int
dial(const struct stage *stage, const char *address, uint16_t port)
{
	return dial_in(stage, stage->inside, address, port);
}

int
dial_outside(const struct stage *stage, const char *address, uint16_t port)
{
	return dial_in(stage, stage->outside, address, port);
}

bool
send_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len > 0) {
		ssize_t count = send(fd, at, len, MSG_NOSIGNAL);

		if (count <= 0)
			return false;
		at += count;
		len -= (size_t)count;
	}
	return true;
}

size_t
read_all(int fd, char *bytes, size_t wanted, bool *reset)
{
	size_t used = 0;

	if (reset != NULL)
		*reset = false;
	while (used < wanted) {
		ssize_t count = recv(fd, bytes + used, wanted - used, 0);

		if (count < 0 && reset != NULL)
			*reset = errno == ECONNRESET;
		if (count <= 0)
			break;
		used += (size_t)count;
	}
	return used;
}

static size_t
make_query(const char *name, uint16_t type, uint8_t query[600])
{
	static const uint8_t header[] = { 0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0,
		0 };
	size_t used = sizeof header;

	memcpy(query, header, sizeof header);
	while (*name != '\0') {
		size_t len = strcspn(name, ".");

		query[used++] = (uint8_t)len;
		memcpy(query + used, name, len);
		used += len;
		name += len + (name[len] == '.');
	}
	query[used++] = 0;
	query[used++] = (uint8_t)(type >> 8);
	query[used++] = (uint8_t)type;
	query[used++] = 0;
	query[used++] = 1;
	return used;
}

int
ask(const struct stage *stage, const char *name, uint16_t type,
    char address[64])
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(53),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct timeval limit = { .tv_sec = 60 };
	uint8_t query[600], answer[600];
	size_t used = make_query(name, type, query);
	int fd = socket_in(stage, stage->inside, AF_INET, SOCK_DGRAM);
	ssize_t len;

	*address = '\0';
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	sendto(fd, query, used, 0, (void *)&to, sizeof to);
	len = recv(fd, answer, sizeof answer, 0);
	close(fd);
	if (len < 12 || memcmp(answer, query, 2) != 0)
		return -1;
	if (answer[7] == 1)
		inet_ntop(AF_INET, answer + len - 4, address, 64);
	return answer[3] & 15;
}

int
dial_name(const struct stage *stage, const char *name, uint16_t port)
{
	char address[64];

	if (ask(stage, name, 1, address) != 0 || *address == '\0')
		return -1;
	return dial(stage, address, port);
}

const char *
exchange(int fd, const char *word, char *room, size_t size)
{
	bool reset, sent;
	size_t len;

	if (fd < 0)
		return "refused";
	/* Who sends hears of a reset first, and who reads then does not. */
	sent = send_all(fd, word, strlen(word)) || errno != ECONNRESET;
	if (shutdown(fd, SHUT_WR) != 0 && errno != ENOTCONN)
		sent = false;
	len = read_all(fd, room, size - 1, &reset);
	reset |= !sent;
	close(fd);
	room[len] = '\0';
	return reset ? "reset" : strcmp(room, word) == 0 ? "echo" : room;
}

bool
saw(const struct stage *stage, enum proxy_via via, enum proxy_verdict verdict,
    const char *name)
{
	struct proxy_event event;
	struct pollfd wait = { .fd = stage->events, .events = POLLIN };

	while (poll(&wait, 1, 60000) > 0 &&
	    recv(stage->events, &event, sizeof event, 0) == sizeof event) {
		if (event.version == PROXY_EVENT_VERSION &&
		    event.kind == PROXY_DECISION && event.via == via &&
		    event.verdict == verdict && strcmp(event.name, name) == 0)
			return true;
		printf("# event: via %u verdict %u port %u name %s\n",
		    event.via, event.verdict, event.port, event.name);
	}
	return false;
}

bool
becomes(const volatile uint64_t *value, uint64_t wanted)
{
	for (int i = 0; i < 6000 && *value != wanted; i++)
		usleep(10000);
	return *value == wanted;
}

void
forget_events(const struct stage *stage)
{
	struct proxy_event event;

	while (recv(stage->events, &event, sizeof event, MSG_DONTWAIT) > 0)
		;
}
