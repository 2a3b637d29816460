/*
 * Hosts, services and sockets as trials.  Nothing is sent out of the machine if
 * the kernel does what the model says: what is denied is asked for, and of what
 * is allowed only so much as shows inside.
 */
#include "compiler/cases/cases.h"

#include "compiler/tables/tables.h"
#include "format/model.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const struct sbx_meta *
meta_of(const struct stage *stage)
{
	return stage->subject.places.blob->meta;
}

/* Whether hosts are judged by the ports of the host's network. */
static bool
is_outer(const struct stage *stage)
{
	return meta_of(stage)->net == SBX_NET_PORTS ||
	    meta_of(stage)->net == SBX_NET_FULL ||
	    (meta_of(stage)->flags & SBX_EVERYTHING) != 0;
}

static const char *
plan_domain(const struct stage *stage, struct trial *trial)
{
	trial->text = trial->access.name;
	trial->task.number = trial->access.port;
	if (is_outer(stage))
		return "in the host's network a case about 'connect tcp' tells";
	if (trial->access.detail != 0)
		return "an address is judged when it is connected to";
	trial->task.kind = trial->verdict.allowed ? SBX_TRY_NAME :
						    SBX_TRY_TUNNEL;
	return trial->verdict.allowed && stage->subject.level < SBX_LEVEL_FULL ?
	    "it would be looked up and connected to, outside" :
	    NULL;
}

static const char *
plan_endpoint(const struct stage *stage, struct trial *trial)
{
	const uint8_t *address = trial->access.address;
	bool v4 = sbx_address_is_v4(address);
	char *text = arena_alloc(stage->tree->arena, INET6_ADDRSTRLEN);

	inet_ntop(v4 ? AF_INET : AF_INET6, address + (v4 ? 12 : 0), text,
	    INET6_ADDRSTRLEN);
	trial->text = text;
	trial->task.kind = SBX_TRY_ADDRESS;
	trial->task.number = trial->access.port;
	if (!trial->verdict.allowed)
		return NULL;
	/* The sandbox itself, or a service of the host. */
	trial->task.kind = SBX_TRY_CONNECT;
	return strcmp(text, "127.0.0.1") == 0 ?
	    NULL :
	    "it would be connected to, outside";
}

static const char *
plan_service(const struct stage *stage, struct trial *trial)
{
	bool publishes = trial->access.detail == SBX_PUBLISH_TCP;

	trial->task.kind = publishes ? SBX_TRY_LISTEN : SBX_TRY_CONNECT;
	trial->task.number = trial->access.port;
	if (is_outer(stage))
		return "in the host's network a case about 'connect tcp' or "
		       "'listen tcp' tells";
	/* A server for the sandbox itself listens as well. */
	return publishes &&
		(stage->subject.level == SBX_LEVEL_FULL ||
		    !trial->verdict.allowed) ?
	    "it takes somebody outside who connects" :
	    NULL;
}

/* --- sockets -------------------------------------------------------------- */

/* What a rule about paths allows is a server inside. */
static bool
is_inside(const struct trial *trial)
{
	return trial->verdict.allowed && trial->verdict.by == BY_PATH;
}

/* A server of nobody's, which never answers. */
static const char *
serve(const struct stage *stage, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 &&
	    bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
	    listen(fd, SOMAXCONN) == 0)
		return NULL; /* it is closed with sbxc */
	if (fd >= 0)
		close(fd);
	return errno == EADDRINUSE ?
	    NULL :
	    arena_printf(stage->tree->arena, "%s cannot be made: %s", path,
		strerror(errno));
}

static const char *
plan_socket(const struct stage *stage, struct trial *trial)
{
	bool in_tree;
	const char *path = stage_path(stage, trial->access.path, &in_tree);

	if (path == NULL)
		return "the policy has no scratch directory";
	if (!in_tree)
		return "what listens on this machine may act when it is "
		       "connected to";
	trial->access.path = sbx_place_of(path);
	trial->verdict = verdict_of(&stage->subject, &trial->access);
	trial->text = stage_inside(stage, path);
	trial->task.kind = is_inside(trial) ? SBX_TRY_OWN_SOCKET :
					      SBX_TRY_SOCKET;
	if (strlen(path) >= sizeof((struct sockaddr_un *)NULL)->sun_path)
		return "in the test's own tree its path is longer than a "
		       "socket's can be";
	return is_inside(trial) ? NULL : serve(stage, path);
}

const char *
trial_plan_network(const struct stage *stage, struct trial *trial)
{
	enum rule_kind_id kind = trial->access.kind;

	if (kind == KIND_DOMAIN)
		return plan_domain(stage, trial);
	if (kind == KIND_ENDPOINT)
		return plan_endpoint(stage, trial);
	if (kind == KIND_PORT)
		return plan_service(stage, trial);
	if (kind == KIND_SOCKET)
		return plan_socket(stage, trial);
	return "no trial can ask that";
}

/* --- answers -------------------------------------------------------------- */

static bool
is_denial(int answer)
{
	return answer == EACCES || answer == EPERM || answer == ENETUNREACH ||
	    answer == EHOSTUNREACH || answer == ECONNREFUSED ||
	    answer == ECONNRESET || answer == ENOENT;
}

enum meaning
trial_meaning_network(const struct stage *stage, const struct trial *trial)
{
	int answer = trial->task.answer;

	/* Below Landlock ABI 9 such sockets open where sbxrun answers. */
	if (trial->task.socket != 0 && trial->access.kind == KIND_SOCKET &&
	    trial->verdict.allowed)
		return TELLS_NOTHING;
	/* Nobody listens on the host.  In a network of its own sbxrun has taken
	 * the connection before it finds that out; below, a port that is shut
	 * answers the same. */
	if (trial->access.kind == KIND_PORT && trial->task.socket == 0 &&
	    stage->subject.level < SBX_LEVEL_FULL && answer == ECONNREFUSED)
		return TELLS_NOTHING;
	if (trial->access.kind == KIND_PORT && trial->task.socket == 0 &&
	    stage->subject.level == SBX_LEVEL_FULL && answer == ECONNRESET)
		return WAS_ALLOWED;
	if (trial->task.socket != 0 || is_denial(answer))
		return WAS_DENIED;
	return answer == 0 || answer == ETIMEDOUT ? WAS_ALLOWED : TELLS_NOTHING;
}
