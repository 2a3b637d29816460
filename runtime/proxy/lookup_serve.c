/*
 * The process that looks names up, with the system's own resolver:
 * nsswitch.conf and its modules, split DNS, hosts.  Each of its threads takes a
 * question, asks and answers.
 */
#include "runtime/proxy/proxy.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	THREADS = 32, /* so many names without an answer hold up the others */
	STACK = 256 << 10,
};

static void
take_address(struct lookup_answer *answer, const struct addrinfo *info)
{
	union socket_address address;
	uint8_t *to = answer->addresses[answer->count];
	uint16_t port;

	if (info->ai_addrlen > sizeof address)
		return;
	memset(&address, 0, sizeof address);
	memcpy(&address, info->ai_addr, info->ai_addrlen);
	answer->count += address_from_socket(&address, to, &port);
}

static void
look_up(const struct lookup_query *query, struct lookup_answer *answer)
{
	static const struct addrinfo wanted = {
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *found = NULL;
	int error = getaddrinfo(query->name, NULL, &wanted, &found);

	memset(answer, 0, sizeof *answer);
	answer->id = query->id;
	if (error == EAI_NONAME || error == EAI_NODATA)
		answer->outcome = LOOKUP_NO_SUCH_NAME;
	else if (error != 0)
		answer->outcome = LOOKUP_FAILED;
	for (const struct addrinfo *info = found;
	     error == 0 && info != NULL && answer->count < ADDRESSES_MAX;
	     info = info->ai_next)
		take_address(answer, info);
	if (error == 0)
		freeaddrinfo(found);
}

static void *
serve(void *argument)
{
	int socket = *(const int *)argument;

	for (;;) {
		struct lookup_query query;
		struct lookup_answer answer;
		ssize_t len = recv(socket, &query, sizeof query, 0);

		if (len < 0 && errno == EINTR)
			continue;
		if (len != sizeof query)
			_exit(0);
		query.name[sizeof query.name - 1] = '\0';
		look_up(&query, &answer);
		if (send(socket, &answer, sizeof answer, MSG_NOSIGNAL) < 0)
			_exit(0);
	}
}

/*
 * A name is looked up as it is: with the domains that resolv.conf may add, it
 * could come to be another one, which no rule has allowed.  As the only domain
 * the root adds nothing.
 */
void
lookup_serve(int socket)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (setenv("LOCALDOMAIN", ".", 1) != 0)
		proxy_fail("cannot look names up", errno);
	close(FD_INSIDE);
	confine_process(CONFINED_LOOKUP);
	if (pthread_attr_init(&attributes) != 0 ||
	    pthread_attr_setstacksize(&attributes, STACK) != 0)
		proxy_fail("cannot look names up", errno);
	for (int i = 1; i < THREADS; i++) {
		int error = pthread_create(&thread, &attributes, serve,
		    &socket);

		if (error != 0)
			proxy_fail("cannot start a thread", error);
	}
	serve(&socket);
	_exit(0);
}
