/*
 * What sbx-proxy decided while a command of a session ran.  The keeper is told
 * of it; whoever attends a command asks for it at the end.
 *
 * sbx-proxy sees connections and not who makes them.  So what is told are all
 * decisions between the beginning and the end of a command, and whether there
 * was another one meanwhile that they may have been for.
 */
#include "runtime/session/session.h"

#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- the keeper ----------------------------------------------------------- */

void
decided_state(const struct network *network, struct session_reply *reply)
{
	reply->network = network->shut ? SESSION_SHUT :
	    network->count > 0         ? SESSION_OPEN :
					 SESSION_WITHOUT;
	reply->losses = network->losses;
}

/* A file in memory with the decisions, or -1. */
static int
write_decisions(const struct decisions *decisions)
{
	size_t size = decisions->count * sizeof *decisions->all;
	int fd = memfd_create("sbx-decisions", MFD_CLOEXEC);

	if (fd < 0)
		return -1;
	if (write(fd, decisions->all, size) == (ssize_t)size)
		return fd;
	close(fd);
	return -1;
}

bool
decided_answer(struct network *network, int socket,
    const struct beginning *beginning)
{
	/* Too large for a stack; each answer fills it anew. */
	static struct decisions decisions;
	struct session_reply reply = { .keeper = getpid() };
	int descriptors[OFFER_END];
	bool sent;

	for (int i = 0; i < OFFER_END; i++)
		descriptors[i] = -1;
	if (network->count > 0) {
		network_look(network);
		decisions_since(network->log, beginning->decided, &decisions);
		reply.beyond = decisions.beyond;
		reply.shared = beginning->shared;
	}
	if (reply.beyond + decisions.count > 0)
		descriptors[OFFER_FILE] = write_decisions(&decisions);
	if (descriptors[OFFER_FILE] >= 0)
		reply.decided = decisions.count;
	decided_state(network, &reply);
	session_stamp(&reply.stamp, SESSION_NETWORK);
	sent = session_reply(socket, &reply, descriptors) == NULL;
	if (descriptors[OFFER_FILE] >= 0)
		close(descriptors[OFFER_FILE]);
	return sent;
}

/* --- who attends a command ------------------------------------------------ */

static const char always_shut[] =
    "sbx-proxy kept ending, so the network of this session is shut; sbxrun "
    "--session NAME --end ends it, and the next one has its own";

void
decided_begin(const struct joining *joining)
{
	if (joining->offer.reply.network == SESSION_SHUT)
		warn_about("network", always_shut, 0);
}

/* What the keeper says is counted once more: whoever wrote it, it is bytes. */
static void
read_decisions(struct decisions *decisions, int fd, uint32_t count)
{
	size_t size = count * sizeof *decisions->all;

	if (count <= DECISIONS_MAX && lseek(fd, 0, SEEK_SET) == 0 &&
	    read(fd, decisions->all, size) == (ssize_t)size)
		decisions->count = count;
	for (uint32_t i = 0; i < decisions->count; i++) {
		if (!decision_is_record(&decisions->all[i].event))
			decisions->count = 0;
	}
}

void
decided_ask(struct joining *joining)
{
	const struct session_reply *before = &joining->offer.reply;
	struct decisions *decisions = &joining->supervision.network.decisions;
	struct session_reply reply;
	int descriptors[OFFER_END];

	/* A session that ended meanwhile has nothing more to say. */
	if (before->network != SESSION_OPEN ||
	    session_ask(joining->socket, SESSION_NETWORK, -1) != NULL ||
	    session_hear(joining->socket, &reply, descriptors) != NULL ||
	    reply.stamp.kind != SESSION_NETWORK)
		return;
	decisions->shared = reply.shared != 0;
	decisions->beyond = reply.beyond;
	if (descriptors[OFFER_FILE] >= 0)
		read_decisions(decisions, descriptors[OFFER_FILE],
		    reply.decided);
	for (int i = 0; i < OFFER_END; i++) {
		if (descriptors[i] >= 0)
			close(descriptors[i]);
	}
	if (reply.network == SESSION_SHUT)
		warn_about("network", network_shut, 0);
	else if (reply.losses != before->losses)
		warn_about("network", network_lost, 0);
}
